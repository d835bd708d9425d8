//! Contacts and joints of an island as one complementarity problem with one residual.
//!
//! An island is a connected component of bodies with contacts and joints as edges. Islands with a
//! cheap factorization are solved exactly: by [Newton's method](newton) from the warm start, and if
//! that fails on an island of contacts, from a point near the solution that the
//! [interior-point method](interior) finds. Exact solutions need no shock propagation, and mass ratios
//! do not slow them.

mod ends;
mod factor;
pub(crate) mod impact;
mod interior;
mod island;
mod newton;
#[cfg(test)]
mod random;
pub(super) mod set;
mod sweeps;

use std::collections::BTreeMap;
use std::ops::Range;

use dynamics::{Momentum, Velocity};
use nalgebra::{Vector3, Vector6};
use rayon::prelude::*;

use crate::Islands;
use crate::constraint::{Bounds, Joint, Reaction, Row, Stepping};
use crate::narrow::contacts::Contact;
use crate::solve::impulses::ContactImpulses;
use crate::solve::problem::{Aim, ContactTarget, Problem};
use crate::solve::rolling::{mean_normal, of_pair};
use ends::{Coordinates, Ends};
use factor::Pattern;
use island::{Island, Solution, Term};
use newton::Limits;

/// Largest island in bodies. In a heap of `n` bodies the top separator has `n^(2/3)` bodies, and
/// its elimination alone takes `n^2 / 6` block products. Sweeps visit each body about 70 times.
const MAX_BODIES: usize = 420;

/// [`Settings::exact_products`](crate::Settings::exact_products) of an island at rest. Relaxing a
/// contact in a sweep costs about one product, there are about 70 sweeps, and a solution takes up to
/// 60 factorizations. Errors of sweeps would bend a wall frame by frame, and the solution of the
/// last frame saves most factorizations: walls of 400 bricks need 18 products and take half the time
/// of sweeps.
const PRODUCTS_AT_REST: usize = 20;
/// A body rests if it is no faster than forces make it in this number of half steps.
const RESTING_HALF_STEPS: f64 = 4.0;

/// Error below which a joint counts as closed, m or rad.
const CLOSED: f64 = 1e-9;
/// Limit of repeated linearizations. Each halves the error of a taut joint.
const MAX_CLOSINGS: usize = 16;

/// Limits of a contact pass.
const EXACT: Limits = Limits { factorizations: 30, converged: 1e-9, accepted: 1e-5, memory: 5 };
/// Limits on an island of contacts alone. At rest the accepted residual is 16 to 33 micrometers per second at 30 Hz.
/// With an accepted residual of 1e-5, the exact solver fails on six times as many islands of `table_25`, and the
/// impulses of sweeps that replace its solution are a poor warm start for the next frame.
const CONTACTS: Limits = Limits { accepted: 1e-4, ..EXACT };
/// Limits of the first attempt on an island of contacts. A warm start that is close to the solution
/// takes one to four factorizations.
const FROM_WARM_START: Limits = Limits { factorizations: 5, ..CONTACTS };
/// Relative residual of the interior-point method below which the Newton method starts from its
/// result. Of 351 islands, 1e-3 loses 18 that 1e-2 solves.
const APPROACHED: f64 = 1e-2;
/// Sweeps before the first factorization. They determine which contacts of a landing body bear load.
const FIRST_SWEEPS: usize = 5;
/// Limit of solutions in which torques are bounded by the normal impulses of the previous one. A
/// body that rolls on its own takes one or two.
const MAX_LIMITINGS: usize = 8;
/// Limits of a shock.
const SHOCK: Limits = Limits { factorizations: 60, converged: 0.01, accepted: 0.01, memory: 2 };
/// Limit of 6x6 block products in one factorization of a shock, which take about 20 ms.
const SHOCK_PRODUCTS: usize = 200_000;

/// Start of the solution of all islands in a pass.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    pub(crate) momenta: &'a [Momentum],
    /// Warm start of the contacts, with the pairs that resist rotation.
    pub(crate) impulses: &'a ContactImpulses,
    pub(crate) joints: &'a [Joint],
    pub(crate) stepping: Stepping,
    /// Factor of the warm start of joints.
    pub(crate) share: f64,
}

/// The islands that the exact solver tried.
#[derive(Debug, Default)]
pub(crate) struct Exact {
    tried: Vec<Solved>,
    /// Whether the island of each manifold and joint is solved.
    pub(crate) pairs: Vec<bool>,
    pub(crate) joints: Vec<bool>,
}

/// Islands of an earlier pass with the same forces and settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownIslands {
    /// By the first body.
    by_body: BTreeMap<u32, Solved>,
}

/// An island with its solution.
#[derive(Clone, Debug)]
struct Solved {
    part: Part,
    solution: Solution,
}

/// Bodies, pairs and joints of an island, by index.
#[derive(Clone, Debug, Default)]
struct Part {
    bodies: Vec<u32>,
    pairs: Vec<u32>,
    joints: Vec<u32>,
    /// The usable rows of each joint.
    rows: Vec<Vec<Row>>,
    island: Island,
    /// Warm start of all terms.
    guess: Vec<Vector3<f64>>,
    /// Momenta before the pass.
    before: Vec<Momentum>,
    /// Number of contact terms, which come first.
    contact_terms: usize,
    /// Number of contact and torque terms, which come before those of joints.
    unjoined_terms: usize,
    /// Rolling and spinning friction, one per term.
    torques: Vec<PairTorque>,
}

/// Rolling and spinning friction of a pair.
#[derive(Clone, Debug)]
struct PairTorque {
    /// Index among all torques of the pass.
    index: usize,
    /// The contact terms of the pair.
    contacts: Range<usize>,
    /// Largest torque across the normal and about it, divided by the normal force, m.
    arms: [f64; 2],
}

impl Exact {
    /// Solves all islands of the `used` manifolds with a cheap factorization. An island that equals a `known` one gets
    /// the solution of the latter.
    pub(crate) fn new(
        problem: Problem<'_>,
        aim: Aim,
        start: Start<'_>,
        used: &[bool],
        mut known: KnownIslands,
    ) -> Self {
        let parts: Vec<_> = parts(problem, start, used)
            .into_iter()
            .map(|part| {
                let equal = part.bodies.first().and_then(|first| known.by_body.remove(first));
                (part, equal)
            })
            .collect();
        let solve = |(mut part, known): (Part, Option<Solved>)| {
            part.fill(problem, start);
            if let Some(Solved { solution, .. }) = known.filter(|known| known.part.equals(&part)) {
                return Some(Solved { part, solution });
            }
            let mut solution = part.solve(problem)?;
            if aim == Aim::Positions && solution.is_solved && !part.joints.is_empty() {
                solution = part.follow(problem, start, solution);
            }
            Some(Solved { part, solution })
        };
        let tried: Vec<Solved> = parts.into_par_iter().filter_map(solve).collect();
        let mut pairs = vec![false; problem.contacts.manifolds().len()];
        let mut joints = vec![false; start.joints.len()];
        for Solved { part, .. } in tried.iter().filter(|solved| solved.solution.is_solved) {
            part.pairs.iter().for_each(|&n| pairs[n as usize] = true);
            part.joints.iter().for_each(|&n| joints[n as usize] = true);
        }
        Self { tried, pairs, joints }
    }

    /// Solves the islands of `chosen` bodies without friction: the impulses that bodies transmit,
    /// for any mass ratio.
    pub(crate) fn shock(problem: Problem<'_>, start: Start<'_>, chosen: &[bool]) -> Self {
        let mut parts = parts(problem, start, &vec![true; problem.contacts.manifolds().len()]);
        parts.retain(|part| part.bodies.iter().any(|&i| chosen[i as usize]));
        let solve = |mut part: Part| {
            part.fill(problem, start);
            part.stop(problem);
            let pattern =
                Pattern::new(part.bodies.len(), &part.island.couplings(), SHOCK_PRODUCTS)?;
            let first = part.island.guessed(&part.guess);
            let solution = part.island.solve(&pattern, SHOCK, first);
            Some(Solved { part, solution })
        };
        Self { tried: parts.into_par_iter().filter_map(solve).collect(), ..Self::default() }
    }

    /// Whether the island of each of `count` bodies is solved.
    pub(crate) fn solved_bodies(&self, count: usize) -> Vec<bool> {
        let mut solved = vec![false; count];
        for Solved { part, .. } in self.tried.iter().filter(|own| own.solution.is_solved) {
            part.bodies.iter().for_each(|&i| solved[i as usize] = true);
        }
        solved
    }

    /// Writes momenta and impulses of solved islands to `kept`. For an unsolved island `kept` holds
    /// the result of the sweeps, and the solution with the smaller residual wins.
    pub(crate) fn keep(&self, problem: Problem<'_>, kept: &mut PassResult<'_>) {
        for Solved { part, solution } in &self.tried {
            let is_better = || solution.residual < part.residual(problem, kept);
            if solution.is_solved || is_better() {
                part.keep(problem, solution, kept);
            }
        }
    }

    /// The islands with their solutions, for the next pass of the same step.
    pub(crate) fn into_known(self) -> KnownIslands {
        let first = |own: Solved| Some((*own.part.bodies.first()?, own));
        KnownIslands { by_body: self.tried.into_iter().filter_map(first).collect() }
    }

    /// Number of unsolved islands.
    pub(crate) fn unsolved(&self) -> usize {
        self.tried.iter().filter(|solved| !solved.solution.is_solved).count()
    }
}

/// Results of a pass.
pub(crate) struct PassResult<'a> {
    pub(crate) momenta: &'a mut [Momentum],
    pub(crate) impulses: &'a mut ContactImpulses,
    /// Momenta that joints gave to bodies.
    pub(crate) gains: &'a mut [Momentum],
    pub(crate) joints: &'a mut [Joint],
}

/// Islands with contacts and at most [`MAX_BODIES`] bodies.
fn parts(problem: Problem<'_>, start: Start<'_>, used: &[bool]) -> Vec<Part> {
    let Problem { columns, contacts, .. } = problem;
    let count = columns.bodies.len();
    let known = |joint: &&Joint| joint.bodies.iter().all(|&i| (i as usize) < count);
    let manifolds = || (0..).zip(contacts.manifolds()).filter(|(n, _)| used[*n as usize]);
    let mut edges: Vec<_> = manifolds().map(|(_, pair)| (pair.a, pair.b)).collect();
    edges.extend(start.joints.iter().filter(known).map(|j| (j.bodies[0], j.bodies[1])));
    let islands = Islands::new(columns, &edges);
    let of = |bodies: [u32; 2]| bodies.into_iter().find_map(|i| islands.of_bodies()[i as usize]);
    let mut parts = vec![Part::default(); islands.count()];
    for (n, island) in (0..).zip(islands.of_bodies()) {
        if let Some(k) = island {
            parts[*k as usize].bodies.push(n);
        }
    }
    for (n, pair) in manifolds() {
        if let Some(k) = of([pair.a, pair.b]) {
            parts[k as usize].pairs.push(n);
        }
    }
    for (n, joint) in (0..).zip(start.joints).filter(|(_, joint)| known(joint)) {
        if let Some(k) = of(joint.bodies) {
            parts[k as usize].joints.push(n);
        }
    }
    parts.retain(|part| !part.pairs.is_empty() && part.bodies.len() <= MAX_BODIES);
    parts
}

fn velocity(problem: Problem<'_>, momenta: &[Momentum], i: u32) -> Velocity {
    let (body, pose) = (&problem.columns.bodies[i as usize], &problem.poses[i as usize]);
    body.velocity(&pose.rotation, &momenta[i as usize])
}

fn coordinates(problem: Problem<'_>, i: u32) -> Option<Coordinates> {
    let (body, pose) = (&problem.columns.bodies[i as usize], &problem.poses[i as usize]);
    Coordinates::new(body, &pose.rotation)
}

/// Impulses of rows, three per term.
fn packed(rows: &[Row], impulses: &[f64]) -> Vec<Vector3<f64>> {
    let own = |rows: (usize, &[Row])| {
        let (n, rows) = rows;
        let of = |k: usize| if k < rows.len() { impulses[3 * n + k] } else { 0.0 };
        Vector3::from_fn(|k, _| of(k))
    };
    rows.chunks(3).enumerate().map(own).collect()
}

impl Part {
    /// Whether both islands have the same terms and warm start. An island with joints or torques equals no other: a
    /// solution changes its terms.
    fn equals(&self, other: &Self) -> bool {
        self.island.is_of_contacts()
            && self.bodies == other.bodies
            && self.before == other.before
            && self.guess == other.guess
            && self.island == other.island
    }

    /// The terms of contacts and joints.
    fn fill(&mut self, problem: Problem<'_>, start: Start<'_>) {
        let contacts = problem.contacts;
        let local = |body: u32| self.bodies.binary_search(&body).ok().map(|n| n as u32);
        let coordinates = |body: u32| coordinates(problem, body);
        let velocity = |i: u32| velocity(problem, start.momenta, i);
        let (mut terms, mut guess) = (Vec::new(), Vec::new());
        let (mut turning, mut turned) = (Vec::new(), Vec::new());
        for &n in &self.pairs {
            let pair = &contacts.manifolds()[n as usize];
            let bodies = [pair.a, pair.b];
            let ends = Ends {
                bodies: bodies.map(local),
                coordinates: bodies.map(coordinates),
                velocities: bodies.map(velocity),
            };
            let first = terms.len();
            for index in contacts.range(pair) {
                let contact = &contacts.all()[index];
                let target = ContactTarget::of(problem, pair, contact);
                let (term, scale) = ends.contact(&contact.arms, contact.normal, target);
                guess.push(start.impulses.contacts[index] * scale);
                terms.push(term);
            }
            let torques = &start.impulses.torques;
            let resisting = of_pair(torques, n).zip(mean_normal(contacts, pair));
            if let Some((index, normal)) = resisting {
                let (term, torque) = (ends.torque(normal), torques[index]);
                turned.push(torque.impulse.component_mul(&term.scale));
                turning.push(term);
                let contacts = first..terms.len();
                self.torques.push(PairTorque { index, contacts, arms: torque.arms });
            }
        }
        self.before = self.bodies.iter().map(|&i| start.momenta[i as usize]).collect();
        self.contact_terms = terms.len();
        terms.append(&mut turning);
        guess.append(&mut turned);
        self.unjoined_terms = terms.len();
        self.island = Island { bodies: self.bodies.len(), terms };
        self.guess = guess;
        let rows = self.joints.iter().map(|&n| {
            let joint = &start.joints[n as usize];
            joint.usable_rows(problem.poses, start.stepping)
        });
        let rows: Vec<Vec<Row>> = rows.collect();
        for (&n, rows) in self.joints.iter().zip(&rows) {
            let last = start.joints[n as usize].last.impulses.map(|own| own * start.share);
            self.guess.extend(packed(rows, &last));
        }
        self.join(problem, start, rows);
        let first = self.unjoined_terms;
        let joined = self.island.terms[first..].iter().zip(&mut self.guess[first..]);
        joined.for_each(|(term, guess)| guess.component_mul_assign(&term.scale));
    }

    /// Makes contacts that close within the step stop all approach, without friction.
    fn stop(&mut self, problem: Problem<'_>) {
        let contacts = problem.contacts;
        let ranges = self.pairs.iter().map(|&n| contacts.range(&contacts.manifolds()[n as usize]));
        for (term, index) in self.island.terms.iter_mut().zip(ranges.flatten()) {
            let Contact { gap, overlap, .. } = contacts.all()[index];
            term.stop((gap + overlap).max(0.0) / problem.dt);
        }
    }

    /// Appends the terms of joints with these rows to those of contacts and torques.
    fn join(&mut self, problem: Problem<'_>, start: Start<'_>, rows: Vec<Vec<Row>>) {
        let local = |body: u32| self.bodies.binary_search(&body).ok().map(|n| n as u32);
        self.island.terms.truncate(self.unjoined_terms);
        for (&n, rows) in self.joints.iter().zip(&rows) {
            let bodies = start.joints[n as usize].bodies;
            let ends = Ends {
                bodies: bodies.map(local),
                coordinates: bodies.map(|i| coordinates(problem, i)),
                velocities: bodies.map(|i| velocity(problem, start.momenta, i)),
            };
            self.island.terms.extend(rows.chunks(3).map(|rows| ends.rows(rows)));
        }
        self.rows = rows;
    }

    /// Linearizes the joints again at the end of the step until they close there, or until the new problem cannot be
    /// solved.
    fn follow(&mut self, problem: Problem<'_>, start: Start<'_>, solved: Solution) -> Solution {
        let mut latest = solved;
        for _ in 0..MAX_CLOSINGS {
            let momenta = self.momenta(problem, start, &latest);
            let mut ends = problem.poses.to_vec();
            for i in self.joints.iter().flat_map(|&n| start.joints[n as usize].bodies) {
                let (i, body) = (i as usize, &problem.columns.bodies[i as usize]);
                let scheme = &problem.settings.scheme;
                ends[i] = scheme.advance(body, &problem.poses[i], &momenta[i], problem.dt);
            }
            let turned = |&n: &u32| {
                let joint = &start.joints[n as usize];
                joint.usable_rows(&ends, Stepping { error_reduction: 1.0, ..start.stepping })
            };
            let mut rows: Vec<Vec<Row>> = self.joints.iter().map(turned).collect();
            let held = rows.iter().flatten().filter(|row| row.bounds == Bounds::FREE);
            let open = held.fold(0.0_f64, |most, row| most.max(row.target.abs()));
            if open * problem.dt < CLOSED {
                break;
            }
            for row in rows.iter_mut().flatten() {
                let is_driven = !matches!(row.bounds, Bounds::FREE | Bounds::PUSH);
                let [a, b] = row.bodies.map(|i| velocity(problem, &momenta, i));
                row.target += if is_driven { 0.0 } else { row.speed(&a, &b) };
            }
            let scales: Vec<_> = self.island.terms.iter().map(|term| term.scale).collect();
            let known = self.rows.clone();
            self.join(problem, start, rows);
            // scales change with the directions of rows
            let all = latest.impulses.iter().zip(scales).zip(&self.island.terms);
            let rescaled = all.map(|((impulse, scale), term)| {
                impulse.component_div(&scale).component_mul(&term.scale)
            });
            self.guess = rescaled.collect();
            match self.solve(problem) {
                Some(next) if next.is_solved => latest = next,
                _ => {
                    self.join(problem, start, known);
                    break;
                }
            }
        }
        latest
    }

    /// The momenta of all bodies with a solution.
    fn momenta(
        &self,
        problem: Problem<'_>,
        start: Start<'_>,
        solution: &Solution,
    ) -> Vec<Momentum> {
        let mut momenta = start.momenta.to_vec();
        for (&i, change) in self.bodies.iter().zip(&solution.velocities) {
            if let Some(own) = coordinates(problem, i) {
                momenta[i as usize] += own.momentum(change);
            }
        }
        momenta
    }

    /// Whether all bodies rest before the pass.
    fn rests(&self, problem: Problem<'_>) -> bool {
        self.bodies.iter().zip(&self.before).all(|(&i, momentum)| {
            let i = i as usize;
            let velocity = problem.columns.bodies[i].velocity(&problem.poses[i].rotation, momentum);
            let radius = problem.columns.shapes[i].radius();
            let kick = problem.half_kick[i].linear.norm();
            let limit = problem.settings.resting_speed + RESTING_HALF_STEPS * kick;
            velocity.linear.norm() + velocity.angular.norm() * radius <= limit
        })
    }

    /// Solves the island; returns the warm start if that is converged. `None` if a factorization would cost more than
    /// the sweeps.
    fn solve(&mut self, problem: Problem<'_>) -> Option<Solution> {
        limit(&mut self.island.terms, &self.torques, self.contact_terms, &self.guess);
        let mut start = self.island.guessed(&self.guess);
        start.is_solved = start.is_within(EXACT.converged);
        if start.is_solved {
            return Some(start);
        }
        let sweeps = if self.joints.is_empty() { 1 } else { problem.settings.joint_sweeps };
        let exact_products = problem.settings.exact_products;
        let per_contact = match self.rests(problem) {
            true => exact_products.max(PRODUCTS_AT_REST),
            false => exact_products,
        };
        let most = (self.island.terms.len() * sweeps).saturating_mul(per_contact);
        let pattern = Pattern::new(self.bodies.len(), &self.island.couplings(), most)?;
        let start = self.island.sweep(start, EXACT.converged, FIRST_SWEEPS);
        let mut solution = exact_solution(&self.island, &pattern, start);
        for round in 0..=MAX_LIMITINGS {
            if self.torques.is_empty() {
                break;
            }
            limit(&mut self.island.terms, &self.torques, self.contact_terms, &solution.impulses);
            let next = self.island.at(solution.impulses.clone(), &solution);
            if next.is_within(EXACT.accepted) {
                break;
            }
            if round == MAX_LIMITINGS {
                // unsolved: its torques exceed the bounds by its own normal impulses
                solution = next;
                break;
            }
            solution = self.island.solve(&pattern, EXACT, next);
        }
        Some(solution)
    }

    /// The natural map at the result of the sweeps, m/s.
    fn residual(&self, problem: Problem<'_>, kept: &PassResult<'_>) -> f64 {
        let contacts = problem.contacts;
        let change = |(&i, before): (&u32, &Momentum)| {
            let gained = kept.momenta[i as usize] - *before;
            coordinates(problem, i).map_or_else(Vector6::zeros, |c| c.change(&gained))
        };
        let velocities: Vec<_> = self.bodies.iter().zip(&self.before).map(change).collect();
        let pairs = self.pairs.iter().map(|&n| &contacts.manifolds()[n as usize]);
        let touching =
            pairs.flat_map(|pair| contacts.range(pair)).map(|n| kept.impulses.contacts[n]);
        let turned = self.torques.iter().map(|own| kept.impulses.torques[own.index].impulse);
        let joined = self
            .joints
            .iter()
            .zip(&self.rows)
            .flat_map(|(&n, rows)| packed(rows, &kept.joints[n as usize].last.impulses));
        let all = touching.chain(turned).chain(joined).zip(&self.island.terms);
        let impulses: Vec<_> = all.map(|(j, term)| j.component_mul(&term.scale)).collect();
        self.island.natural_map(&velocities, &impulses)
    }

    fn keep(&self, problem: Problem<'_>, solution: &Solution, kept: &mut PassResult<'_>) {
        let contacts = problem.contacts;
        for ((&i, before), change) in self.bodies.iter().zip(&self.before).zip(&solution.velocities)
        {
            let Some(coordinates) = coordinates(problem, i) else { continue };
            let gained = coordinates.momentum(change);
            kept.momenta[i as usize].linear = before.linear + gained.linear;
            kept.momenta[i as usize].angular = before.angular + gained.angular;
            kept.gains[i as usize] = Momentum::default();
        }
        let mut own = self.island.terms.iter().zip(&solution.impulses);
        for &n in &self.pairs {
            let range = contacts.range(&contacts.manifolds()[n as usize]);
            for (index, (term, impulse)) in range.zip(own.by_ref()) {
                kept.impulses.contacts[index] = impulse.component_div(&term.scale);
            }
        }
        for (torque, (term, impulse)) in self.torques.iter().zip(own.by_ref()) {
            kept.impulses.torques[torque.index].impulse = impulse.component_div(&term.scale);
        }
        for (&n, rows) in self.joints.iter().zip(&self.rows) {
            let mut reaction = Reaction::default();
            for (k, rows) in rows.chunks(3).enumerate() {
                let Some((term, impulse)) = own.next() else { return };
                for (m, row) in rows.iter().enumerate() {
                    let impulse = impulse[m] / term.scale[m];
                    reaction.add(3 * k + m, row, impulse);
                    crate::constraint::push(row, impulse, kept.gains);
                }
            }
            kept.joints[n as usize].last = reaction;
        }
    }
}

/// The solution of an island by Newton's method, from the start or from a point that the
/// interior-point method finds.
fn exact_solution(island: &Island, pattern: &Pattern, start: Solution) -> Solution {
    if !island.is_of_contacts() {
        return island.solve(pattern, EXACT, start);
    }
    let first = island.solve(pattern, FROM_WARM_START, start);
    if first.is_solved {
        return first;
    }
    let near = island.approach(pattern, first.clone());
    if near.is_within(APPROACHED) {
        let solution = island.solve(pattern, CONTACTS, near);
        if solution.residual < first.residual {
            return solution;
        }
    }
    // an interior point has positive separation speeds at all contacts, which would lift a heap
    first
}

/// Bounds torques, whose terms start at `first`, by the normal impulses among `impulses`.
fn limit(terms: &mut [Term], torques: &[PairTorque], first: usize, impulses: &[Vector3<f64>]) {
    for (torque, n) in torques.iter().zip(first..) {
        let push = |k: usize| terms[k].push(&impulses[k]);
        let push: f64 = torque.contacts.clone().map(push).sum();
        terms[n].limit(torque.arms.map(|arm| arm * push));
    }
}
