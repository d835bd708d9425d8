//! Pieces as regions of space.

use std::sync::Arc;

use fracture::{Alignment, Pattern};
use levelset::{LevelSet, TriMesh};
use nalgebra::{Point3, UnitQuaternion};

/// A pattern whose regions are given pieces.
pub(crate) struct Regions {
    pub(crate) pattern: Arc<Pattern>,
    pub(crate) at: Alignment,
}

impl Regions {
    /// `None` if there are fewer than two pieces.
    pub(crate) fn new(body: &LevelSet, pieces: &[TriMesh]) -> Option<Self> {
        if pieces.len() < 2 {
            return None;
        }
        let pattern = Pattern::from_parts(pieces, body.grid().spacing()).ok()?;
        let rotation = UnitQuaternion::identity();
        let at = Alignment { at: Point3::origin(), rotation, scale: 1.0 };
        Some(Self { pattern: Arc::new(pattern), at })
    }
}
