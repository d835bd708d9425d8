//! Sparse LU factors of an unsymmetric matrix of 6x6 blocks, one row per body.

use nalgebra::{Matrix6, Vector6};

/// Sparsity pattern of a factor.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Position of each body in the elimination order.
    places: Vec<u32>,
    /// For each position: later positions coupled to it when it is eliminated, ascending.
    later: Vec<Vec<u32>>,
}

impl Pattern {
    /// The pattern of `count` bodies with coupled `pairs` of different bodies, in minimum degree
    /// order: always the body with the fewest neighbors, the first among equals. `None` if a
    /// factorization would take more than `most` block products.
    pub(crate) fn new(count: usize, pairs: &[[u32; 2]], most: usize) -> Option<Self> {
        // sets of bodies as bits: an elimination unites some
        let words = count.div_ceil(64);
        let mut around = vec![0u64; count * words];
        let row = |body: usize| body * words..(body + 1) * words;
        for &[a, b] in pairs {
            let (a, b) = (a as usize, b as usize);
            around[a * words + b / 64] |= 1 << (b % 64);
            around[b * words + a / 64] |= 1 << (a % 64);
        }
        let degree = |around: &[u64], body: usize| -> u32 {
            around[row(body)].iter().map(|word| word.count_ones()).sum()
        };
        let mut degrees: Vec<u32> = (0..count).map(|body| degree(&around, body)).collect();
        let (mut places, mut order) = (vec![0; count], Vec::with_capacity(count));
        let mut work = 0;
        for place in 0..count as u32 {
            let (body, _) = degrees.iter().enumerate().min_by_key(|&(n, degree)| (*degree, n))?;
            work += products(degrees[body] as usize);
            if work > most {
                return None;
            }
            degrees[body] = u32::MAX;
            places[body] = place;
            let own = around[row(body)].to_vec();
            let others = members(&own);
            for &other in &others {
                let other = other as usize;
                around[row(other)].iter_mut().zip(&own).for_each(|(word, own)| *word |= own);
                for gone in [body, other] {
                    around[other * words + gone / 64] &= !(1 << (gone % 64));
                }
                degrees[other] = degree(&around, other);
            }
            order.push(others);
        }
        let sorted = |around: Vec<u32>| {
            let mut later: Vec<u32> = around.iter().map(|&body| places[body as usize]).collect();
            later.sort_unstable();
            later
        };
        let later = order.into_iter().map(sorted).collect();
        Some(Self { places, later })
    }
}

/// Block products of the elimination of a body with `degree` neighbors.
fn products(degree: usize) -> usize {
    1 + degree * (degree + 1)
}

/// The members of a set, ascending.
fn members(bits: &[u64]) -> Vec<u32> {
    let mut members = Vec::new();
    for (n, &word) in (0..).zip(bits) {
        let mut rest = word;
        while rest != 0 {
            members.push(64 * n + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
    members
}

/// An unsymmetric matrix of blocks, replaced by its factors without pivoting of blocks.
#[derive(Debug)]
pub(crate) struct Factor<'p> {
    pattern: &'p Pattern,
    /// By position; after the factorization the inverses of the pivots.
    diagonal: Vec<Matrix6<f64>>,
    /// Blocks below and right of the diagonal, as [`Pattern::later`] of each column and row.
    below: Vec<Vec<Matrix6<f64>>>,
    right: Vec<Vec<Matrix6<f64>>>,
}

impl<'p> Factor<'p> {
    /// The identity matrix.
    pub(crate) fn identity(pattern: &'p Pattern) -> Self {
        let diagonal = vec![Matrix6::identity(); pattern.places.len()];
        let later = pattern.later.iter().map(|later| vec![Matrix6::zeros(); later.len()]);
        let below: Vec<_> = later.collect();
        Self { pattern, diagonal, right: below.clone(), below }
    }

    /// Adds to the block in the rows of body `a` and the columns of body `b`.
    ///
    /// # Panics
    /// If the pattern does not couple them.
    pub(crate) fn add(&mut self, a: usize, b: usize, block: &Matrix6<f64>) {
        let [p, q] = [a, b].map(|i| self.pattern.places[i]);
        if p == q {
            self.diagonal[p as usize] += block;
            return;
        }
        let (first, last) = (p.min(q) as usize, p.max(q));
        let at = self.pattern.later[first].binary_search(&last);
        let at = at.expect("bodies of a term are coupled");
        let side = if p > q { &mut self.below } else { &mut self.right };
        side[first][at] += block;
    }

    /// Factors the matrix. False if a pivot is singular.
    pub(crate) fn factorize(&mut self) -> bool {
        for place in 0..self.diagonal.len() {
            let Some(inverse) = self.diagonal[place].try_inverse() else { return false };
            self.diagonal[place] = inverse;
            let later = &self.pattern.later[place];
            let (before, below) = self.below.split_at_mut(place + 1);
            let (row, right) = self.right.split_at_mut(place + 1);
            let (column, row) = (&mut before[place], &row[place]);
            for (n, &q) in later.iter().enumerate() {
                column[n] *= inverse;
                self.diagonal[q as usize] -= column[n] * row[n];
            }
            for (n, &q) in later.iter().enumerate() {
                for (m, &p) in later[..n].iter().enumerate() {
                    // fill-in: the neighbors of an eliminated body become coupled
                    if let Ok(at) = self.pattern.later[p as usize].binary_search(&q) {
                        below[p as usize - place - 1][at] -= column[n] * row[m];
                        right[p as usize - place - 1][at] -= column[m] * row[n];
                    }
                }
            }
        }
        true
    }

    /// Solves for a right-hand side, one block per body.
    pub(crate) fn solve(&self, right: &[Vector6<f64>]) -> Vec<Vector6<f64>> {
        let places = &self.pattern.places;
        let mut x = vec![Vector6::zeros(); right.len()];
        right.iter().zip(places).for_each(|(right, &place)| x[place as usize] = *right);
        for place in 0..x.len() {
            let own = x[place];
            for (&q, block) in self.pattern.later[place].iter().zip(&self.below[place]) {
                x[q as usize] -= block * own;
            }
        }
        for place in (0..x.len()).rev() {
            let mut own = x[place];
            for (&q, block) in self.pattern.later[place].iter().zip(&self.right[place]) {
                own -= block * x[q as usize];
            }
            x[place] = self.diagonal[place] * own;
        }
        places.iter().map(|&place| x[place as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;

    /// The LU factors of random block matrices solve like the dense matrix.
    #[test]
    fn lu_solves_matrices_that_are_not_symmetric() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
        };
        for count in 1..7 {
            let chain = (1..count as u32).map(|n| [n - 1, n]);
            let ends = (count > 3).then_some([0, count as u32 - 1]);
            let pairs: Vec<[u32; 2]> = chain.chain(ends).collect();
            let pattern = Pattern::new(count, &pairs, usize::MAX).expect("no limit");
            let mut factor = Factor::identity(&pattern);
            let mut dense = DMatrix::identity(6 * count, 6 * count);
            let own = (0..count as u32).map(|n| [n, n]);
            let coupled = pairs.iter().flat_map(|&[a, b]| [[a, b], [b, a]]);
            for [a, b] in own.chain(coupled) {
                let block = Matrix6::from_fn(|_, _| 0.1 * random());
                factor.add(a as usize, b as usize, &block);
                let mut target = dense.fixed_view_mut::<6, 6>(6 * a as usize, 6 * b as usize);
                target += block;
            }
            assert!(factor.factorize());
            let right: Vec<_> = (0..count).map(|_| Vector6::from_fn(|_, _| random())).collect();
            let flat = DVector::from_iterator(6 * count, right.iter().flatten().copied());
            let wanted = dense.lu().solve(&flat).expect("a dominant diagonal");
            for (n, found) in factor.solve(&right).iter().enumerate() {
                let off = (wanted.rows(6 * n, 6) - found).norm();
                assert!(off < 1e-12, "{count} bodies, body {n}: {off}");
            }
        }
    }
}
