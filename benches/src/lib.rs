//! What benchmarks and programs beside other libraries share.

pub mod beam;
pub mod event;
pub mod pile;
