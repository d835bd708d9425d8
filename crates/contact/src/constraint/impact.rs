//! Time of impact of two bodies: bisection over motion integrated with error control (Ku07 section
//! 3.1).

use dynamics::{Body, IntegrateError, Integrator, Load, State, advance, integrate};
use nalgebra::Isometry3;

use crate::Shape;
use crate::narrow::posed::Posed;

/// Bound on the error of each integration step.
const ACCURACY: f64 = 1e-12;
/// Bisection stops at this interval, s.
const RESOLUTION: f64 = 1e-11;
/// Limit of steps along a path.
const MAX_STEPS: usize = 1_000_000;

/// The free flight of a body.
#[derive(Clone, Copy, Debug)]
pub struct FreeFlight<'a> {
    /// Mass properties or motion of the body.
    pub body: &'a Body,
    /// Its shape.
    pub shape: &'a Shape,
    /// State at the start.
    pub start: State,
    /// Constant force and torque about its center of mass.
    pub load: Load,
}

/// The impact of two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeOfImpact {
    /// Time of impact, s since the start; the bodies do not overlap yet.
    pub time: f64,
    /// States of the bodies at that time.
    pub states: [State; 2],
    /// Gap between them at that time, m; negative if they overlapped at the start.
    pub gap: f64,
}

impl FreeFlight<'_> {
    fn after(&self, state: &State, time: f64) -> Result<State, IntegrateError> {
        match self.body {
            Body::Dynamic(mass) => {
                let integrator = Integrator::DormandPrince { tolerance: ACCURACY };
                Ok(integrate(mass, state, time, |_, _| self.load, integrator)?.state)
            }
            Body::Static | Body::Kinematic(_) => {
                let pose = advance(self.body, &state.pose, &state.momentum, time);
                Ok(State { pose, ..*state })
            }
        }
    }

    /// Upper bound of the speed of all its points within `time` s, m/s.
    fn fastest(&self, state: &State, time: f64) -> f64 {
        let now = self.body.velocity(&state.pose.rotation, &state.momentum);
        let (gained, spun) = self.body.mass_properties().map_or((0.0, 0.0), |mass| {
            let twist = state.momentum.angular.norm() + self.load.torque.norm() * time;
            (self.load.force.norm() * time / mass.mass(), twist / mass.inertia().min())
        });
        let reach = self.shape.radius();
        let spin = spun.max(now.angular.norm());
        let turning = if spin > 0.0 && reach.is_finite() { spin * reach } else { 0.0 };
        now.linear.norm() + gained + turning
    }
}

/// The time of impact of two bodies within `duration` s, to about 1e-11 s; `None` without one. For
/// bodies that overlap at the start it is zero.
///
/// The search takes steps in which no point moves farther than the gap plus a tenth of the
/// thickness of the thinner body, and bisects the last one. Samples of both surfaces give the gap,
/// as in a frame.
///
/// # Errors
/// [`IntegrateError`] for numbers that are not finite and motion that cannot be integrated.
pub fn time_of_impact(
    flights: [FreeFlight<'_>; 2],
    duration: f64,
) -> Result<Option<TimeOfImpact>, IntegrateError> {
    if !duration.is_finite() {
        return Err(IntegrateError::Duration { duration });
    }
    let [p, q] = &flights;
    if ![p, q].iter().all(|flight| flight.start.is_finite() && flight.shape.is_usable()) {
        return Err(IntegrateError::NotFinite { time: 0.0 });
    }
    let thin = |f: &FreeFlight<'_>| f.shape.bounds().extents().min();
    let thickness = 0.1 * thin(p).min(thin(q));
    let mut states = [p.start, q.start];
    let (mut time, mut apart) = (0.0, gap(&flights, &states));
    if apart <= 0.0 {
        return Ok(Some(TimeOfImpact { time, states, gap: apart }));
    }
    for _ in 0..MAX_STEPS {
        let left = duration - time;
        if left <= 0.0 {
            return Ok(None);
        }
        let speed = |within| p.fastest(&states[0], within) + q.fastest(&states[1], within);
        let step = safe_step(left, apart + thickness, speed);
        let next = [p.after(&states[0], step)?, q.after(&states[1], step)?];
        if !next.iter().all(State::is_finite) {
            return Err(IntegrateError::NotFinite { time: time + step });
        }
        let then = gap(&flights, &next);
        if then <= 0.0 {
            return bisect(&flights, &states, time, step).map(Some);
        }
        (states, time, apart) = (next, time + step, then);
    }
    Err(IntegrateError::Stuck { time, step: thickness })
}

/// A time, at most `left` s, within which no point moves farther than `room` m, given a bound on
/// the speed within a time.
fn safe_step(left: f64, room: f64, speed: impl Fn(f64) -> f64) -> f64 {
    let mut horizon = left;
    loop {
        let fastest = speed(horizon);
        let step = if fastest > 0.0 { room / fastest } else { horizon };
        if step >= 0.5 * horizon {
            return step.min(horizon);
        }
        horizon *= 0.5;
    }
}

/// The last time without overlap, starting at `states` and within `step`.
fn bisect(
    flights: &[FreeFlight<'_>; 2],
    states: &[State; 2],
    time: f64,
    step: f64,
) -> Result<TimeOfImpact, IntegrateError> {
    let at = |t: f64| -> Result<[State; 2], IntegrateError> {
        Ok([flights[0].after(&states[0], t)?, flights[1].after(&states[1], t)?])
    };
    let (mut before, mut after) = (0.0, step);
    while after - before > RESOLUTION {
        let middle = 0.5 * (before + after);
        if middle <= before || middle >= after {
            break;
        }
        if gap(flights, &at(middle)?) > 0.0 { before = middle } else { after = middle }
    }
    let states = at(before)?;
    Ok(TimeOfImpact { time: time + before, states, gap: gap(flights, &states) })
}

/// The least distance of surface samples of either body to the other, m.
fn gap(flights: &[FreeFlight<'_>; 2], states: &[State; 2]) -> f64 {
    let [a, b] = flights;
    let (x, y): (&Isometry3<f64>, &Isometry3<f64>) = (&states[0].pose, &states[1].pose);
    let reach =
        |f: &FreeFlight<'_>| if f.shape.radius().is_finite() { f.shape.radius() } else { 0.0 };
    // points farther away exceed this margin
    let margin = (x.translation.vector - y.translation.vector).norm() + reach(a) + reach(b);
    let posed = Posed { shapes: [a.shape, b.shape], poses: [x, y] };
    let found = posed.candidates(margin, &mut 0);
    found.iter().map(|c| c.distance).fold(margin, f64::min)
}
