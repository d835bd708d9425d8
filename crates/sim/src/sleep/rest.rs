//! Whether a body is still, and the neighbors of a sleeper.

use contact::SupportContact;
use dynamics::{Momentum, Velocity};
use nalgebra::Isometry3;

use crate::BodyId;

/// Whether and since when a body is still.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    pub(crate) asleep: bool,
    /// Its pose when it last moved far.
    pub(crate) pose: Isometry3<f64>,
    /// Number of frames since then.
    pub(crate) frames: usize,
    /// Its pose at the end of the last half period; it falls asleep after two of them.
    pub(crate) mark: Isometry3<f64>,
    /// Its displacement in that half period, m.
    pub(crate) moved: f64,
    /// Whether it moved farther than in the half period before.
    pub(crate) speeds_up: bool,
}

impl Rest {
    pub(crate) fn new(pose: &Isometry3<f64>) -> Self {
        let moved = f64::INFINITY;
        Self { asleep: false, pose: *pose, frames: 0, mark: *pose, moved, speeds_up: false }
    }
}

/// What is asleep, and what may wake it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SleepState {
    /// One per body.
    pub(crate) rests: Vec<Rest>,
    /// Contacts and joints of sleepers, sorted by both bodies.
    pub(crate) links: Vec<Link>,
    /// Whether bodies were removed that sleepers may have touched.
    pub(crate) bodies_removed: bool,
}

/// A body that a sleeper touches, or touched when it fell asleep.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) sleeper: BodyId,
    pub(crate) other: BodyId,
    /// Impulse of a frame on the sleeper when it fell asleep, about its center of mass.
    pub(crate) load: Momentum,
    /// Running average of this impulse.
    pub(crate) average: Momentum,
    /// Whether the other body lies below and supports it.
    pub(crate) supports: bool,
    /// Contact points at which the other body can support the sleeper while both are held.
    pub(crate) props: Vec<SupportContact>,
}

/// Sort key of links.
pub(super) fn key(link: &Link) -> (BodyId, BodyId) {
    (link.sleeper, link.other)
}

/// Change of velocity, m/s, at which an impulse wakes a sleeper; faster bodies do not fall asleep.
pub(super) const WAKING_SPEED: f64 = 0.1;

/// Upper bound of the speed of points within `reach` of the center of mass, m/s.
pub(super) fn speed(velocity: &Velocity, reach: f64) -> f64 {
    velocity.linear.norm() + velocity.angular.norm() * reach
}
