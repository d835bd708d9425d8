//! Boxes of nodes of a grid.

use std::ops::Range;

use levelset::{Aabb, Grid};
use nalgebra::Point3;

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
        // floats saturate as they become indices, so that distant or empty boxes end at the grid's
        // edge
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

    /// Index of node `[i, j, k]` in an array of the box's nodes, k fastest; `None` outside.
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
