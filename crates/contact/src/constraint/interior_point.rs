//! Quadratic programs by an interior-point method.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverError, SolverStatus,
    SupportedConeT, ZeroConeT,
};

use super::program_error::ProgramError;

/// Tolerance of the interior-point method, relative to the scaled problem; smaller ones are lost in
/// round-off.
const TOLERANCE: f64 = 1e-13;
/// Accepted tolerance where round-off prevents convergence to [`TOLERANCE`].
const ACCEPTED: f64 = 1e-9;
/// Limit of iterations of the interior-point method, which converges in 10 to 20.
const MAX_ITERATIONS: u32 = 50;
/// Minimizes `x^T A x / 2 + b^T x` between bounds; `upper` holds the upper triangle of `A`. A
/// factorization may take `most_work` multiply-adds.
pub(super) fn solve(
    upper: &[(usize, usize, f64)],
    b: &[f64],
    bounds: &[(f64, f64)],
    most_work: f64,
) -> Result<Vec<f64>, ProgramError> {
    let size = b.len();
    if !b.iter().chain(upper.iter().map(|t| &t.2)).all(|x| x.is_finite()) {
        return Err(ProgramError::NotFinite);
    }
    if size == 0 {
        return Ok(Vec::new());
    }
    // scales speeds and masses to about one
    let scale = upper.iter().filter(|t| t.0 == t.1).map(|t| t.2).fold(0.0, f64::max);
    let most = b.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if scale == 0.0 || most == 0.0 {
        return Ok(vec![0.0; size]);
    }
    let unit = most / scale;
    let matrix = matrix(size, size, upper.iter().map(|&(i, j, x)| (i, j, x / scale)));
    let linear: Vec<f64> = b.iter().map(|x| x / most).collect();
    // constraints G x + s = h: equalities first
    let equal = |n: &usize| bounds[*n].0 == bounds[*n].1;
    let (mut entries, mut side) = (Vec::new(), Vec::new());
    for n in (0..size).filter(equal) {
        entries.push((side.len(), n, 1.0));
        side.push(bounds[n].0 / unit);
    }
    let equalities = side.len();
    for n in (0..size).filter(|n| !equal(n)) {
        for (sign, bound) in [(-1.0, bounds[n].0), (1.0, bounds[n].1)] {
            if bound.is_finite() {
                entries.push((side.len(), n, sign));
                side.push(sign * bound / unit);
            }
        }
    }
    let conditions = self::matrix(side.len(), size, entries.into_iter());
    let cones = [ZeroConeT(equalities), NonnegativeConeT(side.len() - equalities)];
    let failed = |status: String| ProgramError::NoSolution { status };
    let problem = Problem { matrix, linear, conditions, side, cones };
    let mut solver = problem.solver(TOLERANCE).map_err(|e| failed(e.to_string()))?;
    // a lower bound of the work of such a factor: columns of equal length
    let entries = solver.info.linsolver.nnzL as f64;
    if entries * entries / (size + problem.side.len()) as f64 > most_work {
        return Err(ProgramError::Limited { rows: size });
    }
    solver.solve();
    if solver.solution.status == SolverStatus::InsufficientProgress {
        // round-off may prevent convergence to `TOLERANCE`: solve again to `ACCEPTED`
        solver = problem.solver(ACCEPTED).map_err(|e| failed(e.to_string()))?;
        solver.solve();
    }
    let solution = &solver.solution;
    if solution.status == SolverStatus::MaxIterations {
        return Err(ProgramError::Limited { rows: size });
    }
    if !matches!(solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved) {
        return Err(failed(solution.status.to_string()));
    }
    let within = |(x, (least, most)): (&f64, &(f64, f64))| (x * unit).max(*least).min(*most);
    Ok(solution.x.iter().zip(bounds).map(within).collect())
}

/// A program in the form of the interior-point method.
struct Problem {
    matrix: CscMatrix<f64>,
    linear: Vec<f64>,
    conditions: CscMatrix<f64>,
    side: Vec<f64>,
    cones: [SupportedConeT<f64>; 2],
}

impl Problem {
    fn solver(&self, tolerance: f64) -> Result<DefaultSolver<f64>, SolverError> {
        let settings = DefaultSettings {
            verbose: false,
            max_iter: MAX_ITERATIONS,
            tol_gap_abs: tolerance,
            tol_gap_rel: tolerance,
            tol_feas: tolerance,
            reduced_tol_gap_abs: ACCEPTED,
            reduced_tol_gap_rel: ACCEPTED,
            reduced_tol_feas: ACCEPTED,
            ..DefaultSettings::default()
        };
        let Self { matrix, linear, conditions, side, cones } = self;
        DefaultSolver::new(matrix, linear, conditions, side, cones, settings)
    }
}

/// A sparse matrix from entries without duplicates.
fn matrix(
    rows: usize,
    columns: usize,
    entries: impl Iterator<Item = (usize, usize, f64)>,
) -> CscMatrix<f64> {
    let (mut i, mut j, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (row, column, value) in entries {
        i.push(row);
        j.push(column);
        values.push(value);
    }
    CscMatrix::new_from_triplets(rows, columns, i, j, values)
}
