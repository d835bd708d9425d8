//! Joints to add to a world, and their states.

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
    /// A number of its anchors or axis is not finite or beyond 1e30, or the axis is zero.
    #[error("its anchors and axis must be finite and at most 1e30, and its axis not zero")]
    NotFinite,
    /// A distance is negative.
    #[error("its least distance must be from 0 to 1e30, not {0:?}")]
    Distance(f64),
    /// Its motor has a speed that is not finite or beyond 1e30, or a negative force.
    #[error(
        "the speed of its motor must be finite and at most 1e30, and the force not negative, not \
         {speed:?} and {max_force:?}"
    )]
    Motor {
        /// The speed, rad/s or m/s.
        speed: f64,
        /// The largest torque, N m, or force, N.
        max_force: f64,
    },
    /// A strength is negative or NaN.
    #[error("its strength must not be negative, not {force:?} N and {torque:?} N m")]
    Strength {
        /// The strength, N.
        force: f64,
        /// The torsional strength, N m.
        torque: f64,
    },
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
    /// The joint does not exist.
    #[error("there is no joint {0}: it broke or was removed")]
    Unknown(JointId),
    /// The solver does not support joints.
    #[error(
        "the solver of this world has no joints: use `manifold`, `sequential_impulse`, \
         `quadratic_program` or `impulse`"
    )]
    Solver,
}

/// The state of a joint.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JointState {
    /// Its identifier.
    pub id: JointId,
    /// The bodies it joins.
    pub bodies: [BodyId; 2],
    /// The motion that it allows.
    pub kind: JointKind,
    /// Angle, rad, displacement or distance, m.
    pub coordinate: f64,
    /// Range of `coordinate` of a hinge or slider.
    pub limits: Option<[f64; 2]>,
    /// Its motor.
    pub motor: Option<Motor>,
    /// Its strength, N.
    pub break_force: f64,
    /// Its torsional strength, N m.
    pub break_torque: f64,
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

    /// A joint of two bodies at an anchor in the world, m, with its axis along x. It has no limits and
    /// no motor, does not break, and its bodies do not collide with each other.
    pub fn new(kind: JointKind, bodies: [BodyId; 2], anchor: Point3<f64>) -> Self {
        Self {
            kind,
            bodies,
            anchors: [anchor; 2],
            axis: Vector3::x(),
            limits: None,
            motor: None,
            break_force: f64::INFINITY,
            break_torque: f64::INFINITY,
            collides: false,
        }
    }

    pub(super) fn check(&self) -> Result<(), JointError> {
        let mut places = self.anchors.iter().flat_map(|p| p.iter()).chain(&self.axis);
        if !places.all(|x| x.abs() <= MAX_NUMBER) || self.axis.amax() == 0.0 {
            return Err(JointError::NotFinite);
        }
        check_strength(self.break_force, self.break_torque)?;
        check_drive(self.kind, self.limits, self.motor)
    }
}

/// Checks the strength of a joint, N and N m.
pub(super) fn check_strength(force: f64, torque: f64) -> Result<(), JointError> {
    let is_strength = |x: f64| x >= 0.0;
    let are_strengths = is_strength(force) && is_strength(torque);
    if are_strengths { Ok(()) } else { Err(JointError::Strength { force, torque }) }
}

/// Checks the limits and motor of a joint.
pub(super) fn check_drive(
    kind: JointKind,
    limits: Option<[f64; 2]>,
    motor: Option<Motor>,
) -> Result<(), JointError> {
    if let Some(Motor { speed, max_force }) = motor
        && !(speed.abs() <= MAX_NUMBER && max_force >= 0.0)
    {
        return Err(JointError::Motor { speed, max_force });
    }
    match kind {
        JointKind::Distance { least, .. } if !(0.0..=MAX_NUMBER).contains(&least) => {
            return Err(JointError::Distance(least));
        }
        JointKind::Distance { least, most } => check_range([least, most])?,
        JointKind::Hinge | JointKind::Slider => limits.map_or(Ok(()), check_range)?,
        JointKind::Point | JointKind::Fixed => {}
    }
    if kind == JointKind::Hinge {
        let is_beyond = |x: &f64| x.is_finite() && x.abs() > NewJoint::MAX_HINGE_LIMIT;
        let limit = limits.into_iter().flatten().find(is_beyond);
        return limit.map_or(Ok(()), |limit| Err(JointError::HingeLimit { limit }));
    }
    let is_driven = limits.is_some() || motor.is_some();
    if is_driven && kind != JointKind::Slider { Err(JointError::NoAxis) } else { Ok(()) }
}

/// Checks that limits ascend and allow a finite value.
fn check_range([least, most]: [f64; 2]) -> Result<(), JointError> {
    let ascends = least <= most && least < f64::INFINITY && most > f64::NEG_INFINITY;
    if ascends { Ok(()) } else { Err(JointError::Limits { least, most }) }
}
