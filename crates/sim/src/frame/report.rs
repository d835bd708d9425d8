//! What happened in a frame.

use std::sync::Arc;

use dynamics::Momentum;
use nalgebra::{Point3, Vector3};
use serde::{Deserialize, Serialize};

use crate::{AnchorLoad, BodyId, ContactEvents, Event, JointId, Misfit, Strain, StressField};

/// A body that broke.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fracture {
    /// The body that is no more.
    pub parent: BodyId,
    /// Its pieces. Some may have broken again in the same frame: those are the parents of later entries.
    pub fragments: Vec<BodyId>,
    /// Where it was hit, in the world, m.
    pub point: Point3<f64>,
    /// The impulse it would have received, N s.
    pub impulse: Vector3<f64>,
    /// Its mass, kg.
    pub mass_before: f64,
    /// The mass of its pieces, kg.
    pub mass_after: f64,
    /// What else it had.
    pub before: Motion,
    /// What else its pieces have, together.
    pub after: Motion,
}

/// Momentum and energy of some bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Linear momentum, and angular momentum about the world's origin.
    pub momentum: Momentum,
    /// Kinetic energy, J.
    pub kinetic_energy: f64,
    /// Potential energy, J, zero at the origin.
    pub potential_energy: f64,
}

/// Mechanical energy that a frame took away, by what took it, J. A negative one was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Dissipation {
    /// Collisions, less the plastic work of dents and what these gave to spin: a body of less inertia has more
    /// kinetic energy at the same angular momentum. If a body dents before its blow is over, the plastic work can
    /// be more than collisions took until the end of the frame, and this is negative.
    pub collision: f64,
    /// Plastic work: part of what the collisions took that left dents.
    pub plastic: f64,
    /// Bodies that became pieces.
    pub fracture: f64,
    /// Contact and friction.
    pub contact: f64,
    /// Falling asleep.
    pub sleep: f64,
    /// Pieces that were retired: the energy they had, potential energy included.
    pub retirement: f64,
}

impl Dissipation {
    /// All together, J.
    pub fn total(&self) -> f64 {
        self.collision + self.plastic + self.fracture + self.contact + self.sleep + self.retirement
    }
}

/// A body that stays deformed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dent {
    /// The body that is no more.
    pub before: BodyId,
    /// The body in its place, of the same mass and momentum.
    pub after: BodyId,
    /// How far it was pressed in or out at the most, m.
    pub depth: f64,
    /// Work of the yield stress on the plastic strain, J.
    pub plastic_work: f64,
    /// Growth of the kinetic energy with the change of inertia at the same angular momentum, J. The blow pays for
    /// it.
    pub kinetic_energy: f64,
}

/// What a frame did. A frame never fails: what went wrong is reported here.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Frames stepped, this one included.
    pub frame: usize,
    /// Bodies at the end of the frame.
    pub bodies: usize,
    /// Dynamic bodies that are not asleep at the end of the frame.
    pub awake: usize,
    /// Pairs of bodies whose boxes overlapped.
    pub pairs: usize,
    /// Pairs whose contacts were known from an earlier frame, since they hardly moved.
    pub pairs_reused: usize,
    /// Pairs that were looked at once more, since collisions sent a body elsewhere or woke it.
    pub pairs_again: usize,
    /// Surface points whose distance to another body was asked.
    pub points: usize,
    /// Contacts that were solved.
    pub contacts: usize,
    /// Colors of pairs that were solved side by side.
    pub colors: u32,
    /// Levels of the contact graph.
    pub levels: u32,
    /// Sweeps of the contact passes over all contacts and over single levels; zero of other solvers
    /// than the default.
    pub sweeps: usize,
    /// Who began and ended to touch whom, and how hard; empty unless asked for by
    /// [`World::set_contact_events`](crate::World::set_contact_events).
    pub contact_events: ContactEvents,
    /// Bodies that broke.
    pub fractures: Vec<Fracture>,
    /// Bodies that stay deformed.
    pub dents: Vec<Dent>,
    /// The stress of bodies of finite elements in the blows of this frame, in the order of these and
    /// in material coordinates.
    pub stresses: Vec<(BodyId, Arc<StressField>)>,
    /// Bodies that yield and of which a blow was solved for small strains, because no equilibrium of the large
    /// ones was found.
    pub linearized: Vec<BodyId>,
    /// The hardest blow to each body that was hit and can break, by its [`ratio`](Strain::ratio), in
    /// the order of bodies.
    pub strains: Vec<Strain>,
    /// All that was hit harder than it bears or cut, as data.
    pub events: Vec<Event>,
    /// Recorded events that did not recur; see [`World::replay`](crate::World::replay).
    pub misfits: Vec<Misfit>,
    /// Bodies that were hit harder than they bear and held together: no bond between their pieces
    /// failed.
    pub held: Vec<BodyId>,
    /// Bodies that would have broken into more pieces than there is room for, and did not; see
    /// [`Debris`](crate::Debris).
    pub over_budget: Vec<BodyId>,
    /// Bodies that lost what anchored them, or bore too much, and move from now on.
    pub released: Vec<BodyId>,
    /// What anchored bodies bear at the start of the frame, in the order of bodies.
    pub anchor_loads: Vec<AnchorLoad>,
    /// Pieces that came to rest and are scenery from now on, or gone.
    pub retired: Vec<BodyId>,
    /// Bodies whose state was not finite, or beyond 1e30; they were put back where they were and
    /// stopped. One that was added so takes no part any more.
    pub frozen: Vec<BodyId>,
    /// Joints that bore too much, or lost a body, and are no more.
    pub broken_joints: Vec<JointId>,
    /// Contact impulses that the solver remembers for the next frame; zero of solvers that remember
    /// whole contacts or nothing.
    pub impulses_remembered: usize,
    /// Contacts of this frame for which it remembered one.
    pub impulses_found: usize,
    /// Whether no impulses met all conditions of contacts and joints, so that the best of some sweeps
    /// was taken; or the equations of bodies that joints alone hold were not solved, which were then
    /// moved as others are.
    pub unsolved: bool,
    /// Islands that the exact solver left to the sweeps after its limit of factorizations.
    pub unsolved_islands: usize,
    /// How far the contact impulses are from complementarity and Coulomb's law: the largest component of the
    /// natural map, m/s; zero of other solvers than the default.
    pub residual: f64,
    /// Collisions of pairs that [`contact::Solver::Ku07`] solved; zero of other solvers.
    pub impacts: usize,
    /// Pairs with a body at the limit of blows per frame, counted once per collision pass; the contact passes
    /// stopped their approach. With [`contact::Solver::Ku07`] they did not rebound; instants at which it put
    /// meetings off count too.
    pub limited_blows: usize,
    /// Whether the quadratic programme took more work than is given to it, so that sweeps were made in
    /// its place; [`Self::unsolved`] then too.
    pub solver_limited: bool,
    /// Kinetic energy at the end, J.
    pub kinetic_energy: f64,
    /// Potential energy at the end, J.
    pub potential_energy: f64,
    /// The work of kinematic bodies, motors and the timeline, J.
    pub work: f64,
    /// What became of the rest: kinetic and potential energy grow by [`Self::work`] less all of
    /// these.
    pub dissipation: Dissipation,
    /// Growth of the sum of both over the frame, J: more than gravity explains.
    pub energy_gain: f64,
}

impl Report {
    /// Keeps a blow if it is the hardest to its body yet.
    pub(crate) fn strain(&mut self, strain: Strain) {
        match self.strains.binary_search_by_key(&strain.body, |known| known.body) {
            Ok(n) if strain.ratio() > self.strains[n].ratio() => self.strains[n] = strain,
            Ok(_) => {}
            Err(n) => self.strains.insert(n, strain),
        }
    }
}
