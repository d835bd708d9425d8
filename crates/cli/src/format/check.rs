//! What no format can hold.

use meshfile::{WriteError, check_poses, check_surface};
use sim::Recording;

/// Refuses what no format can hold.
pub(super) fn check(recording: &Recording) -> Result<(), WriteError> {
    for track in &recording.tracks {
        check_surface(track, &track.surface())?;
        check_poses(track, &track.poses)?;
    }
    Ok(())
}
