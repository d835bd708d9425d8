//! Explosions.
//!
//! The impulse of an explosion travels along rays from its center. The first body on a ray receives
//! it, on the cross-section of the ray at that distance. Bodies are therefore shielded by others,
//! and the pieces of a body together receive about as much as the whole body.

use std::f64::consts::PI;

use dynamics::Momentum;
use nalgebra::{Point3, Rotation3, Unit, UnitVector3, Vector3};

use crate::breaking::hits::Hit;
use crate::breaking::strength::ImpactLoad;
use crate::script::event::Trigger;
use crate::script::timeline::Explosion;
use crate::{BodyId, Filter, Report, World};

/// Rays towards the bounding sphere of each body, in pairs on both sides of the axis.
const RAYS: usize = 256;
/// The angle between successive points of a Fibonacci spiral, rad.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

impl World {
    /// Applies an explosion. Returns whether it reached a body.
    pub(super) fn explode(
        &mut self,
        explosion: &Explosion,
        cause: Trigger,
        report: &mut Report,
    ) -> bool {
        let loads = &mut report.loads;
        let hits = self.chosen_hits(cause, || {
            let around = self.around(&explosion.at);
            let loaded = (0..self.len()).filter_map(|i| self.blast_load(i, explosion, &around));
            let broken = |hit: &Hit| {
                let (body, impulse, strength) = (hit.body, hit.impulse.norm(), hit.strength);
                loads.impact(ImpactLoad { body, impulse, strength });
                impulse >= strength
            };
            loaded.filter(broken).collect()
        });
        let known = report.events.dents.len();
        self.break_bodies(&hits, cause, report);
        let plastic: f64 = report.events.dents[known..].iter().map(|dent| dent.plastic_work).sum();
        report.energy.work += plastic;
        report.energy.dissipation.plastic += plastic;
        let around = self.around(&explosion.at);
        let reached: Vec<(usize, Momentum)> = (0..self.len())
            .filter(|&i| !around.contains(&self.ids[i]))
            .filter_map(|i| Some((i, self.blast(i, explosion, &around)?)))
            .collect();
        for (i, gained) in &reached {
            // anchored bodies do not move
            if self.apply_impulse(self.ids[*i], &gained.linear, None).is_ok() {
                self.momenta[*i].angular += gained.angular;
            }
        }
        !reached.is_empty() || !hits.is_empty()
    }

    /// The bodies around a point, in ascending order: they do not shield others.
    fn around(&self, at: &Point3<f64>) -> Vec<BodyId> {
        let is_inside = |i: usize| {
            let local = self.poses[i].inverse_transform_point(at);
            self.shapes[i].field().distance(&local) <= 0.0
        };
        (0..self.len()).filter(|&i| is_inside(i)).map(|i| self.ids[i]).collect()
    }

    /// The impulse of an explosion on a body about its center of mass; `None` if the explosion does
    /// not reach the body or the body has no mass. The bodies `around` the center shield nothing.
    fn blast(&self, i: usize, explosion: &Explosion, around: &[BodyId]) -> Option<Momentum> {
        self.mass_of(i)?;
        let Explosion { at, radius, impulse } = *explosion;
        let (center, size) = (self.poses[i].translation.vector, self.shapes[i].radius());
        let away = center - at.coords;
        let distance = away.norm();
        // the cone around the bounding sphere
        let sine = size / distance;
        let cosine = if sine < 1.0 { (1.0 - sine * sine).sqrt() } else { -1.0 };
        if distance - size >= radius {
            return None;
        }
        let axis = Unit::try_new(away, 0.0).unwrap_or_else(Vector3::y_axis);
        let turn = Rotation3::rotation_between(&Vector3::z(), &axis)
            .unwrap_or_else(|| Rotation3::from_axis_angle(&Vector3::x_axis(), PI));
        let others = |id: BodyId| around.binary_search(&id).is_err();
        let filter = Filter::only(&others);
        let mut gained = Momentum::default();
        for n in 0..RAYS {
            let along = turn * spiral(n, cosine);
            let hit = self.cast_ray(&at, &along, radius, &filter);
            if let Some(hit) = hit.filter(|hit| hit.body == self.ids[i]) {
                let area = 2.0 * PI * (1.0 - cosine) / RAYS as f64 * hit.distance * hit.distance;
                let push = along.scale(impulse * (1.0 - hit.distance / radius) * area);
                gained.apply_impulse(&push, &(hit.point.coords - center));
            }
        }
        (gained != Momentum::default()).then_some(gained)
    }

    /// The load of an explosion on a body that can break, as a hit.
    fn blast_load(&self, i: usize, explosion: &Explosion, around: &[BodyId]) -> Option<Hit> {
        let impulse = if around.binary_search(&self.ids[i]).is_ok() {
            self.blast_from_inside(i, explosion)
        } else {
            self.blast(i, explosion, around)?.linear
        };
        let normal = UnitVector3::try_new(impulse, 0.0)?;
        let center = self.poses[i].inverse_transform_point(&explosion.at);
        let distance = |p: &&Point3<f64>| (**p - center).norm_squared();
        let points = self.surface_points(i);
        let nearest = points.iter().min_by(|p, q| distance(p).total_cmp(&distance(q)))?;
        let strength = self.breaking_blast_impulse(i, nearest, &normal)?;
        Some(Hit {
            body: self.ids[i],
            at: *nearest,
            normal: normal.into_inner(),
            impulse,
            strength,
            duration: None,
            reactions: Vec::new(),
            // the energy of the impulse on a body at rest
            energy: self.mass_of(i).map_or(0.0, |mass| 0.5 * impulse.norm_squared() / mass.mass()),
        })
    }

    /// The impulse of an explosion inside a body on one side of it, N s. That on the whole body is
    /// zero.
    fn blast_from_inside(&self, i: usize, explosion: &Explosion) -> Vector3<f64> {
        let away = self.poses[i].translation.vector - explosion.at.coords;
        let normal = Unit::try_new(away, 0.0).unwrap_or_else(Vector3::y_axis);
        let share = (1.0 - away.norm() / explosion.radius).max(0.0);
        normal.scale(explosion.impulse * share * self.projected_area(i, &normal))
    }
}

/// Direction `n` of [`RAYS`] that cover the cone around z with a half angle of this `cosine` evenly.
fn spiral(n: usize, cosine: f64) -> UnitVector3<f64> {
    let pair = (n / 2) as f64;
    let z = 1.0 - (1.0 - cosine) * (pair + 0.5) / (RAYS / 2) as f64;
    let (sine, cosine) = libm::sincos(pair * GOLDEN_ANGLE);
    let side = if n.is_multiple_of(2) { 1.0 } else { -1.0 };
    let across = side * (1.0 - z * z).max(0.0).sqrt();
    UnitVector3::new_normalize(Vector3::new(across * cosine, across * sine, z))
}
