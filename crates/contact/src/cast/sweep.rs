//! Shape casts: the first contact of a translating solid with another, in world coordinates.

use nalgebra::{Isometry3, Point3, Translation3, UnitVector3, Vector3};

use crate::Triangles;
use crate::cast::core::Core;
use crate::cast::placed::PlacedShape;
use crate::cast::ray::{Ray, ShapeHit, ball_at_convex, bisect, nearest};
use crate::narrow::candidate::Side;
use crate::shape::Shape;
use crate::shape::field::Field;

/// Newton steps to the time of impact of convex solids; along a line their distance is convex.
const NEWTON_STEPS: usize = 100;
/// Distance below which solids count as touching, as a share of their size.
const TOUCHING: f64 = 1e-10;
/// Conservative advancement of sampled solids: least advance and tolerance, as shares of the grid
/// spacing.
const GRID_STEP: f64 = 0.05;
const GRID_TOUCHING: f64 = 1e-3;
/// Limit of advances.
const GRID_STEPS: usize = 100_000;

/// A translation of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// Its direction.
    pub along: UnitVector3<f64>,
    /// Its length, m.
    pub max_distance: f64,
}

impl PlacedShape<'_> {
    /// Shape cast: the first contact of this solid, which moves, with another, which rests. Exact
    /// up to round-off, except for samples, to their accuracy, and tetrahedra, by their vertices.
    /// Half-spaces and meshes do not hit each other, and shapes that are not
    /// [usable](Shape::is_usable) hit nothing.
    pub fn sweep(&self, sweep: &Sweep, other: &PlacedShape<'_>) -> Option<ShapeHit> {
        if self.is_solid() && other.is_solid() { cast(*self, *other, *sweep) } else { None }
    }
}

fn cast(moving: PlacedShape<'_>, target: PlacedShape<'_>, sweep: Sweep) -> Option<ShapeHit> {
    let (a, b) = (moving.shape.field(), target.shape.field());
    match (a, b) {
        (Field::Grid { .. } | Field::Tets(_), _) | (_, Field::Grid { .. } | Field::Tets(_)) => {
            advance_sampled(moving, target, sweep)
        }
        (Field::HalfSpace | Field::Mesh(_), Field::HalfSpace | Field::Mesh(_)) => None,
        (Field::HalfSpace | Field::Mesh(_), _) => swapped(moving, target, sweep),
        (Field::Ball { .. }, Field::Hulls(_) | Field::HalfSpace | Field::Mesh(_)) => {
            convex(moving, target, sweep)
        }
        (Field::Ball { radius }, _) => {
            let from = moving.pose.translation.vector.into();
            let ray = Ray { from, along: sweep.along, max_distance: sweep.max_distance }
                .seen_from(target.pose);
            ball_at_convex(&ray, b, *radius).map(|impact| impact.at(target.pose))
        }
        (_, Field::Ball { .. }) => swapped(moving, target, sweep),
        _ => convex(moving, target, sweep),
    }
}

/// Swaps the roles: the target moves in the opposite direction.
fn swapped(moving: PlacedShape<'_>, target: PlacedShape<'_>, sweep: Sweep) -> Option<ShapeHit> {
    let back = Sweep { along: -sweep.along, ..sweep };
    let ShapeHit { distance, point, normal } = cast(target, moving, back)?;
    let point = point + sweep.along.into_inner() * distance;
    Some(ShapeHit { distance, point, normal: -normal })
}

/// A moving union of convex solids against another one, a half-space or a mesh.
fn convex(moving: PlacedShape<'_>, target: PlacedShape<'_>, sweep: Sweep) -> Option<ShapeHit> {
    let map = moving.seen_from(target.pose);
    let ray =
        Ray { from: map * Point3::origin(), along: sweep.along, max_distance: sweep.max_distance };
    let along = ray.seen_from(target.pose).along;
    let (ray, size) = (Ray { along, ..ray }, moving.shape.radius());
    let parts = Core::parts(moving.shape);
    let found = match target.shape.field() {
        Field::HalfSpace => nearest(parts.iter().filter_map(|part| to_plane(part, &map, &ray))),
        Field::Mesh(mesh) => to_mesh(moving.shape, &parts, mesh, &map, &ray),
        _ => {
            let others = Core::parts(target.shape);
            let tolerance = TOUCHING * (size + target.shape.radius());
            let pairs = parts.iter().flat_map(|part| others.iter().map(move |other| (part, other)));
            let mut ray = ray;
            pairs.fold(None, |best, (part, other)| {
                let found = to_core([part, other], &map, &ray, tolerance);
                ray.max_distance = found.map_or(ray.max_distance, |impact| impact.distance);
                nearest(best.into_iter().chain(found))
            })
        }
    };
    found.map(|impact| impact.at(target.pose))
}

/// Sweep of a convex part against the half-space y < 0.
fn to_plane(part: &Core<'_>, map: &Isometry3<f64>, ray: &Ray) -> Option<ShapeHit> {
    let up = Vector3::y();
    let lowest = map * part.lowest(&map.inverse_transform_vector(&up));
    let (height, speed) = (lowest.y.max(0.0), -ray.along.y);
    let distance = if height > 0.0 { height / speed } else { 0.0 };
    let meets = height == 0.0 || speed > 0.0 && distance <= ray.max_distance;
    let point = lowest + ray.along.into_inner() * distance;
    meets.then_some(ShapeHit { distance, point, normal: up })
}

/// Sweep of a convex part against another; `map` takes coordinates of the first to those of the
/// other at the start.
fn to_core(
    [part, other]: [&Core<'_>; 2],
    map: &Isometry3<f64>,
    ray: &Ray,
    tolerance: f64,
) -> Option<ShapeHit> {
    let mut distance = 0.0;
    for step in 0..NEWTON_STEPS {
        let shift = Translation3::from(ray.along.into_inner() * distance);
        let gap = part.gap(other, &(shift * map));
        let speed = -gap.normal.dot(&ray.along);
        if gap.distance <= tolerance || step + 1 == NEWTON_STEPS {
            let rest = if speed > 0.0 { gap.distance.max(0.0) / speed } else { 0.0 };
            let distance = (distance + rest.min(tolerance)).min(ray.max_distance);
            return Some(ShapeHit { distance, point: gap.point, normal: gap.normal });
        }
        distance += gap.distance / speed;
        if speed <= 0.0 || distance > ray.max_distance {
            return None;
        }
    }
    None
}

/// Sweep of convex parts against the triangles of a mesh.
fn to_mesh(
    shape: &Shape,
    parts: &[Core<'_>],
    mesh: &Triangles,
    map: &Isometry3<f64>,
    ray: &Ray,
) -> Option<ShapeHit> {
    if let Some(point) = point_behind_mesh(parts, mesh, map) {
        let normal = mesh.normal(&point).unwrap_or_else(Vector3::y);
        return Some(ShapeHit { distance: 0.0, point, normal });
    }
    let bounds = shape.bounds_at(map);
    let half = bounds.extents() / 2.0;
    let tolerance = TOUCHING * (shape.radius() + half.norm());
    let middle = Ray { from: bounds.center(), ..*ray };
    mesh.first_along_box(&middle, &half, |triangle, max_distance| {
        let corners = Core::triangle(mesh.mesh().corners(triangle as usize));
        let ray = Ray { max_distance, ..*ray };
        nearest(parts.iter().filter_map(|part| to_core([part, &corners], map, &ray, tolerance)))
    })
}

/// A point of a solid behind the triangles of a mesh.
pub(crate) fn point_behind_mesh(
    parts: &[Core<'_>],
    mesh: &Triangles,
    map: &Isometry3<f64>,
) -> Option<Point3<f64>> {
    let points = parts.iter().map(|part| map * part.some_point());
    points.into_iter().find(|p| mesh.distance(p) <= 0.0)
}

/// Conservative advancement of two solids, one of them sampled.
fn advance_sampled(
    moving: PlacedShape<'_>,
    target: PlacedShape<'_>,
    sweep: Sweep,
) -> Option<ShapeHit> {
    let spacing = spacing(moving.shape).min(spacing(target.shape));
    let at = |distance: f64| {
        let shift = Translation3::from(sweep.along.into_inner() * distance);
        shift * moving.pose
    };
    let gap = |distance: f64| {
        apart(moving.shape.at(&at(distance)), target, sweep.max_distance - distance)
    };
    let (mut before, mut distance) = (0.0, 0.0);
    for _ in 0..GRID_STEPS {
        let now = gap(distance);
        if now <= GRID_TOUCHING * spacing {
            let is_in = |distance: f64| gap(distance) <= 0.0;
            let met = if now < 0.0 { bisect(is_in, [before, distance]) } else { distance };
            let pose = at(met);
            return Some(touch([moving.shape.at(&pose), target], met, &sweep.along));
        }
        if distance >= sweep.max_distance {
            return None;
        }
        before = distance;
        distance = (distance + now.max(GRID_STEP * spacing)).min(sweep.max_distance);
    }
    None
}

/// Spacing of the samples of a shape or size of its tetrahedra, m; infinite for other shapes.
pub(crate) fn spacing(shape: &Shape) -> f64 {
    match shape.field() {
        Field::Grid { level_set, .. } => level_set.grid().spacing(),
        Field::Tets(tets) => tets.spacing(),
        _ => f64::INFINITY,
    }
}

/// Distance of two solids, m, at least one of them sampled; at most `max_distance` or their sample
/// spacing, whichever is larger. Zero or negative if they overlap.
pub(crate) fn apart(a: PlacedShape<'_>, b: PlacedShape<'_>, max_distance: f64) -> f64 {
    let max_distance = max_distance.max(spacing(a.shape).min(spacing(b.shape)));
    let gap = a.with(&b).distance(max_distance, 0.0, &mut 0);
    let is_around = |ball: PlacedShape<'_>, other: PlacedShape<'_>| {
        let center = ball.seen_from(other.pose) * Point3::origin();
        let distance = || other.shape.field().distance(&center);
        matches!(ball.shape.field(), Field::Ball { .. }) && distance() <= 0.0
    };
    if is_around(a, b) || is_around(b, a) { gap.min(0.0) } else { gap }
}

/// The contact of two touching solids, one of them sampled, after a sweep by `distance` m.
fn touch([a, b]: [PlacedShape<'_>; 2], distance: f64, along: &UnitVector3<f64>) -> ShapeHit {
    let margin = spacing(a.shape).min(spacing(b.shape));
    let posed = a.with(&b);
    let near = posed.candidates(margin, &mut 0);
    let Some(deepest) = near.iter().min_by(|p, q| p.distance.total_cmp(&q.distance)) else {
        let point = Point3::from(a.pose.translation.vector);
        return ShapeHit { distance, point, normal: -along.into_inner() };
    };
    let found = posed.found(deepest);
    let spot = posed.spot(&found);
    // on the surface of the second solid
    let off = if found.owner == Side::A { found.distance } else { 0.0 };
    ShapeHit { distance, point: spot.place - spot.normal * off, normal: spot.normal }
}
