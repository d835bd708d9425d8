//! In place of the interior-point method in a browser's module, which is to be small.

use super::program_error::ProgramError;

pub(super) fn solve(
    _upper: &[(usize, usize, f64)],
    _b: &[f64],
    _bounds: &[(f64, f64)],
    _most_work: f64,
) -> Result<Vec<f64>, ProgramError> {
    Err(ProgramError::Missing)
}
