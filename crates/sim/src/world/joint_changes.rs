//! Changes of joints while a world runs.

use contact::constraint::Motor;

use crate::world::joint::{WorldJoint, check_drive, check_strength};
use crate::{JointError, JointId, World};

impl World {
    /// Sets or removes the motor of a hinge or slider from the next frame on. Its bodies wake if the
    /// motor changes. Checkpoints contain the motor.
    ///
    /// # Errors
    ///
    /// [`JointError`] if there is no such joint, it is no hinge or slider, or a number is invalid;
    /// the joint then stays as it was.
    ///
    /// ```
    /// use brisance_sim::contact::Shape;
    /// use brisance_sim::nalgebra::{Point3, Vector3};
    /// use brisance_sim::{JointKind, Motor, NewBody, NewJoint, Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let frame = world.add(NewBody::fixed(Shape::empty()))?;
    /// let door = world.add(NewBody::cuboid(Vector3::new(0.5, 1.0, 0.02), 600.0)?)?;
    /// let post = Point3::new(-0.5, 0.0, 0.0);
    /// let hinge = world.add_joint(NewJoint {
    ///     axis: Vector3::y(),
    ///     ..NewJoint::new(JointKind::Hinge, [door, frame], post)
    /// })?;
    ///
    /// // a servo that opens the door by a quarter turn
    /// for _ in 0..60 {
    ///     let missing = std::f64::consts::FRAC_PI_2 - world.joint(hinge).expect("a hinge").coordinate;
    ///     world.set_joint_motor(hinge, Some(Motor { speed: 4.0 * missing, max_force: 100.0 }))?;
    ///     world.step();
    /// }
    /// let open = world.joint(hinge).expect("a hinge").coordinate.to_degrees();
    /// assert!((open - 90.0).abs() < 2.0, "{open} degrees");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_joint_motor(&mut self, id: JointId, motor: Option<Motor>) -> Result<(), JointError> {
        let n = self.joint_index(id)?;
        let joint = self.joints[n].joint;
        check_drive(joint.kind, joint.limits, motor)?;
        self.change_joint(n, |link| link.joint.motor = motor);
        Ok(())
    }

    /// Sets or removes the limits of the angle of a hinge, rad, or of the displacement of a slider,
    /// m, as in [`JointState::coordinate`](crate::JointState::coordinate). A coordinate beyond them
    /// is corrected within a few frames. Its bodies wake if the limits change.
    ///
    /// # Errors
    ///
    /// [`JointError`] if there is no such joint, it is no hinge or slider, or the limits are
    /// invalid; the joint then stays as it was.
    pub fn set_joint_limits(
        &mut self,
        id: JointId,
        limits: Option<[f64; 2]>,
    ) -> Result<(), JointError> {
        let n = self.joint_index(id)?;
        let joint = self.joints[n].joint;
        check_drive(joint.kind, limits, joint.motor)?;
        self.change_joint(n, |link| link.joint.limits = limits);
        Ok(())
    }

    /// Sets the strength of a joint, N, and its torsional strength, N m; infinite for a joint that
    /// does not break.
    ///
    /// # Errors
    ///
    /// [`JointError`] if there is no such joint or a strength is negative; the joint then stays as
    /// it was.
    pub fn set_joint_strength(
        &mut self,
        id: JointId,
        break_force: f64,
        break_torque: f64,
    ) -> Result<(), JointError> {
        let n = self.joint_index(id)?;
        check_strength(break_force, break_torque)?;
        let link = &mut self.joints[n];
        (link.break_force, link.break_torque) = (break_force, break_torque);
        Ok(())
    }

    fn joint_index(&self, id: JointId) -> Result<usize, JointError> {
        self.joints.binary_search_by_key(&id, |link| link.id).map_err(|_| JointError::Unknown(id))
    }

    /// Changes the limits or motor of a joint. The warm start of its rows, which may be others now,
    /// is dropped.
    fn change_joint(&mut self, n: usize, change: impl FnOnce(&mut WorldJoint)) {
        let before = self.joints[n].joint;
        change(&mut self.joints[n]);
        let link = &mut self.joints[n];
        if link.joint == before {
            return;
        }
        if link.joint.motor.is_some() != before.motor.is_some() {
            link.joint.last.impulses = Default::default();
        }
        let ids = link.ids;
        self.wake(ids.into_iter().collect());
    }
}
