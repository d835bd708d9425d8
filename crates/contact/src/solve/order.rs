//! The order in which pairs are solved: by colors, so that pairs of one color share no dynamic
//! body, and by levels within a color for shock propagation.

use std::ops::Range;

use crate::Columns;
use crate::lanes::LANES;
use crate::narrow::contacts::{Contacts, Manifold};
use crate::solve::levels::Levels;

/// Limit of colors; pairs beyond it are solved one by one.
pub(crate) const COLORS: u32 = 127;

/// Pairs in batches that are solved in parallel lanes.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// Indices of the manifolds, one batch after the other.
    pairs: Vec<u32>,
    /// Range of each batch in `pairs`.
    batches: Vec<Range<usize>>,
    /// By level, then color.
    groups: Vec<Group>,
    levels: Levels,
    /// For each manifold: see [`Order::is_sparse`].
    sparse: Vec<bool>,
}

/// Batches of one color and level.
#[derive(Clone, Debug)]
struct Group {
    color: u32,
    level: u32,
    batches: Range<usize>,
}

/// Consecutive batches, solved after those before them.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) batches: Range<usize>,
    /// Whether no two of the batches share a dynamic body.
    pub(crate) parallel: bool,
}

impl Order {
    /// Colors the pairs of `contacts` greedily, in their order.
    pub(crate) fn new(columns: Columns<'_>, contacts: &Contacts, levels: Levels) -> Self {
        let colors = colors(columns, contacts.manifolds().iter().map(|pair| (pair.a, pair.b)));
        let key = |(n, &color): (usize, &u32)| {
            let pair = &contacts.manifolds()[n];
            let level = levels.of(pair.a).max(levels.of(pair.b));
            // a batch takes as long as its pair with the most contacts
            (level, color, contacts.of(pair).len() as u32, n as u32)
        };
        let mut keys: Vec<(u32, u32, u32, u32)> = colors.iter().enumerate().map(key).collect();
        keys.sort_unstable();
        let pairs = keys.iter().map(|&(_, _, _, n)| n).collect();
        let (mut batches, mut groups, mut first) = (Vec::new(), Vec::new(), 0);
        for group in keys.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
            let (level, color, ..) = group[0];
            let start = batches.len();
            let size = if color == COLORS { 1 } else { LANES };
            for batch in group.chunks(size) {
                batches.push(first..first + batch.len());
                first += batch.len();
            }
            groups.push(Group { color, level, batches: start..batches.len() });
        }
        let sparse = sparse(columns, contacts, &levels);
        Self { pairs, batches, groups, levels, sparse }
    }

    /// The level of each body.
    pub(crate) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Whether at most [`HOLDERS`] manifolds, including this one, hold a body of it in shock
    /// propagation.
    pub(crate) fn is_sparse(&self, manifold: u32) -> bool {
        self.sparse[manifold as usize]
    }

    /// Number of colors of the pairs.
    pub(crate) fn colors(&self) -> u32 {
        self.groups.iter().map(|group| group.color + 1).max().unwrap_or(0)
    }

    /// The manifolds of each batch.
    pub(crate) fn batches(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.batches.iter().map(|range| &self.pairs[range.clone()])
    }

    /// All batches, from the ground up.
    pub(crate) fn stages(&self) -> impl Iterator<Item = Stage> {
        self.groups.iter().map(Group::stage)
    }

    /// The batches of each level above 0, from the ground up.
    pub(crate) fn by_level(&self) -> impl Iterator<Item = Vec<Stage>> {
        let levels = self.groups.chunk_by(|p, q| p.level == q.level);
        let above = levels.filter(|groups| groups[0].level > 0);
        above.map(|groups| groups.iter().map(Group::stage).collect())
    }
}

impl Group {
    fn stage(&self) -> Stage {
        Stage { batches: self.batches.clone(), parallel: self.color < COLORS }
    }
}

/// Largest number of pairs that hold a body of a sparse manifold: a tower has one, a house of cards
/// two.
const HOLDERS: u32 = 2;

/// For each manifold: whether few manifolds hold a body of it, as shock propagation ascends by
/// levels.
fn sparse(columns: Columns<'_>, contacts: &Contacts, levels: &Levels) -> Vec<bool> {
    let mut holders = vec![0u32; columns.bodies.len()];
    let held = |a: u32, b: u32| {
        let level = levels.of(a).max(levels.of(b));
        [a, b].into_iter().filter(move |&i| levels.of(i) == level).map(|i| i as usize)
    };
    for pair in contacts.manifolds() {
        held(pair.a, pair.b).for_each(|i| holders[i] += 1);
    }
    let is_sparse = |pair: &Manifold| held(pair.a, pair.b).any(|i| holders[i] <= HOLDERS);
    contacts.manifolds().iter().map(is_sparse).collect()
}

/// The color of each pair: the lowest that no earlier pair of its dynamic bodies has.
pub(crate) fn colors(columns: Columns<'_>, pairs: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    let moves: Vec<bool> =
        columns.bodies.iter().map(|body| body.mass_properties().is_some()).collect();
    let mut taken = vec![0u128; moves.len()];
    let color = |(a, b): (u32, u32)| {
        let bodies = [a as usize, b as usize];
        let used = bodies.iter().filter(|&&i| moves[i]).fold(0, |used, &i| used | taken[i]);
        let color = used.trailing_ones().min(COLORS);
        for i in bodies {
            taken[i] |= 1 << color;
        }
        color
    };
    pairs.map(color).collect()
}
