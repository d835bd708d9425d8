//! Names of bodies and joints.

use serde::{Deserialize, Serialize};

/// Names a body for as long as the world lives; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BodyId(pub(super) u64);

impl std::fmt::Display for BodyId {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl BodyId {
    /// The number that it is printed as, for programs that know no such type; see
    /// [`World::id`](crate::World::id).
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Names a joint for as long as the world lives; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JointId(pub(super) u64);

impl JointId {
    /// The number that it is known by to programs that have no such type.
    pub fn number(self) -> u64 {
        self.0
    }
}
