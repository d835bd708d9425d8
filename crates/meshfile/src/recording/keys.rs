//! Reduction of tracks to the necessary keys.

use nalgebra::Isometry3;
use sim::Trace;

/// Values of one channel at the necessary times.
pub(super) struct Keys<const N: usize> {
    /// The value at birth.
    pub(super) first: [f32; N],
    /// Frames since the start, ascending, fractional at impacts; none for a constant.
    pub(super) frames: Vec<f64>,
    /// The value at each of them.
    pub(super) values: Vec<[f32; N]>,
}

/// The time of a pose, in frames, and the pose.
pub(super) type Sample<T> = (f64, T);

/// The time of a key, s.
pub(super) fn key_time(frame: f64, fps: f64) -> f32 {
    (frame / fps) as f32
}

/// The poses of a body from its birth on, and those at impacts, as far as key times can distinguish
/// them.
pub(super) fn samples(birth: usize, trajectory: &Trace, fps: f64) -> Vec<Sample<Isometry3<f64>>> {
    let Trace { poses, waypoints } = trajectory;
    let mut samples: Vec<Sample<Isometry3<f64>>> =
        Vec::with_capacity(poses.len() + waypoints.len());
    let mut coming = waypoints.iter().peekable();
    for (frame, pose) in (birth..).zip(poses) {
        let frame = frame as f64;
        let end = key_time(frame, fps);
        while let Some(waypoint) = coming.next_if(|waypoint| waypoint.time < frame) {
            let time = key_time(waypoint.time, fps);
            let is_later = samples.last().is_some_and(|last| key_time(last.0, fps) < time);
            if is_later && time < end {
                samples.push((waypoint.time, waypoint.pose));
            }
        }
        samples.push((frame, *pose));
    }
    samples
}

/// Positions, m.
pub(super) fn translation_keys(samples: &[Sample<Isometry3<f64>>]) -> Keys<3> {
    let place = |(frame, pose): &Sample<Isometry3<f64>>| {
        (*frame, pose.translation.vector.map(|x| x as f32).into())
    };
    thin(&samples.iter().map(place).collect::<Vec<_>>(), [0.0; 3])
}

/// Unit quaternions x, y, z, w.
pub(super) fn rotation_keys(samples: &[Sample<Isometry3<f64>>]) -> Keys<4> {
    let mut turns: Vec<Sample<[f32; 4]>> = Vec::with_capacity(samples.len());
    for (frame, pose) in samples {
        let q: [f32; 4] = pose.rotation.coords.normalize().map(|x| x as f32).into();
        // q and -q are the same rotation; the nearer one interpolates along the short arc
        let flip = turns
            .last()
            .is_some_and(|(_, p)| p.iter().zip(q).map(|(a, b)| a * b).sum::<f32>() < 0.0);
        turns.push((*frame, if flip { q.map(|x| -x) } else { q }));
    }
    thin(&turns, [0.0, 0.0, 0.0, 1.0])
}

/// Drops every sample that equals both its neighbors: interpolation restores it exactly.
fn thin<const N: usize>(samples: &[Sample<[f32; N]>], rest: [f32; N]) -> Keys<N> {
    let first = samples.first().map_or(rest, |(_, value)| *value);
    let changes = |i: usize| {
        (i > 0 && samples[i - 1].1 != samples[i].1)
            || (i + 1 < samples.len() && samples[i + 1].1 != samples[i].1)
    };
    let kept = (0..samples.len()).filter(|&i| changes(i)).map(|i| samples[i]);
    let (frames, values) = kept.unzip();
    Keys { first, frames, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_needs_no_key_and_a_rest_two() {
        let at = |xs: &[f32]| {
            let frames = (10..).map(f64::from);
            let samples: Vec<_> = frames.zip(xs.iter().map(|&x| [x])).collect();
            thin(&samples, [0.0]).frames
        };
        assert!(at(&[]).is_empty());
        assert!(at(&[1.0]).is_empty());
        assert!(at(&[1.0, 1.0, 1.0]).is_empty());
        assert_eq!(at(&[1.0, 2.0, 3.0]), [10.0, 11.0, 12.0]);
        assert_eq!(at(&[1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 3.0]), [12.0, 13.0, 14.0]);
        assert_eq!(at(&[1.0, 2.0, 2.0, 2.0, 1.0]), [10.0, 11.0, 13.0, 14.0]);
    }
}
