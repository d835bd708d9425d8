//! Bodies that stay deformed (Mu01 section 2.4).

use std::sync::Arc;

use dynamics::{Body, MassProperties};
use fracture::Geometry;
use levelset::{Grid, Moments, TetMesh};
use nalgebra::{Isometry3, Matrix3};

use crate::anchor::Anchorage;
use crate::breakage::Breakage;
use crate::model::FractureModel;
use crate::parent::Parent;
use crate::world::{NewBody, World};
use crate::{Dent, Solid, rigid};

impl World {
    /// Puts a body of another shape in the place of `parent`: the one that it has when its
    /// tetrahedra moved, in material space. Mass, linear and angular momentum stay what they were,
    /// and so does the centre of what is free to move, since nothing outside moves it.
    pub(crate) fn dent(
        &mut self,
        parent: &Parent,
        model: &FractureModel,
        [before, after]: &[TetMesh; 2],
    ) -> Option<Dent> {
        let Solid { geometry, material } = &parent.solid;
        let solid = geometry.level_set().warped(before, after, Grid::MAX_NODES).ok()?;
        let moments = moved(&parent.mass, material, &before.moments(), &after.moments());
        let (mut mass, frame) = rigid(&moments, parent.mass.mass() / moments.volume).ok()?;
        let is_held = parent.anchorage.is_some();
        let mut pose = parent.pose * material.inverse() * frame;
        let momentum = parent.momentum;
        if !is_held {
            pose.translation = parent.pose.translation;
            let energy = parent.mass.rotational_energy(&parent.pose.rotation, &momentum.angular);
            let turning = mass.rotational_energy(&pose.rotation, &momentum.angular);
            // what gets narrower would turn faster, by work that nothing does
            if turning > energy {
                mass =
                    MassProperties::new(mass.mass(), mass.inertia() * (turning / energy)).ok()?;
            }
        }
        let body = Body::Dynamic(mass);
        let velocity = body.velocity(&pose.rotation, &momentum);
        let points = solid.surface_particles(solid.grid().spacing());
        let geometry = Arc::new(Geometry::sampled(Arc::new(solid), points, moments));
        let solid = Solid { geometry, material: frame };
        let breakage = Breakage { model: model.clone(), ..parent.breakage.clone()? };
        let i = self.ids.binary_search(&parent.id).ok()?;
        let (surface, groups, substance) = (self.materials[i], self.groups[i], self.substances[i]);
        self.remove(parent.id);
        let id = self.insert(NewBody {
            body: if is_held { Body::Static } else { body },
            pose,
            velocity,
            shape: Arc::new(parent.shape_of(&solid, model)),
            solid: Some(solid),
            material: surface,
            groups,
            breakage: Some(breakage),
        });
        self.set_substance(id, substance);
        let last = self.len() - 1;
        self.fly(last, parent.since);
        self.anchorages[last] =
            parent.anchorage.as_ref().map(|anchorage| Anchorage { mass, ..anchorage.clone() });
        let moves = before.vertices.iter().zip(&after.vertices).map(|(p, q)| (q - p).norm());
        Some(Dent { before: parent.id, after: id, depth: moves.fold(0.0, f64::max) })
    }
}

/// Moments, for unit density in material coordinates, of a body whose tetrahedra moved. Samples are too coarse for the difference: counting them loses up to half a cell where
/// the surface is flat, at one shape and not at the other.
fn moved(
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
    let centre = material.translation.vector + (after.centre() - before.centre());
    Moments {
        volume: after.volume,
        first: centre * after.volume,
        second: spread
            + (after.central() - before.central())
            + centre * centre.transpose() * after.volume,
    }
}
