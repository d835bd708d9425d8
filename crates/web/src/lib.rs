//! The playground of brisance in a browser. A [`Play`] runs a scene and executes the commands of a
//! visitor; `abi` is its C ABI for JavaScript.
//!
//! Its [`visit::Setup`] and its commands determine a run to the bit: a link that holds both replays
//! it.

pub mod abi;
mod output;
mod play;
mod scenes;

pub use play::{Play, PlayError};
pub use scenes::{SCENES, Sample, file, own_scene};
pub use visit;
