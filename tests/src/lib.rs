//! Common parts of the tests.

pub mod broken_meshes;
pub mod counting;
pub mod properties;
pub mod random_scenes;
pub mod scenes;
pub mod skipped;
pub mod strategies;
#[path = "../../crates/tetfem/src/tet_boxes.rs"]
pub mod tet_boxes;
pub mod vectors;

/// Tests the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
