//! Explosions.
//!
//! The impulse per area of an explosion acts on the part of a body that is visible from its center,
//! projected along the line to the center of mass. Bodies are therefore shielded by others, and the
//! pieces of a body together receive about as much as the whole body.

use std::f64::consts::PI;

use dynamics::Momentum;
use nalgebra::{Point3, Rotation3, Unit, UnitVector3, Vector3};

use crate::breaking::hits::Hit;
use crate::breaking::strength::ImpactLoad;
use crate::script::event::Trigger;
use crate::script::timeline::Explosion;
use crate::{BodyId, Filter, Report, World};

/// Points of the projection of each body, in pairs on both sides of its center. They give the impulse on
/// a ball within 2 %.
const POINTS: usize = 256;
/// The angle between successive points of a Fibonacci spiral, rad.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;
/// Distance of the center of an explosion from a body at which the body shields no others, as a
/// share of its size: the center may be a point of its surface.
const TOUCHING: f64 = 0.02;

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
            .filter_map(|i| Some((i, self.blast(i, explosion, &around)?.impulse)))
            .collect();
        for (i, gained) in &reached {
            let gained = if self.settings.plane { gained.planar() } else { *gained };
            // anchored bodies do not move
            if self.apply_impulse(self.ids[*i], &gained.linear, None).is_ok() {
                self.momenta[*i].angular += gained.angular;
            }
        }
        !reached.is_empty()
    }

    /// The bodies that a point touches or is inside, in ascending order: they do not shield others.
    fn around(&self, at: &Point3<f64>) -> Vec<BodyId> {
        let is_around = |i: usize| {
            let local = self.poses[i].inverse_transform_point(at);
            let size = self.shapes[i].size();
            let slack = if size.is_finite() { TOUCHING * size } else { 0.0 };
            self.shapes[i].field().distance(&local) <= slack
        };
        (0..self.len()).filter(|&i| is_around(i)).map(|i| self.ids[i]).collect()
    }

    /// The effect of an explosion on a body; `None` if it does not reach the body or the body has no
    /// mass. The bodies `around` the center shield nothing.
    fn blast(&self, i: usize, explosion: &Explosion, around: &[BodyId]) -> Option<Blast> {
        self.mass_of(i)?;
        let Explosion { at, radius, impulse } = *explosion;
        let (center, size) = (self.poses[i].translation.vector, self.shapes[i].radius());
        let away = center - at.coords;
        if away.norm() - size >= radius {
            return None;
        }
        let axis = Unit::try_new(away, 0.0).unwrap_or_else(Vector3::y_axis);
        let turn = Rotation3::rotation_between(&Vector3::z(), &axis)
            .unwrap_or_else(|| Rotation3::from_axis_angle(&Vector3::x_axis(), PI));
        let own = |id: BodyId| id == self.ids[i];
        let others = |id: BodyId| id != self.ids[i] && around.binary_search(&id).is_err();
        let [own, others] = [Filter::only(&own), Filter::only(&others)];
        let mut gained = Momentum::default();
        for n in 0..POINTS {
            let from = Point3::from(center + turn * (disc(n) * size) - axis.scale(2.0 * size));
            let Some(hit) = self.cast_ray(&from, &axis, 4.0 * size, &own) else { continue };
            let way = hit.point - at;
            let distance = way.norm();
            let direction = Unit::try_new(way, 0.0).unwrap_or(axis);
            let is_visible =
                || self.cast_ray(&at, &direction, distance * (1.0 - 1e-9), &others).is_none();
            if distance < radius && is_visible() {
                let area = PI * size * size / POINTS as f64;
                let push = axis.scale(impulse * (1.0 - distance / radius) * area);
                gained.apply_impulse(&push, &(hit.point.coords - center));
            }
        }
        if gained == Momentum::default() {
            return None;
        }
        // inside a body, the impulses on opposite sides cancel
        let middle = Point3::from(center - axis.scale(2.0 * size));
        let surface = self.cast_ray(&middle, &axis, 2.0 * size, &own);
        let reach = surface.map_or(0.0, |hit| (hit.point.coords - center).norm());
        let share = if away.norm() < reach { away.norm() / reach } else { 1.0 };
        Some(Blast { load: gained.linear, impulse: gained * share })
    }

    /// The load of an explosion inside a body on one side of it, N s; `None` outside.
    fn blast_from_inside(&self, i: usize, explosion: &Explosion) -> Option<Vector3<f64>> {
        let local = self.poses[i].inverse_transform_point(&explosion.at);
        let away = self.poses[i].translation.vector - explosion.at.coords;
        let share = 1.0 - away.norm() / explosion.radius;
        if self.shapes[i].field().distance(&local) > 0.0 || share <= 0.0 {
            return None;
        }
        let normal = Unit::try_new(away, 0.0).unwrap_or_else(Vector3::y_axis);
        Some(normal.scale(explosion.impulse * share * self.projected_area(i, &normal)))
    }

    /// The load of an explosion on a body that can break, as a hit.
    fn blast_load(&self, i: usize, explosion: &Explosion, around: &[BodyId]) -> Option<Hit> {
        self.details[i].breakage.as_ref().filter(|breakage| breakage.generations > 0)?;
        let own = self.blast(i, explosion, around).map(|blast| blast.load);
        let inside = self.blast_from_inside(i, explosion);
        let impulse = own.into_iter().chain(inside).max_by(|p, q| p.norm().total_cmp(&q.norm()))?;
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
}

/// The effect of an explosion on a body.
struct Blast {
    /// The impulse on the side towards the explosion, N s, which may break the body.
    load: Vector3<f64>,
    /// The impulse on the whole body, about its center of mass.
    impulse: Momentum,
}

/// Point `n` of [`POINTS`] that cover the unit disc across z evenly.
fn disc(n: usize) -> Vector3<f64> {
    let pair = (n / 2) as f64;
    let (sine, cosine) = libm::sincos(pair * GOLDEN_ANGLE);
    let side = if n.is_multiple_of(2) { 1.0 } else { -1.0 };
    let out = side * ((pair + 0.5) / (POINTS / 2) as f64).sqrt();
    Vector3::new(out * cosine, out * sine, 0.0)
}
