//! Asking a field at points of another body: the way from there to the samples in one matrix.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use crate::shape::Field;

/// A field as seen from another body.
pub(crate) enum Query<'a> {
    Analytic { field: &'a Field, map: Isometry3<f64> },
    Grid(GridQuery<'a>),
}

/// Samples, and the way to them in grid cells.
pub(crate) struct GridQuery<'a> {
    samples: &'a [f32],
    dims: [usize; 3],
    spacing: f64,
    turn: Matrix3<f64>,
    shift: Vector3<f64>,
}

impl<'a> Query<'a> {
    /// `map` takes the asking body's coordinates to those of the field.
    pub(crate) fn new(field: &'a Field, map: &Isometry3<f64>) -> Self {
        let Field::Grid { level_set, material } = field else {
            return Self::Analytic { field, map: *map };
        };
        let (grid, map) = (level_set.grid(), material * map);
        let scale = 1.0 / grid.spacing();
        Self::Grid(GridQuery {
            samples: level_set.as_slice(),
            dims: grid.dims(),
            spacing: grid.spacing(),
            turn: map.rotation.to_rotation_matrix().into_inner() * scale,
            shift: (map.translation.vector - grid.origin().coords) * scale,
        })
    }

    /// Signed distance at the asking body's point `p`, m, unless it is surely above `limit`.
    pub(crate) fn within(&self, p: &Point3<f64>, limit: f64) -> Option<f64> {
        match self {
            Self::Analytic { .. } => Some(self.distance(p)),
            Self::Grid(grid) => grid.within(p, limit),
        }
    }

    /// Signed distance at the asking body's point `p`, m.
    pub(crate) fn distance(&self, p: &Point3<f64>) -> f64 {
        match self {
            Self::Analytic { field, map } => field.distance(&(map * p)),
            Self::Grid(grid) => grid.distance(p),
        }
    }
}

/// Cells by which samples at the corners of a cell differ at most, on average by their weights,
/// from the one nearest to a point: reached in the middle.
const NEAREST: f64 = 1.123;

impl GridQuery<'_> {
    fn distance(&self, p: &Point3<f64>) -> f64 {
        let (at, inside) = self.locate(p);
        self.at(&at, &inside)
    }

    fn within(&self, p: &Point3<f64>, limit: f64) -> Option<f64> {
        let (at, inside) = self.locate(p);
        if inside == at {
            let [x, y, z] = [at.x, at.y, at.z].map(|x| (x + 0.5) as usize);
            let nearest = self.samples[(x * self.dims[1] + y) * self.dims[2] + z];
            if f64::from(nearest) > limit + NEAREST * self.spacing {
                return None;
            }
        } else if (at - inside).norm_squared() * (self.spacing * self.spacing) > limit * limit {
            return None;
        }
        Some(self.at(&at, &inside))
    }

    /// A point in cells, and the nearest to it that has samples around.
    #[inline(always)]
    fn locate(&self, p: &Point3<f64>) -> (Vector3<f64>, Vector3<f64>) {
        let at = self.turn * p.coords + self.shift;
        let last = Vector3::from(self.dims.map(|n| (n - 1) as f64));
        (at, at.sup(&Vector3::zeros()).inf(&last))
    }

    #[inline(always)]
    fn at(&self, at: &Vector3<f64>, inside: &Vector3<f64>) -> f64 {
        let value = self.trilinear(inside);
        if inside == at {
            return value;
        }
        // as `LevelSet::value` outside its box
        let outside = (at - inside).norm_squared() * (self.spacing * self.spacing);
        (outside + value.max(0.0).powi(2)).sqrt()
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
