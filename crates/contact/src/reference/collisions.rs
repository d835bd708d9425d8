//! The collision pass (GBF03 section 5, Su09 section 3.2).

use dynamics::{Momentum, Velocity};

use super::evolution::{Evolution, Law};
use crate::frame::Frame;
use crate::narrow::broad::{Broad, StepMotion};
use crate::passes::collision::ImpactState;
use crate::{Collision, Collisions, Levers, StrengthQuery};

/// Changes the momenta at time n of pairs that would overlap at the end of the step while
/// approaching, the deepest point first.
pub(crate) fn collide(
    frame: Frame<'_>,
    levers: Levers,
    momenta: &mut [Momentum],
    query: &mut StrengthQuery<'_>,
) -> Collisions {
    let ahead = frame.half_step_forces();
    let mut state = Evolution::new(frame, momenta, ahead);
    let mut breaking: Vec<Collision> = Vec::new();
    for _ in 0..frame.settings.collision_sweeps {
        let mut changed = false;
        let predicted = &state.predicted;
        let motion =
            StepMotion { columns: frame.columns, poses: predicted, predicted, motion: None };
        for pair in Broad::new(motion, 0.0).pairs().near {
            // a pair that breaks exchanges no further impulse
            if !state.is_checked(pair) && !breaking.iter().any(|b| (b.a, b.b) == pair) {
                changed |= collide_pair(&mut state, pair, levers, query, &mut breaking);
            }
        }
        if !changed {
            break;
        }
    }
    let work = state.work.iter().sum();
    let deviated = vec![false; momenta.len()];
    let shifts = vec![Velocity::default(); momenta.len()];
    Collisions { breaking, work, deviated, shifts, ..Collisions::default() }
}

fn collide_pair(
    state: &mut Evolution<'_>,
    pair: (u32, u32),
    levers: Levers,
    query: &mut StrengthQuery<'_>,
    breaking: &mut Vec<Collision>,
) -> bool {
    let settings = state.frame.settings;
    let law = Law { restitution: None, clamped: true };
    let [p, q] = [pair.0, pair.1].map(|i| &state.frame.columns.materials[i as usize]);
    let restitution = p.restitution_with(q, settings.restitution);
    for repeat in 0..settings.pair_repeats {
        let touches = state.touches(pair);
        let found = (levers, Levers::Split);
        let contact = state.deepest(pair, touches, found, settings.resting_speed);
        let impulse = contact.and_then(|m| Some((state.impulse(pair, &m, law)?, m)));
        let Some((impulse, contact)) = impulse else {
            state.check(pair);
            return repeat > 0;
        };
        let (at, pushes) = (state.body_points(pair, &contact), (contact.normal, impulse.j));
        let poses = state.predicted(pair);
        let at_impact = ImpactState { at, time: 0.0, poses };
        let collision =
            Collision::new(pair, at_impact, pushes, (-contact.normal.dot(&contact.u), restitution));
        if let Some(share) = query.share(&collision) {
            breaking.push(collision);
            state.apply(pair, &impulse.times(share));
            return true;
        }
        state.apply(pair, &impulse);
    }
    true
}
