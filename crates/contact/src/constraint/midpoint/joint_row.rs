//! The rows of a joint with their active set.

use dynamics::{Body, Velocity, advance};
use nalgebra::{Isometry3, Vector3};

use super::row_gradient::{ConstraintForm, JointSide};
use crate::constraint::{Joint, JointKind, MAX_ROWS, Motor};

/// Kind of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// Bilateral constraint.
    Bilateral,
    /// Unilateral constraint: the value stays above its target.
    Limit,
    /// Motor with a target speed and a maximum force or torque, N or N m.
    Motor { speed: f64, max_force: f64 },
}

/// State of a row in the active set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RowState {
    /// Active: the impulse is free.
    Active,
    /// The impulse is at its bound.
    AtBound,
}

/// Rows whose velocity a projection removes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stop {
    /// Bilateral rows.
    Joints,
    /// Bilateral rows and active limits.
    Limits,
}

/// A row of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointRow {
    pub(super) form: ConstraintForm,
    pub(super) rule: Rule,
    /// Target or lower bound of the value.
    pub(super) target: f64,
    /// Negative farther than a quarter turn from the limit, where the limit does not apply.
    pub(super) near: Option<ConstraintForm>,
    pub(super) state: RowState,
    /// Impulse in this inner step, N s or N m s.
    pub(super) impulse: f64,
}

impl JointRow {
    fn new(form: ConstraintForm, rule: Rule, target: f64) -> Self {
        let state = if rule == Rule::Limit { RowState::AtBound } else { RowState::Active };
        Self { form, rule, target, near: None, state, impulse: 0.0 }
    }

    /// Whether the value is an angle or its sine.
    pub(super) fn is_angular(&self) -> bool {
        matches!(self.form, ConstraintForm::Dot(_) | ConstraintForm::Turn)
    }

    /// Distance to a limit, negative if violated.
    pub(super) fn room(&self, sides: [&JointSide; 2]) -> f64 {
        if self.near.is_some_and(|near| near.value(sides, 1) < 0.0) {
            return f64::INFINITY;
        }
        self.form.value(sides, 1) - self.target
    }
}

/// The rows of a joint in the order of [`Joint::rows`]. `None` for a rod of length zero.
pub(super) fn rows(joint: &Joint) -> Option<Vec<JointRow>> {
    let keep = |form: ConstraintForm| JointRow::new(form, Rule::Bilateral, 0.0);
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let straight = [0, 1, 2].map(|n| keep(ConstraintForm::Straight(n)));
    // the derivative of each product with respect to rotation about one axis of `b` is one
    let turns = [[y, z], [z, x], [x, y]].map(|pair| keep(ConstraintForm::Dot(pair)));
    let mut rows = Vec::with_capacity(MAX_ROWS);
    match joint.kind {
        JointKind::Point => rows.extend(straight),
        JointKind::Distance { least, most } => {
            if most <= 1e-9 {
                return None;
            }
            if least == most {
                rows.push(JointRow { target: most, ..keep(ConstraintForm::Length(1.0)) });
            } else {
                // a distance is never below zero
                let least = if least > 0.0 { least } else { f64::NEG_INFINITY };
                rows.push(JointRow::new(ConstraintForm::Length(1.0), Rule::Limit, least));
                rows.push(JointRow::new(ConstraintForm::Length(-1.0), Rule::Limit, -most));
            }
        }
        JointKind::Hinge => {
            rows.extend(straight);
            rows.extend([[x, -z], [x, y]].map(|pair| keep(ConstraintForm::Dot(pair))));
            rows.extend(joint.motor.map(|motor| motor_row(ConstraintForm::Turn, motor)));
            rows.extend(joint.limits.into_iter().flat_map(angles));
        }
        JointKind::Slider => {
            rows.extend(turns);
            rows.extend([y, z].map(|axis| keep(ConstraintForm::Across(axis))));
            rows.extend(joint.motor.map(|motor| motor_row(ConstraintForm::Across(x), motor)));
            if let Some([least, most]) = joint.limits {
                rows.push(JointRow::new(ConstraintForm::Across(x), Rule::Limit, least));
                rows.push(JointRow::new(ConstraintForm::Across(-x), Rule::Limit, -most));
            }
        }
        JointKind::Fixed => {
            rows.extend(straight);
            rows.extend(turns);
        }
    }
    Some(rows)
}

fn motor_row(form: ConstraintForm, Motor { speed, max_force }: Motor) -> JointRow {
    JointRow::new(form, Rule::Motor { speed, max_force }, 0.0)
}

/// The limits of a hinge, as sines of the angle beyond them.
fn angles([least, most]: [f64; 2]) -> [JointRow; 2] {
    let one = |angle: f64, sign: f64| {
        // angles beyond half a turn are ambiguous
        let is_near = angle.abs() <= std::f64::consts::PI;
        let angular = Vector3::x() * if is_near { angle } else { 0.0 };
        let spin = Body::Kinematic(Velocity { angular, ..Velocity::default() });
        // not by the standard library's sine, whose bits differ between platforms
        let turn = advance(&spin, &Isometry3::identity(), &dynamics::Momentum::default(), 1.0);
        let sine = ConstraintForm::Dot([Vector3::y(), turn * Vector3::z() * sign]);
        let cosine = ConstraintForm::Dot([Vector3::y(), turn * Vector3::y()]);
        let target = if is_near { 0.0 } else { f64::NEG_INFINITY };
        JointRow { near: Some(cosine), ..JointRow::new(sine, Rule::Limit, target) }
    };
    [one(least, 1.0), one(most, -1.0)]
}
