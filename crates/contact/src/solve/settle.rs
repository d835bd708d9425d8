//! The contact pass: resting and sliding contact by projected Gauss-Seidel, then shock propagation
//! from the ground up (GBF03 sections 6 and 7).

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Vector3};
use rayon::prelude::*;

use crate::constraint::{self, Joint, JointPass, Reaction, Stepping};
use crate::frame::Frame;
use crate::narrow::contacts::{Contact, Manifold};
use crate::settings::PUSHED_SLOPS;
use crate::solve::clamp::Clamp;
use crate::solve::exact::{Exact, KnownIslands, PassResult, Start};
use crate::solve::impulses::ContactImpulses;
use crate::solve::movers::Movers;
use crate::solve::order::Stage;
use crate::solve::problem::{Aim, ContactTarget, Problem};
use crate::solve::residual::residual;
use crate::solve::rolling::{Torque, TorqueRow, mean_normal, of_pair};
use crate::solve::rows::{Batch, Row, Sweep};
use crate::{Columns, Settings, Shape};

/// Joints that are solved with the contacts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joined {
    pub(crate) joints: Vec<Joint>,
    /// Change of each body's momentum by joints in the last pass.
    pub(crate) gains: Vec<Momentum>,
    /// Joints that the last pass solved together with contacts.
    pub(crate) solved: Vec<bool>,
}

/// Stops approach at the contacts, so that no gap closes within the step, within the iteration
/// limits, and solves the joints with them.
///
/// `impulses` holds those of contacts, and [`Joint::last`] those of joints: the warm start on
/// entry, the solution on return. A warm start with which the solution adds kinetic energy is
/// dropped, as is one with a residual larger than all speeds of the swept
/// bodies before the pass.
pub(crate) fn settle(
    problem: Problem<'_>,
    aim: Aim,
    momenta: &mut [Momentum],
    impulses: &mut ContactImpulses,
    joined: &mut Joined,
    Reused { space, known }: &mut Reused,
) -> Done {
    let Problem { columns, poses, contacts, .. } = problem;
    let start = velocities(columns, poses, momenta);
    let used = problem.used(aim, &start, &impulses.contacts);
    let exact_start = joined.exact_start(problem, aim, momenta, impulses);
    let exact = Exact::new(problem, aim, exact_start, &used, std::mem::take(known));
    let movers = Movers::new(columns, poses, &start);
    let joints = joined.pass(problem, aim, &movers, &exact.joints);
    let rule = |pair: &Manifold, number: usize, contact: &Contact| {
        (used[number] && !exact.pairs[number]).then(|| ContactTarget::of(problem, pair, contact))
    };
    let mut pass = Pass { joints, ..Pass::new(problem, movers, true, &rule, space) };
    pass.add_torques(&impulses.torques, |number| used[number] && !exact.pairs[number]);
    joined.start(&pass, aim);
    pass.start(impulses);
    pass.solve_all();
    let is_clamped = problem.settings.clamp != Clamp::Off;
    let (mut given, mut is_jammed) = (0.0, false);
    if is_clamped && columns.bodies.iter().any(|body| matches!(body, Body::Kinematic(_))) {
        pass.write(impulses);
        given = impulses.work_of_kinematic_bodies(columns, poses, contacts).iter().sum();
        // no finite impulses stop a kinematic body that presses others against a static one: with
        // a warm start those of successive frames would add up
        let swept: Vec<bool> =
            used.iter().zip(&exact.pairs).map(|(used, solved)| *used && !solved).collect();
        let now: Vec<Velocity> = (0..start.len()).map(|i| pass.movers.velocity(i)).collect();
        is_jammed =
            residual(problem, &swept, &now, &impulses.contacts) > fastest(problem, &swept, &start);
    }
    if is_clamped && (is_jammed || pass.movers.work(columns, poses, &start) > given) {
        impulses.clear();
        joined.forget();
        pass.movers.set_velocities(&start);
        joined.start(&pass, aim);
        pass.start(impulses);
        pass.solve_all();
    }
    pass.propagate_shock();
    pass.write(impulses);
    joined.read(&pass, momenta.len());
    let unsolved_joints = pass.joints.as_ref().map_or(0.0, |own| own.residual(&pass.movers));
    for (i, momentum) in momenta.iter_mut().enumerate() {
        *momentum += pass.movers.gained(columns, poses, &start, i);
    }
    let sweeps = pass.done;
    let Joined { joints, gains, .. } = joined;
    exact.keep(problem, &mut PassResult { momenta, impulses, gains, joints });
    joined.solved.clone_from(&exact.joints);
    // the position pass comes before the velocity pass, and only the last one is reported
    let residual = match aim {
        Aim::Positions => 0.0,
        Aim::Velocities => {
            residual(problem, &used, &velocities(columns, poses, momenta), &impulses.contacts)
                .max(unsolved_joints)
        }
    };
    let unsolved = exact.unsolved();
    if aim == Aim::Positions {
        *known = exact.into_known();
    }
    Done { sweeps, unsolved, residual }
}

/// The largest speed of a point of a bounded body in the `used` manifolds, m/s.
fn fastest(problem: Problem<'_>, used: &[bool], velocities: &[Velocity]) -> f64 {
    let of = |i: u32| {
        let (radius, velocity) =
            (problem.columns.shapes[i as usize].radius(), &velocities[i as usize]);
        let turning = if radius.is_finite() { velocity.angular.norm() * radius } else { 0.0 };
        velocity.linear.norm() + turning
    };
    let pairs = problem.contacts.manifolds().iter().zip(used).filter(|(_, used)| **used);
    pairs.flat_map(|(pair, _)| [of(pair.a), of(pair.b)]).fold(0.0, f64::max)
}

/// What consecutive passes of a step reuse.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reused {
    /// Buffers whose contents are overwritten.
    pub(crate) space: Vec<Batch>,
    /// The islands of the last position pass.
    pub(crate) known: KnownIslands,
}

/// Statistics of a pass.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    /// Sweeps over all contacts and over single levels of shock propagation.
    pub(crate) sweeps: usize,
    /// Islands for which the exact solver failed.
    pub(crate) unsolved: usize,
    /// The [natural map](residual) at the end of the velocity pass, m/s.
    pub(crate) residual: f64,
}

impl Done {
    pub(crate) fn add(&mut self, other: Self) {
        self.sweeps += other.sweeps;
        self.unsolved += other.unsolved;
        self.residual = other.residual;
    }
}

impl Joined {
    /// The start of the exact solver.
    pub(crate) fn exact_start<'a>(
        &'a self,
        problem: Problem<'_>,
        aim: Aim,
        momenta: &'a [Momentum],
        impulses: &'a ContactImpulses,
    ) -> Start<'a> {
        let stepping = Self::stepping(problem, aim);
        Start { momenta, impulses, joints: &self.joints, stepping, share: Self::share(aim) }
    }

    /// The position pass corrects position errors in full, so that the velocity pass has none to
    /// correct. Each pass applies half of the joint impulses of the step.
    fn stepping(problem: Problem<'_>, aim: Aim) -> Stepping {
        let error_reduction = match aim {
            Aim::Positions => 1.0,
            Aim::Velocities => 0.0,
        };
        Stepping { dt: problem.dt, error_reduction, motor_time: 0.5 * problem.dt }
    }

    /// Factor of the warm start. The impulses of a step are twice those of its first half, which
    /// resemble those of the second.
    fn share(aim: Aim) -> f64 {
        match aim {
            Aim::Positions => 0.5,
            Aim::Velocities => 1.0,
        }
    }

    /// The pass over the joints that are not solved.
    fn pass(
        &self,
        problem: Problem<'_>,
        aim: Aim,
        movers: &Movers,
        solved: &[bool],
    ) -> Option<JointPass> {
        let Problem { poses, settings, .. } = problem;
        let sweeps = (Self::stepping(problem, aim), settings.joint_sweeps);
        let none = solved.iter().all(|solved| *solved);
        (!none).then(|| JointPass::new(&self.joints, solved, poses, movers, sweeps))
    }

    fn start(&self, pass: &Pass<'_>, aim: Aim) {
        if let Some(joints) = &pass.joints {
            joints.start(&pass.movers, &self.joints, Self::share(aim));
        }
    }

    /// Iterates joints that were not solved together with contacts until `momenta` close them at
    /// the end of the step.
    pub(crate) fn follow(&mut self, frame: Frame<'_>, momenta: &mut [Momentum]) {
        let apart = self.joints.iter().zip(&self.solved).filter(|(_, solved)| !**solved);
        let mut apart: Vec<Joint> = apart.map(|(joint, _)| *joint).collect();
        if apart.is_empty() {
            return;
        }
        constraint::project_with_impulses(frame, &mut apart, &mut self.gains, momenta);
        let own = self.joints.iter_mut().zip(&self.solved).filter(|(_, solved)| !**solved);
        own.zip(apart).for_each(|((joint, _), moved)| *joint = moved);
    }

    /// Adds the joint impulses of the position pass to the bodies: the first half of those of the
    /// step (RATTLE, Andersen 1983), without which joints would slow all rotation. Returns the
    /// reactions.
    pub(crate) fn keep_half(&mut self, bodies: &[Body], momenta: &mut [Momentum]) -> Vec<Reaction> {
        let dynamic = bodies.iter().map(|body| body.mass_properties().is_some());
        for ((momentum, gain), is_dynamic) in momenta.iter_mut().zip(&self.gains).zip(dynamic) {
            if is_dynamic {
                *momentum += *gain;
            }
        }
        self.joints.iter().map(|joint| joint.last).collect()
    }

    /// Adds the reactions of the first half to those of the second.
    pub(crate) fn add_half(&mut self, first: &[Reaction]) {
        for (joint, first) in self.joints.iter_mut().zip(first) {
            for (impulse, half) in joint.last.impulses.iter_mut().zip(&first.impulses) {
                *impulse += half;
            }
            joint.last.linear += first.linear;
            joint.last.angular += first.angular;
        }
    }

    fn forget(&mut self) {
        self.joints.iter_mut().for_each(|joint| joint.last = Reaction::default());
    }

    fn read(&mut self, pass: &Pass<'_>, bodies: usize) {
        self.gains = vec![Momentum::default(); bodies];
        let Some(joints) = &pass.joints else { return };
        let (reactions, gains) = joints.reactions(bodies);
        for (joint, reaction) in self.joints.iter_mut().zip(reactions) {
            joint.last = reaction;
        }
        self.gains = gains;
    }
}

/// Largest overlap that is pushed out in one frame, as a share of the smaller radius: normals are
/// unreliable in deep overlaps, and a strong push only disturbs other bodies. Sweeps after an impact
/// leave no larger error of position in a step, as a share of the smaller size.
const MAX_PUSH: f64 = 0.05;

/// The push-out of each body from overlaps at the end of the step of `momenta`: displacement in m
/// and rotation vector in rad.
///
/// Only positions change, so that no kinetic energy is added.
pub(crate) fn push_out(problem: Problem<'_>, momenta: &[Momentum]) -> Vec<Velocity> {
    push_out_in(problem, momenta, &mut Vec::new())
}

/// [`push_out`]. The contents of `space` are overwritten.
pub(crate) fn push_out_in(
    problem: Problem<'_>,
    momenta: &[Momentum],
    space: &mut Vec<Batch>,
) -> Vec<Velocity> {
    let Problem { columns, poses, dt, settings, .. } = problem;
    let velocities = velocities(columns, poses, momenta);
    let movers = Movers::new(columns, poses, &vec![Velocity::default(); velocities.len()]);
    let overlap = |pair: &Manifold, contact: &Contact| {
        let [p, q] = &contact.arms;
        let (u, v) = (velocities[pair.a as usize].at(p), velocities[pair.b as usize].at(q));
        -(contact.gap + dt * contact.normal.dot(&(u - v)))
    };
    let slop = |pair: &Manifold| settings.slop_of(pair.shapes(columns.shapes));
    let is_deep =
        |pair: &Manifold, contact: &Contact| overlap(pair, contact) > PUSHED_SLOPS * slop(pair);
    let contacts = problem.contacts;
    let mut manifolds = contacts.manifolds().iter();
    if !manifolds.any(|pair| contacts.of(pair).iter().any(|contact| is_deep(pair, contact))) {
        return vec![Velocity::default(); velocities.len()];
    }
    let rule = |pair: &Manifold, _: usize, contact: &Contact| {
        let overlap = overlap(pair, contact);
        if !is_deep(pair, contact) {
            // other contacts must not push it deeper
            return Some(ContactTarget { speed: overlap.min(0.0), friction: 0.0 });
        }
        let [p, q] = [pair.a, pair.b].map(|i| columns.shapes[i as usize].radius());
        let push = settings.push_out * (overlap - slop(pair)).min(MAX_PUSH * p.min(q));
        // penetration since the body entered the step is pushed out at once
        let before = contact.overlap.min(contact.entered);
        Some(ContactTarget { speed: push.max(overlap - before), friction: 0.0 })
    };
    let mut pass = Pass::new(problem, movers, false, &rule, space);
    pass.solve_all();
    pass.propagate_shock();
    (0..velocities.len()).map(|i| pass.movers.velocity(i)).collect()
}

fn velocities(
    columns: Columns<'_>,
    poses: &[Isometry3<f64>],
    momenta: &[Momentum],
) -> Vec<Velocity> {
    let states = poses.iter().zip(momenta);
    let of = |(b, (x, m)): (&Body, (&Isometry3<f64>, &Momentum))| b.velocity(&x.rotation, m);
    columns.bodies.iter().zip(states).map(of).collect()
}

/// Limit of repeats of a sparse pair with rough changes.
const REPEATS: usize = 7;
/// With at most this many batches all are relaxed in every sweep, which is cheap, and stacks come
/// to rest exactly.
const FEW_BATCHES: usize = 64;
/// Limit of further sweeps after an impact. In a heap of 1,000 boxes that lands, residuals of 5.0,
/// 2.2 and 0.7 m/s are left after 4, 20 and 100 sweeps.
const MAX_IMPACT_SWEEPS: usize = 100;
/// Batches per task; fixed, so that the work is divided the same way for any thread count.
const CHUNK: usize = 32;

struct Pass<'a> {
    problem: Problem<'a>,
    movers: Movers,
    batches: &'a mut Vec<Batch>,
    joints: Option<JointPass>,
    friction: bool,
    /// Sweeps over all contacts together, and over each level in shock propagation.
    sweeps: (usize, usize),
    /// Sweeps done.
    done: usize,
}

impl<'a> Pass<'a> {
    /// `rule`, of a pair and its index, returns the target of a contact, or `None` to skip it.
    fn new(
        problem: Problem<'a>,
        movers: Movers,
        friction: bool,
        rule: &(impl Fn(&Manifold, usize, &Contact) -> Option<ContactTarget> + Sync),
        batches: &'a mut Vec<Batch>,
    ) -> Self {
        let Problem { columns, contacts, order, dt, .. } = problem;
        let levels = order.levels();
        // a push-out is a displacement
        let time = if friction { dt } else { 1.0 };
        let row = |number: usize, index: usize| {
            let pair = &contacts.manifolds()[number];
            let contact = &contacts.all()[index];
            let ContactTarget { speed: target, friction } = rule(pair, number, contact)?;
            let (index, normal) = (index as u32, contact.normal);
            Some(Row { index, normal, arm: contact.arms[0], target, friction })
        };
        let specs: Vec<&[u32]> = order.batches().collect();
        let static_index = movers.static_index();
        let fill = |(batch, pairs): (&mut Batch, &&[u32])| {
            batch.clear(static_index);
            for (lane, &n) in pairs.iter().enumerate() {
                let pair = &contacts.manifolds()[n as usize];
                let (p, q) = (levels.of(pair.a), levels.of(pair.b));
                let rows = contacts.range(pair).filter_map(|index| row(n as usize, index));
                // all contacts were found at the same poses
                let apart = contacts
                    .of(pair)
                    .first()
                    .map_or_else(Vector3::zeros, |contact| contact.arms[1] - contact.arms[0]);
                let free = (p >= q, q >= p);
                batch.set(lane, (pair.a, pair.b), free, order.is_sparse(n), &apart, rows);
                // the next push-out corrects the error of a step
                let [p, q] = pair.shapes(columns.shapes).map(Shape::size);
                batch.set_tolerance(lane, MAX_PUSH * p.min(q) / time);
            }
        };
        batches.resize_with(specs.len(), Batch::default);
        batches.par_iter_mut().zip(&specs).with_min_len(CHUNK).for_each(fill);
        let Settings { contact_sweeps, shock_sweeps, push_sweeps, .. } = *problem.settings;
        let sweeps = if friction {
            (contact_sweeps, shock_sweeps)
        } else {
            (push_sweeps, shock_sweeps.min(push_sweeps))
        };
        Self { problem, movers, batches, joints: None, friction, sweeps, done: 0 }
    }

    /// Adds the torques of pairs, by index, for which `is_solved_here` holds.
    fn add_torques(&mut self, torques: &[Torque], is_solved_here: impl Fn(usize) -> bool) {
        if torques.is_empty() {
            return;
        }
        let Problem { contacts, order, .. } = self.problem;
        let row = |number: u32| {
            let index = of_pair(torques, number).filter(|_| is_solved_here(number as usize))?;
            let pair = &contacts.manifolds()[number as usize];
            let normal = mean_normal(contacts, pair)?;
            let reach = contacts.of(pair).first()?.arms[0].norm();
            Some(TorqueRow { index: index as u32, normal, arms: torques[index].arms, reach })
        };
        for (batch, pairs) in self.batches.iter_mut().zip(order.batches()) {
            for (lane, &number) in pairs.iter().enumerate() {
                if let Some(row) = row(number) {
                    batch.set_torque(lane, &row);
                }
            }
        }
    }

    /// Writes out all impulses.
    fn write(&self, impulses: &mut ContactImpulses) {
        impulses.clear();
        let ContactImpulses { contacts, torques } = impulses;
        self.batches.iter().for_each(|batch| batch.write(contacts, torques));
    }

    /// Applies the warm start.
    fn start(&mut self, impulses: &ContactImpulses) {
        let movers = &self.movers;
        for stage in self.problem.order.stages() {
            let batches = &mut self.batches[stage.batches];
            each(batches, stage.parallel, |batch| {
                batch.start(movers, &impulses.contacts, &impulses.torques);
            });
        }
    }

    /// Solves all contacts together. After an impact more sweeps follow, until no contact changes
    /// by more than forces change velocities.
    fn solve_all(&mut self) {
        let stages: Vec<Stage> = self.problem.order.stages().collect();
        let settled = self.settled();
        if self.sweep(&stages, self.sweeps.0, settled, false) && self.friction {
            let forced = self.problem.half_kick.iter().map(|half_kick| half_kick.linear.norm());
            let forced = forced.fold(settled, f64::max);
            self.sweep(&stages, MAX_IMPACT_SWEEPS, forced, false);
        }
    }

    /// Solves level by level, with all bodies below frozen.
    fn propagate_shock(&mut self) {
        let sweeps = self.sweeps.1;
        if sweeps == 0 {
            return;
        }
        for stages in self.problem.order.by_level() {
            self.sweep(&stages, sweeps, self.settled(), true);
        }
        // bodies held by shock propagation did not yield to joints
        if let Some(joints) = &self.joints {
            joints.relax(&self.movers);
        }
    }

    /// Change of speed below which sweeps end, m/s; for a push-out a length, m.
    fn settled(&self) -> f64 {
        let speed = self.problem.settings.settled_speed;
        if self.friction { speed } else { speed * self.problem.dt }
    }

    /// Sweeps over the stages up to `sweeps` times, until nothing changes by more than `settled`.
    /// Returns whether the last sweep changed more.
    fn sweep(&mut self, stages: &[Stage], sweeps: usize, settled: f64, shock: bool) -> bool {
        let rough_speed = self.problem.settings.rough_speed;
        let lazy = self.batches.len() > FEW_BATCHES;
        let repeats = if shock { REPEATS } else { 0 };
        for _ in 0..sweeps {
            self.done += 1;
            let (number, friction) = (self.movers.begin_sweep(), self.friction);
            let (movers, rough) = (&self.movers, rough_speed);
            let sweep = Sweep { number, movers, friction, shock, settled, rough, repeats, lazy };
            let mut changed = false;
            for stage in stages {
                let batches = &mut self.batches[stage.batches.clone()];
                changed |= any(batches, stage.parallel, |batches| sweep.over(batches));
            }
            if !changed {
                return false;
            }
            if let (Some(joints), false) = (&self.joints, shock) {
                joints.relax(movers);
            }
        }
        true
    }
}

/// Applies `change` to parts of the batches, on several threads if `parallel`. Returns whether any
/// returned `true`.
fn any(
    batches: &mut [Batch],
    parallel: bool,
    change: impl Fn(&mut [Batch]) -> bool + Sync,
) -> bool {
    if parallel && batches.len() > CHUNK {
        batches.par_chunks_mut(CHUNK).map(&change).reduce(|| false, |p, q| p | q)
    } else {
        change(batches)
    }
}

/// Applies `change` to each batch, on several threads if `parallel`.
fn each(batches: &mut [Batch], parallel: bool, change: impl Fn(&mut Batch) + Sync) {
    any(batches, parallel, |batches| {
        batches.iter_mut().for_each(&change);
        false
    });
}
