//! Block Cholesky factorization of the Delassus operator of joints (Baraff 1996, "Linear-time
//! dynamics using Lagrange multipliers").
//!
//! A Gauss-Seidel sweep carries an impulse one joint further, so that long chains converge slowly.
//! The Delassus operator `A = J M^-1 J^T` couples joints that share a body; elimination by minimum
//! degree has no fill-in for trees of joints, and little for loops.

use std::collections::BTreeSet;
use std::ops::Range;

use nalgebra::{DMatrix, DVector};

/// Regularization of a Delassus operator, relative to its diagonal: redundant rows, as those of
/// four legs, share the load.
pub(super) const REGULARIZATION: f64 = 1e-8;
/// Limit of entries of a factor; sweeps solve larger problems.
const MAX_ENTRIES: usize = 1 << 21;

/// The Cholesky factor of a block matrix.
#[derive(Debug)]
pub(super) struct Factor {
    /// In elimination order.
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    /// Rows of the block, as indices of the vectors of the system.
    rows: Range<usize>,
    /// Inverse of the block's Schur complement.
    inverse: DMatrix<f64>,
    /// Later nodes coupled to it, ascending, and the blocks between them.
    later: Vec<(usize, DMatrix<f64>)>,
}

impl Factor {
    /// Factors blocks of `sizes` rows each, with symmetric entries `coupling(row, column)` between
    /// rows of blocks in the same list of `cliques`. `None` if the factor has too many entries or
    /// does not exist.
    pub(super) fn new(
        sizes: &[usize],
        cliques: &[Vec<u32>],
        coupling: impl Fn(usize, usize) -> f64,
    ) -> Option<Self> {
        let mut first = 0;
        let ranges = sizes.iter().map(|size| {
            first += size;
            first - size..first
        });
        let ranges: Vec<Range<usize>> = ranges.collect();
        let order = elimination(sizes, cliques)?;
        let mut places = vec![0; sizes.len()];
        order.iter().enumerate().for_each(|(place, (node, _))| places[*node as usize] = place);
        let between = |a: &Range<usize>, b: &Range<usize>| {
            DMatrix::from_fn(a.len(), b.len(), |i, j| coupling(a.start + i, b.start + j))
        };
        let node = |(node, around): (u32, Vec<u32>)| {
            let rows = ranges[node as usize].clone();
            let mut own = between(&rows, &rows);
            for i in 0..rows.len() {
                own[(i, i)] *= 1.0 + REGULARIZATION;
            }
            let block = |&other: &u32| {
                let matrix = between(&ranges[other as usize], &rows);
                (places[other as usize], matrix)
            };
            let mut later: Vec<_> = around.iter().map(block).collect();
            later.sort_unstable_by_key(|(place, _)| *place);
            Node { rows, inverse: own, later }
        };
        let mut factor = Self { nodes: order.into_iter().map(node).collect() };
        (0..factor.nodes.len()).all(|place| factor.eliminate(place)).then_some(factor)
    }

    /// Inverts the block at a place and subtracts its Schur complement from later blocks. False if
    /// it is not positive definite.
    fn eliminate(&mut self, place: usize) -> bool {
        let (before, after) = self.nodes.split_at_mut(place + 1);
        let node = &mut before[place];
        let Some(own) = node.inverse.clone().cholesky() else { return false };
        node.inverse = own.inverse();
        for (n, (q, lower)) in node.later.iter().enumerate() {
            let scaled = lower * &node.inverse;
            after[q - place - 1].inverse -= &scaled * lower.transpose();
            for (p, other) in &node.later[..n] {
                let target = &mut after[p - place - 1].later;
                // elimination couples all neighbors of a node
                if let Ok(at) = target.binary_search_by_key(q, |(place, _)| *place) {
                    target[at].1 -= &scaled * other.transpose();
                }
            }
        }
        true
    }

    /// The solution for a right-hand side.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let part = |x: &[f64], rows: &Range<usize>| DVector::from_column_slice(&x[rows.clone()]);
        let mut x = right.to_vec();
        for node in &self.nodes {
            let own = &node.inverse * part(&x, &node.rows);
            for (place, lower) in &node.later {
                let given = lower * &own;
                let rows = self.nodes[*place].rows.clone();
                x[rows].iter_mut().zip(given.iter()).for_each(|(x, given)| *x -= given);
            }
        }
        for node in self.nodes.iter().rev() {
            let mut own = part(&x, &node.rows);
            for (place, lower) in &node.later {
                own -= lower.transpose() * part(&x, &self.nodes[*place].rows);
            }
            x[node.rows.clone()].copy_from_slice((&node.inverse * own).as_slice());
        }
        x
    }
}

/// Minimum degree order of blocks, each with its neighbors at its elimination. The lowest index
/// breaks ties.
fn elimination(sizes: &[usize], cliques: &[Vec<u32>]) -> Option<Vec<(u32, Vec<u32>)>> {
    let mut around: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); sizes.len()];
    let mut numbers = 0;
    for clique in cliques {
        let rows: usize = clique.iter().map(|&n| sizes[n as usize]).sum();
        numbers += rows * rows;
        if numbers > MAX_ENTRIES {
            return None;
        }
        for &n in clique {
            around[n as usize].extend(clique.iter().filter(|&&other| other != n));
        }
    }
    let mut waiting: BTreeSet<(usize, u32)> =
        around.iter().zip(0..).map(|(around, n)| (around.len(), n)).collect();
    let mut order = Vec::with_capacity(sizes.len());
    let mut numbers = 0;
    while let Some((_, node)) = waiting.pop_first() {
        let own: Vec<u32> = std::mem::take(&mut around[node as usize]).into_iter().collect();
        let rows = own.iter().map(|&n| sizes[n as usize]).sum::<usize>() + sizes[node as usize];
        numbers += sizes[node as usize] * rows;
        if numbers > MAX_ENTRIES {
            return None;
        }
        for &n in &own {
            let around = &mut around[n as usize];
            waiting.remove(&(around.len(), n));
            around.extend(own.iter().filter(|&&other| other != n));
            around.remove(&node);
            waiting.insert((around.len(), n));
        }
        order.push((node, own));
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of one to three rows in a ring with a chord, coupled by `cliques`.
    #[test]
    fn a_factor_solves_as_a_dense_one() {
        let sizes = [2, 3, 2, 2, 1, 2];
        let cliques: Vec<Vec<u32>> =
            vec![vec![0, 1], vec![1, 2], vec![2, 3], vec![3, 4, 5], vec![5, 0], vec![1, 4]];
        let owners: Vec<u32> = sizes.iter().zip(0..).flat_map(|(&size, n)| vec![n; size]).collect();
        let touch = |i: usize, j: usize| {
            cliques.iter().any(|c| c.contains(&owners[i]) && c.contains(&owners[j]))
        };
        let entry = |i: usize, j: usize| match (i == j, touch(i, j)) {
            (true, _) => 9.0 + i as f64,
            (_, true) => 1.0 / (1.0 + (i * j) as f64) - 0.3,
            _ => 0.0,
        };
        let n = owners.len();
        let right: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let x = Factor::new(&sizes, &cliques, entry).unwrap().solve(&right);
        let dense = DMatrix::from_fn(n, n, entry) * DVector::from_vec(x);
        let rest = dense.iter().zip(&right).map(|(y, b)| (y - b).abs()).fold(0.0, f64::max);
        assert!(rest < 20.0 * REGULARIZATION, "{rest}");
    }

    #[test]
    fn rows_that_say_the_same_share_alike() {
        // four identical blocks of one row
        let x = Factor::new(&[1; 4], &[vec![0, 1, 2, 3]], |_, _| 2.0).unwrap().solve(&[8.0; 4]);
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-6), "{x:?}");
    }
}
