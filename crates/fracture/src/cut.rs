//! Grid edges that a cut crosses.

use levelset::Run;

/// Edges of the grid along one axis, next to each other along k, whose ends are inside the parent
/// and in different pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Flat index of the first edge's lower end.
    pub(crate) first: u32,
    pub(crate) len: u32,
    pub(crate) axis: u8,
    /// Of the lower ends, then of the upper.
    pub(crate) regions: [u32; 2],
    /// Likewise.
    pub(crate) pieces: [u32; 2],
}

/// Two runs that touch.
pub(crate) struct Touch {
    /// The lower along the axis first.
    pub(crate) runs: [usize; 2],
    /// Flat index of the first edge's lower end.
    pub(crate) first: u32,
    pub(crate) len: u32,
    pub(crate) axis: u8,
}

/// All pairs of runs that touch along an axis; `rows` has each row's first run.
pub(crate) fn touches(
    [_, ny, nz]: [usize; 3],
    runs: &[Run],
    rows: &[u32],
    mut found: impl FnMut(Touch),
) {
    let range = |row: usize| rows[row] as usize..rows[row + 1] as usize;
    for row in 0..rows.len() - 1 {
        let mine = range(row);
        for n in mine.start + 1..mine.end {
            let first = runs[n - 1].end - 1;
            if first + 1 == runs[n].start {
                found(Touch { runs: [n - 1, n], first, len: 1, axis: 2 });
            }
        }
        for (axis, back, present) in [(1, 1, row % ny > 0), (0, ny, row >= ny)] {
            if !present {
                continue;
            }
            let stride = (back * nz) as u32;
            let theirs = range(row - back);
            let (mut m, mut t) = (mine.start, theirs.start);
            while m < mine.end && t < theirs.end {
                let (start, end) = (runs[m].start - stride, runs[m].end - stride);
                let first = start.max(runs[t].start);
                let last = end.min(runs[t].end);
                if first < last {
                    found(Touch { runs: [t, m], first, len: last - first, axis });
                }
                if end < runs[t].end {
                    m += 1;
                } else {
                    t += 1;
                }
            }
        }
    }
}
