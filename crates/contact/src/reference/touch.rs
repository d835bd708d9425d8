//! All contact points of two bodies.

use nalgebra::{Point3, Vector3};

use super::cuboids::cuboid_contacts;
use crate::narrow::candidate::{Candidate, Side};
use crate::narrow::posed::Posed;
use crate::shape::field::Field;

/// The points of each body that are nearer than `margin` to the other, unordered.
pub(super) fn touches(posed: Posed<'_>, margin: f64) -> Vec<Candidate> {
    let Posed { shapes: [p, q], poses: [a, b] } = posed;
    // two half-spaces or empty shapes have no points
    let apart = (a.translation.vector - b.translation.vector).norm();
    if apart > p.radius() + q.radius() + margin {
        return Vec::new();
    }
    match (p.field(), q.field()) {
        (Field::Cuboid { half: p }, Field::Cuboid { half: q }) => {
            cuboid_contacts(p, q, &a.inv_mul(b), margin).collect()
        }
        (Field::Cuboid { .. }, Field::HalfSpace) => points_below(Side::A, posed, margin),
        (Field::HalfSpace, Field::Cuboid { .. }) => points_below(Side::B, posed, margin),
        _ => match posed.compounds() {
            Some(compounds) => compounds.near_by_faces(margin),
            None => posed.candidates(margin, &mut 0),
        },
    }
}

/// The surface points of a box less than `margin` m above a half-space. A mesh is tested with the
/// same points, so that boxes slide alike on both.
fn points_below(owner: Side, posed: Posed<'_>, margin: f64) -> Vec<Candidate> {
    let [own, floor] = owner.order();
    let map = posed.poses[floor].inv_mul(posed.poses[own]);
    let candidate = |(key, &point): (u32, &Point3<f64>)| {
        let (distance, normal) = ((map * point).y, Some(Vector3::y()));
        Candidate { owner, point, normal, key, distance }
    };
    let all = (0..).zip(posed.shapes[own].points()).map(candidate);
    all.filter(|candidate| candidate.distance < margin).collect()
}
