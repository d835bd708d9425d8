//! Contacts of two bodies where they are.

use nalgebra::{Isometry3, Point3, Vector3};

use super::broad::turned;
use super::candidate::{Candidate, Side};
use super::candidates::{candidates, reduce};
use super::contacts::MARGIN;
use crate::shape::{Probe, Shape};

/// A contact of two bodies at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// The body whose point it is.
    pub(crate) owner: Side,
    /// From the centers of mass of both bodies, m.
    pub(crate) arms: [Vector3<f64>; 2],
    /// In body coordinates of both, m.
    pub(crate) at: [Point3<f64>; 2],
    /// Out of the second body.
    pub(crate) normal: Vector3<f64>,
}

/// The contacts of two bodies that are no farther apart than `reach` m.
pub(crate) fn spots(shapes: [&Shape; 2], poses: [&Isometry3<f64>; 2], reach: f64) -> Vec<Spot> {
    let margin = MARGIN * shapes[0].size().min(shapes[1].size());
    let [a, b] = [0, 1].map(|n| (shapes[n], poses[n]));
    if are_apart(a, b, reach) || are_apart(b, a, reach) {
        return Vec::new();
    }
    let found = candidates(a, b, margin, &mut 0);
    let spot = |candidate: &&Candidate| {
        let (own, other, sign) = match candidate.owner {
            Side::A => (a, b, 1.0),
            Side::B => (b, a, -1.0),
        };
        let asked =
            || other.0.field().normal(&other.1.inv_mul(own.1).transform_point(&candidate.point));
        let outward = other.1 * candidate.normal.unwrap_or_else(asked);
        let mut place = own.1 * candidate.point;
        if let Probe::Ball(radius) = own.0.probe() {
            place -= outward * *radius;
        }
        let arms = poses.map(|pose| place.coords - pose.translation.vector);
        let at = poses.map(|pose| pose.inverse_transform_point(&place));
        Spot { owner: candidate.owner, arms, at, normal: outward * sign }
    };
    let kept = reduce(&found, margin, poses[0], poses[1]);
    kept.iter().filter(|candidate| candidate.distance <= reach).map(spot).collect()
}

/// Whether the box of a body is farther than `margin` from the box of another one, in coordinates of that one.
fn are_apart(
    (shape, pose): (&Shape, &Isometry3<f64>),
    (other, place): (&Shape, &Isometry3<f64>),
    margin: f64,
) -> bool {
    if !shape.radius().is_finite() || !other.radius().is_finite() {
        return false;
    }
    let (own, other) = (turned(shape.bounds(), &place.inv_mul(pose)), other.bounds());
    let beyond =
        |k: usize| own.min[k] - other.max[k] > margin || other.min[k] - own.max[k] > margin;
    (0..3).any(beyond)
}
