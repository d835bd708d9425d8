//! Preconditioned conjugate gradients on block rows.

use nalgebra::{Matrix3, Vector3};

use crate::{BlockMatrix, SolveError};

/// Preconditioner of conjugate gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preconditioner {
    /// The inverses of the diagonal blocks.
    BlockJacobi,
    /// An incomplete Cholesky factor with the sparsity of the matrix: a third of the iterations at
    /// twice the cost of each.
    IncompleteCholesky,
}

/// A preconditioner made for a matrix.
pub(crate) enum Preconditioning {
    Jacobi(Vec<Matrix3<f64>>),
    Incomplete(Incomplete),
}

/// `L D L^T` with unit block rows: the blocks of `L` left of the diagonal, and `D^-1`.
pub(crate) struct Incomplete {
    starts: Vec<usize>,
    columns: Vec<u32>,
    lower: Vec<Matrix3<f64>>,
    inverse: Vec<Matrix3<f64>>,
}

impl Preconditioning {
    pub(crate) fn new(kind: Preconditioner, matrix: &BlockMatrix) -> Result<Self, SolveError> {
        match kind {
            Preconditioner::BlockJacobi => {
                let inverse = |row| inverse(matrix.diagonal(row));
                let blocks: Option<_> = (0..matrix.rows()).map(inverse).collect();
                blocks.map(Self::Jacobi).ok_or(SolveError::NotPositiveDefinite)
            }
            Preconditioner::IncompleteCholesky => {
                // dropping entries can destroy positive definiteness, which a shift restores
                let shifts = std::iter::once(0.0).chain((0..8).map(|n| 1e-3 * 4_f64.powi(n)));
                let made = shifts.into_iter().find_map(|shift| Incomplete::new(matrix, shift));
                made.map(Self::Incomplete).ok_or(SolveError::NotPositiveDefinite)
            }
        }
    }

    fn apply(&self, residual: &[Vector3<f64>], out: &mut [Vector3<f64>]) {
        match self {
            Self::Jacobi(inverse) => {
                for ((z, r), block) in out.iter_mut().zip(residual).zip(inverse) {
                    *z = block * r;
                }
            }
            Self::Incomplete(factor) => factor.apply(residual, out),
        }
    }
}

impl Incomplete {
    /// `None` if a pivot is not positive definite; `shift` increases the diagonal by a fraction.
    fn new(matrix: &BlockMatrix, shift: f64) -> Option<Self> {
        let rows = matrix.rows();
        let mut factor = Self {
            starts: vec![0],
            columns: Vec::new(),
            lower: Vec::new(),
            inverse: Vec::with_capacity(rows),
        };
        for row in 0..rows {
            let first = factor.lower.len();
            let mut pivot = matrix.diagonal(row) * (1.0 + shift);
            for (column, block) in matrix.row(row).take_while(|(c, _)| *c < row) {
                // not yet divided by D of the column
                let entry = block - factor.overlap(first, column);
                factor.columns.push(column as u32);
                factor.lower.push(entry);
            }
            for place in first..factor.lower.len() {
                let entry = factor.lower[place];
                let scaled = entry * factor.inverse[factor.columns[place] as usize];
                pivot -= scaled * entry.transpose();
                factor.lower[place] = scaled;
            }
            factor.inverse.push(inverse(&pivot)?);
            factor.starts.push(factor.lower.len());
        }
        Some(factor)
    }

    /// Sum of `L_ij D_j L_kj^T` over the columns that the row begun at `first` (which holds `L D`)
    /// and row `k` share.
    fn overlap(&self, first: usize, k: usize) -> Matrix3<f64> {
        let (mut a, mut b) = (first, self.starts[k]);
        let mut sum = Matrix3::zeros();
        while a < self.columns.len() && b < self.starts[k + 1] {
            match self.columns[a].cmp(&self.columns[b]) {
                std::cmp::Ordering::Less => a += 1,
                std::cmp::Ordering::Greater => b += 1,
                std::cmp::Ordering::Equal => {
                    sum += self.lower[a] * self.lower[b].transpose();
                    (a, b) = (a + 1, b + 1);
                }
            }
        }
        sum
    }

    fn apply(&self, residual: &[Vector3<f64>], out: &mut [Vector3<f64>]) {
        out.copy_from_slice(residual);
        let rows = || self.starts.windows(2).map(|ends| ends[0]..ends[1]);
        for (row, range) in rows().enumerate() {
            let left: Vector3<f64> =
                range.map(|p| self.lower[p] * out[self.columns[p] as usize]).sum();
            out[row] -= left;
        }
        for (z, block) in out.iter_mut().zip(&self.inverse) {
            *z = block * *z;
        }
        for (row, range) in rows().enumerate().rev() {
            let z = out[row];
            for p in range {
                out[self.columns[p] as usize] -= self.lower[p].tr_mul(&z);
            }
        }
    }
}

/// The inverse of a positive definite block.
fn inverse(block: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    block.cholesky().map(|factor| factor.inverse())
}

/// Solves to `|residual| <= tolerance |right|`, within the given number of iterations.
pub(crate) fn solve(
    matrix: &BlockMatrix,
    preconditioning: &Preconditioning,
    right: &[Vector3<f64>],
    tolerance: f64,
    most: usize,
) -> Result<Vec<Vector3<f64>>, SolveError> {
    let n = right.len();
    let mut x = vec![Vector3::zeros(); n];
    let mut residual = right.to_vec();
    let goal = tolerance * norm(right);
    let mut z = x.clone();
    preconditioning.apply(&residual, &mut z);
    let mut direction = z.clone();
    let mut product = x.clone();
    let mut rho = dot(&residual, &z);
    for _ in 0..most {
        if norm(&residual) <= goal {
            return Ok(x);
        }
        matrix.multiply_into(&direction, &mut product);
        let curvature = dot(&direction, &product);
        if curvature.is_nan() || curvature <= 0.0 {
            return Err(SolveError::NotPositiveDefinite);
        }
        let step = rho / curvature;
        for i in 0..n {
            x[i] += direction[i] * step;
            residual[i] -= product[i] * step;
        }
        preconditioning.apply(&residual, &mut z);
        let next = dot(&residual, &z);
        let keep = next / rho;
        rho = next;
        for (d, z) in direction.iter_mut().zip(&z) {
            *d = z + *d * keep;
        }
    }
    if norm(&residual) <= goal {
        return Ok(x);
    }
    Err(SolveError::NotConverged { iterations: most, residual: norm(&residual) / norm(right) })
}

pub(crate) fn dot(a: &[Vector3<f64>], b: &[Vector3<f64>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

pub(crate) fn norm(a: &[Vector3<f64>]) -> f64 {
    dot(a, a).sqrt()
}
