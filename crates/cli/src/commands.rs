//! What the program does.

mod render;

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::args::Command;
use crate::glb::{GlbError, GlbReadError};

/// Why a command failed: one sentence that names the file and says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file cannot be read.
    #[error("{}: cannot be read ({source}): check the path", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The extension of an output names no format.
    #[error("{}: cannot be written in this format: give it a name ending in {known}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The endings that can be written.
        known: &'static str,
    },
    /// The folder of an output does not exist.
    #[error("{}: its folder does not exist: make it first", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// A recording cannot be used.
    #[error("{}: {source}", path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: GlbReadError,
    },
    /// The recording has no such frame.
    #[error("{}: has no frame {frame}: its last one is {}", path.display(), frames - 1)]
    NoFrame {
        /// The file.
        path: PathBuf,
        /// The frame asked for.
        frame: usize,
        /// Frames there are.
        frames: usize,
    },
    /// An output cannot be written.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: GlbError,
    },
}

/// Does what the command line says.
///
/// # Errors
/// [`Failure`] when it cannot; outputs are then as they were before.
pub fn execute(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Render(arguments) => render::render(arguments),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|source| Failure::Read { path: path.to_owned(), source })
}

/// Refuses an output that cannot succeed, before any work is done for it.
fn check_output(path: &Path, known: &'static str) -> Result<(), Failure> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    if extension.is_none_or(|e| !known.ends_with(&e)) {
        return Err(Failure::Format { path: path.to_owned(), known });
    }
    if !crate::output::folder_of(path).is_dir() {
        return Err(Failure::NoFolder { path: path.to_owned() });
    }
    Ok(())
}
