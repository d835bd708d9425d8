//! Phases 1 and 2 of a frame: collisions, and the bodies that they break.

use contact::{Broad, Collisions, Paths, Resumed, Search};

use crate::breaking::hits::{Hit, ImpactContext};
use crate::frame::free::FreeIslands;
use crate::frame::inputs::FrameInputs;
use crate::frame::phase::Phase;
use crate::script::event::Trigger;
use crate::{Report, World};

/// Limit of repeated contact searches per frame: this number per body, plus [`BASE_SEARCHES`].
/// Beyond it the contact passes stop the remaining approach, without restitution.
const SEARCHES_PER_BODY: usize = 2;
/// The limit for few bodies. Sixteen plates that land at 5 m/s need more than 256 searches, ten
/// slices of a thin stack that lands at 6 m/s more than 1,024.
const BASE_SEARCHES: usize = 4096;
/// A collision pass ends once more than `1 / DEVIATED_DIVISOR` of the bodies left the path that
/// the contact search assumed. Of 2, 8, 32 and 128 this value needs the fewest repeated searches in a scene
/// with debris of 300 bodies.
const DEVIATED_DIVISOR: usize = 8;

/// A collision pass of a frame.
#[derive(Clone, Copy)]
struct Round {
    /// Its number.
    pass: usize,
    /// Whether bodies may break.
    may_break: bool,
    /// How often sleeping bodies were woken in this frame.
    wakes: usize,
}

/// The outcome of a collision pass.
enum PassOutcome {
    /// Sleepers took part: they woke, and the collisions start over.
    WokeSleepers(Vec<bool>),
    /// Impacts reached the strength of bodies; whether one of these bodies responded to its impact.
    ReachedStrength { responded: bool },
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

impl World {
    /// Phases 1 and 2, repeated until no body breaks or leaves the path of its contact search.
    /// Returns the contacts of the frame.
    pub(crate) fn collide_and_break(
        &mut self,
        report: &mut Report,
        ended: &mut dyn FnMut(Phase),
    ) -> Search {
        let (mut searches, mut wakes, mut passes) = (0, 0, 0);
        let mut may_break = true;
        let mut restart: Option<SearchRestart> = None;
        let mut broad = std::mem::take(&mut self.caches.broad);
        loop {
            let inputs = FrameInputs {
                half_kick: &self.half_kick()[..],
                names: &self.names()[..],
                joints: &self.frame_joints()[..],
            };
            let mut search = self.search(restart.take(), inputs, std::mem::take(&mut broad));
            ended(Phase::Detect);
            let round = Round { pass: passes, may_break, wakes };
            passes += 1;
            let is_first = wakes == 0;
            let woken = if is_first { self.wake_approached(search.contacts()) } else { Vec::new() };
            let outcome = if woken.contains(&true) {
                PassOutcome::WokeSleepers(woken)
            } else if searches > SEARCHES_PER_BODY * self.len() + BASE_SEARCHES {
                report.counters.at_search_limit = true;
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
                PassOutcome::ReachedStrength { responded } => {
                    // else the same impacts would repeat forever
                    may_break &= responded;
                    broad = search.into_broad();
                    ended(Phase::Break);
                }
                PassOutcome::Done if self.break_through_others(&search, round, report) => {
                    passes += 1;
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
        Round { pass, may_break, wakes }: Round,
        inputs: FrameInputs<'_>,
        report: &mut Report,
        ended: &mut dyn FnMut(Phase),
    ) -> PassOutcome {
        let cause = Trigger::Collision(pass);
        let resistances = self.resistances(cause, may_break, report);
        let mut paths = self.paths();
        let most = self.len() / DEVIATED_DIVISOR;
        let done = self.collide(
            self.contact_frame(inputs),
            search.contacts(),
            &mut paths,
            most,
            &resistances,
            &mut report.loads,
        );
        ended(Phase::Collide);
        self.report_woken(&done.breaking, &resistances, cause, &mut report.events);
        let woken = self.wake_hit(&done.breaking, wakes);
        if woken.contains(&true) {
            return PassOutcome::WokeSleepers(woken);
        }
        let touching = self.touching_in(&done.exchanged);
        let before = self.mechanical_energy();
        let start = self.exchange(paths);
        let work = done.work + self.total_force_work(&start.poses);
        let (frame, dissipated) =
            (self.contact_frame(inputs), before + work - self.mechanical_energy());
        let context = ImpactContext { frame, search, momenta: &start.momenta, dissipated };
        let hits =
            self.chosen_hits(cause, || self.loaded_hits(&done.breaking, &resistances, context));
        let is_broken = !done.breaking.is_empty() || !hits.is_empty();
        let joint_loads: Vec<_> =
            done.joints.iter().map(|(n, reaction)| (self.joints[*n].id, *reaction)).collect();
        self.add_waypoints(&done.waypoints);
        if is_broken && !self.break_or_restore(&hits, start, cause, report) {
            // no body broke: the collisions are repeated with whole bodies
            self.remove_waypoints(&done.waypoints);
            return PassOutcome::ReachedStrength { responded: !hits.is_empty() };
        }
        self.add_impact_loads(&joint_loads);
        self.log_collisions(touching);
        report.energy.work += work;
        report.counters.limited_collisions += done.limited;
        report.energy.dissipation.collision += dissipated;
        if is_broken {
            self.inherit_joints(&mut report.events);
            self.wake_abandoned();
            return PassOutcome::ReachedStrength { responded: true };
        }
        let renewed = self.follow(search, inputs, &done);
        if renewed.contains(&true) || !done.resumed.is_empty() {
            PassOutcome::LeftSearch { renewed, resumed: done.resumed }
        } else {
            PassOutcome::Done
        }
    }

    /// Updates the contacts of a search for the paths after collisions. Returns the bodies whose
    /// contacts must be searched again.
    fn follow(&self, search: &mut Search, inputs: FrameInputs<'_>, done: &Collisions) -> Vec<bool> {
        let frame = self.contact_frame(inputs);
        frame.follow(search, &self.momenta, &done.shifts);
        let deviated = frame.deviated(search);
        deviated.iter().zip(&done.deviated).map(|(now, before)| *now || *before).collect()
    }

    /// Breaks bodies by impacts that others transmit, from bodies that still approach after the
    /// collision pass; `false` if no such impact is hard enough.
    fn break_through_others(
        &mut self,
        search: &Search,
        Round { pass, may_break, .. }: Round,
        report: &mut Report,
    ) -> bool {
        let cause = Trigger::Collision(pass + 1);
        let resistances = self.resistances(cause, may_break, report);
        let mut momenta = self.momenta.clone();
        let inputs = FrameInputs {
            half_kick: &self.half_kick()[..],
            names: &self.names()[..],
            joints: &self.frame_joints()[..],
        };
        let loads = &mut report.loads;
        let collisions =
            self.transmit(self.contact_frame(inputs), search, &mut momenta, &resistances, loads);
        let before = self.kinetic_energy();
        let mut start = self.paths();
        if momenta != self.momenta {
            let free = FreeIslands::new(self, &self.contact_frame(inputs).islands_of(search));
            std::mem::swap(&mut self.momenta, &mut momenta);
            free.restore(self, &vec![0.0; self.len()], 0.0);
        }
        let collision = before - self.kinetic_energy();
        let frame = self.contact_frame(inputs);
        let context =
            ImpactContext { frame, search, momenta: &start.momenta, dissipated: collision };
        let hits =
            self.chosen_hits(cause, || self.hits_through(&collisions, &resistances, context));
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
}
