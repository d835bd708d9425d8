//! All points in which two bodies touch.

use nalgebra::{Isometry3, Point3, Vector3};

use crate::cuboids::cuboid_contacts;
use crate::narrow::{Side, is_ball, probes};
use crate::shape::{Field, Probe, Shape};

/// A shape and where it is.
pub(super) type Placed<'a> = (&'a Shape, &'a Isometry3<f64>);

/// A point of one body in or near the other.
pub(super) struct Touch {
    owner: Side,
    /// In the owner's body coordinates: a surface point, or the centre of a ball.
    point: Point3<f64>,
    /// Normal out of the other body, in its coordinates, where it is known already.
    normal: Option<Vector3<f64>>,
    /// Signed distance, m.
    pub(super) distance: f64,
}

impl Touch {
    /// The normal out of `b` in world axes, with the bodies where they are given.
    pub(super) fn normal(&self, a: Placed<'_>, b: Placed<'_>) -> Vector3<f64> {
        let (owner, other, sign) = self.sides(a, b);
        let asked = || other.1.inverse_transform_point(&(owner.1 * self.point));
        let normal = self.normal.unwrap_or_else(|| other.0.field().normal(&asked()));
        other.1 * normal * sign
    }

    /// The contact point in the world, m, with the bodies where they are given.
    pub(super) fn place(&self, a: Placed<'_>, b: Placed<'_>, normal: &Vector3<f64>) -> Point3<f64> {
        let (owner, _, sign) = self.sides(a, b);
        let point = owner.1 * self.point;
        match owner.0.probe() {
            Probe::Ball(radius) => point - normal * (sign * radius),
            Probe::None | Probe::Points(_) => point,
        }
    }

    fn sides<'p>(&self, a: Placed<'p>, b: Placed<'p>) -> (Placed<'p>, Placed<'p>, f64) {
        match self.owner {
            Side::A => (a, b, 1.0),
            Side::B => (b, a, -1.0),
        }
    }
}

/// The points of each body that are nearer than `margin` to the other, unordered.
pub(super) fn touches(a: Placed<'_>, b: Placed<'_>, margin: f64) -> Vec<Touch> {
    let mut found = Vec::new();
    // where both are half-spaces or empty there is nothing to ask
    let apart = (a.1.translation.vector - b.1.translation.vector).norm();
    if apart > a.0.radius() + b.0.radius() + margin {
        return found;
    }
    let b_from_a = b.1.inv_mul(a.1);
    if let (Field::Cuboid { half: p }, Field::Cuboid { half: q }) = (a.0.field(), b.0.field()) {
        found.extend(cuboid_contacts(p, q, &b_from_a.inverse(), margin).map(|c| Touch {
            owner: Side::A,
            point: c.point,
            normal: Some(c.normal),
            distance: c.distance,
        }));
        return found;
    }
    if probes(a.0, b.0) {
        probe(Side::A, a.0, b.0.field(), &b_from_a, margin, &mut found);
    }
    if probes(b.0, a.0) && !(is_ball(a.0) && is_ball(b.0)) {
        probe(Side::B, b.0, a.0.field(), &b_from_a.inverse(), margin, &mut found);
    }
    found
}

fn probe(
    owner: Side,
    source: &Shape,
    field: &Field,
    map: &Isometry3<f64>,
    margin: f64,
    found: &mut Vec<Touch>,
) {
    let mut keep = |point, distance| found.push(Touch { owner, point, normal: None, distance });
    match source.probe() {
        Probe::None => {}
        Probe::Ball(radius) => {
            let centre = Point3::origin();
            let distance = field.distance(&(map * centre)) - radius;
            if distance < margin {
                keep(centre, distance);
            }
        }
        Probe::Points(tree) => tree.near(
            margin,
            |p| field.distance(&(map * p)),
            |_, point, distance| keep(*point, distance),
        ),
    }
}
