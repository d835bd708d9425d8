//! Lattices of masses and links from a scene.

use std::sync::Arc;

use fracture::{
    LatticeImpactSettings, Material, Neighbors, Noise, Plane, Shards, Spread, Weakness,
};
use levelset::TetMesh;
use nalgebra::Point3;

use crate::scene;
use crate::{Cause, FractureModel, LatticeBody, LatticeModel};

/// The breakage of a body by a lattice of its own tetrahedra, or of those that fill it at its first
/// impact; `None` if neither the scene nor its material has a strength.
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
        neighbors: match spec.links {
            scene::LatticeLinks::Faces => Neighbors::Faces,
            scene::LatticeLinks::Edges => Neighbors::Edges { share: 0.25 },
        },
        strength: spec.strength.or_else(|| body.solid().map(|solid| solid.tensile_strength))?,
        duration: spec.duration,
        breaking: links(spec, seed),
        shards: match spec.shards {
            scene::LatticeShards::Keep => Shards::Keep,
            scene::LatticeShards::Merge => Shards::Merge,
            scene::LatticeShards::Dust => Shards::Dust,
        },
        smoothing: spec.smoothing,
        noise: spec.noise.map(noise),
        weaknesses: weaknesses(spec),
        stencil: spec.strength_picture.as_ref().and_then(|picture| picture.read.clone()),
    })
}

/// How links break.
fn links(spec: &scene::Lattice, seed: u64) -> LatticeImpactSettings {
    let default = LatticeImpactSettings::default();
    // with equal strengths in tension and compression the struck part crumbles immediately and transmits no load;
    // with an explicit strength, the scene sets the ratio
    let compression = match spec.strength {
        Some(_) => default.compression,
        None => Material::COMPRESSIVE_TO_TENSILE,
    };
    LatticeImpactSettings {
        compression: spec.compression.unwrap_or(compression),
        damage: spec.damage.unwrap_or(default.damage),
        spread: Spread {
            share: spec.weakening.unwrap_or(default.spread.share),
            falloff: spec.alpha.unwrap_or(default.spread.falloff),
            least: spec.tau.unwrap_or(default.spread.least),
            extra: spec.randomness,
        },
        steps: spec.steps.unwrap_or(default.steps),
        seed,
        ..default
    }
}

fn weaknesses(spec: &scene::Lattice) -> Vec<Weakness> {
    let plane = |&scene::Cleave { normal, offset, width, factor }: &scene::Cleave| {
        let plane = Plane::new(normal.into(), offset)?;
        Some(Weakness::Plane { plane, width, factor })
    };
    let sphere = |&scene::WeakSphere { center, radius, width, factor }: &scene::WeakSphere| {
        Weakness::Sphere { center: Point3::from(center), radius, width, factor }
    };
    let planes = spec.cleave.iter().filter_map(plane);
    planes.chain(spec.weak_spheres.iter().map(sphere)).collect()
}
