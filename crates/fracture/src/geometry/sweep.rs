//! Intersection of a moving straight edge with a solid.

use levelset::{Aabb, LevelSet};
use nalgebra::{Point3, Vector3};

use super::solid::{FLAT, Geometry, Kind};
use crate::facets::Facets;

type Triangle = [Point3<f64>; 3];

impl Geometry {
    /// A point at which the swept surface of a straight edge cuts the solid, m. `from` and `to` are the ends of the
    /// edge before and after the sweep. `None` if the swept surface misses the solid or only touches it.
    ///
    /// For an exact solid it is the mean of the intersection points of the swept surface's two triangles with the
    /// faces; it may lie outside a non-convex solid. For a sampled solid it is the point with the largest depth, of
    /// points at most a sample spacing apart.
    pub fn swept(&self, from: [Point3<f64>; 2], to: [Point3<f64>; 2]) -> Option<Point3<f64>> {
        match &self.kind {
            Kind::Exact(exact) => met(&exact.facets, [from, to]),
            Kind::Sampled(_) => deepest(self.level_set(), [from, to]),
        }
    }
}

/// The mean of the intersection points of the swept surface's two triangles with a solid.
fn met(facets: &Facets, [from, to]: [[Point3<f64>; 2]; 2]) -> Option<Point3<f64>> {
    let sweep = [[from[0], from[1], to[1]], [from[0], to[1], to[0]]];
    let around = sweep.map(|triangle| Aabb::around(&triangle));
    let mut places: Vec<Point3<f64>> =
        from.into_iter().chain(to).filter(|p| facets.winding(p) > 0).collect();
    facets.for_each_triangle(|face, _| {
        let face = face.map(|v| facets.vertices[v as usize]);
        let bounds = Aabb::around(&face);
        for (triangle, around) in sweep.iter().zip(&around) {
            if bounds.zip(*around).is_some_and(|(a, b)| a.intersects(&b)) {
                places.extend(crossings(&face, triangle).chain(crossings(triangle, &face)));
            }
        }
    });
    spans_area(&places, FLAT * facets.size()).then(|| {
        Point3::from(places.iter().map(|p| p.coords).sum::<Vector3<f64>>() / places.len() as f64)
    })
}

/// Intersections of the edges of one triangle with another.
fn crossings<'a>(edges: &'a Triangle, other: &'a Triangle) -> impl Iterator<Item = Point3<f64>> {
    let [a, b, c] = other;
    let normal = (b - a).cross(&(c - a));
    (0..3).filter_map(move |k| {
        let (p, q) = (&edges[k], &edges[(k + 1) % 3]);
        let heights = [p, q].map(|end| normal.dot(&(end - a)));
        let crosses = heights[0] != heights[1] && heights[0] * heights[1] <= 0.0;
        let place = p + (q - p) * (heights[0] / (heights[0] - heights[1]));
        let is_in =
            |u: &Point3<f64>, v: &Point3<f64>| (v - u).cross(&(place - u)).dot(&normal) >= 0.0;
        (crosses && is_in(a, b) && is_in(b, c) && is_in(c, a)).then_some(place)
    })
}

/// Whether points are not all within a tolerance of one line, m.
fn spans_area(points: &[Point3<f64>], tolerance: f64) -> bool {
    let Some((first, others)) = points.split_first() else { return false };
    let far = others.iter().map(|p| p - first).max_by(|a, b| a.norm().total_cmp(&b.norm()));
    let Some(along) = far.and_then(|far| far.try_normalize(tolerance)) else { return false };
    others.iter().any(|p| (p - first).cross(&along).norm() > tolerance)
}

/// The point of a swept surface with the largest depth in a sampled solid.
fn deepest(level_set: &LevelSet, [from, to]: [[Point3<f64>; 2]; 2]) -> Option<Point3<f64>> {
    let (bounds, spacing) = (level_set.grid().bounds(), level_set.grid().spacing());
    let mut found = (0.0, None);
    // patches of the surface that may lie in the grid, halved to the sample spacing
    let mut patches = vec![[from, to]];
    while let Some(patch) = patches.pop() {
        let [[a, b], [c, d]] = patch;
        let Some(around) = Aabb::around(patch.as_flattened()) else { continue };
        if !around.intersects(&bounds) {
            continue;
        }
        let [along, across] = [[(a, b), (c, d)], [(a, c), (b, d)]]
            .map(|sides| sides.map(|(p, q)| (q - p).norm()).into_iter().fold(0.0, f64::max));
        let middle = |p: Point3<f64>, q: Point3<f64>| nalgebra::center(&p, &q);
        // a size that is not a number ends here, too
        if along > spacing && along >= across {
            let (p, q) = (middle(a, b), middle(c, d));
            patches.extend([[[p, b], [q, d]], [[a, p], [c, q]]]);
        } else if across > spacing {
            let (p, q) = (middle(a, c), middle(b, d));
            patches.extend([[[p, q], [c, d]], [[a, b], [p, q]]]);
        } else {
            for p in patch.as_flattened() {
                let depth = if bounds.contains(p) { level_set.value(p) } else { 0.0 };
                if depth < found.0 {
                    found = (depth, Some(*p));
                }
            }
        }
    }
    found.1
}
