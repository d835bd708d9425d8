//! Builds for browsers leave out the interior-point method, whose linear algebra would enlarge the
//! module: quadratic programs report [`ProgramError::Missing`].

use super::program_error::ProgramError;

pub(super) fn solve(
    _upper: &[(usize, usize, f64)],
    _b: &[f64],
    _bounds: &[(f64, f64)],
    _most_work: f64,
) -> Result<Vec<f64>, ProgramError> {
    Err(ProgramError::Missing)
}
