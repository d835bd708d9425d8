//! Mass and principal moments of inertia.

use crate::{Momentum, Velocity, principal::principal_axes};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use thiserror::Error;

/// Why mass properties are invalid.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MassError {
    /// The mass is zero, subnormal, negative or not finite.
    #[error("mass must be positive and finite, not {mass:?} kg")]
    Mass {
        /// The mass given, kg.
        mass: f64,
    },
    /// A principal moment of inertia is zero, subnormal, negative or not finite.
    #[error("principal moments of inertia must be positive and finite, not {inertia:?} kg m^2")]
    Inertia {
        /// The principal moments given, kg m^2.
        inertia: [f64; 3],
    },
    /// A length is negative.
    #[error("a length must not be negative, not {length} m")]
    Length {
        /// The length given, m.
        length: f64,
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
    /// [`MassError`] if a number is not positive and finite, or no solid has these moments.
    pub fn new(mass: f64, inertia: Vector3<f64>) -> Result<Self, MassError> {
        let body = Self::artificial(mass, inertia)?;
        let listed: [f64; 3] = inertia.into();
        if listed.contains(&f64::INFINITY) {
            return Err(MassError::Inertia { inertia: listed });
        }
        // a flat body reaches the bound exactly, so allow for round-off
        let largest = inertia.max();
        if largest > (inertia.sum() - largest) * (1.0 + 1e-9) {
            return Err(MassError::Triangle { inertia: listed });
        }
        Ok(body)
    }

    /// A ball of uniform density, `mass` kg and `radius` m.
    ///
    /// # Errors
    /// As [`MassProperties::new`], or if the radius is negative.
    pub fn ball(mass: f64, radius: f64) -> Result<Self, MassError> {
        check_length(radius)?;
        Self::new(mass, Vector3::repeat(0.4 * mass * radius * radius))
    }

    /// A box of uniform density, `mass` kg, with half edge lengths `half` m along the body axes.
    ///
    /// # Errors
    /// As [`MassProperties::new`], or if a length is negative.
    ///
    /// ```
    /// use brisance_dynamics::MassProperties;
    /// use brisance_dynamics::nalgebra::Vector3;
    ///
    /// let brick = MassProperties::cuboid(3.0, &Vector3::new(0.1, 0.05, 0.03))?;
    /// assert!((brick.inertia() - Vector3::new(0.0034, 0.0109, 0.0125)).norm() < 1e-15);
    /// # Ok::<(), brisance_dynamics::MassError>(())
    /// ```
    pub fn cuboid(mass: f64, half: &Vector3<f64>) -> Result<Self, MassError> {
        half.iter().try_for_each(|length| check_length(*length))?;
        let s = half.component_mul(half) * (mass / 3.0);
        Self::new(mass, Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y))
    }

    /// A body of `mass` kg with inertia tensor `inertia` kg m^2 about its center of mass, and the
    /// rotation from its principal axes to the axes of the tensor.
    ///
    /// Reads the upper triangle of the tensor. A tensor that is diagonal keeps its axes.
    ///
    /// # Errors
    /// As [`MassProperties::new`], with the principal moments.
    pub fn from_inertia(
        mass: f64,
        inertia: &Matrix3<f64>,
    ) -> Result<(Self, UnitQuaternion<f64>), MassError> {
        check_mass(mass)?;
        let (moments, axes) = principal_axes(inertia);
        Ok((Self::new(mass, moments)?, axes))
    }

    /// A body of `mass` kg with moments `inertia` kg m^2 that need not be those of a solid, as
    /// engines let users set them. An infinite moment locks its axis.
    ///
    /// # Errors
    /// [`MassError`] if a number is not positive, or the mass not finite.
    pub fn artificial(mass: f64, inertia: Vector3<f64>) -> Result<Self, MassError> {
        check_mass(mass)?;
        if !inertia.iter().all(|i| is_positive(*i) || *i == f64::INFINITY) {
            return Err(MassError::Inertia { inertia: inertia.into() });
        }
        Ok(Self { mass, inertia, inverse_inertia: inertia.map(|i| 1.0 / i) })
    }

    /// A body of `mass` kg that rotates about its z axis alone, with moment `inertia` kg m^2.
    ///
    /// Together with [`Momentum::planar`], which keeps it in its plane, this is a body in two
    /// dimensions.
    ///
    /// # Errors
    /// As [`MassProperties::artificial`].
    pub fn planar(mass: f64, inertia: f64) -> Result<Self, MassError> {
        Self::artificial(mass, Vector3::new(f64::INFINITY, f64::INFINITY, inertia))
    }

    /// The same body, restricted to rotation about the z axis of the world. `None` if none of its
    /// body axes is along z after `rotation`.
    pub fn in_plane(&self, rotation: &UnitQuaternion<f64>) -> Option<Self> {
        let z = rotation.inverse_transform_vector(&Vector3::z());
        let along = z.map(|part| part.abs() > 1.0 - ALONG);
        let inertia = self.inertia.zip_map(&along, |i, own| if own { i } else { f64::INFINITY });
        (along.x || along.y || along.z).then(|| Self::artificial(self.mass, inertia).ok()).flatten()
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

    /// `I` in world axes for a body turned by `rotation`, kg m^2. Locked axes count as zero.
    pub fn world_inertia(&self, rotation: &UnitQuaternion<f64>) -> Matrix3<f64> {
        let r = rotation.to_rotation_matrix().into_inner();
        let finite = self.inertia.map(|i| if i.is_finite() { i } else { 0.0 });
        r * Matrix3::from_diagonal(&finite) * r.transpose()
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
        // an infinite moment means no rotation about that axis
        rotation * body.zip_map(&self.inertia, |w, i| if i.is_finite() { w * i } else { 0.0 })
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

/// Tolerance of the cosine of an axis along z.
const ALONG: f64 = 1e-12;

fn check_length(length: f64) -> Result<(), MassError> {
    if length < 0.0 { Err(MassError::Length { length }) } else { Ok(()) }
}

fn check_mass(mass: f64) -> Result<(), MassError> {
    if is_positive(mass) { Ok(()) } else { Err(MassError::Mass { mass }) }
}

/// Positive, finite, and not so small that its reciprocal overflows.
fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_normal()
}
