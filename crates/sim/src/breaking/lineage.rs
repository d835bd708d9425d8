//! Where a fragment came from, for those who draw it.

use std::sync::{Arc, OnceLock};

use fracture::{Alignment, Geometry, Pattern, Projector};
use levelset::TriMesh;

use crate::PaintedMesh;
use crate::look::charts::Charts;
use crate::look::shading::Shading;

/// The whole body that a fragment once was part of, and the breaks since.
#[derive(Clone, Debug)]
pub struct Lineage {
    /// The whole body. Fragments keep its material coordinates.
    pub whole: Arc<Whole>,
    /// The breaks that led to the fragment, the first one first.
    pub cuts: Vec<Cut>,
}

/// A body before its first break, with data that drawings of its fragments share.
#[derive(Debug)]
pub struct Whole {
    geometry: Arc<Geometry>,
    shading: OnceLock<Option<Shading>>,
    projector: OnceLock<Option<Projector>>,
    charts: OnceLock<Charts>,
}

/// One break, as seen by one fragment.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The prescored space.
    pub pattern: Arc<Pattern>,
    /// Where it was in the material coordinates of the whole body.
    pub at: Alignment,
    /// The regions of the pattern that the fragment is made of.
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

    /// Projects vertices onto the mesh that the body was made from.
    pub(crate) fn projector(&self, mesh: &TriMesh) -> Option<&Projector> {
        let reach = 0.5 * self.geometry.grid().spacing();
        self.projector.get_or_init(|| Projector::new(mesh, reach)).as_ref()
    }

    /// Texture charts of the mesh that the body was made from.
    pub(crate) fn charts(&self, mesh: &PaintedMesh) -> &Charts {
        self.charts.get_or_init(|| Charts::new(mesh))
    }
}
