//! Impulses of a frame between bodies in contact or joined.

use contact::{Contacts, SolvedContacts, SupportContact};
use dynamics::Momentum;
use nalgebra::Vector3;

use crate::World;
use crate::world::joints::JointLoad;

/// Least share of its weight that a supporting body bears.
const MIN_SUPPORT_SHARE: f64 = 0.25;

/// A pair in contact or joined: the load on `body` from `other`.
pub(super) struct Touch {
    pub(super) body: usize,
    pub(super) other: usize,
    /// Load about the center of mass of `body`.
    pub(super) load: Momentum,
    /// Index of their manifold, if they have one.
    pub(super) pair: Option<usize>,
}

impl World {
    /// Both sides of all pairs in contact or joined, sorted.
    pub(super) fn touches(
        &self,
        solved: SolvedContacts<'_>,
        torques: &[(usize, Vector3<f64>)],
    ) -> Vec<Touch> {
        let mut torques = torques.iter().peekable();
        let manifolds = solved.contacts.manifolds();
        let mut touches = Vec::with_capacity(2 * manifolds.len());
        for (n, pair) in manifolds.iter().enumerate() {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let mut loads = [Momentum::default(); 2];
            for (contact, impulse) in solved.of(pair) {
                let at = contact.at(&self.poses[a], &self.poses[b]).coords;
                loads[0].apply_impulse(impulse, &(at - self.poses[a].translation.vector));
                loads[1].apply_impulse(&-impulse, &(at - self.poses[b].translation.vector));
            }
            if let Some((_, torque)) = torques.next_if(|(pair, _)| *pair == n) {
                loads[0].angular += torque;
                loads[1].angular -= torque;
            }
            let [load, reaction] = loads;
            touches.push(Touch { body: a, other: b, load, pair: Some(n) });
            touches.push(Touch { body: b, other: a, load: reaction, pair: Some(n) });
        }
        for JointLoad { bodies: [a, b], loads: [load, reaction], .. } in self.joint_loads() {
            touches.push(Touch { body: a, other: b, load, pair: None });
            touches.push(Touch { body: b, other: a, load: reaction, pair: None });
        }
        touches.sort_by_cached_key(|touch| (touch.body, touch.other));
        touches.dedup_by(|next, touch| {
            let same = (next.body, next.other) == (touch.body, touch.other);
            if same {
                touch.load += next.load;
                touch.pair = touch.pair.or(next.pair);
            }
            same
        });
        touches
    }

    /// The impulses of others on each body in a frame, about its center of mass, N s: of contacts
    /// and joints with awake bodies, and running averages for sleepers.
    pub(super) fn constraint_impulses(&self, touches: &[Touch]) -> Vec<Momentum> {
        let mut constraint_impulses = vec![Momentum::default(); self.len()];
        for touch in touches.iter().filter(|touch| !self.sleep.rests[touch.other].asleep) {
            constraint_impulses[touch.body] += touch.load;
        }
        for link in &self.sleep.links {
            let [sleeper, other] = [link.sleeper, link.other].map(|id| self.ids.binary_search(&id));
            let (Ok(sleeper), Ok(other)) = (sleeper, other) else { continue };
            let arm = self.poses[sleeper].translation.vector - self.poses[other].translation.vector;
            let Momentum { linear, angular } = link.average;
            constraint_impulses[other] +=
                Momentum { linear: -linear, angular: -angular - arm.cross(&linear) };
        }
        constraint_impulses
    }

    /// The contacts of a pair that support a body, or would if it moved by less than the slop.
    pub(super) fn props(&self, touch: &Touch, solved: SolvedContacts<'_>) -> Vec<SupportContact> {
        let manifolds = solved.contacts.manifolds();
        let Some(pair) = touch.pair.map(|n| &manifolds[n]) else { return Vec::new() };
        let (a, b) = (pair.a as usize, pair.b as usize);
        let settings = &self.settings.contact;
        let [p, q] = [a, b].map(|i| &self.materials[i]);
        let friction = p.friction_with(q, settings.friction);
        let sign = if touch.body == a { 1.0 } else { -1.0 };
        let slop = settings.slop_of([&self.shapes[a], &self.shapes[b]]);
        solved
            .of(pair)
            .filter(|(contact, impulse)| contact.gap <= slop || **impulse != Vector3::zeros())
            .map(|(contact, impulse)| SupportContact {
                at: contact.at(&self.poses[a], &self.poses[b]),
                normal: contact.normal * sign,
                friction,
                impulse: impulse * sign,
            })
            .collect()
    }

    /// Whether bodies of a pair are pushed out of each other.
    pub(super) fn is_pushed_out(&self, touch: &Touch, contacts: &Contacts) -> bool {
        let Some(pair) = touch.pair.map(|n| &contacts.manifolds()[n]) else { return false };
        let shapes = [pair.a, pair.b].map(|i| &*self.shapes[i as usize]);
        let settings = &self.settings.contact;
        let depth = settings.pushed_depth(shapes);
        contacts.of(pair).iter().any(|contact| -contact.gap > depth)
    }

    /// Lever arm from the center of mass of a body to a support, m.
    pub(super) fn arm(&self, body: usize, prop: &SupportContact) -> Vector3<f64> {
        prop.at.coords - self.poses[body].translation.vector
    }

    /// Whether the other body of a pair bears part of the weight.
    pub(super) fn is_supporting(&self, touch: &Touch) -> bool {
        self.supports_weight(touch.body, &touch.load.linear)
    }

    /// Whether an `impulse` on a body in a frame bears part of its weight.
    pub(super) fn supports_weight(&self, body: usize, impulse: &Vector3<f64>) -> bool {
        let weight = self.weight(body) * self.settings.dt;
        -impulse.dot(&weight) > MIN_SUPPORT_SHARE * weight.norm_squared()
    }
}
