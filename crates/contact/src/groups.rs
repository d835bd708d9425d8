//! Collision groups.

/// The groups of a body and the groups that it collides with, one bit per group. Two bodies may
/// touch if each is a member of a group in the other's filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Groups {
    /// Groups of the body.
    pub memberships: u32,
    /// Groups that the body collides with.
    pub filter: u32,
}

impl Default for Groups {
    /// A member of all groups that collides with all.
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
