//! A choice of solvers for symmetric positive definite systems.

use nalgebra::Vector3;

use crate::cholesky::Cholesky;
use crate::conjugate_gradient::{self, Preconditioner, Preconditioning, norm};
use crate::{BlockMatrix, SolveError};

/// How linear systems are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinearSolver {
    /// A sparse Cholesky factor: the fastest below some 20,000 tetrahedra, and free to use again
    /// for other loads.
    Cholesky,
    /// Conjugate gradients, which need little memory.
    ConjugateGradient {
        /// Their preconditioner.
        preconditioner: Preconditioner,
        /// Residual to reach, relative to the right side.
        tolerance: f64,
        /// Iterations after which to give up.
        max_iterations: usize,
    },
}

/// A matrix made ready to be solved.
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

/// Residual above which a direct solution is refused: rounding leaves less than 1e-9 of it in
/// matrices that are not singular to working precision.
const SINGULAR: f64 = 1e-6;

/// Bound of the residual by rounding, as a share of the norms of the matrix and the solution: Cholesky's backward error
/// (Higham 2002, theorem 10.4) is some units in the last place. Only a solution that may exceed [`SINGULAR`] by it is
/// multiplied out.
const ROUNDING: f64 = 100.0 * f64::EPSILON;

impl Solver {
    /// Factors or preconditions.
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

    /// Replaces the matrix by another of the same pattern, with the ordering that is there.
    ///
    /// # Errors
    /// As [`Solver::new`]. What the solver solves is undefined until it has another matrix.
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

    /// Solves for one right side, a vector per node.
    ///
    /// # Errors
    /// [`SolveError`] if a number is not finite, the matrix proves singular or the iterations do
    /// not suffice.
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

/// Whether the nonzero blocks are the same, so that the symbolic part of a factor serves both.
fn same_pattern(a: &BlockMatrix, b: &BlockMatrix) -> bool {
    let zero = |block: &nalgebra::Matrix3<f64>| block.iter().all(|x| *x == 0.0);
    a.starts == b.starts
        && a.columns == b.columns
        && a.blocks.iter().zip(&b.blocks).all(|(a, b)| zero(a) == zero(b))
}
