//! Crossing lines, split so that they meet only at their ends.

use super::error::{MAX_LINES, OutlineFileError};

/// Maximum number of rounds. Rounding an intersection to the grid moves lines by less than a cell:
/// one to three rounds suffice.
const MAX_ROUNDS: usize = 50;

/// A directed line of the outline of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) ends: [[i64; 2]; 2],
    pub(super) region: u32,
}

/// A point where a line is split. Cuts are ordered by the index of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cut {
    line: usize,
    point: [i64; 2],
}

/// Splits lines at all points where they meet, rounded to the grid.
pub(super) fn split(mut lines: Vec<Line>) -> Result<Vec<Line>, OutlineFileError> {
    for _ in 0..MAX_ROUNDS {
        let mut cuts = cuts(&mut lines)?;
        if cuts.is_empty() {
            return Ok(lines);
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut divided = Vec::with_capacity(lines.len() + cuts.len());
        let mut rest = &cuts[..];
        for (n, line) in lines.iter().enumerate() {
            let count = rest.partition_point(|cut| cut.line <= n);
            let (own, after) = rest.split_at(count);
            rest = after;
            let [start, end] = line.ends;
            let mut points: Vec<[i64; 2]> = own.iter().map(|cut| cut.point).collect();
            points.sort_by_cached_key(|p| along(&line.ends, *p));
            let all = [&[start], &points[..], &[end]].concat();
            let parts = all.windows(2).map(|pair| [pair[0], pair[1]]).filter(|[a, b]| a != b);
            divided.extend(parts.map(|ends| Line { ends, region: line.region }));
        }
        lines = divided;
        if lines.len() > MAX_LINES {
            return Err(OutlineFileError::TooManyCrossings);
        }
    }
    Err(OutlineFileError::TooManyCrossings)
}

/// Position of a point along a line, times the length of the line.
fn along([a, b]: &[[i64; 2]; 2], p: [i64; 2]) -> i64 {
    (p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1])
}

/// Side of a line that a point is on: positive on the left.
fn side([a, b]: &[[i64; 2]; 2], p: [i64; 2]) -> i64 {
    (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
}

/// Whether a line, or its extension, passes through the cell around a point on this side of it.
///
/// Such lines snap to the vertex at the point (snap rounding, Hobby 1999). Otherwise lines at a
/// small angle cross again after each rounding.
fn is_near([a, b]: &[[i64; 2]; 2], side: i64) -> bool {
    2 * side.abs() <= (b[0] - a[0]).abs() + (b[1] - a[1]).abs()
}

/// The points within each line where it meets others; sorts the lines.
fn cuts(lines: &mut [Line]) -> Result<Vec<Cut>, OutlineFileError> {
    let range = |line: &Line, k: usize| {
        let [a, b] = line.ends.map(|end| end[k]);
        [a.min(b), a.max(b)]
    };
    lines.sort_by_key(|line| (range(line, 0), line.ends, line.region));
    let mut cuts = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let ([_, right], [low, high]) = (range(line, 0), range(line, 1));
        let later = lines.iter().enumerate().skip(n + 1);
        for (m, other) in later.take_while(|(_, other)| range(other, 0)[0] <= right) {
            let [other_low, other_high] = range(other, 1);
            if other_low > high || other_high < low {
                continue;
            }
            add_meeting_cuts(lines, n, m, &mut cuts);
        }
        if cuts.len() > 2 * MAX_LINES {
            return Err(OutlineFileError::TooManyCrossings);
        }
    }
    Ok(cuts)
}

/// Adds cuts at the points where lines `n` and `m` meet, except at ends of a line.
fn add_meeting_cuts(lines: &[Line], n: usize, m: usize, cuts: &mut Vec<Cut>) {
    let (a, b) = (&lines[n].ends, &lines[m].ends);
    let of_b = a.map(|end| side(b, end));
    let of_a = b.map(|end| side(a, end));
    let is_within = |line: &[[i64; 2]; 2], p: [i64; 2]| {
        let place = along(line, p);
        place > 0 && place < along(line, line[1]) && !line.contains(&p)
    };
    let mut touches = false;
    for k in 0..2 {
        if is_near(b, of_b[k]) {
            touches = true;
            if is_within(b, a[k]) {
                cuts.push(Cut { line: m, point: a[k] });
            }
        }
        if is_near(a, of_a[k]) {
            touches = true;
            if is_within(a, b[k]) {
                cuts.push(Cut { line: n, point: b[k] });
            }
        }
    }
    let is_crossed = |sides: [i64; 2]| (sides[0] > 0) != (sides[1] > 0);
    if touches || !is_crossed(of_a) || !is_crossed(of_b) {
        return;
    }
    let share = of_b[0] as f64 / (of_b[0] as f64 - of_b[1] as f64);
    let point = [0, 1].map(|k| a[0][k] + (share * (a[1][k] - a[0][k]) as f64).round() as i64);
    for line in [n, m] {
        // if rounded to an end, the other line bends to it
        if !lines[line].ends.contains(&point) {
            cuts.push(Cut { line, point });
        }
    }
}
