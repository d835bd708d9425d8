//! The contact graph and its levels (GBF03 section 7).

use dynamics::Velocity;

use crate::narrow::contacts::Contacts;
use crate::{Columns, Islands};

/// The level of each body: 0 without a static support, else one above the highest support. Bodies
/// that rest on each other in a cycle share a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Levels {
    levels: Vec<u32>,
}

impl Levels {
    /// A body rests on another if it would penetrate that one under forces alone.
    ///
    /// `velocities` are those without the half-step change by forces, `half_kick`.
    pub(crate) fn new(
        columns: Columns<'_>,
        contacts: &Contacts,
        velocities: &[Velocity],
        half_kick: &[Velocity],
        dt: f64,
    ) -> Self {
        let mut edges = Vec::new();
        for pair in contacts.manifolds() {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let (mut a_on_b, mut b_on_a) = (false, false);
            for c in contacts.of(pair) {
                let [arm_a, arm_b] = &c.arms;
                let u = velocities[a].at(arm_a) - velocities[b].at(arm_b);
                let gap = c.gap + dt * c.normal.dot(&u);
                let pressed = |half_kick: &Velocity, arm, sign: f64| {
                    let towards = -sign * c.normal.dot(&half_kick.at(arm));
                    // a side wall is no support, however deep the bodies overlap
                    towards > 0.1 * half_kick.linear.norm() && gap < dt * towards
                };
                a_on_b |= pressed(&half_kick[a], arm_a, 1.0);
                b_on_a |= pressed(&half_kick[b], arm_b, -1.0);
            }
            if a_on_b && columns.bodies[a].mass_properties().is_some() {
                edges.push((pair.b, pair.a));
            }
            if b_on_a && columns.bodies[b].mass_properties().is_some() {
                edges.push((pair.a, pair.b));
            }
        }
        let pairs: Vec<_> = contacts.manifolds().iter().map(|m| (m.a, m.b)).collect();
        Self::from_supports(columns, &pairs, edges)
    }

    /// `supports` are pairs of a lower body and one that rests on it, among touching `pairs`.
    ///
    /// Bodies that fall together have no support: if the lower one were held, the upper one would
    /// push it without a reaction.
    pub(crate) fn from_supports(
        columns: Columns<'_>,
        pairs: &[(u32, u32)],
        supports: Vec<(u32, u32)>,
    ) -> Self {
        let islands = Islands::new(columns, pairs);
        let mut levels = longest_paths(columns.bodies.len(), supports);
        for (level, island) in levels.iter_mut().zip(islands.of_bodies()) {
            if island.is_some_and(|i| !islands.is_grounded(i)) {
                *level = 0;
            }
        }
        Self { levels }
    }

    /// The level of body `i`.
    pub(crate) fn of(&self, i: u32) -> u32 {
        self.levels[i as usize]
    }

    /// Number of levels.
    pub(crate) fn count(&self) -> u32 {
        self.levels.iter().max().map_or(0, |top| top + 1)
    }
}

/// Longest path from the roots to each node over edges `(from, to)`, counted in strongly connected
/// components.
fn longest_paths(nodes: usize, mut edges: Vec<(u32, u32)>) -> Vec<u32> {
    edges.sort_unstable();
    edges.dedup();
    let component = components(nodes, &edges);
    // Tarjan numbers a component after everything reachable from it, so that descending numbers are
    // a topological order
    let mut level = vec![0; nodes];
    edges.iter_mut().for_each(|(p, q)| (*p, *q) = (component[*p as usize], component[*q as usize]));
    edges.retain(|(from, to)| from != to);
    edges.sort_unstable();
    for &(from, to) in edges.iter().rev() {
        level[to as usize] = level[to as usize].max(level[from as usize] + 1);
    }
    component.iter().map(|&c| level[c as usize]).collect()
}

/// Strongly connected components by Tarjan's algorithm, iterative: stacks of bodies may be tall.
fn components(nodes: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let first: Vec<usize> =
        (0..=nodes).map(|n| edges.partition_point(|&(p, _)| (p as usize) < n)).collect();
    let (mut order, mut low) = (vec![NEW; nodes], vec![0; nodes]);
    let (mut component, mut open) = (vec![NEW; nodes], Vec::new());
    let (mut visited, mut found) = (0, 0);
    for root in 0..nodes {
        if order[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, first[root])];
        while let Some((node, next)) = calls.pop() {
            if next == first[node] {
                (order[node], low[node]) = (visited, visited);
                visited += 1;
                open.push(node);
            } else {
                let child = edges[next - 1].1 as usize;
                low[node] = low[node].min(low[child]);
            }
            let mut edge = next;
            let mut descend = None;
            while edge < first[node + 1] && descend.is_none() {
                let child = edges[edge].1 as usize;
                edge += 1;
                if order[child] == NEW {
                    descend = Some(child);
                } else if component[child] == NEW {
                    low[node] = low[node].min(order[child]);
                }
            }
            if let Some(child) = descend {
                calls.push((node, edge));
                calls.push((child, first[child]));
                continue;
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    component[member] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}
