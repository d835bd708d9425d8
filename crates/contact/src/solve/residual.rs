//! The residual of complementarity and Coulomb's law.

use dynamics::{Body, Velocity};
use nalgebra::{Isometry3, Matrix3, Vector3};
use rayon::prelude::*;

use crate::narrow::contacts::Manifold;
use crate::solve::exact::set::Set;
use crate::solve::problem::{ContactTarget, Problem};

/// Manifolds per task.
const CHUNK: usize = 256;

/// The largest natural map of the contacts of `used` manifolds, m/s: `|k j - P(k j - (u - u*))|`
/// with the impulse `j`, the relative velocity `u`, the target `u*`, the mean inverse mass `k` of
/// the pair at the contact, and the projection `P` onto Coulomb's cone. It is zero if and only if
/// complementarity and Coulomb's law hold. `velocities` include the impulses.
pub(crate) fn residual(
    problem: Problem<'_>,
    used: &[bool],
    velocities: &[Velocity],
    impulses: &[Vector3<f64>],
) -> f64 {
    let manifolds = problem.contacts.manifolds().par_iter().zip(used).with_min_len(CHUNK);
    let of = |(pair, used): (&Manifold, &bool)| {
        if *used { of_pair(problem, pair, velocities, impulses) } else { 0.0 }
    };
    manifolds.map(of).reduce(|| 0.0, f64::max)
}

fn of_pair(
    problem: Problem<'_>,
    pair: &Manifold,
    velocities: &[Velocity],
    impulses: &[Vector3<f64>],
) -> f64 {
    let Problem { columns, poses, contacts, .. } = problem;
    let bodies = [pair.a, pair.b].map(|i| i as usize);
    let inverse = bodies.map(|i| Inverse::new(&columns.bodies[i], &poses[i]));
    let of = |index: usize| {
        let contact = &contacts.all()[index];
        let ContactTarget { speed, friction } = ContactTarget::of(problem, pair, contact);
        let [p, q] = [0, 1].map(|n| velocities[bodies[n]].at(&contact.arms[n]));
        let excess = p - q - contact.normal * speed;
        let [k, l] = [0, 1].map(|n| inverse[n].at(&contact.arms[n]));
        let impulse = impulses[index] * (k + l);
        let set = Set::Contact { normal: contact.normal, friction };
        (impulse - set.project(&(impulse - excess))).norm()
    };
    contacts.range(pair).map(of).fold(0.0, f64::max)
}

/// Inverse mass, 1/kg, and inverse inertia in world axes, 1/(kg m^2), of a body.
struct Inverse {
    mass: f64,
    inertia: Matrix3<f64>,
}

impl Inverse {
    fn new(body: &Body, pose: &Isometry3<f64>) -> Self {
        body.mass_properties().map_or_else(
            || Self { mass: 0.0, inertia: Matrix3::zeros() },
            |own| Self { mass: 1.0 / own.mass(), inertia: own.inverse_inertia(&pose.rotation) },
        )
    }

    /// Mean over all directions of the change of velocity at a lever arm by a unit impulse there,
    /// 1/kg.
    fn at(&self, arm: &Vector3<f64>) -> f64 {
        let cross = arm.cross_matrix();
        self.mass + (cross.transpose() * self.inertia * cross).trace() / 3.0
    }
}
