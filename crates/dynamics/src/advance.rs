//! One step per frame: translation, rotation and the energy fix (Su09 section 2).

use crate::{Body, MassProperties, Momentum, energy_fix, rotation::exp};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use rayon::prelude::*;

/// How the orientation is carried over one time step, before the energy fix.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum OrientationStep {
    /// Fourth-order Runge-Kutta on the rotation group (RKMK4): at 30 Hz and 15 rad/s forty times
    /// closer to the true orientation after one second than [`OrientationStep::SecondOrder`].
    #[default]
    Rkmk4,
    /// The second-order step of SSF08 that Su09 builds on.
    SecondOrder,
}

/// Where a body with `pose` (centre of mass, principal axes) and `momentum` is after `dt` s.
///
/// A dynamic body translates exactly, turns by one [`OrientationStep`] and is then fixed to the
/// rotational energy it had; its momentum is the caller's and stays. A kinematic body follows its
/// velocity exactly, a static one stays.
pub fn advance(
    body: &Body,
    pose: &Isometry3<f64>,
    momentum: &Momentum,
    dt: f64,
    step: OrientationStep,
) -> Isometry3<f64> {
    match body {
        Body::Static => *pose,
        Body::Kinematic(velocity) => Isometry3::from_parts(
            Translation3::from(pose.translation.vector + velocity.linear * dt),
            UnitQuaternion::new_normalize(
                (exp(&(velocity.angular * dt)) * pose.rotation).into_inner(),
            ),
        ),
        Body::Dynamic(mass) => {
            let l = &momentum.angular;
            let turned = turn(mass, &pose.rotation, l, dt, step);
            let energy = mass.rotational_energy(&pose.rotation, l);
            Isometry3::from_parts(
                Translation3::from(pose.translation.vector + momentum.linear * (dt / mass.mass())),
                energy_fix(mass, &turned, l, energy).0,
            )
        }
    }
}

/// [`advance`] for columns of bodies, in place and in parallel.
///
/// Bodies do not affect each other, so the result is the same for any number of threads.
///
/// # Panics
/// If the slices differ in length.
pub fn advance_all(
    bodies: &[Body],
    poses: &mut [Isometry3<f64>],
    momenta: &[Momentum],
    dt: f64,
    step: OrientationStep,
) {
    let lengths = (bodies.len(), poses.len(), momenta.len());
    assert!(
        lengths.0 == lengths.1 && lengths.1 == lengths.2,
        "as many poses and momenta as bodies, not {lengths:?}"
    );
    // some 25 us of work, so that handing it to a thread costs little
    const CHUNK: usize = 256;
    poses
        .par_chunks_mut(CHUNK)
        .zip(bodies.par_chunks(CHUNK).zip(momenta.par_chunks(CHUNK)))
        .for_each(|(poses, (bodies, momenta))| {
            for (pose, (body, momentum)) in poses.iter_mut().zip(bodies.iter().zip(momenta)) {
                *pose = advance(body, pose, momentum, dt, step);
            }
        });
}

/// The orientation after `dt` s of free rotation with angular momentum `l`, without energy fix.
fn turn(
    mass: &MassProperties,
    rotation: &UnitQuaternion<f64>,
    l: &Vector3<f64>,
    dt: f64,
    step: OrientationStep,
) -> UnitQuaternion<f64> {
    let free = FreeRotation {
        inverse_inertia: mass.inertia().map(|i| 1.0 / i),
        momentum: rotation.inverse_transform_vector(l),
    };
    let vector = match step {
        OrientationStep::Rkmk4 => free.rkmk4(dt).unwrap_or_else(|| free.second_order(dt)),
        OrientationStep::SecondOrder => free.second_order(dt),
    };
    UnitQuaternion::new_normalize((rotation * exp(&vector)).into_inner())
}

/// Torque-free rotation in the body axes of the start of the step.
struct FreeRotation {
    inverse_inertia: Vector3<f64>,
    /// Angular momentum in those axes.
    momentum: Vector3<f64>,
}

impl FreeRotation {
    /// Angular velocity in the axes of the body once it has turned by `u`.
    fn velocity_after(&self, u: &Vector3<f64>) -> Vector3<f64> {
        exp(u).inverse_transform_vector(&self.momentum).component_mul(&self.inverse_inertia)
    }

    /// Rate of change of the rotation vector `u`, to the order that RKMK4 needs.
    fn rate(&self, u: &Vector3<f64>) -> Vector3<f64> {
        let omega = self.velocity_after(u);
        let bracket = u.cross(&omega);
        omega + 0.5 * bracket + u.cross(&bracket) / 12.0
    }

    /// The rotation vector of the step, or nothing if the body turns too far for the series behind
    /// [`Self::rate`].
    fn rkmk4(&self, dt: f64) -> Option<Vector3<f64>> {
        let k1 = self.momentum.component_mul(&self.inverse_inertia);
        let k2 = self.rate(&(k1 * (0.5 * dt)));
        let k3 = self.rate(&(k2 * (0.5 * dt)));
        let k4 = self.rate(&(k3 * dt));
        let vector = (k1 + 2.0 * (k2 + k3) + k4) * (dt / 6.0);
        (vector.norm_squared() < TURN * TURN).then_some(vector)
    }

    /// SSF08: `dt (omega - dt/2 I^-1 (omega x L))`.
    fn second_order(&self, dt: f64) -> Vector3<f64> {
        let omega = self.momentum.component_mul(&self.inverse_inertia);
        let torque = omega.cross(&self.momentum).component_mul(&self.inverse_inertia);
        (omega - torque * (0.5 * dt)) * dt
    }
}

/// A full turn, rad: where the logarithm of a rotation is singular.
const TURN: f64 = std::f64::consts::TAU;
