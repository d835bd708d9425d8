//! Breaking: from blows to pieces that move on as the body did.

use std::sync::Arc;

use contact::{Blow, Field, Shape};
use dynamics::{Body, MassProperties, Momentum, Velocity};
use fracture::{Alignment, Fragment, Pattern, shatter};
use nalgebra::{Isometry3, Matrix3, Point3, Unit, Vector3};

use crate::world::{NewBody, World};
use crate::{BodyId, Cut, Fracture, Lineage, Report, rigid};

/// How a body breaks.
#[derive(Clone, Debug)]
pub struct Breakage {
    /// The prescored space.
    pub pattern: Arc<Pattern>,
    /// The collision impulse that breaks it, N s.
    pub strength: f64,
    /// How many times it and its pieces may break in turn; 0 never.
    pub generations: u32,
    /// Pieces with fewer samples go to the neighbour they share most with.
    pub least_samples: usize,
}

impl Breakage {
    fn bears(&self) -> f64 {
        if self.generations > 0 { self.strength } else { f64::INFINITY }
    }

    /// How its pieces break: one generation less, and twice as strong.
    fn inherited(&self) -> Self {
        Self { strength: 2.0 * self.strength, generations: self.generations - 1, ..self.clone() }
    }
}

/// The hardest blow to a body, as it feels it.
struct Hit {
    body: BodyId,
    /// In body coordinates, m.
    at: Point3<f64>,
    /// Along the blow, in world axes.
    normal: Vector3<f64>,
    impulse: Vector3<f64>,
}

/// A piece before it is a body.
struct Piece {
    fragment: Fragment,
    mass: MassProperties,
    /// Its body coordinates to its parent's material coordinates.
    material: Isometry3<f64>,
    pose: Isometry3<f64>,
}

impl World {
    /// The collision impulse each body bears, N s.
    pub(crate) fn strengths(&self) -> Vec<f64> {
        let bears = |b: &Option<Breakage>| b.as_ref().map_or(f64::INFINITY, Breakage::bears);
        self.breakages.iter().map(bears).collect()
    }

    /// Replaces each body by its pieces that one of `blows` is too hard for. A body that does not
    /// come apart is unbreakable from then on.
    pub(crate) fn break_bodies(&mut self, blows: &[Blow], report: &mut Report) {
        for hit in self.hardest_hits(blows) {
            match self.break_body(&hit) {
                Some(fracture) => report.fractures.push(fracture),
                None => {
                    if let Ok(i) = self.ids.binary_search(&hit.body) {
                        self.breakages[i] = None;
                    }
                }
            }
        }
    }

    fn hardest_hits(&self, blows: &[Blow]) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        for blow in blows {
            for (body, at, sign) in [(blow.a, blow.at[0], 1.0), (blow.b, blow.at[1], -1.0)] {
                let breakage = &self.breakages[body as usize];
                if breakage.as_ref().is_none_or(|b| blow.impulse.norm() < b.bears()) {
                    continue;
                }
                let body = self.ids[body as usize];
                hits.push(Hit {
                    body,
                    at,
                    normal: blow.normal * sign,
                    impulse: blow.impulse * sign,
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

    fn break_body(&mut self, hit: &Hit) -> Option<Fracture> {
        let i = self.ids.binary_search(&hit.body).ok()?;
        let breakage = self.breakages[i].clone()?;
        let Body::Dynamic(mass) = self.bodies[i] else { return None };
        let (pose, momentum) = (self.poses[i], self.momenta[i]);
        let (shape, surface) = (Arc::clone(&self.shapes[i]), self.materials[i]);
        let Field::Grid { level_set, material } = shape.field() else { return None };
        let density = mass.mass() / level_set.moments().volume;
        let normal = Unit::try_new(material * pose.inverse_transform_vector(&hit.normal), 0.0)?;
        let alignment = Alignment::enclosing(&level_set.grid().bounds(), material * hit.at, normal);
        let points: Vec<_> = shape.points().iter().map(|p| material * p).collect();
        let fragments =
            shatter(level_set, &points, &breakage.pattern, &alignment, breakage.least_samples)
                .fragments;
        if fragments.len() < 2 {
            return None;
        }
        let world = pose * material.inverse();
        let pieces = pieces(fragments, density, &world)?;
        let velocities = velocities(&pieces, &mass, &pose, &momentum);

        let mut event = Fracture {
            parent: hit.body,
            fragments: Vec::with_capacity(pieces.len()),
            point: pose * hit.at,
            impulse: hit.impulse,
            mass_before: mass.mass(),
            mass_after: pieces.iter().map(|p| p.mass.mass()).sum(),
        };
        let whole = self.lineages[i].as_ref().map_or(Arc::clone(&shape), |l| Arc::clone(&l.whole));
        let earlier = self.lineages[i].as_ref().map_or(Vec::new(), |l| l.cuts.clone());
        self.remove(hit.body);
        for (piece, velocity) in pieces.into_iter().zip(velocities) {
            let Fragment { level_set, particles, regions, .. } = piece.fragment;
            let cut = Cut { pattern: Arc::clone(&breakage.pattern), at: alignment, regions };
            let cuts = earlier.iter().cloned().chain([cut]).collect();
            let id = self.add(NewBody {
                body: Body::Dynamic(piece.mass),
                pose: piece.pose,
                velocity,
                shape: Arc::new(Shape::grid(level_set, &particles, piece.material)),
                material: surface,
                breakage: Some(breakage.inherited()),
            });
            self.set_lineage(id, Lineage { whole: Arc::clone(&whole), cuts });
            event.fragments.push(id);
        }
        Some(event)
    }
}

fn pieces(fragments: Vec<Fragment>, density: f64, world: &Isometry3<f64>) -> Option<Vec<Piece>> {
    fragments
        .into_iter()
        .map(|fragment| {
            let (mass, material) = rigid(&fragment.moments, density).ok()?;
            Some(Piece { fragment, mass, material, pose: world * material })
        })
        .collect()
}

/// Velocities of the pieces of a body: those of its points, `v + omega x r` and `omega` (Su09
/// section 4.2), then corrected for round-off so that linear and angular momentum are the body's.
fn velocities(
    pieces: &[Piece],
    mass: &MassProperties,
    pose: &Isometry3<f64>,
    momentum: &Momentum,
) -> Vec<Velocity> {
    let body = Body::Dynamic(*mass).velocity(&pose.rotation, momentum);
    let arm = |p: &Piece| p.pose.translation.vector - pose.translation.vector;
    let mut velocities: Vec<Velocity> = pieces
        .iter()
        .map(|p| Velocity { linear: body.at(&arm(p)), angular: body.angular })
        .collect();
    let mut missing = *momentum;
    let mut total = 0.0;
    let mut inertia = Matrix3::zeros();
    for (piece, velocity) in pieces.iter().zip(&velocities) {
        let own = piece.mass.momentum(&piece.pose.rotation, velocity);
        missing.apply(&-own.linear, &arm(piece));
        missing.angular -= own.angular;
        let (m, cross) = (piece.mass.mass(), arm(piece).cross_matrix());
        total += m;
        inertia += cross.transpose() * cross * m;
        inertia += piece.mass.world_inertia(&piece.pose.rotation);
    }
    let spin = inertia.try_inverse().map_or(Vector3::zeros(), |inverse| inverse * missing.angular);
    for (piece, velocity) in pieces.iter().zip(&mut velocities) {
        velocity.linear += missing.linear / total + spin.cross(&arm(piece));
        velocity.angular += spin;
    }
    velocities
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use contact::Material;
    use fracture::Voronoi;
    use levelset::{Aabb, Grid, LevelSet, Solid};
    use proptest::prelude::*;

    /// A brick of 0.4 x 0.3 x 0.2 m that moves and spins, and what breaks it.
    fn brick(velocity: Velocity, pieces: usize, seed: u64) -> (World, BodyId) {
        let half = Vector3::new(0.2, 0.15, 0.1);
        let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
        let grid = Grid::enclosing(&bounds, 0.02, 3, Grid::MAX_NODES).unwrap();
        let solid = Solid::Box { half_extents: half };
        let level_set = LevelSet::from_fn(grid, |p| solid.distance(&p));
        let (mass, frame) = rigid(&level_set.moments(), 2000.0).unwrap();
        let points = level_set.surface_particles(0.02);
        let pattern = Pattern::voronoi(&Voronoi::new(pieces, seed)).unwrap();
        let mut world = World::new(Settings::default());
        let id = world.add(NewBody {
            body: Body::Dynamic(mass),
            pose: Isometry3::new(Vector3::new(3.0, -2.0, 1.0), Vector3::new(0.3, 1.1, -0.4))
                * frame,
            velocity,
            shape: Arc::new(Shape::grid(level_set, &points, frame)),
            material: Material::default(),
            breakage: Some(Breakage {
                pattern: Arc::new(pattern),
                strength: 1.0,
                generations: 2,
                least_samples: 8,
            }),
        });
        (world, id)
    }

    fn blow(at: Point3<f64>, size: f64) -> Blow {
        let normal = Vector3::new(0.6, 0.8, 0.0);
        Blow { a: 0, b: 0, at: [at; 2], normal, impulse: normal * size }
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
        ) {
            let (mut world, id) = brick(Velocity { linear, angular }, 60, seed);
            let before = (world.mass(), world.momentum(), world.kinetic_energy());
            let mut report = Report::default();
            world.break_bodies(&[blow(at.into(), 5.0)], &mut report);
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
        let (mut world, _) = brick(Velocity::default(), 60, 3);
        let mass = world.mass();
        let mut report = Report::default();
        let origin = Point3::origin();
        world.break_bodies(&[blow(origin, 1.5)], &mut report);
        let pieces = world.len();
        assert!(pieces > 4, "{pieces}");
        // the pieces bear twice as much
        world.break_bodies(&[blow(origin, 1.5)], &mut report);
        assert_eq!(world.len(), pieces);
        world.break_bodies(&[blow(origin, 2.5)], &mut report);
        assert!(world.len() > pieces);
        let last = world.iter().next_back().unwrap();
        assert_eq!(last.breakage.unwrap().bears(), f64::INFINITY);
        assert!((world.mass() - mass).abs() <= 1e-12 * mass);
    }
}
