//! The impulse method of the lecture: contacts one by one, each by its class.

use dynamics::Momentum;
use nalgebra::Vector3;

use super::touching::friction;
use crate::passes::collide::mass_at;
use crate::solve::problem::Problem;
use crate::{Mover, keep_gains, pair_impulse};

/// What two bodies do at a contact, by their relative velocity along the normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactClass {
    /// They approach: an impulse stops them and throws them back.
    Colliding,
    /// They neither approach nor part: an impulse takes away what forces would do.
    Resting,
    /// They part: nothing is done.
    Separating,
}

/// The class of a contact with normal speed `v_rel = n . (v_a - v_b)` m/s, where speeds of up to
/// `slow` m/s are as good as none.
pub fn classify(v_rel: f64, slow: f64) -> ContactClass {
    if v_rel < -slow {
        ContactClass::Colliding
    } else if v_rel <= slow {
        ContactClass::Resting
    } else {
        ContactClass::Separating
    }
}

/// Gives each contact whose gap would close in the step the impulse of its class, in sweeps over
/// all of them. `forces` is the speed that forces give in the step, m/s: less than twice that is
/// resting, for that is what a resting body gains. Returns the impulse of each contact, N s.
pub(super) fn settle(
    problem: Problem<'_>,
    forces: f64,
    momenta: &mut [Momentum],
) -> Vec<Vector3<f64>> {
    let Problem { columns, poses, contacts, dt, settings, .. } = problem;
    let mut movers = Mover::column(columns, poses, momenta);
    let mut impulses = vec![Vector3::zeros(); contacts.len()];
    let slow = settings.resting_speed + 2.0 * forces;
    for _ in 0..settings.contact_sweeps * settings.pair_repeats {
        for pair in contacts.manifolds() {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let [p, q] = [a, b].map(|i| &columns.materials[i]);
            let restitution = p.restitution_with(q, settings.restitution);
            let friction = friction(columns, pair, settings.friction);
            for index in contacts.range(pair) {
                let contact = &contacts.all()[index];
                let point = contact.at(&poses[a], &poses[b]).coords;
                let [arm_a, arm_b] = [a, b].map(|i| point - poses[i].translation.vector);
                let u = movers[a].velocity.at(&arm_a) - movers[b].velocity.at(&arm_b);
                let normal_speed = u.dot(&contact.normal);
                let [p, q] = &contact.arms;
                let found = movers[a].velocity.at(p) - movers[b].velocity.at(q);
                let closes = contact.gap + dt * contact.normal.dot(&found) < 0.0;
                let restitution = match classify(normal_speed, slow) {
                    ContactClass::Colliding => restitution,
                    ContactClass::Resting => 0.0,
                    ContactClass::Separating => continue,
                };
                if !closes {
                    continue;
                }
                let k = mass_at(&movers[a], &arm_a) + mass_at(&movers[b], &arm_b);
                let j = pair_impulse(&contact.normal, &k, &u, restitution, friction);
                let j = settings.clamp.limit(&j, &contact.normal, &k, &u);
                movers[a].apply(&j, &arm_a);
                movers[b].apply(&-j, &arm_b);
                impulses[index] += j;
            }
        }
    }
    keep_gains(columns, &movers, momenta);
    impulses
}
