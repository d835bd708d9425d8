//! Sweeps over the contacts of an island: symmetric projected Gauss-Seidel.

use nalgebra::{Matrix3, Vector3};

use super::island::{Island, Solution, Term};
use super::set::Set;

/// Change of a contact's velocity by its own impulse.
struct Compliance {
    normal: Vector3<f64>,
    friction: f64,
    /// Change of its velocity by a unit impulse along the normal.
    column: Vector3<f64>,
    /// The normal component of `column`.
    along: f64,
    /// Largest change of slip by a unit impulse across the normal.
    across: f64,
}

impl Compliance {
    /// `None` for other terms than contacts, and for contacts of two bodies of infinite mass.
    fn new(term: &Term) -> Option<Self> {
        let Set::Contact { normal, friction } = term.set else { return None };
        let matrix: Matrix3<f64> = term.moved().map(|(_, j)| j.tr_mul(j)).sum();
        let column = matrix * normal;
        let along = column.dot(&normal);
        // the larger tangential eigenvalue from the sum of both and the sum of their squares
        let sum = matrix.trace() - along;
        let squares = matrix.norm_squared() - 2.0 * column.norm_squared() + along * along;
        let across = 0.5 * sum + (0.5 * squares - 0.25 * sum * sum).max(0.0).sqrt();
        (along > 0.0).then_some(Self { normal, friction, column, along, across })
    }

    /// The impulse that stops the approach at `speed`, with friction bounded by Coulomb's law, in
    /// units of the term.
    fn impulse(&self, impulse: &Vector3<f64>, speed: &Vector3<f64>) -> Vector3<f64> {
        let Self { normal, friction, .. } = self;
        let before = impulse.dot(normal);
        let push = (before - speed.dot(normal) / self.along).max(0.0);
        let speed = speed + self.column * (push - before);
        let slip = speed - normal * speed.dot(normal);
        let across = impulse - normal * before - slip / self.across;
        let (size, most) = (across.norm(), friction * push);
        normal * push + across * if size > most { most / size } else { 1.0 }
    }
}

impl Island {
    /// Sweeps over the contacts of an island until the residual is within a share of that without
    /// impulses, at most `most` times. Returns the start for islands with terms other than
    /// contacts.
    pub(crate) fn sweep(&self, start: Solution, share: f64, most: usize) -> Solution {
        let all: Option<Vec<_>> = self.terms.iter().map(Compliance::new).collect();
        let Some(all) = all else { return start };
        let mut velocities = start.velocities.clone();
        let mut impulses = start.impulses.clone();
        let count = self.terms.len();
        for sweep in 0..most {
            let mut largest = 0.0f64;
            // with friction impulses are not unique, and sweeps in one order prefer the same side
            // of a body
            for n in (0..count).map(|n| if sweep % 2 == 0 { n } else { count - 1 - n }) {
                let (term, own, impulse) = (&self.terms[n], &all[n], &mut impulses[n]);
                let speed = term.excess + term.change(&velocities);
                let after = own.impulse(impulse, &speed);
                let change = after - *impulse;
                *impulse = after;
                for (body, transposed) in term.moved() {
                    velocities[body] += transposed * change;
                }
                largest = largest.max(change.component_mul(&term.scale).norm());
            }
            // the residual costs as much as a sweep
            if largest <= share * start.unsolved {
                let found = self.at(impulses.clone(), &start);
                if found.is_within(share) {
                    return Solution { is_solved: true, ..found };
                }
            }
        }
        let found = self.at(impulses, &start);
        if found.residual < start.residual { found } else { start }
    }
}
