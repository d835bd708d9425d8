//! The state of a recording as plain data, to go on from later.

use nalgebra::Isometry3;
use serde::{Deserialize, Serialize};

use crate::record::recording::{Energy, Recorder};
use crate::world::numbers::{pose, pose_numbers};
use crate::{StateError, Track, World};

/// Where the bodies of a recording were, frame by frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordingState {
    frames: usize,
    /// For each body how often each pose comes in turn: what rests takes no room.
    tracks: Vec<Vec<(usize, [f64; 7])>>,
    /// The tracks that shrink away, and from which frame on.
    shrinks: Vec<(usize, usize)>,
    /// Kinetic, potential and dissipated.
    energies: Vec<[f64; 3]>,
}

impl Recorder {
    /// The recording without its surfaces. `taken` gives the poses of a track that were taken.
    ///
    /// # Errors
    /// Those of `taken`.
    pub fn saved<E>(
        &self,
        mut taken: impl FnMut(usize) -> Result<Vec<Isometry3<f64>>, E>,
    ) -> Result<RecordingState, E> {
        let recording = self.recording();
        let mut runs = |(n, track): (usize, &Track)| {
            let taken = if track.taken > 0 { taken(n)? } else { Vec::new() };
            let numbers: Vec<[f64; 7]> =
                taken.iter().chain(&track.poses).map(pose_numbers).collect();
            let same = |p: &[f64; 7], q: &[f64; 7]| p.map(f64::to_bits) == q.map(f64::to_bits);
            Ok(numbers.chunk_by(same).map(|run| (run.len(), run[0])).collect())
        };
        Ok(RecordingState {
            frames: recording.frames,
            tracks: recording.tracks.iter().enumerate().map(&mut runs).collect::<Result<_, E>>()?,
            shrinks: recording
                .tracks
                .iter()
                .enumerate()
                .filter_map(|(n, track)| Some((n, track.shrinks?)))
                .collect(),
            energies: recording
                .energies
                .iter()
                .map(|e| [e.kinetic, e.potential, e.dissipated])
                .collect(),
        })
    }

    /// Goes on from a state. What broke until then was recorded, frame by frame; `world` is that of
    /// the same time.
    ///
    /// # Errors
    /// [`StateError`] when the state is of other bodies.
    pub fn restore(&mut self, world: &World, state: &RecordingState) -> Result<(), StateError> {
        let recording = self.recording_mut();
        if recording.tracks.len() != state.tracks.len() || recording.frames != state.frames {
            return Err(StateError);
        }
        for (track, runs) in recording.tracks.iter_mut().zip(&state.tracks) {
            let total = runs.iter().fold(0, |sum: usize, (count, _)| sum.saturating_add(*count));
            if total > state.frames {
                return Err(StateError);
            }
            let poses = runs.iter().flat_map(|(n, p)| std::iter::repeat_n(pose(p), *n));
            (track.poses, track.taken, track.shrinks) = (poses.collect(), 0, None);
        }
        for &(n, first) in &state.shrinks {
            recording.tracks.get_mut(n).ok_or(StateError)?.shrinks = Some(first);
        }
        recording.energies = state
            .energies
            .iter()
            .map(|&[kinetic, potential, dissipated]| Energy { kinetic, potential, dissipated })
            .collect();
        self.forget_gone(world);
        self.find_shrinking();
        Ok(())
    }
}
