//! Loads on bodies in a frame.

use std::sync::Arc;

use crate::{AnchorLoad, BodyId, ImpactLoad, StressField};

/// Loads on bodies in a frame, whether they broke or not.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Loads {
    /// The hardest blow to each body that was hit and can break, by its [`utilization`](ImpactLoad::utilization), in
    /// the order of bodies.
    pub impacts: Vec<ImpactLoad>,
    /// The stress of bodies of finite elements in the blows of this frame, in the order of the blows,
    /// in material coordinates.
    pub stresses: Vec<(BodyId, Arc<StressField>)>,
    /// Loads of anchored bodies at the start of the frame, in the order of bodies.
    pub anchors: Vec<AnchorLoad>,
}

impl Loads {
    /// Keeps a blow if it is the hardest to its body yet.
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
