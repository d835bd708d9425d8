//! Resolution of level sets.

use levelset::Grid;
use nalgebra::Vector3;

use super::InvalidValue;
use super::check::{at, count, positive, require};

/// Cells of margin of a level set on every side of a solid.
pub(crate) const MARGIN: usize = 3;
/// Default number of nodes of a level set.
pub(super) const DEFAULT_NODES: usize = 100_000;
/// Default limit of the number of nodes for thin walls.
const MAX_DEFAULT_NODES: usize = 2_000_000;
/// Number of nodes through a wall that resolve it.
pub(crate) const NODES_THROUGH: f64 = 4.0;
/// Smallest number of nodes of a level set: a cell of the solid and the margin around it.
pub const MIN_NODES: usize = (2 * MARGIN + 2).pow(3);
/// Largest number of nodes of one level set: 2^27, half a gibibyte.
pub const MAX_NODES: usize = 1 << 27;

/// Default spacing of a level set, m: that of 100,000 nodes, or of four nodes through the thinnest
/// wall, but at most 2,000,000 nodes. `extents` are the edge lengths of the bounding box and `wall`
/// is the thickness of the thinnest wall, m.
pub fn default_spacing(extents: &Vector3<f64>, wall: f64) -> f64 {
    let [usual, finest] =
        [DEFAULT_NODES, MAX_DEFAULT_NODES].map(|n| Grid::finest_spacing(extents, MARGIN, n));
    usual.min(wall / NODES_THROUGH).max(finest)
}

/// The spacing of a level set: as given, by a number of nodes, or [`default_spacing`].
pub(crate) fn spacing(
    given: Option<f64>,
    nodes: Option<usize>,
    extents: &Vector3<f64>,
    wall: f64,
) -> f64 {
    let by_nodes = nodes.map(|nodes| Grid::finest_spacing(extents, MARGIN, nodes));
    given.or(by_nodes).unwrap_or_else(|| default_spacing(extents, wall))
}

/// Checks that only one of `spacing` and `nodes` is given.
pub(super) fn check_fineness(
    key: &str,
    spacing: Option<f64>,
    nodes: Option<usize>,
) -> Result<(), InvalidValue> {
    if let Some(spacing) = spacing {
        positive(&at(key, "spacing"), spacing, "m")?;
        require(nodes.is_none(), &at(key, "nodes"), || "must be removed: `spacing` is given")?;
    }
    nodes.map_or(Ok(()), |nodes| count(&at(key, "nodes"), nodes, MIN_NODES, MAX_NODES))
}
