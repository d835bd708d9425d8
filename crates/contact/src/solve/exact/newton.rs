//! The exact solver of an island: a semismooth Newton method on the natural map of Coulomb's law.
//!
//! Let `j` be the impulses of all terms, `q = A^T j` the changes of the bodies' velocities, `c` the
//! speeds of the terms beyond their targets without impulses, and `u = c + A q` those with them. `P`
//! is the [projection](super::set::Set::project) onto admissible impulses. Complementarity and
//! Coulomb's law hold if `F(j) = j - P(j - u)` is zero (Alart and Curnier 1991). With `D` the derivative of `P`, a step solves
//! `(I - D + D (A A^T + e I)) dj = -F`. The Levenberg-Marquardt regularization `e` bounds steps
//! where impulses are not unique, as in four contacts below a box. Elimination of `dj` leaves one
//! 6x6 block per body, so that a step costs one factorization of the island's bodies.
//!
//! `F` has kinks where a contact opens or starts to slip, and `|F|` has local minima there. The
//! line search therefore accepts a step that is better than the worst of the last few (Grippo,
//! Lampariello and Lucidi 1986). At the solution normal impulses act only at zero `u`, and friction
//! opposes slip: impulses on targets without separation add no energy.

use std::collections::VecDeque;

use nalgebra::{Matrix3, Vector3, Vector6};

use super::factor::{Factor, Pattern};
use super::island::{Island, Solution};

/// Stopping criteria. Residuals are relative to the residual without impulses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Limit of factorizations.
    pub(crate) factorizations: usize,
    /// Residual of a converged solution.
    pub(crate) converged: f64,
    /// Residual that is accepted once steps reduce it slowly.
    pub(crate) accepted: f64,
    /// Number of previous iterates whose largest merit bounds that of the next. A larger number
    /// solves more islands with friction. Where several solutions exist, it finds one far from the
    /// start more often.
    pub(crate) memory: usize,
}

/// A step that leaves more than this share of the residual is slow.
const SLOW: f64 = 0.5;
/// Largest regularization at the start, relative to the effective inverse mass of a term. A start
/// close to the solution has a smaller one, the relative residual (Yamashita and Fukushima 2001).
const REGULARIZATION: f64 = 1e-2;
/// Factor of the regularization after a full step. A short or failed step divides by it.
const RELAXATION: f64 = 1.0 / 3.0;
/// Limits of the regularization. The lower one is far above round-off; at the upper one it
/// equals the effective inverse mass of the term.
const MIN_REGULARIZATION: f64 = 1e-8;
const MAX_REGULARIZATION: f64 = 1.0;
/// A step of less than this share of the Newton step is short.
const SHORT: f64 = 0.2;
/// The line search fails below this share.
const MIN_SHARE: f64 = 0.02;
/// Least relative decrease of the merit by a full step (Armijo 1966).
const DECREASE: f64 = 1e-3;

impl Island {
    /// Solves by Newton's method from a start.
    pub(crate) fn solve(&self, pattern: &Pattern, limits: Limits, start: Solution) -> Solution {
        let [none, enough] = [limits.converged, limits.accepted].map(|s| s * start.unsolved);
        let mut here = Iterate::new(self, &start);
        let mut factor = Factor::identity(pattern);
        let missing = start.residual / start.unsolved.max(f64::MIN_POSITIVE);
        let mut regularization = missing.clamp(MIN_REGULARIZATION, REGULARIZATION);
        let mut merits = VecDeque::from([here.merit()]);
        let mut best = start;
        let mut factorizations = 0;
        while best.residual > none && factorizations < limits.factorizations {
            factorizations += 1;
            let Some(step) = self.step(&mut factor, &here, regularization) else { break };
            let worst = merits.iter().copied().fold(0.0, f64::max);
            let Some((share, next)) = self.search(&here, &step, worst) else {
                if regularization >= MAX_REGULARIZATION {
                    break;
                }
                regularization /= RELAXATION;
                continue;
            };
            if share == 1.0 {
                regularization = (regularization * RELAXATION).max(MIN_REGULARIZATION);
            } else if share < SHORT {
                regularization = (regularization / RELAXATION).min(MAX_REGULARIZATION);
            }
            here = next;
            if merits.len() == limits.memory {
                merits.pop_front();
            }
            merits.push_back(here.merit());
            let before = best.residual;
            let found = here.residual(self);
            if found < before {
                best = self.at(here.impulses.clone(), &best);
            }
            if best.residual <= enough && best.residual > SLOW * before {
                break;
            }
        }
        if best.residual > enough {
            // impulses of a solution are admissible within its residual
            let own = self.terms.iter().zip(&best.impulses);
            best = self.at(own.map(|(term, j)| term.set.project(j)).collect(), &best);
        }
        best.factorizations = factorizations;
        best.is_solved = best.residual <= enough;
        best
    }

    /// The Newton step of all impulses. `None` if a pivot is singular.
    fn step(&self, factor: &mut Factor<'_>, here: &Iterate, regularization: f64) -> Option<Step> {
        factor.reset();
        let mut right = vec![Vector6::zeros(); self.bodies];
        // (I - D + e D) dj = -F - D A dq for each term, and dq = A^T dj
        let mut own = Vec::with_capacity(self.terms.len());
        for (n, term) in self.terms.iter().enumerate() {
            let slope = term.set.slope(&(here.impulses[n] - here.speeds[n]));
            let inverse = (Matrix3::identity() - slope * (1.0 - regularization)).try_inverse()?;
            let (still, answer) = (inverse * -here.map[n], inverse * slope);
            factor.add(n, &term.transposed, &answer);
            term.moved().for_each(|(body, transposed)| right[body] += transposed * still);
            own.push((still, answer));
        }
        if !factor.factorize() {
            return None;
        }
        let velocities = factor.solve(&right);
        let all = self.terms.iter().zip(own);
        let impulses: Vec<_> =
            all.map(|(term, (still, answer))| still - answer * term.change(&velocities)).collect();
        if !impulses.iter().all(|change| change.iter().all(|x| x.is_finite())) {
            return None;
        }
        let velocities = self.given(&impulses);
        let speeds = self.terms.iter().map(|term| term.change(&velocities)).collect();
        Some(Step { impulses, speeds })
    }

    /// Backtracking line search: the first share of a step with a merit below `worst`, and the
    /// iterate there.
    fn search(&self, here: &Iterate, step: &Step, worst: f64) -> Option<(f64, Iterate)> {
        let mut share = 1.0;
        while share >= MIN_SHARE {
            let moved = |own: &[Vector3<f64>], change: &[Vector3<f64>]| {
                own.iter().zip(change).map(|(own, change)| own + change * share).collect()
            };
            let impulses = moved(&here.impulses, &step.impulses);
            let next = Iterate::at(self, impulses, moved(&here.speeds, &step.speeds));
            if next.merit() < worst * (1.0 - DECREASE * share) {
                return Some((share, next));
            }
            share *= 0.5;
        }
        None
    }
}

/// Impulses, speeds beyond targets and natural map of all terms.
struct Iterate {
    impulses: Vec<Vector3<f64>>,
    speeds: Vec<Vector3<f64>>,
    map: Vec<Vector3<f64>>,
}

/// The change of all impulses and speeds.
struct Step {
    impulses: Vec<Vector3<f64>>,
    speeds: Vec<Vector3<f64>>,
}

impl Iterate {
    fn new(island: &Island, start: &Solution) -> Self {
        Self::at(island, start.impulses.clone(), island.speeds(&start.velocities))
    }

    fn at(island: &Island, impulses: Vec<Vector3<f64>>, speeds: Vec<Vector3<f64>>) -> Self {
        let all = island.terms.iter().zip(&impulses).zip(&speeds);
        let map = all.map(|((term, j), u)| j - term.set.project(&(j - u))).collect();
        Self { impulses, speeds, map }
    }

    /// The largest component of the natural map, m/s or rad/s.
    fn residual(&self, island: &Island) -> f64 {
        let all = island.terms.iter().zip(&self.map);
        all.map(|(term, own)| own.component_mul(&term.scale).norm()).fold(0.0, f64::max)
    }

    /// The squared norm of the natural map.
    fn merit(&self) -> f64 {
        self.map.iter().map(|own| own.norm_squared()).sum()
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector, Matrix3x6};

    use super::*;
    use crate::constraint::contact_forces;
    use crate::solve::exact::island::Term;
    use crate::solve::exact::random::Random;
    use crate::solve::exact::set::Set;

    fn solved(island: &Island) -> Solution {
        let pattern = Pattern::new(island.bodies, &island.couplings(), usize::MAX).unwrap();
        let none = vec![Vector3::zeros(); island.terms.len()];
        island.solve(&pattern, crate::solve::exact::EXACT, island.guessed(&none))
    }

    #[test]
    fn random_islands_meet_coulombs_law_and_gain_no_energy() {
        let (mut random, mut unsolved) = (Random::new(5), [0; 4]);
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
        // random contacts nearly all slip
        let most = [0, 1, 1, 1];
        assert!(unsolved.iter().zip(most).all(|(&count, most)| count <= most), "{unsolved:?}");
    }

    /// Sweeps end within tolerance of the Newton solution, or leave the problem to it.
    #[test]
    fn sweeps_over_contacts_end_near_the_solution() {
        let (mut random, mut swept) = (Random::new(23), 0);
        for case in 0..200 {
            let island = random.island(0.2 * (case % 3) as f64, false);
            let none = island.guessed(&vec![Vector3::zeros(); island.terms.len()]);
            let (unsolved, found) = (none.residual, island.sweep(none, 1e-2, 40));
            assert!(found.residual <= unsolved, "{case}");
            let (sweeps, exact) = (&found.impulses, solved(&island));
            let admissible = sweeps.iter().zip(&island.terms);
            let off = admissible.map(|(j, term)| (j - term.set.project(j)).norm());
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
        assert!(!joined.sweep(none, 1e-2, 40).is_solved, "sweeps are for contacts alone");
    }

    #[test]
    fn without_friction_impulses_are_those_of_the_quadratic_program() {
        let (mut random, mut failed) = (Random::new(11), 0);
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
