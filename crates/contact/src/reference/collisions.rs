//! The collision pass (GBF03 section 5, Su09 section 3.2).

use dynamics::Momentum;

use super::evolution::{Evolution, Law};
use crate::broad::{Broad, Way};
use crate::frame::Frame;
use crate::{Blow, Levers};

/// Changes the momenta at time n of pairs that would overlap at the end of the step while
/// approaching, the deepest point first; returns the blows that break a body and the work of
/// kinematic bodies, J.
pub(crate) fn collide(
    frame: Frame<'_>,
    levers: Levers,
    momenta: &mut [Momentum],
    strengths: &[f64],
) -> (Vec<Blow>, f64) {
    let ahead = frame.half_step_forces();
    let mut state = Evolution::new(frame, momenta, ahead);
    let mut blows: Vec<Blow> = Vec::new();
    for _ in 0..frame.settings.collision_sweeps {
        let mut changed = false;
        let predicted = &state.predicted;
        let way = Way { columns: frame.columns, poses: predicted, predicted };
        for pair in Broad::new(way, 0.0).pairs().near {
            // a pair that breaks exchanges no impulse any more
            if !state.is_checked(pair) && !blows.iter().any(|b| (b.a, b.b) == pair) {
                changed |= collide_pair(&mut state, pair, levers, strengths, &mut blows);
            }
        }
        if !changed {
            break;
        }
    }
    let work = state.work.iter().sum();
    (blows, work)
}

fn collide_pair(
    state: &mut Evolution<'_>,
    pair: (u32, u32),
    levers: Levers,
    strengths: &[f64],
    blows: &mut Vec<Blow>,
) -> bool {
    let settings = state.frame.settings;
    let law = Law { restitution: None, clamped: true };
    let strength = strengths[pair.0 as usize].min(strengths[pair.1 as usize]);
    for repeat in 0..settings.pair_repeats {
        let touches = state.touches(pair);
        let found = (levers, Levers::Split);
        let meeting = state.deepest(pair, touches, found, settings.resting_speed);
        let impulse = meeting.and_then(|m| Some((state.impulse(pair, &m, law)?, m)));
        let Some((impulse, meeting)) = impulse else {
            state.check(pair);
            return repeat > 0;
        };
        if impulse.j.norm() >= strength {
            let (at, normal) = (state.met(pair, &meeting), meeting.normal);
            blows.push(Blow { a: pair.0, b: pair.1, at, normal, impulse: impulse.j });
            return repeat > 0;
        }
        state.apply(pair, &impulse);
    }
    true
}
