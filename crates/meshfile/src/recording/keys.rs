//! Which frames of a track need a key.

use nalgebra::Isometry3;

/// Values of one channel at the frames that need them.
pub(super) struct Keys<const N: usize> {
    /// The value at birth.
    pub(super) first: [f32; N],
    /// Frames, ascending; none for a constant.
    pub(super) frames: Vec<usize>,
    /// The value at each frame.
    pub(super) values: Vec<[f32; N]>,
}

/// Positions, m, of a body whose poses from its birth on are `poses`.
pub(super) fn translation_keys(birth: usize, poses: &[Isometry3<f64>]) -> Keys<3> {
    let samples: Vec<[f32; 3]> =
        poses.iter().map(|p| p.translation.vector.map(|x| x as f32).into()).collect();
    thin(&samples, birth, [0.0; 3])
}

/// Unit quaternions x, y, z, w, likewise.
pub(super) fn rotation_keys(birth: usize, poses: &[Isometry3<f64>]) -> Keys<4> {
    let mut samples: Vec<[f32; 4]> = Vec::with_capacity(poses.len());
    for pose in poses {
        let q: [f32; 4] = pose.rotation.coords.normalize().map(|x| x as f32).into();
        // q and -q turn alike; the nearer one interpolates the short way
        let flip =
            samples.last().is_some_and(|p| p.iter().zip(q).map(|(a, b)| a * b).sum::<f32>() < 0.0);
        samples.push(if flip { q.map(|x| -x) } else { q });
    }
    thin(&samples, birth, [0.0, 0.0, 0.0, 1.0])
}

/// Drops every sample that equals both its neighbors: interpolation gives it back exactly.
fn thin<const N: usize>(samples: &[[f32; N]], birth: usize, rest: [f32; N]) -> Keys<N> {
    let first = samples.first().copied().unwrap_or(rest);
    let changes = |i: usize| {
        (i > 0 && samples[i - 1] != samples[i])
            || (i + 1 < samples.len() && samples[i + 1] != samples[i])
    };
    let kept: Vec<usize> = (0..samples.len()).filter(|&i| changes(i)).collect();
    Keys {
        first,
        frames: kept.iter().map(|i| birth + i).collect(),
        values: kept.iter().map(|&i| samples[i]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_needs_no_key_and_a_rest_two() {
        let at = |xs: &[f32]| {
            let samples: Vec<[f32; 1]> = xs.iter().map(|&x| [x]).collect();
            thin(&samples, 10, [0.0]).frames
        };
        assert!(at(&[]).is_empty());
        assert!(at(&[1.0]).is_empty());
        assert!(at(&[1.0, 1.0, 1.0]).is_empty());
        assert_eq!(at(&[1.0, 2.0, 3.0]), [10, 11, 12]);
        assert_eq!(at(&[1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 3.0]), [12, 13, 14]);
        assert_eq!(at(&[1.0, 2.0, 2.0, 2.0, 1.0]), [10, 11, 13, 14]);
    }
}
