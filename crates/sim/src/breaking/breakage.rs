//! Breaking: from blows to pieces that move on as the body did.

use std::sync::Arc;

use contact::{Groups, Material};
use dynamics::{Body, MassProperties, Momentum, Velocity};
use fracture::{Piece, Pieces, bond_loads};
use nalgebra::{Isometry3, Matrix3, Point3, Unit, Vector3};
use rayon::prelude::*;

use crate::breaking::elastic::Strained;
use crate::breaking::hits::{Hit, UNKNOWN_DURATION};
use crate::breaking::model::{Division, Effect, FractureModel, Impact};
use crate::breaking::parent::Parent;
use crate::breaking::sharing::Part;
use crate::breaking::strength::Strength;
use crate::scene::Pattern;
use crate::script::event::{Event, Happened, Misfit, Push, Trigger};
use crate::world::{NewBody, World};
use crate::{BodyId, Dent, Fracture, Motion, Report, Solid};
use crate::{Level, Next, Then};

/// How a body breaks.
#[derive(Clone, Debug)]
pub struct Breakage {
    /// What divides it.
    pub model: FractureModel,
    /// What it bears.
    pub strength: Strength,
    /// How many times it and its pieces may break in turn; 0 never.
    pub generations: u32,
    /// Pieces of a smaller share of the volume that breaks go to the neighbor they share most with.
    pub least_share: f64,
    /// So do pieces of less volume than a cube of this edge, m.
    pub least_size: f64,
    /// What holds its pieces together; nothing unless given.
    pub bonds: Option<Bonds>,
}

/// What holds the pieces of an event together: a bond is the cut between two of them and fails
/// when it would have to carry more than `strength * area * duration` N s of the blow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bonds {
    /// The stress that bonds bear, Pa.
    pub strength: f64,
    /// How long a blow lasts, s.
    pub duration: f64,
}

impl Breakage {
    /// How a piece by itself breaks: one generation less. Pieces that stay together are still the body
    /// and break as it does.
    ///
    /// What a piece bears by its material follows from its own shape. A fixed impulse doubles with
    /// each generation, which is a choice and no law of materials.
    fn inherited(&self, is_joined: bool) -> Self {
        if is_joined {
            return self.clone();
        }
        let strength = match self.strength {
            Strength::Impulse(impulse) => Strength::Impulse(2.0 * impulse),
            Strength::Material => Strength::Material,
        };
        Self { strength, generations: self.generations - 1, ..self.clone() }
    }

    /// How a cluster breaks that its level leaves whole; `None` if there is no finer level.
    fn next_level(&self) -> Option<Self> {
        let FractureModel::Fixed(fixed) = &self.model else { return None };
        let is_level = matches!(fixed.then, Some(Then::Level(_)));
        self.next().filter(|_| is_level && self.generations > 1)
    }

    /// How what a fixed pattern divides no further breaks, if it does: as its level says, or by a pattern of its own,
    /// whose pieces nothing holds together.
    fn next(&self) -> Option<Self> {
        let FractureModel::Fixed(fixed) = &self.model else { return None };
        let inherited = self.inherited(false);
        Some(match fixed.then.clone()? {
            Then::Centered(Next { pattern, placement, least_share }) => {
                let model = FractureModel::Prescored(pattern, placement);
                Self { model, least_share, bonds: None, ..inherited }
            }
            Then::Level(level) => {
                let Level { pattern, strength, least_share, bonds } = &*level;
                let model = FractureModel::Fixed(Arc::clone(pattern));
                let (strength, least_share, bonds) = (*strength, *least_share, *bonds);
                Self { model, strength, least_share, bonds, ..inherited }
            }
        })
    }
}

/// A piece before it is a body.
struct Placed {
    part: Part,
    pose: Isometry3<f64>,
}

/// What is decided about a piece before it is a body.
#[derive(Clone, Default)]
struct Fate {
    /// How it breaks in turn.
    breakage: Option<Breakage>,
    /// Whether anchors hold it.
    is_held: bool,
    /// Whether it is gone at the end of the frame.
    is_dust: bool,
}

/// The response of a body to a blow, before the body is changed.
struct Response {
    parent: Parent,
    effect: Effect,
    /// Its pieces, unless it may share those of another.
    broken: Option<Pieces>,
    strained: Option<Strained>,
}

/// What became of a body that was hit harder than it bears.
pub(crate) enum Outcome {
    Broke(Box<Fracture>),
    Dented(Dent),
    /// Nothing divides it.
    Whole,
    /// The bonds between its pieces hold.
    Held,
    /// There is no room for its pieces.
    OverBudget,
}

impl Outcome {
    pub(crate) fn happened(&self) -> Happened {
        match self {
            Self::Broke(fracture) => Happened::Broke(fracture.fragments.len()),
            Self::Dented(_) => Happened::Dented,
            Self::Whole => Happened::Whole,
            Self::Held => Happened::Held,
            Self::OverBudget => Happened::OverBudget,
        }
    }
}

/// The pieces of an event that stay together, and which of them anchors hold.
pub(crate) struct Clusters {
    pub(crate) broken: Pieces,
    /// Whether it is of more than one piece.
    pub(crate) is_joined: Vec<bool>,
    pub(crate) is_held: Vec<bool>,
}

impl World {
    /// Replaces each body that was hit too hard by its pieces. A body that its pattern leaves whole
    /// is unbreakable from then on, unless there is a finer level; one of a lattice goes on with the links that are left.
    pub(crate) fn break_bodies(&mut self, hits: &[Hit], cause: Trigger, report: &mut Report) {
        // responses do not depend on each other
        let responses = self.responses(hits);
        for (hit, response) in hits.iter().zip(responses) {
            let Some(event) = self.event(hit, cause) else {
                report.misfits.push(Misfit { frame: self.frame + 1, body: hit.body });
                continue;
            };
            let outcome = self.break_with(hit, response, report);
            self.tell(Event { outcome: outcome.happened(), ..event }, report);
            self.settle_outcome(hit.body, outcome, report);
        }
        if !hits.is_empty() {
            self.release_overloaded(report);
        }
    }

    /// What follows from what became of a body.
    pub(crate) fn settle_outcome(&mut self, body: BodyId, outcome: Outcome, report: &mut Report) {
        match outcome {
            Outcome::Broke(fracture) => {
                self.pass_anchors_on(fracture.parent, &fracture.fragments);
                report.fractures.push(*fracture);
            }
            Outcome::Dented(dent) => {
                self.pass_anchors_on(dent.before, &[dent.after]);
                report.dents.push(dent);
            }
            Outcome::Held => report.held.push(body),
            Outcome::OverBudget => report.over_budget.push(body),
            Outcome::Whole => {
                if let Ok(i) = self.ids.binary_search(&body) {
                    // a level may have one piece of a cluster only
                    self.breakages[i] = self.breakages[i].as_ref().and_then(Breakage::next_level);
                }
            }
        }
    }

    /// What becomes of a body that was hit. The stress that finite elements find in it is reported.
    pub(crate) fn break_body(&mut self, hit: &Hit, report: &mut Report) -> Outcome {
        self.break_with(hit, None, report)
    }

    /// As [`World::break_body`], with the response of the body if it is known.
    fn break_with(
        &mut self,
        hit: &Hit,
        response: Option<Response>,
        report: &mut Report,
    ) -> Outcome {
        let breaks = |i: usize| self.solids[i].is_some() && self.breakages[i].is_some();
        if self.room() == 0 && self.ids.binary_search(&hit.body).is_ok_and(breaks) {
            return Outcome::OverBudget;
        }
        let Some(mut response) = response.or_else(|| self.response(hit)) else {
            return Outcome::Whole;
        };
        let strained = response.strained.take();
        let outcome = self.carry_out(hit, response);
        // what had no room is passed over when it is brought about again
        if let Some(Strained { stress, is_linearized }) =
            strained.filter(|_| !matches!(outcome, Outcome::OverBudget))
        {
            report.stresses.push((hit.body, Arc::new(stress)));
            report.linearized.extend(is_linearized.then_some(hit.body));
        }
        outcome
    }

    /// The responses of lattices and finite elements, which take most of the time of a blow, on all threads; `None`
    /// for other bodies. Of bodies that share a model the first goes before the others, which reuse its factorization.
    fn responses(&self, hits: &[Hit]) -> Vec<Option<Response>> {
        let model = |hit: &Hit| {
            let i = self.ids.binary_search(&hit.body).ok()?;
            match &self.breakages[i].as_ref()?.model {
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

    /// The response of a body to a blow; `None` if nothing divides it.
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
        // those that share pieces may find them made
        let broken = match &effect {
            Effect::Divides(division) if !World::shares(&parent) => self.divided(&parent, division),
            _ => None,
        };
        Some(Response { parent, effect, broken, strained })
    }

    /// Brings about what a blow does to a body.
    fn carry_out(&mut self, hit: &Hit, response: Response) -> Outcome {
        let Response { parent, effect, broken, .. } = response;
        let Some(breakage) = &parent.breakage else { return Outcome::Whole };
        let Parent { pose, solid: Solid { material, .. }, .. } = &parent;
        let division = match effect {
            Effect::None => return Outcome::Held,
            Effect::Divides(division) => division,
            Effect::Changes(model) => return self.keep(hit.body, model),
            Effect::Dents(elastic, yields) => {
                let dent = self.dent(&parent, &elastic, &yields, &hit.allowance());
                return dent.map_or(Outcome::Held, Outcome::Dented);
            }
        };
        let struck = (pose * hit.at, hit.impulse);
        let shares = World::shares(&parent);
        let known = shares.then(|| self.known_parts(&parent, &division)).flatten();
        if let Some(parts) = known {
            return self.repeat(&parent, parts, struck);
        }
        let weakened = division.weakened();
        let shared = || shares.then(|| self.divided(&parent, &division)).flatten();
        let Some(broken) = broken.or_else(shared) else {
            return weakened.map_or(Outcome::Whole, |model| self.keep(hit.body, model));
        };
        let blow = (material * hit.at, hit.impulse.norm());
        let bonds = breakage.bonds.as_ref().map(|bonds| (bonds, blow));
        let clusters = self.clusters(&parent, broken, bonds);
        let count = clusters.broken.pieces.len();
        if count < 2 {
            return weakened.map_or(Outcome::Held, |model| self.keep(hit.body, model));
        }
        if !self.fits(sizes(&clusters.broken)) {
            return Outcome::OverBudget;
        }
        let Some(event) = self.replace(&parent, clusters, &division, struck) else {
            return Outcome::Whole;
        };
        if shares {
            self.remember_division(&parent, &division, &event.fragments);
        }
        Outcome::Broke(Box::new(event))
    }

    /// A body comes apart as another did.
    fn repeat(
        &mut self,
        parent: &Parent,
        parts: Vec<Part>,
        struck: (Point3<f64>, Vector3<f64>),
    ) -> Outcome {
        if !self.fits(parts.iter().map(|part| part.solid.geometry.memory())) {
            return Outcome::OverBudget;
        }
        let breakage = parent.breakage.as_ref().map(|breakage| breakage.inherited(false));
        let fates = vec![Fate { breakage, ..Fate::default() }; parts.len()];
        let event = self.put(parent, parts, fates, struck);
        event.map_or(Outcome::Whole, |event| Outcome::Broke(Box::new(event)))
    }

    /// A body goes on with another model.
    fn keep(&mut self, id: BodyId, model: FractureModel) -> Outcome {
        let known = self.ids.binary_search(&id).ok();
        if let Some(breakage) = known.and_then(|i| self.breakages[i].as_mut()) {
            breakage.model = model;
        }
        Outcome::Held
    }

    /// The pieces of a body, if there are two at least.
    pub(crate) fn divided(&self, parent: &Parent, division: &Division) -> Option<Pieces> {
        let Division { pattern, at, .. } = division;
        let broken = parent.solid.geometry.divide(pattern, at, self.least_volume(parent));
        (broken.pieces.len() > 1).then_some(broken)
    }

    /// Puts the pieces of a body in its place; nothing if one of them has no mass.
    pub(crate) fn replace(
        &mut self,
        parent: &Parent,
        Clusters { broken, is_joined, is_held }: Clusters,
        division: &Division,
        struck: (Point3<f64>, Vector3<f64>),
    ) -> Option<Fracture> {
        let breakages = parent.breakage.as_ref().map(|breakage| {
            let body = (&*parent.solid.geometry, parent.density());
            let models = breakage.model.of_pieces(body, division, &broken.pieces).into_iter();
            let of = |(model, &is_joined)| {
                let same = || Breakage { model, ..breakage.inherited(is_joined) };
                breakage.next().filter(|_| !is_joined).unwrap_or_else(same)
            };
            models.zip(&is_joined).map(of).collect::<Vec<_>>()
        });
        let is_dust = broken.pieces.iter().map(|piece| division.is_dust(piece)).collect::<Vec<_>>();
        let mut parts = parent.parts(broken, division)?;
        for (part, breakage) in parts.iter_mut().zip(breakages.iter().flatten()) {
            if parent.has_tets() {
                part.shape = Arc::new(parent.shape_of(&part.solid, &breakage.model));
            }
        }
        let mut breakages = breakages.into_iter().flatten();
        let fate = |(is_dust, is_held): (bool, bool)| {
            let breakage = breakages.next().filter(|_| !is_dust);
            Fate { breakage, is_held, is_dust }
        };
        let fates = is_dust.into_iter().zip(is_held).map(fate).collect();
        self.put(parent, parts, fates, struck)
    }

    /// Puts parts in the place of a body, each with what is decided about it.
    fn put(
        &mut self,
        parent: &Parent,
        parts: Vec<Part>,
        fates: Vec<Fate>,
        (point, impulse): (Point3<f64>, Vector3<f64>),
    ) -> Option<Fracture> {
        let pieces = placed(parts, parent);
        let velocities = velocities(&pieces, &parent.mass, &parent.pose, &parent.momentum);
        let mut event = Fracture {
            parent: parent.id,
            fragments: Vec::with_capacity(pieces.len()),
            point,
            impulse,
            mass_before: parent.mass.mass(),
            mass_after: pieces.iter().map(|p| p.part.mass.mass()).sum(),
            before: self.motion(&[parent.id]),
            after: Motion::default(),
        };
        let i = self.ids.binary_search(&parent.id).ok()?;
        let surface = (self.materials[i], self.groups[i]);
        let substance = self.substances[i];
        self.remove(parent.id);
        self.born += pieces.len();
        for ((piece, velocity), fate) in pieces.into_iter().zip(velocities).zip(fates) {
            let is_dust = fate.is_dust;
            let id = self.add_piece(parent, (piece, velocity), surface, fate);
            self.dust.extend(is_dust.then_some(id));
            self.set_substance(id, substance);
            event.fragments.push(id);
        }
        event.after = self.motion(&event.fragments);
        Some(event)
    }

    /// The body named `id`, if it has mass.
    pub(crate) fn parent(&self, id: BodyId) -> Option<Parent> {
        let i = self.ids.binary_search(&id).ok()?;
        let (pose, momentum) = self.state_at_blow(i);
        Some(Parent {
            id,
            breakage: self.breakages[i].clone(),
            momentum,
            mass: *self.mass_of(i)?,
            pose,
            previous: self.previous[i],
            since: self.flights[i].since,
            taken: self.flights[i].taken,
            anchorage: self.anchorages[i].clone(),
            lineage: self.lineages[i].clone(),
            shape: Arc::clone(&self.shapes[i]),
            solid: self.solids[i].clone()?,
        })
    }

    /// Volume of the smallest piece of a body that may be by itself, m^3.
    pub(crate) fn least_volume(&self, parent: &Parent) -> f64 {
        let share = parent.breakage.as_ref().map_or(Pattern::MIN_SHARE, |b| b.least_share);
        let size = self.least_size(parent);
        (share * parent.solid.geometry.moments().volume).max(size.powi(3))
    }

    /// Edge of a cube of as much as the smallest piece of a body, m.
    pub(crate) fn least_size(&self, parent: &Parent) -> f64 {
        let own = parent.breakage.as_ref().map_or(0.0, |b| b.least_size);
        own.max(self.settings.debris.least_size)
    }

    /// Puts those of the pieces together whose bonds hold a blow of some impulse at a point of
    /// material space, and finds out which stay where they are.
    pub(crate) fn clusters(
        &self,
        parent: &Parent,
        broken: Pieces,
        bonds: Option<(&Bonds, (Point3<f64>, f64))>,
    ) -> Clusters {
        let Solid { geometry, material } = &parent.solid;
        let world = parent.pose * material.inverse();
        let density = parent.density();
        let held = |piece: &Piece| {
            let anchorage = parent.anchorage.as_ref()?;
            let held = self.held(&piece.geometry, &world, &anchorage.anchors);
            Some((held, anchorage.strength))
        };
        let is_held = |piece: &Piece| {
            held(piece).is_some_and(|(held, strength)| {
                let moments = piece.geometry.moments();
                let weight = (density * moments.volume, &moments.center());
                self.bears_weight(piece.geometry.level_set(), &held, &world, weight, strength)
            })
        };
        let count = broken.pieces.len();
        let Some((bonds, blow)) = bonds else {
            let is_held = broken.pieces.iter().map(is_held).collect();
            return Clusters { broken, is_joined: vec![false; count], is_held };
        };
        let touches = |piece: &Piece| held(piece).is_some_and(|(held, _)| held.any);
        let fixed: Vec<bool> = broken.pieces.iter().map(touches).collect();
        let groups = unbroken(&broken, &fixed, bonds, blow);
        let clusters = groups.iter().max().map_or(0, |most| most + 1);
        let size = |cluster: usize| groups.iter().filter(|&&group| group == cluster).count();
        let is_joined = (0..clusters).map(|cluster| size(cluster) > 1).collect();
        let broken = broken.joined(geometry, &groups);
        let is_held = broken.pieces.iter().map(is_held).collect();
        Clusters { broken, is_joined, is_held }
    }

    fn add_piece(
        &mut self,
        parent: &Parent,
        (piece, velocity): (Placed, Velocity),
        (material, groups): (Material, Groups),
        Fate { breakage, is_held, .. }: Fate,
    ) -> BodyId {
        let Placed { part: Part { shape, solid, mass, lineage }, pose } = piece;
        let id = self.insert(NewBody {
            body: if is_held { Body::Static } else { Body::Dynamic(mass) },
            pose,
            velocity,
            shape,
            solid: Some(solid),
            material,
            groups,
            breakage,
        });
        let last = self.len() - 1;
        self.fly(last, parent, mass.mass());
        self.lineages[last] = Some(lineage);
        let anchorage = parent.anchorage.as_ref().filter(|_| is_held);
        self.anchorages[last] = anchorage.map(|anchorage| anchorage.of_piece(mass));
        id
    }
}

/// Groups of pieces that bonds hold together through a blow, numbered from 0.
fn unbroken(
    broken: &Pieces,
    fixed: &[bool],
    bonds: &Bonds,
    (at, impulse): (Point3<f64>, f64),
) -> Vec<usize> {
    let Pieces { pieces, bonds: cuts, .. } = broken;
    let masses: Vec<f64> = pieces.iter().map(|piece| piece.geometry.moments().volume).collect();
    let loads = bond_loads(&masses, fixed, cuts, broken.nearest(&at));
    let mut groups: Vec<usize> = (0..pieces.len()).collect();
    for (bond, load) in cuts.iter().zip(loads) {
        if load * impulse <= bonds.strength * bonds.duration {
            let [a, b] = bond.fragments.map(|fragment| groups[fragment]);
            groups.iter_mut().filter(|group| **group == a.max(b)).for_each(|g| *g = a.min(b));
        }
    }
    let mut names = groups.clone();
    names.sort_unstable();
    names.dedup();
    groups.iter().map(|group| names.partition_point(|name| name < group)).collect()
}

/// The parts of a body where it is.
fn placed(parts: Vec<Part>, parent: &Parent) -> Vec<Placed> {
    let world = parent.pose * parent.solid.material.inverse();
    parts.into_iter().map(|part| Placed { pose: world * part.solid.material, part }).collect()
}

/// Memory that each piece takes, in samples.
pub(crate) fn sizes(broken: &Pieces) -> impl ExactSizeIterator<Item = usize> {
    broken.pieces.iter().map(|piece| piece.geometry.memory())
}

/// Velocities of the pieces of a body: those of its points, `v + omega x r` and `omega` (Su09
/// section 4.2), then corrected for round-off so that linear and angular momentum are the body's.
fn velocities(
    pieces: &[Placed],
    mass: &MassProperties,
    pose: &Isometry3<f64>,
    momentum: &Momentum,
) -> Vec<Velocity> {
    let body = Body::Dynamic(*mass).velocity(&pose.rotation, momentum);
    let arm = |p: &Placed| p.pose.translation.vector - pose.translation.vector;
    let mut velocities: Vec<Velocity> = pieces
        .iter()
        .map(|p| Velocity { linear: body.at(&arm(p)), angular: body.angular })
        .collect();
    let mut missing = *momentum;
    let mut total = 0.0;
    let mut inertia = Matrix3::zeros();
    for (piece, velocity) in pieces.iter().zip(&velocities) {
        let own = piece.part.mass.momentum(&piece.pose.rotation, velocity);
        missing.apply(&-own.linear, &arm(piece));
        missing.angular -= own.angular;
        let (m, cross) = (piece.part.mass.mass(), arm(piece).cross_matrix());
        total += m;
        inertia += cross.transpose() * cross * m;
        inertia += piece.part.mass.world_inertia(&piece.pose.rotation);
    }
    let spin = inertia.try_inverse().map_or(Vector3::zeros(), |inverse| inverse * missing.angular);
    for (piece, velocity) in pieces.iter().zip(&mut velocities) {
        velocity.linear += missing.linear / total + spin.cross(&arm(piece));
        velocity.angular += spin;
    }
    velocities
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::rigid;
    use crate::{Placement, Settings};
    use contact::{Blow, Shape};
    use fracture::{Pattern, Voronoi};
    use levelset::{Aabb, Grid, LevelSet, Solid};
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

    /// A brick that moves and spins, and what breaks it.
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
                solid: None,
                body: Body::Dynamic(mass),
                pose: Isometry3::new(Vector3::new(3.0, -2.0, 1.0), Vector3::new(0.3, 1.1, -0.4))
                    * frame,
                velocity,
                shape,
                material: Material::default(),
                groups: Groups::default(),
                breakage: Some(Breakage {
                    model: FractureModel::Prescored(Arc::new(pattern), Placement::Turned),
                    strength: Strength::Impulse(1.0),
                    generations: 2,
                    least_share: 1e-4,
                    least_size: 0.0,
                    bonds,
                }),
            })
            .unwrap();
        (world, id)
    }

    fn hit(world: &mut World, at: Point3<f64>, size: f64, report: &mut Report) {
        let normal = Vector3::new(0.6, 0.8, 0.0);
        let impulse = normal * size;
        let blow = Blow {
            a: 0,
            b: 0,
            at: [at; 2],
            time: 0.0,
            rotations: Default::default(),
            normal,
            impulse,
            approach: size,
            mass: 1.0,
            struck: None,
        };
        let cause = Trigger::Collision(0);
        let hits = world.hardest_hits(&[blow], &world.laws(cause, false, report));
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
            if !report.held.is_empty() {
                prop_assert!(bonds.is_some() && world.len() == 1);
                return Ok(());
            }
            prop_assert_eq!(report.fractures.len(), 1);
            prop_assert!(world.get(id).is_none() && world.len() == report.fractures[0].fragments.len());
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
        // the pieces bear twice as much
        hit(&mut world, origin, 1.5, &mut report);
        assert_eq!(world.len(), pieces);
        hit(&mut world, origin, 2.5, &mut report);
        assert!(world.len() > pieces);
        let last = world.iter().next_back().unwrap();
        assert_eq!(last.breakage.unwrap().generations, 0);
        assert!((world.mass() - mass).abs() <= 1e-12 * mass);
    }
}
