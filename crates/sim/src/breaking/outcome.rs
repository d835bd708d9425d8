//! Outcomes of hits, and their consequences.

use crate::breaking::breakage::Breakage;
use crate::script::event::HitOutcome;
use crate::{BodyId, Dent, Events, Fracture, World};

/// The outcome of a hit beyond a body's strength.
pub(crate) enum Outcome {
    Broke(Box<Fracture>),
    Dented(Dent),
    /// No pattern divides it.
    Whole,
    /// The bonds between its pieces hold.
    Held,
    /// There is no room for its pieces.
    OverBudget,
}

impl Outcome {
    pub(crate) fn hit_outcome(&self) -> HitOutcome {
        match self {
            Self::Broke(fracture) => HitOutcome::Broke(fracture.fragments.len()),
            Self::Dented(_) => HitOutcome::Dented,
            Self::Whole => HitOutcome::Whole,
            Self::Held => HitOutcome::Held,
            Self::OverBudget => HitOutcome::OverBudget,
        }
    }
}

impl World {
    /// Applies an outcome, and reports it.
    pub(crate) fn settle_outcome(&mut self, body: BodyId, outcome: Outcome, events: &mut Events) {
        match outcome {
            Outcome::Broke(fracture) => {
                self.pass_anchors_on(fracture.parent, &fracture.fragments);
                events.fractures.push(*fracture);
            }
            Outcome::Dented(dent) => {
                self.pass_anchors_on(dent.before, &[dent.after]);
                events.dents.push(dent);
            }
            Outcome::Held => events.held.push(body),
            Outcome::OverBudget => events.over_budget.push(body),
            Outcome::Whole => {
                if let Ok(i) = self.ids.binary_search(&body) {
                    // a level may leave a cluster in one piece
                    self.details[i].breakage =
                        self.details[i].breakage.as_ref().and_then(Breakage::next_level);
                }
            }
        }
    }
}
