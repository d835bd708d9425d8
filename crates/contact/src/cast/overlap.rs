//! Overlap tests and nearest points.

use nalgebra::{Isometry3, Point3, Vector3};

use crate::Triangles;
use crate::cast::core::Core;
use crate::cast::placed::PlacedShape;
use crate::cast::ray::ShapeHit;
use crate::cast::sweep::{apart, point_behind_mesh};
use crate::shape::Shape;
use crate::shape::field::Field;

/// Steps from a point to the surface of a sampled solid.
const STEPS: usize = 16;

impl PlacedShape<'_> {
    /// Whether this solid overlaps or touches another. Exact, except for samples, to
    /// their accuracy, and tetrahedra, by their vertices. Half-spaces and meshes do not overlap
    /// each other, and shapes that are not [usable](Shape::is_usable) overlap nothing.
    pub fn overlaps(&self, other: &PlacedShape<'_>) -> bool {
        self.is_solid() && other.is_solid() && overlap(*self, *other)
    }

    /// Penetration depth of this solid and another, m: the length of the minimum
    /// translation vector of two convex solids. For unions of convex solids it is that of the
    /// deepest pair of parts; for samples, tetrahedra and meshes the depth of the deepest point.
    /// Zero if the solids are apart, for pairs of half-spaces or meshes, and for shapes that are not
    /// [usable](Shape::is_usable).
    pub fn penetration(&self, other: &PlacedShape<'_>) -> f64 {
        if self.is_solid() && other.is_solid() { depth(*self, *other).max(0.0) } else { 0.0 }
    }
}

impl Shape {
    /// The nearest point of the surface to a point, both in body coordinates, with the signed
    /// distance there, m, negative inside. Inside a union of convex solids it is that of one part;
    /// for samples it is approximate.
    pub fn nearest_point(&self, p: &Point3<f64>) -> ShapeHit {
        let field = self.field();
        let (mut point, value) = (*p, field.distance(p));
        if let Field::Grid { level_set, .. } = field {
            let enough = 1e-6 * level_set.grid().spacing();
            for _ in 0..STEPS {
                let off = field.distance(&point);
                point -= field.normal(&point) * off;
                if off.abs() <= enough {
                    break;
                }
            }
            let distance = (point - p).norm().copysign(value);
            return ShapeHit { distance, point, normal: field.normal(&point) };
        }
        let normal = field.normal(p);
        ShapeHit { distance: value, point: p - normal * value, normal }
    }
}

fn overlap(a: PlacedShape<'_>, b: PlacedShape<'_>) -> bool {
    match (a.shape.field(), b.shape.field()) {
        (Field::Grid { .. } | Field::Tets(_), _) | (_, Field::Grid { .. } | Field::Tets(_)) => {
            apart(a, b, 0.0) <= 0.0
        }
        (Field::HalfSpace | Field::Mesh(_), Field::HalfSpace | Field::Mesh(_)) => false,
        (Field::HalfSpace | Field::Mesh(_), _) => overlap(b, a),
        (_, Field::HalfSpace) => depths_in_half_space(a, b).into_iter().any(|depth| depth >= 0.0),
        (_, Field::Mesh(mesh)) => overlaps_mesh(a.shape, mesh, &a.seen_from(b.pose)),
        (Field::Ball { radius }, field) => {
            let center = a.seen_from(b.pose) * Point3::origin();
            field.distance(&center) <= *radius
        }
        (_, Field::Ball { .. }) => overlap(b, a),
        _ => {
            let (map, others) = (a.seen_from(b.pose), Core::parts(b.shape));
            let meets = |part: &Core<'_>| others.iter().any(|o| part.gap(o, &map).distance <= 0.0);
            Core::parts(a.shape).iter().any(meets)
        }
    }
}

/// Depth of an overlap, m, negative or zero for solids apart.
fn depth(a: PlacedShape<'_>, b: PlacedShape<'_>) -> f64 {
    match (a.shape.field(), b.shape.field()) {
        (Field::HalfSpace | Field::Mesh(_), Field::HalfSpace | Field::Mesh(_)) => 0.0,
        (Field::Grid { .. } | Field::Tets(_) | Field::Mesh(_), _)
        | (_, Field::Grid { .. } | Field::Tets(_) | Field::Mesh(_)) => {
            -a.with(&b).distance(0.0, f64::NEG_INFINITY, &mut 0)
        }
        (Field::HalfSpace, _) => depth(b, a),
        (_, Field::HalfSpace) => depths_in_half_space(a, b).into_iter().fold(0.0, f64::max),
        _ => {
            let (map, others) = (a.seen_from(b.pose), Core::parts(b.shape));
            let of = |part: &Core<'_>| {
                others.iter().map(|o| -part.gap(o, &map).distance).fold(0.0, f64::max)
            };
            Core::parts(a.shape).iter().map(of).fold(0.0, f64::max)
        }
    }
}

/// Depths of the convex parts of `a` in the half-space `b`, m.
fn depths_in_half_space(a: PlacedShape<'_>, b: PlacedShape<'_>) -> Vec<f64> {
    let map = a.seen_from(b.pose);
    let up = map.rotation.inverse() * Vector3::y();
    Core::parts(a.shape).iter().map(|part| -(map * part.lowest(&up)).y).collect()
}

fn overlaps_mesh(shape: &Shape, mesh: &Triangles, map: &Isometry3<f64>) -> bool {
    let parts = Core::parts(shape);
    let meets = |triangle: u32| {
        let corners = Core::triangle(mesh.mesh().corners(triangle as usize));
        parts.iter().any(|part| part.gap(&corners, map).distance <= 0.0)
    };
    point_behind_mesh(&parts, mesh, map).is_some() || mesh.in_box(&shape.bounds_at(map)).any(meets)
}
