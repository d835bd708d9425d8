//! Triangle meshes from the bytes of OBJ, STL, PLY and GLB files, and recordings as GLB.
//!
//! Nothing here opens files: the program and the page in the browser both hand over bytes.

// a browser has one thread
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
extern crate serial as rayon;

pub mod glb_file;
mod gltf;
mod obj;
mod ply;
mod recording;
mod stl;
pub mod texture;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use levelset::TriMesh;
use nalgebra::{Point3, UnitVector3, Vector3};
use sim::{Paint, PaintedMesh};
use thiserror::Error;

use crate::glb_file::GlbError;

// one dependency is enough: what the functions here take and return is named through this crate
pub use levelset;
pub use nalgebra;
pub use sim;

pub use recording::{
    WriteError, check_poses, check_surface, write_glb, write_glb_of, write_physics_glb,
};

/// Why a mesh file was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeshFileError {
    /// The file cannot be read.
    #[error("cannot be read ({0}): check the path")]
    Read(#[from] std::io::Error),
    /// The name ends in none of the formats that are read.
    #[error("is of a kind that is not read: give an .obj, .stl, .ply or .glb file")]
    UnknownFormat,
    /// A line is not what the format allows.
    #[error("line {line}: {problem}")]
    Line {
        /// Line, counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The bytes are not what the format allows.
    #[error("is not a {format} file, or damaged ({problem}): export it again")]
    Format {
        /// The format its name promises.
        format: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A GLB file is not what the format allows.
    #[error(transparent)]
    Glb(#[from] GlbError),
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} has a coordinate that is not a finite number")]
    NotFinite {
        /// Number of the vertex, counted from 1.
        vertex: usize,
    },
    /// A coordinate is so large that volumes would not be finite.
    #[error("vertex {vertex} has a coordinate beyond 1e30 m: check the unit and export it again")]
    TooFar {
        /// Number of the vertex, counted from 1.
        vertex: usize,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are only {count}")]
    Dangling {
        /// Number of the triangle, counted from 1.
        triangle: usize,
        /// Number of the vertex, counted from 1.
        vertex: usize,
        /// Vertices there are.
        count: usize,
    },
    /// The name ends in none of the formats that tetrahedra are read from.
    #[error("is of a kind that tetrahedra are not read from: give a {known} file")]
    UnknownTetFormat {
        /// Endings of those that are.
        known: &'static str,
    },
    /// A tetrahedron names a vertex that does not exist.
    #[error("tetrahedron {tet} names vertex {vertex}, which is not there")]
    DanglingTet {
        /// Number of the tetrahedron, counted from 1.
        tet: usize,
        /// Number of the vertex, as in the file.
        vertex: u64,
    },
    /// Two vertices have one number.
    #[error("vertex {vertex} is given twice")]
    Twice {
        /// Its number, as in the file.
        vertex: u64,
    },
    /// There are more vertices or tetrahedra than are read.
    #[error("holds more than 2^30 tetrahedra or 2^32 vertices")]
    TooLarge,
    /// There are no tetrahedra.
    #[error("holds no tetrahedra: export the mesh of the volume, not of the surface alone")]
    NoTets,
    /// There is nothing in it.
    #[error("holds no triangles: export the surface as polygons")]
    Empty,
}

/// The direction of a normal as files hold it.
fn facing(normal: Option<[f32; 3]>) -> Option<UnitVector3<f64>> {
    UnitVector3::try_new(Vector3::from(normal?).cast(), 0.0)
}

/// A mesh with what its file says of the corners of its triangles.
#[derive(Clone, Debug, Default)]
pub struct MeshFile {
    /// The mesh.
    pub mesh: TriMesh,
    /// One for each corner of each triangle.
    pub corners: Vec<[Paint; 3]>,
    /// Whether the file names materials, which are not read.
    pub has_materials: bool,
    /// The first triangle of each object.
    objects: Vec<usize>,
}

impl From<MeshFile> for PaintedMesh {
    fn from(MeshFile { mesh, corners, .. }: MeshFile) -> Self {
        let is_painted = corners.iter().flatten().any(|corner| *corner != Paint::default());
        Self { mesh, corners: if is_painted { corners } else { Vec::new() } }
    }
}

/// Whether a name is that of a mesh that is read.
pub fn is_mesh(path: &Path) -> bool {
    parser(path).is_some()
}

/// What reads the bytes of a file of some name.
type Parser = fn(&[u8]) -> Result<MeshFile, MeshFileError>;

fn parser(path: &Path) -> Option<Parser> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "obj" => Some(obj::parse),
        "stl" => Some(stl::parse),
        "ply" => Some(ply::parse),
        "glb" => Some(gltf::parse),
        _ => None,
    }
}

/// The mesh in `bytes`, which are of an OBJ, STL, PLY or GLB file by the ending of `name`, with the normals, texture
/// coordinates and colors of its corners (STL has none). Vertices at equal places become one.
///
/// # Errors
/// [`MeshFileError`] when the ending is another, or the bytes are malformed or hold no triangle.
pub fn parse(name: &Path, bytes: &[u8]) -> Result<MeshFile, MeshFileError> {
    let parse = parser(name).ok_or(MeshFileError::UnknownFormat)?;
    let mesh = parse(bytes)?;
    check(&mesh.mesh)?;
    let mesh = weld(mesh);
    if mesh.mesh.triangles.is_empty() {
        return Err(MeshFileError::Empty);
    }
    Ok(mesh)
}

/// The objects of the mesh in `bytes`, each as a mesh of its own; those without triangles are left out.
///
/// # Errors
/// As [`parse`].
pub fn parse_objects(name: &Path, bytes: &[u8]) -> Result<Vec<TriMesh>, MeshFileError> {
    let parse = parser(name).ok_or(MeshFileError::UnknownFormat)?;
    let MeshFile { mesh, objects, .. } = parse(bytes)?;
    check(&mesh)?;
    let ends = objects.iter().copied().skip(1).chain([mesh.triangles.len()]);
    let starts = if objects.is_empty() { vec![0] } else { objects.clone() };
    let parts = starts.into_iter().zip(ends).filter(|(first, end)| first < end);
    let meshes: Vec<TriMesh> = parts.map(|(first, end)| part(&mesh, first..end)).collect();
    if meshes.is_empty() { Err(MeshFileError::Empty) } else { Ok(meshes) }
}

/// Some of the triangles of a mesh, with the vertices that they have.
fn part(mesh: &TriMesh, triangles: Range<usize>) -> TriMesh {
    let triangles = &mesh.triangles[triangles];
    let mut used: Vec<u32> = triangles.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let place = |v: u32| used.partition_point(|&other| other < v) as u32;
    TriMesh {
        vertices: used.iter().map(|&v| mesh.vertices[v as usize]).collect(),
        triangles: triangles.iter().map(|corners| corners.map(place)).collect(),
    }
}

/// Cubes of coordinates to here, and sums of as many as a file can hold, are finite, m.
const FARTHEST: f64 = 1e30;

/// Refuses coordinates that no body has.
///
/// # Errors
/// [`MeshFileError::NotFinite`] or [`MeshFileError::TooFar`].
pub fn check_places(vertices: &[Point3<f64>]) -> Result<(), MeshFileError> {
    let beyond = |p: &&Point3<f64>| !p.iter().all(|x| x.abs() <= FARTHEST);
    let Some(at) = vertices.iter().position(|p| beyond(&p)) else { return Ok(()) };
    let vertex = at + 1;
    if vertices[at].iter().all(|x| x.is_finite()) {
        return Err(MeshFileError::TooFar { vertex });
    }
    Err(MeshFileError::NotFinite { vertex })
}

fn check(mesh: &TriMesh) -> Result<(), MeshFileError> {
    check_places(&mesh.vertices)?;
    let count = mesh.vertices.len();
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= count) {
            let (triangle, vertex) = (triangle + 1, vertex as usize + 1);
            return Err(MeshFileError::Dangling { triangle, vertex, count });
        }
    }
    Ok(())
}

/// The triangles of a fan around the first corner of a polygon.
fn fan(polygon: &[u32]) -> impl Iterator<Item = [u32; 3]> {
    polygon.windows(2).skip(1).map(|edge| [polygon[0], edge[0], edge[1]])
}

/// Bits of three coordinates.
type Place = [u64; 3];

/// The mesh with one vertex for each place, and without triangles that collapse by that. Objects
/// that are closed by themselves share none with others: two that touch are two still.
fn weld(MeshFile { mesh, corners, has_materials, objects }: MeshFile) -> MeshFile {
    // adding zero makes -0 and 0 one place
    let key = |p: &Point3<f64>| [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits());
    // of each vertex the object that it is of, or 0 if this shares places with others
    let mut groups = vec![0; mesh.vertices.len()];
    let ends = objects.iter().copied().skip(1).chain([mesh.triangles.len()]);
    for (number, (first, end)) in (1..).zip(objects.iter().copied().zip(ends)) {
        let triangles = &mesh.triangles[first..end];
        let keys = triangles.iter().map(|t| t.map(|v| key(&mesh.vertices[v as usize])));
        if is_closed(&keys.collect::<Vec<_>>()) {
            triangles.as_flattened().iter().for_each(|&v| groups[v as usize] = number);
        }
    }
    let mut places: BTreeMap<(usize, Place), u32> = BTreeMap::new();
    let mut vertices = vec![];
    let mut place_of = |(p, group): (&Point3<f64>, usize)| {
        *places.entry((group, key(p))).or_insert_with(|| {
            vertices.push(*p);
            vertices.len() as u32 - 1
        })
    };
    let new: Vec<u32> = mesh.vertices.iter().zip(groups).map(&mut place_of).collect();
    let (triangles, corners) = mesh
        .triangles
        .iter()
        .map(|t| t.map(|v| new[v as usize]))
        .zip(corners)
        .filter(|([a, b, c], _)| a != b && b != c && c != a)
        .unzip();
    let mesh = TriMesh { vertices, triangles };
    MeshFile { mesh, corners, has_materials, objects: Vec::new() }
}

/// Whether every edge is as often walked one way as the other.
fn is_closed(triangles: &[[Place; 3]]) -> bool {
    let mut edges = Vec::with_capacity(3 * triangles.len());
    for triangle in triangles {
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            edges.push(if a < b { (a, b, 1) } else { (b, a, -1) });
        }
    }
    edges.sort_unstable();
    let balance = |walks: &[(Place, Place, i32)]| walks.iter().map(|walk| walk.2).sum::<i32>();
    let mut alike = edges.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1));
    alike.all(|walks| walks[0].0 == walks[0].1 || balance(walks) == 0)
}

/// The Rust in the README runs as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
