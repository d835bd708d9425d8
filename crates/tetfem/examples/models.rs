//! Writes the models of tetrahedra in `assets`, which are those of Mu01's examples in kind and in
//! number: `cargo run --release -p brisance-tetfem --example models -- assets`.
#![allow(clippy::print_stdout, reason = "it is a program")]

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use brisance_tetfem::levelset::{Aabb, Grid, LevelSet, Stuffing, TetMesh};
use brisance_tetfem::nalgebra::{Point3, Vector3};
use brisance_tetfem::{Fields, pieces, write_msh};
use tet_boxes::kuhn_box;

#[allow(unreachable_pub, reason = "public where it is at home")]
#[path = "../src/tet_boxes.rs"]
mod tet_boxes;

type Distance = dyn Fn(&Point3<f64>) -> f64;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("assets"), PathBuf::from);
    let half = Vector3::new(0.13, 0.17, 0.13);
    write(&folder, "vase.msh", (Point3::new(0.0, 0.16, 0.0), half), 1440, &vase)?;
    let half = Vector3::new(0.2, 0.25, 0.17);
    write(&folder, "teddy.msh", (Point3::new(0.0, 0.22, 0.0), half), 3747, &teddy)?;
    let half = Vector3::new(0.17, 0.28, 0.11);
    write(&folder, "figure.msh", (Point3::new(0.0, 0.25, 0.0), half), 3000, &figure)?;
    save(&folder, "can.msh", &can())?;
    save(&folder, "pot.msh", &pot())?;
    save(&folder, "cinder_block.msh", &cinder_block())
}

/// Fills what is negative in a box.
fn write(
    folder: &Path,
    name: &str,
    (center, half): (Point3<f64>, Vector3<f64>),
    count: usize,
    distance: &Distance,
) -> io::Result<()> {
    let bounds = Aabb { min: center - half, max: center + half };
    let grid = Grid::enclosing(&bounds, half.max() / 80.0, 3, Grid::MAX_NODES)
        .map_err(io::Error::other)?;
    let solid = LevelSet::from_fn(grid, |p| distance(&p)).redistanced();
    let stuffing = Stuffing { spacing: 1.0, doublings: 0, halvings: 0, limit: 1 << 24 };
    let mesh = TetMesh::stuffed_to_count(&solid, count, &stuffing).map_err(io::Error::other)?;
    println!("{name}: volume {:.3} of it", mesh.moments().volume / solid.moments().volume);
    save(folder, name, &mesh)
}

fn save(folder: &Path, name: &str, mesh: &TetMesh) -> io::Result<()> {
    let quality = mesh.quality();
    println!(
        "{name}: {} tetrahedra, {} vertices, {} pieces, angles {:.1} to {:.1}",
        mesh.tets.len(),
        mesh.vertices.len(),
        mesh.components().count,
        quality.min_dihedral,
        quality.max_dihedral,
    );
    let mut out = BufWriter::new(File::create(folder.join(name))?);
    write_msh(&mut out, mesh, &Fields::default())?;
    out.flush()
}

/// A vase 32 cm high, of a wall of 50 mm: so thick as so few tetrahedra can follow.
fn vase(p: &Point3<f64>) -> f64 {
    const HEIGHT: f64 = 0.32;
    const WALL: f64 = 0.05;
    let r = p.x.hypot(p.z);
    let share = p.y / HEIGHT;
    // a belly, a neck and a lip
    let radius = |s: f64| {
        0.062
            + 0.046 * (std::f64::consts::PI * s.clamp(0.0, 1.0) * 1.25).sin()
            + 0.03 * ((s - 0.82).max(0.0) / 0.18).powi(2)
    };
    let slope = (radius(share + 1e-4) - radius(share - 1e-4)) / (2e-4 * HEIGHT);
    let side = (r - radius(share)) / 1.0_f64.hypot(slope);
    let outer = side.max(-p.y).max(p.y - HEIGHT);
    let inner = (side + WALL).max(1.1 * WALL - p.y);
    outer.max(-inner)
}

/// A sitting bear 45 cm high.
fn teddy(p: &Point3<f64>) -> f64 {
    // the right half is that of the left
    let p = Point3::new(p.x.abs(), p.y, p.z);
    let ball = |x: f64, y: f64, z: f64, radius: f64| (p - Point3::new(x, y, z)).norm() - radius;
    let limb = |from: [f64; 3], to: [f64; 3], radius: f64| {
        let (a, b) = (Point3::from(from), Point3::from(to));
        let t = ((p - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
        (p - (a + (b - a) * t)).norm() - radius
    };
    let parts = [
        // body, head, snout, ear
        limb([0.0, 0.13, 0.0], [0.0, 0.18, 0.0], 0.105),
        ball(0.0, 0.335, 0.01, 0.092),
        ball(0.0, 0.315, 0.09, 0.04),
        ball(0.085, 0.415, 0.0, 0.038),
        // arm, leg
        limb([0.09, 0.21, 0.02], [0.15, 0.13, 0.09], 0.04),
        limb([0.06, 0.055, 0.04], [0.11, 0.05, 0.12], 0.05),
    ];
    // rounded where they meet
    parts.into_iter().fold(f64::INFINITY, |all: f64, part| {
        const ROUND: f64 = 0.02;
        let near = (ROUND - (all - part).abs()).max(0.0) / ROUND;
        all.min(part) - near * near * ROUND / 4.0
    })
}

/// A closed tin 24 cm high, of a wall of 8 mm.
fn can() -> TetMesh {
    let radii = [0.03, 0.057, 0.082, 0.09];
    let mut heights = [0.0; 12];
    let inner = |n: usize| 0.008 + 0.224 * n as f64 / 9.0;
    (0..10).for_each(|n| heights[n + 1] = inner(n));
    heights[11] = 0.24;
    let is_there = |ring: usize, _: usize, layer: usize| ring == 3 || layer == 0 || layer == 10;
    turned(&radii, &heights.map(|y| y - 0.12), is_there, &|_| 1.0)
}

/// A pot 16 cm high, wider towards its rim, with two handles, of a wall of 9 mm.
fn pot() -> TetMesh {
    let radii = [0.035, 0.065, 0.095, 0.104, 0.122, 0.14];
    let heights = [0.0, 0.009, 0.03, 0.05, 0.07, 0.09, 0.11, 0.127, 0.148, 0.16];
    let is_there = |ring: usize, sector: usize, layer: usize| match ring {
        0..3 => layer == 0,
        3 => true,
        // an ear on either side, and a rim all around
        4 => layer == 8 || layer == 6 && [0, 1, 12, 13].contains(&sector),
        _ => layer == 6 && [0, 1, 12, 13].contains(&sector),
    };
    turned(&radii, &heights, is_there, &|y| 1.0 + 0.9 * y)
}

/// A solid of cells between circles, sectors and levels of height, those that `is_there` names by ring, sector and
/// layer. Radii are wider by `widens` at a height.
fn turned(
    radii: &[f64],
    heights: &[f64],
    is_there: impl Fn(usize, usize, usize) -> bool,
    widens: &dyn Fn(f64) -> f64,
) -> TetMesh {
    const SECTORS: usize = 24;
    let level = 1 + radii.len() * SECTORS;
    let mut mesh = TetMesh::default();
    for &y in heights {
        mesh.vertices.push(Point3::new(0.0, y, 0.0));
        for (radius, sector) in radii.iter().flat_map(|r| (0..SECTORS).map(move |s| (r, s))) {
            let (sin, cos) = (std::f64::consts::TAU * sector as f64 / SECTORS as f64).sin_cos();
            let radius = radius * widens(y);
            mesh.vertices.push(Point3::new(radius * cos, y, radius * sin));
        }
    }
    let name = |ring: usize, sector: usize| match ring {
        0 => 0,
        _ => 1 + (ring - 1) * SECTORS + sector % SECTORS,
    };
    for (ring, sector) in (0..radii.len()).flat_map(|r| (0..SECTORS).map(move |s| (r, s))) {
        let [a, b] = [sector, sector + 1].map(|s| name(ring, s));
        let [c, d] = [sector, sector + 1].map(|s| name(ring + 1, s));
        for layer in (0..heights.len() - 1).filter(|&layer| is_there(ring, sector, layer)) {
            let faces: &[[usize; 3]] =
                if ring == 0 { &[[a, c, d]] } else { &[[a, c, d], [a, b, d]] };
            for face in faces {
                // diagonals go from the lower of two names below to the higher above: neighbors agree
                let mut face = face.map(|v| v + layer * level);
                face.sort_unstable();
                let [a, b, c] = face.map(|v| v as u32);
                let [p, q, r] = face.map(|v| (v + level) as u32);
                mesh.tets.extend([[a, b, c, r], [a, b, q, r], [a, p, q, r]]);
            }
        }
    }
    for t in 0..mesh.tets.len() {
        if mesh.volume(t) < 0.0 {
            mesh.tets[t].swap(0, 1);
        }
    }
    // without the vertices of cells that are not there
    pieces(&mesh).swap_remove(0).0
}

/// A standing figure 50 cm high with its arms away from its body.
fn figure(p: &Point3<f64>) -> f64 {
    // the right half is that of the left
    let p = Point3::new(p.x.abs(), p.y, p.z);
    let limb = |from: [f64; 3], to: [f64; 3], radius: f64| {
        let (a, b) = (Point3::from(from), Point3::from(to));
        let t = ((p - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
        (p - (a + (b - a) * t)).norm() - radius
    };
    let parts = [
        limb([0.0, 0.24, 0.0], [0.0, 0.34, 0.0], 0.06),
        limb([0.0, 0.44, 0.0], [0.0, 0.45, 0.0], 0.055),
        limb([0.05, 0.36, 0.0], [0.13, 0.25, 0.02], 0.026),
        limb([0.035, 0.22, 0.0], [0.06, 0.04, 0.0], 0.034),
        limb([0.06, 0.03, 0.0], [0.06, 0.03, 0.05], 0.03),
    ];
    let all = parts.into_iter().fold(f64::INFINITY, |all: f64, part| {
        const ROUND: f64 = 0.02;
        let near = (ROUND - (all - part).abs()).max(0.0) / ROUND;
        all.min(part) - near * near * ROUND / 4.0
    });
    // it stands on flat feet
    all.max(0.008 - p.y)
}

/// A block of 39 x 19 x 19 cm with two holes from top to bottom, in cells that its walls are made of:
/// they are thinner than tetrahedra so few that follow no face.
fn cinder_block() -> TetMesh {
    const X: [f64; 9] = [-0.195, -0.1425, -0.0925, -0.0425, 0.0, 0.0425, 0.0925, 0.1425, 0.195];
    const Z: [f64; 5] = [-0.095, -0.045, 0.0, 0.045, 0.095];
    let mut mesh = kuhn_box([8, 6, 4], Vector3::new(8.0, 6.0, 4.0));
    let corners = mesh.vertices.clone();
    mesh.tets.retain(|tet| {
        let sum: Vector3<f64> = tet.iter().map(|&v| corners[v as usize].coords).sum();
        let (x, z) = ((sum.x / 4.0) as usize, (sum.z / 4.0) as usize);
        !([1, 2, 5, 6].contains(&x) && [1, 2].contains(&z))
    });
    for p in &mut mesh.vertices {
        *p = Point3::new(X[p.x as usize], (p.y - 3.0) * (0.19 / 6.0), Z[p.z as usize]);
    }
    // without the vertices in the holes
    pieces(&mesh).swap_remove(0).0
}
