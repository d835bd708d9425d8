//! The bodies of a linkage.

use dynamics::{Body, Momentum, Velocity, advance};
use nalgebra::{Isometry3, Matrix3, Matrix6, Vector3, Vector6};

use super::row_gradient::{Move, stacked};

/// A dynamic body.
#[derive(Clone, Debug)]
pub(super) struct LinkageBody {
    pub(super) number: u32,
    pub(super) mass: f64,
    pub(super) inertia: Vector3<f64>,
    /// Acceleration by forces, m/s^2.
    pub(super) acceleration: Vector3<f64>,
    pub(super) pose: Isometry3<f64>,
    pub(super) momentum: Momentum,
    /// Newton iterate: translation and rotation over the inner step.
    pub(super) both: [Vector3<f64>; 2],
}

/// One end of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// Index of a [`LinkageBody`].
    Body(usize),
    /// Index of a [`PrescribedBody`].
    Prescribed(usize),
}

/// A static or kinematic body.
#[derive(Clone, Debug)]
pub(super) struct PrescribedBody {
    pub(super) body: Body,
    pub(super) start: Isometry3<f64>,
}

impl LinkageBody {
    /// `None` for a body without mass properties or with a locked axis.
    pub(super) fn new(
        (number, body): (u32, &Body),
        pose: &Isometry3<f64>,
        momentum: &Momentum,
        acceleration: Vector3<f64>,
    ) -> Option<Self> {
        let mass = body.mass_properties()?;
        let inertia = mass.inertia();
        inertia.iter().all(|i| i.is_finite()).then(|| Self {
            number,
            mass: mass.mass(),
            inertia,
            acceleration,
            pose: *pose,
            momentum: *momentum,
            both: [Vector3::zeros(); 2],
        })
    }

    /// Angular velocity in body axes.
    pub(super) fn spin(&self) -> Vector3<f64> {
        let local = self.pose.rotation.inverse_transform_vector(&self.momentum.angular);
        local.component_div(&self.inertia)
    }

    pub(super) fn velocity(&self) -> Vector6<f64> {
        let angular = self.pose.rotation * self.spin();
        stacked(&(self.momentum.linear / self.mass), &angular)
    }

    pub(super) fn world_inertia(&self, rotation: &Matrix3<f64>) -> Matrix3<f64> {
        rotation * Matrix3::from_diagonal(&self.inertia) * rotation.transpose()
    }

    /// Residual of the equations of motion without joints, and its derivative with respect to
    /// translation and rotation. The angular momentum follows the mean spin of both ends (Simo and
    /// Wong 1991).
    pub(super) fn law(&self, own: &Move, h: f64) -> (Vector6<f64>, Matrix6<f64>) {
        let [before, after] = &own.rotations;
        let mean = before.tr_mul(&own.turn) / h;
        let angular = after * (mean * 2.0 - self.spin()).component_mul(&self.inertia);
        let linear = own.shift * (2.0 * self.mass / h)
            - self.momentum.linear * 2.0
            - self.acceleration * (self.mass * h);
        let mut slope = Matrix6::identity() * (2.0 * self.mass / h);
        let turning = after * Matrix3::from_diagonal(&(self.inertia * (2.0 / h)));
        let turning = turning * before.transpose() - angular.cross_matrix() * own.tangent;
        slope.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
        (stacked(&linear, &(angular - self.momentum.angular)), slope)
    }

    pub(super) fn gain_velocity(&mut self, change: &Vector6<f64>) {
        let (linear, angular) = (change.fixed_rows::<3>(0), change.fixed_rows::<3>(3));
        let rotation = self.pose.rotation.to_rotation_matrix().into_inner();
        self.momentum.linear += linear * self.mass;
        self.momentum.angular += self.world_inertia(&rotation) * angular;
    }

    pub(super) fn gain(&mut self, impulse: &Vector6<f64>) {
        self.momentum.linear += impulse.fixed_rows::<3>(0);
        self.momentum.angular += impulse.fixed_rows::<3>(3);
    }
}

impl PrescribedBody {
    pub(super) fn at(&self, time: f64) -> Isometry3<f64> {
        advance(&self.body, &self.start, &Momentum::default(), time)
    }

    pub(super) fn velocity(&self) -> Vector6<f64> {
        match &self.body {
            Body::Kinematic(Velocity { linear, angular }) => stacked(linear, angular),
            Body::Static | Body::Dynamic(_) => Vector6::zeros(),
        }
    }
}
