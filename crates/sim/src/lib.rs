//! Rigid bodies at one time step per frame that break where they are hit.

mod recording;
pub mod scene;

pub use recording::{Recording, Surface, Track};
