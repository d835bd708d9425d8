//! The components of the program `brisance`, for its tests and for programs that use its formats.

pub mod args;
pub mod checkpoint;
pub mod commands;
pub mod comparison;
pub mod contacts;
pub mod events;
pub mod format;
mod input;
pub mod ledger;
pub mod loads_file;
pub mod mesh_file;
pub mod output;
pub mod picture_file;
pub mod plot;
pub mod progress;
pub mod render;
pub mod spool;
pub mod tet_file;
pub use meshfile::{outline_file, texture};
pub mod viewer;
pub mod volume_file;
mod vtk_xml;
mod wording;

// users can name the types of this API without further dependencies
pub use fracture;
pub use levelset;
pub use meshfile;
pub use nalgebra;
pub use ndarray;
pub use sim;
pub use tetfem;

/// Tests the Rust code in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
