//! Terms of contacts and joints between two bodies.

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Matrix3, Matrix3x6, Matrix6x3, UnitQuaternion, Vector3, Vector6};

use super::island::Term;
use super::set::Set;
use crate::constraint::{Bounds, Row};
use crate::solve::problem::ContactTarget;

/// Coordinates of a body's velocity in which its kinetic energy is half the square.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coordinates {
    linear: f64,
    /// Zero about a locked axis.
    angular: Matrix3<f64>,
}

impl Coordinates {
    /// `None` for a body of infinite mass.
    pub(crate) fn new(body: &Body, rotation: &UnitQuaternion<f64>) -> Option<Self> {
        let mass = body.mass_properties()?;
        let axes = rotation.to_rotation_matrix().into_inner();
        let root = mass.inertia().map(|i| 1.0 / i.sqrt());
        let angular = Matrix3::from_diagonal(&root) * axes.transpose();
        Some(Self { linear: 1.0 / mass.mass().sqrt(), angular })
    }

    /// A row of the Jacobian.
    fn row(&self, linear: &Vector3<f64>, angular: &Vector3<f64>) -> nalgebra::RowVector6<f64> {
        let (l, w) = (linear * self.linear, self.angular * angular);
        nalgebra::RowVector6::new(l.x, l.y, l.z, w.x, w.y, w.z)
    }

    /// The Jacobian of the velocity at a lever arm.
    fn at(&self, arm: &Vector3<f64>) -> Matrix3x6<f64> {
        let mut jacobian = Matrix3x6::zeros();
        jacobian
            .fixed_view_mut::<3, 3>(0, 0)
            .copy_from(&Matrix3::from_diagonal_element(self.linear));
        let turned = (self.angular * arm.cross_matrix()).transpose();
        jacobian.fixed_view_mut::<3, 3>(0, 3).copy_from(&turned);
        jacobian
    }

    /// The change of velocity by a change of momentum.
    pub(super) fn change(&self, gained: &Momentum) -> Vector6<f64> {
        let (p, l) = (gained.linear * self.linear, self.angular * gained.angular);
        Vector6::new(p.x, p.y, p.z, l.x, l.y, l.z)
    }

    /// The momentum of a change of velocity; zero about a locked axis.
    pub(super) fn momentum(&self, change: &Vector6<f64>) -> Momentum {
        let (p, l) = (change.fixed_rows::<3>(0), change.fixed_rows::<3>(3));
        let inverse = |row: Vector3<f64>| {
            let square = row.norm_squared();
            if square > 0.0 { row / square } else { Vector3::zeros() }
        };
        let spun = (0..3).map(|k| inverse(self.angular.row(k).transpose()) * l[k]);
        Momentum { linear: p / self.linear, angular: spun.sum() }
    }
}

/// The two bodies of a term.
pub(crate) struct Ends {
    pub(crate) bodies: [Option<u32>; 2],
    pub(crate) coordinates: [Option<Coordinates>; 2],
    pub(crate) velocities: [Velocity; 2],
}

impl Ends {
    /// The term of a contact with lever arms, m, and the factor that scales an impulse in N s to the term.
    pub(crate) fn contact(
        &self,
        arms: &[Vector3<f64>; 2],
        normal: Vector3<f64>,
        target: ContactTarget,
    ) -> (Term, f64) {
        let side = |n: usize, sign: f64| {
            self.coordinates[n].map_or_else(Matrix3x6::zeros, |c| c.at(&arms[n]) * sign)
        };
        let jacobian = [side(0, 1.0), side(1, -1.0)];
        let square: f64 = jacobian.iter().map(|j| j.norm_squared()).sum();
        let scale = (square / 3.0).sqrt();
        let apart = self.velocities[0].at(&arms[0]) - self.velocities[1].at(&arms[1]);
        let term = Term {
            bodies: self.bodies,
            transposed: jacobian.map(|j| (j / scale).transpose()),
            excess: (apart - normal * target.speed) / scale,
            set: Set::Contact { normal, friction: target.friction },
            scale: Vector3::repeat(scale),
        };
        (term, scale)
    }

    /// The term of rolling and spinning friction about a normal, without torque.
    pub(crate) fn torque(&self, normal: Vector3<f64>) -> Term {
        let side = |n: usize, sign: f64| {
            let rows = |c: Coordinates| {
                let mut jacobian = Matrix3x6::zeros();
                jacobian.fixed_view_mut::<3, 3>(0, 3).copy_from(&(c.angular.transpose() * sign));
                jacobian
            };
            self.coordinates[n].map_or_else(Matrix3x6::zeros, rows)
        };
        let jacobian = [side(0, 1.0), side(1, -1.0)];
        let square: f64 = jacobian.iter().map(|j| j.norm_squared()).sum();
        // bodies that do not turn
        let scale = if square > 0.0 { (square / 3.0).sqrt() } else { 1.0 };
        let [a, b] = &self.velocities;
        Term {
            bodies: self.bodies,
            transposed: jacobian.map(|j| (j / scale).transpose()),
            excess: (a.angular - b.angular) / scale,
            set: Set::Torque { normal, across: 0.0, about: 0.0 },
            scale: Vector3::repeat(scale),
        }
    }

    /// The term of up to three rows of a joint.
    pub(super) fn rows(&self, rows: &[Row]) -> Term {
        let mut transposed = [Matrix6x3::zeros(); 2];
        let (mut excess, mut scale) = (Vector3::zeros(), Vector3::repeat(1.0));
        let (mut least, mut most) = (Vector3::zeros(), Vector3::zeros());
        for (k, row) in rows.iter().enumerate() {
            let own = [1.0, -1.0].into_iter().zip(self.coordinates).zip(row.angular);
            let sides: Vec<_> = own
                .map(|((sign, coordinates), angular)| {
                    coordinates.map(|c| c.row(&(row.linear * sign), &angular)).unwrap_or_default()
                })
                .collect();
            let square: f64 = sides.iter().map(|side| side.norm_squared()).sum();
            let Bounds::Between { least: low, most: high } = row.bounds else { continue };
            // anything less is round-off of a direction without motion
            if square < f64::MIN_POSITIVE {
                continue;
            }
            scale[k] = square.sqrt();
            for (transposed, side) in transposed.iter_mut().zip(&sides) {
                transposed.set_column(k, &(side / scale[k]).transpose());
            }
            let [a, b] = &self.velocities;
            excess[k] = (row.speed(a, b) - row.target) / scale[k];
            (least[k], most[k]) = (low * scale[k], high * scale[k]);
        }
        let set = Set::Rows { least, most };
        Term { bodies: self.bodies, transposed, excess, set, scale }
    }
}
