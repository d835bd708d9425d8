//! The playground of brisance in a browser. A [`Play`] runs a scene and executes the commands of a
//! visitor; `abi` is its C ABI for JavaScript.
//!
//! The [`visit::Setup`] and the commands determine a run bitwise. A link contains both, and so
//! replays the run.

pub mod abi;
mod output;
mod play;
mod scenes;

pub use play::{Play, PlayError};
pub use scenes::{SCENES, Sample, file, own_scene};
pub use visit;
