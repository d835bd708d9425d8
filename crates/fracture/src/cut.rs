//! Grid edges that a cut crosses.

use levelset::Run;

/// Adjacent grid edges along one axis, consecutive along k, whose ends are inside the parent and in
/// different pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Lower end of the first edge.
    pub(crate) low: [u32; 3],
    pub(crate) len: u32,
    /// Index of the pair of pieces.
    pub(crate) pair: u32,
    pub(crate) axis: u8,
    /// Whether the lower ends are in the second piece of the pair.
    pub(crate) is_flipped: bool,
}

/// Two pieces, each in one region, with a cut between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) pieces: [u32; 2],
    /// Their regions.
    pub(crate) regions: [u32; 2],
    /// Edges along each axis.
    pub(crate) edges: [Edges; 3],
}

/// Sums over edges along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edges {
    pub(crate) count: u64,
    /// Sums of i, j and k of the lower ends.
    pub(crate) sums: [u64; 3],
}

impl Pair {
    pub(crate) fn add(&mut self, cut: &Cut) {
        let ([i, j, k], len) = (cut.low.map(u64::from), u64::from(cut.len));
        let Edges { count, sums } = &mut self.edges[usize::from(cut.axis)];
        *count += len;
        sums[0] += i * len;
        sums[1] += j * len;
        sums[2] += (2 * k + len - 1) * len / 2;
    }

    /// Number of edges.
    pub(crate) fn size(&self) -> usize {
        self.edges.iter().map(|edges| edges.count as usize).sum()
    }
}

impl Cut {
    /// The values of a pair, with that of the lower ends first.
    pub(crate) fn lower_first<T>(&self, [a, b]: [T; 2]) -> [T; 2] {
        if self.is_flipped { [b, a] } else { [a, b] }
    }
}

/// Two adjacent runs.
#[derive(Clone, Copy)]
pub(crate) struct Adjacency {
    /// The lower one along the axis first.
    pub(crate) runs: [u32; 2],
    /// Lower end of the first edge.
    pub(crate) low: [u32; 3],
    pub(crate) len: u32,
    pub(crate) axis: u8,
}

/// All pairs of adjacent runs along an axis; `rows` has each row's first run.
pub(crate) fn adjacencies(
    [nx, ny, nz]: [usize; 3],
    runs: &[Run],
    rows: &[u32],
    mut found: impl FnMut(Adjacency),
) {
    let range = |row: usize| rows[row]..rows[row + 1];
    for (row, [i, j]) in (0..nx).flat_map(|i| (0..ny).map(move |j| [i, j])).enumerate() {
        let mine = range(row);
        let start = (row * nz) as u32;
        let low = |back: [usize; 2], at: u32| [(i - back[0]) as u32, (j - back[1]) as u32, at];
        for n in mine.start + 1..mine.end {
            let at = runs[n as usize - 1].end;
            if at == runs[n as usize].start {
                let low = low([0, 0], at - 1 - start);
                found(Adjacency { runs: [n - 1, n], low, len: 1, axis: 2 });
            }
        }
        for (axis, back, present) in [(1, [0, 1], j > 0), (0, [1, 0], i > 0)] {
            if !present {
                continue;
            }
            let row = row - back[0] * ny - back[1];
            let (theirs, their_start) = (range(row), (row * nz) as u32);
            let (mut m, mut t) = (mine.start, theirs.start);
            while m < mine.end && t < theirs.end {
                let (a, b) = (runs[m as usize], runs[t as usize]);
                let end = a.end - start;
                let their_end = b.end - their_start;
                let first = (a.start - start).max(b.start - their_start);
                let last = end.min(their_end);
                if first < last {
                    let len = last - first;
                    found(Adjacency { runs: [t, m], low: low(back, first), len, axis });
                }
                if end < their_end {
                    m += 1;
                } else {
                    t += 1;
                }
            }
        }
    }
}
