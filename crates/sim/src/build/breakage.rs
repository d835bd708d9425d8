//! How bodies of a scene break.

use std::sync::Arc;

use levelset::TetMesh;
use tetfem::CutLimits;

use super::lattice;
use super::prescored::{Patterns, bonds};
use super::solids::Solids;
use crate::breaking::elastic::interpolation;
use crate::scene::{self, Scene};
use crate::{
    Breakage, BuildError, Cause, ElasticBody, FractureModel, Solid, Strength, StressModel,
};

/// The breakage of a body.
pub(super) fn breakage<'a>(
    spec: &'a scene::Body,
    patterns: &mut Patterns<'a>,
    solids: &Solids,
) -> Result<Option<Breakage>, BuildError> {
    let (Some(fracture), Some(_)) = (&spec.fracture, solids.mass) else { return Ok(None) };
    let Some(Solid { geometry, .. }) = &solids.solid else { return Ok(None) };
    let size = libm::cbrt(geometry.moments().volume);
    let model = if let Some(name) = &fracture.pattern {
        patterns.model(name, fracture, spec, geometry)?
    } else {
        let seed = patterns.scene.simulation.seed;
        let model = cracking(spec, size, fracture, solids.tets.as_ref(), seed);
        model.map_err(|cause| BuildError { part: format!("body {:?}", spec.name), cause })?
    };
    Ok(model.map(|model| Breakage {
        model,
        strength: fracture.impulse().map_or(Strength::Material, Strength::Impulse),
        generations: fracture.generations(),
        min_share: fracture.min_share.unwrap_or_else(|| min_share(fracture, patterns.scene)),
        min_size: fracture.min_size,
        bonds: bonds(fracture.bonds, spec),
    }))
}

/// Default share of the volume of the smallest piece.
fn min_share(fracture: &scene::Fracture, scene: &Scene) -> f64 {
    fracture.first_pattern(&scene.patterns).map_or(scene::Pattern::MIN_SHARE, |p| p.min_share())
}

/// Radius over which stress is averaged and impacts are spread, as a share of the edge of a cube of
/// the body's volume.
const AVERAGING: f64 = 0.25;

/// How a body cracks by a lattice or finite elements; `size` is the edge of a cube of its volume,
/// m.
fn cracking(
    spec: &scene::Body,
    size: f64,
    fracture: &scene::Fracture,
    tets: Option<&TetMesh>,
    seed: u64,
) -> Result<Option<FractureModel>, Cause> {
    if let Some(lattice) = &fracture.lattice {
        return lattice::breaking(spec, lattice, tets, seed);
    }
    let stressed = fracture.stress.as_ref().and_then(|stress| stressing(spec, size, stress));
    let elastic = |model| match tets {
        Some(tets) => ElasticBody::of_mesh(model, tets.clone()),
        None => ElasticBody::new(model),
    };
    Ok(stressed.map(|model| FractureModel::Stress(Arc::new(elastic(Arc::new(model))))))
}

fn stressing(spec: &scene::Body, size: f64, stress: &scene::Stress) -> Option<StressModel> {
    let young = stress.young.or_else(|| spec.solid().map(|solid| solid.stiffness))?;
    let tensile = || spec.solid().map(|solid| solid.tensile_strength);
    Some(StressModel {
        spacing: stress.spacing,
        material: tetfem::Material::from_young(young, stress.poisson).ok()?,
        interpolation: interpolation(stress.quadratic),
        fracture: tetfem::Fracture {
            strength: stress.strength.or_else(tensile)?,
            // from the body and not its mesh, so that the mesh has no influence
            averaging: stress.averaging.unwrap_or(AVERAGING * size),
            reach: stress.reach.unwrap_or(2.0 * stress.spacing),
            cut: Some(CutLimits { min_edge: 0.3 * stress.spacing, min_fraction: 0.2 }),
            max_cracks: stress.cracks,
            min_volume: stress.spacing.powi(3),
        },
        yielding: stress.yield_strength.map(|strength| tetfem::Yielding {
            strength,
            hardening: stress.hardening.unwrap_or(0.0),
        }),
        duration: stress.duration,
        collision_radius: stress.collision_radius,
    })
}
