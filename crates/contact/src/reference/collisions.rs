//! The collision pass (GBF03 section 5, Su09 section 3.2).

use dynamics::{Momentum, Velocity};

use super::evolution::{Evolution, Law};
use crate::frame::Frame;
use crate::narrow::broad::{Broad, StepMotion};
use crate::passes::collision::{ImpactState, PairImpulse};
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
    let mut done = Collisions::default();
    for _ in 0..frame.settings.collision_sweeps {
        let mut changed = false;
        let predicted = &state.predicted;
        let motion =
            StepMotion { columns: frame.columns, poses: predicted, predicted, motion: None };
        for pair in Broad::new(motion, 0.0).pairs().near {
            // a pair that breaks exchanges no further impulse
            if !state.is_checked(pair) && !done.breaking.iter().any(|b| (b.a, b.b) == pair) {
                changed |= collide_pair(&mut state, pair, levers, query, &mut done);
            }
        }
        if !changed {
            break;
        }
    }
    done.work = state.work.iter().sum();
    done.deviated = vec![false; momenta.len()];
    done.shifts = vec![Velocity::default(); momenta.len()];
    done
}

fn collide_pair(
    state: &mut Evolution<'_>,
    pair: (u32, u32),
    levers: Levers,
    query: &mut StrengthQuery<'_>,
    done: &mut Collisions,
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
        let (at, poses) = (state.body_points(pair, &contact), state.predicted(pair));
        let exchanged = PairImpulse {
            normal: contact.normal,
            impulse: impulse.j,
            approach: -contact.normal.dot(&contact.u),
            restitution,
        };
        let bodies = [pair.0, pair.1];
        let collision = Collision::new(bodies, ImpactState { at, time: 0.0, poses }, exchanged);
        if let Some(share) = query.share(&collision) {
            done.breaking.push(collision);
            done.exchanged.push(collision.scaled(share));
            state.apply(pair, &impulse.times(share));
            return true;
        }
        done.exchanged.push(collision);
        state.apply(pair, &impulse);
    }
    true
}
