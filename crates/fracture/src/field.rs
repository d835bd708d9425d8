//! A sampled region's signed distance on the nodes of the parent's grid.

use levelset::{Aabb, Grid};
use nalgebra::Similarity3;

use crate::body::Body;
use crate::node_box::NodeBox;
use crate::region::{Sampled, transformed_bounds};
use crate::rows::lower;

/// Signed distance to one region, in meters, on the nodes of the parent's grid that it can own and
/// two more on each side.
pub(crate) struct Field {
    pub(crate) nodes: NodeBox,
    values: Vec<f32>,
}

impl Field {
    /// Samples a region, moved into material space, about the inside nodes of `body` that it can
    /// own; `None` if there are none.
    pub(crate) fn new(
        region: &Sampled,
        to_material: &Similarity3<f64>,
        body: &Body,
        bounds: &Aabb,
    ) -> Option<Self> {
        let to_pattern = to_material.inverse();
        let near = region.within(&transformed_bounds(bounds, &to_pattern)?)?;
        // a node exactly at a region's edge must not be missed by round-off
        let near = transformed_bounds(&near, to_material)?.grown(body.margin());
        let nodes = body.within(&NodeBox::around(&near, body.grid(), 0));
        if nodes.len() == 0 {
            return None;
        }
        let nodes = nodes.grown(2, body.grid().dims());
        let values = sampled_values(region, &to_pattern, body.grid(), &nodes);
        Some(Self { nodes, values })
    }

    /// Writes the lesser of `row` and the samples at `[i, j, k]` and the following nodes, where
    /// there are any.
    pub(crate) fn lower(&self, [i, j, k]: [usize; 3], row: &mut [f32]) {
        let line = NodeBox { low: [i, j, k], high: [i + 1, j + 1, k + row.len()] };
        let common = line.common(&self.nodes);
        if let Some(start) = self.nodes.index(common.low).filter(|_| common.len() > 0) {
            let samples = &self.values[start..start + common.len()];
            lower(&mut row[common.low[2] - k..common.high[2] - k], samples);
        }
    }

    /// The sample at a node; `None` outside the box.
    pub(crate) fn at(&self, node: [usize; 3]) -> Option<f32> {
        self.nodes.index(node).map(|index| self.values[index])
    }
}

fn sampled_values(
    region: &Sampled,
    to_pattern: &Similarity3<f64>,
    grid: &Grid,
    nodes: &NodeBox,
) -> Vec<f32> {
    let scale = 1.0 / to_pattern.scaling();
    let shift = lattice_shift(region, to_pattern, grid);
    let mut values = Vec::with_capacity(nodes.len());
    for [i, j] in nodes.rows() {
        values.extend((nodes.low[2]..nodes.high[2]).map(|k| {
            let shared = shift.and_then(|shift| {
                let node = [i, j, k];
                region.at(std::array::from_fn(|a| node[a] as i64 + shift[a]))
            });
            let value = match shared {
                Some(sample) => f64::from(sample),
                None => region.value(&(to_pattern * grid.position([i, j, k]))),
            };
            (value * scale) as f32
        }));
    }
    values
}

/// If the nodes of `grid` coincide with the region's own, the region's node at `grid`'s first one:
/// the fast form of Su09 section 4.2, which needs no interpolation.
fn lattice_shift(region: &Sampled, to_pattern: &Similarity3<f64>, grid: &Grid) -> Option<[i64; 3]> {
    let own = region.level_set().grid();
    let step = to_pattern.scaling() * grid.spacing() / own.spacing();
    let turned = to_pattern.isometry.rotation.coords.xyz().amax() > 0.0;
    let last = grid.dims().into_iter().max().unwrap_or(0) as f64;
    if turned || (step - 1.0).abs() * last > 1e-3 {
        return None;
    }
    let start = (to_pattern * grid.origin() - own.origin()) / own.spacing();
    let near = start.iter().all(|x| (x - x.round()).abs() < 1e-3);
    near.then(|| std::array::from_fn(|a| start[a].round() as i64))
}
