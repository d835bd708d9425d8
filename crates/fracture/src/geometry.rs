//! Solids of breakable bodies: exact surfaces where they are known, else samples.

mod cuts;
mod divide;
mod exact;
mod piece;
mod pieces;
mod samples;
mod solid;
mod sweep;

pub use piece::Piece;
pub use pieces::Pieces;
pub use solid::Geometry;
