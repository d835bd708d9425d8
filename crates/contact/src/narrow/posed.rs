//! Two bodies at given poses: their signed distance and their contacts.

use nalgebra::{Isometry3, Point3, Vector3};

use crate::narrow::broad::turned;
use crate::narrow::candidate::{Candidate, Found, Side};
use crate::shape::{Probe, Shape};

/// Two bodies at given poses.
#[derive(Clone, Copy)]
pub(crate) struct Posed<'a> {
    pub(crate) shapes: [&'a Shape; 2],
    pub(crate) poses: [&'a Isometry3<f64>; 2],
}

/// A contact in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// The body that owns the contact point.
    pub(crate) owner: Side,
    /// Lever arm from the owner's center of mass to the contact point, m.
    pub(crate) arm: Vector3<f64>,
    /// Position of the contact point, m.
    pub(crate) place: Point3<f64>,
    /// Unit normal out of the second body.
    pub(crate) normal: Vector3<f64>,
}

impl Spot {
    /// Lever arms from both centers of mass to the contact point, m, with the bodies at these
    /// poses.
    pub(crate) fn arms(&self, poses: [&Isometry3<f64>; 2]) -> [Vector3<f64>; 2] {
        poses.map(|pose| self.place.coords - pose.translation.vector)
    }

    /// The contact point in coordinates of both bodies, m.
    pub(crate) fn at(&self, poses: [&Isometry3<f64>; 2]) -> [Point3<f64>; 2] {
        poses.map(|pose| pose.inverse_transform_point(&self.place))
    }
}

impl<'a> Posed<'a> {
    /// At most four contacts with gaps up to `reach` m, chosen among points nearer than `margin` m.
    pub(crate) fn contacts(&self, margin: f64, reach: f64) -> Vec<Found> {
        if self.are_boxes_apart(reach) {
            return Vec::new();
        }
        let near = self.candidates(margin, &mut 0);
        let kept = self.reduce(&near, margin).into_iter();
        kept.filter(|c| c.distance <= reach).map(|c| self.found(c)).collect()
    }

    /// At most four contacts with gaps up to `slop` m. If `is_met`, contacts with gaps up to that
    /// of the nearest one plus `slop`, if that is nearer than `margin` m.
    pub(crate) fn touching(&self, margin: f64, slop: f64, is_met: bool) -> Vec<Found> {
        if self.are_boxes_apart(if is_met { margin } else { slop }) {
            return Vec::new();
        }
        let mut near = self.candidates(margin, &mut 0);
        let least = near.iter().map(|c| c.distance).fold(f64::INFINITY, f64::min);
        let reach = slop + if is_met { least.max(0.0) } else { 0.0 };
        near.retain(|c| c.distance <= reach);
        self.reduce(&near, margin).into_iter().map(|c| self.found(c)).collect()
    }

    /// Adds the normal to a candidate.
    pub(crate) fn found(&self, candidate: &Candidate) -> Found {
        let Candidate { owner, key, point, distance, normal } = *candidate;
        let [own, other] = owner.order();
        let asked = || {
            let place = self.poses[other].inverse_transform_point(&(self.poses[own] * point));
            self.shapes[other].field().normal(&place)
        };
        Found { owner, key, point, normal: normal.unwrap_or_else(asked), distance }
    }

    /// The contact in the world, on the surface of its owner.
    pub(crate) fn spot(&self, found: &Found) -> Spot {
        let [own, other] = found.owner.order();
        let outward = self.poses[other] * found.normal;
        let mut arm = self.poses[own].rotation * found.point.coords;
        if let Probe::Ball(radius) = self.shapes[own].probe() {
            arm -= outward * *radius;
        }
        let place = Point3::from(self.poses[own].translation.vector + arm);
        Spot { owner: found.owner, arm, place, normal: outward * found.owner.sign() }
    }

    /// Whether the boxes of the bodies are more than `reach` m apart, in coordinates of either.
    fn are_boxes_apart(&self, reach: f64) -> bool {
        if self.shapes.iter().any(|shape| !shape.radius().is_finite()) {
            return false;
        }
        let apart = |own: usize, other: usize| {
            let map = self.poses[other].inv_mul(self.poses[own]);
            let (own, other) =
                (turned(self.shapes[own].bounds(), &map), self.shapes[other].bounds());
            let beyond =
                |k: usize| own.min[k] - other.max[k] > reach || other.min[k] - own.max[k] > reach;
            (0..3).any(beyond)
        };
        apart(0, 1) || apart(1, 0)
    }
}
