//! The surface of a sampled solid as triangles, made when a solid of revolution comes near.

use std::fmt;
use std::sync::{Arc, OnceLock};

use levelset::TriMesh;
use nalgebra::Isometry3;

use crate::Triangles;
use crate::shape::field::Field;

/// Makes the exact surface in material coordinates.
type Source = Arc<dyn Fn() -> TriMesh + Send + Sync>;

/// The surface of a sampled solid: that of its source, or the isosurface of its samples.
#[derive(Clone, Default)]
pub(crate) struct LazySurface {
    source: Option<Source>,
    triangles: OnceLock<Option<Arc<Triangles>>>,
}

impl LazySurface {
    pub(crate) fn new(source: impl Fn() -> TriMesh + Send + Sync + 'static) -> Self {
        Self { source: Some(Arc::new(source)), triangles: OnceLock::new() }
    }

    /// The triangles in body coordinates; `None` if the field is not sampled or has no surface.
    pub(crate) fn of(&self, field: &Field) -> Option<&Triangles> {
        let Field::Grid { level_set, material } = field else { return None };
        let make = || {
            let given = self.source.as_ref().and_then(|source| in_body(source(), material));
            given.or_else(|| in_body(level_set.isosurface(), material)).map(Arc::new)
        };
        self.triangles.get_or_init(make).as_deref()
    }
}

impl fmt::Debug for LazySurface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazySurface")
            .field("is_exact", &self.source.is_some())
            .field("triangles", &self.triangles)
            .finish()
    }
}

/// A solid behind a mesh in material coordinates; `None` if the mesh has no area.
fn in_body(mut mesh: TriMesh, material: &Isometry3<f64>) -> Option<Triangles> {
    mesh.vertices.iter_mut().for_each(|p| *p = material.inverse_transform_point(p));
    Triangles::new(&mesh, f64::INFINITY).ok()
}
