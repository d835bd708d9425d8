//! Exceptions.

use std::io::ErrorKind;
use std::path::Path;

use brisance::commands::Failure;
use brisance::mesh_file::MeshFileError;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyPermissionError, PyValueError};

create_exception!(
    brisance,
    BrisanceError,
    PyValueError,
    "What brisance refuses, and what to do about it; a `ValueError`."
);

/// A `BrisanceError` with the message of an error.
pub(crate) fn brisance_error(error: impl std::fmt::Display) -> PyErr {
    BrisanceError::new_err(error.to_string())
}

/// The exception for a file that cannot be read or written.
pub(crate) fn file_error(path: &Path, source: &std::io::Error) -> PyErr {
    if source.kind() == ErrorKind::InvalidData {
        return BrisanceError::new_err(format!("{}: is not UTF-8 text", path.display()));
    }
    os_error(source.kind(), format!("{}: {source}", path.display()))
}

/// The `OSError` of a kind.
fn os_error(kind: ErrorKind, message: String) -> PyErr {
    match kind {
        ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
        ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
        _ => PyOSError::new_err(message),
    }
}

/// The exception for a failure of the program: an `OSError` if a file cannot be read or written.
pub(crate) fn failure_error(failure: &Failure) -> PyErr {
    let message = failure.to_string();
    match failure {
        Failure::Read { path, source } => file_error(path, source),
        Failure::Mesh { source: MeshFileError::Read(source), .. } => {
            os_error(source.kind(), message)
        }
        Failure::Write { .. } => PyOSError::new_err(message),
        _ => BrisanceError::new_err(message),
    }
}
