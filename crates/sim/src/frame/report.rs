//! The report of a frame.

use crate::{Counters, EnergyLedger, Events, Loads};

/// The report of a frame. A frame never fails: problems are among its [`events`](Self::events).
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
///     // a game mirrors the set of bodies: pieces replace broken bodies
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
    /// Numbers of bodies, pairs and contacts, and solver statistics.
    pub counters: Counters,
    /// Fractures, releases, retirements and problems.
    pub events: Events,
    /// Impacts on bodies, their stress, and the loads of anchored bodies.
    pub loads: Loads,
    /// The energy balance.
    pub energy: EnergyLedger,
}
