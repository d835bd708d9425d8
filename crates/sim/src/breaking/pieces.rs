//! Pieces that replace a body and keep its motion.

use std::sync::Arc;

use contact::{Groups, Material};
use dynamics::{Body, MassProperties, Momentum, Velocity};
use fracture::{Piece, Pieces};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use crate::breaking::bonds::{LoadedBonds, unbroken};
use crate::breaking::divided::Part;
use crate::breaking::model::Division;
use crate::breaking::parent::Parent;
use crate::{BodyId, Breakage, Fracture, Motion, NewBody, Solid, World};

/// A piece before it becomes a body.
struct Placed {
    part: Part,
    pose: Isometry3<f64>,
}

/// Decisions about a piece before it becomes a body.
#[derive(Clone, Default)]
pub(super) struct PieceAttributes {
    /// Its own breakage.
    pub(super) breakage: Option<Breakage>,
    /// Whether it is anchored.
    pub(super) is_held: bool,
    /// Whether it is removed at the end of the frame.
    pub(super) is_dust: bool,
}

/// An impulse at a point.
#[derive(Clone, Copy)]
pub(crate) struct PointImpact {
    /// In the world, m.
    pub(crate) point: Point3<f64>,
    /// N s.
    pub(crate) impulse: Vector3<f64>,
}

/// The groups of pieces that stay together in an event, and which of them are anchored.
pub(crate) struct Clusters {
    pub(crate) broken: Pieces,
    /// Whether it consists of more than one piece.
    pub(crate) is_joined: Vec<bool>,
    pub(crate) is_held: Vec<bool>,
}

impl World {
    /// The pieces of a body, if there are at least two.
    pub(crate) fn divided(&self, parent: &Parent, division: &Division) -> Option<Pieces> {
        let Division { pattern, at, .. } = division;
        let broken = parent.solid.geometry.divide(pattern, at, self.min_volume(parent));
        (broken.pieces.len() > 1).then_some(broken)
    }

    /// Joins the pieces whose bonds withstand an impact, and finds the anchored ones.
    pub(crate) fn clusters(
        &self,
        parent: &Parent,
        broken: Pieces,
        bonds: Option<LoadedBonds<'_>>,
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
                let (mass, center) = (density * moments.volume, moments.center());
                let level_set = piece.geometry.level_set();
                self.anchors_support(level_set, &held, &world, mass, &center, strength)
            })
        };
        let count = broken.pieces.len();
        let Some(bonds) = bonds else {
            let is_held = broken.pieces.iter().map(is_held).collect();
            return Clusters { broken, is_joined: vec![false; count], is_held };
        };
        let touches = |piece: &Piece| held(piece).is_some_and(|(held, _)| held.any);
        let fixed: Vec<bool> = broken.pieces.iter().map(touches).collect();
        let groups = unbroken(&broken, &fixed, &bonds);
        let clusters = groups.iter().max().map_or(0, |most| most + 1);
        let size = |cluster: usize| groups.iter().filter(|&&group| group == cluster).count();
        let is_joined = (0..clusters).map(|cluster| size(cluster) > 1).collect();
        let broken = broken.joined(geometry, &groups);
        let is_held = broken.pieces.iter().map(is_held).collect();
        Clusters { broken, is_joined, is_held }
    }

    /// Replaces a body by its pieces; without effect if one of them has no mass.
    pub(crate) fn replace(
        &mut self,
        parent: &Parent,
        Clusters { broken, is_joined, is_held }: Clusters,
        division: &Division,
        impact: PointImpact,
    ) -> Option<Fracture> {
        let breakages = parent.breakage.as_ref().map(|breakage| {
            let (body, density) = (&*parent.solid.geometry, parent.density());
            let models = breakage.model.of_pieces(body, density, division, &broken.pieces);
            let of = |(model, &is_joined)| {
                let same = || Breakage { model, ..breakage.inherited(is_joined) };
                breakage.next().filter(|_| !is_joined).unwrap_or_else(same)
            };
            models.into_iter().zip(&is_joined).map(of).collect::<Vec<_>>()
        });
        let is_dust = broken.pieces.iter().map(|piece| division.is_dust(piece)).collect::<Vec<_>>();
        let mut parts = parent.parts(broken, division)?;
        for (part, breakage) in parts.iter_mut().zip(breakages.iter().flatten()) {
            if parent.has_tets() {
                part.shape = Arc::new(parent.shape_of(&part.solid, &breakage.model));
            }
        }
        let mut breakages = breakages.into_iter().flatten();
        let attributes_of = |(is_dust, is_held): (bool, bool)| {
            let breakage = breakages.next().filter(|_| !is_dust);
            PieceAttributes { breakage, is_held, is_dust }
        };
        let attributes = is_dust.into_iter().zip(is_held).map(attributes_of).collect();
        self.replace_with_parts(parent, parts, attributes, impact)
    }

    /// Replaces a body by parts, each with its attributes.
    pub(super) fn replace_with_parts(
        &mut self,
        parent: &Parent,
        parts: Vec<Part>,
        attributes: Vec<PieceAttributes>,
        PointImpact { point, impulse }: PointImpact,
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
        let (material, groups) = (self.materials[i], self.groups[i]);
        let solid_material = self.details[i].solid_material;
        self.remove(parent.id);
        self.debris.new_pieces += pieces.len();
        for ((piece, velocity), own) in pieces.into_iter().zip(velocities).zip(attributes) {
            let is_dust = own.is_dust;
            let id = self.add_piece(parent, piece, velocity, material, groups, own);
            self.debris.dust.extend(is_dust.then_some(id));
            self.set_solid_material(id, solid_material);
            event.fragments.push(id);
        }
        event.after = self.motion(&event.fragments);
        Some(event)
    }

    fn add_piece(
        &mut self,
        parent: &Parent,
        piece: Placed,
        velocity: Velocity,
        material: Material,
        groups: Groups,
        PieceAttributes { breakage, is_held, .. }: PieceAttributes,
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
        self.start_piece_flight(last, parent, mass.mass());
        self.details[last].lineage = Some(lineage);
        let anchorage = parent.anchorage.as_ref().filter(|_| is_held);
        self.details[last].anchorage = anchorage.map(|anchorage| anchorage.of_piece(mass));
        id
    }
}

/// The parts of a body at its pose.
fn placed(parts: Vec<Part>, parent: &Parent) -> Vec<Placed> {
    let world = parent.pose * parent.solid.material.inverse();
    parts.into_iter().map(|part| Placed { pose: world * part.solid.material, part }).collect()
}

/// Memory of each piece, in samples.
pub(crate) fn sizes(broken: &Pieces) -> impl ExactSizeIterator<Item = usize> {
    broken.pieces.iter().map(|piece| piece.geometry.memory())
}

/// Velocities of the pieces of a body: those of its points, `v + omega x r` and `omega` (Su09
/// section 4.2), with a correction of round-off that conserves linear and angular momentum.
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
        missing.apply_impulse(&-own.linear, &arm(piece));
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
