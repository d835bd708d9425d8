//! One step per frame: translation, rotation and the energy fix (Su09 section 2).

use crate::{Body, MassProperties, Momentum, energy_fix, rotation::exp, spin::Spin};
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

impl OrientationStep {
    /// The orientation after `dt` s of free rotation with `angular_momentum` kg m^2/s in world
    /// axes, without the energy fix.
    pub fn unfixed(
        self,
        mass: &MassProperties,
        rotation: &UnitQuaternion<f64>,
        angular_momentum: &Vector3<f64>,
        dt: f64,
    ) -> UnitQuaternion<f64> {
        self.turned(&Spin::new(mass, rotation, angular_momentum), rotation, dt)
    }

    fn turned(self, spin: &Spin, rotation: &UnitQuaternion<f64>, dt: f64) -> UnitQuaternion<f64> {
        let vector = match self {
            Self::Rkmk4 => spin.rkmk4(dt).unwrap_or_else(|| spin.second_order(dt)),
            Self::SecondOrder => spin.second_order(dt),
        };
        UnitQuaternion::new_normalize(rotation.quaternion() * exp(&vector).quaternion())
    }
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
            let spin = Spin::new(mass, &pose.rotation, &momentum.angular);
            let turned = step.turned(&spin, &pose.rotation, dt);
            let fixed = energy_fix(mass, &turned, &momentum.angular, spin.anchored_energy()).0;
            Isometry3::from_parts(
                Translation3::from(pose.translation.vector + momentum.linear * (dt / mass.mass())),
                fixed,
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

impl Spin {
    /// The energy, moved by no more than round-off towards the nearest number with 40 bits.
    ///
    /// The fix is exact to round-off, and without memory that would still wander over many steps.
    /// The anchor is the same in every step, so energy stays within `2^-41` of itself for ever.
    fn anchored_energy(&self) -> f64 {
        const DROPPED: u64 = (1 << 12) - 1;
        let anchor = f64::from_bits(self.energy.to_bits().wrapping_add(DROPPED / 2 + 1) & !DROPPED);
        // that of the number, and what round-off of the orientation makes of it
        let slope = self.momentum.cross(&self.velocity).abs().sum();
        let round_off = 4.0 * f64::EPSILON * (self.energy + slope);
        self.energy + (anchor - self.energy).max(-round_off).min(round_off)
    }

    /// Angular velocity in the axes of the body once it has turned by `u`.
    ///
    /// The angle is accurate to its sixth power, by the Pade approximant of the tangent of its
    /// half; what is rotated keeps its length, and stays as it is if it is along `u`.
    fn velocity_after(&self, u: &Vector3<f64>) -> Vector3<f64> {
        let z = 0.25 * u.norm_squared();
        let (w, v) = (15.0 - 6.0 * z, u * (7.5 - 0.5 * z));
        let across = self.momentum.cross(&v);
        let turned = (across * w + across.cross(&v)) * (2.0 / (w * w + v.norm_squared()));
        (self.momentum + turned).component_mul(&self.inverse_inertia)
    }

    /// Rate of change of the rotation vector `u`, to the order that RKMK4 needs.
    fn rate(&self, u: &Vector3<f64>) -> Vector3<f64> {
        let omega = self.velocity_after(u);
        let bracket = u.cross(&omega);
        omega + 0.5 * bracket + u.cross(&bracket) * TWELFTH
    }

    /// The rotation vector of the step, or nothing if the body turns too far for the series behind
    /// [`Self::rate`].
    fn rkmk4(&self, dt: f64) -> Option<Vector3<f64>> {
        let k1 = self.velocity;
        let k2 = self.rate(&(k1 * (0.5 * dt)));
        let k3 = self.rate(&(k2 * (0.5 * dt)));
        let k4 = self.rate(&(k3 * dt));
        let vector = (k1 + 2.0 * (k2 + k3) + k4) * (dt / 6.0);
        (vector.norm_squared() < TURN * TURN).then_some(vector)
    }

    /// SSF08: `dt (omega - dt/2 I^-1 (omega x L))`.
    fn second_order(&self, dt: f64) -> Vector3<f64> {
        let omega = &self.velocity;
        let torque = omega.cross(&self.momentum).component_mul(&self.inverse_inertia);
        (omega - torque * (0.5 * dt)) * dt
    }
}

/// A division would cost what the rest of [`Spin::rate`] does.
const TWELFTH: f64 = 1.0 / 12.0;

/// A full turn, rad: where the logarithm of a rotation is singular.
const TURN: f64 = std::f64::consts::TAU;
