//! How a body breaks, and its pieces in turn.

use std::sync::Arc;

use crate::{Bonds, CenteredPattern, FractureModel, Level, NextPattern, Strength};

/// How a body breaks.
#[derive(Clone, Debug)]
pub struct Breakage {
    /// The model that divides it.
    pub model: FractureModel,
    /// The blows that break it.
    pub strength: Strength,
    /// How many times it and its pieces may break in turn; 0 never.
    pub generations: u32,
    /// Pieces of a smaller share of the volume that breaks go to the neighbor they share most with.
    pub min_share: f64,
    /// So do pieces of less volume than a cube of this edge, m.
    pub least_size: f64,
    /// Bonds between its pieces; none unless given.
    pub bonds: Option<Bonds>,
}

impl Breakage {
    /// How a piece by itself breaks: one generation less. Pieces that stay together are still the body
    /// and break as it does.
    ///
    /// The strength of a piece by its material follows from its own shape. A fixed impulse doubles with
    /// each generation, which is a choice and no law of materials.
    pub(super) fn inherited(&self, is_joined: bool) -> Self {
        if is_joined {
            return self.clone();
        }
        let strength = match self.strength {
            Strength::Impulse(impulse) => Strength::Impulse(2.0 * impulse),
            Strength::Material => Strength::Material,
        };
        Self { strength, generations: self.generations - 1, ..self.clone() }
    }

    /// How a cluster breaks if its level leaves it whole; `None` if there is no finer level.
    pub(super) fn next_level(&self) -> Option<Self> {
        let FractureModel::Fixed(fixed) = &self.model else { return None };
        let is_level = matches!(fixed.then, Some(NextPattern::Level(_)));
        self.next().filter(|_| is_level && self.generations > 1)
    }

    /// How a piece breaks that a fixed pattern divides no further, if it does: as its level says, or by a pattern of
    /// its own without bonds.
    pub(super) fn next(&self) -> Option<Self> {
        let FractureModel::Fixed(fixed) = &self.model else { return None };
        let inherited = self.inherited(false);
        Some(match fixed.then.clone()? {
            NextPattern::Centered(CenteredPattern { pattern, placement, min_share }) => {
                let model = FractureModel::Prescored(pattern, placement);
                Self { model, min_share, bonds: None, ..inherited }
            }
            NextPattern::Level(level) => {
                let Level { pattern, strength, min_share, bonds } = &*level;
                let model = FractureModel::Fixed(Arc::clone(pattern));
                let (strength, min_share, bonds) = (*strength, *min_share, *bonds);
                Self { model, strength, min_share, bonds, ..inherited }
            }
        })
    }
}
