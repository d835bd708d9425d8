//! Events of a frame.

use std::collections::BTreeMap;

use dynamics::Momentum;
use nalgebra::{Point3, Vector3};

use crate::{BodyId, ContactEvents, Crumb, Event, JointId, ReplayMismatch};

/// Events of a frame: bodies that were added or removed, broke, were released or could not be
/// simulated.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Events {
    /// Bodies that exist at the end of the frame and did not at its start: pieces and dented
    /// bodies, in ascending order.
    ///
    /// A piece that broke again within the frame is neither here nor in [`Self::removed`].
    pub added: Vec<BodyId>,
    /// Bodies that existed at the start of the frame and do not at its end: broken, cut, dented or
    /// retired, in ascending order.
    pub removed: Vec<BodyId>,
    /// Pairs that began and ended contact, and their impulses; empty unless enabled by
    /// [`World::set_contact_events`](crate::World::set_contact_events).
    pub contacts: ContactEvents,
    /// Bodies that broke or were cut.
    pub fractures: Vec<Fracture>,
    /// Bodies with plastic deformation.
    pub dents: Vec<Dent>,
    /// Bodies hit beyond their strength that stayed whole because no bond between their pieces
    /// failed.
    pub held: Vec<BodyId>,
    /// Bodies that stayed whole because there was no room for their pieces; see
    /// [`Debris`](crate::Debris).
    pub over_budget: Vec<BodyId>,
    /// Bodies that became dynamic: they lost their anchors, or their load exceeded their strength.
    pub released: Vec<BodyId>,
    /// Joints that were removed: overloaded, or without a body.
    pub broken_joints: Vec<JointId>,
    /// Actions of the timeline without an effect, by index: cuts that divided no body, explosions that reached none,
    /// and pushes on bodies that do not exist or do not move.
    pub idle_actions: Vec<usize>,
    /// Pieces at rest that became static or were removed; see [`Retire`](crate::Retire).
    pub retired: Vec<BodyId>,
    /// Crumbs that broke off pieces at the end of the frame; see [`Crumbs`](crate::Crumbs). A game
    /// gives them to its particle system.
    pub crumbs: Vec<Crumb>,
    /// Bodies whose state was not finite, or beyond 1e30; they were reset to their last pose and
    /// stopped. A body added with such a state takes no part in the simulation.
    pub frozen: Vec<BodyId>,
    /// Bodies with a yield stress for which an impact was solved for small strains, because no
    /// equilibrium of large strains was found.
    pub linearized: Vec<BodyId>,
    /// Whether no impulses satisfied all conditions of contacts and joints, so that the best sweep
    /// was used; or the equations of bodies held by joints alone were not solved, so that the
    /// contact passes moved them.
    pub unsolved: bool,
    /// Whether the quadratic program reached its work limit, so that sweeps replaced it;
    /// [`Self::unsolved`] is set too.
    pub solver_limited: bool,
    /// Fractures, dents, cuts and withstood impacts, as input for
    /// [`World::replay`](crate::World::replay) and
    /// [`World::replay_frame`](crate::World::replay_frame).
    pub replayable: Vec<Event>,
    /// Recorded events that did not recur; see [`World::replay`](crate::World::replay).
    pub mismatches: Vec<ReplayMismatch>,
}

impl Events {
    /// Sets the added and removed bodies, from the sorted bodies before and after the frame.
    pub(crate) fn compare(&mut self, before: &[BodyId], after: &[BodyId]) {
        let beyond = |known: &[BodyId], other: &[BodyId]| {
            known.iter().copied().filter(|id| other.binary_search(id).is_err()).collect()
        };
        self.added = beyond(after, before);
        self.removed = beyond(before, after);
    }

    /// The number of impacts beyond its strength to which each body responded so far: it broke or
    /// withstood. Pieces continue the count of the body from which they come.
    pub(crate) fn responses(&self) -> BTreeMap<BodyId, usize> {
        let mut counts: BTreeMap<BodyId, usize> = BTreeMap::new();
        for id in &self.held {
            *counts.entry(*id).or_default() += 1;
        }
        // a piece follows its parent
        for Fracture { parent, fragments, .. } in &self.fractures {
            let count = counts.get(parent).copied().unwrap_or(0) + 1;
            for piece in fragments {
                *counts.entry(*piece).or_default() += count;
            }
        }
        counts
    }
}

/// A body that broke.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fracture {
    /// The body that was replaced.
    pub parent: BodyId,
    /// Its pieces. Some may have broken again in the same frame: those are the parents of later
    /// entries.
    pub fragments: Vec<BodyId>,
    /// Impact point in the world, m.
    pub point: Point3<f64>,
    /// The impulse it would have received, N s.
    pub impulse: Vector3<f64>,
    /// Its mass, kg.
    pub mass_before: f64,
    /// The mass of its pieces, kg.
    pub mass_after: f64,
    /// Its momentum and energy.
    pub before: Motion,
    /// Momentum and energy of its pieces together.
    pub after: Motion,
}

/// Momentum and energy of a set of bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Linear momentum, and angular momentum about the world's origin.
    pub momentum: Momentum,
    /// Kinetic energy, J.
    pub kinetic_energy: f64,
    /// Potential energy, J, zero at the origin.
    pub potential_energy: f64,
}

/// A body with plastic deformation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dent {
    /// The body that was replaced.
    pub before: BodyId,
    /// The deformed body, of the same mass and momentum.
    pub after: BodyId,
    /// Largest displacement of its surface, m.
    pub depth: f64,
    /// Work of the yield stress on the plastic strain, J.
    pub plastic_work: f64,
    /// Growth of the kinetic energy by the change of inertia at the same angular momentum, J. The
    /// impact provides it.
    pub kinetic_energy: f64,
}
