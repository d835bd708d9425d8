//! Conversions between the types of brisance (nalgebra) and of Rapier (glam).

use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, UnitQuaternion, Vector3};
use rapier3d_f64::math::{Matrix, Pose, Rotation, Vector};

/// Converts a vector to Rapier.
pub fn vector(v: &Vector3<f64>) -> Vector {
    Vector::from_array((*v).into())
}

/// Converts points to Rapier.
pub fn points(points: &[Point3<f64>]) -> Vec<Vector> {
    points.iter().map(|p| vector(&p.coords)).collect()
}

/// Converts a rotation to Rapier.
pub fn rotation(q: &UnitQuaternion<f64>) -> Rotation {
    Rotation::from_array(q.coords.into())
}

/// Converts a pose to Rapier.
pub fn pose(pose: &Isometry3<f64>) -> Pose {
    Pose::from_parts(vector(&pose.translation.vector), rotation(&pose.rotation))
}

/// Converts a matrix to Rapier.
pub fn matrix(m: &Matrix3<f64>) -> Matrix {
    Matrix::from_cols_array_2d(&(*m).into())
}

/// Converts a vector from Rapier.
pub fn vector_of(v: Vector) -> Vector3<f64> {
    v.to_array().into()
}

/// Converts a rotation from Rapier.
pub fn rotation_of(q: Rotation) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(Quaternion::from(q.to_array()))
}

/// Converts a pose from Rapier.
pub fn pose_of(pose: &Pose) -> Isometry3<f64> {
    Isometry3::from_parts(vector_of(pose.translation).into(), rotation_of(pose.rotation))
}
