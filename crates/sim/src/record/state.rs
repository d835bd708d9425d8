//! The state of a recording as plain data, to continue from later.

use serde::{Deserialize, Serialize};

use crate::record::recording::{Energy, Recorder};
use crate::world::numbers::{pose, pose_numbers};
use crate::{StateError, TimedWaypoint, Trace, World};

/// The poses of the bodies of a recording, frame by frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordingState {
    frames: usize,
    /// Run-length encoded poses of each body: bodies at rest take no space.
    tracks: Vec<Vec<(usize, [f64; 7])>>,
    /// The times of each body's collisions between two frames, and its poses there.
    waypoints: Vec<Vec<(f64, [f64; 7])>>,
    /// The shrinking tracks, and their first frames.
    shrinks: Vec<(usize, usize)>,
    /// Kinetic, potential and dissipated.
    energies: Vec<[f64; 3]>,
}

impl Recorder {
    /// The recording without its surfaces. `taken` returns the trace of a track that was taken.
    ///
    /// # Errors
    /// The errors of `taken`.
    pub fn saved<E>(
        &self,
        mut taken: impl FnMut(usize) -> Result<Trace, E>,
    ) -> Result<RecordingState, E> {
        let recording = self.recording();
        let (mut tracks, mut waypoints) = (Vec::new(), Vec::new());
        for (n, track) in recording.tracks.iter().enumerate() {
            let taken = if track.taken > 0 { taken(n)? } else { Trace::default() };
            let numbers: Vec<[f64; 7]> =
                taken.poses.iter().chain(&track.poses).map(pose_numbers).collect();
            let same = |p: &[f64; 7], q: &[f64; 7]| p.map(f64::to_bits) == q.map(f64::to_bits);
            tracks.push(numbers.chunk_by(same).map(|run| (run.len(), run[0])).collect());
            let struck = taken.waypoints.iter().chain(&track.waypoints);
            waypoints.push(
                struck.map(|waypoint| (waypoint.time, pose_numbers(&waypoint.pose))).collect(),
            );
        }
        Ok(RecordingState {
            frames: recording.frames,
            tracks,
            waypoints,
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

    /// Continues from a state. The recorder must have recorded all fractures up to then, frame by
    /// frame; `world` is the world at that time.
    ///
    /// # Errors
    /// [`StateError`] if the state belongs to other bodies.
    pub fn restore(&mut self, world: &World, state: &RecordingState) -> Result<(), StateError> {
        let recording = self.recording_mut();
        let counts = [state.tracks.len(), state.waypoints.len()];
        if counts != [recording.tracks.len(); 2] || recording.frames != state.frames {
            return Err(StateError);
        }
        let states = state.tracks.iter().zip(&state.waypoints);
        for (track, (runs, waypoints)) in recording.tracks.iter_mut().zip(states) {
            let total = runs.iter().fold(0, |sum: usize, (count, _)| sum.saturating_add(*count));
            if total > state.frames {
                return Err(StateError);
            }
            let poses = runs.iter().flat_map(|(n, p)| std::iter::repeat_n(pose(p), *n));
            (track.poses, track.taken, track.shrinks) = (poses.collect(), 0, None);
            let waypoint = |&(time, ref at): &(f64, _)| TimedWaypoint { time, pose: pose(at) };
            track.waypoints = waypoints.iter().map(waypoint).collect();
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
