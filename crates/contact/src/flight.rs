//! Free flight between the blows of a frame.
//!
//! A body that was struck at a time t within the step is kept as the one that would be there with the same
//! pose and momentum at t had it flown freely since the start of the step. Poses and momenta of all bodies
//! then belong to one time, the passes that follow work as if there had been no blow, and energy, linear and
//! angular momentum are those that the body has at t.

use dynamics::{Body, Momentum, Velocity, advance};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use crate::Frame;
use crate::narrow::{Contact, Contacts, Manifold, Origin};

/// The last blow to a body in this step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flight {
    /// When it was, s since the start of the step; 0 if there was none.
    pub since: f64,
    /// The orientation that the body had then, if there was one.
    pub rotation: UnitQuaternion<f64>,
}

/// Where the free flight of each body over the step starts, as columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Poses at the start of the step.
    pub poses: Vec<Isometry3<f64>>,
    /// Momenta at the start of the step.
    pub momenta: Vec<Momentum>,
    /// The last blow to each.
    pub flights: Vec<Flight>,
}

impl Flight {
    /// The pose and momentum at the time of the blow of a body whose free flight under `acceleration` m/s^2
    /// starts from `pose` with `momentum`.
    pub fn state(
        &self,
        body: &Body,
        pose: &Isometry3<f64>,
        momentum: &Momentum,
        acceleration: &Vector3<f64>,
    ) -> (Isometry3<f64>, Momentum) {
        let Some(mass) = body.mass_properties().filter(|_| self.since > 0.0) else {
            return (*pose, *momentum);
        };
        let time = self.since;
        let velocity = momentum.linear / mass.mass();
        let place = pose.translation.vector + (velocity + acceleration * (0.5 * time)) * time;
        let linear = momentum.linear + acceleration * (mass.mass() * time);
        let pose = Isometry3::from_parts(Translation3::from(place), self.rotation);
        (pose, Momentum { linear, ..*momentum })
    }

    /// The blow of a body with `pose` at time `since` s, and where its free flight starts.
    pub fn starting(
        since: f64,
        body: &Body,
        pose: &Isometry3<f64>,
        momentum: &Momentum,
        acceleration: &Vector3<f64>,
    ) -> (Self, Isometry3<f64>, Momentum) {
        let Some(mass) = body.mass_properties().filter(|_| since > 0.0) else {
            return (Self::default(), *pose, *momentum);
        };
        let velocity = momentum.linear / mass.mass();
        let place = pose.translation.vector - (velocity - acceleration * (0.5 * since)) * since;
        let rotation = advance(body, pose, momentum, -since).rotation;
        let linear = momentum.linear - acceleration * (mass.mass() * since);
        let start = Isometry3::from_parts(Translation3::from(place), rotation);
        (Self { since, rotation: pose.rotation }, start, Momentum { linear, ..*momentum })
    }
}

/// From the paths that contacts were found on to those of `frame`.
pub(crate) struct Turn<'a> {
    pub(crate) frame: Frame<'a>,
    /// By how much the starts of the paths moved, m and rad.
    pub(crate) shifts: &'a [Velocity],
    /// Velocities in the middle of the step on the paths before.
    pub(crate) before: &'a [Velocity],
    /// Velocities in the middle of the step now.
    pub(crate) after: &'a [Velocity],
}

impl Turn<'_> {
    /// Moves the contacts of bodies that were `changed`.
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
        let since = bodies.map(|i| self.frame.flights.get(i).map_or(0.0, |flight| flight.since));
        let since = since[0].max(since[1]);
        let (then, now) = (origin.time, origin.time.max(since));
        let arms = origin.arms;
        contact.arms = arms;
        let [p, q] = [0, 1].map(|n| {
            let (i, arm) = (bodies[n], arms[n]);
            let fall = self.frame.drift[i].linear;
            let moved = |velocity: &Velocity, time: f64| {
                (velocity.at(&arm) - fall * (1.0 - time / dt)) * time
            };
            self.shifts[i].at(&arm) + moved(&self.after[i], now) - moved(&self.before[i], then)
        });
        origin.distance += contact.normal.dot(&(p - q));
        origin.time = now;
        let along = |f: &dyn Fn(usize) -> Vector3<f64>| contact.normal.dot(&(f(0) - f(1)));
        let way = dt * along(&|n| self.after[bodies[n]].at(&arms[n]));
        let fall = dt * along(&|n| self.frame.drift[bodies[n]].linear);
        let moved = |time: f64| time / dt * (way - (1.0 - time / dt) * fall);
        contact.gap = origin.distance - moved(now);
        contact.overlap = (-contact.gap - moved(since)).max(0.0);
    }
}
