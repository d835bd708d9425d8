//! Contacts of solids of revolution. The minimum translation vector of two convex solids is sought among
//! the separating axes that their features propose: normals of faces and caps, and the gradients of the
//! signed distance where it is least along edges, rims and generators (Gottschalk, Lin and Manocha 1996
//! for polyhedra; the signed distance of a convex solid is convex, so each least is found by
//! bisection). Contacts are where the supporting features of both overlap along it.

use std::f64::consts::FRAC_1_SQRT_2;

use nalgebra::{Isometry3, Point3, Vector3};

use super::Round;
use super::polyhedral::AgainstPolyhedron;
use super::rounds::Rounds;
use crate::candidates::Candidate;
use crate::narrow::Side;
use crate::polyhedron::Polyhedron;
use crate::shape::{Field, Shape};

/// Share of the margin by which one separating axis must be better than one of a face or a cap, and by
/// which points beyond an edge still count as on it.
pub(super) const EVEN: f64 = 1e-6;

/// Keys of candidates on each part of a union of polyhedra.
const KEYS_OF_PART: u32 = 1 << 20;

/// Halvings of an interval, until its ends are one but for some rounding.
const HALVINGS: u32 = 40;

/// Contacts of `a` and `b` nearer than `margin`, if one of them is a solid of revolution and the other a
/// convex solid or a half-space; `None` if not. Two balls, or a ball and a solid of revolution, meet by
/// the signed distance of a centre.
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
        (Field::Round(round), _) => near_convex(Side::A, round, b, b_from_a, margin),
        (_, Field::Round(round)) => near_convex(Side::B, round, a, &b_from_a.inverse(), margin),
        _ => None,
    }
}

/// How far such bodies are apart, m, or `most` if no nearer; below zero the depth of the overlap.
pub(crate) fn least(a: &Shape, b: &Shape, b_from_a: &Isometry3<f64>, most: f64) -> Option<f64> {
    match (a.field(), b.field()) {
        (Field::Round(p), Field::Round(q)) => {
            let rounds = Rounds::new([p, q], &b_from_a.inverse());
            Some(rounds.separation(most).distance.min(most))
        }
        (Field::Round(round), _) => least_to_convex(round, b, b_from_a, most),
        (_, Field::Round(round)) => least_to_convex(round, a, &b_from_a.inverse(), most),
        _ => None,
    }
}

/// Contacts of `round`, which `owner` has, where `map` takes its coordinates to those of `other`.
fn near_convex(
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
    let reach = round.radius() + margin;
    let parts = other.compound()?.parts_near(map.translation.vector.into(), reach);
    let near = |(number, solid): (u32, &Polyhedron)| {
        let found = AgainstPolyhedron::new(owner, round, solid, map).near(margin);
        found.into_iter().map(move |c| Candidate { key: c.key + number * KEYS_OF_PART, ..c })
    };
    Some(parts.flat_map(near).collect())
}

fn least_to_convex(round: &Round, other: &Shape, map: &Isometry3<f64>, most: f64) -> Option<f64> {
    if let Field::HalfSpace = other.field() {
        let down = -map.inverse_transform_vector(&Vector3::y());
        return Some((map.translation.vector.y - round.reach(&down)).min(most));
    }
    let reach = round.radius() + most;
    let parts = other.compound()?.parts_near(map.translation.vector.into(), reach);
    Some(parts.fold(most, |least, (_, solid)| {
        let against = AgainstPolyhedron::new(Side::A, round, solid, map);
        against.separation(least).distance.min(least)
    }))
}

/// The part of the segment from `from` to `to` in the infinite cylinder of `radius` m about the y axis, as
/// shares of its length.
pub(super) fn in_column(from: &Point3<f64>, to: &Point3<f64>, radius: f64) -> Option<[f64; 2]> {
    let way = to - from;
    let square = way.x * way.x + way.z * way.z;
    let linear = from.x * way.x + from.z * way.z;
    let constant = from.x * from.x + from.z * from.z - radius * radius;
    if square <= 0.0 {
        return (constant <= 0.0).then_some([0.0, 1.0]);
    }
    let root = linear * linear - square * constant;
    if root < 0.0 {
        return None;
    }
    let [low, high] = [-1.0, 1.0].map(|sign| (sign * root.sqrt() - linear) / square);
    (high >= 0.0 && low <= 1.0).then_some([low.max(0.0), high.min(1.0)])
}

/// Where along the segment from `from`, which leads `along`, the signed distance that `ask` tells with
/// its gradient is the least: the share of the length, and the gradient there. It is across the
/// segment but at an end.
pub(super) fn least_along(
    from: &Point3<f64>,
    along: &Vector3<f64>,
    ask: impl Fn(&Point3<f64>) -> Vector3<f64>,
) -> (f64, Vector3<f64>) {
    let gradient = |share: f64| ask(&(from + along * share));
    let mut ends = [(0.0, gradient(0.0)), (1.0, gradient(1.0))];
    if ends[0].1.dot(along) >= 0.0 {
        return ends[0];
    }
    if ends[1].1.dot(along) <= 0.0 {
        return ends[1];
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (ends[0].0 + ends[1].0);
        let normal = gradient(middle);
        ends[usize::from(normal.dot(along) >= 0.0)] = (middle, normal);
    }
    (ends[0].0, across([ends[0].1, ends[1].1], along))
}

/// The unit vector between the gradients on both sides of a least along `way` that is across that: where
/// the distance bends there, neither is normal to both solids.
fn across([low, high]: [Vector3<f64>; 2], way: &Vector3<f64>) -> Vector3<f64> {
    let [falls, rises] = [low, high].map(|normal| normal.dot(way));
    (low * rises - high * falls).try_normalize(0.0).unwrap_or(low)
}

/// The gradients of a signed distance where it is least around the y axis, one for each such place. `ask`
/// is given a direction across the axis and tells the distance, its gradient and the tangent, by the
/// angle from x to z.
pub(super) fn least_around(
    ask: impl Fn(&[f64; 2]) -> (f64, Vector3<f64>, Vector3<f64>),
) -> Vec<Vector3<f64>> {
    const TRIES: usize = 16;
    let eighths = [[1.0, 0.0], [FRAC_1_SQRT_2; 2], [0.0, 1.0], [-FRAC_1_SQRT_2, FRAC_1_SQRT_2]];
    let tries: [[f64; 2]; TRIES] = std::array::from_fn(|n| {
        let turn = |n: usize| {
            let [x, z] = eighths[n % 4];
            if n % 8 < 4 { [x, z] } else { [-x, -z] }
        };
        if n % 2 == 0 { turn(n / 2) } else { between(&turn(n / 2), &turn(n / 2 + 1)) }
    });
    let values = tries.map(|way| ask(&way).0);
    let beside = |n: usize| [(n + TRIES - 1) % TRIES, (n + 1) % TRIES];
    let is_least = |n: &usize| {
        let [before, after] = beside(*n).map(|n| values[n]);
        values[*n] < before && values[*n] <= after
    };
    let least = |n: usize| {
        let mut ends = beside(n).map(|n| tries[n]);
        let mut normals = ends.map(|way| ask(&way).1);
        let mut tangent = Vector3::zeros();
        for _ in 0..HALVINGS {
            let middle = between(&ends[0], &ends[1]);
            let (_, normal, along) = ask(&middle);
            let end = usize::from(normal.dot(&along) >= 0.0);
            (ends[end], normals[end], tangent) = (middle, normal, along);
        }
        across(normals, &tangent)
    };
    (0..TRIES).filter(is_least).map(least).collect()
}

/// The direction in the middle of two that are less than half a turn apart.
fn between(p: &[f64; 2], q: &[f64; 2]) -> [f64; 2] {
    let (x, z) = (p[0] + q[0], p[1] + q[1]);
    let length = (x * x + z * z).sqrt();
    if length > 0.0 { [x / length, z / length] } else { *p }
}
