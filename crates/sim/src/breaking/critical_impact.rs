//! The drop height or impact speed that breaks a body, found without a simulation.

use contact::{effective_mass, pair_impulse};
use fracture::{Impact, Material};
use nalgebra::{Matrix3, Point3, UnitVector3, Vector3};

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

/// A stone that strikes a body.
struct Stone {
    /// In body coordinates, m.
    at: Point3<f64>,
    /// Direction into the body, in world axes.
    inward: UnitVector3<f64>,
    /// Effective mass of the pair, kg.
    mass: f64,
    /// Curvature of the stone, 1/m.
    curvature: f64,
}

/// Radius of a stone ball of 1 kg, m.
const STONE_RADIUS: f64 = 0.0446;
/// Iterations of the direction of slip.
const MAX_DIRECTION_STEPS: usize = 32;
/// Relative change of the impulse at which the iteration stops.
const CONVERGED: f64 = 1e-6;
/// Coefficient of restitution of stone on a hard surface.
const STONE_RESTITUTION: f64 = 0.2;

impl World {
    /// The drop, or the impact if it is anchored, that breaks a body by [`Strength`] and shape;
    /// `None` if none does.
    pub fn critical_impact(&self, id: BodyId) -> Option<CriticalImpact> {
        let i = self.ids.binary_search(&id).ok()?;
        let strength = self.details[i].breakage.as_ref().filter(|b| b.generations > 0)?.strength;
        let down = UnitVector3::try_new(self.settings.gravity, 0.0);
        let falls = down.is_some() && self.details[i].anchorage.is_none();
        let (at, inward, delassus) = match down.filter(|_| falls) {
            Some(down) => {
                let (at, arm) = self.lowest(i, &down)?;
                let mass = self.bodies[i].mass_properties()?;
                let inverse_inertia = mass.inverse_inertia(&self.poses[i].rotation);
                (at, -down, effective_mass(1.0 / mass.mass(), &inverse_inertia, &arm))
            }
            None => {
                let (at, inward) = self.nearest_surface_point(i)?;
                (at, inward, Matrix3::identity())
            }
        };
        let curvature = if falls { 0.0 } else { 1.0 / STONE_RADIUS };
        let own = &self.materials[i];
        let restitution = own.restitution.min(STONE_RESTITUTION);
        let friction = own.friction_with(own, self.settings.contact.friction);
        let at_unit_speed = landing_impulse(&inward, &delassus, restitution, friction);
        let speed = match strength {
            Strength::Impulse(impulse) => impulse / at_unit_speed.norm(),
            Strength::Material => {
                // friction adds to the normal impulse of a tilted body
                let mass = inward.dot(&at_unit_speed) / (1.0 + restitution);
                self.speed_of_stone(i, Stone { at, inward, mass, curvature })?
            }
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
        at: &Point3<f64>,
        inward: &UnitVector3<f64>,
    ) -> Option<f64> {
        let breakage =
            self.details[i].breakage.as_ref().filter(|breakage| breakage.generations > 0)?;
        if let Strength::Impulse(impulse) = breakage.strength {
            return Some(impulse);
        }
        let mass = self.mass_of(i)?.mass();
        let stone = Stone { at: *at, inward: *inward, mass, curvature: 0.0 };
        Some(mass * self.speed_of_stone(i, stone)?)
    }

    /// The speed at which a stone breaks a body, m/s.
    fn speed_of_stone(
        &self,
        i: usize,
        Stone { at, inward, mass, curvature }: Stone,
    ) -> Option<f64> {
        let inward = self.poses[i].rotation.inverse_transform_unit_vector(&inward);
        let section = self.section(i, &at, &inward)?;
        let own = self.curvature(i, &at, &inward, section.width);
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

/// The impulse that stops the approach of a body at 1 m/s against the normal of a floor, with
/// Coulomb friction against the slip that the impulse itself causes, N s.
fn landing_impulse(
    normal: &UnitVector3<f64>,
    delassus: &Matrix3<f64>,
    restitution: f64,
    friction: f64,
) -> Vector3<f64> {
    let before = -normal.into_inner();
    let mut impulse = pair_impulse(normal, delassus, &before, restitution, friction);
    let across = impulse - **normal * normal.dot(&impulse);
    let is_sticking = across.norm() > 1e-9 * impulse.norm();
    for _ in 0..if is_sticking { 0 } else { MAX_DIRECTION_STEPS } {
        let after = before + delassus * impulse;
        let slip = after - **normal * normal.dot(&after);
        let Some(tangent) = slip.try_normalize(1e-12) else { break };
        let direction = **normal - tangent * friction;
        let denominator = normal.dot(&(delassus * direction));
        // past this point friction would jam the contact
        if denominator <= 0.0 {
            break;
        }
        let next = direction * ((1.0 + restitution) / denominator);
        let change = (next - impulse).norm();
        impulse = next;
        // a second solution with the opposite slip attracts the iteration later
        if change <= CONVERGED * impulse.norm() {
            break;
        }
    }
    impulse
}
