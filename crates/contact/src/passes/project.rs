//! Projection of spinning bodies out of overlap at the end of the step.
//!
//! The position pass is linear in the motion of contact points. A part of a body that turns far within the step
//! may end inside another body nevertheless.

use std::f64::consts::PI;

use dynamics::Momentum;
use nalgebra::{Isometry3, Vector3};

use crate::frame::Frame;
use crate::narrow::candidate::Found;
use crate::narrow::contacts::{Contact, Contacts};
use crate::narrow::posed::Posed;

/// Limit of Gauss-Seidel iterations over all pairs.
const MAX_ITERATIONS: usize = 2;

/// A pair of bodies of which at least one can move.
struct Pair<'a> {
    bodies: [usize; 2],
    contacts: &'a [Contact],
    /// Share of the displacement of the first body.
    share: f64,
    /// m.
    slop: f64,
    /// Whether the linear contacts do not represent the motion of the bodies.
    is_bent: bool,
    /// Overlap when the bodies entered the step, m, at least the slop.
    entered: Option<f64>,
}

/// Bodies at the end of the step.
struct Projection<'a> {
    frame: Frame<'a>,
    end: &'a [Isometry3<f64>],
    /// Displacement of each body, m.
    shifts: Vec<Vector3<f64>>,
}

/// The displacement of each body, m, that reduces overlaps at the `end` of the step of `half` momenta to those with
/// which the bodies entered the step: overlaps of bodies that spin or collided, and of all that this displaces.
pub(crate) fn project(
    frame: Frame<'_>,
    contacts: &Contacts,
    half: &[Momentum],
    end: &[Isometry3<f64>],
) -> Vec<Vector3<f64>> {
    let mut projection = Projection { frame, end, shifts: vec![Vector3::zeros(); end.len()] };
    let bends: Vec<f64> = (0..end.len()).map(|i| bend(frame, half, i)).collect();
    let pairs = contacts
        .manifolds()
        .iter()
        .filter_map(|own| pair(frame, &bends, [own.a as usize, own.b as usize], contacts.of(own)));
    let mut pairs: Vec<Pair<'_>> = pairs.collect();
    // no iteration ends with a body inside an immovable one
    pairs.sort_by_key(|pair| pair.share == 0.0 || pair.share == 1.0);
    // a pair is tested again once one of its bodies was displaced
    let mut are_displaced = vec![false; end.len()];
    for iteration in 0..MAX_ITERATIONS {
        let mut displaced = vec![false; end.len()];
        for pair in &mut pairs {
            let is_due = pair.bodies.iter().any(|&i| are_displaced[i] || displaced[i]);
            if (is_due || iteration == 0 && pair.is_bent) && projection.separate(pair) {
                pair.bodies.iter().for_each(|&i| displaced[i] = true);
            }
        }
        if !displaced.contains(&true) {
            break;
        }
        are_displaced = displaced;
    }
    projection.shifts
}

/// Bound of the distance of surface points of a body from their tangents, m; infinite for a body that collided.
fn bend(Frame { columns, poses, flights, dt, .. }: Frame<'_>, half: &[Momentum], i: usize) -> f64 {
    if flights.get(i).is_some_and(|own| own.collisions > 0) {
        return f64::INFINITY;
    }
    let spin = columns.bodies[i].velocity(&poses[i].rotation, &half[i]).angular.norm();
    if spin > 0.0 {
        columns.shapes[i].radius() * (1.0 - libm::cos((spin * dt).min(PI)))
    } else {
        0.0
    }
}

fn pair<'a>(
    frame: Frame<'_>,
    bends: &[f64],
    bodies: [usize; 2],
    contacts: &'a [Contact],
) -> Option<Pair<'a>> {
    let Frame { columns, settings, .. } = frame;
    let slop = settings.slop_of(bodies.map(|i| &*columns.shapes[i]));
    let inverse =
        |i: usize| columns.bodies[i].mass_properties().map_or(0.0, |own| 1.0 / own.mass());
    let [a, b] = bodies.map(inverse);
    let is_bent = bends[bodies[0]] + bends[bodies[1]] > slop;
    let share = a / (a + b);
    let pair = Pair { bodies, contacts, share, slop, is_bent, entered: None };
    (a + b > 0.0).then_some(pair)
}

impl Pair<'_> {
    /// Whether a contact normal is a separating axis. The test is cheap and rules out most pairs.
    fn is_separated(&self, posed: &Posed<'_>) -> bool {
        let Some(compounds) = posed.compounds() else { return false };
        self.contacts.iter().any(|contact| {
            let axis = posed.poses[1].inverse_transform_vector(&contact.normal);
            compounds.separation_along(&axis) >= -self.slop
        })
    }

    /// Whether a normal agrees with those of the contacts: the minimum translation vector of thin bodies may lead
    /// through the far side.
    fn is_facing(&self, normal: &Vector3<f64>) -> bool {
        let all: Vector3<f64> = self.contacts.iter().map(|contact| contact.normal).sum();
        normal.dot(&all) > 0.0
    }
}

impl Projection<'_> {
    /// Moves the bodies of a pair apart. Returns whether they overlapped.
    fn separate(&mut self, pair: &mut Pair<'_>) -> bool {
        let poses = pair.bodies.map(|i| {
            let Isometry3 { rotation, translation } = self.end[i];
            Isometry3::from_parts((translation.vector + self.shifts[i]).into(), rotation)
        });
        let shapes = pair.bodies.map(|i| &*self.frame.columns.shapes[i]);
        let posed = Posed { shapes, poses: poses.each_ref() };
        if pair.is_separated(&posed) {
            return false;
        }
        let Some(found) = deepest(&posed, pair.slop) else { return false };
        let entered = *pair.entered.get_or_insert_with(|| self.entered(pair.bodies, pair.slop));
        let (depth, normal) = (-found.distance - entered, posed.spot(&found).normal);
        if depth <= pair.slop || !pair.is_facing(&normal) {
            return false;
        }
        let shift = normal * depth;
        let [a, b] = pair.bodies;
        self.shifts[a] += shift * pair.share;
        self.shifts[b] -= shift * (1.0 - pair.share);
        true
    }

    /// The overlap with which the bodies of a pair entered the step, m.
    fn entered(&self, bodies: [usize; 2], slop: f64) -> f64 {
        let Frame { columns, poses, flights, .. } = self.frame;
        let entry = |i: usize| flights.get(i).and_then(|own| own.entry).unwrap_or(poses[i]);
        let poses = bodies.map(entry);
        let shapes = bodies.map(|i| &*columns.shapes[i]);
        let found = deepest(&Posed { shapes, poses: poses.each_ref() }, slop);
        found.map_or(slop, |found| -found.distance)
    }
}

/// The deepest contact of a pair that overlaps by more than the slop, m.
fn deepest(posed: &Posed<'_>, slop: f64) -> Option<Found> {
    let found = posed.touching(0.0, -slop, false);
    found.into_iter().min_by(|p, q| p.distance.total_cmp(&q.distance))
}
