//! Triangle meshes: plain vertices and indices.

use nalgebra::Point3;

/// A triangle mesh: vertices in metres and triangles wound counter-clockwise seen from outside.
///
/// The fields are plain data and may hold anything; what needs more checks it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions, m.
    pub vertices: Vec<Point3<f64>>,
    /// Indices into `vertices`, three per triangle.
    pub triangles: Vec<[u32; 3]>,
}
