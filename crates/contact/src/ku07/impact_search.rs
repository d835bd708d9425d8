//! Time of impact of two bodies on their paths: bisection (Ku07 section 3).

use super::path::Path;
use crate::Shape;
use crate::narrow::posed::Posed;

/// Least displacement between two tests, as a share of the thinner body.
const STRIDE: f64 = 0.1;
/// Bisection stops at this interval, s.
const RESOLUTION: f64 = 1e-12;
/// Limit of steps along a path: a body that moves by thousands of times its thickness in a frame
/// may tunnel.
const MAX_STEPS: usize = 100_000;

/// Two bodies on their paths.
pub(crate) struct ImpactSearch<'a> {
    pub(crate) shapes: [&'a Shape; 2],
    pub(crate) paths: [&'a Path<'a>; 2],
    /// Penetration at the start, m; `None` if the bodies do not touch.
    pub(crate) depth: Option<f64>,
    /// Increase of the penetration at which touching bodies collide again, m.
    pub(crate) slack: f64,
    /// Gap at which bodies have collided, m.
    pub(crate) collision_gap: f64,
}

/// A gap at a time.
#[derive(Clone, Copy)]
struct GapSample {
    time: f64,
    gap: f64,
}

impl ImpactSearch<'_> {
    /// The last time between `from` and `to`, s, before the gap falls below the floor.
    pub(crate) fn last_free_time(&self, from: f64, to: f64) -> Option<f64> {
        let [p, q] = self.shapes;
        let fastest = [0, 1].map(|i| self.paths[i].fastest(self.shapes[i], to));
        let speed = fastest[0] + fastest[1];
        let thin = |shape: &Shape| shape.bounds().extents().min();
        let stride = STRIDE * thin(p).min(thin(q));
        let travel = |time: f64| speed * (to - time);
        let most = travel(0.0);
        let start = self.sample(0.0, most, f64::NEG_INFINITY);
        // contact points may have less overlap than their shapes
        let floor = match self.depth {
            Some(depth) => start.gap.min(-depth) - self.slack,
            None if start.gap > self.collision_gap => 0.0,
            None => start.gap - self.slack,
        };
        let mut now =
            if from > 0.0 { self.sample(from, floor + travel(from), floor) } else { start };
        if now.gap < floor {
            return Some(from);
        }
        for _ in 0..MAX_STEPS {
            if now.time >= to || now.gap - floor >= travel(now.time) {
                return None;
            }
            let step = (now.gap - floor + stride) / speed;
            let time = (now.time + step).min(to);
            let next = self.sample(time, floor + travel(time) + stride, floor);
            if next.gap < floor {
                return Some(self.bisect(now, next, floor));
            }
            now = next;
        }
        None
    }

    /// The last time before the gap falls below the floor, between one before and one after it.
    /// Bisection alternates with the secant method.
    fn bisect(&self, mut before: GapSample, mut after: GapSample, floor: f64) -> f64 {
        let collision_gap = self.collision_gap;
        let mut is_secant = true;
        while before.gap - floor > collision_gap && after.time - before.time > RESOLUTION {
            let length = after.time - before.time;
            let aim = floor + 0.5 * collision_gap;
            let share = if is_secant { (before.gap - aim) / (before.gap - after.gap) } else { 0.5 };
            is_secant = !is_secant;
            let time = before.time + share.clamp(0.0, 1.0) * length;
            if time <= before.time || time >= after.time {
                continue;
            }
            let most = before.gap.abs() + floor.abs() + collision_gap;
            let middle = self.sample(time, most, floor);
            if middle.gap < floor { after = middle } else { before = middle }
        }
        before.time
    }

    /// The gap at a time, m, at most `most`. Below `floor` any point of penetration ends the
    /// search.
    fn sample(&self, time: f64, most: f64, floor: f64) -> GapSample {
        let [a, b] = self.paths.map(|path| path.at(time).pose);
        let posed = Posed { shapes: self.shapes, poses: [&a, &b] };
        GapSample { time, gap: posed.distance(most, floor, &mut 0) }
    }
}
