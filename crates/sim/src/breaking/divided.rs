//! Cached divisions that equal bodies share.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use contact::Shape;
use dynamics::MassProperties;
use fracture::{Alignment, Geometry, Pattern};
use nalgebra::Isometry3;

use crate::{Lineage, Solid};

/// A piece of a body, independent of its pose.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) shape: Arc<Shape>,
    pub(crate) solid: Solid,
    pub(crate) mass: MassProperties,
    pub(crate) lineage: Arc<Lineage>,
}

/// A cache of divisions, the oldest first.
///
/// A new division of the body gives the same bits: a run that continues from a checkpoint shares
/// other pieces, or none, and has the same results. The cache keeps divided bodies alive, but not
/// pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Divided(VecDeque<Known>);

impl Divided {
    /// The pieces of the last division for which `same` holds, if all of them still exist.
    pub(super) fn find(&self, same: impl FnMut(&&Known) -> bool) -> Option<Vec<Part>> {
        self.0.iter().rev().find(same)?.parts()
    }

    /// Adds a division, and drops divisions without a piece left, or the oldest if there are too
    /// many.
    pub(super) fn remember(&mut self, known: Known) {
        let is_there = |known: &Known| known.parts.iter().all(|part| part.shape.strong_count() > 0);
        self.0.retain(is_there);
        if self.0.len() == MAX_DIVISIONS {
            self.0.pop_front();
        }
        self.0.push_back(known);
    }
}

/// Pieces, with all data that they depend on.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(super) body: Weak<Shape>,
    pub(super) mass: f64,
    pub(super) pattern: Arc<Pattern>,
    pub(super) at: Alignment,
    pub(super) least: f64,
    pub(super) parts: Vec<KnownPart>,
}

/// A weak reference to a piece: it expires with the last body of its shape.
#[derive(Clone, Debug)]
pub(crate) struct KnownPart {
    pub(super) shape: Weak<Shape>,
    pub(super) geometry: Weak<Geometry>,
    pub(super) material: Isometry3<f64>,
    pub(super) mass: MassProperties,
    pub(super) lineage: Arc<Lineage>,
}

/// Largest number of cached divisions.
const MAX_DIVISIONS: usize = 1024;

impl Known {
    fn parts(&self) -> Option<Vec<Part>> {
        let part = |known: &KnownPart| {
            let KnownPart { shape, geometry, material, mass, lineage } = known;
            Some(Part {
                shape: shape.upgrade()?,
                solid: Solid { geometry: geometry.upgrade()?, material: *material },
                mass: *mass,
                lineage: Arc::clone(lineage),
            })
        };
        self.parts.iter().map(part).collect()
    }
}
