//! Contact search of candidate pairs.

use dynamics::Velocity;
use nalgebra::Isometry3;
use rayon::prelude::*;

use crate::narrow::broad::Pairs;
use crate::narrow::cache::{Cache, CachedPairRef};
use crate::narrow::contacts::{Contacts, Manifold, PairTest, Resumed, SearchStats};
use crate::narrow::flight::{Flight, Turning};
use crate::narrow::pair::{Motion, Pair};
use crate::{Columns, Settings};

/// Pairs per task; fixed, so that the work is divided the same way for any thread count.
const CHUNK: usize = 32;
/// A step that moves bodies from `poses` to `predicted`. All slices have one entry per body.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) poses: &'a [Isometry3<f64>],
    pub(crate) predicted: &'a [Isometry3<f64>],
    pub(crate) velocities: &'a [Velocity],
    /// Change of each velocity by forces in half the step.
    pub(crate) half_kick: &'a [Velocity],
    /// The last collision of each body in this step; none for bodies beyond the end of the slice.
    pub(crate) flights: &'a [Flight],
    /// Orientations of spinning bodies.
    pub(crate) turnings: &'a [Option<Turning>],
    pub(crate) dt: f64,
    pub(crate) settings: &'a Settings,
    /// The contacts of an earlier search in this step.
    pub(crate) before: Option<&'a Contacts>,
    /// Contacts of earlier steps.
    pub(crate) cache: &'a Cache,
    /// Persistent names of the bodies in the cache.
    pub(crate) names: &'a [u64],
}

/// Finds the contacts of `pairs` in a step.
///
/// Bodies are tested at their predicted poses. Pairs that move far relative to their size are also
/// tested on the way, which prevents tunnelling. Contacts of a pair are reused if its relative pose
/// has hardly changed since its last test, in this step or an earlier one.
///
/// The search of the `resumed` pairs, sorted, starts at their times.
pub(crate) fn detect(step: Step<'_>, pairs: &Pairs, resumed: &[Resumed]) -> Contacts {
    let Step { columns, poses, predicted, velocities, half_kick, flights, turnings, .. } = step;
    let Step { dt, before, cache, names, settings, .. } = step;
    let motion = |i: u32| {
        let i = i as usize;
        let flight = flights.get(i).filter(|flight| flight.since > 0.0);
        let entry = flight.and_then(|flight| flight.entry.as_ref());
        Motion {
            shape: &columns.shapes[i],
            start: &poses[i],
            entry: entry.unwrap_or(&poses[i]),
            end: &predicted[i],
            velocity: &velocities[i],
            dt,
            fall: half_kick[i].linear * dt,
            resting: settings.resting_at(&half_kick[i], columns.materials[i].restitution),
            from: flight.map_or(0.0, |flight| (flight.since / dt).min(1.0)),
            rotation: flight.map_or(poses[i].rotation, |flight| flight.rotation),
            turning: turnings[i].as_ref(),
        }
    };
    let named = |&(a, b): &(u32, u32)| [names[a as usize], names[b as usize]];
    let parts: Vec<Contacts> = pairs
        .near
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut found = Contacts::default();
            found.reserve(2 * chunk.len());
            found.pair_tests.reserve(chunk.len());
            found.manifolds.reserve(chunk.len() / 2);
            let mut cursor = cache.from(named(&chunk[0]));
            for &(a, b) in chunk {
                let resumed = Resumed::of(resumed, (a, b)).unwrap_or(0.0);
                let pair = Pair::new(motion(a), motion(b), resumed / dt);
                found.add((a, b), &pair, before, cursor.find(named(&(a, b))));
            }
            found
        })
        .collect();
    let stats = SearchStats { pairs: pairs.boxes, ..SearchStats::default() };
    let mut contacts = Contacts::default();
    contacts.stats = stats;
    contacts.reserve(parts.iter().map(Contacts::len).sum());
    contacts.pair_tests.reserve(parts.iter().map(|part| part.pair_tests.len()).sum());
    contacts.manifolds.reserve(parts.iter().map(|part| part.manifolds.len()).sum());
    parts.into_iter().for_each(|part| contacts.append(part));
    contacts
}

impl Contacts {
    /// Adds the contacts of a pair. Contacts of an `earlier` search of this step, else those `known`
    /// from the last step, are reused if the relative pose has hardly changed.
    pub(crate) fn add(
        &mut self,
        (a, b): (u32, u32),
        pair: &Pair<'_>,
        earlier: Option<&Self>,
        known: Option<CachedPairRef<'_>>,
    ) {
        let first = self.len() as u32;
        let reused = match (earlier.and_then(|contacts| contacts.last_test((a, b))), known) {
            (Some((tested_pose, origins)), _) => {
                pair.reused(tested_pose, origins.iter().map(|o| (&o.found, &o.guess)), self)
            }
            (None, Some(CachedPairRef { tested_pose, contacts, .. })) => {
                pair.reused(tested_pose, contacts.iter().map(|r| (&r.found, &r.impulse)), self)
            }
            (None, None) => None,
        };
        self.stats.reused += usize::from(reused.is_some());
        let relative = reused.or_else(|| pair.find_contacts(known, self));
        let count = self.len() as u32 - first;
        let since = pair.since();
        if count > 0 {
            self.manifolds.push(Manifold { a, b, since, first, count });
        }
        if count > 0 || relative.is_some() {
            self.pair_tests.push(PairTest { a, b, since, relative, first, count });
        }
    }
}
