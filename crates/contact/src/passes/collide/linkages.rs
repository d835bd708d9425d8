//! Linkages that an impact sets in motion as a whole.

use crate::settings::Solver;
use crate::{Frame, Islands};

/// Limit of joints of a linkage that takes part in an impact, that of pairs in a group of simultaneous
/// impacts. Impacts on larger linkages ignore the joints, which the contact passes enforce.
const MAX_JOINTS: usize = 64;

/// The joints of each linkage.
pub(super) struct ImpactLinkages {
    islands: Option<Islands>,
    /// By linkage, none of those with more than [`MAX_JOINTS`].
    joints: Vec<Vec<usize>>,
}

impl ImpactLinkages {
    pub(super) fn new(frame: &Frame<'_>) -> Self {
        let none = Self { islands: None, joints: Vec::new() };
        // the other solvers are those of the papers
        if frame.joints.is_empty() || frame.settings.solver != Solver::Manifold {
            return none;
        }
        let (islands, mut joints) = frame.linkages();
        joints.iter_mut().filter(|own| own.len() > MAX_JOINTS).for_each(Vec::clear);
        Self { islands: Some(islands), joints }
    }

    /// The number of a body's linkage.
    pub(super) fn of(&self, body: usize) -> Option<usize> {
        let k = self.islands.as_ref()?.of_bodies()[body]? as usize;
        (!self.joints[k].is_empty()).then_some(k)
    }

    pub(super) fn joints(&self, linkage: usize) -> &[usize] {
        &self.joints[linkage]
    }
}
