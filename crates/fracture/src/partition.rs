//! Data that the steps of one fracture share.

use levelset::LevelSet;

use crate::cut::Pair;
use crate::near_region::NearRegion;

/// Cuts or particles per task; no result depends on it.
pub(crate) const BATCH: usize = 1024;

/// Regions and labels at the nodes of the parent's grid.
pub(crate) struct Partition<'a> {
    pub(crate) parent: &'a LevelSet,
    /// One per region.
    pub(crate) near: &'a [Option<NearRegion>],
    /// Per node: region + 1, or 0 far outside.
    pub(crate) nearest: &'a [u16],
    /// Per node: 0 outside, else piece + 1.
    pub(crate) labels: &'a [u32],
    pub(crate) pairs: &'a [Pair],
}
