//! The exact solver of an island: a proximal Newton method on velocities.
//!
//! Let `q` be the change of velocity by impulses, in coordinates in which kinetic energy is half
//! the square. The method of multipliers (Rockafellar 1976) solves contacts and joints: each round
//! minimizes `1/2 |q|^2 + 1/(2 beta) sum(|y|^2 - |y - P(y)|^2)`, `y = lambda - beta (A q + c)`, and
//! takes `lambda = P(y)`. Newton's method with an exact line search finds the minimum, as in SAP
//! (Castro et al. 2022, arXiv 2110.10107), whose compliance is `1/beta`; the rounds remove the
//! compliance. At the end of a round `q = A^T lambda` up to round-off, and with `c` the speeds
//! beyond the targets before the impulses, `lambda . (A q + c) = 0`: impulses on targets without
//! separation add no energy.
//!
//! Friction makes the problem non-associated: the normal target of a contact that slips at speed
//! `u` is shifted by `mu u` (De Saxce and Feng 1998). The shift converges slowly as a fixed point
//! between rounds. Rounds after the first therefore treat it as a function of the velocities, by a
//! semismooth Newton method with an LU factorization, where that converges.

use nalgebra::{Vector3, Vector6};

use super::factor::{Factor, Lu, Pattern};
use super::island::{Island, Solution, Term};
use super::set::{INSIDE, Place, Projection, Set};

/// Stopping criteria. Residuals are relative to the residual without impulses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Limit of factorizations.
    pub(crate) factorizations: usize,
    /// Residual of a converged solution.
    pub(crate) converged: f64,
    /// Residual that is accepted once a round leaves more than a tenth of it.
    pub(crate) accepted: f64,
}

/// Limit of rounds of the method of multipliers.
const ROUNDS: usize = 40;
/// Tolerance of a round relative to the residual before it.
const INNER: f64 = 0.01;
/// Stiffness of a row relative to its inertia in the first round: with friction, and without, where
/// each round is a linear complementarity problem.
const STIFFNESS: f64 = 1e2;
const FRICTIONLESS_STIFFNESS: f64 = 1e3;
/// Growth of the stiffness after a round that leaves more than this share of the error, and its
/// limit by round-off.
const SLOW: f64 = 0.5;
const STIFFNESS_GROWTH: f64 = 10.0;
const MAX_STIFFNESS: f64 = 1e8;
/// Newton steps of a round. Most of them reuse a factorization.
const MAX_STEPS: usize = 100;
/// Newton steps of a round with velocity-dependent shifts, the least share of a step, and the
/// decrease of the squared slope by a full step (Armijo 1966).
const MAX_SHIFTED_STEPS: usize = 12;
const MIN_SHARE: f64 = 0.02;
const DECREASE: f64 = 0.2;
/// Slope at the end of a line search relative to its start, and the limit of its steps.
const SLOPE_REDUCTION: f64 = 0.1;
const BISECTIONS: usize = 40;

impl Island {
    /// Solves by the method of multipliers from a start.
    pub(crate) fn solve(&self, pattern: &Pattern, limits: Limits, start: Solution) -> Solution {
        let Limits { factorizations: most, converged, accepted } = limits;
        let [none, enough] = [converged, accepted].map(|share| share * start.unsolved);
        let mut newton = Newton::new(self, (pattern, most), &start, 0.01 * enough);
        let (mut best, mut last) = (start, f64::INFINITY);
        newton.shift();
        for round in 0..ROUNDS {
            // the inner iteration need not be more exact than the outer one
            newton.still = (INNER * best.residual).max(0.01 * enough);
            if best.residual <= none || newton.factorizations >= most {
                break;
            }
            // the first round finds out which contacts slip
            let is_found = round > 0 && newton.solve_shifted();
            if !is_found && !newton.minimize() {
                break;
            }
            let found = newton.at_impulses(best.unsolved);
            // the residual of the convex problem; that of the true problem includes the dilation
            let open = newton.residual();
            if open > SLOW * last && open > enough {
                newton.stiffness = (newton.stiffness * STIFFNESS_GROWTH).min(MAX_STIFFNESS);
            }
            newton.shift();
            // the residual at the start of the next round, whose shifts are new
            last = newton.residual();
            let before = best.residual;
            if found.residual < before || before.is_nan() {
                best = found;
            }
            if best.residual <= enough && best.residual > 0.1 * before {
                break;
            }
        }
        best.factorizations = newton.factorizations;
        best.is_solved = best.residual <= enough;
        best
    }
}

/// One round of the method of multipliers.
struct Newton<'i> {
    island: &'i Island,
    stiffness: f64,
    velocities: Vec<Vector6<f64>>,
    /// Speeds of each term at the velocities, without its shift.
    speeds: Vec<Vector3<f64>>,
    /// Impulses of the last round.
    impulses: Vec<Vector3<f64>>,
    /// De Saxce shift of each term.
    shifts: Vec<Vector3<f64>>,
    /// Change of speed below which a round has converged, m/s.
    still: f64,
    pattern: &'i Pattern,
    /// Limit and number of factorizations.
    most: usize,
    factorizations: usize,
}

impl<'i> Newton<'i> {
    fn new(
        island: &'i Island,
        (pattern, most): (&'i Pattern, usize),
        start: &Solution,
        still: f64,
    ) -> Self {
        let slides =
            |term: &Term| matches!(term.set, Set::Contact { friction, .. } if friction > 0.0);
        let has_friction = island.terms.iter().any(slides);
        Self {
            island,
            stiffness: if has_friction { STIFFNESS } else { FRICTIONLESS_STIFFNESS },
            velocities: start.velocities.clone(),
            speeds: island.speeds(&start.velocities),
            impulses: start.impulses.clone(),
            shifts: vec![Vector3::zeros(); island.terms.len()],
            still,
            pattern,
            most,
            factorizations: 0,
        }
    }

    /// Moves to the velocities of the impulses and returns the solution there.
    fn at_impulses(&mut self, unsolved: f64) -> Solution {
        self.velocities = self.island.given(&self.impulses);
        self.speeds = self.island.speeds(&self.velocities);
        Solution {
            velocities: self.velocities.clone(),
            impulses: self.impulses.clone(),
            residual: self.island.natural_map_at(&self.speeds, &self.impulses),
            unsolved,
            is_solved: false,
            factorizations: 0,
        }
    }

    /// The natural map of the convex problem.
    fn residual(&self) -> f64 {
        let miss = |(n, term): (usize, &Term)| {
            let (impulse, speed) = (self.impulses[n], self.speeds[n] + self.shifts[n]);
            let moved = impulse - term.set.nearest(&(impulse - speed));
            moved.component_mul(&term.scale).norm()
        };
        self.island.terms.iter().enumerate().map(miss).fold(0.0, f64::max)
    }

    /// The impulse of a term before its projection, `y`.
    fn unprojected(&self, n: usize) -> Vector3<f64> {
        self.impulses[n] - (self.speeds[n] + self.shifts[n]) * self.stiffness
    }

    /// The change of the speed of each term along `direction`.
    fn changes(&self, direction: &[Vector6<f64>]) -> Vec<Vector3<f64>> {
        self.island.terms.iter().map(|term| term.change(direction)).collect()
    }

    /// Shifts the normal target of a contact that slips at speed `u` by `mu u` (De Saxce and Feng
    /// 1998), which cancels the dilation of the associated cone.
    fn shift(&mut self) {
        for (n, term) in self.island.terms.iter().enumerate() {
            let Set::Contact { normal, friction } = term.set else { continue };
            let speed = self.speeds[n];
            let y = self.impulses[n] - speed - self.shifts[n];
            let is_stuck = term.set.project(&y).place == INSIDE;
            let slip = (speed - normal * speed.dot(&normal)).norm();
            // open contacts are shifted, too; the slip of a sticking contact is round-off
            let wanted = if is_stuck { 0.0 } else { friction * slip };
            self.shifts[n] = normal * wanted;
        }
    }

    fn projections(&self) -> Vec<Projection> {
        let own = self.island.terms.iter().enumerate();
        own.map(|(n, term)| term.set.project(&self.unprojected(n))).collect()
    }

    /// Minimizes over velocities and stores the impulses there. Returns `false` if a number is not
    /// finite.
    fn minimize(&mut self) -> bool {
        let mut known: Option<(Vec<Place>, Factor<'i>)> = None;
        let mut is_whole = false;
        for _ in 0..MAX_STEPS {
            let found = self.projections();
            let places: Vec<Place> = found.iter().map(|p| p.place).collect();
            let is_flat = !places.contains(&Place::Curved);
            let is_same = known.as_ref().is_some_and(|(last, _)| is_flat && *last == places);
            if is_same && is_whole || self.factorizations >= self.most {
                self.take(&found);
                return true;
            }
            if !is_same {
                let Some(factor) = self.factor(&found) else { return false };
                known = Some((places, factor));
            }
            let Some((_, factor)) = &known else { return false };
            let slope = self.slope(&found);
            let direction = factor.solve(&slope.iter().map(|g| -g).collect::<Vec<_>>());
            if !direction.iter().all(|direction| direction.iter().all(|x| x.is_finite())) {
                return false;
            }
            let changes = self.changes(&direction);
            let share = self.search((&direction, &changes), &slope);
            self.velocities
                .iter_mut()
                .zip(&direction)
                .for_each(|(q, direction)| *q += direction * share);
            self.speeds.iter_mut().zip(&changes).for_each(|(u, change)| *u += change * share);
            is_whole = share == 1.0;
            // round-off can leave a partial step of zero length
            if self.largest(&changes) <= self.still || share == 0.0 {
                let found = self.projections();
                self.take(&found);
                return true;
            }
        }
        let found = self.projections();
        self.take(&found);
        true
    }

    /// Finds the velocities of zero slope with velocity-dependent shifts, by a semismooth Newton
    /// method with backtracking, and stores the impulses there. Returns `false` and restores the
    /// velocities if it does not converge.
    fn solve_shifted(&mut self) -> bool {
        let (start, shifts) = (self.velocities.clone(), self.shifts.clone());
        let speeds = self.speeds.clone();
        self.shift_by_slip();
        let mut found = self.projections();
        let mut slope = self.slope(&found);
        for _ in 0..MAX_SHIFTED_STEPS {
            if self.factorizations >= self.most {
                break;
            }
            let Some(factor) = self.factor_shifted(&found) else { break };
            let direction = factor.solve(&slope.iter().map(|g| -g).collect::<Vec<_>>());
            let changes = self.changes(&direction);
            let Some(next) = self.backtrack((&direction, &changes), square(&slope)) else { break };
            (found, slope) = next;
            if self.largest(&changes) <= self.still {
                self.take(&found);
                return true;
            }
        }
        (self.velocities, self.shifts, self.speeds) = (start, shifts, speeds);
        false
    }

    /// Moves along `direction` as far as the squared slope, `before` at the start, decreases.
    /// Returns the projections and the slope there; `None` if it does not decrease.
    fn backtrack(
        &mut self,
        (direction, changes): (&[Vector6<f64>], &[Vector3<f64>]),
        before: f64,
    ) -> Option<(Vec<Projection>, Vec<Vector6<f64>>)> {
        let (from, speeds) = (self.velocities.clone(), self.speeds.clone());
        let mut share = 1.0;
        while share >= MIN_SHARE {
            let all = self.velocities.iter_mut().zip(&from).zip(direction);
            all.for_each(|((own, from), direction)| *own = from + direction * share);
            let all = self.speeds.iter_mut().zip(&speeds).zip(changes);
            all.for_each(|((own, from), change)| *own = from + change * share);
            self.shift_by_slip();
            let found = self.projections();
            let slope = self.slope(&found);
            if square(&slope) < before * (1.0 - DECREASE * share) {
                return Some((found, slope));
            }
            share *= 0.5;
        }
        None
    }

    /// Shifts each contact by its slip, even a sticking one: at the solution its slip is zero.
    fn shift_by_slip(&mut self) {
        for (n, term) in self.island.terms.iter().enumerate() {
            let Set::Contact { normal, friction } = term.set else { continue };
            let slip = (self.speeds[n] - normal * self.speeds[n].dot(&normal)).norm();
            self.shifts[n] = normal * (friction * slip);
        }
    }

    /// The factors of the derivative of the slope with velocity-dependent shifts.
    fn factor_shifted(&mut self, found: &[Projection]) -> Option<Lu<'i>> {
        self.factorizations += 1;
        let mut factor = Lu::identity(self.pattern);
        for ((term, found), speed) in self.island.terms.iter().zip(found).zip(&self.speeds) {
            if found.slope == nalgebra::Matrix3::zeros() {
                continue;
            }
            let mut turned = found.slope * self.stiffness;
            if let Set::Contact { normal, friction } = term.set {
                let slip = speed - normal * speed.dot(&normal);
                if let Some(direction) = slip.try_normalize(0.0) {
                    turned += turned * normal * (direction * friction).transpose();
                }
            }
            let answers = term.transposed.each_ref().map(|j| turned * j.transpose());
            for (n, a) in term.bodies.iter().enumerate() {
                for (m, b) in term.bodies.iter().enumerate() {
                    if let (Some(a), Some(b)) = (*a, *b) {
                        factor.add(a, b, &(term.transposed[n] * answers[m]));
                    }
                }
            }
        }
        factor.factorize().then_some(factor)
    }

    fn take(&mut self, found: &[Projection]) {
        self.impulses.iter_mut().zip(found).for_each(|(own, found)| *own = found.impulse);
    }

    /// The gradient.
    fn slope(&self, found: &[Projection]) -> Vec<Vector6<f64>> {
        let mut slope = self.velocities.clone();
        for (term, found) in self.island.terms.iter().zip(found) {
            for (body, transposed) in term.moved() {
                slope[body] -= transposed * found.impulse;
            }
        }
        slope
    }

    /// The factor of the Hessian.
    fn factor(&mut self, found: &[Projection]) -> Option<Factor<'i>> {
        self.factorizations += 1;
        let mut factor = Factor::identity(self.pattern);
        for (term, found) in self.island.terms.iter().zip(found) {
            if found.slope == nalgebra::Matrix3::zeros() {
                continue;
            }
            let is_inside = found.place == INSIDE;
            let answers = term.transposed.each_ref().map(|transposed| {
                if is_inside {
                    transposed.transpose() * self.stiffness
                } else {
                    (found.slope * self.stiffness) * transposed.transpose()
                }
            });
            for (n, a) in term.bodies.iter().enumerate() {
                let Some(a) = *a else { continue };
                factor.add(a, &(term.transposed[n] * answers[n]));
            }
            if let [Some(a), Some(b)] = term.bodies {
                factor.couple(a, b, &(term.transposed[0] * answers[1]));
            }
        }
        factor.factorize().then_some(factor)
    }

    /// The largest change of a speed, m/s or rad/s.
    fn largest(&self, changes: &[Vector3<f64>]) -> f64 {
        let terms = self.island.terms.iter().zip(changes);
        terms.map(|(term, change)| change.component_mul(&term.scale).norm()).fold(0.0, f64::max)
    }

    /// Exact line search: the step in [0, 1] with the least cost, the root of a monotone slope.
    fn search(
        &self,
        (direction, changes): (&[Vector6<f64>], &[Vector3<f64>]),
        slope: &[Vector6<f64>],
    ) -> f64 {
        let terms = self.island.terms.iter().enumerate().zip(changes);
        let lines: Vec<_> =
            terms.map(|((n, term), change)| (term.set, self.unprojected(n), change)).collect();
        let dot = |a: &[Vector6<f64>], b: &[Vector6<f64>]| -> f64 {
            a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
        };
        let (start, square) = (dot(direction, &self.velocities), dot(direction, direction));
        let slope_at = |share: f64| {
            let given = lines.iter().map(|(set, y, change)| {
                let y = y - *change * (share * self.stiffness);
                change.dot(&set.nearest(&y))
            });
            start + share * square - given.sum::<f64>()
        };
        let first = dot(direction, slope);
        if first >= 0.0 {
            return 0.0;
        }
        let last = slope_at(1.0);
        if last <= SLOPE_REDUCTION * first.abs() {
            return 1.0;
        }
        let (mut low, mut high) = ((0.0, first), (1.0, last));
        for n in 0..BISECTIONS {
            // regula falsi alone is slow where the slope has kinks
            let secant = low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1);
            let share = if n % 2 == 0 { secant } else { 0.5 * (low.0 + high.0) };
            let here = slope_at(share);
            if here.abs() <= SLOPE_REDUCTION * first.abs() {
                return share;
            }
            if here < 0.0 { low = (share, here) } else { high = (share, here) }
        }
        low.0
    }
}

/// The squared norm.
fn square(slope: &[Vector6<f64>]) -> f64 {
    slope.iter().map(|own| own.norm_squared()).sum()
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector, Matrix3x6};

    use super::*;
    use crate::constraint::contact_forces;

    /// Random numbers from -1 to 1.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
        }

        fn vector(&mut self) -> Vector3<f64> {
            Vector3::from_fn(|_, _| self.next())
        }

        fn term(&mut self, bodies: [Option<u32>; 2], set: Set) -> Term {
            // bodies of 1 kg and 0.1 kg m^2, with contacts within 0.3 m of their centers
            let mut side = |body: Option<u32>, sign: f64| {
                let mut jacobian = Matrix3x6::zeros();
                if body.is_some() {
                    let arm = self.vector() * 0.3;
                    let spun = arm.cross_matrix() * (-sign / 0.1_f64.sqrt());
                    jacobian.fixed_view_mut::<3, 3>(0, 0).fill_diagonal(sign);
                    jacobian.fixed_view_mut::<3, 3>(0, 3).copy_from(&spun);
                }
                jacobian
            };
            let jacobian = [side(bodies[0], 1.0), side(bodies[1], -1.0)];
            let scale = (jacobian.iter().map(|j| j.norm_squared()).sum::<f64>() / 3.0).sqrt();
            let excess = self.vector() / scale;
            let scale_of = Vector3::repeat(scale);
            let transposed = jacobian.map(|j| (j / scale).transpose());
            Term { bodies, transposed, excess, set, scale: scale_of }
        }

        /// Bodies in a chain from the ground, with some more contacts and a joint between two.
        fn island(&mut self, friction: f64, joined: bool) -> Island {
            let bodies = 2 + (self.next().abs() * 4.0) as usize;
            let mut terms = Vec::new();
            for n in 0..2 * bodies as u32 {
                let b = n % bodies as u32;
                let a = if n == 0 { None } else { b.checked_sub(1) };
                let normal = self.vector().normalize();
                terms.push(self.term([Some(b), a], Set::Contact { normal, friction }));
            }
            if joined {
                let (least, most) = (Vector3::new(f64::NEG_INFINITY, 0.0, -0.1), Vector3::zeros());
                let most = most + Vector3::new(f64::INFINITY, f64::INFINITY, 0.1);
                terms.push(self.term([Some(1), Some(0)], Set::Rows { least, most }));
            }
            Island { bodies, terms }
        }
    }

    fn solved(island: &Island) -> Solution {
        let pattern = Pattern::new(island.bodies, &island.pairs(), usize::MAX).unwrap();
        let none = vec![Vector3::zeros(); island.terms.len()];
        island.solve(&pattern, crate::solve::exact::EXACT, island.guessed(&none))
    }

    #[test]
    fn random_islands_meet_coulombs_law_and_gain_no_energy() {
        let (mut random, mut unsolved) = (Random(5), [0; 4]);
        for case in 0..400 {
            let island = random.island(0.3 * (case % 4) as f64, case % 3 == 0);
            let found = solved(&island);
            unsolved[case % 4] += usize::from(!found.is_solved);
            assert!(found.residual <= island.unsolved(), "{case}: {}", found.residual);
            let given = island.given(&found.impulses);
            let off = given.iter().zip(&found.velocities).map(|(p, q)| (p - q).norm());
            assert!(off.fold(0.0, f64::max) < 1e-9, "{case}: velocities are not of the impulses");
            for (term, impulse) in island.terms.iter().zip(&found.impulses) {
                let Set::Contact { normal, friction } = term.set else { continue };
                let along = impulse.dot(&normal);
                let across = (impulse - normal * along).norm();
                let slack = 1e-6 * (1.0 + along.abs());
                assert!(along >= -slack && across <= friction * along + slack, "{case}");
                let apart = (term.excess + term.change(&found.velocities)).dot(&normal);
                let is_met = apart > -1e-5 && (along * apart).abs() < 1e-4 * (1.0 + along);
                assert!(is_met || !found.is_solved, "{case}: {along} at {apart}");
            }
            // work of the impulses on the mean of the speeds before and after; those before are the
            // excess
            let all = island.terms.iter().zip(&found.impulses);
            let work: f64 = all
                .map(|(term, j)| j.dot(&(term.excess + term.change(&found.velocities) * 0.5)))
                .sum();
            assert!(work <= 1e-5 || !found.is_solved, "{case}: gains {work}");
        }
        // random contacts nearly all slip: of 100 islands each, 3, 18, 66 and 87 are unsolved
        let most = [4, 20, 70, 90];
        assert!(unsolved.iter().zip(most).all(|(&count, most)| count <= most), "{unsolved:?}");
    }

    /// Sweeps end within tolerance of the Newton solution, or leave the problem to it.
    #[test]
    fn sweeps_over_contacts_end_near_the_solution() {
        let (mut random, mut swept) = (Random(23), 0);
        for case in 0..200 {
            let island = random.island(0.2 * (case % 3) as f64, false);
            let none = island.guessed(&vec![Vector3::zeros(); island.terms.len()]);
            let (unsolved, found) = (none.residual, island.sweep(none, 1e-2));
            assert!(found.residual <= unsolved, "{case}");
            let (sweeps, exact) = (&found.impulses, solved(&island));
            let admissible = sweeps.iter().zip(&island.terms);
            let off = admissible.map(|(j, term)| (j - term.set.coulomb(j)).norm());
            assert!(off.fold(0.0, f64::max) < 1e-12, "{case}: impulses outside their cones");
            if !found.is_solved {
                continue;
            }
            swept += 1;
            assert!(found.residual <= 1e-2 * unsolved, "{case}: {}", found.residual);
            // with friction velocities may differ: solutions need not be unique
            if case % 3 == 0 && exact.is_solved {
                let pairs = found.velocities.iter().zip(&exact.velocities);
                let off = pairs.map(|(p, q)| (p - q).norm()).fold(0.0, f64::max);
                assert!(off <= 0.1 * unsolved, "{case}: {off} of {unsolved}");
            }
        }
        assert!(swept > 100, "{swept} of 200");
        let joined = random.island(0.3, true);
        let none = joined.guessed(&vec![Vector3::zeros(); joined.terms.len()]);
        assert!(!joined.sweep(none, 1e-2).is_solved, "sweeps are for contacts alone");
    }

    #[test]
    fn without_friction_impulses_are_those_of_the_quadratic_program() {
        let (mut random, mut failed) = (Random(11), 0);
        for case in 0..100 {
            let island = random.island(0.0, false);
            let found = solved(&island);
            assert!(found.is_solved, "{case}: {}", found.residual);
            let rows: Vec<DVector<f64>> = island
                .terms
                .iter()
                .map(|term| {
                    let Set::Contact { normal, .. } = term.set else { unreachable!() };
                    let mut row = DVector::zeros(6 * island.bodies);
                    for (body, transposed) in term.moved() {
                        row.rows_mut(6 * body, 6).copy_from(&(transposed * normal));
                    }
                    row
                })
                .collect();
            let a = DMatrix::from_fn(rows.len(), rows.len(), |i, j| rows[i].dot(&rows[j]));
            let normal = |term: &Term| match term.set {
                Set::Contact { normal, .. } => normal,
                Set::Rows { .. } | Set::Torque { .. } => unreachable!(),
            };
            let b = DVector::from_iterator(
                rows.len(),
                island.terms.iter().map(|t| t.excess.dot(&normal(t))),
            );
            let Ok(forces) = contact_forces(&a, &b) else {
                failed += 1;
                continue;
            };
            // forces may be indeterminate, the motion is not
            let mut velocities = DVector::zeros(6 * island.bodies);
            rows.iter().zip(forces.iter()).for_each(|(row, force)| velocities += row * *force);
            for (body, own) in found.velocities.iter().enumerate() {
                let off = (velocities.rows(6 * body, 6) - own).norm();
                assert!(off < 1e-5 * (1.0 + velocities.norm()), "{case}: {off}");
            }
        }
        // failures of the oracle, which sometimes makes no progress
        assert!(failed <= 10, "{failed} of 100");
    }

    /// A ball of 3 g between the ground and a weight of 2 t bears the weight, as two-body mechanics
    /// predicts, and neither moves.
    #[test]
    fn a_light_body_carries_a_heavy_one() {
        let (light, heavy, fall) = (0.003_f64, 2000.0_f64, 0.1635);
        let jacobian = |mass: f64, sign: f64| {
            Matrix3x6::from_fn(|i, j| if i == j { sign / mass.sqrt() } else { 0.0 })
        };
        let set = Set::Contact { normal: Vector3::y(), friction: 0.5 };
        let scale = [light, light].map(|mass| 1.0 / mass.sqrt());
        let term = |bodies, jacobian: [Matrix3x6<f64>; 2], excess: f64, scale: f64| Term {
            bodies,
            transposed: jacobian.map(|j| (j / scale).transpose()),
            excess: Vector3::y() * (excess / scale),
            set,
            scale: Vector3::repeat(scale),
        };
        let none = Matrix3x6::zeros();
        let island = Island {
            bodies: 2,
            terms: vec![
                term([Some(0), None], [jacobian(light, 1.0), none], -fall, scale[0]),
                term(
                    [Some(1), Some(0)],
                    [jacobian(heavy, 1.0), jacobian(light, -1.0)],
                    0.0,
                    scale[1],
                ),
            ],
        };
        let found = solved(&island);
        assert!(found.is_solved, "{}", found.residual);
        let bears = found.impulses.iter().zip(&scale).map(|(j, scale)| j.y / scale);
        let wanted = [(light + heavy) * fall, heavy * fall];
        for (bears, wanted) in bears.zip(wanted) {
            assert!((bears - wanted).abs() < 1e-4 * wanted, "{bears} N s of {wanted}");
        }
    }
}
