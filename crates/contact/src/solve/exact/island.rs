//! An island: its bodies, the terms between them, and the residual of impulses.

use nalgebra::{Matrix6x3, Vector3, Vector6};

use super::set::Set;

/// Up to three rows between two bodies, scaled so that a unit impulse changes the speed of its row
/// by about one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// Indices in the island; `None` for a body of infinite mass.
    pub(crate) bodies: [Option<u32>; 2],
    /// The transposed Jacobian of each body: products with it need no strided access.
    pub(crate) transposed: [Matrix6x3<f64>; 2],
    /// Speeds without impulses minus their targets.
    pub(crate) excess: Vector3<f64>,
    pub(crate) set: Set,
    /// Scale of each row in m/s or rad/s: a speed is the scaled speed times it, an impulse in N s
    /// or N m s the scaled impulse divided by it.
    pub(crate) scale: Vector3<f64>,
}

impl Term {
    /// Removes friction and the approach speed that may remain if the contact approaches faster.
    pub(super) fn stop(&mut self, allowed: f64) {
        let Set::Contact { normal, friction } = &mut self.set else { return };
        *friction = 0.0;
        if self.excess.dot(normal) < 0.0 {
            self.excess -= *normal * (allowed / self.scale.x);
        }
    }

    /// Normal component of a contact impulse, N s.
    pub(super) fn push(&self, impulse: &Vector3<f64>) -> f64 {
        match self.set {
            Set::Contact { normal, .. } => impulse.dot(&normal).max(0.0) / self.scale.x,
            Set::Rows { .. } | Set::Torque { .. } => 0.0,
        }
    }

    /// Bounds a torque across and about the normal, N m s.
    pub(super) fn limit(&mut self, most: [f64; 2]) {
        if let Set::Torque { across, about, .. } = &mut self.set {
            [*across, *about] = most.map(|most| most * self.scale.x);
        }
    }

    pub(super) fn moved(&self) -> impl Iterator<Item = (usize, &Matrix6x3<f64>)> {
        let own = self.bodies.iter().zip(&self.transposed);
        own.filter_map(|(body, transposed)| body.map(|body| (body as usize, transposed)))
    }

    /// The change of its speeds by a change of velocities.
    pub(super) fn change(&self, velocities: &[Vector6<f64>]) -> Vector3<f64> {
        self.moved().map(|(body, transposed)| transposed.tr_mul(&velocities[body])).sum()
    }
}

/// The larger number; NaN if one of them is, which [`f64::max`] ignores.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

/// Bodies and the terms between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Island {
    pub(crate) bodies: usize,
    pub(crate) terms: Vec<Term>,
}

/// Impulses of an island with their residual.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    /// The change of velocity of each body.
    pub(crate) velocities: Vec<Vector6<f64>>,
    /// Impulses of each term.
    pub(crate) impulses: Vec<Vector3<f64>>,
    /// Natural map at the velocities and impulses, m/s.
    pub(crate) residual: f64,
    /// Natural map without impulses, m/s: the scale of the residual.
    pub(super) unsolved: f64,
    /// Whether the residual is small enough.
    pub(crate) is_solved: bool,
    /// Number of factorizations.
    pub(crate) factorizations: usize,
}

impl Solution {
    /// Whether the residual is at most a share of that without impulses.
    pub(super) fn is_within(&self, share: f64) -> bool {
        self.residual <= share * self.unsolved
    }
}

impl Island {
    /// Whether all terms are contacts.
    pub(super) fn is_of_contacts(&self) -> bool {
        self.terms.iter().all(|term| matches!(term.set, Set::Contact { .. }))
    }

    /// The bodies of each term.
    pub(crate) fn couplings(&self) -> Vec<[Option<u32>; 2]> {
        self.terms.iter().map(|term| term.bodies).collect()
    }

    /// The change of velocities by impulses.
    pub(crate) fn given(&self, impulses: &[Vector3<f64>]) -> Vec<Vector6<f64>> {
        let mut given = vec![Vector6::zeros(); self.bodies];
        for (term, impulse) in self.terms.iter().zip(impulses) {
            term.moved().for_each(|(body, transposed)| given[body] += transposed * impulse);
        }
        given
    }

    pub(super) fn speeds(&self, velocities: &[Vector6<f64>]) -> Vec<Vector3<f64>> {
        self.terms.iter().map(|term| term.excess + term.change(velocities)).collect()
    }

    /// Largest component of the natural map, m/s or rad/s. It is zero if and only if
    /// complementarity and Coulomb's law hold.
    pub(crate) fn natural_map(
        &self,
        velocities: &[Vector6<f64>],
        impulses: &[Vector3<f64>],
    ) -> f64 {
        self.natural_map_at(&self.speeds(velocities), impulses)
    }

    /// [`Self::natural_map`] at the speeds of the terms.
    pub(super) fn natural_map_at(&self, speeds: &[Vector3<f64>], impulses: &[Vector3<f64>]) -> f64 {
        let miss = |((term, impulse), speed): ((&Term, &Vector3<f64>), &Vector3<f64>)| {
            let moved = impulse - term.set.project(&(impulse - speed));
            moved.component_mul(&term.scale).norm()
        };
        self.terms.iter().zip(impulses).zip(speeds).map(miss).fold(0.0, larger)
    }

    /// The residual without impulses.
    pub(super) fn unsolved(&self) -> f64 {
        let none = vec![Vector3::zeros(); self.terms.len()];
        self.natural_map(&vec![Vector6::zeros(); self.bodies], &none)
    }

    /// The solution at a guess of the impulses, projected onto the admissible sets.
    pub(crate) fn guessed(&self, guess: &[Vector3<f64>]) -> Solution {
        let own = self.terms.iter().zip(guess);
        let impulses: Vec<_> = own.map(|(term, guess)| term.set.project(guess)).collect();
        self.at_scale(impulses, self.unsolved())
    }

    /// The solution at impulses, with the residual scale of another solution.
    pub(super) fn at(&self, impulses: Vec<Vector3<f64>>, other: &Solution) -> Solution {
        self.at_scale(impulses, other.unsolved)
    }

    fn at_scale(&self, impulses: Vec<Vector3<f64>>, unsolved: f64) -> Solution {
        let velocities = self.given(&impulses);
        let residual = self.natural_map(&velocities, &impulses);
        Solution { velocities, impulses, residual, unsolved, is_solved: false, factorizations: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::exact::random::Random;

    #[test]
    fn the_residual_of_impulses_that_are_not_numbers_is_none() {
        let island = Random::new(3).island(0.3, false);
        let impulses = vec![Vector3::zeros(); island.terms.len()];
        assert!(island.guessed(&impulses).residual > 0.0);
        for n in 0..impulses.len() {
            let mut impulses = impulses.clone();
            impulses[n].x = f64::NAN;
            let speeds = island.speeds(&island.given(&impulses));
            assert!(island.natural_map_at(&speeds, &impulses).is_nan(), "{n}");
        }
    }
}
