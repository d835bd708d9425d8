//! A choice of solvers for symmetric positive definite systems.

use nalgebra::Vector3;

use crate::cholesky::Cholesky;
use crate::conjugate_gradient::{self, Preconditioner, Preconditioning, norm};
use crate::{BlockMatrix, SolveError};

/// Solver of linear systems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinearSolver {
    /// Sparse Cholesky: the fastest below about 20,000 tetrahedra, and its factor serves further
    /// loads without cost.
    Cholesky,
    /// Conjugate gradients, which need little memory.
    ConjugateGradient {
        /// Their preconditioner.
        preconditioner: Preconditioner,
        /// Target residual, relative to the right-hand side.
        tolerance: f64,
        /// Maximum number of iterations.
        max_iterations: usize,
    },
}

/// A matrix prepared for solving.
pub struct Solver {
    matrix: BlockMatrix,
    /// An upper bound of the Euclidean norm of the matrix.
    norm: f64,
    method: Method,
}

enum Method {
    Cholesky(Box<Cholesky>),
    ConjugateGradient { preconditioning: Preconditioning, tolerance: f64, max_iterations: usize },
}

/// Residual above which a direct solution is rejected: for matrices that are not numerically
/// singular, rounding leaves less than 1e-9.
const SINGULAR: f64 = 1e-6;

/// Bound of the residual by rounding, relative to the norms of the matrix and the solution:
/// Cholesky's backward error (Higham 2002, theorem 10.4) is a few units in the last place. The
/// residual is computed only for a solution that may exceed [`SINGULAR`] by this bound.
const ROUNDING: f64 = 100.0 * f64::EPSILON;

impl Solver {
    /// Factors the matrix or builds its preconditioner.
    ///
    /// # Errors
    /// [`SolveError`] if the matrix is not positive definite or too large.
    pub fn new(matrix: BlockMatrix, choice: LinearSolver) -> Result<Self, SolveError> {
        let method = match choice {
            LinearSolver::Cholesky => Method::Cholesky(Box::new(Cholesky::new(&matrix)?)),
            LinearSolver::ConjugateGradient { preconditioner, tolerance, max_iterations } => {
                let preconditioning = Preconditioning::new(preconditioner, &matrix)?;
                Method::ConjugateGradient { preconditioning, tolerance, max_iterations }
            }
        };
        Ok(Self { norm: matrix.norm(), matrix, method })
    }

    /// Replaces the matrix by another with the same pattern, reusing the ordering.
    ///
    /// # Errors
    /// As [`Solver::new`]. The solver is then undefined until the next successful call.
    pub fn replace(&mut self, matrix: BlockMatrix) -> Result<(), SolveError> {
        match &mut self.method {
            Method::Cholesky(factor) if same_pattern(&self.matrix, &matrix) => {
                factor.refactor(&matrix)?;
            }
            Method::Cholesky(factor) => **factor = Cholesky::new(&matrix)?,
            Method::ConjugateGradient { preconditioning, .. } => {
                let kind = match preconditioning {
                    Preconditioning::Jacobi(_) => Preconditioner::BlockJacobi,
                    Preconditioning::Incomplete(_) => Preconditioner::IncompleteCholesky,
                };
                *preconditioning = Preconditioning::new(kind, &matrix)?;
            }
        }
        (self.norm, self.matrix) = (matrix.norm(), matrix);
        Ok(())
    }

    /// Solves for one right-hand side, a vector per node.
    ///
    /// # Errors
    /// [`SolveError`] if a number is not finite, the matrix proves singular or the iterations do
    /// not converge.
    pub fn solve(&self, right: &[Vector3<f64>]) -> Result<Vec<Vector3<f64>>, SolveError> {
        let size = norm(right);
        if !size.is_finite() {
            return Err(SolveError::NotFinite);
        }
        let solution = match &self.method {
            Method::Cholesky(factor) => factor.solve(right),
            Method::ConjugateGradient { preconditioning, tolerance, max_iterations } => {
                conjugate_gradient::solve(
                    &self.matrix,
                    preconditioning,
                    right,
                    *tolerance,
                    *max_iterations,
                )?
            }
        };
        let rounding = ROUNDING * self.norm * norm(&solution);
        if matches!(self.method, Method::Cholesky(_)) && rounding <= SINGULAR * size {
            return Ok(solution);
        }
        let mut rest = self.matrix.multiply(&solution);
        rest.iter_mut().zip(right).for_each(|(y, b)| *y -= b);
        let residual = norm(&rest) / size;
        if size > 0.0 && (residual.is_nan() || residual > SINGULAR) {
            return Err(SolveError::NotConverged { iterations: 0, residual });
        }
        Ok(solution)
    }
}

/// Whether the nonzero blocks are the same, so that the symbolic factorization can be reused.
fn same_pattern(a: &BlockMatrix, b: &BlockMatrix) -> bool {
    let zero = |block: &nalgebra::Matrix3<f64>| block.iter().all(|x| *x == 0.0);
    a.starts == b.starts
        && a.columns == b.columns
        && a.blocks.iter().zip(&b.blocks).all(|(a, b)| zero(a) == zero(b))
}
