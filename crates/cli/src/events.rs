//! Files of fracture events: a line that names the run, then one line of JSON for each event.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use sim::Event;
use thiserror::Error;

/// The first line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: String,
    version: u32,
    /// Seed of the run.
    seed: u64,
    /// Of the world before its first frame, in hexadecimal digits.
    fingerprint: String,
}

const FORMAT: &str = "brisance events";
const VERSION: u32 = 1;

/// What broke in a run, and of which world.
#[derive(Debug, PartialEq)]
pub struct Events {
    /// Seed of the run.
    pub seed: u64,
    /// [`sim::World::fingerprint`] before the first frame.
    pub fingerprint: u64,
    /// In the order in which they happened.
    pub events: Vec<Event>,
}

/// Why a file holds no events.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EventsError {
    /// A line is not what it should be.
    #[error("line {line} is no {what} ({problem}): give a file that --events wrote")]
    Line {
        /// Line, counted from 1.
        line: usize,
        /// What it should be.
        what: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// It is of another version.
    #[error("is of version {0} of `{FORMAT}`, but this program reads version {VERSION}")]
    Version(u32),
}

impl Events {
    /// Writes the lines.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let head = Head {
            format: FORMAT.to_owned(),
            version: VERSION,
            seed: self.seed,
            fingerprint: format!("{:016x}", self.fingerprint),
        };
        writeln!(out, "{}", serde_json::to_string(&head)?)?;
        self.events.iter().try_for_each(|event| writeln!(out, "{}", serde_json::to_string(event)?))
    }

    /// Reads what [`Events::write`] wrote.
    ///
    /// # Errors
    /// [`EventsError`] with the first line that is not that.
    pub fn read(text: &str) -> Result<Self, EventsError> {
        let mut lines = text.lines();
        let no_head = |problem: String| EventsError::Line { line: 1, what: "head", problem };
        let head: Head = serde_json::from_str(lines.next().unwrap_or_default())
            .map_err(|e| no_head(e.to_string()))?;
        let fingerprint = u64::from_str_radix(&head.fingerprint, 16);
        let fingerprint = fingerprint.map_err(|e| no_head(format!("fingerprint: {e}")))?;
        if head.format != FORMAT {
            return Err(no_head(format!("its format is {:?}", head.format)));
        }
        if head.version != VERSION {
            return Err(EventsError::Version(head.version));
        }
        let event = |(n, line)| {
            let event: Result<Event, _> = serde_json::from_str(line).map_err(|e| e.to_string());
            let usable = event.and_then(|event| {
                let problem = "its numbers cannot be those of a blow";
                event.is_usable().then_some(event).ok_or_else(|| problem.to_owned())
            });
            usable.map_err(|problem| EventsError::Line { line: n + 2, what: "event", problem })
        };
        let events = lines.enumerate().map(event).collect::<Result<_, _>>()?;
        Ok(Self { seed: head.seed, fingerprint, events })
    }
}
