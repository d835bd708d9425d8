//! What benchmarks and programs beside other libraries share.

pub mod pile;
