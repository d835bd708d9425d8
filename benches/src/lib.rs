//! Common parts of benchmarks and comparisons with other libraries.

pub mod beam;
pub mod event;
pub mod pile;
pub mod table;
mod timing;

pub use timing::{ratio, timed};

// shares the meshes of the tests without the dependencies of the tests
#[path = "../../crates/tetfem/src/tet_boxes.rs"]
pub mod tet_boxes;
