//! What divides a body that is hit: prescored space, or the cracks that the blow itself makes.

use std::sync::Arc;

use fracture::{Alignment, Breaking, Lattice, Neighbours, Noise, Pattern, Shards, Weakness};
use levelset::{LevelSet, Stuffing, TetMesh, TriMesh};
use nalgebra::{Point3, UnitQuaternion, UnitVector3, Vector3};
use tetfem::{Contact, FreeBody, Interpolation, LinearSolver};

/// How a body is divided.
#[derive(Clone, Debug)]
pub enum FractureModel {
    /// By prescored space, centred on the impact (Su09).
    Prescored(Arc<Pattern>),
    /// Where links between masses break (Ku07).
    Lattice(Arc<LatticeModel>),
    /// Where tension is above the strength (Mu01).
    Stress(Arc<StressModel>),
}

/// Parameters of fracture by a lattice.
#[derive(Clone, Debug)]
pub struct LatticeModel {
    /// Edge length of the tetrahedra, m.
    pub spacing: f64,
    /// Which of them are linked.
    pub neighbours: Neighbours,
    /// Stress that links bear, Pa.
    pub strength: f64,
    /// How long a blow lasts, s.
    pub duration: f64,
    /// How links break.
    pub breaking: Breaking,
    /// What makes some links weaker than others, in the material space of the body.
    pub noise: Option<Noise>,
    /// Places where links are weak, in the material space of the body.
    pub weaknesses: Vec<Weakness>,
}

/// Parameters of fracture by stress.
#[derive(Clone, Debug)]
pub struct StressModel {
    /// Edge length of the tetrahedra, m.
    pub spacing: f64,
    /// What the body is made of.
    pub material: tetfem::Material,
    /// How it breaks.
    pub fracture: tetfem::Fracture,
    /// How long a blow lasts, s.
    pub duration: f64,
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
    /// Of the body, kg/m^3.
    pub(crate) density: f64,
    /// Whether anchors hold the body at a place.
    pub(crate) held: &'a dyn Fn(&Point3<f64>) -> bool,
}

impl FractureModel {
    /// What to cut a body by, and where to put it; `None` if the blow leaves the body whole.
    pub(crate) fn pattern(
        &self,
        body: &LevelSet,
        impact: &Impact<'_>,
    ) -> Option<(Arc<Pattern>, Alignment)> {
        match self {
            Self::Prescored(pattern) => {
                let bounds = body.grid().bounds();
                let at = Alignment::enclosing(&bounds, impact.at, impact.normal);
                Some((Arc::clone(pattern), at))
            }
            Self::Lattice(model) => drawn(body, &model.pieces(body, impact)?),
            Self::Stress(model) => drawn(body, &model.pieces(body, impact)?),
        }
    }
}

impl LatticeModel {
    fn pieces(&self, body: &LevelSet, impact: &Impact<'_>) -> Option<Vec<TriMesh>> {
        let mesh = stuffed(body, self.spacing)?;
        let strength = |_: &Point3<f64>| self.strength;
        let mut lattice =
            Lattice::new(&mesh, self.neighbours, |_| impact.density, strength).ok()?;
        lattice.fix(impact.held);
        self.weaknesses.iter().for_each(|weakness| lattice.weaken(weakness));
        if let Some(noise) = &self.noise {
            lattice.vary(noise);
        }
        let loads = lattice.load(&impact.at, self.spacing, &impact.impulse, self.duration);
        lattice.strike(&loads, &self.breaking);
        let pieces = lattice.pieces(Shards::Merge);
        let count = pieces.masses.len() as u32;
        Some((0..count).map(|piece| pieces.mesh(&mesh, piece).boundary()).collect())
    }
}

impl StressModel {
    fn pieces(&self, body: &LevelSet, impact: &Impact<'_>) -> Option<Vec<TriMesh>> {
        let mesh = stuffed(body, self.spacing)?;
        let (linear, direct) = (Interpolation::Linear, LinearSolver::Cholesky);
        let body = FreeBody::new(mesh, self.material, linear, direct).ok()?;
        let contact = Contact::from_impulse(impact.at, impact.impulse, self.duration);
        let shattered = tetfem::shatter(&body, &[contact], &self.fracture);
        Some(shattered.pieces.iter().map(|piece| piece.mesh.boundary()).collect())
    }
}

/// The largest connected part of a solid as tetrahedra.
fn stuffed(body: &LevelSet, spacing: f64) -> Option<TetMesh> {
    const MOST: usize = 1 << 20;
    let stuffing = Stuffing { spacing, doublings: 0, limit: MOST };
    let mesh = TetMesh::stuffed(body, &stuffing).ok()?;
    let parts = tetfem::pieces(&mesh);
    parts.into_iter().map(|(part, _)| part).max_by_key(|part| part.tets.len())
}

/// The pieces as regions of space, where they are.
fn drawn(body: &LevelSet, pieces: &[TriMesh]) -> Option<(Arc<Pattern>, Alignment)> {
    if pieces.len() < 2 {
        return None;
    }
    let pattern = Pattern::from_parts(pieces, body.grid().spacing()).ok()?;
    let rotation = UnitQuaternion::identity();
    Some((Arc::new(pattern), Alignment { at: Point3::origin(), rotation, scale: 1.0 }))
}
