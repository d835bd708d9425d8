//! The camera in a frame of a recording.

use nalgebra::{Point3, Vector3};

use crate::{Camera, Recording, Track};

impl Camera {
    /// Target and position of the camera in a frame of `recording`, if given. `arm` is the offset
    /// from the target to the position of a camera that follows a body without a start position.
    pub fn sight(
        &self,
        recording: &Recording,
        frame: f64,
        arm: &Vector3<f64>,
    ) -> Option<(Point3<f64>, Point3<f64>)> {
        if let Some(track) = self.follow {
            let at = recording.middle(track, frame)?;
            let arm = match self.keys.first() {
                Some(key) => key.from - recording.middle(track, 0.0)?,
                None => *arm,
            };
            return Some((at, at + arm));
        }
        let time = frame / recording.fps;
        let next = self.keys.partition_point(|key| key.time <= time);
        let first = self.keys.get(next.saturating_sub(1))?;
        let last = self.keys.get(next).unwrap_or(first);
        let span = last.time - first.time;
        let share = if span > 0.0 { ((time - first.time) / span).clamp(0.0, 1.0) } else { 0.0 };
        let mix = |a: &Point3<f64>, b: &Point3<f64>| a + (b - a) * share;
        Some((mix(&first.at, &last.at), mix(&first.from, &last.from)))
    }
}

impl Recording {
    /// Position of a body in a frame, or between two: after it broke, the median of its pieces.
    fn middle(&self, track: usize, frame: f64) -> Option<Point3<f64>> {
        let before = (frame.floor().max(0.0) as usize).min(self.frames.saturating_sub(1));
        let after = (before + 1).min(self.frames.saturating_sub(1));
        let [a, b] = [before, after].map(|frame| self.median(track, frame));
        let (a, b) = (a?, b?);
        Some(a + (b - a) * (frame - before as f64).clamp(0.0, 1.0))
    }

    fn median(&self, track: usize, frame: usize) -> Option<Point3<f64>> {
        let place = |track: &Track| track.pose(frame).map(|pose| pose.translation.vector);
        if let Some(place) = place(self.tracks.get(track)?) {
            return Some(place.into());
        }
        // parents come before their pieces
        let mut is_of = vec![false; self.tracks.len()];
        is_of[track] = true;
        let mut places = vec![];
        for (n, piece) in self.tracks.iter().enumerate().skip(track + 1) {
            is_of[n] = piece.parent.is_some_and(|parent| is_of[parent]);
            places.extend(place(piece).filter(|_| is_of[n]));
        }
        let last = self.tracks[track].poses.last().map(|pose| pose.translation.vector);
        let median = |axis: usize| {
            let mut sorted: Vec<f64> = places.iter().map(|p: &Vector3<f64>| p[axis]).collect();
            sorted.sort_by(f64::total_cmp);
            sorted.get(sorted.len() / 2).copied()
        };
        match [0, 1, 2].map(median) {
            [Some(x), Some(y), Some(z)] => Some(Point3::new(x, y, z)),
            _ => last.map(Point3::from),
        }
    }
}
