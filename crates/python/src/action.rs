//! Actions on a world, for replay.

use serde::{Deserialize, Serialize};
use sim::Fracture;

/// An action on a world between frames, or a number of frames.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Action {
    Step(usize),
    Remove(u64),
    Gravity([f64; 3]),
    Pose(u64, [f64; 7]),
    Velocity(u64, [[f64; 3]; 2]),
    Kinematic(u64, [f64; 7]),
    Force(u64, [f64; 3], Option<[f64; 3]>),
    Torque(u64, [f64; 3]),
    Impulse(u64, [f64; 3], Option<[f64; 3]>),
    Cut([[f64; 3]; 4]),
    Add(Body),
    AddJoint([u64; 2], String),
    RemoveJoint(u64),
    Anchor(u64, String, f64),
    /// Number of a joint, and speed and largest force of its motor.
    Motor(u64, Option<[f64; 2]>),
}

/// A body to add.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Body {
    /// Keys as in a scene, in JSON.
    pub(crate) keys: String,
    /// The mesh to which its shape refers by the name [`MESH`].
    pub(crate) mesh: Option<Triangles>,
}

/// Vertices, m, and triangles.
pub(crate) type Triangles = (Vec<[f64; 3]>, Vec<[u32; 3]>);

/// Placeholder file name of a mesh in memory.
pub(crate) const MESH: &str = "mesh.obj";

/// Result of an action.
pub(crate) enum ActionResult {
    Nothing,
    Fractures(Vec<Fracture>),
    /// The number of the added body or joint.
    Number(u64),
}
