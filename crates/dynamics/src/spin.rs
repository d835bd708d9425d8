//! Free rotation of a body in its own axes, where its inertia is diagonal.

use crate::{MassProperties, rotation::exp};
use nalgebra::{UnitQuaternion, Vector3};

/// Rotation of a free body, in its current body axes.
pub(crate) struct Spin {
    pub(crate) inverse_inertia: Vector3<f64>,
    /// Angular momentum, kg m^2/s.
    pub(crate) momentum: Vector3<f64>,
    /// Angular velocity, rad/s.
    pub(crate) velocity: Vector3<f64>,
    /// Rotational kinetic energy, J.
    pub(crate) energy: f64,
}

/// Terms of the Taylor series of the angular momentum.
const TERMS: usize = 8;

/// Largest rotation in an inner step, rad, in the sense of [`Spin::rate`].
///
/// With this value, random solids with moments up to 1:350 that make one turn per frame have an
/// error below 0.1 degrees after a second at 30 Hz.
const INNER_TURN: f64 = 0.75;

/// Largest number of inner steps in a step: about 500 turns. Faster bodies rotate about a fixed
/// axis.
const MAX_INNER_STEPS: f64 = 4096.0;

impl Spin {
    pub(crate) fn new(
        mass: &MassProperties,
        rotation: &UnitQuaternion<f64>,
        angular_momentum: &Vector3<f64>,
    ) -> Self {
        let inverse_inertia = mass.inverse_principal_inertia();
        let momentum = rotation.inverse_transform_vector(angular_momentum);
        let velocity = momentum.component_mul(&inverse_inertia);
        Self { inverse_inertia, momentum, velocity, energy: 0.5 * momentum.dot(&velocity) }
    }

    /// The rotation from the body axes after `dt` s to the current ones, by equal inner steps of
    /// sixth order. Energy is exact up to the error of the steps.
    pub(crate) fn turn(&self, dt: f64) -> UnitQuaternion<f64> {
        let inner = (self.rate() * dt.abs() * (1.0 / INNER_TURN)).ceil().max(1.0);
        // also NaN, if a square overflows
        if inner.is_nan() || inner > MAX_INNER_STEPS {
            return exp(&(self.velocity * dt));
        }
        let step = InnerStep::new(&self.inverse_inertia, dt / inner);
        let mut momentum = self.momentum;
        let mut turn = exp(&step.advance(&mut momentum));
        for _ in 1..inner as u32 {
            turn *= exp(&step.advance(&mut momentum));
        }
        turn
    }

    /// Upper bound of the angular speed of the body, and of its momentum in body axes, at any time,
    /// rad/s.
    ///
    /// The angular speed for given energy and momentum is extremal where the momentum has no
    /// component along the middle axis; the momentum rotates at most at the frequency of small
    /// oscillations about the stable axes. For solids, whose moments satisfy the triangle
    /// inequality, the angular speed is the larger one.
    fn rate(&self) -> f64 {
        let [x, y, z]: [f64; 3] = self.inverse_inertia.into();
        let (low, high) = (x.min(y).min(z), x.max(y).max(z));
        let middle = x.min(y).max(x.max(y).min(z));
        let (square, twice) = (self.momentum.norm_squared(), 2.0 * self.energy);
        let turning = twice * (high + low) - high * low * square;
        let about_least = (high - middle) * (twice - low * square);
        let about_greatest = (middle - low) * (high * square - twice);
        turning.max(about_least).max(about_greatest).max(0.0).sqrt()
    }

    /// SSF08: `dt (omega - dt/2 I^-1 (omega x L))`.
    pub(crate) fn second_order(&self, dt: f64) -> Vector3<f64> {
        let omega = &self.velocity;
        let torque = omega.cross(&self.momentum).component_mul(&self.inverse_inertia);
        (omega - torque * (0.5 * dt)) * dt
    }
}

/// A step of free rotation in body axes: Euler's equations by Taylor series, the orientation by the
/// Magnus expansion of sixth order (Blanes, Casas and Ros 2000, Improved high order integrators
/// based on the Magnus expansion).
///
/// Euler's equations are not stiff in these axes, however different the moments of a solid are.
struct InnerStep {
    /// `dt I^-1`.
    scaled: Vector3<f64>,
    /// `L' = gyration * (L_y L_z, L_z L_x, L_x L_y)`, with time in steps.
    gyration: Vector3<f64>,
}

impl InnerStep {
    fn new(inverse_inertia: &Vector3<f64>, dt: f64) -> Self {
        let j = inverse_inertia * dt;
        Self { scaled: j, gyration: Vector3::new(j.z - j.y, j.x - j.z, j.y - j.x) }
    }

    /// Advances `momentum` and returns the rotation vector of the body in its own axes.
    fn advance(&self, momentum: &mut Vector3<f64>) -> Vector3<f64> {
        let series = self.series(momentum);
        let sum = |weights: &[f64; TERMS]| -> Vector3<f64> {
            let terms = series.iter().zip(weights).rev();
            terms.fold(Vector3::zeros(), |sum, (term, weight)| sum + term * *weight)
        };
        *momentum = sum(&[1.0; TERMS]);
        // moments of the angular velocity about the middle of the step
        let [zeroth, first, second] =
            [&MOMENTS[0], &MOMENTS[1], &MOMENTS[2]].map(|w| sum(w).component_mul(&self.scaled));
        // value, first and second derivative at the middle, as inputs of the expansion
        let value = zeroth * 2.25 - second * 15.0;
        let slope = first * 12.0;
        let bend = second * 180.0 - zeroth * 15.0;
        let bracket = value.cross(&slope);
        let double = value.cross(&(bracket - bend * 2.0)) * (1.0 / 60.0);
        zeroth + (value * 20.0 + bend + bracket).cross(&(slope - double)) * (1.0 / 240.0)
    }

    /// Taylor coefficients of the angular momentum in body axes.
    fn series(&self, start: &Vector3<f64>) -> [Vector3<f64>; TERMS] {
        let mut series = [Vector3::zeros(); TERMS];
        series[0] = *start;
        for n in 0..TERMS - 1 {
            let mut products = Vector3::zeros();
            for k in 0..=n {
                let (a, b) = (&series[k], &series[n - k]);
                products += Vector3::new(a.y * b.z, a.z * b.x, a.x * b.y);
            }
            series[n + 1] = products.component_mul(&self.gyration) * RECIPROCALS[n];
        }
        series
    }
}

/// `1 / (n + 1)`.
const RECIPROCALS: [f64; TERMS] = moments()[0];

const MOMENTS: [[f64; TERMS]; 3] = moments();

/// The integral of `(t - 1/2)^m t^n` over a unit of time, for `m` up to 2.
const fn moments() -> [[f64; TERMS]; 3] {
    let mut table = [[0.0; TERMS]; 3];
    let mut n = 0;
    while n < TERMS {
        let x = n as f64;
        table[0][n] = 1.0 / (x + 1.0);
        table[1][n] = x / (2.0 * (x + 1.0) * (x + 2.0));
        table[2][n] = (x * x + x + 2.0) / (4.0 * (x + 1.0) * (x + 2.0) * (x + 3.0));
        n += 1;
    }
    table
}
