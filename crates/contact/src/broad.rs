//! Broad phase: pairs of bodies whose boxes overlap at some time of the step.

use levelset::Aabb;
use nalgebra::{Isometry3, Point3, Vector3};
use parry3d::bounding_volume::Aabb as TreeBox;
use parry3d::math::Vector as TreeVector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use rayon::prelude::*;

use crate::Columns;
use crate::shape::Shape;

/// Pairs of bodies that may touch in a step.
pub(crate) struct Pairs {
    /// `(a, b)`, `a < b`, sorted, of which the bounding spheres meet.
    pub(crate) near: Vec<(u32, u32)>,
    /// How many have boxes that overlap.
    pub(crate) boxes: usize,
}

/// The sphere around a body over the step.
struct Ball {
    end: Vector3<f64>,
    travel: Vector3<f64>,
    radius: f64,
    moves: bool,
}

/// Pairs whose groups meet and that may touch between `poses` and `predicted` or come as near as the shares `margin` of
/// the smaller radius.
pub(crate) fn pairs(
    columns: Columns<'_>,
    poses: &[Isometry3<f64>],
    predicted: &[Isometry3<f64>],
    margin: f64,
) -> Pairs {
    let largest = columns.shapes.iter().map(|s| s.radius()).filter(|r| r.is_finite());
    let grown = margin * largest.fold(0.0, f64::max);
    let (bounded, unbounded): (Vec<usize>, Vec<usize>) =
        (0..columns.shapes.len()).partition(|&i| columns.shapes[i].radius().is_finite());
    let swept = |&i: &usize| {
        let shape: &Shape = &columns.shapes[i];
        let (start, end) = (&poses[i], &predicted[i]);
        let bounds = merge(&turned(shape.bounds(), start), &turned(shape.bounds(), end));
        tree_box(&bounds.grown(grown))
    };
    let mut found = Pairs { near: Vec::new(), boxes: 0 };
    if !columns.bodies.iter().any(|body| body.mass_properties().is_some()) {
        return found;
    }
    let boxes: Vec<TreeBox> = bounded.par_iter().with_min_len(512).map(swept).collect();
    let ball = |i: usize| {
        let (start, end) = (&poses[i].translation.vector, predicted[i].translation.vector);
        let (radius, moves) =
            (columns.shapes[i].radius(), columns.bodies[i].mass_properties().is_some());
        Ball { end, travel: end - start, radius, moves }
    };
    let balls: Vec<Ball> = (0..columns.shapes.len()).map(ball).collect();
    let meet = |i: usize, j: usize| {
        let (p, q) = (&balls[i], &balls[j]);
        let reach = p.radius + q.radius + margin * p.radius.min(q.radius);
        // infinite reach passes
        let apart = (p.end - q.end).norm();
        let may = columns.groups[i].meet(&columns.groups[j]);
        may && (p.moves || q.moves) && apart <= reach + (p.travel - q.travel).norm()
    };
    let movers = balls.iter().filter(|ball| ball.moves).count();
    let mut add = |i: usize, j: usize| {
        found.boxes += usize::from(balls[i].moves || balls[j].moves);
        if meet(i, j) {
            found.near.push((i.min(j) as u32, i.max(j) as u32));
        }
    };
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    if movers < bounded.len() / 4 {
        for (p, bounds) in boxes.iter().enumerate().filter(|&(p, _)| balls[bounded[p]].moves) {
            for q in tree.intersect_aabb(bounds).map(|q| q as usize) {
                // of two movers each finds the other
                if q < p || !balls[bounded[q]].moves {
                    add(bounded[p], bounded[q]);
                }
            }
        }
    } else {
        tree.traverse_bvtt_single_tree::<false>(&mut BvhWorkspace::default(), &mut |p, q| {
            add(bounded[p as usize], bounded[q as usize]);
        });
    }
    for &u in &unbounded {
        bounded.iter().for_each(|&i| add(u, i));
    }
    found.near.sort_unstable();
    found
}

fn turned(bounds: &Aabb, pose: &Isometry3<f64>) -> Aabb {
    let centre = pose * bounds.centre();
    let half = bounds.extents() / 2.0;
    let reach = pose.rotation.to_rotation_matrix().into_inner().abs() * half;
    Aabb { min: centre - reach, max: centre + reach }
}

fn merge(a: &Aabb, b: &Aabb) -> Aabb {
    Aabb { min: a.min.inf(&b.min), max: a.max.sup(&b.max) }
}

fn tree_box(b: &Aabb) -> TreeBox {
    let vector = |p: &Point3<f64>| TreeVector::from_array(Vector3::from(p.coords).into());
    TreeBox::new(vector(&b.min), vector(&b.max))
}
