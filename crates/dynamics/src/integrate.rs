//! Motion under loads by standard integrators, for comparison with one step per frame.

use crate::{Load, MassProperties, Momentum};
use nalgebra::{Isometry3, Quaternion, SVector, Translation3, UnitQuaternion, Vector3};
use thiserror::Error;

/// Pose and momentum of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Center of mass and principal axes.
    pub pose: Isometry3<f64>,
    /// Momentum about the center of mass.
    pub momentum: Momentum,
}

impl State {
    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        let Self { pose, momentum } = self;
        let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
        numbers.chain(&momentum.linear).chain(&momentum.angular).all(|x| x.is_finite())
    }
}

/// An integrator of the motion of a body.
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
    /// Momentum first, then the pose; the quaternion moves along its tangent and is normalized, as
    /// in Br11.
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
    /// The number of steps is zero.
    #[error("at least one step is needed")]
    NoSteps,
    /// A state is not finite.
    #[error("the state after {time:e} s is not finite: check the start, the shapes and the loads")]
    NotFinite {
        /// Time since the start, s.
        time: f64,
    },
    /// The motion needs more than ten million steps for this tolerance, or its loads are not
    /// finite.
    #[error(
        "stuck at {time:e} s with steps of {step:e} s: raise the tolerance, shorten the duration, or check that \
         the loads are finite"
    )]
    Stuck {
        /// Time reached, s.
        time: f64,
        /// Last step tried, s.
        step: f64,
    },
}

/// The result of an integration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// The state at the end.
    pub state: State,
    /// Steps taken to get there.
    pub steps: u32,
}

/// The motion of a body from `start` for `duration` s, which may be negative, under the load that
/// `load` returns for a time in s since the start and a state.
///
/// # Errors
/// [`IntegrateError`] if a number is invalid or an adaptive integrator cannot reach the end.
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
    if !start.is_finite() {
        return Err(IntegrateError::NotFinite { time: 0.0 });
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
            let mut state = *start;
            for i in 0..steps {
                let time = f64::from(i) * dt;
                state = semi_implicit_euler(mass, &state, dt, &load(time, &state));
                if !state.is_finite() {
                    return Err(IntegrateError::NotFinite { time: time + dt });
                }
            }
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

/// Position, quaternion, linear and angular momentum, as one vector.
type Row = SVector<f64, 13>;

/// Start and length of each of the four parts of a [`Row`].
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

fn row_of(state: &State) -> Row {
    row(&state.pose.translation.vector, state.pose.rotation.quaternion(), &state.momentum)
}

fn rate(body: &CoupledBody, state: &State, load: &Load) -> Row {
    let rotation = &state.pose.rotation;
    let spin = body.mass.angular_velocity(rotation, &state.momentum.angular);
    row(
        &(state.momentum.linear / body.mass.mass()),
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
    let body = CoupledBody { mass: *mass, start: *start, scale: Scale::default() };
    let mut state = *start;
    let accuracy = Accuracy { tolerance, least_step: 0.0 };
    let loads = |t: f64, states: &[State]| states.iter().map(|s| load(t, s)).collect();
    let reached = |_: f64, states: &[State]| states.iter().for_each(|s| state = *s);
    let steps = integrate_coupled(&[body], duration, loads, accuracy, reached)?;
    Ok(Motion { state, steps })
}

/// Least sizes relative to which errors are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scale {
    /// Length, m.
    pub length: f64,
    /// Speed, m/s.
    pub speed: f64,
}

/// A body whose load depends on the states of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupledBody {
    /// Its mass properties.
    pub mass: MassProperties,
    /// Its state at the start.
    pub start: State,
    /// Least sizes for the error control.
    pub scale: Scale,
}

/// Error control of [`integrate_coupled`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// Bound on the error of each step and body in position, orientation and both momenta, each
    /// relative to its size or to that of its [`Scale`].
    pub tolerance: f64,
    /// Minimum step, s: shorter ones are accepted without error control, because loads may be
    /// discontinuous.
    pub least_step: f64,
}

/// The motion of bodies for `duration` s, which may be negative, by [`Integrator::DormandPrince`]
/// in common steps. `loads` returns the load on each body for a time in s since the start and the
/// states of all. `reached` is called with the time and the states after each step. Returns the
/// number of steps.
///
/// # Errors
/// [`IntegrateError`] if a number is invalid or the end cannot be reached.
///
/// # Panics
/// If `loads` returns fewer loads than there are bodies.
pub fn integrate_coupled(
    bodies: &[CoupledBody],
    duration: f64,
    mut loads: impl FnMut(f64, &[State]) -> Vec<Load>,
    accuracy: Accuracy,
    mut reached: impl FnMut(f64, &[State]),
) -> Result<u32, IntegrateError> {
    const MAX_STEPS: u32 = 10_000_000;
    let Accuracy { tolerance, least_step } = accuracy;
    if !duration.is_finite() {
        return Err(IntegrateError::Duration { duration });
    }
    if !(tolerance > 0.0 && tolerance.is_finite()) {
        return Err(IntegrateError::Tolerance { tolerance });
    }
    if !bodies.iter().all(|body| body.start.is_finite()) {
        return Err(IntegrateError::NotFinite { time: 0.0 });
    }
    let mut at: Vec<Row> = bodies.iter().map(|body| row_of(&body.start)).collect();
    let (mut time, mut step, mut steps) = (0.0, duration, 0);
    while time != duration {
        // the last step ends exactly at the end
        let last = (duration - time).abs() <= step.abs();
        let dt = if last { duration - time } else { step };
        let rates = |t: f64, at: &[Row]| {
            let states: Vec<State> = at.iter().map(state).collect();
            let loads = loads(time + t, &states);
            bodies.iter().zip(states.iter().zip(&loads)).map(|(b, (s, l))| rate(b, s, l)).collect()
        };
        let (next, errors) = attempt(dt, &at, rates);
        // steps are only doubled or halved: a root of the error would differ between platforms
        let worst = bodies.iter().enumerate().map(|(i, body)| {
            relative_error(&body.least_sizes(), [&at[i], &next[i], &errors[i]]) / tolerance
        });
        // NaN stays the worst error and is rejected
        let worst =
            worst.fold(0.0, |worst: f64, x| if worst.is_nan() || x <= worst { worst } else { x });
        if worst <= 1.0 || dt.abs() <= least_step {
            time = if last { duration } else { time + dt };
            let states: Vec<State> = next.iter().map(state).collect();
            at = states.iter().map(row_of).collect();
            steps += 1;
            reached(time, &states);
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
    Ok(steps)
}

impl CoupledBody {
    /// Least divisors of the errors in position, quaternion, linear and angular momentum.
    fn least_sizes(&self) -> [f64; 4] {
        let Scale { length, speed } = self.scale;
        let linear = self.mass.mass() * speed;
        [length, 0.0, linear, linear * length]
    }
}

/// Sum of the errors of position, quaternion and momenta, each relative to its size, its change or
/// the `least` size.
fn relative_error(least: &[f64; 4], [before, after, error]: [&Row; 3]) -> f64 {
    let relative = |((start, length), least): ((usize, usize), &f64)| {
        let of = |row: &Row| row.rows(start, length).norm();
        let size = of(before).max(of(&(after - before))).max(*least);
        if of(error) == 0.0 { 0.0 } else { of(error) / size }
    };
    PARTS.into_iter().zip(least).map(relative).sum()
}

/// One step of Dormand and Prince: the fifth-order results and their differences to the fourth.
fn attempt(
    dt: f64,
    at: &[Row],
    mut rates_at: impl FnMut(f64, &[Row]) -> Vec<Row>,
) -> (Vec<Row>, Vec<Row>) {
    // rates of all bodies at each stage so far
    let mut rates: Vec<Vec<Row>> = Vec::with_capacity(7);
    let sum = |weights: &[f64], rates: &[Vec<Row>], body: usize| -> Row {
        weights.iter().zip(rates).map(|(w, stage)| stage[body] * *w).sum()
    };
    let mut reached = at.to_vec();
    for (stage, weights) in STAGES.iter().enumerate() {
        for (body, reached) in reached.iter_mut().enumerate() {
            *reached = at[body] + sum(weights, &rates, body) * dt;
        }
        rates.push(rates_at(NODES[stage] * dt, &reached));
    }
    // the last stage is the fifth-order result
    let errors = (0..at.len()).map(|body| sum(&ERROR, &rates, body) * dt).collect();
    (reached, errors)
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

/// Fifth-order weights minus fourth-order weights.
const ERROR: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339_200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];
