//! Validation of recordings for all formats.

use meshfile::{WriteError, check_poses, check_surface};
use sim::Recording;

/// Rejects recordings that no format can represent.
pub(super) fn check(recording: &Recording) -> Result<(), WriteError> {
    for track in &recording.tracks {
        check_surface(track, &track.surface())?;
        check_poses(track, &track.poses)?;
    }
    Ok(())
}
