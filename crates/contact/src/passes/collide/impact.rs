//! The complementarity problem of a group of simultaneous impacts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use dynamics::{Momentum, Velocity};
use nalgebra::{Isometry3, Point3, Vector3};

use super::{Pass, StruckBody};
use crate::constraint::Row;
use crate::narrow::contacts::Manifold;
use crate::narrow::posed::Spot;
use crate::passes::collision::{Collision, ImpactState, PairImpulse, total};
use crate::solve::clamp::{Blend, blend};
use crate::solve::exact::impact::{Accuracy, ImpactImpulses, JointRows, Touch};

/// Bodies with a simultaneous impact.
pub(super) struct ImpactGroup {
    pub(super) time: f64,
    /// Number of earlier collisions in the sequence, 0 for a first impact.
    pub(super) collisions: u32,
    pub(super) accuracy: Accuracy,
    /// States at the time of impact, by body.
    pub(super) bodies: BTreeMap<usize, StruckBody>,
    /// Contacts at the time of impact, by pair; none for a pair that does not touch.
    pub(super) pairs: BTreeMap<usize, Vec<Spot>>,
    /// The pairs that collide.
    pub(super) members: BTreeSet<usize>,
    /// The bilateral rows of each joint of their linkages, by joint, without motors and limits. The numbers of bodies are
    /// those of the frame.
    pub(super) joints: BTreeMap<usize, Vec<Row>>,
}

/// The complementarity problem of a group and its solution.
pub(super) struct Impact {
    /// The bodies, ascending. Contacts and joints refer to positions in this list.
    pub(super) bodies: Vec<usize>,
    pub(super) pairs: Vec<ImpactPair>,
    pub(super) touches: Vec<Touch>,
    /// In body coordinates of both, m.
    pub(super) at: Vec<[Point3<f64>; 2]>,
    /// Relative velocity at each contact before the impact, m/s.
    pub(super) before: Vec<Vector3<f64>>,
    /// The joints in order, with the places of their bodies in the list.
    pub(super) joints: Vec<(usize, JointRows)>,
    pub(super) impulses: ImpactImpulses,
}

/// The speed of a row of a joint, m/s or rad/s.
struct RowSpeed {
    before: f64,
    /// By impulses.
    change: f64,
}

/// A pair of bodies in an impact.
pub(super) struct ImpactPair {
    pub(super) number: usize,
    pub(super) contacts: Range<usize>,
    pub(super) restitution: f64,
}

impl ImpactGroup {
    pub(super) fn poses(&self, own: [usize; 2]) -> [&Isometry3<f64>; 2] {
        own.map(|i| &self.bodies[&i].pose)
    }
}

impl Impact {
    /// Warm start: the impulses of a smaller group, zero at new contacts.
    pub(super) fn start(&self, part: Option<&Self>) -> ImpactImpulses {
        let mut start = vec![Vector3::zeros(); self.touches.len()];
        let known = part.into_iter().flat_map(|part| &part.pairs);
        for pair in known {
            let own = self.pairs.binary_search_by_key(&pair.number, |own| own.number);
            if let (Ok(own), Some(part)) = (own, part) {
                let impulses = &part.impulses.contacts[pair.contacts.clone()];
                start[self.pairs[own].contacts.clone()].copy_from_slice(impulses);
            }
        }
        let of_joint = |(n, joint): &(usize, JointRows)| {
            let known = part.and_then(|part| {
                let at = part.joints.binary_search_by_key(n, |own| own.0).ok()?;
                part.impulses.joints.get(at).cloned()
            });
            known.unwrap_or_else(|| vec![0.0; joint.rows.len()])
        };
        ImpactImpulses { contacts: start, joints: self.joints.iter().map(of_joint).collect() }
    }

    /// The momentum that each body receives by impulses.
    pub(super) fn gains(&self, impulses: &ImpactImpulses) -> Vec<Momentum> {
        let mut gains = vec![Momentum::default(); self.bodies.len()];
        for (touch, j) in self.touches.iter().zip(&impulses.contacts) {
            let [a, b] = touch.bodies;
            gains[a].apply_impulse(j, &touch.arms[0]);
            gains[b].apply_impulse(&-j, &touch.arms[1]);
        }
        for ((_, joint), impulses) in self.joints.iter().zip(&impulses.joints) {
            for (row, impulse) in joint.rows.iter().zip(impulses) {
                for ((place, sign), angular) in
                    joint.bodies.into_iter().zip([1.0, -1.0]).zip(row.angular)
                {
                    gains[place].linear += row.linear * (sign * impulse);
                    gains[place].angular += angular * *impulse;
                }
            }
        }
        gains
    }

    /// What impulses change the velocity of each body by.
    pub(super) fn changes(&self, impulses: &ImpactImpulses, group: &ImpactGroup) -> Vec<Velocity> {
        let change = |(i, gain): (&usize, Momentum)| {
            let mover = &group.bodies[i].mover;
            let angular = mover.inverse_inertia * gain.angular;
            Velocity { linear: gain.linear * mover.inverse_mass, angular }
        };
        self.bodies.iter().zip(self.gains(impulses)).map(change).collect()
    }

    /// Relative velocity at each contact after the impact with these impulses, m/s.
    fn after(&self, impulses: &ImpactImpulses, group: &ImpactGroup) -> Vec<Vector3<f64>> {
        let changes = self.changes(impulses, group);
        let after = |(touch, before): (&Touch, &Vector3<f64>)| {
            let [a, b] = touch.bodies.map(|place| changes[place]);
            before + a.at(&touch.arms[0]) - b.at(&touch.arms[1])
        };
        self.touches.iter().zip(&self.before).map(after).collect()
    }

    /// The speeds of the rows of all joints.
    fn row_speeds(&self, impulses: &ImpactImpulses, group: &ImpactGroup) -> Vec<RowSpeed> {
        let changes = self.changes(impulses, group);
        let velocity = |place: usize| &group.bodies[&self.bodies[place]].mover.velocity;
        let speeds = |(_, joint): &(usize, JointRows)| -> Vec<RowSpeed> {
            let [a, b] = joint.bodies;
            let of = |row: &Row| RowSpeed {
                before: row.speed(velocity(a), velocity(b)),
                change: row.speed(&changes[a], &changes[b]),
            };
            joint.rows.iter().map(of).collect()
        };
        self.joints.iter().flat_map(speeds).collect()
    }

    /// The kinetic energy that impulses add beyond the work of kinematic bodies, J. Joints add some: between frames their
    /// rows have small speeds.
    pub(super) fn work(&self, impulses: &ImpactImpulses, group: &ImpactGroup) -> f64 {
        let after = self.after(impulses, group);
        let own = impulses.contacts.iter().zip(&self.before).zip(&after);
        let touching = own.map(|((j, before), after)| 0.5 * j.dot(&(before + after)));
        let rows = impulses.joints.iter().flatten().zip(self.row_speeds(impulses, group));
        let joined = rows.map(|(j, speed)| j * (speed.before + 0.5 * speed.change));
        touching.sum::<f64>() + joined.sum::<f64>()
    }

    /// As much of the way from impulses without restitution to those with it as adds no kinetic energy.
    pub(super) fn blended(
        &self,
        plastic: ImpactImpulses,
        full: &ImpactImpulses,
        group: &ImpactGroup,
    ) -> ImpactImpulses {
        // round-off of the solution may add some
        let start = if self.work(&plastic, group) <= 0.0 { plastic } else { full.scaled(0.0) };
        let [after, fully] = [&start, full].map(|impulses| self.after(impulses, group));
        let contact = |n: usize| Blend {
            before: self.before[n],
            impulse: start.contacts[n],
            after: after[n],
            more: full.contacts[n] - start.contacts[n],
            change: fully[n] - after[n],
        };
        let [speeds, full_speeds] = [&start, full].map(|impulses| self.row_speeds(impulses, group));
        let [own, most] = [&start, full].map(|impulses| impulses.joints.concat());
        let row = |n: usize| Blend {
            before: Vector3::x() * speeds[n].before,
            impulse: Vector3::x() * own[n],
            after: Vector3::x() * (speeds[n].before + speeds[n].change),
            more: Vector3::x() * (most[n] - own[n]),
            change: Vector3::x() * (full_speeds[n].change - speeds[n].change),
        };
        let share = blend((0..full.contacts.len()).map(contact).chain((0..own.len()).map(row)));
        start.towards(full, share)
    }

    /// The collision of each pair with a non-zero impulse.
    pub(super) fn collisions(
        &self,
        pass: &Pass<'_>,
        group: &ImpactGroup,
    ) -> Vec<(usize, Collision)> {
        let own = self.touches.iter().zip(&self.before);
        let approach = own.map(|(touch, u)| -touch.normal.dot(u)).fold(0.0, f64::max);
        let collision = |pair: &ImpactPair| {
            let (impulse, hardest) = total(&self.impulses.contacts[pair.contacts.clone()])?;
            let hardest = pair.contacts.start + hardest;
            let touch = &self.touches[hardest];
            let poses = touch.bodies.map(|n| group.bodies[&self.bodies[n]].pose);
            let state = ImpactState { at: self.at[hardest], time: group.time, poses };
            let Manifold { a, b, .. } = pass.contacts.manifolds()[pair.number];
            let (normal, restitution) = (touch.normal, pair.restitution);
            // pairs that only transmit an impulse have no approach speed of their own
            let exchanged = PairImpulse { normal, impulse, approach, restitution };
            Some((pair.number, Collision::new([a, b], state, exchanged)))
        };
        self.pairs.iter().filter_map(collision).collect()
    }
}
