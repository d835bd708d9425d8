//! The rows of a joint with their active set.

use dynamics::{Body, Velocity, advance};
use nalgebra::{Isometry3, Vector3};

use super::line::{Form, Side};
use crate::constraint::{Joint, JointKind, MAX_ROWS, Motor};

/// Kind of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// Bilateral constraint.
    Always,
    /// Unilateral constraint: the value stays above its target.
    Limit,
    /// Motor with a target speed and a maximum force or torque, N or N m.
    Motor { speed: f64, max_force: f64 },
}

/// State of a row in the active set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Act {
    /// Active: the impulse is free.
    Keeps,
    /// The impulse is at its bound.
    Bound,
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
pub(super) struct Held {
    pub(super) form: Form,
    pub(super) rule: Rule,
    /// Target or lower bound of the value.
    pub(super) target: f64,
    /// Negative farther than a quarter turn from the limit, where the limit does not apply.
    pub(super) near: Option<Form>,
    pub(super) act: Act,
    /// Impulse in this inner step, N s or N m s.
    pub(super) impulse: f64,
}

impl Held {
    fn new(form: Form, rule: Rule, target: f64) -> Self {
        let act = if rule == Rule::Limit { Act::Bound } else { Act::Keeps };
        Self { form, rule, target, near: None, act, impulse: 0.0 }
    }

    /// Whether the value is an angle or its sine.
    pub(super) fn is_angular(&self) -> bool {
        matches!(self.form, Form::Dot(_) | Form::Turn)
    }

    /// Distance to a limit, negative if violated.
    pub(super) fn room(&self, sides: [&Side; 2]) -> f64 {
        if self.near.is_some_and(|near| near.value(sides, 1) < 0.0) {
            return f64::INFINITY;
        }
        self.form.value(sides, 1) - self.target
    }
}

/// The rows of a joint in the order of [`Joint::rows`]. `None` for a rod of length zero.
pub(super) fn rows(joint: &Joint) -> Option<Vec<Held>> {
    let keep = |form: Form| Held::new(form, Rule::Always, 0.0);
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let straight = [0, 1, 2].map(|n| keep(Form::Straight(n)));
    // the derivative of each product with respect to rotation about one axis of `b` is one
    let turns = [[y, z], [z, x], [x, y]].map(|pair| keep(Form::Dot(pair)));
    let mut rows = Vec::with_capacity(MAX_ROWS);
    match joint.kind {
        JointKind::Point => rows.extend(straight),
        JointKind::Distance { least, most } => {
            if most <= 1e-9 {
                return None;
            }
            if least == most {
                rows.push(Held { target: most, ..keep(Form::Length(1.0)) });
            } else {
                // a distance is never below zero
                let least = if least > 0.0 { least } else { f64::NEG_INFINITY };
                rows.push(Held::new(Form::Length(1.0), Rule::Limit, least));
                rows.push(Held::new(Form::Length(-1.0), Rule::Limit, -most));
            }
        }
        JointKind::Hinge => {
            rows.extend(straight);
            rows.extend([[x, -z], [x, y]].map(|pair| keep(Form::Dot(pair))));
            rows.extend(joint.motor.map(|motor| motor_row(Form::Turn, motor)));
            rows.extend(joint.limits.into_iter().flat_map(angles));
        }
        JointKind::Slider => {
            rows.extend(turns);
            rows.extend([y, z].map(|axis| keep(Form::Across(axis))));
            rows.extend(joint.motor.map(|motor| motor_row(Form::Across(x), motor)));
            if let Some([least, most]) = joint.limits {
                rows.push(Held::new(Form::Across(x), Rule::Limit, least));
                rows.push(Held::new(Form::Across(-x), Rule::Limit, -most));
            }
        }
        JointKind::Fixed => {
            rows.extend(straight);
            rows.extend(turns);
        }
    }
    Some(rows)
}

fn motor_row(form: Form, Motor { speed, max_force }: Motor) -> Held {
    Held::new(form, Rule::Motor { speed, max_force }, 0.0)
}

/// The limits of a hinge, as sines of the angle beyond them.
fn angles([least, most]: [f64; 2]) -> [Held; 2] {
    let one = |angle: f64, sign: f64| {
        // angles beyond half a turn are ambiguous
        let is_near = angle.abs() <= std::f64::consts::PI;
        let angular = Vector3::x() * if is_near { angle } else { 0.0 };
        let spin = Body::Kinematic(Velocity { angular, ..Velocity::default() });
        // not by the standard library's sine, whose bits differ between platforms
        let turn = advance(&spin, &Isometry3::identity(), &dynamics::Momentum::default(), 1.0);
        let sine = Form::Dot([Vector3::y(), turn * Vector3::z() * sign]);
        let cosine = Form::Dot([Vector3::y(), turn * Vector3::y()]);
        let target = if is_near { 0.0 } else { f64::NEG_INFINITY };
        Held { near: Some(cosine), ..Held::new(sine, Rule::Limit, target) }
    };
    [one(least, 1.0), one(most, -1.0)]
}
