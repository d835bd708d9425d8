//! Contact forces as a quadratic program (Ku07 eq. 4), by an interior-point method.

use nalgebra::{DMatrix, DVector};

use super::interior_point::solve;
use super::mlcp::Mlcp;
use super::program_error::ProgramError;
use super::row::{Bounds, Row};

/// Limit of estimated multiply-adds per factorization. Each iteration factors once, so that all of
/// them take seconds at most.
const MAX_WORK: f64 = 5e7;

/// The forces `f >= 0`, N, that minimize `f^T (A f + b)` such that no relative acceleration
/// `A f + b` is negative (Ku07 eq. 4). `a` is `J M^-1 J^T`, symmetric and positive semidefinite,
/// 1/kg; `b` the accelerations without contact forces, m/s^2.
///
/// For such a matrix the minimum is zero, and the same forces minimize `f^T A f / 2 + f^T b` over
/// `f >= 0`, whose multipliers are the accelerations. This solves that program, which has half the
/// constraints. If forces are not unique, as with four legs, the interior-point method converges to
/// the analytic center of the solutions.
/// # Errors
/// [`ProgramError`] for mismatched sizes, numbers that are not finite, and contradictions.
pub fn contact_forces(a: &DMatrix<f64>, b: &DVector<f64>) -> Result<DVector<f64>, ProgramError> {
    let size = b.len();
    if a.shape() != (size, size) {
        return Err(ProgramError::Size { rows: a.nrows(), columns: a.ncols(), length: size });
    }
    let triplets = (0..size).flat_map(|j| (0..=j).map(move |i| (i, j)));
    let triplets: Vec<_> =
        triplets.map(|(i, j)| (i, j, a[(i, j)])).filter(|t| t.2 != 0.0).collect();
    let bounds = vec![(0.0, f64::INFINITY); size];
    solve(&triplets, b.as_slice(), &bounds, f64::INFINITY).map(DVector::from_vec)
}

impl Mlcp {
    /// The impulses that solve the problem as a quadratic program. `rows` are those of the
    /// problem; friction rows, whose bounds vary, get no impulse, nor do rows that impulses cannot
    /// change.
    ///
    /// # Errors
    /// [`ProgramError`] if `rows` are not those of the problem, there is no solution, or it exceeds
    /// the work limit.
    pub fn program(&self, rows: &[Row]) -> Result<Vec<f64>, ProgramError> {
        let right: Vec<f64> = self.right_side().collect();
        let size = right.len();
        if rows.len() != size {
            return Err(ProgramError::Size { rows: size, columns: size, length: rows.len() });
        }
        let bound = |(n, row): (usize, &Row)| match row.bounds {
            Bounds::Between { least, most } if !self.is_immovable(n) => Some((n, (least, most))),
            _ => None,
        };
        let free: Vec<_> = rows.iter().enumerate().filter_map(bound).collect();
        let chosen: Vec<usize> = free.iter().map(|(n, _)| *n).collect();
        let bounds: Vec<_> = free.iter().map(|(_, bounds)| *bounds).collect();
        if self.work(&chosen) > MAX_WORK {
            return Err(ProgramError::Limited { rows: chosen.len() });
        }
        let b: Vec<f64> = chosen.iter().map(|&n| -right[n]).collect();
        let found = solve(&self.triplets(&chosen), &b, &bounds, MAX_WORK)?;
        let mut impulses = vec![0.0; rows.len()];
        chosen.iter().zip(found).for_each(|(&n, impulse)| impulses[n] = impulse);
        Ok(impulses)
    }
}
