//! Alternation between normal forces (quadratic programme) and friction (projected Gauss-Seidel).

use dynamics::Momentum;
use nalgebra::Isometry3;

use super::joint::push;
use super::mlcp::Mlcp;
use super::program::ProgramError;
use super::row::{Bounds, Row};
use crate::Columns;

/// Sweeps over friction in each round, and over everything where there is no solution.
pub(super) const FRICTION_SWEEPS: usize = 50;

/// Bodies where they are.
#[derive(Clone, Copy)]
pub(crate) struct Bodies<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) poses: &'a [Isometry3<f64>],
}

/// How often the normal forces are found anew with the friction that they lead to.
pub(crate) struct Rounds<'a> {
    /// Rounds at most.
    pub(crate) most: usize,
    /// The rounds end once no normal force changes by more than this share of the largest.
    pub(crate) settled: Option<f64>,
    /// Forces to start from, one a row; none unless given.
    pub(crate) guess: &'a [f64],
}

impl Rounds<'_> {
    /// Those of a step of [`Solver::QuadraticProgram`](crate::Solver::QuadraticProgram).
    pub(super) fn of_a_step() -> Self {
        Self { most: 3, settled: None, guess: &[] }
    }

    fn are_settled(&self, before: &[f64], after: &[f64]) -> bool {
        let Some(share) = self.settled else { return false };
        let largest = after.iter().fold(0.0, |most: f64, f| most.max(f.abs()));
        before.iter().zip(after).all(|(p, q)| (p - q).abs() <= share * largest)
    }
}

/// Impulses of all rows and the momenta they lead to.
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

/// Solves normal forces and joints as a quadratic programme with friction fixed, then friction by projected
/// Gauss-Seidel with the normal forces fixed, in alternating rounds.
pub(crate) fn alternate(
    bodies: Bodies<'_>,
    rows: &[Row],
    start: &[Momentum],
    rounds: &Rounds<'_>,
) -> Solved {
    let Bodies { columns, poses } = bodies;
    let still = |row: &Row| Row { bounds: Bounds::Between { least: 0.0, most: 0.0 }, ..*row };
    // friction rows stay in place without impulses, so that numbers are the same
    let normals: Vec<Row> =
        rows.iter().map(|row| if is_friction(row) { still(row) } else { *row }).collect();
    let mut solved = Solved::none(rows, start);
    solved.unsolved = false;
    if rounds.guess.len() == rows.len() {
        solved.impulses.copy_from_slice(rounds.guess);
    }
    let mut limited = false;
    let mut known = vec![f64::INFINITY; rows.len()];
    for _ in 0..rounds.most {
        let mut dragged = start.to_vec();
        let pairs = rows.iter().zip(&solved.impulses);
        pairs.filter(|(row, _)| is_friction(row)).for_each(|(row, &j)| push(row, j, &mut dragged));
        let found =
            Mlcp::new(columns, poses, &dragged, &normals).map(|mlcp| mlcp.program(&normals));
        let Ok(Ok(forces)) = found else {
            limited = matches!(found, Ok(Err(ProgramError::Limited { .. })));
            solved.unsolved = true;
            break;
        };
        let held = |(row, &force): (&Row, &f64)| match row.bounds {
            Bounds::Between { .. } => {
                Row { bounds: Bounds::Between { least: force, most: force }, ..*row }
            }
            Bounds::Box { .. } | Bounds::Cone { .. } | Bounds::Cone2 => *row,
        };
        let held: Vec<Row> = rows.iter().zip(&forces).map(held).collect();
        let Ok(mut mlcp) = Mlcp::new(columns, poses, start, &held) else { break };
        let guess = rows.iter().zip(forces.iter().zip(&solved.impulses));
        let guess: Vec<f64> =
            guess.map(|(row, (f, j))| if is_friction(row) { *j } else { *f }).collect();
        mlcp.start(&guess);
        mlcp.sweep(FRICTION_SWEEPS);
        solved = Solved::of(&mlcp, bodies, start);
        if rounds.are_settled(&known, &forces) {
            break;
        }
        known = forces;
    }
    if solved.unsolved {
        let Ok(mut mlcp) = Mlcp::new(columns, poses, start, rows) else {
            return Solved::none(rows, start);
        };
        mlcp.sweep(FRICTION_SWEEPS);
        solved = Solved { unsolved: true, limited, ..Solved::of(&mlcp, bodies, start) };
    }
    solved
}
