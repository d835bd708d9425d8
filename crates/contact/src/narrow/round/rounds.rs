//! Two solids of revolution against each other.

use nalgebra::{Isometry3, Point3, Vector3};

use super::collector::axis;
use super::search::{EVEN, in_column, least_along, least_around};
use crate::narrow::candidate::{Candidate, Side};
use crate::shape::round::Round;

/// Keys of points that are not at fixed angles of a rim: intersections of circles, crossings of a
/// generator with a cap, and the nearest points of generators.
const CIRCLES: u32 = 8;
const CROSSINGS: u32 = 10;
const NEAREST: u32 = 12;

/// Limit of steps that refine the axis between two sides.
const MAX_STEPS: usize = 16;

/// One of two solids.
struct Body<'a> {
    round: &'a Round,
    side: Side,
    /// Maps from the other's coordinates.
    map: Isometry3<f64>,
}

/// Two solids of revolution at a relative pose.
pub(super) struct Rounds<'a> {
    bodies: [Body<'a>; 2],
}

/// The best separating axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separation {
    /// Separation along the axis, m; negative for a depth.
    pub(super) distance: f64,
    /// Unit vector out of the second solid, in the coordinates of the first.
    direction: Vector3<f64>,
    /// The body and its cap, if the axis is the normal of a cap.
    cap: Option<(usize, usize)>,
}

impl<'a> Rounds<'a> {
    pub(super) fn new([a, b]: [&'a Round; 2], a_from_b: &Isometry3<f64>) -> Self {
        let first = Body { round: a, side: Side::A, map: *a_from_b };
        let second = Body { round: b, side: Side::B, map: a_from_b.inverse() };
        Self { bodies: [first, second] }
    }

    /// Contacts nearer than `margin`.
    pub(super) fn near(&self, margin: f64) -> Vec<Candidate> {
        let mut found = Vec::new();
        let best = self.separation(margin);
        if best.distance >= margin {
            return found;
        }
        match best.cap {
            Some((body, end)) => self.on_cap(body, end, margin, &mut found),
            None => self.on_sides(&best.direction, margin, &mut found),
        }
        if found.is_empty()
            && let Some(Separation { direction, .. }) = self.by_sides(f64::NEG_INFINITY, margin)
        {
            self.on_sides(&direction, margin, &mut found);
        }
        found
    }

    /// The best separating axis, or the first that separates the solids by `most` or more.
    pub(super) fn separation(&self, most: f64) -> Separation {
        let a = &self.bodies[0];
        let mut best =
            Separation { distance: f64::NEG_INFINITY, direction: Vector3::y(), cap: None };
        let slack = EVEN * self.smaller();
        for (body, end) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let direction = if body == 0 { -axis(end) } else { a.map.rotation * axis(end) };
            let distance = self.along(&direction);
            if distance > best.distance + slack {
                best = Separation { distance, direction, cap: Some((body, end)) };
            }
        }
        if best.distance >= most {
            return best;
        }
        self.by_sides(best.distance + slack, most).unwrap_or(best)
    }

    /// The smaller of the two radii, m.
    fn smaller(&self) -> f64 {
        let [a, b] = &self.bodies;
        a.round.radius().min(b.round.radius())
    }

    /// The best axis other than normals of caps, if it separates the solids by more than `least`,
    /// or the first that does so by `most` or more.
    fn by_sides(&self, least: f64, most: f64) -> Option<Separation> {
        let apart =
            |direction| Separation { distance: self.along(&direction), direction, cap: None };
        let mut best: Option<Separation> = None;
        for direction in self.proposals(most) {
            for now in [apart(direction), apart(self.nearest(&direction).1)] {
                if best.is_none_or(|best| now.distance > best.distance) {
                    best = Some(now);
                }
            }
        }
        let mut best = best?;
        let slack = EVEN * self.smaller();
        for _ in 0..MAX_STEPS {
            if best.distance >= most {
                break;
            }
            let next = apart(self.nearest(&best.direction).1);
            let is_better = next.distance > best.distance + slack;
            best = if next.distance > best.distance { next } else { best };
            if !is_better {
                break;
            }
        }
        (best.distance > least).then_some(best)
    }

    /// Candidate axes: between the nearest points of both axes of revolution and, unless one of
    /// those is enough, the gradients of the distance at its minima along rims.
    fn proposals(&self, most: f64) -> Vec<Vector3<f64>> {
        let [a, b] = &self.bodies;
        let ends = |round: &Round| round.rims().map(|rim| Point3::new(0.0, rim.height, 0.0));
        let (own, other) = (ends(a.round), ends(b.round).map(|p| a.map * p));
        let apart = between_segments(own, other);
        let cross = (own[1] - own[0]).cross(&(other[1] - other[0]));
        let cross = if cross.dot(&a.map.translation.vector) > 0.0 { -cross } else { cross };
        let near = EVEN * self.smaller();
        let by_axes = apart.try_normalize(near).or_else(|| cross.try_normalize(1e-9 * near));
        let mut all: Vec<_> = by_axes.into_iter().chain(cross.try_normalize(1e-9 * near)).collect();
        if all.iter().any(|direction| self.along(direction) >= most) {
            return all;
        }
        for (n, end) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            all.extend(self.at_rim(n, end));
        }
        all
    }

    /// The gradients of the distance to the other solid at its minima along a rim.
    fn at_rim(&self, n: usize, end: usize) -> Vec<Vector3<f64>> {
        let [own, other] = [&self.bodies[n], &self.bodies[1 - n]];
        let rim = own.round.rims()[end];
        let place = |direction: &[f64; 2]| {
            let [x, z] = direction.map(|x| x * rim.radius);
            other.map * Point3::new(x, rim.height, z)
        };
        let ask = |direction: &[f64; 2]| {
            let (distance, normal) = other.round.distance_and_normal(&place(direction));
            (distance, normal, other.map.rotation * Vector3::new(-direction[1], 0.0, direction[0]))
        };
        // out of the second, in the coordinates of the first
        let turned =
            |normal: Vector3<f64>| if n == 0 { own.map.rotation * normal } else { -normal };
        if rim.radius == 0.0 {
            return vec![turned(ask(&[1.0, 0.0]).1)];
        }
        least_around(ask).into_iter().map(turned).collect()
    }

    /// Separation of the first solid from the second along `direction`, m.
    fn along(&self, direction: &Vector3<f64>) -> f64 {
        let [a, b] = &self.bodies;
        let far =
            b.round.reach(&(b.map.rotation * direction)) + direction.dot(&a.map.translation.vector);
        -a.round.reach(&-direction) - far
    }

    /// The nearest point of the first solid's generator that faces the second, and the gradient of
    /// the distance there, out of the second, in the coordinates of the first.
    fn nearest(&self, direction: &Vector3<f64>) -> (Point3<f64>, Vector3<f64>) {
        let [a, b] = &self.bodies;
        let [from, to] = a.round.farthest(&-direction);
        let gradient = |p: &Point3<f64>| {
            b.map.inverse_transform_vector(&b.round.distance_and_normal(&(b.map * p)).1)
        };
        let (share, normal) = least_along(&from, &(to - from), gradient);
        (from + (to - from) * share, normal)
    }

    /// The nearest points of generators, and the ends of one that are near the other.
    fn on_sides(&self, direction: &Vector3<f64>, margin: f64, found: &mut Vec<Candidate>) {
        let [a, b] = &self.bodies;
        let into_a = b.map.rotation * direction;
        let point = self.nearest(direction).0;
        let distance = b.round.distance_and_normal(&(b.map * point)).0;
        if distance < margin {
            let (key, normal) = (NEAREST, Some(into_a));
            found.push(Candidate { owner: a.side, point, normal, key, distance });
        }
        // each point in its own coordinates, its normal in those of the other
        for (own, other, down, normal) in [(a, b, -direction, into_a), (b, a, into_a, -direction)] {
            for (n, point) in own.round.farthest(&down).into_iter().enumerate() {
                let distance = other.round.distance_and_normal(&(other.map * point)).0;
                if distance < margin {
                    let (owner, key, normal) = (own.side, 4 * n as u32, Some(normal));
                    found.push(Candidate { owner, point, normal, key, distance });
                }
            }
        }
    }

    /// The parts of the other solid over a cap, and the rim of the cap under a cap of the other.
    fn on_cap(&self, n: usize, end: usize, margin: f64, found: &mut Vec<Candidate>) {
        let [own, other] = [&self.bodies[n], &self.bodies[1 - n]];
        let cap = Cap::new(own.round, end);
        // towards the cap, in the coordinates of the other
        let down = other.map.rotation * -cap.out;
        let of_other = |key: u32, point: Point3<f64>, distance: f64| {
            let normal = Some(cap.out);
            Candidate { owner: other.side, point, normal, key, distance }
        };
        for (key, point) in other.round.around(&down) {
            let distance = cap.height(&(own.map * point));
            if distance < margin && cap.contains(&(own.map * point)) {
                found.push(of_other(key, point, distance));
            }
        }
        let ends = other.round.farthest(&down);
        let [from, to] = ends.map(|p| own.map * p);
        let part = in_column(&from, &to, cap.radius);
        for (place, share) in part.into_iter().flatten().enumerate() {
            let distance = cap.height(&(from + (to - from) * share));
            if distance < margin && share > 0.0 && share < 1.0 {
                let point = ends[0] + (ends[1] - ends[0]) * share;
                found.push(of_other(CROSSINGS + place as u32, point, distance));
            }
        }
        let facing = usize::from(down.y > 0.0);
        let (second, across) = (Cap::new(other.round, facing), down.x * down.x + down.z * down.z);
        if second.radius * across.sqrt() >= margin || second.radius == 0.0 {
            return;
        }
        let circles = cap.circles(&(own.map * second.center()), second.radius);
        let around = own.round.around(&cap.out).filter(|(key, _)| *key as usize / 4 == end);
        let meetings = circles.into_iter().flatten().enumerate();
        let all = around.chain(meetings.map(|(k, point)| (CIRCLES + k as u32, point)));
        for (key, point) in all {
            let distance = second.height(&(other.map * point));
            let is_met = key >= CIRCLES || second.contains(&(other.map * point));
            if distance < margin && is_met {
                let (owner, normal) = (own.side, Some(down));
                found.push(Candidate { owner, point, normal, key, distance });
            }
        }
    }
}

/// A flat end of a solid.
struct Cap {
    out: Vector3<f64>,
    /// Offset of its plane along `out`, m.
    offset: f64,
    radius: f64,
}

impl Cap {
    fn new(round: &Round, end: usize) -> Self {
        let (out, rim) = (axis(end), round.rims()[end]);
        Self { out, offset: out.y * rim.height + round.rounding(), radius: rim.radius }
    }

    fn center(&self) -> Point3<f64> {
        Point3::from(self.out * self.offset)
    }

    fn height(&self, p: &Point3<f64>) -> f64 {
        self.out.y * p.y - self.offset
    }

    fn contains(&self, p: &Point3<f64>) -> bool {
        (p.x * p.x + p.z * p.z).sqrt() <= self.radius * (1.0 + EVEN)
    }

    /// The intersections of the rim with a circle in its plane, of `radius` m about `center`.
    fn circles(&self, center: &Point3<f64>, radius: f64) -> Option<[Point3<f64>; 2]> {
        let apart = (center.x * center.x + center.z * center.z).sqrt();
        if apart <= EVEN * self.radius.max(radius) {
            return None;
        }
        let along = (apart * apart + self.radius * self.radius - radius * radius) / (2.0 * apart);
        let square = self.radius * self.radius - along * along;
        if square < 0.0 {
            return None;
        }
        let (x, z) = (center.x / apart, center.z / apart);
        let height = self.out.y * self.offset;
        Some([-1.0, 1.0].map(|sign| {
            let across = sign * square.sqrt();
            Point3::new(along * x - across * z, height, along * z + across * x)
        }))
    }
}

/// The vector from the nearest point of the second segment to that of the first (Ericson 2005,
/// section 5.1.9).
fn between_segments([p, p_end]: [Point3<f64>; 2], [q, q_end]: [Point3<f64>; 2]) -> Vector3<f64> {
    let (d, e, r) = (p_end - p, q_end - q, p - q);
    let (dd, ee, de) = (d.norm_squared(), e.norm_squared(), d.dot(&e));
    let (dr, er) = (d.dot(&r), e.dot(&r));
    if dd <= 0.0 || ee <= 0.0 {
        return r;
    }
    let across = dd * ee - de * de;
    let mut s =
        if across > 1e-12 * dd * ee { ((de * er - dr * ee) / across).clamp(0.0, 1.0) } else { 0.5 };
    let t = ((de * s + er) / ee).clamp(0.0, 1.0);
    s = ((t * de - dr) / dd).clamp(0.0, 1.0);
    (p + d * s) - (q + e * t)
}
