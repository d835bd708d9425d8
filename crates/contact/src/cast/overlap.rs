//! Overlap tests and nearest points.

use nalgebra::{Isometry3, Point3};

use crate::Triangles;
use crate::cast::core::Core;
use crate::cast::ray::Impact;
use crate::cast::sweep::{Placed, apart, point_behind_mesh};
use crate::narrow::posed::Posed;
use crate::shape::Shape;
use crate::shape::field::Field;

/// Steps from a point to the surface of a sampled solid.
const STEPS: usize = 16;

impl Shape {
    /// Whether this solid at `pose` overlaps or touches another. Exact, except for samples, to
    /// their accuracy, and tetrahedra, by their vertices. Half-spaces and meshes do not overlap
    /// each other, and shapes that are not [usable](Shape::is_usable) overlap nothing.
    pub fn overlaps(
        &self,
        pose: &Isometry3<f64>,
        (other, place): (&Shape, &Isometry3<f64>),
    ) -> bool {
        [self, other].iter().all(|shape| !shape.is_empty() && shape.is_usable())
            && overlap((self, pose), (other, place))
    }

    /// Penetration depth of this solid at `pose` and another, m: the length of the minimum
    /// translation vector of two convex solids. For unions of convex solids it is that of the
    /// deepest pair of parts; for samples, tetrahedra and meshes the depth of the deepest point.
    /// Zero if the solids are apart, for pairs of half-spaces or meshes, and for shapes that are not
    /// [usable](Shape::is_usable).
    pub fn penetration(
        &self,
        pose: &Isometry3<f64>,
        (other, place): (&Shape, &Isometry3<f64>),
    ) -> f64 {
        if [self, other].iter().any(|shape| shape.is_empty() || !shape.is_usable()) {
            return 0.0;
        }
        depth((self, pose), (other, place)).max(0.0)
    }

    /// The nearest point of the surface to a point, both in body coordinates, with the signed
    /// distance there, m, negative inside. Inside a union of convex solids it is that of one part;
    /// for samples it is approximate.
    pub fn nearest_point(&self, p: &Point3<f64>) -> Impact {
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
            return Impact { distance, point, normal: field.normal(&point) };
        }
        let normal = field.normal(p);
        Impact { distance: value, point: p - normal * value, normal }
    }
}

fn overlap(a: Placed<'_>, b: Placed<'_>) -> bool {
    match (a.0.field(), b.0.field()) {
        (Field::Grid { .. } | Field::Tets(_), _) | (_, Field::Grid { .. } | Field::Tets(_)) => {
            apart(a, b, 0.0) <= 0.0
        }
        (Field::HalfSpace | Field::Mesh(_), Field::HalfSpace | Field::Mesh(_)) => false,
        (Field::HalfSpace | Field::Mesh(_), _) => overlap(b, a),
        (_, Field::HalfSpace) => {
            let map = b.1.inv_mul(a.1);
            let up = map.rotation.inverse() * nalgebra::Vector3::y();
            Core::parts(a.0).iter().any(|part| (map * part.lowest(&up)).y <= 0.0)
        }
        (_, Field::Mesh(mesh)) => overlaps_mesh(a.0, mesh, &b.1.inv_mul(a.1)),
        (Field::Ball { radius }, field) => {
            let center = b.1.inverse_transform_point(&a.1.translation.vector.into());
            field.distance(&center) <= *radius
        }
        (_, Field::Ball { .. }) => overlap(b, a),
        _ => {
            let (map, others) = (b.1.inv_mul(a.1), Core::parts(b.0));
            let meets = |part: &Core<'_>| others.iter().any(|o| part.gap(o, &map).distance <= 0.0);
            Core::parts(a.0).iter().any(meets)
        }
    }
}

/// Depth of an overlap, m, negative or zero for solids apart.
fn depth(a: Placed<'_>, b: Placed<'_>) -> f64 {
    match (a.0.field(), b.0.field()) {
        (Field::HalfSpace | Field::Mesh(_), Field::HalfSpace | Field::Mesh(_)) => 0.0,
        (Field::Grid { .. } | Field::Tets(_) | Field::Mesh(_), _)
        | (_, Field::Grid { .. } | Field::Tets(_) | Field::Mesh(_)) => {
            let posed = Posed { shapes: [a.0, b.0], poses: [a.1, b.1] };
            -posed.distance((0.0, f64::NEG_INFINITY), &mut 0)
        }
        (Field::HalfSpace, _) => depth(b, a),
        (_, Field::HalfSpace) => {
            let map = b.1.inv_mul(a.1);
            let up = map.rotation.inverse() * nalgebra::Vector3::y();
            let depths = Core::parts(a.0).into_iter().map(|part| -(map * part.lowest(&up)).y);
            depths.fold(0.0, f64::max)
        }
        _ => {
            let (map, others) = (b.1.inv_mul(a.1), Core::parts(b.0));
            let of = |part: &Core<'_>| {
                others.iter().map(|o| -part.gap(o, &map).distance).fold(0.0, f64::max)
            };
            Core::parts(a.0).iter().map(of).fold(0.0, f64::max)
        }
    }
}

fn overlaps_mesh(shape: &Shape, mesh: &Triangles, map: &Isometry3<f64>) -> bool {
    let parts = Core::parts(shape);
    let meets = |triangle: u32| {
        let corners = Core::triangle(mesh.mesh().corners(triangle as usize));
        parts.iter().any(|part| part.gap(&corners, map).distance <= 0.0)
    };
    point_behind_mesh(&parts, mesh, map).is_some() || mesh.in_box(&shape.bounds_at(map)).any(meets)
}
