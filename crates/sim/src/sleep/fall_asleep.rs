//! Which bodies fall asleep.

use contact::{SolvedContacts, Support};
use dynamics::{Body, Momentum};
use nalgebra::{Isometry3, Vector3};

use crate::sleep::rest::{Link, Rest, WAKING_SPEED, key, speed};
use crate::sleep::touch::Touch;
use crate::world::joints::JointLoad;
use crate::{Report, World};

/// Time for which a body must be still, s.
const STILL: f64 = 0.5;
/// Limit of the displacement of its farthest point in that time, as a share of its radius and
/// absolute, m: 3 cm/s, as in other engines, since bodies in a pile never quite stop creeping.
const STILL_SHARE: f64 = 0.15;
const MAX_STILL: f64 = 0.015;
/// Growth of the displacement from one half of that time to the next that marks an imminent fall:
/// at a constant acceleration from rest it is three.
const SPEEDING_UP: f64 = 2.0;
/// Least displacement for that test, as a share of the limit.
const SPEEDING_LEAST: f64 = 0.02;

/// Largest displacement of a point within `reach` of the center of mass, m.
fn moved(from: &Isometry3<f64>, to: &Isometry3<f64>, reach: f64) -> f64 {
    let turn = to.rotation.coords.dot(&from.rotation.coords);
    let angle = 2.0 * (1.0 - turn * turn).max(0.0).sqrt();
    (to.translation.vector - from.translation.vector).norm() + angle * reach
}

impl World {
    /// Puts bodies to sleep and wakes those whose load changed, by the contacts of the frame.
    pub(crate) fn update_sleep(&mut self, support: &Support, report: &mut Report) {
        if let Some(solved) = support.solved() {
            let keeps = self.settings.sleep && self.settings.contact.solver.keeps_contacts();
            let is_anchored = self.details.iter().any(|own| own.anchorage.is_some());
            let touches = match keeps || is_anchored {
                true => self.touches(solved, &support.torques()),
                false => Vec::new(),
            };
            if is_anchored {
                let constraint_impulses = self.constraint_impulses(&touches);
                self.average_constraint_impulses(&constraint_impulses);
            }
            if keeps {
                self.fall_asleep(&touches, solved, report);
            }
        }
        let awake = self.acting.iter().filter(|body| body.mass_properties().is_some());
        report.counters.awake = awake.count();
    }

    fn fall_asleep(&mut self, touches: &[Touch], solved: SolvedContacts<'_>, report: &mut Report) {
        self.wake_loaded(touches);
        self.track_motion();
        let entering = self.entering_sleep(touches, solved);
        self.link(touches, &entering, solved);
        for i in (0..self.len()).filter(|&i| entering[i]) {
            report.energy.dissipation.sleep += self.kinetic_energy_of(i);
            self.sleep.rests[i].asleep = true;
            self.momenta[i] = Momentum::default();
            self.acting[i] = Body::Static;
        }
    }

    /// Links bodies that fall asleep to the bodies they touch, and updates which neighbors of
    /// sleepers are static.
    fn link(&mut self, touches: &[Touch], entering: &[bool], solved: SolvedContacts<'_>) {
        if !entering.contains(&true) {
            return;
        }
        let mut links = std::mem::take(&mut self.sleep.links);
        let known = links.len();
        for touch in touches {
            let Touch { body, other, load, .. } = *touch;
            let (sleeper, name) = (self.ids[body], self.ids[other]);
            let props = || match entering[other] || self.acting[other].mass_properties().is_none() {
                true => self.props(touch, solved),
                false => Vec::new(),
            };
            if entering[body] {
                let (supports, props) = (self.is_supporting(touch), props());
                links.push(Link { sleeper, other: name, load, average: load, supports, props });
            } else if self.sleep.rests[body].asleep && entering[other] {
                let old = links[..known].binary_search_by_key(&(sleeper, name), key);
                if let Ok(n) = old {
                    links[n].props = props();
                }
            }
        }
        // a stable sort: other links keep their order
        links.sort_by_cached_key(key);
        self.sleep.links = links;
    }

    /// Counts the frames for which bodies have been still, and records whether they accelerate.
    fn track_motion(&mut self) {
        let half = self.half_still();
        for (i, rest) in self.sleep.rests.iter_mut().enumerate() {
            if self.acting[i].mass_properties().is_none() {
                continue;
            }
            let (pose, reach) = (&self.poses[i], self.shapes[i].radius());
            let most = MAX_STILL.min(STILL_SHARE * reach);
            if moved(&rest.pose, pose, reach) > most {
                *rest = Rest::new(pose);
                continue;
            }
            rest.frames += 1;
            if rest.frames % half == 0 {
                let now = moved(&rest.mark, pose, reach);
                rest.speeds_up = now > SPEEDING_UP * rest.moved + SPEEDING_LEAST * most;
                (rest.mark, rest.moved) = (*pose, now);
            }
        }
    }

    /// Half of the time for which a body must be still, frames.
    fn half_still(&self) -> usize {
        ((0.5 * STILL / self.settings.dt).ceil() as usize).max(1)
    }

    /// The bodies that are still and have no awake supports except each other.
    fn entering_sleep(&self, touches: &[Touch], solved: SolvedContacts<'_>) -> Vec<bool> {
        let frames = self.half_still().saturating_mul(2);
        let still = |rest: &Rest| rest.frames >= frames && !rest.speeds_up;
        // an impact in the last of these frames has not moved the body yet
        let is_slow = |i: usize| {
            let velocity = self.bodies[i].velocity(&self.poses[i].rotation, &self.momenta[i]);
            speed(&velocity, self.shapes[i].radius()) <= WAKING_SPEED
        };
        let mut entering: Vec<bool> = (0..self.len())
            .map(|i| {
                let is_moved = self.acting[i].mass_properties().is_some();
                is_moved && still(&self.sleep.rests[i]) && is_slow(i)
            })
            .collect();
        for i in self.near_kinematic(false) {
            entering[i] = false;
        }
        let carried: Vec<&Touch> =
            touches.iter().filter(|touch| self.is_supporting(touch)).collect();
        if self.settings.gravity != Vector3::zeros() {
            let mut supported = vec![false; self.len()];
            carried.iter().for_each(|touch| supported[touch.body] = true);
            entering
                .iter_mut()
                .zip(supported)
                .for_each(|(entering, supported)| *entering &= supported);
        }
        let steady =
            |entering: &[bool], i: usize| entering[i] || self.acting[i].mass_properties().is_none();
        let joined: Vec<_> = self.joint_loads().collect();
        // both must be free to move apart
        let is_overlapping = |touch: &&Touch| {
            entering[touch.body]
                && self.acting[touch.other].mass_properties().is_some()
                && self.is_pushed_out(touch, solved.contacts)
        };
        let overlapping: Vec<&Touch> = touches.iter().filter(is_overlapping).collect();
        // joined bodies are not tested: a joint may transmit another load later
        let mut tested = vec![false; self.len()];
        joined.iter().flat_map(|joint| joint.bodies).for_each(|i| tested[i] = true);
        loop {
            let mut changed = false;
            for JointLoad { bodies: [a, b], has_motor, .. } in &joined {
                for (one, other) in [(*a, *b), (*b, *a)] {
                    // joined bodies fall asleep together, and never while a motor runs
                    if entering[one] && (*has_motor || !steady(&entering, other)) {
                        entering[one] = false;
                        changed = true;
                    }
                }
            }
            for touch in carried.iter().chain(&overlapping) {
                if entering[touch.body] && !steady(&entering, touch.other) {
                    entering[touch.body] = false;
                    changed = true;
                }
            }
            if changed {
                continue;
            }
            for touches in touches.chunk_by(|p, q| p.body == q.body) {
                let i = touches[0].body;
                if entering[i] && !tested[i] {
                    tested[i] = true;
                    if !self.can_support_load(touches, &entering, solved) {
                        entering[i] = false;
                        changed = true;
                    }
                }
            }
            if !changed {
                return entering;
            }
        }
    }
}
