//! The impulse of one contact: restitution and Coulomb friction (GBF03 section 4).

use nalgebra::{Matrix3, Vector3};

/// Surface properties of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Coefficient of restitution, 0 to 1.
    pub restitution: f64,
    /// Coulomb friction coefficient, >= 0.
    pub friction: f64,
    /// Combination rule of restitution: if `None`, that of the other body, or
    /// [`Settings::restitution`](crate::Settings::restitution) if neither has one.
    pub restitution_rule: Option<Combine>,
    /// The same for friction and [`Settings::friction`](crate::Settings::friction).
    pub friction_rule: Option<Combine>,
    /// Rolling friction, m: the largest torque against rolling divided by the normal force. A pair
    /// has the larger one of both. Only [`Solver::Manifold`](crate::Solver::Manifold) and
    /// [`Solver::Reference`](crate::Solver::Reference) support it.
    pub rolling_friction: f64,
    /// Spinning friction, m: the same about the normal.
    pub spinning_friction: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            restitution: 0.2,
            friction: 0.5,
            restitution_rule: None,
            friction_rule: None,
            rolling_friction: 0.0,
            spinning_friction: 0.0,
        }
    }
}

/// Why a [`Material`] is invalid.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MaterialError {
    /// Restitution outside of 0 to 1.
    Restitution(f64),
    /// Friction that is negative, not finite or beyond 1e30.
    Friction(f64),
    /// The same for rolling friction.
    RollingFriction(f64),
    /// The same for spinning friction.
    SpinningFriction(f64),
}

impl std::fmt::Display for MaterialError {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Restitution(x) => write!(f, "restitution must be from 0 to 1, not {x:?}"),
            Self::Friction(x) => write!(f, "friction must be from 0 to 1e30, not {x:?}"),
            Self::RollingFriction(x) => {
                write!(f, "rolling friction must be from 0 to 1e30, not {x:?}")
            }
            Self::SpinningFriction(x) => {
                write!(f, "spinning friction must be from 0 to 1e30, not {x:?}")
            }
        }
    }
}

impl std::error::Error for MaterialError {}

/// Largest friction coefficient: squares and products up to here are finite.
const MAX_FRICTION: f64 = 1e30;

impl Material {
    /// Checks the coefficients.
    ///
    /// # Errors
    ///
    /// If one is negative, not finite or too large.
    pub fn check(&self) -> Result<(), MaterialError> {
        let Self { restitution, friction, rolling_friction, spinning_friction, .. } = *self;
        if !(0.0..=1.0).contains(&restitution) {
            return Err(MaterialError::Restitution(restitution));
        }
        if !(0.0..=MAX_FRICTION).contains(&friction) {
            return Err(MaterialError::Friction(friction));
        }
        if !(0.0..=MAX_FRICTION).contains(&rolling_friction) {
            return Err(MaterialError::RollingFriction(rolling_friction));
        }
        if !(0.0..=MAX_FRICTION).contains(&spinning_friction) {
            return Err(MaterialError::SpinningFriction(spinning_friction));
        }
        Ok(())
    }

    /// Friction coefficient of a pair, by `rule` if neither body has a rule.
    pub fn friction_with(&self, other: &Self, rule: Combine) -> f64 {
        let rule = Combine::chosen([self.friction_rule, other.friction_rule], rule);
        rule.of(self.friction, other.friction)
    }

    /// Rolling and spinning friction of a pair, m.
    pub fn rolling_with(&self, other: &Self) -> [f64; 2] {
        [
            self.rolling_friction.max(other.rolling_friction),
            self.spinning_friction.max(other.spinning_friction),
        ]
    }

    /// Coefficient of restitution of a pair, by `rule` if neither body has a rule.
    pub fn restitution_with(&self, other: &Self, rule: Combine) -> f64 {
        let rule = Combine::chosen([self.restitution_rule, other.restitution_rule], rule);
        rule.of(self.restitution, other.restitution)
    }
}

/// Combination of the coefficients of two bodies. If they have different rules, the later one of
/// this list wins. The rules that Rapier and PhysX share have the same order there. PhysX has no
/// geometric mean; in Rapier 0.36 it has the highest priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Combine {
    /// The arithmetic mean.
    Average,
    /// The geometric mean.
    GeometricMean,
    /// The smaller one.
    Min,
    /// The product.
    Multiply,
    /// The larger one, as in GBF03.
    Max,
}

impl Combine {
    /// The coefficient of a pair.
    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Average => 0.5 * a + 0.5 * b,
            Self::GeometricMean => a.sqrt() * b.sqrt(),
            Self::Min => a.min(b),
            Self::Multiply => a * b,
            Self::Max => a.max(b),
        }
    }

    /// The later one of the rules of two bodies; `otherwise` if neither has one.
    pub fn chosen(rules: [Option<Self>; 2], otherwise: Self) -> Self {
        rules.into_iter().flatten().max().unwrap_or(otherwise)
    }
}

/// Change of a body's velocity at lever arm `r` by a unit impulse there: `K` of GBF03, 1/kg.
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
/// `k` is the sum of both bodies' [`effective_mass`]. Zero if the bodies separate or neither can
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
