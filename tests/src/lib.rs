//! What the tests share.

pub mod strategies;
