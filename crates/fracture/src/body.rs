//! The inside nodes of a body.

use std::ops::Range;

use levelset::{Aabb, Grid, LevelSet, Run};

use crate::node_box::NodeBox;

/// The inside nodes of a body, row by row.
pub(crate) struct Body {
    grid: Grid,
    runs: Vec<Run>,
    /// First run of each row, and the end of the last row's.
    rows: Vec<u32>,
    /// The box of all inside nodes; empty if there are none.
    nodes: NodeBox,
}

impl Body {
    pub(crate) fn new(level_set: &LevelSet) -> Self {
        let grid = *level_set.grid();
        let runs = level_set.inside_runs();
        let rows = rows(grid.dims(), &runs);
        let nodes = NodeBox { low: grid.dims(), high: [0; 3] };
        let mut body = Self { grid, runs, rows, nodes };
        body.nodes = body.within(&NodeBox { low: [0; 3], high: grid.dims() });
        body
    }

    pub(crate) fn grid(&self) -> &Grid {
        &self.grid
    }

    pub(crate) fn nodes(&self) -> &NodeBox {
        &self.nodes
    }

    /// The runs of row `[i, j]`.
    pub(crate) fn row(&self, [i, j]: [usize; 2]) -> &[Run] {
        let row = i * self.grid.dims()[1] + j;
        &self.runs[self.rows[row] as usize..self.rows[row + 1] as usize]
    }

    /// For every row of slab `i` the nodes from the first to the last that can share a voxel with
    /// an inside node.
    pub(crate) fn reach(&self, i: usize) -> Vec<Range<usize>> {
        let [nx, ny, nz] = self.grid.dims();
        let mut reach = vec![nz..0; ny];
        for i in i.saturating_sub(1)..(i + 2).min(nx) {
            for j in 0..ny {
                let [Some(first), Some(last)] = [self.row([i, j]).first(), self.row([i, j]).last()]
                else {
                    continue;
                };
                let start = self.grid.index([i, j, 0]);
                let low = (first.start as usize - start).saturating_sub(1);
                let high = (last.end as usize - start + 1).min(nz);
                for row in &mut reach[j.saturating_sub(1)..(j + 2).min(ny)] {
                    *row = row.start.min(low)..row.end.max(high);
                }
            }
        }
        reach
    }

    /// Distances below this count as zero, m.
    pub(crate) fn margin(&self) -> f64 {
        1e-6 * self.grid.spacing()
    }

    /// The bounding box of all inside nodes of `nodes`; empty if there are none.
    pub(crate) fn within(&self, nodes: &NodeBox) -> NodeBox {
        let mut tight = NodeBox { low: nodes.high, high: nodes.low };
        for [i, j] in nodes.rows() {
            let [Some(first), Some(last)] = [self.row([i, j]).first(), self.row([i, j]).last()]
            else {
                continue;
            };
            let start = self.grid.index([i, j, 0]);
            let first = (first.start as usize - start).max(nodes.low[2]);
            let end = (last.end as usize - start).min(nodes.high[2]);
            if first < end {
                tight.grow(&NodeBox::run([i, j], &(first..end)));
            }
        }
        tight
    }

    /// The box of all inside nodes, m; `None` if there are none.
    pub(crate) fn bounds(&self) -> Option<Aabb> {
        let corners = [self.nodes.low, self.nodes.high.map(|n| n.saturating_sub(1))];
        let [min, max] = corners.map(|node| self.grid.position(node));
        (self.nodes.len() > 0).then_some(Aabb { min, max })
    }
}

/// For every row the index of its first run among `runs`, and the end of the last row's.
pub(crate) fn rows([nx, ny, nz]: [usize; 3], runs: &[Run]) -> Vec<u32> {
    let mut rows = Vec::with_capacity(nx * ny + 1);
    for (place, run) in (0..).zip(runs) {
        while rows.len() * nz <= run.start as usize {
            rows.push(place);
        }
    }
    rows.resize(nx * ny + 1, runs.len() as u32);
    rows
}
