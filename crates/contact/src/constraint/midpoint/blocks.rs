//! Block elimination of the linear equations of bodies and joints (Baraff 1996,
//! "Linear-time dynamics using Lagrange multipliers").
//!
//! The unknowns are six per body and up to six impulses per joint. The diagonal block of a joint is
//! zero, so a joint is eliminated after one of its bodies. Trees have no fill-in, loops have
//! little.

use std::collections::BTreeSet;

use nalgebra::{Matrix6, Vector6};

/// Limit of block products per factorization; the contact passes solve larger linkages.
const MAX_PRODUCTS: usize = 1 << 18;

/// Sparsity pattern and elimination order.
#[derive(Debug)]
pub(super) struct Pattern {
    /// Position in the elimination order, by node.
    places: Vec<usize>,
    /// Later positions coupled to each position, ascending.
    later: Vec<Vec<usize>>,
}

/// A block matrix or, after [`Self::factor`], its factorization.
#[derive(Debug)]
pub(super) struct Blocks<'a> {
    pattern: &'a Pattern,
    /// Diagonal blocks by position; inverted in the factorization.
    own: Vec<Matrix6<f64>>,
    /// Blocks of each position with [`Pattern::later`]: below the diagonal, then right of it.
    below: Vec<Vec<[Matrix6<f64>; 2]>>,
}

impl Pattern {
    /// Nodes are the bodies, then the joints, each with up to two bodies. `None` above the limit of
    /// block products.
    pub(super) fn new(bodies: usize, joints: &[[Option<usize>; 2]]) -> Option<Self> {
        let count = bodies + joints.len();
        let mut around: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
        for (n, ends) in joints.iter().enumerate() {
            let ends: Vec<usize> = ends.iter().flatten().copied().collect();
            for &i in &ends {
                around[i].extend(ends.iter().filter(|&&other| other != i));
                around[i].insert(bodies + n);
                around[bodies + n].insert(i);
            }
        }
        let mut is_ready: Vec<bool> = (0..count).map(|node| node < bodies).collect();
        let mut waiting: BTreeSet<(usize, usize)> =
            (0..bodies).map(|node| (around[node].len(), node)).collect();
        let (mut places, mut order, mut products) = (vec![usize::MAX; count], Vec::new(), 0);
        while let Some((_, node)) = waiting.pop_first() {
            let own: Vec<usize> = std::mem::take(&mut around[node]).into_iter().collect();
            products += own.len() * own.len();
            if products > MAX_PRODUCTS {
                return None;
            }
            for &n in &own {
                waiting.remove(&(around[n].len(), n));
                around[n].extend(own.iter().filter(|&&other| other != n));
                around[n].remove(&node);
                is_ready[n] |= node < bodies;
                if is_ready[n] {
                    waiting.insert((around[n].len(), n));
                }
            }
            places[node] = order.len();
            order.push(own);
        }
        let place = |own: Vec<usize>| {
            let mut later: Vec<usize> = own.into_iter().map(|n| places[n]).collect();
            later.sort_unstable();
            later
        };
        let later = order.into_iter().map(place).collect();
        Some(Self { places, later })
    }
}

impl<'a> Blocks<'a> {
    pub(super) fn new(pattern: &'a Pattern) -> Self {
        let below = pattern.later.iter().map(|later| vec![[Matrix6::zeros(); 2]; later.len()]);
        let own = vec![Matrix6::zeros(); pattern.later.len()];
        Self { pattern, own, below: below.collect() }
    }

    pub(super) fn clear(&mut self) {
        self.own.fill(Matrix6::zeros());
        self.below.iter_mut().flatten().for_each(|pair| *pair = [Matrix6::zeros(); 2]);
    }

    /// Adds to the block of two nodes.
    pub(super) fn add(&mut self, row: usize, column: usize, block: &Matrix6<f64>) {
        let [p, q] = [row, column].map(|node| self.pattern.places[node]);
        if let Some(target) = self.block(p, q) {
            *target += block;
        }
    }

    /// The block of two positions.
    fn block(&mut self, p: usize, q: usize) -> Option<&mut Matrix6<f64>> {
        if p == q {
            return self.own.get_mut(p);
        }
        let (first, last) = (p.min(q), p.max(q));
        let at = self.pattern.later[first].binary_search(&last).ok()?;
        Some(&mut self.below[first][at][usize::from(p < q)])
    }

    /// Factorizes in place; `false` if a diagonal block is singular.
    pub(super) fn factor(&mut self) -> bool {
        for place in 0..self.own.len() {
            let Some(inverse) = self.own[place].try_inverse() else { return false };
            self.own[place] = inverse;
            let around = std::mem::take(&mut self.below[place]);
            let later = &self.pattern.later[place];
            for (&p, [lower, _]) in later.iter().zip(&around) {
                let scaled = -product(lower, &inverse);
                for (&q, [_, upper]) in later.iter().zip(&around) {
                    // elimination couples all neighbors of a node
                    if let Some(target) = self.block(p, q) {
                        *target += product(&scaled, upper);
                    }
                }
            }
            self.below[place] = around;
        }
        true
    }

    /// Solves for a right-hand side by node, after [`Self::factor`].
    pub(super) fn solve(&self, right: &[Vector6<f64>]) -> Vec<Vector6<f64>> {
        let Pattern { places, later } = self.pattern;
        let mut x = vec![Vector6::zeros(); right.len()];
        places.iter().zip(right).for_each(|(&place, right)| x[place] = *right);
        for place in 0..x.len() {
            let own = self.own[place] * x[place];
            for (&q, [lower, _]) in later[place].iter().zip(&self.below[place]) {
                x[q] -= lower * own;
            }
        }
        for place in (0..x.len()).rev() {
            let mut own = x[place];
            for (&q, [_, upper]) in later[place].iter().zip(&self.below[place]) {
                own -= upper * x[q];
            }
            x[place] = self.own[place] * own;
        }
        places.iter().map(|&place| x[place]).collect()
    }
}

/// `a b`, column by column.
fn product(a: &Matrix6<f64>, b: &Matrix6<f64>) -> Matrix6<f64> {
    let mut product = Matrix6::zeros();
    let columns: &mut [[f64; 6]; 6] = &mut product.data.0;
    for (column, weights) in columns.iter_mut().zip(&b.data.0) {
        for (own, weight) in a.data.0.iter().zip(weights) {
            // zero rows beyond the rank of a joint
            if *weight != 0.0 {
                for n in 0..6 {
                    column[n] += own[n] * weight;
                }
            }
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    #[test]
    fn a_factor_solves_as_a_dense_one() {
        // a ring of four bodies with a tail that is attached to the ground
        let joints: Vec<[Option<usize>; 2]> =
            [[0, 1], [1, 2], [2, 3], [3, 0], [3, 4]].map(|ends| ends.map(Some)).to_vec();
        let joints = [joints, vec![[Some(4), None]]].concat();
        let (bodies, nodes) = (5, 11);
        let pattern = Pattern::new(bodies, &joints).unwrap();
        let mut blocks = Blocks::new(&pattern);
        let mut dense = DMatrix::zeros(6 * nodes, 6 * nodes);
        let mut seed = 1_u64;
        let mut random = |size: f64| {
            Matrix6::from_fn(|_, _| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                size * ((seed >> 40) as f64 / f64::from(1 << 24) - 0.5)
            })
        };
        let mut add = |p: usize, q: usize, block: &Matrix6<f64>| {
            blocks.add(p, q, block);
            let mut target = dense.view_mut((6 * p, 6 * q), (6, 6));
            target += block;
        };
        (0..bodies).for_each(|i| add(i, i, &(Matrix6::identity() * 3.0 + random(1.0))));
        for (n, ends) in joints.iter().enumerate() {
            // regularizes: six joints have 36 rows, more than the 30 degrees of freedom
            add(bodies + n, bodies + n, &(Matrix6::identity() * 2.0));
            for i in ends.iter().flatten() {
                add(bodies + n, *i, &random(2.0));
                add(*i, bodies + n, &random(2.0));
                for j in ends.iter().flatten() {
                    add(*i, *j, &random(0.2));
                }
            }
        }
        let right: Vec<_> = (0..nodes).map(|_| random(1.0).column(0).into_owned()).collect();
        assert!(blocks.factor());
        let x = blocks.solve(&right);
        let flat = |x: &[Vector6<f64>]| {
            DVector::from_iterator(6 * nodes, x.iter().flat_map(|v| v.iter().copied()))
        };
        let rest = (dense * flat(&x) - flat(&right)).amax();
        assert!(rest < 1e-9, "{rest}");
    }
}
