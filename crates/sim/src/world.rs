//! The bodies of a simulation, as columns, and the operations of users on them.

pub(crate) mod body;
pub(crate) mod contact_events;
pub(crate) mod fingerprint;
pub(crate) mod forces;
pub(crate) mod id;
pub(crate) mod input;
pub(crate) mod interpolation;
pub(crate) mod joint;
pub(crate) mod joints;
pub(crate) mod limits;
pub(crate) mod numbers;
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
use std::sync::{Arc, OnceLock};

use contact::{Broad, Cache, Columns, Flight, Groups, Material, MaterialError, QueryTree, Shape};
use dynamics::{Body, MassProperties, Momentum};
use nalgebra::{Isometry3, Point3, Vector3};

use crate::breaking::anchor::Anchorage;
use crate::breaking::crumbs::CrackedPiece;
use crate::breaking::divided::Divided;
use crate::sleep::rest::{Link, Rest};
use crate::world::id::BodyId;
use crate::world::input::{Load, Target};
use crate::world::joint::WorldJoint;
use crate::world::touching::ContactLog;
use crate::world::waypoint::Waypoint;
use crate::{BodyState, Breakage, Event, Lineage, Motion, NewBody, Settings, Solid, Timeline};

/// Bodies and the time; advanced by [`World::step`].
///
/// The columns are sorted by [`BodyId`]: bodies are added at the end and removed in place.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) settings: Settings,
    pub(crate) ids: Vec<BodyId>,
    pub(crate) bodies: Vec<Body>,
    /// The bodies for contacts and forces: sleepers are static.
    pub(crate) acting: Vec<Body>,
    pub(crate) poses: Vec<Isometry3<f64>>,
    /// Poses at the end of the frame before the last; for bodies added or placed since, their first
    /// poses; for pieces, their poses as parts of their parent.
    pub(crate) previous: Vec<Isometry3<f64>>,
    /// Pose of each body at its collisions in the last frame; for pieces, also at the impact that
    /// broke their parent.
    pub(crate) waypoints: Vec<Vec<Waypoint>>,
    pub(crate) momenta: Vec<Momentum>,
    /// The flight of each body since its last collision in the current frame, from its pose and
    /// momentum.
    pub(crate) flights: Vec<Flight>,
    pub(crate) shapes: Vec<Arc<Shape>>,
    pub(crate) solids: Vec<Option<Solid>>,
    pub(crate) materials: Vec<Material>,
    /// Materials of bodies, for their strength.
    pub(crate) solid_materials: Vec<fracture::Material>,
    pub(crate) groups: Vec<Groups>,
    pub(crate) breakages: Vec<Option<Breakage>>,
    /// Lineages of fragments.
    pub(crate) lineages: Vec<Option<Arc<Lineage>>>,
    /// Anchorages of anchored static bodies.
    pub(crate) anchorages: Vec<Option<Anchorage>>,
    /// Number of frames for which each has been slow.
    pub(crate) slow_frames: Vec<u32>,
    /// Number of new pieces in this frame.
    pub(crate) new_pieces: usize,
    /// Pieces to be removed at the end of this frame.
    pub(crate) dust: Vec<BodyId>,
    /// Pieces that shed crumbs at the end of this frame.
    pub(crate) cracked: Vec<CrackedPiece>,
    /// Number of crumbs so far.
    pub(crate) crumb_count: usize,
    /// Mass of retired pieces and of crumbs, kg.
    pub(crate) retired_mass: f64,
    pub(crate) rests: Vec<Rest>,
    /// Contacts and joints of sleepers, sorted by both bodies.
    pub(crate) links: Vec<Link>,
    /// Whether bodies were removed that sleepers may have touched.
    pub(crate) bodies_removed: bool,
    /// Contact impulses of the last frame.
    pub(crate) cache: Cache,
    /// Candidate pairs of the last frame; saves time in the next, without an effect on results.
    pub(crate) broad: Broad,
    /// Bodies frozen since the last report.
    pub(crate) frozen: Vec<BodyId>,
    pub(crate) next_id: u64,
    /// Sorted by name.
    pub(crate) joints: Vec<WorldJoint>,
    pub(crate) next_joint: u64,
    pub(crate) frame: usize,
    /// Wind, actions and paths.
    pub(crate) timeline: Timeline,
    /// The recorded events of a replay.
    pub(crate) recorded: Option<Vec<Event>>,
    pub(crate) divided: Divided,
    /// Target poses of kinematic bodies in the next frame.
    pub(crate) targets: Vec<Target>,
    /// Forces and torques of the next frame, sorted by body.
    pub(crate) loads: Vec<Load>,
    /// Sparse; some of the bodies may no longer exist.
    pub(crate) user_data: BTreeMap<BodyId, u64>,
    /// Touching pairs, if contact events are reported.
    pub(crate) log: Option<ContactLog>,
    /// For queries; built by the first query after a change.
    pub(crate) query_tree: OnceLock<QueryTree>,
}

impl World {
    /// A world without bodies. With settings that are not [usable](Settings::is_usable) it freezes
    /// every body that is added.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            ids: Vec::new(),
            bodies: Vec::new(),
            acting: Vec::new(),
            rests: Vec::new(),
            links: Vec::new(),
            bodies_removed: false,
            poses: Vec::new(),
            previous: Vec::new(),
            waypoints: Vec::new(),
            momenta: Vec::new(),
            flights: Vec::new(),
            shapes: Vec::new(),
            solids: Vec::new(),
            materials: Vec::new(),
            solid_materials: Vec::new(),
            groups: Vec::new(),
            breakages: Vec::new(),
            lineages: Vec::new(),
            anchorages: Vec::new(),
            slow_frames: Vec::new(),
            new_pieces: 0,
            dust: Vec::new(),
            cracked: Vec::new(),
            crumb_count: 0,
            retired_mass: 0.0,
            cache: Cache::default(),
            broad: Broad::default(),
            frozen: Vec::new(),
            next_id: 0,
            joints: Vec::new(),
            next_joint: 0,
            frame: 0,
            timeline: Timeline::default(),
            recorded: None,
            divided: Divided::default(),
            targets: Vec::new(),
            loads: Vec::new(),
            user_data: BTreeMap::new(),
            log: None,
            query_tree: OnceLock::new(),
        }
    }

    /// Adds a body and returns its handle.
    ///
    /// # Errors
    ///
    /// [`MaterialError`] if its restitution is not from 0 to 1, or its friction is negative or not
    /// finite; the world is then unchanged.
    ///
    /// A body with numbers that are not finite, or beyond 1e30, or with a shape that is not
    /// [usable](Shape::is_usable), is frozen: it stays at its pose, or at the origin if that is not
    /// finite, touches nothing, and is in the next [`Events::frozen`].
    ///
    /// [`Events::frozen`]: crate::Events::frozen
    pub fn add(&mut self, new: NewBody) -> Result<BodyId, MaterialError> {
        new.material.check()?;
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
        self.ids.push(id);
        self.bodies.push(new.body);
        self.acting.push(new.body);
        self.rests.push(Rest::new(&new.pose));
        self.poses.push(new.pose);
        self.previous.push(new.pose);
        self.waypoints.push(Vec::new());
        self.query_tree.take();
        self.momenta.push(momentum);
        self.flights.push(Flight::default());
        self.solids.push(new.solid.or_else(|| self.solid_of_samples(&new.shape)));
        self.shapes.push(new.shape);
        self.materials.push(new.material);
        self.solid_materials.push(fracture::Material::STONE);
        self.groups.push(new.groups);
        self.breakages.push(new.breakage);
        self.lineages.push(None);
        self.anchorages.push(None);
        self.slow_frames.push(0);
        id
    }

    /// The samples of a shape, which the last body may share.
    fn solid_of_samples(&self, shape: &Arc<Shape>) -> Option<Solid> {
        let known = self.shapes.last().filter(|last| Arc::ptr_eq(last, shape));
        match known.and_then(|_| self.solids.last()) {
            Some(solid) => solid.clone(),
            None => Solid::of_samples(shape),
        }
    }

    /// Removes a body; `false` if it no longer exists.
    pub fn remove(&mut self, id: BodyId) -> bool {
        let Ok(i) = self.ids.binary_search(&id) else { return false };
        self.ids.remove(i);
        self.bodies.remove(i);
        self.acting.remove(i);
        self.rests.remove(i);
        self.bodies_removed = true;
        self.poses.remove(i);
        self.previous.remove(i);
        self.waypoints.remove(i);
        self.query_tree.take();
        self.momenta.remove(i);
        self.flights.remove(i);
        self.shapes.remove(i);
        self.solids.remove(i);
        self.materials.remove(i);
        self.solid_materials.remove(i);
        self.groups.remove(i);
        self.breakages.remove(i);
        self.lineages.remove(i);
        self.anchorages.remove(i);
        self.slow_frames.remove(i);
        true
    }

    /// Sets the material of a body: its stiffness when it strikes others, and its strength if that
    /// is [`Strength::Material`](crate::Strength::Material). The default is stone. Its pieces
    /// inherit it. `false` if there is no such body.
    pub fn set_solid_material(&mut self, id: BodyId, material: fracture::Material) -> bool {
        let Ok(i) = self.ids.binary_search(&id) else { return false };
        self.solid_materials[i] = material;
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
        self.retired_mass
    }

    /// Number of crumbs so far; see [`Crumbs`](crate::Crumbs).
    pub fn crumb_count(&self) -> usize {
        self.crumb_count
    }

    /// Mass of a dynamic or anchored body.
    pub(crate) fn mass_of(&self, i: usize) -> Option<&MassProperties> {
        let held = || self.anchorages[i].as_ref().map(|anchorage| &anchorage.mass);
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
        match &self.solids[i] {
            Some(solid) => Some(Cow::Borrowed(solid)),
            None => Solid::of_convex(&self.shapes[i]).map(Cow::Owned),
        }
    }

    /// Points on the surface of a body, in body coordinates, m: those of its collision shape, or
    /// those of its solid if it is a ball.
    pub(crate) fn surface_points(&self, i: usize) -> Cow<'_, [Point3<f64>]> {
        match (self.shapes[i].points(), &self.solids[i]) {
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
            solid: self.solids[i].as_ref(),
            groups: self.groups[i],
            breakage: self.breakages[i].as_ref(),
            lineage: self.lineages[i].as_deref(),
            asleep: self.rests[i].asleep,
        }
    }
}
