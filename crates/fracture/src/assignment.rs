//! Assignment of points of the parent's surface to pieces.

use levelset::LevelSet;
use nalgebra::Point3;
use rayon::prelude::*;

use crate::node_box::NodeBox;
use crate::partition::{BATCH, Partition};

/// The piece of each point.
///
/// If all nodes of the voxel lie in one region and one piece, the point belongs to this piece (Su09
/// section 4.2). Otherwise it belongs to the adjacent piece with the smallest signed distance at the
/// point.
pub(crate) fn assign_particles(
    partition: &Partition,
    points: &[Point3<f64>],
    level_sets: &[LevelSet],
) -> Vec<usize> {
    let grid = partition.parent.grid();
    let voxel_of_point: Vec<u32> =
        points.iter().map(|p| grid.index(grid.locate(p).0) as u32).collect();
    let order = points_by_grid_row(&voxel_of_point, grid.dims());
    let in_batch = |batch: &[u32]| -> Vec<usize> {
        let mut near = Vec::new();
        let piece_of = |&n: &u32| {
            let voxel = voxel_of_point[n as usize] as usize;
            partition.sole_piece(voxel).unwrap_or_else(|| {
                partition.pieces_near(grid.node(voxel), &mut near);
                deepest(&points[n as usize], level_sets, &near)
            })
        };
        batch.iter().map(piece_of).collect()
    };
    let found: Vec<Vec<usize>> = order.par_chunks(BATCH).map(in_batch).collect();
    let mut owners = vec![0; points.len()];
    for (n, piece) in order.into_iter().zip(found.into_iter().flatten()) {
        owners[n as usize] = piece;
    }
    owners
}

/// Indices of the points, sorted by the grid row of their voxels. Points of one row then read
/// adjacent memory.
fn points_by_grid_row(voxel_of_point: &[u32], [nx, ny, nz]: [usize; 3]) -> Vec<u32> {
    let row = |voxel: u32| voxel as usize / nz;
    let mut next = vec![0_u32; nx * ny + 1];
    voxel_of_point.iter().for_each(|&voxel| next[row(voxel) + 1] += 1);
    (0..nx * ny).for_each(|row| next[row + 1] += next[row]);
    let mut order = vec![0; voxel_of_point.len()];
    for (n, &voxel) in (0..).zip(voxel_of_point) {
        let next = &mut next[row(voxel)];
        order[*next as usize] = n;
        *next += 1;
    }
    order
}

/// The candidate with the smallest signed distance at `p`; of equal ones the one of the lowest
/// index. Without candidates, all pieces are candidates.
fn deepest(p: &Point3<f64>, pieces: &[LevelSet], candidates: &[usize]) -> usize {
    let deepest_of = |candidates: &mut dyn Iterator<Item = usize>| {
        let mut best = (f64::INFINITY, 0);
        for piece in candidates {
            let value = pieces[piece].value(p);
            if value < best.0 || (value == best.0 && piece < best.1) {
                best = (value, piece);
            }
        }
        best.1
    };
    match candidates {
        [piece] => *piece,
        // a feature too thin for the grid has no inside node
        [] => deepest_of(&mut (0..pieces.len())),
        _ => deepest_of(&mut candidates.iter().copied()),
    }
}

impl Partition<'_> {
    /// The piece of a voxel, given by the flat index of its lowest node, if it is within one region
    /// and one piece.
    fn sole_piece(&self, voxel: usize) -> Option<usize> {
        let [_, ny, nz] = self.parent.grid().dims();
        let region = self.nearest[voxel];
        // Label 0 means no piece. `label - 1` wraps to `u32::MAX`, so no branch is needed.
        let (mut other_regions, mut max_label, mut min_piece) = (0, 0, u32::MAX);
        for row in [0, nz, ny * nz, ny * nz + nz].map(|offset| voxel + offset) {
            for (&other, &label) in self.nearest[row..row + 2].iter().zip(&self.labels[row..]) {
                other_regions |= other ^ region;
                max_label = max_label.max(label);
                min_piece = min_piece.min(label.wrapping_sub(1));
            }
        }
        let is_sole = other_regions == 0 && max_label != 0 && max_label - 1 == min_piece;
        is_sole.then_some(min_piece as usize)
    }

    /// The distinct pieces that own a node of the voxel or of an adjacent voxel.
    fn pieces_near(&self, voxel: [usize; 3], pieces: &mut Vec<usize>) {
        let grid = self.parent.grid();
        let near = NodeBox { low: voxel, high: voxel.map(|n| n + 2) }.grown(1, grid.dims());
        let [rows, columns, len] = near.dims();
        let [_, ny, nz] = grid.dims();
        let first = grid.index(near.low);
        pieces.clear();
        // labels of the first two pieces found, which suffice for most rows
        let mut known = [0; 2];
        for start in (0..rows).flat_map(|i| (0..columns).map(move |j| first + (i * ny + j) * nz)) {
            let row = &self.labels[start..start + len];
            let is_old = |&label: &u32| (label == 0) | (label == known[0]) | (label == known[1]);
            // four nodes at once, except at the edge of the grid
            let four = <&[u32; 4]>::try_from(row).ok();
            if four.is_some_and(|four| four.iter().fold(true, |all, label| all & is_old(label))) {
                continue;
            }
            for &label in row {
                if label != 0 && !pieces.contains(&(label as usize - 1)) {
                    if let Some(known) = known.get_mut(pieces.len()) {
                        *known = label;
                    }
                    pieces.push(label as usize - 1);
                }
            }
        }
    }
}
