//! Projection onto the position constraints of joints at the end of a step.
//!
//! The constraint Jacobian is that of the start of the step, and the constraints are nonlinear.
//! [`project_with_impulses`] repeats the position stage of SHAKE (Ryckaert 1977; the first half of
//! RATTLE) until the predicted poses satisfy them, and its impulses count as momentum. It does not
//! converge where bodies turn by more than a radian. There [`close`] projects poses by Gauss-Newton
//! steps in the metric of the masses, without momentum.

use dynamics::{Body, MassProperties, Momentum, Velocity};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};

use super::joint::{Joint, Stepping, push, rows_of};
use super::mlcp::Entries;
use super::row::{Bounds, Row};
use crate::frame::Frame;
use crate::solve::movers::Movers;
use crate::{Columns, Islands};

/// Tolerance of the position constraints, m or rad.
const CLOSED: f64 = 1e-9;
/// Limit of iterations of [`project_with_impulses`].
const ROUNDS: usize = 16;
/// Largest share of the constraint error that an accepted iteration leaves.
const BETTER: f64 = 0.7;
/// Limits of Gauss-Newton steps and of rejected ones, and the factor of the inertia after a
/// rejected step.
const MAX_MOVES: usize = 40;
const MAX_FAILED: usize = 8;
const HEAVIER: f64 = 10.0;
/// Largest rotation of a step, rad: the linearization does not hold beyond.
const MAX_TURN: f64 = 0.5;

/// Adds constraint impulses to `momenta`, the `gains` of bodies and the reactions of `joints` until
/// the predicted poses satisfy the bilateral constraints. Each linkage iterates while its error
/// falls.
pub(crate) fn project_with_impulses(
    frame: Frame<'_>,
    joints: &mut [Joint],
    gains: &mut [Momentum],
    momenta: &mut [Momentum],
) {
    let Frame { columns, poses, dt, .. } = frame;
    let stepping = Stepping { dt, error_reduction: 1.0, motor_time: 0.0 };
    let (rows, counts) = rows_of(joints, poses, stepping);
    let movers = Movers::new(columns, poses, &vec![Velocity::default(); poses.len()]);
    let Ok(entries) = Entries::new(&movers, &rows, poses.len()) else { return };
    let direct =
        entries.direct_solve(&movers, entries.movable_rows(|row| row.bounds == Bounds::FREE));
    let chosen: Vec<(usize, &Row)> =
        direct.rows().iter().map(|&n| (n as usize, &rows[n as usize])).collect();
    let groups = Groups::new(columns, joints);
    let constraint_errors = |joints: &[Joint], momenta: &[Momentum]| -> Vec<f64> {
        let all = constraint_errors(joints, &counts, [poses, &frame.predict(momenta)]);
        chosen.iter().map(|(n, _)| all[*n]).collect()
    };
    let worst = |errors: &[f64]| {
        groups.largest(chosen.iter().map(|chosen| chosen.1).zip(errors.iter().copied()))
    };
    let mut errors = constraint_errors(joints, momenta);
    let mut open = worst(&errors);
    let mut given = vec![0.0; rows.len()];
    for _ in 0..ROUNDS {
        if !open.iter().any(|open| *open >= CLOSED) {
            break;
        }
        let Some(impulses) = direct.solve(&errors) else { return };
        let mut next = momenta.to_vec();
        for ((_, row), impulse) in chosen.iter().zip(&impulses) {
            push(row, -impulse / dt, &mut next);
        }
        let now = constraint_errors(joints, &next);
        let left = worst(&now);
        let better: Vec<bool> = (open.iter().zip(&left))
            .map(|(open, left)| *open >= CLOSED && *left < BETTER * open)
            .collect();
        groups.take(momenta, &next, &better);
        for (k, (n, row)) in chosen.iter().enumerate() {
            if groups.of(row).is_some_and(|group| better[group]) {
                given[*n] -= impulses[k] / dt;
                errors[k] = now[k];
            }
        }
        open = better
            .iter()
            .zip(left)
            .map(|(better, left)| if *better { left } else { 0.0 })
            .collect();
    }
    let mut own = rows.iter().zip(given);
    for (joint, &count) in joints.iter_mut().zip(&counts) {
        for (n, (row, impulse)) in own.by_ref().take(count).enumerate() {
            joint.last.add(n, row, impulse);
            push(row, impulse, gains);
        }
    }
}

/// Constraint errors of all rows at the end of the step, m or rad; zero for unilateral rows and
/// motors.
fn constraint_errors(
    joints: &[Joint],
    counts: &[usize],
    [start, end]: [&[Isometry3<f64>]; 2],
) -> Vec<f64> {
    let mut all = Vec::with_capacity(counts.iter().sum());
    for (joint, &count) in joints.iter().zip(counts) {
        let rest = all.len() + count;
        if count > 0 {
            // bilateral rows come first
            all.extend(joint.constraint_errors(start, end));
        }
        all.resize(rest, 0.0);
    }
    all
}

/// Projects poses onto the constraints of joints and their limits, in the metric of the masses.
///
/// Translations meet the linearized constraints exactly, rotations to first order. A linkage whose
/// step is rejected gets a larger inertia, so that it translates in the end.
pub(crate) fn close(frame: Frame<'_>, poses: &mut [Isometry3<f64>]) {
    let Frame { columns, joints, .. } = frame;
    let whole = Stepping { dt: 1.0, error_reduction: 1.0, motor_time: 0.0 };
    let is_open = |row: &Row| match row.bounds {
        Bounds::PUSH => row.target > 0.0,
        bounds => bounds == Bounds::FREE,
    };
    let groups = Groups::new(columns, joints);
    let worst = |rows: &[Row]| {
        groups.largest(rows.iter().filter(|row| is_open(row)).map(|row| (row, row.target)))
    };
    let mut bodies = columns.bodies.to_vec();
    let (mut rows, _) = rows_of(joints, poses, whole);
    let mut apart = worst(&rows);
    let mut failed = vec![0; apart.len()];
    for _ in 0..MAX_MOVES {
        let open: Vec<bool> = (apart.iter().zip(&failed))
            .map(|(apart, failed)| *apart >= CLOSED && *failed <= MAX_FAILED)
            .collect();
        if !open.contains(&true) {
            return;
        }
        let columns = Columns { bodies: &bodies, ..columns };
        let is_chosen = |row: &Row| groups.of(row).is_some_and(|group| open[group]);
        let mut active: Vec<bool> = rows.iter().map(|row| is_open(row) && is_chosen(row)).collect();
        let Some(movers) = projected(columns, poses, &rows, is_chosen, &mut active) else {
            return;
        };
        let tried = groups.shifted(&movers, poses);
        let left = worst(&rows_of(joints, &tried, whole).0);
        let better: Vec<bool> = (0..open.len()).map(|k| left[k] < BETTER * apart[k]).collect();
        groups.take(poses, &tried, &better);
        for (body, group) in bodies.iter_mut().zip(groups.0.of_bodies()) {
            if group.is_some_and(|k| open[k as usize] && !better[k as usize]) {
                make_heavier(body);
            }
        }
        for (k, failed) in failed.iter_mut().enumerate() {
            *failed += usize::from(open[k] && !better[k]);
        }
        rows = rows_of(joints, poses, whole).0;
        apart = worst(&rows);
    }
}

/// The smallest displacements, in the metric of the masses, that close the joints of `chosen` rows
/// to first order, as velocities over 1 s. Limits are unilateral. Block principal pivoting finds
/// their active set: violated limits enter it, and limits with a negative multiplier leave it.
/// `None` if the rows cannot be solved.
fn projected(
    columns: Columns<'_>,
    poses: &[Isometry3<f64>],
    rows: &[Row],
    chosen: impl Fn(&Row) -> bool,
    active: &mut [bool],
) -> Option<Movers> {
    let is_limit = |n: usize| rows[n].bounds == Bounds::PUSH && chosen(&rows[n]);
    let limits: Vec<usize> = (0..rows.len()).filter(|&n| is_limit(n)).collect();
    let mut fewest = usize::MAX;
    for round in 0..=2 * limits.len() {
        let movers = Movers::new(columns, poses, &vec![Velocity::default(); poses.len()]);
        let entries = Entries::new(&movers, rows, poses.len()).ok()?;
        let mut own = entries.movable_rows(|_| true);
        own.retain(|&n| active[n as usize]);
        let direct = entries.direct_solve(&movers, own);
        let wanted: Vec<f64> = direct.rows().iter().map(|&n| rows[n as usize].target).collect();
        let impulses = direct.solve(&wanted)?;
        let pulls = direct.rows().iter().zip(&impulses).filter(|(_, impulse)| **impulse < 0.0);
        let mut wrong: Vec<usize> =
            pulls.map(|(&n, _)| n as usize).filter(|&n| is_limit(n)).collect();
        entries.change(&movers, direct.rows(), impulses);
        let speed = |row: &Row| {
            let [a, b] = row.bodies.map(|i| movers.velocity(i as usize));
            row.speed(&a, &b)
        };
        let is_passed = |n: &usize| !active[*n] && speed(&rows[*n]) < rows[*n].target - CLOSED;
        wrong.extend(limits.iter().copied().filter(is_passed));
        if wrong.is_empty() || round == 2 * limits.len() {
            return Some(movers);
        }
        wrong.sort_unstable();
        let count = if wrong.len() < fewest { wrong.len() } else { 1 };
        fewest = wrong.len().min(fewest);
        wrong[..count].iter().for_each(|&n| active[n] = !active[n]);
    }
    None
}

/// Increases the inertia of a body.
fn make_heavier(body: &mut Body) {
    let Body::Dynamic(mass) = body else { return };
    if let Ok(heavier) = MassProperties::new(mass.mass(), mass.inertia() * HEAVIER) {
        *mass = heavier;
    }
}

/// Connected components of bodies with joints as edges.
struct Groups(Islands);

impl Groups {
    fn new(columns: Columns<'_>, joints: &[Joint]) -> Self {
        let known =
            |joint: &&Joint| joint.bodies.iter().all(|&i| (i as usize) < columns.bodies.len());
        let pairs: Vec<(u32, u32)> =
            joints.iter().filter(known).map(|joint| joint.bodies.into()).collect();
        Self(Islands::new(columns, &pairs))
    }

    /// The component of a row.
    fn of(&self, row: &Row) -> Option<usize> {
        let island = row.bodies.iter().find_map(|&i| self.0.of_bodies()[i as usize]);
        island.map(|island| island as usize)
    }

    /// Largest magnitude in each component; NaN if one is.
    fn largest<'a>(&self, numbers: impl Iterator<Item = (&'a Row, f64)>) -> Vec<f64> {
        let mut largest: Vec<f64> = vec![0.0; self.0.count()];
        for (row, x) in numbers {
            let Some(group) = self.of(row) else { continue };
            let most = &mut largest[group];
            if !(most.is_nan() || x.abs() <= *most) {
                *most = x.abs();
            }
        }
        largest
    }

    /// Copies the values of the `chosen` components.
    fn take<T: Copy>(&self, to: &mut [T], from: &[T], chosen: &[bool]) {
        for ((to, from), group) in to.iter_mut().zip(from).zip(self.0.of_bodies()) {
            if group.is_some_and(|group| chosen[group as usize]) {
                *to = *from;
            }
        }
    }

    /// Poses after 1 s at the velocities, or less if a body of the component turned by more than
    /// [`MAX_TURN`].
    fn shifted(&self, movers: &Movers, poses: &[Isometry3<f64>]) -> Vec<Isometry3<f64>> {
        let mut fastest: Vec<f64> = vec![0.0; self.0.count()];
        for (i, group) in self.0.of_bodies().iter().enumerate() {
            if let Some(group) = group {
                let fastest = &mut fastest[*group as usize];
                *fastest = fastest.max(movers.velocity(i).angular.norm());
            }
        }
        let shift = |(i, (pose, group)): (usize, (&Isometry3<f64>, &Option<u32>))| {
            let Some(group) = group else { return *pose };
            let share = (MAX_TURN / fastest[*group as usize]).min(1.0);
            let Velocity { linear, angular } = movers.velocity(i);
            let turn = UnitQuaternion::from_scaled_axis(angular * share);
            let place = pose.translation.vector + linear * share;
            Isometry3::from_parts(Translation3::from(place), turn * pose.rotation)
        };
        poses.iter().zip(self.0.of_bodies()).enumerate().map(shift).collect()
    }
}
