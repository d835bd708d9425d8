//! The impact of a pair alone.

use dynamics::Momentum;
use nalgebra::{Isometry3, Point3, Vector3};

use super::{ImpulseSource, Pass, StruckBody};
use crate::Frame;
use crate::narrow::candidate::Side;
use crate::narrow::contacts::{MARGIN, MAX_CONTACTS};
use crate::narrow::posed::{Posed, Spot};
use crate::passes::collision::{Collision, ImpactState, PairImpulse, StrengthQuery, total};
use crate::solve::bounce::{self, ContactPoint, ImpactLaw, Impulses};

/// Tolerance of the speeds after a collision, as a share of the resting speed.
const CONVERGED: f64 = 1e-3;

/// The impulses of a pair at its touching contacts.
#[derive(Default)]
struct Hit {
    contacts: [ContactPoint; MAX_CONTACTS],
    /// Where they are, in body coordinates of both, m.
    at: [[Point3<f64>; 2]; MAX_CONTACTS],
    count: usize,
    /// On `a`, one per contact.
    impulses: Impulses,
    restitution: f64,
    /// Largest speed of approach at a contact, m/s.
    approach: f64,
    time: f64,
}

impl Pass<'_> {
    /// Collides a pair at a time; `false` if the pair does not approach there.
    pub(super) fn strike(&mut self, pair: usize, time: f64, query: &mut StrengthQuery<'_>) -> bool {
        let bodies = self.bodies_of(pair);
        let struck = bodies.map(|i| self.body_at(i, time));
        let mut hit = Hit { time, ..Hit::default() };
        if !self.hits(&struck, &mut hit) {
            return false;
        }
        let poses = struck.each_ref().map(|struck| struck.pose);
        if let Some(collision) = hit.collision(bodies.map(|i| i as u32), poses) {
            let share = query.share(&collision);
            if let Some(share) = share {
                self.done.breaking.push(collision);
                hit.impulses.iter_mut().for_each(|j| *j *= share);
                self.histories[pair].is_over = true;
            }
            self.done.exchanged.push(collision.scaled(share.unwrap_or(1.0)));
        }
        self.histories[pair].collisions += 1;
        let works = hit.given().map(|(contact, j)| self.work_at(bodies, &contact.arms, j));
        let work = works.sum::<f64>();
        self.done.work += work;
        let gains = hit.gains();
        let free = bodies.iter().filter(|i| self.is_free(**i)).count();
        let change: f64 =
            struck.iter().zip(&gains).map(|(struck, gain)| self.change(struck, gain)).sum();
        let dissipated = (work - change) / free as f64;
        for (struck, gain) in struck.iter().zip(&gains) {
            self.paths.flights[struck.body].dissipated += dissipated;
            let source = if free < 2 { ImpulseSource::Grounded } else { ImpulseSource::Free };
            self.give(struck, gain, source, time);
        }
        true
    }

    /// The contacts of two bodies at poses on their paths: those within the slop. If `is_met`, for a pair whose
    /// linearized time of impact may be early, these are at least the nearest ones within the margin.
    pub(super) fn spots(
        &self,
        bodies: [usize; 2],
        poses: [&Isometry3<f64>; 2],
        is_met: bool,
    ) -> Vec<Spot> {
        let Frame { columns, settings, .. } = self.frame;
        let [a, b] = bodies.map(|i| &columns.shapes[i]);
        let (margin, slop) = (MARGIN * a.size().min(b.size()), settings.slop_of([a, b]));
        let posed = Posed { shapes: [a, b], poses };
        posed.touching(margin, slop, is_met).iter().map(|found| posed.spot(found)).collect()
    }

    /// Computes the clamped impulses of a pair at its touching contacts; `false` if it does not approach.
    fn hits(&self, struck: &[StruckBody; 2], hit: &mut Hit) -> bool {
        let bodies = [struck[0].body, struck[1].body];
        let Frame { columns, settings, .. } = self.frame;
        let movers = [&struck[0].mover, &struck[1].mover];
        let resting = self.resting(bodies);
        let places = self.arm_origins([&struck[0], &struck[1]]);
        let poses = [&struck[0].pose, &struck[1].pose];
        for (number, spot) in self.spots(bodies, poses, true).iter().enumerate() {
            let (normal, arms) = (spot.normal, arms(spot.owner, spot.arms(poses), &places));
            let u = movers[0].velocity.at(&arms[0]) - movers[1].velocity.at(&arms[1]);
            hit.approach = hit.approach.max(-normal.dot(&u));
            hit.contacts[number] = ContactPoint { normal, arms, u };
            hit.at[number] = spot.at(poses);
            hit.count += 1;
        }
        if hit.approach <= resting {
            return false;
        }
        let [p, q] = bodies.map(|i| &columns.materials[i]);
        let restitution = p.restitution_with(q, settings.restitution);
        hit.restitution = restitution;
        let friction = p.friction_with(q, settings.friction);
        let contacts = &hit.contacts[..hit.count];
        let (clamp, tolerance) = (settings.clamp, CONVERGED * resting);
        let law = ImpactLaw { restitution, friction, clamp, tolerance };
        hit.impulses = bounce::impulses(movers, contacts, law);
        hit.given().any(|(_, j)| *j != Vector3::zeros())
    }
}

impl Hit {
    fn given(&self) -> impl Iterator<Item = (&ContactPoint, &Vector3<f64>)> {
        self.contacts[..self.count].iter().zip(&self.impulses)
    }

    /// The momenta that both bodies receive.
    fn gains(&self) -> [Momentum; 2] {
        let mut gains = [Momentum::default(); 2];
        for (contact, j) in self.given() {
            gains[0].apply_impulse(j, &contact.arms[0]);
            gains[1].apply_impulse(&-j, &contact.arms[1]);
        }
        gains
    }

    /// The collision of all contacts; `None` if its impulse is zero.
    fn collision(&self, bodies: [u32; 2], poses: [Isometry3<f64>; 2]) -> Option<Collision> {
        let (impulse, hardest) = total(&self.impulses[..self.count])?;
        let state = ImpactState { at: self.at[hardest], time: self.time, poses };
        let Self { approach, restitution, .. } = *self;
        let normal = self.contacts[hardest].normal;
        let exchanged = PairImpulse { normal, impulse, approach, restitution };
        Some(Collision::new(bodies, state, exchanged))
    }
}

/// The lever arms of bodies at `places` to the point of one of them, from those where the contact was found.
pub(super) fn arms(
    owner: Side,
    [p, q]: [Vector3<f64>; 2],
    [a, b]: &[Vector3<f64>; 2],
) -> [Vector3<f64>; 2] {
    match owner {
        Side::A => [p, a + p - b],
        Side::B => [b + q - a, q],
    }
}
