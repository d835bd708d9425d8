//! Recordings as animated binary glTF 2.0; see [`write_glb`].

mod read;

use std::io::Write;

pub use meshfile::write_glb;
pub use read::{GlbReadError, read_glb};

use super::WriteError;
use crate::spool::SpooledRecording;

/// As [`write_glb`], where some poses are on disk.
pub(super) fn write_spooled(
    spooled: SpooledRecording<'_>,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    meshfile::write_glb_of(spooled.recording, &|track| spooled.trajectory(track), out)
}

/// As [`write_spooled`], as one skinned mesh.
pub(super) fn write_spooled_rig(
    spooled: SpooledRecording<'_>,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    meshfile::write_rigged_glb_of(spooled.recording, &|track| spooled.trajectory(track), out)
}
