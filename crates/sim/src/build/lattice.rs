//! Lattices of masses and links from a scene.

use std::sync::Arc;

use fracture::{Breaking, Material, Neighbours, Noise, Spread, Weakness};
use levelset::TetMesh;

use super::Cause;
use crate::scene;
use crate::{FractureModel, LatticeBody, LatticeModel};

/// How a body breaks by a lattice of its own tetrahedra, or of those that fill it when it is first hit;
/// `None` if neither the scene nor its material says how strong it is.
pub(super) fn breaking(
    body: &scene::Body,
    spec: &scene::Lattice,
    tets: Option<&TetMesh>,
    seed: u64,
) -> Result<Option<FractureModel>, Cause> {
    let picture = spec.strength_picture.as_ref().filter(|picture| picture.read.is_none());
    if let Some(picture) = picture {
        return Err(Cause::NoPicture { file: picture.file.clone() });
    }
    let Some(model) = model(body, spec, seed).map(Arc::new) else { return Ok(None) };
    let latticed = match tets {
        Some(tets) => LatticeBody::of_mesh(model, tets.clone())?,
        None => LatticeBody::new(model),
    };
    Ok(Some(FractureModel::Lattice(Arc::new(latticed))))
}

fn model(body: &scene::Body, spec: &scene::Lattice, seed: u64) -> Option<LatticeModel> {
    let noise =
        |scene::Noise { amplitude, frequency }| Noise { amplitude, frequency, octaves: 3, seed };
    Some(LatticeModel {
        spacing: spec.spacing,
        neighbours: match spec.links {
            scene::LatticeLinks::Faces => Neighbours::Faces,
            scene::LatticeLinks::Edges => Neighbours::Edges { share: 0.25 },
        },
        strength: spec.strength.or_else(|| body.solid().map(|solid| solid.tensile_strength))?,
        duration: spec.duration,
        breaking: links(spec, seed),
        noise: spec.noise.map(noise),
        weaknesses: spec.cleave.iter().filter_map(weakness).collect(),
        stencil: spec.strength_picture.as_ref().and_then(|picture| picture.read.clone()),
    })
}

/// How links break.
fn links(spec: &scene::Lattice, seed: u64) -> Breaking {
    let default = Breaking::default();
    let spread = Spread { extra: spec.randomness, ..default.spread };
    // links that bear no more when pressed than when pulled let the struck part crumble at once,
    // and nothing reaches the rest of the body
    let compression = match spec.strength {
        Some(_) => default.compression,
        None => Material::COMPRESSION,
    };
    Breaking { spread, seed, compression, ..default }
}

fn weakness(cleave: &scene::Cleave) -> Option<Weakness> {
    let plane = fracture::Plane::new(cleave.normal.into(), cleave.offset)?;
    Some(Weakness::Plane { plane, width: cleave.width, factor: cleave.factor })
}
