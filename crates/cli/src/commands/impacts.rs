//! The hardest impacts on bodies relative to their strength, and critical impacts.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sim::scene::Scene;
use sim::{Appearance, BodyId, CriticalImpact, FractureModel, ImpactLoad, Report, Trigger, World};

use crate::checkpoint::ImpactState;

/// The hardest impacts of a run on the bodies of its scene.
#[derive(Default)]
pub(super) struct Impacts {
    hardest: BTreeMap<BodyId, ImpactLoad>,
    broken: Vec<BodyId>,
}

/// The hardest impact on a body of a scene or on any of its copies.
pub(super) struct HardestImpact {
    name: String,
    copies: usize,
    broken: usize,
    impact: Option<ImpactLoad>,
}

impl Impacts {
    /// The impacts of an interrupted run, from their [`Self::state`].
    pub(super) fn restore(ImpactState { hardest, broken }: ImpactState) -> Self {
        let hardest = hardest.into_iter().map(|impact| (impact.body, impact)).collect();
        Self { hardest, broken }
    }

    /// The state for a checkpoint.
    pub(super) fn state(&self) -> ImpactState {
        let hardest = self.hardest.values().copied().collect();
        ImpactState { hardest, broken: self.broken.clone() }
    }

    pub(super) fn add(&mut self, report: &Report) {
        for impact in &report.loads.impacts {
            let hardest = self.hardest.entry(impact.body).or_insert(*impact);
            if impact.utilization() > hardest.utilization() {
                *hardest = *impact;
            }
        }
        let events = &report.events;
        let is_cut = |body: BodyId| {
            let mut all = events.replayable.iter();
            all.any(|event| event.body == body && event.cause == Trigger::Cut)
        };
        let parents = events.fractures.iter().map(|fracture| fracture.parent);
        self.broken.extend(parents.filter(|body| !is_cut(*body)));
    }

    /// The hardest impact on each breakable body of the scene.
    pub(super) fn of(&self, scene: &Scene, appearances: &[Appearance]) -> Vec<HardestImpact> {
        // appearances are in the order of the bodies and their copies
        let mut ids = appearances.iter().map(|appearance| appearance.body);
        let hardest = |spec: &sim::scene::Body| {
            let ids: Vec<BodyId> = ids.by_ref().take(spec.names().count()).collect();
            let broken = ids.iter().filter(|id| self.broken.contains(id)).count();
            let impacts = ids.iter().filter_map(|id| self.hardest.get(id)).copied();
            spec.fracture.is_some().then(|| HardestImpact {
                name: spec.name.clone(),
                copies: ids.len(),
                broken,
                impact: impacts.max_by(|p, q| p.utilization().total_cmp(&q.utilization())),
            })
        };
        scene.bodies.iter().map(hardest).collect::<Vec<_>>().into_iter().flatten().collect()
    }
}

impl HardestImpact {
    /// For example "plate: 5.1 of 9.3 N s".
    pub(super) fn line(&self) -> String {
        let Self { name, copies, broken, impact } = self;
        let name = if *copies > 1 { format!("{name} ({copies} copies)") } else { name.clone() };
        let impact = impact.map_or("not hit".to_owned(), |impact| {
            format!("{} of {} N s", number(impact.impulse), number(impact.strength))
        });
        match broken {
            0 => format!("{name}: {impact}"),
            _ if *copies == 1 => format!("{name}: {impact}, broke"),
            _ => format!("{name}: {impact}, {broken} broke"),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "body": self.name,
            "copies": self.copies,
            "broken": self.broken,
            "impulse": self.impact.map(|impact| impact.impulse),
            "strength": self.impact.map(|impact| impact.strength),
        })
    }
}

/// A message about breakable bodies of the scene that did not break: those with impacts beyond their strength, else the
/// one nearest to it if there are no fragments, also by cuts.
pub(super) fn unbroken_message(hardest: &[HardestImpact], has_fragments: bool) -> Option<String> {
    /// Limit of names.
    const MAX_NAMES: usize = 5;
    let ratio =
        |hardest: &&HardestImpact| hardest.impact.map_or(0.0, |impact| impact.utilization());
    let is_exceeded = |hardest: &&HardestImpact| hardest.broken == 0 && ratio(hardest) >= 1.0;
    let exceeded: Vec<&HardestImpact> = hardest.iter().filter(is_exceeded).collect();
    if !exceeded.is_empty() {
        let names = exceeded.iter().take(MAX_NAMES).map(|hardest| format!("{:?}", hardest.name));
        let names = names.collect::<Vec<_>>().join(", ");
        let more = match exceeded.len().saturating_sub(MAX_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let start = if has_fragments { "" } else { "nothing broke: " };
        return Some(format!(
            "{start}impacts exceeded the strength of {names}{more}, but did not divide them"
        ));
    }
    if has_fragments {
        return None;
    }
    let nearest = hardest.iter().max_by(|p, q| ratio(p).total_cmp(&ratio(q)))?;
    let name = &nearest.name;
    Some(match ratio(&nearest) {
        0.0 => "nothing broke: nothing hit a body that can break".to_owned(),
        ratio => {
            let share = number(100.0 * ratio);
            format!("nothing broke: the hardest impact was {share} % of the strength of {name:?}")
        }
    })
}

/// Number of frames of free fall below which the output also reports the speed gained per frame.
const SHORT_FALL_FRAMES: f64 = 2.0;

/// The critical impact of a body, as a phrase. From there on, lattices and finite elements determine
/// the cracks, which may not divide the body.
pub(super) fn critical_impact(world: &World, id: BodyId) -> Option<String> {
    let (impact, note) = match world.critical_impact(id)? {
        CriticalImpact::Fall(height) => {
            let settings = world.settings();
            let (gravity, fps) = (settings.gravity.norm(), 1.0 / settings.dt);
            let step = gravity * settings.dt;
            let fall = format!("a fall from {} m onto stone", number(height));
            // the impact speed of such a short fall depends on the frame of the impact
            if (2.0 * gravity * height).sqrt() < SHORT_FALL_FRAMES * step {
                let (fps, step) = (number(fps), number(step));
                (fall, format!(" (at {fps} frames/s its speed grows by {step} m/s a frame)"))
            } else {
                (fall, String::new())
            }
        }
        CriticalImpact::Stone(speed) => {
            (format!("a stone of 1 kg at {} m/s", number(speed)), String::new())
        }
    };
    let effect = match &world.get(id)?.breakage?.model {
        FractureModel::Stress(_) => "is the least impact for which finite elements compute cracks",
        FractureModel::Lattice(_) => "is the least impact for which the lattice computes cracks",
        FractureModel::Prescored(..) | FractureModel::Fixed(_) => "breaks it",
    };
    Some(format!("{impact} {effect}{note}"))
}

/// Formats a number with four digits.
fn number(x: f64) -> String {
    let rounded: f64 = format!("{x:.3e}").parse().unwrap_or(x);
    if (1e-4..1e7).contains(&rounded.abs()) || rounded == 0.0 {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}
