//! Rotations that restore the kinetic energy of a body (Su09 sections 2.2 to 2.4).

use crate::{MassProperties, spin::Spin};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// How [`energy_fix`] reached the energy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum EnergyFix {
    /// The energy was right to round-off, or zero: no rotation.
    Unneeded,
    /// Rotated about `L x omega`, the direction of steepest energy change.
    Primary,
    /// Too much energy for the primary direction: rotated the axis of largest inertia towards `L`.
    LargestInertia,
    /// Too little energy for the primary direction: rotated the axis of smallest inertia towards
    /// `L`.
    SmallestInertia,
    /// No orientation has this energy with this angular momentum: rotated to the nearest possible
    /// energy.
    Unreachable,
}

/// Rotates a body with angular momentum `angular_momentum` (kg m^2/s, world axes) until its
/// rotational kinetic energy is `target_energy` J. The angular momentum is unchanged.
///
/// Works after the step of any integrator: pass the resulting orientation, the angular momentum to
/// conserve and the target energy. Exact up to round-off without iteration; only products and
/// square roots, so that the bits are the same everywhere.
///
/// Source: Su09 sections 2.2 to 2.4, computed in body axes, where the inertia is diagonal, and in
/// units of the current energy. Differences: the sign of the rotation is that of `a k`, which the
/// printed rule misses on the fallback axis, where `a` may be negative; and the test for a small
/// `a` is for the primary axis only.
///
/// For an unreachable target, such as a negative one, the result has the nearest possible energy. A
/// state or target that is not finite is returned unchanged, and so is a body at rest.
pub fn energy_fix(
    mass: &MassProperties,
    rotation: &UnitQuaternion<f64>,
    angular_momentum: &Vector3<f64>,
    target_energy: f64,
) -> (UnitQuaternion<f64>, EnergyFix) {
    let (turned, fix, excess) = turned_once(mass, rotation, angular_momentum, target_energy);
    // the error is relative to the initial energy, so that a large correction leaves a remainder
    if excess.abs() > 0.1 && fix != EnergyFix::Unreachable {
        return (turned_once(mass, &turned, angular_momentum, target_energy).0, fix);
    }
    (turned, fix)
}

/// The orientation with the target energy, the method, and the relative excess of energy before.
fn turned_once(
    mass: &MassProperties,
    rotation: &UnitQuaternion<f64>,
    angular_momentum: &Vector3<f64>,
    target_energy: f64,
) -> (UnitQuaternion<f64>, EnergyFix, f64) {
    let spin = Spin::new(mass, rotation, angular_momentum);
    let excess = spin.energy - target_energy;
    let close = excess.abs() <= 4.0 * f64::EPSILON * target_energy;
    if close || !spin.energy.is_normal() || !target_energy.is_finite() {
        return (*rotation, EnergyFix::Unneeded, 0.0);
    }
    let excess = excess / spin.energy;
    let moments = &spin.inverse_inertia;
    if moments.max() - moments.min() <= EVEN * moments.max() {
        let fix = if excess.abs() <= FLAT { EnergyFix::Unneeded } else { EnergyFix::Unreachable };
        return (*rotation, fix, excess);
    }
    let gradient = spin.gradient();
    let quadratic = spin.about(&gradient, excess);
    // if `L` is along a principal axis up to round-off, the energy is correct up to round-off too.
    // A correction would rotate the body by the square root of the error, and the body would wobble
    let steep = quadratic.a * quadratic.a > 4.0 * (excess * quadratic.c).abs()
        // if moments differ only by round-off, so does the energy that can be corrected
        && excess.abs() <= SMALL * quadratic.a;
    if excess.abs() <= FLAT && !steep {
        return (*rotation, EnergyFix::Unneeded, 0.0);
    }
    let (turn, fix) = if quadratic.a > ROUND_OFF && quadratic.g >= 0.0 {
        (quadratic.solve().about(&gradient), EnergyFix::Primary)
    } else {
        fallback(&spin, excess)
    };
    (UnitQuaternion::new_normalize(rotation.quaternion() * turn), fix, excess)
}

/// Relative error of a computed energy or slope.
const ROUND_OFF: f64 = 16.0 * f64::EPSILON;
/// Relative error of the energy that is ignored if no small rotation corrects it: energies at two
/// orientations, each rotated and normalized several times, differ by more than one product's
/// round-off.
const FLAT: f64 = 512.0 * f64::EPSILON;
/// Relative difference below which moments of inertia count as equal: rotation changes the energy
/// by no more than that, and round-off would rotate the body by an arbitrary angle.
const EVEN: f64 = 16.0 * FLAT;
/// Largest rotation that corrects round-off, rad.
const SMALL: f64 = 1e-6;

impl Spin {
    /// `L x omega` in units of the energy, each component to full relative accuracy.
    fn gradient(&self) -> Vector3<f64> {
        let (l, m, j) = (self.momentum / self.energy, self.momentum, self.inverse_inertia);
        Vector3::new(l.y * m.z * (j.z - j.y), l.z * m.x * (j.x - j.z), l.x * m.y * (j.y - j.x))
    }

    /// The energy as a function of the rotation about `axis`, which is normal to `L`.
    fn about(&self, axis: &Vector3<f64>, excess: f64) -> Quadratic {
        let square = axis.norm_squared();
        let across = axis.cross(&self.momentum);
        let a = axis.dot(&self.gradient()) / square.sqrt();
        let b =
            0.5 * across.dot(&across.component_mul(&self.inverse_inertia)) / (self.energy * square);
        let c = 1.0 - b;
        Quadratic { a, c, k: excess, g: a * a + 4.0 * excess * (c - excess) }
    }
}

/// Su09 eq 4 in units of the current energy, as a function of the rotation angle.
struct Quadratic {
    a: f64,
    c: f64,
    /// Excess energy.
    k: f64,
    /// Negative if the energy is unreachable.
    g: f64,
}

impl Quadratic {
    /// The least angle that removes the excess; needs `g >= 0`.
    ///
    /// Its tangent `t` solves `(k - c) t^2 - a t + k = 0`, Su09 eq 4 divided by `x^2`.
    fn solve(&self) -> Angle {
        let reach = self.a.abs() + self.g.sqrt();
        Angle { x: reach, y: if self.a < 0.0 { -2.0 } else { 2.0 } * self.k }
    }

    /// The least angle at which the energy is extremal.
    fn extremum(&self) -> Angle {
        let (c, a) = if self.k > 0.0 { (-self.c, self.a) } else { (self.c, -self.a) };
        let r = (a * a + c * c).sqrt();
        // half the angle of (c, a), by the sum without cancellation
        if c > 0.0 {
            Angle { x: r + c, y: a }
        } else {
            Angle { x: a.abs(), y: if a < 0.0 { c - r } else { r - c } }
        }
    }
}

/// An angle as a direction `(x, y)` of any length, `x >= 0`.
struct Angle {
    x: f64,
    y: f64,
}

impl Angle {
    /// The rotation by this angle about `axis`, not normalized; the identity if the angle is
    /// undefined.
    fn about(&self, axis: &Vector3<f64>) -> Quaternion<f64> {
        let length = (self.x * self.x + self.y * self.y).sqrt();
        if length == 0.0 {
            return Quaternion::identity();
        }
        Quaternion::from_parts((length + self.x) * axis.norm(), axis * self.y)
    }
}

/// The rotation of the axis of extremal energy towards `L`, if the primary rotation fails.
fn fallback(spin: &Spin, excess: f64) -> (Quaternion<f64>, EnergyFix) {
    let (extreme, fix) = if excess > 0.0 {
        (spin.inverse_inertia.imin(), EnergyFix::LargestInertia)
    } else {
        (spin.inverse_inertia.imax(), EnergyFix::SmallestInertia)
    };
    // of all axes with that moment, the one nearest to `L`: any other would turn the body further
    let inverse = &spin.inverse_inertia;
    let is_even = |k: usize| (inverse[k] - inverse[extreme]).abs() <= EVEN * inverse[extreme];
    let within = Vector3::from_fn(|k, _| if is_even(k) { spin.momentum[k] } else { 0.0 });
    let principal = within.try_normalize(0.0).unwrap_or_else(|| Vector3::ith(extreme, 1.0));
    let Some(axis) = spin.momentum.cross(&principal).try_normalize(0.0) else {
        return (Quaternion::identity(), EnergyFix::Unreachable);
    };
    let quadratic = spin.about(&axis, excess);
    if quadratic.g >= 0.0 {
        (quadratic.solve().about(&axis), fix)
    } else {
        (quadratic.extremum().about(&axis), EnergyFix::Unreachable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box with a square footprint that tips about its edge cannot lose energy by a quarter turn
    /// about its axis of symmetry, since the moments across that axis are equal.
    #[test]
    fn a_body_with_two_equal_moments_is_not_turned_about_its_axis_of_symmetry() {
        let half = Vector3::new(0.1, 0.15, 0.1);
        let mass = MassProperties::cuboid(1.0, &half).expect("a mass");
        for tilt in [0.0, 1e-9, 1e-3, 0.05] {
            let rotation = UnitQuaternion::from_scaled_axis(Vector3::new(0.0, 0.0, -0.1));
            let momentum = rotation * Vector3::new(0.2 * tilt, tilt, -1.0) * 0.01;
            let energy = mass.rotational_energy(&rotation, &momentum);
            let (turned, _) = energy_fix(&mass, &rotation, &momentum, 0.9 * energy);
            let angle = rotation.angle_to(&turned);
            assert!(angle < 1.1 * tilt + 1e-9, "{tilt}: {angle}");
        }
    }

    #[test]
    fn a_body_with_equal_moments_is_not_turned_to_mend_round_off() {
        let mass = MassProperties::new(1.0, Vector3::repeat(0.015)).expect("a mass");
        let rotation = UnitQuaternion::from_scaled_axis(Vector3::new(0.3, -1.1, 0.7));
        let momentum = Vector3::new(1e-6, -2e-6, 5e-7);
        let energy = mass.rotational_energy(&rotation, &momentum);
        for error in [1.2e-13, -1.2e-13, 3e-13, 1e-9, -0.5] {
            let wanted = energy * (1.0 + error);
            let (turned, _) = energy_fix(&mass, &rotation, &momentum, wanted);
            assert_eq!(turned, rotation, "{error}");
        }
    }
}
