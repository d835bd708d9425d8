//! The collision passes, and the strength of bodies in them.

use contact::{Collision, StrengthQuery};
use fracture::{Impact, Material};
use nalgebra::{UnitVector3, Vector3};

use crate::breaking::strength::{ImpactLoad, Resistance, Strength};
use crate::script::event::Trigger;
use crate::{BodyId, Breakage, FractureModel, Loads, Report, World};

impl World {
    /// The resistances of bodies in a collision pass: those of recorded events in a replay, else
    /// their own.
    pub(crate) fn resistances(
        &self,
        cause: Trigger,
        may_break: bool,
        report: &Report,
    ) -> Vec<Resistance> {
        let own = self.own_resistances(may_break, report);
        self.recorded_resistances(cause, &own).unwrap_or(own)
    }

    /// A body is unbreakable in this pass if no body `may_break`, if it has no generations left, or if it or its
    /// ancestors responded to [`Settings::break_rounds`](crate::Settings) impacts in this frame. After an
    /// impact in this frame that did not break it, a body withstands impacts up to the utilization of that impact.
    fn own_resistances(&self, may_break: bool, report: &Report) -> Vec<Resistance> {
        if !may_break {
            return vec![Resistance::Unbreakable; self.len()];
        }
        let of = |breakage: &Option<Breakage>| match breakage {
            Some(breakage) if breakage.generations > 0 => Resistance::Below(breakage.strength),
            _ => Resistance::Unbreakable,
        };
        let mut resistances: Vec<Resistance> =
            self.details.iter().map(|own| of(&own.breakage)).collect();
        let dented = report.events.dents.iter().map(|dent| &dent.after);
        let rounds = report.events.responses();
        let most = self.settings.break_rounds;
        let exhausted = rounds.iter().filter(|&(_, &rounds)| rounds >= most).map(|(id, _)| id);
        for id in report.events.over_budget.iter().chain(dented).chain(exhausted) {
            if let Ok(i) = self.ids.binary_search(id) {
                resistances[i] = Resistance::Unbreakable;
            }
        }
        let of = |id: &BodyId| report.loads.impacts.iter().find(|impact| impact.body == *id);
        for impact in report.events.held.iter().filter_map(of) {
            let Ok(i) = self.ids.binary_search(&impact.body) else { continue };
            if let Resistance::Below(strength) = resistances[i] {
                resistances[i] = Resistance::Withstood(strength, impact.utilization());
            }
        }
        resistances
    }

    /// The strength of one of the bodies of an impact, N s: side 0 is `a`, 1 is `b`.
    pub(crate) fn breaking_impulse_at(
        &self,
        resistances: &[Resistance],
        collision: &Collision,
        side: usize,
    ) -> f64 {
        let own = |strength: Strength| match strength {
            Strength::Impulse(impulse) => impulse,
            Strength::Material => {
                let speed = self.critical_speed(collision, side).unwrap_or(f64::INFINITY);
                collision.impulse.norm() * (speed / collision.approach)
            }
        };
        let body = [collision.a, collision.b][side];
        if collision.struck.is_some_and(|struck| struck != body) {
            return f64::INFINITY;
        }
        match resistances[body as usize] {
            Resistance::Unbreakable => f64::INFINITY,
            Resistance::Below(strength) => own(strength),
            Resistance::Withstood(strength, ratio) => {
                let strength = own(strength);
                if collision.impulse.norm() / strength > ratio { strength } else { f64::INFINITY }
            }
        }
    }

    /// Runs the collision pass and updates `paths`. Reports the hardest impact on each breakable body.
    pub(crate) fn collide(
        &self,
        frame: contact::Frame<'_>,
        contacts: &contact::Contacts,
        paths: &mut contact::Paths,
        max_deviated: usize,
        resistances: &[Resistance],
        loads: &mut Loads,
    ) -> contact::Collisions {
        let waking = self.waking_impulses();
        let may_break: Vec<bool> = resistances
            .iter()
            .zip(&waking)
            .map(|(resistance, w)| *resistance != Resistance::Unbreakable || w.is_finite())
            .collect();
        let strengths = &mut |collision: &Collision, _| {
            let strengths = self.strengths_of_pair(resistances, collision, loads);
            [
                strengths[0].min(waking[collision.a as usize]),
                strengths[1].min(waking[collision.b as usize]),
            ]
        };
        frame.collide(
            contacts,
            paths,
            StrengthQuery { may_break: &may_break, strengths, max_deviated },
        )
    }

    /// Transmits impulses through other bodies after the collision pass, see [`contact::Frame::transmit`], and updates
    /// `momenta`. Returns the impacts that break bodies.
    pub(crate) fn transmit(
        &self,
        frame: contact::Frame<'_>,
        search: &contact::Search,
        momenta: &mut [dynamics::Momentum],
        resistances: &[Resistance],
        loads: &mut Loads,
    ) -> Vec<Collision> {
        let may_break: Vec<bool> =
            resistances.iter().map(|resistance| *resistance != Resistance::Unbreakable).collect();
        let strengths = &mut |collision: &Collision, is_met| {
            if is_met {
                self.strengths_of_pair(resistances, collision, loads)
            } else {
                [0, 1].map(|side| self.breaking_impulse_at(resistances, collision, side))
            }
        };
        frame.transmit(
            search,
            momenta,
            &mut StrengthQuery { may_break: &may_break, strengths, max_deviated: usize::MAX },
        )
    }

    /// The strengths of both bodies of an impact, N s; reports the impact with each that is finite.
    pub(crate) fn strengths_of_pair(
        &self,
        resistances: &[Resistance],
        collision: &Collision,
        loads: &mut Loads,
    ) -> [f64; 2] {
        [(0, collision.a), (1, collision.b)].map(|(side, body)| {
            let strength = self.breaking_impulse_at(resistances, collision, side);
            if strength.is_finite() {
                let (body, impulse) = (self.ids[body as usize], collision.impulse.norm());
                loads.impact(ImpactLoad { body, impulse, strength });
            }
            strength
        })
    }

    /// The approach speed at which an impact breaks one of its bodies, m/s; `None` if the body has
    /// no solid or the impact misses it.
    fn critical_speed(&self, collision: &Collision, side: usize) -> Option<f64> {
        let body = &self.failing_material([collision.a, collision.b][side] as usize);
        self.impact_quantity(collision, side, |impact| Impact { body, ..impact }.critical_speed())
    }

    /// Duration of an impact, s; `None` as for [`World::critical_speed`].
    pub(crate) fn contact_time(&self, collision: &Collision, side: usize) -> Option<f64> {
        self.impact_quantity(collision, side, |impact| impact.duration(collision.approach))
    }

    /// The solid material of a body, with the lowest stress at which its fracture model breaks or
    /// yields as tensile strength if that is lower.
    pub(crate) fn failing_material(&self, i: usize) -> Material {
        let material = self.details[i].solid_material;
        let model = self.details[i].breakage.as_ref().map(|breakage| &breakage.model);
        let limit = model.map_or(f64::INFINITY, FractureModel::least_strength);
        Material { tensile_strength: material.tensile_strength.min(limit), ..material }
    }

    /// A quantity of an impact for one of its bodies; `None` if the body has no solid or the impact
    /// misses it.
    fn impact_quantity(
        &self,
        collision: &Collision,
        side: usize,
        of: impl FnOnce(Impact<'_>) -> f64,
    ) -> Option<f64> {
        let [i, other] = [[collision.a, collision.b][side], [collision.a, collision.b][1 - side]]
            .map(|i| i as usize);
        // the normal points out of `b`, into `a`
        let inward = if side == 0 { collision.normal } else { -collision.normal };
        let in_body = |side: usize, way: Vector3<f64>| {
            UnitVector3::try_new(collision.poses[side].inverse_transform_vector(&way), 0.0)
        };
        let own_inward = in_body(side, inward)?;
        let section = self.section(i, &collision.at[side], &own_inward)?;
        let own = self.curvature(i, &collision.at[side], &own_inward, section.width);
        let across = self.shapes[other].bounds().extents().min();
        let others_inward = in_body(1 - side, -inward)?;
        let others = self.curvature(other, &collision.at[1 - side], &others_inward, across);
        let impact = Impact {
            body: &self.details[i].solid_material,
            striker: &self.details[other].solid_material,
            section,
            // conforming surfaces touch over at most the extent of the body
            curvature: (own + others).max(2.0 / section.width),
            mass: collision.mass,
        };
        Some(of(impact))
    }
}
