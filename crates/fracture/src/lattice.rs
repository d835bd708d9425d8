//! Fracture of a lattice of masses held at their distances (Ku07; Smith, Witkin and Baraff 2000).
//!
//! Each tetrahedron of a mesh is a particle at its centroid, and each link between two of them a
//! constraint on their distance with a [strength](Lattice::strengths). An impact is a force on some
//! particles; the [`multipliers`] of the constraints are the forces in the links that keep all
//! distances. Overloaded links break, others are [weakened](LatticeImpactSettings::damage), until
//! all hold. Each connected component is a piece, and its links keep their [remaining
//! strength](Lattice::part).
//!
//! The behavior depends on [`Neighbors`]. With links across shared faces, as in Ku07, a particle
//! has fewer than four: the lattice is a mechanism that folds without stretching a link, so that an
//! impact reaches only a few tetrahedra deep and breaks single tetrahedra off. With links between
//! tetrahedra that share an edge it is rigid and breaks into large parts, but its multipliers are
//! not unique, and finding those of least norm takes ten times as long.

mod graph;
mod impact;
mod modifiers;
mod multipliers;
mod pieces;
mod weakening;

pub use graph::{Lattice, LatticeError, Link, Neighbors};
pub use impact::{LatticeImpact, LatticeImpactSettings};
pub use modifiers::{Stencil, Weakness};
pub use multipliers::{Links, Multipliers, SolverLimits, multipliers};
pub use pieces::{LatticePieces, Shards, smoothed_crack};
pub use weakening::Spread;
