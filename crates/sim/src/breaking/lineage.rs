//! The origin of a fragment, for rendering.

use std::sync::{Arc, OnceLock};

use fracture::{Alignment, Geometry, Pattern, Projector};
use levelset::TriMesh;

use crate::PaintedMesh;
use crate::look::charts::Charts;
use crate::look::shading::Shading;

/// The original whole body of a fragment, and the fractures since.
#[derive(Clone, Debug)]
pub struct Lineage {
    /// The whole body. Fragments keep its material coordinates.
    pub whole: Arc<Whole>,
    /// The fractures that led to the fragment, the first one first.
    pub cuts: Vec<Cut>,
}

/// A body before its first fracture, with render data that its fragments share.
#[derive(Debug)]
pub struct Whole {
    geometry: Arc<Geometry>,
    shading: OnceLock<Option<Shading>>,
    projector: OnceLock<Option<Projector>>,
    charts: OnceLock<Charts>,
}

/// One fracture, with the regions of one fragment.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The prescored space.
    pub pattern: Arc<Pattern>,
    /// Alignment in the material coordinates of the whole body.
    pub at: Alignment,
    /// The regions of the pattern that make up the fragment.
    pub regions: Vec<usize>,
}

impl Whole {
    /// A whole body of this solid.
    pub fn new(geometry: Arc<Geometry>) -> Self {
        Self {
            geometry,
            shading: OnceLock::new(),
            projector: OnceLock::new(),
            charts: OnceLock::new(),
        }
    }

    /// Its solid.
    pub fn geometry(&self) -> &Arc<Geometry> {
        &self.geometry
    }

    /// Normals of its exact surface; `None` if it is sampled.
    pub(crate) fn shading(&self) -> Option<&Shading> {
        let shading = || Some(Shading::new(self.geometry.surface()?));
        self.shading.get_or_init(shading).as_ref()
    }

    /// Projects vertices onto the source mesh of the body.
    pub(crate) fn projector(&self, mesh: &TriMesh) -> Option<&Projector> {
        let reach = 0.5 * self.geometry.grid().spacing();
        self.projector.get_or_init(|| Projector::new(mesh, reach)).as_ref()
    }

    /// Texture charts of the source mesh of the body.
    pub(crate) fn charts(&self, mesh: &PaintedMesh) -> &Charts {
        self.charts.get_or_init(|| Charts::new(mesh))
    }
}
