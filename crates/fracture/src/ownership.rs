//! Which region owns each inside sample.

use levelset::{Grid, LevelSet};

use crate::field::Field;

/// The region of every node, flat: one more than the one whose signed distance is least, the lowest
/// of equals; 0 outside the parent where no field reaches.
pub(crate) fn nearest(
    parent: &LevelSet,
    fields: &[Option<Field>],
    far: impl Fn([usize; 3]) -> usize,
) -> Vec<u32> {
    let grid = parent.grid();
    let mut best = vec![f32::INFINITY; grid.node_count()];
    let mut nearest = vec![0_u32; grid.node_count()];
    for (region, field) in (1..).zip(fields) {
        let Some(field) = field else { continue };
        for [i, j] in field.nodes.rows() {
            let row = field.row([i, j]);
            let start = grid.index([i, j, field.nodes.low[2]]);
            let best = &mut best[start..start + row.len()];
            let nearest = &mut nearest[start..start + row.len()];
            for ((value, best), owner) in row.iter().zip(best).zip(nearest) {
                let better = value < best;
                *best = if better { *value } else { *best };
                *owner = if better { region } else { *owner };
            }
        }
    }
    for (node, (owner, phi)) in nearest.iter_mut().zip(parent.as_slice()).enumerate() {
        if *owner == 0 && *phi < 0.0 {
            *owner = far(node_at(grid, node)) as u32 + 1;
        }
    }
    nearest
}

/// The owner of every node: its nearest region + 1 inside the parent, 0 outside.
pub(crate) fn owners(parent: &LevelSet, nearest: &[u32]) -> Vec<u32> {
    let inside = parent.as_slice().iter().zip(nearest);
    inside.map(|(&phi, &region)| if phi < 0.0 { region } else { 0 }).collect()
}

/// The `[i, j, k]` of a flat index.
fn node_at(grid: &Grid, index: usize) -> [usize; 3] {
    let [_, ny, nz] = grid.dims();
    [index / (ny * nz), index / nz % ny, index % nz]
}
