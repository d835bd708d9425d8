//! Actions of a visitor of the playground on a scene: its initial [`Setup`], and [`Command`]s
//! between frames. A [`Visit`] executes the commands. Both determine a run bit by bit, in a browser
//! and natively.

mod command;
mod grab;
mod saved;
mod setup;
mod visit;

pub use command::{Command, CommandError, MAX_COMMANDS};
pub use saved::{SavedError, SavedRun, ScheduledCommand};
pub use setup::{Model, Setup, SetupError, volumes};
// users can name the types of this API without further dependencies
pub use sim;
pub use visit::{Visit, VisitError};

/// Tests the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
