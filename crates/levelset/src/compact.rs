//! Compact storage: 16 bits a sample within a band.

use ndarray::Array3;

use crate::{Grid, LevelSet};

/// A level set stored only near its surface, in 16-bit steps: half the memory, for stored and
/// transmitted fragments.
///
/// A sample within `band` has a resolution of `band / 32767`; one beyond is `band`, with its sign.
/// Signs are exact, so that volume and components do not change.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactLevelSet {
    grid: Grid,
    band: f64,
    steps: Vec<i16>,
}

impl CompactLevelSet {
    /// Largest magnitude of a step; step `n` is the distance `n / STEPS * band`.
    const STEPS: f64 = 32767.0;

    /// Stores a level set within `band` meters of its surface.
    ///
    /// # Panics
    /// If `band` is not positive and finite.
    pub fn new(level_set: &LevelSet, band: f64) -> Self {
        assert!(band > 0.0 && band.is_finite(), "band {band} is not positive");
        let step = |&value: &f32| {
            let x = (f64::from(value) / band).clamp(-1.0, 1.0) * Self::STEPS;
            // inside stays inside, however shallow
            if value < 0.0 { x.round().min(-1.0) as i16 } else { x.round() as i16 }
        };
        let steps = level_set.as_slice().iter().map(step).collect();
        Self { grid: *level_set.grid(), band, steps }
    }

    pub(crate) fn from_parts(grid: Grid, band: f64, steps: Vec<i16>) -> Self {
        Self { grid, band, steps }
    }

    /// The grid the samples sit on.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Distance beyond which samples are clamped, m.
    pub fn band(&self) -> f64 {
        self.band
    }

    /// The stored steps, `[i, j, k]` at `grid().index([i, j, k])`.
    pub fn steps(&self) -> &[i16] {
        &self.steps
    }

    /// Largest difference of a sample within the band from the original, m: half a step and the
    /// rounding of `f32`; a whole step for inside samples shallower than half of one.
    pub fn error_bound(&self) -> f64 {
        self.band / Self::STEPS * (1.0 + 1e-3)
    }

    /// The full samples.
    pub fn expanded(&self) -> LevelSet {
        let [nx, ny, nz] = self.grid.dims();
        let scale = self.band / Self::STEPS;
        let values = self.steps.iter().map(|&s| (f64::from(s) * scale) as f32).collect();
        let values = Array3::from_shape_vec((nx, ny, nz), values).expect("one step per node");
        LevelSet::from_values(self.grid, values)
    }
}
