//! How a body and its pieces break.

use std::sync::Arc;

use crate::{Bonds, CenteredPattern, FractureModel, Level, NextPattern, Strength};

/// How a body breaks.
#[derive(Clone, Debug)]
pub struct Breakage {
    /// The fracture model.
    pub model: FractureModel,
    /// The strength under impacts.
    pub strength: Strength,
    /// Limit of successive fractures of it and its pieces; 0 for an unbreakable body.
    pub generations: u32,
    /// Pieces with a smaller share of the parent's volume are merged with the neighbor they share
    /// most area with.
    pub min_share: f64,
    /// Pieces of less volume than a cube of this edge, m, are merged likewise.
    pub min_size: f64,
    /// Bonds between its pieces; `None` for none.
    pub bonds: Option<Bonds>,
}

impl Breakage {
    /// The breakage of a separate piece: one generation less. Pieces that stay together are still
    /// the body and break like it.
    ///
    /// The strength of a piece by its material follows from its own shape. A fixed impulse doubles
    /// with each generation, which is a choice, not a material law.
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

    /// The breakage of a cluster that its level leaves whole; `None` if there is no finer level.
    pub(super) fn next_level(&self) -> Option<Self> {
        let FractureModel::Fixed(fixed) = &self.model else { return None };
        let is_level = matches!(fixed.then, Some(NextPattern::Level(_)));
        self.next().filter(|_| is_level && self.generations > 1)
    }

    /// The breakage of a piece that a fixed pattern does not divide further, if it can break: by
    /// its level, or by a pattern of its own without bonds.
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
