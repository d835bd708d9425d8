//! What happens to bodies from outside: wind, events and paths.

use nalgebra::Isometry3;
use serde::Deserialize;

use super::body::placed;
use super::check::{at, bounded, direction, positive, require};
use super::error::nearest;
use super::{Body, InvalidValue, Motion, Rotation, Scene};

/// Largest time of an event or a keyframe, s.
const LARGEST_TIME: f64 = 1e6;

/// Air that moves and drags bodies along: `[wind]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wind {
    /// Its velocity, m/s; `[0, 0, 0]`, still air, unless given.
    pub velocity: [f64; 3],
    /// Its density, kg/m^3; 1.2 unless given.
    pub density: f64,
    /// Drag coefficient of bodies; 0.8 unless given.
    pub drag: f64,
}

impl Default for Wind {
    fn default() -> Self {
        Self { velocity: [0.0; 3], density: 1.2, drag: 0.8 }
    }
}

/// Something that happens at a time: `[[event]]`. Give one of `cut`, `explode` and `push`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When, s; at the start of the frame that is nearest.
    pub time: f64,
    /// An edge cuts every dynamic body in its way.
    pub cut: Option<Cut>,
    /// A blast.
    pub explode: Option<Explosion>,
    /// One body is hit.
    pub push: Option<Push>,
}

/// `cut = { from = [[-1, 1, 0], [1, 1, 0]], to = [[-1, 0, 0], [1, 0, 0]] }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// The ends of the edge before, m.
    pub from: [[f64; 3]; 2],
    /// The ends of the edge after, m.
    pub to: [[f64; 3]; 2],
}

/// `explode = { at = [0, 1, 0], radius = 3, impulse = 400 }`: pushes bodies away and breaks those
/// that bear less.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explosion {
    /// Its center, m.
    pub at: [f64; 3],
    /// How far it reaches, m.
    pub radius: f64,
    /// Impulse per area at the center, Pa s; it falls evenly to nothing at the radius.
    pub impulse: f64,
}

/// `push = { body = "ball", impulse = [1, 0, 0] }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// Name of a dynamic body; nothing happens if it broke before.
    pub body: String,
    /// N s.
    pub impulse: [f64; 3],
    /// Where in the world, m; at the center of mass unless given.
    pub at: Option<[f64; 3]>,
}

/// Where a kinematic body is at a time: `keyframes = [{ time = 0, position = [0, 1, 0] }, ...]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// s.
    pub time: f64,
    /// Where the shape's origin is then, m.
    pub position: [f64; 3],
    /// How the shape is turned then; not at all unless given. Between two keyframes it turns the
    /// short way.
    #[serde(default)]
    pub rotation: Rotation,
}

impl Keyframe {
    /// Shape coordinates to world.
    pub fn pose(&self) -> Isometry3<f64> {
        placed(self.position, self.rotation)
    }
}

impl Scene {
    pub(super) fn check_timeline(&self) -> Result<(), InvalidValue> {
        if let Some(wind) = &self.wind {
            bounded("wind.velocity", &wind.velocity, "m/s")?;
            positive("wind.density", wind.density, "kg/m^3")?;
            positive("wind.drag", wind.drag, "")?;
        }
        for (n, event) in self.events.iter().enumerate() {
            self.check_event(&format!("event[{n}]"), event)?;
        }
        Ok(())
    }

    fn check_event(&self, key: &str, event: &Event) -> Result<(), InvalidValue> {
        time(&at(key, "time"), event.time)?;
        let given = [event.cut.is_some(), event.explode.is_some(), event.push.is_some()];
        require(
            given.iter().filter(|given| **given).count() == 1,
            key,
            || "needs exactly one of the keys `cut`, `explode` and `push`",
        )?;
        if let Some(cut) = &event.cut {
            bounded(&at(key, "cut.from"), cut.from.as_flattened(), "m")?;
            bounded(&at(key, "cut.to"), cut.to.as_flattened(), "m")?;
        }
        if let Some(explosion) = &event.explode {
            bounded(&at(key, "explode.at"), &explosion.at, "m")?;
            positive(&at(key, "explode.radius"), explosion.radius, "m")?;
            positive(&at(key, "explode.impulse"), explosion.impulse, "Pa s")?;
        }
        let Some(push) = &event.push else { return Ok(()) };
        bounded(&at(key, "push.impulse"), &push.impulse, "N s")?;
        bounded(&at(key, "push.at"), push.at.as_ref().map_or(&[], |at| &at[..]), "m")?;
        let moves = |b: &&Body| b.motion == Motion::Dynamic;
        let named = self.bodies.iter().filter(moves).flat_map(Body::names);
        let names: Vec<String> = named.collect();
        require(names.contains(&push.body), &at(key, "push.body"), || {
            match nearest(&push.body, names.iter().map(String::as_str)) {
                Some(near) => format!("names no dynamic body, did you mean `{near}`?"),
                None => "names no dynamic body: give the name of one".to_owned(),
            }
        })
    }
}

pub(super) fn time(key: &str, t: f64) -> Result<(), InvalidValue> {
    require((0.0..=LARGEST_TIME).contains(&t), key, || {
        format!("must be from 0 to {LARGEST_TIME:e} s, not {t:?}")
    })
}

impl Body {
    /// The keyframes of a body.
    pub(super) fn check_keyframes(&self, key: &str) -> Result<(), InvalidValue> {
        let Some(keyframes) = &self.keyframes else { return Ok(()) };
        let rests = self.velocity == [0.0; 3] && self.angular_velocity == [0.0; 3];
        require(
            self.motion == Motion::Kinematic && rests,
            key,
            || "must be removed: only a kinematic body without a velocity follows keyframes",
        )?;
        require(
            self.position == [0.0; 3] && self.rotation == Rotation::default(),
            key,
            || "says where the body is: remove its `position` and `rotation`",
        )?;
        require(!keyframes.is_empty(), key, || "is empty: give at least one keyframe")?;
        let mut last = f64::NEG_INFINITY;
        for (n, keyframe) in keyframes.iter().enumerate() {
            let key = format!("{key}[{n}]");
            time(&at(&key, "time"), keyframe.time)?;
            require(keyframe.time > last, &at(&key, "time"), || {
                format!("must be after the time of the keyframe before, {last} s")
            })?;
            last = keyframe.time;
            bounded(&at(&key, "position"), &keyframe.position, "m")?;
            direction(&at(&key, "rotation.axis"), &keyframe.rotation.axis)?;
            bounded(&at(&key, "rotation.degrees"), &[keyframe.rotation.degrees], "degrees")?;
        }
        Ok(())
    }
}
