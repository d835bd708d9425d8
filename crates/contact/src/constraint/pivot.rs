//! Normal forces by block principal pivoting (Júdice and Pires 1994), warm-started from an active
//! set.

use super::mlcp::{DirectSolve, Mlcp};
use super::row::{Bounds, Row};

/// Consecutive block exchanges that may fail to reduce the number of infeasible rows. Single
/// exchanges follow, which terminate for every P-matrix (Murty 1974).
const BLOCK_TRIES: usize = 3;
/// Limit of exchanges per row: round-off can make degenerate problems cycle.
const MAX_EXCHANGES: usize = 4;
/// Feasibility tolerance, relative to the largest force and to the largest free acceleration. The
/// regularized factor of dependent rows has a condition number of 1e8, so that forces have eight
/// digits.
const FEASIBLE: f64 = 1e-8;

/// The unilateral rows of a complementarity problem, and a factorization of the active ones.
#[derive(Debug)]
pub(super) struct Pivot {
    rows: Vec<u32>,
    acts: Vec<bool>,
    factor: DirectSolve,
}

impl Pivot {
    /// The active set starts with the rows whose impulse in `guess` is positive, or with the
    /// approaching rows if `guess` is empty. `None` if a row is neither unilateral nor friction.
    pub(super) fn new(mlcp: &Mlcp, rows: &[Row], guess: &[f64]) -> Option<Self> {
        let is_other = |row: &Row| match row.bounds {
            Bounds::Between { .. } => row.bounds != Bounds::PUSH,
            Bounds::Box { .. } | Bounds::Cone { .. } | Bounds::Cone2 => false,
        };
        if rows.iter().any(is_other) {
            return None;
        }
        let chosen: Vec<u32> = (0..rows.len() as u32)
            .filter(|&n| rows[n as usize].bounds == Bounds::PUSH && !mlcp.is_immovable(n as usize))
            .collect();
        let right: Vec<f64> = mlcp.right_side().collect();
        let acts = |&n: &u32| guess.get(n as usize).map_or(right[n as usize] > 0.0, |f| *f > 0.0);
        let acts = chosen.iter().map(acts).collect();
        Some(Self { acts, rows: chosen, factor: DirectSolve::default() })
    }

    /// Solves the linear complementarity problem of the unilateral rows with the friction impulses
    /// of `impulses`, and returns the impulses of all rows. `None` beyond the limit of exchanges,
    /// or if the factor is too large.
    pub(super) fn solve(&mut self, mlcp: &mut Mlcp, impulses: &[f64]) -> Option<Vec<f64>> {
        let mut now = impulses.to_vec();
        self.rows.iter().for_each(|&n| now[n as usize] = 0.0);
        mlcp.load(&now);
        let right = mlcp.speed_errors(&self.rows);
        let scale = right.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let (mut fewest, mut tries) = (usize::MAX, BLOCK_TRIES);
        for _ in 0..MAX_EXCHANGES * self.rows.len() + BLOCK_TRIES {
            self.act(mlcp, &right, &mut now)?;
            mlcp.load(&now);
            let infeasible = self.infeasible(&mlcp.speed_errors(&self.rows), &now, scale);
            let Some(&last) = infeasible.last() else {
                self.rows.iter().for_each(|&n| now[n as usize] = now[n as usize].max(0.0));
                return Some(now);
            };
            if infeasible.len() < fewest {
                (fewest, tries) = (infeasible.len(), BLOCK_TRIES);
            } else {
                tries = tries.saturating_sub(1);
            }
            let exchanged = if tries > 0 { &infeasible[..] } else { &[last] };
            exchanged.iter().for_each(|&k| self.acts[k] = !self.acts[k]);
        }
        None
    }

    /// Sets the impulses of the active rows to those that reach their target speeds, and the others
    /// to zero.
    fn act(&mut self, mlcp: &Mlcp, right: &[f64], now: &mut [f64]) -> Option<()> {
        let acting = || (0..self.rows.len()).filter(|&k| self.acts[k]);
        let rows: Vec<u32> = acting().map(|k| self.rows[k]).collect();
        let wanted: Vec<f64> = acting().map(|k| right[k]).collect();
        self.rows.iter().for_each(|&n| now[n as usize] = 0.0);
        if rows.is_empty() {
            return Some(());
        }
        if self.factor.rows() != rows {
            self.factor = mlcp.direct_solve(rows);
        }
        let found = self.factor.solve(&wanted)?;
        self.factor.rows().iter().zip(found).for_each(|(&n, f)| now[n as usize] = f);
        Some(())
    }

    /// Infeasible rows: active ones with a negative impulse, and inactive ones that approach.
    fn infeasible(&self, speed_errors: &[f64], now: &[f64], scale: f64) -> Vec<usize> {
        let largest = now.iter().fold(0.0_f64, |most, f| most.max(f.abs()));
        let is_infeasible = |k: &usize| {
            let force = now[self.rows[*k] as usize];
            if self.acts[*k] {
                force < -FEASIBLE * largest
            } else {
                speed_errors[*k] > FEASIBLE * scale
            }
        };
        (0..self.rows.len()).filter(is_infeasible).collect()
    }
}
