//! How a crack weakens the links around it (Ku07 section 3.2).

use std::collections::VecDeque;

use super::graph::Lattice;
use crate::random::Random;

/// How a broken link weakens others.
///
/// The algorithm of Ku07, but breadth first and with one change per link: as printed it revisits
/// links without bound, and subtracts thousands of times the intended change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Weakening of the neighbors of a broken link, as a share of its strength.
    pub share: f64,
    /// Decay of the change with each step away; between 0 and 1 (alpha).
    pub falloff: f64,
    /// Share of the first change below which the spreading ends (tau).
    pub least: f64,
    /// At each particle one link, chosen at random, loses up to `1 + extra` times as much as the
    /// others; 0 weakens uniformly.
    pub extra: f64,
}

impl Spread {
    /// Weakens links around those that broke, each at most once. A link that broke at a share of
    /// its initial strength changes others by that share: one that only wore down has little left,
    /// and would otherwise weaken the whole body.
    pub(super) fn apply(&self, lattice: &mut Lattice, broken: &[(u32, f64)], random: &mut Random) {
        if !(self.share > 0.0 && self.falloff > 0.0 && self.falloff < 1.0) {
            return;
        }
        let mut changed = vec![false; lattice.links.len()];
        let mut queue: VecDeque<(u32, f64)> = VecDeque::new();
        for &(link, load) in broken {
            changed[link as usize] = true;
            queue.push_back((link, load));
        }
        // links that break simultaneously start together: their changes are shares of the initial
        // strength
        while let Some((link, change)) = queue.pop_front() {
            let change = change * self.falloff;
            if change < self.least {
                continue;
            }
            for end in lattice.links[link as usize].ends {
                let open = lattice.links_of(end).iter().copied();
                let open: Vec<u32> = open.filter(|&other| !changed[other as usize]).collect();
                let chosen = (self.extra > 0.0 && !open.is_empty())
                    .then(|| open[(random.unit() * open.len() as f64) as usize]);
                for other in open {
                    changed[other as usize] = true;
                    let mut loss = change;
                    if Some(other) == chosen {
                        loss *= 1.0 + self.extra * random.unit();
                    } else {
                        queue.push_back((other, change));
                    }
                    let at = other as usize;
                    lattice.strengths[at] -= self.share * loss * lattice.whole[at];
                    lattice.strengths[at] = lattice.strengths[at].max(0.0);
                }
            }
        }
    }
}
