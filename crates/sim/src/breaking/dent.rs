//! Plastic deformation of bodies (Mu01 section 2.4).

use std::cell::OnceCell;
use std::sync::Arc;

use dynamics::{Body, MassProperties};
use fracture::Geometry;
use levelset::{Grid, Moments, TetMesh};
use nalgebra::{Isometry3, Matrix3};

use crate::FractureModel;
use crate::breaking::breakage::Breakage;
use crate::breaking::elastic::{ElasticBody, Share, Yield};
use crate::breaking::hits::DentEnergy;
use crate::breaking::parent::Parent;
use crate::{Dent, Solid, rigid};
use crate::{NewBody, World};

/// Number of trials: the full flow, then halved 19 times. After these the flow is dropped.
const MAX_TRIALS: i32 = 20;

/// A body after plastic flow.
struct Dented {
    share: Share,
    moments: Moments,
    mass: MassProperties,
    /// Its body coordinates in material space.
    frame: Isometry3<f64>,
    pose: Isometry3<f64>,
    plastic_work: f64,
    /// Change of the kinetic energy, J.
    kinetic_energy: f64,
}

impl World {
    /// Replaces `parent` by a body of the shape of its yielded tetrahedra. Mass, linear and angular
    /// momentum are conserved. A free body keeps its center of mass. The inertia is that of the new
    /// shape.
    ///
    /// The energy of the impact pays for the plastic work, and for the rotational energy that rises
    /// if the inertia falls at constant angular momentum. The flow is halved until the energy of the
    /// impact suffices and the mesh has no more overlaps than before. Returns `None` after
    /// [`MAX_TRIALS`] trials.
    pub(crate) fn dent(
        &mut self,
        parent: &Parent,
        elastic: &ElasticBody,
        yields: &Yield,
        dent_energy: &DentEnergy,
    ) -> Option<Dent> {
        let overlaps = |mesh: &TetMesh| mesh.overlaps().len();
        let overlaps_before = OnceCell::new();
        let fits = |dented: &Dented| {
            let Dented { plastic_work, kinetic_energy, .. } = *dented;
            let most = || *overlaps_before.get_or_init(|| overlaps(yields.body.mesh()));
            kinetic_energy <= dent_energy.kinetic
                && plastic_work + kinetic_energy <= dent_energy.total
                && overlaps(&dented.share.mesh) <= most()
        };
        let tried = |n| dented(parent, yields, yields.flow.max_share * 0.5_f64.powi(n));
        let dented = (0..MAX_TRIALS).map_while(tried).find(fits)?;
        let Dented { share, moments, mass, frame, pose, plastic_work, kinetic_energy } = dented;
        let before = yields.body.mesh();
        let moves = before.vertices.iter().zip(&share.mesh.vertices).map(|(p, q)| (q - p).norm());
        let depth = moves.fold(0.0, f64::max);
        let level_set = parent.solid.geometry.level_set();
        let solid = level_set.warped(before, &share.mesh, Grid::MAX_NODES).ok()?;
        let model = FractureModel::Stress(Arc::new(elastic.with(Some(share))));
        let is_held = parent.anchorage.is_some();
        let body = Body::Dynamic(mass);
        let velocity = body.velocity(&pose.rotation, &parent.momentum);
        let points = solid.surface_particles(solid.grid().spacing());
        let geometry = Arc::new(Geometry::sampled(Arc::new(solid), points, moments));
        let solid = Solid { geometry, material: frame };
        let shape = Arc::new(parent.shape_of(&solid, &model));
        let breakage = Breakage { model, ..parent.breakage.clone()? };
        let i = self.ids.binary_search(&parent.id).ok()?;
        let (surface, groups, solid_material) =
            (self.materials[i], self.groups[i], self.details[i].solid_material);
        self.remove(parent.id);
        let id = self.insert(NewBody {
            body: if is_held { Body::Static } else { body },
            pose,
            velocity,
            shape,
            solid: Some(solid),
            material: surface,
            groups,
            breakage: Some(breakage),
        });
        self.set_solid_material(id, solid_material);
        let last = self.len() - 1;
        self.start_piece_flight(last, parent, mass.mass());
        self.details[last].anchorage =
            parent.anchorage.as_ref().map(|anchorage| anchorage.of_piece(mass));
        Some(Dent { before: parent.id, after: id, depth, plastic_work, kinetic_energy })
    }
}

/// A body after a fraction of a plastic flow; `None` if it has no mass.
fn dented(parent: &Parent, Yield { body, flow }: &Yield, kept: f64) -> Option<Dented> {
    let tetfem::Dent { mesh, plastic } = body.dent(flow, kept);
    let Solid { material, .. } = &parent.solid;
    let moments = moments_after_dent(&parent.mass, material, body.moments(), &mesh.moments());
    let (mass, frame) = rigid(&moments, parent.mass.mass() / moments.volume).ok()?;
    let mut pose = parent.pose * material.inverse() * frame;
    let mut kinetic_energy = 0.0;
    if parent.anchorage.is_none() {
        pose.translation = parent.pose.translation;
        let of = |mass: &MassProperties, pose: &Isometry3<f64>| {
            mass.rotational_energy(&pose.rotation, &parent.momentum.angular)
        };
        kinetic_energy = of(&mass, &pose) - of(&parent.mass, &parent.pose);
    }
    let share = Share { mesh, plastic };
    let plastic_work = body.plastic_work(flow, kept);
    Some(Dented { share, moments, mass, frame, pose, plastic_work, kinetic_energy })
}

/// Moments of the dented body, for unit density in material coordinates.
///
/// Only the tetrahedra determine the change. Sampling the old and the new shape would give errors of
/// up to half a cell at flat surfaces, and these errors do not cancel.
fn moments_after_dent(
    mass: &MassProperties,
    material: &Isometry3<f64>,
    before: &Moments,
    after: &Moments,
) -> Moments {
    let density = mass.mass() / after.volume;
    let inertia = mass.inertia();
    let spread = inertia.map(|i| 0.5 * inertia.sum() - i) / density;
    let axes = material.rotation.to_rotation_matrix();
    let spread = axes * Matrix3::from_diagonal(&spread) * axes.transpose();
    let center = material.translation.vector + (after.center() - before.center());
    Moments {
        volume: after.volume,
        first: center * after.volume,
        second: spread
            + (after.central() - before.central())
            + center * center.transpose() * after.volume,
    }
}
