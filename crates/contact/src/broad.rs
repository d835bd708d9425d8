//! Broad phase: pairs of bodies whose boxes overlap at some time of the step.

use dynamics::Body;
use levelset::Aabb;
use nalgebra::{Isometry3, Point3, Vector3};
use parry3d::bounding_volume::Aabb as TreeBox;
use parry3d::math::Vector as TreeVector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

use crate::Columns;

/// Pairs `(a, b)`, `a < b`, that may touch between `poses` and `predicted`, sorted.
pub(crate) fn pairs(
    columns: Columns<'_>,
    poses: &[Isometry3<f64>],
    predicted: &[Isometry3<f64>],
    margin: f64,
) -> Vec<(u32, u32)> {
    let mut bounded = Vec::new();
    let mut unbounded = Vec::new();
    for (i, shape) in columns.shapes.iter().enumerate() {
        if shape.radius().is_finite() { bounded.push(i) } else { unbounded.push(i) }
    }
    let boxes: Vec<TreeBox> = bounded
        .iter()
        .map(|&i| {
            let bounds = columns.shapes[i].bounds();
            let swept = merge(&turned(bounds, &poses[i]), &turned(bounds, &predicted[i]));
            tree_box(&swept.grown(margin))
        })
        .collect();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    let mut pairs = Vec::new();
    tree.traverse_bvtt_single_tree::<false>(&mut BvhWorkspace::default(), &mut |p, q| {
        let (i, j) = (bounded[p as usize], bounded[q as usize]);
        pairs.push((i.min(j) as u32, i.max(j) as u32));
    });
    for &u in &unbounded {
        for &i in &bounded {
            pairs.push((u.min(i) as u32, u.max(i) as u32));
        }
    }
    let moves = |i: u32| matches!(columns.bodies[i as usize], Body::Dynamic(_));
    pairs.retain(|&(i, j)| moves(i) || moves(j));
    pairs.sort_unstable();
    pairs
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
