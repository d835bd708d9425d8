//! From moments of a solid to a rigid body: mass and principal axes.

use dynamics::{MassError, MassMoments, MassProperties};
use levelset::Moments;
use nalgebra::Isometry3;
use thiserror::Error;

/// Why a solid is no rigid body.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RigidError {
    /// The solid has no volume, or none that its grid resolves.
    #[error("the solid has no volume at this resolution: use a finer grid or a thicker solid")]
    Empty,
    /// Its mass or inertia is unusable.
    #[error(transparent)]
    Mass(#[from] MassError),
}

/// The mass properties of a solid of uniform `density` kg/m^3, and the map from body coordinates
/// (origin at the center of mass, axes along the principal axes) to the coordinates of `moments`.
///
/// # Errors
/// [`RigidError`] if the solid is empty or the density not positive and finite.
pub fn rigid(
    moments: &Moments,
    density: f64,
) -> Result<(MassProperties, Isometry3<f64>), RigidError> {
    if moments.volume <= 0.0 {
        return Err(RigidError::Empty);
    }
    let Moments { volume, first, second } = *moments;
    Ok(MassMoments::uniform(density, volume, first, second).mass_properties()?)
}
