//! Checkpoints: the state to resume a run, in one file that is written atomically.
//!
//! The first line has the format and its version. The [`Checkpoint`] in `postcard` format follows.
//! The last four bytes are the CRC-32 of all bytes before them.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sim::{BodyId, Event, ImpactLoad, RecordingState, WorldState};
use thiserror::Error;

use crate::ledger::Ledger;
use crate::output::write_whole;

/// The first line, which ends with the format version.
const MAGIC: &[u8] = b"brisance checkpoint 15\n";

/// The state of a run after a frame.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// CRC-32 of the files and options of the run.
    pub inputs: u32,
    /// Number of simulated frames.
    pub frame: usize,
    /// Fracture events.
    pub events: Vec<Event>,
    /// State of the bodies.
    pub world: WorldState,
    /// Recorded trajectories.
    pub recording: RecordingState,
    /// Energy ledger.
    pub ledger: Ledger,
    /// Number of fractures that the limits of `[debris]` prevented.
    pub over_budget: usize,
    /// Events of the scene without an effect, by index.
    pub idle_events: Vec<usize>,
    /// Number of bodies stopped because their state was not finite.
    pub stopped: usize,
    /// Frames in which the quadratic program reached its work limit.
    pub solver_limited: usize,
    /// Impacts so far.
    pub impacts: ImpactState,
}

/// The impacts of a run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ImpactState {
    /// The hardest impact on each body, relative to its strength.
    pub hardest: Vec<ImpactLoad>,
    /// Bodies that broke.
    pub broken: Vec<BodyId>,
}

/// Why a file is not a usable checkpoint.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file is of another kind or version.
    #[error(
        "is not a checkpoint of this version: give one that `brisance run` of this version wrote"
    )]
    Format,
    /// The file is damaged.
    #[error("is damaged: use an earlier checkpoint, or run from the start")]
    Damaged,
}

/// A writer that computes a checksum of the written bytes.
struct ChecksumWriter<W> {
    out: W,
    sum: crc32fast::Hasher,
}

impl<W: Write> Write for ChecksumWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Checkpoint {
    /// Writes the checkpoint to `path` atomically: on failure the file is unchanged.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        write_whole(path, |out| {
            let mut summed = ChecksumWriter { out, sum: crc32fast::Hasher::new() };
            summed.write_all(MAGIC)?;
            postcard::to_io(self, &mut summed).map_err(io::Error::other)?;
            let ChecksumWriter { out, sum } = summed;
            out.write_all(&sum.finalize().to_le_bytes())
        })
    }

    /// Reads a file of [`Checkpoint::write`].
    ///
    /// # Errors
    /// [`CheckpointError`] if the bytes are not such a file.
    pub fn read(bytes: &[u8]) -> Result<Self, CheckpointError> {
        if !bytes.starts_with(MAGIC) {
            return Err(CheckpointError::Format);
        }
        let (data, sum) = bytes.split_last_chunk().ok_or(CheckpointError::Damaged)?;
        if crc32fast::hash(data) != u32::from_le_bytes(*sum) {
            return Err(CheckpointError::Damaged);
        }
        let body = data.get(MAGIC.len()..).unwrap_or_default();
        postcard::from_bytes(body).map_err(|_| CheckpointError::Damaged)
    }
}
