//! One frame.

use contact::constraint::{Joint, Linkages};
use contact::{
    Broad, Cache, Collisions, Flight, Frame, Paths, Resumed, Search, SearchStats, Solver, Support,
};
use dynamics::{Body, Momentum, Velocity, energy_fix};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};

use crate::breaking::hits::{Hit, ImpactContext};
use crate::breaking::resistance::PairReports;
use crate::frame::energy::EnergyBound;
use crate::frame::free::FreeIslands;
use crate::frame::inputs::FrameInputs;
use crate::script::event::Trigger;
use crate::world::limits::is_usable;
use crate::{Events, Report, Settings, World};

/// Limit of repeated contact searches per frame, in bodies and pairs: a multiple of the number of bodies plus a
/// constant for small worlds. Beyond it the contact passes stop the remaining approach, without restitution. Sixteen
/// plates that land at 5 m/s exceed a constant of 256, ten slices of a thin stack that lands at 6 m/s one of 1,024.
const SEARCHES_PER_BODY: usize = 2;
const BASE_SEARCHES: usize = 4096;
/// A collision pass ends once more than `1 / STRAYED_DIVISOR` of the bodies left the path of their contact search. Of 2, 8, 32
/// and 128 this value needs the fewest repeated searches in a scene with debris of 300 bodies.
const STRAYED_DIVISOR: usize = 8;
/// Limit of repetitions of the contact pass for positions in a frame, when it moved bodies beyond the range of their contact
/// search. In a heap of 1,000 boxes of 0.2 m that lands, one overlap of 100 is deeper than 73 mm after 3 and 34 mm after 12.
const DIVERTED_ROUNDS: usize = 12;
/// Builds for browsers leave out the frame loop of Ku07, which needs quadratic programs: they use the manifold solver instead.
/// The playground refuses scenes with either solver of Ku07.
const HAS_EVENT_LOOP: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// Results of the contact pass for positions.
struct Settled {
    support: Support,
    /// The momenta that move bodies.
    half: Vec<Momentum>,
    /// Displacements that push bodies out of overlap.
    push: Vec<Velocity>,
}

/// A part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// The contact search.
    Detect,
    /// The collision pass.
    Collide,
    /// Replacing bodies by their pieces.
    Break,
    /// Building the contact graph.
    Support,
    /// The contact pass for positions, and the motion of the bodies.
    Move,
    /// The contact pass for velocities.
    Contact,
    /// Sleep, the energy balance and the report.
    Ledger,
}

/// A collision pass of a frame.
#[derive(Clone, Copy)]
struct Round {
    /// Its number.
    pass: usize,
    /// Whether no body may break anymore.
    last: bool,
    /// How often sleeping bodies were woken in this frame.
    wakes: usize,
}

/// The outcome of a collision pass.
enum PassOutcome {
    /// Sleepers took part: they woke, and the collisions start over.
    WokeSleepers(Vec<bool>),
    /// Impacts reached the strength of bodies.
    ReachedStrength,
    /// Bodies or pairs left the path of the contact search: their contacts are searched again.
    LeftSearch { renewed: Vec<bool>, resumed: Vec<Resumed> },
    /// The contacts are valid to the end of the frame, or the limit of contact searches is reached.
    Done,
}

/// A contact search to be continued.
struct SearchRestart {
    search: Search,
    /// Bodies whose contacts are searched again.
    renewed: Vec<bool>,
    /// Pairs whose contacts are searched again from a later time, sorted.
    resumed: Vec<Resumed>,
}

/// Energy and momentum that islands conserve over the contact passes.
struct IslandBounds {
    energy: EnergyBound,
    free: FreeIslands,
}

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
        self.new_pieces = 0;
        self.previous.clone_from(&self.poses);
        self.waypoints.iter_mut().for_each(Vec::clear);
        let before = self.ids.clone();
        let mut report = self.advance_frame(ended);
        report.events.compare(&before, &self.ids);
        self.end_frame(&report.events);
        report
    }

    fn advance_frame(&mut self, ended: &mut dyn FnMut(Phase)) -> Report {
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
        let energy = self.mechanical_energy();
        self.wake_abandoned();

        // 1 collide: detected at (x^{n+1}, v^n), applied and bounded at (x^n, v^n)
        // 2 break: bodies hit beyond their strength are replaced by pieces, which then collide
        let mut search = self.collide_and_break(&mut report, ended);
        self.report_missing(&mut report.events);

        // 3 move: contact at (x^{n+1}, v^{n+1/2}), only to determine the positions
        let (drift, names, joints) = (self.drift(), self.names(), self.frame_joints());
        // bodies held by joints alone move separately
        let inputs = FrameInputs { drift: &drift, names: &names, joints: &joints };
        let frame = self.contact_frame(inputs);
        let mut linkages = Linkages::new(&frame, &mut search, &self.momenta);
        let mut settled = self.settle_outside_linkages(&mut linkages, &mut search, inputs, ended);
        let joints = linkages.others(&joints);
        let inputs = FrameInputs { joints: &joints, ..inputs };
        let islands = settled.support.islands(self.contact_frame(inputs));
        let collided = self.mechanical_energy();
        let dissipated = energy + report.energy.work - collided;
        let mut bounds = self.settings.bound_energy.then(|| IslandBounds {
            free: FreeIslands::new(self, &islands),
            energy: EnergyBound::new(self, islands, dissipated),
        });
        self.broad = search.into_broad();
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
            free.restore(self, &work);
        }
        self.remember(&support, &names);
        self.log_contacts(&support, &mut report.events);
        self.load_joints(linkages.reactions(reactions), &mut report.events);
        report.events.unsolved |= linkages.is_unsolved();
        ended(Phase::Contact);

        // 5 ledger
        self.frame += 1;
        self.keep_in_plane(&start);
        self.freeze_broken_states(&start, &mut report.events);
        let supplied: f64 = work.iter().sum();
        report.energy.work += supplied;
        report.energy.dissipation.contact = collided + spent + supplied - self.mechanical_energy();
        self.update_sleep(&support, &mut report);
        count_work(&support, &mut report);
        self.close_ledger(energy, &mut report);
        ended(Phase::Ledger);
        report
    }

    /// Retires debris, and reports the energy and bodies at the end of the frame; `energy`, J, is that at its start.
    pub(crate) fn close_ledger(&mut self, energy: f64, report: &mut Report) {
        report.frame = self.frame;
        let end = self.mechanical_energy();
        report.energy.gain = end - energy;
        self.retire(&mut report.events);
        report.counters.bodies = self.len();
        report.energy.kinetic = self.kinetic_energy();
        report.energy.potential = self.potential_energy();
        report.energy.dissipation.retirement =
            end - (report.energy.kinetic + report.energy.potential);
    }

    /// Poses at the end of the frame by the momenta `half`: overlaps are pushed out, joints are closed, islands keep
    /// their energy, and the centers of mass of free islands move by their momentum. Also returns the part of the
    /// collision energy that lifted bodies, J.
    fn end_of_move(
        &self,
        inputs: FrameInputs<'_>,
        Settled { support, half, push }: &mut Settled,
        bounds: &mut Option<IslandBounds>,
    ) -> (Vec<Isometry3<f64>>, f64) {
        let mut end = self.contact_frame(inputs).predict(half);
        // solvers with a single pass move bodies with the final momenta
        let (going_on, joints) = match self.settings.contact.solver.is_split() {
            true => (&self.momenta[..], inputs.joints),
            false => (&half[..], &[][..]),
        };
        let Some(IslandBounds { energy, free }) = bounds else {
            self.displace(&mut end, push, going_on, joints);
            self.contact_frame(inputs).close_joints(&mut end);
            return (end, 0.0);
        };
        let work = support.expected_work(self.contact_frame(inputs), &end);
        let spent = energy.bound_positions(self, &work, &mut end, push);
        self.displace(&mut end, push, going_on, joints);
        energy.close_joints(self, self.contact_frame(inputs), &mut end);
        free.center(self, half, &mut end);
        (end, spent)
    }

    /// Clears the inputs of this frame.
    fn end_frame(&mut self, events: &Events) {
        self.stop_at_targets();
        self.loads.clear();
        self.pass_user_data_on(events);
        self.query_tree.take();
    }

    /// [`Self::settle_positions`] of the bodies and joints outside `linkages`, repeated with the linkages that have
    /// contacts.
    fn settle_outside_linkages(
        &self,
        linkages: &mut Linkages,
        search: &mut Search,
        inputs: FrameInputs<'_>,
        ended: &mut dyn FnMut(Phase),
    ) -> Settled {
        loop {
            let others = linkages.others(inputs.joints);
            let inputs = FrameInputs { joints: &others, ..inputs };
            let settled = self.settle_positions(search, inputs, linkages, ended);
            if !linkages.release_touching(search.contacts()) {
                return settled;
            }
        }
    }

    /// The contact pass for positions. It is repeated with more contacts while it moves bodies, other than those of
    /// `linkages`, beyond the range of the contact search.
    fn settle_positions(
        &self,
        search: &mut Search,
        inputs: FrameInputs<'_>,
        linkages: &Linkages,
        ended: &mut dyn FnMut(Phase),
    ) -> Settled {
        let frame = self.contact_frame(inputs);
        let mut rounds = 0;
        loop {
            let mut support = frame.support(search, &self.momenta);
            ended(Phase::Support);
            let mut half = self.momenta_after_forces(0.5);
            support.settle_positions(frame, &mut half);
            let mut diverted = frame.diverted(search, &half);
            linkages.bodies().for_each(|i| diverted[i as usize] = false);
            if rounds == DIVERTED_ROUNDS || !diverted.contains(&true) {
                let push = support.push_out(frame, &half);
                return Settled { support, half, push };
            }
            ended(Phase::Move);
            frame.search_diverted(search, &half, &diverted);
            ended(Phase::Detect);
            rounds += 1;
        }
    }

    /// Phases 1 and 2, repeated until no body breaks or leaves the path of its contact search. Returns the contacts of
    /// the frame.
    fn collide_and_break(&mut self, report: &mut Report, ended: &mut dyn FnMut(Phase)) -> Search {
        let (mut breaks, mut searches, mut wakes, mut passes) = (0, 0, 0, 0);
        let mut restart: Option<SearchRestart> = None;
        let mut broad = std::mem::take(&mut self.broad);
        loop {
            let inputs = FrameInputs {
                drift: &self.drift()[..],
                names: &self.names()[..],
                joints: &self.frame_joints()[..],
            };
            let mut search = self.search(restart.take(), inputs, std::mem::take(&mut broad));
            ended(Phase::Detect);
            // in the last round no body breaks, so that no impact is lost
            let last = breaks == self.settings.break_rounds;
            let round = Round { pass: passes, last, wakes };
            passes += 1;
            let is_first = wakes == 0;
            let woken = if is_first { self.wake_approached(search.contacts()) } else { Vec::new() };
            let outcome = if woken.contains(&true) {
                PassOutcome::WokeSleepers(woken)
            } else if searches > SEARCHES_PER_BODY * self.len() + BASE_SEARCHES {
                report.counters.spent_searches = true;
                PassOutcome::Done
            } else {
                self.collide_once(&mut search, round, inputs, report, ended)
            };
            match outcome {
                // woken bodies take part in the same collisions from the start of the frame
                PassOutcome::WokeSleepers(renewed) => {
                    wakes += 1;
                    restart = Some(SearchRestart { search, renewed, resumed: Vec::new() });
                }
                PassOutcome::LeftSearch { renewed, resumed } => {
                    searches += renewed.iter().filter(|&&renewed| renewed).count() + resumed.len();
                    restart = Some(SearchRestart { search, renewed, resumed });
                }
                PassOutcome::ReachedStrength => {
                    breaks += 1;
                    broad = search.into_broad();
                    ended(Phase::Break);
                }
                PassOutcome::Done if self.break_through_others(&search, passes, last, report) => {
                    passes += 1;
                    breaks += 1;
                    broad = search.into_broad();
                    ended(Phase::Break);
                }
                PassOutcome::Done => return search,
            }
        }
    }

    /// One collision pass, and the pieces of bodies that it broke.
    fn collide_once(
        &mut self,
        search: &mut Search,
        Round { pass, last, wakes }: Round,
        inputs: FrameInputs<'_>,
        report: &mut Report,
        ended: &mut dyn FnMut(Phase),
    ) -> PassOutcome {
        let cause = Trigger::Collision(pass);
        let resistances = self.resistances(cause, last, report);
        let mut paths = self.paths();
        let mut touching = Vec::new();
        let reported = PairReports { loads: &mut report.loads, touching: &mut touching };
        let most = self.len() / STRAYED_DIVISOR;
        let done = self.collide(
            self.contact_frame(inputs),
            search.contacts(),
            &mut paths,
            most,
            &resistances,
            reported,
        );
        ended(Phase::Collide);
        self.report_woken(&done.blows, &resistances, cause, &mut report.events);
        let woken = self.wake_hit(&done.blows, wakes);
        if woken.contains(&true) {
            return PassOutcome::WokeSleepers(woken);
        }
        let (before, start) = (self.mechanical_energy(), self.exchange(paths));
        let work = done.work + self.total_force_work(&start.poses);
        let (frame, dissipated) =
            (self.contact_frame(inputs), before + work - self.mechanical_energy());
        let context = ImpactContext { frame, search, momenta: &start.momenta, dissipated };
        let hits = self.chosen_hits(cause, || self.loaded_hits(&done.blows, &resistances, context));
        let is_broken = !done.blows.is_empty() || !hits.is_empty();
        self.add_waypoints(&done.waypoints);
        if is_broken && !self.break_or_restore(&hits, start, cause, report) {
            // no body broke: the collisions are repeated with whole bodies
            self.remove_waypoints(&done.waypoints);
            return PassOutcome::ReachedStrength;
        }
        self.log_blows(touching);
        report.energy.work += work;
        report.counters.limited_blows += done.limited;
        report.energy.dissipation.collision += dissipated;
        if is_broken {
            self.inherit_joints(&mut report.events);
            self.wake_abandoned();
            return PassOutcome::ReachedStrength;
        }
        let renewed = self.follow(search, inputs, &done);
        if renewed.contains(&true) || !done.resumed.is_empty() {
            PassOutcome::LeftSearch { renewed, resumed: done.resumed }
        } else {
            PassOutcome::Done
        }
    }

    /// Updates the contacts of a search for the paths after collisions. Returns the bodies whose contacts must be
    /// searched again.
    fn follow(&self, search: &mut Search, inputs: FrameInputs<'_>, done: &Collisions) -> Vec<bool> {
        let frame = self.contact_frame(inputs);
        frame.follow(search, &self.momenta, &done.shifts);
        let strayed = frame.strayed(search);
        strayed.iter().zip(&done.strayed).map(|(strayed, off)| *strayed || *off).collect()
    }

    pub(crate) fn paths(&self) -> Paths {
        let Self { poses, momenta, flights, .. } = self;
        Paths { poses: poses.clone(), momenta: momenta.clone(), flights: flights.clone() }
    }

    /// Replaces the paths of all bodies; returns the old ones.
    fn exchange(&mut self, paths: Paths) -> Paths {
        Paths {
            poses: std::mem::replace(&mut self.poses, paths.poses),
            momenta: std::mem::replace(&mut self.momenta, paths.momenta),
            flights: std::mem::replace(&mut self.flights, paths.flights),
        }
    }

    /// Breaks bodies by impacts that others transmit, from bodies that still approach after the collision pass; `false`
    /// if no such impact is hard enough.
    fn break_through_others(
        &mut self,
        search: &Search,
        pass: usize,
        last: bool,
        report: &mut Report,
    ) -> bool {
        let cause = Trigger::Collision(pass);
        let resistances = self.resistances(cause, last, report);
        let mut momenta = self.momenta.clone();
        let inputs = FrameInputs {
            drift: &self.drift()[..],
            names: &self.names()[..],
            joints: &self.frame_joints()[..],
        };
        let loads = &mut report.loads;
        let blows =
            self.transmit(self.contact_frame(inputs), search, &mut momenta, &resistances, loads);
        let before = self.kinetic_energy();
        let mut start = self.paths();
        std::mem::swap(&mut self.momenta, &mut momenta);
        let collision = before - self.kinetic_energy();
        let frame = self.contact_frame(inputs);
        let context =
            ImpactContext { frame, search, momenta: &start.momenta, dissipated: collision };
        let hits = self.chosen_hits(cause, || self.hits_through(&blows, &resistances, context));
        if hits.is_empty() {
            self.momenta = std::mem::take(&mut start.momenta);
            return false;
        }
        if self.break_or_restore(&hits, start, cause, report) {
            report.energy.dissipation.collision += collision;
            self.inherit_joints(&mut report.events);
            self.wake_abandoned();
        }
        true
    }

    /// Breaks the bodies of `hits`. If none of them changes, restores `start`, the paths before the
    /// pass, and returns `false`.
    pub(crate) fn break_or_restore(
        &mut self,
        hits: &[Hit],
        start: Paths,
        cause: Trigger,
        report: &mut Report,
    ) -> bool {
        let changes = |report: &Report| report.events.fractures.len() + report.events.dents.len();
        let (known, whole) = (changes(report), self.mechanical_energy());
        let dents = report.events.dents.len();
        self.break_bodies(hits, cause, report);
        if changes(report) == known {
            self.exchange(start);
            return false;
        }
        let fresh = || report.events.dents[dents..].iter();
        let plastic: f64 = fresh().map(|dent| dent.plastic_work).sum();
        let spin: f64 = fresh().map(|dent| dent.kinetic_energy).sum();
        // the dissipation of collisions includes both
        report.energy.dissipation.collision -= plastic + spin;
        report.energy.dissipation.plastic += plastic;
        report.energy.dissipation.fracture += whole + spin - self.mechanical_energy();
        true
    }

    /// Searches all contacts, or continues a search.
    fn search(
        &self,
        restart: Option<SearchRestart>,
        inputs: FrameInputs<'_>,
        broad: Broad,
    ) -> Search {
        let Some(SearchRestart { mut search, renewed, resumed }) = restart else {
            return self.contact_frame(inputs).search(&self.momenta, broad);
        };
        self.contact_frame(inputs).search_again(&mut search, &self.momenta, &renewed, &resumed);
        search
    }

    /// The current state of the bodies, with `inputs`.
    pub(crate) fn contact_frame<'a>(&'a self, inputs: FrameInputs<'a>) -> Frame<'a> {
        let Settings { dt, contact: ref settings, .. } = self.settings;
        let (columns, poses, cache) = (self.columns(), &self.poses, &self.cache);
        let (FrameInputs { drift, names, joints }, flights) = (inputs, &self.flights);
        Frame { columns, poses, drift, flights, dt, joints, cache, names, settings }
    }

    /// Caches contacts for the warm start of the next frame, and those of sleepers until they wake.
    fn remember(&mut self, support: &Support, names: &[u64]) {
        let resting = (0..self.len()).filter(|&i| self.rests[i].asleep).count();
        if resting > 0 && support.contacts() == 0 {
            return;
        }
        let mut cache = support.cache(names);
        if resting > 0 {
            cache.keep(&self.cache, |pair| {
                let found = pair.map(|name| names.binary_search(&name));
                let [Ok(a), Ok(b)] = found else { return false };
                let held = |i: usize| self.acting[i].mass_properties().is_none();
                held(a) && held(b)
            });
        }
        self.cache = cache;
    }

    pub(crate) fn names(&self) -> Vec<u64> {
        self.ids.iter().map(|id| id.number()).collect()
    }

    /// Changes of velocity by forces in half a step.
    pub(crate) fn drift(&self) -> Vec<Velocity> {
        let of = |(i, body): (usize, &Body)| match body {
            Body::Dynamic(_) => {
                let linear = self.acceleration(i) * (self.settings.dt / 2.0);
                Velocity { linear, ..Velocity::default() }
            }
            Body::Static | Body::Kinematic(_) => Velocity::default(),
        };
        self.acting.iter().enumerate().map(of).collect()
    }

    /// Momenta after forces have acted for a share of the step.
    fn momenta_after_forces(&self, share: f64) -> Vec<Momentum> {
        let push = |(i, (body, momentum)): (usize, (&Body, &Momentum))| match body {
            Body::Dynamic(mass) => {
                let linear = self.acceleration(i) * (self.settings.dt * share);
                Momentum { linear: momentum.linear + linear * mass.mass(), ..*momentum }
            }
            Body::Static | Body::Kinematic(_) => *momentum,
        };
        self.acting.iter().zip(&self.momenta).enumerate().map(push).collect()
    }

    /// Pushes bodies out of overlap and applies the energy fix to each orientation again: the momenta that moved bodies
    /// may include contact impulses that are discarded, and the energy must match the momentum `kept`. Joined bodies
    /// get no fix, since their momentum is not known yet.
    fn displace(
        &self,
        end: &mut [Isometry3<f64>],
        push: &[Velocity],
        kept: &[Momentum],
        joints: &[Joint],
    ) {
        let mut is_joined = vec![false; end.len()];
        for body in joints.iter().flat_map(|joint| joint.bodies) {
            if let Some(is_joined) = is_joined.get_mut(body as usize) {
                *is_joined = true;
            }
        }
        let is_fixed = self.settings.contact.scheme.energy_fix;
        for (i, pose) in end.iter_mut().enumerate() {
            let Body::Dynamic(mass) = &self.acting[i] else { continue };
            let place = pose.translation.vector + push[i].linear;
            let turn = UnitQuaternion::from_scaled_axis(push[i].angular);
            let mut rotation = turn * pose.rotation;
            if is_fixed && !is_joined[i] {
                let kept = &kept[i].angular;
                let energy = mass.rotational_energy(&self.poses[i].rotation, kept);
                rotation = energy_fix(mass, &rotation, kept, energy).0;
            }
            *pose = Isometry3::from_parts(Translation3::from(place), rotation);
        }
    }

    /// Resets bodies whose state is not finite to `start`, at rest.
    pub(crate) fn freeze_broken_states(&mut self, start: &[Isometry3<f64>], events: &mut Events) {
        for (i, pose) in self.poses.iter_mut().enumerate() {
            if !is_usable(pose, &self.momenta[i]) {
                (*pose, self.momenta[i]) = (start[i], Momentum::default());
                self.waypoints[i].clear();
                events.frozen.push(self.ids[i]);
                // its impulses are no warm start for the next frame
                self.cache = Cache::default();
            }
        }
    }
}

/// Reports the work of finding and solving the contacts.
fn count_work(support: &Support, report: &mut Report) {
    let SearchStats { pairs, reused, retested, points } = support.stats();
    let counters = &mut report.counters;
    (counters.pairs, counters.pairs_reused) = (pairs, reused);
    (counters.pairs_again, counters.points) = (retested, points);
    counters.contacts = support.contacts();
    counters.colors = support.colors();
    (counters.levels, counters.sweeps) = (support.levels(), support.sweeps());
    report.events.unsolved |= support.is_unsolved();
    report.events.solver_limited = support.is_limited();
    counters.unsolved_islands = support.unsolved_islands();
    counters.residual = support.residual();
    if let Some(cache) = support.remembered() {
        (counters.impulses_remembered, counters.impulses_found) = (cache.len(), cache.hits().1);
    }
}
