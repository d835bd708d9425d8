//! What divides the pieces of a body in turn.

use serde::Deserialize;

use super::check::{at, positive, require, share};
use super::error::nearest;
use super::{Body, Bonds, Fracture, InvalidValue, Pattern, Scene};
use crate::Placement;

/// `levels = [{ break_impulse = 8 }]`: how the clusters of the level above come apart.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Name of the pattern that divides clusters; unless given, the next finer one of the body's pattern, which
    /// is nested, or radial with splinters. All levels name one, or none.
    pub pattern: Option<String>,
    /// The impulse at one contact that breaks a cluster, N s; unless given, its material, its shape around the blow
    /// and what strikes it decide.
    pub break_impulse: Option<f64>,
    /// Pieces of a smaller share of the volume of the cluster stay with the neighbor they touch most; an 8th of the
    /// mean share of the pattern's pieces unless given.
    pub min_share: Option<f64>,
    /// What holds the pieces of a cluster together where the blow is too weak to part them; nothing unless given.
    pub bonds: Option<Bonds>,
}

impl Level {
    fn check(&self, key: &str, body: &Body, scene: &Scene) -> Result<(), InvalidValue> {
        if let Some(name) = &self.pattern {
            exists(&at(key, "pattern"), name, scene)?;
        }
        match self.break_impulse {
            Some(impulse) => positive(&at(key, "break_impulse"), impulse, "N s")?,
            None => require(
                body.solid().is_some(),
                key,
                || "lacks the key `break_impulse`, in N s: give it, or name the body's `material`",
            )?,
        }
        share(&at(key, "min_share"), self.min_share)?;
        self.bonds.as_ref().map_or(Ok(()), |bonds| bonds.check(&at(key, "bonds"), body))
    }
}

impl Fracture {
    /// Whether a fracture's patterns exist, and may follow each other.
    pub(super) fn check_levels(
        &self,
        key: &str,
        body: &Body,
        scene: &Scene,
    ) -> Result<(), InvalidValue> {
        for (part, name) in [("pattern", &self.pattern), ("then", &self.then)] {
            name.as_ref().map_or(Ok(()), |name| exists(&at(key, part), name, scene))?;
        }
        let placed = |name: &String| scene.patterns.get(name).map(Pattern::placement);
        if !self.levels.is_empty() {
            self.check_hierarchy(key, scene)?;
            let mut coarser = &self.pattern;
            for (n, l) in self.levels.iter().enumerate() {
                let key = format!("{key}.levels[{n}]");
                l.check(&key, body, scene)?;
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
            || "needs a `pattern` that stands in the body: give `placement = \"fixed\"`",
        )?;
        require(placed(next) != Some(Placement::Fixed), &at(key, "then"), || {
            format!(
                "names `{next}`, which stands in the body too: name one that is centered on blows"
            )
        })
    }

    /// Whether the levels of a hierarchy follow each other.
    fn check_hierarchy(&self, key: &str, scene: &Scene) -> Result<(), InvalidValue> {
        let levels = at(key, "levels");
        let pattern = self.pattern.as_ref().and_then(|name| scene.patterns.get(name));
        require(pattern.is_some(), &levels, || "is of a pattern: give the key `pattern` too")?;
        require(
            self.placement.is_none_or(|placement| placement == Placement::Fixed),
            &at(key, "placement"),
            || "must be \"fixed\": the patterns of all `levels` stand in the body",
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
            0 => "needs a `pattern` in each level: that of the body is neither nested nor radial \
                  with splinters"
                .to_owned(),
            _ => format!(
                "has {count} levels, and the pattern of the body can be divided into {parts}"
            ),
        };
        require(finer <= parts, &levels, too_many)?;
        require(self.generations() as usize > count, &at(key, "generations"), || {
            format!("must be {} at least to reach all `levels`", count + 1)
        })
    }
}

fn exists(key: &str, name: &str, scene: &Scene) -> Result<(), InvalidValue> {
    require(scene.patterns.contains_key(name), key, || {
        match nearest(name, scene.patterns.keys().map(String::as_str)) {
            Some(other) => format!("names no pattern `{name}`, did you mean `{other}`?"),
            None => format!(
                "names no pattern `{name}`: add a table [pattern.{name}.voronoi] or name another"
            ),
        }
    })
}
