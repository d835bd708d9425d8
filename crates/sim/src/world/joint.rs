//! Joints to add to a world, and their states.

use std::cmp::Ordering;

use contact::constraint::{Joint, JointKind, Motor};
use dynamics::Momentum;
use nalgebra::{Isometry3, Point3, Vector3};
use thiserror::Error;

use crate::world::limits::MAX_NUMBER;
use crate::{BodyId, JointId};

/// A joint to add to a [`World`](crate::World), with the bodies at their current poses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewJoint {
    /// The motion that it allows.
    pub kind: JointKind,
    /// The bodies it joins.
    pub bodies: [BodyId; 2],
    /// Anchor in the world, on the first and on the second body, m: the same point except for
    /// [`JointKind::Distance`].
    pub anchors: [Point3<f64>; 2],
    /// Axis of a hinge or slider, in the world, of any length but zero.
    pub axis: Vector3<f64>,
    /// Range of the angle, rad, or displacement, m, relative to the current poses. Finite limits of
    /// a hinge are at most [`NewJoint::MAX_HINGE_LIMIT`].
    pub limits: Option<[f64; 2]>,
    /// Its motor.
    pub motor: Option<Motor>,
    /// Its strength, N; may be infinite.
    pub break_force: f64,
    /// Its torsional strength, N m; may be infinite.
    pub break_torque: f64,
    /// Whether the bodies collide with each other.
    pub collides: bool,
}

/// Why a joint was rejected.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum JointError {
    /// A body does not exist, or both are the same.
    #[error("a joint needs two different bodies of this world")]
    Bodies,
    /// Neither body is dynamic.
    #[error("neither of its bodies moves: one must be dynamic")]
    Immovable,
    /// A number is not finite or beyond 1e30, the axis is zero, or a distance, the strength or the
    /// force of the motor is negative.
    #[error(
        "its places, axis, least distance and motor speed must be finite and at most 1e30, its axis \
         not zero, and its distances, strength and motor force not negative"
    )]
    NotFinite,
    /// Its limits are reversed, or allow no finite value.
    #[error("limits {least} and {most} must ascend and hold a finite value: the lower one first")]
    Limits {
        /// The first one.
        least: f64,
        /// The second one.
        most: f64,
    },
    /// A finite limit of a hinge is beyond [`NewJoint::MAX_HINGE_LIMIT`].
    #[error(
        "limits of a hinge must be at most 3.124 rad (179 degrees), or infinite, not {limit} rad"
    )]
    HingeLimit {
        /// The limit, rad.
        limit: f64,
    },
    /// It has limits or a motor, but is no hinge or slider.
    #[error("only a hinge or slider has limits and a motor")]
    NoAxis,
    /// The solver does not support joints.
    #[error(
        "the solver of this world has no joints: use `manifold`, `sequential_impulse`, \
         `quadratic_program` or `impulse`"
    )]
    Solver,
}

/// The state of a joint.
#[derive(Clone, Copy, Debug)]
pub struct JointState {
    /// Its identifier.
    pub id: JointId,
    /// The bodies it joins.
    pub bodies: [BodyId; 2],
    /// The motion that it allows.
    pub kind: JointKind,
    /// Angle, rad, displacement or distance, m.
    pub coordinate: f64,
    /// Position error of the joint, m and rad.
    pub error: [f64; 2],
    /// Force on the first body in the last frame, N.
    pub force: Vector3<f64>,
    /// Torque on the first body about the anchor in the last frame, N m.
    pub torque: Vector3<f64>,
}

/// A joint and its load.
#[derive(Clone, Debug)]
pub(crate) struct WorldJoint {
    pub(crate) id: JointId,
    pub(crate) ids: [BodyId; 2],
    /// Its body indices are valid only where `World::frame_joints` wrote them.
    pub(crate) joint: Joint,
    pub(crate) break_force: f64,
    pub(crate) break_torque: f64,
    /// Its frames in the world at the start of the frame.
    pub(super) places: [Isometry3<f64>; 2],
    /// Distances of its anchors from the bodies that it joined first, m; zero inside.
    pub(super) gaps: [f64; 2],
    /// Its impulses in the collisions of this frame, on the first body and about the anchor.
    pub(crate) impact_load: Momentum,
}

impl NewJoint {
    /// Largest finite limit of a hinge, rad: 179 degrees. The angle is known up to whole turns.
    pub const MAX_HINGE_LIMIT: f64 = 179.0 / 180.0 * std::f64::consts::PI;

    pub(super) fn check(&self) -> Result<(), JointError> {
        let ranges = [self.break_force, self.break_torque, self.motor.map_or(0.0, |m| m.max_force)];
        let places = self.anchors.iter().flat_map(|p| p.iter());
        let speed = self.motor.map_or(0.0, |m| m.speed);
        let least = match self.kind {
            JointKind::Distance { least, .. } => least,
            _ => 0.0,
        };
        let finite =
            places.chain(&self.axis).chain([&speed, &least]).all(|x| x.abs() <= MAX_NUMBER)
                && ranges.iter().all(|x| *x >= 0.0)
                && least >= 0.0;
        let axis = self.axis.amax() > 0.0;
        let ends = match self.kind {
            JointKind::Distance { least, most } => Some([least, most]),
            _ => self.limits,
        };
        let drives = matches!(self.kind, JointKind::Hinge | JointKind::Slider);
        match ends {
            _ if !finite || !axis => Err(JointError::NotFinite),
            Some([least, most])
                if least.partial_cmp(&most).is_none_or(Ordering::is_gt)
                    || least == f64::INFINITY
                    || most == f64::NEG_INFINITY =>
            {
                Err(JointError::Limits { least, most })
            }
            Some(limits) if self.kind == JointKind::Hinge => {
                let is_beyond = |x: &f64| x.is_finite() && x.abs() > Self::MAX_HINGE_LIMIT;
                let limit = limits.into_iter().find(is_beyond);
                limit.map_or(Ok(()), |limit| Err(JointError::HingeLimit { limit }))
            }
            _ if !drives && (self.limits.is_some() || self.motor.is_some()) => {
                Err(JointError::NoAxis)
            }
            _ => Ok(()),
        }
    }
}
