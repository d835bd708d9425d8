//! The camera of a scene.

use serde::Deserialize;

use super::InvalidValue;
use super::check::{at, bounded, require};
use super::motion::time;

/// Largest number of keyframes of a camera.
const MAX_KEYS: usize = 10_000;
/// Minimum distance of the camera from its target, m.
const NEAREST: f64 = 1e-6;

/// Camera of images and the viewer: `[camera]`. Missing values are fitted to the fractures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Target point, m.
    pub at: Option<[f64; 3]>,
    /// Position of the camera, m; the initial position if the camera follows a body.
    pub from: Option<[f64; 3]>,
    /// Vertical field of view, degrees.
    #[serde(default = "field_of_view")]
    pub field_of_view: f64,
    /// The body that the camera follows, which stays in the center of the image. After it breaks,
    /// the median of its pieces replaces it.
    pub follow: Option<String>,
    /// Keyframes in ascending order of time. Between two the camera moves at constant speed.
    pub keyframes: Option<Vec<CameraKey>>,
}

/// A camera at a time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CameraKey {
    /// Time, s.
    pub time: f64,
    /// Target point at that time, m.
    pub at: [f64; 3],
    /// Position at that time, m.
    pub from: [f64; 3],
}

fn field_of_view() -> f64 {
    28.6
}

impl Camera {
    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        let Self { at: target, from, field_of_view, follow, keyframes } = self;
        require((1.0..=120.0).contains(field_of_view), "camera.field_of_view", || {
            format!("must be from 1 to 120 degrees, not {field_of_view:?}")
        })?;
        let ways = [target.is_some(), follow.is_some(), keyframes.is_some()];
        require(
            ways.iter().filter(|given| **given).count() <= 1,
            "camera",
            || "says in several ways where it looks: give one of `at`, `follow` and `keyframes`",
        )?;
        require(
            target.is_none() || from.is_some(),
            "camera.at",
            || "does not say where the camera is: give `from` as well",
        )?;
        require(
            from.is_none() || target.is_some() || follow.is_some(),
            "camera.from",
            || "does not say where the camera looks: give `at` or `follow` as well",
        )?;
        if let (Some(at), Some(from)) = (target, from) {
            check_places("camera", at, from)?;
        }
        if let Some(from) = from {
            bounded("camera.from", from, "m")?;
        }
        check_keys(keyframes.as_deref())
    }
}

fn check_keys(keys: Option<&[CameraKey]>) -> Result<(), InvalidValue> {
    let Some(keys) = keys else { return Ok(()) };
    require(
        !keys.is_empty(),
        "camera.keyframes",
        || "is empty: give a keyframe or remove the key",
    )?;
    require(keys.len() <= MAX_KEYS, "camera.keyframes", || {
        format!("has {} keyframes, more than {MAX_KEYS}: use fewer", keys.len())
    })?;
    for (n, key) in keys.iter().enumerate() {
        let name = format!("camera.keyframes[{n}]");
        time(&at(&name, "time"), key.time)?;
        check_places(&name, &key.at, &key.from)?;
        let ascends = n == 0 || keys[n - 1].time < key.time;
        require(ascends, &at(&name, "time"), || "is not after that of the keyframe before")?;
    }
    Ok(())
}

fn check_places(key: &str, target: &[f64; 3], from: &[f64; 3]) -> Result<(), InvalidValue> {
    bounded(&at(key, "at"), target, "m")?;
    bounded(&at(key, "from"), from, "m")?;
    let apart = target.iter().zip(from).any(|(a, b)| (a - b).abs() >= NEAREST);
    require(apart, &at(key, "from"), || "is where the camera looks: move one of the two")
}
