//! Broad phase: pairs of bodies whose swept boxes overlap during the step.
//!
//! Enlarged boxes and their overlapping pairs persist from frame to frame, so that only bodies that
//! left their enlarged box query the tree. The result depends on the current step alone, because
//! the swept boxes of the step decide which pairs are candidates.

use dynamics::Velocity;
use levelset::Aabb;
use nalgebra::{Isometry3, Point3, Vector3};
use parry3d::bounding_volume::{Aabb as TreeBox, BoundingVolume};
use parry3d::math::Vector as TreeVector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use rayon::prelude::*;

use crate::narrow::contacts::Resumed;
use crate::narrow::flight::Flight;
use crate::shape::Shape;
use crate::shape::field::Field;
use crate::{Columns, Groups};

/// Margin of an enlarged box as a share of the body's radius.
const GROWTH: f64 = 0.1;
/// The tree is rebuilt if more than one body in this many left its box.
const REBUILD_SHARE: usize = 8;
/// Pairs per task; fixed, so that the work is divided the same way for any thread count.
const CHUNK: usize = 4096;

/// The swept bounds of all bodies over a step, and the candidate pairs.
#[derive(Clone, Debug, Default)]
pub struct Broad {
    /// Persistent names of the bodies.
    names: Vec<u64>,
    /// The enlarged boxes of bounded bodies.
    tree: Bvh,
    /// Indices of the bounded bodies in order: the leaves of the tree.
    bounded: Vec<u32>,
    /// Leaves changed since the tree was built.
    changes: usize,
    /// Pairs of overlapping enlarged boxes, in ascending order.
    overlaps: Vec<(u32, u32)>,
    unbounded: Vec<u32>,
    /// Swept box of each body; with its margin it lies inside the enlarged box while that is kept.
    boxes: Vec<TreeBox>,
    grown: Vec<TreeBox>,
    /// Empty if nothing moves.
    balls: Vec<Ball>,
    groups: Vec<Groups>,
    /// Largest gap of candidate pairs as a share of the smaller radius.
    margin: f64,
}

/// Pairs of bodies that may touch in a step.
#[derive(Default)]
pub(crate) struct Pairs {
    /// `(a, b)`, `a < b`, sorted: pairs whose swept bounding spheres overlap.
    pub(crate) near: Vec<(u32, u32)>,
    /// Number of pairs whose boxes overlap or have a gap of at most the margin.
    pub(crate) boxes: usize,
}

/// Bodies between `poses` and `predicted`.
#[derive(Clone, Copy)]
pub(crate) struct StepMotion<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) poses: &'a [Isometry3<f64>],
    pub(crate) predicted: &'a [Isometry3<f64>],
    /// The motion between them; `None` if bodies are only at one of the two poses.
    pub(crate) motion: Option<FreeMotion<'a>>,
}

/// Motion with constant acceleration and angular velocity.
#[derive(Clone, Copy)]
pub(crate) struct FreeMotion<'a> {
    /// Velocities at the middle of the step.
    pub(crate) velocities: &'a [Velocity],
    /// Change of each velocity by forces in half the step.
    pub(crate) half_kick: &'a [Velocity],
    /// The last collision of each body in this step; empty if there were none.
    pub(crate) flights: &'a [Flight],
    /// Length of the step, s.
    pub(crate) dt: f64,
}

/// The path of a body over the step, or over the rest of it after a collision.
struct BodyPath {
    start: Isometry3<f64>,
    end: Isometry3<f64>,
    /// Displacement by forces, m.
    fall: Vector3<f64>,
    /// Rotation angle, rad.
    angle: f64,
}

impl StepMotion<'_> {
    fn path(&self, i: usize) -> BodyPath {
        let (mut start, end) = (self.poses[i], self.predicted[i]);
        let Some(FreeMotion { velocities, half_kick, flights, dt }) = self.motion else {
            return BodyPath { start, end, fall: Vector3::zeros(), angle: 0.0 };
        };
        let mut fall = half_kick[i].linear * dt;
        let mut rest = 1.0;
        if let Some(flight) = flights.get(i).filter(|flight| flight.since > 0.0) {
            let time = (flight.since / dt).min(1.0);
            let (from, to) = (start.translation.vector, end.translation.vector);
            let place = from + (to - from) * time - fall * (time * (1.0 - time));
            start = Isometry3::from_parts(place.into(), flight.rotation);
            rest = 1.0 - time;
            fall *= rest * rest;
        }
        BodyPath { start, end, fall, angle: velocities[i].angular.norm() * dt * rest }
    }
}

impl BodyPath {
    fn travel(&self) -> Vector3<f64> {
        self.end.translation.vector - self.start.translation.vector
    }

    /// How far the parabola of a point extends beyond the bounding box of its end points along each
    /// axis, m. The displacement of the point may differ from that of the body by `aside` m.
    fn bulge(&self, aside: f64) -> Vector3<f64> {
        let along = |fall: f64, travel: f64| {
            let travel = (travel.abs() - aside).max(0.0);
            let turns_back = travel < fall.abs();
            if turns_back { -(fall.abs() - travel).powi(2) / (4.0 * fall) } else { 0.0 }
        };
        self.fall.zip_map(&self.travel(), along)
    }

    /// Largest distance of the parabola from the chord between its ends, m.
    fn bend(&self) -> f64 {
        let (fall, travel) = (&self.fall, self.travel());
        let length = travel.norm();
        let along = if length > 0.0 { fall.dot(&travel).abs() / length } else { fall.norm() };
        let across = (fall.norm_squared() - along * along).max(0.0).sqrt();
        let beyond = if length < along { (along - length).powi(2) / along } else { 0.0 };
        0.25 * libm::hypot(across, beyond)
    }
}

/// The bounding sphere of a body, swept over the step.
#[derive(Clone, Copy, Debug)]
struct Ball {
    end: Vector3<f64>,
    travel: Vector3<f64>,
    radius: f64,
    /// Largest distance of the path from the chord between its ends, m.
    bend: f64,
    moves: bool,
    /// Unit normal and offset of a static half-space, m.
    plane: Option<(Vector3<f64>, f64)>,
}

impl Broad {
    /// Bounds without state of an earlier step.
    pub(crate) fn new(motion: StepMotion<'_>, margin: f64) -> Self {
        let names: Vec<u64> = (0..motion.poses.len() as u64).collect();
        let mut broad = Self::default();
        broad.place(motion, margin, &names);
        broad
    }

    /// Updates all bounds for the next step. `margin` is the largest gap of candidate pairs as a
    /// share of the smaller radius. `names` persist over frames.
    pub(crate) fn place(&mut self, motion: StepMotion<'_>, margin: f64, names: &[u64]) {
        let Columns { bodies, shapes, groups, .. } = motion.columns;
        self.balls.clear();
        if !bodies.iter().any(|body| body.mass_properties().is_some()) {
            // no new contacts
            return;
        }
        self.margin = margin;
        self.groups.clear();
        self.groups.extend_from_slice(groups);
        self.balls.extend((0..shapes.len()).map(|i| Ball::new(motion, i)));
        (0..shapes.len())
            .into_par_iter()
            .with_min_len(512)
            .map(|i| swept(motion, i))
            .collect_into_vec(&mut self.boxes);
        let unbounded: Vec<u32> = (0..)
            .zip(shapes)
            .filter(|(_, s)| !bounding_radius(s).is_finite())
            .map(|(i, _)| i)
            .collect();
        if self.names == names && self.unbounded == unbounded {
            self.refit();
        } else {
            self.names.clear();
            self.names.extend_from_slice(names);
            self.unbounded = unbounded;
            self.build();
        }
    }

    /// Updates the bounds of the bodies for which `renewed` holds.
    pub(crate) fn update(&mut self, motion: StepMotion<'_>, renewed: &[bool]) {
        if self.balls.is_empty() {
            return;
        }
        for i in (0..renewed.len()).filter(|&i| renewed[i]) {
            self.boxes[i] = swept(motion, i);
            self.balls[i] = Ball::new(motion, i);
        }
        self.refit();
    }

    /// Updates the overlaps of bodies that left their enlarged boxes.
    fn refit(&mut self) {
        let outside: Vec<bool> = (0..self.boxes.len())
            .map(|i| self.is_bounded(i) && !self.grown[i].contains(&self.with_margin(i)))
            .collect();
        let count = outside.iter().filter(|&&outside| outside).count();
        self.changes += count;
        if count == 0 {
            return;
        }
        // a tree cannot hold a box that is not finite, nor its neighbors
        let is_whole = |i: usize| is_finite(&self.boxes[i]) && is_finite(&self.grown[i]);
        let torn = (0..outside.len()).any(|i| outside[i] && !is_whole(i));
        if torn || count > outside.len() / REBUILD_SHARE || self.changes > outside.len() {
            self.build();
            return;
        }
        for leaf in 0..self.bounded.len() {
            let i = self.bounded[leaf] as usize;
            if outside[i] {
                self.grown[i] = self.grow(i);
                self.tree.insert(self.grown[i], leaf as u32);
            }
        }
        self.overlaps.retain(|&(i, j)| !outside[i as usize] && !outside[j as usize]);
        for (i, _) in (0..).zip(&outside).filter(|&(_, &outside)| outside) {
            let others = self.tree.intersect_aabb(&self.grown[i as usize]);
            let others = others.map(|leaf| self.bounded[leaf as usize]);
            // if both left their boxes, each finds the other
            let found = others.filter(|&j| j < i || j > i && !outside[j as usize]);
            self.overlaps.extend(found.map(|j| (i.min(j), i.max(j))));
        }
        // a stable sort is fast on sorted runs
        self.overlaps.sort();
    }

    fn build(&mut self) {
        self.changes = 0;
        self.grown = (0..self.boxes.len()).map(|i| self.grow(i)).collect();
        let fits = |i: usize| self.is_bounded(i) && is_finite(&self.grown[i]);
        self.bounded = (0..self.boxes.len() as u32).filter(|&i| fits(i as usize)).collect();
        let leaves: Vec<TreeBox> = self.bounded.iter().map(|&i| self.grown[i as usize]).collect();
        self.tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves);
        let mut overlaps = std::mem::take(&mut self.overlaps);
        overlaps.clear();
        let mut found = |p: u32, q: u32| {
            let (i, j) = (self.bounded[p as usize], self.bounded[q as usize]);
            overlaps.push((i.min(j), i.max(j)));
        };
        self.tree.traverse_bvtt_single_tree::<false>(&mut BvhWorkspace::default(), &mut found);
        overlaps.sort_unstable();
        self.overlaps = overlaps;
    }

    /// Whether the box of a body is finite; that of a half-space is not.
    fn is_bounded(&self, i: usize) -> bool {
        self.balls[i].radius.is_finite()
    }

    /// The swept box of a body with its margin. At least one body of a candidate pair moves, and
    /// its margin is at least that of the pair, so that static bodies need none, however large they
    /// are.
    fn with_margin(&self, i: usize) -> TreeBox {
        let Ball { radius, moves, .. } = &self.balls[i];
        let margin = self.margin * radius;
        if *moves { self.boxes[i].loosened(margin) } else { self.boxes[i] }
    }

    /// The box of a body with its margin and room to move. Static bodies and bodies that leave any
    /// such box within a step get no room.
    fn grow(&self, i: usize) -> TreeBox {
        let Ball { travel, radius, moves, .. } = &self.balls[i];
        let (room, own) = (GROWTH * radius, self.with_margin(i));
        if *moves && travel.norm() < room { own.loosened(room) } else { own }
    }

    /// All candidate pairs.
    pub(crate) fn pairs(&self) -> Pairs {
        self.chosen_pairs(|_, _| true)
    }

    /// The candidate pairs of the bodies for which `renewed` holds, and the `resumed` pairs, which
    /// are sorted.
    pub(crate) fn renewed_pairs(&self, renewed: &[bool], resumed: &[Resumed]) -> Pairs {
        self.chosen_pairs(|i, j| {
            renewed[i as usize]
                || renewed[j as usize]
                || Resumed::of(resumed, (i.min(j), i.max(j))).is_some()
        })
    }

    /// The candidate pairs for which `chosen` holds.
    fn chosen_pairs(&self, chosen: impl Fn(u32, u32) -> bool + Sync) -> Pairs {
        let mut all = Pairs::default();
        if self.balls.is_empty() {
            return all;
        }
        let of = |pairs: &[(u32, u32)]| {
            let mut found = Pairs::default();
            let wanted = pairs.iter().filter(|&&(i, j)| chosen(i, j));
            wanted.for_each(|&(i, j)| self.add(i, j, &mut found));
            found
        };
        let parts: Vec<Pairs> = self.overlaps.par_chunks(CHUNK).map(of).collect();
        for mut part in parts {
            all.near.append(&mut part.near);
            all.boxes += part.boxes;
        }
        for &u in &self.unbounded {
            let wanted = self.bounded.iter().filter(|&&i| chosen(i, u));
            wanted.for_each(|&i| self.add(u, i, &mut all));
        }
        // a stable sort is fast on sorted runs
        all.near.sort();
        all
    }

    fn add(&self, i: u32, j: u32, found: &mut Pairs) {
        let [p, q] = [i, j].map(|i| &self.balls[i as usize]);
        let margin = self.margin * p.radius.min(q.radius);
        let close = || self.boxes[i as usize].loosened(margin).intersects(&self.boxes[j as usize]);
        if !(p.moves || q.moves) || !close() {
            return;
        }
        found.boxes += 1;
        let reach = p.radius + q.radius + margin + p.bend + q.bend;
        let may = self.groups[i as usize].meet(&self.groups[j as usize]);
        let above = p.is_above(q, self.margin) || q.is_above(p, self.margin);
        // an infinite reach passes
        if may && !above && p.nearest(q) <= reach {
            found.near.push((i.min(j), i.max(j)));
        }
    }
}

impl Ball {
    fn new(motion: StepMotion<'_>, i: usize) -> Self {
        let path = motion.path(i);
        let (end, travel) = (path.end.translation.vector, path.travel());
        let radius = bounding_radius(&motion.columns.shapes[i]);
        let moves = motion.columns.bodies[i].mass_properties().is_some();
        let stays = motion.poses[i] == motion.predicted[i];
        let is_plane = matches!(motion.columns.shapes[i].field(), Field::HalfSpace);
        let plane = (is_plane && stays).then(|| {
            let normal = motion.poses[i] * Vector3::y();
            (normal, normal.dot(&motion.poses[i].translation.vector))
        });
        let bend = path.bend();
        Self { end, travel, radius, bend, moves, plane }
    }

    /// Whether the sphere stays above the plane of the other body by more than the share `margin`
    /// of its radius.
    fn is_above(&self, other: &Self, margin: f64) -> bool {
        other.plane.is_some_and(|(normal, offset)| {
            let height = normal.dot(&self.end) - normal.dot(&self.travel).max(0.0) - offset;
            height - self.bend > (1.0 + margin) * self.radius
        })
    }

    /// The least distance of the two centers over the step, m.
    fn nearest(&self, other: &Self) -> f64 {
        let (end, travel) = (self.end - other.end, self.travel - other.travel);
        let length = travel.norm_squared();
        let back = if length > 0.0 { (end.dot(&travel) / length).clamp(0.0, 1.0) } else { 0.0 };
        (end - travel * back).norm()
    }
}

fn is_finite(bounds: &TreeBox) -> bool {
    bounds.mins.is_finite() && bounds.maxs.is_finite()
}

/// The radius of a shape, m. The radius of an unusable shape may be negative or NaN: the box of
/// such a shape has no margin, or is unbounded.
fn bounding_radius(shape: &Shape) -> f64 {
    let radius = shape.radius();
    if radius.is_finite() { radius.max(0.0) } else { f64::INFINITY }
}

/// The swept box of body `i`.
fn swept(motion: StepMotion<'_>, i: usize) -> TreeBox {
    let shape: &Shape = &motion.columns.shapes[i];
    let radius = bounding_radius(shape);
    if !radius.is_finite() {
        return TreeBox::new(TreeVector::splat(f64::MIN), TreeVector::splat(f64::MAX));
    }
    let path = motion.path(i);
    let BodyPath { start, end, angle, .. } = &path;
    let bounds = merge(&turned(shape.bounds(), start), &turned(shape.bounds(), end));
    let bulge = path.bulge(angle * radius);
    let stretch = |bounds: Aabb| {
        let (low, high) = (bulge.inf(&Vector3::zeros()), bulge.sup(&Vector3::zeros()));
        Aabb { min: bounds.min + low, max: bounds.max + high }
    };
    if *angle == 0.0 {
        return tree_box(&stretch(bounds));
    }
    // error bound of linear interpolation along an arc
    let arcs = loosened(&bounds, radius * angle * angle / 8.0);
    let ball = |pose: &Isometry3<f64>| {
        let center = Point3::from(pose.translation.vector);
        loosened(&Aabb { min: center, max: center }, radius)
    };
    let balls = merge(&ball(start), &ball(end));
    let both = Aabb { min: arcs.min.sup(&balls.min), max: arcs.max.inf(&balls.max) };
    tree_box(&stretch(both))
}

fn loosened(bounds: &Aabb, by: f64) -> Aabb {
    let by = Vector3::repeat(by);
    Aabb { min: bounds.min - by, max: bounds.max + by }
}

pub(crate) fn turned(bounds: &Aabb, pose: &Isometry3<f64>) -> Aabb {
    let center = pose * bounds.center();
    let half = bounds.extents() / 2.0;
    let reach = pose.rotation.to_rotation_matrix().into_inner().abs() * half;
    Aabb { min: center - reach, max: center + reach }
}

fn merge(a: &Aabb, b: &Aabb) -> Aabb {
    Aabb { min: a.min.inf(&b.min), max: a.max.sup(&b.max) }
}

pub(crate) fn tree_box(b: &Aabb) -> TreeBox {
    let vector = |p: &Point3<f64>| TreeVector::from_array(Vector3::from(p.coords).into());
    TreeBox::new(vector(&b.min), vector(&b.max))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dynamics::{Body, MassProperties};
    use nalgebra::UnitQuaternion;

    use super::*;
    use crate::Material;

    /// A large body is a candidate only for the bodies near its surface, and these only for their
    /// neighbors, whether the large body moves or not.
    #[test]
    fn pairs_beside_a_large_body_grow_with_the_number_of_bodies() {
        let mass = MassProperties::new(1.0, Vector3::repeat(0.1)).expect("a mass");
        let count = |side: usize, floor: Body| {
            let n = side * side * side + 1;
            let bodies: Vec<Body> =
                (0..n).map(|i| if i == 0 { floor } else { Body::Dynamic(mass) }).collect();
            let (large, small) =
                (Shape::cuboid(Vector3::new(100.0, 1.0, 100.0), 0.5), Shape::ball(0.1));
            let (large, small) = (Arc::new(large), Arc::new(small));
            let shapes: Vec<_> =
                (0..n).map(|i| if i == 0 { large.clone() } else { small.clone() }).collect();
            let (materials, groups) = (vec![Material::default(); n], vec![Groups::default(); n]);
            let columns = Columns {
                bodies: &bodies,
                shapes: &shapes,
                materials: &materials,
                groups: &groups,
            };
            let place = |i: usize| {
                let at = [i % side, i / side % side, i / side / side].map(|k| 0.4 * k as f64);
                Isometry3::translation(at[0], 0.3 + at[1], at[2])
            };
            let floor = Isometry3::translation(0.0, -1.0, 0.0);
            let poses: Vec<_> = std::iter::once(floor).chain((0..n - 1).map(place)).collect();
            let broad = Broad::new(
                StepMotion { columns, poses: &poses, predicted: &poses, motion: None },
                0.05,
            );
            (broad.overlaps.len(), broad.pairs())
        };
        for (floor, most) in [(Body::Static, 0), (Body::Dynamic(mass), 1000)] {
            let (kept, pairs) = count(10, floor);
            // the balls are 0.2 m apart, and the lowest ones are 0.2 m above the floor
            assert!(kept <= most, "{kept} pairs of grown boxes");
            assert_eq!((pairs.boxes, pairs.near.len()), (0, 0));
        }
    }

    /// At all times of a step a body is inside its swept box and within the bend of its swept
    /// sphere.
    #[test]
    fn the_swept_box_holds_a_body_that_turns_and_falls() {
        let mut state = 11u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
        };
        let mut vector = |size: f64| Vector3::new(random(), random(), random()) * size;
        let mass = MassProperties::new(1.0, Vector3::repeat(0.1)).expect("a mass");
        for case in 0..300 {
            let shape = Shape::cuboid(vector(0.4).abs().add_scalar(0.01), 0.01);
            let (pose, dt) = (Isometry3::new(vector(1.0), vector(6.0)), 0.1);
            let velocity = Velocity {
                linear: vector([0.2, 2.0, 20.0][case % 3]),
                angular: vector([1.0, 20.0, 100.0, 1000.0][case % 4]),
            };
            let half_kick = Velocity { linear: vector(2.0), ..Velocity::default() };
            let at = |time: f64| {
                let place = velocity.linear * time + half_kick.linear * (time * (time - dt) / dt);
                let turn = UnitQuaternion::from_scaled_axis(velocity.angular * time);
                let place = (pose.translation.vector + place).into();
                Isometry3::from_parts(place, turn * pose.rotation)
            };
            let (shapes, predicted) = ([Arc::new(shape)], at(dt));
            let (bodies, materials) = ([Body::Dynamic(mass)], [Material::default()]);
            let groups = [Groups::default()];
            let columns = Columns {
                bodies: &bodies,
                shapes: &shapes,
                materials: &materials,
                groups: &groups,
            };
            let (velocities, half_kicks) = ([velocity], [half_kick]);
            let motion = Some(FreeMotion {
                velocities: &velocities,
                half_kick: &half_kicks,
                flights: &[],
                dt,
            });
            let motion = StepMotion { columns, poses: &[pose], predicted: &[predicted], motion };
            let (swept, ball) = (swept(motion, 0), Ball::new(motion, 0));
            for n in 0..=200 {
                let now = at(dt * f64::from(n) / 200.0);
                let own = tree_box(&turned(shapes[0].bounds(), &now));
                assert!(swept.loosened(1e-9).contains(&own), "case {case}, {n}");
                let stay = Ball { end: now.translation.vector, travel: Vector3::zeros(), ..ball };
                assert!(ball.nearest(&stay) <= ball.bend + 1e-9, "case {case}, {n}");
            }
        }
    }

    #[test]
    fn persistent_boxes_do_not_change_the_pairs() {
        const COUNT: usize = 200;
        let mut state = 7u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
        };
        let mut vector = |size: f64| Vector3::new(random(), random(), random()) * size;
        let mass = MassProperties::new(1.0, Vector3::repeat(0.1)).expect("a mass");
        let still = |i: usize| i.is_multiple_of(7);
        let bodies: Vec<Body> =
            (0..COUNT).map(|i| if still(i) { Body::Static } else { Body::Dynamic(mass) }).collect();
        let shape = |i: usize| match i {
            0 => Shape::half_space(),
            _ => Shape::ball(0.05 + 0.01 * (i % 9) as f64),
        };
        let shapes: Vec<_> = (0..COUNT).map(|i| Arc::new(shape(i))).collect();
        let (materials, groups) =
            (vec![Material::default(); COUNT], vec![Groups::default(); COUNT]);
        let columns =
            Columns { bodies: &bodies, shapes: &shapes, materials: &materials, groups: &groups };
        let mut poses: Vec<Isometry3<f64>> =
            (0..COUNT).map(|_| Isometry3::new(vector(2.0), vector(1.0))).collect();
        let names: Vec<u64> = (10..).take(COUNT).collect();
        let (mut kept, mut rebuilt, mut seen, mut torn) = (Broad::default(), 0, 0, 0);
        for frame in 0..60 {
            // slow, then at rest, then faster and faster
            let speed = [0.004, 0.0, 0.03, 0.3][frame / 15];
            let predicted: Vec<_> = poses
                .iter()
                .enumerate()
                .map(|(i, pose)| {
                    let moved = if still(i) { Vector3::zeros() } else { vector(speed) };
                    Isometry3::from_parts((pose.translation.vector + moved).into(), pose.rotation)
                })
                .collect();
            let motion = StepMotion { columns, poses: &poses, predicted: &predicted, motion: None };
            kept.place(motion, 0.05, &names);
            rebuilt += usize::from(kept.changes == 0);
            let (found, fresh) = (kept.pairs(), Broad::new(motion, 0.05).pairs());
            assert_eq!(found.near, fresh.near, "frame {frame}");
            assert_eq!(found.boxes, fresh.boxes, "frame {frame}");
            seen += found.near.len();

            // collisions change the motion of some within the frame
            let mut elsewhere = predicted.clone();
            let renewed: Vec<bool> =
                (0..COUNT).map(|i| !still(i) && (i + frame).is_multiple_of(40)).collect();
            for i in (0..COUNT).filter(|&i| renewed[i]) {
                elsewhere[i].translation.vector += vector(0.5);
            }
            let n = 40 - frame % 40;
            if frame % 3 == 1 && renewed[n] {
                elsewhere[n].translation.vector.x = f64::NAN;
                torn += 1;
            }
            let motion = StepMotion { predicted: &elsewhere, ..motion };
            kept.update(motion, &renewed);
            assert_eq!(kept.pairs().near, Broad::new(motion, 0.05).pairs().near, "frame {frame}");
            let mine = kept.renewed_pairs(&renewed, &[]).near;
            let mut all = kept.pairs().near;
            all.retain(|&(i, j)| renewed[i as usize] || renewed[j as usize]);
            assert_eq!(mine, all, "frame {frame}");
            for (pose, end) in poses.iter_mut().zip(elsewhere) {
                if end.translation.vector.x.is_finite() {
                    *pose = end;
                }
            }
        }
        assert!(seen > 5_000, "{seen} pairs");
        assert!(torn > 10, "{torn} places are not finite");
        assert!((1..59).contains(&rebuilt), "built {rebuilt} times");
    }
}
