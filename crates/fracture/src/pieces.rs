//! From owners to pieces: connected, and none too small.

use levelset::{Grid, Moments, NodeCounts, Run, Union};

use crate::body::rows;
use crate::cut::{Cut, touches};
use crate::field::NodeBox;

/// The parent's inside nodes divided into pieces.
pub(crate) struct Pieces {
    /// Per node, flat: 0 outside, else one more than the piece.
    pub(crate) labels: Vec<u32>,
    pub(crate) pieces: Vec<Piece>,
    /// The edges between different pieces.
    pub(crate) cuts: Vec<Cut>,
}

pub(crate) struct Piece {
    /// All regions it has nodes of, sorted.
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
    /// Connected pieces of runs with equal owners (a region + 1), where those of fewer than `least`
    /// nodes went to the neighbour they share most faces with.
    pub(crate) fn new(grid: &Grid, runs: &[Run], least: usize) -> Self {
        let (numbers, components, mut cuts) = connect(grid, runs);
        let sizes: Vec<_> = components.iter().map(|c| c.counts.nodes()).collect();
        let hosts = if sizes.iter().all(|&size| size >= least) {
            (0..components.len()).collect()
        } else {
            hosts(&sizes, least, &faces(components.len(), &cuts))
        };

        let mut place = vec![0; components.len()];
        let mut counts: Vec<NodeCounts> = Vec::new();
        let mut pieces: Vec<Piece> = Vec::new();
        for host in (0..components.len()).filter(|&c| hosts[c] == c) {
            place[host] = pieces.len();
            counts.push(NodeCounts::default());
            pieces.push(Piece {
                parts: Vec::new(),
                moments: Moments::default(),
                nodes: NodeBox { low: grid.dims(), high: [0; 3] },
            });
        }
        for (n, component) in components.iter().enumerate() {
            place[n] = place[hosts[n]];
            counts[place[n]].add(&component.counts);
            let piece = &mut pieces[place[n]];
            piece.parts.push(component.region);
            piece.nodes.grow(component.nodes.low);
            piece.nodes.grow(component.nodes.high.map(|n| n - 1));
        }
        for (piece, counts) in pieces.iter_mut().zip(counts) {
            piece.moments = counts.moments(grid);
            piece.parts.sort_unstable();
            piece.parts.dedup();
        }
        // where none is taken in, components are pieces
        if pieces.len() < components.len() {
            for cut in &mut cuts {
                cut.pieces = cut.pieces.map(|component| place[component as usize] as u32);
            }
            cuts.retain(|cut| cut.pieces[0] != cut.pieces[1]);
        }
        let mut labels = vec![0; grid.node_count()];
        for (run, number) in runs.iter().zip(numbers) {
            let label = place[number as usize - 1] as u32 + 1;
            labels[run.start as usize..run.end as usize].fill(label);
        }
        Self { labels, pieces, cuts }
    }
}

/// Joins the runs that touch and have one owner: a number from 1 for each, the components, and the
/// cuts between them.
fn connect(grid: &Grid, runs: &[Run]) -> (Vec<u32>, Vec<Component>, Vec<Cut>) {
    let [_, ny, nz] = grid.dims();
    let mut union = Union::new(runs.len());
    let mut cuts = Vec::with_capacity(runs.len());
    touches(grid.dims(), runs, &rows(grid.dims(), runs), |touch| {
        let [a, b] = touch.runs.map(|n| n as u32);
        let regions = touch.runs.map(|n| runs[n].owner - 1);
        if regions[0] == regions[1] {
            union.join(a, b);
        } else {
            let (first, len, axis) = (touch.first, touch.len, touch.axis);
            cuts.push(Cut { first, len, axis, regions, pieces: [a, b] });
        }
    });
    let (numbers, count) = union.numbered();
    for cut in &mut cuts {
        cut.pieces = cut.pieces.map(|run| numbers[run as usize] - 1);
    }
    let mut components = Vec::with_capacity(count);
    for (run, &number) in runs.iter().zip(&numbers) {
        // numbers count up in order of first appearance
        if components.len() < number as usize {
            components.push(Component {
                region: run.owner as usize - 1,
                counts: NodeCounts::default(),
                nodes: NodeBox { low: grid.dims(), high: [0; 3] },
            });
        }
        let component = &mut components[number as usize - 1];
        let (row, start) = (run.start as usize / nz, run.start as usize % nz);
        let (i, j, end) = (row / ny, row % ny, start + (run.end - run.start) as usize);
        component.counts.add_run(i, j, start..end);
        component.nodes.grow([i, j, start]);
        component.nodes.grow([i, j, end - 1]);
    }
    (numbers, components, cuts)
}

/// How many faces each pair of `count` components shares, sorted by the lower of each.
fn faces(count: usize, cuts: &[Cut]) -> Vec<([usize; 2], usize)> {
    let mut shared: Vec<Vec<(u32, usize)>> = vec![Vec::new(); count];
    for cut in cuts {
        let [a, b] = cut.pieces;
        *entry(&mut shared[a.min(b) as usize], a.max(b)) += cut.len as usize;
    }
    let pairs = shared.iter().enumerate();
    pairs.flat_map(|(a, others)| others.iter().map(move |&(b, n)| ([a, b as usize], n))).collect()
}

/// The value of `key` among a few.
pub(crate) fn entry<T: Default>(entries: &mut Vec<(u32, T)>, key: u32) -> &mut T {
    let place = entries.iter().position(|(k, _)| *k == key).unwrap_or_else(|| {
        entries.push((key, T::default()));
        entries.len() - 1
    });
    &mut entries[place].1
}

/// For every component the one that takes it in; itself if it is large enough or alone.
///
/// The smallest goes first, to the neighbour it shares most faces with, the lowest of equals.
fn hosts(sizes: &[usize], least: usize, faces: &[([usize; 2], usize)]) -> Vec<usize> {
    let mut sizes = sizes.to_vec();
    let mut hosts: Vec<_> = (0..sizes.len()).collect();
    let mut small: Vec<_> = hosts.iter().copied().filter(|&c| sizes[c] < least).collect();
    while let Some(&next) = small.iter().min_by_key(|&&c| (sizes[c], c)) {
        small.retain(|&c| c != next);
        let mut shared = vec![0; sizes.len()];
        for &([a, b], count) in faces {
            let [a, b] = [hosts[a], hosts[b]];
            if a == next && b != next {
                shared[b] += count;
            } else if b == next && a != next {
                shared[a] += count;
            }
        }
        let Some(&most) = shared.iter().max().filter(|&&most| most > 0) else { continue };
        let host = shared.iter().position(|&n| n == most).unwrap_or(next);
        sizes[host] += sizes[next];
        hosts.iter_mut().filter(|h| **h == next).for_each(|h| *h = host);
        if sizes[host] >= least {
            small.retain(|&c| c != host);
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_components_go_to_the_neighbour_with_most_shared_faces() {
        // 0 (2 nodes) touches 1 by 3 faces and 2 by 5; 3 (1 node) touches 0 only; 4 is alone
        let faces = [([0, 1], 3), ([0, 2], 5), ([0, 3], 1), ([1, 2], 9)];
        assert_eq!(hosts(&[2, 50, 60, 1, 1], 4, &faces), [2, 1, 2, 2, 4]);
        assert_eq!(hosts(&[2, 50, 60, 1, 1], 1, &faces), [0, 1, 2, 3, 4]);
    }
}
