//! From impacts to their effects on bodies.

use std::sync::Arc;

use fracture::Pieces;
use nalgebra::{Point3, Unit, Vector3};
use rayon::prelude::*;

use crate::FractureModel;
use crate::breaking::bonds::LoadedBonds;
use crate::breaking::divided::Part;
use crate::breaking::elastic::Strained;
use crate::breaking::hits::{Hit, UNKNOWN_DURATION};
use crate::breaking::impact::Impact;
use crate::breaking::model::Effect;
use crate::breaking::outcome::Outcome;
use crate::breaking::parent::Parent;
use crate::breaking::pieces::{PieceAttributes, PointImpact, sizes};
use crate::script::event::{Event, Push, ReplayMismatch, Trigger};
use crate::{BodyId, BodyStress, Report, Solid, World};

/// The response of a body to an impact, before the body is changed.
struct Response {
    parent: Parent,
    effect: Effect,
    /// Its pieces, unless it may share those of another body.
    broken: Option<Pieces>,
    strained: Option<Strained>,
}

impl World {
    /// Replaces each body hit beyond its strength by its pieces. A body that its pattern leaves
    /// whole becomes unbreakable, unless there is a finer level. A lattice keeps its remaining
    /// links, and finite elements may part under another impact.
    pub(crate) fn break_bodies(&mut self, hits: &[Hit], cause: Trigger, report: &mut Report) {
        // responses are independent of each other
        let responses = self.responses(hits);
        for (hit, response) in hits.iter().zip(responses) {
            let Some(event) = self.event(hit, cause) else {
                report
                    .events
                    .mismatches
                    .push(ReplayMismatch { frame: self.frame + 1, body: hit.body });
                continue;
            };
            let outcome = self.break_with(hit, response, report);
            self.report_event(
                Event { outcome: outcome.hit_outcome(), ..event },
                &mut report.events,
            );
            self.settle_outcome(hit.body, outcome, &mut report.events);
        }
        if !hits.is_empty() {
            self.release_overloaded(&mut report.events);
        }
    }

    /// The outcome of a hit. Reports the stress by finite elements.
    pub(crate) fn break_body(&mut self, hit: &Hit, report: &mut Report) -> Outcome {
        self.break_with(hit, None, report)
    }

    /// [`World::break_body`], with the response of the body if already computed.
    fn break_with(
        &mut self,
        hit: &Hit,
        response: Option<Response>,
        report: &mut Report,
    ) -> Outcome {
        let breaks =
            |i: usize| self.details[i].solid.is_some() && self.details[i].breakage.is_some();
        if self.room() == 0 && self.ids.binary_search(&hit.body).is_ok_and(breaks) {
            return Outcome::OverBudget;
        }
        let Some(mut response) = response.or_else(|| self.response(hit)) else {
            return Outcome::Whole;
        };
        let strained = response.strained.take();
        let outcome = self.carry_out(hit, response);
        // a replay skips bodies that had no room for their pieces
        if let Some(Strained { stress, is_linearized }) =
            strained.filter(|_| !matches!(outcome, Outcome::OverBudget))
        {
            let field = Arc::new(stress);
            report.loads.stresses.push(BodyStress { body: hit.body, field });
            report.events.linearized.extend(is_linearized.then_some(hit.body));
        }
        outcome
    }

    /// The responses of lattices and finite elements, which take most of the time of an impact, on
    /// all threads; `None` for other bodies. The first of the bodies that share a model precedes
    /// the others, which reuse its factorization.
    fn responses(&self, hits: &[Hit]) -> Vec<Option<Response>> {
        let model = |hit: &Hit| {
            let i = self.ids.binary_search(&hit.body).ok()?;
            match &self.details[i].breakage.as_ref()?.model {
                FractureModel::Stress(elastic) => Some(Arc::as_ptr(elastic).addr()),
                FractureModel::Lattice(latticed) => Some(Arc::as_ptr(latticed).addr()),
                FractureModel::Prescored(..) | FractureModel::Fixed(_) => None,
            }
        };
        let models: Vec<Option<usize>> = hits.iter().map(model).collect();
        let mut responses: Vec<Option<Response>> = hits.iter().map(|_| None).collect();
        if models.iter().flatten().count() < 2 || self.room() == 0 {
            return responses;
        }
        for first in [true, false] {
            let is_next =
                |n: &usize| models[*n].is_some() && models[..*n].contains(&models[*n]) != first;
            let chosen: Vec<usize> = (0..hits.len()).filter(is_next).collect();
            let found: Vec<_> = chosen.par_iter().map(|n| self.response(&hits[*n])).collect();
            chosen.into_iter().zip(found).for_each(|(n, found)| responses[n] = found);
        }
        responses
    }

    /// The response of a body to an impact; `None` if nothing divides it.
    fn response(&self, hit: &Hit) -> Option<Response> {
        let parent = self.parent(hit.body)?;
        let breakage = parent.breakage.as_ref()?;
        let Parent { pose, solid: Solid { geometry, material }, .. } = &parent;
        let normal = material * pose.inverse_transform_vector(&hit.normal);
        let normal = Unit::try_new(normal, 0.0)?;
        let world = pose * material.inverse();
        let density = parent.density();
        let impulse = material * pose.inverse_transform_vector(&hit.impulse);
        let anchors = parent.anchorage.as_ref().map_or(&[][..], |anchorage| &anchorage.anchors);
        let held = |p: &Point3<f64>| anchors.iter().any(|a| a.region.contains(&(world * p)));
        let in_material = |v: &Vector3<f64>| material * pose.inverse_transform_vector(v);
        let reaction =
            |push: &Push| (material * Point3::from(push.point), in_material(&push.impulse.into()));
        let reactions: Vec<_> = hit.reactions.iter().map(reaction).collect();
        let impact = Impact {
            at: material * hit.at,
            normal,
            impulse,
            duration: hit.duration.unwrap_or(UNKNOWN_DURATION),
            reactions: &reactions,
            gravity: in_material(&self.settings.gravity),
            density,
            held: &held,
        };
        let (effect, strained) = breakage.model.effect(geometry, &impact);
        // shared pieces may exist already
        let broken = match &effect {
            Effect::Divides(division) if !self.shares(&parent) => self.divided(&parent, division),
            _ => None,
        };
        Some(Response { parent, effect, broken, strained })
    }

    /// Applies the response of a body to an impact.
    fn carry_out(&mut self, hit: &Hit, response: Response) -> Outcome {
        let Response { parent, effect, broken, .. } = response;
        let Some(breakage) = &parent.breakage else { return Outcome::Whole };
        let Parent { pose, solid: Solid { material, .. }, .. } = &parent;
        let division = match effect {
            Effect::None => return Outcome::Held,
            Effect::Divides(division) => division,
            Effect::Changes(model) => return self.keep(hit.body, model),
            Effect::Dents(elastic, yields) => {
                let dent = self.dent(&parent, &elastic, &yields, &hit.dent_energy());
                return dent.map_or(Outcome::Held, Outcome::Dented);
            }
        };
        let impact = PointImpact { point: pose * hit.at, impulse: hit.impulse };
        let shares = self.shares(&parent);
        let known = shares.then(|| self.known_parts(&parent, &division)).flatten();
        if let Some(parts) = known {
            return self.repeat(&parent, parts, impact);
        }
        let weakened = division.weakened();
        let shared = || shares.then(|| self.divided(&parent, &division)).flatten();
        let Some(broken) = broken.or_else(shared) else {
            return weakened.map_or_else(
                || if breakage.model.is_pattern() { Outcome::Whole } else { Outcome::Held },
                |model| self.keep(hit.body, model),
            );
        };
        let bonds = breakage.bonds.as_ref().map(|bonds| LoadedBonds {
            bonds,
            at: material * hit.at,
            impulse: hit.impulse.norm(),
        });
        let clusters = self.clusters(&parent, broken, bonds);
        let count = clusters.broken.pieces.len();
        if count < 2 {
            return weakened.map_or(Outcome::Held, |model| self.keep(hit.body, model));
        }
        if !self.fits(sizes(&clusters.broken)) {
            return Outcome::OverBudget;
        }
        let rims = self.rims(&parent, &clusters.broken);
        let Some(event) = self.replace(&parent, clusters, &division, impact) else {
            return Outcome::Whole;
        };
        self.crack(&event.fragments, rims);
        if shares {
            self.remember_division(&parent, &division, &event.fragments);
        }
        Outcome::Broke(Box::new(event))
    }

    /// Divides a body into the pieces of an equal one.
    fn repeat(&mut self, parent: &Parent, parts: Vec<Part>, impact: PointImpact) -> Outcome {
        if !self.fits(parts.iter().map(|part| part.solid.geometry.memory())) {
            return Outcome::OverBudget;
        }
        let breakage = parent.breakage.as_ref().map(|breakage| breakage.inherited(false));
        let attributes =
            vec![PieceAttributes { breakage, ..PieceAttributes::default() }; parts.len()];
        let event = self.replace_with_parts(parent, parts, attributes, impact);
        event.map_or(Outcome::Whole, |event| Outcome::Broke(Box::new(event)))
    }

    /// Gives a body another model.
    fn keep(&mut self, id: BodyId, model: FractureModel) -> Outcome {
        let known = self.ids.binary_search(&id).ok();
        if let Some(breakage) = known.and_then(|i| self.details[i].breakage.as_mut()) {
            breakage.model = model;
        }
        Outcome::Held
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Bonds, Breakage, NewBody, Placement, Settings, Strength, rigid};
    use contact::{Collision, Shape};
    use dynamics::{Body, MassProperties, Velocity};
    use fracture::{Pattern, Voronoi};
    use levelset::{Aabb, Grid, LevelSet, Solid};
    use nalgebra::Isometry3;
    use proptest::prelude::*;

    /// The shape, mass and body coordinates of a brick of 0.4 x 0.3 x 0.2 m, and its grid.
    pub(crate) fn solid() -> (Arc<Shape>, MassProperties, Isometry3<f64>, Grid) {
        let half = Vector3::new(0.2, 0.15, 0.1);
        let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
        let grid = Grid::enclosing(&bounds, 0.02, 3, Grid::MAX_NODES).unwrap();
        let solid = Solid::Box { half_extents: half };
        let level_set = LevelSet::from_fn(grid, |p| solid.distance(&p));
        let (mass, frame) = rigid(&level_set.moments(), 2000.0).unwrap();
        let points = level_set.surface_particles(0.02);
        (Arc::new(Shape::grid(level_set, &points, frame)), mass, frame, grid)
    }

    /// A brick that moves and spins, and can break.
    fn brick(
        velocity: Velocity,
        (pieces, seed): (usize, u64),
        bonds: Option<Bonds>,
    ) -> (World, BodyId) {
        let (shape, mass, frame, _) = solid();
        let pattern = Pattern::voronoi(&Voronoi::new(pieces, seed)).unwrap();
        let mut world = World::new(Settings::default());
        let id = world
            .add(NewBody {
                pose: Isometry3::new(Vector3::new(3.0, -2.0, 1.0), Vector3::new(0.3, 1.1, -0.4))
                    * frame,
                velocity,
                breakage: Some(Breakage {
                    model: FractureModel::Prescored(Arc::new(pattern), Placement::Turned),
                    strength: Strength::Impulse(1.0),
                    generations: 2,
                    min_share: 1e-4,
                    min_size: 0.0,
                    bonds,
                }),
                ..NewBody::of(Body::Dynamic(mass), shape)
            })
            .unwrap();
        (world, id)
    }

    fn hit(world: &mut World, at: Point3<f64>, size: f64, report: &mut Report) {
        let normal = Vector3::new(0.6, 0.8, 0.0);
        let impulse = normal * size;
        let collision = Collision {
            a: 0,
            b: 0,
            at: [at; 2],
            time: 0.0,
            poses: [Isometry3::identity(); 2],
            normal,
            impulse,
            approach: size,
            mass: 1.0,
            struck: None,
        };
        let cause = Trigger::Collision(0);
        let hits = world.hardest_hits(&[collision], &world.resistances(cause, true, report));
        world.break_bodies(&hits, cause, report);
    }

    fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
        [-size..=size, -size..=size, -size..=size].prop_map(Vector3::from)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Su09 section 4.2.
        #[test]
        fn breaking_keeps_mass_momentum_and_kinetic_energy(
            (linear, angular) in (vector(10.0), vector(20.0)),
            at in vector(0.15),
            seed in 0..1000u64,
            strength in prop::option::of(2.0..4.5_f64),
        ) {
            let bonds = strength.map(|s| Bonds { strength: 10_f64.powf(s), duration: 0.001 });
            let (mut world, id) = brick(Velocity { linear, angular }, (60, seed), bonds);
            let before = (world.mass(), world.momentum(), world.kinetic_energy());
            let mut report = Report::default();
            hit(&mut world, at.into(), 5.0, &mut report);
            if !report.events.held.is_empty() {
                prop_assert!(bonds.is_some() && world.len() == 1);
                return Ok(());
            }
            prop_assert_eq!(report.events.fractures.len(), 1);
            prop_assert!(world.get(id).is_none() && world.len() == report.events.fractures[0].fragments.len());
            let after = (world.mass(), world.momentum(), world.kinetic_energy());
            let close = |p: f64, q: f64, size: f64| (p - q).abs() <= 1e-12 * size;
            prop_assert!(close(after.0, before.0, before.0));
            let linear = (after.1.linear - before.1.linear).norm();
            prop_assert!(linear <= 1e-12 * before.1.linear.norm(), "{linear}");
            let angular = (after.1.angular - before.1.angular).norm();
            // about the origin, 4 m away
            let size = before.1.angular.norm() + 4.0 * before.1.linear.norm();
            prop_assert!(angular <= 1e-12 * size, "{angular}");
            prop_assert!(close(after.2, before.2, before.2), "{} {}", before.2, after.2);
        }
    }

    #[test]
    fn pieces_break_again_until_the_generations_are_used_up() {
        let (mut world, _) = brick(Velocity::default(), (60, 3), None);
        let mass = world.mass();
        let mut report = Report::default();
        let origin = Point3::origin();
        hit(&mut world, origin, 1.5, &mut report);
        let pieces = world.len();
        assert!(pieces > 4, "{pieces}");
        // the pieces have twice the strength
        hit(&mut world, origin, 1.5, &mut report);
        assert_eq!(world.len(), pieces);
        hit(&mut world, origin, 2.5, &mut report);
        assert!(world.len() > pieces);
        let last = world.iter().next_back().unwrap();
        assert_eq!(last.breakage.unwrap().generations, 0);
        assert!((world.mass() - mass).abs() <= 1e-12 * mass);
    }
}
