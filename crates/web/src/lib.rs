//! The playground of brisance in a browser: a [`Play`] runs a scene and does what a visitor commands, and `abi` is the
//! C ABI by which JavaScript calls it.
//!
//! Its [`visit::Setup`] and its commands determine a run to the bit: a link that holds both replays it.

pub mod abi;
mod output;
mod play;
mod scenes;

pub use play::{Play, PlayError};
pub use scenes::{SCENES, Sample, file, own_scene};
pub use visit;
