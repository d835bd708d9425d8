//! Collision groups by name.

use std::collections::BTreeSet;

use contact::Groups;

use super::{Body, Scene};

impl Scene {
    /// The group of bodies that name none.
    pub const DEFAULT_GROUP: &str = "default";

    /// Names of all groups: that of bodies that name none, then the others in ascending order.
    pub(super) fn groups(&self) -> Vec<&str> {
        let named = self.bodies.iter().filter_map(|body| body.groups.as_ref()).flatten();
        let mut others: BTreeSet<&str> = named.map(String::as_str).collect();
        others.remove(Self::DEFAULT_GROUP);
        std::iter::once(Self::DEFAULT_GROUP).chain(others).collect()
    }

    /// The groups of a body as bits; a name that no body is in has none.
    pub(crate) fn groups_of(&self, body: &Body) -> Groups {
        let all = self.groups();
        let bits = |names: &[String]| {
            let bit = |n: usize| 1u32.checked_shl(n as u32).unwrap_or(0);
            let of = |name: &String| all.iter().position(|g| g == name).map_or(0, bit);
            names.iter().fold(0, |bits, name| bits | of(name))
        };
        Groups {
            memberships: body.groups.as_deref().map_or(1, bits),
            filter: body.collides_with.as_deref().map_or(u32::MAX, bits),
        }
    }
}
