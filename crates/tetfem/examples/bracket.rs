//! Stress in a steel bracket under a load at its end.
//!
//! `cargo run --release -p brisance-tetfem --example bracket -- [OUT.vtu]` fills an L of 8 mm steel with tetrahedra,
//! holds the plate that is screwed to a wall, hangs 200 N on the end of the arm, and prints how far that sinks and
//! where tension is largest. A file shows displacement and stress in ParaView.
#![allow(clippy::print_stdout, reason = "an example that reports")]

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

use brisance_tetfem::levelset::{Aabb, Grid, LevelSet, Solid, Stuffing, TetMesh};
use brisance_tetfem::nalgebra::{Point3, Vector3};
use brisance_tetfem::{
    Contact, Fields, Interpolation, LinearSolver, Load, Material, Structure, max_principal,
    write_vtu,
};

/// Thickness, width, height of the plate and length of the arm, m.
const THICK: f64 = 0.008;
const WIDTH: f64 = 0.04;
const HEIGHT: f64 = 0.1;
const LENGTH: f64 = 0.12;
/// N.
const WEIGHT: f64 = 200.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mesh = bracket()?;
    println!("{} tetrahedra, {} vertices", mesh.tets.len(), mesh.vertices.len());
    // the back of the plate is on the wall
    let held: Vec<bool> = mesh.vertices.iter().map(|p| p.x < 0.1 * THICK).collect();
    let steel = Material::from_young(2.1e11, 0.3)?;
    let way = (Interpolation::Quadratic, LinearSolver::Cholesky);
    let structure = Structure::supported(mesh, held, steel, way.0, way.1)?;

    let place = Point3::new(LENGTH, HEIGHT, WIDTH / 2.0);
    let weight = [Contact { place, force: -Vector3::y() * WEIGHT }];
    let response = structure.respond(&Load::new(&weight).spread(0.01))?;

    let sunk = response.displacements.iter().map(|u| -u.y).fold(0.0, f64::max);
    println!("the end sinks by {:.3} mm", sunk * 1e3);
    let tensions = response.stresses.iter().map(max_principal).enumerate();
    let (tet, tension) =
        tensions.fold((0, 0.0), |most, one| if one.1 > most.1 { one } else { most });
    let at = structure.mesh().corners(tet).map(|p| p.coords).iter().sum::<Vector3<f64>>() / 4.0;
    let [x, y] = [at.x * 1e3, at.y * 1e3];
    println!(
        "largest tension {:.1} MPa, {x:.0} mm from the wall at a height of {y:.0} mm",
        tension / 1e6
    );
    // the bending stress of a beam at the plate: 6 F l / (b h^2)
    let beam = 6.0 * WEIGHT * (LENGTH - THICK) / (WIDTH * THICK * THICK);
    println!("a beam that long would have {:.1} MPa", beam / 1e6);

    if let Some(path) = std::env::args_os().nth(1) {
        let fields =
            Fields { displacements: &response.displacements, stresses: &response.stresses };
        let mut out = BufWriter::new(File::create(path)?);
        write_vtu(&mut out, structure.mesh(), &fields)?;
        out.flush()?;
    }
    Ok(())
}

/// A plate on the wall at x = 0, and an arm at its top.
fn bracket() -> Result<TetMesh, Box<dyn Error>> {
    let (width, size) = (WIDTH / 2.0, Point3::new(LENGTH, HEIGHT, WIDTH));
    let part = |x: f64, y: f64, at: Vector3<f64>| {
        let solid = Solid::Box { half_extents: Vector3::new(x / 2.0, y / 2.0, width) };
        move |p: &Point3<f64>| solid.distance(&(p - at))
    };
    let plate = part(THICK, HEIGHT, Vector3::new(THICK / 2.0, HEIGHT / 2.0, width));
    let arm = part(LENGTH, THICK, Vector3::new(LENGTH / 2.0, HEIGHT - THICK / 2.0, width));
    let bounds = Aabb { min: Point3::origin(), max: size };
    let grid = Grid::enclosing(&bounds, THICK / 4.0, 3, Grid::MAX_NODES)?;
    let solid = LevelSet::from_fn(grid, |p| plate(&p).min(arm(&p)));
    let stuffing = Stuffing { spacing: THICK / 2.0, doublings: 0, halvings: 0, limit: 1 << 24 };
    Ok(TetMesh::stuffed(&solid, &stuffing)?)
}
