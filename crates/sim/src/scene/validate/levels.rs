//! What divides a body, and its pieces in turn.

use super::{at, nearest, positive, require, share, strength_of_bonds};
use crate::Placement;
use crate::scene::{Body, Fracture, InvalidValue, Level, Pattern, Scene};

/// Whether a fracture's patterns exist, and may follow each other.
pub(super) fn check(
    key: &str,
    f: &Fracture,
    body: &Body,
    scene: &Scene,
) -> Result<(), InvalidValue> {
    for (part, name) in [("pattern", &f.pattern), ("then", &f.then)] {
        name.as_ref().map_or(Ok(()), |name| exists(&at(key, part), name, scene))?;
    }
    let placed = |name: &String| scene.patterns.get(name).map(Pattern::placement);
    if !f.levels.is_empty() {
        hierarchy(key, f, scene)?;
        let mut coarser = &f.pattern;
        for (n, l) in f.levels.iter().enumerate() {
            let key = format!("{key}.levels[{n}]");
            level(&key, l, body, scene)?;
            require(
                l.pattern.is_none() || l.pattern != *coarser,
                &at(&key, "pattern"),
                || "names the pattern of the level above, which leaves its clusters whole: name a finer one",
            )?;
            coarser = &l.pattern;
        }
    }
    let Some(next) = &f.then else { return Ok(()) };
    let own = f.placement.or_else(|| f.pattern.as_ref().and_then(placed));
    require(
        own == Some(Placement::Fixed) || !f.levels.is_empty(),
        &at(key, "then"),
        || "needs a `pattern` that stands in the body: give `placement = \"fixed\"`",
    )?;
    require(placed(next) != Some(Placement::Fixed), &at(key, "then"), || {
        format!("names `{next}`, which stands in the body too: name one that is centered on blows")
    })
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

/// Whether the levels of a hierarchy follow each other.
fn hierarchy(key: &str, f: &Fracture, scene: &Scene) -> Result<(), InvalidValue> {
    let levels = at(key, "levels");
    let pattern = f.pattern.as_ref().and_then(|name| scene.patterns.get(name));
    require(pattern.is_some(), &levels, || "is of a pattern: give the key `pattern` too")?;
    require(
        f.placement.is_none_or(|placement| placement == Placement::Fixed),
        &at(key, "placement"),
        || "must be \"fixed\": the patterns of all `levels` stand in the body",
    )?;
    let (count, finer) = (f.levels.len(), f.finer_parts());
    require(
        finer == 0 || finer == count,
        &levels,
        || "names a `pattern` in some levels only: name one in each, or in none",
    )?;
    let parts = pattern
        .map_or(0, |pattern| std::iter::successors(pattern.coarser(), Pattern::coarser).count());
    require(finer <= parts, &levels, || match parts {
        0 => "needs a `pattern` in each level: that of the body is neither nested nor radial with \
              splinters"
            .to_owned(),
        _ => format!("has {count} levels, and the pattern of the body can be divided into {parts}"),
    })?;
    require(f.generations() as usize > count, &at(key, "generations"), || {
        format!("must be {} at least to reach all `levels`", count + 1)
    })
}

fn level(key: &str, level: &Level, body: &Body, scene: &Scene) -> Result<(), InvalidValue> {
    if let Some(name) = &level.pattern {
        exists(&at(key, "pattern"), name, scene)?;
    }
    match level.break_impulse {
        Some(impulse) => positive(&at(key, "break_impulse"), impulse, "N s")?,
        None => require(
            body.solid().is_some(),
            key,
            || "lacks the key `break_impulse`, in N s: give it, or name the body's `material`",
        )?,
    }
    share(&at(key, "min_share"), level.min_share)?;
    level.bonds.as_ref().map_or(Ok(()), |bonds| strength_of_bonds(&at(key, "bonds"), bonds, body))
}
