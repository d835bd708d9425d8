//! The bodies of a simulation, as columns, and the operations of users on them.

pub(crate) mod body;
pub(crate) mod caches;
pub(crate) mod contact_events;
pub(crate) mod details;
pub(crate) mod display;
pub(crate) mod fingerprint;
pub(crate) mod forces;
pub(crate) mod id;
pub(crate) mod input;
pub(crate) mod interpolation;
pub(crate) mod joint;
pub(crate) mod joint_changes;
pub(crate) mod joints;
pub(crate) mod limits;
pub(crate) mod numbers;
pub(crate) mod properties;
pub(crate) mod query;
pub(crate) mod rigid;
pub(crate) mod settings;
pub(crate) mod solid;
pub(crate) mod state;
pub(crate) mod steering;
pub(crate) mod touching;
pub(crate) mod user_data;
pub(crate) mod warning;
pub(crate) mod waypoint;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use contact::{Columns, Flight, Groups, Material, Shape};
use dynamics::{Body, MassProperties, Momentum};
use nalgebra::{Isometry3, Point3, Vector3};

use crate::breaking::debris::DebrisState;
use crate::script::Script;
use crate::sleep::rest::{Rest, SleepState};
use crate::world::caches::Caches;
use crate::world::details::BodyDetails;
use crate::world::display::DisplayPoses;
use crate::world::id::BodyId;
use crate::world::input::Steering;
use crate::world::joint::WorldJoint;
use crate::world::touching::ContactLog;
use crate::{BodyError, BodyState, BreakageError, Motion, NewBody, Settings, Solid};

/// Bodies and the time; advanced by [`World::step`].
///
/// The columns are sorted by [`BodyId`]: bodies are added at the end and removed in place.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) settings: Settings,
    pub(crate) frame: usize,

    // one entry per body
    pub(crate) ids: Vec<BodyId>,
    pub(crate) bodies: Vec<Body>,
    /// The bodies for contacts and forces: sleepers are static.
    pub(crate) acting: Vec<Body>,
    pub(crate) poses: Vec<Isometry3<f64>>,
    pub(crate) momenta: Vec<Momentum>,
    /// The flight of each body since its last collision in the current frame, from its pose and
    /// momentum.
    pub(crate) flights: Vec<Flight>,
    pub(crate) shapes: Vec<Arc<Shape>>,
    pub(crate) materials: Vec<Material>,
    pub(crate) groups: Vec<Groups>,
    pub(crate) details: Vec<BodyDetails>,
    pub(crate) display: DisplayPoses,
    pub(crate) sleep: SleepState,

    /// Sorted by name.
    pub(crate) joints: Vec<WorldJoint>,
    pub(crate) debris: DebrisState,
    pub(crate) script: Script,
    pub(crate) steering: Steering,
    pub(crate) caches: Caches,
    /// Sparse; some of the bodies may no longer exist.
    pub(crate) user_data: BTreeMap<BodyId, u64>,
    /// Touching pairs, if contact events are reported.
    pub(crate) log: Option<ContactLog>,
    /// Bodies frozen since the last report.
    pub(crate) frozen: Vec<BodyId>,
    pub(crate) next_id: u64,
    pub(crate) next_joint: u64,
}

impl World {
    /// A world without bodies. With settings that are not [usable](Settings::is_usable) it freezes
    /// every body that is added.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            frame: 0,
            ids: Vec::new(),
            bodies: Vec::new(),
            acting: Vec::new(),
            poses: Vec::new(),
            momenta: Vec::new(),
            flights: Vec::new(),
            shapes: Vec::new(),
            materials: Vec::new(),
            groups: Vec::new(),
            details: Vec::new(),
            display: DisplayPoses::default(),
            sleep: SleepState::default(),
            joints: Vec::new(),
            debris: DebrisState::default(),
            script: Script::default(),
            steering: Steering::default(),
            caches: Caches::default(),
            user_data: BTreeMap::new(),
            log: None,
            frozen: Vec::new(),
            next_id: 0,
            next_joint: 0,
        }
    }

    /// Adds a body and returns its handle.
    ///
    /// # Errors
    ///
    /// [`BodyError`] if its restitution is not from 0 to 1, its friction is negative or not finite,
    /// or it cannot break as its [`NewBody::breakage`] says; the world is then unchanged.
    ///
    /// A body with numbers that are not finite, or beyond 1e30, or with a shape that is not
    /// [usable](Shape::is_usable), is frozen: it stays at its pose, or at the origin if that is not
    /// finite, touches nothing, and is in the next [`Events::frozen`].
    ///
    /// [`Events::frozen`]: crate::Events::frozen
    pub fn add(&mut self, mut new: NewBody) -> Result<BodyId, BodyError> {
        new.material.check()?;
        if let Some(breakage) = &new.breakage {
            breakage.check()?;
            let of_shape =
                || self.solid_of_samples(&new.shape).or_else(|| Solid::of_convex(&new.shape));
            new.solid = new.solid.or_else(of_shape);
            if new.solid.is_none() {
                return Err(BreakageError::NoSolid.into());
            }
        }
        Ok(self.insert(new))
    }

    /// Adds a body with a valid material.
    pub(crate) fn insert(&mut self, mut new: NewBody) -> BodyId {
        let id = BodyId(self.next_id);
        self.next_id += 1;
        let is_placed = !self.settings.plane || new.flatten();
        let new = if is_placed && new.is_usable() && self.settings.is_usable() {
            new
        } else {
            self.frozen.push(id);
            new.frozen()
        };
        let momentum = new.momentum();
        self.caches.query_tree.take();
        self.details.push(BodyDetails {
            solid: new.solid.or_else(|| self.solid_of_samples(&new.shape)),
            solid_material: fracture::Material::STONE,
            breakage: new.breakage,
            lineage: None,
            anchorage: None,
            slow_frames: 0,
        });
        self.ids.push(id);
        self.bodies.push(new.body);
        self.acting.push(new.body);
        self.poses.push(new.pose);
        self.momenta.push(momentum);
        self.flights.push(Flight::default());
        self.shapes.push(new.shape);
        self.materials.push(new.material);
        self.groups.push(new.groups);
        self.display.push(new.pose);
        self.sleep.rests.push(Rest::new(&new.pose));
        id
    }

    /// The samples of a shape, which the last body may share.
    fn solid_of_samples(&self, shape: &Arc<Shape>) -> Option<Solid> {
        let known = self.shapes.last().filter(|last| Arc::ptr_eq(last, shape));
        match known.and_then(|_| self.details.last()) {
            Some(last) => last.solid.clone(),
            None => Solid::of_samples(shape),
        }
    }

    /// Removes a body; `false` if it no longer exists.
    pub fn remove(&mut self, id: BodyId) -> bool {
        let Ok(i) = self.ids.binary_search(&id) else { return false };
        self.caches.query_tree.take();
        self.ids.remove(i);
        self.bodies.remove(i);
        self.acting.remove(i);
        self.poses.remove(i);
        self.momenta.remove(i);
        self.flights.remove(i);
        self.shapes.remove(i);
        self.materials.remove(i);
        self.groups.remove(i);
        self.details.remove(i);
        self.display.remove(i);
        self.sleep.rests.remove(i);
        self.sleep.bodies_removed = true;
        true
    }

    /// The body `id`, unless it broke or was removed.
    pub fn get(&self, id: BodyId) -> Option<BodyState<'_>> {
        self.ids.binary_search(&id).ok().map(|i| self.state(i))
    }

    /// All bodies, in the order they were added.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = BodyState<'_>> + ExactSizeIterator {
        (0..self.ids.len()).map(|i| self.state(i))
    }

    /// The body with this number, if there is one.
    pub fn id(&self, number: u64) -> Option<BodyId> {
        self.ids.binary_search(&BodyId(number)).ok().map(|i| self.ids[i])
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Frames stepped so far.
    pub fn frame(&self) -> usize {
        self.frame
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Total mass of dynamic and anchored bodies, kg.
    pub fn mass(&self) -> f64 {
        // not `sum`, which is -0.0 for no bodies
        (0..self.len()).filter_map(|i| self.mass_of(i)).fold(0.0, |sum, m| sum + m.mass())
    }

    /// Total mass of retired pieces and of crumbs, kg.
    pub fn retired_mass(&self) -> f64 {
        self.debris.retired_mass
    }

    /// Number of crumbs so far; see [`Crumbs`](crate::Crumbs).
    pub fn crumb_count(&self) -> usize {
        self.debris.crumb_count
    }

    /// Mass of a dynamic or anchored body.
    pub(crate) fn mass_of(&self, i: usize) -> Option<&MassProperties> {
        let held = || self.details[i].anchorage.as_ref().map(|anchorage| &anchorage.mass);
        self.bodies[i].mass_properties().or_else(held)
    }

    /// Total momentum of the dynamic bodies, angular about the world's origin.
    pub fn momentum(&self) -> Momentum {
        let mut total = Momentum::default();
        for (pose, momentum) in self.poses.iter().zip(&self.momenta) {
            total.apply_impulse(&momentum.linear, &pose.translation.vector);
            total.angular += momentum.angular;
        }
        total
    }

    /// Kinetic energy of the dynamic bodies, J.
    pub fn kinetic_energy(&self) -> f64 {
        (0..self.len()).map(|i| self.kinetic_energy_of(i)).sum()
    }

    /// Potential energy in gravity, J, of the bodies that [`World::mass`] counts, zero at the
    /// origin.
    pub fn potential_energy(&self) -> f64 {
        (0..self.len()).map(|i| self.potential_energy_of(i)).sum()
    }

    /// Momentum and energy of the existing bodies among `ids`.
    pub(crate) fn motion(&self, ids: &[BodyId]) -> Motion {
        let mut sum = Motion::default();
        for i in ids.iter().filter_map(|id| self.ids.binary_search(id).ok()) {
            let Momentum { linear, angular } = &self.momenta[i];
            sum.momentum.apply_impulse(linear, &self.poses[i].translation.vector);
            sum.momentum.angular += angular;
            sum.kinetic_energy += self.kinetic_energy_of(i);
            sum.potential_energy += self.potential_energy_of(i);
        }
        sum
    }

    /// The pose and momentum of a body at its last collision in this frame.
    pub(crate) fn state_at_collision(&self, i: usize) -> (Isometry3<f64>, Momentum) {
        let acceleration = &self.acceleration(i);
        self.flights[i].state(&self.bodies[i], &self.poses[i], &self.momenta[i], acceleration)
    }

    /// Kinetic and potential energy, J.
    pub(crate) fn mechanical_energy(&self) -> f64 {
        self.kinetic_energy() + self.potential_energy()
    }

    pub(crate) fn kinetic_energy_of(&self, i: usize) -> f64 {
        self.bodies[i].kinetic_energy(&self.poses[i].rotation, &self.momenta[i])
    }

    pub(crate) fn potential_energy_of(&self, i: usize) -> f64 {
        -self.weight(i).dot(&self.poses[i].translation.vector)
    }

    /// The force of gravity on a body, N; zero for unusable gravity, with which no body moves.
    pub(crate) fn weight(&self, i: usize) -> Vector3<f64> {
        if !self.settings.has_gravity() {
            return Vector3::zeros();
        }
        let mass = self.mass_of(i).map_or(0.0, MassProperties::mass);
        self.settings.gravity * mass
    }

    pub(crate) fn columns(&self) -> Columns<'_> {
        Columns {
            bodies: &self.acting,
            shapes: &self.shapes,
            materials: &self.materials,
            groups: &self.groups,
        }
    }

    /// Moves dynamic bodies back into the plane of their poses `start`, against round-off and
    /// external forces.
    pub(crate) fn keep_in_plane(&mut self, start: &[Isometry3<f64>]) {
        if !self.settings.plane {
            return;
        }
        let states = self.poses.iter_mut().zip(&mut self.momenta).zip(start);
        for (body, ((pose, momentum), start)) in self.bodies.iter().zip(states) {
            if body.mass_properties().is_some() {
                pose.translation.vector.z = start.translation.vector.z;
                *momentum = momentum.planar();
            }
        }
    }

    /// The solid of a body: its own, or else that of its shape.
    pub(crate) fn solid(&self, i: usize) -> Option<Cow<'_, Solid>> {
        match &self.details[i].solid {
            Some(solid) => Some(Cow::Borrowed(solid)),
            None => Solid::of_convex(&self.shapes[i]).map(Cow::Owned),
        }
    }

    /// Points on the surface of a body, in body coordinates, m: those of its collision shape, or
    /// those of its solid if it is a ball.
    pub(crate) fn surface_points(&self, i: usize) -> Cow<'_, [Point3<f64>]> {
        match (self.shapes[i].points(), &self.details[i].solid) {
            ([], Some(Solid { geometry, material })) => {
                let points = geometry.points();
                points.iter().map(|p| material.inverse_transform_point(p)).collect()
            }
            (points, _) => Cow::Borrowed(points),
        }
    }

    fn state(&self, i: usize) -> BodyState<'_> {
        BodyState {
            id: self.ids[i],
            body: &self.bodies[i],
            pose: &self.poses[i],
            momentum: &self.momenta[i],
            shape: &self.shapes[i],
            solid: self.details[i].solid.as_ref(),
            groups: self.groups[i],
            breakage: self.details[i].breakage.as_ref(),
            lineage: self.details[i].lineage.as_deref(),
            asleep: self.sleep.rests[i].asleep,
        }
    }
}
