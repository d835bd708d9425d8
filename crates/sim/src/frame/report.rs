//! The report of a frame.

use contact::{SearchStats, Support};

use crate::{Counters, EnergyLedger, Events, Loads, World};

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

impl Report {
    /// Records the statistics of the contact search and of the contact solver.
    pub(crate) fn record_solver_statistics(&mut self, support: &Support) {
        let SearchStats { pairs, reused, repeated, points } = support.stats();
        let counters = &mut self.counters;
        (counters.pairs, counters.pairs_reused) = (pairs, reused);
        (counters.pairs_repeated, counters.points) = (repeated, points);
        counters.contacts = support.contacts();
        counters.colors = support.colors();
        (counters.levels, counters.sweeps) = (support.levels(), support.sweeps());
        self.events.unsolved |= support.is_unsolved();
        self.events.solver_limited = support.is_limited();
        counters.unsolved_islands = support.unsolved_islands();
        counters.residual = support.residual();
        if let Some(cache) = support.impulse_cache() {
            counters.impulses_remembered = cache.len();
            counters.impulses_found = cache.lookups().found;
        }
    }
}

impl World {
    /// Retires debris, and reports the energy and bodies at the end of the frame. `initial_energy`
    /// is the mechanical energy at the start of the frame, J.
    pub(crate) fn close_ledger(&mut self, initial_energy: f64, report: &mut Report) {
        report.frame = self.frame;
        let end = self.mechanical_energy();
        report.energy.gain = end - initial_energy;
        self.retire(&mut report.events);
        report.counters.bodies = self.len();
        report.energy.kinetic = self.kinetic_energy();
        report.energy.potential = self.potential_energy();
        report.energy.dissipation.retirement =
            end - (report.energy.kinetic + report.energy.potential);
    }
}
