//! From owners to pieces: connected, and none too small.

use levelset::{Grid, Moments, label_components, label_moments};

use crate::cut::{Cut, cuts};
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

impl Pieces {
    /// Connected pieces of equal `owners` (0 is outside, else a region + 1), where those of fewer
    /// than `least` nodes went to the neighbour they share most faces with.
    pub(crate) fn new(grid: &Grid, owners: &[u32], least: usize) -> Self {
        let components = label_components(grid.dims(), owners);
        let (mut labels, count) = (components.labels, components.count);
        let moments = label_moments(grid, &labels, count);
        let mut cuts = cuts(grid.dims(), &labels);
        let sizes: Vec<_> =
            moments.iter().map(|m| (m.volume / grid.cell_volume()).round() as usize).collect();
        let (regions, boxes) = parts(grid, owners, &labels, count);
        let hosts = if sizes.iter().all(|&size| size >= least) {
            (0..count).collect()
        } else {
            hosts(&sizes, least, &faces(grid, &labels, &cuts))
        };

        let mut place = vec![0; count];
        let mut pieces = Vec::new();
        for host in (0..count).filter(|&c| hosts[c] == c) {
            place[host] = pieces.len();
            pieces.push(Piece {
                parts: Vec::new(),
                moments: Moments::default(),
                nodes: NodeBox { low: grid.dims(), high: [0; 3] },
            });
        }
        for component in 0..count {
            place[component] = place[hosts[component]];
            let piece = &mut pieces[place[component]];
            piece.parts.push(regions[component]);
            piece.moments = piece.moments + moments[component];
            piece.nodes.grow(boxes[component].low);
            piece.nodes.grow(boxes[component].high.map(|n| n - 1));
        }
        for piece in &mut pieces {
            piece.parts.sort_unstable();
            piece.parts.dedup();
        }
        if pieces.len() < count {
            for label in labels.iter_mut().filter(|label| **label != 0) {
                *label = place[*label as usize - 1] as u32 + 1;
            }
            cuts.retain(|cut| {
                let [a, b] = cut.ends().map(|node| labels[grid.index(node)]);
                a != b
            });
        }
        Self { labels, pieces, cuts }
    }
}

/// Region and box of every component.
fn parts(grid: &Grid, owners: &[u32], labels: &[u32], count: usize) -> (Vec<usize>, Vec<NodeBox>) {
    let [_, ny, nz] = grid.dims();
    let mut regions = vec![0; count];
    let mut boxes = vec![NodeBox { low: grid.dims(), high: [0; 3] }; count];
    for (row, labels) in labels.chunks_exact(nz).enumerate() {
        let mut start = 0;
        for run in labels.chunk_by(|a, b| a == b) {
            if let Some(component) = (run[0] as usize).checked_sub(1) {
                regions[component] = owners[row * nz + start] as usize - 1;
                let (i, j) = (row / ny, row % ny);
                boxes[component].grow([i, j, start]);
                boxes[component].grow([i, j, start + run.len() - 1]);
            }
            start += run.len();
        }
    }
    (regions, boxes)
}

/// How many faces each pair of components shares, sorted by pair.
fn faces(grid: &Grid, labels: &[u32], cuts: &[Cut]) -> Vec<([usize; 2], usize)> {
    let mut pairs: Vec<_> = cuts
        .iter()
        .map(|cut| {
            let mut pair = cut.ends().map(|node| labels[grid.index(node)] as usize - 1);
            pair.sort_unstable();
            pair
        })
        .collect();
    pairs.sort_unstable();
    let mut faces: Vec<([usize; 2], usize)> = Vec::new();
    for pair in pairs {
        match faces.last_mut() {
            Some((last, count)) if *last == pair => *count += 1,
            _ => faces.push((pair, 1)),
        }
    }
    faces
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
