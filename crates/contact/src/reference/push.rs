//! The push-out: positions only (GBF03 section 7).

use dynamics::{Momentum, Velocity};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};

use super::graph::Graph;
use super::touch::touches;
use crate::Mover;
use crate::frame::Frame;
use crate::narrow::posed::Posed;
use crate::passes::collide::mass_at;

/// Consecutive pushes of a pair.
const REPEATS: usize = 2;
/// Largest displacement of a pair by one push, as a share of the smaller radius.
const MAX_PUSH: f64 = 0.2;

/// The push-out of each body from overlaps at the poses of the frame: displacement in m and
/// rotation vector in rad. Level by level, with all bodies below fixed.
pub(crate) fn push_out(frame: Frame<'_>, graph: &Graph) -> Vec<Velocity> {
    let mut poses = frame.poses.to_vec();
    let mut frozen = vec![false; poses.len()];
    for level in 0..graph.levels.count() {
        for &pair in graph.of_level(level) {
            for _ in 0..REPEATS {
                if !push(frame, pair, &frozen, &mut poses) {
                    break;
                }
            }
        }
        graph.freeze(level, &mut frozen);
    }
    let pushed = |(end, start): (&Isometry3<f64>, &Isometry3<f64>)| Velocity {
        linear: end.translation.vector - start.translation.vector,
        angular: (end.rotation * start.rotation.inverse()).scaled_axis(),
    };
    poses.iter().zip(frame.poses).map(pushed).collect()
}

fn push(
    frame: Frame<'_>,
    (a, b): (u32, u32),
    frozen: &[bool],
    poses: &mut [Isometry3<f64>],
) -> bool {
    let (a, b) = (a as usize, b as usize);
    let (columns, settings) = (frame.columns, frame.settings);
    let (p, q) = (&*columns.shapes[a], &*columns.shapes[b]);
    let posed = Posed { shapes: [p, q], poses: [&poses[a], &poses[b]] };
    let found = touches(posed, 0.0);
    let Some(deepest) = found.iter().min_by(|s, t| s.distance.total_cmp(&t.distance)) else {
        return false;
    };
    let size = p.size().min(q.size());
    let overlap = (-deepest.distance - settings.slop * size).min(MAX_PUSH * size);
    if overlap <= 0.0 {
        return false;
    }
    let spot = posed.spot(&posed.found(deepest));
    let (normal, arms) = (spot.normal, spot.arms(posed.poses));
    let still = Momentum::default();
    let movers = [a, b].map(|i| {
        let mover = Mover::new(&columns.bodies[i], &poses[i], &still);
        if frozen[i] { mover.frozen() } else { mover }
    });
    let k = mass_at(&movers[0], &arms[0]) + mass_at(&movers[1], &arms[1]);
    let Some(inverse) = k.try_inverse() else { return false };
    let j = inverse * normal * (settings.push_out * overlap);
    for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
        let (mover, pose) = (&movers[side], &mut poses[[a, b][side]]);
        let turn = mover.inverse_inertia * arms[side].cross(&(j * sign));
        let place = pose.translation.vector + j * (sign * mover.inverse_mass);
        let rotation = UnitQuaternion::from_scaled_axis(turn) * pose.rotation;
        *pose = Isometry3::from_parts(Translation3::from(place), rotation);
    }
    true
}
