//! Rolling and spinning friction (GBF03 section 4): torques against the relative rotation of bodies in contact.
//! The coefficients are lengths here, torque over normal force, as in MuJoCo.

use dynamics::{Body, Momentum};
use nalgebra::{Matrix3, Vector3};

use crate::narrow::contacts::Manifold;
use crate::solve::problem::Problem;

/// Slows the relative rotation of pairs that press each other with `impulses`, one a contact on its body `a`, N s.
/// The torques are at most the normal impulse times the coefficients of the pair, and turn no rotation round, so
/// they take energy. The contact pass that follows finds the friction of bodies that roll. Returns the work of
/// kinematic bodies on each body, J.
pub(crate) fn resist(
    problem: Problem<'_>,
    momenta: &mut [Momentum],
    impulses: &[Vector3<f64>],
) -> Vec<f64> {
    let mut work = vec![0.0; momenta.len()];
    for pair in problem.contacts.manifolds() {
        let materials = [pair.a, pair.b].map(|i| &problem.columns.materials[i as usize]);
        let [rolling, spinning] = materials[0].rolling_with(materials[1]);
        if rolling == 0.0 && spinning == 0.0 {
            continue;
        }
        let contacts = problem.contacts.range(pair);
        let pressed: Vector3<f64> = contacts
            .map(|n| {
                let normal = problem.contacts.all()[n].normal;
                normal * normal.dot(&impulses[n]).max(0.0)
            })
            .sum();
        let push = pressed.norm();
        if push > 0.0 {
            let normal = pressed / push;
            slow(problem, pair, momenta, &mut work, spinning * push, |w| normal * normal.dot(w));
            slow(problem, pair, momenta, &mut work, rolling * push, |w| w - normal * normal.dot(w));
        }
    }
    work
}

/// Slows that part of the relative angular velocity of a pair by an angular impulse of `most` N m s, or stops it.
fn slow(
    problem: Problem<'_>,
    pair: &Manifold,
    momenta: &mut [Momentum],
    work: &mut [f64],
    most: f64,
    part: impl Fn(&Vector3<f64>) -> Vector3<f64>,
) {
    let bodies = [pair.a, pair.b].map(|i| i as usize);
    let at = |i: usize| (&problem.columns.bodies[i], &problem.poses[i].rotation);
    let velocities = bodies.map(|i| {
        let (body, rotation) = at(i);
        body.velocity(rotation, &momenta[i]).angular
    });
    let turning = part(&(velocities[0] - velocities[1]));
    let Some(axis) = turning.try_normalize(0.0) else { return };
    let inverse = |i: usize| {
        let (body, rotation) = at(i);
        body.mass_properties().map_or_else(Matrix3::zeros, |mass| mass.inverse_inertia(rotation))
    };
    let answer = axis.dot(&((inverse(bodies[0]) + inverse(bodies[1])) * axis));
    let torque = axis * -most.min(turning.norm() / answer);
    if !torque.iter().all(|x| x.is_finite()) {
        return;
    }
    for (n, sign) in [(0, 1.0), (1, -1.0)] {
        let (own, other) = (bodies[n], bodies[1 - n]);
        if at(own).0.mass_properties().is_some() {
            momenta[own].angular += torque * sign;
            if let Body::Kinematic(velocity) = at(other).0 {
                work[own] += sign * torque.dot(&velocity.angular);
            }
        }
    }
}
