//! The playground of brisance in a browser: a [`Play`] runs a scene and does what a visitor commands, and `abi` is the
//! C ABI by which JavaScript calls it.
//!
//! A run is decided by its [`visit::Setup`] and its commands, bit by bit: a link that holds both replays it.

pub mod abi;
mod output;
mod play;
mod scenes;

pub use play::{Play, PlayError};
pub use scenes::{SCENES, Sample, file, own_scene};
pub use visit;
