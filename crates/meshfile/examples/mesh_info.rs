//! Reads a mesh of any format and prints its size, its volume, whether it is closed, and the attributes of its
//! corners.
//!
//! `cargo run --release -p brisance-meshfile --example mesh_info -- assets/bunny.obj`; without a file it reads a
//! tetrahedron in OBJ from its own text.
#![allow(clippy::print_stdout, reason = "an example that reports")]

use std::error::Error;
use std::path::{Path, PathBuf};

use brisance_meshfile::levelset::Aabb;
use brisance_meshfile::sim::PaintedMesh;
use brisance_meshfile::{parse, parse_objects};

const TETRAHEDRON: &str = "\
o tetrahedron
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
";

fn main() -> Result<(), Box<dyn Error>> {
    let (name, bytes) = match std::env::args_os().nth(1).map(PathBuf::from) {
        Some(path) => (path.clone(), std::fs::read(path)?),
        None => (PathBuf::from("tetrahedron.obj"), TETRAHEDRON.into()),
    };
    print(&name, &bytes)
}

/// The file name extension decides the format; the bytes may have any source.
fn print(name: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let file = parse(name, bytes)?;
    let mesh = &file.mesh;
    println!("{} vertices, {} triangles", mesh.vertices.len(), mesh.triangles.len());
    println!("{} objects", parse_objects(name, bytes)?.len());
    if let Some(bounds) = Aabb::around(&mesh.vertices) {
        let size = bounds.extents();
        println!("size {:.4} x {:.4} x {:.4}", size.x, size.y, size.z);
    }
    let facts = mesh.facts()?;
    let closed = if facts.closed { "closed" } else { "open" };
    println!("{closed}, volume {:.6}", mesh.signed_volume());
    let painted = PaintedMesh::from(file);
    let carries = if painted.corners.is_empty() { "nothing" } else { "paint" };
    println!("its corners carry {carries}");
    Ok(())
}
