//! Queries among many bodies: a tree of their bounding boxes.

use std::sync::Arc;

use levelset::Aabb;
use nalgebra::{Isometry3, Point3, Vector3};
use parry3d::math::Vector as TreeVector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhNode};
use parry3d::query::PointQuery;

use crate::cast::placed::PlacedShape;
use crate::cast::ray::{Ray, ShapeHit};
use crate::cast::sweep::Sweep;
use crate::narrow::broad::tree_box;
use crate::shape::Shape;
use crate::shape::triangles::Triangles;

/// The bounding boxes of bodies at one time.
#[derive(Clone, Debug)]
pub struct QueryTree {
    tree: Bvh,
    /// The bodies of the leaves.
    bounded: Vec<u32>,
    /// Bodies with infinite boxes.
    unbounded: Vec<u32>,
}

/// Bodies at one time, for queries. They panic if the tree is of more bodies than there are shapes
/// and poses.
#[derive(Clone, Copy)]
pub struct Bodies<'a> {
    /// Their shapes.
    pub shapes: &'a [Arc<Shape>],
    /// Their poses.
    pub poses: &'a [Isometry3<f64>],
    /// Their bounding boxes at these poses.
    pub tree: &'a QueryTree,
    /// Filter of bodies, by index.
    pub wanted: &'a dyn Fn(usize) -> bool,
}

impl Shape {
    /// The bounding box at a pose.
    pub(crate) fn bounds_at(&self, pose: &Isometry3<f64>) -> Aabb {
        crate::narrow::broad::turned(self.bounds(), pose)
    }
}

impl QueryTree {
    /// Builds the tree of bodies with these shapes and poses, in time n log n.
    pub fn new(shapes: &[Arc<Shape>], poses: &[Isometry3<f64>]) -> Self {
        let (mut leaves, mut bounded, mut unbounded) = (Vec::new(), Vec::new(), Vec::new());
        for (i, (shape, pose)) in (0..).zip(shapes.iter().zip(poses)) {
            if shape.is_empty() {
                continue;
            }
            let leaf = tree_box(&shape.bounds_at(pose));
            if leaf.mins.is_finite() && leaf.maxs.is_finite() {
                bounded.push(i);
                leaves.push(leaf);
            } else {
                unbounded.push(i);
            }
        }
        Self { tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves), bounded, unbounded }
    }
}

impl Bodies<'_> {
    /// Ray cast: the first body hit, the lower index at equal distances.
    pub fn cast_ray(&self, ray: &Ray) -> Option<(usize, ShapeHit)> {
        self.first(ray, &Vector3::zeros(), |i, max_distance| {
            let own = Ray { max_distance, ..ray.seen_from(&self.poses[i]) };
            self.shapes[i].cast_ray(&own).map(|impact| impact.at(&self.poses[i]))
        })
    }

    /// Shape cast: the index of the first body that a translating solid hits, and the impact. An
    /// unbounded solid hits nothing.
    pub fn sweep(&self, solid: &PlacedShape<'_>, sweep: &Sweep) -> Option<(usize, ShapeHit)> {
        let bounds = solid.shape.bounds_at(solid.pose);
        let Sweep { along, max_distance } = *sweep;
        let ray = Ray { from: bounds.center(), along, max_distance };
        self.first(&ray, &(bounds.extents() / 2.0), |i, max_distance| {
            solid.sweep(&Sweep { along, max_distance }, &self.shapes[i].at(&self.poses[i]))
        })
    }

    /// Indices of the bodies that a solid overlaps or touches, ascending.
    pub fn overlapping(&self, solid: &PlacedShape<'_>) -> Vec<usize> {
        let around = BvhNode::leaf(tree_box(&solid.shape.bounds_at(solid.pose)), 0);
        let has_bounds = solid.shape.radius().is_finite();
        let QueryTree { tree, bounded, unbounded } = self.tree;
        let is_near = |node: &BvhNode| !has_bounds || node.intersects(&around);
        let near = tree.leaves(is_near).map(|n| bounded[n as usize]);
        let all = near.chain(unbounded.iter().copied()).map(|i| i as usize);
        let meets =
            |&i: &usize| (self.wanted)(i) && solid.overlaps(&self.shapes[i].at(&self.poses[i]));
        let mut found: Vec<usize> = all.filter(meets).collect();
        found.sort_unstable();
        found
    }

    /// The body nearest to a point, at most `max_distance` m away, with the nearest point of its
    /// surface and the signed distance, m; if several contain the point, the one with the greatest
    /// depth.
    pub fn nearest(&self, p: &Point3<f64>, max_distance: f64) -> Option<(usize, ShapeHit)> {
        let of = |i: usize| {
            let pose = &self.poses[i];
            let found = self.shapes[i].nearest_point(&pose.inverse_transform_point(p)).at(pose);
            ((self.wanted)(i) && found.distance <= max_distance).then_some((i, found))
        };
        let QueryTree { tree, bounded, unbounded } = self.tree;
        let others = unbounded.iter().filter_map(|&i| of(i as usize));
        let first = others.reduce(|p, q| if q.1.distance < p.1.distance { q } else { p });
        let point = TreeVector::from_array(p.coords.into());
        let max_distance = first.map_or(max_distance.next_up(), |(_, found)| found.distance);
        let away = |node: &BvhNode, _| {
            let away = node.aabb().distance_to_local_point(point, true);
            // inside a body the distance is negative, with no bound by its box
            if away > 0.0 { away } else { f64::NEG_INFINITY }
        };
        let inner = tree.find_best(max_distance, away, |leaf, _| {
            let (i, found) = of(bounded[leaf as usize] as usize)?;
            Some((found.distance, (i, found)))
        });
        inner.map(|(_, (_, found))| found).or(first)
    }

    /// The body with the first hit by `meets`, which is called for bodies whose boxes, expanded by
    /// `half`, the ray intersects.
    fn first(
        &self,
        ray: &Ray,
        half: &Vector3<f64>,
        meets: impl Fn(usize, f64) -> Option<ShapeHit>,
    ) -> Option<(usize, ShapeHit)> {
        let usable = half.iter().all(|x| x.is_finite());
        if !ray.is_usable() || !usable {
            return None;
        }
        let QueryTree { tree, bounded, unbounded } = self.tree;
        let mut best: Option<(usize, ShapeHit)> = None;
        for i in unbounded.iter().map(|&i| i as usize).filter(|&i| (self.wanted)(i)) {
            let max_distance = best.map_or(ray.max_distance, |(_, impact)| impact.distance);
            let found = meets(i, max_distance)
                .filter(|found| best.is_none() || found.distance < max_distance);
            best = found.map(|found| (i, found)).or(best);
        }
        let max_distance = best.map_or(ray.max_distance, |(_, impact)| impact.distance);
        let inner = first_in(tree, (ray, half, max_distance), |leaf, max_distance| {
            let i = bounded[leaf as usize] as usize;
            if (self.wanted)(i) { meets(i, max_distance) } else { None }
        });
        inner.map(|(leaf, impact)| (bounded[leaf as usize] as usize, impact)).or(best)
    }
}

/// The leaf with the first hit by `meets`, which is called for leaves whose boxes, expanded by
/// `half`, the ray intersects.
fn first_in(
    tree: &Bvh,
    (ray, half, max_distance): (&Ray, &Vector3<f64>, f64),
    meets: impl Fn(u32, f64) -> Option<ShapeHit>,
) -> Option<(u32, ShapeHit)> {
    let enters = |node: &BvhNode, best: f64| {
        let bounds = node.aabb();
        let low = Vector3::from(bounds.mins.to_array()) - half;
        let high = Vector3::from(bounds.maxs.to_array()) + half;
        entry(ray, &low, &high, best)
    };
    let found = tree.find_best(max_distance.next_up(), enters, |leaf, best| {
        let impact = meets(leaf, best.min(max_distance))?;
        Some((impact.distance, impact))
    });
    found.map(|(leaf, (_, impact))| (leaf, impact))
}

/// Where a ray enters a box, m; [`f64::MAX`] if it does not within `max_distance` m.
fn entry(ray: &Ray, low: &Vector3<f64>, high: &Vector3<f64>, max_distance: f64) -> f64 {
    let (mut enters, mut leaves) = (0.0f64, max_distance);
    for axis in 0..3 {
        let (from, speed) = (ray.from[axis], ray.along[axis]);
        if speed == 0.0 {
            if from < low[axis] || from > high[axis] {
                return f64::MAX;
            }
            continue;
        }
        let (p, q) = ((low[axis] - from) / speed, (high[axis] - from) / speed);
        enters = enters.max(p.min(q));
        leaves = leaves.min(p.max(q));
    }
    // tolerance for the round-off of the box
    if enters <= leaves * (1.0 + 4.0 * f64::EPSILON) { enters } else { f64::MAX }
}

impl Triangles {
    /// The triangle with the first hit by `meets` along a ray.
    pub(crate) fn first_along(
        &self,
        ray: &Ray,
        meets: impl Fn(u32) -> Option<ShapeHit>,
    ) -> Option<ShapeHit> {
        self.first_along_box(ray, &Vector3::zeros(), |triangle, _| meets(triangle))
    }

    /// Like [`Self::first_along`], for triangles whose boxes, expanded by `half`, the ray
    /// intersects.
    pub(crate) fn first_along_box(
        &self,
        ray: &Ray,
        half: &Vector3<f64>,
        meets: impl Fn(u32, f64) -> Option<ShapeHit>,
    ) -> Option<ShapeHit> {
        first_in(self.tree(), (ray, half, ray.max_distance), meets).map(|(_, impact)| impact)
    }

    /// The triangles whose boxes overlap a box.
    pub(crate) fn in_box(&self, bounds: &Aabb) -> impl Iterator<Item = u32> {
        let around = BvhNode::leaf(tree_box(bounds), 0);
        self.tree().leaves(move |node| node.intersects(&around))
    }
}
