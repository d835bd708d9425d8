//! One frame.

use contact::constraint::Linkages;
use contact::{Cache, Flight, Solver, Support};
use dynamics::Momentum;
use nalgebra::Isometry3;

use crate::frame::displacement::IslandBounds;
use crate::frame::energy::EnergyBound;
use crate::frame::free::FreeIslands;
use crate::frame::inputs::FrameInputs;
use crate::frame::phase::Phase;
use crate::world::limits::is_usable;
use crate::{Events, Report, World};

/// Builds for browsers leave out the frame loop of Ku07, which needs quadratic programs: they use
/// the manifold solver instead. The playground refuses scenes with either solver of Ku07.
const HAS_EVENT_LOOP: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

impl World {
    /// Advances all bodies by one frame, `settings().dt` s in one time step.
    ///
    /// The time integration is the Newmark variant of GBF03, as in Su09: collisions change the
    /// velocities at the start of the frame, one contact pass determines the new positions, another
    /// the new velocities. Superscripts below are the times of poses x and velocities v.
    pub fn step(&mut self) -> Report {
        self.step_with(&mut |_| ())
    }

    /// [`World::step`] that calls `ended` at the end of each phase, for timing.
    pub fn step_with(&mut self, ended: &mut dyn FnMut(Phase)) -> Report {
        self.debris.new_pieces = 0;
        self.display.previous.clone_from(&self.poses);
        self.display.waypoints.iter_mut().for_each(Vec::clear);
        let before = self.ids.clone();
        let mut report = self.advance_and_break_joints(ended);
        report.events.compare(&before, &self.ids);
        self.end_frame(&report.events);
        report
    }

    /// Advances by one frame; breaks no joint by its load.
    pub(crate) fn advance_frame(&mut self, ended: &mut dyn FnMut(Phase)) -> Report {
        // unusable gravity freezes all bodies, so that there are no times of impact
        let has_event_loop = HAS_EVENT_LOOP && self.settings.has_gravity();
        if has_event_loop && self.settings.contact.solver == Solver::Ku07 {
            return self.advance_by_events(ended);
        }
        let mut report = Report::default();
        report.events.frozen = std::mem::take(&mut self.frozen);
        self.place_joints();
        self.apply_actions(&mut report);
        self.inherit_joints(&mut report.events);
        let (energy, acted) = (self.mechanical_energy(), report.energy.work);
        self.wake_abandoned();

        // 1 collide: detected at (x^{n+1}, v^n), applied and bounded at (x^n, v^n)
        // 2 break: bodies hit beyond their strength are replaced by pieces, which then collide
        let mut search = self.collide_and_break(&mut report, ended);
        self.report_missing(&mut report.events);

        // 3 move: contact at (x^{n+1}, v^{n+1/2}), only to determine the positions
        let (half_kick, names, joints) = (self.half_kick(), self.names(), self.frame_joints());
        // bodies held by joints alone move separately
        let inputs = FrameInputs { half_kick: &half_kick, names: &names, joints: &joints };
        let frame = self.contact_frame(inputs);
        let mut linkages = Linkages::new(&frame, &mut search, &self.momenta);
        let mut settled = self.settle_outside_linkages(&mut linkages, &mut search, inputs, ended);
        let joints = linkages.others(&joints);
        let inputs = FrameInputs { joints: &joints, ..inputs };
        let islands = settled.support.islands(self.contact_frame(inputs));
        let collided = self.mechanical_energy();
        let dissipated = energy + report.energy.work - acted - collided;
        let mut bounds = self.settings.bound_energy.then(|| IslandBounds {
            free: FreeIslands::new(self, &islands),
            energy: EnergyBound::new(self, islands, dissipated),
        });
        self.caches.broad = search.into_broad();
        let (mut end, spent) = self.end_of_move(inputs, &mut settled, &mut bounds);
        let mut support = settled.support;
        report.energy.dissipation.collision -= spent;
        linkages.place(&mut end);
        self.close_waypoints();
        let start = std::mem::replace(&mut self.poses, end);
        self.flights.fill(Flight::default());
        ended(Phase::Move);

        // 4 contact: at (x^{n+2}, v^{n+1}), applied at (x^{n+1}, v^{n+1})
        let mut momenta = self.momenta_after_forces(1.0);
        let mut work = support.settle_velocities(self.contact_frame(inputs), &start, &mut momenta);
        let reactions = support.reactions();
        let joined_work = self.joint_work(&joints, &reactions, &start);
        linkages.keep(&mut momenta, &mut work);
        self.add_force_work(&start, &mut work);
        self.momenta = momenta;
        if let Some(IslandBounds { energy, free }) = &bounds {
            work.iter_mut().zip(joined_work).for_each(|(work, more)| *work += more);
            energy.bound_momenta(self, &mut work);
            free.restore(self, &work, self.settings.dt);
        }
        self.remember(&support, &names);
        self.log_contacts(&support, &mut report.events);
        self.load_joints(linkages.reactions(reactions));
        report.events.unsolved |= linkages.is_unsolved();
        ended(Phase::Contact);

        // 5 ledger
        self.frame += 1;
        self.keep_in_plane(&start);
        self.freeze_unusable_states(&start, &mut report.events);
        let supplied: f64 = work.iter().sum();
        report.energy.work += supplied;
        report.energy.dissipation.contact = collided + spent + supplied - self.mechanical_energy();
        self.update_sleep(&support, &mut report);
        report.record_solver_statistics(&support);
        self.close_ledger(energy, &mut report);
        ended(Phase::Ledger);
        report
    }

    /// Clears the inputs of this frame.
    fn end_frame(&mut self, events: &Events) {
        self.stop_at_targets();
        self.steering.loads.clear();
        self.pass_user_data_on(events);
        self.caches.query_tree.take();
    }

    /// Caches contacts for the warm start of the next frame, and those of sleepers until they wake.
    fn remember(&mut self, support: &Support, names: &[u64]) {
        let resting = (0..self.len()).filter(|&i| self.sleep.rests[i].asleep).count();
        if resting > 0 && support.contacts() == 0 {
            return;
        }
        let mut cache = support.cache(names);
        if resting > 0 {
            cache.keep(&self.caches.contacts, |pair| {
                let found = pair.map(|name| names.binary_search(&name));
                let [Ok(a), Ok(b)] = found else { return false };
                let held = |i: usize| self.acting[i].mass_properties().is_none();
                held(a) && held(b)
            });
        }
        self.caches.contacts = cache;
    }

    /// Resets bodies whose state is not finite to `start`, at rest.
    pub(crate) fn freeze_unusable_states(&mut self, start: &[Isometry3<f64>], events: &mut Events) {
        for (i, pose) in self.poses.iter_mut().enumerate() {
            if !is_usable(pose, &self.momenta[i]) {
                (*pose, self.momenta[i]) = (start[i], Momentum::default());
                self.display.waypoints[i].clear();
                events.frozen.push(self.ids[i]);
                // its impulses are no warm start for the next frame
                self.caches.contacts = Cache::default();
            }
        }
    }
}
