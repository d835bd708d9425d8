//! The figures of the solvers.

use std::path::Path;

use crate::{Outcome, cargo};

/// Runs every solver on the same scenes and writes a table and plots into `folder`.
pub(crate) fn draw(folder: &Path) -> Outcome {
    let program = ["run", "--release", "--package", "brisance-sim", "--example", "solvers"];
    cargo(&[&program[..], &["--", &folder.to_string_lossy()]].concat())
}
