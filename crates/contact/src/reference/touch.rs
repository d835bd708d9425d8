//! All points in which two bodies touch.

use nalgebra::{Isometry3, Point3, Vector3};

use super::cuboids::cuboid_contacts;
use crate::narrow::candidate::{Candidate, Side};
use crate::narrow::candidates::candidates;
use crate::shape::field::Field;
use crate::shape::{Probe, Shape};

/// A shape and where it is.
pub(super) type Placed<'a> = (&'a Shape, &'a Isometry3<f64>);

/// A point of one body in or near the other.
pub(super) struct Touch(Candidate);

impl Touch {
    /// Signed distance, m.
    pub(super) fn distance(&self) -> f64 {
        self.0.distance
    }

    /// The normal out of `b` in world axes, with the bodies where they are given.
    pub(super) fn normal(&self, a: Placed<'_>, b: Placed<'_>) -> Vector3<f64> {
        let (owner, other, sign) = self.sides(a, b);
        let asked = || other.1.inverse_transform_point(&(owner.1 * self.0.point));
        let normal = self.0.normal.unwrap_or_else(|| other.0.field().normal(&asked()));
        other.1 * normal * sign
    }

    /// The contact point in the world, m, with the bodies where they are given.
    pub(super) fn place(&self, a: Placed<'_>, b: Placed<'_>, normal: &Vector3<f64>) -> Point3<f64> {
        let (owner, _, sign) = self.sides(a, b);
        let point = owner.1 * self.0.point;
        match owner.0.probe() {
            Probe::Ball(radius) => point - normal * (sign * radius),
            Probe::None | Probe::Points(_) | Probe::Hull(..) => point,
        }
    }

    fn sides<'p>(&self, a: Placed<'p>, b: Placed<'p>) -> (Placed<'p>, Placed<'p>, f64) {
        match self.0.owner {
            Side::A => (a, b, 1.0),
            Side::B => (b, a, -1.0),
        }
    }
}

/// The points of each body that are nearer than `margin` to the other, unordered.
pub(super) fn touches(a: Placed<'_>, b: Placed<'_>, margin: f64) -> Vec<Touch> {
    // where both are half-spaces or empty there is nothing to ask
    let apart = (a.1.translation.vector - b.1.translation.vector).norm();
    if apart > a.0.radius() + b.0.radius() + margin {
        return Vec::new();
    }
    if let (Field::Cuboid { half: p }, Field::Cuboid { half: q }) = (a.0.field(), b.0.field()) {
        let first_from_second = a.1.inv_mul(b.1);
        return cuboid_contacts(p, q, &first_from_second, margin).map(Touch).collect();
    }
    match (a.0.field(), b.0.field()) {
        (Field::Cuboid { .. }, Field::HalfSpace) => points_below((Side::A, a), b, margin),
        (Field::HalfSpace, Field::Cuboid { .. }) => points_below((Side::B, b), a, margin),
        _ => candidates(a, b, margin, &mut 0).into_iter().map(Touch).collect(),
    }
}

/// The surface points of a box less than `margin` m above a half-space. A mesh is tested with the same points, so
/// that boxes slide alike on both.
fn points_below((owner, source): (Side, Placed<'_>), floor: Placed<'_>, margin: f64) -> Vec<Touch> {
    let map = floor.1.inv_mul(source.1);
    let touch = |(key, &point): (u32, &Point3<f64>)| {
        let (distance, normal) = ((map * point).y, Some(Vector3::y()));
        Touch(Candidate { owner, point, normal, key, distance })
    };
    let all = (0..).zip(source.0.points()).map(touch);
    all.filter(|touch| touch.distance() < margin).collect()
}
