//! Checks of the patterns of a scene.

use super::{Bricks, CutNoise, Nested, Painted, Pattern, Points, Radial, Rims, Slices};
use crate::scene::InvalidValue;
use crate::scene::check::{MAX_PIECES, at, bounded, count, direction, fraction, positive, require};

/// Maximum nesting depth: regions multiply with each level.
const MAX_DEPTH: usize = 4;
/// Largest number of slicing planes: n planes in general position make up to n^3 / 6 pieces.
const MAX_PLANES: usize = 10_000;
/// Frequencies of noise between straight edges. Lower ones leave cuts nearly plane, and the number
/// of triangles grows with the square of the frequency.
const BUMPS: [f64; 2] = [2.0, 20.0];

impl Pattern {
    pub(in crate::scene) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        match self {
            Self::Voronoi(v) => {
                count(&at(key, "voronoi.pieces"), v.pieces, 2, MAX_PIECES)?;
                fraction(&at(key, "voronoi.clustering"), v.clustering)?;
                for x in v.stretch {
                    require((0.01..=100.0).contains(&x), &at(key, "voronoi.stretch"), || {
                        format!("must be between 0.01 and 100, not {x:?}")
                    })?;
                }
                noise(&at(key, "voronoi.noise"), v.noise)
            }
            Self::File(named) => require(
                !named.file.is_empty(),
                &at(key, "file"),
                || "is empty: name a pattern file",
            ),
            Self::Radial(r) => r.check(&at(key, "radial")),
            Self::Bricks(b) => b.check(&at(key, "bricks")),
            Self::Slices(s) => s.check(&at(key, "slices")),
            Self::Points(p) => p.check(&at(key, "points")),
            Self::Painted(p) => p.check(&at(key, "painted")),
            Self::Nested(n) => n.check(&at(key, "nested")),
            Self::Preset(_) => Ok(()),
        }
    }
}

impl Radial {
    fn check(&self, key: &str) -> Result<(), InvalidValue> {
        count(&at(key, "sectors"), self.sectors, 3, 1000)?;
        count(&at(key, "rings"), self.rings, 1, 1000)?;
        count(&at(key, "splinters"), self.splinters, 1, 1000)?;
        require(
            self.sectors * self.rings * self.splinters <= MAX_PIECES,
            &at(key, "rings"),
            || {
                format!(
                    "times sectors and splinters passes the limit of {MAX_PIECES} pieces: use fewer"
                )
            },
        )?;
        fraction(&at(key, "jitter"), self.jitter)?;
        noise(&at(key, "noise"), self.noise)
    }
}

impl Bricks {
    fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(
            self.size.is_some() != self.count.is_some(),
            key,
            || "needs one of the keys `size`, in m, and `count`",
        )?;
        for x in self.size.iter().flatten() {
            positive(&at(key, "size"), *x, "m")?;
        }
        for n in self.count.iter().flatten() {
            count(&at(key, "count"), *n, 1, MAX_PIECES)?;
        }
        let bricks =
            self.count.map_or(1, |n| n.iter().fold(1, |all: usize, n| all.saturating_mul(*n)));
        count(&at(key, "count"), bricks, 1, MAX_PIECES)?;
        fraction(&at(key, "bond"), self.bond)?;
        fraction(&at(key, "jitter"), self.jitter)?;
        if self.mortar != 0.0 {
            positive(&at(key, "mortar"), self.mortar, "m")?;
        }
        noise(&at(key, "noise"), self.noise)
    }
}

impl Slices {
    fn check(&self, key: &str) -> Result<(), InvalidValue> {
        count(&at(key, "planes"), self.planes, 1, MAX_PLANES)?;
        require((0.0..=4.0).contains(&self.spread), &at(key, "spread"), || {
            format!("must be between 0 and 4, not {:?}", self.spread)
        })?;
        if let Some(axis) = &self.axis {
            direction(&at(key, "axis"), axis)?;
        }
        fraction(&at(key, "tilt"), self.tilt)?;
        noise(&at(key, "noise"), self.noise)
    }
}

impl Points {
    fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(
            self.points.len() + self.curves.len() > 0,
            key,
            || "needs `points` or `curves`: give two points at least",
        )?;
        count(&at(key, "points"), self.points.len(), 0, MAX_PIECES)?;
        for point in &self.points {
            bounded(&at(key, "points"), point, "m")?;
        }
        for (n, curve) in self.curves.iter().enumerate() {
            let key = format!("{key}.curves[{n}]");
            count(&key, curve.len(), 2, MAX_PIECES)?;
            curve.iter().try_for_each(|point| bounded(&key, point, "m"))?;
        }
        require(
            self.curves.is_empty() || self.spacing.is_some(),
            key,
            || "lacks the key `spacing`, in m, of the points along `curves`",
        )?;
        if let Some(spacing) = self.spacing {
            positive(&at(key, "spacing"), spacing, "m")?;
        }
        bounded(&at(key, "scatter"), &[self.scatter], "m")?;
        require(self.scatter >= 0.0, &at(key, "scatter"), || "must be 0 m or more")?;
        noise(&at(key, "noise"), self.noise)
    }
}

impl Painted {
    fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(!self.picture.is_empty(), &at(key, "picture"), || "is empty: name a .png file")?;
        count(&at(key, "pieces"), self.pieces, 2, MAX_PIECES)?;
        noise(&at(key, "noise"), self.noise)
    }
}

impl Nested {
    fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(self.depth() <= MAX_DEPTH, key, || {
            format!("is nested more than {MAX_DEPTH} deep")
        })?;
        for (part, inner) in [("outer", &self.outer), ("inner", &self.inner)] {
            let key = at(key, part);
            inner.check(&key)?;
            require(
                inner.noise().is_none(),
                &key,
                || "has `noise`: only plane cuts can be nested; give the noise to `nested`",
            )?;
        }
        noise(&at(key, "noise"), self.noise)
    }

    fn depth(&self) -> usize {
        let of = |pattern: &Pattern| match pattern {
            Pattern::Nested(nested) => nested.depth(),
            _ => 0,
        };
        1 + of(&self.outer).max(of(&self.inner))
    }
}

fn noise(key: &str, noise: Option<CutNoise>) -> Result<(), InvalidValue> {
    let Some(CutNoise { amplitude, frequency, rims }) = noise else { return Ok(()) };
    let [least, most] = match rims {
        Rims::Rough => [0.1, 100.0],
        Rims::Straight => BUMPS,
    };
    require((least..=most).contains(&frequency), &at(key, "frequency"), || {
        format!("must be between {least} and {most}, not {frequency:?}")
    })?;
    let most = 1.0 / (3.0 * frequency);
    require((0.0..=most).contains(&amplitude), &at(key, "amplitude"), || {
        format!("must be between 0 and {most:.4}, a third of 1 / frequency, not {amplitude:?}")
    })
}
