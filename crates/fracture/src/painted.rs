//! Cells of placed points.

use nalgebra::{Point3, Vector3};
use ndarray::Array2;

use crate::pattern::{check, check_count, check_positive};
use crate::random::Random;
use crate::{Pattern, PatternError};

/// An image of the density of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct DensityMap {
    /// Zero or positive, per pixel; rows from the top, columns from the left. Only ratios matter.
    pub density: Array2<f64>,
}

impl Pattern {
    /// Cells of `count` random points with the density of `map`, uniform along y.
    ///
    /// Rows of the map are along z and columns along x; it covers the box of half `extents`, in
    /// pattern units.
    ///
    /// # Errors
    /// [`PatternError`] if there are no or too many points, an extent is not positive, or no pixel
    /// has a positive density.
    pub fn painted(
        map: &DensityMap,
        extents: &Vector3<f64>,
        count: usize,
        seed: u64,
    ) -> Result<Self, PatternError> {
        check_count(count)?;
        check_positive("extents", extents)?;
        let mut sums = Vec::with_capacity(map.density.len());
        let mut sum = 0.0;
        for &weight in &map.density {
            sum += check("density", weight, weight >= 0.0, "zero or positive")?;
            sums.push(sum);
        }
        check("the sum of densities", sum, sum > 0.0, "positive")?;
        let (rows, columns) = map.density.dim();
        let mut random = Random::new(seed);
        let sites: Vec<Point3<f64>> = (0..count)
            .map(|_| {
                let chosen = random.unit() * sum;
                let pixel = sums.partition_point(|sum| *sum <= chosen).min(sums.len() - 1);
                let place = |n: usize, of: usize, within: f64| (n as f64 + within) / of as f64;
                let x = place(pixel % columns, columns, random.unit());
                let z = place(pixel / columns, rows, random.unit());
                let unit = Vector3::new(2.0 * x - 1.0, random.signed(), 2.0 * z - 1.0);
                Point3::from(unit.component_mul(extents))
            })
            .collect();
        Self::voronoi_of(&sites, &Vector3::repeat(1.0))
    }

    /// Cells of `points`, each moved by up to `scatter` pattern units along each axis.
    ///
    /// # Errors
    /// [`PatternError`] if there are no or too many points, one is not finite, or `scatter` is
    /// negative.
    pub fn scattered(
        points: &[Point3<f64>],
        scatter: f64,
        seed: u64,
    ) -> Result<Self, PatternError> {
        check("scatter", scatter, scatter >= 0.0, "zero or positive")?;
        let mut random = Random::new(seed);
        let sites: Vec<_> = points.iter().map(|p| p + random.in_cube() * scatter).collect();
        Self::voronoi_of(&sites, &Vector3::repeat(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regions that hold a point of a half of the picture, by the column of the point.
    fn cells_of_half(pattern: &Pattern, side: f64) -> usize {
        let mut random = Random::new(8);
        let mut seen = vec![false; pattern.region_count()];
        for _ in 0..20_000 {
            let mut p = random.in_cube();
            p.x = side * p.x.abs().max(0.1);
            seen[pattern.region_at(&Point3::from(p))] = true;
        }
        seen.iter().filter(|seen| **seen).count()
    }

    #[test]
    fn cells_are_where_the_picture_is_dense() {
        let density = Array2::from_shape_fn((8, 8), |(_, x)| if x < 4 { 9.0 } else { 1.0 });
        let map = DensityMap { density };
        let pattern = Pattern::painted(&map, &Vector3::repeat(1.0), 200, 5).unwrap();
        let (left, right) = (cells_of_half(&pattern, -1.0), cells_of_half(&pattern, 1.0));
        // 180 and 20 of them, and a few that reach over
        assert!((150..=200).contains(&left), "{left}");
        assert!((10..=60).contains(&right), "{right}");
    }

    #[test]
    fn a_picture_without_density_is_refused() {
        let extents = Vector3::repeat(1.0);
        for density in [0.0, -1.0, f64::NAN] {
            let map = DensityMap { density: Array2::from_elem((2, 2), density) };
            assert!(Pattern::painted(&map, &extents, 9, 1).is_err());
        }
        let empty = DensityMap { density: Array2::zeros((0, 0)) };
        assert!(Pattern::painted(&empty, &extents, 9, 1).is_err());
    }
}
