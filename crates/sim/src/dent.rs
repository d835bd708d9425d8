//! Bodies that stay deformed (Mu01 section 2.4).

use std::sync::Arc;

use contact::{Field, Shape};
use dynamics::Body;
use levelset::{Grid, TetMesh};

use crate::anchor::Anchorage;
use crate::breakage::{Breakage, Parent};
use crate::model::FractureModel;
use crate::world::{NewBody, World};
use crate::{Dent, rigid};

impl World {
    /// Puts a body of another shape in the place of `parent`: the one that it has when its
    /// tetrahedra moved, in material space. Mass, linear and angular momentum stay what they were.
    pub(crate) fn dent(
        &mut self,
        parent: &Parent,
        model: &FractureModel,
        [before, after]: &[TetMesh; 2],
    ) -> Option<Dent> {
        let Field::Grid { level_set, material } = parent.shape.field() else { return None };
        let solid = level_set.warped(before, after, Grid::MAX_NODES).ok()?;
        let moments = solid.moments();
        let density = parent.mass.mass() / moments.volume;
        let (mass, frame) = rigid(&moments, density).ok()?;
        let pose = parent.pose * material.inverse() * frame;
        let mut momentum = parent.momentum;
        // about the new centre of mass
        let arm = pose.translation.vector - parent.pose.translation.vector;
        momentum.angular -= arm.cross(&momentum.linear);
        let body = Body::Dynamic(mass);
        let velocity = body.velocity(&pose.rotation, &momentum);
        let points = solid.surface_particles(solid.grid().spacing());
        let breakage = Breakage { model: model.clone(), ..parent.breakage.clone()? };
        let i = self.ids.binary_search(&parent.id).ok()?;
        let (surface, groups) = (self.materials[i], self.groups[i]);
        self.remove(parent.id);
        let is_held = parent.anchorage.is_some();
        let id = self.add(NewBody {
            body: if is_held { Body::Static } else { body },
            pose,
            velocity,
            shape: Arc::new(Shape::grid(solid, &points, frame)),
            material: surface,
            groups,
            breakage: Some(breakage),
        });
        let last = self.len() - 1;
        self.anchorages[last] =
            parent.anchorage.as_ref().map(|anchorage| Anchorage { mass, ..anchorage.clone() });
        let moves = before.vertices.iter().zip(&after.vertices).map(|(p, q)| (q - p).norm());
        Some(Dent { before: parent.id, after: id, depth: moves.fold(0.0, f64::max) })
    }
}
