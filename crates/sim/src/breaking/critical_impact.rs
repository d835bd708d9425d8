//! The drop height or impact speed that breaks a body, found without a simulation.

use fracture::{Impact, Material};
use nalgebra::{Point3, UnitVector3, Vector3};

use crate::breaking::strength::Strength;
use crate::{BodyId, World};

/// The drop height or impact speed that breaks a body, found without a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CriticalImpact {
    /// Drop height onto flat stone in the current orientation, m.
    Fall(f64),
    /// Speed of a stone ball of 1 kg that hits the middle of an anchored body, m/s.
    Stone(f64),
}

/// Radius of a stone ball of 1 kg, m.
const STONE_RADIUS: f64 = 0.0446;
/// Coefficient of restitution of stone on a hard surface.
const STONE_RESTITUTION: f64 = 0.2;

impl World {
    /// The drop, or the impact if it is anchored, that breaks a body by [`Strength`] and shape;
    /// `None` if none does.
    pub fn critical_impact(&self, id: BodyId) -> Option<CriticalImpact> {
        let i = self.ids.binary_search(&id).ok()?;
        let strength = self.details[i].breakage.as_ref().filter(|b| b.generations > 0)?.strength;
        let down = UnitVector3::try_new(self.settings.gravity, 0.0);
        let (at, inward, mass) = match down.filter(|_| self.details[i].anchorage.is_none()) {
            Some(down) => {
                let (at, arm) = self.lowest(i, &down)?;
                let mover = self.bodies[i].mass_properties()?;
                let turn = arm.cross(&down);
                let spin = mover.angular_velocity(&self.poses[i].rotation, &turn);
                (at, -down, 1.0 / (1.0 / mover.mass() + turn.dot(&spin)))
            }
            None => {
                let (at, inward) = self.nearest_surface_point(i)?;
                (at, inward, 1.0)
            }
        };
        let falls = down.is_some() && self.details[i].anchorage.is_none();
        let curvature = if falls { 0.0 } else { 1.0 / STONE_RADIUS };
        let speed = match strength {
            Strength::Impulse(impulse) => {
                let restitution = self.materials[i].restitution.min(STONE_RESTITUTION);
                impulse / ((1.0 + restitution) * mass)
            }
            Strength::Material => self.speed_of_stone(i, (&at, &inward), (mass, curvature))?,
        };
        let height = 0.5 * speed * speed / self.settings.gravity.norm();
        let breaker =
            if falls { CriticalImpact::Fall(height) } else { CriticalImpact::Stone(speed) };
        speed.is_finite().then_some(breaker)
    }

    /// The lowest point of a body, in body coordinates, and the vector from its center of mass to
    /// the middle of all its lowest points, in world axes. Of several lowest points it is the one
    /// farthest from their middle: a body that lands flat is hit there.
    fn lowest(&self, i: usize, down: &UnitVector3<f64>) -> Option<(Point3<f64>, Vector3<f64>)> {
        let (shape, turn) = (&self.shapes[i], self.poses[i].rotation);
        let down_in_body = turn.inverse_transform_vector(down);
        let low = |p: &&Point3<f64>| p.coords.dot(&down_in_body);
        let points = self.surface_points(i);
        let lowest = points.iter().map(|p| low(&p)).fold(f64::NEG_INFINITY, f64::max);
        let least = lowest - 1e-3 * shape.radius();
        let all = || points.iter().filter(|p| low(p) >= least);
        let sum: Vector3<f64> = all().map(|p| p.coords).sum();
        let middle = sum / all().count().max(1) as f64;
        let far = |p: &&Point3<f64>| (p.coords - middle).norm_squared();
        let at = all().max_by(|p, q| far(p).total_cmp(&far(q)))?;
        Some((*at, turn * middle))
    }

    /// The point of a body's surface nearest to its center of mass, in body coordinates, and the
    /// direction into the body there, in world axes.
    fn nearest_surface_point(&self, i: usize) -> Option<(Point3<f64>, UnitVector3<f64>)> {
        let shape = &self.shapes[i];
        let far = |p: &&Point3<f64>| p.coords.norm_squared();
        let points = self.surface_points(i);
        let at = points.iter().min_by(|p, q| far(p).total_cmp(&far(q)))?;
        let inward = self.poses[i].rotation * -shape.field().normal(at);
        Some((*at, UnitVector3::try_new(inward, 0.0)?))
    }

    /// The blast impulse on a body that breaks it, N s, as if stone struck it at a point, in body
    /// coordinates, along a direction in world axes and stopped all of its mass; `None` if no
    /// impulse breaks it.
    pub(crate) fn breaking_blast_impulse(
        &self,
        i: usize,
        (at, inward): (&Point3<f64>, &UnitVector3<f64>),
    ) -> Option<f64> {
        let breakage =
            self.details[i].breakage.as_ref().filter(|breakage| breakage.generations > 0)?;
        if let Strength::Impulse(impulse) = breakage.strength {
            return Some(impulse);
        }
        let mass = self.mass_of(i)?.mass();
        Some(mass * self.speed_of_stone(i, (at, inward), (mass, 0.0))?)
    }

    /// The speed at which a stone of some curvature, 1/m, breaks a body, m/s, if the effective mass
    /// of the pair is `mass`, kg.
    fn speed_of_stone(
        &self,
        i: usize,
        (at, inward): (&Point3<f64>, &UnitVector3<f64>),
        (mass, curvature): (f64, f64),
    ) -> Option<f64> {
        let inward = self.poses[i].rotation.inverse_transform_unit_vector(inward);
        let section = self.section(i, at, &inward)?;
        let own = self.curvature(i, (at, &inward), section.width);
        let impact = Impact {
            body: &self.failing_material(i),
            striker: &Material::STONE,
            section,
            curvature: (own + curvature).max(2.0 / section.width),
            mass,
        };
        Some(impact.critical_speed())
    }
}
