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

    /// Points on the surface, its vertices among them, at most about `spacing` metres apart: of those in
    /// one cube of that edge the first, where vertices come in their order and before all else. No edge
    /// is divided into more than 64 parts.
    ///
    /// # Panics
    /// If a triangle names a vertex that does not exist.
    pub fn spread_points(&self, spacing: f64) -> Vec<Point3<f64>> {
        let mut points = self.vertices.clone();
        for triangle in 0..self.triangles.len() {
            fill(self.corners(triangle), spacing, &mut points);
        }
        let cube = |p: &Point3<f64>| [p.x, p.y, p.z].map(|x| (x / spacing).floor() as i64);
        let mut keyed: Vec<([i64; 3], u32)> = points.iter().map(cube).zip(0..).collect();
        keyed.sort_unstable();
        keyed.dedup_by_key(|(cube, _)| *cube);
        let mut kept: Vec<u32> = keyed.into_iter().map(|(_, n)| n).collect();
        kept.sort_unstable();
        kept.into_iter().map(|n| points[n as usize]).collect()
    }
}

/// Adds the points of a triangular lattice on a triangle but for its corners.
fn fill([a, b, c]: [Point3<f64>; 3], spacing: f64, points: &mut Vec<Point3<f64>>) {
    /// Contacts of large flat faces need no more.
    const MAX_STEPS: f64 = 64.0;
    let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
    let steps = (longest / spacing).ceil().clamp(1.0, MAX_STEPS);
    let count = steps as usize;
    for i in 0..=count {
        for j in 0..=count - i {
            if ![i, j, count - i - j].contains(&count) {
                points.push(a + ((b - a) * i as f64 + (c - a) * j as f64) / steps);
            }
        }
    }
}
