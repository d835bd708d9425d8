//! Distance queries at points of another body, with one transformation from there to the samples.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use crate::shape::field::Field;

/// A field in the coordinates of another body.
pub(crate) enum Query<'a> {
    Analytic(Analytic<'a>),
    Grid(GridQuery<'a>),
}

/// Number of points per query.
pub(crate) const LANES: usize = 8;

/// The coordinates of the points of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet([[f32; LANES]; 3]);

impl Packet {
    /// Up to [`LANES`] points; the last one fills the rest.
    pub(crate) fn new(points: &[Point3<f64>]) -> Self {
        let last = points.len().saturating_sub(1);
        let at =
            |axis: usize, lane: usize| points.get(lane.min(last)).map_or(0.0, |p| p[axis] as f32);
        Self(std::array::from_fn(|axis| std::array::from_fn(|lane| at(axis, lane))))
    }

    pub(crate) fn point(&self, lane: usize) -> Point3<f64> {
        Point3::from(self.0.map(|row| f64::from(row[lane])))
    }
}

/// Vectorized signed distance queries.
pub(crate) trait Ask {
    /// Lower bounds at points in the querying body's coordinates, m, up to round-off.
    fn bounds(&self, points: &Packet) -> [f32; LANES];

    /// Signed distances of points, m, given without rounding in `exact`, for as many as there are;
    /// `None` if all are certainly above `limit`.
    fn distances(&self, points: &Packet, exact: &[Point3<f64>], limit: f32)
    -> Option<[f64; LANES]>;
}

/// An analytic field.
pub(crate) struct Analytic<'a> {
    field: &'a Field,
    /// Maps from the querying body's coordinates.
    map: Isometry3<f64>,
}

impl Analytic<'_> {
    /// A lower bound of the distance, faster for expensive fields.
    fn lower_bound(&self, p: &Point3<f64>) -> f64 {
        self.field.lower_bound(&(self.map * p))
    }

    fn distance(&self, p: &Point3<f64>) -> f64 {
        self.field.distance(&(self.map * p))
    }
}

impl Ask for Analytic<'_> {
    fn bounds(&self, points: &Packet) -> [f32; LANES] {
        std::array::from_fn(|k| self.lower_bound(&points.point(k)) as f32)
    }

    fn distances(&self, _: &Packet, exact: &[Point3<f64>], limit: f32) -> Option<[f64; LANES]> {
        let is_near = |p: &&Point3<f64>| self.lower_bound(p) as f32 <= limit;
        let distance =
            |k: usize| exact.get(k).filter(is_near).map_or(f64::INFINITY, |p| self.distance(p));
        Some(std::array::from_fn(distance))
    }
}

/// Samples, and the transformation to grid cells.
pub(crate) struct GridQuery<'a> {
    samples: &'a [f32],
    dims: [usize; 3],
    spacing: f64,
    turn: Matrix3<f64>,
    shift: Vector3<f64>,
    /// The same in single precision, row by row.
    rows: [[f32; 4]; 3],
}

impl<'a> Query<'a> {
    /// `map` takes the querying body's coordinates to those of the field.
    pub(crate) fn new(field: &'a Field, map: &Isometry3<f64>) -> Self {
        let Field::Grid { level_set, material } = field else {
            return Self::Analytic(Analytic { field, map: *map });
        };
        let (grid, map) = (level_set.grid(), material * map);
        let scale = 1.0 / grid.spacing();
        let turn = map.rotation.to_rotation_matrix().into_inner() * scale;
        let shift = (map.translation.vector - grid.origin().coords) * scale;
        Self::Grid(GridQuery {
            samples: level_set.as_slice(),
            dims: grid.dims(),
            spacing: grid.spacing(),
            rows: [0, 1, 2]
                .map(|k| [turn[(k, 0)], turn[(k, 1)], turn[(k, 2)], shift[k]].map(|x| x as f32)),
            turn,
            shift,
        })
    }

    /// Signed distance at point `p` of the querying body, m.
    pub(crate) fn distance(&self, p: &Point3<f64>) -> f64 {
        match self {
            Self::Analytic(analytic) => analytic.distance(p),
            Self::Grid(grid) => grid.distance(p),
        }
    }
}

/// Upper bound, in cells, of the difference between the interpolated value at a point and the
/// sample nearest to it, reached in the middle of a cell.
const NEAREST: f64 = 1.123;

/// A float whose unit in the last place is one: adding it rounds to integers.
const ONES: f32 = 8_388_608.0;

// loops, not closures: these are always inlined and vectorized
impl Ask for GridQuery<'_> {
    #[inline(always)]
    fn bounds(&self, points: &Packet) -> [f32; LANES] {
        self.bounds_of(&self.locate_all(points))
    }

    #[inline(always)]
    fn distances(&self, points: &Packet, _: &[Point3<f64>], limit: f32) -> Option<[f64; LANES]> {
        let located = self.locate_all(points);
        let mut any = false;
        for bound in &self.bounds_of(&located) {
            any |= *bound < limit;
        }
        if !any {
            return None;
        }
        let (mut cells, mut weights) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
        for axis in 0..3 {
            let most = (self.dims[axis] - 2) as f32;
            for k in 0..LANES {
                // halves may round either way: both cells have the same value at their boundary
                let inside = located.inside[axis][k];
                cells[axis][k] = clamp(inside - 0.5, most) + ONES;
                weights[axis][k] = inside - (cells[axis][k] - ONES);
            }
        }
        let numbers = self.numbers(&cells);
        let [_, ny, nz] = self.dims;
        let mut rows = [[[0.0; LANES]; 2]; 4];
        for (row, shift) in rows.iter_mut().zip([0, nz, ny * nz, ny * nz + nz]) {
            row[0] = gathered(self.samples, &numbers, shift);
            row[1] = gathered(self.samples, &numbers, shift + 1);
        }
        let [w, v, u] = [weights[2], weights[1], weights[0]];
        let mut values = [0.0; LANES];
        for k in 0..LANES {
            let mut row = [0.0; 4];
            for (row, [low, high]) in row.iter_mut().zip(&rows) {
                *row = low[k] + w[k] * (high[k] - low[k]);
            }
            let (low, high) =
                (row[0] + v[k] * (row[1] - row[0]), row[2] + v[k] * (row[3] - row[2]));
            values[k] = low + u[k] * (high - low);
        }
        let all = self.with_outside(&values, &located);
        let mut distances = [0.0; LANES];
        for k in 0..LANES {
            distances[k] = f64::from(all[k]);
        }
        Some(distances)
    }
}

/// Points in cells.
struct Located {
    at: [[f32; LANES]; 3],
    /// The nearest points with samples around them.
    inside: [[f32; LANES]; 3],
}

impl GridQuery<'_> {
    #[inline(always)]
    fn bounds_of(&self, located: &Located) -> [f32; LANES] {
        let mut nearest = [[0.0; LANES]; 3];
        for (nearest, inside) in nearest.iter_mut().zip(&located.inside) {
            for k in 0..LANES {
                nearest[k] = inside[k] + ONES;
            }
        }
        let mut values = gathered(self.samples, &self.numbers(&nearest), 0);
        let slack = (NEAREST * self.spacing) as f32;
        for value in &mut values {
            *value -= slack;
        }
        self.with_outside(&values, located)
    }

    #[inline(always)]
    fn locate_all(&self, points: &Packet) -> Located {
        let Packet([x, y, z]) = points;
        let (mut at, mut inside) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
        for axis in 0..3 {
            let ([p, q, r, shift], last) = (self.rows[axis], (self.dims[axis] - 1) as f32);
            for k in 0..LANES {
                at[axis][k] = p * x[k] + q * y[k] + r * z[k] + shift;
                inside[axis][k] = clamp(at[axis][k], last);
            }
        }
        Located { at, inside }
    }

    /// Indices of samples from their positions in cells plus [`ONES`].
    #[inline(always)]
    fn numbers(&self, [x, y, z]: &[[f32; LANES]; 3]) -> [u32; LANES] {
        let (ny, nz) = (self.dims[1] as u32, self.dims[2] as u32);
        let whole = |x: f32| x.to_bits() - ONES.to_bits();
        let mut numbers = [0; LANES];
        for k in 0..LANES {
            numbers[k] = (whole(x[k]) * ny + whole(y[k])) * nz + whole(z[k]);
        }
        numbers
    }

    /// `values` of the nearest points with samples around, extrapolated like `LevelSet::value`
    /// outside its box.
    #[inline(always)]
    fn with_outside(&self, values: &[f32; LANES], located: &Located) -> [f32; LANES] {
        let Located { at: [x, y, z], inside: [p, q, r] } = located;
        let spacing = self.spacing as f32;
        let mut all = [0.0; LANES];
        for k in 0..LANES {
            let (x, y, z) = (x[k] - p[k], y[k] - q[k], z[k] - r[k]);
            let outside = (x * x + y * y + z * z) * (spacing * spacing);
            let value = values[k];
            let far = (outside + if value > 0.0 { value * value } else { 0.0 }).sqrt();
            all[k] = if outside > 0.0 { far } else { value };
        }
        all
    }

    fn distance(&self, p: &Point3<f64>) -> f64 {
        let (at, inside) = self.locate(p);
        let value = self.trilinear(&inside);
        if inside == at {
            return value;
        }
        // like `LevelSet::value` outside its box
        let outside = (at - inside).norm_squared() * (self.spacing * self.spacing);
        (outside + value.max(0.0).powi(2)).sqrt()
    }

    /// A point in cells, and the nearest point with samples around it.
    fn locate(&self, p: &Point3<f64>) -> (Vector3<f64>, Vector3<f64>) {
        let at = self.turn * p.coords + self.shift;
        let last = Vector3::from(self.dims.map(|n| (n - 1) as f64));
        (at, at.sup(&Vector3::zeros()).inf(&last))
    }

    fn trilinear(&self, at: &Vector3<f64>) -> f64 {
        let [_, ny, nz] = self.dims;
        let cell: [usize; 3] = std::array::from_fn(|k| (at[k] as usize).min(self.dims[k] - 2));
        let [u, v, w] = std::array::from_fn(|k| at[k] - cell[k] as f64);
        let base = (cell[0] * ny + cell[1]) * nz + cell[2];
        let row = |at: usize| {
            let pair = &self.samples[at..at + 2];
            let (low, high) = (f64::from(pair[0]), f64::from(pair[1]));
            low + w * (high - low)
        };
        let face = |at: usize| {
            let (low, high) = (row(at), row(at + nz));
            low + v * (high - low)
        };
        let (low, high) = (face(base), face(base + ny * nz));
        low + u * (high - low)
    }
}

/// Samples by their indices, each `shift` higher. Written out, they stay in registers.
#[inline(always)]
fn gathered(samples: &[f32], numbers: &[u32; LANES], shift: usize) -> [f32; LANES] {
    let [a, b, c, d, e, f, g, h] = *numbers;
    let at = |number: u32| samples[number as usize + shift];
    [at(a), at(b), at(c), at(d), at(e), at(f), at(g), at(h)]
}

/// A number clamped to the range from zero to `most`; zero for NaN.
#[inline(always)]
fn clamp(x: f32, most: f32) -> f32 {
    let x = if x > 0.0 { x } else { 0.0 };
    if x < most { x } else { most }
}
