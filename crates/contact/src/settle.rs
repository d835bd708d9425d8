//! The contact pass: resting and sliding contact by projected Gauss-Seidel, then shock propagation
//! from the ground up (GBF03 sections 6 and 7).

use dynamics::{Momentum, Velocity};
use nalgebra::{Isometry3, Vector3};

use crate::levels::Levels;
use crate::narrow::{Contact, Contacts, Manifold};
use crate::rows::{Row, Spec};
use crate::{Columns, Mover, Settings, keep_gains};

/// The contacts of a step, who rests on whom, and how to solve.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// The bodies.
    pub columns: Columns<'a>,
    /// Poses that the gaps of `contacts` belong to.
    pub poses: &'a [Isometry3<f64>],
    /// The contacts.
    pub contacts: &'a Contacts,
    /// The order of shock propagation.
    pub levels: &'a Levels,
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
    let takes_part = |pair: &Manifold| {
        let mut own = impulses[contacts.range(pair)].iter();
        aim == Aim::Positions || own.any(|j| *j != Vector3::zeros())
    };
    let start = Mover::column(columns, poses, momenta);
    let mut pass = Pass::new(problem, start.clone(), takes_part);
    let rule = |pair: &Manifold, contact: &Contact| {
        let (p, q) = (&columns.materials[pair.a as usize], &columns.materials[pair.b as usize]);
        let friction = settings.friction.of(p.friction, q.friction);
        Some((-contact.gap.max(0.0) / dt, friction))
    };
    pass.solve_all(&rule, impulses);
    if work(&start, &pass.movers) > 0.0 {
        impulses.fill(Vector3::zeros());
        pass.movers = start;
        pass.solve_all(&rule, impulses);
    }
    pass.propagate_shock(&rule, impulses);
    keep_gains(columns, &pass.movers, momenta);
}

/// How far each body is pushed out of those it would overlap at the end of the step that `momenta`
/// make: displacement in m and rotation vector in rad.
///
/// Only positions change by it, so no kinetic energy is added.
pub fn push_out(problem: Problem<'_>, momenta: &[Momentum]) -> Vec<Velocity> {
    let Problem { columns, poses, dt, settings, .. } = problem;
    let mut movers = Mover::column(columns, poses, momenta);
    let velocities: Vec<Velocity> = movers.iter().map(|m| m.velocity).collect();
    movers.iter_mut().for_each(|m| m.velocity = Velocity::default());
    let rule = |pair: &Manifold, contact: &Contact| {
        let (a, b) = (pair.a as usize, pair.b as usize);
        let point = contact.at(&poses[a], &poses[b]).coords;
        let speed = |i: usize| velocities[i].at(&(point - poses[i].translation.vector));
        let gap = contact.gap + dt * contact.normal.dot(&(speed(a) - speed(b)));
        let size = columns.shapes[a].radius().min(columns.shapes[b].radius());
        let overlap = (-gap - settings.slop * size).min(0.2 * size);
        (overlap > 0.0).then_some((settings.push_out * overlap, 0.0))
    };
    let mut pass = Pass::new(problem, movers, |_| true);
    let mut pushes = vec![Vector3::zeros(); problem.contacts.len()];
    pass.solve_all(&rule, &mut pushes);
    pass.propagate_shock(&rule, &mut pushes);
    pass.movers.iter().map(|m| m.velocity).collect()
}

/// Work of the contact impulses, J: the kinetic energy they added, less what kinematic bodies did.
fn work(before: &[Mover], after: &[Mover]) -> f64 {
    let of = |(p, q): (&Mover, &Mover)| {
        let linear = q.gained.linear.dot(&(p.velocity.linear + q.velocity.linear));
        0.5 * (linear + q.gained.angular.dot(&(p.velocity.angular + q.velocity.angular)))
    };
    before.iter().zip(after).map(of).sum()
}

struct Pass<'a> {
    problem: Problem<'a>,
    /// Pairs by level, each with the place of its first contact.
    order: Vec<(u32, &'a Manifold)>,
    movers: Vec<Mover>,
}

impl<'a> Pass<'a> {
    fn new(
        problem: Problem<'a>,
        movers: Vec<Mover>,
        takes_part: impl Fn(&Manifold) -> bool,
    ) -> Self {
        let level = |m: &Manifold| problem.levels.of(m.a).max(problem.levels.of(m.b));
        let pairs = problem.contacts.manifolds().iter().filter(|m| takes_part(m));
        let mut order: Vec<_> = pairs.map(|m| (level(m), m)).collect();
        order.sort_by_key(|&(level, _)| level);
        Self { problem, order, movers }
    }

    /// Solves all contacts together from the impulses given.
    ///
    /// `rule` gives a contact's least separating speed and friction coefficient, or leaves it out.
    fn solve_all(
        &mut self,
        rule: &impl Fn(&Manifold, &Contact) -> Option<(f64, f64)>,
        impulses: &mut [Vector3<f64>],
    ) {
        let mut rows = self.rows(0, 0..self.order.len(), rule);
        for row in &mut rows {
            row.start(&impulses[row.contact()], &mut self.movers);
        }
        self.sweep(&mut rows, self.problem.settings.contact_sweeps);
        for row in &rows {
            impulses[row.contact()] = row.impulse();
        }
    }

    /// Level by level, with everything below frozen.
    fn propagate_shock(
        &mut self,
        rule: &impl Fn(&Manifold, &Contact) -> Option<(f64, f64)>,
        impulses: &mut [Vector3<f64>],
    ) {
        for level in 1..self.problem.levels.count() {
            let first = self.order.partition_point(|&(l, _)| l < level);
            let end = self.order.partition_point(|&(l, _)| l <= level);
            let mut rows = self.rows(level, first..end, rule);
            for row in &mut rows {
                row.resume(&impulses[row.contact()]);
            }
            self.sweep(&mut rows, self.problem.settings.shock_sweeps);
            for row in &rows {
                impulses[row.contact()] = row.impulse();
            }
        }
    }

    /// Rows of some of the pairs; bodies on levels below `frozen` do not move.
    fn rows(
        &self,
        frozen: u32,
        pairs: std::ops::Range<usize>,
        rule: &impl Fn(&Manifold, &Contact) -> Option<(f64, f64)>,
    ) -> Vec<Row> {
        let Problem { contacts, levels, poses, .. } = self.problem;
        let mover = |i: u32| {
            let mover = self.movers[i as usize];
            if levels.of(i) < frozen { mover.frozen() } else { mover }
        };
        let mut rows = Vec::new();
        for &(_, pair) in &self.order[pairs] {
            let (a, b) = (mover(pair.a), mover(pair.b));
            for index in contacts.range(pair) {
                let contact = &contacts.all()[index];
                let Some((target, friction)) = rule(pair, contact) else { continue };
                let spec = Spec { contact, index, pair, target, friction };
                rows.extend(Row::new(spec, poses, (&a, &b)));
            }
        }
        rows
    }

    fn sweep(&mut self, rows: &mut [Row], sweeps: usize) {
        for _ in 0..sweeps {
            rows.iter_mut().for_each(|row| row.relax(&mut self.movers));
        }
        rows.iter().for_each(|row| row.keep(&mut self.movers));
    }
}
