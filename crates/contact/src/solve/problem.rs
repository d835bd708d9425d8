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
    pub half_kick: &'a [Velocity],
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
    /// first pass, and those that touch and approach below the restitution threshold. Others may be
    /// about to collide, which the next frame resolves, with restitution.
    Velocities,
}

/// What a contact pass aims at in a contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactTarget {
    /// Separation speed, m/s.
    pub(crate) speed: f64,
    /// Friction coefficient.
    pub(crate) friction: f64,
}

impl ContactTarget {
    /// No gap closes within the step.
    pub(crate) fn of(problem: Problem<'_>, pair: &Manifold, contact: &Contact) -> Self {
        let Problem { columns, dt, settings, .. } = problem;
        let (p, q) = (&columns.materials[pair.a as usize], &columns.materials[pair.b as usize]);
        let speed = -(contact.gap + contact.overlap).max(0.0) / dt;
        Self { speed, friction: p.friction_with(q, settings.friction) }
    }
}

impl Problem<'_> {
    /// Whether each manifold takes part in a pass that starts with these velocities and a warm
    /// start.
    pub(crate) fn used(
        &self,
        aim: Aim,
        velocities: &[Velocity],
        impulses: &[Vector3<f64>],
    ) -> Vec<bool> {
        let used = |pair: &Manifold| match aim {
            Aim::Positions => true,
            Aim::Velocities => {
                let is_pressed =
                    impulses[self.contacts.range(pair)].iter().any(|j| *j != Vector3::zeros());
                is_pressed || self.rests(pair, velocities)
            }
        };
        self.contacts.manifolds().iter().map(used).collect()
    }

    /// Whether a pair touches and approaches below the restitution threshold: a body that collided
    /// late in the step has no impulse in the first pass.
    fn rests(&self, pair: &Manifold, velocities: &[Velocity]) -> bool {
        let Self { columns, half_kick, settings, .. } = self;
        let bodies = [pair.a, pair.b].map(|i| i as usize);
        let slop = settings.slop_of(pair.shapes(columns.shapes));
        let approach = |contact: &Contact| {
            let [p, q] = [0, 1].map(|n| velocities[bodies[n]].at(&contact.arms[n]));
            -contact.normal.dot(&(p - q))
        };
        let touching = self.contacts.of(pair).iter().filter(|contact| contact.gap <= slop);
        let fastest = touching.map(approach).fold(0.0, f64::max);
        fastest > 0.0 && fastest <= settings.resting_of(*columns, half_kick, bodies)
    }
}
