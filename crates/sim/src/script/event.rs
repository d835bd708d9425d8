//! Records of hits, sufficient to break the bodies again without their collisions.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::BodyId;
use crate::world::limits::{UNIT, is_usable};
use crate::world::numbers::{momentum, pose};

/// A body that was hit beyond its strength, or cut.
///
/// All random data of a scene is created before its first frame, so that a body, a point and an
/// impulse determine the outcome to the bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// The frame of the event, 1 for the first.
    pub frame: usize,
    /// Cause of the hit.
    pub cause: Trigger,
    /// The body.
    pub body: BodyId,
    /// Impact point, m: in body coordinates; for a cut, in the coordinates of the body's samples.
    pub point: [f64; 3],
    /// Direction of the impact, in the world; for a cut, its normal in the coordinates of the
    /// body's samples.
    pub normal: [f64; 3],
    /// The impulse it would have received, in the world, N s.
    pub impulse: [f64; 3],
    /// The strength of the body, N s; `None` for unlimited.
    pub strength: Option<f64>,
    /// The model that divides it.
    pub model: Option<ModelKind>,
    /// The outcome.
    pub outcome: HitOutcome,
    /// Its pose at the time: position, m, and unit quaternion x, y, z, w.
    pub pose: [f64; 7],
    /// Its linear and angular momentum at the time, kg m/s and kg m^2/s.
    pub momentum: [f64; 6],
    /// Duration of the impact, s, for a finite element body.
    pub duration: Option<f64>,
    /// Other impulses on a finite element body during the impact: contacts, joints, other impacts.
    #[serde(default)]
    pub reactions: Vec<Push>,
    /// Kinetic energy dissipated by the impact, J: the limit of the plastic work and the kinetic
    /// energy of a dent; `None` for unlimited.
    #[serde(default)]
    pub energy: Option<f64>,
}

/// An impulse at a point of a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Push {
    /// Position in body coordinates, m.
    pub point: [f64; 3],
    /// Impulse in the world, N s.
    pub impulse: [f64; 3],
}

/// Cause of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Another body, in a collision pass of its frame, 0 for the first.
    Collision(usize),
    /// An explosion, by the index of an action of the timeline.
    Explosion(usize),
    /// A cut.
    Cut,
    /// The load of an anchored body.
    Load,
}

/// A [`FractureModel`](crate::FractureModel) by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// A pattern.
    Prescored,
    /// A lattice of masses.
    Lattice,
    /// Finite elements.
    Stress,
}

/// The outcome of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HitOutcome {
    /// It broke into this many pieces.
    Broke(usize),
    /// It was deformed.
    Dented,
    /// It stayed whole.
    Held,
    /// Nothing divides it; it never breaks from then on.
    Whole,
    /// There was no room for its pieces.
    OverBudget,
    /// It was asleep and woke because it could have broken: the impact alone is too weak to wake a
    /// body of its mass.
    Woke,
}

/// Why an event cannot be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "body {body} does not break in frame {frame} as recorded: use the scene that the events are of"
)]
pub struct ReplayMismatch {
    /// The frame.
    pub frame: usize,
    /// The body.
    pub body: BodyId,
}

impl Event {
    /// Whether its numbers can be those of an impact: finite, with a rotation and a normal of
    /// length 1 or zero.
    pub fn is_usable(&self) -> bool {
        let normal = Vector3::from(self.normal).norm_squared();
        let pushes = self.reactions.iter().flat_map(|push| push.point.iter().chain(&push.impulse));
        let places = self.point.iter().chain(&self.impulse).chain(pushes);
        self.duration.is_none_or(|time| time > 0.0 && time.is_finite())
            && self.energy.is_none_or(|energy| energy >= 0.0)
            && (normal == 0.0 || (normal - 1.0).abs() <= UNIT)
            && places.into_iter().all(|x| x.is_finite())
            && is_usable(&pose(&self.pose), &momentum(&self.momentum))
    }
}
