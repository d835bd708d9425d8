//! Reference vectors: independent numbers that the library must reproduce.

mod contact;
mod dynamics;
mod fem;
mod lattice;
mod values;

use std::path::{Path, PathBuf};
use thiserror::Error;

/// One check per file, by the stem of its name. A file without an entry is a failure.
const CHECKS: &[(&str, Check)] = &[
    ("energy_fix", dynamics::energy_fix),
    ("fem_analytic", fem::analytic),
    ("fem_element", fem::element),
    ("fem_static", fem::statics),
    ("fracture_marking", fem::marking),
    ("fragments", dynamics::fragments),
    ("free_rotation", dynamics::free_rotation),
    ("impulse_clamp", contact::impulse_clamp),
    ("lattice", lattice::lattice),
];

/// Compares the library with the text of a file.
type Check = fn(&str) -> Result<Worst, serde_json::Error>;

/// The comparison of a file: the number with the largest ratio of error to tolerance.
#[derive(Clone, Debug)]
pub struct Worst {
    /// The case and number.
    pub what: String,
    /// Its relative error.
    pub error: f64,
    /// The relative tolerance.
    pub tolerance: f64,
    /// Number of comparisons.
    pub compared: usize,
}

impl Worst {
    fn new() -> Self {
        Self { what: "nothing".into(), error: 0.0, tolerance: 0.0, compared: 0 }
    }

    /// Adds a comparison. A NaN error counts as infinite.
    fn compare(&mut self, what: impl Into<String>, error: f64, tolerance: f64) {
        let error = if error.is_nan() { f64::INFINITY } else { error };
        if self.compared == 0 || error / tolerance > self.error / self.tolerance {
            (self.what, self.error, self.tolerance) = (what.into(), error, tolerance);
        }
        self.compared += 1;
    }

    /// Whether there are comparisons and all are within tolerance.
    pub fn passes(&self) -> bool {
        self.compared > 0 && self.error <= self.tolerance
    }
}

/// Why a file could not be compared.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VectorError {
    /// No check has the name of the file.
    #[error("no check has this name; add one to tests/src/vectors.rs")]
    NoCheck,
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// The contents do not have the format of the check.
    #[error("not the format its check expects: {0}")]
    Format(#[from] serde_json::Error),
}

/// Runs every JSON file of `folder`, in order of name.
///
/// # Errors
/// If the folder cannot be listed. Errors of a file are in its own result.
pub fn run(folder: &Path) -> std::io::Result<Vec<(String, Result<Worst, VectorError>)>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|e| e == "json"));
    files.sort();
    Ok(files
        .into_iter()
        .map(|path| {
            let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned());
            let stem = stem.unwrap_or_default();
            let result = run_file(&path, &stem);
            (stem, result)
        })
        .collect())
}

fn run_file(path: &Path, stem: &str) -> Result<Worst, VectorError> {
    let (_, check) = CHECKS.iter().find(|(name, _)| *name == stem).ok_or(VectorError::NoCheck)?;
    Ok(check(&std::fs::read_to_string(path)?)?)
}
