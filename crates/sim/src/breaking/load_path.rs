//! Load paths: the loads of anchored bodies, and which of them fail.
//!
//! The load of an anchored body is its weight, the impulses of contacts and joints, averaged over
//! some frames, and its share of the loads of bodies anchored to it. The section between its
//! anchored part and the rest transmits the load: each rivet of the [`Section`] to the supporting
//! body.

use std::sync::Arc;

use dynamics::Momentum;
use nalgebra::{Isometry3, Point3, Vector3};

use crate::breaking::anchor::Anchorage;
use crate::breaking::hits::{Hit, UNKNOWN_DURATION};
use crate::breaking::section::Section;
use crate::script::event::Trigger;
use crate::{AnchorLoad, Report, World};

/// Frames over which the impulses of contacts and joints are averaged.
const AVERAGING_FRAMES: f64 = 4.0;

impl World {
    /// The loads of anchored bodies, in the order of bodies, by the contacts and joints of the last
    /// frames.
    ///
    /// In a cycle of bodies anchored to each other, the first body transmits its load before it
    /// receives any.
    pub fn anchor_loads(&self) -> Vec<AnchorLoad> {
        let anchored: Vec<usize> =
            (0..self.len()).filter(|&i| self.anchorages[i].is_some()).collect();
        let mut loads = vec![Momentum::default(); self.len()];
        for &i in &anchored {
            if let Some(Anchorage { mass, constraint_impulse, .. }) = &self.anchorages[i] {
                loads[i].linear = constraint_impulse.linear / self.settings.dt
                    + self.settings.gravity * mass.mass();
                loads[i].angular = constraint_impulse.angular / self.settings.dt;
            }
        }
        let mut all: Vec<AnchorLoad> = Vec::new();
        for i in self.load_order(&anchored) {
            all.extend(self.transmit_load(i, &mut loads));
        }
        all.sort_by_key(|load| load.body);
        all
    }

    /// Anchored bodies, each after those anchored to it, except in cycles.
    fn load_order(&self, anchored: &[usize]) -> Vec<usize> {
        let holders = |i: usize| {
            let section = self.anchorages[i].as_ref().and_then(|own| own.section.as_deref());
            let rivets = section.map_or(&[][..], |section| &section.rivets);
            let mut holders: Vec<usize> =
                rivets.iter().filter_map(|rivet| self.holder(i, rivet.anchor)).collect();
            holders.sort_unstable();
            holders.dedup();
            holders
        };
        let mut waits = vec![0_usize; self.len()];
        let holders: Vec<Vec<usize>> = anchored.iter().map(|&i| holders(i)).collect();
        holders.iter().flatten().for_each(|&holder| waits[holder] += 1);
        let mut left: Vec<usize> = (0..anchored.len()).collect();
        let mut order = Vec::with_capacity(anchored.len());
        while !left.is_empty() {
            let next = left.iter().position(|&n| waits[anchored[n]] == 0).unwrap_or(0);
            let n = left.remove(next);
            order.push(anchored[n]);
            holders[n].iter().for_each(|&holder| waits[holder] = waits[holder].saturating_sub(1));
        }
        order
    }

    /// The anchored body that supports another at an anchor.
    fn holder(&self, i: usize, anchor: u32) -> Option<usize> {
        let to = self.anchorages[i].as_ref()?.anchors.get(anchor as usize)?.to?;
        let holder = self.ids.binary_search(&to).ok()?;
        self.anchorages[holder].is_some().then_some(holder)
    }

    /// The load of a body at its section from a force and a torque about its center of mass. Adds
    /// the transmitted part to the `loads` of supporting bodies.
    fn transmit_load(&self, i: usize, loads: &mut [Momentum]) -> Option<AnchorLoad> {
        let Anchorage { section, strength, anchors, .. } = self.anchorages[i].as_ref()?;
        let (section, solid) = (section.as_deref()?, self.solids[i].as_ref()?);
        let world = self.poses[i] * solid.material.inverse();
        let Momentum { linear: force, angular } = loads[i];
        let center = self.poses[i].translation.vector;
        if section.rivets.is_empty() {
            let holder = (0..).zip(anchors.iter()).find_map(|(n, _)| self.holder(i, n));
            if let Some(holder) = holder {
                add(loads, holder, &force, &(center - self.poses[holder].translation.vector));
                loads[holder].angular += angular;
            }
            let at = Point3::from(center);
            let (body, strength) = (self.ids[i], *strength);
            return Some(AnchorLoad { body, force, torque: angular, stress: 0.0, strength, at });
        }
        let middle = world * section.middle;
        let torque = angular + (center - middle.coords).cross(&force);
        let local = |v: &Vector3<f64>| world.inverse_transform_vector(v);
        let own = (local(&force), local(&torque));
        let mut most = (section.stress(&own.0, &own.1), middle);
        let mut largest = 0.0;
        for (rivet, stress) in section.stresses(&own.0, &own.1) {
            let at = world * rivet.at;
            if stress.norm() > largest {
                (largest, most.1) = (stress.norm(), at);
            }
            if let Some(holder) = self.holder(i, rivet.anchor) {
                let arm = at.coords - self.poses[holder].translation.vector;
                add(loads, holder, &(world * (stress * rivet.area)), &arm);
            }
        }
        let (stress, at) = most;
        Some(AnchorLoad { body: self.ids[i], force, torque, stress, strength: *strength, at })
    }

    /// Averages the impulses of contacts and joints on anchored bodies; `impulses` are their sums
    /// over a frame, about centers of mass.
    pub(crate) fn average_constraint_impulses(&mut self, impulses: &[Momentum]) {
        for (anchorage, now) in self.anchorages.iter_mut().zip(impulses) {
            let Some(Anchorage { constraint_impulse, .. }) = anchorage else { continue };
            constraint_impulse.linear +=
                (now.linear - constraint_impulse.linear) / AVERAGING_FRAMES;
            constraint_impulse.angular +=
                (now.angular - constraint_impulse.angular) / AVERAGING_FRAMES;
        }
    }

    /// Computes the sections of anchored bodies that are missing, or whose supporting body was
    /// removed or is no longer static.
    fn find_sections(&mut self) {
        for i in 0..self.len() {
            let Some(Anchorage { anchors, section, .. }) = &self.anchorages[i] else { continue };
            let is_gone = |anchor: u32| {
                let to = anchors.get(anchor as usize).and_then(|anchor| anchor.to);
                to.is_some_and(|to| !self.is_fixed(to))
            };
            let known = section.as_ref();
            if known.is_some_and(|known| !known.rivets.iter().any(|rivet| is_gone(rivet.anchor))) {
                continue;
            }
            let found = self.anchor_section(i).map(Arc::new);
            if let Some(anchorage) = &mut self.anchorages[i] {
                anchorage.section = found;
            }
        }
    }

    fn anchor_section(&self, i: usize) -> Option<Section> {
        let solid = self.solids[i].as_ref()?;
        let world: Isometry3<f64> = self.poses[i] * solid.material.inverse();
        let held = self.held(&solid.geometry, &world, &self.anchorages[i].as_ref()?.anchors);
        held.any.then(|| Section::new(solid.geometry.level_set(), &held))
    }

    /// Breaks overloaded anchored bodies at the largest stress, and releases those that stay whole.
    /// Reports all loads.
    pub(crate) fn break_overloaded_anchors(&mut self, report: &mut Report) {
        if self.anchorages.iter().all(Option::is_none) {
            return;
        }
        self.find_sections();
        let lost =
            |i: &usize| self.anchorages[*i].as_ref().is_some_and(|own| own.section.is_none());
        let lost: Vec<usize> = (0..self.len()).filter(lost).collect();
        lost.into_iter().for_each(|i| self.release(i, &mut report.events));
        report.loads.anchors = self.anchor_loads();
        let over: Vec<AnchorLoad> = report
            .loads
            .anchors
            .iter()
            .filter(|load| load.stress > load.strength)
            .copied()
            .collect();
        let hits = self.chosen_hits(Trigger::Load, || {
            over.iter().filter_map(|load| self.overload(load)).collect()
        });
        self.break_bodies(&hits, Trigger::Load, report);
        for load in over {
            let anchored = self.ids.binary_search(&load.body).ok();
            if let Some(i) = anchored.filter(|&i| self.anchorages[i].is_some()) {
                self.release(i, &mut report.events);
            }
        }
    }

    /// The load of a body as an impact at the largest stress of its section.
    fn overload(&self, load: &AnchorLoad) -> Option<Hit> {
        let i = self.ids.binary_search(&load.body).ok()?;
        self.breakages[i].as_ref().filter(|breakage| breakage.generations > 0)?;
        let normal = load.force.try_normalize(0.0)?;
        let duration = UNKNOWN_DURATION;
        Some(Hit {
            body: load.body,
            at: self.poses[i].inverse_transform_point(&load.at),
            normal,
            impulse: load.force * duration,
            strength: 0.0,
            duration: Some(duration),
            reactions: Vec::new(),
            energy: 0.0,
        })
    }
}

fn add(loads: &mut [Momentum], body: usize, force: &Vector3<f64>, arm: &Vector3<f64>) {
    loads[body].linear += force;
    loads[body].angular += arm.cross(force);
}
