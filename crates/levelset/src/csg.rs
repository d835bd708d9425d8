//! Set operations.

use ndarray::Zip;

use crate::{Grid, LevelSet};

impl LevelSet {
    /// The solid sampled on another grid, trilinearly.
    pub fn resampled(&self, grid: Grid) -> Self {
        if grid == *self.grid() {
            return self.clone();
        }
        Self::from_fn(grid, |p| self.value(&p))
    }

    /// Points in either solid, on this grid.
    ///
    /// On equal grids no sample is interpolated; otherwise `other` is sampled at this grid's nodes
    /// (use [`LevelSet::resampled`] first if this grid is too small). Distances are exact outside
    /// the union and lower bounds of depth inside it.
    pub fn union(&self, other: &Self) -> Self {
        self.combined(other, |a, b| if b < a { b } else { a })
    }

    /// Points in both solids, on this grid, as [`LevelSet::union`] treats grids.
    pub fn intersection(&self, other: &Self) -> Self {
        self.combined(other, |a, b| if b > a { b } else { a })
    }

    /// Points of this solid that are not in the other, on this grid, as [`LevelSet::union`] treats
    /// grids.
    ///
    /// A node where `other` is exactly zero is outside `other` and so remains in the difference.
    pub fn difference(&self, other: &Self) -> Self {
        self.combined(other, |a, b| {
            // the complement of the inside includes zero, since inside is strictly negative
            let b = if b == 0.0 { -f32::MIN_POSITIVE } else { -b };
            if b > a { b } else { a }
        })
    }

    /// The solid grown by `distance` meters, or shrunk if it is negative.
    pub fn offset(&self, distance: f64) -> Self {
        let shifted = self.values().mapv(|v| (f64::from(v) - distance) as f32);
        Self::from_values(*self.grid(), shifted)
    }

    fn combined(&self, other: &Self, pick: impl Fn(f32, f32) -> f32) -> Self {
        let resampled;
        let other = if self.grid() == other.grid() {
            other
        } else {
            resampled = other.resampled(*self.grid());
            &resampled
        };
        let values = Zip::from(self.values()).and(other.values()).map_collect(|&a, &b| pick(a, b));
        Self::from_values(*self.grid(), values)
    }
}
