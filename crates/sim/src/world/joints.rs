//! The joints of a world, which last until they are overloaded.

use contact::constraint::{Joint, JointKind, Reaction};
use dynamics::{Body, Momentum};
use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};

use crate::world::id::{BodyId, JointId};
use crate::world::joint::WorldJoint;
use crate::{Events, JointError, JointState, NewJoint, World};

/// Largest distance of a piece from the anchor of its parent's joint to inherit the joint, beyond
/// that of the parent, m, or as a share of its own radius.
const NEAR: f64 = 1e-3;
const NEAR_SHARE: f64 = 0.1;

/// Length of an axis below which it is scaled before its square is taken.
const SHORT: f64 = 1e-100;

/// A rotation that maps x to `axis`, by products and roots only.
fn along_x(axis: &Vector3<f64>) -> UnitQuaternion<f64> {
    // the square of a tiny axis vanishes
    let axis = axis.try_normalize(SHORT).unwrap_or_else(|| (axis / axis.amax()).normalize());
    let half = Vector3::x() + axis;
    let turn = match half.try_normalize(1e-6) {
        Some(half) => Quaternion::from_parts(half.x, Vector3::x().cross(&half)),
        // half a turn about z
        None => Quaternion::new(0.0, 0.0, 0.0, 1.0),
    };
    UnitQuaternion::new_normalize(turn)
}

/// Impulses of a joint in a frame.
pub(crate) struct JointLoad {
    pub(crate) bodies: [usize; 2],
    /// Loads on both bodies, about their centers of mass.
    pub(crate) loads: [Momentum; 2],
    pub(crate) has_motor: bool,
}

impl World {
    /// Joins two bodies at their current poses.
    ///
    /// # Errors
    /// [`JointError`] if a body does not exist, neither is dynamic, a number is invalid or the
    /// solver does not support joints.
    pub fn add_joint(&mut self, new: NewJoint) -> Result<JointId, JointError> {
        new.check()?;
        if !self.settings.contact.solver.has_joints() {
            return Err(JointError::Solver);
        }
        let found = new.bodies.map(|id| self.ids.binary_search(&id));
        let [Ok(a), Ok(b)] = found else { return Err(JointError::Bodies) };
        if a == b {
            return Err(JointError::Bodies);
        }
        if [a, b].iter().all(|&i| self.mass_of(i).is_none()) {
            return Err(JointError::Immovable);
        }
        let turn = along_x(&new.axis);
        let places = new.anchors.map(|p| Isometry3::from_parts(Translation3::from(p.coords), turn));
        let frames = [self.poses[a].inv_mul(&places[0]), self.poses[b].inv_mul(&places[1])];
        let gaps = [(a, frames[0]), (b, frames[1])].map(|(i, frame)| self.gap(i, &frame));
        let id = JointId(self.next_joint);
        self.next_joint += 1;
        let joint = Joint {
            kind: new.kind,
            bodies: [a as u32, b as u32],
            frames,
            limits: new.limits,
            motor: new.motor,
            collides: new.collides,
            last: Reaction::default(),
        };
        let NewJoint { bodies: ids, break_force, break_torque, .. } = new;
        let impact_load = Momentum::default();
        self.joints.push(WorldJoint {
            id,
            ids,
            joint,
            break_force,
            break_torque,
            places,
            gaps,
            impact_load,
        });
        self.wake_all(&ids);
        Ok(id)
    }

    /// The distance of the anchor of a joint from a body, m; zero inside.
    fn gap(&self, i: usize, frame: &Isometry3<f64>) -> f64 {
        let distance = self.shapes[i].field().distance(&frame.translation.vector.into());
        if distance.is_finite() { distance.max(0.0) } else { 0.0 }
    }

    /// Removes a joint; `false` if it no longer exists.
    pub fn remove_joint(&mut self, id: JointId) -> bool {
        let Ok(n) = self.joints.binary_search_by_key(&id, |link| link.id) else { return false };
        let link = self.joints.remove(n);
        self.wake_all(&link.ids);
        true
    }

    /// All joints, in the order they were added. Joints of bodies that were removed since the last
    /// frame are left out; the next frame reports them in [`Events::broken_joints`].
    pub fn joints(&self) -> impl Iterator<Item = JointState> {
        let numbered = self.frame_joints();
        let has_bodies = |joint: &Joint| joint.bodies.iter().all(|&i| (i as usize) < self.len());
        let held = self.joints.iter().zip(numbered).filter(move |(_, joint)| has_bodies(joint));
        held.map(|(link, joint)| self.joint_state(link, &joint))
    }

    /// The joint `id`, unless it broke or was removed.
    pub fn joint(&self, id: JointId) -> Option<JointState> {
        let n = self.joints.binary_search_by_key(&id, |link| link.id).ok()?;
        let link = &self.joints[n];
        let [a, b] = link.ids.map(|id| self.ids.binary_search(&id).ok());
        let joint = Joint { bodies: [a? as u32, b? as u32], ..link.joint };
        Some(self.joint_state(link, &joint))
    }

    /// The state of a joint with the current indices of its bodies.
    fn joint_state(&self, link: &WorldJoint, joint: &Joint) -> JointState {
        JointState {
            id: link.id,
            bodies: link.ids,
            kind: joint.kind,
            coordinate: joint.coordinate(&self.poses),
            limits: joint.limits,
            motor: joint.motor,
            break_force: link.break_force,
            break_torque: link.break_torque,
            error: joint.error(&self.poses),
            force: joint.last.linear / self.settings.dt,
            torque: joint.last.angular / self.settings.dt,
        }
    }

    /// The bodies of each joint.
    pub(crate) fn joined(&self) -> impl Iterator<Item = [BodyId; 2]> {
        self.joints.iter().map(|link| link.ids)
    }

    /// The last impulses of joints.
    pub(crate) fn joint_loads(&self) -> impl Iterator<Item = JointLoad> {
        self.frame_joints().into_iter().map(|joint| {
            let bodies = joint.bodies.map(|i| i as usize);
            let Reaction { linear, angular, .. } = joint.last;
            let load = |side: usize| {
                let (pose, sign) = (&self.poses[bodies[side]], [1.0, -1.0][side]);
                let arm = pose.rotation * joint.frames[side].translation.vector;
                let mut load = Momentum { linear: Vector3::zeros(), angular: angular * sign };
                load.apply_impulse(&(linear * sign), &arm);
                load
            };
            JointLoad { bodies, loads: [load(0), load(1)], has_motor: joint.motor.is_some() }
        })
    }

    /// The joints with the current indices of their bodies.
    pub(crate) fn frame_joints(&self) -> Vec<Joint> {
        let number = |id: &BodyId| self.ids.binary_search(id).map_or(u32::MAX, |i| i as u32);
        let of =
            |link: &WorldJoint| Joint { bodies: link.ids.each_ref().map(number), ..link.joint };
        self.joints.iter().map(of).collect()
    }

    /// Stores the poses of joints before bodies break.
    pub(crate) fn place_joints(&mut self) {
        for (n, joint) in self.frame_joints().into_iter().enumerate() {
            for side in 0..2 {
                if let Some(pose) = self.poses.get(joint.bodies[side] as usize) {
                    self.joints[n].places[side] = pose * joint.frames[side];
                }
            }
        }
    }

    /// Transfers joints of bodies that broke in this frame to the piece at the anchor; removes
    /// those of bodies that are gone or have no piece there.
    pub(crate) fn inherit_joints(&mut self, events: &mut Events) {
        self.transfer_joints(events);
        let (held, broken) = std::mem::take(&mut self.joints)
            .into_iter()
            .partition(|link| link.ids.iter().all(|id| self.ids.binary_search(id).is_ok()));
        self.joints = held;
        let broken: Vec<WorldJoint> = broken;
        for link in &broken {
            events.broken_joints.push(link.id);
            self.wake_all(&link.ids);
        }
    }

    /// Transfers joints of bodies that broke to the piece at the anchor, if there is one.
    pub(crate) fn transfer_joints(&mut self, events: &Events) {
        let mut links = std::mem::take(&mut self.joints);
        for link in &mut links {
            (0..2).for_each(|side| self.inherit(link, side, events));
        }
        self.joints = links;
    }

    /// Transfers a side of a joint to the nearest piece of its body if that broke.
    fn inherit(&self, link: &mut WorldJoint, side: usize, events: &Events) {
        if self.ids.binary_search(&link.ids[side]).is_ok() {
            return;
        }
        let place = Point3::from(link.places[side].translation.vector);
        let distance = |i: usize| {
            let local = self.poses[i].inverse_transform_point(&place);
            let reach = link.gaps[side] + NEAR.max(NEAR_SHARE * self.shapes[i].radius());
            let distance = self.shapes[i].field().distance(&local);
            (distance <= reach).then_some((distance, i))
        };
        let heirs = self.heirs(link.ids[side], events).into_iter().filter_map(distance);
        let Some((_, nearest)) = heirs.min_by(|p, q| p.0.total_cmp(&q.0)) else { return };
        link.ids[side] = self.ids[nearest];
        link.joint.frames[side] = self.poses[nearest].inv_mul(&link.places[side]);
    }

    /// The existing descendants of a body that broke or was dented in this frame, in ascending
    /// order.
    fn heirs(&self, gone: BodyId, events: &Events) -> Vec<usize> {
        let (mut open, mut heirs) = (vec![gone], Vec::new());
        while let Some(id) = open.pop() {
            if let Ok(i) = self.ids.binary_search(&id) {
                heirs.push(i);
                continue;
            }
            let broke = events.fractures.iter().filter(|event| event.parent == id);
            open.extend(broke.flat_map(|event| &event.fragments));
            open.extend(events.dents.iter().filter(|d| d.before == id).map(|d| d.after));
        }
        heirs.sort_unstable();
        heirs
    }

    /// The work that motors and kinematic bodies do on each body through `joints` in a frame from
    /// `start`, J: force times displacement, with its sign.
    pub(crate) fn joint_work(
        &self,
        joints: &[Joint],
        reactions: &[Reaction],
        start: &[Isometry3<f64>],
    ) -> Vec<f64> {
        let mut work = vec![0.0; self.len()];
        let is_dynamic = |i: &u32| matches!(self.acting.get(*i as usize), Some(Body::Dynamic(_)));
        for (joint, reaction) in joints.iter().zip(reactions) {
            let joint = Joint { last: *reaction, ..*joint };
            let poses = [start, &self.poses[..]];
            let pushed = joint.kinematic_work(&self.acting, poses, self.settings.dt);
            if let Some((moved, done)) = pushed {
                work[moved] += done;
            }
            if let Some(&i) = joint.bodies.iter().find(|&i| is_dynamic(i)) {
                work[i as usize] += self.motor_work(&joint, start);
            }
        }
        work
    }

    /// The work of the motor of a joint in a frame from `start`, J.
    fn motor_work(&self, joint: &Joint, start: &[Isometry3<f64>]) -> f64 {
        if joint.motor.is_none() {
            return 0.0;
        }
        let mut way = joint.coordinate(&self.poses) - joint.coordinate(start);
        if joint.kind == JointKind::Hinge && way.abs() > std::f64::consts::PI {
            way -= std::f64::consts::TAU.copysign(way);
        }
        joint.motor_impulse() / self.settings.dt * way
    }

    /// Stores the impulses of joints for the next frame.
    pub(crate) fn load_joints(&mut self, reactions: Vec<Reaction>) {
        for (link, reaction) in self.joints.iter_mut().zip(reactions) {
            link.joint.last = reaction;
            let Momentum { linear, angular } = std::mem::take(&mut link.impact_load);
            link.joint.last.linear += linear;
            link.joint.last.angular += angular;
        }
    }

    /// Adds impulses of joints during collisions to their loads in this frame.
    pub(crate) fn add_impact_loads(&mut self, loads: &[(JointId, Reaction)]) {
        for (id, Reaction { linear, angular, .. }) in loads {
            if let Ok(n) = self.joints.binary_search_by_key(id, |link| link.id) {
                self.joints[n].impact_load.linear += linear;
                self.joints[n].impact_load.angular += angular;
            }
        }
    }

    fn wake_all(&mut self, ids: &[BodyId]) {
        self.wake(ids.iter().copied().collect());
    }
}
