//! Patterns of whole planes, and patterns within patterns.

use levelset::Aabb;
use nalgebra::{Point3, UnitVector3, Vector3};

use crate::cell::{Cell, Plane};
use crate::pattern::{check, check_count};
use crate::random::Random;
use crate::{Pattern, PatternError};

/// Seeded planes through all of space; lengths in pattern units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slices {
    /// Number of planes.
    pub planes: usize,
    /// Largest distance of planes from the fracture center.
    pub spread: f64,
    /// `None` for random orientations; else they are normal to this axis.
    pub axis: Option<UnitVector3<f64>>,
    /// With an axis, the largest tilt of normals from it, in `[0, 1]`: the tangent of the angle.
    pub tilt: f64,
    /// Seed of the planes.
    pub seed: u64,
}

impl Pattern {
    /// The regions into which planes divide space.
    ///
    /// # Errors
    /// [`PatternError`] if a parameter is out of range or there are too many regions.
    pub fn slices(spec: &Slices) -> Result<Self, PatternError> {
        check("spread", spec.spread, spec.spread >= 0.0, "zero or positive")?;
        check("tilt", spec.tilt, (0.0..=1.0).contains(&spec.tilt), "from 0 to 1")?;
        let mut random = Random::new(spec.seed);
        let mut cells = vec![Cell::whole(&Self::REACH)];
        for _ in 0..spec.planes {
            let any = random.direction();
            let normal = match spec.axis {
                Some(axis) => axis.into_inner() + any.scale(spec.tilt * random.unit()),
                None => any.into_inner(),
            };
            let offset = spec.spread * random.signed();
            if normal.norm() < 1e-9 {
                continue;
            }
            let plane = Plane::through(&Point3::from(normal.normalize() * offset), normal);
            cells = cells
                .into_iter()
                .flat_map(|cell| [cell.clone().cut(plane), cell.cut(plane.flipped())])
                .filter(|cell| !cell.is_empty())
                .collect();
            check_count(cells.len())?;
        }
        Self::from_cells(cells)
    }
}

impl Pattern {
    /// This pattern with each of its regions divided by `inner`: its center is at the middle of the
    /// region, and its unit is half the region's longest edge within `[-1, 1]^3`.
    ///
    /// # Errors
    /// [`PatternError`] if a pattern has samples or there are too many regions.
    pub fn nested(&self, inner: &Self) -> Result<Self, PatternError> {
        let drawn = Aabb { min: Point3::new(-1.0, -1.0, -1.0), max: Point3::new(1.0, 1.0, 1.0) };
        let mut cells = Vec::new();
        for outer in self.cells() {
            let outer = outer?;
            let near = Aabb::around(outer.within(&drawn).corners());
            let bounds = near.unwrap_or(drawn);
            let scale = (bounds.extents().max() / 2.0).max(1e-6);
            let place = nalgebra::Similarity3::new(bounds.center().coords, Vector3::zeros(), scale);
            for cell in inner.cells() {
                let planes = cell?.transformed(&place);
                let part = planes.planes().iter().fold(outer.clone(), |part, p| part.cut(*p));
                if !part.is_empty() {
                    cells.push(part);
                }
            }
            check_count(cells.len())?;
        }
        Self::from_cells(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bricks;

    /// How many regions are strictly around each of many points.
    fn cover(pattern: &Pattern) -> Vec<usize> {
        let mut random = Random::new(3);
        let mut point = || Point3::from(random.in_cube());
        let inside = |p: Point3<f64>| {
            (0..pattern.region_count()).filter(|&r| pattern.value(r, &p) < 0.0).count()
        };
        (0..2000).map(|_| inside(point())).collect()
    }

    #[test]
    fn planes_bricks_and_nested_patterns_partition_space() {
        let slices = Slices { planes: 6, spread: 0.4, axis: None, tilt: 0.0, seed: 4 };
        let bricks = Bricks::new(Vector3::new(0.4, 0.3, 0.2));
        let slices = Pattern::slices(&slices).unwrap();
        let bricks = Pattern::bricks(&bricks).unwrap();
        assert!((20..=42).contains(&slices.region_count()), "{}", slices.region_count());
        // 7 layers, and 11 courses of 5 and of 6 bricks in turn
        assert_eq!(bricks.region_count(), 7 * (5 * 5 + 6 * 6));
        for pattern in [slices.nested(&slices).unwrap(), slices, bricks] {
            assert!(cover(&pattern).iter().all(|&n| n == 1));
        }
    }

    #[test]
    fn slices_across_an_axis_are_plates() {
        let axis = Some(Vector3::y_axis());
        let spec = Slices { planes: 9, spread: 0.5, axis, tilt: 0.0, seed: 1 };
        assert_eq!(Pattern::slices(&spec).unwrap().region_count(), 10);
    }

    #[test]
    fn counts_past_the_limit_are_refused() {
        let slices = Slices { planes: 60, spread: 0.4, axis: None, tilt: 0.0, seed: 4 };
        assert!(matches!(Pattern::slices(&slices), Err(PatternError::Regions { .. })));
        let size = Vector3::repeat(1e-300);
        let bricks = Bricks::new(size);
        assert!(matches!(Pattern::bricks(&bricks), Err(PatternError::Regions { .. })));
    }
}
