//! Whether the supports of sleepers can bear their loads, and whether these changed.
//!
//! This is statics: the supports, asleep or static, react within their friction cones
//! ([`contact::balance_load`]).

use std::collections::BTreeSet;

use contact::{SolvedContacts, SupportContact, balance_load};
use dynamics::Momentum;

use crate::World;
use crate::sleep::rest::{Link, WAKING_SPEED, key, speed};
use crate::sleep::touch::Touch;

/// Share of the load of a sleeper by which the load from bodies that touched it when it fell asleep
/// may change without waking it: in a pile loads shift for a long time.
const WAKING_LOAD: f64 = 0.2;
/// The same for bodies that touched it later.
const NEW_LOAD: f64 = 0.1;
/// The same for a change from one frame to the next.
const SUDDEN_LOAD: f64 = 0.5;
/// Averaging time of loads, s: in a pile load paths change from frame to frame.
const LOAD_TIME: f64 = 0.5;
/// Averaging time of loads by bodies that touched the sleeper later, s. It is shorter, so that the
/// full load of such a body counts once the body rests.
const NEW_LOAD_TIME: f64 = 0.2;
/// A sleeper wakes if the unsupported part of a change of its load gives a point of it this share
/// of the speed that its whole load of a frame would.
const UNSUPPORTED: f64 = 0.05;
/// The same limit for the unsupported part of the load of a body before it falls asleep: a body
/// that just began to fall is hardly out of balance.
const UNBALANCED: f64 = 0.001;
/// Least value of both limits, m/s.
const UNSUPPORTED_LEAST: f64 = 1e-4;

impl World {
    /// The load of each sleeper when it fell asleep, N s per frame, summed over contacts.
    fn loads(&self) -> Vec<f64> {
        let mut loads = vec![0.0; self.len()];
        for link in &self.sleep.links {
            if let Ok(i) = self.ids.binary_search(&link.sleeper) {
                loads[i] += link.load.linear.norm();
            }
        }
        loads
    }

    /// Wakes sleepers whose load from awake bodies changed.
    pub(super) fn wake_loaded(&mut self, touches: &[Touch]) {
        let awake = |i: usize| self.acting[i].mass_properties().is_some();
        if !(0..self.len()).any(awake) {
            return;
        }
        let loads = self.loads();
        let mut links = std::mem::take(&mut self.sleep.links);
        let before = links.len();
        for touch in touches.iter().filter(|t| self.sleep.rests[t.body].asleep && awake(t.other)) {
            let (sleeper, other) = (self.ids[touch.body], self.ids[touch.other]);
            let known = &links[..before];
            if known.binary_search_by_key(&(sleeper, other), key).is_err() {
                let (none, props) = (Momentum::default(), Vec::new());
                links.push(Link {
                    sleeper,
                    other,
                    load: none,
                    average: none,
                    supports: false,
                    props,
                });
            }
        }
        links.sort_by_cached_key(key);
        let share = |time: f64| (self.settings.dt / time).min(1.0);
        let (mut woken, mut doubtful) = (BTreeSet::new(), BTreeSet::new());
        for link in &mut links {
            let found = [link.sleeper, link.other].map(|id| self.ids.binary_search(&id));
            let [Ok(body), Ok(other)] = found else { continue };
            if !awake(other) {
                continue;
            }
            let touching = touches.binary_search_by_key(&(body, other), |t| (t.body, t.other));
            let now = touching.map_or_else(|_| Momentum::default(), |n| touches[n].load);
            // a body that did not touch it when it fell asleep may topple it by leaning on it
            let is_new = link.load == Momentum::default();
            let share = share(if is_new { NEW_LOAD_TIME } else { LOAD_TIME });
            link.average += (now - link.average) * share;
            link.props.clear();
            doubtful.insert(body);
            let waking_impulse = WAKING_SPEED * self.moving_mass(body);
            let steady = if is_new {
                NEW_LOAD * loads[body]
            } else {
                waking_impulse + WAKING_LOAD * loads[body]
            };
            let sudden = waking_impulse + SUDDEN_LOAD * loads[body];
            let before = &link.load.linear;
            if (link.average.linear - before).norm() > steady
                || (now.linear - before).norm() > sudden
            {
                woken.insert(link.sleeper);
            }
        }
        self.sleep.links = links;
        let toppled = doubtful.into_iter().filter(|&i| !self.can_support_change(i, loads[i]));
        woken.extend(toppled.map(|i| self.ids[i]));
        self.wake(woken);
    }

    /// Whether the supports of a sleeper can bear the change of its load, N s per frame.
    fn can_support_change(&self, i: usize, load: f64) -> bool {
        let Some(mass) = self.bodies[i].mass_properties() else { return true };
        let first = self.sleep.links.partition_point(|link| link.sleeper < self.ids[i]);
        let links = self.sleep.links[first..].iter().take_while(|link| link.sleeper == self.ids[i]);
        let (mut change, mut props) = (Momentum::default(), Vec::new());
        for Link { load, average, props: own, .. } in links {
            change += *average - *load;
            props.extend_from_slice(own);
        }
        let limit = UNSUPPORTED_LEAST + UNSUPPORTED * load / mass.mass();
        let left = self.bodies[i].velocity(&self.poses[i].rotation, &change);
        speed(&left, self.shapes[i].radius()) <= limit || self.can_support(i, change, props, limit)
    }

    /// Whether `props` can bear a `load` in addition to their own, up to a remainder that gives the
    /// body at most the speed `limit`, m/s.
    fn can_support(
        &self,
        i: usize,
        mut load: Momentum,
        mut props: Vec<SupportContact>,
        limit: f64,
    ) -> bool {
        let Some(mass) = self.bodies[i].mass_properties() else { return true };
        for prop in &props {
            load.apply_impulse(&-prop.impulse, &self.arm(i, prop));
        }
        let left = balance_load(mass, &self.poses[i], &load, &mut props);
        speed(&left, self.shapes[i].radius()) <= limit
    }

    /// Whether the supports of a body that is about to fall asleep can bear its whole load;
    /// `touches` are its contacts and joints.
    pub(super) fn can_support_load(
        &self,
        touches: &[Touch],
        entering: &[bool],
        solved: SolvedContacts<'_>,
    ) -> bool {
        let Some(i) = touches.first().map(|touch| touch.body) else { return true };
        let (mut sum, mut size, mut props) = (Momentum::default(), 0.0, Vec::new());
        sum.linear = self.weight(i) * self.settings.dt;
        for touch in touches {
            sum += touch.load;
            size += touch.load.linear.norm();
            let back = -touch.load.linear;
            let held =
                entering[touch.other] || self.acting[touch.other].mass_properties().is_none();
            if held && !self.supports_weight(touch.other, &back) {
                props.append(&mut self.props(touch, solved));
            }
        }
        let limit = UNSUPPORTED_LEAST + UNBALANCED * size / self.moving_mass(i);
        self.can_support(i, sum, props, limit)
    }
}
