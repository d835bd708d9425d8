//! Lattices of masses and links that can be simulated.

use super::{at, bounded, count, direction, fraction, of_material, positive, require, tetrahedra};
use crate::scene::{Body, Cleave, InvalidValue, Lattice, Noise, StrengthPicture, WeakSphere};

/// Most steps in which a blow grows.
const MAX_STEPS: usize = 100;
/// Most rounds of smoothing.
const MAX_ROUNDS: usize = 100;

pub(super) fn check(key: &str, l: &Lattice, b: &Body) -> Result<(), InvalidValue> {
    tetrahedra(key, l.spacing, b)?;
    positive(&at(key, "duration"), l.duration, "s")?;
    of_material(key, "strength", l.strength, b)?;
    require((0.0..=100.0).contains(&l.randomness), &at(key, "randomness"), || {
        format!("must be from 0 to 100, not {:?}", l.randomness)
    })?;
    links(key, l)?;
    count(&at(key, "smoothing"), l.smoothing, 0, MAX_ROUNDS)?;
    if let Some(Noise { amplitude, frequency }) = l.noise {
        require((0.0..1.0).contains(&amplitude), &at(key, "noise.amplitude"), || {
            format!("must be from 0 to below 1, not {amplitude:?}")
        })?;
        positive(&at(key, "noise.frequency"), frequency, "1/m")?;
    }
    for (n, c) in l.cleave.iter().enumerate() {
        cleave(&format!("{key}.cleave[{n}]"), c)?;
    }
    for (n, s) in l.weak_spheres.iter().enumerate() {
        weak_sphere(&format!("{key}.weak_spheres[{n}]"), s)?;
    }
    let picture = l.strength_picture.as_ref();
    picture.map_or(Ok(()), |picture| strength_picture(&at(key, "strength_picture"), picture))
}

/// How links break and weaken each other.
fn links(key: &str, l: &Lattice) -> Result<(), InvalidValue> {
    if let Some(steps) = l.steps {
        count(&at(key, "steps"), steps, 1, MAX_STEPS)?;
    }
    if let Some(compression) = l.compression {
        positive(&at(key, "compression"), compression, "times")?;
    }
    for (name, share) in [("damage", l.damage), ("weakening", l.weakening), ("tau", l.tau)] {
        share.map_or(Ok(()), |share| fraction(&at(key, name), share))?;
    }
    l.alpha.map_or(Ok(()), |alpha| {
        require(alpha > 0.0 && alpha < 1.0, &at(key, "alpha"), || {
            format!("must be above 0 and below 1, not {alpha:?}")
        })
    })
}

fn cleave(key: &str, c: &Cleave) -> Result<(), InvalidValue> {
    require(
        c.normal.iter().any(|x| *x != 0.0) && c.normal.iter().all(|x| x.is_finite()),
        &at(key, "normal"),
        || format!("must be a direction, not {:?}", c.normal),
    )?;
    require(c.offset.is_finite(), &at(key, "offset"), || {
        format!("must be a number, not {:?}", c.offset)
    })?;
    positive(&at(key, "width"), c.width, "m")?;
    factor(key, c.factor)
}

fn weak_sphere(key: &str, s: &WeakSphere) -> Result<(), InvalidValue> {
    bounded(&at(key, "centre"), &s.center, "m")?;
    positive(&at(key, "radius"), s.radius, "m")?;
    positive(&at(key, "width"), s.width, "m")?;
    factor(key, s.factor)
}

fn factor(key: &str, factor: f64) -> Result<(), InvalidValue> {
    require((0.0..=1.0).contains(&factor), &at(key, "factor"), || {
        format!("must be from 0 to 1, not {factor:?}")
    })
}

fn strength_picture(key: &str, p: &StrengthPicture) -> Result<(), InvalidValue> {
    bounded(&at(key, "corner"), &p.corner, "m")?;
    direction(&at(key, "across"), &p.across)?;
    direction(&at(key, "down"), &p.down)?;
    let dot = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let sizes = dot(&p.across, &p.across) * dot(&p.down, &p.down);
    require(
        dot(&p.across, &p.down).abs() <= 1e-6 * sizes.sqrt(),
        &at(key, "down"),
        || "must be at a right angle to `across`",
    )?;
    fraction(&at(key, "darkest"), p.darkest)
}
