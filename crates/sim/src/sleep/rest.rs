//! Whether a body is still, and what a sleeper touches.

use contact::Prop;
use dynamics::{Momentum, Velocity};
use nalgebra::Isometry3;

use crate::BodyId;

/// Whether and since when a body is still.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    pub(crate) asleep: bool,
    /// Where it was when it last moved far.
    pub(crate) pose: Isometry3<f64>,
    /// Frames since.
    pub(crate) frames: usize,
    /// Where it was after the last half of the time that it must be still.
    pub(crate) mark: Isometry3<f64>,
    /// How far it had moved in that half, m.
    pub(crate) moved: f64,
    /// Whether it had moved farther than in the half before.
    pub(crate) speeds_up: bool,
}

impl Rest {
    pub(crate) fn new(pose: &Isometry3<f64>) -> Self {
        let moved = f64::INFINITY;
        Self { asleep: false, pose: *pose, frames: 0, mark: *pose, moved, speeds_up: false }
    }
}

/// What a sleeper touches, or touched when it fell asleep.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) sleeper: BodyId,
    pub(crate) other: BodyId,
    /// On the sleeper in a frame, about its center of mass, when it fell asleep.
    pub(crate) load: Momentum,
    /// The same lately, on average.
    pub(crate) lately: Momentum,
    /// Whether the other carries it.
    pub(crate) carries: bool,
    /// Where the other may bear more or less of it while that is held too.
    pub(crate) props: Vec<Prop>,
}

/// What links are sorted by.
pub(super) fn key(link: &Link) -> (BodyId, BodyId) {
    (link.sleeper, link.other)
}

/// An impulse that would change the velocity of a sleeper by this much wakes it, and what moves faster does not fall
/// asleep, m/s.
pub(super) const WAKING_SPEED: f64 = 0.1;

/// The speed that a body's fastest point may have, m/s.
pub(super) fn speed(velocity: &Velocity, reach: f64) -> f64 {
    velocity.linear.norm() + velocity.angular.norm() * reach
}
