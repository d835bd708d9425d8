//! Motion under loads by ordinary integrators, to compare one step per frame with.

use crate::{Load, MassProperties, Momentum};
use nalgebra::{Isometry3, Quaternion, SVector, Translation3, UnitQuaternion, Vector3};
use thiserror::Error;

/// Pose and momentum of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Centre of mass and principal axes.
    pub pose: Isometry3<f64>,
    /// Momentum about the centre of mass.
    pub momentum: Momentum,
}

/// A way to integrate the motion of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Integrator {
    /// Runge-Kutta of fifth order with embedded fourth (Dormand and Prince 1980) and adaptive
    /// steps, as in Ku07.
    DormandPrince {
        /// Bound on the error of each step in position, orientation and both momenta, each
        /// relative to its size.
        tolerance: f64,
    },
    /// Momentum first, then pose with it; the quaternion is moved along its tangent and
    /// normalised, as in Br11.
    SemiImplicitEuler {
        /// Number of equal steps.
        steps: u32,
    },
}

/// Why a motion was not integrated.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum IntegrateError {
    /// The duration is not finite.
    #[error("duration must be finite, not {duration} s")]
    Duration {
        /// The duration given, s.
        duration: f64,
    },
    /// The tolerance is not positive and finite.
    #[error("tolerance must be positive and finite, not {tolerance}")]
    Tolerance {
        /// The tolerance given.
        tolerance: f64,
    },
    /// No steps were asked for.
    #[error("at least one step is needed")]
    NoSteps,
    /// The motion cannot be followed to this tolerance in ten million steps, or its loads are not
    /// finite.
    #[error(
        "stuck at {time} s with steps of {step:e} s: raise the tolerance, shorten the duration or check the loads"
    )]
    Stuck {
        /// Time reached, s.
        time: f64,
        /// Last step tried, s.
        step: f64,
    },
}

/// Where a motion has led.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// The state at the end.
    pub state: State,
    /// Steps taken to get there.
    pub steps: u32,
}

/// The motion of a body from `start` for `duration` s, which may be negative, under the load that
/// `load` gives for a time in s since the start and a state.
///
/// # Errors
/// [`IntegrateError`] if a number makes no sense or an adaptive integrator cannot reach the end.
pub fn integrate(
    mass: &MassProperties,
    start: &State,
    duration: f64,
    load: impl Fn(f64, &State) -> Load,
    integrator: Integrator,
) -> Result<Motion, IntegrateError> {
    if !duration.is_finite() {
        return Err(IntegrateError::Duration { duration });
    }
    match integrator {
        Integrator::DormandPrince { tolerance } => {
            if !(tolerance > 0.0 && tolerance.is_finite()) {
                return Err(IntegrateError::Tolerance { tolerance });
            }
            dormand_prince(mass, start, duration, load, tolerance)
        }
        Integrator::SemiImplicitEuler { steps: 0 } => Err(IntegrateError::NoSteps),
        Integrator::SemiImplicitEuler { steps } => {
            let dt = duration / f64::from(steps);
            let state = (0..steps).fold(*start, |state, i| {
                semi_implicit_euler(mass, &state, dt, &load(f64::from(i) * dt, &state))
            });
            Ok(Motion { state, steps })
        }
    }
}

fn semi_implicit_euler(mass: &MassProperties, state: &State, dt: f64, load: &Load) -> State {
    let mut momentum = state.momentum;
    momentum.push(load, dt);
    let rotation = &state.pose.rotation;
    let spin = mass.angular_velocity(rotation, &momentum.angular);
    let turned = rotation.quaternion() + rate_of_turning(&spin, rotation.quaternion()) * dt;
    let place = state.pose.translation.vector + momentum.linear * (dt / mass.mass());
    State {
        pose: Isometry3::from_parts(
            Translation3::from(place),
            UnitQuaternion::new_normalize(turned),
        ),
        momentum,
    }
}

/// `dq/dt` for angular velocity `spin` in world axes.
fn rate_of_turning(spin: &Vector3<f64>, rotation: &Quaternion<f64>) -> Quaternion<f64> {
    Quaternion::from_imag(*spin) * rotation * 0.5
}

/// Position, quaternion, linear and angular momentum, in a row.
type Row = SVector<f64, 13>;

/// Where each of the four starts in a [`Row`], and its length.
const PARTS: [(usize, usize); 4] = [(0, 3), (3, 4), (7, 3), (10, 3)];

fn row(place: &Vector3<f64>, turn: &Quaternion<f64>, momentum: &Momentum) -> Row {
    let mut row = Row::zeros();
    row.fixed_rows_mut::<3>(0).copy_from(place);
    row.fixed_rows_mut::<4>(3).copy_from(&turn.coords);
    row.fixed_rows_mut::<3>(7).copy_from(&momentum.linear);
    row.fixed_rows_mut::<3>(10).copy_from(&momentum.angular);
    row
}

fn state(row: &Row) -> State {
    let turn = Quaternion::from(row.fixed_rows::<4>(3).into_owned());
    State {
        pose: Isometry3::from_parts(
            Translation3::from(row.fixed_rows::<3>(0).into_owned()),
            UnitQuaternion::new_normalize(turn),
        ),
        momentum: Momentum {
            linear: row.fixed_rows::<3>(7).into_owned(),
            angular: row.fixed_rows::<3>(10).into_owned(),
        },
    }
}

fn rate(mass: &MassProperties, at: &Row, load: impl Fn(&State) -> Load) -> Row {
    let state = state(at);
    let load = load(&state);
    let rotation = &state.pose.rotation;
    let spin = mass.angular_velocity(rotation, &state.momentum.angular);
    row(
        &(state.momentum.linear / mass.mass()),
        &rate_of_turning(&spin, rotation.quaternion()),
        &Momentum { linear: load.force, angular: load.torque },
    )
}

fn dormand_prince(
    mass: &MassProperties,
    start: &State,
    duration: f64,
    load: impl Fn(f64, &State) -> Load,
    tolerance: f64,
) -> Result<Motion, IntegrateError> {
    const MAX_STEPS: u32 = 10_000_000;
    let pose = &start.pose;
    let mut at = row(&pose.translation.vector, pose.rotation.quaternion(), &start.momentum);
    let (mut time, mut step, mut steps) = (0.0, duration, 0);
    while time != duration {
        // the last step ends on the end exactly
        let last = (duration - time).abs() <= step.abs();
        let dt = if last { duration - time } else { step };
        let (next, error) = attempt(dt, &at, |t, at| rate(mass, at, |s| load(time + t, s)));
        // doubling and halving needs no root of the error, whose bits differ between platforms
        let worst = relative_error(&at, &next, &error) / tolerance;
        if worst <= 1.0 {
            time = if last { duration } else { time + dt };
            let reached = state(&next);
            at = row(&reached.pose.translation.vector, &reached.pose.rotation, &reached.momentum);
            steps += 1;
            if worst < 1.0 / 64.0 {
                step = 2.0 * dt;
            }
        } else {
            step = 0.5 * dt;
        }
        if steps == MAX_STEPS || time != duration && time + step == time {
            return Err(IntegrateError::Stuck { time, step });
        }
    }
    Ok(Motion { state: state(&at), steps })
}

/// Sum of the errors of position, quaternion and momenta, each relative to its size or its change.
fn relative_error(before: &Row, after: &Row, error: &Row) -> f64 {
    let relative = |(start, length): (usize, usize)| {
        let of = |row: &Row| row.rows(start, length).norm();
        let size = of(before).max(of(&(after - before)));
        if of(error) == 0.0 { 0.0 } else { of(error) / size }
    };
    PARTS.into_iter().map(relative).sum()
}

/// One step of Dormand and Prince: the fifth-order result and its difference to the fourth.
fn attempt(dt: f64, at: &Row, rate: impl Fn(f64, &Row) -> Row) -> (Row, Row) {
    let mut rates = [Row::zeros(); 7];
    let mut reached = *at;
    for (stage, weights) in STAGES.iter().enumerate() {
        let slope: Row = weights.iter().zip(&rates).map(|(w, r)| r * *w).sum();
        reached = at + slope * dt;
        rates[stage] = rate(NODES[stage] * dt, &reached);
    }
    // the last stage is the fifth-order result
    let error: Row = ERROR.iter().zip(&rates).map(|(w, r)| r * *w).sum();
    (reached, error * dt)
}

const NODES: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];

const STAGES: [[f64; 6]; 7] = [
    [0.0; 6],
    [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// Fifth-order weights less fourth-order weights.
const ERROR: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339_200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];
