//! What benchmarks and programs beside other libraries share.

pub mod beam;
pub mod event;
pub mod pile;
pub mod table;
mod timing;

pub use timing::{ratio, timed};

// the boxes of the tests, without all that the tests depend on
#[path = "../../crates/tetfem/src/tet_boxes.rs"]
pub mod tet_boxes;
