//! Distance of the surface of a tetrahedral mesh from the level set that it fills.

use crate::{LevelSet, Sign, TetMesh};

/// Distances between two surfaces, m.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Deviation {
    /// Largest distance of a point of the mesh's surface from the level set's.
    pub from_mesh: f64,
    /// Largest distance of a point of the level set's surface from the mesh's: large if a thin
    /// feature is lost. Infinite if the mesh is empty and the solid is not.
    pub from_level_set: f64,
}

impl TetMesh {
    /// Distances of the mesh's surface and that of `level_set`, both ways. Only the second one
    /// shows lost parts.
    ///
    /// Tests the vertices, edge centers and triangle centers of both surfaces, and interpolates
    /// distance between nodes trilinearly, so that the error may be a fraction of the level set's
    /// spacing.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn deviation(&self, level_set: &LevelSet) -> Deviation {
        let surface = self.boundary();
        let distance_to_mesh = LevelSet::from_mesh(&surface, *level_set.grid(), Sign::Winding);
        let lost = level_set.inside_range().is_some();
        let from_level_set = match distance_to_mesh {
            Ok(distance) => farthest(&level_set.isosurface(), &distance),
            Err(_) if lost => f64::INFINITY,
            Err(_) => 0.0,
        };
        Deviation { from_mesh: farthest(&surface, level_set), from_level_set }
    }
}

/// The largest magnitude of a level set on a surface.
fn farthest(surface: &crate::TriMesh, level_set: &LevelSet) -> f64 {
    let points = (0..surface.triangles.len()).flat_map(|t| {
        let [a, b, c] = surface.corners(t);
        let middle = nalgebra::center;
        let centroid = nalgebra::Point3::from((a.coords + b.coords + c.coords) / 3.0);
        [a, b, c, middle(&a, &b), middle(&b, &c), middle(&c, &a), centroid]
    });
    points.map(|p| level_set.value(&p).abs()).fold(0.0, f64::max)
}
