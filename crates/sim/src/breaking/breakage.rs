//! How a body and its pieces break.

use std::ops::RangeInclusive;
use std::sync::Arc;

use thiserror::Error;

use crate::world::limits::MAX_NUMBER;
use crate::{
    Bonds, CenteredPattern, FixedPattern, FractureModel, LatticeModel, Level, NextPattern,
    Strength, StressModel,
};

/// How a body breaks.
#[derive(Clone, Debug)]
pub struct Breakage {
    /// The fracture model.
    pub model: FractureModel,
    /// The strength under impacts.
    pub strength: Strength,
    /// Limit of successive fractures of it and its pieces; 0 for an unbreakable body.
    pub generations: u32,
    /// Pieces with a smaller share of the parent's volume are merged with the neighbor they share
    /// most area with.
    pub min_share: f64,
    /// Pieces of less volume than a cube of this edge, m, are merged likewise.
    pub min_size: f64,
    /// Bonds between its pieces; `None` for none.
    pub bonds: Option<Bonds>,
}

/// Why a [`Breakage`] is invalid.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BreakageError {
    /// The body has no solid to divide, and its shape is not convex.
    #[error(
        "a body of this shape cannot break without a solid: create it by `NewBody::new` or set its \
         `solid`"
    )]
    NoSolid,
    /// A number is NaN or out of range.
    #[error("{name} must be from {least:?} to {most:?}, not {value:?}")]
    OutOfRange {
        /// What the number is.
        name: &'static str,
        /// The number.
        value: f64,
        /// The least valid number.
        least: f64,
        /// The largest valid number.
        most: f64,
    },
}

/// Strengths, which may be infinite.
const STRENGTHS: RangeInclusive<f64> = 0.0..=f64::INFINITY;
/// Lengths and durations that may be zero, and those that may not.
const SIZES: RangeInclusive<f64> = 0.0..=MAX_NUMBER;
const POSITIVE: RangeInclusive<f64> = f64::MIN_POSITIVE..=MAX_NUMBER;
/// Shares of a whole.
const SHARES: RangeInclusive<f64> = 0.0..=1.0;

fn check(name: &'static str, value: f64, range: &RangeInclusive<f64>) -> Result<(), BreakageError> {
    let (least, most) = (*range.start(), *range.end());
    let is_inside = range.contains(&value);
    if is_inside { Ok(()) } else { Err(BreakageError::OutOfRange { name, value, least, most }) }
}

impl Strength {
    fn check(self) -> Result<(), BreakageError> {
        match self {
            Self::Material => Ok(()),
            Self::Impulse(impulse) => check("a breaking impulse", impulse, &STRENGTHS),
        }
    }
}

impl Bonds {
    fn check(&self) -> Result<(), BreakageError> {
        check("the strength of bonds", self.strength, &STRENGTHS)?;
        check("the duration of an impact on bonds", self.duration, &SIZES)
    }
}

impl FixedPattern {
    fn check(&self) -> Result<(), BreakageError> {
        match &self.then {
            None => Ok(()),
            Some(NextPattern::Centered(next)) => check("`min_share`", next.min_share, &SHARES),
            Some(NextPattern::Level(level)) => {
                level.strength.check()?;
                check("`min_share`", level.min_share, &SHARES)?;
                level.bonds.as_ref().map_or(Ok(()), Bonds::check)?;
                level.pattern.check()
            }
        }
    }
}

impl FractureModel {
    fn check(&self) -> Result<(), BreakageError> {
        match self {
            Self::Prescored(..) => Ok(()),
            Self::Fixed(fixed) => fixed.check(),
            Self::Lattice(body) => {
                let LatticeModel { spacing, strength, duration, .. } = body.model();
                check("the spacing of a lattice", *spacing, &POSITIVE)?;
                check("the strength of links", *strength, &STRENGTHS)?;
                check("the duration of an impact", *duration, &POSITIVE)
            }
            Self::Stress(body) => {
                let StressModel { spacing, fracture, yielding, duration, .. } = body.model();
                check("the spacing of tetrahedra", *spacing, &POSITIVE)?;
                check("the tensile strength", fracture.strength, &STRENGTHS)?;
                check("the averaging radius", fracture.averaging, &SIZES)?;
                check("the reach of a crack", fracture.reach, &SIZES)?;
                check("the least volume of a piece", fracture.min_volume, &SIZES)?;
                if let Some(yielding) = yielding {
                    check("the yield stress", yielding.strength, &STRENGTHS)?;
                    check("the hardening", yielding.hardening, &SIZES)?;
                }
                let collision_radius = body.model().collision_radius.unwrap_or_default();
                check("the collision radius", collision_radius, &SIZES)?;
                duration.map_or(Ok(()), |time| check("the duration of an impact", time, &POSITIVE))
            }
        }
    }
}

impl Breakage {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`BreakageError::OutOfRange`].
    pub fn check(&self) -> Result<(), BreakageError> {
        self.strength.check()?;
        check("`min_share`", self.min_share, &SHARES)?;
        check("`min_size`", self.min_size, &SIZES)?;
        self.bonds.as_ref().map_or(Ok(()), Bonds::check)?;
        self.model.check()
    }

    /// The breakage of a separate piece: one generation less. Pieces that stay together are still
    /// the body and break like it.
    ///
    /// The strength of a piece by its material follows from its own shape. A fixed impulse doubles
    /// with each generation, which is a choice, not a material law.
    pub(super) fn inherited(&self, is_joined: bool) -> Self {
        if is_joined {
            return self.clone();
        }
        let strength = match self.strength {
            Strength::Impulse(impulse) => Strength::Impulse(2.0 * impulse),
            Strength::Material => Strength::Material,
        };
        Self { strength, generations: self.generations - 1, ..self.clone() }
    }

    /// The breakage of a cluster that its level leaves whole; `None` if there is no finer level.
    pub(super) fn next_level(&self) -> Option<Self> {
        let FractureModel::Fixed(fixed) = &self.model else { return None };
        let is_level = matches!(fixed.then, Some(NextPattern::Level(_)));
        self.next().filter(|_| is_level && self.generations > 1)
    }

    /// The breakage of a piece that a fixed pattern does not divide further, if it can break: by
    /// its level, or by a pattern of its own without bonds.
    pub(super) fn next(&self) -> Option<Self> {
        let FractureModel::Fixed(fixed) = &self.model else { return None };
        let inherited = self.inherited(false);
        Some(match fixed.then.clone()? {
            NextPattern::Centered(CenteredPattern { pattern, placement, min_share }) => {
                let model = FractureModel::Prescored(pattern, placement);
                Self { model, min_share, bonds: None, ..inherited }
            }
            NextPattern::Level(level) => {
                let Level { pattern, strength, min_share, bonds } = &*level;
                let model = FractureModel::Fixed(Arc::clone(pattern));
                let (strength, min_share, bonds) = (*strength, *min_share, *bonds);
                Self { model, strength, min_share, bonds, ..inherited }
            }
        })
    }
}
