//! One row of the Jacobian.

use dynamics::Velocity;
use nalgebra::Vector3;
use thiserror::Error;

/// Bounds of a row's impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// Lower and upper bound, N s (or N m s); either may be infinite.
    Between {
        /// `lambda-` of Br11.
        least: f64,
        /// `lambda+` of Br11.
        most: f64,
    },
    /// Friction as a box: at most `coefficient` times the impulse of an earlier row.
    Box {
        /// Index of the normal row, of the same bodies.
        normal: u32,
        /// Coulomb friction coefficient.
        coefficient: f64,
    },
    /// Friction as a cone, together with the next row, which has [`Bounds::Cone2`].
    Cone {
        /// Index of the normal row, of the same bodies.
        normal: u32,
        /// Coulomb friction coefficient.
        coefficient: f64,
    },
    /// The second tangent of the previous row, which has [`Bounds::Cone`].
    Cone2,
}

impl Bounds {
    /// A bilateral row: any impulse.
    pub const FREE: Self = Self::Between { least: f64::NEG_INFINITY, most: f64::INFINITY };
    /// A unilateral row: a push only.
    pub const PUSH: Self = Self::Between { least: 0.0, most: f64::INFINITY };
}

/// One row of the Jacobian of two bodies: `J v = linear . (v_a - v_b) + angular . w`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Indices of the bodies `a` and `b`.
    pub bodies: [u32; 2],
    /// Factor of the velocity of `a`; that of `b` is the opposite. Zero for a rotational row.
    pub linear: Vector3<f64>,
    /// Factors of the angular velocities of `a` and of `b`.
    pub angular: [Vector3<f64>; 2],
    /// Target speed, `zeta` of Br11: m/s, or rad/s for a rotational row.
    pub target: f64,
    /// Bounds of the impulse.
    pub bounds: Bounds,
}

impl Row {
    /// A row along `direction` at lever arms `arms`.
    pub fn along(bodies: [u32; 2], direction: Vector3<f64>, arms: [Vector3<f64>; 2]) -> Self {
        let angular = [arms[0].cross(&direction), -arms[1].cross(&direction)];
        Self { bodies, linear: direction, angular, target: 0.0, bounds: Bounds::FREE }
    }

    /// A row about `axis`.
    pub fn about(bodies: [u32; 2], axis: Vector3<f64>) -> Self {
        let linear = Vector3::zeros();
        Self { bodies, linear, angular: [axis, -axis], target: 0.0, bounds: Bounds::FREE }
    }

    /// `J v`, m/s or rad/s.
    pub fn speed(&self, a: &Velocity, b: &Velocity) -> f64 {
        self.linear.dot(&(a.linear - b.linear))
            + (self.angular[0].dot(&a.angular) + self.angular[1].dot(&b.angular))
    }

    /// Checks that the `n`-th row can be solved after the rows `before` it.
    pub(super) fn check(&self, n: usize, before: &[Self], bodies: usize) -> Result<(), RowError> {
        let jacobian = self.linear.iter().chain(self.angular.iter().flatten());
        let finite = jacobian.chain([&self.target]).all(|x| x.is_finite());
        let own = |normal: u32| {
            before.get(normal as usize).is_some_and(|row| {
                row.bodies == self.bodies && matches!(row.bounds, Bounds::Between { .. })
            })
        };
        let usable = |coefficient: f64| coefficient >= 0.0 && coefficient.is_finite();
        let bounded = match self.bounds {
            Bounds::Between { least, most } => least <= most,
            Bounds::Box { normal, coefficient } => own(normal) && usable(coefficient),
            Bounds::Cone { normal, coefficient } => own(normal) && usable(coefficient),
            Bounds::Cone2 => before.last().is_some_and(|row| {
                row.bodies == self.bodies && matches!(row.bounds, Bounds::Cone { .. })
            }),
        };
        let known =
            self.bodies.iter().all(|&i| (i as usize) < bodies) && self.bodies[0] != self.bodies[1];
        match (known, finite, bounded) {
            (false, ..) => Err(RowError::Body { row: n }),
            (_, false, _) => Err(RowError::NotFinite { row: n }),
            (.., false) => Err(RowError::Bounds { row: n }),
            _ => Ok(()),
        }
    }
}

/// Why rows are invalid.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowError {
    /// A row has a body that does not exist, or one body twice.
    #[error(
        "row {row} names a body twice or beyond the last: number bodies by their place in the columns"
    )]
    Body {
        /// Index of the row.
        row: usize,
    },
    /// A number is not finite.
    #[error("row {row} holds a number that is not finite: leave it out or check its contact")]
    NotFinite {
        /// Index of the row.
        row: usize,
    },
    /// The pose or momentum of a body is not finite.
    #[error("the pose or momentum of body {body} is not finite: leave the body out")]
    Motion {
        /// Index of the body.
        body: usize,
    },
    /// The bounds are reversed or refer to a row that is not an earlier normal of the same bodies.
    #[error("row {row} has invalid bounds: order them, and put friction right after its normal")]
    Bounds {
        /// Index of the row.
        row: usize,
    },
}
