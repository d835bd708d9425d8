//! How fine the level sets of bodies are.

use levelset::Grid;
use nalgebra::Vector3;

use super::InvalidValue;
use super::check::{at, count, positive, require};

/// Cells of margin that a level set has on every side of a solid.
pub(crate) const MARGIN: usize = 3;
/// Nodes of a level set unless a scene says otherwise.
pub(super) const DEFAULT_NODES: usize = 100_000;
/// Nodes of a level set to which thin walls may bring it unless a scene says otherwise.
const MAX_DEFAULT_NODES: usize = 2_000_000;
/// Nodes through a wall that resolve it.
pub(crate) const NODES_THROUGH: f64 = 4.0;
/// Most nodes of one level set that a scene may ask for: 2^27, half a gibibyte.
pub(crate) const MAX_NODES: usize = 1 << 27;

/// Spacing of a level set unless a scene gives one, m: with 100,000 nodes, or as many as put four nodes
/// through the thinnest wall, but no more than 2,000,000. `extents` are the edge lengths of the bounding
/// box and `wall` is the thickness of the thinnest wall, m.
pub fn default_spacing(extents: &Vector3<f64>, wall: f64) -> f64 {
    let [usual, finest] =
        [DEFAULT_NODES, MAX_DEFAULT_NODES].map(|n| Grid::finest_spacing(extents, MARGIN, n));
    usual.min(wall / NODES_THROUGH).max(finest)
}

/// Spacing by what a scene says of it.
pub(crate) fn spacing(
    (given, nodes): (Option<f64>, Option<usize>),
    extents: &Vector3<f64>,
    wall: f64,
) -> f64 {
    let by_nodes = nodes.map(|nodes| Grid::finest_spacing(extents, MARGIN, nodes));
    given.or(by_nodes).unwrap_or_else(|| default_spacing(extents, wall))
}

/// `spacing` or `nodes`, not both.
pub(super) fn check_fineness(
    key: &str,
    (spacing, nodes): (Option<f64>, Option<usize>),
) -> Result<(), InvalidValue> {
    let least = (2 * MARGIN + 2).pow(3);
    if let Some(spacing) = spacing {
        positive(&at(key, "spacing"), spacing, "m")?;
        require(nodes.is_none(), &at(key, "nodes"), || "must be removed: `spacing` is given")?;
    }
    nodes.map_or(Ok(()), |nodes| count(&at(key, "nodes"), nodes, least, MAX_NODES))
}
