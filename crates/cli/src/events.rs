//! Fracture event files: a header line about the run, then one JSON line per event.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use sim::Event;
use thiserror::Error;

/// The header line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: String,
    version: u32,
    /// Seed of the run.
    seed: u64,
    /// Fingerprint of the world before its first frame, in hexadecimal digits.
    fingerprint: String,
}

const FORMAT: &str = "brisance events";
const VERSION: u32 = 1;

/// The fractures of a run, and its world.
#[derive(Debug, PartialEq)]
pub struct Events {
    /// Seed of the run.
    pub seed: u64,
    /// [`sim::World::fingerprint`] before the first frame.
    pub fingerprint: u64,
    /// The fractures in chronological order.
    pub events: Vec<Event>,
}

/// Why an event file is invalid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EventsError {
    /// A line is invalid.
    #[error("line {line} is not a valid {what} ({problem}): give a file that --events wrote")]
    Line {
        /// Line, counted from 1.
        line: usize,
        /// The expected content.
        what: &'static str,
        /// The problem.
        problem: String,
    },
    /// The file has a different version.
    #[error("is of version {0} of `{FORMAT}`, but this program reads version {VERSION}")]
    Version(u32),
}

impl Events {
    /// Writes the lines.
    ///
    /// # Errors
    /// If writing fails.
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

    /// Reads a file of [`Events::write`].
    ///
    /// # Errors
    /// [`EventsError`] with the first invalid line.
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
                let problem = "its numbers cannot be those of an impact";
                event.is_usable().then_some(event).ok_or_else(|| problem.to_owned())
            });
            usable.map_err(|problem| EventsError::Line { line: n + 2, what: "event", problem })
        };
        let events = lines.enumerate().map(event).collect::<Result<_, _>>()?;
        Ok(Self { seed: head.seed, fingerprint, events })
    }
}
