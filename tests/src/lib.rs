//! What the tests share.

pub mod fem_vectors;
pub mod strategies;
pub mod tet_boxes;
