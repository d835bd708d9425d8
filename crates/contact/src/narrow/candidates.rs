//! Contact candidates of two bodies (surface points near the other body) and their signed distance.

use nalgebra::{Isometry3, Point3, Vector3};

use crate::Triangles;
use crate::narrow::candidate::{Candidate, Side};
use crate::narrow::compounds::Compounds;
use crate::narrow::contacts::MAX_CONTACTS;
use crate::narrow::posed::Posed;
use crate::narrow::round;
use crate::shape::compound::Compound;
use crate::shape::field::Field;
use crate::shape::query::Query;
use crate::shape::triangles::Facing;
use crate::shape::{Probe, Shape};

/// Relative tolerance of ties: of distances as a share of the margin, and of scores.
const EVEN: f64 = 1e-6;

impl<'a> Posed<'a> {
    /// The points of each body that are nearer than `margin` m to the other. Adds the number of
    /// distance queries to `tested`.
    pub(crate) fn candidates(&self, margin: f64, tested: &mut usize) -> Vec<Candidate> {
        let (mut found, [a, b], b_from_a) = (Vec::new(), self.shapes, self.b_from_a());
        if let Some(compounds) = self.compounds() {
            return compounds.near(margin);
        }
        if let Some(near) = round::near(a, b, &b_from_a, margin) {
            return near;
        }
        if let Some(ball) = self.ball_at_surface(&b_from_a) {
            *tested += 1;
            return ball.candidates(margin);
        }
        if probes(a, b) {
            *tested += probe(Side::A, a, b.field(), &b_from_a, margin, &mut found);
        }
        if probes(b, a) && !(is_ball(a) && is_ball(b)) {
            let map = b_from_a.inverse();
            *tested += probe(Side::B, b, a.field(), &map, margin, &mut found);
        }
        found
    }

    /// The signed distance of the bodies, m, at most `most`. Once it is below `enough`, any such
    /// value may be returned. Adds the number of distance queries to `tested`.
    pub(crate) fn distance(&self, most: f64, enough: f64, tested: &mut usize) -> f64 {
        let ([a, b], b_from_a) = (self.shapes, self.b_from_a());
        if let Some(gap) = round::least(a, b, &b_from_a, most) {
            return gap;
        }
        if let Some(ball) = self.ball_at_surface(&b_from_a) {
            *tested += 1;
            return ball.distance().min(most);
        }
        if is_ball(a) || is_ball(b) || self.compounds().is_some() {
            let near = self.candidates(most.max(0.0), tested);
            return near.iter().map(|c| c.distance).fold(most, f64::min);
        }
        [(a, b, b_from_a), (b, a, b_from_a.inverse())].iter().fold(
            most,
            |most, (source, other, map)| {
                if let Some(solid) = solid_over(other.field(), source) {
                    let heights = solid.corners().map(|(_, point)| (map * point).y);
                    return heights.inspect(|_| *tested += 1).fold(most, f64::min);
                }
                let Some(tree) = source.tree() else { return most };
                if most < enough {
                    return most;
                }
                let (least, asked) = tree.least(most, enough, &Query::new(other.field(), map));
                *tested += asked;
                least
            },
        )
    }

    /// The fields of both bodies, as queries in the coordinates of the other.
    pub(crate) fn queries(&self) -> [Query<'a>; 2] {
        let ([a, b], b_from_a) = (self.shapes, self.b_from_a());
        [Query::new(a.field(), &b_from_a.inverse()), Query::new(b.field(), &b_from_a)]
    }

    /// Both shapes as unions of polyhedra; `None` if one is not such a union.
    pub(crate) fn compounds(&self) -> Option<Compounds<'a>> {
        let [a, b] = self.shapes;
        Some(Compounds { a: a.compound()?, b: b.compound()?, b_from_a: self.b_from_a() })
    }

    /// The ball and the triangles, if the bodies are a ball and a solid with a surface of triangles.
    fn ball_at_surface(&self, b_from_a: &Isometry3<f64>) -> Option<BallAtSurface<'a>> {
        let [a, b] = self.shapes;
        if let Probe::Ball(radius) = a.probe()
            && let Some(surface) = b.triangles()
        {
            let center = b_from_a * Point3::origin();
            return Some(BallAtSurface { owner: Side::A, radius: *radius, center, surface });
        }
        let &Probe::Ball(radius) = b.probe() else { return None };
        let (surface, center) = (a.triangles()?, b_from_a.inverse() * Point3::origin());
        Some(BallAtSurface { owner: Side::B, radius, center, surface })
    }

    /// The coordinates of the first body in those of the second.
    fn b_from_a(&self) -> Isometry3<f64> {
        self.poses[1].inv_mul(self.poses[0])
    }

    /// Reduces candidates to a manifold: the deepest candidate (the outermost among equally deep
    /// ones), then those farthest from the chosen ones, weighted towards small gaps.
    pub(crate) fn reduce<'c>(
        &self,
        candidates: &'c [Candidate],
        margin: f64,
    ) -> Vec<&'c Candidate> {
        // all contacts of a ball in a groove have the same point: their normals tell them apart
        let turned = |c: &Candidate| c.normal.map_or_else(Vector3::zeros, |n| n * margin);
        let place = |c: &Candidate| {
            let [own, other] = c.owner.order();
            self.poses[own] * c.point + self.poses[other] * turned(c)
        };
        let places: Vec<Point3<f64>> = candidates.iter().map(place).collect();
        let least = candidates.iter().map(|c| c.distance).fold(margin, f64::min);
        let mean = places.iter().map(|p| p.coords).sum::<Vector3<f64>>() / places.len() as f64;
        // the outermost of equally deep ones is a corner of a face that lies flat
        let out = |(c, p): (&Candidate, &Point3<f64>)| {
            if c.distance <= least + EVEN * margin {
                (p.coords - mean).norm_squared()
            } else {
                -1.0
            }
        };
        let mut scores: Vec<f64> = candidates.iter().zip(&places).map(out).collect();
        let Some(deepest) = best(&scores) else { return Vec::new() };
        let range = margin - candidates[deepest].distance;
        let weight = |c: &Candidate| if range > 0.0 { (margin - c.distance) / range } else { 1.0 };
        let mut spread: Vec<f64> = vec![f64::INFINITY; candidates.len()];
        let mut last = deepest;
        let mut chosen = vec![&candidates[deepest]];
        while chosen.len() < MAX_CONTACTS {
            for (n, nearest) in spread.iter_mut().enumerate() {
                *nearest = nearest.min((places[n] - places[last]).norm_squared());
                scores[n] = *nearest * weight(&candidates[n]).powi(2);
            }
            let Some(next) = best(&scores).filter(|&next| scores[next] > 0.0) else { break };
            last = next;
            chosen.push(&candidates[next]);
        }
        chosen
    }
}

/// A ball near triangles.
struct BallAtSurface<'a> {
    /// The body that is the ball.
    owner: Side,
    radius: f64,
    /// In body coordinates of the triangles.
    center: Point3<f64>,
    surface: &'a Triangles,
}

impl BallAtSurface<'_> {
    fn candidates(&self, margin: f64) -> Vec<Candidate> {
        let facing = self.surface.facing(&self.center, self.radius + margin);
        let candidate = |f: Facing| Candidate {
            owner: self.owner,
            point: Point3::origin(),
            normal: Some(f.normal),
            key: f.key,
            distance: f.distance - self.radius,
        };
        facing.into_iter().map(candidate).collect()
    }

    /// The signed distance of the bodies, m.
    fn distance(&self) -> f64 {
        self.surface.distance(&self.center) - self.radius
    }
}

fn is_ball(shape: &Shape) -> bool {
    matches!(shape.probe(), Probe::Ball(_))
}

/// Whether the surface points of `source` are tested against the field of `target`. The center of a
/// ball is exact.
fn probes(source: &Shape, target: &Shape) -> bool {
    !matches!(
        (source.probe(), target.field()),
        (Probe::None, _) | (Probe::Points(_) | Probe::Hull(..), Field::Ball { .. })
    )
}

/// The polyhedra of a shape against a half-space, which only their corners can touch.
fn solid_over<'s>(field: &Field, source: &'s Shape) -> Option<&'s Compound> {
    source.compound().filter(|_| matches!(field, Field::HalfSpace))
}

/// Appends the candidates of one body and returns the number of distance queries.
fn probe(
    owner: Side,
    source: &Shape,
    field: &Field,
    map: &Isometry3<f64>,
    margin: f64,
    found: &mut Vec<Candidate>,
) -> usize {
    if let Some(solid) = solid_over(field, source) {
        let (normal, mut asked) = (Some(Vector3::y()), 0);
        let corner = |(key, &point): (u32, &Point3<f64>)| {
            asked += 1;
            Candidate { owner, point, normal, key, distance: (map * point).y }
        };
        let all = solid.corners().map(corner);
        found.extend(all.filter(|corner| corner.distance < margin));
        return asked;
    }
    let query = Query::new(field, map);
    match source.probe() {
        Probe::None => 0,
        Probe::Ball(radius) => {
            let distance = query.distance(&Point3::origin()) - radius;
            if distance < margin {
                let point = Point3::origin();
                found.push(Candidate { owner, point, normal: None, key: 0, distance });
            }
            1
        }
        Probe::Points(_) | Probe::Hull(..) => {
            let Some(tree) = source.tree() else { return 0 };
            let first = found.len();
            let asked = tree.near(margin, &query, |key, point, distance| {
                found.push(Candidate { owner, point: *point, normal: None, key, distance });
            });
            // the tree sorts by distance, whose round-off must not decide the order
            found[first..].sort_unstable_by_key(|candidate| candidate.key);
            asked
        }
    }
}

/// Index of the first score that equals the highest up to [`EVEN`].
fn best(scores: &[f64]) -> Option<usize> {
    let most = scores.iter().copied().reduce(f64::max)?;
    scores.iter().position(|score| *score >= most * (1.0 - EVEN))
}
