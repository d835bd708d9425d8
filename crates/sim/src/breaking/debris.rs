//! Limits on what breaking leaves behind.

/// How many pieces a world may hold, and what happens to old ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Debris {
    /// Most bodies with a mass, anchored ones included; no breaking goes past it.
    pub max_bodies: usize,
    /// Most pieces that come about in one frame.
    pub max_new: usize,
    /// Most memory for the solids of all pieces together, in samples of 4 bytes; no breaking goes past it.
    pub max_samples: usize,
    /// Pieces of less volume than a cube of this edge stay with a neighbor, m.
    pub least_size: f64,
    /// Which pieces are retired; none unless given.
    pub retire: Option<Retire>,
}

/// Pieces that have come to rest and need not be simulated any more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retire {
    /// How long a piece has been slow, s.
    pub after: f64,
    /// The limit of speed of all its points for that time, m/s.
    pub slower_than: f64,
    /// What happens to it then.
    pub then: Retired,
}

/// What happens to a retired piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retired {
    /// It stays as scenery that others rest on.
    Kept,
    /// It is gone.
    Removed,
    /// It is gone, and a recording shows how it shrinks away; see [`Track::scale`](crate::Track::scale).
    Shrunk,
}

impl Default for Debris {
    fn default() -> Self {
        Self {
            max_bodies: usize::MAX,
            max_new: usize::MAX,
            max_samples: usize::MAX,
            least_size: 0.0,
            retire: None,
        }
    }
}
