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

impl Side {
    /// Numbers in the pair of this body and of the other one.
    pub(crate) fn order(self) -> [usize; 2] {
        match self {
            Self::A => [0, 1],
            Self::B => [1, 0],
        }
    }

    /// The sign that turns a normal out of the other body to one out of the second body.
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
    /// In the owner's body coordinates.
    pub(crate) point: Point3<f64>,
    /// Normal out of the other, in its coordinates, where it is known already.
    pub(crate) normal: Option<Vector3<f64>>,
    pub(crate) key: u32,
    pub(crate) distance: f64,
}

/// A surface point near another body, as it was when the pair was looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The body whose surface point this is.
    pub(crate) owner: Side,
    /// Number of the point in its shape, an identity over frames.
    pub(crate) key: u32,
    /// In the owner's body coordinates.
    pub(crate) point: Point3<f64>,
    /// Out of the other body, in its coordinates.
    pub(crate) normal: Vector3<f64>,
    /// Signed distance to the other body, m.
    pub(crate) distance: f64,
}
