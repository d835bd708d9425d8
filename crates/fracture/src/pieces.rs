//! From owners to connected pieces of sufficient size.

use levelset::{Grid, Moments, NodeCounts, Run, Union};

use crate::body::rows;
use crate::cut::{Adjacency, Cut, Pair, adjacencies};
use crate::node_box::NodeBox;

/// The parent's inside nodes divided into pieces.
pub(crate) struct Pieces {
    /// For each node, flat: 0 outside, else the piece plus one.
    pub(crate) labels: Vec<u32>,
    pub(crate) pieces: Vec<Piece>,
    /// The edges between different pieces.
    pub(crate) cuts: Vec<Cut>,
    /// The adjacent pieces of cuts; some of those were merged into one piece, and some into the
    /// same two.
    pub(crate) pairs: Vec<Pair>,
}

pub(crate) struct Piece {
    /// All regions in which it has nodes, sorted.
    pub(crate) parts: Vec<usize>,
    pub(crate) moments: Moments,
    pub(crate) nodes: NodeBox,
}

/// Connected nodes of one region.
struct Component {
    region: usize,
    counts: NodeCounts,
    nodes: NodeBox,
}

impl Pieces {
    /// Connected pieces of runs with equal owners (a region + 1), where those with fewer than
    /// `least` nodes are merged with the neighbor with the most common faces.
    pub(crate) fn new(grid: &Grid, runs: &[Run], least: usize) -> Self {
        let Connected { numbers, components, mut cuts, mut pairs } = Connected::new(grid, runs);
        let sizes: Vec<_> = components.iter().map(|c| c.counts.nodes()).collect();
        let targets = if sizes.iter().all(|&size| size >= least) {
            (0..components.len()).collect()
        } else {
            merge_targets(&sizes, least, &pairs)
        };

        let mut place = vec![0; components.len()];
        let mut counts: Vec<NodeCounts> = Vec::new();
        let mut pieces: Vec<Piece> = Vec::new();
        for target in (0..components.len()).filter(|&c| targets[c] == c) {
            place[target] = pieces.len();
            counts.push(NodeCounts::default());
            pieces.push(Piece {
                parts: Vec::new(),
                moments: Moments::default(),
                nodes: NodeBox { low: grid.dims(), high: [0; 3] },
            });
        }
        for (n, component) in components.iter().enumerate() {
            place[n] = place[targets[n]];
            counts[place[n]].add(&component.counts);
            let piece = &mut pieces[place[n]];
            piece.parts.push(component.region);
            piece.nodes.grow(&component.nodes);
        }
        for (piece, counts) in pieces.iter_mut().zip(counts) {
            piece.moments = counts.moments(grid);
            piece.parts.sort_unstable();
            piece.parts.dedup();
        }
        // without merges, components are pieces
        if pieces.len() < components.len() {
            for pair in &mut pairs {
                pair.pieces = pair.pieces.map(|component| place[component as usize] as u32);
            }
            cuts.retain(|cut| {
                let [a, b] = pairs[cut.pair as usize].pieces;
                a != b
            });
        }
        let mut labels = vec![0; grid.node_count()];
        for (run, number) in runs.iter().zip(numbers) {
            let label = place[number as usize - 1] as u32 + 1;
            labels[run.start as usize..run.end as usize].fill(label);
        }
        Self { labels, pieces, cuts, pairs }
    }
}

/// Components before any merge.
struct Connected {
    /// The number of each run's component, from 1.
    numbers: Vec<u32>,
    components: Vec<Component>,
    /// Between components.
    cuts: Vec<Cut>,
    /// Likewise.
    pairs: Vec<Pair>,
}

impl Connected {
    /// Joins adjacent runs with one owner.
    fn new(grid: &Grid, runs: &[Run]) -> Self {
        let rows = rows(grid.dims(), runs);
        let mut union = Union::new(runs.len());
        let mut apart: Vec<Adjacency> = Vec::with_capacity(runs.len());
        adjacencies(grid.dims(), runs, &rows, |adjacency| {
            let [a, b] = adjacency.runs;
            if runs[a as usize].owner == runs[b as usize].owner {
                union.join(a, b);
            } else {
                apart.push(adjacency);
            }
        });
        let (numbers, count) = union.numbered();
        let components = components(grid, runs, &rows, (&numbers, count));
        let mut pairs = Vec::new();
        // by their lower components
        let mut known: Vec<Vec<(u32, u32)>> = vec![Vec::new(); count];
        let cuts = apart.into_iter().map(|Adjacency { runs, low, len, axis }| {
            let [a, b] = runs.map(|run| numbers[run as usize] - 1);
            let others = &mut known[a.min(b) as usize];
            let found = others.iter().find(|(other, _)| *other == a.max(b));
            let pair = found.map_or(pairs.len() as u32, |(_, pair)| *pair);
            if pair as usize == pairs.len() {
                others.push((a.max(b), pair));
                let pieces = [a.min(b), a.max(b)];
                let regions = pieces.map(|component| components[component as usize].region as u32);
                pairs.push(Pair { pieces, regions, edges: Default::default() });
            }
            let cut = Cut { low, len, pair, axis, is_flipped: a > b };
            pairs[pair as usize].add(&cut);
            cut
        });
        Self { cuts: cuts.collect(), numbers, components, pairs }
    }
}

fn components(
    grid: &Grid,
    runs: &[Run],
    rows: &[u32],
    (numbers, count): (&[u32], usize),
) -> Vec<Component> {
    let [nx, ny, nz] = grid.dims();
    let mut components: Vec<Component> = Vec::with_capacity(count);
    for (row, [i, j]) in (0..nx).flat_map(|i| (0..ny).map(move |j| [i, j])).enumerate() {
        let range = rows[row] as usize..rows[row + 1] as usize;
        for (run, &number) in runs[range.clone()].iter().zip(&numbers[range]) {
            // numbers increase in order of first appearance
            if components.len() < number as usize {
                components.push(Component {
                    region: run.owner as usize - 1,
                    counts: NodeCounts::default(),
                    nodes: NodeBox { low: grid.dims(), high: [0; 3] },
                });
            }
            let component = &mut components[number as usize - 1];
            let ks = run.start as usize - row * nz..run.end as usize - row * nz;
            component.nodes.grow(&NodeBox::run([i, j], &ks));
            component.counts.add_run(i, j, ks);
        }
    }
    components
}

/// For every component the one that absorbs it; itself if it is large enough or alone.
///
/// The smallest goes first, to the neighbor with the most common faces, the lowest among equals.
fn merge_targets(sizes: &[usize], least: usize, pairs: &[Pair]) -> Vec<usize> {
    let mut sizes = sizes.to_vec();
    let mut targets: Vec<_> = (0..sizes.len()).collect();
    let mut small: Vec<_> = targets.iter().copied().filter(|&c| sizes[c] < least).collect();
    while let Some(&next) = small.iter().min_by_key(|&&c| (sizes[c], c)) {
        small.retain(|&c| c != next);
        let mut shared = vec![0; sizes.len()];
        for pair in pairs {
            let [a, b] = pair.pieces.map(|component| targets[component as usize]);
            if a == next && b != next {
                shared[b] += pair.size();
            } else if b == next && a != next {
                shared[a] += pair.size();
            }
        }
        let Some(&most) = shared.iter().max().filter(|&&most| most > 0) else { continue };
        let target = shared.iter().position(|&n| n == most).unwrap_or(next);
        sizes[target] += sizes[next];
        targets.iter_mut().filter(|h| **h == next).for_each(|h| *h = target);
        if sizes[target] >= least {
            small.retain(|&c| c != target);
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cut::Edges;

    #[test]
    fn small_components_go_to_the_neighbor_with_most_shared_faces() {
        // 0 (2 nodes) touches 1 by 3 faces and 2 by 5; 3 (1 node) touches 0 only; 4 is alone
        let pairs = [([0, 1], 3), ([0, 2], 5), ([0, 3], 1), ([1, 2], 9)].map(|(pieces, count)| {
            let along_x = Edges { count, ..Edges::default() };
            Pair { pieces, regions: pieces, edges: [along_x, Edges::default(), Edges::default()] }
        });
        assert_eq!(merge_targets(&[2, 50, 60, 1, 1], 4, &pairs), [2, 1, 2, 2, 4]);
        assert_eq!(merge_targets(&[2, 50, 60, 1, 1], 1, &pairs), [0, 1, 2, 3, 4]);
    }
}
