//! A sampled region's signed distance on the nodes of the parent's grid.

use std::ops::Range;

use levelset::{Aabb, Grid};
use nalgebra::{Point3, Similarity3};

use crate::body::Body;
use crate::near::lower;
use crate::region::{Sampled, transformed_bounds};

/// Nodes `low[a]..high[a]` of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeBox {
    pub(crate) low: [usize; 3],
    pub(crate) high: [usize; 3],
}

impl NodeBox {
    /// The nodes of `grid` in `bounds`, and `margin` more on each side where the grid has them.
    pub(crate) fn around(bounds: &Aabb, grid: &Grid, margin: usize) -> Self {
        let place = |p: &Point3<f64>, a: usize| (p[a] - grid.origin()[a]) / grid.spacing();
        // floats saturate as they become indices, so far or empty boxes end at the grid's rim
        let low = std::array::from_fn(|a| {
            (place(&bounds.min, a).ceil() as usize).saturating_sub(margin).min(grid.dims()[a])
        });
        let high = std::array::from_fn(|a| {
            let last = place(&bounds.max, a).floor() as usize;
            last.saturating_add(margin + 1).min(grid.dims()[a])
        });
        Self { low, high }
    }

    pub(crate) fn dims(&self) -> [usize; 3] {
        std::array::from_fn(|a| self.high[a].saturating_sub(self.low[a]))
    }

    pub(crate) fn len(&self) -> usize {
        self.dims().iter().product()
    }

    pub(crate) fn grown(&self, margin: usize, dims: [usize; 3]) -> Self {
        Self {
            low: self.low.map(|n| n.saturating_sub(margin)),
            high: std::array::from_fn(|a| (self.high[a] + margin).min(dims[a])),
        }
    }

    pub(crate) fn common(&self, other: &Self) -> Self {
        Self {
            low: std::array::from_fn(|a| self.low[a].max(other.low[a])),
            high: std::array::from_fn(|a| self.high[a].min(other.high[a])),
        }
    }

    /// Extends the box to another, which is not empty.
    pub(crate) fn grow(&mut self, Self { low, high }: &Self) {
        for a in 0..3 {
            self.low[a] = self.low[a].min(low[a]);
            self.high[a] = self.high[a].max(high[a]);
        }
    }

    /// The nodes `ks` of row `[i, j]`.
    pub(crate) fn run([i, j]: [usize; 2], ks: &Range<usize>) -> Self {
        Self { low: [i, j, ks.start], high: [i + 1, j + 1, ks.end] }
    }

    /// The `[i, j]` of its rows; none if it is empty.
    pub(crate) fn rows(&self) -> impl Iterator<Item = [usize; 2]> {
        let Self { low, high } = *self;
        let is = if self.len() == 0 { 0..0 } else { low[0]..high[0] };
        is.flat_map(move |i| (low[1]..high[1]).map(move |j| [i, j]))
    }

    /// Place of node `[i, j, k]` in an array of the box's nodes, k fastest; `None` outside.
    pub(crate) fn index(&self, node: [usize; 3]) -> Option<usize> {
        let dims = self.dims();
        let mut index = 0;
        for a in 0..3 {
            let n = node[a].checked_sub(self.low[a]).filter(|&n| n < dims[a])?;
            index = index * dims[a] + n;
        }
        Some(index)
    }
}

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
        // a node on a region's very edge must not be missed for round-off
        let near = transformed_bounds(&near, to_material)?.grown(body.margin());
        let nodes = body.within(&NodeBox::around(&near, body.grid(), 0));
        if nodes.len() == 0 {
            return None;
        }
        let nodes = nodes.grown(2, body.grid().dims());
        let values = sampled_values(region, &to_pattern, body.grid(), &nodes);
        Some(Self { nodes, values })
    }

    /// Writes the lesser of `row` and the samples at `[i, j, k]` and the nodes after it, where there
    /// are some.
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

/// If the nodes of `grid` fall on the region's own, the region's node at `grid`'s first: the fast
/// form of Su09 section 4.2, which needs no interpolation.
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
