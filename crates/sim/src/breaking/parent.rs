//! A body about to break, and what its pieces inherit.

use std::sync::Arc;

use contact::{Field, Flight, Shape, TetSolid};
use dynamics::{MassProperties, Momentum};
use fracture::{Piece, Pieces};
use nalgebra::Isometry3;
use rayon::prelude::*;

use crate::FractureModel;
use crate::breaking::anchor::Anchorage;
use crate::breaking::breakage::Breakage;
use crate::breaking::divided::Part;
use crate::breaking::model::Division;
use crate::scene::Pattern;
use crate::world::waypoint::Waypoint;
use crate::{BodyId, Cut, Lineage, Solid, Whole, World, rigid};

/// A body about to break.
pub(crate) struct Parent {
    pub(crate) id: BodyId,
    pub(crate) breakage: Option<Breakage>,
    pub(crate) mass: MassProperties,
    pub(crate) momentum: Momentum,
    pub(crate) pose: Isometry3<f64>,
    /// Its pose at the end of the previous frame.
    pub(crate) previous: Isometry3<f64>,
    /// Time of the impact, to which pose and momentum refer, s since the start of the frame.
    pub(crate) since: f64,
    /// Its poses at collisions in the frame.
    pub(crate) waypoints: Vec<Waypoint>,
    /// Its share of the energy dissipated by collisions of the frame, J.
    pub(crate) dissipated: f64,
    pub(crate) shape: Arc<Shape>,
    pub(crate) solid: Solid,
    pub(crate) anchorage: Option<Anchorage>,
    /// Its origin, if it is a fragment.
    pub(crate) lineage: Option<Arc<Lineage>>,
}

impl Parent {
    /// Density, kg/m^3.
    pub(crate) fn density(&self) -> f64 {
        self.mass.mass() / self.solid.geometry.moments().volume
    }

    /// Whether it collides by its tetrahedra.
    pub(crate) fn has_tets(&self) -> bool {
        matches!(self.shape.field(), Field::Tets(_))
    }

    /// The collision shape of its replacement: tetrahedra if it had them and the model has some,
    /// too.
    pub(crate) fn shape_of(&self, solid: &Solid, model: &FractureModel) -> Shape {
        let mesh = match model {
            FractureModel::Stress(elastic) => elastic.mesh(),
            FractureModel::Lattice(latticed) => latticed.mesh(),
            FractureModel::Prescored(..) | FractureModel::Fixed(_) => None,
        };
        let mesh = mesh.filter(|_| self.has_tets());
        let tets = mesh.and_then(|mesh| TetSolid::new(mesh, &solid.material).ok());
        tets.map_or_else(|| solid.shape(), |tets| Shape::tets(Arc::new(tets)))
    }

    /// Whether it is that whole body or a fragment of it.
    pub(crate) fn is_of(&self, whole: &Arc<Whole>) -> bool {
        match &self.lineage {
            Some(lineage) => Arc::ptr_eq(&lineage.whole, whole),
            None => Arc::ptr_eq(&self.solid.geometry, whole.geometry()),
        }
    }

    /// Its pieces with shape and mass; `None` if one of them has no mass.
    pub(crate) fn parts(&self, broken: Pieces, division: &Division) -> Option<Vec<Part>> {
        let density = self.density();
        let (whole, cuts) = match &self.lineage {
            Some(lineage) => (Arc::clone(&lineage.whole), &lineage.cuts[..]),
            None => (Arc::new(Whole::new(Arc::clone(&self.solid.geometry))), &[][..]),
        };
        let part = |Piece { geometry, regions }: Piece| {
            let (mass, material) = rigid(geometry.moments(), density).ok()?;
            let cut = Cut { pattern: Arc::clone(&division.pattern), at: division.at, regions };
            let cuts = cuts.iter().cloned().chain([cut]).collect();
            let lineage = Arc::new(Lineage { whole: Arc::clone(&whole), cuts });
            let solid = Solid { geometry: Arc::new(geometry), material };
            Some(Part { shape: Arc::new(solid.shape()), solid, mass, lineage })
        };
        broken.pieces.into_par_iter().map(part).collect()
    }
}

impl World {
    /// The body `id`, if it has mass.
    pub(crate) fn parent(&self, id: BodyId) -> Option<Parent> {
        let i = self.ids.binary_search(&id).ok()?;
        let (pose, momentum) = self.state_at_collision(i);
        Some(Parent {
            id,
            breakage: self.details[i].breakage.clone(),
            momentum,
            mass: *self.mass_of(i)?,
            pose,
            previous: self.display.previous[i],
            since: self.flights[i].since,
            waypoints: self.display.waypoints[i].clone(),
            dissipated: self.flights[i].dissipated,
            anchorage: self.details[i].anchorage.clone(),
            lineage: self.details[i].lineage.clone(),
            shape: Arc::clone(&self.shapes[i]),
            solid: self.details[i].solid.clone()?,
        })
    }

    /// Volume of the smallest separate piece of a body, m^3.
    pub(crate) fn min_volume(&self, parent: &Parent) -> f64 {
        let share = parent.breakage.as_ref().map_or(Pattern::MIN_SHARE, |b| b.min_share);
        let size = self.min_size(parent);
        (share * parent.solid.geometry.moments().volume).max(size.powi(3))
    }

    /// Edge of a cube of the least volume of a piece of a body, m.
    pub(crate) fn min_size(&self, parent: &Parent) -> f64 {
        let own = parent.breakage.as_ref().map_or(0.0, |b| b.min_size);
        own.max(self.settings.debris.min_size)
    }

    /// Starts the flight of a body of that `mass`, kg, at the impact on its parent.
    pub(crate) fn start_piece_flight(&mut self, i: usize, parent: &Parent, mass: f64) {
        // until the impact it was a part of its parent
        let within = parent.pose.inv_mul(&self.poses[i]);
        self.display.previous[i] = parent.previous * within;
        let share = parent.since / self.settings.dt;
        let before = parent.waypoints.iter().filter(|waypoint| waypoint.share < share);
        let carried =
            before.map(|Waypoint { share, pose }| Waypoint { share: *share, pose: pose * within });
        self.display.waypoints[i] = carried.chain(Waypoint::new(share, self.poses[i])).collect();
        let (body, acceleration) = (&self.bodies[i], &self.acceleration(i));
        let (flight, pose, momentum) =
            Flight::starting(parent.since, body, &self.poses[i], &self.momenta[i], acceleration);
        let dissipated = parent.dissipated * mass / parent.mass.mass();
        (self.flights[i], self.poses[i], self.momenta[i]) =
            (Flight { dissipated, ..flight }, pose, momentum);
    }
}
