//! Minima of signed distances along segments and around the axis, by bisection.

use std::f64::consts::FRAC_1_SQRT_2;

use nalgebra::{Point3, Vector3};

/// Tolerances as a share of the margin: by which a separating axis must be better than that of a
/// face or cap, and within which points beyond an edge count as on it.
pub(super) const EVEN: f64 = 1e-6;

/// Bisection steps; after these the ends of an interval agree up to round-off.
const HALVINGS: u32 = 40;

/// The part of a segment inside the infinite cylinder of `radius` m about the y axis, as shares of
/// its length.
pub(super) fn in_column(from: &Point3<f64>, to: &Point3<f64>, radius: f64) -> Option<[f64; 2]> {
    let direction = to - from;
    let square = direction.x * direction.x + direction.z * direction.z;
    let linear = from.x * direction.x + from.z * direction.z;
    let constant = from.x * from.x + from.z * from.z - radius * radius;
    if square <= 0.0 {
        return (constant <= 0.0).then_some([0.0, 1.0]);
    }
    let root = linear * linear - square * constant;
    if root < 0.0 {
        return None;
    }
    let [low, high] = [-1.0, 1.0].map(|sign| (sign * root.sqrt() - linear) / square);
    (high >= 0.0 && low <= 1.0).then_some([low.max(0.0), high.min(1.0)])
}

/// The minimum of a signed distance with gradient `ask` along the segment from `from` by `along`:
/// its share of the length and the gradient there, which is perpendicular to the segment except at
/// an end.
pub(super) fn least_along(
    from: &Point3<f64>,
    along: &Vector3<f64>,
    ask: impl Fn(&Point3<f64>) -> Vector3<f64>,
) -> (f64, Vector3<f64>) {
    let gradient = |share: f64| ask(&(from + along * share));
    let mut ends = [(0.0, gradient(0.0)), (1.0, gradient(1.0))];
    if ends[0].1.dot(along) >= 0.0 {
        return ends[0];
    }
    if ends[1].1.dot(along) <= 0.0 {
        return ends[1];
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (ends[0].0 + ends[1].0);
        let normal = gradient(middle);
        ends[usize::from(normal.dot(along) >= 0.0)] = (middle, normal);
    }
    (ends[0].0, across([ends[0].1, ends[1].1], along))
}

/// The unit vector between the gradients on both sides of a minimum along `direction` that is
/// perpendicular to `direction`: at a kink of the distance neither gradient is normal to both
/// solids.
fn across([low, high]: [Vector3<f64>; 2], direction: &Vector3<f64>) -> Vector3<f64> {
    let [falls, rises] = [low, high].map(|normal| normal.dot(direction));
    (low * rises - high * falls).try_normalize(0.0).unwrap_or(low)
}

/// The gradients of a signed distance at its minima around the y axis. `ask` takes a direction
/// across the axis and returns the distance, its gradient and the tangent, by the angle from x to
/// z.
pub(super) fn least_around(
    ask: impl Fn(&[f64; 2]) -> (f64, Vector3<f64>, Vector3<f64>),
) -> Vec<Vector3<f64>> {
    const TRIES: usize = 16;
    let eighths = [[1.0, 0.0], [FRAC_1_SQRT_2; 2], [0.0, 1.0], [-FRAC_1_SQRT_2, FRAC_1_SQRT_2]];
    let tries: [[f64; 2]; TRIES] = std::array::from_fn(|n| {
        let turn = |n: usize| {
            let [x, z] = eighths[n % 4];
            if n % 8 < 4 { [x, z] } else { [-x, -z] }
        };
        if n % 2 == 0 { turn(n / 2) } else { between(&turn(n / 2), &turn(n / 2 + 1)) }
    });
    let values = tries.map(|direction| ask(&direction).0);
    let beside = |n: usize| [(n + TRIES - 1) % TRIES, (n + 1) % TRIES];
    let is_least = |n: &usize| {
        let [before, after] = beside(*n).map(|n| values[n]);
        values[*n] < before && values[*n] <= after
    };
    let least = |n: usize| {
        let mut ends = beside(n).map(|n| tries[n]);
        let mut normals = ends.map(|direction| ask(&direction).1);
        let mut tangent = Vector3::zeros();
        for _ in 0..HALVINGS {
            let middle = between(&ends[0], &ends[1]);
            let (_, normal, along) = ask(&middle);
            let end = usize::from(normal.dot(&along) >= 0.0);
            (ends[end], normals[end], tangent) = (middle, normal, along);
        }
        across(normals, &tangent)
    };
    (0..TRIES).filter(is_least).map(least).collect()
}

/// The bisector of two directions less than half a turn apart.
fn between(p: &[f64; 2], q: &[f64; 2]) -> [f64; 2] {
    let (x, z) = (p[0] + q[0], p[1] + q[1]);
    let length = (x * x + z * z).sqrt();
    if length > 0.0 { [x / length, z / length] } else { *p }
}
