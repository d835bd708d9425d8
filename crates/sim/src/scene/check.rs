//! Limits of numbers in scenes, and errors beyond them.

use std::fmt::Display;

use super::InvalidValue;

/// Largest length, speed or offset, in SI units; keeps squares and cubes far from overflow.
pub(super) const LARGEST: f64 = 1e9;
/// Smallest size of a body, m; keeps masses and moments of inertia far from underflow.
const SMALLEST_SIZE: f64 = 1e-9;
/// Largest stress, Pa.
pub(super) const STRONGEST: f64 = 1e15;
/// Largest number of cells of a fracture pattern.
pub(super) const MAX_PIECES: usize = 10_000;

pub(super) fn at(path: &str, key: &str) -> String {
    format!("{path}.{key}")
}

/// The message for a body without the key of its strength, if its material gives none either.
pub(super) fn lacks_strength(key: &str, unit: &str) -> String {
    format!(
        "lacks the key `{key}`, in {unit}: give it, or a `material` with `density`, `stiffness` and `strength`"
    )
}

pub(super) fn require<P: Display>(
    holds: bool,
    key: &str,
    problem: impl FnOnce() -> P,
) -> Result<(), InvalidValue> {
    if holds {
        return Ok(());
    }
    Err(InvalidValue { key: key.to_owned(), problem: problem().to_string() })
}

pub(super) fn positive(key: &str, x: f64, unit: &str) -> Result<(), InvalidValue> {
    require(x > 0.0 && x <= LARGEST, key, || {
        format!("must be above 0 and at most {LARGEST:e} {unit}, not {x:?}")
    })
}

/// Checks a length of a body, m.
pub(super) fn extent(key: &str, x: f64) -> Result<(), InvalidValue> {
    require((SMALLEST_SIZE..=LARGEST).contains(&x), key, || {
        format!("must be between {SMALLEST_SIZE:e} and {LARGEST:e} m, not {x:?}")
    })
}

/// Checks a lever arm of torques over forces, m.
pub(super) fn lever_arm(key: &str, x: f64) -> Result<(), InvalidValue> {
    require((0.0..=LARGEST).contains(&x), key, || {
        format!("must be between 0 and {LARGEST:e} m, not {x:?}")
    })
}

pub(super) fn stress(key: &str, x: f64) -> Result<(), InvalidValue> {
    require(x > 0.0 && x <= STRONGEST, key, || {
        format!("must be above 0 and at most {STRONGEST:e} Pa, not {x:?}")
    })
}

pub(super) fn bounded(key: &str, values: &[f64], unit: &str) -> Result<(), InvalidValue> {
    require(values.iter().all(|x| x.abs() <= LARGEST), key, || match values {
        [x] => format!("must be a finite number of at most {LARGEST:e} {unit}, not {x:?}"),
        _ => format!("must hold finite numbers of at most {LARGEST:e} {unit}, not {values:?}"),
    })
}

pub(super) fn fraction(key: &str, x: f64) -> Result<(), InvalidValue> {
    require((0.0..=1.0).contains(&x), key, || format!("must be between 0 and 1, not {x:?}"))
}

pub(super) fn direction(key: &str, v: &[f64; 3]) -> Result<(), InvalidValue> {
    bounded(key, v, "")?;
    let squared: f64 = v.iter().map(|x| x * x).sum();
    require(squared > 1e-18, key, || "must be a direction, not the zero vector")
}

pub(super) fn count(key: &str, n: usize, least: usize, most: usize) -> Result<(), InvalidValue> {
    require((least..=most).contains(&n), key, || {
        format!("must be between {least} and {most}, not {n}")
    })
}

/// Checks the share of the volume of the smallest piece.
pub(super) fn share(key: &str, share: Option<f64>) -> Result<(), InvalidValue> {
    let share = share.unwrap_or(0.0);
    require((0.0..1.0).contains(&share), key, || {
        format!("must be 0 or more and less than 1, not {share:?}")
    })
}
