//! Writes the models of tetrahedra in `assets`, which are those of Mu01's examples in kind and in
//! number: `cargo run --release -p brisance-tetfem --example models -- assets`.
#![allow(clippy::print_stdout, reason = "it is a program")]

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use brisance_tetfem::{Fields, pieces, write_msh};
use levelset::{Aabb, Grid, LevelSet, Stuffing, TetMesh};
use nalgebra::{Point3, Vector3};
use tet_boxes::kuhn_box;

#[allow(unreachable_pub, reason = "public where it is at home")]
#[path = "../../../tests/src/tet_boxes.rs"]
mod tet_boxes;

type Distance = dyn Fn(&Point3<f64>) -> f64;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("assets"), PathBuf::from);
    let half = Vector3::new(0.13, 0.17, 0.13);
    write(&folder, "vase.msh", (Point3::new(0.0, 0.16, 0.0), half), 1440, &vase)?;
    let half = Vector3::new(0.2, 0.25, 0.17);
    write(&folder, "teddy.msh", (Point3::new(0.0, 0.22, 0.0), half), 3747, &teddy)?;
    save(&folder, "cinder_block.msh", &cinder_block())
}

/// Fills what is negative in a box.
fn write(
    folder: &Path,
    name: &str,
    (centre, half): (Point3<f64>, Vector3<f64>),
    count: usize,
    distance: &Distance,
) -> io::Result<()> {
    let bounds = Aabb { min: centre - half, max: centre + half };
    let grid = Grid::enclosing(&bounds, half.max() / 80.0, 3, Grid::MAX_NODES)
        .map_err(io::Error::other)?;
    let solid = LevelSet::from_fn(grid, |p| distance(&p)).redistanced();
    let stuffing = Stuffing { spacing: 1.0, doublings: 0, limit: 1 << 24 };
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
