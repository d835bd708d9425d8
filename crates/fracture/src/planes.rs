//! A convex region on the nodes of the parent's grid.

use std::ops::Range;

use levelset::Grid;
use nalgebra::Vector3;

use crate::cell::Plane;
use crate::node_box::NodeBox;
use crate::rows::lower;

/// A plane in the coordinates of a grid: its value at node `n` is `at + step . n`, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodePlane {
    pub(crate) at: f64,
    pub(crate) step: Vector3<f64>,
}

impl NodePlane {
    pub(crate) fn new(plane: &Plane, grid: &Grid) -> Self {
        Self { at: plane.value(&grid.origin()), step: plane.normal * grid.spacing() }
    }

    pub(crate) fn value(&self, [i, j, k]: [usize; 3]) -> f64 {
        self.at + self.step.x * i as f64 + self.step.y * j as f64 + self.step.z * k as f64
    }

    pub(crate) fn flipped(&self) -> Self {
        Self { at: -self.at, step: -self.step }
    }

    /// The least value in a box.
    fn least(&self, nodes: &NodeBox) -> f64 {
        self.value(std::array::from_fn(|a| {
            if self.step[a] > 0.0 { nodes.low[a] } else { nodes.high[a] - 1 }
        }))
    }
}

/// A convex region: where all planes are zero or less.
pub(crate) struct Planes {
    /// It owns no node outside of these.
    pub(crate) nodes: NodeBox,
    planes: Vec<NodePlane>,
    /// Bounds of the rows of a slab and of the nodes of a row.
    bounds: [Bounds; 2],
}

/// Crossings of planes, moved out by the margin, with a line of nodes along one axis.
#[derive(Default)]
struct Bounds {
    /// Crossings beyond which the line is outside.
    below: Vec<Crossing>,
    /// Crossings up to which it is outside.
    above: Vec<Crossing>,
    /// Planes along the line: all of it is outside where they are negative.
    along: Vec<Crossing>,
}

/// A crossing at `zero + step . n` for `n` of the previous axes.
struct Crossing {
    zero: f64,
    step: [f64; 2],
}

impl Bounds {
    /// Bounds by planes with values `at + step . n`, which are inside where those are zero or less.
    fn new(axis: usize, planes: impl Iterator<Item = (f64, Vector3<f64>)>) -> Self {
        let mut bounds = Self::default();
        for (at, step) in planes {
            let along = step[axis];
            let scale = if along == 0.0 { -1.0 } else { -1.0 / along };
            let crossing = Crossing { zero: at * scale, step: [step.x * scale, step.y * scale] };
            if along > 0.0 {
                bounds.below.push(crossing);
            } else if along < 0.0 {
                bounds.above.push(crossing);
            } else {
                bounds.along.push(crossing);
            }
        }
        bounds
    }

    /// The inside nodes of `low..high` of a line at `x` that only steps along x move.
    fn within(&self, x: f64, low: usize, high: usize) -> Range<usize> {
        let at = |c: &Crossing| c.zero + c.step[0] * x;
        if self.along.iter().any(|crossing| at(crossing) < 0.0) {
            return 0..0;
        }
        within(self.below.iter().map(at), self.above.iter().map(at), low, high)
    }

    /// The crossings of lines at `x`, for rows from the first to the last of `rows`, without the
    /// many that are nearest in no row.
    fn seen_from(&self, x: f64, rows: [f64; 2], kept: &mut Nearest) {
        let Nearest { below, above, along } = kept;
        let seen = |c: &Crossing| SlabCrossing { zero: c.zero + c.step[0] * x, step: c.step[1] };
        let ends = |c: &SlabCrossing| rows.map(|y| c.at(y));
        let least = |[a, b]: [f64; 2]| if b < a { b } else { a };
        let most = |[a, b]: [f64; 2]| if b > a { b } else { a };
        let nearest = self.below.iter().map(|c| most(ends(&seen(c))));
        let bound = nearest.fold(f64::INFINITY, |a, b| least([a, b]));
        below.clear();
        below.extend(self.below.iter().map(seen).filter(|c| least(ends(c)) <= bound));
        let nearest = self.above.iter().map(|c| least(ends(&seen(c))));
        let bound = nearest.fold(f64::NEG_INFINITY, |a, b| most([a, b]));
        above.clear();
        above.extend(self.above.iter().map(seen).filter(|c| most(ends(c)) >= bound));
        along.clear();
        along.extend(self.along.iter().map(seen));
    }
}

/// Buffers of [`Planes::runs`]: crossings in a slab.
#[derive(Default)]
pub(crate) struct Nearest {
    below: Vec<SlabCrossing>,
    above: Vec<SlabCrossing>,
    along: Vec<SlabCrossing>,
}

/// A crossing at `zero + step * j`.
struct SlabCrossing {
    zero: f64,
    step: f64,
}

impl SlabCrossing {
    fn at(&self, y: f64) -> f64 {
        self.zero + self.step * y
    }
}

impl Nearest {
    /// Narrows the first and last places of the row `y` and the rows after it to places inside; the
    /// last is less than the first where none is inside.
    #[inline(always)]
    fn clip(&self, y: f64, [first, last]: &mut [[f64; ROWS]; 2]) {
        let at = |c: &SlabCrossing| -> [f64; ROWS] { std::array::from_fn(|n| c.at(y + n as f64)) };
        for crossing in self.below.iter().map(at) {
            for (last, x) in last.iter_mut().zip(crossing) {
                *last = if x < *last { x } else { *last };
            }
        }
        for crossing in self.above.iter().map(at) {
            for (first, x) in first.iter_mut().zip(crossing) {
                *first = if x > *first { x } else { *first };
            }
        }
        for crossing in self.along.iter().map(at) {
            for (last, x) in last.iter_mut().zip(crossing) {
                *last = if x < 0.0 { -1.0 } else { *last };
            }
        }
    }
}

/// Number of rows clipped together.
const ROWS: usize = 8;

/// The nodes of `low..high` up to all of `below` and from all of `above`.
fn within(
    below: impl Iterator<Item = f64>,
    above: impl Iterator<Item = f64>,
    low: usize,
    high: usize,
) -> Range<usize> {
    let (mut first, mut last) = (low as f64, high as f64 - 1.0);
    for crossing in below {
        last = if crossing < last { crossing } else { last };
    }
    for crossing in above {
        first = if crossing > first { crossing } else { first };
    }
    between(first, last)
}

/// The whole numbers from `first`, which is not less than zero, to `last`.
#[inline(always)]
fn between(first: f64, last: f64) -> Range<usize> {
    if first > last {
        return 0..0;
    }
    // the two are between whole numbers of nodes, which are no less than zero
    let (floor, last) = (first as usize, last as usize);
    floor + usize::from((floor as f64) < first)..last + 1
}

impl Planes {
    /// `None` if all of `nodes` are outside one of the planes. A node up to `margin` meters outside
    /// the region counts as inside.
    pub(crate) fn new(planes: Vec<NodePlane>, nodes: NodeBox, margin: f64) -> Option<Self> {
        if nodes.len() == 0 || planes.iter().any(|plane| plane.least(&nodes) > margin) {
            return None;
        }
        let slab = planes.iter().map(|p| {
            let k = if p.step.z > 0.0 { nodes.low[2] } else { nodes.high[2] - 1 };
            (p.value([0, 0, k]) - margin, Vector3::new(p.step.x, p.step.y, 0.0))
        });
        let slab = Bounds::new(1, slab);
        let row = Bounds::new(2, planes.iter().map(|p| (p.at - margin, p.step)));
        Some(Self { nodes, planes, bounds: [slab, row] })
    }

    /// The plane with this region below and `other` above, if it is one: regions that meet across
    /// an edge share two.
    pub(crate) fn towards(&self, other: &Self) -> Option<NodePlane> {
        let mut shared = self.planes.iter().filter(|plane| other.planes.contains(&plane.flipped()));
        shared.next().filter(|_| shared.next().is_none()).copied()
    }

    pub(crate) fn value(&self, node: [usize; 3]) -> f64 {
        self.planes.iter().map(|plane| plane.value(node)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Calls `found(j, ks)` for the rows of slab `i` with nodes of the region in `wanted[j]`, and
    /// those nodes, including nodes within the margin of the region. `nearest` is a buffer.
    #[inline(always)]
    pub(crate) fn runs(
        &self,
        i: usize,
        wanted: &[Range<usize>],
        nearest: &mut Nearest,
        mut found: impl FnMut(usize, Range<usize>),
    ) {
        let NodeBox { low, high } = self.nodes;
        if !(low[0]..high[0]).contains(&i) {
            return;
        }
        let x = i as f64;
        let rows = self.bounds[0].within(x, low[1], high[1]);
        if rows.is_empty() {
            return;
        }
        self.bounds[1].seen_from(x, [rows.start as f64, (rows.end - 1) as f64], nearest);
        for first in rows.clone().step_by(ROWS) {
            let mut ends = [[0.0; ROWS], [-1.0; ROWS]];
            for (n, wanted) in wanted[first..rows.end.min(first + ROWS)].iter().enumerate() {
                ends[0][n] = wanted.start.max(low[2]) as f64;
                ends[1][n] = wanted.end.min(high[2]) as f64 - 1.0;
            }
            nearest.clip(first as f64, &mut ends);
            let [lows, highs] = ends;
            for (row, (low, high)) in (first..).zip(lows.into_iter().zip(highs)) {
                let ks = between(low, high);
                if !ks.is_empty() {
                    found(row, ks);
                }
            }
        }
    }

    /// Writes the region's values over `slab`, the nodes of `nodes` in slab `i`, or if `is_more`
    /// the lesser of both.
    #[inline(always)]
    pub(crate) fn write(
        &self,
        (i, nodes): (usize, &NodeBox),
        slab: &mut [f32],
        is_more: bool,
        lines: &mut Lines,
    ) {
        let pitch = pitch(nodes);
        let [_, rows, lanes] = nodes.dims();
        let corner = [i, nodes.low[1], nodes.low[2]];
        let all =
            self.planes.iter().map(|p| Line { at: p.value(corner), step: [p.step.y, p.step.z] });
        lines.keep_upper(all, [rows, lanes]);
        for (j, rows) in slab.chunks_mut(TILE_ROWS * pitch).enumerate() {
            lines.seen_from_row(j * TILE_ROWS);
            for k in (0..pitch).step_by(LANES) {
                let kept = lines.upper_in_tile([j * TILE_ROWS, k]);
                for (row, values) in rows.chunks_exact_mut(pitch).enumerate() {
                    let values = &mut values[k..k + LANES];
                    let most = greatest(kept, row);
                    if is_more {
                        lower(values, &most);
                    } else {
                        values.copy_from_slice(&most);
                    }
                }
            }
        }
    }
}

/// The greatest of lines at the first nodes of a row.
#[inline(always)]
fn greatest(lines: &[Line], row: usize) -> [f32; LANES] {
    let mut most = [f32::NEG_INFINITY; LANES];
    for Line { at, step } in lines {
        let (at, step) = ((at + step[0] * row as f64) as f32, step[1] as f32);
        for (most, x) in most.iter_mut().zip(RAMP) {
            let value = at + step * x;
            *most = if value > *most { value } else { *most };
        }
    }
    most
}

/// A plane in a slab: its value at node `n` of it is `at + step . n`.
#[derive(Clone, Copy)]
struct Line {
    at: f64,
    step: [f64; 2],
}

impl Line {
    /// The same line relative to another node.
    #[inline(always)]
    fn from(self, first: [usize; 2]) -> Self {
        let shift = self.step[0] * first[0] as f64 + self.step[1] * first[1] as f64;
        Self { at: self.at + shift, step: self.step }
    }

    /// The value at the center of the part of the slab that begins at node `[0, 0]`, and the
    /// largest deviation from it in the part.
    fn spread(&self, dims: [usize; 2]) -> [f64; 2] {
        let half = dims.map(|n| (n as f64 - 1.0) / 2.0);
        let [y, z] = self.step;
        [self.at + y * half[0] + z * half[1], y.abs() * half[0] + z.abs() * half[1]]
    }
}

/// Four lines in tiles of a slab, whose values deviate from that at the center by at most `radius`.
struct Four {
    /// Of the tile that begins at node `[0, 0]`.
    middle: [f64; 4],
    /// Of the first tile of a row of them.
    in_row: [f64; 4],
    step: [[f64; 4]; 2],
    radius: [f64; 4],
}

/// Buffers of [`Planes::write`]: the planes that are uppermost somewhere in a slab, and in a tile
/// of it.
#[derive(Default)]
pub(crate) struct Lines {
    all: Vec<(Line, [f64; 2])>,
    slab: Vec<Line>,
    fours: Vec<Four>,
    tile: Vec<Line>,
}

impl Lines {
    /// Keeps of all lines those uppermost somewhere in a slab.
    fn keep_upper(&mut self, lines: impl Iterator<Item = Line>, dims: [usize; 2]) {
        self.all.clear();
        self.all.extend(lines.map(|line| (line, line.spread(dims))));
        let least = self.all.iter().map(|(_, [middle, radius])| middle - radius);
        let bound = least.fold(f64::NEG_INFINITY, f64::max);
        self.slab.clear();
        let kept = self.all.iter().filter(|(_, [middle, radius])| middle + radius >= bound);
        self.slab.extend(kept.map(|(line, _)| *line));
        self.fours.clear();
        for lines in self.slab.chunks(4) {
            let mut four = Four::NONE;
            for (n, line) in lines.iter().enumerate() {
                [four.middle[n], four.radius[n]] = line.spread([TILE_ROWS, LANES]);
                [four.step[0][n], four.step[1][n]] = line.step;
            }
            self.fours.push(four);
        }
        self.tile.resize(4 * self.fours.len() + 1, Line { at: 0.0, step: [0.0; 2] });
    }

    #[inline(always)]
    fn seen_from_row(&mut self, j: usize) {
        for four in &mut self.fours {
            four.in_row = std::array::from_fn(|n| four.middle[n] + four.step[0][n] * j as f64);
        }
    }

    /// The lines that are uppermost somewhere in the tile that begins at node `first`, of the last
    /// row: most tiles need one or two of a region's dozen.
    #[inline(always)]
    fn upper_in_tile(&mut self, first: [usize; 2]) -> &[Line] {
        let k = first[1] as f64;
        let mut most = [f64::NEG_INFINITY; 4];
        for Four { in_row, step: [_, step], radius, .. } in &self.fours {
            for n in 0..4 {
                let least = in_row[n] + step[n] * k - radius[n];
                most[n] = if least > most[n] { least } else { most[n] };
            }
        }
        let bound = most.into_iter().fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
        let mut count = 0;
        for (four, lines) in self.fours.iter().zip(self.slab.chunks(4)) {
            for (n, line) in lines.iter().enumerate() {
                // always written, and kept if uppermost: branch prediction would fail
                self.tile[count] = line.from(first);
                let greatest = four.in_row[n] + four.step[1][n] * k + four.radius[n];
                count += usize::from(greatest >= bound);
            }
        }
        &self.tile[..count]
    }
}

impl Four {
    /// Below all lines.
    const NONE: Self = Self {
        middle: [f64::NEG_INFINITY; 4],
        in_row: [f64::NEG_INFINITY; 4],
        step: [[0.0; 4]; 2],
        radius: [0.0; 4],
    };
}

/// Nodes computed together, along k and along j.
const LANES: usize = 16;
const TILE_ROWS: usize = 8;
const RAMP: [f32; LANES] = [0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 13., 14., 15.];

/// Distance of the rows of a slab of `nodes`: whole lanes.
pub(crate) fn pitch(nodes: &NodeBox) -> usize {
    nodes.dims()[2].next_multiple_of(LANES)
}
