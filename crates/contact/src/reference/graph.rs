//! The contact graph (GBF03 section 7).

use dynamics::Momentum;
use nalgebra::Isometry3;

use super::touch::touches;
use crate::frame::Frame;
use crate::narrow::broad::{Broad, StepMotion};
use crate::narrow::posed::Posed;
use crate::solve::levels::Levels;

/// Pairs of bodies of which one rests on the other.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) levels: Levels,
    /// By level of the upper body, then by index.
    pairs: Vec<(u32, u32)>,
}

impl Graph {
    /// A body rests on another if it would penetrate that one under forces alone.
    pub(crate) fn new(frame: Frame<'_>, momenta: &[Momentum]) -> Self {
        let columns = frame.columns;
        let alone = frame.predict(momenta);
        let pushed = frame.predict(&frame.with_forces(momenta));
        let mut edges = Vec::new();
        let mut pairs = Vec::new();
        let motion = StepMotion { columns, poses: &alone, predicted: &pushed, motion: None };
        for (a, b) in Broad::new(motion, 0.0).pairs().near {
            let (i, j) = (a as usize, b as usize);
            let (p, q) = (&*columns.shapes[i], &*columns.shapes[j]);
            let margin = 1e-6 * p.radius().min(q.radius());
            let sinks = |i: usize, a: &Isometry3<f64>, b: &Isometry3<f64>| {
                columns.bodies[i].mass_properties().is_some()
                    && !touches(Posed { shapes: [p, q], poses: [a, b] }, margin).is_empty()
            };
            let a_on_b = sinks(i, &pushed[i], &alone[j]);
            let b_on_a = sinks(j, &alone[i], &pushed[j]);
            edges.extend(a_on_b.then_some((b, a)));
            edges.extend(b_on_a.then_some((a, b)));
            pairs.extend((a_on_b || b_on_a).then_some((a, b)));
        }
        let levels = Levels::from_supports(columns, &pairs, edges);
        pairs.sort_by_cached_key(|&(a, b)| levels.of(a).max(levels.of(b)));
        Self { levels, pairs }
    }

    pub(crate) fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// The pairs whose upper body is on a level.
    pub(super) fn of_level(&self, level: u32) -> &[(u32, u32)] {
        let of = |&(a, b): &(u32, u32)| self.levels.of(a).max(self.levels.of(b));
        let first = self.pairs.partition_point(|p| of(p) < level);
        let end = self.pairs.partition_point(|p| of(p) <= level);
        &self.pairs[first..end]
    }

    /// Freezes the bodies on a level.
    pub(super) fn freeze(&self, level: u32, frozen: &mut [bool]) {
        for (i, frozen) in (0..).zip(frozen) {
            *frozen |= self.levels.of(i) == level;
        }
    }
}
