//! Mesh to level set to mesh: reads an OBJ file, fills it, drills a hole through it, and writes the
//! result as OBJ to standard output.
//!
//! `cargo run --release -p brisance-levelset --example round_trip -- assets/bunny.obj > drilled.obj`

use std::error::Error;
use std::io::{BufWriter, Write, stdout};

use brisance_levelset::nalgebra::Point3;
use brisance_levelset::{Aabb, Grid, LevelSet, Sign, Solid, TriMesh};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: round_trip MESH.obj")?;
    let mesh = parse(&std::fs::read_to_string(path)?)?;
    let bounds = Aabb::around(&mesh.vertices).ok_or("the mesh has no finite points")?;
    let size = bounds.extents().max();
    let grid = Grid::enclosing(&bounds, size / 100.0, 3, Grid::MAX_NODES)?;
    let solid = LevelSet::from_mesh(&mesh, grid, Sign::Winding)?;
    let drill = Solid::Cylinder { half_height: size, radius: 0.1 * size };
    let center = bounds.center().coords;
    let hole = LevelSet::from_fn(grid, |p| drill.distance(&(p - center)));
    write(&solid.difference(&hole).isosurface())
}

/// Vertices and triangles of an OBJ file; other lines are ignored.
fn parse(text: &str) -> Result<TriMesh, Box<dyn Error>> {
    let mut mesh = TriMesh::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let word = |n: usize| words.get(n).copied().ok_or("a line ends early");
        match words.first() {
            Some(&"v") => {
                let x = [word(1)?.parse()?, word(2)?.parse()?, word(3)?.parse()?];
                mesh.vertices.push(Point3::from(x));
            }
            Some(&"f") => {
                let index = |n: usize| -> Result<u32, Box<dyn Error>> {
                    let number = word(n)?.split('/').next().unwrap_or_default();
                    Ok(number.parse::<u32>()?.checked_sub(1).ok_or("indices start at 1")?)
                };
                mesh.triangles.push([index(1)?, index(2)?, index(3)?]);
            }
            _ => {}
        }
    }
    Ok(mesh)
}

fn write(mesh: &TriMesh) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(stdout().lock());
    for v in &mesh.vertices {
        writeln!(out, "v {} {} {}", v.x, v.y, v.z)?;
    }
    for [a, b, c] in &mesh.triangles {
        writeln!(out, "f {} {} {}", a + 1, b + 1, c + 1)?;
    }
    Ok(out.flush()?)
}
