//! A surface point near another body.

use nalgebra::{Point3, Vector3};

/// One of the two bodies of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first body.
    A,
    /// The second body.
    B,
}

impl Side {
    /// Indices of this body and of the other one within the pair.
    pub(crate) fn order(self) -> [usize; 2] {
        match self {
            Self::A => [0, 1],
            Self::B => [1, 0],
        }
    }

    /// The sign that turns a normal out of the other body into a normal out of the second body.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Self::A => 1.0,
            Self::B => -1.0,
        }
    }
}

/// A surface point near the other body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) owner: Side,
    /// Position in the owner's body coordinates.
    pub(crate) point: Point3<f64>,
    /// Normal out of the other body in its coordinates, if already computed.
    pub(crate) normal: Option<Vector3<f64>>,
    pub(crate) key: u32,
    pub(crate) distance: f64,
}

/// A surface point near another body, in the state of the narrow-phase test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The body that owns the surface point.
    pub(crate) owner: Side,
    /// Key of the point in its shape; persistent over frames.
    pub(crate) key: u32,
    /// Position in the owner's body coordinates.
    pub(crate) point: Point3<f64>,
    /// Unit normal out of the other body, in its coordinates.
    pub(crate) normal: Vector3<f64>,
    /// Signed distance to the other body, m.
    pub(crate) distance: f64,
}
