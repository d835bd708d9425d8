//! The impulse method of the lecture: contacts one by one, each by its class.
//!
//! The lecture does not treat several contacts of one body. If each sequential impulse is
//! nonnegative, a stack of five boxes collapses at 30 and 60 Hz: the excess of a contact that was
//! solved before its neighbor cannot be undone, so that bodies turn and slip. Here a sweep may
//! reduce the impulses of earlier sweeps, but accumulated impulses stay nonnegative, and a step is
//! warm-started. Five boxes then stand at 30 Hz in the plane, and at 60 Hz in space.

use dynamics::{Momentum, Velocity};

use crate::frame::Frame;
use crate::narrow::contacts::{Contact, Manifold};

/// Class of a contact by its relative velocity along the normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContactClass {
    /// Approaching: an impulse stops the approach and adds restitution.
    Colliding,
    /// Neither approaching nor separating: an impulse cancels the forces.
    Resting,
    /// Separating: no impulse.
    Separating,
}

/// The class of a contact with normal speed `v_rel = n . (v_a - v_b)` m/s; speeds up to `slow` m/s
/// count as zero.
fn classify(v_rel: f64, slow: f64) -> ContactClass {
    if v_rel < -slow {
        ContactClass::Colliding
    } else if v_rel <= slow {
        ContactClass::Resting
    } else {
        ContactClass::Separating
    }
}

/// Classifies the contacts of a step as colliding, resting or separating.
pub(super) struct Classes<'a> {
    frame: Frame<'a>,
    /// Velocities of bodies after the forces of the step, before impulses.
    velocities: Vec<Velocity>,
    /// Normal speed up to which a contact rests, m/s: twice the change by forces in the step, as a
    /// resting body gains that much.
    slow: f64,
}

impl<'a> Classes<'a> {
    pub(super) fn new(frame: Frame<'a>, start: &[Momentum]) -> Self {
        let speed = |half_kick: &Velocity| 2.0 * half_kick.linear.norm();
        let forces = frame.half_kick.iter().map(speed).fold(0.0, f64::max);
        let slow = frame.settings.resting_speed + 2.0 * forces;
        Self { frame, velocities: frame.velocities(start), slow }
    }

    /// Target normal speed of a collision by Newton's restitution, m/s; `None` for contacts that
    /// rest or separate, or whose gap stays open in the step.
    pub(super) fn target(&self, pair: &Manifold, contact: &Contact) -> Option<f64> {
        let Frame { columns, dt, settings, .. } = self.frame;
        let [(p, v), (q, w)] = [pair.a, pair.b]
            .map(|i| (&columns.materials[i as usize], &self.velocities[i as usize]));
        let [arm, other] = &contact.arms;
        let speed = contact.normal.dot(&(v.at(arm) - w.at(other)));
        let collides = classify(speed, self.slow) == ContactClass::Colliding;
        let closes = contact.gap + dt * speed < 0.0;
        (collides && closes).then(|| -p.restitution_with(q, settings.restitution) * speed)
    }
}
