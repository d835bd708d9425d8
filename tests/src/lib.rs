//! What the tests share.

pub mod strategies;
pub mod vectors;
