//! The contact cache: contacts of earlier frames, reused while the relative pose hardly changes,
//! and their impulses for the warm start (as in Br11, but keyed by surface point instead of
//! position: the point is fixed to the body and identifies the contact).

use nalgebra::{Isometry3, Point3, Vector3};

use crate::constraint::ImpulseCache;
use crate::narrow::candidate::{Found, Side};
use crate::narrow::contacts::Contacts;

/// The contacts and impulses of one frame by pair of bodies.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// Sorted by names.
    pairs: Vec<Entry>,
    contacts: Vec<Remembered>,
    /// Impulses of the row-based solvers.
    impulses: ImpulseCache,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    names: [u64; 2],
    /// The first body's coordinates in the second's at the last narrow-phase test; `None` if its
    /// result must not be reused.
    tested_pose: Option<Isometry3<f64>>,
    /// Angular impulse of rolling and spinning friction on the first body, N m s.
    torque: Vector3<f64>,
    first: u32,
    count: u32,
}

/// A contact of an earlier frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remembered {
    pub(crate) found: Found,
    /// On the first body, N s.
    pub(crate) impulse: Vector3<f64>,
}

/// The cached data of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedPairRef<'a> {
    /// Relative pose at the last narrow-phase test, if its result may be reused.
    pub(crate) tested_pose: Option<Isometry3<f64>>,
    /// Angular impulse of rolling and spinning friction on the first body, N m s.
    pub(crate) torque: Vector3<f64>,
    pub(crate) contacts: &'a [Remembered],
}

/// The entry of a pair of bodies in a [`Cache`], as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedPair {
    /// Persistent names of the bodies.
    pub names: [u64; 2],
    /// The first body's coordinates in the second's at the last narrow-phase test; `None` if its
    /// result must not be reused.
    pub tested_pose: Option<Isometry3<f64>>,
    /// Angular impulse of rolling and spinning friction on the first body, N m s.
    pub torque: Vector3<f64>,
    /// Its contacts.
    pub contacts: Vec<CachedContact>,
}

/// A contact of a [`CachedPair`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CachedContact {
    /// The body that owns the surface point.
    pub owner: Side,
    /// Key of the point on its body.
    pub key: u32,
    /// The point in the owner's body coordinates, m.
    pub point: Point3<f64>,
    /// Unit normal out of the other body, in its coordinates.
    pub normal: Vector3<f64>,
    /// Signed distance when the contact was found, m.
    pub distance: f64,
    /// Impulse on the first body, N s.
    pub impulse: Vector3<f64>,
}

impl Cache {
    /// All entries, by ascending names.
    pub fn pairs(&self) -> Vec<CachedPair> {
        let contact = |Remembered { found, impulse }: &Remembered| {
            let Found { owner, key, point, normal, distance } = *found;
            CachedContact { owner, key, point, normal, distance, impulse: *impulse }
        };
        let pair = |entry: &Entry| {
            let range = entry.first as usize..(entry.first + entry.count) as usize;
            let contacts = self.contacts[range].iter().map(contact).collect();
            CachedPair {
                names: entry.names,
                tested_pose: entry.tested_pose,
                torque: entry.torque,
                contacts,
            }
        };
        self.pairs.iter().map(pair).collect()
    }

    /// A cache of the entries `pairs`.
    pub fn of_pairs(pairs: impl IntoIterator<Item = CachedPair>) -> Self {
        let mut cache = Self::default();
        for CachedPair { names, tested_pose, torque, contacts } in pairs {
            let (first, count) = (cache.contacts.len() as u32, contacts.len() as u32);
            cache.pairs.push(Entry { names, tested_pose, torque, first, count });
            cache.contacts.extend(contacts.into_iter().map(|contact| {
                let CachedContact { owner, key, point, normal, distance, impulse } = contact;
                Remembered { found: Found { owner, key, point, normal, distance }, impulse }
            }));
        }
        // lookups require sorted entries
        cache.pairs.sort_by_key(|entry| entry.names);
        cache
    }

    /// Stores `contacts` and `impulses`, one per contact on body `a`, N s. `names` persist when
    /// indices of bodies shift, and ascend with these.
    pub fn new(contacts: &Contacts, names: &[u64], impulses: &[Vector3<f64>]) -> Self {
        let entry = |test: &crate::narrow::contacts::PairTest| Entry {
            names: [test.a, test.b].map(|i| names[i as usize]),
            tested_pose: test.relative,
            torque: Vector3::zeros(),
            first: test.first,
            count: test.count,
        };
        let remembered = contacts.origins().iter().zip(impulses);
        Self {
            pairs: contacts.pair_tests().iter().map(entry).collect(),
            contacts: remembered
                .map(|(origin, &impulse)| Remembered { found: origin.found, impulse })
                .collect(),
            impulses: ImpulseCache::default(),
        }
    }

    /// Adds angular impulses of rolling and spinning friction, N m s, by ascending names.
    pub(crate) fn with_torques(mut self, torques: &[([u64; 2], Vector3<f64>)]) -> Self {
        for &(names, torque) in torques {
            if let Ok(n) = self.pairs.binary_search_by_key(&names, |entry| entry.names) {
                self.pairs[n].torque = torque;
            }
        }
        self
    }

    /// Replaces the impulses of the row-based solvers.
    pub fn with_impulses(self, impulses: ImpulseCache) -> Self {
        Self { impulses, ..self }
    }

    /// Impulses by their positions on both bodies; empty with [`Solver::Manifold`](crate::Solver),
    /// which identifies contacts by surface point.
    pub fn impulses(&self) -> &ImpulseCache {
        &self.impulses
    }

    /// Removes the entries of the body with this name.
    pub fn forget(&mut self, name: u64) {
        self.pairs.retain(|entry| !entry.names.contains(&name));
        self.impulses.forget(name);
    }

    /// Copies from `old` the pairs for which `rests` holds: sleeping pairs, which were not tested
    /// in this frame.
    pub fn keep(&mut self, old: &Self, rests: impl Fn([u64; 2]) -> bool) {
        let kept: Vec<&Entry> = old.pairs.iter().filter(|entry| rests(entry.names)).collect();
        for entry in &kept {
            let first = self.contacts.len() as u32;
            let range = entry.first as usize..(entry.first + entry.count) as usize;
            self.contacts.extend_from_slice(&old.contacts[range]);
            self.pairs.push(Entry { first, ..**entry });
        }
        if !kept.is_empty() {
            self.pairs.sort_by_key(|entry| entry.names);
        }
    }

    /// A cursor for lookups in ascending order.
    pub(crate) fn start(&self) -> Cursor<'_> {
        Cursor { cache: self, next: 0 }
    }

    /// A cursor for lookups in ascending order that starts at the pair `names`.
    pub(crate) fn from(&self, names: [u64; 2]) -> Cursor<'_> {
        Cursor { cache: self, next: self.pairs.partition_point(|e| e.names < names) }
    }
}

/// A position in a [`Cache`].
pub(crate) struct Cursor<'a> {
    cache: &'a Cache,
    next: usize,
}

impl<'a> Cursor<'a> {
    /// The entry of the pair `names`, which must not be less than those of earlier calls.
    pub(crate) fn find(&mut self, names: [u64; 2]) -> Option<CachedPairRef<'a>> {
        let pairs = &self.cache.pairs;
        while pairs.get(self.next).is_some_and(|e| e.names < names) {
            self.next += 1;
        }
        let entry = pairs.get(self.next).filter(|e| e.names == names)?;
        let range = entry.first as usize..(entry.first + entry.count) as usize;
        Some(CachedPairRef {
            tested_pose: entry.tested_pose,
            torque: entry.torque,
            contacts: &self.cache.contacts[range],
        })
    }
}
