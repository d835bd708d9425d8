//! One frame by the event loop of Ku07.

use contact::{Collision, ImpactResult, Search, StrengthQuery, Touches};

use crate::breaking::hits::ImpactContext;
use crate::breaking::strength::Resistance;
use crate::frame::inputs::FrameInputs;
use crate::frame::phase::Phase;
use crate::script::event::Trigger;
use crate::{Report, World};

/// Limit of the number of events per frame with an exact time. Beyond it bodies may overlap for up
/// to [`POSTPONEMENT`] of the frame.
const MAX_EVENTS: usize = 4096;
/// Number of consecutive events without a collision or a flight after which the next contact is
/// postponed.
const MAX_IDLE: usize = 8;
/// Share of the frame below which a flight counts as none.
const MIN_FLIGHT: f64 = 1e-4;
/// Limit of the duration of a flight relative to the flight before: integration beyond the next
/// time of contact is discarded.
const GROWTH: f64 = 2.0;
/// Share of the frame by which contacts are postponed.
const POSTPONEMENT: f64 = 1.0 / 256.0;

/// The progress of a frame.
struct Progress {
    /// Since the start of the frame, s.
    time: f64,
    /// Collisions of each body.
    rebounds: Vec<u32>,
    /// Number of collision passes so far.
    passes: usize,
    /// Number of events so far.
    events: usize,
    /// Consecutive events without a collision or a flight in between.
    idle: usize,
    /// Limit of the duration of the next flight, s.
    horizon: f64,
}

/// The collisions of an event.
struct Collided {
    /// Paths of bodies before the collisions.
    start: contact::Paths,
    breaking: Vec<Collision>,
    /// Energy that they dissipated, J.
    dissipated: f64,
}

/// The response of bodies to collisions.
enum StruckResponse {
    /// No impact reached the strength of a body.
    None,
    /// All bodies stay as they were; whether one of them responded to its impact.
    Unchanged { responded: bool },
    /// A body broke or was dented.
    Changed,
}

impl World {
    /// Ku07 section 3.1: bodies move until two of them touch, at a time found by bisection.
    /// Colliding bodies get impulses, break, and continue with the forces of resting contact.
    pub(crate) fn advance_by_events(&mut self, ended: &mut dyn FnMut(Phase)) -> Report {
        let mut report = Report::default();
        report.events.frozen = std::mem::take(&mut self.frozen);
        self.apply_actions(&mut report);
        let energy = self.mechanical_energy();
        let (acted, paid) = (report.energy.work, report.energy.dissipation.total());
        let rebounds = vec![0; self.len()];
        let mut progress = Progress {
            time: 0.0,
            rebounds,
            passes: 0,
            events: 0,
            idle: 0,
            horizon: self.settings.dt,
        };
        while progress.time < self.settings.dt {
            let touches = self.resolve_collisions(&mut progress, &mut report, ended);
            self.advance_to_next_event(&touches, &mut progress, &mut report);
            ended(Phase::Move);
        }
        self.frame += 1;
        let end = self.mechanical_energy();
        let spent = report.energy.dissipation.total() - paid;
        report.energy.dissipation.contact += energy + report.energy.work - acted - spent - end;
        report.counters.awake =
            self.acting.iter().filter(|body| body.mass_properties().is_some()).count();
        self.log_touching(Vec::new(), &mut report.events);
        self.close_ledger(energy, &mut report);
        ended(Phase::Ledger);
        report
    }

    /// Resolves the collisions of this event, and breaks bodies hit beyond their strength, until
    /// none approach. Returns the contacts.
    fn resolve_collisions(
        &mut self,
        progress: &mut Progress,
        report: &mut Report,
        ended: &mut dyn FnMut(Phase),
    ) -> Touches {
        let mut bodies_may_break = true;
        loop {
            let cause = Trigger::Collision(progress.passes);
            progress.passes += 1;
            let touches = self.touches_now();
            ended(Phase::Detect);
            let resistances = self.resistances(cause, bodies_may_break, report);
            let before = self.mechanical_energy();
            let mut momenta = self.momenta.clone();
            let mut rebounds = progress.rebounds.clone();
            let may_break: Vec<bool> = resistances
                .iter()
                .map(|resistance| *resistance != Resistance::Unbreakable)
                .collect();
            let strengths = &mut |collision: &Collision, _| {
                self.strengths_of_pair(&resistances, collision, &mut report.loads)
            };
            let mut query =
                StrengthQuery { may_break: &may_break, strengths, max_deviated: usize::MAX };
            let (half_kick, names) = (self.half_kick(), self.names());
            let frame = self.contact_frame(FrameInputs {
                half_kick: &half_kick,
                names: &names,
                joints: &[],
            });
            let time = progress.time;
            let done =
                frame.resolve_impacts(&touches, &mut momenta, &mut query, &mut rebounds, time);
            ended(Phase::Collide);
            let touching = self.touching_in(&done.exchanged);
            let mut start = self.paths();
            std::mem::swap(&mut self.momenta, &mut momenta);
            start.momenta = momenta;
            let dissipated = before + done.work - self.mechanical_energy();
            let struck = Collided { start, breaking: done.breaking.clone(), dissipated };
            let response = self.break_struck(struck, &resistances, cause, report);
            if let StruckResponse::Unchanged { responded } = response {
                // no body broke: the collisions are repeated with whole bodies
                bodies_may_break &= responded;
                ended(Phase::Break);
                continue;
            }
            self.log_collisions(touching);
            self.count_impacts(&done, report);
            report.energy.dissipation.collision += dissipated;
            progress.rebounds = rebounds;
            if done.impacts > 0 {
                progress.idle = 0;
            }
            if let StruckResponse::None = response {
                return touches;
            }
            progress.rebounds = vec![0; self.len()];
            self.wake_abandoned();
            ended(Phase::Break);
        }
    }

    /// Breaks the bodies that were hit. If none of them changes, all bodies return to their state
    /// before the collisions.
    fn break_struck(
        &mut self,
        Collided { start, breaking, dissipated }: Collided,
        resistances: &[Resistance],
        cause: Trigger,
        report: &mut Report,
    ) -> StruckResponse {
        let (half_kick, names) = (self.half_kick(), self.names());
        let search = Search::default();
        let frame =
            self.contact_frame(FrameInputs { half_kick: &half_kick, names: &names, joints: &[] });
        let context = ImpactContext { frame, search: &search, momenta: &start.momenta, dissipated };
        let hits = self.chosen_hits(cause, || self.loaded_hits(&breaking, resistances, context));
        if breaking.is_empty() && hits.is_empty() {
            return StruckResponse::None;
        }
        let responded = !hits.is_empty();
        match self.break_or_restore(&hits, start, cause, report) {
            true => StruckResponse::Changed,
            false => StruckResponse::Unchanged { responded },
        }
    }

    fn count_impacts(&self, done: &ImpactResult, report: &mut Report) {
        report.counters.impacts += done.impacts;
        report.energy.work += done.work;
        report.counters.limited_collisions += done.limited;
        report.events.unsolved |= done.unsolved;
    }

    /// The current contacts.
    fn touches_now(&self) -> Touches {
        let (half_kick, names) = (self.half_kick(), self.names());
        self.contact_frame(FrameInputs { half_kick: &half_kick, names: &names, joints: &[] })
            .touches()
    }

    /// Moves bodies to the next event, or to the end of the frame.
    fn advance_to_next_event(
        &mut self,
        touches: &Touches,
        progress: &mut Progress,
        report: &mut Report,
    ) {
        let dt = self.settings.dt;
        let left = dt - progress.time;
        let is_late = progress.events >= MAX_EVENTS || progress.idle >= MAX_IDLE;
        let blind = if is_late { POSTPONEMENT * dt } else { 0.0 };
        let span = left.min(progress.horizon.max(blind));
        let (half_kick, names) = (self.half_kick(), self.names());
        let frame =
            self.contact_frame(FrameInputs { half_kick: &half_kick, names: &names, joints: &[] });
        let flight = frame.fly(touches, &self.momenta, span, blind);
        report.counters.limited_collisions += usize::from(is_late);
        report.counters.pairs = touches.tested();
        report.counters.contacts = touches.len();
        report.energy.work += flight.work;
        report.events.unsolved |= flight.unsolved;
        report.events.solver_limited |= flight.limited;
        progress.events += 1;
        let is_idle = !is_late && flight.time < MIN_FLIGHT * dt;
        progress.idle = if is_idle { progress.idle + 1 } else { 0 };
        progress.time =
            if flight.collides || span < left { progress.time + flight.time } else { dt };
        progress.horizon = (GROWTH * flight.time).max(MIN_FLIGHT * dt);
        let start = std::mem::replace(&mut self.poses, flight.poses);
        self.momenta = flight.momenta;
        let mut work = vec![0.0; self.len()];
        self.add_force_work(&start, &mut work);
        report.energy.work += work.iter().sum::<f64>();
        self.keep_in_plane(&start);
        self.freeze_unusable_states(&start, &mut report.events);
    }
}
