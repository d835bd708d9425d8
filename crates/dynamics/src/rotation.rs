//! Rotations by a rotation vector, from additions, products and square roots only.
//!
//! The standard library's sine and cosine differ between platforms. These functions give the same
//! bits everywhere, and need no square root for the angle.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// `exp(u/2)` as a unit quaternion: the rotation by `|u|` rad about `u`.
///
/// Accurate to a few units of round-off up to 2 rad; beyond, the angle is halved and the quaternion
/// squared, which doubles the error each time. Not finite if `|u|^2` is not.
pub(crate) fn exp(u: &Vector3<f64>) -> UnitQuaternion<f64> {
    let mut square = 0.25 * u.norm_squared();
    let mut halvings = 0;
    let mut scale = 0.5;
    while square > 1.0 && square.is_finite() {
        square *= 0.25;
        scale *= 0.5;
        halvings += 1;
    }
    let (cosine, sinc) = cosine_and_sinc(square);
    let (mut w, mut v) = (cosine, u * (scale * sinc));
    for _ in 0..halvings {
        (w, v) = (w * w - v.norm_squared(), v * (2.0 * w));
        // without this the error of the norm would double with every squaring
        let norm = (w * w + v.norm_squared()).sqrt();
        (w, v) = (w / norm, v / norm);
    }
    UnitQuaternion::new_unchecked(Quaternion::from_parts(w, v))
}

/// The inverse of [`exp`]: the rotation vector of `q`, of at most half a turn.
pub(crate) fn log(q: &UnitQuaternion<f64>) -> Vector3<f64> {
    // both signs are the same rotation
    let (mut w, mut v) = if q.w < 0.0 { (-q.w, -q.imag()) } else { (q.w, q.imag()) };
    let mut scale = 2.0;
    // halve the angle until the series converges fast
    while v.norm_squared() > 0.01 {
        let half = (2.0 * (1.0 + w)).sqrt();
        (w, v) = (0.5 * half, v / half);
        scale *= 2.0;
    }
    // series of arcsin(s)/s
    let square = v.norm_squared();
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..ARCSINE_TERMS {
        let odd = f64::from(2 * n - 1);
        term *= square * odd / f64::from(2 * n);
        sum += term / f64::from(2 * n + 1);
    }
    v * (scale * sum)
}

/// Enough for `s^2 <= 0.01`.
const ARCSINE_TERMS: i32 = 8;

/// `cos(h)` and `sin(h)/h` from `z = h^2 <= 1`, by Taylor series to 1e-18.
///
/// Grouped by powers of `z^2` (Estrin) to shorten the dependency chain of a Horner scheme.
fn cosine_and_sinc(z: f64) -> (f64, f64) {
    let even = |c: [f64; 10]| {
        let z2 = z * z;
        let z4 = z2 * z2;
        let low = (c[0] + c[1] * z) + (c[2] + c[3] * z) * z2;
        let high = (c[4] + c[5] * z) + (c[6] + c[7] * z) * z2;
        low + (high + (c[8] + c[9] * z) * z4) * z4
    };
    (even(COSINE), even(SINC))
}

/// `(-1)^n / (2 n)!`
const COSINE: [f64; 10] = reciprocals(0);
/// `(-1)^n / (2 n + 1)!`
const SINC: [f64; 10] = reciprocals(1);

/// `(-1)^n / (2 n + odd)!`; factorials to 19! are exact integers, so each entry is rounded once.
const fn reciprocals(odd: u64) -> [f64; 10] {
    let mut table = [0.0; 10];
    let mut factorial: u64 = 1;
    let mut sign = 1.0;
    let mut n = 0;
    while n < 10 {
        let m = 2 * (n as u64) + odd;
        if m >= 2 {
            factorial *= m * (m - 1);
        }
        table[n] = sign / factorial as f64;
        sign = -sign;
        n += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        for i in 0..4000 {
            let angle = f64::from(i) * 1.7e-3;
            let axis = Vector3::new(1.0, -2.0, 0.5).normalize();
            let ours = exp(&(axis * angle));
            let (sine, cosine) = (0.5 * angle).sin_cos();
            assert!((ours.w - cosine).abs() < 2e-15, "{angle}: {} {cosine}", ours.w);
            assert!((ours.imag() - axis * sine).norm() < 2e-15, "{angle}");
        }
    }

    #[test]
    fn the_logarithm_undoes_it_up_to_half_a_turn() {
        for i in 0..1000 {
            let u = Vector3::new(0.3, -1.0, 0.2).normalize() * (f64::from(i) * 3.141e-3);
            assert!((log(&exp(&u)) - u).norm() < 2e-15, "{u:?}: {:e}", (log(&exp(&u)) - u).norm());
        }
        assert_eq!(log(&UnitQuaternion::identity()), Vector3::zeros());
    }

    #[test]
    fn is_a_unit_for_any_finite_vector() {
        for u in [0.0, 5e-324, 1e-160, 1e-9, 6.3, 1e3, 1e12, 1e48] {
            let q = exp(&Vector3::new(u, -u, u));
            assert!((q.norm() - 1.0).abs() < 4e-16, "{u}: {}", q.norm());
        }
    }
}
