//! Topology of triangle meshes: closed, oriented, components.

use crate::from_mesh::MeshError;
use crate::open_edges::directed_edges;
use crate::sharing::Union;
use crate::{Moments, TriMesh};

/// Facts of a triangle mesh from its half-edges.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeshFacts {
    /// Every edge has as many triangles on one side as on the other, so the mesh bounds a volume.
    pub closed: bool,
    /// Open edges: each counts once for every triangle that it lacks on one side.
    pub open_edges: usize,
    /// No edge runs the same way in two triangles.
    pub oriented: bool,
    /// No edge has more than two triangles.
    pub edge_manifold: bool,
    /// Pieces connected through edges.
    pub components: usize,
    /// Number of vertices in use minus edges plus triangles: 2 for each closed component, minus 2
    /// for each handle.
    pub euler_number: i64,
    /// Triangles with no area or with a repeated vertex.
    pub degenerate_triangles: usize,
    /// Area, m^2.
    pub area: f64,
}

impl TriMesh {
    /// Checks vertices and indices, and determines the facts.
    ///
    /// # Errors
    /// [`MeshError`] if there is no triangle, a coordinate is not finite or an index is out of
    /// range.
    pub fn facts(&self) -> Result<MeshFacts, MeshError> {
        self.validate()?;
        let edges = directed_edges(self);
        let mut pieces = Union::new(self.triangles.len());
        let (mut closed, mut oriented, mut edge_manifold) = (true, true, true);
        let (mut edge_count, mut open_edges) = (0, 0);
        for same in edges.chunk_by(|a, b| (a.0, a.1.0) == (b.0, b.1.0)) {
            let backward = same.iter().filter(|(_, (_, backward, _))| *backward).count();
            let forward = same.len() - backward;
            closed &= forward == backward;
            open_edges += forward.abs_diff(backward);
            oriented &= forward <= 1 && backward <= 1;
            edge_manifold &= same.len() <= 2;
            edge_count += 1;
            for pair in same.windows(2) {
                pieces.join(pair[0].1.2, pair[1].1.2);
            }
        }
        let mut used = vec![false; self.vertices.len()];
        self.triangles.iter().flatten().for_each(|&v| used[v as usize] = true);
        let vertices = used.iter().filter(|&&used| used).count();
        let areas = || (0..self.triangles.len()).map(|t| self.area_vector(t).norm());
        Ok(MeshFacts {
            closed,
            open_edges,
            oriented,
            edge_manifold,
            components: pieces.numbered().1,
            euler_number: vertices as i64 - edge_count + self.triangles.len() as i64,
            degenerate_triangles: areas().filter(|&area| area == 0.0).count(),
            area: areas().sum(),
        })
    }

    /// Volume, center and inertia of the enclosed solid, exact for its flat triangles.
    ///
    /// Meaningful for a closed mesh; parts that it winds around twice count twice.
    ///
    /// # Panics
    /// If a triangle names a vertex that does not exist.
    pub fn moments(&self) -> Moments {
        // about a vertex, so that a mesh far from the origin loses no digits
        let Some(base) = self.vertices.first() else { return Moments::default() };
        let of = |t: usize| {
            let [a, b, c] = self.corners(t).map(|p| p - base);
            Moments::of_tet([nalgebra::Vector3::zeros(), a, b, c])
        };
        (0..self.triangles.len()).map(of).sum::<Moments>().moved(base.coords)
    }
}
