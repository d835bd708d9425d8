//! Actions of a visitor of the playground on a scene. A [`Setup`] is the initial state, and
//! [`Command`]s act between frames; a [`Session`] executes them. A `Setup` and its `Command`s
//! determine a run bitwise, in a browser and natively.

mod command;
mod grab;
mod saved;
mod session;
mod setup;

pub use command::{Command, CommandError, MAX_COMMANDS};
pub use saved::{SavedError, SavedRun, ScheduledCommand};
pub use setup::{Model, Setup, SetupError, volumes};
// users can name the types of this API without further dependencies
pub use session::{Session, SessionError};
pub use sim;

/// Tests the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
