//! Validation of recordings.

use nalgebra::Isometry3;
use sim::{Surface, Track};
use thiserror::Error;

/// Maximum number of joints of a skinned mesh: vertices refer to them in 16 bits.
pub(super) const MAX_JOINTS: usize = 1 << 16;

/// Why a recording cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A pose or vertex is not finite.
    #[error("body `{track}` has a position that is not a finite number: nothing can draw it")]
    NotFinite {
        /// Name of the track.
        track: String,
    },
    /// A triangle refers to a missing vertex, or normals and vertices differ in number.
    #[error("the surface of body `{track}` is inconsistent: this is a bug in brisance")]
    Surface {
        /// Name of the track.
        track: String,
    },
    /// The format counts bytes in 32 bits.
    #[error("the recording takes {bytes} bytes, but a GLB holds at most 4 GiB: run fewer frames")]
    TooLarge {
        /// Bytes needed.
        bytes: usize,
    },
    /// A rig would have too many joints.
    #[error(
        "{joints} bodies are more than the {} joints of a rig: let fewer pieces break off, or write no rig",
        MAX_JOINTS
    )]
    TooManyJoints {
        /// Total number of bodies.
        joints: usize,
    },
    /// The skinned mesh of a rig, which repeats equal bodies, is too large.
    #[error(
        "the mesh of the rig takes {bytes} bytes, but a GLB holds at most 4 GiB: write no rig, so that equal \
         bodies are stored once"
    )]
    RigTooLarge {
        /// Bytes needed.
        bytes: usize,
    },
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] std::io::Error),
}

/// Rejects non-finite poses of a track.
///
/// # Errors
/// [`WriteError::NotFinite`].
pub fn check_poses(track: &Track, poses: &[Isometry3<f64>]) -> Result<(), WriteError> {
    let is_finite = |p: &Isometry3<f64>| -> bool {
        p.translation.vector.iter().chain(p.rotation.coords.iter()).all(|x| x.is_finite())
    };
    if poses.iter().all(is_finite) {
        Ok(())
    } else {
        Err(WriteError::NotFinite { track: track.name.clone() })
    }
}

/// Rejects an invalid surface of a track.
///
/// # Errors
/// [`WriteError::Surface`] and [`WriteError::NotFinite`].
pub fn check_surface(track: &Track, surface: &Surface) -> Result<(), WriteError> {
    let Surface { vertices, normals, rest, uvs, colors, outer, inner, coats } = surface;
    let known = |t: &[u32; 3]| t.iter().all(|&v| (v as usize) < vertices.len());
    let painted = [uvs.len(), colors.len()].iter().all(|&n| n == 0 || n == vertices.len());
    let painted = painted && (coats.is_empty() || coats.len() == outer.len());
    let alike = painted && [normals.len(), rest.len()] == [vertices.len(); 2];
    if !alike || !outer.iter().chain(inner).all(known) {
        return Err(WriteError::Surface { track: track.name.clone() });
    }
    let paint = uvs.as_flattened().iter().chain(colors.as_flattened());
    let places = vertices.iter().chain(normals).chain(rest).flatten();
    if places.chain(paint).all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(WriteError::NotFinite { track: track.name.clone() })
    }
}
