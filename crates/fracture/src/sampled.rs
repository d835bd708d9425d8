//! Patterns as samples: the fast form of Su09 section 4.2, and cuts with noise.

use levelset::{Aabb, Grid, LevelSet};
use nalgebra::{Point3, Vector3};
use ndarray::Array3;
use rayon::prelude::*;

use crate::node_box::NodeBox;
use crate::noise::Noise;
use crate::pattern::{check, check_noise};
use crate::region::{Region, Sampled};
use crate::{Pattern, PatternError};

impl Pattern {
    /// Largest number of samples of one pattern's grid: 2^24, before regions are cropped.
    pub const MAX_SAMPLES: usize = 1 << 24;

    /// The pattern as level sets, `spacing` apart in `bounds` (pattern units), with a node at the
    /// fracture center; beyond `bounds` it has the value at their nearest point.
    ///
    /// With `spacing = parent.grid().spacing() / alignment.scale` and an alignment that is
    /// [`snapped`](crate::Alignment::snapped) an event reads its samples without interpolation.
    /// Unsampled patterns of convex cells break bodies at least as fast.
    ///
    /// # Errors
    /// [`PatternError::Grid`] if the bounds and spacing give no grid of at most
    /// [`Pattern::MAX_SAMPLES`].
    pub fn sampled(&self, bounds: &Aabb, spacing: f64) -> Result<Self, PatternError> {
        self.displaced(bounds, spacing, |_| Vector3::zeros())
    }

    /// The pattern as level sets like those of [`Pattern::sampled`], with cuts displaced by noise.
    ///
    /// The displacement is a function of position, so the pieces fit together.
    ///
    /// # Errors
    /// [`PatternError`] as [`Pattern::sampled`], or if the noise is out of range.
    pub fn with_sampled_noise(
        &self,
        bounds: &Aabb,
        spacing: f64,
        noise: &Noise,
    ) -> Result<Self, PatternError> {
        check_noise(noise)?;
        self.displaced(bounds, spacing, |p| noise.displacement(p))
    }

    fn displaced(
        &self,
        bounds: &Aabb,
        spacing: f64,
        displacement: impl Fn(&Point3<f64>) -> Vector3<f64> + Sync,
    ) -> Result<Self, PatternError> {
        let grid = lattice(bounds, spacing)?;
        let [nx, ny, nz] = grid.dims();
        let places: Vec<[f32; 3]> = (0..nx * ny * nz)
            .into_par_iter()
            .map(|n| {
                let p = grid.position([n / (ny * nz), n / nz % ny, n % nz]);
                (p + displacement(&p)).coords.map(|x| x as f32).into()
            })
            .collect();
        let farthest = places.par_iter().enumerate().map(|(n, place)| {
            let p = grid.position([n / (ny * nz), n / nz % ny, n % nz]);
            (p - Point3::from(place.map(f64::from))).amax()
        });
        let farthest = farthest.reduce(|| 0.0, f64::max);
        let sample = |region: usize| {
            let region = self.region(region);
            let nodes = reach(region, &grid, farthest);
            let [nx, ny, nz] = nodes.dims();
            let values = Array3::from_shape_fn((nx, ny, nz), |(i, j, k)| {
                let [a, b, c] = nodes.low;
                let place = places[grid.index([a + i, b + j, c + k])];
                // the only region of a pattern is infinitely deep
                region.value(&Point3::from(place.map(f64::from))).max(-MAX_DEPTH) as f32
            });
            let part = grid.subgrid(nodes.low, nodes.high.map(|n| n - 1));
            let level_set = LevelSet::from_values(part, values);
            Region::Sampled(Sampled::new(&level_set, grid.bounds()))
        };
        Self::new((0..self.region_count()).into_par_iter().map(sample).collect())
    }
}

/// Limit of sample depth, pattern units: infinities do not interpolate.
const MAX_DEPTH: f64 = 1e6;

/// The nodes that can be inside a region displaced by up to `farthest`, and a few more.
fn reach(region: &Region, grid: &Grid, farthest: f64) -> NodeBox {
    let dims = grid.dims();
    let whole = NodeBox { low: [0; 3], high: dims };
    let Region::Cell(cell) = region else { return whole };
    let Some(bounds) = Aabb::around(cell.corners()) else { return whole };
    let nodes = NodeBox::around(&bounds.grown(farthest), grid, 3);
    // at least two nodes per side, even for a cell outside the grid
    let low: [usize; 3] = std::array::from_fn(|a| nodes.low[a].min(dims[a] - 2));
    NodeBox { low, high: std::array::from_fn(|a| nodes.high[a].max(low[a] + 2)) }
}

/// The grid of multiples of `spacing` around `bounds`.
fn lattice(bounds: &Aabb, spacing: f64) -> Result<Grid, PatternError> {
    check("spacing", spacing, spacing > 0.0, "positive")?;
    let low = bounds.min.map(|x| (x / spacing).floor());
    // a float too large for usize saturates, and then fails the limit
    let dims = std::array::from_fn(|a| {
        (((bounds.max[a] / spacing).ceil() - low[a]) as usize).saturating_add(1).max(2)
    });
    Ok(Grid::new(low * spacing, spacing, dims, Pattern::MAX_SAMPLES)?)
}
