//! The body-centred cubic lattice, moved onto the surface where it is close.

use nalgebra::{Point3, Vector3};

use crate::{Grid, LevelSet};

/// Fractions of an edge within which a cut moves the end onto the surface: for edges between equal
/// points of the lattice, and between a corner and a centre (Labelle and Shewchuk 2007, safe rule).
const LONG: f32 = 0.24999;
const SHORT: f32 = 0.41189;

/// Directions from a lattice point: six long ones, down and up each axis, then eight short ones.
const DIRECTIONS: usize = 14;

/// Where a lattice point is: numbers compare with 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Inside,
    On,
    Outside,
}

/// Cuts on the edges from one inside point: fraction of the edge, not a number where there is none.
pub(super) struct Cuts {
    pub(super) at: [f32; DIRECTIONS],
}

/// Corners are points `0..n` in the order of the grid; the centre of the cell whose lowest corner
/// is `c` is point `n + c`.
pub(super) struct Lattice {
    pub(super) grid: Grid,
    corners: u32,
    strides: [u32; 3],
    pub(super) sides: Vec<Side>,
    /// Place in `cuts` of the points that have cuts; `NONE` for the others.
    pub(super) slots: Vec<u32>,
    pub(super) cuts: Vec<Cuts>,
    /// Points that moved, in order.
    pub(super) moved: Vec<(u32, Point3<f64>)>,
    /// Whether an edge of the point was cut before points moved.
    pub(super) active: Vec<bool>,
}

pub(super) const NONE: u32 = u32::MAX;

impl Lattice {
    pub(super) fn new(level_set: &LevelSet, grid: Grid) -> Self {
        let [_, ny, nz] = grid.dims();
        let corners = grid.node_count();
        let mut lattice = Self {
            grid,
            corners: corners as u32,
            strides: [(ny * nz) as u32, nz as u32, 1],
            sides: Vec::new(),
            slots: vec![NONE; 2 * corners],
            cuts: Vec::new(),
            moved: Vec::new(),
            active: vec![false; 2 * corners],
        };
        let values: Vec<f32> = (0..2 * corners as u32)
            .map(|point| level_set.value(&lattice.position(point)) as f32)
            .collect();
        lattice.sides = values.iter().map(|&v| side(v)).collect();
        lattice.cut_edges(level_set, &values);
        lattice.move_points();
        lattice
    }

    /// Index of the cell or corner with the given lowest corner, as a point.
    pub(super) fn corner(&self, [i, j, k]: [usize; 3]) -> u32 {
        self.grid.index([i, j, k]) as u32
    }

    pub(super) fn centre(&self, cell: [usize; 3]) -> u32 {
        self.corners + self.corner(cell)
    }

    /// Where a point of the regular lattice is.
    pub(super) fn position(&self, point: u32) -> Point3<f64> {
        let [_, ny, nz] = self.grid.dims();
        let corner = (point % self.corners) as usize;
        let at = [corner / (ny * nz), corner / nz % ny, corner % nz];
        let half = if point < self.corners { 0.0 } else { self.grid.spacing() / 2.0 };
        self.grid.position(at) + Vector3::repeat(half)
    }

    /// The point next to `point`, which must have it.
    fn neighbour(&self, point: u32, direction: usize) -> u32 {
        if direction < 6 {
            let stride = self.strides[direction / 2];
            return if direction & 1 == 0 { point - stride } else { point + stride };
        }
        let offset: u32 =
            (0..3).filter(|a| (direction - 6) >> a & 1 == 1).map(|a| self.strides[a]).sum();
        if point < self.corners {
            point - offset + self.corners
        } else {
            point - self.corners + offset
        }
    }

    /// The direction from `from` to its neighbour `to`.
    pub(super) fn direction(&self, from: u32, to: u32) -> usize {
        let same = (from < self.corners) == (to < self.corners);
        let of_offset = |offset: u32, a: usize| offset == self.strides[a];
        if same {
            let up = to > from;
            let offset = to.abs_diff(from);
            let axis = (0..3).find(|&a| of_offset(offset, a)).unwrap_or(2);
            return 2 * axis + usize::from(up);
        }
        let (corner, centre) = if from < to { (from, to) } else { (to, from) };
        let mut offset = corner - (centre - self.corners);
        let mut bits = 0;
        for a in 0..3 {
            if offset >= self.strides[a] {
                offset -= self.strides[a];
                bits |= 1 << a;
            }
        }
        6 + bits
    }

    pub(super) fn is_long(&self, a: u32, b: u32) -> bool {
        (a < self.corners) == (b < self.corners)
    }

    /// Finds the cut on every edge from inside to outside.
    ///
    /// The outermost points are outside, so an inside point has all its neighbours.
    fn cut_edges(&mut self, level_set: &LevelSet, values: &[f32]) {
        for point in 0..2 * self.corners {
            if self.sides[point as usize] != Side::Inside {
                continue;
            }
            let mut cuts = Cuts { at: [f32::NAN; DIRECTIONS] };
            let mut any = false;
            for direction in 0..DIRECTIONS {
                let other = self.neighbour(point, direction);
                if self.sides[other as usize] == Side::Outside {
                    let ends = [(point, values[point as usize]), (other, values[other as usize])];
                    cuts.at[direction] = self.root(level_set, ends);
                    self.active[other as usize] = true;
                    any = true;
                }
            }
            if any {
                self.active[point as usize] = true;
                self.slots[point as usize] = self.cuts.len() as u32;
                self.cuts.push(cuts);
            }
        }
    }

    /// The zero between an inside and an outside point, as a fraction from the inside one: false
    /// position, with the Illinois rule.
    fn root(&self, level_set: &LevelSet, ends: [(u32, f32); 2]) -> f32 {
        let [from, to] = ends.map(|(point, _)| self.position(point));
        let (mut low, mut low_value) = (0.0, f64::from(ends[0].1));
        let (mut high, mut high_value) = (1.0, f64::from(ends[1].1));
        let mut t = low_value / (low_value - high_value);
        for _ in 0..3 {
            let value = level_set.value(&(from + (to - from) * t));
            if value < 0.0 {
                (low, low_value, high_value) = (t, value, high_value / 2.0);
            } else {
                (high, high_value, low_value) = (t, value, low_value / 2.0);
            }
            t = low + (high - low) * low_value / (low_value - high_value);
        }
        t as f32
    }

    /// Moves each point that has a cut too near onto the nearest of its cuts.
    fn move_points(&mut self) {
        for point in 0..2 * self.corners {
            if !self.active[point as usize] {
                continue;
            }
            let mut nearest = (f32::INFINITY, 0);
            for direction in 0..DIRECTIONS {
                let Some(t) = self.cut_from(point, direction) else { continue };
                let (limit, length) =
                    if direction < 6 { (LONG, 1.0) } else { (SHORT, 0.75_f32.sqrt()) };
                if t < limit && t * length < nearest.0 {
                    nearest = (t * length, direction);
                }
            }
            if nearest.0.is_finite() {
                let direction = nearest.1;
                let other = self.neighbour(point, direction);
                let t = self.cut_from(point, direction).map_or(0.0, f64::from);
                let from = self.position(point);
                self.moved.push((point, from + (self.position(other) - from) * t));
                self.sides[point as usize] = Side::On;
            }
        }
    }

    /// The cut on an edge both of whose ends are still off the surface, as a fraction from `point`.
    fn cut_from(&self, point: u32, direction: usize) -> Option<f32> {
        let other = self.neighbour(point, direction);
        let back = if direction < 6 { direction ^ 1 } else { direction };
        match (self.sides[point as usize], self.sides[other as usize]) {
            (Side::Inside, Side::Outside) => {
                Some(self.cuts[self.slots[point as usize] as usize].at[direction])
            }
            (Side::Outside, Side::Inside) => {
                Some(1.0 - self.cuts[self.slots[other as usize] as usize].at[back])
            }
            _ => None,
        }
    }
}

fn side(value: f32) -> Side {
    if value < 0.0 {
        Side::Inside
    } else if value > 0.0 {
        Side::Outside
    } else {
        Side::On
    }
}
