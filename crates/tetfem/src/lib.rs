//! Finite elements on tetrahedra for stress at impact (Mu01).
//!
//! A body under impact is at rest except for its rigid motion: its stress follows from one static
//! solve ([`Structure::respond`]), with supports or free. Where tension exceeds the strength it
//! cracks ([`shatter`]); where the von Mises stress exceeds the yield stress it keeps a [`Dent`].
//! Displaced supports and large strains require [`linear_equilibrium`] and [`newton_equilibrium`].
//!
//! Displacements, forces and stresses are in the material frame of the mesh, in m, N and Pa, one
//! vector per node or one symmetric matrix per tetrahedron; tension is positive.

// a browser has one thread
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
extern crate serial as rayon;

mod average;
mod block_matrix;
mod cholesky;
mod conjugate_gradient;
mod contact;
mod crack;
mod cut;
mod dent;
mod dissection;
mod element;
mod equilibrium;
mod material;
mod model;
mod panel;
mod parallel;
mod pattern;
mod plastic;
mod quadratic;
mod separate;
mod shatter;
mod solve_error;
mod solver;
mod structure;
#[cfg(test)]
#[allow(unreachable_pub, reason = "public where it is at home")]
mod tet_boxes;
mod write;

// users can name the types of this API without further dependencies
pub use levelset;
pub use nalgebra;

pub use average::{Averaging, average_stresses};
pub use block_matrix::BlockMatrix;
pub use conjugate_gradient::Preconditioner;
pub use contact::{Contact, Load};
pub use crack::{Crack, max_principal};
pub use cut::{CutLimits, CutMesh};
pub use dent::{Dent, PlasticFlow};
pub use element::{Element, green_strain};
pub use equilibrium::{
    Equilibrium, EquilibriumError, Newton, Support, far_vertices, linear_equilibrium,
    newton_equilibrium,
};
pub use material::{Material, MaterialError};
pub use model::Model;
pub use plastic::{PlasticState, Yielding};
pub use separate::{Separated, pieces, separate};
pub use shatter::{BoundaryConditions, Fracture, Piece, Shattered, shatter};
pub use solve_error::SolveError;
pub use solver::{LinearSolver, Solver};
pub use structure::{Interpolation, Response, Structure, StructureError, is_restrained};
pub use write::{Fields, write_msh, write_vtu};

/// Tests the Rust code in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
