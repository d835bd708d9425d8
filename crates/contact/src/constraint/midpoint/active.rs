//! The active set of limits and motors.

use super::held::{Act, Held, Rule};
use super::line::{Move, Side};
use super::link::sides;
use super::linkage::Linkage;

/// Tolerance of limits, rad and relative to the longest arm.
const PASSED: f64 = 1e-10;

impl Linkage {
    /// Releases active rows with impulses beyond their bounds and activates violated rows. Returns whether the
    /// active set changed.
    pub(super) fn switch(&mut self, props: &[Move], h: f64) -> bool {
        let (moves, size) = (self.moves(), self.size);
        let mut changed = false;
        for link in &mut self.links {
            let sides = sides(link, &moves, props);
            changed |= switch_limits(&mut link.rows, [&sides[0], &sides[1]], size);
            let limit = |row: &Held| row.rule == Rule::Limit && row.act == Act::Keeps;
            let stopped = link.rows.iter().position(limit);
            let Some(at) = link.rows.iter().position(|row| matches!(row.rule, Rule::Motor { .. }))
            else {
                continue;
            };
            let lower = stopped == Some(at + 1);
            let motor = &mut link.rows[at];
            let over = motor.line(&sides).value - motor.target;
            changed |= switch_motor(motor, stopped.map(|_| lower), over, h);
        }
        changed
    }
}

/// Releases limits with negative impulses and activates violated limits, of two the less violated. Returns
/// whether the active set changed.
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

/// Bounds a motor at its maximum torque, or holds its speed if it would run `over`. Against a limit the motor
/// pushes with its maximum. Returns whether that changed.
fn switch_motor(motor: &mut Held, stopped: Option<bool>, over: f64, h: f64) -> bool {
    let Rule::Motor { most, .. } = motor.rule else { return false };
    let most = most * h;
    match (motor.act, stopped) {
        (Act::Keeps, Some(lower)) => {
            let push = if most.is_finite() { most } else { 0.0 };
            (motor.act, motor.impulse) = (Act::Bound, if lower { -push } else { push });
            true
        }
        (Act::Keeps, None) if motor.impulse.abs() > most * (1.0 + PASSED) => {
            (motor.act, motor.impulse) = (Act::Bound, most.copysign(motor.impulse));
            true
        }
        (Act::Bound, None) if over * motor.impulse.signum() > PASSED || !most.is_finite() => {
            motor.act = Act::Keeps;
            true
        }
        (Act::Keeps | Act::Bound, _) => false,
    }
}
