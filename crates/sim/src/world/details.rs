//! What is known of a body beyond its motion and collisions.

use std::sync::Arc;

use crate::breaking::anchor::Anchorage;
use crate::{Breakage, Lineage, Solid};

/// Data of a body that the contact passes do not read.
#[derive(Clone, Debug)]
pub(crate) struct BodyDetails {
    pub(crate) solid: Option<Solid>,
    /// Its material, for its strength.
    pub(crate) solid_material: fracture::Material,
    pub(crate) breakage: Option<Breakage>,
    /// Of a fragment.
    pub(crate) lineage: Option<Arc<Lineage>>,
    /// Of an anchored static body.
    pub(crate) anchorage: Option<Anchorage>,
    /// Number of frames for which it has been slow.
    pub(crate) slow_frames: u32,
}
