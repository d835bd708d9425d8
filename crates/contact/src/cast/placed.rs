//! A shape at a pose.

use nalgebra::Isometry3;

use crate::narrow::posed::Posed;
use crate::shape::Shape;

/// A shape at a pose, for queries about two solids.
#[derive(Clone, Copy, Debug)]
pub struct PlacedShape<'a> {
    /// The shape.
    pub shape: &'a Shape,
    /// Its body coordinates in those of the world.
    pub pose: &'a Isometry3<f64>,
}

impl Shape {
    /// This shape at a pose.
    pub fn at<'a>(&'a self, pose: &'a Isometry3<f64>) -> PlacedShape<'a> {
        PlacedShape { shape: self, pose }
    }
}

impl<'a> PlacedShape<'a> {
    /// Whether it can touch another.
    pub(super) fn is_solid(&self) -> bool {
        !self.shape.is_empty() && self.shape.is_usable()
    }

    /// Its body coordinates in those of a body at `pose`.
    pub(super) fn seen_from(&self, pose: &Isometry3<f64>) -> Isometry3<f64> {
        pose.inv_mul(self.pose)
    }

    pub(super) fn with(&self, other: &PlacedShape<'a>) -> Posed<'a> {
        Posed { shapes: [self.shape, other.shape], poses: [self.pose, other.pose] }
    }
}
