//! Joints of a scene.

use serde::Deserialize;

use super::check::{LARGEST, at, bounded, direction, positive, require};
use super::defaults::up;
use super::{InvalidValue, Solver};

/// A breakable joint between two bodies: `[[joints]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Kind of the joint.
    pub kind: JointKind,
    /// Names of the two joined bodies, copies or pieces; at least one must be dynamic.
    pub bodies: [String; 2],
    /// Anchor in the world, m; of a distance joint on the first body.
    pub anchor: [f64; 3],
    /// Anchor of a distance joint on the second body, m; `anchor` by default.
    pub second_anchor: Option<[f64; 3]>,
    /// Axis of a hinge or slider, in the world, of any nonzero length; `[0, 1, 0]` by default.
    #[serde(default = "up")]
    pub axis: [f64; 3],
    /// Lower and upper limit: angle of a hinge, degrees, displacement of a slider, m, relative to
    /// the initial poses; distance of a distance joint, m, by default the initial one.
    pub limits: Option<[f64; 2]>,
    /// Motor of a hinge or slider; none by default.
    pub motor: Option<Motor>,
    /// Force that breaks the joint, N; infinite by default.
    pub break_force: Option<f64>,
    /// Torque that breaks the joint, N m; infinite by default.
    pub break_torque: Option<f64>,
    /// Whether the bodies collide with each other; false by default.
    #[serde(default)]
    pub collides: bool,
}

impl Joint {
    pub(super) fn check(&self, key: &str, solver: Solver) -> Result<(), InvalidValue> {
        require(solver.contact().has_joints(), key, || {
            format!(
                "cannot be: the solver `{}` has no joints; use `manifold`, \
                 `sequential_impulse`, `quadratic_program` or `impulse`",
                solver.name()
            )
        })?;
        let key_of = |name: &str| at(key, name);
        bounded(&key_of("anchor"), &self.anchor, "m")?;
        direction(&key_of("axis"), &self.axis)?;
        let drives = matches!(self.kind, JointKind::Hinge | JointKind::Slider);
        let distance = self.kind == JointKind::Distance;
        if let Some(second) = &self.second_anchor {
            bounded(&key_of("second_anchor"), second, "m")?;
            require(
                distance,
                &key_of("second_anchor"),
                || "must be removed: only `distance` has two",
            )?;
        }
        if let Some([least, most]) = self.limits {
            let range = if self.kind == JointKind::Hinge { 179.0 } else { LARGEST };
            let low = if distance { 0.0 } else { -range };
            require(low <= least && least <= most && most <= range, &key_of("limits"), || {
                format!("must ascend between {low} and {range}, not {least} and {most}")
            })?;
            require(
                drives || distance,
                &key_of("limits"),
                || "must be removed: only `hinge`, `slider` and `distance` have them",
            )?;
        }
        if let Some(motor) = self.motor {
            require(
                drives,
                &key_of("motor"),
                || "must be removed: only `hinge` and `slider` have one",
            )?;
            bounded(&key_of("motor.speed"), &[motor.speed], "rad/s or m/s")?;
            positive(&key_of("motor.most"), motor.max_force, "N m or N")?;
        }
        for (name, bears) in
            [("break_force", self.break_force), ("break_torque", self.break_torque)]
        {
            if let Some(bears) = bears {
                require(bears > 0.0 && bears <= LARGEST, &key_of(name), || {
                    format!(
                        "must be above 0 and at most {LARGEST:e} N or N m, not {bears:?}: \
                         leave it out for a joint that bears everything"
                    )
                })?;
            }
        }
        Ok(())
    }
}

/// Kind of a joint by its free motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// Free rotation: ball and socket.
    Point,
    /// A fixed distance: a rod, or with limits a rope.
    Distance,
    /// Free rotation about an axis.
    Hinge,
    /// Free translation along an axis.
    Slider,
    /// No free motion.
    Fixed,
}

/// `motor = { speed = 6, most = 50 }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// Target speed of the first body relative to the second: rad/s for a hinge, m/s for a slider.
    pub speed: f64,
    /// Maximum torque of a hinge, N m, or force of a slider, N.
    #[serde(rename = "most")]
    pub max_force: f64,
}
