//! Rolling and spinning friction (GBF03 section 4).

use nalgebra::{Matrix3, Vector3};

use crate::Mover;
use crate::passes::collide::mass_at;

/// Linear and angular impulse on `a`, N s and N m s, that slow the relative rotation and keep the
/// relative velocity at the contact. The angular impulse is at most the first of `most` across the
/// normal (rolling) and the second along it (spinning), N m s, or stops the rotation.
pub(crate) fn rolling_impulse(
    a: (&Mover, &Vector3<f64>),
    b: (&Mover, &Vector3<f64>),
    normal: &Vector3<f64>,
    [rolling, spinning]: [f64; 2],
) -> Option<(Vector3<f64>, Vector3<f64>)> {
    let relative = a.0.velocity.angular - b.0.velocity.angular;
    // relative changes: du = K j + B t, dw = B^T j + C t, to be solved for du = 0, dw = -relative
    let coupling =
        -(a.1.cross_matrix() * a.0.inverse_inertia + b.1.cross_matrix() * b.0.inverse_inertia);
    let held: Matrix3<f64> = (mass_at(a.0, a.1) + mass_at(b.0, b.1)).try_inverse()?;
    let answer = a.0.inverse_inertia + b.0.inverse_inertia - coupling.transpose() * held * coupling;
    let stop = answer.try_inverse()? * -relative;
    let along = normal * stop.dot(normal);
    let torque = at_most(&along, spinning) + at_most(&(stop - along), rolling);
    Some((-(held * (coupling * torque)), torque))
}

fn at_most(v: &Vector3<f64>, most: f64) -> Vector3<f64> {
    let size = v.norm();
    if size > most { v * (most / size) } else { *v }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dynamics::{Body, MassProperties, Velocity};
    use nalgebra::Isometry3;

    fn mover(mass: f64, inertia: [f64; 3], angular: [f64; 3]) -> Mover {
        let mass = MassProperties::new(mass, inertia.into()).unwrap();
        let pose = Isometry3::rotation(Vector3::new(0.3, -1.0, 0.4));
        let velocity =
            Velocity { linear: Vector3::new(0.2, 0.0, -1.0), angular: Vector3::from(angular) };
        Mover::new(&Body::Dynamic(mass), &pose, &mass.momentum(&pose.rotation, &velocity))
    }

    /// Checks that an impulse limited by `most` keeps the relative velocity at the contact and
    /// slows the relative rotation.
    fn slowed(b: Mover, most: f64) {
        let mut movers = [mover(2.0, [0.3, 0.2, 0.4], [1.0, 2.0, -3.0]), b];
        let arms = [Vector3::new(0.1, -0.5, 0.2), Vector3::new(0.3, 0.4, 0.0)];
        let normal = Vector3::new(0.6, 0.8, 0.0);
        let state = |m: &[Mover; 2]| {
            let u = m[0].velocity.at(&arms[0]) - m[1].velocity.at(&arms[1]);
            (u, m[0].velocity.angular - m[1].velocity.angular)
        };
        let limits = [most, 0.5 * most];
        let (j, torque) =
            rolling_impulse((&movers[0], &arms[0]), (&movers[1], &arms[1]), &normal, limits)
                .unwrap();
        let before = state(&movers);
        for (i, sign) in [(0, 1.0), (1, -1.0)] {
            let (mover, j) = (&mut movers[i], j * sign);
            mover.velocity.linear += j * mover.inverse_mass;
            mover.velocity.angular += mover.inverse_inertia * arms[i].cross(&j);
            let spin = movers[i].inverse_inertia * torque * sign;
            movers[i].velocity.angular += spin;
        }
        let after = state(&movers);
        assert!((after.0 - before.0).norm() < 1e-12);
        let along = torque.dot(&normal);
        let across = (torque - normal * along).norm();
        assert!(along.abs() <= limits[1] * (1.0 + 1e-12) && across <= limits[0] * (1.0 + 1e-12));
        if most > 10.0 {
            assert!(after.1.norm() < 1e-12, "{before:?} {after:?}");
        } else {
            let reached = [across / limits[0], along.abs() / limits[1]];
            assert!(reached.iter().all(|share| (share - 1.0).abs() < 1e-12), "{reached:?}");
            // the torque dissipates energy at the mean relative rotation
            assert!(torque.dot(&(before.1 + after.1)) < 0.0, "{before:?} {after:?}");
        }
    }

    #[test]
    fn rolling_friction_slows_rotation_and_leaves_the_contact_velocity() {
        slowed(mover(5.0, [0.9, 0.8, 0.7], [0.5, 0.0, 1.0]), 0.02);
        slowed(mover(5.0, [0.9, 0.8, 0.7], [0.5, 0.0, 1.0]).frozen(), 0.02);
        // the rotation stops, but never reverses
        slowed(mover(5.0, [0.9, 0.8, 0.7], [0.5, 0.0, 1.0]), 100.0);
    }
}
