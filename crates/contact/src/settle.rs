//! The contact pass: resting and sliding contact by projected Gauss-Seidel, then shock propagation
//! from the ground up (GBF03 sections 6 and 7).

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Vector3};
use rayon::prelude::*;

use crate::movers::Movers;
use crate::narrow::{Contact, Contacts, Manifold};
use crate::order::{Order, Stage};
use crate::rows::{Batch, Row};
use crate::{Columns, Settings};

/// The contacts of a step, who rests on whom, and how to solve.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// The bodies.
    pub columns: Columns<'a>,
    /// Poses that the gaps of `contacts` belong to.
    pub poses: &'a [Isometry3<f64>],
    /// The contacts.
    pub contacts: &'a Contacts,
    /// The order of the pairs, with that of shock propagation.
    pub order: &'a Order,
    /// Length of the step, s.
    pub dt: f64,
    /// Iteration counts and tolerances.
    pub settings: &'a Settings,
}

/// What a contact pass is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// With half-step momenta, to find where bodies go: all contacts take part.
    Positions,
    /// With end-of-step momenta, to find how they move on: only pairs that the first pass gave an
    /// impulse. Others may be about to collide, which is the next frame's affair and may bounce.
    Velocities,
}

/// Stops approach at the contacts, so that no gap closes within the step, as far as the iteration
/// counts reach.
///
/// `impulses` holds one impulse per contact on its body `a`, N s: a guess on entry, the solution
/// on return. A guess that made the solution add kinetic energy is dropped.
pub fn settle(
    problem: Problem<'_>,
    aim: Aim,
    momenta: &mut [Momentum],
    impulses: &mut [Vector3<f64>],
) {
    let Problem { columns, poses, contacts, dt, settings, .. } = problem;
    let start = velocities(columns, poses, momenta);
    let movers = Movers::new(columns, poses, &start);
    let rule = |pair: &Manifold, contact: &Contact, _: [&Vector3<f64>; 2]| {
        let mut own = impulses[contacts.range(pair)].iter();
        if aim == Aim::Velocities && own.all(|j| *j == Vector3::zeros()) {
            return None;
        }
        let (p, q) = (&columns.materials[pair.a as usize], &columns.materials[pair.b as usize]);
        let friction = settings.friction.of(p.friction, q.friction);
        Some((-contact.gap.max(0.0) / dt, friction))
    };
    let mut pass = Pass::new(problem, movers, true, &rule);
    pass.start(impulses);
    pass.solve_all();
    pass.write(impulses);
    let given: f64 = work_of_kinematic_bodies(columns, poses, contacts, impulses).iter().sum();
    if pass.movers.work(columns, poses, &start) > given {
        impulses.fill(Vector3::zeros());
        pass.movers.set_velocities(&start);
        pass.start(impulses);
        pass.solve_all();
    }
    pass.propagate_shock();
    pass.write(impulses);
    for (i, momentum) in momenta.iter_mut().enumerate() {
        let gained = pass.movers.gained(columns, poses, &start, i);
        momentum.linear += gained.linear;
        momentum.angular += gained.angular;
    }
}

/// The work in J that kinematic bodies do on each body by `impulses`.
pub(crate) fn work_of_kinematic_bodies(
    columns: Columns<'_>,
    poses: &[Isometry3<f64>],
    contacts: &Contacts,
    impulses: &[Vector3<f64>],
) -> Vec<f64> {
    let bodies = columns.bodies;
    let mut work = vec![0.0; bodies.len()];
    if !bodies.iter().any(|body| matches!(body, Body::Kinematic(_))) {
        return work;
    }
    for pair in contacts.manifolds() {
        let (a, b) = (pair.a as usize, pair.b as usize);
        let (mover, moved, sign) = match (&bodies[a], &bodies[b]) {
            (Body::Kinematic(velocity), Body::Dynamic(_)) => ((a, velocity), b, -1.0),
            (Body::Dynamic(_), Body::Kinematic(velocity)) => ((b, velocity), a, 1.0),
            _ => continue,
        };
        for index in contacts.range(pair) {
            let point = contacts.all()[index].at(&poses[a], &poses[b]);
            let arm = point.coords - poses[mover.0].translation.vector;
            work[moved] += sign * impulses[index].dot(&mover.1.at(&arm));
        }
    }
    work
}

/// Most overlap that is pushed out at once, as a share of the smaller radius: where bodies overlap
/// deeply normals tell little of the way out, and pushing hard only shakes the others.
const MOST_PUSH: f64 = 0.05;

/// How far each body is pushed out of those it would overlap at the end of the step that `momenta`
/// make: displacement in m and rotation vector in rad.
///
/// Only positions change by it, so no kinetic energy is added.
pub fn push_out(problem: Problem<'_>, momenta: &[Momentum]) -> Vec<Velocity> {
    let Problem { columns, poses, dt, settings, .. } = problem;
    let velocities = velocities(columns, poses, momenta);
    let movers = Movers::new(columns, poses, &vec![Velocity::default(); velocities.len()]);
    let rule = |pair: &Manifold, contact: &Contact, [arm_a, arm_b]: [&Vector3<f64>; 2]| {
        let (a, b) = (pair.a as usize, pair.b as usize);
        let speed = contact.normal.dot(&(velocities[a].at(arm_a) - velocities[b].at(arm_b)));
        let gap = contact.gap + dt * speed;
        let size = columns.shapes[a].radius().min(columns.shapes[b].radius());
        let overlap = (-gap - settings.slop * size).min(MOST_PUSH * size);
        (overlap > 0.0).then_some((settings.push_out * overlap, 0.0))
    };
    let mut pass = Pass::new(problem, movers, false, &rule);
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

/// Batches per task; fixed, so that the work is cut the same way for any thread count.
const CHUNK: usize = 32;

struct Pass<'a> {
    problem: Problem<'a>,
    movers: Movers,
    batches: Vec<Batch>,
    friction: bool,
    /// Over all contacts together, and over each level in shock propagation.
    sweeps: (usize, usize),
}

impl<'a> Pass<'a> {
    /// `rule` gives a contact's least separating speed and friction coefficient, or leaves it out.
    fn new(
        problem: Problem<'a>,
        movers: Movers,
        friction: bool,
        rule: &(impl Fn(&Manifold, &Contact, [&Vector3<f64>; 2]) -> Option<(f64, f64)> + Sync),
    ) -> Self {
        let Problem { contacts, poses, order, .. } = problem;
        let levels = order.levels();
        let row = |pair: &Manifold, index: usize| {
            let contact = &contacts.all()[index];
            let (x, y) = (&poses[pair.a as usize], &poses[pair.b as usize]);
            let point = contact.at(x, y).coords;
            let (arm_a, arm_b) = (point - x.translation.vector, point - y.translation.vector);
            let (target, friction) = rule(pair, contact, [&arm_a, &arm_b])?;
            let (index, normal) = (index as u32, contact.normal);
            Some(Row { index, normal, arm_a, arm_b, target, friction })
        };
        let specs: Vec<&[u32]> = order.batches().collect();
        let make = |pairs: &&[u32]| {
            let mut batch = Batch::new(movers.nobody());
            for (lane, &n) in pairs.iter().enumerate() {
                let pair = &contacts.manifolds()[n as usize];
                let (p, q) = (levels.of(pair.a), levels.of(pair.b));
                let rows = contacts.range(pair).filter_map(|index| row(pair, index));
                batch.set(lane, (pair.a, pair.b), (p >= q, q >= p), rows);
            }
            batch.weigh(&movers, false);
            batch
        };
        let batches = specs.par_iter().with_min_len(CHUNK).map(make).collect();
        let Settings { contact_sweeps, shock_sweeps, push_sweeps, .. } = *problem.settings;
        let sweeps = if friction {
            (contact_sweeps, shock_sweeps)
        } else {
            (push_sweeps, shock_sweeps.min(push_sweeps))
        };
        Self { problem, movers, batches, friction, sweeps }
    }

    /// Writes out the impulse of each contact.
    fn write(&self, impulses: &mut [Vector3<f64>]) {
        impulses.fill(Vector3::zeros());
        for (contact, impulse) in self.batches.iter().flat_map(Batch::impulses) {
            impulses[contact as usize] = impulse;
        }
    }

    /// Starts all contacts from the impulses given.
    fn start(&mut self, impulses: &[Vector3<f64>]) {
        let movers = &self.movers;
        for stage in self.problem.order.stages() {
            let batches = &mut self.batches[stage.batches];
            each(batches, stage.parallel, |batch| batch.start(movers, impulses));
        }
    }

    /// Solves all contacts together.
    fn solve_all(&mut self) {
        let stages: Vec<Stage> = self.problem.order.stages().collect();
        self.sweep(&stages, self.sweeps.0, false);
    }

    /// Level by level, with everything below frozen.
    fn propagate_shock(&mut self) {
        let sweeps = self.sweeps.1;
        if sweeps == 0 {
            return;
        }
        let movers = &self.movers;
        each(&mut self.batches, true, |batch| batch.weigh(movers, true));
        for stages in self.problem.order.by_level() {
            self.sweep(&stages, sweeps, true);
        }
    }

    /// Up to that many times over the stages, until nothing changes any more.
    fn sweep(&mut self, stages: &[Stage], sweeps: usize, shock: bool) {
        let movers = &self.movers;
        let Settings { settled_speed, .. } = *self.problem.settings;
        // positions are pushed by lengths, not by speeds
        let settled = if self.friction { settled_speed } else { settled_speed * self.problem.dt };
        for _ in 0..sweeps {
            let mut changed = false;
            for stage in stages {
                let batches = &mut self.batches[stage.batches.clone()];
                changed |= if self.friction {
                    any(batches, stage.parallel, |batch| batch.relax(movers, shock, settled))
                } else {
                    let relax = |batch: &mut Batch| batch.relax_normals(movers, shock, settled);
                    any(batches, stage.parallel, relax)
                };
            }
            if !changed {
                break;
            }
        }
    }
}

/// Applies `change` to each batch, on several threads if `parallel`; whether it held for any.
fn any(batches: &mut [Batch], parallel: bool, change: impl Fn(&mut Batch) -> bool + Sync) -> bool {
    // every batch changes, whatever the others say
    let part = |part: &mut [Batch]| part.iter_mut().fold(false, |any, batch| change(batch) | any);
    if parallel && batches.len() > CHUNK {
        batches.par_chunks_mut(CHUNK).map(part).reduce(|| false, |p, q| p | q)
    } else {
        part(batches)
    }
}

/// Applies `change` to each batch, on several threads if `parallel`.
fn each(batches: &mut [Batch], parallel: bool, change: impl Fn(&mut Batch) + Sync) {
    any(batches, parallel, |batch| {
        change(batch);
        false
    });
}
