//! Updates contacts to the paths of bodies after collisions.

use dynamics::Velocity;
use nalgebra::Vector3;

use crate::frame::Frame;
use crate::narrow::contacts::{Contact, Contacts, Manifold, Origin};

/// Moves contacts from the paths on which they were found to those of `frame`.
pub(crate) struct Turn<'a> {
    pub(crate) frame: Frame<'a>,
    /// Displacement of the virtual starts, m and rad.
    pub(crate) shifts: &'a [Velocity],
    /// Velocities at the middle of the step on the old paths.
    pub(crate) before: &'a [Velocity],
    /// Velocities at the middle of the step on the new paths.
    pub(crate) after: &'a [Velocity],
}

impl Turn<'_> {
    /// Moves the contacts of `changed` bodies.
    pub(crate) fn follow(&self, contacts: &mut Contacts, changed: &[bool]) {
        let manifolds = contacts.manifolds().to_vec();
        let is_changed = |pair: &&Manifold| changed[pair.a as usize] || changed[pair.b as usize];
        for pair in manifolds.iter().filter(is_changed) {
            let bodies = [pair.a as usize, pair.b as usize];
            let range = contacts.range(pair);
            contacts
                .of_mut(range)
                .for_each(|(contact, origin)| self.carry(bodies, contact, origin));
        }
    }

    fn carry(&self, bodies: [usize; 2], contact: &mut Contact, origin: &mut Origin) {
        let dt = self.frame.dt;
        let turning = origin.turning;
        let since = bodies.map(|i| self.frame.flights.get(i).map_or(0.0, |flight| flight.since));
        let since = since[0].max(since[1]);
        let (then, now) = (origin.time, origin.time.max(since));
        let arms = origin.arms;
        contact.arms = arms;
        let [p, q] = [0, 1].map(|n| {
            let (i, arm) = (bodies[n], arms[n]);
            let fall = self.frame.half_kick[i].linear;
            let moved = |velocity: &Velocity, time: f64| {
                (velocity.at(&arm) - fall * (1.0 - time / dt)) * time
            };
            self.shifts[i].at(&arm) + moved(&self.after[i], now) - moved(&self.before[i], then)
        });
        origin.distance += contact.normal.dot(&(p - q)) + turning * (now - then);
        origin.time = now;
        let along = |f: &dyn Fn(usize) -> Vector3<f64>| contact.normal.dot(&(f(0) - f(1)));
        let displacement = dt * along(&|n| self.after[bodies[n]].at(&arms[n]));
        let fall = dt * along(&|n| self.frame.half_kick[bodies[n]].linear);
        let moved = |time: f64| time / dt * (displacement - (1.0 - time / dt) * fall);
        contact.gap = origin.distance - moved(now);
        contact.overlap = (-contact.gap - moved(since)).max(0.0);
    }
}
