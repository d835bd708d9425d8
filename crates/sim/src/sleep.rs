//! Sleep: bodies that have not moved for a while are held until something concerns them.
//!
//! A body falls asleep when no point of it moved far for half a second and all that carries it is
//! asleep or static: so a pile falls asleep from the ground up, and one restless piece keeps only
//! those awake that rest on it. Asleep it is static to others and at rest, so kinetic energy only
//! falls. It wakes when it is hit, when what carries it or is joined to it wakes or goes, when what
//! rests on it changes its load, and near a kinematic body that moves.

use std::collections::BTreeSet;

use contact::{Blow, Contact, Contacts, Support};
use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Vector3};

use crate::breakage::Hit;
use crate::event::{Event, Happened, Trigger};
use crate::world::World;
use crate::{BodyId, Report};

/// How long a body must be still, s.
const STILL: f64 = 0.5;
/// How far its farthest point may move meanwhile, as a share of its radius and at most, m: 3 cm/s,
/// as other engines have it, since what lies in a pile never quite stops creeping.
const STILL_SHARE: f64 = 0.15;
const STILL_MOST: f64 = 0.015;
/// An impulse that would change the velocity of a sleeper by this much wakes it, m/s.
const WAKING_SPEED: f64 = 0.1;
/// Share of all that bears on a sleeper by which what touched it when it fell asleep may change besides:
/// in a pile loads shift about for long.
const WAKING_LOAD: f64 = 0.2;
/// The same of what touches it only since.
const NEW_LOAD: f64 = 0.1;
/// The same of a change from one frame to the next.
const SUDDEN_LOAD: f64 = 0.5;
/// Time over which loads are averaged, s: in a pile they are passed on by ever other ways.
const LOAD_TIME: f64 = 0.2;
/// A body carries another if it bears this share of its weight.
const BEARING: f64 = 0.25;
/// Rounds of waking in a frame that follow a blow from body to body; after that all bodies wake
/// that are linked to those hit.
const WAKE_ROUNDS: usize = 3;

/// Whether and since when a body is still.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    pub(crate) asleep: bool,
    /// Where it was when it last moved far.
    pub(crate) pose: Isometry3<f64>,
    /// Frames since.
    pub(crate) frames: usize,
}

impl Rest {
    pub(crate) fn new(pose: &Isometry3<f64>) -> Self {
        Self { asleep: false, pose: *pose, frames: 0 }
    }
}

/// What a sleeper touches, or touched when it fell asleep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) sleeper: BodyId,
    pub(crate) other: BodyId,
    /// On the sleeper in a frame, when it fell asleep, N s.
    pub(crate) impulse: Vector3<f64>,
    /// The same lately, on average.
    pub(crate) lately: Vector3<f64>,
    /// Whether the other carries it.
    pub(crate) carries: bool,
}

/// A pair that touches: on `body` from `other`.
struct Touch {
    body: usize,
    other: usize,
    impulse: Vector3<f64>,
}

impl World {
    /// Wakes sleepers that a body they knew has left, and those near a kinematic body that moves.
    pub(crate) fn wake_abandoned(&mut self) {
        let mut woken = BTreeSet::new();
        if std::mem::take(&mut self.lost) {
            let gone = |id: BodyId| self.ids.binary_search(&id).is_err();
            self.links.retain(|link| !gone(link.sleeper));
            let left = self.links.iter().filter(|link| gone(link.other));
            woken.extend(left.map(|link| link.sleeper));
        }
        for i in self.near_moving(true) {
            woken.insert(self.ids[i]);
        }
        self.wake(woken);
    }

    /// Tells of sleepers that `blows` wake only because they bear so little: `borne`, N s.
    pub(crate) fn tell_woken(
        &self,
        blows: &[Blow],
        borne: &[f64],
        cause: Trigger,
        report: &mut Report,
    ) {
        for blow in blows {
            for (body, at) in [(blow.a as usize, blow.at[0]), (blow.b as usize, blow.at[1])] {
                let strength = borne[body];
                if !self.rests[body].asleep || strength >= WAKING_SPEED * self.moving_mass(body) {
                    continue;
                }
                let Blow { normal, impulse, .. } = *blow;
                let hit = Hit { body: self.ids[body], at, normal, impulse, strength };
                if let Some(event) = self.event(&hit, cause) {
                    self.tell(Event { outcome: Happened::Woke, ..event }, report);
                }
            }
        }
    }

    /// Wakes the sleepers that `blows` hit, and returns which bodies woke. In late `round`s of a
    /// frame all that is linked to them wakes too.
    pub(crate) fn wake_hit(&mut self, blows: &[Blow], round: usize) -> Vec<bool> {
        let before: Vec<bool> = self.rests.iter().map(|rest| rest.asleep).collect();
        self.wake_sleepers(blows, round);
        before.iter().zip(&self.rests).map(|(before, now)| before & !now.asleep).collect()
    }

    /// Wakes the sleepers that others come upon within two frames, and tells which those are: the
    /// contact pass may stop what comes before the collision pass sees it, and what is asleep would
    /// swallow its momentum.
    pub(crate) fn wake_approached(&mut self, contacts: &Contacts) -> Vec<bool> {
        let velocity =
            |i: usize| self.bodies[i].velocity(&self.poses[i].rotation, &self.momenta[i]);
        let moves = |i: usize| self.acting[i].mass_properties().is_some();
        let mut woken = BTreeSet::new();
        for pair in contacts.manifolds() {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let (mover, sleeper, side) =
                if self.rests[b].asleep { (a, b, -1.0) } else { (b, a, 1.0) };
            if !self.rests[sleeper].asleep || !moves(mover) {
                continue;
            }
            let comes = |contact: &Contact| {
                let arm = contact.at(&self.poses[a], &self.poses[b])
                    - self.poses[mover].translation.vector;
                let approach = side * contact.normal.dot(&velocity(mover).at(&arm.coords));
                approach > WAKING_SPEED && contact.gap < 2.0 * self.settings.dt * approach
            };
            if contacts.of(pair).iter().any(comes) {
                woken.insert(self.ids[sleeper]);
            }
        }
        let before: Vec<bool> = self.rests.iter().map(|rest| rest.asleep).collect();
        self.wake(woken);
        before.iter().zip(&self.rests).map(|(before, now)| before & !now.asleep).collect()
    }

    fn wake_sleepers(&mut self, blows: &[Blow], round: usize) {
        let hit = blows.iter().flat_map(|blow| [blow.a as usize, blow.b as usize]);
        let mut woken: BTreeSet<BodyId> =
            hit.filter(|&i| self.rests[i].asleep).map(|i| self.ids[i]).collect();
        if woken.is_empty() {
            return;
        }
        if round >= WAKE_ROUNDS {
            let mut before = 0;
            while woken.len() > before {
                before = woken.len();
                for link in &self.links {
                    let ends = [link.sleeper, link.other];
                    if ends.iter().any(|end| woken.contains(end)) {
                        woken.extend(ends.into_iter().filter(|&end| self.is_asleep(end)));
                    }
                }
            }
        }
        self.wake(woken);
    }

    /// The impulse in N s at which a body breaks or, asleep, wakes.
    pub(crate) fn waking_impulses(&self, strengths: &mut [f64]) {
        for (i, strength) in strengths.iter_mut().enumerate() {
            if self.rests[i].asleep {
                *strength = strength.min(WAKING_SPEED * self.moving_mass(i));
            }
        }
    }

    /// What each sleeper bore when it fell asleep, N s a frame, all contacts added up.
    fn loads(&self) -> Vec<f64> {
        let mut loads = vec![0.0; self.len()];
        for link in &self.links {
            if let Ok(i) = self.ids.binary_search(&link.sleeper) {
                loads[i] += link.impulse.norm();
            }
        }
        loads
    }

    /// Puts bodies to sleep and wakes those whose load changed, by the contacts of the frame.
    pub(crate) fn doze(&mut self, support: &Support, report: &mut Report) {
        if self.settings.sleep && self.settings.contact.solver.keeps_contacts() {
            self.fall_asleep(support, report);
        }
        let awake = self.acting.iter().filter(|body| body.mass_properties().is_some());
        report.awake = awake.count();
    }

    fn fall_asleep(&mut self, support: &Support, report: &mut Report) {
        let touches = self.touches(support);
        self.wake_loaded(&touches);
        self.notice_motion();
        let falling = self.falling_asleep(&touches);
        for touch in touches.iter().filter(|touch| falling[touch.body]) {
            let Touch { body, other, impulse } = *touch;
            let carries = self.carries(touch);
            self.links.push(Link {
                sleeper: self.ids[body],
                other: self.ids[other],
                impulse,
                lately: impulse,
                carries,
            });
        }
        // stable: others stay in order
        self.links.sort_by_key(|link| (link.sleeper, link.other));
        for i in (0..self.len()).filter(|&i| falling[i]) {
            report.dissipation.sleep += self.kinetic_energy_of(i);
            self.rests[i].asleep = true;
            self.momenta[i] = Momentum::default();
            self.acting[i] = Body::Static;
        }
    }

    fn is_asleep(&self, id: BodyId) -> bool {
        self.ids.binary_search(&id).is_ok_and(|i| self.rests[i].asleep)
    }

    fn moving_mass(&self, i: usize) -> f64 {
        self.bodies[i].mass_properties().map_or(f64::INFINITY, |mass| mass.mass())
    }

    /// Changes what a body is: it wakes, and so does all that it carries.
    pub(crate) fn become_body(&mut self, i: usize, body: Body) {
        self.bodies[i] = body;
        self.wake(BTreeSet::from([self.ids[i]]));
    }

    /// Wakes bodies and all that they carry or are joined to, directly or not.
    pub(crate) fn wake(&mut self, mut woken: BTreeSet<BodyId>) {
        let mut next: Vec<BodyId> = woken.iter().copied().collect();
        if next.is_empty() {
            return;
        }
        let mut carried: Vec<(BodyId, BodyId)> =
            self.links.iter().filter(|l| l.carries).map(|l| (l.other, l.sleeper)).collect();
        // what is joined wakes together
        carried.extend(self.joined().flat_map(|[a, b]| [(a, b), (b, a)]));
        let awake = |id: &BodyId| !self.is_asleep(*id);
        carried.retain(|(_, above)| !awake(above));
        carried.sort_unstable();
        while let Some(id) = next.pop() {
            let first = carried.partition_point(|&(other, _)| other < id);
            for &(_, above) in carried[first..].iter().take_while(|&&(other, _)| other == id) {
                if woken.insert(above) {
                    next.push(above);
                }
            }
        }
        for &id in &woken {
            if let Ok(i) = self.ids.binary_search(&id) {
                self.rests[i] = Rest::new(&self.poses[i]);
                self.acting[i] = self.bodies[i];
            }
        }
        self.links.retain(|link| !woken.contains(&link.sleeper));
    }

    /// Both sides of all pairs in contact, sorted.
    fn touches(&self, support: &Support) -> Vec<Touch> {
        let both = |(a, b, impulse): (u32, u32, Vector3<f64>)| {
            let (a, b) = (a as usize, b as usize);
            let (p, q) = (impulse, -impulse);
            [Touch { body: a, other: b, impulse: p }, Touch { body: b, other: a, impulse: q }]
        };
        let joined = self.joint_impulses().map(|([a, b], j, _)| (a as u32, b as u32, j));
        let mut touches: Vec<Touch> =
            support.pair_impulses().chain(joined).flat_map(both).collect();
        touches.sort_by_key(|touch| (touch.body, touch.other));
        touches.dedup_by(|next, touch| {
            let same = (next.body, next.other) == (touch.body, touch.other);
            if same {
                touch.impulse += next.impulse;
            }
            same
        });
        touches
    }

    /// Whether the other body of a pair bears part of the weight.
    fn carries(&self, touch: &Touch) -> bool {
        let weight = self.weight(touch.body) * self.settings.dt;
        -touch.impulse.dot(&weight) > BEARING * weight.norm_squared()
    }

    /// Wakes sleepers whose load from bodies that are awake is no longer what it was.
    fn wake_loaded(&mut self, touches: &[Touch]) {
        let awake = |i: usize| self.acting[i].mass_properties().is_some();
        let loads = self.loads();
        let mut links = std::mem::take(&mut self.links);
        let before = links.len();
        for touch in touches.iter().filter(|t| self.rests[t.body].asleep && awake(t.other)) {
            let (sleeper, other) = (self.ids[touch.body], self.ids[touch.other]);
            let known = &links[..before];
            if known.binary_search_by_key(&(sleeper, other), |l| (l.sleeper, l.other)).is_err() {
                let none = Vector3::zeros();
                links.push(Link { sleeper, other, impulse: none, lately: none, carries: false });
            }
        }
        links.sort_by_key(|link| (link.sleeper, link.other));
        let share = (self.settings.dt / LOAD_TIME).min(1.0);
        let mut woken = BTreeSet::new();
        for link in &mut links {
            let found = [link.sleeper, link.other].map(|id| self.ids.binary_search(&id));
            let [Ok(body), Ok(other)] = found else { continue };
            if !awake(other) {
                continue;
            }
            let touching = touches.binary_search_by_key(&(body, other), |t| (t.body, t.other));
            let now = touching.map_or_else(|_| Vector3::zeros(), |n| touches[n].impulse);
            link.lately += (now - link.lately) * share;
            let blow = WAKING_SPEED * self.moving_mass(body);
            // what did not touch it when it fell asleep may topple it by leaning on it
            let is_new = link.impulse == Vector3::zeros();
            let steady =
                if is_new { NEW_LOAD * loads[body] } else { blow + WAKING_LOAD * loads[body] };
            let sudden = blow + SUDDEN_LOAD * loads[body];
            if (link.lately - link.impulse).norm() > steady || (now - link.impulse).norm() > sudden
            {
                woken.insert(link.sleeper);
            }
        }
        self.links = links;
        self.wake(woken);
    }

    /// Counts the frames for which bodies have been still.
    fn notice_motion(&mut self) {
        for (i, rest) in self.rests.iter_mut().enumerate() {
            let pose = &self.poses[i];
            let reach = self.shapes[i].radius();
            let turn = pose.rotation.coords.dot(&rest.pose.rotation.coords);
            let angle = 2.0 * (1.0 - turn * turn).max(0.0).sqrt();
            let shift = pose.translation.vector - rest.pose.translation.vector;
            if shift.norm() + angle * reach > STILL_MOST.min(STILL_SHARE * reach) {
                (rest.pose, rest.frames) = (*pose, 0);
            } else {
                rest.frames += 1;
            }
        }
    }

    /// The bodies that are still and carried by nothing that is awake, unless by each other.
    fn falling_asleep(&self, touches: &[Touch]) -> Vec<bool> {
        let frames = (STILL / self.settings.dt).ceil() as usize;
        let mut falling: Vec<bool> = (0..self.len())
            .map(|i| self.acting[i].mass_properties().is_some() && self.rests[i].frames >= frames)
            .collect();
        for i in self.near_moving(false) {
            falling[i] = false;
        }
        let carried: Vec<&Touch> = touches.iter().filter(|touch| self.carries(touch)).collect();
        if self.settings.gravity != Vector3::zeros() {
            let mut borne = vec![false; self.len()];
            carried.iter().for_each(|touch| borne[touch.body] = true);
            falling.iter_mut().zip(borne).for_each(|(falling, borne)| *falling &= borne);
        }
        let steady =
            |falling: &[bool], i: usize| falling[i] || self.acting[i].mass_properties().is_none();
        let joined: Vec<_> = self.joint_impulses().collect();
        loop {
            let mut changed = false;
            for ([a, b], _, driven) in &joined {
                for (one, other) in [(*a, *b), (*b, *a)] {
                    // what is joined falls asleep together, and never where a motor runs
                    if falling[one] && (*driven || !steady(&falling, other)) {
                        falling[one] = false;
                        changed = true;
                    }
                }
            }
            for touch in &carried {
                if falling[touch.body] && !steady(&falling, touch.other) {
                    falling[touch.body] = false;
                    changed = true;
                }
            }
            if !changed {
                return falling;
            }
        }
    }

    /// Bodies, asleep or not, that a kinematic body in motion may reach within the frame.
    fn near_moving(&self, asleep: bool) -> Vec<usize> {
        let moving: Vec<(usize, Velocity)> = self
            .bodies
            .iter()
            .enumerate()
            .filter_map(|(k, body)| match body {
                Body::Kinematic(velocity) if *velocity != Velocity::default() => {
                    Some((k, *velocity))
                }
                _ => None,
            })
            .collect();
        let near = |i: &usize| {
            let met = |(k, _): &&(usize, Velocity)| self.groups[*k].meet(&self.groups[*i]);
            moving.iter().filter(met).any(|(k, velocity)| {
                let (bounds, pose) = (self.shapes[*k].bounds(), &self.poses[*k]);
                let centre =
                    pose.inverse_transform_point(&self.poses[*i].translation.vector.into());
                let apart = (centre - bounds.clamp(&centre)).norm();
                let speed = velocity.at(&(pose.rotation * centre.coords));
                let reach = self.shapes[*i].radius();
                apart <= 1.1 * reach + speed.norm() * self.settings.dt
            })
        };
        let dynamic = (0..self.len()).filter(|&i| self.bodies[i].mass_properties().is_some());
        dynamic.filter(|&i| self.rests[i].asleep == asleep).filter(near).collect()
    }
}
