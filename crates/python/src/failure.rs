//! Exceptions.

use brisance::commands::Failure;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};

create_exception!(
    brisance,
    BrisanceError,
    PyValueError,
    "What brisance refuses, and what to do about it; a `ValueError`."
);

/// A `BrisanceError` with the message of an error.
pub(crate) fn refused(error: impl std::fmt::Display) -> PyErr {
    BrisanceError::new_err(error.to_string())
}

/// The exception for a failure of the program: an `OSError` where a file cannot be read or written.
pub(crate) fn failed(failure: &Failure) -> PyErr {
    let message = failure.to_string();
    match failure {
        Failure::Read { source, .. } => {
            let kind = source.kind();
            if kind == std::io::ErrorKind::NotFound {
                return pyo3::exceptions::PyFileNotFoundError::new_err(message);
            }
            PyOSError::new_err(message)
        }
        Failure::Write { .. } => PyOSError::new_err(message),
        _ => BrisanceError::new_err(message),
    }
}
