//! Pairs of bodies that touch, as they are reported and remembered.

use nalgebra::{Point3, Vector3};

use crate::BodyId;

/// Contacts of a frame, pair by pair, each pair and all pairs in the order of [`BodyId`].
///
/// Two bodies touch in a frame if they exchange an impulse in it, or are no farther apart at its end than the
/// penetration slop. Sleepers go on touching the bodies they lie on, without being listed in
/// [`Self::touching`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ContactEvents {
    /// Pairs that did not touch in the frame before.
    pub began: Vec<[BodyId; 2]>,
    /// Pairs that touched in the frame before and do no more, also because a body is gone.
    pub ended: Vec<[BodyId; 2]>,
    /// Pairs that touch, unless both are at rest as sleepers or scenery.
    pub touching: Vec<TouchingPair>,
}

/// Two bodies that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TouchingPair {
    /// The bodies.
    pub bodies: [BodyId; 2],
    /// Their contact with the largest impulse in the frame, or the deepest if none has one, in the world, m.
    pub point: Point3<f64>,
    /// Unit normal there, out of the second body.
    pub normal: Vector3<f64>,
    /// Normal impulse on the first body, summed over all contacts and collisions of the frame, N s. The bound on the energy
    /// of a frame also changes velocities; the sum does not include that.
    pub impulse: f64,
    /// Names of their materials; stone unless set by
    /// [`World::set_substance`](crate::World::set_substance).
    pub materials: [&'static str; 2],
    /// The impulse at `point`, N s.
    pub(super) hardest: f64,
}

impl TouchingPair {
    /// Adds another contact of the pair.
    pub(super) fn add(&mut self, other: &Self) {
        self.impulse += other.impulse;
        if other.hardest > self.hardest {
            (self.point, self.normal) = (other.point, other.normal);
            self.hardest = other.hardest;
        }
    }
}

/// Contacts that are kept from frame to frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// Pairs that touched in the last frame, sorted.
    pub(crate) pairs: Vec<[BodyId; 2]>,
    /// Collisions of this frame.
    pub(super) blows: Vec<TouchingPair>,
}

impl Log {
    /// Of these pairs.
    pub(crate) fn touching(mut pairs: Vec<[BodyId; 2]>) -> Self {
        pairs.sort_unstable();
        Self { pairs, blows: Vec::new() }
    }
}
