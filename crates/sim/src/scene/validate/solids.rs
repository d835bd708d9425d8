//! Which solids without a closed form can be made.

use super::{at, bounded, count, direction, extent, fineness, require, shape};
use crate::scene::{Combined, Extruded, Heightfield, InvalidValue, Op, Polygon, Shape, Svg};

/// Maximum number of parts of a combined solid: sampling evaluates each at every node.
const MAX_PARTS: usize = 1000;
/// Maximum nesting depth of combined solids, a bound on recursion.
const MAX_DEPTH: usize = 8;

pub(super) fn combined(key: &str, c: &Combined) -> Result<(), InvalidValue> {
    require(depth(c) <= MAX_DEPTH, key, || format!("is nested more than {MAX_DEPTH} deep"))?;
    count(&at(key, "parts"), c.parts.len(), 1, MAX_PARTS)?;
    for (n, part) in c.parts.iter().enumerate() {
        let key = format!("{key}.parts[{n}]");
        bounded(&at(&key, "position"), &part.position, "m")?;
        direction(&at(&key, "rotation.axis"), &part.rotation.axis)?;
        bounded(&at(&key, "rotation.degrees"), &[part.rotation.degrees], "degrees")?;
        require(
            !matches!(
                part.shape,
                Shape::Mesh(_)
                    | Shape::Tets(_)
                    | Shape::Trimesh(_)
                    | Shape::Pieces(_)
                    | Shape::Svg(_)
            ),
            &at(&key, "shape"),
            || "is from a file: combine primitives, planes, pictures and combined solids",
        )?;
        require(
            n > 0 || (part.op == Op::Union && !matches!(part.shape, Shape::Plane(_))),
            &at(&key, "op"),
            || "must be \"union\" for the first part, and its shape no plane",
        )?;
        require(
            part.op != Op::Union || !matches!(part.shape, Shape::Plane(_)),
            &at(&key, "op"),
            || "must be \"difference\" or \"intersection\" for a plane, which has no end",
        )?;
        if let Shape::Combined(inner) = &part.shape {
            require(
                inner.rounding == 0.0,
                &at(&key, "shape.combined.rounding"),
                || "must be removed: give it to the whole",
            )?;
        }
        // samples are those of the whole
        shape(&at(&key, "shape"), &part.shape, false)?;
    }
    require(
        c.bounds().is_some(),
        &at(key, "parts"),
        || "leave nothing: parts of an intersection must meet",
    )?;
    if let Some(wall) = c.wall {
        extent(&at(key, "wall"), wall)?;
    }
    if c.rounding != 0.0 {
        extent(&at(key, "rounding"), c.rounding)?;
    }
    Ok(())
}

fn depth(combined: &Combined) -> usize {
    let of = |shape: &Shape| match shape {
        Shape::Combined(inner) => depth(inner),
        _ => 0,
    };
    1 + combined.parts.iter().map(|part| of(&part.shape)).max().unwrap_or(0)
}

pub(super) fn polygon(key: &str, p: &Polygon) -> Result<(), InvalidValue> {
    extent(&at(key, "depth"), p.depth)?;
    let key = at(key, "corners");
    count(&key, p.corners.len(), 3, Polygon::MAX_CORNERS)?;
    p.corners.iter().try_for_each(|corner| bounded(&key, corner, "m"))?;
    require(p.is_convex(), &key, || "must go around a convex polygon once, counter-clockwise")?;
    p.bounds().extents().iter().try_for_each(|length| extent(&key, *length))
}

pub(super) fn extruded(key: &str, e: &Extruded) -> Result<(), InvalidValue> {
    require(!e.picture.file.is_empty(), &at(key, "picture"), || "is empty: name a .png file")?;
    for length in e.size {
        extent(&at(key, "size"), length)?;
    }
    extent(&at(key, "depth"), e.depth)
}

pub(super) fn svg(key: &str, s: &Svg) -> Result<(), InvalidValue> {
    require(!s.file.is_empty(), &at(key, "file"), || "is empty: name an .svg file")?;
    if let Some(size) = s.size {
        extent(&at(key, "size"), size)?;
    }
    extent(&at(key, "depth"), s.depth)?;
    fineness(key, (s.spacing, s.nodes))
}

pub(super) fn heightfield(key: &str, h: &Heightfield) -> Result<(), InvalidValue> {
    require(!h.picture.file.is_empty(), &at(key, "picture"), || "is empty: name a .png file")?;
    for length in h.size {
        extent(&at(key, "size"), length)?;
    }
    extent(&at(key, "height"), h.height)?;
    extent(&at(key, "base"), h.base)
}
