//! The contact pass and shock propagation (GBF03 sections 6 and 7).

use dynamics::Momentum;

use super::evolution::{Evolution, Law};
use super::graph::Graph;
use crate::Levers;
use crate::frame::Frame;

/// Tolerance of the approach speed, m/s: round-off.
const STILL: f64 = 1e-10;

/// Gradually stops the approach of pairs that would overlap at the end of the step: restitution
/// rises from nearly -1, which only slows it, to 0. Returns the work of kinematic bodies on each
/// body, J.
///
/// Depths use the predicted poses, everything else the frame's poses: ranking by the depth before
/// the step would select the same corner every time.
pub(crate) fn settle(
    frame: Frame<'_>,
    graph: &Graph,
    momenta: &mut [Momentum],
    clamped: bool,
) -> Vec<f64> {
    let still = vec![Momentum::default(); momenta.len()];
    let mut state = Evolution::new(frame, momenta, still);
    let schedule = |sweeps: usize| (1..=sweeps).map(move |k| k as f64 / sweeps as f64 - 1.0);
    for restitution in schedule(frame.settings.contact_sweeps) {
        let law = Law { restitution: Some(restitution), clamped };
        let mut changed = false;
        for &pair in graph.pairs() {
            changed |= relax(&mut state, pair, law);
        }
        if !changed {
            break;
        }
    }
    for level in 0..graph.levels.count() {
        for restitution in schedule(frame.settings.shock_sweeps) {
            let law = Law { restitution: Some(restitution), clamped };
            for &pair in graph.of_level(level) {
                relax(&mut state, pair, law);
            }
        }
        state.freeze(graph, level);
    }
    state.work
}

fn relax(state: &mut Evolution<'_>, pair: (u32, u32), law: Law) -> bool {
    if state.is_checked(pair) {
        return false;
    }
    let levers = (Levers::TimeN, Levers::TimeN);
    for repeat in 0..state.frame.settings.pair_repeats {
        let touches = state.touches(pair);
        if touches.is_empty() {
            state.check(pair);
            return repeat > 0;
        }
        let contact = state.deepest(pair, touches, levers, STILL);
        let Some(impulse) = contact.and_then(|m| state.impulse(pair, &m, law)) else {
            return repeat > 0;
        };
        state.apply(pair, &impulse);
    }
    true
}
