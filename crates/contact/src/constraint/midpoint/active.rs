//! The active set of limits and motors.

use super::joint_row::{JointRow, RowState, Rule};
use super::link::sides;
use super::linkage::Linkage;
use super::row_gradient::{JointSide, Move};

/// Tolerance of limits: rad for angles, a share of the longest lever arm for lengths.
const PASSED: f64 = 1e-10;

impl Linkage {
    /// Whether limits and motors satisfy complementarity; else changes the active set by block
    /// principal pivoting (Judice and Pires 1994): all violating joints change while their number
    /// falls below the previous `fewest`, else only the first, which terminates for every positive
    /// definite Delassus operator (Murty 1974).
    pub(super) fn is_complementary(
        &mut self,
        prescribed: &[Move],
        h: f64,
        fewest: &mut usize,
    ) -> bool {
        let (moves, size) = (self.moves(), self.size);
        let mut changes: Vec<(usize, Vec<JointRow>)> = Vec::new();
        for (n, link) in self.links.iter().enumerate().filter(|(_, link)| link.is_bounded()) {
            let sides = sides(link, &moves, prescribed);
            let mut rows = link.rows.clone();
            if pivot(&mut rows, &sides, size, h) {
                changes.push((n, rows));
            }
        }
        let count = changes.len();
        let chosen = if count < *fewest { count } else { 1 };
        *fewest = count.min(*fewest);
        for (n, rows) in changes.into_iter().take(chosen) {
            self.links[n].rows = rows;
        }
        count == 0
    }
}

/// Pivots the limits and the motor of a joint towards complementarity, given the `size` of the
/// linkage, m, and the inner step, s. Returns whether that changed the active set.
fn pivot(rows: &mut [JointRow], sides: &[JointSide; 2], size: f64, h: f64) -> bool {
    let changed = switch_limits(rows, [&sides[0], &sides[1]], size);
    let Some(at) = rows.iter().position(|row| matches!(row.rule, Rule::Motor { .. })) else {
        return changed;
    };
    let limit = |row: &JointRow| row.rule == Rule::Limit && row.state == RowState::Active;
    let stopped = rows.iter().position(limit);
    let over = rows[at].gradient(sides).value - rows[at].target;
    let Some(limit) = stopped else {
        return switch_motor(&mut rows[at], over, h) || changed;
    };
    let outward = if limit == at + 1 { -1.0 } else { 1.0 };
    if is_drawn_back(&rows[at], over * outward) {
        (rows[limit].state, rows[limit].impulse) = (RowState::AtBound, 0.0);
        rows[at].state = RowState::Active;
        return true;
    }
    stop_motor(&mut rows[at], over, outward, h) || changed
}

/// Releases limits with negative impulses and activates violated limits; of two violated limits,
/// the less violated one. Returns whether the active set changed.
fn switch_limits(rows: &mut [JointRow], sides: [&JointSide; 2], size: f64) -> bool {
    let passed = |row: &JointRow| {
        let least = if row.is_angular() { PASSED } else { PASSED * size };
        row.rule == Rule::Limit && row.state == RowState::AtBound && row.room(sides) < -least
    };
    let mut changed = false;
    for row in
        rows.iter_mut().filter(|row| row.rule == Rule::Limit && row.state == RowState::Active)
    {
        if row.impulse < 0.0 {
            (row.state, row.impulse) = (RowState::AtBound, 0.0);
            changed = true;
        }
    }
    if changed || rows.iter().any(|row| row.rule == Rule::Limit && row.state == RowState::Active) {
        return changed;
    }
    let nearest = rows.iter_mut().filter(|row| passed(row));
    if let Some(row) = nearest.max_by(|p, q| p.room(sides).total_cmp(&q.room(sides))) {
        row.state = RowState::Active;
        changed = true;
    }
    changed
}

/// Saturates a motor at its maximum impulse, or lets it control the speed again once the speed
/// exceeds the target by `over`. Returns whether the state changed.
fn switch_motor(motor: &mut JointRow, over: f64, h: f64) -> bool {
    let Rule::Motor { max_force, .. } = motor.rule else { return false };
    let max_impulse = max_force * h;
    match motor.state {
        RowState::Active if motor.impulse.abs() > max_impulse * (1.0 + PASSED) => {
            (motor.state, motor.impulse) = (RowState::AtBound, max_impulse.copysign(motor.impulse));
            true
        }
        RowState::AtBound if over * motor.impulse.signum() > PASSED || !max_impulse.is_finite() => {
            motor.state = RowState::Active;
            true
        }
        RowState::Active | RowState::AtBound => false,
    }
}

/// Saturates the motor of a joint at a limit: towards its target, which the joint exceeds by
/// `over`, or `outward` (the sign that leads into the limit) if the target is at the limit. Returns
/// whether the state changed.
fn stop_motor(motor: &mut JointRow, over: f64, outward: f64, h: f64) -> bool {
    let Rule::Motor { max_force, .. } = motor.rule else { return false };
    let push = if max_force.is_finite() { max_force * h } else { 0.0 };
    let impulse = if over * outward > PASSED { -push * outward } else { push * outward };
    let changed = motor.state == RowState::Active || motor.impulse != impulse;
    (motor.state, motor.impulse) = (RowState::AtBound, impulse);
    changed
}

/// Whether a motor without a maximum force moves the joint back from a limit `beyond` its target.
fn is_drawn_back(motor: &JointRow, beyond: f64) -> bool {
    matches!(motor.rule, Rule::Motor { max_force, .. } if !max_force.is_finite()) && beyond > PASSED
}
