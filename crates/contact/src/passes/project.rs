//! Nonlinear projection of positions at the end of the step, for bodies that spin or collided.
//!
//! The contacts of the position pass are linear in the motion. A body that rotates far within the step may
//! therefore penetrate another at its end.

use std::f64::consts::PI;

use dynamics::Momentum;
use nalgebra::{Isometry3, Vector3};

use crate::frame::Frame;
use crate::narrow::candidate::Found;
use crate::narrow::contacts::{Contact, Contacts};
use crate::narrow::posed::Posed;

/// Limit of Gauss-Seidel iterations over all pairs. Eight push dense fragments apart, which then collide more
/// often: the scene `table_25` took twice as long.
const MAX_ITERATIONS: usize = 2;

/// A pair of bodies of which at least one can move.
struct Pair<'a> {
    bodies: [usize; 2],
    contacts: &'a [Contact],
    /// Share of the displacement of the first body.
    share: f64,
    /// m.
    slop: f64,
    /// Whether the linear contacts may miss a penetration at the end of the step.
    is_nonlinear: bool,
    /// Penetration at the start of the step, m, at least the slop; `None` until it is needed.
    entered: Option<f64>,
}

/// Bodies at the end of the step.
struct Projection<'a> {
    frame: Frame<'a>,
    end: Vec<Isometry3<f64>>,
    /// Displacement of each body, m.
    shifts: Vec<Vector3<f64>>,
}

/// The displacement of each body, m, that reduces penetrations at the `end` of the step to those at its start: of
/// bodies that spin or collided, and of bodies that touch a displaced one. `half` are the momenta that moved the
/// bodies. `end` computes the poses at the end of the step; it is called only if the motion of a pair is nonlinear.
pub(crate) fn project(
    frame: Frame<'_>,
    contacts: &Contacts,
    half: &[Momentum],
    end: impl FnOnce() -> Vec<Isometry3<f64>>,
) -> Vec<Vector3<f64>> {
    let count = half.len();
    let bends: Vec<f64> = (0..count).map(|i| bend(frame, half, i)).collect();
    let pairs = contacts
        .manifolds()
        .iter()
        .filter_map(|own| pair(frame, &bends, [own.a as usize, own.b as usize], contacts.of(own)));
    let mut pairs: Vec<Pair<'_>> = pairs.collect();
    let shifts = vec![Vector3::zeros(); count];
    if !pairs.iter().any(|pair| pair.is_nonlinear) {
        return shifts;
    }
    let mut projection = Projection { frame, end: end(), shifts };
    // immovable bodies last, so that each iteration ends without penetration of these
    pairs.sort_by_key(|pair| pair.share == 0.0 || pair.share == 1.0);
    // later iterations test only pairs of which a body was displaced since their last test
    let mut are_displaced = vec![false; count];
    for iteration in 0..MAX_ITERATIONS {
        let mut displaced = vec![false; count];
        for pair in &mut pairs {
            let is_due = pair.bodies.iter().any(|&i| are_displaced[i] || displaced[i]);
            if (is_due || iteration == 0 && pair.is_nonlinear) && projection.separate(pair) {
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

/// Upper bound of the error of linear motion for surface points of a body, m: the distance of an arc from its
/// tangent; infinite for a body that collided.
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
    let is_nonlinear = bends[bodies[0]] + bends[bodies[1]] > slop;
    let share = a / (a + b);
    let pair = Pair { bodies, contacts, share, slop, is_nonlinear, entered: None };
    (a + b > 0.0).then_some(pair)
}

impl Pair<'_> {
    /// Whether a contact normal is a separating axis: a cheap test before that of the minimum translation vector.
    fn is_separated(&self, posed: &Posed<'_>) -> bool {
        let Some(compounds) = posed.compounds() else { return false };
        self.contacts.iter().any(|contact| {
            let axis = posed.poses[1].inverse_transform_vector(&contact.normal);
            compounds.separation_along(&axis) >= -self.slop
        })
    }

    /// Whether a normal points to the same side as those of the contacts. The minimum translation vector of
    /// thin bodies may point through them.
    fn is_facing(&self, normal: &Vector3<f64>) -> bool {
        let all: Vector3<f64> = self.contacts.iter().map(|contact| contact.normal).sum();
        normal.dot(&all) > 0.0
    }
}

impl Projection<'_> {
    /// Moves the bodies of a pair apart along the minimum translation vector. Returns whether they moved.
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

    /// The penetration of a pair at the start of the step, m, at least the slop.
    fn entered(&self, bodies: [usize; 2], slop: f64) -> f64 {
        let Frame { columns, poses, flights, .. } = self.frame;
        let entry = |i: usize| flights.get(i).and_then(|own| own.entry).unwrap_or(poses[i]);
        let poses = bodies.map(entry);
        let shapes = bodies.map(|i| &*columns.shapes[i]);
        let found = deepest(&Posed { shapes, poses: poses.each_ref() }, slop);
        found.map_or(slop, |found| -found.distance)
    }
}

/// The deepest contact of a pair; `None` if the bodies penetrate by less than the slop, m.
fn deepest(posed: &Posed<'_>, slop: f64) -> Option<Found> {
    let found = posed.touching(0.0, -slop, false);
    found.into_iter().min_by(|p, q| p.distance.total_cmp(&q.distance))
}
