//! Limits of numbers in a frame.

use dynamics::Momentum;
use nalgebra::Isometry3;

/// Squares and products of numbers up to here are finite.
pub(crate) const MAX_NUMBER: f64 = 1e30;

/// Whether a pose and a momentum are within the limits.
pub(crate) fn is_usable(pose: &Isometry3<f64>, momentum: &Momentum) -> bool {
    let place = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
    let motion = momentum.linear.iter().chain(momentum.angular.iter());
    let turns = (pose.rotation.coords.norm_squared() - 1.0).abs() <= UNIT;
    turns && place.chain(motion).all(|x| x.abs() <= MAX_NUMBER)
}

/// Tolerance of the squared length of a unit vector or quaternion, far above round-off.
pub(crate) const UNIT: f64 = 1e-6;
