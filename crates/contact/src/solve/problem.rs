//! The contact problem of a pass.

use dynamics::Velocity;
use nalgebra::{Isometry3, Vector3};

use crate::body::Columns;
use crate::narrow::contacts::{Contact, Contacts, Manifold};
use crate::settings::Settings;
use crate::solve::order::Order;

/// The contacts of a step, their graph, and the solver settings.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    /// The bodies.
    pub columns: Columns<'a>,
    /// Poses to which the gaps of `contacts` refer.
    pub poses: &'a [Isometry3<f64>],
    /// The contacts.
    pub contacts: &'a Contacts,
    /// The order of the pairs, also for shock propagation.
    pub order: &'a Order,
    /// Change of each velocity by forces in half the step.
    pub drift: &'a [Velocity],
    /// Length of the step, s.
    pub dt: f64,
    /// Iteration counts and tolerances.
    pub settings: &'a Settings,
}

/// The purpose of a contact pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// With half-step momenta, to determine displacements: all contacts take part.
    Positions,
    /// With end-of-step momenta, to determine final velocities: only pairs with an impulse in the
    /// first pass. Others may be about to collide, which the next frame resolves, with restitution.
    Velocities,
}

/// The target separation speed of a contact, m/s, and its friction coefficient: no gap closes
/// within the step.
pub(crate) fn wanted(problem: Problem<'_>, pair: &Manifold, contact: &Contact) -> (f64, f64) {
    let Problem { columns, dt, settings, .. } = problem;
    let (p, q) = (&columns.materials[pair.a as usize], &columns.materials[pair.b as usize]);
    (-(contact.gap + contact.overlap).max(0.0) / dt, p.friction_with(q, settings.friction))
}

/// Whether a contact of the pair has an impulse from the first pass.
pub(crate) fn is_pressed(contacts: &Contacts, pair: &Manifold, impulses: &[Vector3<f64>]) -> bool {
    impulses[contacts.range(pair)].iter().any(|j| *j != Vector3::zeros())
}
