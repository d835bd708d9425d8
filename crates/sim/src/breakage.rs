//! Breaking: from blows to pieces that move on as the body did.

use std::sync::Arc;

use contact::{Blow, Field, Shape};
use dynamics::{Body, MassProperties, Momentum, Velocity};
use fracture::{Alignment, Fragment, Pattern, shatter};
use nalgebra::{Isometry3, Matrix3, Point3, Unit, Vector3};

use crate::world::{NewBody, World};
use crate::{BodyId, Fracture, Report, rigid};

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
        self.remove(hit.body);
        for (piece, velocity) in pieces.into_iter().zip(velocities) {
            let Fragment { level_set, particles, .. } = piece.fragment;
            event.fragments.push(self.add(NewBody {
                body: Body::Dynamic(piece.mass),
                pose: piece.pose,
                velocity,
                shape: Arc::new(Shape::grid(level_set, &particles, piece.material)),
                material: surface,
                breakage: Some(breakage.inherited()),
            }));
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
