//! Contacts of solids of revolution. The minimum translation vector of two convex solids is sought
//! among separating axes of their features: normals of faces and caps, and the gradients of the
//! signed distance at its minima along edges, rims and generators (Gottschalk, Lin and Manocha 1996
//! for polyhedra; the signed distance of a convex solid is convex, so bisection finds each
//! minimum). Contacts are where the supporting features of both solids overlap along it.
//! Against triangles, contacts are local minima of the signed distance over their surface.

use nalgebra::{Isometry3, Point3, Vector3};

use super::polyhedral::AgainstPolyhedron;
use super::rounds::Rounds;
use super::triangular::AgainstTriangles;
use crate::narrow::candidate::{Candidate, Side};
use crate::shape::Shape;
use crate::shape::field::Field;
use crate::shape::polyhedron::Polyhedron;
use crate::shape::round::Round;

/// Keys per part of a union of polyhedra.
const KEYS_OF_PART: u32 = 1 << 20;

/// Contacts of `a` and `b` nearer than `margin`, if one is a solid of revolution and the other a
/// convex solid, a half-space or a solid with a surface of triangles; else `None`. Two balls, or a
/// ball and a solid of revolution, use the signed distance of a center.
pub(crate) fn near(
    a: &Shape,
    b: &Shape,
    b_from_a: &Isometry3<f64>,
    margin: f64,
) -> Option<Vec<Candidate>> {
    match (a.field(), b.field()) {
        (Field::Round(p), Field::Round(q)) => {
            let rounds = Rounds::new([p, q], &b_from_a.inverse());
            Some(rounds.near(margin))
        }
        (Field::Round(round), _) => near_other(Side::A, round, b, b_from_a, margin),
        (_, Field::Round(round)) => near_other(Side::B, round, a, &b_from_a.inverse(), margin),
        _ => None,
    }
}

/// The signed distance of such bodies, m, at most `most`; negative for a depth.
pub(crate) fn least(a: &Shape, b: &Shape, b_from_a: &Isometry3<f64>, most: f64) -> Option<f64> {
    match (a.field(), b.field()) {
        (Field::Round(p), Field::Round(q)) => {
            let rounds = Rounds::new([p, q], &b_from_a.inverse());
            Some(rounds.separation(most).distance.min(most))
        }
        (Field::Round(round), _) => least_to_other(round, b, b_from_a, most),
        (_, Field::Round(round)) => least_to_other(round, a, &b_from_a.inverse(), most),
        _ => None,
    }
}

/// Contacts of `round`, which belongs to `owner`. `map` takes its coordinates to those of `other`.
fn near_other(
    owner: Side,
    round: &Round,
    other: &Shape,
    map: &Isometry3<f64>,
    margin: f64,
) -> Option<Vec<Candidate>> {
    if let Field::HalfSpace = other.field() {
        let normal = Vector3::y();
        let down = -map.inverse_transform_vector(&normal);
        let candidate = |(key, point): (u32, Point3<f64>)| Candidate {
            owner,
            point,
            normal: Some(normal),
            key,
            distance: (map * point).y,
        };
        let all = round.around(&down).map(candidate);
        return Some(all.filter(|c| c.distance < margin).collect());
    }
    if let Some(triangles) = other.triangles() {
        return Some(AgainstTriangles::new(owner, round, triangles, map).near(margin));
    }
    let reach = round.radius() + margin;
    let parts = other.compound()?.parts_near(map.translation.vector.into(), reach);
    let near = |(number, solid): (u32, &Polyhedron)| {
        let found = AgainstPolyhedron::new(owner, round, solid, map).near(margin);
        found.into_iter().map(move |c| Candidate { key: c.key + number * KEYS_OF_PART, ..c })
    };
    Some(parts.flat_map(near).collect())
}

fn least_to_other(round: &Round, other: &Shape, map: &Isometry3<f64>, most: f64) -> Option<f64> {
    if let Field::HalfSpace = other.field() {
        let down = -map.inverse_transform_vector(&Vector3::y());
        return Some((map.translation.vector.y - round.reach(&down)).min(most));
    }
    if let Some(triangles) = other.triangles() {
        return Some(AgainstTriangles::new(Side::A, round, triangles, map).distance(most));
    }
    let reach = round.radius() + most;
    let parts = other.compound()?.parts_near(map.translation.vector.into(), reach);
    Some(parts.fold(most, |least, (_, solid)| {
        let against = AgainstPolyhedron::new(Side::A, round, solid, map);
        against.separation(least).distance.min(least)
    }))
}
