//! Between the types of brisance, which are those of nalgebra, and those of Rapier, which are those of glam.

use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, UnitQuaternion, Vector3};
use rapier3d_f64::math::{Matrix, Pose, Rotation, Vector};

/// To Rapier.
pub fn vector(v: &Vector3<f64>) -> Vector {
    Vector::from_array((*v).into())
}

/// To Rapier.
pub fn points(points: &[Point3<f64>]) -> Vec<Vector> {
    points.iter().map(|p| vector(&p.coords)).collect()
}

/// To Rapier.
pub fn rotation(q: &UnitQuaternion<f64>) -> Rotation {
    Rotation::from_array(q.coords.into())
}

/// To Rapier.
pub fn pose(pose: &Isometry3<f64>) -> Pose {
    Pose::from_parts(vector(&pose.translation.vector), rotation(&pose.rotation))
}

/// To Rapier.
pub fn matrix(m: &Matrix3<f64>) -> Matrix {
    Matrix::from_cols_array_2d(&(*m).into())
}

/// From Rapier.
pub fn vector_of(v: Vector) -> Vector3<f64> {
    v.to_array().into()
}

/// From Rapier.
pub fn rotation_of(q: Rotation) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(Quaternion::from(q.to_array()))
}

/// From Rapier.
pub fn pose_of(pose: &Pose) -> Isometry3<f64> {
    Isometry3::from_parts(vector_of(pose.translation).into(), rotation_of(pose.rotation))
}
