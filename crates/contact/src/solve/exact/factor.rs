//! Sparse LU factors of an unsymmetric matrix of 6x6 blocks, one row per body.

use nalgebra::{Matrix3, Matrix6, Matrix6x3, Vector6};

/// Sparsity pattern of a factor.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Position of each body in the elimination order.
    places: Vec<u32>,
    /// For each position the start of its blocks off the diagonal, and the end of the last ones.
    starts: Vec<u32>,
    /// For each block off the diagonal the later position that it couples, ascending within a
    /// position.
    later: Vec<u32>,
    /// For each position and each pair of its later ones, the block that couples the pair.
    fills: Vec<u32>,
    /// The blocks of each term.
    slots: Vec<Slot>,
}

/// The blocks of a term.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// On the diagonal, with the index of the body in the term.
    Single { side: usize, place: u32 },
    /// Both positions, the earlier first if the bodies are not `swapped`, and the block off the
    /// diagonal.
    Pair { places: [u32; 2], block: u32, swapped: bool },
    /// A term between bodies of infinite mass.
    None,
}

impl Pattern {
    /// The pattern of `count` bodies with terms between `couplings`, in minimum degree order:
    /// always the body with the fewest neighbors, the first among equals. `None` if a factorization
    /// would take more than `most` block products.
    pub(crate) fn new(count: usize, couplings: &[[Option<u32>; 2]], most: usize) -> Option<Self> {
        // sets of bodies as bits: an elimination unites some
        let words = count.div_ceil(64);
        let mut around = vec![0u64; count * words];
        let row = |body: usize| body * words..(body + 1) * words;
        for coupling in couplings {
            let &[Some(a), Some(b)] = coupling else { continue };
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
        let (mut starts, mut later) = (vec![0], Vec::new());
        for others in order {
            let first = later.len();
            later.extend(others.iter().map(|&body| places[body as usize]));
            later[first..].sort_unstable();
            starts.push(later.len() as u32);
        }
        let mut pattern = Self { places, starts, later, fills: Vec::new(), slots: Vec::new() };
        pattern.fills = pattern.find_fills();
        pattern.slots = couplings.iter().map(|bodies| pattern.slot(*bodies)).collect();
        Some(pattern)
    }

    /// The blocks of a position.
    fn blocks(&self, place: usize) -> std::ops::Range<usize> {
        self.starts[place] as usize..self.starts[place + 1] as usize
    }

    /// The block that couples two positions in this order.
    fn block(&self, first: u32, last: u32) -> Option<u32> {
        let own = self.blocks(first as usize);
        let at = self.later[own.clone()].binary_search(&last).ok()?;
        Some((own.start + at) as u32)
    }

    /// [`Self::fills`]: neighbors of an eliminated body are coupled.
    fn find_fills(&self) -> Vec<u32> {
        let mut fills = Vec::new();
        for place in 0..self.places.len() {
            let later = &self.later[self.blocks(place)];
            for (n, &last) in later.iter().enumerate() {
                fills.extend(later[..n].iter().filter_map(|&first| self.block(first, last)));
            }
        }
        fills
    }

    fn slot(&self, bodies: [Option<u32>; 2]) -> Slot {
        let place = |body: u32| self.places[body as usize];
        match bodies.map(|body| body.map(place)) {
            [Some(a), Some(b)] => {
                let (swapped, places) = (a > b, [a.min(b), a.max(b)]);
                let block = self.block(places[0], places[1]);
                block.map_or(Slot::None, |block| Slot::Pair { places, block, swapped })
            }
            [Some(place), None] => Slot::Single { side: 0, place },
            [None, Some(place)] => Slot::Single { side: 1, place },
            [None, None] => Slot::None,
        }
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

/// `target += a b^T`.
#[inline]
fn add_product(target: &mut Matrix6<f64>, a: &Matrix6x3<f64>, b: &Matrix6x3<f64>) {
    for (j, column) in target.data.0.iter_mut().enumerate() {
        for k in 0..3 {
            let factor = b.data.0[k][j];
            column.iter_mut().zip(&a.data.0[k]).for_each(|(own, a)| *own += a * factor);
        }
    }
}

/// `target -= a b`.
#[inline]
fn subtract_product(target: &mut Matrix6<f64>, a: &Matrix6<f64>, b: &Matrix6<f64>) {
    for (own, b) in target.data.0.iter_mut().zip(&b.data.0) {
        let mut column = *own;
        for (a, factor) in a.data.0.iter().zip(b) {
            column.iter_mut().zip(a).for_each(|(own, a)| *own -= a * factor);
        }
        *own = column;
    }
}

/// An unsymmetric matrix of blocks, replaced by its factors without pivoting of blocks.
#[derive(Debug)]
pub(crate) struct Factor<'p> {
    pattern: &'p Pattern,
    /// By position; after the factorization the inverses of the pivots.
    diagonal: Vec<Matrix6<f64>>,
    /// Blocks below and right of the diagonal, as [`Pattern::later`] of each column and row.
    below: Vec<Matrix6<f64>>,
    right: Vec<Matrix6<f64>>,
}

impl<'p> Factor<'p> {
    /// The identity matrix.
    pub(crate) fn identity(pattern: &'p Pattern) -> Self {
        let diagonal = vec![Matrix6::identity(); pattern.places.len()];
        let below = vec![Matrix6::zeros(); pattern.later.len()];
        Self { pattern, diagonal, right: below.clone(), below }
    }

    /// Makes the matrix the identity again.
    pub(crate) fn reset(&mut self) {
        self.diagonal.fill(Matrix6::identity());
        self.below.fill(Matrix6::zeros());
        self.right.fill(Matrix6::zeros());
    }

    /// Adds `J^T R J` of a term, with `transposed` the transposed Jacobians `J^T` of both bodies (6x3)
    /// and `answer` the change of impulse `R` per change of speed (3x3).
    pub(crate) fn add(
        &mut self,
        term: usize,
        transposed: &[Matrix6x3<f64>; 2],
        answer: &Matrix3<f64>,
    ) {
        match self.pattern.slots[term] {
            Slot::Single { side, place } => {
                let own = &transposed[side];
                add_product(&mut self.diagonal[place as usize], &(own * answer), own);
            }
            Slot::Pair { places, block, swapped } => {
                let [mut first, mut last] = [&transposed[0], &transposed[1]];
                if swapped {
                    (first, last) = (last, first);
                }
                let [p, q] = places.map(|place| place as usize);
                let given = first * answer;
                add_product(&mut self.diagonal[p], &given, first);
                add_product(&mut self.right[block as usize], &given, last);
                let given = last * answer;
                add_product(&mut self.diagonal[q], &given, last);
                add_product(&mut self.below[block as usize], &given, first);
            }
            Slot::None => {}
        }
    }

    /// Factors the matrix. False if a pivot is singular.
    pub(crate) fn factorize(&mut self) -> bool {
        let Self { pattern, diagonal, below, right } = self;
        let mut fills = pattern.fills.iter().map(|&block| block as usize);
        for place in 0..diagonal.len() {
            let Some(inverse) = diagonal[place].try_inverse() else { return false };
            diagonal[place] = inverse;
            let own = pattern.blocks(place);
            // blocks of later positions follow those of their neighbors
            let (before, below) = below.split_at_mut(own.end);
            let (row, right) = right.split_at_mut(own.end);
            let (column, row) = (&mut before[own.clone()], &row[own.clone()]);
            for (n, &last) in pattern.later[own.clone()].iter().enumerate() {
                column[n] *= inverse;
                subtract_product(&mut diagonal[last as usize], &column[n], &row[n]);
                for (m, block) in (0..n).zip(&mut fills) {
                    subtract_product(&mut below[block - own.end], &column[n], &row[m]);
                    subtract_product(&mut right[block - own.end], &column[m], &row[n]);
                }
            }
        }
        true
    }

    /// Solves for a right-hand side, one block per body.
    pub(crate) fn solve(&self, right: &[Vector6<f64>]) -> Vec<Vector6<f64>> {
        let Pattern { places, later, .. } = self.pattern;
        let mut x = vec![Vector6::zeros(); right.len()];
        right.iter().zip(places).for_each(|(right, &place)| x[place as usize] = *right);
        for place in 0..x.len() {
            let own = x[place];
            for block in self.pattern.blocks(place) {
                x[later[block] as usize] -= self.below[block] * own;
            }
        }
        for place in (0..x.len()).rev() {
            let mut own = x[place];
            for block in self.pattern.blocks(place) {
                own -= self.right[block] * x[later[block] as usize];
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
            let chain = (1..count as u32).map(|n| [Some(n), Some(n - 1)]);
            let ends = (count > 3).then_some([Some(0), Some(count as u32 - 1)]);
            let ground = [[Some(0), None], [None, Some(count as u32 - 1)], [None, None]];
            let couplings: Vec<_> = chain.chain(ends).chain(ground).collect();
            let pattern = Pattern::new(count, &couplings, usize::MAX).expect("no limit");
            let mut factor = Factor::identity(&pattern);
            let mut dense = DMatrix::identity(6 * count, 6 * count);
            for (n, bodies) in couplings.iter().enumerate() {
                let transposed = [(); 2].map(|()| Matrix6x3::from_fn(|_, _| random()));
                let answer = Matrix3::from_fn(|_, _| 0.1 * random());
                factor.add(n, &transposed, &answer);
                let mut jacobian = DMatrix::zeros(3, 6 * count);
                for (body, transposed) in bodies.iter().zip(&transposed) {
                    let Some(body) = body else { continue };
                    jacobian.columns_mut(6 * *body as usize, 6).copy_from(&transposed.transpose());
                }
                dense += jacobian.transpose() * answer * jacobian;
            }
            assert!(factor.factorize());
            let right: Vec<_> = (0..count).map(|_| Vector6::from_fn(|_, _| random())).collect();
            let flat = DVector::from_iterator(6 * count, right.iter().flatten().copied());
            let wanted = dense.lu().solve(&flat).expect("a regular matrix");
            for (n, found) in factor.solve(&right).iter().enumerate() {
                let off = (wanted.rows(6 * n, 6) - found).norm();
                assert!(off < 1e-11, "{count} bodies, body {n}: {off}");
            }
        }
    }
}
