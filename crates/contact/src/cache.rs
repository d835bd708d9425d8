//! Impulses of the last frame, to start this one from (Br11's contact cache, keyed by surface
//! point instead of position, which is an identity where points are fixed to the body).

use nalgebra::Vector3;

use crate::narrow::{Contacts, Side};

/// The contact impulses of one frame, remembered by pair of bodies and surface point.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// Sorted by pair.
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    pair: [u64; 2],
    owner: Side,
    key: u32,
    impulse: Vector3<f64>,
}

impl Cache {
    /// Remembers `impulses`, one a contact on body `a` in N s. `names` are lasting names of the
    /// bodies: they survive when indices shift.
    pub fn new(contacts: &Contacts, names: &[u64], impulses: &[Vector3<f64>]) -> Self {
        let mut entries = Vec::with_capacity(contacts.len());
        let mut impulses = impulses.iter();
        for pair in contacts.manifolds() {
            let pair_names = [pair.a, pair.b].map(|i| names[i as usize]);
            for (contact, &impulse) in contacts.of(pair).iter().zip(impulses.by_ref()) {
                let (owner, key) = (contact.owner, contact.key);
                entries.push(Entry { pair: pair_names, owner, key, impulse });
            }
        }
        entries.sort_by_key(|e| e.pair);
        Self { entries }
    }

    /// The remembered impulse of each contact, zero for new ones.
    pub fn guess(&self, contacts: &Contacts, names: &[u64]) -> Vec<Vector3<f64>> {
        let mut guesses = Vec::with_capacity(contacts.len());
        for pair in contacts.manifolds() {
            let pair_names = [pair.a, pair.b].map(|i| names[i as usize]);
            let first = self.entries.partition_point(|e| e.pair < pair_names);
            let known = self.entries[first..].iter().take_while(|e| e.pair == pair_names);
            for contact in contacts.of(pair) {
                let same = |e: &&Entry| e.owner == contact.owner && e.key == contact.key;
                guesses.push(known.clone().find(same).map_or(Vector3::zeros(), |e| e.impulse));
            }
        }
        guesses
    }
}
