//! Why a quadratic program has no solution.

use thiserror::Error;

/// Why a program has no solution.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ProgramError {
    /// The matrix is not square or not of the size of the vector.
    #[error("the matrix is {rows} by {columns} and the vector {length} long: all must be the same")]
    Size {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
        /// Length of the vector.
        length: usize,
    },
    /// A number is not finite.
    #[error("a number of the quadratic program is not finite: check the contacts it was made from")]
    NotFinite,
    /// The conditions contradict each other, as for a body held between two walls that approach.
    #[error("no forces meet all conditions ({status}): remove one of the contacts or joints")]
    NoSolution {
        /// Final status of the interior-point method.
        status: String,
    },
    /// There is no interior-point method on this platform.
    #[error("a browser's module has no quadratic programs: use another solver")]
    Missing,
    /// The factorization exceeds its work limit.
    #[error(
        "the quadratic program of {rows} contacts and joints takes too much work: use another \
         solver, or fewer contacts"
    )]
    Limited {
        /// Rows of the program.
        rows: usize,
    },
}
