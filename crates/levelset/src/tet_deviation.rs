//! Distance of the surface of a tetrahedral mesh from the level set that it fills.

use crate::{LevelSet, Sign, TetMesh};

/// Distances between the surfaces of a mesh and a level set, m.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Deviation {
    /// Largest distance from the surface of the mesh to the surface of the level set, m.
    pub from_mesh: f64,
    /// Largest distance from the surface of the level set to the surface of the mesh, m. It is
    /// large if the mesh lacks a thin feature, and infinite if the mesh is empty and the solid is
    /// not.
    pub from_level_set: f64,
}

impl TetMesh {
    /// The one-sided distances (Hausdorff) between the two surfaces. Only `from_level_set` detects
    /// lost parts.
    ///
    /// The vertices, edge centers and triangle centers of both surfaces are tested. The distance
    /// between nodes is interpolated trilinearly, so the error may be a fraction of the spacing of
    /// the level set.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn deviation(&self, level_set: &LevelSet) -> Deviation {
        let surface = self.boundary();
        let distance_to_mesh = LevelSet::from_mesh(&surface, *level_set.grid(), Sign::Winding);
        let solid_has_volume = level_set.inside_range().is_some();
        let from_level_set = match distance_to_mesh {
            Ok(distance) => farthest(&level_set.isosurface(), &distance),
            Err(_) if solid_has_volume => f64::INFINITY,
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
