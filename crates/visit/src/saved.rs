//! Saved runs of visitors.

use serde::Deserialize;
use sim::World;
use thiserror::Error;

use crate::command::{Command, CommandError, MAX_COMMANDS, MAX_FRAME};
use crate::setup::Setup;

const FORMAT: &str = "brisance play";
const VERSION: u32 = 1;

/// The file that *Save events* of the page writes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedRun {
    format: String,
    version: u32,
    /// Name of the scene.
    pub name: String,
    /// Frames of the run.
    pub frames: usize,
    /// Frames per second.
    pub fps: f64,
    /// [`sim::World::motion_hash`] after the last frame, in hexadecimal digits.
    pub fingerprint: String,
    /// Initial setup.
    pub setup: Setup,
    /// Commands in order.
    pub events: Vec<ScheduledCommand>,
}

/// A command and its frame.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct ScheduledCommand {
    /// Number of frames before the command.
    pub frame: usize,
    /// The command.
    #[serde(flatten)]
    pub command: Command,
}

/// Why a file is not a valid run.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SavedError {
    /// The file has another format.
    #[error("its format is {0:?}: give a file that the playground saved")]
    Format(String),
    /// The file has another version.
    #[error("is of version {0} of `{FORMAT}`, but this program reads version {VERSION}")]
    Version(u32),
    /// A command cannot be executed.
    #[error("event {event}: {problem}")]
    Command {
        /// Number of the command, from 1.
        event: usize,
        /// The problem.
        problem: CommandError,
    },
    /// Events are not in ascending order of frames.
    #[error("event {0} has an earlier frame than the previous event")]
    Order(usize),
}

impl SavedRun {
    /// Checks that the run can be replayed.
    ///
    /// # Errors
    /// [`SavedError`] with the first problem.
    pub fn check(&self) -> Result<(), SavedError> {
        if self.format != FORMAT {
            return Err(SavedError::Format(self.format.clone()));
        }
        if self.version != VERSION {
            return Err(SavedError::Version(self.version));
        }
        for (n, ScheduledCommand { frame, command }) in self.events.iter().enumerate() {
            let fits = if n >= MAX_COMMANDS { Err(CommandError::TooMany) } else { command.check() };
            let in_range = || if *frame > MAX_FRAME { Err(CommandError::Range) } else { Ok(()) };
            fits.and_then(|()| in_range())
                .map_err(|problem| SavedError::Command { event: n + 1, problem })?;
        }
        match self.events.windows(2).position(|pair| pair[0].frame > pair[1].frame) {
            Some(n) => Err(SavedError::Order(n + 2)),
            None => Ok(()),
        }
    }

    /// Whether the state of a world equals the final state in the playground.
    pub fn ends_as(&self, world: &World) -> bool {
        u64::from_str_radix(&self.fingerprint, 16) == Ok(world.motion_hash())
    }
}
