//! Contacts of bodies at an instant.

use dynamics::Velocity;
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;

use crate::narrow::broad::{Broad, StepMotion};
use crate::narrow::candidate::Found;
use crate::narrow::contacts::MARGIN;
use crate::narrow::posed::Posed;
use crate::shape::field::Field;
use crate::shape::{Probe, Shape};
use crate::{Columns, Frame, Settings};

/// Largest gap of bodies in contact, as a share of the smaller size.
const BAND: f64 = 1e-6;
/// Penetration of bodies in contact before contacts are searched again, as a share of the smaller
/// size: the integration drifts.
const DRIFT: f64 = 1e-7;
/// Largest gap of bodies that have collided, as a share of the smaller size.
const COLLISION_GAP: f64 = 1e-10;
/// Displacement over which the rotation of a normal is measured, as a share of the smaller size.
const NEARBY: f64 = 1e-4;
/// Pairs per task; fixed, so that the work is divided the same way for any thread count.
const CHUNK: usize = 32;

/// Motion of a contact point with its bodies.
#[derive(Clone, Copy, Debug)]
enum ContactMotion {
    /// Point and normal are fixed to their bodies, as for a corner on a face.
    Fixed,
    /// The normal is that of the field at the point, as for the center of a ball.
    Curved,
    /// The point keeps its position relative to the owner's center of mass in world axes, as under
    /// a rolling cylinder.
    Rolling(Vector3<f64>),
}

/// A contact point of a body on another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) bodies: [u32; 2],
    found: Found,
    /// Distance from the point to the surface of the owner, m: the radius of a ball.
    radius: f64,
    /// Position of the point when found, in coordinates of the other body, m.
    place: Point3<f64>,
    motion: ContactMotion,
}

/// A contact in the world, with its bodies at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactState {
    /// Lever arms from the centers of mass of both bodies, m.
    pub(crate) arms: [Vector3<f64>; 2],
    /// Unit normal out of the second body.
    pub(crate) normal: Vector3<f64>,
    /// Gap, m.
    pub(crate) gap: f64,
    /// Velocity of the first body relative to the second at the contact, m/s.
    pub(crate) u: Vector3<f64>,
    /// The part of the second derivative of the gap due to velocities alone, m/s^2.
    pub(crate) curl: f64,
}

/// A pair of bodies in contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TouchingPair {
    pub(crate) bodies: [u32; 2],
    first: usize,
    count: usize,
    /// The deepest overlap, m, at least 0.
    pub(crate) depth: f64,
}

/// The contacts of bodies at an instant.
#[derive(Clone, Debug, Default)]
pub struct Touches {
    all: Vec<Touch>,
    /// Sorted by bodies.
    pairs: Vec<TouchingPair>,
    /// Number of pairs tested.
    tested: usize,
}

impl Touches {
    /// Number of contact points.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether nothing touches.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Number of pairs tested.
    pub fn tested(&self) -> usize {
        self.tested
    }

    pub(crate) fn pairs(&self) -> &[TouchingPair] {
        &self.pairs
    }

    pub(crate) fn of(&self, pair: &TouchingPair) -> &[Touch] {
        &self.all[pair.first..pair.first + pair.count]
    }

    /// Penetration of a pair, m; `None` if it does not touch.
    pub(crate) fn depth(&self, bodies: [u32; 2]) -> Option<f64> {
        let found = self.pairs.binary_search_by_key(&bodies, |pair| pair.bodies).ok()?;
        Some(self.pairs[found].depth)
    }
}

impl Frame<'_> {
    /// The contacts of bodies, for [`Solver::Ku07`](crate::Solver::Ku07).
    pub fn touches(&self) -> Touches {
        let Self { columns, poses, .. } = *self;
        let motion = StepMotion { columns, poses, predicted: poses, motion: None };
        let near = Broad::new(motion, MARGIN).pairs().near;
        let of = |&(a, b): &(u32, u32)| touches_of(columns, poses, [a, b]);
        let found: Vec<Vec<Touch>> = near.par_iter().with_min_len(CHUNK).map(of).collect();
        let mut touches = Touches { tested: near.len(), ..Touches::default() };
        for (&(a, b), found) in near.iter().zip(found).filter(|(_, found)| !found.is_empty()) {
            let (first, count) = (touches.all.len(), found.len());
            let depth = found.iter().map(|touch| -touch.gap()).fold(0.0, f64::max);
            touches.pairs.push(TouchingPair { bodies: [a, b], first, count, depth });
            touches.all.extend(found);
        }
        touches
    }
}

fn touches_of(columns: Columns<'_>, poses: &[Isometry3<f64>], bodies: [u32; 2]) -> Vec<Touch> {
    let [a, b] = bodies.map(|i| i as usize);
    let [p, q]: [&Shape; 2] = [&columns.shapes[a], &columns.shapes[b]];
    let band = BAND * p.size().min(q.size());
    let posed = Posed { shapes: [p, q], poses: [&poses[a], &poses[b]] };
    posed.contacts(band, band).into_iter().map(|found| Touch::new(bodies, posed, found)).collect()
}

/// Largest gap of bodies that have collided, m.
pub(crate) fn collision_gap(columns: Columns<'_>, bodies: [u32; 2]) -> f64 {
    let sizes = bodies.map(|i| columns.shapes[i as usize].size());
    COLLISION_GAP * sizes[0].min(sizes[1])
}

/// Whether neither shape of a pair has a sampled distance field.
pub(crate) fn is_exact(columns: Columns<'_>, bodies: [u32; 2]) -> bool {
    let is_sampled = |field: &Field| matches!(field, Field::Grid { .. } | Field::Tets(_));
    !bodies.iter().any(|&i| is_sampled(columns.shapes[i as usize].field()))
}

/// Further penetration of a pair before contacts are searched again, m. The distance of sampled
/// solids varies along a face by as much as the slop, and its gradient jumps from cell to cell.
pub(crate) fn search_again_depth(
    columns: Columns<'_>,
    settings: &Settings,
    bodies: [u32; 2],
) -> f64 {
    let sizes = bodies.map(|i| columns.shapes[i as usize].size());
    let share = if is_exact(columns, bodies) { DRIFT } else { settings.slop.max(DRIFT) };
    share * sizes[0].min(sizes[1])
}

impl Touch {
    fn new(bodies: [u32; 2], Posed { shapes, poses }: Posed<'_>, found: Found) -> Self {
        let [own, other] = found.owner.order();
        let world = poses[own] * found.point;
        let place = poses[other].inverse_transform_point(&world);
        let field = shapes[other].field();
        let radius = match shapes[own].probe() {
            Probe::Ball(radius) => *radius,
            Probe::None | Probe::Points(_) | Probe::Hull(..) => 0.0,
        };
        let is_smooth = !matches!(field, Field::Grid { .. } | Field::Mesh(_) | Field::Tets(_));
        let motion = if shapes.iter().any(|shape| matches!(shape.field(), Field::Round(_))) {
            ContactMotion::Rolling(world.coords - poses[own].translation.vector)
        } else if radius > 0.0 && is_smooth {
            ContactMotion::Curved
        } else {
            ContactMotion::Fixed
        };
        Self { bodies, found, radius, place, motion }
    }

    /// The gap when the contact was found, m; negative for an overlap.
    pub(crate) fn gap(&self) -> f64 {
        self.found.distance
    }

    /// The contact with its bodies, of these shapes, at other poses.
    pub(crate) fn spot(
        &self,
        shapes: [&Shape; 2],
        poses: [&Isometry3<f64>; 2],
        velocities: [&Velocity; 2],
    ) -> ContactState {
        let found = &self.found;
        let [own, other] = found.owner.order();
        let (pose, frame) = (poses[own], poses[other]);
        let point = match self.motion {
            ContactMotion::Rolling(arm) => Point3::from(pose.translation.vector + arm),
            ContactMotion::Fixed | ContactMotion::Curved => pose * found.point,
        };
        let place = frame.inverse_transform_point(&point);
        let (normal, gap) = match self.motion {
            ContactMotion::Fixed => {
                (found.normal, found.distance + found.normal.dot(&(place - self.place)))
            }
            ContactMotion::Rolling(_) => (found.normal, found.distance),
            ContactMotion::Curved => {
                let field = shapes[other].field();
                (field.normal(&place), field.distance(&place) - self.radius)
            }
        };
        let out = frame * normal;
        let [arm, other_arm] = [own, other].map(|i| point.coords - poses[i].translation.vector);
        let (v, w) = (velocities[own], velocities[other]);
        let relative = v.at(&arm) - w.at(&other_arm);
        let curl = match self.motion {
            ContactMotion::Rolling(_) => 0.0,
            ContactMotion::Fixed | ContactMotion::Curved => {
                let own_turn = v.angular.cross(&v.angular.cross(&arm));
                let other_turn = w.angular.cross(&(v.at(&arm) - w.linear));
                let bend = frame * self.bend(shapes, &place, &(frame.inverse() * relative));
                let turning = w.angular.cross(&out) + bend;
                out.dot(&(own_turn - other_turn)) + turning.dot(&relative)
            }
        };
        let surface = point.coords - out * self.radius;
        let arms = [0, 1].map(|i| surface - poses[i].translation.vector);
        let u = velocities[0].at(&arms[0]) - velocities[1].at(&arms[1]);
        let normal = out * found.owner.sign();
        ContactState { arms, normal, gap, u, curl }
    }

    /// The rate of rotation of the normal, 1/s, in coordinates of the other body, while the point
    /// moves through its field with a velocity, m/s.
    fn bend(
        &self,
        shapes: [&Shape; 2],
        place: &Point3<f64>,
        velocity: &Vector3<f64>,
    ) -> Vector3<f64> {
        let speed = velocity.norm();
        if !matches!(self.motion, ContactMotion::Curved) || speed == 0.0 {
            return Vector3::zeros();
        }
        let field = shapes[self.found.owner.order()[1]].field();
        let near = NEARBY * shapes[0].size().min(shapes[1].size());
        let step = velocity * (near / speed);
        let change = field.normal(&(place + step)) - field.normal(&(place - step));
        change * (speed / (2.0 * near))
    }
}
