//! Loads on bodies in a frame.

use std::sync::Arc;

use crate::{AnchorLoad, BodyId, Strain, StressField};

/// Loads on bodies in a frame, whether they broke or not.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Loads {
    /// The hardest blow to each body that was hit and can break, by its [`ratio`](Strain::ratio), in
    /// the order of bodies.
    pub strains: Vec<Strain>,
    /// The stress of bodies of finite elements in the blows of this frame, in the order of the blows,
    /// in material coordinates.
    pub stresses: Vec<(BodyId, Arc<StressField>)>,
    /// Loads of anchored bodies at the start of the frame, in the order of bodies.
    pub anchors: Vec<AnchorLoad>,
}

impl Loads {
    /// Keeps a blow if it is the hardest to its body yet.
    pub(crate) fn strain(&mut self, strain: Strain) {
        match self.strains.binary_search_by_key(&strain.body, |known| known.body) {
            Ok(n) if strain.ratio() > self.strains[n].ratio() => self.strains[n] = strain,
            Ok(_) => {}
            Err(n) => self.strains.insert(n, strain),
        }
    }
}
