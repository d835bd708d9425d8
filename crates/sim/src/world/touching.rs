//! Touching pairs of bodies, as reported and stored.

use nalgebra::{Point3, Vector3};

use crate::BodyId;

/// Contacts of a frame, pair by pair, each pair and all pairs in the order of [`BodyId`].
///
/// Two bodies touch in a frame if they exchange an impulse in it, or have a gap of at most the
/// penetration slop at its end. Sleepers continue to touch the bodies they lie on, but
/// [`Self::touching`] does not list them.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ContactEvents {
    /// Pairs that did not touch in the previous frame.
    pub began: Vec<[BodyId; 2]>,
    /// Pairs that touched in the previous frame and no longer do, also if a body was removed.
    pub ended: Vec<[BodyId; 2]>,
    /// Pairs in contact of which at least one body is dynamic and awake.
    pub touching: Vec<TouchingPair>,
}

/// Two bodies that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TouchingPair {
    /// The bodies.
    pub bodies: [BodyId; 2],
    /// Their contact with the largest impulse in the frame, or else the deepest one, in the world,
    /// m.
    pub point: Point3<f64>,
    /// Unit normal at the point, out of the second body.
    pub normal: Vector3<f64>,
    /// Normal impulse on the first body, summed over all contacts and collisions of the frame, N s.
    /// It does not include the changes of velocity by the energy bound.
    pub impulse: f64,
    /// Names of their materials; stone unless set by
    /// [`World::set_solid_material`](crate::World::set_solid_material).
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

/// Contact events of the last frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactLog {
    /// Pairs that touched in the last frame, sorted.
    pub(crate) pairs: Vec<[BodyId; 2]>,
    /// Collisions of this frame.
    pub(super) collisions: Vec<TouchingPair>,
}

impl ContactLog {
    /// A log of these pairs.
    pub(crate) fn touching(mut pairs: Vec<[BodyId; 2]>) -> Self {
        pairs.sort_unstable();
        Self { pairs, collisions: Vec::new() }
    }
}
