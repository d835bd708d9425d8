//! Contact forces as a quadratic programme (Ku07 eq. 4), by an interior-point method.

use nalgebra::{DMatrix, DVector};

use super::interior_point::solve;
use super::mlcp::Mlcp;
use super::program_error::ProgramError;
use super::row::{Bounds, Row};

/// Most multiply-adds of one factorization, by an estimate. Each iteration factors once, so that all of them
/// take seconds at most.
const MAX_WORK: f64 = 5e7;

/// The forces `f >= 0`, N, of least `f^T (A f + b)` for which no relative acceleration `A f + b` is
/// negative (Ku07 eq. 4). `a` is `J M^-1 J^T`, symmetric and without negative eigenvalues, 1/kg;
/// `b` the accelerations without contact forces, m/s^2.
///
/// For such a matrix the least is zero, and the same forces minimize `f^T A f / 2 + f^T b` over
/// `f >= 0`, whose multipliers are the accelerations. That programme is solved: it has half the
/// conditions, and they do not touch each other in the solution. Where forces are not unique, as
/// with four legs, the interior-point method ends amid them.
///
/// # Errors
/// [`ProgramError`] for sizes that do not fit, numbers that are not finite, and contradictions.
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
    /// The impulses that solve the problem at once as a quadratic programme. `rows` are those it was
    /// made of; friction rows, whose bounds move, get none, nor do rows that no impulse changes.
    ///
    /// # Errors
    /// [`ProgramError`] where nothing solves it, or it takes too much work.
    pub fn program(&self, rows: &[Row]) -> Result<Vec<f64>, ProgramError> {
        let bound = |(n, row): (usize, &Row)| match row.bounds {
            Bounds::Between { least, most } if !self.is_dead(n) => Some((n, (least, most))),
            _ => None,
        };
        let free: Vec<_> = rows.iter().enumerate().filter_map(bound).collect();
        let chosen: Vec<usize> = free.iter().map(|(n, _)| *n).collect();
        let bounds: Vec<_> = free.iter().map(|(_, bounds)| *bounds).collect();
        if self.work(&chosen) > MAX_WORK {
            return Err(ProgramError::Limited { rows: chosen.len() });
        }
        let right: Vec<f64> = self.right_side().collect();
        let b: Vec<f64> = chosen.iter().map(|&n| -right[n]).collect();
        let found = solve(&self.triplets(&chosen), &b, &bounds, MAX_WORK)?;
        let mut impulses = vec![0.0; rows.len()];
        chosen.iter().zip(found).for_each(|(&n, impulse)| impulses[n] = impulse);
        Ok(impulses)
    }
}
