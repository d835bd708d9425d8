//! Records of hits: enough to break the bodies again without their collisions.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::BodyId;
use crate::world::limits::{UNIT, is_usable};
use crate::world::numbers::{momentum, pose};

/// A body that was hit harder than its strength, or cut.
///
/// Everything random in a scene is made before its first frame, so that a body, a place and an
/// impulse decide what becomes of it, bit by bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// The frame in which it happens, 1 for the first.
    pub frame: usize,
    /// What hit it.
    pub cause: Trigger,
    /// The body.
    pub body: BodyId,
    /// Where, m: in body coordinates; for a cut, in the coordinates of the body's samples.
    pub point: [f64; 3],
    /// Along the blow, in the world; for a cut, its normal in the coordinates of the body's samples.
    pub normal: [f64; 3],
    /// The impulse it would have received, in the world, N s.
    pub impulse: [f64; 3],
    /// The strength of the body, N s; unlimited if not given.
    pub strength: Option<f64>,
    /// The model that divides it.
    pub model: Option<ModelKind>,
    /// The outcome.
    pub outcome: HitOutcome,
    /// Its pose then: place, m, and unit quaternion x, y, z, w.
    pub pose: [f64; 7],
    /// Its linear and its angular momentum then, kg m/s and kg m^2/s.
    pub momentum: [f64; 6],
    /// Duration of the blow, s, if the body is of finite elements.
    pub duration: Option<f64>,
    /// Other impulses on a body of finite elements during the blow: contacts, joints, other blows.
    #[serde(default)]
    pub reactions: Vec<Push>,
    /// Kinetic energy that the blow takes, J: the limit of the plastic work and the kinetic energy of a dent; unlimited
    /// if not given.
    #[serde(default)]
    pub energy: Option<f64>,
}

/// An impulse at a point of a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Push {
    /// Where, in body coordinates, m.
    pub point: [f64; 3],
    /// In the world, N s.
    pub impulse: [f64; 3],
}

/// What hit a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Another body, in a pass over the collisions of its frame, 0 for the first.
    Collision(usize),
    /// An explosion, the number of an action of the timeline.
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
    /// It came apart into so many pieces.
    Broke(usize),
    /// It stays deformed.
    Dented,
    /// It held together.
    Held,
    /// Nothing divides it; it never breaks from then on.
    Whole,
    /// There was no room for its pieces.
    OverBudget,
    /// It was asleep and woke because it could have broken: the blow alone is too weak to wake a body of its mass.
    Woke,
}

/// Why events cannot be repeated.
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
    /// Whether its numbers can be those of a blow: finite, with a rotation and a normal of length 1 or none.
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
