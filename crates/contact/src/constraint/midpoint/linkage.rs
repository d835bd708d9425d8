//! One step of the midpoint rule for bodies that are connected by joints and touch nothing.

use dynamics::Body;
use nalgebra::{Isometry3, Matrix3, Vector3, Vector6};

use super::blocks::{Blocks, Pattern};
use super::body::{End, LinkageBody, PrescribedBody};
use super::joint_row::{self, JointRow, RowState, Rule, Stop};
use super::link::{Link, RowBlocks, add, delassus_diagonal, sides, speed_of, still};
use super::row_gradient::{Move, Stiffness};
use super::total_motion::TotalMotion;
use crate::constraint::direct::REGULARIZATION;
use crate::constraint::{Joint, Reaction};

/// Largest rotation of a body per inner step, rad. The phase error is its square over twelve.
const INNER_TURN: f64 = 0.25;
/// Limit of inner steps.
const MAX_INNER_STEPS: f64 = 512.0;
/// Limit of halvings of an inner step whose Newton iteration fails.
const MAX_HALVINGS: u32 = 6;
/// Limit of Newton steps.
const NEWTON_STEPS: usize = 16;
/// Limit of changes of the active set, beyond one for each joint with a limit or motor.
const ROUNDS: usize = 16;
/// Size of the last Newton step, rad and relative to the longest arm. The error is its square.
const SOLVED: f64 = 1e-8;
/// Newton step below which the factorization is reused (chord method), and the tolerance from
/// there.
const NEAR: f64 = 1e-3;
const SOLVED_NEAR: f64 = 1e-11;

/// A connected component of dynamic bodies and joints.
#[derive(Clone, Debug)]
pub(super) struct Linkage {
    pub(super) bodies: Vec<LinkageBody>,
    pub(super) prescribed: Vec<PrescribedBody>,
    pub(super) links: Vec<Link>,
    /// Longest arm of a joint, m.
    pub(super) size: f64,
    /// Work of motors and kinematic bodies, J.
    pub(super) work: f64,
    /// Whether an impact was not solved.
    unsolved: bool,
    /// Motion before joints were closed, if they were open.
    pub(super) before: Option<TotalMotion>,
}

/// A linkage at the end of a step.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    pub(super) bodies: Vec<LinkageBody>,
    /// Reactions by joint index.
    pub(super) reactions: Vec<(usize, Reaction)>,
    /// Work of motors and kinematic bodies, J.
    pub(super) work: f64,
    /// Whether an impact was not solved.
    pub(super) unsolved: bool,
}

impl Linkage {
    /// `bodies` are sorted by number. `None` if a joint has no discrete rows.
    pub(super) fn new(
        bodies: Vec<LinkageBody>,
        joints: &[(usize, &Joint)],
        (all, poses): (&[Body], &[Isometry3<f64>]),
    ) -> Option<Self> {
        let (mut prescribed, mut links, mut size) = (Vec::new(), Vec::new(), 0.0_f64);
        for &(number, joint) in joints {
            let mut end = |i: u32| match bodies.binary_search_by_key(&i, |body| body.number) {
                Ok(body) => End::Body(body),
                Err(_) => {
                    let i = i as usize;
                    prescribed.push(PrescribedBody { body: all[i], start: poses[i] });
                    End::Prescribed(prescribed.len() - 1)
                }
            };
            let ends = joint.bodies.map(&mut end);
            let arms = joint.frames.iter().map(|frame| frame.translation.vector.norm());
            size = arms.fold(size, f64::max);
            let rows = joint_row::rows(joint)?;
            let reaction = Reaction::default();
            links.push(Link { number, ends, frames: joint.frames, rows, reaction });
        }
        let size = if size > 0.0 { size } else { 1.0 };
        Some(Self { bodies, prescribed, links, size, work: 0.0, unsolved: false, before: None })
    }

    /// Advances by `dt`, s, with a warm start from the `last` impulses of each joint. `None` if the
    /// Newton iteration fails.
    pub(super) fn advance(mut self, dt: f64, joints: &[Joint]) -> Option<Moved> {
        let ends = |link: &Link| {
            link.ends.map(|end| match end {
                End::Body(body) => Some(body),
                End::Prescribed(_) => None,
            })
        };
        let ends: Vec<_> = self.links.iter().map(ends).collect();
        let pattern = Pattern::new(self.bodies.len(), &ends)?;
        let mut blocks = Blocks::new(&pattern);
        let before = self.before.filter(|_| self.prescribed.is_empty());
        before.iter().for_each(|before| before.turn(&mut self.bodies));
        if self.was_struck(joints) {
            self.unsolved |= !self.stop(Stop::Joints, 0.0, &mut blocks);
        }
        before.iter().for_each(|before| before.slow(&mut self.bodies));
        let steps = self.inner_steps(dt);
        let mut h = dt / steps;
        self.guess(joints, 1.0 / steps);
        let least = h * 0.5_f64.powi(MAX_HALVINGS as i32);
        let mut time = 0.0;
        while dt - time > 1e-9 * dt {
            h = h.min(dt - time);
            if self.step(time, h, &mut blocks) {
                time += h;
                continue;
            }
            h *= 0.5;
            if h < least {
                return None;
            }
            self.links.iter_mut().flat_map(|link| &mut link.rows).for_each(|row| {
                row.impulse = 0.0;
            });
        }
        let rates = self.rates(dt);
        self.links.iter_mut().zip(rates).for_each(|(link, rates)| link.reaction.rates = rates);
        let reactions = self.links.iter().map(|link| (link.number, link.reaction)).collect();
        let Self { bodies, work, unsolved, .. } = self;
        Some(Moved { bodies, reactions, work, unsolved })
    }

    fn inner_steps(&self, dt: f64) -> f64 {
        let spins = self.bodies.iter().map(|body| body.spin().norm());
        let prescribed =
            self.prescribed.iter().map(|body| body.velocity().fixed_rows::<3>(3).norm());
        let fastest = spins.chain(prescribed).fold(0.0, f64::max);
        (fastest * dt / INNER_TURN).ceil().clamp(1.0, MAX_INNER_STEPS)
    }

    /// Warm start from the last reactions.
    fn guess(&mut self, joints: &[Joint], share: f64) {
        for link in &mut self.links {
            let last = &joints[link.number].last.impulses;
            for (row, last) in link.rows.iter_mut().zip(last) {
                row.impulse = last * share;
                match row.rule {
                    Rule::Limit if *last > 0.0 => row.state = RowState::Active,
                    Rule::Limit => row.impulse = 0.0,
                    Rule::Bilateral | Rule::Motor { .. } => {}
                }
            }
        }
    }

    /// An inner step of `h`, s, at `time`, s. Returns `false` without any motion if the iteration
    /// fails.
    fn step(&mut self, time: f64, h: f64, blocks: &mut Blocks<'_>) -> bool {
        let motion = |body: &PrescribedBody| Move::between([time, time + h].map(|t| body.at(t)));
        let prescribed: Vec<Move> = self.prescribed.iter().map(motion).collect();
        self.aim(&prescribed, h);
        for body in &mut self.bodies {
            let velocity = body.velocity();
            let push = body.acceleration * (0.5 * h);
            body.both = [(velocity.fixed_rows::<3>(0) + push) * h, velocity.fixed_rows::<3>(3) * h];
        }
        if !self.solve(&prescribed, h, blocks) {
            return false;
        }
        self.keep(&prescribed, h);
        let pushes = |row: &JointRow| row.rule == Rule::Limit && row.state == RowState::Active;
        if self.links.iter().flat_map(|link| &link.rows).any(pushes) {
            self.unsolved |= !self.stop(Stop::Limits, time + h, blocks);
        }
        true
    }

    /// Finds the active set and the impulses; `false` if it fails.
    fn solve(&mut self, prescribed: &[Move], h: f64, blocks: &mut Blocks<'_>) -> bool {
        let mut fewest = usize::MAX;
        for _ in 0..self.rounds() {
            if !self.newton(prescribed, h, blocks) {
                return false;
            }
            if self.is_complementary(prescribed, h, &mut fewest) {
                return true;
            }
        }
        false
    }

    /// Limit of changes of the active set.
    pub(super) fn rounds(&self) -> usize {
        ROUNDS + self.links.iter().filter(|link| link.is_bounded()).count()
    }

    pub(super) fn moves(&self) -> Vec<Move> {
        let of = |body: &LinkageBody| Move::new(&body.pose, body.both[0], body.both[1]);
        self.bodies.iter().map(of).collect()
    }

    /// Targets of motors. A motor has its speed at the end of the inner step.
    fn aim(&mut self, prescribed: &[Move], h: f64) {
        let moves: Vec<Move> = self.bodies.iter().map(|body| still(&body.pose)).collect();
        let prescribed: Vec<Move> = prescribed.iter().map(|body| still(&body.poses[0])).collect();
        let speeds = self.velocities();
        for link in &mut self.links {
            let sides = sides(link, &moves, &prescribed);
            for row in &mut link.rows {
                let Rule::Motor { speed, max_force } = row.rule else { continue };
                if row.state == RowState::AtBound && max_force.is_finite() {
                    row.impulse = (max_force * h).copysign(row.impulse);
                }
                let gradient = row.gradient(&sides);
                let now = speed_of(&gradient, &link.ends, &speeds);
                row.target = gradient.value + 0.5 * h * (speed + now);
            }
        }
    }

    /// Velocities of the bodies of the linkage and of the prescribed ones.
    pub(super) fn velocities(&self) -> [Vec<Vector6<f64>>; 2] {
        let bodies = self.bodies.iter().map(LinkageBody::velocity).collect();
        [bodies, self.prescribed_velocities()]
    }

    pub(super) fn prescribed_velocities(&self) -> Vec<Vector6<f64>> {
        self.prescribed.iter().map(PrescribedBody::velocity).collect()
    }

    /// Newton iteration for translations, rotations and impulses of the active rows; the last
    /// iterations reuse the factorization. Returns `false` if it does not converge.
    fn newton(&mut self, prescribed: &[Move], h: f64, blocks: &mut Blocks<'_>) -> bool {
        let mut last = f64::INFINITY;
        let mut is_near = false;
        // the regularisation leaves a share of the error of motors in each step
        let is_bounded = self.links.iter().any(Link::is_bounded);
        for _ in 0..NEWTON_STEPS {
            let into = if is_near { None } else { Some(&mut *blocks) };
            let right = self.linearize(prescribed, h, into);
            if !is_near && !blocks.factor() {
                return false;
            }
            let change = self.take(&blocks.solve(&right));
            // more than half a turn: diverged
            if !change.is_finite() || self.bodies.iter().any(|body| body.both[1].norm() > 4.0) {
                return false;
            }
            if change < if is_near || is_bounded { SOLVED_NEAR } else { SOLVED } {
                return true;
            }
            is_near = change < NEAR && change < 0.1 * last;
            last = change;
        }
        false
    }

    /// Applies a Newton step and returns its size.
    fn take(&mut self, x: &[Vector6<f64>]) -> f64 {
        let mut largest = 0.0_f64;
        for (body, x) in self.bodies.iter_mut().zip(x) {
            let (shift, turn) = (x.fixed_rows::<3>(0), x.fixed_rows::<3>(3));
            body.both[0] += shift;
            body.both[1] += turn;
            let change = (shift.norm() / self.size).max(turn.norm());
            largest = if change.is_finite() { largest.max(change) } else { f64::INFINITY };
        }
        for (link, x) in self.links.iter_mut().zip(&x[self.bodies.len()..]) {
            let kept = link.rows.iter_mut().filter(|row| row.state == RowState::Active);
            kept.zip(x.iter()).for_each(|(row, x)| row.impulse += x);
        }
        largest
    }

    /// Right-hand side of a Newton step and, if wanted, the matrix.
    fn linearize(
        &self,
        prescribed: &[Move],
        h: f64,
        mut blocks: Option<&mut Blocks<'_>>,
    ) -> Vec<Vector6<f64>> {
        let moves = self.moves();
        let mut right = vec![Vector6::zeros(); self.bodies.len() + self.links.len()];
        let inverses = self.inverses(&moves);
        if let Some(blocks) = &mut blocks {
            blocks.clear();
        }
        for (i, body) in self.bodies.iter().enumerate() {
            let (missed, slope) = body.law(&moves[i], h);
            right[i] = -missed;
            if let Some(blocks) = &mut blocks {
                blocks.add(i, i, &slope);
            }
        }
        for (n, link) in self.links.iter().enumerate() {
            let node = self.bodies.len() + n;
            let sides = sides(link, &moves, prescribed);
            let mut stiffness = Stiffness::default();
            let mut rows = RowBlocks::new();
            for row in &link.rows {
                if row.state == RowState::AtBound && row.impulse == 0.0 {
                    continue;
                }
                let gradient =
                    row.form.gradient([&sides[0], &sides[1]], row.impulse, &mut stiffness);
                for (end, force) in link.ends.iter().zip(&gradient.force) {
                    if let End::Body(i) = end {
                        right[*i] += force * row.impulse;
                    }
                }
                if row.state == RowState::Active {
                    if let Some(slot) = right[node].get_mut(rows.count) {
                        *slot = row.target - gradient.value;
                    }
                    let diagonal = delassus_diagonal(&inverses, &link.ends, &gradient);
                    rows.push(&gradient, diagonal * (0.5 * h * REGULARIZATION));
                }
            }
            let Some(blocks) = &mut blocks else { continue };
            rows.add_to(blocks, node, &link.ends);
            for (s, row) in stiffness.iter().enumerate() {
                for (t, block) in row.iter().enumerate() {
                    if let (End::Body(i), End::Body(j)) = (link.ends[s], link.ends[t]) {
                        blocks.add(i, j, block);
                    }
                }
            }
        }
        right
    }

    /// Inverse mass and inertia of each body.
    pub(super) fn inverses(&self, moves: &[Move]) -> Vec<(f64, Matrix3<f64>)> {
        let of = |(body, own): (&LinkageBody, &Move)| {
            let inverse = Matrix3::from_diagonal(&body.inertia.map(|i| 1.0 / i));
            let rotation = &own.rotations[0];
            (1.0 / body.mass, rotation * inverse * rotation.transpose())
        };
        self.bodies.iter().zip(moves).map(of).collect()
    }
    /// Moves bodies to the end of a solved inner step.
    fn keep(&mut self, prescribed: &[Move], h: f64) {
        let moves = self.moves();
        let before: Vec<Vector3<f64>> =
            self.bodies.iter().map(|body| body.momentum.linear).collect();
        for link in &mut self.links {
            let sides = sides(link, &moves, prescribed);
            for (n, row) in link.rows.iter().enumerate().filter(|(_, row)| row.impulse != 0.0) {
                let gradient = row.gradient(&sides);
                let is_motor = matches!(row.rule, Rule::Motor { .. });
                for (end, force) in link.ends.iter().zip(&gradient.force) {
                    let (own, sign) = match *end {
                        End::Body(i) => {
                            self.bodies[i].gain(&(force * row.impulse));
                            (&moves[i], if is_motor { 1.0 } else { 0.0 })
                        }
                        End::Prescribed(k) => (&prescribed[k], if is_motor { 0.0 } else { -1.0 }),
                    };
                    self.work += sign * row.impulse * force.dot(&own.both()) / h;
                }
                add(&mut link.reaction, n, &gradient, row.impulse);
            }
        }
        for ((body, own), before) in self.bodies.iter_mut().zip(&moves).zip(before) {
            body.momentum.linear += body.acceleration * (body.mass * h);
            // from the momenta, which conserves angular momentum exactly
            let shift = (before + body.momentum.linear) * (0.5 * h / body.mass);
            let place = body.pose.translation.vector + shift;
            body.pose = Isometry3::from_parts(place.into(), own.poses[1].rotation);
        }
    }
}
