//! What a frame reports.

use crate::{Counters, EnergyLedger, Events, Loads};

/// What a frame did. A frame never fails: what went wrong is among its [`events`](Self::events).
///
/// ```
/// use std::collections::BTreeSet;
///
/// use brisance_sim::nalgebra::Isometry3;
/// use brisance_sim::{NewBody, Settings, World};
///
/// let mut world = World::new(Settings::default());
/// let ball = NewBody::ball(0.1, 7800.0)?.at(&Isometry3::translation(0.0, 3.0, 0.0));
/// let mut shown = BTreeSet::from([world.add(ball)?]);
/// for _ in 0..30 {
///     let report = world.step();
///     // a game mirrors the set of bodies: pieces replace what breaks
///     shown.extend(report.events.added);
///     report.events.removed.iter().for_each(|body| drop(shown.remove(body)));
///     assert!(shown.iter().copied().eq(world.iter().map(|state| state.id)));
///     assert_eq!(report.counters.bodies, shown.len());
///     assert!(report.energy.gain < 1e-9 + report.energy.work);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Frames stepped, this one included.
    pub frame: usize,
    /// How many bodies, pairs and contacts there were, and what the solver did with them.
    pub counters: Counters,
    /// What broke, gave way, came to rest or went wrong.
    pub events: Events,
    /// Blows to bodies, their stress, and the loads of anchored bodies.
    pub loads: Loads,
    /// Where the energy went.
    pub energy: EnergyLedger,
}
