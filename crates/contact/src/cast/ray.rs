//! Ray casts against a solid, in body coordinates.

use nalgebra::{Isometry3, Point3, Unit, UnitVector3, Vector3};

use crate::Triangles;
use crate::lanes::LANES;
use crate::shape::Shape;
use crate::shape::field::Field;
use crate::shape::polyhedron::Polyhedron;
use crate::shape::round::Round;

/// First contact of a ray or a translating solid with a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeHit {
    /// Distance travelled, m; zero if it starts in the solid or on its surface.
    pub distance: f64,
    /// Point of the surface of the solid, m.
    pub point: Point3<f64>,
    /// Unit normal out of the solid.
    pub normal: Vector3<f64>,
}

impl ShapeHit {
    /// The impact transformed by `pose`.
    pub(crate) fn at(&self, pose: &Isometry3<f64>) -> Self {
        Self { distance: self.distance, point: pose * self.point, normal: pose * self.normal }
    }
}

/// A half-line from a point along a unit vector, up to a length in m.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// Its start.
    pub from: Point3<f64>,
    /// Its direction.
    pub along: UnitVector3<f64>,
    /// Its length, m; it may be infinite.
    pub max_distance: f64,
}

/// Least advance of a ray between two samples of a level set, as a share of the grid spacing:
/// thinner walls may be missed.
const GRID_STEP: f64 = 0.25;
/// Limit of samples along a ray through a grid.
const GRID_STEPS: usize = 100_000;
/// Bisections of the interval around the surface: almost as many as the bits of an `f64` mantissa.
const BISECTIONS: usize = 48;
/// Newton steps along a ray to a convex solid.
const NEWTON_STEPS: usize = 100;
/// Tolerance of barycentric coordinates: rays must not pass between triangles that share an edge.
const SEAM: f64 = 1e-12;

impl Ray {
    /// The point at a distance, m.
    pub fn at(&self, distance: f64) -> Point3<f64> {
        self.from + self.along.into_inner() * distance
    }

    /// Whether the start is finite and the length is neither negative nor NaN.
    pub(crate) fn is_usable(&self) -> bool {
        let numbers = self.from.iter().chain(self.along.iter());
        numbers.into_iter().all(|x| x.is_finite()) && self.max_distance >= 0.0
    }

    /// The ray in coordinates of a body.
    pub(crate) fn seen_from(&self, pose: &Isometry3<f64>) -> Self {
        let along = pose.inverse_transform_vector(&self.along);
        let from = pose.inverse_transform_point(&self.from);
        Self { from, along: Unit::new_unchecked(along), max_distance: self.max_distance }
    }

    fn hit(&self, distance: f64, normal: Vector3<f64>) -> Option<ShapeHit> {
        let hits = distance >= 0.0 && distance <= self.max_distance;
        hits.then(|| ShapeHit { distance, point: self.at(distance), normal })
    }
}

impl Shape {
    /// The first hit of a ray in body coordinates. A mesh is hit from both sides.
    ///
    /// Exact up to round-off; for samples to their accuracy: walls thinner than a quarter of the
    /// spacing may be missed.
    pub fn cast_ray(&self, ray: &Ray) -> Option<ShapeHit> {
        if self.is_empty() || !ray.is_usable() {
            return None;
        }
        let field = self.field();
        if field.distance(&ray.from) <= 0.0 {
            return ray.hit(0.0, field.normal(&ray.from));
        }
        match (field, self.compound()) {
            (Field::HalfSpace, _) => half_space(ray),
            (Field::Ball { radius }, _) => ball(ray, &Point3::origin(), *radius),
            (Field::Round(round), _) => solid_of_revolution(ray, round),
            (Field::Mesh(mesh), _) => triangles(ray, mesh),
            (Field::Tets(tets), _) => triangles(ray, tets.triangles()),
            (Field::Grid { .. }, _) => samples(ray, field),
            (_, Some(compound)) => {
                let parts = compound.parts.iter().filter(|part| {
                    ball(ray, &part.center, part.radius).is_some()
                        || (ray.from - part.center).norm() <= part.radius
                });
                nearest(parts.filter_map(|part| polyhedron(ray, &part.solid)))
            }
            (_, None) => convex(ray, field),
        }
    }

    /// Whether the shape is empty.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self.field(), Field::Ball { radius } if *radius < 0.0)
    }
}

/// The first hit along the ray.
pub(crate) fn nearest(hits: impl Iterator<Item = ShapeHit>) -> Option<ShapeHit> {
    hits.reduce(|best, next| if next.distance < best.distance { next } else { best })
}

fn half_space(ray: &Ray) -> Option<ShapeHit> {
    let speed = -ray.along.y;
    if speed > 0.0 { ray.hit(ray.from.y / speed, Vector3::y()) } else { None }
}

/// A ball; the ray starts outside.
fn ball(ray: &Ray, center: &Point3<f64>, radius: f64) -> Option<ShapeHit> {
    let from = ray.from - center;
    let middle = -from.dot(&ray.along);
    let aside = (from + ray.along.into_inner() * middle).norm_squared();
    let half = radius * radius - aside;
    if half < 0.0 || radius <= 0.0 {
        return None;
    }
    let distance = middle - half.sqrt();
    let normal = (from + ray.along.into_inner() * distance) / radius;
    ray.hit(distance, normal)
}

/// Clips the ray by the planes of the faces (Cyrus and Beck 1978).
fn polyhedron(ray: &Ray, solid: &Polyhedron) -> Option<ShapeHit> {
    let (mut enters, mut leaves) = ((f64::NEG_INFINITY, Vector3::y()), f64::INFINITY);
    for planes in &solid.planes {
        for lane in 0..LANES {
            let normal = Vector3::from(planes.normals.of(lane));
            let height = normal.dot(&ray.from.coords) - planes.offsets.0[lane];
            let speed = -normal.dot(&ray.along);
            if speed > 0.0 && height / speed > enters.0 {
                enters = (height / speed, normal);
            } else if speed < 0.0 {
                leaves = leaves.min(height / speed);
            } else if speed == 0.0 && height > 0.0 {
                return None;
            }
        }
    }
    let (distance, normal) = enters;
    if distance <= leaves { ray.hit(distance, normal) } else { None }
}

/// A cylinder, cone or capsule; the ray starts outside.
fn solid_of_revolution(ray: &Ray, round: &Round) -> Option<ShapeHit> {
    let [low, high] = *round.rims();
    if round.rounding() == 0.0 {
        let side = side(ray, round, [low.radius, high.radius]);
        let caps = [(low, -1.0), (high, 1.0)].into_iter().filter_map(|(rim, sign)| {
            let distance = (rim.height - ray.from.y) / ray.along.y;
            let at = ray.at(distance);
            let on_cap = at.x * at.x + at.z * at.z <= rim.radius * rim.radius;
            let comes = sign * ray.along.y < 0.0;
            if on_cap && comes { ray.hit(distance, Vector3::y() * sign) } else { None }
        });
        return nearest(caps.chain(side));
    }
    if low.radius > 0.0 || high.radius > 0.0 {
        return convex(ray, &Field::Round(*round));
    }
    let ends = [low, high].map(|rim| Point3::new(0.0, rim.height, 0.0));
    let ends = ends.into_iter().filter_map(|end| ball(ray, &end, round.rounding()));
    nearest(ends.chain(side(ray, round, [round.rounding(); 2])))
}

/// The side of a solid of revolution with these radii at its rims.
fn side(ray: &Ray, round: &Round, [bottom, top]: [f64; 2]) -> Option<ShapeHit> {
    let [low, high] = round.rims().map(|rim| rim.height);
    let slope = (top - bottom) / (high - low);
    // |x, z|^2 = (bottom + slope (y - low))^2
    let (from, along) = (ray.from, ray.along);
    let radius = bottom + slope * (from.y - low);
    let a = along.x * along.x + along.z * along.z - (slope * along.y).powi(2);
    let b = from.x * along.x + from.z * along.z - radius * slope * along.y;
    let c = from.x * from.x + from.z * from.z - radius * radius;
    let at = |distance: f64| {
        let p = ray.at(distance);
        let is_on = low <= p.y && p.y <= high && bottom + slope * (p.y - low) >= 0.0;
        let out = Vector3::new(p.x, 0.0, p.z).try_normalize(0.0)?;
        let [across, up] = round.side();
        if is_on { ray.hit(distance, out * across + Vector3::y() * up) } else { None }
    };
    nearest(roots(a, b, c).into_iter().flatten().filter_map(at))
}

/// The roots of `a x^2 + 2 b x + c`.
fn roots(a: f64, b: f64, c: f64) -> [Option<f64>; 2] {
    let square = b * b - a * c;
    if square < 0.0 {
        return [None; 2];
    }
    // avoids cancellation
    let q = -(b + square.sqrt().copysign(b));
    let root = |over: f64, under: f64| Some(over / under).filter(|x| x.is_finite());
    [root(q, a), root(c, q)]
}

/// A convex solid; the ray starts outside. The distance is convex along a line, so that Newton's
/// method does not overshoot.
fn convex(ray: &Ray, field: &Field) -> Option<ShapeHit> {
    ball_at_convex(ray, field, 0.0)
}

/// Hit of a ball of a radius, m, whose center moves along the ray, with a convex solid.
pub(crate) fn ball_at_convex(ray: &Ray, field: &Field, radius: f64) -> Option<ShapeHit> {
    let mut distance = 0.0;
    for _ in 0..NEWTON_STEPS {
        let center = ray.at(distance);
        let gap = field.distance(&center) - radius;
        let normal = field.normal(&center);
        let hit = |normal: Vector3<f64>| {
            let point = center - normal * (gap + radius);
            Some(ShapeHit { distance, point, normal })
        };
        let speed = -normal.dot(&ray.along);
        if gap <= 0.0 {
            return hit(normal);
        }
        if speed <= 0.0 {
            return None;
        }
        let step = gap / speed;
        if step <= f64::EPSILON * (distance + ray.from.coords.norm()) {
            return hit(normal);
        }
        distance += step;
        if distance > ray.max_distance {
            return None;
        }
    }
    None
}

/// Moeller and Trumbore (1997), from both sides.
fn triangles(ray: &Ray, mesh: &Triangles) -> Option<ShapeHit> {
    let test = |triangle: u32| {
        let [a, b, c] = mesh.mesh().corners(triangle as usize);
        let (p, q) = (b - a, c - a);
        let across = ray.along.cross(&q);
        let volume = p.dot(&across);
        if volume == 0.0 {
            return None;
        }
        let from = (ray.from - a) / volume;
        let (u, turned) = (from.dot(&across), from.cross(&p));
        let v = ray.along.dot(&turned);
        let is_in = u >= -SEAM && v >= -SEAM && u + v <= 1.0 + SEAM;
        let normal = p.cross(&q).try_normalize(0.0)? * volume.signum();
        if is_in { ray.hit(q.dot(&turned), normal) } else { None }
    };
    mesh.first_along(ray, test)
}

/// Samples: steps by the distance, but at least by a share of the spacing, then bisection.
fn samples(ray: &Ray, field: &Field) -> Option<ShapeHit> {
    let Field::Grid { level_set, .. } = field else { return None };
    let least = GRID_STEP * level_set.grid().spacing();
    let (mut before, mut distance) = (0.0, 0.0);
    let mut gap = field.distance(&ray.from);
    for _ in 0..GRID_STEPS {
        if gap <= 0.0 {
            let at = bisect(|x| field.distance(&ray.at(x)) <= 0.0, [before, distance]);
            return ray.hit(at, field.normal(&ray.at(at)));
        }
        if distance >= ray.max_distance {
            return None;
        }
        before = distance;
        distance = (distance + gap.max(least)).min(ray.max_distance);
        let after = field.distance(&ray.at(distance));
        // outside the grid, the distance grows once the ray moves away from it
        if after > gap && !level_set_is_ahead(ray, field, distance) {
            return None;
        }
        gap = after;
    }
    None
}

/// Whether the ray is in the box of the samples, or enters it beyond a distance.
fn level_set_is_ahead(ray: &Ray, field: &Field, distance: f64) -> bool {
    let Field::Grid { level_set, material } = field else { return false };
    let bounds = level_set.grid().bounds();
    let (from, along) = (material * ray.at(distance), material * ray.along.into_inner());
    (0..3).all(|a| {
        (along[a] >= 0.0 || from[a] >= bounds.min[a])
            && (along[a] <= 0.0 || from[a] <= bounds.max[a])
            && (along[a] != 0.0 || bounds.min[a] <= from[a] && from[a] <= bounds.max[a])
    })
}

/// The first distance at which `is_in` holds, between two distances; it holds at the second.
pub(crate) fn bisect(is_in: impl Fn(f64) -> bool, [mut out, mut within]: [f64; 2]) -> f64 {
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (out + within);
        if is_in(middle) { within = middle } else { out = middle }
    }
    within
}
