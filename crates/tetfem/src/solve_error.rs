//! Why linear systems are not solved.

use thiserror::Error;

/// Why a linear system was not solved.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SolveError {
    /// The body can move or bend without resistance, or its tangent is indefinite.
    #[error("the matrix is not positive definite: support every piece of the body in six ways")]
    NotPositiveDefinite,
    /// A right side or a contact is NaN or infinite.
    #[error("a force or its place is not a finite number")]
    NotFinite,
    /// The solution leaves a residual.
    #[error(
        "residual {residual:.1e} after {iterations} iterations: support every piece of the body, \
         allow more iterations or use Cholesky"
    )]
    NotConverged {
        /// Iterations done; 0 for a direct solver.
        iterations: usize,
        /// Residual relative to the right side.
        residual: f64,
    },
    /// The factor does not fit into memory or its numbering.
    #[error("the matrix is too large to factor: use conjugate gradients")]
    TooLarge,
}
