//! Identifiers of bodies and joints.

use serde::{Deserialize, Serialize};

/// Identifier of a body for the lifetime of the world; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BodyId(pub(super) u64);

impl std::fmt::Display for BodyId {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl BodyId {
    /// Its number as printed, for interfaces without this type; see
    /// [`World::id`](crate::World::id).
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Identifier of a joint for the lifetime of the world; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JointId(pub(super) u64);

impl std::fmt::Display for JointId {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl JointId {
    /// Its number, for interfaces without this type.
    pub fn number(self) -> u64 {
        self.0
    }
}
