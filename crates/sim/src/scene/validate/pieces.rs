//! What is asked of bodies in pieces.

use super::{at, extent, fineness, require, stress};
use crate::scene::{Body, InvalidValue, Motion, Pieces, Scene, Shape};

pub(super) fn shape(key: &str, pieces: &Pieces) -> Result<(), InvalidValue> {
    require(
        !pieces.file.is_empty(),
        &at(key, "file"),
        || "is empty: name a folder of meshes or a mesh file",
    )?;
    if let Some(size) = pieces.size {
        extent(&at(key, "size"), size)?;
    }
    fineness(key, (pieces.spacing, pieces.nodes))?;
    let Some(bonds) = &pieces.bonds else { return Ok(()) };
    bonds.strength.map_or(Ok(()), |strength| stress(&at(key, "bonds.strength"), strength))?;
    bonds.gap.map_or(Ok(()), |gap| extent(&at(key, "bonds.gap"), gap))
}

/// Checks what the other keys of a body in pieces say.
pub(super) fn check(key: &str, body: &Body, scene: &Scene) -> Result<(), InvalidValue> {
    let Shape::Pieces(pieces) = &body.shape else { return Ok(()) };
    require(
        body.motion == Motion::Dynamic,
        &at(key, "motion"),
        || "must be \"dynamic\" for pieces: use the shape `trimesh` for scenery",
    )?;
    for (name, is_given) in [
        ("copies", body.copies.is_some()),
        ("anchor", !body.anchors.is_empty()),
        ("keyframes", body.keyframes.is_some()),
    ] {
        require(
            !is_given,
            &at(key, name),
            || "must be removed: a body with the shape `pieces` has none",
        )?;
    }
    let Some(bonds) = &pieces.bonds else { return Ok(()) };
    let key = at(key, "shape.pieces.bonds");
    require(
        bonds.strength.is_some() || body.solid().is_some(),
        &key,
        || "lacks the key `strength`, in Pa: give it, or name the body's `material`",
    )?;
    let solver = scene.simulation.solver;
    require(solver.contact().has_joints(), &key, || {
        format!("cannot be: the solver `{}` has no joints, which bonds are", solver.name())
    })
}

/// Refuses a body in pieces where one body is named.
pub(super) fn stands_alone(key: &str, body: &Body) -> Result<(), InvalidValue> {
    require(!matches!(body.shape, Shape::Pieces(_)), key, || {
        format!(
            "names `{}`, which starts in pieces: name a body that stands alone, or make bodies of the \
             pieces with `brisance bond`",
            body.name
        )
    })
}
