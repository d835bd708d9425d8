//! Collision groups by name.

use std::collections::BTreeSet;

use contact::Groups;

use super::check::{at, require};
use super::error::nearest;
use super::{Body, InvalidValue};

/// Maximum number of collision groups of a scene: one bit of a `u32` each.
const MAX_GROUPS: usize = 32;

/// The group of bodies without `groups`.
pub(super) const DEFAULT: &str = "default";

/// Names of all groups of a scene: the default one, then the others in ascending order.
pub(super) fn names(bodies: &[Body]) -> Vec<&str> {
    let named = bodies.iter().filter_map(|body| body.groups.as_ref()).flatten();
    let mut others: BTreeSet<&str> = named.map(String::as_str).collect();
    others.remove(DEFAULT);
    std::iter::once(DEFAULT).chain(others).collect()
}

impl Body {
    /// The groups of the body as bits among `all`; unknown names have no bit.
    pub(super) fn groups_among(&self, all: &[&str]) -> Groups {
        let bits = |names: &[String]| {
            let bit = |n: usize| 1u32.checked_shl(n as u32).unwrap_or(0);
            let of = |name: &String| all.iter().position(|g| g == name).map_or(0, bit);
            names.iter().fold(0, |bits, name| bits | of(name))
        };
        Groups {
            memberships: self.groups.as_deref().map_or(1, bits),
            filter: self.collides_with.as_deref().map_or(u32::MAX, bits),
        }
    }

    pub(super) fn check_groups(&self, key: &str, all: &[&str]) -> Result<(), InvalidValue> {
        require(all.len() <= MAX_GROUPS, &at(key, "groups"), || {
            format!("makes {} groups, more than {MAX_GROUPS}: use fewer", all.len())
        })?;
        let own = self.groups.as_deref().unwrap_or_default();
        require(
            own.iter().all(|name| !name.is_empty()),
            &at(key, "groups"),
            || "holds an empty name: give the group a name",
        )?;
        for name in self.collides_with.as_deref().unwrap_or_default() {
            require(all.contains(&name.as_str()), &at(key, "collides_with"), || {
                match nearest(name, all.iter().copied()) {
                    Some(other) => format!("names no group `{name}`, did you mean `{other}`?"),
                    None => format!("names no group `{name}`; known: {}", all.join(", ")),
                }
            })?;
        }
        Ok(())
    }
}
