//! Fracture of a lattice of masses held at their distances (Ku07; Smith, Witkin and Baraff 2000).
//!
//! Each tetrahedron of a mesh is a particle at its centroid, and each link between two of them a
//! constraint on their distance with a [strength](Lattice::strengths). A blow is a force on some
//! particles; the [`multipliers`] of the constraints are the forces in the links that keep all
//! distances. Links that carry more than their strength break, others are
//! [weakened](StrikeSettings::damage), and so it goes on until all hold. What hangs together is a piece,
//! and its links are [as weak](Lattice::part) as they were.
//!
//! What the links do depends on [`Neighbors`]. With those of Ku07, across shared faces, a particle
//! has fewer than four: the lattice is a mechanism that folds without stretching a link, so a blow
//! is felt a few tetrahedra deep only and breaks single tetrahedra off. With links between
//! tetrahedra that share an edge it is rigid and breaks into large parts, but its multipliers are
//! not unique, and finding those of least norm takes ten times as long.

mod graph;
mod modifiers;
mod multipliers;
mod pieces;
mod strike;
mod weakening;

pub use graph::{Lattice, LatticeError, Link, Neighbors};
pub use modifiers::{Stencil, Weakness};
pub use multipliers::{Links, Multipliers, multipliers};
pub use pieces::{LatticePieces, Shards, smoothed_crack};
pub use strike::{Strike, StrikeSettings};
pub use weakening::Spread;
