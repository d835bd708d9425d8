//! Which bodies may touch at all.

/// The groups a body is in and those it touches, one bit a group. Two bodies touch only if each
/// is in a group that the other touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Groups {
    /// The groups that it is in.
    pub memberships: u32,
    /// The groups that it touches.
    pub filter: u32,
}

impl Default for Groups {
    /// In all groups, and touches all.
    fn default() -> Self {
        Self { memberships: u32::MAX, filter: u32::MAX }
    }
}

impl Groups {
    /// Whether bodies of these groups may touch each other.
    pub fn meet(&self, other: &Self) -> bool {
        self.memberships & other.filter != 0 && other.memberships & self.filter != 0
    }
}
