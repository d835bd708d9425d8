//! A region's signed distance on the nodes of the parent's grid.

use levelset::{Aabb, Grid, LevelSet};
use nalgebra::{Point3, Similarity3};

use crate::cell::Cell;
use crate::region::{Region, Sampled, transformed_bounds};

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

    /// Extends the box to a node.
    pub(crate) fn grow(&mut self, node: [usize; 3]) {
        for (a, n) in node.into_iter().enumerate() {
            self.low[a] = self.low[a].min(n);
            self.high[a] = self.high[a].max(n + 1);
        }
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

/// Where a body has its inside nodes, row by row.
pub(crate) struct Extent {
    grid: Grid,
    /// Per row of the grid, one past the last and the first inside node; empty if reversed.
    spans: Vec<[usize; 2]>,
}

impl Extent {
    pub(crate) fn new(body: &LevelSet) -> Self {
        let grid = *body.grid();
        let span = |row: &[f32]| {
            let low = row.iter().position(|&v| v < 0.0).unwrap_or(row.len());
            [low, row.iter().rposition(|&v| v < 0.0).map_or(0, |last| last + 1)]
        };
        let spans = body.as_slice().chunks_exact(grid.dims()[2]).map(span).collect();
        Self { grid, spans }
    }

    /// The smallest box of nodes that holds all inside nodes of `nodes`; empty if there are none.
    pub(crate) fn within(&self, nodes: &NodeBox) -> NodeBox {
        let mut tight = NodeBox { low: nodes.high, high: nodes.low };
        for [i, j] in nodes.rows() {
            let [first, end] = self.spans[i * self.grid.dims()[1] + j];
            let (first, end) = (first.max(nodes.low[2]), end.min(nodes.high[2]));
            if first < end {
                tight.grow([i, j, first]);
                tight.grow([i, j, end - 1]);
            }
        }
        tight
    }

    /// The box of all inside nodes, m; `None` if there are none.
    pub(crate) fn bounds(&self) -> Option<Aabb> {
        let all = self.within(&NodeBox { low: [0; 3], high: self.grid.dims() });
        let corners = [all.low, all.high.map(|n| n.saturating_sub(1))];
        let [min, max] = corners.map(|node| self.grid.position(node));
        (all.len() > 0).then_some(Aabb { min, max })
    }
}

/// Signed distance to one region, in metres, on the nodes of the parent's grid that it can own and
/// two more on each side.
pub(crate) struct Field {
    pub(crate) nodes: NodeBox,
    values: Vec<f32>,
}

impl Field {
    /// Samples a region, moved into material space, about the inside nodes of `body` that it can
    /// own; `None` if there are none.
    pub(crate) fn new(
        region: &Region,
        to_material: &Similarity3<f64>,
        body: &Extent,
        bounds: &Aabb,
    ) -> Option<Self> {
        // a node on a region's very edge must not be missed for round-off
        let margin = 1e-6 * body.grid.spacing();
        let nodes = |reach: &Aabb| {
            let nodes = NodeBox::around(&reach.grown(margin), &body.grid, 0);
            let nodes = body.within(&nodes);
            (nodes.len() > 0).then(|| nodes.grown(2, body.grid.dims()))
        };
        match region {
            Region::Cell(cell) => {
                let near = cell.transformed(to_material).within(bounds);
                let nodes = nodes(&Aabb::around(near.corners())?)?;
                Some(Self { nodes, values: cell_values(&near, &body.grid, &nodes) })
            }
            Region::Sampled(sampled) => {
                let to_pattern = to_material.inverse();
                let near = sampled.within(&transformed_bounds(bounds, &to_pattern)?)?;
                let nodes = nodes(&transformed_bounds(&near, to_material)?)?;
                let values = sampled_values(sampled, &to_pattern, &body.grid, &nodes);
                Some(Self { nodes, values })
            }
        }
    }

    /// The samples of row `[i, j]`, from node `nodes.low[2]` on.
    pub(crate) fn row(&self, [i, j]: [usize; 2]) -> &[f32] {
        let [_, nj, nk] = self.nodes.dims();
        let start = ((i - self.nodes.low[0]) * nj + j - self.nodes.low[1]) * nk;
        &self.values[start..start + nk]
    }

    /// The sample at a node; `None` outside the box.
    pub(crate) fn at(&self, node: [usize; 3]) -> Option<f32> {
        self.nodes.index(node).map(|index| self.values[index])
    }
}

/// Samples of a cell of material space, row by row.
fn cell_values(cell: &Cell, grid: &Grid, nodes: &NodeBox) -> Vec<f32> {
    let planes: Vec<_> = cell
        .planes()
        .iter()
        .map(|plane| (plane.value(&grid.origin()), plane.normal * grid.spacing()))
        .collect();
    let mut values = vec![f32::NEG_INFINITY; nodes.len()];
    for ([i, j], row) in nodes.rows().zip(values.chunks_exact_mut(nodes.dims()[2])) {
        for (at_origin, step) in &planes {
            let start = (at_origin + step.x * i as f64 + step.y * j as f64) as f32;
            let step = step.z as f32;
            for (k, value) in (nodes.low[2] as i32..).zip(row.iter_mut()) {
                // f32 lanes; from k = 0 whatever the box, so that a shared plane is one plane
                let distance = start + step * k as f32;
                *value = if distance > *value { distance } else { *value };
            }
        }
    }
    values
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
