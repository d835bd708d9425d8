//! External influences on bodies: wind, events and paths.

use nalgebra::Vector3;
use serde::Deserialize;

use super::InvalidValue;
use super::check::{at, bounded, positive, require};
use super::motion::time;

/// Area that an edge sweeps below which it spans no plane, as a share of the square of the longer of the
/// edge and its path.
const SLIVER: f64 = 1e-9;
/// Largest distance of an end of a cut from its plane, as a share of the size of the cut. Ends given to
/// two digits are closer; a twisted sweep is not, and its plane would surprise.
const MAX_TWIST: f64 = 0.05;

/// Moving air with drag: `[wind]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wind {
    /// Its velocity, m/s; `[0, 0, 0]`, still air, by default.
    pub velocity: [f64; 3],
    /// Its density, kg/m^3; 1.2 by default.
    pub density: f64,
    /// Drag coefficient of bodies; 0.8 by default.
    pub drag: f64,
}

impl Default for Wind {
    fn default() -> Self {
        Self { velocity: [0.0; 3], density: 1.2, drag: 0.8 }
    }
}

/// An event at a time: `[[event]]`. Exactly one of `cut`, `explode` and `push` is required.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Time, s; the event takes place at the start of the nearest frame.
    pub time: f64,
    /// An edge cuts every dynamic body in its path.
    pub cut: Option<Cut>,
    /// An explosion.
    pub explode: Option<Explosion>,
    /// An impulse on one body.
    pub push: Option<Push>,
}

/// `cut = { from = [[-1, 1, 0], [1, 1, 0]], to = [[-1, 0, 0], [1, 0, 0]] }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Ends of the edge before the cut, m.
    pub from: [[f64; 3]; 2],
    /// Ends of the edge after the cut, m.
    pub to: [[f64; 3]; 2],
}

/// `explode = { at = [0, 1, 0], radius = 3, impulse = 400 }`: pushes bodies away and breaks those
/// with less strength.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explosion {
    /// Its center, m.
    pub at: [f64; 3],
    /// Radius of the explosion, m.
    pub radius: f64,
    /// Impulse per area at the center, Pa s; it falls linearly to zero at the radius.
    pub impulse: f64,
}

/// `push = { body = "ball", impulse = [1, 0, 0] }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// Name of a dynamic body, copy or piece; no effect after it broke.
    pub body: String,
    /// Impulse, N s.
    pub impulse: [f64; 3],
    /// Position in the world, m; the center of mass by default.
    pub at: Option<[f64; 3]>,
}

impl Wind {
    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        bounded("wind.velocity", &self.velocity, "m/s")?;
        positive("wind.density", self.density, "kg/m^3")?;
        positive("wind.drag", self.drag, "")
    }
}

impl Cut {
    /// Checks that the edge sweeps a plane.
    fn check_plane(&self, key: &str) -> Result<(), InvalidValue> {
        let [from, to] = [self.from, self.to].map(|ends| ends.map(Vector3::from));
        let (edge, way) = (from[1] - from[0], (to[0] + to[1] - from[0] - from[1]) / 2.0);
        let size = edge.norm().max(way.norm());
        let normal = edge.cross(&way).try_normalize(SLIVER * size * size);
        let Some(normal) = normal else {
            return require(
                false,
                key,
                || "must be another place than `from`, across the edge: it sweeps no surface",
            );
        };
        let off = to.map(|end| normal.dot(&(end - from[0])).abs()).into_iter().fold(0.0, f64::max);
        require(off <= MAX_TWIST * size, key, || {
            format!("is {off:.3} m out of the plane of `from` and its path: cuts are plane")
        })
    }
}

impl Event {
    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        time(&at(key, "time"), self.time)?;
        let given = [self.cut.is_some(), self.explode.is_some(), self.push.is_some()];
        require(
            given.iter().filter(|given| **given).count() == 1,
            key,
            || "needs exactly one of the keys `cut`, `explode` and `push`",
        )?;
        if let Some(cut) = &self.cut {
            bounded(&at(key, "cut.from"), cut.from.as_flattened(), "m")?;
            bounded(&at(key, "cut.to"), cut.to.as_flattened(), "m")?;
            cut.check_plane(&at(key, "cut.to"))?;
        }
        if let Some(explosion) = &self.explode {
            bounded(&at(key, "explode.at"), &explosion.at, "m")?;
            positive(&at(key, "explode.radius"), explosion.radius, "m")?;
            positive(&at(key, "explode.impulse"), explosion.impulse, "Pa s")?;
        }
        let Some(push) = &self.push else { return Ok(()) };
        bounded(&at(key, "push.impulse"), &push.impulse, "N s")?;
        bounded(&at(key, "push.at"), push.at.as_ref().map_or(&[], |at| &at[..]), "m")?;
        Ok(())
    }
}
