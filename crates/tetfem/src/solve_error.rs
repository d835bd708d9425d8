//! Errors of linear solves.

use thiserror::Error;

/// Why a linear system was not solved.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SolveError {
    /// The body can move or deform without resistance, or its tangent is indefinite.
    #[error(
        "the matrix is not positive definite: constrain all six rigid motions of every piece of the body"
    )]
    NotPositiveDefinite,
    /// A right-hand side or a contact is NaN or infinite.
    #[error("a force or its position is not a finite number")]
    NotFinite,
    /// The residual is too large.
    #[error(
        "residual {residual:.1e} after {iterations} iterations: support every piece of the body, \
         allow more iterations or use Cholesky"
    )]
    NotConverged {
        /// Number of iterations; 0 for a direct solver.
        iterations: usize,
        /// Residual relative to the right-hand side.
        residual: f64,
    },
    /// The factor exceeds memory or its index range.
    #[error("the matrix is too large to factor: use conjugate gradients")]
    TooLarge,
}
