//! Triangle meshes from OBJ, STL, PLY and GLB files, outlines from SVG files, and recordings as
//! GLB.
//!
//! This crate opens no files: the program and the playground page both pass bytes.

// a browser has one thread
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
extern crate serial as rayon;

mod coats;
pub mod glb_file;
mod gltf;
mod mtl;
mod obj;
pub mod outline_file;
pub mod page;
mod ply;
mod recording;
mod stl;
pub mod texture;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use levelset::TriMesh;
use nalgebra::{Point3, UnitVector3, Vector3};
use sim::{Coat, Paint, PaintedMesh};
use thiserror::Error;

use crate::glb_file::GlbError;

pub use crate::gltf::GlbCoats;
pub use coats::{CoatWarning, FileReader, ImageError, MAX_PIXELS, image_kind, image_size};
// users can name the types of this API without further dependencies
pub use levelset;
pub use nalgebra;
pub use sim;

pub use recording::{
    WriteError, check_poses, check_surface, write_dust_glb, write_glb, write_glb_of,
    write_physics_glb, write_rigged_glb_of,
};

/// Why a mesh file is rejected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeshFileError {
    /// The file cannot be read.
    #[error("cannot be read ({0}): check the path")]
    Read(#[from] std::io::Error),
    /// The file extension is not a supported format.
    #[error("is of a kind that is not read: give an .obj, .stl, .ply or .glb file")]
    UnknownFormat,
    /// A line violates the format.
    #[error("line {line}: {problem}")]
    Line {
        /// Line, counted from 1.
        line: usize,
        /// A description of the problem.
        problem: String,
    },
    /// The bytes violate the format.
    #[error("is not a {format} file, or damaged ({problem}): export it again")]
    Format {
        /// The format according to the file name.
        format: &'static str,
        /// A description of the problem.
        problem: String,
    },
    /// A GLB file violates the format.
    #[error(transparent)]
    Glb(#[from] GlbError),
    /// An image is damaged or too large.
    #[error("the image `{name}` {source}")]
    Image {
        /// Its name.
        name: String,
        /// A description of the problem.
        source: ImageError,
    },
    /// It is a rigged recording, whose mesh shows every body in its initial pose.
    #[error(
        "is a recording that is written with --rig, the mesh of which is no solid: give a mesh, or the recording \
         without --rig"
    )]
    Rig,
    /// There are points but no triangles.
    #[error("holds points and no triangles, as dust does: export a surface as polygons")]
    Points,
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
    /// A triangle refers to a missing vertex.
    #[error("triangle {triangle} names vertex {vertex}, but there are only {count}")]
    Dangling {
        /// Number of the triangle, counted from 1.
        triangle: usize,
        /// Number of the vertex, counted from 1.
        vertex: usize,
        /// Number of vertices.
        count: usize,
    },
    /// The file extension is not a supported format of tetrahedra.
    #[error("is of a kind that tetrahedra are not read from: give a {known} file")]
    UnknownTetFormat {
        /// The supported extensions.
        known: &'static str,
    },
    /// A tetrahedron refers to a missing vertex.
    #[error("tetrahedron {tet} names vertex {vertex}, which is not there")]
    DanglingTet {
        /// Number of the tetrahedron, counted from 1.
        tet: usize,
        /// Number of the vertex, as in the file.
        vertex: u64,
    },
    /// Two vertices have the same number.
    #[error("vertex {vertex} is given twice")]
    Twice {
        /// Its number, as in the file.
        vertex: u64,
    },
    /// There are more vertices or tetrahedra than the limit.
    #[error("holds more than 2^30 tetrahedra or 2^32 vertices")]
    TooLarge,
    /// There are no tetrahedra.
    #[error("holds no tetrahedra: export the mesh of the volume, not of the surface alone")]
    NoTets,
    /// There are no triangles.
    #[error("holds no triangles: export the surface as polygons")]
    Empty,
}

/// Text in UTF-8, or else in Latin-1 (ISO 8859-1), in which every byte is a character.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(
        |_| bytes.iter().copied().map(char::from).collect::<String>().into(),
        Cow::Borrowed,
    )
}

/// The direction of a normal as stored in files.
fn facing(normal: Option<[f32; 3]>) -> Option<UnitVector3<f64>> {
    UnitVector3::try_new(Vector3::from(normal?).cast(), 0.0)
}

/// A mesh with the attributes of its triangle corners.
#[derive(Clone, Debug, Default)]
pub struct MeshFile {
    /// The mesh.
    pub mesh: TriMesh,
    /// One for each corner of each triangle.
    pub corners: Vec<[Paint; 3]>,
    /// Its materials.
    pub coats: Vec<Coat>,
    /// The index into `coats` of each triangle; empty if there are no coats. An index past the end
    /// marks a triangle without a coat.
    pub coat_of: Vec<u32>,
    /// Warnings about lost materials.
    pub warnings: Vec<CoatWarning>,
    /// The first triangle of each object.
    objects: Vec<usize>,
}

impl MeshFile {
    /// Adds a warning unless it is a duplicate.
    fn warn(&mut self, warning: CoatWarning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Removes the images of materials that are on a triangle without texture coordinates.
    fn check_uvs(&mut self) {
        for (&coat, corners) in self.coat_of.iter().zip(&self.corners) {
            let Some(coat) = self.coats.get_mut(coat as usize) else { continue };
            if coat.image.is_some() && corners.iter().any(|corner| corner.uv.is_none()) {
                coat.image = None;
                let material = coat.name.clone();
                self.warnings.push(CoatWarning::NoUvs { material });
            }
        }
    }
}

impl From<MeshFile> for PaintedMesh {
    fn from(MeshFile { mesh, corners, coats, coat_of, .. }: MeshFile) -> Self {
        let is_painted = corners.iter().flatten().any(|corner| *corner != Paint::default());
        let corners = if is_painted { corners } else { Vec::new() };
        Self { mesh, corners, coats: coats.into(), coat_of }
    }
}

/// Whether a file name has a supported mesh format.
pub fn is_mesh(path: &Path) -> bool {
    parser(path).is_some()
}

/// The reader for a file name.
type Parser = fn(&[u8], &mut FileReader<'_>) -> Result<MeshFile, MeshFileError>;

fn parser(path: &Path) -> Option<Parser> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "obj" => Some(obj::parse),
        "stl" => Some(stl::parse),
        "ply" => Some(ply::parse),
        "glb" => Some(gltf::parse),
        _ => None,
    }
}

/// Parses the mesh in `bytes`, an OBJ, STL, PLY or GLB file according to the extension of `name`,
/// with the normals, texture coordinates and colors of its corners (STL has none). Merges vertices
/// at equal positions.
///
/// # Errors
/// [`MeshFileError`] if the extension is not supported, or the bytes are malformed or contain no
/// triangle.
pub fn parse(name: &Path, bytes: &[u8]) -> Result<MeshFile, MeshFileError> {
    parse_with(name, bytes, &mut alone)
}

/// As [`parse`], with the materials and images of the mesh; `read_file` reads those in separate
/// files. Losses, such as a missing image, are in [`MeshFile::warnings`].
///
/// # Errors
/// As [`parse`], and [`MeshFileError::Image`] if an image is damaged or has more than
/// [`MAX_PIXELS`] pixels.
pub fn parse_with(
    name: &Path,
    bytes: &[u8],
    read_file: &mut FileReader<'_>,
) -> Result<MeshFile, MeshFileError> {
    let parse = parser(name).ok_or(MeshFileError::UnknownFormat)?;
    let mesh = parse(bytes, read_file)?;
    check(&mesh.mesh)?;
    let mut mesh = weld(mesh);
    mesh.check_uvs();
    if mesh.mesh.triangles.is_empty() {
        return Err(MeshFileError::Empty);
    }
    Ok(mesh)
}

/// Bytes alone have no separate files.
fn alone(_: &str) -> Result<Vec<u8>, String> {
    Err("files beside the mesh are not read here".to_owned())
}

/// Parses the objects of the mesh in `bytes`, each as a separate mesh; those without triangles are
/// omitted.
///
/// # Errors
/// As [`parse`].
pub fn parse_objects(name: &Path, bytes: &[u8]) -> Result<Vec<TriMesh>, MeshFileError> {
    let parse = parser(name).ok_or(MeshFileError::UnknownFormat)?;
    let MeshFile { mesh, objects, .. } = parse(bytes, &mut alone)?;
    check(&mesh)?;
    let meshes: Vec<TriMesh> =
        ranges(&mesh, &objects).into_iter().map(|range| part(&mesh, range)).collect();
    if meshes.is_empty() { Err(MeshFileError::Empty) } else { Ok(meshes) }
}

/// As [`parse_objects`], with paint and merged vertices as by [`parse_with`].
///
/// # Errors
/// As [`parse_with`].
pub fn parse_objects_with(
    name: &Path,
    bytes: &[u8],
    read_file: &mut FileReader<'_>,
) -> Result<Vec<MeshFile>, MeshFileError> {
    let parse = parser(name).ok_or(MeshFileError::UnknownFormat)?;
    let MeshFile { mesh, corners, coats, coat_of, warnings, objects } = parse(bytes, read_file)?;
    check(&mesh)?;
    let object = |range: Range<usize>| {
        let mut object = weld(MeshFile {
            mesh: part(&mesh, range.clone()),
            corners: corners.get(range.clone()).unwrap_or_default().to_vec(),
            coats: coats.clone(),
            coat_of: coat_of.get(range).unwrap_or_default().to_vec(),
            warnings: warnings.clone(),
            objects: Vec::new(),
        });
        object.check_uvs();
        object
    };
    let objects = ranges(&mesh, &objects).into_iter().map(object);
    let objects: Vec<MeshFile> = objects.filter(|o| !o.mesh.triangles.is_empty()).collect();
    if objects.is_empty() { Err(MeshFileError::Empty) } else { Ok(objects) }
}

/// The triangles of each nonempty object, from the first triangle of each object.
fn ranges(mesh: &TriMesh, objects: &[usize]) -> Vec<Range<usize>> {
    let starts = if objects.is_empty() { &[0] } else { objects };
    let ends = objects.iter().copied().skip(1).chain([mesh.triangles.len()]);
    starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(first, end)| first..end)
        .filter(|r| !r.is_empty())
        .collect()
}

/// Some of the triangles of a mesh, with the vertices that they use.
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

/// Largest coordinate, m: its cube, and the sum of as many cubes as a file can hold, are finite.
const FARTHEST: f64 = 1e30;

/// Rejects coordinates that are not finite or too large.
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

/// Bit patterns of three coordinates.
type Place = [u64; 3];

/// The mesh with one vertex per position, and without triangles that thereby become degenerate.
/// Closed objects share no vertices with others, so that two touching objects remain separate.
fn weld(file: MeshFile) -> MeshFile {
    let MeshFile { mesh, corners, coats, coat_of, warnings, objects } = file;
    // adding zero maps -0 to 0
    let key = |p: &Point3<f64>| [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits());
    // the object of each vertex, or 0 if that object may share vertices with others
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
    let triangles: Vec<[u32; 3]> =
        mesh.triangles.iter().map(|t| t.map(|v| new[v as usize])).collect();
    let is_left = |t: usize| {
        let [a, b, c] = triangles[t];
        a != b && b != c && c != a
    };
    let mesh = TriMesh { vertices, triangles: left(&triangles, is_left) };
    let (corners, coat_of) = (left(&corners, is_left), left(&coat_of, is_left));
    MeshFile { mesh, corners, coats, coat_of, warnings, objects: Vec::new() }
}

/// The entries of a list at the remaining indices.
fn left<T: Copy>(list: &[T], is_left: impl Fn(usize) -> bool) -> Vec<T> {
    list.iter().enumerate().filter(|(n, _)| is_left(*n)).map(|(_, entry)| *entry).collect()
}

/// Whether every edge has equally many triangles in both directions.
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

/// Tests the Rust code in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
