//! Finite elements on tetrahedra for stress at impact (Mu01).
//!
//! A body under impact is at rest except for its rigid motion: its stress follows from one static
//! solve ([`Structure::respond`]), with supports or free. Where tension exceeds the strength it
//! cracks ([`shatter`]); where the von Mises stress exceeds the yield stress it keeps a [`Dent`].
//! Displaced supports and large strains require [`linear_equilibrium`] and [`newton_equilibrium`].
//!
//! Displacements, forces and stresses are in the material frame of the mesh, in m, N and Pa, one
//! vector per node or one symmetric matrix per tetrahedron; tension is positive.
//!
//! A mesh has vertices and tetrahedra of positive volume, as [`levelset::TetMesh`] describes. A column of one square
//! meter and two meters height, pressed on its top:
//!
//! ```
//! use brisance_tetfem::levelset::TetMesh;
//! use brisance_tetfem::nalgebra::Point3;
//! use brisance_tetfem::{Interpolation, LinearSolver, Load, Material, Structure};
//!
//! // cubes of six tetrahedra around a diagonal, one above the other
//! let corners = (0..12).map(|n| Point3::new((n & 1) as f64, (n >> 2) as f64, (n >> 1 & 1) as f64));
//! let edges = [[1, 5], [5, 4], [4, 6], [6, 2], [2, 3], [3, 1]];
//! let cube = |first: u32| edges.map(|[a, b]| [first, first + a, first + b, first + 7]);
//! let mesh = TetMesh { vertices: corners.collect(), tets: [cube(0), cube(4)].concat() };
//!
//! let fixed = mesh.vertices.iter().map(|p| p.y == 0.0).collect();
//! let is_top = |face: &[u32; 3]| face.iter().all(|&v| mesh.vertices[v as usize].y == 2.0);
//! let pressures: Vec<f64> =
//!     mesh.boundary_faces().iter().map(|face| if is_top(face) { 1e6 } else { 0.0 }).collect();
//! let cork = Material::from_young(2e7, 0.0)?;
//! let (interpolation, solver) = (Interpolation::Linear, LinearSolver::Cholesky);
//! let column = Structure::supported(mesh, fixed, cork, interpolation, solver)?;
//! let response = column.respond(&Load { pressures: &pressures, ..Load::default() })?;
//! for (p, u) in column.mesh().vertices.iter().zip(&response.displacements) {
//!     assert!((u.y + p.y * 1e6 / 2e7).abs() < 1e-9, "strain: stress over Young's modulus");
//! }
//! assert!(response.stresses.iter().all(|stress| (stress[(1, 1)] + 1e6).abs() < 1e-3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
#[allow(unreachable_pub, reason = "shared with examples and tests by `#[path]`")]
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
