//! Linkages without external attachments: their angular momentum and energy while open joints are
//! closed.
//!
//! An impact separates joint anchors, and closing the joints moves bodies without impulses. That
//! changes lever arms, and with them the angular momentum. A common rotation restores it, and the
//! relative motion provides the energy. Both keep the rates of joints.

use nalgebra::{Isometry3, Matrix3, Vector3, Vector6};

use super::body::LinkageBody;
use super::row_gradient::stacked;

/// Motion of all bodies together.
#[derive(Clone, Copy, Debug)]
pub(super) struct TotalMotion {
    center: Vector3<f64>,
    velocity: Vector3<f64>,
    /// Inertia about the common center of mass, kg m^2.
    inertia: Matrix3<f64>,
    /// Angular momentum about the common center of mass, kg m^2/s.
    angular: Vector3<f64>,
    /// Kinetic energy in the frame of the common center of mass, J.
    energy: f64,
}

impl TotalMotion {
    /// The motion of some bodies at `poses`, by index.
    pub(super) fn at(bodies: &[LinkageBody], poses: &[Isometry3<f64>]) -> Self {
        let moved =
            |body: &LinkageBody| LinkageBody { pose: poses[body.number as usize], ..body.clone() };
        Self::new(&bodies.iter().map(moved).collect::<Vec<_>>())
    }

    fn new(bodies: &[LinkageBody]) -> Self {
        let (mut mass, mut first, mut linear) = (0.0, Vector3::zeros(), Vector3::zeros());
        for body in bodies {
            mass += body.mass;
            first += body.pose.translation.vector * body.mass;
            linear += body.momentum.linear;
        }
        let (center, velocity) = (first / mass, linear / mass);
        let (mut inertia, mut angular, mut energy) = (Matrix3::zeros(), Vector3::zeros(), 0.0);
        for body in bodies {
            let arm = body.pose.translation.vector - center;
            let relative = body.momentum.linear - velocity * body.mass;
            let rotation = body.pose.rotation.to_rotation_matrix().into_inner();
            let cross = arm.cross_matrix();
            inertia += cross.transpose() * cross * body.mass + body.world_inertia(&rotation);
            angular += arm.cross(&relative) + body.momentum.angular;
            let spin = body.spin();
            let turning = 0.5 * spin.dot(&spin.component_mul(&body.inertia));
            energy += 0.5 * relative.norm_squared() / body.mass + turning;
        }
        Self { center, velocity, inertia, angular, energy }
    }

    /// Velocity of a body in a common rotation.
    fn shared(&self, body: &LinkageBody, turning: &Vector3<f64>) -> Vector6<f64> {
        let arm = body.pose.translation.vector - self.center;
        stacked(&(self.velocity + turning.cross(&arm)), turning)
    }
    /// Sets the angular momentum of bodies by a common rotation.
    pub(super) fn turn(&self, bodies: &mut [LinkageBody]) {
        let now = Self::new(bodies);
        let Some(inverse) = now.inertia.try_inverse() else { return };
        let missing = inverse * (self.angular - now.angular);
        let still = Self { velocity: Vector3::zeros(), ..now };
        for body in bodies.iter_mut() {
            let more = still.shared(body, &missing);
            body.gain_velocity(&more);
        }
    }

    /// Slows the relative motion until bodies have no more than this energy; bodies that turn as a
    /// rigid body slow as a whole.
    pub(super) fn slow(&self, bodies: &mut [LinkageBody]) {
        let now = Self::new(bodies);
        // ignores gains by round-off
        if now.energy <= self.energy * (1.0 + 1e-14) {
            return;
        }
        let Some(inverse) = now.inertia.try_inverse() else { return };
        let common = inverse * now.angular;
        let rigid = 0.5 * common.dot(&now.angular);
        let (turning, own) = match rigid < self.energy {
            true => (1.0, ((self.energy - rigid) / (now.energy - rigid)).sqrt()),
            false => ((self.energy / rigid).sqrt(), 0.0),
        };
        for body in bodies.iter_mut() {
            let shared = now.shared(body, &common);
            let wanted = now.shared(body, &(common * turning));
            let rest = body.velocity() - shared;
            body.gain_velocity(&(wanted - shared + rest * (own - 1.0)));
        }
    }
}
