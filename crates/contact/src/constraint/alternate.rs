//! Alternation between normal forces (pivoting or quadratic program) and friction (projected
//! Gauss-Seidel).

use dynamics::Momentum;
use nalgebra::Isometry3;

use super::joint::push;
use super::mlcp::{MAX_FRICTION_SWEEPS, Mlcp};
use super::pivot::Pivot;
use super::program_error::ProgramError;
use super::row::{Bounds, Row};
use crate::Columns;

/// Bodies at given poses.
#[derive(Clone, Copy)]
pub(crate) struct Bodies<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) poses: &'a [Isometry3<f64>],
}

/// Limits of the rounds of normal forces and friction.
pub(crate) struct Rounds<'a> {
    /// Largest number of rounds.
    pub(crate) most: usize,
    /// The rounds end once no normal force changes by more than this share of the largest.
    pub(crate) settled: Option<f64>,
    /// Warm start, one force per row; empty for none.
    pub(crate) guess: &'a [f64],
}

impl Rounds<'_> {
    /// The rounds of a step of [`Solver::QuadraticProgram`](crate::Solver::QuadraticProgram).
    pub(super) fn of_a_step() -> Self {
        Self { most: 3, settled: None, guess: &[] }
    }

    fn are_settled(&self, rows: &[Row], before: &[f64], after: &[f64]) -> bool {
        let Some(share) = self.settled else { return false };
        let normals = || rows.iter().zip(before.iter().zip(after)).filter(|(r, _)| !is_friction(r));
        let largest = normals().fold(0.0, |most: f64, (_, (_, f))| most.max(f.abs()));
        normals().all(|(_, (p, q))| (p - q).abs() <= share * largest)
    }
}

/// Impulses of all rows and the resulting momenta.
pub(crate) struct Solved {
    pub(crate) impulses: Vec<f64>,
    pub(crate) momenta: Vec<Momentum>,
    pub(crate) unsolved: bool,
    pub(crate) limited: bool,
}

impl Solved {
    pub(super) fn of(mlcp: &Mlcp, bodies: Bodies<'_>, start: &[Momentum]) -> Self {
        let mut momenta = start.to_vec();
        mlcp.keep(bodies.columns, bodies.poses, &mut momenta);
        Self { impulses: mlcp.impulses(), momenta, unsolved: false, limited: false }
    }

    pub(super) fn none(rows: &[Row], start: &[Momentum]) -> Self {
        let impulses = vec![0.0; rows.len()];
        Self { impulses, momenta: start.to_vec(), unsolved: true, limited: false }
    }
}

fn is_friction(row: &Row) -> bool {
    !matches!(row.bounds, Bounds::Between { .. })
}

/// Solves normal forces and joints simultaneously with friction fixed, then friction by projected
/// Gauss-Seidel with the normal forces fixed, in alternating rounds. Rounds that repeat until
/// convergence pivot from the normal forces of the previous round. A fixed number of rounds, and
/// problems whose pivoting fails, use a quadratic program.
pub(crate) fn alternate(
    bodies: Bodies<'_>,
    rows: &[Row],
    start: &[Momentum],
    rounds: &Rounds<'_>,
) -> Solved {
    let Ok(mut mlcp) = Mlcp::new(bodies.columns, bodies.poses, start, rows) else {
        return Solved::none(rows, start);
    };
    let guess = if rounds.guess.len() == rows.len() { rounds.guess } else { &[] };
    // with few rounds, non-unique forces need the analytic center of the solution set, which only
    // the interior-point method finds
    let mut pivot = rounds.settled.and_then(|_| Pivot::new(&mlcp, rows, guess));
    let mut impulses = if guess.is_empty() { vec![0.0; rows.len()] } else { guess.to_vec() };
    let mut known = vec![f64::INFINITY; rows.len()];
    for _ in 0..rounds.most {
        let pivoted = pivot.as_mut().and_then(|pivot| pivot.solve(&mut mlcp, &impulses));
        let found = pivoted.map_or_else(|| program(bodies, rows, start, &impulses), Ok);
        let Ok(forces) = found else {
            mlcp.start(&vec![0.0; rows.len()]);
            mlcp.sweep(MAX_FRICTION_SWEEPS);
            let limited = matches!(found, Err(ProgramError::Limited { .. }));
            return Solved { unsolved: true, limited, ..Solved::of(&mlcp, bodies, start) };
        };
        mlcp.start(&forces);
        mlcp.sweep_friction(rounds.settled);
        impulses = mlcp.impulses();
        if rounds.are_settled(rows, &known, &forces) {
            break;
        }
        known = forces;
    }
    Solved::of(&mlcp, bodies, start)
}

/// Normal forces and joints as a quadratic program, with the friction of `impulses`.
fn program(
    Bodies { columns, poses }: Bodies<'_>,
    rows: &[Row],
    start: &[Momentum],
    impulses: &[f64],
) -> Result<Vec<f64>, ProgramError> {
    let still = |row: &Row| Row { bounds: Bounds::Between { least: 0.0, most: 0.0 }, ..*row };
    // friction rows stay without impulses, so that indices are unchanged
    let normals: Vec<Row> =
        rows.iter().map(|row| if is_friction(row) { still(row) } else { *row }).collect();
    let mut dragged = start.to_vec();
    let friction = rows.iter().zip(impulses).filter(|(row, _)| is_friction(row));
    friction.for_each(|(row, &j)| push(row, j, &mut dragged));
    let mlcp =
        Mlcp::new(columns, poses, &dragged, &normals).map_err(|_| ProgramError::NotFinite)?;
    let forces = mlcp.program(&normals)?;
    let all = rows.iter().zip(forces.iter().zip(impulses));
    Ok(all.map(|(row, (f, j))| if is_friction(row) { *j } else { *f }).collect())
}
