//! Triangle meshes from files.

mod gltf;
mod obj;
mod ply;
mod stl;

use std::collections::BTreeMap;
use std::path::Path;

use levelset::TriMesh;
use nalgebra::{Point3, UnitVector3, Vector2, Vector3, Vector4};
use thiserror::Error;

use crate::glb_file::GlbError;

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
    #[error("is not a {format} file that can be read: {problem}")]
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

/// What a file says of a corner of a triangle beside where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corner {
    /// Normal for lighting.
    pub normal: Option<UnitVector3<f64>>,
    /// Texture coordinates, `v` upwards.
    pub uv: Option<Vector2<f64>>,
    /// Linear RGBA colour.
    pub colour: Option<Vector4<f64>>,
}

impl Corner {
    fn facing(normal: Option<[f32; 3]>) -> Option<UnitVector3<f64>> {
        UnitVector3::try_new(Vector3::from(normal?).cast(), 0.0)
    }
}

/// A mesh with what its file says of the corners of its triangles.
#[derive(Clone, Debug, Default)]
pub struct PaintedMesh {
    /// The mesh.
    pub mesh: TriMesh,
    /// One for each corner of each triangle.
    pub corners: Vec<[Corner; 3]>,
    /// Whether the file names materials, which are not read.
    pub has_materials: bool,
}

/// Reads the mesh at `path`, OBJ, STL, PLY or GLB by its ending; vertices at equal places become
/// one.
///
/// # Errors
/// [`MeshFileError`] when the file cannot be read, is malformed or holds no triangle.
pub fn read_mesh(path: &Path) -> Result<TriMesh, MeshFileError> {
    Ok(read_painted_mesh(path)?.mesh)
}

/// Reads the mesh at `path` as [`read_mesh`] does, with the normals, texture coordinates and
/// colours of its corners. (STL has none.)
///
/// # Errors
/// As [`read_mesh`].
pub fn read_painted_mesh(path: &Path) -> Result<PaintedMesh, MeshFileError> {
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let parse = match extension.as_deref() {
        Some("obj") => obj::parse,
        Some("stl") => stl::parse,
        Some("ply") => ply::parse,
        Some("glb") => gltf::parse,
        _ => return Err(MeshFileError::UnknownFormat),
    };
    let mesh = parse(&std::fs::read(path)?)?;
    check(&mesh.mesh)?;
    let mesh = weld(mesh);
    if mesh.mesh.triangles.is_empty() {
        return Err(MeshFileError::Empty);
    }
    Ok(mesh)
}

fn check(mesh: &TriMesh) -> Result<(), MeshFileError> {
    let finite = |p: &Point3<f64>| p.iter().all(|x| x.is_finite());
    if let Some(vertex) = mesh.vertices.iter().position(|p| !finite(p)) {
        return Err(MeshFileError::NotFinite { vertex: vertex + 1 });
    }
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

/// The mesh with one vertex for each place, and without triangles that collapse by that.
fn weld(PaintedMesh { mesh, corners, has_materials }: PaintedMesh) -> PaintedMesh {
    let mut places: BTreeMap<[u64; 3], u32> = BTreeMap::new();
    let mut vertices = vec![];
    let mut place_of = |p: &Point3<f64>| {
        // adding zero makes -0 and 0 one place
        let key = [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits());
        *places.entry(key).or_insert_with(|| {
            vertices.push(*p);
            vertices.len() as u32 - 1
        })
    };
    let new: Vec<u32> = mesh.vertices.iter().map(&mut place_of).collect();
    let (triangles, corners) = mesh
        .triangles
        .iter()
        .map(|t| t.map(|v| new[v as usize]))
        .zip(corners)
        .filter(|([a, b, c], _)| a != b && b != c && c != a)
        .unzip();
    PaintedMesh { mesh: TriMesh { vertices, triangles }, corners, has_materials }
}

#[cfg(test)]
mod tests;
