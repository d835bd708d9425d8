//! What a body is made of and how it moves: mass, momentum and velocity.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use thiserror::Error;

/// Why mass properties were refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MassError {
    /// The mass is zero, negative or not finite.
    #[error("mass must be positive and finite, not {mass} kg")]
    Mass {
        /// The mass given, kg.
        mass: f64,
    },
    /// A principal moment of inertia is zero, negative or not finite.
    #[error("principal moments of inertia must be positive and finite, not {inertia:?} kg m^2")]
    Inertia {
        /// The principal moments given, kg m^2.
        inertia: [f64; 3],
    },
    /// No solid has these moments: the largest exceeds the sum of the others.
    #[error(
        "principal moments {inertia:?} kg m^2 break the triangle inequality: no solid has them"
    )]
    Triangle {
        /// The principal moments given, kg m^2.
        inertia: [f64; 3],
    },
}

/// Mass and principal moments of inertia of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    mass: f64,
    inertia: Vector3<f64>,
    inverse_inertia: Vector3<f64>,
}

impl MassProperties {
    /// A body of `mass` kg with moments `inertia` kg m^2 about its body axes.
    ///
    /// # Errors
    /// [`MassError`] when a number is not positive and finite, or no solid has these moments.
    pub fn new(mass: f64, inertia: Vector3<f64>) -> Result<Self, MassError> {
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(MassError::Mass { mass });
        }
        let listed: [f64; 3] = inertia.into();
        if !inertia.iter().all(|i| *i > 0.0 && i.is_finite()) {
            return Err(MassError::Inertia { inertia: listed });
        }
        // a flat body meets the bound exactly, so allow for round-off
        let largest = inertia.max();
        if largest > (inertia.sum() - largest) * (1.0 + 1e-9) {
            return Err(MassError::Triangle { inertia: listed });
        }
        Ok(Self { mass, inertia, inverse_inertia: inertia.map(|i| 1.0 / i) })
    }

    /// Mass, kg.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Moments about the body axes, kg m^2.
    pub fn inertia(&self) -> Vector3<f64> {
        self.inertia
    }

    /// Reciprocals of the moments about the body axes, 1/(kg m^2).
    pub(crate) fn inverse_principal_inertia(&self) -> Vector3<f64> {
        self.inverse_inertia
    }

    /// `I^-1` in world axes for a body turned by `rotation`, 1/(kg m^2).
    pub fn inverse_inertia(&self, rotation: &UnitQuaternion<f64>) -> Matrix3<f64> {
        let r = rotation.to_rotation_matrix().into_inner();
        let scaled = Matrix3::from_columns(&[
            r.column(0) * self.inverse_inertia.x,
            r.column(1) * self.inverse_inertia.y,
            r.column(2) * self.inverse_inertia.z,
        ]);
        scaled * r.transpose()
    }

    /// `I` in world axes for a body turned by `rotation`, kg m^2.
    pub fn world_inertia(&self, rotation: &UnitQuaternion<f64>) -> Matrix3<f64> {
        let r = rotation.to_rotation_matrix().into_inner();
        r * Matrix3::from_diagonal(&self.inertia) * r.transpose()
    }

    /// Angular velocity `I^-1 L` in world axes, rad/s.
    pub fn angular_velocity(
        &self,
        rotation: &UnitQuaternion<f64>,
        angular_momentum: &Vector3<f64>,
    ) -> Vector3<f64> {
        let body = rotation.inverse_transform_vector(angular_momentum);
        rotation * body.component_mul(&self.inverse_inertia)
    }

    /// Angular momentum `I omega` in world axes, kg m^2/s.
    pub fn angular_momentum(
        &self,
        rotation: &UnitQuaternion<f64>,
        angular_velocity: &Vector3<f64>,
    ) -> Vector3<f64> {
        let body = rotation.inverse_transform_vector(angular_velocity);
        rotation * body.component_mul(&self.inertia)
    }

    /// Momentum of a body that moves with `velocity`.
    pub fn momentum(&self, rotation: &UnitQuaternion<f64>, velocity: &Velocity) -> Momentum {
        Momentum {
            linear: velocity.linear * self.mass,
            angular: self.angular_momentum(rotation, &velocity.angular),
        }
    }

    /// Kinetic energy, linear and rotational, J.
    pub fn kinetic_energy(&self, rotation: &UnitQuaternion<f64>, momentum: &Momentum) -> f64 {
        0.5 * momentum.linear.norm_squared() / self.mass
            + self.rotational_energy(rotation, &momentum.angular)
    }

    /// Kinetic energy of the rotation, J.
    pub fn rotational_energy(
        &self,
        rotation: &UnitQuaternion<f64>,
        angular_momentum: &Vector3<f64>,
    ) -> f64 {
        let l = rotation.inverse_transform_vector(angular_momentum);
        0.5 * l.dot(&l.component_mul(&self.inverse_inertia))
    }
}

/// Momentum of a body about its centre of mass, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Linear momentum, kg m/s.
    pub linear: Vector3<f64>,
    /// Angular momentum about the centre of mass, kg m^2/s.
    pub angular: Vector3<f64>,
}

impl Momentum {
    /// Adds an impulse `j` N s that acts at lever arm `r` m from the centre of mass.
    pub fn apply(&mut self, j: &Vector3<f64>, r: &Vector3<f64>) {
        self.linear += j;
        self.angular += r.cross(j);
    }
}

/// Velocity of a rigid body, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// Velocity of the centre of mass, m/s.
    pub linear: Vector3<f64>,
    /// Angular velocity, rad/s.
    pub angular: Vector3<f64>,
}

impl Velocity {
    /// Velocity of the body's point at lever arm `r` m from the centre of mass, m/s.
    pub fn at(&self, r: &Vector3<f64>) -> Vector3<f64> {
        self.linear + self.angular.cross(r)
    }
}

/// How a body answers forces and impulses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// Moves by its momentum.
    Dynamic(MassProperties),
    /// Never moves.
    Static,
    /// Moves as told, whatever hits it.
    Kinematic(Velocity),
}

impl Body {
    /// Mass properties of a dynamic body.
    pub fn mass_properties(&self) -> Option<&MassProperties> {
        match self {
            Self::Dynamic(mass) => Some(mass),
            Self::Static | Self::Kinematic(_) => None,
        }
    }

    /// Velocity in world axes; `momentum` matters only for a dynamic body.
    pub fn velocity(&self, rotation: &UnitQuaternion<f64>, momentum: &Momentum) -> Velocity {
        match self {
            Self::Dynamic(mass) => Velocity {
                linear: momentum.linear / mass.mass,
                angular: mass.angular_velocity(rotation, &momentum.angular),
            },
            Self::Static => Velocity::default(),
            Self::Kinematic(velocity) => *velocity,
        }
    }

    /// Kinetic energy of a dynamic body, J; zero for the others.
    pub fn kinetic_energy(&self, rotation: &UnitQuaternion<f64>, momentum: &Momentum) -> f64 {
        self.mass_properties().map_or(0.0, |mass| mass.kinetic_energy(rotation, momentum))
    }
}
