//! Projected Gauss-Seidel over rows, in colors.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use dynamics::{Momentum, Velocity};
use nalgebra::{DMatrix, DVector, Isometry3};
use rayon::prelude::*;

use super::direct::Factor;
use super::row::{Bounds, Row, RowError};
use crate::Columns;
use crate::solve::movers::Movers;
use crate::solve::order::{COLORS, colors};

/// Limit of sweeps over friction with the normal forces fixed.
pub(super) const MAX_FRICTION_SWEEPS: usize = 50;
/// Friction sweeps between two convergence checks.
const CHECK_INTERVAL: usize = 5;
/// Blocks per task; fixed, so that the work is divided the same way for any thread count.
const CHUNK: usize = 64;

/// A row with its precomputed inverse mass.
#[derive(Debug)]
struct Entry {
    row: Row,
    /// `M^-1 J^T`: the change of both velocities by a unit impulse.
    inv_mass_jacobian: [Velocity; 2],
    /// Inverse of `J M^-1 J^T`; zero if that is zero.
    weight: f64,
    /// For a [`Bounds::Cone`]: inverse of the larger eigenvalue of both tangents.
    tangent_weight: f64,
    /// Atomic for the same reason as the velocities of [`Movers`].
    impulse: AtomicU64,
}

impl Entry {
    fn impulse(&self) -> f64 {
        f64::from_bits(self.impulse.load(Ordering::Relaxed))
    }

    fn set(&self, impulse: f64) {
        self.impulse.store(impulse.to_bits(), Ordering::Relaxed);
    }

    fn is_immovable(&self) -> bool {
        self.weight == 0.0
    }
}

/// Consecutive rows of the same two bodies.
#[derive(Clone, Debug)]
struct Block {
    bodies: [u32; 2],
    rows: Range<usize>,
}

/// Rows that a sweep relaxes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RowSet {
    All,
    Friction,
}

/// Two velocities while rows between them are relaxed.
struct Pair {
    a: Velocity,
    b: Velocity,
}

impl Pair {
    fn push(&mut self, entry: &Entry, impulse: f64) {
        let [a, b] = &entry.inv_mass_jacobian;
        self.a.linear += a.linear * impulse;
        self.a.angular += a.angular * impulse;
        self.b.linear += b.linear * impulse;
        self.b.angular += b.angular * impulse;
    }
}

/// Rows that are solved simultaneously, with a factorization of their Delassus operator.
#[derive(Debug, Default)]
pub(super) struct DirectSolve {
    rows: Vec<u32>,
    /// `None` if there are too many rows.
    factor: Option<Factor>,
}

/// Limit of changes of the active set; unsolved rows count in the residual.
const ROUNDS: usize = 8;

/// Rows and their impulses, which act on the velocities of [`Movers`].
#[derive(Debug)]
pub(crate) struct Entries {
    entries: Vec<Entry>,
    blocks: Vec<Block>,
}

impl Entries {
    pub(super) fn new(movers: &Movers, rows: &[Row], bodies: usize) -> Result<Self, RowError> {
        let mut entries = Vec::with_capacity(rows.len());
        let mut blocks: Vec<Block> = Vec::new();
        for (n, row) in rows.iter().enumerate() {
            row.check(n, &rows[..n], bodies)?;
            entries.push(entry(movers, row));
            match blocks.last_mut().filter(|block| block.bodies == row.bodies) {
                Some(block) => block.rows.end = n + 1,
                None => blocks.push(Block { bodies: row.bodies, rows: n..n + 1 }),
            }
        }
        for n in 1..entries.len() {
            if entries[n].row.bounds == Bounds::Cone2 {
                let largest = larger_eigenvalue(&entries[n - 1], &entries[n]);
                entries[n - 1].tangent_weight = if largest > 0.0 { 1.0 / largest } else { 0.0 };
            }
        }
        // a cone without its second tangent
        let alone = |n: &usize| {
            matches!(entries[*n].row.bounds, Bounds::Cone { .. })
                && entries.get(n + 1).is_none_or(|next| next.row.bounds != Bounds::Cone2)
        };
        match (0..entries.len()).find(alone) {
            Some(row) => Err(RowError::Bounds { row }),
            None => Ok(Self { entries, blocks }),
        }
    }

    pub(crate) fn impulses(&self) -> impl ExactSizeIterator<Item = f64> {
        self.entries.iter().map(Entry::impulse)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The rows for which `chosen` holds and that impulses can change.
    pub(super) fn movable_rows(&self, chosen: impl Fn(&Row) -> bool) -> Vec<u32> {
        let movable_rows = |n: &u32| {
            let entry = &self.entries[*n as usize];
            !entry.is_immovable() && chosen(&entry.row)
        };
        (0..self.entries.len() as u32).filter(movable_rows).collect()
    }

    /// Applies impulses within the bounds of the rows.
    pub(crate) fn start(&self, movers: &Movers, impulses: &[f64]) {
        for block in &self.blocks {
            let mut pair = load(movers, block);
            for n in block.rows.clone() {
                let entry = &self.entries[n];
                let wanted = if entry.is_immovable() { 0.0 } else { impulses[n] };
                if entry.row.bounds == Bounds::Cone2 {
                    // already projected with the previous row
                    pair.push(entry, entry.impulse());
                    continue;
                }
                if let Bounds::Cone { .. } = entry.row.bounds {
                    let [p, q] = self.within_cone(n, [wanted, impulses[n + 1]]);
                    entry.set(p);
                    self.entries[n + 1].set(q);
                } else {
                    entry.set(self.within(n, wanted));
                }
                pair.push(entry, entry.impulse());
            }
            store(movers, block, &pair);
        }
    }

    /// Applies impulses without projection onto their bounds.
    fn load(&self, movers: &Movers, impulses: &[f64]) {
        for block in &self.blocks {
            let mut pair = load(movers, block);
            for n in block.rows.clone() {
                self.entries[n].set(impulses[n]);
                pair.push(&self.entries[n], impulses[n]);
            }
            store(movers, block, &pair);
        }
    }

    /// Relaxes all rows one after the other, forward and backward.
    pub(crate) fn relax_in_order(&self, movers: &Movers) {
        self.blocks.iter().for_each(|block| self.relax(movers, block, RowSet::All));
        self.blocks.iter().rev().for_each(|block| self.relax(movers, block, RowSet::All));
    }

    /// Active-set steps on the rows inside their bounds: each ends when the first row reaches a
    /// bound, which then leaves the set. `known` is reused for the same set. Returns whether the
    /// set has all rows.
    pub(super) fn relax_active_set(&self, movers: &Movers, known: &mut DirectSolve) -> bool {
        for _ in 0..ROUNDS {
            let inside = |n: &u32| {
                let entry = &self.entries[*n as usize];
                let (least, most) = self.bounds(*n as usize);
                !entry.is_immovable() && least < entry.impulse() && entry.impulse() < most
            };
            let rows: Vec<u32> = (0..self.entries.len() as u32).filter(inside).collect();
            if known.rows != rows {
                *known = self.direct_solve(movers, rows);
            }
            let Some(factor) = &known.factor else { return false };
            let changes = factor.solve(&self.speed_errors(movers, &known.rows));
            let fraction = self.step_fraction(&known.rows, &changes);
            self.change(movers, &known.rows, changes.iter().map(|change| change * fraction));
            if fraction == 1.0 {
                return known.rows.len() == self.movable_rows(|_| true).len();
            }
        }
        false
    }

    /// Prepares some rows for a simultaneous solution.
    pub(super) fn direct_solve(&self, movers: &Movers, rows: Vec<u32>) -> DirectSolve {
        let blocks = || self.chosen(&rows);
        let sizes: Vec<usize> = blocks().map(|(_, own)| own.len()).collect();
        let mut touching: Vec<(u32, u32)> = Vec::new();
        for (n, (block, _)) in (0..).zip(blocks()) {
            let moved = block.bodies.into_iter().filter(|&i| movers.inverse(i).0 > 0.0);
            touching.extend(moved.map(|i| (i, n)));
        }
        touching.sort_unstable();
        let bodies = touching.chunk_by(|p, q| p.0 == q.0);
        let cliques: Vec<Vec<u32>> =
            bodies.map(|same| same.iter().map(|(_, n)| *n).collect()).collect();
        let entry = |n: usize| &self.entries[rows[n] as usize];
        let factor = Factor::new(&sizes, &cliques, |i, j| coupling(entry(i), entry(j)));
        DirectSolve { factor: factor.filter(|_| !sizes.is_empty()), rows }
    }

    /// The blocks that contain `rows`, each with its rows.
    fn chosen<'a>(&'a self, rows: &'a [u32]) -> impl Iterator<Item = (&'a Block, &'a [u32])> {
        let mut rest = rows;
        self.blocks.iter().filter_map(move |block| {
            let count = rest.partition_point(|&n| (n as usize) < block.rows.end);
            let (own, others) = rest.split_at(count);
            rest = others;
            (!own.is_empty()).then_some((block, own))
        })
    }

    /// Target speed minus speed of rows.
    fn speed_errors(&self, movers: &Movers, rows: &[u32]) -> Vec<f64> {
        let mut speed_errors = Vec::with_capacity(rows.len());
        for (block, own) in self.chosen(rows) {
            let pair = load(movers, block);
            speed_errors.extend(own.iter().map(|&n| {
                let row = &self.entries[n as usize].row;
                row.target - row.speed(&pair.a, &pair.b)
            }));
        }
        speed_errors
    }

    /// Largest step along changes within the bounds.
    fn step_fraction(&self, rows: &[u32], changes: &[f64]) -> f64 {
        let mut fraction: f64 = 1.0;
        for (&n, change) in rows.iter().zip(changes) {
            let (least, most) = self.bounds(n as usize);
            let had = self.entries[n as usize].impulse();
            let end = if *change < 0.0 { least } else { most };
            if (end - had).abs() < change.abs() {
                fraction = fraction.min((end - had) / change);
            }
        }
        fraction
    }

    /// Adds to the impulses of rows.
    pub(super) fn change(
        &self,
        movers: &Movers,
        rows: &[u32],
        changes: impl IntoIterator<Item = f64>,
    ) {
        let mut changes = changes.into_iter();
        for (block, own) in self.chosen(rows) {
            let mut pair = load(movers, block);
            for (&n, change) in own.iter().zip(&mut changes) {
                let entry = &self.entries[n as usize];
                let new = self.within(n as usize, entry.impulse() + change);
                pair.push(entry, new - entry.impulse());
                entry.set(new);
            }
            store(movers, block, &pair);
        }
    }

    fn relax(&self, movers: &Movers, block: &Block, part: RowSet) {
        let mut pair = load(movers, block);
        for n in block.rows.clone() {
            let entry = &self.entries[n];
            match entry.row.bounds {
                Bounds::Cone2 => {}
                Bounds::Between { .. } if part == RowSet::Friction => {}
                Bounds::Cone { .. } => self.relax_cone(n, &mut pair),
                Bounds::Between { .. } | Bounds::Box { .. } => {
                    if entry.is_immovable() {
                        continue;
                    }
                    let speed_error = entry.row.target - entry.row.speed(&pair.a, &pair.b);
                    let old = entry.impulse();
                    let new = self.within(n, old + speed_error * entry.weight);
                    entry.set(new);
                    pair.push(entry, new - old);
                }
            }
        }
        store(movers, block, &pair);
    }

    /// A projected gradient step on both tangents that cannot overshoot in any direction.
    fn relax_cone(&self, n: usize, pair: &mut Pair) {
        let (first, second) = (&self.entries[n], &self.entries[n + 1]);
        let wanted = [first, second].map(|e| {
            e.impulse() + (e.row.target - e.row.speed(&pair.a, &pair.b)) * first.tangent_weight
        });
        let new = self.within_cone(n, wanted);
        for (entry, new) in [first, second].into_iter().zip(new) {
            let old = entry.impulse();
            entry.set(new);
            pair.push(entry, new - old);
        }
    }

    /// The impulse of row `n` nearest to the one wanted within its bounds.
    fn within(&self, n: usize, wanted: f64) -> f64 {
        let (least, most) = self.bounds(n);
        wanted.max(least).min(most)
    }

    fn bounds(&self, n: usize) -> (f64, f64) {
        match self.entries[n].row.bounds {
            Bounds::Between { least, most } => (least, most),
            Bounds::Box { normal, coefficient } | Bounds::Cone { normal, coefficient } => {
                let most = (coefficient * self.entries[normal as usize].impulse()).max(0.0);
                (-most, most)
            }
            Bounds::Cone2 => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    fn within_cone(&self, n: usize, [p, q]: [f64; 2]) -> [f64; 2] {
        let (_, most) = self.bounds(n);
        // not `hypot`, whose bits differ between platforms
        let size = (p * p + q * q).sqrt();
        if size > most { [p * (most / size), q * (most / size)] } else { [p, q] }
    }

    /// The largest violation of complementarity, as a speed: the change of each impulse if it alone
    /// is relaxed, times its inverse effective mass.
    pub(super) fn residual(&self, movers: &Movers) -> f64 {
        let mut worst: f64 = 0.0;
        for block in &self.blocks {
            let pair = load(movers, block);
            for n in block.rows.clone() {
                let entry = &self.entries[n];
                let speed = |e: &Entry| e.row.target - e.row.speed(&pair.a, &pair.b);
                match entry.row.bounds {
                    Bounds::Cone2 => {}
                    Bounds::Cone { .. } if entry.tangent_weight > 0.0 => {
                        let next = &self.entries[n + 1];
                        let had = [entry, next].map(Entry::impulse);
                        let step =
                            [entry, next].map(|e| e.impulse() + speed(e) * entry.tangent_weight);
                        let new = self.within_cone(n, step);
                        let moved = (new[0] - had[0]).abs().max((new[1] - had[1]).abs());
                        worst = worst.max(moved / entry.tangent_weight);
                    }
                    _ if entry.is_immovable() => {}
                    _ => {
                        let had = entry.impulse();
                        let new = self.within(n, had + speed(entry) * entry.weight);
                        worst = worst.max((new - had).abs() / entry.weight);
                    }
                }
            }
        }
        worst
    }
}

impl DirectSolve {
    /// The impulses that give the rows the speeds; `None` if there are too many rows.
    pub(super) fn solve(&self, speeds: &[f64]) -> Option<Vec<f64>> {
        self.factor.as_ref().map(|factor| factor.solve(speeds))
    }

    /// The rows.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }
}

fn entry(movers: &Movers, row: &Row) -> Entry {
    let side_velocity = |side: usize, sign: f64| {
        let (inverse_mass, inverse_inertia) = movers.inverse(row.bodies[side]);
        Velocity {
            linear: row.linear * (sign * inverse_mass),
            angular: inverse_inertia * row.angular[side],
        }
    };
    let inv_mass_jacobian = [side_velocity(0, 1.0), side_velocity(1, -1.0)];
    let own = row.speed(&inv_mass_jacobian[0], &inv_mass_jacobian[1]);
    // anything less is round-off of a direction without motion
    let weight = if own > f64::MIN_POSITIVE && own.is_finite() { 1.0 / own } else { 0.0 };
    let weight = if weight.is_finite() { weight } else { 0.0 };
    Entry { row: *row, inv_mass_jacobian, weight, tangent_weight: 0.0, impulse: AtomicU64::new(0) }
}

fn larger_eigenvalue(first: &Entry, second: &Entry) -> f64 {
    let of =
        |row: &Entry, by: &Entry| row.row.speed(&by.inv_mass_jacobian[0], &by.inv_mass_jacobian[1]);
    let (p, q, mixed) = (of(first, first), of(second, second), of(first, second));
    let half = 0.5 * (p - q);
    0.5 * (p + q) + (half * half + mixed * mixed).sqrt()
}

fn load(movers: &Movers, block: &Block) -> Pair {
    let [a, b] = block.bodies.map(|i| movers.velocity(i as usize));
    Pair { a, b }
}

fn store(movers: &Movers, block: &Block, pair: &Pair) {
    movers.set_velocity(block.bodies[0], &pair.a);
    movers.set_velocity(block.bodies[1], &pair.b);
}

/// A mixed linear complementarity problem of bodies and rows between them, and its current
/// solution.
///
/// Sweeps use all threads of the current pool; impulses have the same bits for any number of
/// threads.
#[derive(Debug)]
pub struct Mlcp {
    movers: Movers,
    start: Vec<Velocity>,
    entries: Entries,
    /// Indices of blocks, color by color, and whether the blocks of a color share no dynamic body.
    colors: Vec<(Vec<u32>, bool)>,
}

impl Mlcp {
    /// The problem of `rows` between bodies with `momenta`, forces included. Rows of the same two
    /// bodies are consecutive.
    ///
    /// # Errors
    /// [`RowError`] if a row has an unknown body, a number that is not finite or contradictory
    /// bounds, or the velocity of a body is not finite.
    pub fn new(
        columns: Columns<'_>,
        poses: &[Isometry3<f64>],
        momenta: &[Momentum],
        rows: &[Row],
    ) -> Result<Self, RowError> {
        let states = poses.iter().zip(momenta);
        let velocity = |(b, (x, m)): (&dynamics::Body, (&Isometry3<f64>, &Momentum))| {
            b.velocity(&x.rotation, m)
        };
        let start: Vec<Velocity> = columns.bodies.iter().zip(states).map(velocity).collect();
        let is_finite = |velocity: &Velocity| {
            velocity.linear.iter().chain(&velocity.angular).all(|x| x.is_finite())
        };
        if let Some(body) = start.iter().position(|velocity| !is_finite(velocity)) {
            return Err(RowError::Motion { body });
        }
        let movers = Movers::new(columns, poses, &start);
        let entries = Entries::new(&movers, rows, columns.bodies.len())?;
        let pairs = entries.blocks.iter().map(|block| block.bodies.into());
        let mut by_color: Vec<(Vec<u32>, bool)> = Vec::new();
        for (n, color) in (0..).zip(colors(columns, pairs)) {
            let color = color as usize;
            while by_color.len() <= color {
                by_color.push((Vec::new(), (by_color.len() as u32) < COLORS));
            }
            by_color[color].0.push(n);
        }
        Ok(Self { movers, start, entries, colors: by_color })
    }

    /// Warm start: restarts from impulses, one per row, within its bounds.
    ///
    /// # Panics
    /// If the number of impulses differs from the number of rows.
    pub fn start(&mut self, impulses: &[f64]) {
        assert_eq!(impulses.len(), self.entries.len(), "one impulse a row");
        self.movers.set_velocities(&self.start);
        self.entries.start(&self.movers, impulses);
    }

    /// Restarts from impulses, one per row, without projection onto their bounds.
    pub(super) fn load(&mut self, impulses: &[f64]) {
        self.movers.set_velocities(&self.start);
        self.entries.load(&self.movers, impulses);
    }

    /// Target speed minus speed of some rows.
    pub(super) fn speed_errors(&self, rows: &[u32]) -> Vec<f64> {
        self.entries.speed_errors(&self.movers, rows)
    }

    /// A factorization of the Delassus operator of some rows.
    pub(super) fn direct_solve(&self, rows: Vec<u32>) -> DirectSolve {
        self.entries.direct_solve(&self.movers, rows)
    }

    /// Relaxes every row `count` times.
    pub fn sweep(&mut self, count: usize) {
        self.sweep_part(count, RowSet::All);
    }

    /// Relaxes every friction row at most [`MAX_FRICTION_SWEEPS`] times, or until no impulse
    /// changes by more than this share of the largest.
    pub(super) fn sweep_friction(&mut self, settled: Option<f64>) {
        let Some(fraction) = settled else {
            return self.sweep_part(MAX_FRICTION_SWEEPS, RowSet::Friction);
        };
        let mut before = self.impulses();
        for _ in 0..MAX_FRICTION_SWEEPS / CHECK_INTERVAL {
            self.sweep_part(CHECK_INTERVAL, RowSet::Friction);
            let after = self.impulses();
            let largest = after.iter().fold(0.0_f64, |most, f| most.max(f.abs()));
            if before.iter().zip(&after).all(|(p, q)| (p - q).abs() <= fraction * largest) {
                break;
            }
            before = after;
        }
    }

    fn sweep_part(&mut self, count: usize, part: RowSet) {
        let (entries, movers) = (&self.entries, &self.movers);
        let relax = |&n: &u32| entries.relax(movers, &entries.blocks[n as usize], part);
        for _ in 0..count {
            for (blocks, parallel) in &self.colors {
                if *parallel && blocks.len() > CHUNK {
                    blocks.par_chunks(CHUNK).for_each(|part| part.iter().for_each(relax));
                } else {
                    blocks.iter().for_each(relax);
                }
            }
        }
    }

    /// Sweeps until the residual is at most `tolerance` m/s (or rad/s), at most `most` times.
    /// Returns the number of sweeps.
    pub fn solve(&mut self, tolerance: f64, most: usize) -> usize {
        (0..most)
            .find(|_| {
                let done = self.residual() <= tolerance;
                if !done {
                    self.sweep(1);
                }
                done
            })
            .unwrap_or(most)
    }

    /// The largest violation of complementarity, m/s or rad/s: the difference of a row's speed and
    /// its target, as far as the bounds of its impulse permit a correction.
    pub fn residual(&self) -> f64 {
        self.entries.residual(&self.movers)
    }

    /// Number of rows that impulses cannot change: between static bodies, or without a Jacobian.
    /// Their impulses are zero.
    pub fn immovable_rows(&self) -> usize {
        self.entries.entries.iter().filter(|entry| entry.is_immovable()).count()
    }

    /// The impulse of each row, N s or N m s.
    pub fn impulses(&self) -> Vec<f64> {
        self.entries.impulses().collect()
    }

    /// The velocity of body `i` with the impulses.
    ///
    /// # Panics
    /// If there is no such body.
    pub fn velocity(&self, i: usize) -> Velocity {
        assert!(i < self.start.len(), "no body {i} of {}", self.start.len());
        self.movers.velocity(i)
    }

    /// Whether impulses cannot change a row.
    pub(super) fn is_immovable(&self, row: usize) -> bool {
        self.entries.entries[row].is_immovable()
    }

    /// `J v` of each row before and after the impulses.
    pub fn speeds(&self) -> Vec<[f64; 2]> {
        let of = |entry: &Entry| {
            let [a, b] = entry.row.bodies.map(|i| i as usize);
            let after = entry.row.speed(&self.movers.velocity(a), &self.movers.velocity(b));
            [entry.row.speed(&self.start[a], &self.start[b]), after]
        };
        self.entries.entries.iter().map(of).collect()
    }

    /// `A = J M^-1 J^T` and `b = zeta - J v`: the problem `w = A lambda - b` of Br11.
    pub fn matrix(&self) -> (DMatrix<f64>, DVector<f64>) {
        let rows = self.entries.len();
        let mut matrix = DMatrix::zeros(rows, rows);
        for (p, q) in self.coupled() {
            let [p, q] = [p, q].map(|n| self.entries.blocks[n as usize].rows.clone());
            for (i, j) in p.flat_map(|i| q.clone().map(move |j| (i, j))) {
                matrix[(i, j)] = coupling(&self.entries.entries[i], &self.entries.entries[j]);
            }
        }
        (matrix, DVector::from_iterator(rows, self.right_side()))
    }

    pub(super) fn right_side(&self) -> impl Iterator<Item = f64> {
        self.entries.entries.iter().map(|entry| {
            let [a, b] = entry.row.bodies.map(|i| &self.start[i as usize]);
            entry.row.target - entry.row.speed(a, b)
        })
    }

    /// The upper triangle of `A` of some rows, in ascending order, indexed by their positions in
    /// `chosen`.
    pub(super) fn triplets(&self, chosen: &[usize]) -> Vec<(usize, usize, f64)> {
        let entries = &self.entries.entries;
        let place = |rows: &Range<usize>| {
            let [from, to] = [rows.start, rows.end].map(|end| chosen.partition_point(|&n| n < end));
            from..to
        };
        let places: Vec<_> = self.entries.blocks.iter().map(|block| place(&block.rows)).collect();
        let mut triplets = Vec::new();
        for (p, q) in self.coupled() {
            let [p, q] = [p, q].map(|n| places[n as usize].clone());
            for (i, j) in p.flat_map(|i| q.clone().map(move |j| (i, j))).filter(|(i, j)| i <= j) {
                let value = coupling(&entries[chosen[i]], &entries[chosen[j]]);
                if value != 0.0 {
                    triplets.push((i, j, value));
                }
            }
        }
        triplets
    }

    /// Upper bound of the multiply-adds of a factorization of `A` of some rows without fill-in: the
    /// square of the number of rows that share a body with each.
    pub(super) fn work(&self, chosen: &[usize]) -> f64 {
        let mut of_body = vec![0.0; self.start.len()];
        let moves = |body: u32| self.movers.inverse(body).0 > 0.0;
        let bodies =
            |n: usize| self.entries.entries[n].row.bodies.into_iter().filter(|&i| moves(i));
        for body in chosen.iter().flat_map(|&n| bodies(n)) {
            of_body[body as usize] += 1.0;
        }
        let degree = |n: usize| bodies(n).map(|i| of_body[i as usize]).sum::<f64>();
        chosen.iter().map(|&n| degree(n) * degree(n)).sum()
    }

    /// The pairs of blocks that share a dynamic body, in both orders.
    fn coupled(&self) -> Vec<(u32, u32)> {
        let mut touching: Vec<(u32, u32)> = Vec::new();
        for (n, block) in (0..).zip(&self.entries.blocks) {
            touching.extend(
                block.bodies.iter().filter(|&&i| self.movers.inverse(i).0 > 0.0).map(|&i| (i, n)),
            );
        }
        touching.sort_unstable();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for body in touching.chunk_by(|p, q| p.0 == q.0) {
            pairs.extend(body.iter().flat_map(|p| body.iter().map(|q| (p.1, q.1))));
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Adds the impulses to the momentum of each body.
    pub fn keep(&self, columns: Columns<'_>, poses: &[Isometry3<f64>], momenta: &mut [Momentum]) {
        for (i, momentum) in momenta.iter_mut().enumerate() {
            *momentum += self.movers.gained(columns, poses, &self.start, i);
        }
    }
}

/// `J_i M^-1 J_j^T`.
fn coupling(i: &Entry, j: &Entry) -> f64 {
    let mut sum = 0.0;
    for (side, &body) in j.row.bodies.iter().enumerate() {
        let side_velocity = &j.inv_mass_jacobian[side];
        for (own, &at) in i.row.bodies.iter().enumerate() {
            if at == body {
                let sign = if own == 0 { 1.0 } else { -1.0 };
                sum += sign * i.row.linear.dot(&side_velocity.linear)
                    + i.row.angular[own].dot(&side_velocity.angular);
            }
        }
    }
    sum
}
