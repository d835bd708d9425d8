//! Br11's contact cache: impulses of earlier steps by contact positions on both bodies.

use levelset::Aabb;
use nalgebra::Point3;

/// Maximum number of steps without use before an entry is removed.
const MAX_UNUSED_STEPS: u8 = 10;

/// The cell of `bounds` that contains `point`. The box is halved 32 times, normal to x, y and z in
/// turn; each bit gives the half that contains the point. The edges of a cell are 2^-11, 2^-11 and
/// 2^-10 of the edges of the box. An infinite box has one cell.
///
/// This corrects two errors of Br11. First, its steps of `extents / 2^(bit / 3)` lead from the
/// center to the sides or beyond, so that most cells are unreachable; the first step must be a
/// quarter of the box, the next an eighth and so on. Second, its code is a signed `int`, with only
/// 31 bits to shift.
pub(super) fn kd_code(bounds: &Aabb, point: &Point3<f64>) -> u32 {
    let extents = bounds.extents();
    if !extents.iter().all(|e| e.is_finite()) {
        return 0;
    }
    let mut center = bounds.center();
    let mut step = extents / 4.0;
    let mut code = 0;
    for bit in 0..32 {
        let axis = bit % 3;
        if point[axis] >= center[axis] {
            code |= 1 << bit;
            center[axis] += step[axis];
        } else {
            center[axis] -= step[axis];
        }
        step[axis] *= 0.5;
    }
    code
}

/// Key of a contact: name of the first body and code of the contact in its bounds, then the same
/// for the second body.
pub type Key = (u64, u32, u64, u32);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    key: Key,
    /// Impulses along the normal and both tangents, N s.
    impulses: [f64; 3],
    age: u8,
}

/// Impulses by contact, for the warm start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImpulseCache {
    /// Sorted by key.
    entries: Vec<Entry>,
    lookups: CacheLookups,
}

/// Numbers of contacts that a step looked up in an [`ImpulseCache`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheLookups {
    /// Contacts that were looked up.
    pub requested: usize,
    /// Contacts with an entry.
    pub found: usize,
}

impl ImpulseCache {
    /// Number of contacts in the cache.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries: key, impulses along the normal and both tangents, N s, and number of steps
    /// without use.
    pub fn entries(&self) -> impl Iterator<Item = (Key, [f64; 3], u8)> {
        self.entries.iter().map(|entry| (entry.key, entry.impulses, entry.age))
    }

    /// A cache of `entries`.
    pub fn of_entries(entries: impl IntoIterator<Item = (Key, [f64; 3], u8)>) -> Self {
        let entry = |(key, impulses, age)| Entry { key, impulses, age };
        let mut entries: Vec<Entry> = entries.into_iter().map(entry).collect();
        // lookups require sorted entries
        entries.sort_by_key(|entry| entry.key);
        Self { entries, lookups: CacheLookups::default() }
    }

    /// The lookups of the last step.
    pub fn lookups(&self) -> CacheLookups {
        self.lookups
    }

    /// Removes the entries of the body with this name.
    pub(crate) fn forget(&mut self, name: u64) {
        self.entries.retain(|entry| entry.key.0 != name && entry.key.2 != name);
    }

    pub(super) fn get(&self, key: &Key) -> Option<[f64; 3]> {
        let at = self.entries.binary_search_by_key(key, |entry| entry.key).ok()?;
        Some(self.entries[at].impulses)
    }

    /// The cache after a step that solved these contacts. Their entries have age 0, all others are
    /// one step older, and stale entries are removed.
    pub(super) fn after(&self, solved: impl Iterator<Item = (Key, [f64; 3])>) -> Self {
        let mut entries: Vec<Entry> =
            solved.map(|(key, impulses)| Entry { key, impulses, age: 0 }).collect();
        let requested = entries.len();
        let found = entries.iter().filter(|entry| self.get(&entry.key).is_some()).count();
        let older = self.entries.iter().map(|e| Entry { age: e.age + 1, ..*e });
        entries.extend(older.filter(|entry| entry.age <= MAX_UNUSED_STEPS));
        // newest first; a stable sort keeps the deeper of two contacts in one cell first
        entries.sort_by_key(|entry| (entry.key, entry.age));
        entries.dedup_by_key(|entry| entry.key);
        Self { entries, lookups: CacheLookups { requested, found } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn unit() -> Aabb {
        Aabb { min: Point3::new(-1.0, -2.0, -4.0), max: Point3::new(1.0, 2.0, 4.0) }
    }

    #[test]
    fn a_code_is_the_cell_of_an_even_division() {
        let bounds = unit();
        let counts = [11, 11, 10];
        for n in 0..2000_u32 {
            let share = Vector3::from_fn(|a, _| {
                let primes = [7919, 104_729, 1_299_709];
                f64::from(n.wrapping_mul(primes[a]) % 10_007) / 10_007.0
            });
            let point = bounds.min + bounds.extents().component_mul(&share);
            let code = kd_code(&bounds, &point);
            for axis in 0..3 {
                let bits = counts[axis];
                let cell = (0..bits).fold(0, |cell, k| cell << 1 | (code >> (3 * k + axis)) & 1);
                assert_eq!(cell, (share[axis] * f64::from(1 << bits)).floor() as u32);
            }
        }
    }

    #[test]
    fn unused_impulses_expire_after_ten_steps() {
        let key = (1, 2, 3, 4);
        let mut cache = ImpulseCache::default().after([(key, [1.0; 3])].into_iter());
        assert_eq!(cache.lookups(), CacheLookups { requested: 1, found: 0 });
        for _ in 0..10 {
            cache = cache.after(std::iter::empty());
            assert_eq!(cache.get(&key), Some([1.0; 3]));
        }
        let next = cache.clone().after([(key, [2.0; 3])].into_iter());
        assert_eq!(next.lookups(), CacheLookups { requested: 1, found: 1 });
        cache = cache.after(std::iter::empty());
        assert!(cache.is_empty());
    }
}
