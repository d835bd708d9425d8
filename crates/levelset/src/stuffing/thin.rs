//! Where walls are too thin for the cells.

use super::settings::Stuffing;
use crate::{Grid, LevelSet};

/// Depth of a ball that has a lattice point inside however it lies, in cells; the lattice's
/// covering radius is `sqrt(5) / 4` = 0.56.
const DEPTH: f64 = 0.6;

/// Distance of parts beyond the cover of such balls, in cells of full size: more than at the
/// corners of a box, `(sqrt(3) - 1) DEPTH`, which need no smaller cells. The others are for solids
/// that would otherwise fall apart, because a neck between two thick parts is within reach of both.
pub(super) const REACHES: [f64; 3] = [0.5, 0.35, 0.2];

/// Cells that must be halved, once or several times.
pub(super) struct Thin {
    /// For cells of full size, halves, quarters and so on: whether cells of this size lose parts of
    /// the solid. The last level has some.
    pub(super) too_large: Vec<Vec<bool>>,
}

impl Thin {
    /// Searches lost parts in the cells of `grid`, halved within the limits of `stuffing`.
    pub(super) fn new(level_set: &LevelSet, grid: &Grid, stuffing: &Stuffing, reach: f64) -> Self {
        let mut too_large = Vec::new();
        for level in 0..stuffing.halvings {
            let lost = lost_nodes(level_set, grid.spacing(), level, reach);
            if lost.is_empty() || halved(grid, level + 1, stuffing.limit).is_none() {
                break;
            }
            too_large.push(cells_around(level_set.grid(), &lost, grid, level));
        }
        Self { too_large }
    }

    /// The grid of the smallest cells.
    pub(super) fn grid(&self, grid: Grid) -> Grid {
        halved(&grid, self.too_large.len() as u8, usize::MAX).unwrap_or(grid)
    }
}

/// The grid with cells halved `times` times.
fn halved(grid: &Grid, times: u8, limit: usize) -> Option<Grid> {
    if times == 0 {
        return Some(*grid);
    }
    let dims = grid.dims().map(|n| ((n - 1) << times) + 1);
    Grid::new(grid.origin(), grid.spacing() / f64::from(1_u32 << times), dims, limit).ok()
}

/// Nodes of the solid farther than `reach` full cells from the cover of balls deep enough for cells
/// of `full / 2^level`.
fn lost_nodes(level_set: &LevelSet, full: f64, level: u8, reach: f64) -> Vec<usize> {
    let depth = DEPTH * full / f64::from(1_u32 << level);
    let deep = level_set.offset(-depth);
    let phi = level_set.as_slice();
    let is_inside = |node: &usize| phi[*node] < 0.0;
    if deep.as_slice().iter().all(|v| *v >= 0.0) {
        return (0..phi.len()).filter(is_inside).collect();
    }
    let distance = deep.redistanced();
    let distance = distance.as_slice();
    let reach = depth + reach * full;
    (0..phi.len()).filter(is_inside).filter(|n| f64::from(distance[*n]) > reach).collect()
}

/// The cells of `grid`, halved `level` times, that contain a node.
fn cells_around(samples: &Grid, nodes: &[usize], grid: &Grid, level: u8) -> Vec<bool> {
    let cells = grid.dims().map(|n| (n - 1) << level);
    let size = grid.spacing() / f64::from(1_u32 << level);
    let mut marks = vec![false; cells.iter().product()];
    for &node in nodes {
        let from = samples.position(samples.node(node)) - grid.origin();
        let [i, j, k]: [usize; 3] =
            std::array::from_fn(|a| ((from[a] / size).max(0.0) as usize).min(cells[a] - 1));
        marks[(i * cells[1] + j) * cells[2] + k] = true;
    }
    marks
}
