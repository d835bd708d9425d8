//! Sleep: bodies that have not moved for a while are held until something concerns them.
//!
//! A body falls asleep when no point of it moved far for half a second, nor ever faster, what carries
//! it is asleep or static, and its load can be borne: so a pile falls asleep from the ground up, and
//! one restless piece keeps only those awake that rest on it. Asleep it is static to others and at
//! rest, so kinetic energy only falls. It wakes when it is hit, when what carries it or is joined to
//! it wakes or goes, when what rests on it changes its load by much or so that it cannot be borne,
//! and near a kinematic body that moves.
//!
//! Whether it can is a matter of statics: what is asleep or static pushes back within its friction
//! cones ([`contact::bear`]).

use std::collections::BTreeSet;

use contact::{Blow, Contact, Contacts, Prop, Support, bear};
use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Vector3};

use crate::breaking::hits::Hit;
use crate::breaking::strength::Law;
use crate::script::event::{Event, Happened, Trigger};
use crate::world::World;
use crate::{BodyId, Report};

/// How long a body must be still, s.
const STILL: f64 = 0.5;
/// How far its farthest point may move meanwhile, as a share of its radius and at most, m: 3 cm/s,
/// as other engines have it, since what lies in a pile never quite stops creeping.
const STILL_SHARE: f64 = 0.15;
const MAX_STILL: f64 = 0.015;
/// What moves this much farther in one half of that time than in the half before is about to fall:
/// at a constant acceleration from rest it is three times as far.
const SPEEDING_UP: f64 = 2.0;
/// The same needs this share of how far it may move.
const SPEEDING_LEAST: f64 = 0.02;
/// An impulse that would change the velocity of a sleeper by this much wakes it, and what moves faster does not fall
/// asleep, m/s.
const WAKING_SPEED: f64 = 0.1;
/// Share of all that bears on a sleeper by which what touched it when it fell asleep may change besides:
/// in a pile loads shift about for long.
const WAKING_LOAD: f64 = 0.2;
/// The same of what touches it only since.
const NEW_LOAD: f64 = 0.1;
/// The same of a change from one frame to the next.
const SUDDEN_LOAD: f64 = 0.5;
/// Time over which loads are averaged, s: in a pile they are passed on by ever other ways.
const LOAD_TIME: f64 = 0.5;
/// The same of what touches a sleeper only since, so that what comes to rest on it is felt whole.
const NEW_LOAD_TIME: f64 = 0.2;
/// A sleeper wakes if what cannot be borne of a change of its load gives a point of it this share of
/// the speed that all that bears on it in a frame would give it.
const UNBORNE: f64 = 0.05;
/// A body does not fall asleep if what cannot be borne of its load would do this: what has just begun
/// to fall is hardly out of balance.
const UNBALANCED: f64 = 0.001;
/// The same of both, at least, m/s.
const UNBORNE_LEAST: f64 = 1e-4;
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
    /// Where it was after the last half of the time that it must be still.
    pub(crate) mark: Isometry3<f64>,
    /// How far it had moved in that half, m.
    pub(crate) moved: f64,
    /// Whether it had moved farther than in the half before.
    pub(crate) speeds_up: bool,
}

impl Rest {
    pub(crate) fn new(pose: &Isometry3<f64>) -> Self {
        let moved = f64::INFINITY;
        Self { asleep: false, pose: *pose, frames: 0, mark: *pose, moved, speeds_up: false }
    }
}

/// What a sleeper touches, or touched when it fell asleep.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) sleeper: BodyId,
    pub(crate) other: BodyId,
    /// On the sleeper in a frame, about its center of mass, when it fell asleep.
    pub(crate) load: Momentum,
    /// The same lately, on average.
    pub(crate) lately: Momentum,
    /// Whether the other carries it.
    pub(crate) carries: bool,
    /// Where the other may bear more or less of it while that is held too.
    pub(crate) props: Vec<Prop>,
}

/// A pair that touches or is joined: on `body` from `other`.
struct Touch {
    body: usize,
    other: usize,
    /// About the center of mass of `body`.
    load: Momentum,
    /// Number of their contacts, if they have any.
    pair: Option<usize>,
}

/// The contacts of a frame with their impulses.
type Solved<'a> = (&'a Contacts, &'a [Vector3<f64>]);

/// The speed that a body's fastest point may have, m/s.
fn speed(velocity: &Velocity, reach: f64) -> f64 {
    velocity.linear.norm() + velocity.angular.norm() * reach
}

/// How far a point within `reach` of the center of mass may have moved, m.
fn moved(from: &Isometry3<f64>, to: &Isometry3<f64>, reach: f64) -> f64 {
    let turn = to.rotation.coords.dot(&from.rotation.coords);
    let angle = 2.0 * (1.0 - turn * turn).max(0.0).sqrt();
    (to.translation.vector - from.translation.vector).norm() + angle * reach
}

/// What links are sorted by.
fn key(link: &Link) -> (BodyId, BodyId) {
    (link.sleeper, link.other)
}

fn add(sum: &mut Momentum, load: &Momentum) {
    sum.linear += load.linear;
    sum.angular += load.angular;
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

    /// Tells of sleepers that `blows` wake only because they bear so little by `laws`.
    pub(crate) fn tell_woken(
        &self,
        blows: &[Blow],
        laws: &[Law],
        cause: Trigger,
        report: &mut Report,
    ) {
        for blow in blows {
            for (side, body) in [blow.a as usize, blow.b as usize].into_iter().enumerate() {
                if !self.rests[body].asleep {
                    continue;
                }
                let (strength, at) = (self.breaks_at(laws, blow, side), blow.at[side]);
                if strength >= WAKING_SPEED * self.moving_mass(body) {
                    continue;
                }
                let Blow { normal, impulse, .. } = *blow;
                let (body, reactions) = (self.ids[body], Vec::new());
                let hit = Hit {
                    body,
                    at,
                    normal,
                    impulse,
                    strength,
                    duration: None,
                    reactions,
                    energy: f64::INFINITY,
                };
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

    /// The impulse at which each body wakes, N s; infinite for those that are awake.
    pub(crate) fn waking_impulses(&self) -> Vec<f64> {
        let of = |i: usize| match self.rests[i].asleep {
            true => WAKING_SPEED * self.moving_mass(i),
            false => f64::INFINITY,
        };
        (0..self.len()).map(of).collect()
    }

    /// What each sleeper bore when it fell asleep, N s a frame, all contacts added up.
    fn loads(&self) -> Vec<f64> {
        let mut loads = vec![0.0; self.len()];
        for link in &self.links {
            if let Ok(i) = self.ids.binary_search(&link.sleeper) {
                loads[i] += link.load.linear.norm();
            }
        }
        loads
    }

    /// Puts bodies to sleep and wakes those whose load changed, by the contacts of the frame.
    pub(crate) fn doze(&mut self, support: &Support, report: &mut Report) {
        if let Some(solved) = support.solved() {
            let keeps = self.settings.sleep && self.settings.contact.solver.keeps_contacts();
            let is_anchored = self.anchorages.iter().any(Option::is_some);
            let touches = if keeps || is_anchored { self.touches(solved) } else { Vec::new() };
            if is_anchored {
                let presses = self.presses(&touches);
                self.average_presses(&presses);
            }
            if keeps {
                self.fall_asleep(&touches, solved, report);
            }
        }
        let awake = self.acting.iter().filter(|body| body.mass_properties().is_some());
        report.awake = awake.count();
    }

    /// What others do to each body in a frame, about its center of mass, N s: those that are awake by their contacts
    /// and joints, sleepers by what they bore lately.
    fn presses(&self, touches: &[Touch]) -> Vec<Momentum> {
        let mut presses = vec![Momentum::default(); self.len()];
        for touch in touches.iter().filter(|touch| !self.rests[touch.other].asleep) {
            add(&mut presses[touch.body], &touch.load);
        }
        for link in &self.links {
            let [sleeper, other] = [link.sleeper, link.other].map(|id| self.ids.binary_search(&id));
            let (Ok(sleeper), Ok(other)) = (sleeper, other) else { continue };
            let arm = self.poses[sleeper].translation.vector - self.poses[other].translation.vector;
            let Momentum { linear, angular } = link.lately;
            add(
                &mut presses[other],
                &Momentum { linear: -linear, angular: -angular - arm.cross(&linear) },
            );
        }
        presses
    }

    fn fall_asleep(&mut self, touches: &[Touch], solved: Solved<'_>, report: &mut Report) {
        self.wake_loaded(touches);
        self.notice_motion();
        let falling = self.falling_asleep(touches, solved);
        self.link(touches, &falling, solved);
        for i in (0..self.len()).filter(|&i| falling[i]) {
            report.dissipation.sleep += self.kinetic_energy_of(i);
            self.rests[i].asleep = true;
            self.momenta[i] = Momentum::default();
            self.acting[i] = Body::Static;
        }
    }

    /// Links those that fall asleep with what they touch, and tells sleepers which of what they touch is
    /// held from now on.
    fn link(&mut self, touches: &[Touch], falling: &[bool], solved: Solved<'_>) {
        if !falling.contains(&true) {
            return;
        }
        let mut links = std::mem::take(&mut self.links);
        let known = links.len();
        for touch in touches {
            let Touch { body, other, load, .. } = *touch;
            let (sleeper, name) = (self.ids[body], self.ids[other]);
            let props = || match falling[other] || self.acting[other].mass_properties().is_none() {
                true => self.props(touch, solved),
                false => Vec::new(),
            };
            if falling[body] {
                let (carries, props) = (self.carries(touch), props());
                links.push(Link { sleeper, other: name, load, lately: load, carries, props });
            } else if self.rests[body].asleep && falling[other] {
                let old = links[..known].binary_search_by_key(&(sleeper, name), key);
                if let Ok(n) = old {
                    links[n].props = props();
                }
            }
        }
        // stable: others stay in order
        links.sort_by_key(key);
        self.links = links;
    }

    /// Where the contacts of a pair hold a body, or would if it moved by less than the slop.
    fn props(&self, touch: &Touch, (contacts, impulses): Solved<'_>) -> Vec<Prop> {
        let Some(pair) = touch.pair.map(|n| &contacts.manifolds()[n]) else { return Vec::new() };
        let (a, b) = (pair.a as usize, pair.b as usize);
        let settings = &self.settings.contact;
        let [p, q] = [a, b].map(|i| &self.materials[i]);
        let friction = p.friction_with(q, settings.friction);
        let sign = if touch.body == a { 1.0 } else { -1.0 };
        let slop = settings.slop * self.shapes[a].size().min(self.shapes[b].size());
        let touching = contacts.of(pair).iter().zip(&impulses[contacts.range(pair)]);
        touching
            .filter(|(contact, impulse)| contact.gap <= slop || **impulse != Vector3::zeros())
            .map(|(contact, impulse)| Prop {
                at: contact.at(&self.poses[a], &self.poses[b]),
                normal: contact.normal * sign,
                friction,
                impulse: impulse * sign,
            })
            .collect()
    }

    /// From the center of mass of a body to where it is propped up, m.
    fn arm(&self, body: usize, prop: &Prop) -> Vector3<f64> {
        prop.at.coords - self.poses[body].translation.vector
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

    /// Both sides of all pairs in contact or joined, sorted.
    fn touches(&self, (contacts, impulses): Solved<'_>) -> Vec<Touch> {
        let mut touches = Vec::with_capacity(2 * contacts.manifolds().len());
        for (n, pair) in contacts.manifolds().iter().enumerate() {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let mut loads = [Momentum::default(); 2];
            for (contact, impulse) in contacts.of(pair).iter().zip(&impulses[contacts.range(pair)])
            {
                let at = contact.at(&self.poses[a], &self.poses[b]).coords;
                loads[0].apply(impulse, &(at - self.poses[a].translation.vector));
                loads[1].apply(&-impulse, &(at - self.poses[b].translation.vector));
            }
            let [load, reaction] = loads;
            touches.push(Touch { body: a, other: b, load, pair: Some(n) });
            touches.push(Touch { body: b, other: a, load: reaction, pair: Some(n) });
        }
        for ([a, b], [load, reaction], _) in self.joint_loads() {
            touches.push(Touch { body: a, other: b, load, pair: None });
            touches.push(Touch { body: b, other: a, load: reaction, pair: None });
        }
        touches.sort_by_key(|touch| (touch.body, touch.other));
        touches.dedup_by(|next, touch| {
            let same = (next.body, next.other) == (touch.body, touch.other);
            if same {
                add(&mut touch.load, &next.load);
                touch.pair = touch.pair.or(next.pair);
            }
            same
        });
        touches
    }

    /// Whether the other body of a pair bears part of the weight.
    fn carries(&self, touch: &Touch) -> bool {
        self.bears(touch.body, &touch.load.linear)
    }

    /// Whether an `impulse` on a body in a frame bears part of its weight.
    fn bears(&self, body: usize, impulse: &Vector3<f64>) -> bool {
        let weight = self.weight(body) * self.settings.dt;
        -impulse.dot(&weight) > BEARING * weight.norm_squared()
    }

    /// Wakes sleepers whose load from bodies that are awake is no longer what it was.
    fn wake_loaded(&mut self, touches: &[Touch]) {
        let awake = |i: usize| self.acting[i].mass_properties().is_some();
        if !(0..self.len()).any(awake) {
            return;
        }
        let loads = self.loads();
        let mut links = std::mem::take(&mut self.links);
        let before = links.len();
        for touch in touches.iter().filter(|t| self.rests[t.body].asleep && awake(t.other)) {
            let (sleeper, other) = (self.ids[touch.body], self.ids[touch.other]);
            let known = &links[..before];
            if known.binary_search_by_key(&(sleeper, other), key).is_err() {
                let (none, props) = (Momentum::default(), Vec::new());
                links.push(Link {
                    sleeper,
                    other,
                    load: none,
                    lately: none,
                    carries: false,
                    props,
                });
            }
        }
        links.sort_by_key(key);
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
            // what did not touch it when it fell asleep may topple it by leaning on it
            let is_new = link.load == Momentum::default();
            let share = share(if is_new { NEW_LOAD_TIME } else { LOAD_TIME });
            link.lately.linear += (now.linear - link.lately.linear) * share;
            link.lately.angular += (now.angular - link.lately.angular) * share;
            link.props.clear();
            doubtful.insert(body);
            let blow = WAKING_SPEED * self.moving_mass(body);
            let steady =
                if is_new { NEW_LOAD * loads[body] } else { blow + WAKING_LOAD * loads[body] };
            let sudden = blow + SUDDEN_LOAD * loads[body];
            let before = &link.load.linear;
            if (link.lately.linear - before).norm() > steady
                || (now.linear - before).norm() > sudden
            {
                woken.insert(link.sleeper);
            }
        }
        self.links = links;
        let toppled = doubtful.into_iter().filter(|&i| !self.bears_change(i, loads[i]));
        woken.extend(toppled.map(|i| self.ids[i]));
        self.wake(woken);
    }

    /// Whether what is held around a sleeper can bear how its load, N s a frame in all, has changed.
    fn bears_change(&self, i: usize, load: f64) -> bool {
        let Some(mass) = self.bodies[i].mass_properties() else { return true };
        let first = self.links.partition_point(|link| link.sleeper < self.ids[i]);
        let links = self.links[first..].iter().take_while(|link| link.sleeper == self.ids[i]);
        let (mut change, mut props) = (Momentum::default(), Vec::new());
        for Link { load, lately, props: own, .. } in links {
            change.linear += lately.linear - load.linear;
            change.angular += lately.angular - load.angular;
            props.extend_from_slice(own);
        }
        let limit = UNBORNE_LEAST + UNBORNE * load / mass.mass();
        let left = self.bodies[i].velocity(&self.poses[i].rotation, &change);
        speed(&left, self.shapes[i].radius()) <= limit || self.borne(i, change, props, limit)
    }

    /// Whether `props` can bear a `load` beside what they do bear, but for what gives a body no more
    /// than this `limit` of speed, m/s.
    fn borne(&self, i: usize, mut load: Momentum, mut props: Vec<Prop>, limit: f64) -> bool {
        let Some(mass) = self.bodies[i].mass_properties() else { return true };
        for prop in &props {
            load.apply(&-prop.impulse, &self.arm(i, prop));
        }
        let left = bear(mass, &self.poses[i], &load, &mut props);
        speed(&left, self.shapes[i].radius()) <= limit
    }

    /// Whether what is held around bodies that fall asleep can bear all that acts on them; how each is
    /// found in `touches`.
    fn bears_all(&self, touches: &[Touch], falling: &[bool], solved: Solved<'_>) -> bool {
        let Some(i) = touches.first().map(|touch| touch.body) else { return true };
        let (mut sum, mut size, mut props) = (Momentum::default(), 0.0, Vec::new());
        sum.linear = self.weight(i) * self.settings.dt;
        for touch in touches {
            add(&mut sum, &touch.load);
            size += touch.load.linear.norm();
            let back = -touch.load.linear;
            let held = falling[touch.other] || self.acting[touch.other].mass_properties().is_none();
            if held && !self.bears(touch.other, &back) {
                props.append(&mut self.props(touch, solved));
            }
        }
        let limit = UNBORNE_LEAST + UNBALANCED * size / self.moving_mass(i);
        self.borne(i, sum, props, limit)
    }

    /// Counts the frames for which bodies have been still, and tells whether they get faster.
    fn notice_motion(&mut self) {
        let half = self.half_still();
        for (i, rest) in self.rests.iter_mut().enumerate() {
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

    /// Half of how long a body must be still, frames.
    fn half_still(&self) -> usize {
        ((0.5 * STILL / self.settings.dt).ceil() as usize).max(1)
    }

    /// The bodies that are still and carried by nothing that is awake, unless by each other.
    fn falling_asleep(&self, touches: &[Touch], solved: Solved<'_>) -> Vec<bool> {
        let frames = 2 * self.half_still();
        let still = |rest: &Rest| rest.frames >= frames && !rest.speeds_up;
        // a blow in the last of these frames has not moved the body yet
        let is_slow = |i: usize| {
            let velocity = self.bodies[i].velocity(&self.poses[i].rotation, &self.momenta[i]);
            speed(&velocity, self.shapes[i].radius()) <= WAKING_SPEED
        };
        let mut falling: Vec<bool> = (0..self.len())
            .map(|i| {
                let is_moved = self.acting[i].mass_properties().is_some();
                is_moved && still(&self.rests[i]) && is_slow(i)
            })
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
        let joined: Vec<_> = self.joint_loads().collect();
        // a joint may bear more or less too, which nobody knows here
        let mut tested = vec![false; self.len()];
        joined.iter().flat_map(|([a, b], ..)| [*a, *b]).for_each(|i| tested[i] = true);
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
            if changed {
                continue;
            }
            for touches in touches.chunk_by(|p, q| p.body == q.body) {
                let i = touches[0].body;
                if falling[i] && !tested[i] {
                    tested[i] = true;
                    if !self.bears_all(touches, &falling, solved) {
                        falling[i] = false;
                        changed = true;
                    }
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
                let center =
                    pose.inverse_transform_point(&self.poses[*i].translation.vector.into());
                let apart = (center - bounds.clamp(&center)).norm();
                let speed = velocity.at(&(pose.rotation * center.coords));
                let reach = self.shapes[*i].radius();
                apart <= 1.1 * reach + speed.norm() * self.settings.dt
            })
        };
        let dynamic = (0..self.len()).filter(|&i| self.bodies[i].mass_properties().is_some());
        dynamic.filter(|&i| self.rests[i].asleep == asleep).filter(near).collect()
    }
}
