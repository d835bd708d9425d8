//! Waking of sleepers and of the bodies that they support.

use std::collections::BTreeSet;

use contact::{Collision, Contact, Contacts};
use dynamics::{Body, Velocity};

use crate::breaking::hits::Hit;
use crate::breaking::strength::Resistance;
use crate::script::event::{Event, HitOutcome, Trigger};
use crate::sleep::rest::{Rest, WAKING_SPEED};
use crate::{BodyId, Events, World};

/// Rounds of waking in a frame that follow an impact from body to body; after that all bodies
/// linked to those hit wake.
const WAKE_ROUNDS: usize = 3;

impl World {
    /// Wakes sleepers with a removed neighbor, and those near a moving kinematic body.
    pub(crate) fn wake_abandoned(&mut self) {
        let mut woken = BTreeSet::new();
        if std::mem::take(&mut self.sleep.bodies_removed) {
            let gone = |id: BodyId| self.ids.binary_search(&id).is_err();
            self.sleep.links.retain(|link| !gone(link.sleeper));
            let left = self.sleep.links.iter().filter(|link| gone(link.other));
            woken.extend(left.map(|link| link.sleeper));
        }
        for i in self.near_kinematic(true) {
            woken.insert(self.ids[i]);
        }
        self.wake(woken);
    }

    /// Reports `collisions` on sleepers whose strength by `resistances` is below the impulse that
    /// wakes them.
    pub(crate) fn report_woken(
        &self,
        collisions: &[Collision],
        resistances: &[Resistance],
        cause: Trigger,
        events: &mut Events,
    ) {
        for collision in collisions {
            for (side, body) in [collision.a as usize, collision.b as usize].into_iter().enumerate()
            {
                if !self.sleep.rests[body].asleep {
                    continue;
                }
                let (strength, at) =
                    (self.breaking_impulse_at(resistances, collision, side), collision.at[side]);
                if strength >= WAKING_SPEED * self.moving_mass(body) {
                    continue;
                }
                let Collision { normal, impulse, .. } = *collision;
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
                    self.report_event(Event { outcome: HitOutcome::Woke, ..event }, events);
                }
            }
        }
    }

    /// Wakes the sleepers hit by `collisions`, and returns which bodies woke. In late `round`s of a
    /// frame all bodies linked to them wake too.
    pub(crate) fn wake_hit(&mut self, collisions: &[Collision], round: usize) -> Vec<bool> {
        let before: Vec<bool> = self.sleep.rests.iter().map(|rest| rest.asleep).collect();
        self.wake_sleepers(collisions, round);
        before.iter().zip(&self.sleep.rests).map(|(before, now)| before & !now.asleep).collect()
    }

    /// Wakes the sleepers that others reach within two frames or overlap enough to be pushed out,
    /// and returns which woke. Otherwise the contact pass may stop a body before the collision pass
    /// finds it, and the sleeper would absorb its momentum like a static body; and the push-out
    /// would press a body that is wedged under a sleeper into others.
    pub(crate) fn wake_approached(&mut self, contacts: &Contacts) -> Vec<bool> {
        let velocity =
            |i: usize| self.bodies[i].velocity(&self.poses[i].rotation, &self.momenta[i]);
        let moves = |i: usize| self.acting[i].mass_properties().is_some();
        let mut woken = BTreeSet::new();
        for pair in contacts.manifolds() {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let (mover, sleeper, side) =
                if self.sleep.rests[b].asleep { (a, b, -1.0) } else { (b, a, 1.0) };
            if !self.sleep.rests[sleeper].asleep || !moves(mover) {
                continue;
            }
            let comes = |contact: &Contact| {
                let arm = contact.at(&self.poses[a], &self.poses[b])
                    - self.poses[mover].translation.vector;
                let approach = side * contact.normal.dot(&velocity(mover).at(&arm.coords));
                approach > WAKING_SPEED && contact.gap < 2.0 * self.settings.dt * approach
            };
            let near = contacts.of(pair);
            if near.iter().any(comes) || self.starts_pushed_out(a, b, near) {
                woken.insert(self.ids[sleeper]);
            }
        }
        let before: Vec<bool> = self.sleep.rests.iter().map(|rest| rest.asleep).collect();
        self.wake(woken);
        before.iter().zip(&self.sleep.rests).map(|(before, now)| before & !now.asleep).collect()
    }

    /// Whether two bodies penetrate each other at the start of the step so far that the solver
    /// pushes them apart. The contacts alone do not decide: they are those at the predicted poses,
    /// where a small body may have fallen so far that its contact has another normal.
    fn starts_pushed_out(&self, a: usize, b: usize, near: &[Contact]) -> bool {
        let [p, q] = [a, b].map(|i| &*self.shapes[i]);
        let depth = self.settings.contact.pushed_depth([p, q]);
        near.iter().any(|contact| -contact.gap > depth)
            && p.at(&self.poses[a]).penetration(&q.at(&self.poses[b])) > depth
    }

    fn wake_sleepers(&mut self, collisions: &[Collision], round: usize) {
        let hit =
            collisions.iter().flat_map(|collision| [collision.a as usize, collision.b as usize]);
        let mut woken: BTreeSet<BodyId> =
            hit.filter(|&i| self.sleep.rests[i].asleep).map(|i| self.ids[i]).collect();
        if woken.is_empty() {
            return;
        }
        if round >= WAKE_ROUNDS {
            let mut before = 0;
            while woken.len() > before {
                before = woken.len();
                for link in &self.sleep.links {
                    let ends = [link.sleeper, link.other];
                    if ends.iter().any(|end| woken.contains(end)) {
                        woken.extend(ends.into_iter().filter(|&end| self.is_asleep(end)));
                    }
                }
            }
        }
        self.wake(woken);
    }

    /// The impulse at which each body wakes, N s; infinite for awake bodies.
    pub(crate) fn waking_impulses(&self) -> Vec<f64> {
        let of = |i: usize| match self.sleep.rests[i].asleep {
            true => WAKING_SPEED * self.moving_mass(i),
            false => f64::INFINITY,
        };
        (0..self.len()).map(of).collect()
    }

    fn is_asleep(&self, id: BodyId) -> bool {
        self.ids.binary_search(&id).is_ok_and(|i| self.sleep.rests[i].asleep)
    }

    pub(super) fn moving_mass(&self, i: usize) -> f64 {
        self.bodies[i].mass_properties().map_or(f64::INFINITY, |mass| mass.mass())
    }

    /// Makes a body static, kinematic or dynamic: it wakes, and so do the bodies that it supports.
    pub(crate) fn become_body(&mut self, i: usize, body: Body) {
        self.bodies[i] = body;
        self.wake(BTreeSet::from([self.ids[i]]));
    }

    /// Wakes bodies and, transitively, all that they support or are joined to.
    pub(crate) fn wake(&mut self, mut woken: BTreeSet<BodyId>) {
        let mut next: Vec<BodyId> = woken.iter().copied().collect();
        if next.is_empty() {
            return;
        }
        let mut carried: Vec<(BodyId, BodyId)> =
            self.sleep.links.iter().filter(|l| l.supports).map(|l| (l.other, l.sleeper)).collect();
        // joined bodies wake together
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
                self.sleep.rests[i] = Rest::new(&self.poses[i]);
                self.acting[i] = self.bodies[i];
            }
        }
        self.sleep.links.retain(|link| !woken.contains(&link.sleeper));
    }

    /// Bodies, asleep or not, that a moving kinematic body may reach within the frame.
    pub(super) fn near_kinematic(&self, asleep: bool) -> Vec<usize> {
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
        dynamic.filter(|&i| self.sleep.rests[i].asleep == asleep).filter(near).collect()
    }
}
