//! What the steps of an event share.

use levelset::LevelSet;

use crate::cut::Pair;
use crate::near::Near;

/// How many cuts or particles one task takes on; no result depends on it.
pub(crate) const BATCH: usize = 1024;

/// What an event has found out about the nodes of the parent's grid.
pub(crate) struct Scene<'a> {
    pub(crate) parent: &'a LevelSet,
    /// Per region.
    pub(crate) near: &'a [Option<Near>],
    /// Per node: region + 1, or 0 far outside.
    pub(crate) nearest: &'a [u16],
    /// Per node: 0 outside, else piece + 1.
    pub(crate) labels: &'a [u32],
    pub(crate) pairs: &'a [Pair],
}
