//! What joins bodies.

use serde::Deserialize;

use super::up;

/// Two bodies that stay joined until it bears too much: `[[joints]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// What it leaves free.
    pub kind: JointKind,
    /// Names of the bodies it joins; one must be dynamic.
    pub bodies: [String; 2],
    /// Where in the world, m. That of a distance joint is on the first body.
    pub anchor: [f64; 3],
    /// Where a distance joint is on the second body, m; at `anchor` unless given.
    pub second_anchor: Option<[f64; 3]>,
    /// Axis of a hinge or slider, in the world, of any length but zero; `[0, 1, 0]` unless given.
    #[serde(default = "up")]
    pub axis: [f64; 3],
    /// Least and most: angle of a hinge, degrees, shift of a slider, m, from where the bodies start;
    /// distance of a distance joint, m, as at the start unless given.
    pub limits: Option<[f64; 2]>,
    /// What drives a hinge or slider; nothing unless given.
    pub motor: Option<Motor>,
    /// The force it bears, N; any unless given.
    pub break_force: Option<f64>,
    /// The torque it bears, N m; any unless given.
    pub break_torque: Option<f64>,
    /// Whether the bodies collide with each other; false unless given.
    #[serde(default)]
    pub collides: bool,
}

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// All turning: ball and socket.
    Point,
    /// All but a distance: a rod, or a rope if limits let it.
    Distance,
    /// Turning about an axis.
    Hinge,
    /// Moving along an axis.
    Slider,
    /// Nothing.
    Fixed,
}

/// `motor = { speed = 6, most = 50 }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// Of the first body relative to the second: rad/s of a hinge, m/s of a slider.
    pub speed: f64,
    /// The most it can do: N m or N.
    pub most: f64,
}
