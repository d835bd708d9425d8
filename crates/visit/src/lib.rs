//! What a visitor of the playground does to a scene: the [`Setup`] that it starts with, and [`Command`]s between its
//! frames, which a [`Visit`] carries out. Both decide a run, bit by bit, in a browser and natively.

mod command;
mod grab;
mod saved;
mod setup;
mod visit;

pub use command::{Command, CommandError, MAX_COMMANDS};
pub use saved::{SavedError, SavedRun, When};
pub use setup::{Model, Setup, SetupError, volumes};
// users can name the types of this API without further dependencies
pub use sim;
pub use visit::{Visit, VisitError};

/// The Rust in the README runs as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
