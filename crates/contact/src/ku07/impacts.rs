//! Collisions at an instant (Ku07 eqs 1 to 3).

use dynamics::{Body, Momentum};
use nalgebra::{Point3, Vector3};

use super::touch::{Touch, Touches, TouchingPair};
use crate::constraint::{Bodies, Bounds, PER_CONTACT, Rounds, Row, alternate, tangents};
use crate::passes::collision::{Collision, ImpactState, PairImpulse, StrengthQuery, total};
use crate::solve::bounce::{self, ContactPoint, ImpactLaw};
use crate::solve::clamp::kinetic_share;
use crate::{Frame, Islands, Mover};

/// Collisions of a body in a frame that rebound; later ones are plastic, as between bodies that
/// vibrate against each other.
const MAX_REBOUNDS: u32 = 64;
/// Collisions per pair at one instant; afterwards all remaining approach is stopped simultaneously.
const MAX_ROUNDS: usize = 64;
/// Approach speed below which the resting contact forces stop the approach, m/s.
pub(super) const STILL: f64 = 1e-6;
/// Tolerance of the speeds after a collision, as a share of the restitution threshold.
const CONVERGED: f64 = 1e-3;
/// Rounds of normal forces and friction in a simultaneous stop.
const ROUNDS: usize = 20;

/// The result of the collisions at an instant.
#[derive(Clone, Debug, Default)]
pub struct ImpactResult {
    /// Collisions that break a body.
    pub breaking: Vec<Collision>,
    /// Collisions with the impulses that were applied.
    pub exchanged: Vec<Collision>,
    /// Collisions of pairs.
    pub impacts: usize,
    /// Work of kinematic bodies, J.
    pub work: f64,
    /// Pairs without rebound because one of their bodies had collided too often.
    pub limited: usize,
    /// Whether no impulses satisfied all conditions of a simultaneous stop.
    pub unsolved: bool,
}

/// An approaching pair.
struct Approach {
    pair: TouchingPair,
    contacts: Vec<ContactPoint>,
    /// Approach speed at the fastest contact, m/s.
    speed: f64,
}

struct ImpactPass<'a, 'f> {
    frame: &'a Frame<'f>,
    touches: &'a Touches,
    momenta: &'a mut [Momentum],
    /// Pairs whose collisions are finished.
    over: Vec<bool>,
    /// Approach speed of each pair at its fastest contact, m/s.
    speeds: Vec<f64>,
    /// Dynamic bodies, each with the index of one of its pairs, sorted.
    sides: Vec<(u32, u32)>,
    done: ImpactResult,
}

impl Frame<'_> {
    /// Resolves collisions of approaching pairs in contact, the fastest pair first, until none
    /// approaches: changes `momenta`. Each collision has Newton's restitution and Coulomb friction
    /// and adds no energy. `rebounds` counts the collisions of each body in the frame. If a body of
    /// a pair breaks, the pair exchanges the largest impulse that the weaker body withstands and
    /// does not collide again. `time` is measured from the start of the frame, s.
    ///
    /// # Panics
    /// If the number of `momenta` or `rebounds` differs from the number of bodies.
    pub fn resolve_impacts(
        &self,
        touches: &Touches,
        momenta: &mut [Momentum],
        query: &mut StrengthQuery<'_>,
        rebounds: &mut [u32],
        time: f64,
    ) -> ImpactResult {
        let mut pass = ImpactPass::new(self, touches, momenta);
        for _ in 0..MAX_ROUNDS * touches.pairs().len() {
            let Some(n) = pass.fastest() else { break };
            pass.collide(n, query, rebounds, time);
            pass.renew(n);
        }
        if pass.done.breaking.is_empty() {
            pass.stop();
        }
        pass.done
    }
}

impl<'a, 'f> ImpactPass<'a, 'f> {
    fn new(frame: &'a Frame<'f>, touches: &'a Touches, momenta: &'a mut [Momentum]) -> Self {
        let moves = |i: &u32| frame.columns.bodies[*i as usize].mass_properties().is_some();
        let sides = (0..).zip(touches.pairs());
        let sides = sides.flat_map(|(n, pair)| pair.bodies.map(|i| (i, n)));
        let mut sides: Vec<(u32, u32)> = sides.filter(|(i, _)| moves(i)).collect();
        sides.sort_unstable();
        let over = vec![false; touches.pairs().len()];
        let done = ImpactResult::default();
        let mut pass = Self { frame, touches, momenta, over, speeds: Vec::new(), sides, done };
        pass.speeds = touches.pairs().iter().map(|pair| pass.approach(pair).speed).collect();
        pass
    }

    /// Updates the approach speeds of all pairs that share a body with a pair that collided.
    fn renew(&mut self, number: usize) {
        for body in self.touches.pairs()[number].bodies {
            let first = self.sides.partition_point(|(i, _)| *i < body);
            let own = self.sides[first..].iter().take_while(|(i, _)| *i == body);
            for &(_, n) in own {
                self.speeds[n as usize] = self.approach(&self.touches.pairs()[n as usize]).speed;
            }
        }
    }

    fn mover(&self, i: u32) -> Mover {
        let (i, Frame { columns, poses, .. }) = (i as usize, self.frame);
        Mover::new(&columns.bodies[i], &poses[i], &self.momenta[i])
    }

    fn contacts(&self, pair: &TouchingPair) -> Vec<ContactPoint> {
        let Frame { columns, poses, .. } = *self.frame;
        let [a, b] = pair.bodies.map(|i| i as usize);
        let shapes = [&*columns.shapes[a], &*columns.shapes[b]];
        let movers = pair.bodies.map(|i| self.mover(i));
        let velocities = [&movers[0].velocity, &movers[1].velocity];
        let contact = |touch: &Touch| {
            let spot = touch.spot(shapes, [&poses[a], &poses[b]], velocities);
            ContactPoint { normal: spot.normal, arms: spot.arms, u: spot.u }
        };
        self.touches.of(pair).iter().map(contact).collect()
    }

    fn approach(&self, pair: &TouchingPair) -> Approach {
        let contacts = self.contacts(pair);
        let speed = contacts.iter().map(|m| -m.normal.dot(&m.u)).fold(0.0, f64::max);
        Approach { pair: *pair, contacts, speed }
    }

    /// The pair with the largest approach speed above the restitution threshold.
    fn fastest(&self) -> Option<usize> {
        let mut most = self.frame.settings.resting_speed;
        let mut fastest = None;
        for (n, &speed) in self.speeds.iter().enumerate().filter(|(n, _)| !self.over[*n]) {
            if speed > most {
                (fastest, most) = (Some(n), speed);
            }
        }
        fastest
    }

    fn collide(
        &mut self,
        number: usize,
        query: &mut StrengthQuery<'_>,
        rebounds: &mut [u32],
        time: f64,
    ) {
        let Frame { columns, settings, poses, .. } = *self.frame;
        let approach = self.approach(&self.touches.pairs()[number]);
        let Approach { pair, contacts, .. } = &approach;
        let [a, b] = pair.bodies.map(|i| i as usize);
        let moves = |i: usize| columns.bodies[i].mass_properties().is_some();
        if [a, b].into_iter().any(|i| moves(i) && rebounds[i] >= MAX_REBOUNDS) {
            self.done.limited += 1;
            self.over[number] = true;
            return;
        }
        let [p, q] = [&columns.materials[a], &columns.materials[b]];
        let restitution = p.restitution_with(q, settings.restitution);
        // no rebound below the restitution threshold
        let rebounds_on = restitution * approach.speed > settings.resting_speed;
        let restitution = if rebounds_on { restitution } else { 0.0 };
        let friction = p.friction_with(q, settings.friction);
        let movers = pair.bodies.map(|i| self.mover(i));
        let law = ImpactLaw {
            restitution,
            friction,
            clamp: settings.clamp,
            tolerance: CONVERGED * settings.resting_speed,
        };
        let mut impulses = bounce::impulses([&movers[0], &movers[1]], contacts, law);
        if impulses.iter().all(|j| *j == Vector3::zeros()) {
            self.over[number] = true;
            return;
        }
        let collision = total(&impulses).map(|(impulse, hardest)| {
            let ContactPoint { normal, arms, .. } = contacts[hardest];
            let at = [0, 1].map(|side| {
                let pose = &poses[[a, b][side]];
                pose.inverse_transform_point(&Point3::from(pose.translation.vector + arms[side]))
            });
            let state = ImpactState { at, time, poses: [poses[a], poses[b]] };
            let approach = approach.speed;
            let exchanged = PairImpulse { normal, impulse, approach, restitution };
            Collision::new(pair.bodies, state, exchanged)
        });
        if let Some(collision) = collision {
            let share = query.share(&collision);
            if let Some(share) = share {
                self.done.breaking.push(collision);
                impulses.iter_mut().for_each(|j| *j *= share);
                self.over[number] = true;
            }
            self.done.exchanged.push(collision.scaled(share.unwrap_or(1.0)));
        }
        self.done.impacts += 1;
        for (contact, j) in contacts.iter().zip(&impulses) {
            self.push(pair.bodies, j, &contact.arms);
        }
        [a, b].into_iter().filter(|&i| moves(i)).for_each(|i| rebounds[i] += 1);
    }

    /// Applies an impulse to the first body and the opposite to the second.
    fn push(&mut self, bodies: [u32; 2], j: &Vector3<f64>, arms: &[Vector3<f64>; 2]) {
        for ((i, j), arm) in bodies.into_iter().zip([*j, -j]).zip(arms) {
            match &self.frame.columns.bodies[i as usize] {
                Body::Dynamic(_) => self.momenta[i as usize].apply_impulse(&j, arm),
                Body::Kinematic(velocity) => self.done.work -= j.dot(&velocity.at(arm)),
                Body::Static => {}
            }
        }
    }

    /// Stops all remaining approach simultaneously and without rebound: a quadratic program of
    /// speeds for each group of bodies in contact.
    fn stop(&mut self) {
        let columns = self.frame.columns;
        let resting = self.frame.settings.resting_speed;
        let all: Vec<Approach> =
            self.touches.pairs().iter().map(|pair| self.approach(pair)).collect();
        if all.iter().all(|approach| approach.speed <= STILL) {
            return;
        }
        let pairs: Vec<(u32, u32)> =
            all.iter().map(|a| (a.pair.bodies[0], a.pair.bodies[1])).collect();
        let islands = Islands::new(columns, &pairs);
        let island = |bodies: [u32; 2]| {
            bodies.iter().find_map(|&i| islands.of_bodies()[i as usize]).unwrap_or_default()
        };
        let mut parts: Vec<(bool, Vec<&Approach>)> = vec![(false, Vec::new()); islands.count()];
        for approach in &all {
            let (approaches, own) = &mut parts[island(approach.pair.bodies) as usize];
            *approaches |= approach.speed > STILL;
            own.push(approach);
        }
        for (_, part) in parts.iter().filter(|(approaches, _)| *approaches) {
            let touching = part.iter().flat_map(|approach| {
                let bodies = approach.pair.bodies;
                approach.contacts.iter().map(move |contact| (bodies, *contact))
            });
            let touching: Vec<([u32; 2], ContactPoint)> =
                touching.filter(|(_, contact)| contact.normal.dot(&contact.u) <= resting).collect();
            self.stop_all(&touching);
        }
    }

    fn stop_all(&mut self, touching: &[([u32; 2], ContactPoint)]) {
        let Frame { columns, poses, settings, .. } = *self.frame;
        let mut rows = Vec::with_capacity(PER_CONTACT * touching.len());
        for (bodies, contact) in touching {
            let [p, q] = bodies.map(|i| &columns.materials[i as usize]);
            let coefficient = p.friction_with(q, settings.friction);
            let normal = rows.len() as u32;
            let along = |direction| Row::along(*bodies, direction, contact.arms);
            rows.push(Row { bounds: Bounds::PUSH, ..along(contact.normal) });
            let bounds = [Bounds::Cone { normal, coefficient }, Bounds::Cone2];
            let tangents = tangents(&contact.normal).into_iter().zip(bounds);
            rows.extend(tangents.map(|(tangent, bounds)| Row { bounds, ..along(tangent) }));
        }
        let rounds = Rounds { most: ROUNDS, settled: Some(CONVERGED), guess: &[] };
        let solved = alternate(Bodies { columns, poses }, &rows, self.momenta, &rounds);
        self.done.unsolved |= solved.unsolved;
        let share = self.share_of(&solved.momenta);
        let impulses = rows.chunks(PER_CONTACT).zip(solved.impulses.chunks(PER_CONTACT));
        for ((bodies, contact), (rows, own)) in touching.iter().zip(impulses) {
            let j: Vector3<f64> = rows.iter().zip(own).map(|(row, j)| row.linear * *j).sum();
            self.push(*bodies, &(j * share), &contact.arms);
        }
    }

    /// The share of the change to other momenta that adds no kinetic energy; 1 if kinematic bodies
    /// move.
    fn share_of(&self, after: &[Momentum]) -> f64 {
        let Frame { columns, poses, .. } = *self.frame;
        let moves = |body: &Body| matches!(body, Body::Kinematic(v) if *v != Default::default());
        if columns.bodies.iter().any(moves) {
            return 1.0;
        }
        let (mut first, mut second) = (0.0, 0.0);
        for (i, body) in columns.bodies.iter().enumerate() {
            let Some(mass) = body.mass_properties() else { continue };
            let (rotation, before) = (&poses[i].rotation, &self.momenta[i]);
            let change = after[i] - *before;
            let velocity = body.velocity(rotation, before);
            first += change.linear.dot(&velocity.linear) + change.angular.dot(&velocity.angular);
            second += 2.0 * mass.kinetic_energy(rotation, &change);
        }
        kinetic_share([0.0, first, second])
    }
}
