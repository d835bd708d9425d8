//! Which patterns of a scene can be made.

use super::{MAX_PIECES, at, bounded, count, direction, fraction, positive, require};
use crate::scene::{Bricks, InvalidValue, Nested, Noise, Painted, Pattern, Points, Radial, Slices};

/// Maximum nesting depth: regions multiply with each level.
const MAX_DEPTH: usize = 4;
/// Most planes of slices in any direction: they make up to a sixth of the cube of it.
const MAX_PLANES: usize = 10_000;

fn noise(key: &str, noise: Option<Noise>) -> Result<(), InvalidValue> {
    let Some(Noise { amplitude, frequency }) = noise else { return Ok(()) };
    require((0.1..=100.0).contains(&frequency), &at(key, "frequency"), || {
        format!("must be between 0.1 and 100, not {frequency:?}")
    })?;
    let most = 1.0 / (3.0 * frequency);
    require((0.0..=most).contains(&amplitude), &at(key, "amplitude"), || {
        format!("must be between 0 and {most:.4}, a third of 1 / frequency, not {amplitude:?}")
    })
}

pub(in crate::scene) fn pattern(key: &str, p: &Pattern) -> Result<(), InvalidValue> {
    match p {
        Pattern::Voronoi(v) => {
            count(&at(key, "voronoi.pieces"), v.pieces, 2, MAX_PIECES)?;
            fraction(&at(key, "voronoi.clustering"), v.clustering)?;
            for x in v.stretch {
                require((0.01..=100.0).contains(&x), &at(key, "voronoi.stretch"), || {
                    format!("must be between 0.01 and 100, not {x:?}")
                })?;
            }
            noise(&at(key, "voronoi.noise"), v.noise)
        }
        Pattern::File(named) => {
            require(!named.file.is_empty(), &at(key, "file"), || "is empty: name a pattern file")
        }
        Pattern::Radial(r) => radial(&at(key, "radial"), r),
        Pattern::Bricks(b) => bricks(&at(key, "bricks"), b),
        Pattern::Slices(s) => slices(&at(key, "slices"), s),
        Pattern::Points(p) => points(&at(key, "points"), p),
        Pattern::Painted(p) => painted(&at(key, "painted"), p),
        Pattern::Nested(n) => nested(&at(key, "nested"), n),
        Pattern::Preset(_) => Ok(()),
    }
}

fn radial(key: &str, r: &Radial) -> Result<(), InvalidValue> {
    count(&at(key, "sectors"), r.sectors, 3, 1000)?;
    count(&at(key, "rings"), r.rings, 1, 1000)?;
    count(&at(key, "splinters"), r.splinters, 1, 1000)?;
    require(r.sectors * r.rings * r.splinters <= MAX_PIECES, &at(key, "rings"), || {
        format!("times sectors and splinters passes the limit of {MAX_PIECES} pieces: use fewer")
    })?;
    fraction(&at(key, "jitter"), r.jitter)?;
    noise(&at(key, "noise"), r.noise)
}

fn bricks(key: &str, b: &Bricks) -> Result<(), InvalidValue> {
    require(
        b.size.is_some() != b.count.is_some(),
        key,
        || "needs one of the keys `size`, in m, and `count`",
    )?;
    for x in b.size.iter().flatten() {
        positive(&at(key, "size"), *x, "m")?;
    }
    for n in b.count.iter().flatten() {
        count(&at(key, "count"), *n, 1, MAX_PIECES)?;
    }
    let bricks = b.count.map_or(1, |n| n.iter().fold(1, |all: usize, n| all.saturating_mul(*n)));
    count(&at(key, "count"), bricks, 1, MAX_PIECES)?;
    fraction(&at(key, "bond"), b.bond)?;
    fraction(&at(key, "jitter"), b.jitter)?;
    if b.mortar != 0.0 {
        positive(&at(key, "mortar"), b.mortar, "m")?;
    }
    noise(&at(key, "noise"), b.noise)
}

fn slices(key: &str, s: &Slices) -> Result<(), InvalidValue> {
    count(&at(key, "planes"), s.planes, 1, MAX_PLANES)?;
    require((0.0..=4.0).contains(&s.spread), &at(key, "spread"), || {
        format!("must be between 0 and 4, not {:?}", s.spread)
    })?;
    if let Some(axis) = &s.axis {
        direction(&at(key, "axis"), axis)?;
    }
    fraction(&at(key, "tilt"), s.tilt)?;
    noise(&at(key, "noise"), s.noise)
}

fn points(key: &str, p: &Points) -> Result<(), InvalidValue> {
    require(
        p.points.len() + p.curves.len() > 0,
        key,
        || "needs `points` or `curves`: give two points at least",
    )?;
    count(&at(key, "points"), p.points.len(), 0, MAX_PIECES)?;
    for point in &p.points {
        bounded(&at(key, "points"), point, "m")?;
    }
    for (n, curve) in p.curves.iter().enumerate() {
        let key = format!("{key}.curves[{n}]");
        count(&key, curve.len(), 2, MAX_PIECES)?;
        curve.iter().try_for_each(|point| bounded(&key, point, "m"))?;
    }
    require(
        p.curves.is_empty() || p.spacing.is_some(),
        key,
        || "lacks the key `spacing`, in m, of the points along `curves`",
    )?;
    if let Some(spacing) = p.spacing {
        positive(&at(key, "spacing"), spacing, "m")?;
    }
    bounded(&at(key, "scatter"), &[p.scatter], "m")?;
    require(p.scatter >= 0.0, &at(key, "scatter"), || "must be 0 m or more")?;
    noise(&at(key, "noise"), p.noise)
}

fn painted(key: &str, p: &Painted) -> Result<(), InvalidValue> {
    require(!p.picture.is_empty(), &at(key, "picture"), || "is empty: name a .png file")?;
    count(&at(key, "pieces"), p.pieces, 2, MAX_PIECES)?;
    noise(&at(key, "noise"), p.noise)
}

fn nested(key: &str, n: &Nested) -> Result<(), InvalidValue> {
    require(depth(n) <= MAX_DEPTH, key, || format!("is nested more than {MAX_DEPTH} deep"))?;
    for (part, inner) in [("outer", &n.outer), ("inner", &n.inner)] {
        let key = at(key, part);
        pattern(&key, inner)?;
        require(
            inner.noise().is_none(),
            &key,
            || "has `noise`: only plane cuts can be nested; give the noise to `nested`",
        )?;
    }
    noise(&at(key, "noise"), n.noise)
}

fn depth(nested: &Nested) -> usize {
    let of = |pattern: &Pattern| match pattern {
        Pattern::Nested(nested) => depth(nested),
        _ => 0,
    };
    1 + of(&nested.outer).max(of(&nested.inner))
}
