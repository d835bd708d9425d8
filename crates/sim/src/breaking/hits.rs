//! The impacts that break bodies, and the simultaneous loads on these bodies.

use contact::Collision;
use dynamics::Momentum;
use nalgebra::{Point3, Vector3};

use crate::FractureModel;
use crate::breaking::strength::Resistance;
use crate::script::event::Push;
use crate::{BodyId, World};

/// The hardest impact on a body.
pub(crate) struct Hit {
    pub(crate) body: BodyId,
    /// Impact point in body coordinates, m.
    pub(crate) at: Point3<f64>,
    /// Direction of the impact, in world axes.
    pub(crate) normal: Vector3<f64>,
    pub(crate) impulse: Vector3<f64>,
    /// The strength of the body at the point, N s.
    pub(crate) strength: f64,
    /// Duration of the impact, s, if the model of the body needs it.
    pub(crate) duration: Option<f64>,
    /// Other impulses on the body during the impact, if the model of the body needs them.
    pub(crate) reactions: Vec<Push>,
    /// Kinetic energy dissipated by the impact, J: the limit for a dent.
    pub(crate) energy: f64,
}

/// The energy of an impact available for a dent, J.
#[derive(Clone, Copy)]
pub(crate) struct DentEnergy {
    /// For plastic work and kinetic energy.
    pub(crate) total: f64,
    /// For kinetic energy: the part dissipated until one of the bodies dents.
    pub(crate) kinetic: f64,
}

impl Hit {
    /// Bodies exchange at most the breaking impulse of the weaker one. The energy loss is concave
    /// in the impulse, so that a share of the impulse dissipates at least that share of the energy.
    pub(crate) fn dent_energy(&self) -> DentEnergy {
        let size = self.impulse.norm();
        let share = if size > self.strength { self.strength / size } else { 1.0 };
        DentEnergy { total: self.energy, kinetic: self.energy * share }
    }
}

/// Limits the kinetic energy that dents may add: its sum is at most `dissipated`, the energy that
/// the collisions dissipated, J.
fn limit_energy(hits: &mut [Hit], dissipated: f64) {
    let all: f64 = hits.iter().map(|hit| hit.dent_energy().kinetic).sum();
    if all > dissipated {
        let share = (dissipated / all).max(0.0);
        hits.iter_mut().for_each(|hit| hit.energy *= share);
    }
}

/// Kinetic energy that an impact dissipates without friction, J.
fn energy_of(collision: &Collision) -> f64 {
    let along = collision.impulse.dot(&collision.normal);
    let restitution = (along / (collision.mass * collision.approach) - 1.0).clamp(0.0, 1.0);
    let energy = 0.5 * along * collision.approach * (1.0 - restitution);
    if energy > 0.0 { energy } else { 0.0 }
}

/// Duration of an impact without a known contact, such as an explosion, s.
pub(crate) const UNKNOWN_DURATION: f64 = 1e-3;

/// The contacts and joints that act on bodies during impacts.
#[derive(Clone, Copy)]
pub(crate) struct ImpactContext<'a> {
    pub(crate) frame: contact::Frame<'a>,
    pub(crate) search: &'a contact::Search,
    /// Momenta before the impacts.
    pub(crate) momenta: &'a [Momentum],
    /// Kinetic energy dissipated by the impulses that were exchanged, J.
    pub(crate) dissipated: f64,
}

/// The bodies of an impact, by index, and the impulse on each.
fn sides(collision: &Collision) -> [(usize, Push); 2] {
    let [p, q] = collision.at.map(|point| point.into());
    let [j, k] = [collision.impulse, -collision.impulse].map(|impulse| impulse.into());
    let push = |point, impulse| Push { point, impulse };
    [(collision.a as usize, push(p, j)), (collision.b as usize, push(q, k))]
}

/// The index of the largest impulse in the sum of simultaneous impulses with index `sum`; `None` if
/// the collision is not a sum, or its summands are unknown.
fn hardest_summand(collisions: &[Collision], sum: usize) -> Option<usize> {
    let struck = collisions[sum].struck?;
    let others = (0..collisions.len()).filter(|&n| n != sum);
    let size = |n: usize| collisions[n].impulse.norm_squared();
    let larger = |n: usize, m: usize| if size(m) > size(n) { m } else { n };
    others.filter(|&n| collisions[n].struck == Some(struck)).reduce(larger)
}

impl World {
    /// The bodies hit beyond their strength: only the weaker one of each impact, since the other
    /// body then collides with its pieces. `resistances` are those of the pass that found `collisions`.
    pub(crate) fn hardest_hits(
        &self,
        collisions: &[Collision],
        resistances: &[Resistance],
    ) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        for collision in collisions {
            let strengths =
                [0, 1].map(|side| self.breaking_impulse_at(resistances, collision, side));
            let least = strengths[0].min(strengths[1]).min(collision.impulse.norm());
            let sides = [(collision.a, 1.0), (collision.b, -1.0)]
                .into_iter()
                .zip(collision.at)
                .zip(strengths);
            let sides: Vec<_> =
                sides.enumerate().filter(|(_, (_, strength))| *strength <= least).collect();
            let energy = energy_of(collision) / sides.len() as f64;
            for (side, (((body, sign), at), strength)) in sides {
                let asks = self.solves_stress(body as usize);
                hits.push(Hit {
                    body: self.ids[body as usize],
                    at,
                    normal: collision.normal * sign,
                    impulse: collision.impulse * sign,
                    strength,
                    duration: asks
                        .then(|| self.contact_time(collision, side).unwrap_or(UNKNOWN_DURATION)),
                    reactions: Vec::new(),
                    energy,
                });
            }
        }
        hits.sort_by(|p, q| {
            let size = |h: &Hit| h.impulse.norm_squared();
            p.body.cmp(&q.body).then(size(q).total_cmp(&size(p)))
        });
        hits.dedup_by_key(|h| h.body);
        hits
    }

    /// Whether the model of a body computes the stress of an impact.
    fn solves_stress(&self, i: usize) -> bool {
        let breakage = self.details[i].breakage.as_ref();
        breakage.is_some_and(|breakage| matches!(breakage.model, FractureModel::Stress(_)))
    }

    /// [`World::hardest_hits`] with the other impulses on bodies with a stress model: simultaneous
    /// impacts, and the reactions of contacts and joints to these impacts on bodies with `momenta`.
    pub(crate) fn loaded_hits(
        &self,
        collisions: &[Collision],
        resistances: &[Resistance],
        context: ImpactContext<'_>,
    ) -> Vec<Hit> {
        let mut hits = self.hardest_hits(collisions, resistances);
        limit_energy(&mut hits, context.dissipated);
        if hits.iter().all(|hit| hit.duration.is_none()) {
            return hits;
        }
        let mut acts = vec![false; collisions.len()];
        for hit in hits.iter_mut().filter(|hit| hit.duration.is_some()) {
            let body = hit.body;
            let on = |collision: &Collision| self.push_on(body, collision);
            let own = Push { point: hit.at.into(), impulse: hit.impulse.into() };
            let Some(found) = collisions.iter().position(|other| on(other) == Some(own)) else {
                continue;
            };
            let hardest = hardest_summand(collisions, found);
            if let Some(hardest) = hardest {
                self.take_impulse(hit, &collisions[hardest]);
            }
            let (first, lasts) = (hardest.unwrap_or(found), hit.duration.unwrap_or_default());
            for (n, (collision, acts)) in collisions.iter().zip(&mut acts).enumerate() {
                let is_sum = hardest.is_some() && n == found;
                let Some(push) = on(collision).filter(|_| !is_sum) else { continue };
                if (collision.time - collisions[first].time).abs() <= lasts {
                    *acts = true;
                    hit.reactions.extend((n != first).then_some(push));
                }
            }
        }
        let mut struck = context.momenta.to_vec();
        for (collision, _) in collisions.iter().zip(acts).filter(|(_, acts)| *acts) {
            self.strike(collision, &mut struck);
        }
        self.add_reactions(&mut hits, ImpactContext { momenta: &struck, ..context });
        hits
    }

    /// Replaces the impulse of a hit by that of a collision.
    fn take_impulse(&self, hit: &mut Hit, collision: &Collision) {
        let side = usize::from(self.ids[collision.b as usize] == hit.body);
        let sign = [1.0, -1.0][side];
        hit.at = collision.at[side];
        (hit.normal, hit.impulse) = (collision.normal * sign, collision.impulse * sign);
        hit.duration = Some(self.contact_time(collision, side).unwrap_or(UNKNOWN_DURATION));
    }

    /// The impulse of an impact on a body.
    fn push_on(&self, body: BodyId, collision: &Collision) -> Option<Push> {
        let own = sides(collision).into_iter().find(|(i, _)| self.ids[*i] == body);
        own.map(|(_, push)| push)
    }

    /// Adds the impulse of an impact to the momenta of both bodies.
    fn strike(&self, collision: &Collision, momenta: &mut [Momentum]) {
        for ((i, push), pose) in sides(collision).into_iter().zip(collision.poses) {
            if self.acting[i].mass_properties().is_some() {
                momenta[i].apply_impulse(&push.impulse.into(), &(pose * Vector3::from(push.point)));
            }
        }
    }

    /// [`World::loaded_hits`] for impacts transmitted through other bodies, which are contact
    /// reactions.
    pub(crate) fn hits_through(
        &self,
        collisions: &[Collision],
        resistances: &[Resistance],
        context: ImpactContext<'_>,
    ) -> Vec<Hit> {
        let mut hits = self.hardest_hits(collisions, resistances);
        limit_energy(&mut hits, context.dissipated);
        self.add_reactions(&mut hits, context);
        for hit in hits.iter_mut().filter(|hit| !hit.reactions.is_empty()) {
            // reactions include the impact, or the sum of simultaneous impacts
            hit.reactions.push(Push { point: hit.at.into(), impulse: (-hit.impulse).into() });
        }
        hits
    }

    /// Adds the reactions of contacts and joints on the bodies of `hits` with a stress model.
    fn add_reactions(&self, hits: &mut [Hit], context: ImpactContext<'_>) {
        let mut chosen = vec![false; self.len()];
        for hit in hits.iter() {
            let Ok(i) = self.ids.binary_search(&hit.body) else { continue };
            chosen[i] = self.solves_stress(i) && self.details[i].anchorage.is_none();
        }
        if !chosen.contains(&true) {
            return;
        }
        for push in context.frame.reactions(context.search, context.momenta, &chosen) {
            let body = self.ids[push.body as usize];
            if let Some(hit) = hits.iter_mut().find(|hit| hit.body == body) {
                let (point, impulse) = (push.at.into(), push.impulse.into());
                hit.reactions.push(Push { point, impulse });
            }
        }
    }
}
