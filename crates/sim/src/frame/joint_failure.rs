//! Failure of overloaded joints.

use crate::frame::phase::Phase;
use crate::world::joint::WorldJoint;
use crate::{JointId, Report, World};

/// Limit of repetitions of a frame: a chain that fails link by link needs one for each. Joints that are overloaded in
/// the last repetition break at the end of the frame.
const MAX_REPETITIONS: usize = 16;
/// A repetition breaks the joints with at least this share of the largest utilization: those near an impact break
/// first, and the impulse that they no longer transmit spares the others.
const UTILIZATION_SHARE: f64 = 0.5;

impl WorldJoint {
    fn is_breakable(&self) -> bool {
        self.break_force.is_finite() || self.break_torque.is_finite()
    }

    /// The larger of force / `break_force` and torque / `break_torque` in the last frame; above 1 the joint breaks.
    fn utilization(&self, dt: f64) -> f64 {
        let force = self.joint.last.linear.norm() / (self.break_force * dt);
        force.max(self.joint.last.angular.norm() / (self.break_torque * dt))
    }
}

impl World {
    /// Advances by one frame. A joint that would be overloaded breaks at the start of the frame and transmits no
    /// impulse: the frame is repeated without it.
    pub(crate) fn advance_and_break_joints(&mut self, ended: &mut dyn FnMut(Phase)) -> Report {
        let mut broken = Vec::new();
        let mut repetitions = 0;
        loop {
            let can_break = self.joints.iter().any(WorldJoint::is_breakable);
            let start = (can_break && repetitions < MAX_REPETITIONS).then(|| self.clone());
            let mut report = self.advance_frame(ended);
            let overloaded =
                self.overloaded_joints(if start.is_some() { UTILIZATION_SHARE } else { 0.0 });
            let is_done = start.is_none() || overloaded.is_empty();
            if let Some(start) = start.filter(|_| !is_done) {
                *self = start;
            }
            for id in &overloaded {
                self.remove_joint(*id);
            }
            broken.extend(overloaded);
            if is_done {
                report.events.broken_joints.append(&mut broken);
                return report;
            }
            repetitions += 1;
        }
    }

    /// The joints that the last frame overloaded, of at least a `share` of the largest utilization.
    fn overloaded_joints(&self, share: f64) -> Vec<JointId> {
        let dt = self.settings.dt;
        let all = self.joints.iter().map(|link| (link.id, link.utilization(dt)));
        let loads: Vec<(JointId, f64)> = all.filter(|(_, load)| *load > 1.0).collect();
        let largest = loads.iter().fold(0.0_f64, |most, (_, load)| most.max(*load));
        loads.into_iter().filter(|(_, load)| *load >= share * largest).map(|(id, _)| id).collect()
    }
}
