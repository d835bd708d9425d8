//! What divides a body that is hit: prescored space, or the cracks that the blow itself makes.

use std::sync::Arc;

use fracture::{
    Alignment, Breaking, Geometry, Neighbors, Noise, Pattern, Piece, Shards, Stencil, Weakness,
};
use levelset::{Aabb, LevelSet, Stuffing, TetMesh, TriMesh};
use nalgebra::{Point3, UnitQuaternion, UnitVector3, Vector3};
use serde::Deserialize;
use tetfem::Interpolation;

use crate::breaking::elastic::{ElasticBody, Share, Strained, Struck, Yield, dealt};
use crate::breaking::lattice::{LatticeBody, Parted};
use crate::{Bonds, Strength};

/// How a body is divided.
#[derive(Clone, Debug)]
pub enum FractureModel {
    /// By prescored space (Su09).
    Prescored(Arc<Pattern>, Placement),
    /// By prescored space that stands in the body.
    Fixed(Arc<FixedPattern>),
    /// Where links between masses break (Ku07). Equal bodies share their tetrahedra and links until they
    /// are hit.
    Lattice(Arc<LatticeBody>),
    /// Where tension is above the strength (Mu01). Equal bodies share their tetrahedra.
    Stress(Arc<ElasticBody>),
}

/// How a pattern is placed in a body that is hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Its center on the impact, its y axis along the blow, out of the body.
    #[default]
    Turned,
    /// Its center on the node of the body's grid nearest to the impact, its axes along the grid's (the
    /// fast form of Su09 section 4.2): bodies that share a shape, and are hit at one node, share pieces.
    Snapped,
    /// It stands in the body wherever that is hit: its center in the middle of the shape's box, as a blow
    /// from +z places it.
    Fixed,
}

impl Placement {
    /// Where it puts a pattern in a body that is hit at a place, m, with a normal out of the body there.
    pub fn alignment(
        self,
        body: &Geometry,
        at: Point3<f64>,
        normal: UnitVector3<f64>,
    ) -> Alignment {
        let bounds = body.bounds();
        let turned = Alignment::enclosing(&bounds, at, normal);
        match self {
            Self::Turned => turned,
            Self::Snapped => turned.snapped(body.grid()),
            Self::Fixed => FixedPattern::alignment(&bounds),
        }
    }
}

/// A pattern that stands in a body.
#[derive(Clone, Debug)]
pub struct FixedPattern {
    /// The pattern.
    pub pattern: Arc<Pattern>,
    /// Where it is, in the material space of the body.
    pub at: Alignment,
    /// What divides pieces that this one divides no further; nothing unless given.
    pub then: Option<Then>,
}

impl FixedPattern {
    /// Where a pattern stands in a body of some bounds: see [`Placement::Fixed`].
    pub fn alignment(bounds: &Aabb) -> Alignment {
        Alignment::enclosing(bounds, bounds.center(), Vector3::z_axis())
    }
}

/// What divides pieces that a fixed pattern divides no further.
#[derive(Clone, Debug)]
pub enum Then {
    /// A pattern that is centered where a piece is hit.
    Centered(Next),
    /// A finer pattern that stands in the body too: pieces of the coarser one are clusters of its pieces.
    Level(Arc<Level>),
}

/// A level of a hierarchy of pieces: how clusters come apart.
#[derive(Clone, Debug)]
pub struct Level {
    /// What divides a cluster, where the coarser pattern stands.
    pub pattern: Arc<FixedPattern>,
    /// What a cluster bears.
    pub strength: Strength,
    /// Pieces of a smaller share of the volume of the cluster go to the neighbor they share most with.
    pub least_share: f64,
    /// What holds the pieces of a cluster together; nothing unless given.
    pub bonds: Option<Bonds>,
}

/// A pattern that is centered where a piece is hit.
#[derive(Clone, Debug)]
pub struct Next {
    /// The pattern, centered where a piece is hit.
    pub pattern: Arc<Pattern>,
    /// How it is placed, turned or snapped.
    pub placement: Placement,
    /// Pieces of a smaller share of the volume that breaks go to the neighbor they share most with.
    pub least_share: f64,
}

/// Parameters of fracture by a lattice.
#[derive(Clone, Debug)]
pub struct LatticeModel {
    /// Edge length of the tetrahedra of a body that brings none, and radius around a blow in which
    /// tetrahedra bear it, m.
    pub spacing: f64,
    /// Which of them are linked.
    pub neighbors: Neighbors,
    /// Stress that links bear, Pa.
    pub strength: f64,
    /// How long a blow lasts, s.
    pub duration: f64,
    /// How links break.
    pub breaking: Breaking,
    /// What becomes of single tetrahedra that nothing holds. Dust is gone at the end of the frame.
    pub shards: Shards,
    /// In how many rounds the surfaces between pieces are smoothed; see [`fracture::smoothed_crack`].
    pub smoothing: usize,
    /// What makes some links weaker than others, in the material space of the body.
    pub noise: Option<Noise>,
    /// Places where links are weak, in the material space of the body.
    pub weaknesses: Vec<Weakness>,
    /// A picture of strength, in the material space of the body.
    pub stencil: Option<Arc<Stencil>>,
}

/// Parameters of fracture by stress.
#[derive(Clone, Debug)]
pub struct StressModel {
    /// Edge length of the tetrahedra, m.
    pub spacing: f64,
    /// What the body is made of.
    pub material: tetfem::Material,
    /// How displacements are interpolated.
    pub interpolation: Interpolation,
    /// How it breaks.
    pub fracture: tetfem::Fracture,
    /// When a body that does not break stays deformed; never unless given.
    pub yielding: Option<tetfem::Yielding>,
    /// How long a blow lasts, s; as long as the bodies touch by Hertz unless given, see
    /// [`fracture::Impact::duration`].
    pub duration: Option<f64>,
    /// Radius around a contact beyond which a body that nothing anchors is supported in the place of its
    /// inertia, m (`r_coll` of Mu01 section 2.8); inertia relief unless given.
    pub collision_radius: Option<f64>,
}

/// A blow as the body feels it, in its material space.
#[derive(Clone, Copy)]
pub(crate) struct Impact<'a> {
    /// Where, m.
    pub(crate) at: Point3<f64>,
    /// Along the blow, out of the body.
    pub(crate) normal: UnitVector3<f64>,
    /// N s.
    pub(crate) impulse: Vector3<f64>,
    /// How long it lasts, s.
    pub(crate) duration: f64,
    /// What else acts on the body meanwhile: where, m, and N s.
    pub(crate) reactions: &'a [(Point3<f64>, Vector3<f64>)],
    /// m/s^2.
    pub(crate) gravity: Vector3<f64>,
    /// Of the body, kg/m^3.
    pub(crate) density: f64,
    /// Whether anchors hold the body at a place.
    pub(crate) held: &'a dyn Fn(&Point3<f64>) -> bool,
}

/// What divides a body, and where that is in its material space.
pub(crate) struct Division {
    pub(crate) pattern: Arc<Pattern>,
    pub(crate) at: Alignment,
    /// The tetrahedra in each region, where there are any.
    pub(crate) tets: Vec<Share>,
    /// The lattice whose links broke, if that is what divides it.
    pub(crate) lattice: Option<Parted>,
}

/// What a model does about a blow.
pub(crate) enum Effect {
    /// The body bears it.
    None,
    /// It is divided.
    Divides(Division),
    /// It goes on with another model.
    Changes(FractureModel),
    /// It takes another shape.
    Dents(Arc<ElasticBody>, Yield),
}

impl FractureModel {
    /// What it does about a blow, and the stress that finite elements find.
    pub(crate) fn effect(
        &self,
        body: &Geometry,
        impact: &Impact<'_>,
    ) -> (Effect, Option<Strained>) {
        match self {
            Self::Prescored(pattern, placement) => {
                let at = placement.alignment(body, impact.at, impact.normal);
                (Effect::Divides(Division::new(Arc::clone(pattern), at)), None)
            }
            Self::Fixed(fixed) => {
                (Effect::Divides(Division::new(Arc::clone(&fixed.pattern), fixed.at)), None)
            }
            Self::Lattice(latticed) => (latticed.struck(body.level_set(), impact), None),
            Self::Stress(elastic) => {
                let body = body.level_set();
                let (struck, stress) = elastic.struck(body, impact);
                let effect = match struck {
                    Struck::Held => Effect::None,
                    Struck::Parted(tets) => {
                        let surfaces: Vec<_> =
                            tets.iter().map(|part| part.mesh.boundary()).collect();
                        let divides = |drawn| Effect::Divides(Division { tets, ..drawn });
                        drawn(body, &surfaces).map_or(Effect::None, divides)
                    }
                    Struck::Cracked(after) => {
                        Effect::Changes(Self::Stress(Arc::new(elastic.with(Some(after)))))
                    }
                    Struck::Yields(yields) => Effect::Dents(Arc::clone(elastic), yields),
                };
                (effect, stress)
            }
        }
    }

    /// How each piece of a divided body, of some density in kg/m^3, is divided in turn.
    pub(crate) fn of_pieces(
        &self,
        (body, density): (&Geometry, f64),
        division: &Division,
        pieces: &[Piece],
    ) -> Vec<Self> {
        match self {
            Self::Stress(elastic) => {
                let meshes = dealt(&division.tets, pieces).into_iter();
                meshes.map(|mesh| Self::Stress(Arc::new(elastic.with(mesh)))).collect()
            }
            Self::Lattice(latticed) => {
                let own = || latticed.parted(body.level_set(), density);
                let parted = division.lattice.clone().or_else(own);
                let parts = latticed.of_pieces(parted.as_ref(), pieces);
                parts.into_iter().map(|part| Self::Lattice(Arc::new(part))).collect()
            }
            Self::Prescored(..) | Self::Fixed(_) => vec![self.clone(); pieces.len()],
        }
    }
}

impl Division {
    /// By a pattern that knows of no tetrahedra.
    pub(crate) fn new(pattern: Arc<Pattern>, at: Alignment) -> Self {
        Self { pattern, at, tets: Vec::new(), lattice: None }
    }

    /// Whether a piece is gone at the end of the frame.
    pub(crate) fn is_dust(&self, piece: &Piece) -> bool {
        self.lattice.as_ref().is_some_and(|parted| parted.is_dust(piece))
    }

    /// What the body goes on with if it stays whole all the same.
    pub(crate) fn weakened(&self) -> Option<FractureModel> {
        let parted = self.lattice.as_ref()?;
        Some(FractureModel::Lattice(Arc::clone(&parted.whole)))
    }
}

/// Most tetrahedra that fill a body.
const MAX_TETS: usize = 1 << 20;

/// The largest connected part of a solid as tetrahedra of one size.
pub(crate) fn stuffed(body: &LevelSet, spacing: f64) -> Option<TetMesh> {
    let stuffing = Stuffing { spacing, doublings: 0, halvings: 0, limit: MAX_TETS };
    largest(&TetMesh::stuffed(body, &stuffing).ok()?)
}

/// Edges of tetrahedra within which what they lack of a solid is rounding of its surface.
pub(crate) const MAX_LOST: f64 = 2.0;

/// As [`stuffed`], with cells halved where the solid is thin if it lacks parts otherwise that are farther than
/// [`MAX_LOST`] cells from its surface.
pub(crate) fn stuffed_with_thin_parts(body: &LevelSet, spacing: f64) -> Option<TetMesh> {
    const HALVINGS: u8 = 3;
    let even = stuffed(body, spacing);
    let keeps = |mesh: &TetMesh| mesh.deviation(body).from_level_set <= MAX_LOST * spacing;
    if even.as_ref().is_some_and(keeps) {
        return even;
    }
    let stuffing = Stuffing { spacing, doublings: 0, halvings: HALVINGS, limit: MAX_TETS };
    largest(&TetMesh::stuffed(body, &stuffing).ok()?).or(even)
}

fn largest(mesh: &TetMesh) -> Option<TetMesh> {
    let parts = tetfem::pieces(mesh);
    parts.into_iter().map(|(part, _)| part).max_by_key(|part| part.tets.len())
}

/// The pieces as regions of space, where they are.
pub(crate) fn drawn(body: &LevelSet, pieces: &[TriMesh]) -> Option<Division> {
    if pieces.len() < 2 {
        return None;
    }
    let pattern = Pattern::from_parts(pieces, body.grid().spacing()).ok()?;
    let at = Alignment { at: Point3::origin(), rotation: UnitQuaternion::identity(), scale: 1.0 };
    Some(Division::new(Arc::new(pattern), at))
}
