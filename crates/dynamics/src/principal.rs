//! Principal axes of an inertia tensor.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

/// Principal moments of the symmetric tensor `inertia` and the rotation from principal axes to
/// its frame; only the upper triangle is read.
///
/// Jacobi's method with the smallest rotations: a tensor that is already diagonal keeps its axes
/// even with repeated moments, and the axes are always right-handed. NaN in, NaN out.
pub(crate) fn principal_axes(inertia: &Matrix3<f64>) -> (Vector3<f64>, UnitQuaternion<f64>) {
    // converges quadratically: five sweeps reach round-off for any tensor
    const SWEEPS: usize = 10;
    let mut tensor = *inertia;
    tensor.fill_lower_triangle_with_upper_triangle();
    let mut axes = UnitQuaternion::identity();
    for _ in 0..SWEEPS {
        let mut turned = false;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            if let Some(turn) = zeroing(&tensor, i, j) {
                let r = turn.to_rotation_matrix().into_inner();
                tensor = r.transpose() * tensor * r;
                (tensor[(i, j)], tensor[(j, i)]) = (0.0, 0.0);
                axes = UnitQuaternion::new_normalize((axes * turn).into_inner());
                turned = true;
            }
        }
        if !turned {
            break;
        }
    }
    (tensor.diagonal(), axes)
}

/// The least rotation in the plane of axes `i < j` that makes `tensor[(i, j)]` zero, unless it is
/// negligible.
fn zeroing(tensor: &Matrix3<f64>, i: usize, j: usize) -> Option<UnitQuaternion<f64>> {
    let product = tensor[(i, j)];
    let (a, b) = (tensor[(i, i)], tensor[(j, j)]);
    if product.abs() <= 0.25 * f64::EPSILON * (a.abs() * b.abs()).sqrt() {
        return None;
    }
    // half of the angle with tangent 2 p / (a - b), at most 45 degrees
    let half = 0.5 * (a - b).abs();
    let length = (half * half + product * product).sqrt();
    let tangent = product / (half + length) * if a < b { -1.0 } else { 1.0 };
    // the quaternion takes half of this angle
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let mut axis = Vector3::zeros();
    axis[3 - i - j] = if j == i + 1 { 1.0 } else { -1.0 };
    let turn = Quaternion::from_parts(1.0 + cosine, axis * (tangent * cosine));
    Some(UnitQuaternion::new_normalize(turn))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor_of(moments: Vector3<f64>, axes: &UnitQuaternion<f64>) -> Matrix3<f64> {
        let r = axes.to_rotation_matrix().into_inner();
        r * Matrix3::from_diagonal(&moments) * r.transpose()
    }

    #[test]
    fn a_diagonal_tensor_keeps_its_axes() {
        for moments in [[1.0, 1.0, 1.0], [3.0, 1.0, 2.0], [2.0, 2.0, 1.0], [1.0, 2.0, 2.0]] {
            let (found, axes) = principal_axes(&Matrix3::from_diagonal(&moments.into()));
            assert_eq!(found, Vector3::from(moments));
            assert_eq!(axes, UnitQuaternion::identity());
        }
    }

    #[test]
    fn turned_tensors_are_restored_even_where_moments_repeat() {
        for moments in [[1.0, 1.0, 1.0], [3.0, 1.0, 2.0], [2.0, 2.0, 1e-4], [1e-4, 1.0, 1.0]] {
            for turn in 0..50 {
                let t = f64::from(turn);
                let axes = UnitQuaternion::from_euler_angles(0.3 * t, 0.7 * t, -0.2 * t);
                let tensor = tensor_of(moments.into(), &axes);
                let (found, axes) = principal_axes(&tensor);
                let error = (tensor_of(found, &axes) - tensor).norm() / tensor.norm();
                assert!(error < 3e-15, "{moments:?} turn {turn}: {error:e}");
                let mut sorted: [f64; 3] = found.into();
                sorted.sort_by(f64::total_cmp);
                let mut expected = moments;
                expected.sort_by(f64::total_cmp);
                for (a, b) in sorted.into_iter().zip(expected) {
                    assert!((a - b).abs() < 3e-15 * 3.0, "{found:?} for {moments:?}");
                }
            }
        }
    }

    #[test]
    fn axes_of_finite_tensors_are_unit_vectors() {
        for number in [0.0, 1e-100, 1e100] {
            let (_, axes) = principal_axes(&Matrix3::repeat(number));
            let error = (axes.to_rotation_matrix().matrix().column(0).norm() - 1.0).abs();
            assert!(error < 1e-14, "{number:e}: {error:e}");
        }
    }

    #[test]
    fn a_tensor_that_is_not_finite_ends_the_iteration() {
        for number in [f64::NAN, f64::INFINITY] {
            let (moments, _) = principal_axes(&Matrix3::repeat(number));
            assert!(!moments.iter().all(|moment| moment.is_finite()), "{moments}");
        }
    }
}
