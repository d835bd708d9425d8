//! Broad phase: pairs of bodies whose boxes overlap at some time of the step. The tree is built
//! anew each frame and updated within it.

use levelset::Aabb;
use nalgebra::{Isometry3, Point3, Vector3};
use parry3d::bounding_volume::Aabb as TreeBox;
use parry3d::math::Vector as TreeVector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use rayon::prelude::*;

use crate::shape::Shape;
use crate::{Columns, Groups};

/// Bodies over a step, in a tree of their boxes.
#[derive(Clone, Default)]
pub(crate) struct Broad {
    tree: Bvh,
    /// Those with bounds: the leaves of the tree.
    bounded: Vec<u32>,
    unbounded: Vec<u32>,
    /// Per leaf.
    boxes: Vec<TreeBox>,
    /// Per body.
    balls: Vec<Ball>,
    /// Per body, which others it meets.
    groups: Vec<Groups>,
    /// Share of the smaller radius that bodies may be apart.
    margin: f64,
    /// The most that makes, m.
    grown: f64,
}

/// Pairs of bodies that may touch in a step.
#[derive(Default)]
pub(crate) struct Pairs {
    /// `(a, b)`, `a < b`, sorted, of which the bounding spheres meet.
    pub(crate) near: Vec<(u32, u32)>,
    /// How many have boxes that overlap.
    pub(crate) boxes: usize,
}

/// The sphere around a body over the step.
#[derive(Clone, Copy)]
struct Ball {
    end: Vector3<f64>,
    travel: Vector3<f64>,
    radius: f64,
    moves: bool,
}

impl Broad {
    /// Bodies between `poses` and `predicted`, looked for as near as the share `margin` of the
    /// smaller radius.
    pub(crate) fn new(
        columns: Columns<'_>,
        poses: &[Isometry3<f64>],
        predicted: &[Isometry3<f64>],
        margin: f64,
    ) -> Self {
        if !columns.bodies.iter().any(|body| body.mass_properties().is_some()) {
            // nothing touches anew
            return Self::default();
        }
        let largest = columns.shapes.iter().map(|s| s.radius()).filter(|r| r.is_finite());
        let grown = margin * largest.fold(0.0, f64::max);
        let (bounded, unbounded): (Vec<u32>, Vec<u32>) = (0..columns.shapes.len() as u32)
            .partition(|&i| columns.shapes[i as usize].radius().is_finite());
        let swept = |&i: &u32| swept(columns, poses, predicted, i as usize, grown);
        let boxes: Vec<TreeBox> = bounded.par_iter().with_min_len(512).map(swept).collect();
        let ball = |i| Ball::new(columns, poses, predicted, i);
        let balls = (0..columns.shapes.len()).map(ball).collect();
        let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        let groups = columns.groups.to_vec();
        Self { tree, bounded, unbounded, boxes, balls, groups, margin, grown }
    }

    /// Puts those bodies elsewhere for which `renewed` holds.
    pub(crate) fn update(
        &mut self,
        columns: Columns<'_>,
        poses: &[Isometry3<f64>],
        predicted: &[Isometry3<f64>],
        renewed: &[bool],
    ) {
        for (leaf, &body) in self.bounded.iter().enumerate() {
            if renewed[body as usize] {
                let i = body as usize;
                self.boxes[leaf] = swept(columns, poses, predicted, i, self.grown);
                self.tree.insert(self.boxes[leaf], leaf as u32);
            }
        }
        for (i, ball) in self.balls.iter_mut().enumerate().filter(|&(i, _)| renewed[i]) {
            *ball = Ball::new(columns, poses, predicted, i);
        }
    }

    /// All pairs that may touch.
    pub(crate) fn pairs(&self) -> Pairs {
        let Self { bounded, balls, .. } = self;
        let mut found = Pairs::default();
        let movers = balls.iter().filter(|ball| ball.moves).count();
        if movers < bounded.len() / 4 {
            self.pairs_of(|i| balls[i as usize].moves, &mut found);
        } else {
            self.all_pairs(|_, _| true, &mut found);
        }
        for &u in &self.unbounded {
            bounded.iter().for_each(|&i| self.add(u, i, &mut found));
        }
        found.near.sort_unstable();
        found
    }

    /// The pairs that may touch of the bodies for which `renewed` holds.
    pub(crate) fn renewed_pairs(&self, renewed: &[bool]) -> Pairs {
        let mut found = Pairs::default();
        let chosen = renewed.iter().filter(|&&renewed| renewed).count();
        if chosen < renewed.len() / 4 {
            self.pairs_of(|i| renewed[i as usize], &mut found);
        } else {
            self.all_pairs(|i, j| renewed[i as usize] || renewed[j as usize], &mut found);
        }
        for &u in &self.unbounded {
            let touched = |i: &&u32| renewed[**i as usize] || renewed[u as usize];
            self.bounded.iter().filter(touched).for_each(|&i| self.add(u, i, &mut found));
        }
        found.near.sort_unstable();
        found
    }

    /// Pairs of bodies with bounds that are `wanted`.
    fn all_pairs(&self, wanted: impl Fn(u32, u32) -> bool, found: &mut Pairs) {
        self.tree.traverse_bvtt_single_tree::<false>(&mut BvhWorkspace::default(), &mut |p, q| {
            let (i, j) = (self.bounded[p as usize], self.bounded[q as usize]);
            if wanted(i, j) {
                self.add(i, j, found);
            }
        });
    }

    /// Pairs of bodies with bounds of which one is among the `chosen`.
    fn pairs_of(&self, chosen: impl Fn(u32) -> bool, found: &mut Pairs) {
        let bounded = &self.bounded;
        for (p, bounds) in self.boxes.iter().enumerate().filter(|&(p, _)| chosen(bounded[p])) {
            for q in self.tree.intersect_aabb(bounds).map(|q| q as usize) {
                // of two that are chosen each finds the other
                if q < p || !chosen(bounded[q]) {
                    self.add(bounded[p], bounded[q], found);
                }
            }
        }
    }

    fn add(&self, i: u32, j: u32, found: &mut Pairs) {
        let (p, q) = (&self.balls[i as usize], &self.balls[j as usize]);
        if !(p.moves || q.moves) {
            return;
        }
        found.boxes += 1;
        let reach = p.radius + q.radius + self.margin * p.radius.min(q.radius);
        let may = self.groups[i as usize].meet(&self.groups[j as usize]);
        // infinite reach passes
        if may && p.nearest(q) <= reach {
            found.near.push((i.min(j), i.max(j)));
        }
    }
}

impl Ball {
    fn new(
        columns: Columns<'_>,
        poses: &[Isometry3<f64>],
        predicted: &[Isometry3<f64>],
        i: usize,
    ) -> Self {
        let (start, end) = (&poses[i].translation.vector, predicted[i].translation.vector);
        let (radius, moves) =
            (columns.shapes[i].radius(), columns.bodies[i].mass_properties().is_some());
        Self { end, travel: end - start, radius, moves }
    }

    /// The least distance of two centres over the step, m.
    fn nearest(&self, other: &Self) -> f64 {
        let (end, travel) = (self.end - other.end, self.travel - other.travel);
        let length = travel.norm_squared();
        let back = if length > 0.0 { (end.dot(&travel) / length).clamp(0.0, 1.0) } else { 0.0 };
        (end - travel * back).norm()
    }
}

/// The box around body `i` over the step, `grown` m wider.
fn swept(
    columns: Columns<'_>,
    poses: &[Isometry3<f64>],
    predicted: &[Isometry3<f64>],
    i: usize,
    grown: f64,
) -> TreeBox {
    let shape: &Shape = &columns.shapes[i];
    let bounds = merge(&turned(shape.bounds(), &poses[i]), &turned(shape.bounds(), &predicted[i]));
    tree_box(&bounds.grown(grown))
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
