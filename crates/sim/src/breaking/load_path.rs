//! Load paths: the loads of anchored bodies, and which of them fail.
//!
//! The load of an anchored body is the sum of its weight, the averaged impulses of its contacts and joints divided
//! by the time step, and the loads of the bodies anchored to it. The section between its anchored and its free part
//! transmits this load. Each rivet of the [`Section`] passes its share to the supporting body of its anchor.

use std::sync::Arc;

use dynamics::Momentum;
use nalgebra::{Isometry3, Point3, Vector3};

use crate::breaking::anchor::{Anchor, Anchorage};
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
    /// In a cycle of bodies anchored to each other, one body transmits its load before it receives all of it.
    pub fn anchor_loads(&self) -> Vec<AnchorLoad> {
        let anchored: Vec<usize> =
            (0..self.len()).filter(|&i| self.details[i].anchorage.is_some()).collect();
        let mut loads = vec![Momentum::default(); self.len()];
        for &i in &anchored {
            if let Some(Anchorage { mass, constraint_impulse, .. }) = &self.details[i].anchorage {
                loads[i].linear = constraint_impulse.linear / self.settings.dt
                    + self.settings.gravity * mass.mass();
                loads[i].angular = constraint_impulse.angular / self.settings.dt;
            }
        }
        let mut all: Vec<AnchorLoad> = Vec::new();
        for i in self.load_order(&anchored) {
            all.extend(self.transmit_load(i, &mut loads));
        }
        all.sort_by_cached_key(|load| load.body);
        all
    }

    /// Anchored bodies, each after those anchored to it, except in cycles.
    fn load_order(&self, anchored: &[usize]) -> Vec<usize> {
        let mut supported = vec![Vec::new(); self.len()];
        for &i in anchored {
            self.supporters(i).into_iter().for_each(|supporter| supported[supporter].push(i));
        }
        let mut order = Vec::with_capacity(anchored.len());
        let mut is_visited = vec![false; self.len()];
        // depth first: a body on this stack, and how many of the bodies anchored to it were visited
        let mut stack: Vec<(usize, usize)> = Vec::new();
        for &first in anchored {
            stack.extend((!is_visited[first]).then_some((first, 0)));
            is_visited[first] = true;
            while let Some((i, visited)) = stack.last_mut() {
                if let Some(&next) = supported[*i].get(*visited) {
                    *visited += 1;
                    if !std::mem::replace(&mut is_visited[next], true) {
                        stack.push((next, 0));
                    }
                } else {
                    order.push(*i);
                    stack.pop();
                }
            }
        }
        order
    }

    /// Indices of the anchored bodies that support a body, sorted.
    fn supporters(&self, i: usize) -> Vec<usize> {
        let Some(Anchorage { section, anchors, .. }) = &self.details[i].anchorage else {
            return Vec::new();
        };
        let rivets = section.as_deref().map_or(&[][..], |section| &section.rivets);
        let mut supporters: Vec<usize> = match rivets {
            [] => self.sole_supporter(i, anchors).into_iter().collect(),
            _ => rivets.iter().filter_map(|rivet| self.holder(i, rivet.anchor)).collect(),
        };
        supporters.sort_unstable();
        supporters.dedup();
        supporters
    }

    /// The anchored body that supports all of a body that is anchored as a whole.
    fn sole_supporter(&self, i: usize, anchors: &[Anchor]) -> Option<usize> {
        (0..).zip(anchors).find_map(|(n, _)| self.holder(i, n))
    }

    /// The anchored body that supports another at an anchor.
    fn holder(&self, i: usize, anchor: u32) -> Option<usize> {
        let to = self.details[i].anchorage.as_ref()?.anchors.get(anchor as usize)?.to?;
        let holder = self.ids.binary_search(&to).ok()?;
        self.details[holder].anchorage.is_some().then_some(holder)
    }

    /// The load of a body at its section from a force and a torque about its center of mass. Adds
    /// the transmitted part to the `loads` of supporting bodies.
    fn transmit_load(&self, i: usize, loads: &mut [Momentum]) -> Option<AnchorLoad> {
        let Anchorage { section, strength, anchors, .. } = self.details[i].anchorage.as_ref()?;
        let (section, solid) = (section.as_deref()?, self.details[i].solid.as_ref()?);
        let world = self.poses[i] * solid.material.inverse();
        let Momentum { linear: force, angular } = loads[i];
        let center = self.poses[i].translation.vector;
        if section.rivets.is_empty() {
            if let Some(holder) = self.sole_supporter(i, anchors) {
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
        for (own, now) in self.details.iter_mut().zip(impulses) {
            let Some(Anchorage { constraint_impulse, .. }) = &mut own.anchorage else { continue };
            constraint_impulse.linear +=
                (now.linear - constraint_impulse.linear) / AVERAGING_FRAMES;
            constraint_impulse.angular +=
                (now.angular - constraint_impulse.angular) / AVERAGING_FRAMES;
        }
    }

    /// Computes each section that is missing, and each section whose supporting body was removed or is no longer
    /// static.
    fn find_sections(&mut self) {
        for i in 0..self.len() {
            let Some(Anchorage { anchors, section, .. }) = &self.details[i].anchorage else {
                continue;
            };
            let is_gone = |anchor: u32| {
                let to = anchors.get(anchor as usize).and_then(|anchor| anchor.to);
                to.is_some_and(|to| !self.is_fixed(to))
            };
            let known = section.as_ref();
            if known.is_some_and(|known| !known.rivets.iter().any(|rivet| is_gone(rivet.anchor))) {
                continue;
            }
            let found = self.anchor_section(i).map(Arc::new);
            if let Some(anchorage) = &mut self.details[i].anchorage {
                anchorage.section = found;
            }
        }
    }

    fn anchor_section(&self, i: usize) -> Option<Section> {
        let solid = self.details[i].solid.as_ref()?;
        let world: Isometry3<f64> = self.poses[i] * solid.material.inverse();
        let held = self.held(&solid.geometry, &world, &self.details[i].anchorage.as_ref()?.anchors);
        held.any.then(|| Section::new(solid.geometry.level_set(), &held))
    }

    /// Breaks overloaded anchored bodies at the largest stress, and releases those that stay whole.
    /// Reports all loads.
    pub(crate) fn break_overloaded_anchors(&mut self, report: &mut Report) {
        if self.details.iter().all(|own| own.anchorage.is_none()) {
            return;
        }
        self.find_sections();
        let lost = |i: &usize| {
            self.details[*i].anchorage.as_ref().is_some_and(|own| own.section.is_none())
        };
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
            if let Some(i) = anchored.filter(|&i| self.details[i].anchorage.is_some()) {
                self.release(i, &mut report.events);
            }
        }
    }

    /// The load of a body as an impact at the largest stress of its section.
    fn overload(&self, load: &AnchorLoad) -> Option<Hit> {
        let i = self.ids.binary_search(&load.body).ok()?;
        self.details[i].breakage.as_ref().filter(|breakage| breakage.generations > 0)?;
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
