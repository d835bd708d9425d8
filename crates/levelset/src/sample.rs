//! The samples of a signed distance, and reading them anywhere.

use nalgebra::{Point3, Unit, Vector3};
use ndarray::Array3;

use crate::Grid;

/// A solid as signed distance sampled on a grid: negative inside, metres.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelSet {
    grid: Grid,
    values: Array3<f32>,
}

impl LevelSet {
    /// Samples `distance` at every node of `grid`.
    pub fn from_fn(grid: Grid, distance: impl Fn(Point3<f64>) -> f64) -> Self {
        let [nx, ny, nz] = grid.dims();
        let values = Array3::from_shape_fn((nx, ny, nz), |(i, j, k)| {
            distance(grid.position([i, j, k])) as f32
        });
        Self { grid, values }
    }

    /// Wraps samples taken elsewhere, shape `grid.dims()`, standard layout.
    ///
    /// # Panics
    /// If the shape is not the grid's.
    pub fn from_values(grid: Grid, values: Array3<f32>) -> Self {
        assert_eq!(values.shape(), grid.dims(), "samples must have the grid's shape");
        let values = if values.is_standard_layout() {
            values
        } else {
            values.as_standard_layout().into_owned()
        };
        Self { grid, values }
    }

    /// The grid the samples sit on.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The samples, shape `grid().dims()`, in standard layout.
    pub fn values(&self) -> &Array3<f32> {
        &self.values
    }

    /// The samples as one slice, `[i, j, k]` at `grid().index([i, j, k])`.
    pub fn as_slice(&self) -> &[f32] {
        self.values.as_slice().expect("standard layout by construction")
    }

    /// Signed distance at `p`, trilinear in the grid.
    ///
    /// Outside the grid's box it is extended as `sqrt(|p - c|^2 + max(phi(c), 0)^2)` with `c` the
    /// nearest point of the box: never negative, and a lower bound of the true distance.
    pub fn value(&self, p: &Point3<f64>) -> f64 {
        let inner = self.trilinear(p);
        let outside = (p - self.grid.bounds().clamp(p)).norm_squared();
        if outside == 0.0 { inner } else { (outside + inner.max(0.0).powi(2)).sqrt() }
    }

    /// Gradient of [`LevelSet::value`] by central differences one grid spacing to each side.
    pub fn gradient(&self, p: &Point3<f64>) -> Vector3<f64> {
        let h = self.grid.spacing();
        Vector3::from_fn(|a, _| {
            let mut step = Vector3::zeros();
            step[a] = h;
            (self.value(&(p + step)) - self.value(&(p - step))) / (2.0 * h)
        })
    }

    /// Outward normal at `p`; `None` where the gradient vanishes, as on a medial axis.
    pub fn normal(&self, p: &Point3<f64>) -> Option<Unit<Vector3<f64>>> {
        Unit::try_new(self.gradient(p), 1e-12)
    }

    fn trilinear(&self, p: &Point3<f64>) -> f64 {
        let (cell, [u, v, w]) = self.grid.locate(p);
        let [_, ny, nz] = self.grid.dims();
        let base = self.grid.index(cell);
        let samples = self.as_slice();
        let row = |at: usize| {
            f64::from(samples[at]) + w * (f64::from(samples[at + 1]) - f64::from(samples[at]))
        };
        let face = |at: usize| {
            let (low, high) = (row(at), row(at + nz));
            low + v * (high - low)
        };
        let (low, high) = (face(base), face(base + ny * nz));
        low + u * (high - low)
    }
}
