//! The pairs of each body.

use crate::narrow::contacts::{Contacts, Manifold};

/// The pairs of each body.
pub(super) struct PairsByBody {
    first: Vec<u32>,
    pairs: Vec<u32>,
}

impl PairsByBody {
    pub(super) fn new(contacts: &Contacts, bodies: usize) -> Self {
        let sides = |m: &Manifold| [m.a as usize, m.b as usize];
        let mut first = vec![0; bodies + 1];
        for i in contacts.manifolds().iter().flat_map(sides) {
            first[i + 1] += 1;
        }
        for i in 0..bodies {
            first[i + 1] += first[i];
        }
        let (mut next, mut pairs) = (first.clone(), vec![0; 2 * contacts.manifolds().len()]);
        for (number, manifold) in (0..).zip(contacts.manifolds()) {
            for i in sides(manifold) {
                pairs[next[i] as usize] = number;
                next[i] += 1;
            }
        }
        Self { first, pairs }
    }

    /// The numbers of the pairs of a body.
    pub(super) fn of(&self, i: usize) -> &[u32] {
        &self.pairs[self.first[i] as usize..self.first[i + 1] as usize]
    }
}
