//! Distances of convex solids by their support functions.

use nalgebra::{Isometry3, Point3, Vector3};
use parry3d::math::{Pose, Rotation, Vector as TreeVector};
use parry3d::query::details::contact_support_map_support_map;
use parry3d::shape::SupportMap;

use crate::shape::Shape;
use crate::shape::field::Field;
use crate::shape::round::Round;

/// The Minkowski sum of a convex core and a ball, in body coordinates.
#[derive(Clone, Copy)]
pub(crate) struct Core<'a> {
    kind: Kind<'a>,
    /// Radius of the ball, m.
    margin: f64,
}

#[derive(Clone, Copy)]
enum Kind<'a> {
    Point,
    Rims(&'a Round),
    Corners(&'a [Point3<f64>]),
    Triangle([Point3<f64>; 3]),
}

/// Signed distance, normal and nearest point of two convex solids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    /// m, negative if they overlap.
    pub(crate) distance: f64,
    /// Unit normal out of the second solid, in coordinates of the second.
    pub(crate) normal: Vector3<f64>,
    /// The point of the second solid nearest to the first, in the second's coordinates.
    pub(crate) point: Point3<f64>,
}

impl<'a> Core<'a> {
    /// The convex parts of a shape; none for a half-space, a mesh, samples and the empty shape.
    pub(crate) fn parts(shape: &'a Shape) -> Vec<Self> {
        if shape.is_empty() {
            return Vec::new();
        }
        match (shape.field(), shape.compound()) {
            (Field::Ball { radius }, _) => vec![Self { kind: Kind::Point, margin: *radius }],
            (Field::Round(round), _) => {
                vec![Self { kind: Kind::Rims(round), margin: round.rounding() }]
            }
            (_, Some(compound)) => {
                let core = |corners| Self { kind: Kind::Corners(corners), margin: 0.0 };
                compound.parts.iter().map(|part| core(part.solid.corners())).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(crate) fn triangle(corners: [Point3<f64>; 3]) -> Self {
        Self { kind: Kind::Triangle(corners), margin: 0.0 }
    }

    /// Any point of the solid.
    pub(crate) fn some_point(&self) -> Point3<f64> {
        match &self.kind {
            Kind::Point => Point3::origin(),
            Kind::Rims(round) => {
                let [low, high] = round.rims();
                Point3::new(0.0, 0.5 * (low.height + high.height), 0.0)
            }
            Kind::Corners(corners) => mean(corners),
            Kind::Triangle(corners) => mean(corners),
        }
    }

    /// Support point of the core along a vector.
    fn farthest(&self, direction: &Vector3<f64>) -> Point3<f64> {
        match &self.kind {
            Kind::Point => Point3::origin(),
            Kind::Rims(round) => farthest_on_rims(round, direction),
            Kind::Corners(corners) => farthest_of(corners, direction),
            Kind::Triangle(corners) => farthest_of(corners, direction),
        }
    }

    /// The lowest point of the solid along a unit vector.
    pub(crate) fn lowest(&self, up: &Vector3<f64>) -> Point3<f64> {
        self.farthest(&-up) - up * self.margin
    }

    /// The gap to another solid. `map` takes coordinates of this one to those of the other.
    pub(crate) fn gap(&self, other: &Core<'_>, map: &Isometry3<f64>) -> Gap {
        let margins = self.margin + other.margin;
        let Some(found) = contact_support_map_support_map(&tree_pose(map), other, self, f64::MAX)
        else {
            // the distance is undefined only for overlaps
            let (point, own) = (other.some_point(), map * self.some_point());
            let normal = (own - point).try_normalize(0.0).unwrap_or_else(Vector3::y);
            return Gap { distance: -margins, normal, point };
        };
        let normal = Vector3::from(found.normal1.to_array());
        let point = Point3::from(Vector3::from(found.point1.to_array())) + normal * other.margin;
        Gap { distance: found.dist - margins, normal, point }
    }
}

impl SupportMap for Core<'_> {
    fn local_support_point(&self, dir: TreeVector) -> TreeVector {
        let direction = Vector3::from(dir.to_array());
        TreeVector::from_array(self.farthest(&direction).coords.into())
    }
}

fn mean(points: &[Point3<f64>]) -> Point3<f64> {
    let sum: Vector3<f64> = points.iter().map(|p| p.coords).sum();
    Point3::from(sum / points.len().max(1) as f64)
}

fn farthest_of(corners: &[Point3<f64>], direction: &Vector3<f64>) -> Point3<f64> {
    let mut best = (f64::NEG_INFINITY, Point3::origin());
    for corner in corners {
        let along = direction.dot(&corner.coords);
        if along > best.0 {
            best = (along, *corner);
        }
    }
    best.1
}

fn farthest_on_rims(round: &Round, direction: &Vector3<f64>) -> Point3<f64> {
    let across = (direction.x * direction.x + direction.z * direction.z).sqrt();
    let out = if across > 0.0 { [direction.x / across, direction.z / across] } else { [1.0, 0.0] };
    let [low, high] = round.rims();
    let reach = |rim: &crate::shape::round::Rim| rim.height * direction.y + rim.radius * across;
    let rim = if reach(high) > reach(low) { high } else { low };
    Point3::new(out[0] * rim.radius, rim.height, out[1] * rim.radius)
}

fn tree_pose(map: &Isometry3<f64>) -> Pose {
    let rotation = Rotation::from_array(map.rotation.coords.into());
    Pose::from_parts(TreeVector::from_array(map.translation.vector.into()), rotation)
}
