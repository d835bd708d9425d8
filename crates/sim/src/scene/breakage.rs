//! How bodies break.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::check::{LARGEST, at, lacks_strength, positive, require, share};
use super::fracture_context::FractureContext;
use super::{Bonds, InvalidValue, Lattice, Level, Pattern, Stress};
use crate::Placement;

/// Limit of generations of pieces: the number of pieces grows exponentially with it.
const MAX_GENERATIONS: u32 = 16;

/// How a body breaks: `fracture = { pattern = "shards" }`. Exactly one of `pattern`, `lattice` and
/// `stress` is required.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fracture {
    /// Name of a `[pattern.NAME]` table: the pattern, centered at the impact, divides the body.
    pub pattern: Option<String>,
    /// Placement of the pattern. `"turned"`: its y axis points out of the body at the impact.
    /// `"snapped"`: its center is the node of the body's grid nearest to the impact, so that copies
    /// hit at the same node share their pieces. `"fixed"`: in the body, independent of the impact.
    /// The default depends on the pattern, see [`super::Pattern::placement`].
    pub placement: Option<Placement>,
    /// Name of a second pattern, for pieces that a fixed pattern does not divide further; none by
    /// default.
    pub then: Option<String>,
    /// The finer levels of a hierarchy of pieces: a body breaks into clusters, and each cluster
    /// breaks by the settings of its level. The patterns of all levels are fixed in the body. None
    /// by default.
    #[serde(default)]
    pub levels: Vec<Level>,
    /// The body cracks where the links of a lattice of masses break.
    pub lattice: Option<Lattice>,
    /// The body cracks where the tension of finite elements exceeds the strength.
    pub stress: Option<Stress>,
    /// Impulse at one contact that breaks the body, N s, at any point and by any striking body. The
    /// default follows from the material, the shape around the impact and the striking body; see
    /// [`fracture::Impact`].
    pub break_impulse: Option<f64>,
    /// The former name of `break_impulse`.
    pub strength: Option<f64>,
    /// Limit of successive fractures of a body and its pieces, see [`Fracture::generations`].
    pub generations: Option<u32>,
    /// The neighbor with the largest contact area absorbs pieces with a smaller share of the
    /// parent's volume. The default is an eighth of the mean share of the pattern's pieces.
    pub min_share: Option<f64>,
    /// The neighbor also absorbs pieces with less volume than a cube of this edge, m; 0 by default.
    #[serde(default)]
    pub min_size: f64,
    /// Bonds that hold pieces together where the impact is too weak; none by default.
    pub bonds: Option<Bonds>,
}

impl Fracture {
    /// The pattern of a scene that divides the body itself: the coarsest of several levels.
    pub(crate) fn first_pattern(&self, patterns: &BTreeMap<String, Pattern>) -> Option<Pattern> {
        let pattern = patterns.get(self.pattern.as_ref()?)?;
        pattern.without_finest(self.finer_parts())
    }

    /// Number of levels without a pattern: each uses the next finer part of the body's pattern.
    pub(crate) fn finer_parts(&self) -> usize {
        self.levels.iter().filter(|level| level.pattern.is_none()).count()
    }

    /// Limit of successive fractures. The default is one for a pattern alone, since each generation
    /// multiplies the pieces. With levels, `then`, a lattice or finite elements the default is
    /// three, or the number that reaches all levels.
    pub fn generations(&self) -> u32 {
        let is_alone = self.pattern.is_some() && self.levels.is_empty() && self.then.is_none();
        let default = if is_alone { 1 } else { 3.max(1 + self.levels.len() as u32) };
        self.generations.unwrap_or(default)
    }

    /// The fixed impulse that breaks the body, N s: `break_impulse`, or its former name `strength`.
    pub fn impulse(&self) -> Option<f64> {
        self.break_impulse.or(self.strength)
    }

    pub(super) fn check(&self, key: &str, body: &FractureContext<'_>) -> Result<(), InvalidValue> {
        self.check_model(key, body)?;
        share(&at(key, "min_share"), self.min_share)?;
        require((0.0..=LARGEST).contains(&self.min_size), &at(key, "min_size"), || {
            format!("must be 0 or more and finite, not {:?}", self.min_size)
        })?;
        self.bonds.as_ref().map_or(Ok(()), |bonds| bonds.check(&at(key, "bonds"), body))?;
        require(
            self.break_impulse.is_none() || self.strength.is_none(),
            &at(key, "strength"),
            || "is the former name of `break_impulse`, which is given too: remove one of them",
        )?;
        let name = if self.strength.is_some() { "strength" } else { "break_impulse" };
        match self.impulse() {
            Some(impulse) => positive(&at(key, name), impulse, "N s")?,
            None => require(body.has_strength, key, || lacks_strength("break_impulse", "N s"))?,
        }
        require(
            (1..=MAX_GENERATIONS).contains(&self.generations()),
            &at(key, "generations"),
            || {
                format!(
                    "must be 1 to {MAX_GENERATIONS}: remove `fracture` for a body that never breaks"
                )
            },
        )
    }

    fn check_model(&self, key: &str, body: &FractureContext<'_>) -> Result<(), InvalidValue> {
        let given = [self.pattern.is_some(), self.lattice.is_some(), self.stress.is_some()];
        require(
            given.iter().filter(|given| **given).count() == 1,
            key,
            || "needs exactly one of the keys `pattern`, `lattice` and `stress`",
        )?;
        require(
            self.placement.is_none() || self.pattern.is_some(),
            &at(key, "placement"),
            || "requires the key `pattern`: add `pattern`, or remove this key",
        )?;
        self.check_levels(key, body)?;
        if let Some(l) = &self.lattice {
            l.check(&at(key, "lattice"), body)?;
        }
        self.stress.as_ref().map_or(Ok(()), |s| s.check(&at(key, "stress"), body))
    }

    /// Checks that the patterns of a fracture exist, and that each can follow the previous one.
    fn check_levels(&self, key: &str, body: &FractureContext<'_>) -> Result<(), InvalidValue> {
        for (part, name) in [("pattern", &self.pattern), ("then", &self.then)] {
            name.as_ref().map_or(Ok(()), |name| body.check_pattern(&at(key, part), name))?;
        }
        let placed = |name: &String| body.patterns.get(name).map(Pattern::placement);
        if !self.levels.is_empty() {
            self.check_hierarchy(key, body)?;
            let mut coarser = &self.pattern;
            for (n, l) in self.levels.iter().enumerate() {
                let key = format!("{key}.levels[{n}]");
                l.check(&key, body)?;
                require(
                    l.pattern.is_none() || l.pattern != *coarser,
                    &at(&key, "pattern"),
                    || "names the pattern of the level above, which leaves its clusters whole: name a finer one",
                )?;
                coarser = &l.pattern;
            }
        }
        let Some(next) = &self.then else { return Ok(()) };
        let own = self.placement.or_else(|| self.pattern.as_ref().and_then(placed));
        require(
            own == Some(Placement::Fixed) || !self.levels.is_empty(),
            &at(key, "then"),
            || "needs a `pattern` that is fixed in the body: give `placement = \"fixed\"`",
        )?;
        require(placed(next) != Some(Placement::Fixed), &at(key, "then"), || {
            format!(
                "names `{next}`, which is fixed in the body, too: name a pattern centered at impacts"
            )
        })
    }

    /// Checks patterns, placement and generations of the levels of a hierarchy.
    fn check_hierarchy(&self, key: &str, body: &FractureContext<'_>) -> Result<(), InvalidValue> {
        let levels = at(key, "levels");
        let pattern = self.pattern.as_ref().and_then(|name| body.patterns.get(name));
        require(pattern.is_some(), &levels, || "requires the key `pattern`: add it")?;
        require(
            self.placement.is_none_or(|placement| placement == Placement::Fixed),
            &at(key, "placement"),
            || "must be \"fixed\": the patterns of all `levels` are fixed in the body",
        )?;
        let (count, finer) = (self.levels.len(), self.finer_parts());
        require(
            finer == 0 || finer == count,
            &levels,
            || "names a `pattern` in some levels only: name one in each, or in none",
        )?;
        let parts = pattern.map_or(0, |pattern| {
            std::iter::successors(pattern.coarser(), Pattern::coarser).count()
        });
        let too_many = || match parts {
            0 => "needs a `pattern` in each level: the pattern of the body is neither nested nor \
                  radial with splinters"
                .to_owned(),
            _ => format!(
                "has {count} levels, but the number of finer parts of the body's pattern is {parts}"
            ),
        };
        require(finer <= parts, &levels, too_many)?;
        require(self.generations() as usize > count, &at(key, "generations"), || {
            format!("must be {} at least to reach all `levels`", count + 1)
        })
    }
}
