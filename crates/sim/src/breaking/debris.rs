//! Limits of pieces, and the pieces that exceed them.

use crate::BodyId;
use crate::breaking::crumbs::{CrackedPiece, Crumbs};

/// Limits of the pieces of a world, and the treatment of old ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Debris {
    /// Largest number of bodies with mass, including anchored ones; fractures beyond it do not take
    /// place.
    pub max_bodies: usize,
    /// Largest number of new pieces per frame.
    pub max_new: usize,
    /// Largest memory for the solids of all pieces, in samples of 4 bytes; fractures beyond it do
    /// not take place.
    pub max_samples: usize,
    /// Pieces of less volume than a cube of this edge are merged with a neighbor, m.
    pub min_size: f64,
    /// Criterion of retirement of pieces; `None` for none.
    pub retire: Option<Retire>,
    /// Crumbs of new cracks; `None` for none.
    pub crumbs: Option<Crumbs>,
}

/// Retirement of pieces at rest, which need no further simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retire {
    /// Least time for which a piece has been slow, s.
    pub after: f64,
    /// Speed limit of all its points in that time, m/s.
    pub slower_than: f64,
    /// What happens to it afterwards.
    pub action: RetireAction,
}

/// Treatment of a retired piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetireAction {
    /// It stays as a static body.
    Keep,
    /// It is removed.
    Remove,
    /// It is removed, and a recording shows it shrink; see [`Track::scale`](crate::Track::scale).
    Shrink,
}

impl Default for Debris {
    fn default() -> Self {
        Self {
            max_bodies: usize::MAX,
            max_new: usize::MAX,
            max_samples: usize::MAX,
            min_size: 0.0,
            retire: None,
            crumbs: None,
        }
    }
}

/// New and retired pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct DebrisState {
    /// Number of new pieces in this frame.
    pub(crate) new_pieces: usize,
    /// Pieces to be removed at the end of this frame.
    pub(crate) dust: Vec<BodyId>,
    /// Pieces that shed crumbs at the end of this frame.
    pub(crate) cracked: Vec<CrackedPiece>,
    /// Number of crumbs so far.
    pub(crate) crumb_count: usize,
    /// Mass of retired pieces and of crumbs, kg.
    pub(crate) retired_mass: f64,
}
