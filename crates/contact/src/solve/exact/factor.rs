//! Cholesky's factor of a matrix of blocks of six rows, one a body.

use nalgebra::{Matrix6, Vector6};

/// Where a factor has blocks.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// The place of each body in the order of elimination.
    places: Vec<u32>,
    /// Of each place: later places that it is coupled to when it is eliminated, ascending.
    later: Vec<Vec<u32>>,
}

impl Pattern {
    /// Of `count` bodies and the pairs of them that are coupled, of two different bodies each. The
    /// order is that of minimum degree: always the body with the fewest others around it, the first of
    /// equals. `None` if a factorization would take more than `most` products of blocks.
    pub(crate) fn new(count: usize, pairs: &[[u32; 2]], most: usize) -> Option<Self> {
        // sets of bodies as bits: to eliminate one is to unite some
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

/// Products of blocks that it takes to eliminate a body with so many around it.
fn products(degree: usize) -> usize {
    1 + degree * (degree + 3) / 2
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

/// A matrix of blocks, which is replaced by its factor.
#[derive(Debug)]
pub(crate) struct Factor<'p> {
    pattern: &'p Pattern,
    /// By place; the inverses of lower triangles once it is factored.
    diagonal: Vec<Matrix6<f64>>,
    /// Blocks below it, as [`Pattern::later`] of each column.
    below: Vec<Vec<Matrix6<f64>>>,
}

impl<'p> Factor<'p> {
    /// The identity.
    pub(crate) fn identity(pattern: &'p Pattern) -> Self {
        let diagonal = vec![Matrix6::identity(); pattern.places.len()];
        let below = pattern.later.iter().map(|later| vec![Matrix6::zeros(); later.len()]).collect();
        Self { pattern, diagonal, below }
    }

    /// Adds to the block of body `a` and itself.
    pub(crate) fn add(&mut self, a: u32, block: &Matrix6<f64>) {
        self.diagonal[self.pattern.places[a as usize] as usize] += block;
    }

    /// Adds to the block of bodies `a` and `b`, and its transpose to that of `b` and `a`.
    ///
    /// # Panics
    /// If the pattern does not couple them.
    pub(crate) fn couple(&mut self, a: u32, b: u32, block: &Matrix6<f64>) {
        let [p, q] = [a, b].map(|i| self.pattern.places[i as usize]);
        let later = &self.pattern.later[p.min(q) as usize];
        let at = later.binary_search(&p.max(q)).expect("bodies of a term are coupled");
        let target = &mut self.below[p.min(q) as usize][at];
        if p > q { *target += block } else { *target += block.transpose() }
    }

    /// Factors the matrix. False if it is not positive definite.
    pub(crate) fn factorize(&mut self) -> bool {
        for place in 0..self.diagonal.len() {
            let Some(lower) = self.diagonal[place].cholesky() else { return false };
            let Some(inverse) = lower.l().solve_lower_triangular(&Matrix6::identity()) else {
                return false;
            };
            self.diagonal[place] = inverse;
            let later = &self.pattern.later[place];
            let (before, after) = self.below.split_at_mut(place + 1);
            let own = &mut before[place];
            for (n, &q) in later.iter().enumerate() {
                own[n] *= inverse.transpose();
                self.diagonal[q as usize] -= own[n] * own[n].transpose();
                for (m, &p) in later[..n].iter().enumerate() {
                    let target = self.pattern.later[p as usize].binary_search(&q);
                    // what is around a body that is eliminated is coupled from then on
                    if let Ok(at) = target {
                        after[p as usize - place - 1][at] -= own[n] * own[m].transpose();
                    }
                }
            }
        }
        true
    }

    /// Solves for a right side, a block a body.
    pub(crate) fn solve(&self, right: &[Vector6<f64>]) -> Vec<Vector6<f64>> {
        let places = &self.pattern.places;
        let mut x = vec![Vector6::zeros(); right.len()];
        right.iter().zip(places).for_each(|(right, &place)| x[place as usize] = *right);
        for place in 0..x.len() {
            x[place] = self.diagonal[place] * x[place];
            let own = x[place];
            for (&q, block) in self.pattern.later[place].iter().zip(&self.below[place]) {
                x[q as usize] -= block * own;
            }
        }
        for place in (0..x.len()).rev() {
            let mut own = x[place];
            for (&q, block) in self.pattern.later[place].iter().zip(&self.below[place]) {
                own -= block.tr_mul(&x[q as usize]);
            }
            x[place] = self.diagonal[place].tr_mul(&own);
        }
        places.iter().map(|&place| x[place as usize]).collect()
    }
}
