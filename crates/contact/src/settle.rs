//! The contact pass: resting and sliding contact by projected Gauss-Seidel, then shock propagation
//! from the ground up (GBF03 sections 6 and 7).

use dynamics::{Momentum, Velocity};
use nalgebra::Isometry3;

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

/// Stops approach at the contacts, so that no gap closes within the step, as far as the iteration
/// counts reach.
///
/// With half-step momenta the result tells where bodies go, with end-of-step momenta how they move
/// on.
pub fn settle(problem: Problem<'_>, momenta: &mut [Momentum]) {
    let Problem { columns, poses, dt, settings, .. } = problem;
    let mut pass = Pass { problem, movers: Mover::column(columns, poses, momenta) };
    pass.run(|pair, contact| {
        let (p, q) = (&columns.materials[pair.a as usize], &columns.materials[pair.b as usize]);
        let friction = settings.friction.of(p.friction, q.friction);
        Some((-contact.gap.max(0.0) / dt, friction))
    });
    keep_gains(&pass.movers, momenta);
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
    let mut pass = Pass { problem, movers };
    pass.run(|pair, contact| {
        let (a, b) = (pair.a as usize, pair.b as usize);
        let point = contact.at(&poses[a], &poses[b]).coords;
        let speed = |i: usize| velocities[i].at(&(point - poses[i].translation.vector));
        let gap = contact.gap + dt * contact.normal.dot(&(speed(a) - speed(b)));
        let size = columns.shapes[a].radius().min(columns.shapes[b].radius());
        let overlap = (-gap - settings.slop * size).min(0.2 * size);
        (overlap > 0.0).then_some((settings.push_out * overlap, 0.0))
    });
    pass.movers.iter().map(|m| m.velocity).collect()
}

struct Pass<'a> {
    problem: Problem<'a>,
    movers: Vec<Mover>,
}

impl Pass<'_> {
    /// Solves all contacts together, then level by level with everything below frozen.
    ///
    /// `rule` gives a contact's least separating speed and friction coefficient, or leaves it out.
    fn run(&mut self, rule: impl Fn(&Manifold, &Contact) -> Option<(f64, f64)>) {
        let Problem { contacts, levels, settings, .. } = self.problem;
        let level = |m: &Manifold| levels.of(m.a).max(levels.of(m.b));
        let mut order: Vec<&Manifold> = contacts.manifolds().iter().collect();
        order.sort_by_key(|m| level(m));
        self.solve(&order, settings.contact_sweeps, 0, &rule);
        for frozen in 1..levels.count() {
            let first = order.partition_point(|m| level(m) < frozen);
            let end = order.partition_point(|m| level(m) <= frozen);
            self.solve(&order[first..end], settings.shock_sweeps, frozen, &rule);
        }
    }

    /// Sweeps over the contacts of `pairs`; bodies on levels below `frozen` do not move.
    fn solve(
        &mut self,
        pairs: &[&Manifold],
        sweeps: usize,
        frozen: u32,
        rule: &impl Fn(&Manifold, &Contact) -> Option<(f64, f64)>,
    ) {
        let Problem { contacts, levels, poses, .. } = self.problem;
        let mover = |i: u32| {
            let mover = self.movers[i as usize];
            if levels.of(i) < frozen { mover.frozen() } else { mover }
        };
        let mut rows = Vec::new();
        for pair in pairs {
            let (a, b) = (mover(pair.a), mover(pair.b));
            for contact in contacts.of(pair) {
                let Some((target, friction)) = rule(pair, contact) else { continue };
                let (ia, ib) = (pair.a as usize, pair.b as usize);
                let spec = Spec { contact, a: ia, b: ib, target, friction };
                rows.extend(Row::new(spec, poses, (&a, &b)));
            }
        }
        for _ in 0..sweeps {
            rows.iter_mut().for_each(|row| row.relax(&mut self.movers));
        }
        rows.iter().for_each(|row| row.keep(&mut self.movers));
    }
}
