//! Surfaces of tracks, without duplicates.

use std::collections::BTreeSet;

use rayon::prelude::*;
use sim::{Look, Recording, Surface, Track};

use super::error::{WriteError, check_surface};

/// The first track of each surface.
pub(super) fn different(recording: &Recording) -> Vec<&Track> {
    let mut known = BTreeSet::new();
    recording.tracks.iter().filter(|track| known.insert(track.lazy_surface.address())).collect()
}

/// Number of surfaces made in parallel.
const BATCH: usize = 64;

/// Calls `make` for the surfaces of tracks in parallel, and `found` with the results in track
/// order.
pub(super) fn for_each_surface<T: Send>(
    tracks: &[&Track],
    make: impl Fn(&Surface, &Look) -> T + Sync,
    mut found: impl FnMut(&Track, T) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let made = |track: &&Track| {
        let surface = track.surface();
        check_surface(track, &surface)?;
        Ok(make(&surface, &track.look))
    };
    for tracks in tracks.chunks(BATCH) {
        let surfaces: Vec<Result<T, WriteError>> = tracks.par_iter().map(made).collect();
        for (track, surface) in tracks.iter().zip(surfaces) {
            found(track, surface?)?;
        }
    }
    Ok(())
}
