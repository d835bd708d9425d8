//! Planes of slices.

use nalgebra::{Point3, UnitVector3, Vector3};

/// A plane, `normal . x = offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    normal: UnitVector3<f64>,
    offset: f64,
}

impl Plane {
    /// The plane `normal . x = offset`, where both may be scaled by any positive number; `None` if
    /// `normal` is zero or a number is not finite.
    pub fn new(normal: Vector3<f64>, offset: f64) -> Option<Self> {
        let largest = normal.amax();
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        let length = (normal / largest).norm() * largest;
        let plane =
            Self { normal: UnitVector3::new_unchecked(normal / length), offset: offset / length };
        (plane.normal.norm().is_finite() && plane.offset.is_finite()).then_some(plane)
    }

    /// The plane through `point`; `None` as in [`Plane::new`].
    pub fn through(point: &Point3<f64>, normal: Vector3<f64>) -> Option<Self> {
        let plane = Self::new(normal, 0.0)?;
        Self::new(*plane.normal, plane.normal.dot(&point.coords))
    }

    /// Points from the back to the front.
    pub fn normal(&self) -> UnitVector3<f64> {
        self.normal
    }

    /// Distance of the plane from the origin along its normal, m.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// Distance of a point from the plane, positive in front, m.
    pub fn distance(&self, p: &Point3<f64>) -> f64 {
        self.normal.dot(&p.coords) - self.offset
    }

    /// The same plane seen from behind.
    #[must_use]
    pub fn flipped(&self) -> Self {
        Self { normal: -self.normal, offset: -self.offset }
    }
}
