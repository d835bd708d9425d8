//! Surface points of two bodies that are near the other.

use nalgebra::{Isometry3, Point3, Vector3};

use crate::cuboids::{CuboidContact, cuboid_contacts};
use crate::narrow::Side;
use crate::query::Query;
use crate::shape::{Field, Probe, Shape};

/// Contacts kept per pair: the deepest and those that span the area best.
const MOST: usize = 4;

/// A surface point near the other body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) owner: Side,
    /// In the owner's body coordinates.
    pub(crate) point: Point3<f64>,
    /// Normal out of the other, in its coordinates, where it is known already.
    pub(crate) normal: Option<Vector3<f64>>,
    pub(crate) key: u32,
    pub(crate) distance: f64,
}

/// The points of each body that are nearer than `margin` to the other, with the bodies where they
/// are given. Adds to `tested` how many were asked.
pub(crate) fn candidates(
    (shape_a, pose_a): (&Shape, &Isometry3<f64>),
    (shape_b, pose_b): (&Shape, &Isometry3<f64>),
    margin: f64,
    tested: &mut usize,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    let b_from_a = pose_b.inv_mul(pose_a);
    if let (Field::Cuboid { half: a }, Field::Cuboid { half: b }) =
        (shape_a.field(), shape_b.field())
    {
        let candidate = |c: CuboidContact| Candidate {
            owner: Side::A,
            point: c.point,
            normal: Some(c.normal),
            key: c.key,
            distance: c.distance,
        };
        return cuboid_contacts(a, b, &b_from_a.inverse(), margin).map(candidate).collect();
    }
    if probes(shape_a, shape_b) {
        *tested += probe(Side::A, shape_a, shape_b.field(), &b_from_a, margin, &mut found);
    }
    if probes(shape_b, shape_a) && !(is_ball(shape_a) && is_ball(shape_b)) {
        let map = b_from_a.inverse();
        *tested += probe(Side::B, shape_b, shape_a.field(), &map, margin, &mut found);
    }
    found
}

/// What was near in one position of a pair, to be asked again in others not far from it.
pub(crate) enum NearPoints {
    /// Points of sampled surfaces, the nearest first.
    Sampled(Vec<Candidate>),
    /// Other bodies touch at places that depend on how they lie; whether any were near.
    Exact(bool),
}

/// Two shapes and their poses.
type Placed<'p> = ([&'p Shape; 2], [&'p Isometry3<f64>; 2]);

impl NearPoints {
    pub(crate) fn new([a, b]: [&Shape; 2], mut near: Vec<Candidate>) -> Self {
        let exact = matches!((a.field(), b.field()), (Field::Cuboid { .. }, Field::Cuboid { .. }));
        if exact || is_ball(a) || is_ball(b) {
            return Self::Exact(!near.is_empty());
        }
        near.sort_unstable_by(|p, q| p.distance.total_cmp(&q.distance));
        Self::Sampled(near)
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Sampled(points) => points.is_empty(),
            Self::Exact(any) => !any,
        }
    }

    /// The least distance, m, where none has become smaller by more than `gained` and what was
    /// farther off than `reach` was left out.
    pub(crate) fn least(
        &self,
        (shapes, poses): Placed<'_>,
        gained: f64,
        reach: f64,
        tested: &mut usize,
    ) -> f64 {
        let mut least = reach - gained;
        match self {
            Self::Sampled(points) => {
                let [of_a, of_b] = queries((shapes, poses));
                for point in points {
                    if point.distance - gained >= least {
                        break;
                    }
                    *tested += 1;
                    let query = if point.owner == Side::A { &of_b } else { &of_a };
                    least = query.within(&point.point, least).map_or(least, |d| d.min(least));
                }
            }
            Self::Exact(_) => {
                let ([a, b], [x, y]) = (shapes, poses);
                let near = candidates((a, x), (b, y), least, tested);
                least = near.iter().map(|c| c.distance).fold(least, f64::min);
            }
        }
        least
    }

    /// What is nearer than `margin`, with the same meaning of `gained`.
    pub(crate) fn within(
        &self,
        (shapes, poses): Placed<'_>,
        gained: f64,
        margin: f64,
        tested: &mut usize,
    ) -> Vec<Candidate> {
        let Self::Sampled(points) = self else {
            let ([a, b], [x, y]) = (shapes, poses);
            return candidates((a, x), (b, y), margin, tested);
        };
        let [of_a, of_b] = queries((shapes, poses));
        let mut found = Vec::new();
        for near in points.iter().take_while(|p| p.distance - gained < margin) {
            *tested += 1;
            let query = if near.owner == Side::A { &of_b } else { &of_a };
            if let Some(distance) = query.within(&near.point, margin).filter(|&d| d < margin) {
                found.push(Candidate { distance, ..*near });
            }
        }
        found.sort_unstable_by_key(|c| (c.owner == Side::B, c.key));
        found
    }
}

/// The fields of both bodies, as seen from the other.
fn queries<'p>(([a, b], [x, y]): Placed<'p>) -> [Query<'p>; 2] {
    let b_from_a = y.inv_mul(x);
    [Query::new(a.field(), &b_from_a.inverse()), Query::new(b.field(), &b_from_a)]
}

fn is_ball(shape: &Shape) -> bool {
    matches!(shape.probe(), Probe::Ball(_))
}

/// Whether `source`'s probe is asked of `target`. A ball's centre is exact against analytic
/// fields, while the sampled distance outside a fragment is only a lower bound: there the
/// fragment's points are asked of the ball instead, unless the ball would slip between them.
fn probes(source: &Shape, target: &Shape) -> bool {
    match (source.probe(), target.field()) {
        (Probe::None, _) => false,
        (Probe::Ball(radius), Field::Grid { level_set, .. }) => {
            *radius < 2.0 * level_set.grid().spacing()
        }
        (Probe::Ball(_), _) => true,
        (Probe::Points(_), Field::Ball { .. }) => matches!(source.field(), Field::Grid { .. }),
        (Probe::Points(_), _) => true,
    }
}

/// Returns how many points were asked.
fn probe(
    owner: Side,
    source: &Shape,
    field: &Field,
    map: &Isometry3<f64>,
    margin: f64,
    found: &mut Vec<Candidate>,
) -> usize {
    let query = Query::new(field, map);
    match source.probe() {
        Probe::None => 0,
        Probe::Ball(radius) => {
            let asked = map * Point3::origin();
            if let Field::Mesh(triangles) = field {
                let facing = triangles.facing(&asked, radius + margin);
                found.extend(facing.into_iter().map(|f| Candidate {
                    owner,
                    point: Point3::origin(),
                    normal: Some(f.normal),
                    key: f.key,
                    distance: f.distance - radius,
                }));
                return 1;
            }
            let distance = query.distance(&Point3::origin()) - radius;
            if distance < margin {
                let point = Point3::origin();
                found.push(Candidate { owner, point, normal: None, key: 0, distance });
            }
            1
        }
        Probe::Points(tree) => tree.near(
            margin,
            |p, limit| query.within(p, limit),
            |key, p, distance| {
                found.push(Candidate { owner, point: *p, normal: None, key, distance });
            },
        ),
    }
}

/// The deepest candidate, then those farthest from the chosen ones, nearer gaps preferred.
pub(crate) fn reduce<'c>(
    candidates: &'c [Candidate],
    margin: f64,
    pose_a: &Isometry3<f64>,
    pose_b: &Isometry3<f64>,
) -> Vec<&'c Candidate> {
    // a ball meets all sides of a groove with its one point
    let turned = |c: &Candidate| c.normal.map_or_else(Vector3::zeros, |n| n * margin);
    let place = |c: &Candidate| match c.owner {
        Side::A => pose_a * c.point + pose_b * turned(c),
        Side::B => pose_b * c.point + pose_a * turned(c),
    };
    let Some(deepest) = candidates.iter().min_by(|p, q| p.distance.total_cmp(&q.distance)) else {
        return Vec::new();
    };
    let weight = |c: &Candidate| {
        let range = margin - deepest.distance;
        if range > 0.0 { (margin - c.distance) / range } else { 1.0 }
    };
    let mut chosen = vec![deepest];
    let mut spread: Vec<f64> = vec![f64::INFINITY; candidates.len()];
    while chosen.len() < MOST {
        let last = place(chosen[chosen.len() - 1]);
        let mut best = (0.0, None);
        for (c, nearest) in candidates.iter().zip(&mut spread) {
            *nearest = nearest.min((place(c) - last).norm_squared());
            let score = *nearest * weight(c).powi(2);
            if score > best.0 {
                best = (score, Some(c));
            }
        }
        let Some(next) = best.1 else { break };
        chosen.push(next);
    }
    chosen
}
