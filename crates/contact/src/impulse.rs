//! The impulse of one contact: restitution and Coulomb friction (GBF03 section 4).

use nalgebra::{Matrix3, Vector3};

/// Surface properties of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Coefficient of restitution, 0 to 1. A pair uses the smaller one.
    pub restitution: f64,
    /// Coulomb friction coefficient, >= 0.
    pub friction: f64,
    /// Rolling and spinning friction, 1/(kg m): the angular speed in rad/s that each N s of normal
    /// impulse takes away at a sticking contact (GBF03). Only
    /// [`Solver::Reference`](crate::Solver::Reference) has it.
    pub rolling_friction: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self { restitution: 0.2, friction: 0.5, rolling_friction: 0.0 }
    }
}

/// How two friction coefficients become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// The larger one, as GBF03.
    #[default]
    Max,
    /// The smaller one.
    Min,
    /// The geometric mean.
    GeometricMean,
}

impl Combine {
    /// The coefficient of a pair.
    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Max => a.max(b),
            Self::Min => a.min(b),
            Self::GeometricMean => (a * b).sqrt(),
        }
    }
}

/// What a unit impulse at lever arm `r` changes a body's velocity there by: `K` of GBF03, 1/kg.
pub fn effective_mass(
    inverse_mass: f64,
    inverse_inertia: &Matrix3<f64>,
    r: &Vector3<f64>,
) -> Matrix3<f64> {
    let cross = r.cross_matrix();
    Matrix3::from_diagonal_element(inverse_mass) + cross.transpose() * inverse_inertia * cross
}

/// The impulse on body `a`, N s, that reflects the approach `u . n < 0` with `restitution` and
/// obeys Coulomb's law: sticking if the impulse that stops the tangential motion lies in the
/// friction cone, else sliding on the cone (GBF03 section 4).
///
/// `k` is the sum of both bodies' [`effective_mass`]. Zero when the bodies separate or neither can
/// move.
pub fn pair_impulse(
    normal: &Vector3<f64>,
    k: &Matrix3<f64>,
    u: &Vector3<f64>,
    restitution: f64,
    friction: f64,
) -> Vector3<f64> {
    let approach = u.dot(normal);
    let kn = normal.dot(&(k * normal));
    if approach >= 0.0 || kn <= 0.0 {
        return Vector3::zeros();
    }
    let frictionless = normal * (-(1.0 + restitution) * approach / kn);
    if friction == 0.0 {
        return frictionless;
    }
    if let Some(inverse) = k.try_inverse() {
        let sticking = inverse * (normal * (-restitution * approach) - u);
        let along = sticking.dot(normal);
        if (sticking - normal * along).norm() <= friction * along {
            return sticking;
        }
    }
    let slip = u - normal * approach;
    let Some(tangent) = slip.try_normalize(0.0) else { return frictionless };
    let direction = normal - tangent * friction;
    let denominator = normal.dot(&(k * direction));
    // K couples slip and approach; past this point friction would jam the contact
    if denominator <= 0.0 {
        return frictionless;
    }
    direction * (-(1.0 + restitution) * approach / denominator)
}
