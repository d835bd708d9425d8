//! Isotropic elastic materials.

use nalgebra::Matrix3;
use thiserror::Error;

/// Lamé parameters of an isotropic material, Pa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// First Lamé parameter, Pa.
    pub lambda: f64,
    /// Shear modulus, Pa.
    pub mu: f64,
}

/// Why elastic constants are rejected.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MaterialError {
    /// Young's modulus is not a positive number.
    #[error("Young's modulus is {0} Pa: give a positive number")]
    Young(f64),
    /// Poisson's ratio is not between -1 and 0.5.
    #[error("Poisson's ratio is {0}: give a number above -1 and below 0.5")]
    Poisson(f64),
}

impl Material {
    /// From Young's modulus, Pa, and Poisson's ratio.
    ///
    /// # Errors
    /// [`MaterialError`] if they do not describe a stable, compressible material.
    pub fn from_young(young: f64, poisson: f64) -> Result<Self, MaterialError> {
        if !(young > 0.0 && young.is_finite()) {
            return Err(MaterialError::Young(young));
        }
        if !(poisson > -1.0 && poisson < 0.5) {
            return Err(MaterialError::Poisson(poisson));
        }
        Ok(Self {
            lambda: young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
            mu: young / (2.0 * (1.0 + poisson)),
        })
    }

    /// Hooke's law: stress, Pa, of a strain (Mu01 eq 3).
    pub fn stress(&self, strain: &Matrix3<f64>) -> Matrix3<f64> {
        let mut stress = strain * (2.0 * self.mu);
        let pressure = self.lambda * strain.trace();
        for axis in 0..3 {
            stress[(axis, axis)] += pressure;
        }
        stress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_axis_under_load_follows_young_and_poisson() {
        let material = Material::from_young(70e9, 0.22).unwrap();
        let strain = Matrix3::from_diagonal(&nalgebra::Vector3::new(1.0, -0.22, -0.22)) * 1e-4;
        let stress = material.stress(&strain);
        assert!((stress[(0, 0)] - 7e6).abs() < 1e-6 * 7e6);
        assert!(stress[(1, 1)].abs() < 1.0 && stress[(2, 2)].abs() < 1.0);
    }

    #[test]
    fn unusable_materials_are_refused() {
        assert!(matches!(Material::from_young(f64::NAN, 0.3), Err(MaterialError::Young(_))));
        assert_eq!(Material::from_young(-1.0, 0.3), Err(MaterialError::Young(-1.0)));
        assert_eq!(Material::from_young(1.0, 0.5), Err(MaterialError::Poisson(0.5)));
        assert!(Material::from_young(1.0, f64::NAN).is_err());
    }
}
