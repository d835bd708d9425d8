//! Grows or shrinks a mesh with round edges: mesh to signed distance, offset of the distance, and
//! back to a mesh.
//!
//! `cargo run --release -p brisance-levelset --example offset -- IN.stl DISTANCE OUT.stl`, with a
//! distance in the unit of the file; a negative distance shrinks. STL files are binary. Without
//! arguments, the example grows a cube of 1 m by 0.1 m and prints the volume beside the closed
//! form.
#![allow(clippy::print_stdout, reason = "an example that reports")]

use std::collections::BTreeMap;
use std::error::Error;
use std::f64::consts::PI;

use brisance_levelset::nalgebra::{Point3, Vector3};
use brisance_levelset::{Aabb, Grid, LevelSet, Sign, TriMesh};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Bytes of a binary STL file before its first triangle.
const HEAD: usize = 84;
/// Bytes of a triangle in a binary STL file.
const TRIANGLE: usize = 50;
/// Cells along the longest edge.
const CELLS: f64 = 100.0;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => demonstrate(),
        [from, distance, to] => {
            let mesh = offset(&parse(&std::fs::read(from)?)?, distance.parse()?)?;
            Ok(std::fs::write(to, stl(&mesh))?)
        }
        _ => Err("usage: offset [IN.stl DISTANCE OUT.stl]".into()),
    }
}

fn offset(mesh: &TriMesh, distance: f64) -> Outcome<TriMesh> {
    let bounds = Aabb::around(&mesh.vertices).ok_or("the mesh has no finite points")?;
    let bounds = bounds.grown(distance.max(0.0));
    let grid = Grid::enclosing(&bounds, bounds.extents().max() / CELLS, 3, Grid::MAX_NODES)?;
    Ok(LevelSet::from_mesh(mesh, grid, Sign::Winding)?.offset(distance).isosurface())
}

/// Compares the volume of a cube grown by `r` with the sum of the cube, six slabs, twelve quarters
/// of a cylinder and eight octants of a ball.
fn demonstrate() -> Outcome<()> {
    let r = 0.1;
    let cube = parse(&stl(&cube()))?;
    let grown = offset(&cube, r)?;
    let exact = 1.0 + 6.0 * r + 3.0 * PI * r * r + 4.0 / 3.0 * PI * r.powi(3);
    println!("the cube has a volume of {:.6} m^3", cube.signed_volume());
    println!("grown by {r} m it has {:.6}, in closed form {exact:.6}", grown.signed_volume());
    println!("{} bytes of STL", stl(&grown).len());
    Ok(())
}

fn cube() -> TriMesh {
    let corner = |n: usize| Point3::from([n & 1, n >> 1 & 1, n >> 2].map(|x| x as f64));
    let sides =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    TriMesh {
        vertices: (0..8).map(corner).collect(),
        triangles: sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

/// The triangles of a binary STL file; corners at equal positions become one vertex.
fn parse(bytes: &[u8]) -> Outcome<TriMesh> {
    let body = bytes.get(HEAD..).ok_or("not a binary STL file")?;
    let mut places = BTreeMap::new();
    let mut mesh = TriMesh::default();
    let mut vertex = |corner: &[u8]| -> u32 {
        let (words, _) = corner.as_chunks::<4>();
        // adding 0 turns -0 into 0, which has other bits
        let place = [0, 1, 2].map(|axis| f32::from_le_bytes(words[axis]) + 0.0);
        *places.entry(place.map(f32::to_bits)).or_insert_with(|| {
            mesh.vertices.push(Point3::from(place).cast());
            mesh.vertices.len() as u32 - 1
        })
    };
    // a normal and three corners of 12 bytes each, and a trailer of two bytes
    let (triangles, _) = body.as_chunks::<TRIANGLE>();
    for triangle in triangles {
        let corners = [12, 24, 36].map(|at| vertex(&triangle[at..at + 12]));
        mesh.triangles.push(corners);
    }
    Ok(mesh)
}

fn stl(mesh: &TriMesh) -> Vec<u8> {
    let mut bytes = vec![0; HEAD - 4];
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for n in 0..mesh.triangles.len() {
        let normal = mesh.area_vector(n).try_normalize(0.0).unwrap_or_else(Vector3::zeros);
        let corners = mesh.corners(n).map(|corner| corner.coords);
        for x in std::iter::once(&normal).chain(&corners).flat_map(|v| v.iter()) {
            bytes.extend((*x as f32).to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}
