//! Checkpoints: all that a run needs to go on, in one file that is whole or not there.
//!
//! A first line names format and version; then come the [`Checkpoint`] in the format of `postcard`
//! and, in four bytes, the CRC-32 of all before.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sim::{BodyId, Event, ImpactLoad, RecordingState, WorldState};
use thiserror::Error;

use crate::ledger::Ledger;
use crate::output::write_whole;

/// The first line, which ends with the version of the format.
const MAGIC: &[u8] = b"brisance checkpoint 11\n";

/// A run after a frame.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// CRC-32 of the files and options that the run is of.
    pub inputs: u32,
    /// Frames simulated.
    pub frame: usize,
    /// What broke.
    pub events: Vec<Event>,
    /// The bodies.
    pub world: WorldState,
    /// Where they were.
    pub recording: RecordingState,
    /// Their energy.
    pub ledger: Ledger,
    /// Times that a body held because there was no room for its pieces.
    pub over_budget: usize,
    /// Bodies that were stopped.
    pub stopped: usize,
    /// Frames in which the quadratic programme reached its limit of work.
    pub solver_limited: usize,
    /// The hardest blow to each body, and the bodies that broke.
    pub impacts: (Vec<ImpactLoad>, Vec<BodyId>),
}

/// Why a file is no checkpoint that can be gone on from.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// It is another file.
    #[error("is no checkpoint of this version: give one that `brisance run` of this version wrote")]
    Format,
    /// It is not what was written.
    #[error("is damaged: use an earlier checkpoint, or run from the start")]
    Damaged,
}

/// Writes on, and sums up what it writes.
struct Summed<W> {
    out: W,
    sum: crc32fast::Hasher,
}

impl<W: Write> Write for Summed<W> {
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
    /// Writes it to `path`: whole, or the file stays as it was.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        write_whole(path, |out| {
            let mut summed = Summed { out, sum: crc32fast::Hasher::new() };
            summed.write_all(MAGIC)?;
            postcard::to_io(self, &mut summed).map_err(io::Error::other)?;
            let Summed { out, sum } = summed;
            out.write_all(&sum.finalize().to_le_bytes())
        })
    }

    /// Reads what [`Checkpoint::write`] wrote.
    ///
    /// # Errors
    /// [`CheckpointError`] when the bytes are not that.
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
