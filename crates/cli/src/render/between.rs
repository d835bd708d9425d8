//! Interpolation of bodies between frames, for slow motion.

use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, UnitQuaternion, Vector3};
use sim::{Recording, Surface, Track};

/// A body at a time.
pub(super) struct Interpolated {
    /// Index of its track.
    pub(super) track: usize,
    pub(super) pose: Isometry3<f64>,
    pub(super) scale: f64,
}

/// The bodies that exist at a time, in frames. A body that breaks by the next frame is already in
/// pieces, which start at its pose.
pub(super) fn interpolated(recording: &Recording, time: f64) -> Vec<Interpolated> {
    let before = time.max(0.0).floor() as usize;
    let share = time - before as f64;
    if share <= 0.0 || before + 1 >= recording.frames {
        let frame = before.min(recording.frames - 1);
        let there = |(n, track): (usize, &Track)| {
            let scale = track.scale(frame, recording.fps);
            Some(Interpolated { track: n, pose: *track.pose(frame)?, scale })
        };
        return recording.tracks.iter().enumerate().filter_map(there).collect();
    }
    let place = |(n, track): (usize, &Track)| {
        let next = track.pose(before + 1);
        let start = match (track.pose(before), next) {
            (Some(pose), _) => *pose,
            (None, Some(next)) => start(recording, track, before).unwrap_or(*next),
            (None, None) => return None,
        };
        // a body that ends without pieces stays at its pose until it is gone
        let is_broken = || recording.tracks[n + 1..].iter().any(|piece| piece.parent == Some(n));
        let end = match next {
            Some(next) => *next,
            None if is_broken() => return None,
            None => start,
        };
        let sizes = [before, before + 1].map(|frame| track.scale(frame, recording.fps));
        let shift = start.translation.vector.lerp(&end.translation.vector, share);
        let turn = start.rotation.try_slerp(&end.rotation, share, 1e-9).unwrap_or(end.rotation);
        let pose = Isometry3::from_parts(shift.into(), turn);
        let scale = sizes[0] + (sizes[1] - sizes[0]) * share;
        Some(Interpolated { track: n, pose, scale })
    };
    recording.tracks.iter().enumerate().filter_map(place).collect()
}

/// Pose of a piece within its parent, in the last frame of the parent.
fn start(recording: &Recording, piece: &Track, frame: usize) -> Option<Isometry3<f64>> {
    let parent = &recording.tracks[piece.parent?];
    let [of_parent, of_piece] = [parent, piece].map(|track| material(&track.surface()));
    Some(parent.pose(frame)? * of_parent?.inverse() * of_piece?)
}

/// Body to material coordinates, from three distant vertices.
fn material(surface: &Surface) -> Option<Isometry3<f64>> {
    let place = |of: &[[f32; 3]], n: usize| Point3::from(of[n]).cast::<f64>();
    let numbers = 0..surface.vertices.len();
    let farthest = |measure: &dyn Fn(&Vector3<f64>) -> f64| {
        let first = place(&surface.vertices, 0);
        let size = |n: &usize| measure(&(place(&surface.vertices, *n) - first));
        numbers.clone().max_by(|a, b| size(a).total_cmp(&size(b)))
    };
    if surface.vertices.is_empty() {
        return None;
    }
    let second = farthest(&|v| v.norm_squared())?;
    let axis = place(&surface.vertices, second) - place(&surface.vertices, 0);
    let third = farthest(&|v| v.cross(&axis).norm_squared())?;
    let frame = |of: &[[f32; 3]]| {
        let origin = place(of, 0);
        let x = (place(of, second) - origin).try_normalize(1e-9)?;
        let z = x.cross(&(place(of, third) - origin)).try_normalize(1e-12)?;
        let turn = Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[x, z.cross(&x), z]));
        let turn = UnitQuaternion::from_rotation_matrix(&turn);
        Some(Isometry3::from_parts(origin.coords.into(), turn))
    };
    Some(frame(&surface.rest)? * frame(&surface.vertices)?.inverse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_moved_as_a_whole_is_found() {
        let pose = Isometry3::new(Vector3::new(3.0, -2.0, 0.5), Vector3::new(0.4, 2.0, -1.0));
        let rest = [[0.0; 3], [0.3, 0.1, 0.0], [0.1, 0.4, 0.2], [0.2, 0.0, 0.5], [0.1, 0.1, 0.1]];
        let moved = |p: &[f32; 3]| (pose * Point3::from(*p).cast()).cast::<f32>().into();
        let vertices = rest.iter().map(moved).collect();
        let surface = Surface { vertices, rest: rest.to_vec(), ..Surface::default() };
        let off = material(&surface).unwrap() * pose;
        assert!(off.translation.vector.norm() < 1e-5 && off.rotation.angle() < 1e-5, "{off}");
        assert_eq!(material(&Surface::default()), None);
    }
}
