//! A surface point near another body.

use nalgebra::{Point3, Vector3};

/// Which body of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// A surface point near the other body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) owner: Side,
    /// In the owner's body coordinates.
    pub(crate) point: Point3<f64>,
    /// Normal out of the other, in its coordinates, where it is known already.
    pub(crate) normal: Option<Vector3<f64>>,
    pub(crate) key: u32,
    pub(crate) distance: f64,
}
