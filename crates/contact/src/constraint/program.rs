//! Contact forces as a quadratic programme (Ku07 eq. 4), by an interior-point method.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverError, SolverStatus,
    SupportedConeT, ZeroConeT,
};
use nalgebra::{DMatrix, DVector};
use thiserror::Error;

use super::mlcp::Mlcp;
use super::row::{Bounds, Row};

/// What the interior-point method is asked for; the smallest it can tell from round-off.
const TOLERANCE: f64 = 1e-13;
/// What is taken, where round-off keeps it from more.
const ACCEPTED: f64 = 1e-9;
/// Most iterations of the interior-point method, which converges in 10 to 20.
const MAX_ITERATIONS: u32 = 50;
/// Most multiply-adds of one factorization, by an estimate. Each iteration factors once, so that all of them
/// take seconds at most.
const MAX_WORK: f64 = 5e7;

/// Why a programme has no solution.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ProgramError {
    /// The matrix is not square or not of the size of the vector.
    #[error("the matrix is {rows} by {columns} and the vector {length} long: all must be the same")]
    Size {
        /// Of the matrix.
        rows: usize,
        /// Of the matrix.
        columns: usize,
        /// Of the vector.
        length: usize,
    },
    /// A number is not finite.
    #[error("a number of the programme is not finite: check the contacts it was made from")]
    NotFinite,
    /// The conditions contradict each other, as for a body held between two walls that close in.
    #[error("no forces meet all conditions ({status}): remove one of the contacts or joints")]
    NoSolution {
        /// What the interior-point method ended with.
        status: String,
    },
    /// The programme takes more work than is given to it.
    #[error(
        "the quadratic programme of {rows} contacts and joints takes too much work: use another \
         solver, or fewer contacts"
    )]
    Limited {
        /// Rows of the programme.
        rows: usize,
    },
}

/// The forces `f >= 0`, N, of least `f^T (A f + b)` for which no relative acceleration `A f + b` is
/// negative (Ku07 eq. 4). `a` is `J M^-1 J^T`, symmetric and without negative eigenvalues, 1/kg;
/// `b` the accelerations without contact forces, m/s^2.
///
/// For such a matrix the least is zero, and the same forces minimise `f^T A f / 2 + f^T b` over
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

/// Least `x^T A x / 2 + b^T x` between bounds; `upper` holds the upper triangle of `A`. A
/// factorization may take `most_work` multiply-adds.
fn solve(
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
    // speeds and masses of any unit become numbers about one
    let scale = upper.iter().filter(|t| t.0 == t.1).map(|t| t.2).fold(0.0, f64::max);
    let most = b.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if scale == 0.0 || most == 0.0 {
        return Ok(vec![0.0; size]);
    }
    let unit = most / scale;
    let matrix = matrix(size, size, upper.iter().map(|&(i, j, x)| (i, j, x / scale)));
    let linear: Vec<f64> = b.iter().map(|x| x / most).collect();
    // conditions G x + s = h: equalities first
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
    // columns of even length make the least of what such a factor takes
    let entries = solver.info.linsolver.nnzL as f64;
    if entries * entries / (size + problem.side.len()) as f64 > most_work {
        return Err(ProgramError::Limited { rows: size });
    }
    solver.solve();
    if solver.solution.status == SolverStatus::InsufficientProgress {
        // round-off kept it from the tolerance: what is taken may be within reach
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

/// A programme in the form that the interior-point method takes.
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

/// A sparse matrix of entries that come once each.
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
