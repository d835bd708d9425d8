//! Triangle meshes: plain vertices and indices.

use nalgebra::{Point3, Vector3};

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

impl TriMesh {
    /// The corners of a triangle.
    ///
    /// # Panics
    /// If there is no such triangle or it names a vertex that does not exist.
    pub fn corners(&self, triangle: usize) -> [Point3<f64>; 3] {
        self.triangles[triangle].map(|v| self.vertices[v as usize])
    }

    /// Half the cross product of two edges: outwards, as long as the area, m^2.
    ///
    /// # Panics
    /// As [`TriMesh::corners`].
    pub fn area_vector(&self, triangle: usize) -> Vector3<f64> {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(&(c - a)) / 2.0
    }

    /// Volume enclosed by a closed mesh, negative if it is inside out, m^3.
    ///
    /// # Panics
    /// If a triangle names a vertex that does not exist.
    pub fn signed_volume(&self) -> f64 {
        // about a vertex, so that a mesh far from the origin loses no digits
        let Some(base) = self.vertices.first() else { return 0.0 };
        let six = |t: usize| {
            let [a, b, c] = self.corners(t).map(|p| p - base);
            a.dot(&b.cross(&c))
        };
        (0..self.triangles.len()).map(six).sum::<f64>() / 6.0
    }
}
