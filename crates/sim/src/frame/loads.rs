//! Loads on bodies in a frame.

use std::sync::Arc;

use crate::{AnchorLoad, BodyId, ImpactLoad, StressField};

/// Loads on bodies in a frame, whether they broke or not.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Loads {
    /// The hardest impact on each breakable body that was hit, by its
    /// [`utilization`](ImpactLoad::utilization), in the order of bodies.
    pub impacts: Vec<ImpactLoad>,
    /// The stress of finite element bodies in the impacts of this frame, in the order of the
    /// impacts, in material coordinates.
    pub stresses: Vec<BodyStress>,
    /// Loads of anchored bodies at the start of the frame, in the order of bodies.
    pub anchors: Vec<AnchorLoad>,
}

/// The stress of a finite element body in an impact.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyStress {
    /// The body.
    pub body: BodyId,
    /// In its material coordinates.
    pub field: Arc<StressField>,
}

impl Loads {
    /// Keeps an impact if it is the hardest on its body so far.
    pub(crate) fn impact(&mut self, impact: ImpactLoad) {
        match self.impacts.binary_search_by_key(&impact.body, |known| known.body) {
            Ok(n) if impact.utilization() > self.impacts[n].utilization() => {
                self.impacts[n] = impact;
            }
            Ok(_) => {}
            Err(n) => self.impacts.insert(n, impact),
        }
    }
}
