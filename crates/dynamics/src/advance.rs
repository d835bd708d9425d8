//! One step per frame: translation, rotation and the energy fix (Su09 section 2).

use crate::{Body, MassProperties, Momentum, energy_fix, rotation::exp, spin::Spin};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use rayon::prelude::*;

/// The orientation after `dt` s of free rotation with `angular_momentum` (kg m^2/s, world axes) by
/// the second-order step of SSF08 on which Su09 builds (section 2.1), without the energy fix.
///
/// With [`energy_fix`] this is the method of Su09. [`advance`] is far closer to the
/// true orientation.
pub fn second_order_step(
    mass: &MassProperties,
    rotation: &UnitQuaternion<f64>,
    angular_momentum: &Vector3<f64>,
    dt: f64,
) -> UnitQuaternion<f64> {
    let spin = Spin::new(mass, rotation, angular_momentum);
    turned(rotation, &exp(&spin.second_order(dt)))
}

fn turned(rotation: &UnitQuaternion<f64>, turn: &UnitQuaternion<f64>) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(rotation.quaternion() * turn.quaternion())
}

/// Where a body with `pose` (centre of mass, principal axes) and `momentum` is after `dt` s.
///
/// A dynamic body translates exactly, and rotates by Euler's equations to sixth order, in as many inner
/// steps as its spin takes; then [`energy_fix`] restores the rotational energy to round-off (Su09
/// section 2). The momentum is the caller's and stays. At 30 Hz the orientation of a solid that makes
/// up to a turn a frame is right to 2 degrees after a second. A kinematic body follows its velocity
/// exactly, a static one stays.
pub fn advance(body: &Body, pose: &Isometry3<f64>, momentum: &Momentum, dt: f64) -> Isometry3<f64> {
    match body {
        Body::Static => *pose,
        Body::Kinematic(velocity) => velocity.carry(pose, dt),
        Body::Dynamic(mass) => {
            let spin = Spin::new(mass, &pose.rotation, &momentum.angular);
            let turned = turned(&pose.rotation, &spin.turn(dt));
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
pub fn advance_all(bodies: &[Body], poses: &mut [Isometry3<f64>], momenta: &[Momentum], dt: f64) {
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
                *pose = advance(body, pose, momentum, dt);
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
}
