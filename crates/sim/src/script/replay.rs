//! Reports of hits, and replay: the same bodies break as recorded.

use nalgebra::{Point3, Unit, Vector3};

use crate::breaking::hits::Hit;
use crate::breaking::outcome::Outcome;
use crate::breaking::strength::{Resistance, Strength};
use crate::script::event::{Event, HitOutcome, ModelKind, ReplayMismatch, Trigger};
use crate::world::numbers::{momentum, momentum_numbers, pose, pose_numbers};
use crate::{Events, FractureModel, Report, World};

impl FractureModel {
    fn kind(&self) -> ModelKind {
        match self {
            Self::Prescored(..) | Self::Fixed(_) => ModelKind::Prescored,
            Self::Lattice(_) => ModelKind::Lattice,
            Self::Stress(_) => ModelKind::Stress,
        }
    }
}

impl Event {
    fn hit(&self) -> Hit {
        Hit {
            body: self.body,
            at: self.point.into(),
            normal: self.normal.into(),
            impulse: self.impulse.into(),
            strength: self.strength.unwrap_or(f64::INFINITY),
            duration: self.duration,
            reactions: self.reactions.clone(),
            energy: self.energy.unwrap_or(f64::INFINITY),
        }
    }

    /// Moves the body to its recorded state.
    fn place(&self, world: &mut World) -> Result<(), ReplayMismatch> {
        let Self { frame, body, .. } = *self;
        let own = world.ids.binary_search(&body).ok().filter(|_| self.is_usable());
        let i = own.ok_or(ReplayMismatch { frame, body })?;
        world.poses[i] = pose(&self.pose);
        world.momenta[i] = momentum(&self.momentum);
        world.caches.query_tree.take();
        Ok(())
    }
}

impl World {
    /// From now on `events` determine which bodies break, and when, whatever their strengths. A
    /// world that differs from the recorded one in strengths alone repeats its motion to the bit.
    /// [`Events::mismatches`] lists events that cannot be repeated as recorded.
    pub fn replay(&mut self, events: Vec<Event>) {
        self.script.recorded = Some(events);
    }

    /// The event of a hit, without its outcome yet.
    pub(crate) fn event(&self, hit: &Hit, cause: Trigger) -> Option<Event> {
        let i = self.ids.binary_search(&hit.body).ok()?;
        let (pose, momentum) = self.state_at_collision(i);
        Some(Event {
            frame: self.frame + 1,
            cause,
            body: hit.body,
            point: hit.at.into(),
            normal: hit.normal.into(),
            impulse: hit.impulse.into(),
            strength: Some(hit.strength).filter(|strength| strength.is_finite()),
            model: self.details[i].breakage.as_ref().map(|breakage| breakage.model.kind()),
            outcome: HitOutcome::Held,
            pose: pose_numbers(&pose),
            momentum: momentum_numbers(&momentum),
            duration: hit.duration,
            reactions: hit.reactions.clone(),
            energy: Some(hit.energy).filter(|energy| energy.is_finite()),
        })
    }

    /// The recorded events of one cause in this frame.
    fn recorded_of(&self, cause: Trigger) -> impl Iterator<Item = &Event> {
        let frame = self.frame + 1;
        let recorded = self.script.recorded.iter().flatten();
        recorded
            .filter(move |event| event.frame == frame && event.cause == cause && event.is_usable())
    }

    /// The hits of this frame: the recorded ones in a replay, else `own`.
    pub(crate) fn chosen_hits(&self, cause: Trigger, own: impl FnOnce() -> Vec<Hit>) -> Vec<Hit> {
        if self.script.recorded.is_none() {
            return own();
        }
        let breaks = self.recorded_of(cause).filter(|event| event.outcome != HitOutcome::Woke);
        breaks.map(Event::hit).collect()
    }

    /// The resistances of bodies in a collision pass of a replay: bodies withstand any impact unless
    /// an event breaks them. Strength by material is computed again instead of recorded, since it
    /// differs from point to point. Bodies that could break by their `own` resistances collide as
    /// such, so that impulses have the same bits.
    pub(crate) fn recorded_resistances(
        &self,
        cause: Trigger,
        own: &[Resistance],
    ) -> Option<Vec<Resistance>> {
        self.script.recorded.as_ref()?;
        let holding = |resistance: &Resistance| match *resistance {
            Resistance::Unbreakable => Resistance::Unbreakable,
            Resistance::Below(strength) | Resistance::Withstood(strength, _) => {
                Resistance::Withstood(strength, f64::INFINITY)
            }
        };
        let mut resistances: Vec<Resistance> = own.iter().map(holding).collect();
        for event in self.recorded_of(cause) {
            let Ok(i) = self.ids.binary_search(&event.body) else { continue };
            let strength = match self.details[i].breakage.as_ref().map(|breakage| breakage.strength)
            {
                Some(Strength::Material) => Some(Strength::Material),
                _ => event.strength.map(Strength::Impulse),
            };
            resistances[i] = match (own[i], strength) {
                (_, None) => Resistance::Unbreakable,
                (Resistance::Withstood(_, ratio), Some(strength)) => {
                    Resistance::Withstood(strength, ratio)
                }
                (Resistance::Unbreakable | Resistance::Below(_), Some(strength)) => {
                    Resistance::Below(strength)
                }
            };
        }
        Some(resistances)
    }

    /// Reports an event, and whether it matches the recording.
    pub(crate) fn report_event(&self, event: Event, events: &mut Events) {
        let Event { frame, body, cause, outcome, .. } = event;
        let same = |recorded: &Event| recorded.body == body && recorded.outcome == outcome;
        if self.script.recorded.is_some()
            && cause != Trigger::Cut
            && !self.recorded_of(cause).any(same)
        {
            events.mismatches.push(ReplayMismatch { frame, body });
        }
        events.replayable.push(event);
    }

    /// Reports the recorded events of a frame that did not recur.
    pub(crate) fn report_missing(&self, events: &mut Events) {
        let frame = self.frame + 1;
        let due = self.script.recorded.iter().flatten().filter(|event| event.frame == frame);
        for recorded in due.filter(|event| event.cause != Trigger::Cut) {
            let same = |event: &Event| event.body == recorded.body && event.cause == recorded.cause;
            if !events.replayable.iter().any(same) {
                events.mismatches.push(ReplayMismatch { frame, body: recorded.body });
            }
        }
    }

    /// Breaks, dents and cuts bodies by the `events` of one frame, without a step. Reports only
    /// fractures, crumbs and dents. For a world whose state [`World::restore`] sets afterwards.
    ///
    /// # Errors
    /// [`ReplayMismatch`] if the body of an event does not exist, or does not break as recorded.
    pub fn replay_frame(&mut self, events: &[Event]) -> Result<Report, ReplayMismatch> {
        // there was room in the recorded run
        let limits = std::mem::take(&mut self.settings.debris);
        self.settings.debris.min_size = limits.min_size;
        self.settings.debris.crumbs = limits.crumbs;
        let mut report = Report::default();
        let done = events.iter().try_for_each(|event| self.replay_event(event, &mut report));
        self.shed_crumbs(&mut report.events);
        self.settings.debris = limits;
        self.pass_user_data_on(&report.events);
        done.map(|()| report)
    }

    fn replay_event(&mut self, event: &Event, report: &mut Report) -> Result<(), ReplayMismatch> {
        let Event { frame, body, outcome, .. } = *event;
        if matches!(outcome, HitOutcome::OverBudget | HitOutcome::Woke) {
            return Ok(());
        }
        // bodies of tetrahedra keep the damage of impacts that they withstood
        let forgets = !matches!(event.model, Some(ModelKind::Lattice | ModelKind::Stress));
        if outcome == HitOutcome::Held && forgets {
            return Ok(());
        }
        event.place(self)?;
        let became = if event.cause == Trigger::Cut {
            let normal = Unit::new_unchecked(Vector3::from(event.normal));
            let cut = self.cut_at(body, &Point3::from(event.point), &normal);
            cut.map_or(Outcome::Whole, Outcome::Broke)
        } else {
            self.break_body(&event.hit(), report)
        };
        if became.hit_outcome() != outcome {
            return Err(ReplayMismatch { frame, body });
        }
        self.settle_outcome(body, became, &mut report.events);
        self.release_overloaded(&mut report.events);
        Ok(())
    }
}
