//! A piece of a solid.

use super::solid::Geometry;

/// A connected piece of a solid, in the same material space.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its solid.
    pub geometry: Geometry,
    /// Its regions of the pattern, ascending: its own, and those of smaller pieces that it
    /// absorbed.
    pub regions: Vec<usize>,
}
