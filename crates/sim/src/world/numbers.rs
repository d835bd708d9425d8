//! Poses and momenta as plain numbers.

use dynamics::Momentum;
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};

pub(crate) fn pose(&[x, y, z, i, j, k, w]: &[f64; 7]) -> Isometry3<f64> {
    let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
    Isometry3::from_parts(Translation3::new(x, y, z), rotation)
}

pub(crate) fn pose_numbers(pose: &Isometry3<f64>) -> [f64; 7] {
    let ([x, y, z], [i, j, k, w]): ([f64; 3], [f64; 4]) =
        (pose.translation.vector.into(), pose.rotation.coords.into());
    [x, y, z, i, j, k, w]
}

pub(crate) fn momentum(&[a, b, c, d, e, f]: &[f64; 6]) -> Momentum {
    Momentum { linear: Vector3::new(a, b, c), angular: Vector3::new(d, e, f) }
}

pub(crate) fn momentum_numbers(Momentum { linear, angular }: &Momentum) -> [f64; 6] {
    [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
}
