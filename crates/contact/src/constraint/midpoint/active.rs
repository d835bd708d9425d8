//! The active set of limits and motors.

use super::held::{Act, Held, Rule};
use super::line::{Move, Side};
use super::link::sides;
use super::linkage::Linkage;

/// Tolerance of limits: rad for angles, a share of the longest lever arm for lengths.
const PASSED: f64 = 1e-10;

impl Linkage {
    /// Whether limits and motors satisfy complementarity; else changes the active set by block
    /// principal pivoting (Judice and Pires 1994): all violating joints change while their number
    /// falls below the previous `fewest`, else only the first, which terminates for every positive
    /// definite Delassus operator (Murty 1974).
    pub(super) fn is_complementary(&mut self, props: &[Move], h: f64, fewest: &mut usize) -> bool {
        let (moves, size) = (self.moves(), self.size);
        let mut changes: Vec<(usize, Vec<Held>)> = Vec::new();
        for (n, link) in self.links.iter().enumerate().filter(|(_, link)| link.is_bounded()) {
            let sides = sides(link, &moves, props);
            let mut rows = link.rows.clone();
            if pivot(&mut rows, &sides, (size, h)) {
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
fn pivot(rows: &mut [Held], sides: &[Side; 2], (size, h): (f64, f64)) -> bool {
    let changed = switch_limits(rows, [&sides[0], &sides[1]], size);
    let Some(at) = rows.iter().position(|row| matches!(row.rule, Rule::Motor { .. })) else {
        return changed;
    };
    let limit = |row: &Held| row.rule == Rule::Limit && row.act == Act::Keeps;
    let stopped = rows.iter().position(limit);
    let over = rows[at].line(sides).value - rows[at].target;
    let Some(limit) = stopped else {
        return switch_motor(&mut rows[at], over, h) || changed;
    };
    let outward = if limit == at + 1 { -1.0 } else { 1.0 };
    if is_drawn_back(&rows[at], over * outward) {
        (rows[limit].act, rows[limit].impulse) = (Act::Bound, 0.0);
        rows[at].act = Act::Keeps;
        return true;
    }
    stop_motor(&mut rows[at], (over, outward), h) || changed
}

/// Releases limits with negative impulses and activates violated limits; of two violated limits,
/// the less violated one. Returns whether the active set changed.
fn switch_limits(rows: &mut [Held], sides: [&Side; 2], size: f64) -> bool {
    let passed = |row: &Held| {
        let least = if row.is_angular() { PASSED } else { PASSED * size };
        row.rule == Rule::Limit && row.act == Act::Bound && row.room(sides) < -least
    };
    let mut changed = false;
    for row in rows.iter_mut().filter(|row| row.rule == Rule::Limit && row.act == Act::Keeps) {
        if row.impulse < 0.0 {
            (row.act, row.impulse) = (Act::Bound, 0.0);
            changed = true;
        }
    }
    if changed || rows.iter().any(|row| row.rule == Rule::Limit && row.act == Act::Keeps) {
        return changed;
    }
    let nearest = rows.iter_mut().filter(|row| passed(row));
    if let Some(row) = nearest.max_by(|p, q| p.room(sides).total_cmp(&q.room(sides))) {
        row.act = Act::Keeps;
        changed = true;
    }
    changed
}

/// Saturates a motor at its maximum impulse, or lets it control the speed again once the speed
/// exceeds the target by `over`. Returns whether the state changed.
fn switch_motor(motor: &mut Held, over: f64, h: f64) -> bool {
    let Rule::Motor { max_force, .. } = motor.rule else { return false };
    let max_impulse = max_force * h;
    match motor.act {
        Act::Keeps if motor.impulse.abs() > max_impulse * (1.0 + PASSED) => {
            (motor.act, motor.impulse) = (Act::Bound, max_impulse.copysign(motor.impulse));
            true
        }
        Act::Bound if over * motor.impulse.signum() > PASSED || !max_impulse.is_finite() => {
            motor.act = Act::Keeps;
            true
        }
        Act::Keeps | Act::Bound => false,
    }
}

/// Saturates the motor of a joint at a limit: towards its target, which the joint exceeds by
/// `over`, or `outward` (the sign that leads into the limit) if the target is at the limit. Returns
/// whether the state changed.
fn stop_motor(motor: &mut Held, (over, outward): (f64, f64), h: f64) -> bool {
    let Rule::Motor { max_force, .. } = motor.rule else { return false };
    let push = if max_force.is_finite() { max_force * h } else { 0.0 };
    let impulse = if over * outward > PASSED { -push * outward } else { push * outward };
    let changed = motor.act == Act::Keeps || motor.impulse != impulse;
    (motor.act, motor.impulse) = (Act::Bound, impulse);
    changed
}

/// Whether a motor without a maximum force moves the joint back from a limit `beyond` its target.
fn is_drawn_back(motor: &Held, beyond: f64) -> bool {
    matches!(motor.rule, Rule::Motor { max_force, .. } if !max_force.is_finite()) && beyond > PASSED
}
