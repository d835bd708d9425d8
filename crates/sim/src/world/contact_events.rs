//! Contact events: beginnings, ends and impulses.

use contact::{Collision, Support};
use nalgebra::{Point3, Vector3};

use crate::world::touching::{ContactLog, TouchingPair};
use crate::{BodyId, Events, World};

impl World {
    /// Enables contact events, [`Events::contacts`], from the next frame on. They are disabled by
    /// default, because they take time. Contacts that already exist are reported as new, unless
    /// [`World::restore`] has restored them. With [`contact::Solver::Reference`] and
    /// [`contact::Solver::Ku07`] only collisions are known.
    ///
    /// ```
    /// # use brisance_sim::contact::Shape;
    /// # use brisance_sim::nalgebra::Isometry3;
    /// # use brisance_sim::{NewBody, Settings, World};
    /// # let mut world = World::new(Settings::default());
    /// # let floor = NewBody::fixed(Shape::half_space());
    /// # let ball = NewBody::ball(0.1, 250.0)?.at(&Isometry3::translation(0.0, 1.0, 0.0));
    /// let (floor, ball) = (world.add(floor)?, world.add(ball)?);
    /// world.set_contact_events(true);
    /// let landed = (0..60).find_map(|_| world.step().events.contacts.touching.first().copied());
    /// let landed = landed.expect("it falls");
    /// assert_eq!(landed.bodies, [floor, ball]);
    /// assert!(landed.impulse > 4.0 && landed.normal.y < -0.99);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_contact_events(&mut self, on: bool) {
        self.log = match self.log.take() {
            Some(log) if on => Some(log),
            None if on => Some(ContactLog::default()),
            _ => None,
        };
    }

    /// The contact events of collisions; none unless contact events are enabled.
    pub(crate) fn touching_in(&self, collisions: &[Collision]) -> Vec<TouchingPair> {
        let all = collisions.iter().filter(|_| self.log.is_some());
        all.map(|collision| self.touching_in_collision(collision)).collect()
    }

    fn touching_in_collision(&self, collision: &Collision) -> TouchingPair {
        let bodies = [collision.a as usize, collision.b as usize];
        // opposite normal impulses of a body in a slot may cancel, so that only friction remains
        let impulse = collision.impulse.dot(&collision.normal).max(0.0);
        // at the poses of the contact search, only one of the bodies has the point on its surface
        let off =
            |side: usize| self.shapes[bodies[side]].field().distance(&collision.at[side]).abs();
        let side = usize::from(off(1) < off(0));
        self.touching(
            bodies,
            collision.poses[side] * collision.at[side],
            collision.normal,
            [impulse; 2],
        )
    }

    fn touching(
        &self,
        bodies: [usize; 2],
        point: Point3<f64>,
        normal: Vector3<f64>,
        [impulse, hardest]: [f64; 2],
    ) -> TouchingPair {
        let materials = bodies.map(|i| self.details[i].solid_material.name);
        TouchingPair {
            bodies: bodies.map(|i| self.ids[i]),
            point,
            normal,
            impulse,
            materials,
            hardest,
        }
    }

    /// Stores the collisions that took place.
    pub(crate) fn log_collisions(&mut self, collisions: Vec<TouchingPair>) {
        if let Some(log) = &mut self.log {
            log.collisions.extend(collisions);
        }
    }

    /// Reports the touching pairs at the end of the contact passes.
    pub(crate) fn log_contacts(&mut self, support: &Support, events: &mut Events) {
        self.log_touching(self.touching_at_end(support), events);
    }

    /// Reports the pairs that touched in collisions, and in `resting` contact at the end.
    pub(crate) fn log_touching(&mut self, resting: Vec<TouchingPair>, events: &mut Events) {
        let Some(mut log) = self.log.take() else { return };
        let is_there = |id: &BodyId| self.ids.binary_search(id).is_ok();
        let mut all = std::mem::take(&mut log.collisions);
        all.retain(|touching| touching.bodies.iter().all(is_there));
        all.extend(resting);
        // stable: collisions first, in order of time
        all.sort_by_cached_key(|touching| <(BodyId, BodyId)>::from(touching.bodies));
        all.dedup_by(|next, known| {
            let same = next.bodies == known.bodies;
            if same {
                known.add(next);
            }
            same
        });
        let touches = |pair: &[BodyId; 2]| all.binary_search_by_key(pair, |t| t.bodies).is_ok();
        let touched = |pair: &[BodyId; 2]| log.pairs.binary_search(pair).is_ok();
        let events = &mut events.contacts;
        events.began = all.iter().map(|t| t.bodies).filter(|pair| !touched(pair)).collect();
        let (left, rested): (Vec<_>, Vec<_>) = log
            .pairs
            .iter()
            .copied()
            .filter(|pair| !touches(pair))
            .partition(|pair| !self.rests(pair));
        events.ended = left;
        let mut pairs: Vec<[BodyId; 2]> = all.iter().map(|t| t.bodies).chain(rested).collect();
        pairs.sort_unstable();
        events.touching = all;
        log.pairs = pairs;
        self.log = Some(log);
    }

    /// Whether a pair was not tested, since neither body moves.
    fn rests(&self, pair: &[BodyId; 2]) -> bool {
        let is_held = |id: &BodyId| {
            let found = self.ids.binary_search(id);
            found.is_ok_and(|i| self.acting[i].mass_properties().is_none())
        };
        pair.iter().all(is_held)
    }

    /// Pairs with an impulse in the contact pass, or in contact at the end of the frame.
    fn touching_at_end(&self, support: &Support) -> Vec<TouchingPair> {
        let Some(solved) = support.solved().filter(|_| self.log.is_some()) else {
            return Vec::new();
        };
        let of = |pair: &contact::Manifold| {
            let bodies = [pair.a as usize, pair.b as usize];
            let slop = self.settings.contact.slop_of(bodies.map(|i| &*self.shapes[i]));
            let touches = |(contact, j): &(&contact::Contact, &Vector3<f64>)| {
                contact.gap <= slop || **j != Vector3::zeros()
            };
            let one = |(contact, j): (&contact::Contact, &Vector3<f64>)| {
                let point = contact.at(&self.poses[bodies[0]], &self.poses[bodies[1]]);
                let along = contact.normal.dot(j);
                self.touching(bodies, point, contact.normal, [along; 2])
            };
            solved.of(pair).filter(touches).map(one).reduce(|mut sum, next| {
                sum.add(&next);
                sum
            })
        };
        solved.contacts.manifolds().iter().filter_map(of).collect()
    }
}
