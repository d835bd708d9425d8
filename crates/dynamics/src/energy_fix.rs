//! Turning a body so that it has the kinetic energy it should have (Su09 sections 2.2 to 2.4).

use crate::MassProperties;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// How [`energy_fix`] reached the energy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum EnergyFix {
    /// The energy was right to round-off, or there is none: nothing was turned.
    Unneeded,
    /// Turned about `L x omega`, the direction in which energy changes fastest.
    Primary,
    /// Too much energy for the primary direction: turned the axis of largest inertia towards `L`.
    LargestInertia,
    /// Too little energy for the primary direction: turned the axis of smallest inertia towards
    /// `L`.
    SmallestInertia,
    /// No orientation has this energy with this angular momentum: turned to the nearest it can have.
    Unreachable,
}

/// Turns a body that has angular momentum `angular_momentum` (kg m^2/s, world axes) until its
/// rotational kinetic energy is `target_energy` J, leaving the angular momentum as it is.
///
/// Works after any integrator's step: give the orientation that came out, the angular momentum to
/// keep and the rotational energy it must have. Exact up to round-off in one go, without
/// iteration; only products and square roots, so the bits are the same everywhere.
///
/// Source: Su09 sections 2.2 to 2.4, carried out in body axes, where the inertia is diagonal, and
/// in units of the present energy. Differs in that the sign of the turn is the sign of
/// `a k`, which the printed rule misses on the fallback axis, where `a` may be negative; and the
/// test for a small `a` is for the primary axis only.
///
/// A target out of reach, such as a negative one, gets the nearest energy the body can have. A
/// state or a target that is not finite comes back as it is, and so does a body at rest.
pub fn energy_fix(
    mass: &MassProperties,
    rotation: &UnitQuaternion<f64>,
    angular_momentum: &Vector3<f64>,
    target_energy: f64,
) -> (UnitQuaternion<f64>, EnergyFix) {
    let spin = Spin::new(mass, rotation, angular_momentum);
    let excess = spin.energy - target_energy;
    let close = excess.abs() <= 4.0 * f64::EPSILON * target_energy;
    if close || !spin.energy.is_normal() || !target_energy.is_finite() {
        return (*rotation, EnergyFix::Unneeded);
    }
    let excess = excess / spin.energy;
    let (turn, fix) = primary(&spin, excess).unwrap_or_else(|| fallback(&spin, excess));
    (UnitQuaternion::new_normalize(rotation.quaternion() * turn), fix)
}

/// A spinning body in its own axes.
struct Spin {
    inverse_inertia: Vector3<f64>,
    /// Angular momentum in body axes.
    momentum: Vector3<f64>,
    /// Rotational kinetic energy, J.
    energy: f64,
}

impl Spin {
    fn new(mass: &MassProperties, rotation: &UnitQuaternion<f64>, l: &Vector3<f64>) -> Self {
        let inverse_inertia = mass.inertia().map(|i| 1.0 / i);
        let momentum = rotation.inverse_transform_vector(l);
        let velocity = momentum.component_mul(&inverse_inertia);
        Self { inverse_inertia, momentum, energy: 0.5 * momentum.dot(&velocity) }
    }

    /// `L x omega` in units of the energy, each component to full relative accuracy.
    fn gradient(&self) -> Vector3<f64> {
        let (l, j) = (self.momentum / self.energy, self.inverse_inertia);
        let m = self.momentum;
        Vector3::new(l.y * m.z * (j.z - j.y), l.z * m.x * (j.x - j.z), l.x * m.y * (j.y - j.x))
    }

    /// How the energy changes when the body turns about the unit vector `axis`.
    fn about(&self, axis: &Vector3<f64>, excess: f64) -> Quadratic {
        let across = axis.cross(&self.momentum);
        let a = axis.dot(&self.gradient());
        let b = 0.5 * across.dot(&across.component_mul(&self.inverse_inertia)) / self.energy;
        let c = 1.0 - b;
        Quadratic { a, c, k: excess, g: a * a + 4.0 * excess * (c - excess) }
    }
}

/// Su09 eq 4 in units of the present energy, as a function of the angle turned.
struct Quadratic {
    a: f64,
    c: f64,
    /// Energy in excess.
    k: f64,
    /// Negative if the energy is out of reach.
    g: f64,
}

impl Quadratic {
    /// Cosine and sine of the angle that removes the excess (Su09 section 2.3); needs `g >= 0`.
    fn solve(&self) -> (f64, f64) {
        let reach = self.a.abs() + self.g.sqrt();
        let rest = 2.0 * (self.c - self.k);
        let r = (self.a * self.a + self.c * self.c).sqrt();
        let x = (reach * reach + rest * rest).sqrt() / (2.0 * r);
        let y = 2.0 * self.k / (reach * reach + 4.0 * self.k * self.k).sqrt();
        (x, if self.a < 0.0 { -y } else { y })
    }

    /// Cosine and sine of the angle at which the energy is extremal.
    fn extremum(&self) -> (f64, f64) {
        let r = (self.a * self.a + self.c * self.c).sqrt();
        if r == 0.0 {
            return (1.0, 0.0);
        }
        let towards = if self.k > 0.0 { -1.0 } else { 1.0 };
        let (cosine, sine) = (towards * self.c / r, -towards * self.a / r);
        // half the angle, from the larger of the two so that nothing cancels
        if cosine > 0.0 {
            let x = (0.5 * (1.0 + cosine)).sqrt();
            (x, 0.5 * sine / x)
        } else {
            let y = (0.5 * (1.0 - cosine)).sqrt();
            (0.5 * sine.abs() / y, if sine < 0.0 { -y } else { y })
        }
    }
}

/// The turn about `L x omega`, if that direction is sound and reaches the energy.
fn primary(spin: &Spin, excess: f64) -> Option<(Quaternion<f64>, EnergyFix)> {
    let gradient = spin.gradient();
    let steepness = gradient.norm();
    let axis = gradient / steepness;
    let quadratic = spin.about(&axis, excess);
    let sound = steepness > 16.0 * f64::EPSILON && quadratic.g >= 0.0;
    sound.then(|| (turn(&axis, quadratic.solve()), EnergyFix::Primary))
}

/// The turn that brings `L` towards the axis of extremal energy, where the primary one failed.
fn fallback(spin: &Spin, excess: f64) -> (Quaternion<f64>, EnergyFix) {
    let (extreme, fix) = if excess > 0.0 {
        (spin.inverse_inertia.imin(), EnergyFix::LargestInertia)
    } else {
        (spin.inverse_inertia.imax(), EnergyFix::SmallestInertia)
    };
    let mut principal = Vector3::zeros();
    principal[extreme] = 1.0;
    let across = spin.momentum.cross(&principal);
    let length = across.norm();
    if length == 0.0 {
        return (Quaternion::identity(), EnergyFix::Unreachable);
    }
    let axis = across / length;
    let quadratic = spin.about(&axis, excess);
    if quadratic.g >= 0.0 {
        (turn(&axis, quadratic.solve()), fix)
    } else {
        (turn(&axis, quadratic.extremum()), EnergyFix::Unreachable)
    }
}

/// Turn about the unit vector `axis` by an angle with cosine `x >= 0` and sine `y`.
fn turn(axis: &Vector3<f64>, (x, y): (f64, f64)) -> Quaternion<f64> {
    let w = (0.5 * (1.0 + x)).sqrt();
    Quaternion::from_parts(w, axis * (0.5 * y / w))
}
