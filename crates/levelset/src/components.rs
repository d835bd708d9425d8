//! Connected components of sample sets, by runs along k and union-find.

use crate::LevelSet;
use crate::sharing::Union;

/// A component number for every node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// Per node, flat: 0 for background, else 1 to `count` in order of first appearance.
    pub labels: Vec<u32>,
    /// Number of components.
    pub count: usize,
}

/// Components of equal owners: nodes that are adjacent along x, y or z (6-connected) and have the
/// same owner, other than 0, get the same label.
///
/// # Panics
/// If there is not one owner per node of `dims`, or more than `u32::MAX` nodes.
pub fn label_components(dims: [usize; 3], owners: &[u32]) -> Components {
    label(dims, owners, |&owner| owner)
}

impl LevelSet {
    /// Components of the inside samples, 6-connected.
    ///
    /// # Panics
    /// If the grid has more than `u32::MAX` nodes.
    pub fn components(&self) -> Components {
        label(self.grid().dims(), self.as_slice(), |&value| u32::from(value < 0.0))
    }

    /// The inside samples, row by row, as runs of owner 1.
    ///
    /// # Panics
    /// If the grid has more than `u32::MAX` nodes.
    pub fn inside_runs(&self) -> Vec<Run> {
        assert!(u32::try_from(self.as_slice().len()).is_ok(), "too many nodes to number");
        let nz = self.grid().dims()[2];
        let mut runs = Vec::new();
        for (row, samples) in self.as_slice().chunks_exact(nz).enumerate() {
            collect_runs(row * nz, samples, &|&value| u32::from(value < 0.0), &mut runs);
        }
        runs
    }
}

/// Consecutive nodes in one row along k with the same owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Flat index of the first.
    pub start: u32,
    /// One past the flat index of the last, in the same row.
    pub end: u32,
    /// Their owner.
    pub owner: u32,
}

fn label<T>(dims: [usize; 3], samples: &[T], owner: impl Fn(&T) -> u32) -> Components {
    let [nx, ny, nz] = dims;
    assert_eq!(samples.len(), nx * ny * nz, "one owner per node");
    assert!(u32::try_from(samples.len()).is_ok(), "too many nodes to number");
    let mut runs: Vec<Run> = Vec::new();
    let mut union = Union::new(0);
    // first run of each row, and one past the last
    let mut rows: Vec<u32> = Vec::with_capacity(nx * ny + 1);
    for row in 0..nx * ny {
        rows.push(runs.len() as u32);
        collect_runs(row * nz, &samples[row * nz..(row + 1) * nz], &owner, &mut runs);
        union.grow(runs.len());
        let mine = rows[row] as usize..runs.len();
        let range = |row: usize| rows[row] as usize..rows[row + 1] as usize;
        if row % ny > 0 {
            join(&runs, &mut union, mine.clone(), range(row - 1), nz as u32);
        }
        if row >= ny {
            join(&runs, &mut union, mine, range(row - ny), (ny * nz) as u32);
        }
    }
    let mut labels = vec![0; samples.len()];
    let (numbers, count) = union.numbered();
    for (run, number) in runs.iter().zip(numbers) {
        labels[run.start as usize..run.end as usize].fill(number);
    }
    Components { labels, count }
}

fn collect_runs<T>(base: usize, row: &[T], owner: &impl Fn(&T) -> u32, runs: &mut Vec<Run>) {
    let mut at = 0;
    while at < row.len() {
        let mine = owner(&row[at]);
        let len = run_length(&row[at..], mine, owner);
        if mine != 0 {
            runs.push(Run {
                start: (base + at) as u32,
                end: (base + at + len) as u32,
                owner: mine,
            });
        }
        at += len;
    }
}

/// Number of leading samples with this owner; compares several at once.
fn run_length<T>(row: &[T], mine: u32, owner: &impl Fn(&T) -> u32) -> usize {
    let alike = |chunk: &&[T]| chunk.iter().fold(0, |odd, s| odd | (owner(s) ^ mine)) == 0;
    let whole = 16 * row.chunks_exact(16).take_while(alike).count();
    whole + row[whole..].iter().take_while(|s| owner(s) == mine).count()
}

/// Unites the runs of a row with the adjacent ones of an earlier row, `stride` nodes before.
fn join(
    runs: &[Run],
    union: &mut Union,
    mine: std::ops::Range<usize>,
    theirs: std::ops::Range<usize>,
    stride: u32,
) {
    let (mut m, mut t) = (mine.start, theirs.start);
    while m < mine.end && t < theirs.end {
        let (a, b) = (&runs[m], &runs[t]);
        let (b_start, b_end) = (b.start + stride, b.end + stride);
        if a.owner == b.owner && a.start < b_end && b_start < a.end {
            union.join(m as u32, t as u32);
        }
        if a.end < b_end {
            m += 1;
        } else {
            t += 1;
        }
    }
}
