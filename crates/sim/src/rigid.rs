//! From moments of a solid to a rigid body: mass and the body's own axes.

use dynamics::{MassError, MassProperties};
use levelset::Moments;
use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion};
use thiserror::Error;

/// Why a solid makes no rigid body.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RigidError {
    /// The solid holds no volume, or none that its grid resolves.
    #[error("the solid has no volume at this resolution: use a finer grid or a thicker solid")]
    Empty,
    /// Its mass or inertia is unusable.
    #[error(transparent)]
    Mass(#[from] MassError),
}

/// The mass properties of a solid of uniform `density` kg/m^3, and the map from body coordinates
/// (origin at the centre of mass, axes along the principal axes) to the coordinates of `moments`.
///
/// # Errors
/// [`RigidError`] when the solid is empty or the density not positive and finite.
pub fn rigid(
    moments: &Moments,
    density: f64,
) -> Result<(MassProperties, Isometry3<f64>), RigidError> {
    if moments.volume <= 0.0 {
        return Err(RigidError::Empty);
    }
    let eigen = (moments.inertia() * density).symmetric_eigen();
    let mut axes: Matrix3<f64> = eigen.eigenvectors;
    if axes.determinant() < 0.0 {
        axes.set_column(2, &-axes.column(2));
    }
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
    let mass = MassProperties::new(moments.volume * density, eigen.eigenvalues)?;
    Ok((mass, Isometry3::from_parts(Translation3::from(moments.centre()), rotation)))
}
