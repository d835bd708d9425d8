//! Collisions of pairs, and the impulses at which bodies break.

use std::collections::BTreeMap;

use dynamics::Velocity;
use nalgebra::{Isometry3, Point3, Vector3};

use crate::constraint::Reaction;
use crate::narrow::contacts::Resumed;

/// A collision of two bodies.
///
/// [`Solver::Manifold`](crate::Solver::Manifold) sums the impulses of all contacts of the pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// First body.
    pub a: u32,
    /// Second body.
    pub b: u32,
    /// The contact with the largest impulse along the total, in body coordinates of `a` and of `b`,
    /// m.
    pub at: [Point3<f64>; 2],
    /// Time of impact, s since the start of the step.
    pub time: f64,
    /// The poses of `a` and of `b` at the time of impact.
    pub poses: [Isometry3<f64>; 2],
    /// Unit normal in world axes, out of `b`.
    pub normal: Vector3<f64>,
    /// The impulse on `a` if neither body breaks, N s; `b` receives the opposite.
    pub impulse: Vector3<f64>,
    /// Largest approach speed along the normal of a contact, m/s.
    pub approach: f64,
    /// Normal impulse of a plastic impact divided by the approach speed, kg: the effective mass
    /// along the normal for a single contact without friction.
    pub mass: f64,
    /// The only body that this collision may break, if the impulse is the sum of all simultaneous
    /// impulses on one side of that body or one of them; `None` if either body may break.
    pub struck: Option<u32>,
}

/// The bodies that may break in a collision, and their breaking impulses.
pub struct StrengthQuery<'a> {
    /// Whether each body may break; `strengths` is called only for collisions of these bodies.
    pub may_break: &'a [bool],
    /// The largest impulses that the first and the second body can bear, N s. The second argument
    /// is false if the collision does not take place and its impulse is an upper bound.
    pub strengths: &'a mut dyn FnMut(&Collision, bool) -> [f64; 2],
    /// Limit of deviated bodies: bodies that left the path that the contact search assumed. Beyond
    /// it the pass ends before the next later impact, as unknown impacts may precede it, or at once
    /// if a body breaks.
    pub max_deviated: usize,
}

/// Contact point in body coordinates of both bodies, m, time of impact, s, and the poses at that
/// time.
#[derive(Clone, Copy)]
pub(crate) struct ImpactState {
    pub(crate) at: [Point3<f64>; 2],
    pub(crate) time: f64,
    pub(crate) poses: [Isometry3<f64>; 2],
}

/// The total impulse of a pair, N s, and the index of the contact with the largest component along
/// it; `None` if the total is zero. Contacts on both sides of a slot have opposite normals: the
/// largest impulse may oppose the total.
pub(crate) fn total(impulses: &[Vector3<f64>]) -> Option<(Vector3<f64>, usize)> {
    let total: Vector3<f64> = impulses.iter().sum();
    let along = |n: &usize| impulses[*n].dot(&total);
    let first = |p: usize, q: usize| if along(&q) > along(&p) { q } else { p };
    let hardest = (0..impulses.len()).reduce(first)?;
    (total != Vector3::zeros()).then_some((total, hardest))
}

/// The total impulse of a pair, and the speeds that determine the effective mass.
#[derive(Clone, Copy)]
pub(crate) struct PairImpulse {
    /// Unit normal in world axes, out of the second body.
    pub(crate) normal: Vector3<f64>,
    /// On the first body, N s.
    pub(crate) impulse: Vector3<f64>,
    /// Largest approach speed at a contact, m/s.
    pub(crate) approach: f64,
    pub(crate) restitution: f64,
}

impl Collision {
    pub(crate) fn new([a, b]: [u32; 2], state: ImpactState, exchanged: PairImpulse) -> Self {
        let ImpactState { at, time, poses } = state;
        let PairImpulse { normal, impulse, approach, restitution } = exchanged;
        let mass = impulse.dot(&normal).max(0.0) / ((1.0 + restitution) * approach);
        Self { a, b, at, time, poses, normal, impulse, approach, mass, struck: None }
    }

    /// The collision with a share of its impulse.
    pub(crate) fn scaled(&self, share: f64) -> Self {
        Self { impulse: self.impulse * share, ..*self }
    }
}

impl StrengthQuery<'_> {
    /// The share of the impulse that the weaker body of the pair bears; `None` if both bear all of
    /// it.
    pub(crate) fn share(&mut self, collision: &Collision) -> Option<f64> {
        if !self.may_break[collision.a as usize] && !self.may_break[collision.b as usize] {
            return None;
        }
        let [p, q] = (self.strengths)(collision, true);
        let (strength, size) = (p.min(q), collision.impulse.norm());
        (size >= strength).then(|| if size > 0.0 { (strength / size).clamp(0.0, 1.0) } else { 0.0 })
    }
}

/// The pose of a body at a collision in free flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// The body.
    pub body: u32,
    /// Time of the collision, s since the start of the step.
    pub time: f64,
    /// Pose at that time.
    pub pose: Isometry3<f64>,
}

/// Result of a collision pass.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Collisions {
    /// Collisions that break a body. The sum of simultaneous impulses on a body is followed by the
    /// collisions of that body with the same [`Collision::struck`].
    pub breaking: Vec<Collision>,
    /// Collisions with the impulses that were applied, in the order in which they took place. The
    /// bodies of a breaking collision exchange the largest impulse that the weaker one withstands.
    pub exchanged: Vec<Collision>,
    /// Collisions in free flight, by time for each body.
    pub waypoints: Vec<Waypoint>,
    /// Work done by kinematic bodies, J.
    pub work: f64,
    /// Indices of joints in [`Frame::joints`](crate::Frame) and their impulses during collisions, N s and N m s.
    pub joints: Vec<(usize, Reaction)>,
    /// Whether each body left the path that the contact search assumed; its contacts must be
    /// searched again.
    pub deviated: Vec<bool>,
    /// Pairs to search again from a later time, sorted.
    pub resumed: Vec<Resumed>,
    /// Displacement of the virtual starts, m and rad.
    pub shifts: Vec<Velocity>,
    /// Pairs with a body that reached the limit of collisions; the contact passes stop their
    /// approach.
    pub limited: usize,
}

/// The simultaneous load on each breakable body: the sum of its collision impulses within a right
/// angle of the largest one, if there are several.
pub(crate) fn sums(collisions: &[Collision], may_break: &[bool]) -> Vec<Collision> {
    let sides = |collision: &Collision| {
        [(collision.a, collision.impulse), (collision.b, -collision.impulse)]
    };
    let mut hardest: BTreeMap<u32, (usize, Vector3<f64>)> = BTreeMap::new();
    for (n, collision) in collisions.iter().enumerate() {
        for (body, impulse) in sides(collision).into_iter().filter(|(i, _)| may_break[*i as usize])
        {
            let known = hardest.entry(body).or_insert((n, impulse));
            if impulse.norm_squared() > known.1.norm_squared() {
                *known = (n, impulse);
            }
        }
    }
    let mut totals: BTreeMap<u32, (usize, Vector3<f64>)> = BTreeMap::new();
    for (body, impulse) in collisions.iter().flat_map(sides) {
        if hardest.get(&body).is_some_and(|(_, own)| own.dot(&impulse) > 0.0) {
            let (count, total) = totals.entry(body).or_default();
            *count += 1;
            *total += impulse;
        }
    }
    let sum = |(body, (count, total)): (u32, (usize, Vector3<f64>))| {
        let collision = collisions[hardest.get(&body)?.0];
        let impulse = if body == collision.a { total } else { -total };
        let [all, own] = [impulse, collision.impulse].map(|j| j.dot(&collision.normal));
        // the same restitution as that of the largest impulse
        let mass = if own > 0.0 { collision.mass * all.max(0.0) / own } else { 0.0 };
        (count > 1).then_some(Collision { impulse, mass, struck: Some(body), ..collision })
    };
    totals.into_iter().filter_map(sum).collect()
}
