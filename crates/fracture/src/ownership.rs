//! Which region owns each inside sample.

use levelset::{Grid, LevelSet};

use crate::field::Field;

/// The owner of every node, flat: 0 outside the parent, else one more than the region whose signed
/// distance is least, the lowest of equals.
///
/// `far` finds the region of a node that no field covers.
pub(crate) fn owners(
    parent: &LevelSet,
    fields: &[Option<Field>],
    far: impl Fn([usize; 3]) -> usize,
) -> Vec<u32> {
    let grid = parent.grid();
    let mut best = vec![f32::INFINITY; grid.node_count()];
    let mut owners = vec![0_u32; grid.node_count()];
    for (region, field) in (1..).zip(fields) {
        let Some(field) = field else { continue };
        for [i, j] in field.nodes.rows() {
            let row = field.row([i, j]);
            let start = grid.index([i, j, field.nodes.low[2]]);
            let best = &mut best[start..start + row.len()];
            let owners = &mut owners[start..start + row.len()];
            for ((value, best), owner) in row.iter().zip(best).zip(owners) {
                let better = value < best;
                *best = if better { *value } else { *best };
                *owner = if better { region } else { *owner };
            }
        }
    }
    for (node, (owner, phi)) in owners.iter_mut().zip(parent.as_slice()).enumerate() {
        if *phi >= 0.0 || phi.is_nan() {
            *owner = 0;
        } else if *owner == 0 {
            *owner = far(node_at(grid, node)) as u32 + 1;
        }
    }
    owners
}

/// The `[i, j, k]` of a flat index.
fn node_at(grid: &Grid, index: usize) -> [usize; 3] {
    let [_, ny, nz] = grid.dims();
    [index / (ny * nz), index / nz % ny, index % nz]
}
