//! Bodies of tetrahedra: stress, cracks and plastic strain under an impact (Mu01).

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fracture::Piece;
use levelset::{LevelSet, TetMesh};
use nalgebra::{Point3, Vector3};
use tetfem::{
    BoundaryConditions, Contact, Interpolation, LinearSolver, Load, Newton, PlasticFlow,
    PlasticState, Response, Structure, far_vertices, is_restrained,
};

use crate::StressField;
use crate::breaking::filling::{lost, stuffed_with_thin_parts};
use crate::breaking::impact::Impact;

/// Parameters of fracture by stress.
#[derive(Clone, Debug)]
pub struct StressModel {
    /// Edge length of the tetrahedra, m.
    pub spacing: f64,
    /// The material of the body.
    pub material: tetfem::Material,
    /// Interpolation of displacements.
    pub interpolation: Interpolation,
    /// Fracture parameters.
    pub fracture: tetfem::Fracture,
    /// Yield parameters of a body that does not break; `None` for no yielding.
    pub yielding: Option<tetfem::Yielding>,
    /// Duration of an impact, s; `None` for the contact time by Hertz, see
    /// [`fracture::Impact::duration`].
    pub duration: Option<f64>,
    /// Radius around a contact beyond which a free body is fixed, m (`r_coll` of Mu01 section 2.8).
    /// If `None`, its inertia balances the impact (inertia relief).
    pub collision_radius: Option<f64>,
}

/// A body's tetrahedra in its material space, with the factor of its stiffness, which is computed
/// at the first impact and reused until its supports change.
#[derive(Debug)]
pub struct ElasticBody {
    model: Arc<StressModel>,
    given: Option<TetMesh>,
    /// Plastic strain of each of the given tetrahedra; empty if none yielded.
    plastic: Vec<PlasticState>,
    /// The finite elements, created at the first impact.
    mesh: OnceLock<Option<TetMesh>>,
    /// The structure with the supports of the last impact.
    last: Mutex<Option<Arc<Structure>>>,
}

/// The effect of an impact on a body of tetrahedra.
pub(crate) enum ImpactEffect {
    /// No lasting effect.
    Held,
    /// It separates into parts, each with its own tetrahedra.
    Parted(Vec<Share>),
    /// It cracks and stays in one piece.
    Cracked(Share),
    /// It yields.
    Yields(Yield),
}

/// A set of tetrahedra, and the plastic strain of each; empty if none yielded.
#[derive(Clone)]
pub(crate) struct Share {
    pub(crate) mesh: TetMesh,
    pub(crate) plastic: Vec<PlasticState>,
}

/// The plastic flow of a body under an impact.
pub(crate) struct Yield {
    pub(crate) body: Arc<Structure>,
    pub(crate) flow: PlasticFlow,
}

/// The stress of an impact.
pub(crate) struct Strained {
    pub(crate) stress: StressField,
    /// Whether it was solved for small strains because no equilibrium with large strains was found.
    pub(crate) is_linearized: bool,
}

/// Green strain above which the error of linear elasticity exceeds one percent.
const LARGE_STRAIN: f64 = 1e-2;
/// Strengths are known to a percent at best, so that stresses need no more digits.
const NEWTON: Newton = Newton { tolerance: 1e-6, max_iterations: 20 };
/// Largest change of a tetrahedron's volume by a dent, as a share of it.
const VOLUME_CHANGE: f64 = 0.3;
/// Limit of the tetrahedra of a cracked body in one piece; beyond it new cracks are dropped.
const MAX_TETS: usize = 1 << 17;

/// A body under the loads of an impact.
struct Loaded {
    structure: Arc<Structure>,
    response: Response,
    /// Whether the response is linear although strains are large.
    is_linearized: bool,
}

impl ElasticBody {
    /// A body that is filled with tetrahedra at its first impact.
    pub fn new(model: Arc<StressModel>) -> Self {
        let (mesh, last) = (OnceLock::new(), Mutex::new(None));
        Self { model, given: None, plastic: Vec::new(), mesh, last }
    }

    /// A body of given tetrahedra in its material space. If they are invalid or disconnected, the
    /// body is filled with tetrahedra instead, of which the largest connected part counts.
    pub fn of_mesh(model: Arc<StressModel>, mesh: TetMesh) -> Self {
        Self { given: Some(mesh), ..Self::new(model) }
    }

    /// The parameters.
    pub fn model(&self) -> &StressModel {
        &self.model
    }

    /// Largest distance of parts of `body` from the surface of the tetrahedra that fill it, m, if
    /// that exceeds two edges: those parts are lost at the first impact. Infinite if no tetrahedra
    /// of this size fit; `None` for given tetrahedra.
    pub fn lost(&self, body: &LevelSet) -> Option<f64> {
        if self.given.is_some() {
            return None;
        }
        // not cached: the state of a body must not depend on queries
        let spacing = self.model.spacing;
        lost(stuffed_with_thin_parts(body, spacing), body, spacing)
    }

    /// The tetrahedra, if they exist already.
    pub fn mesh(&self) -> Option<&TetMesh> {
        self.mesh.get().and_then(Option::as_ref).or(self.given.as_ref())
    }

    /// Plastic strain of each tetrahedron of [`Self::mesh`]; empty if none yielded.
    pub fn plastic(&self) -> &[PlasticState] {
        let is_own = |mesh: &&TetMesh| mesh.tets.len() == self.plastic.len();
        self.mesh().filter(is_own).map_or(&[], |_| &self.plastic)
    }

    /// Displacements and stress under forces on the surface of a free body, in material space;
    /// `None` if no tetrahedra of this size fit into `body` or a force is not finite.
    pub fn respond(&self, body: &LevelSet, contacts: &[Contact]) -> Option<(&TetMesh, Response)> {
        let mesh = self.filled(body)?;
        let free = self.structure(mesh, vec![false; mesh.vertices.len()])?;
        let load = Load::new(contacts).spread(self.model.fracture.averaging);
        Some((mesh, free.respond(&load).ok()?))
    }

    /// Another body of the same parameters.
    pub(crate) fn with(&self, share: Option<Share>) -> Self {
        let own = Self::new(Arc::clone(&self.model));
        let Some(Share { mesh, plastic }) = share else { return own };
        Self { given: Some(mesh), plastic, ..own }
    }

    /// The effect of an impact, and the stress before it changes the body, in material space.
    pub(crate) fn struck(
        &self,
        body: &LevelSet,
        impact: &Impact<'_>,
    ) -> (ImpactEffect, Option<Strained>) {
        let duration = self.model.duration.unwrap_or(impact.duration);
        let pushes = impact.reactions.iter().copied();
        let all = std::iter::once((impact.at, impact.impulse)).chain(pushes);
        let contacts: Vec<Contact> =
            all.map(|(at, impulse)| Contact::from_impulse(at, impulse, duration)).collect();
        let conditions = BoundaryConditions {
            contacts: &contacts,
            body_force: impact.gravity * impact.density,
            supports: &|mesh| self.supports(mesh, impact),
        };
        let Some(Loaded { structure, response, is_linearized }) = self.loaded(body, &conditions)
        else {
            return (ImpactEffect::Held, None);
        };
        let stress = StressField::of(structure.mesh(), &response.stresses);
        let effect = self.impact_effect(&structure, &response, &conditions);
        (effect.unwrap_or(ImpactEffect::Held), Some(Strained { stress, is_linearized }))
    }

    /// The response to all loads of an impact. Strains of bodies that do not yield are small until
    /// they break.
    fn loaded(&self, body: &LevelSet, conditions: &BoundaryConditions<'_>) -> Option<Loaded> {
        let mesh = self.filled(body)?;
        let supports = Some((conditions.supports)(mesh)).filter(|own| is_restrained(mesh, own));
        let supports = supports.unwrap_or_else(|| vec![false; mesh.vertices.len()]);
        let structure = self.structure(mesh, supports)?;
        let spread = Load::new(conditions.contacts).spread(self.model.fracture.averaging);
        let load = Load { body_force: conditions.body_force, ..spread };
        let response = structure.respond(&load).ok()?;
        let is_linear = self.model.interpolation == Interpolation::Linear;
        let may_be_large = self.model.yielding.is_some() && is_linear;
        if !may_be_large || structure.largest_strain(&response) <= LARGE_STRAIN {
            return Some(Loaded { structure, response, is_linearized: false });
        }
        let large = structure.respond_nonlinear(std::slice::from_ref(&load), NEWTON).ok();
        let is_linearized = large.is_none();
        Some(Loaded { structure, response: large.unwrap_or(response), is_linearized })
    }

    fn impact_effect(
        &self,
        body: &Arc<Structure>,
        response: &Response,
        conditions: &BoundaryConditions<'_>,
    ) -> Option<ImpactEffect> {
        let share = |tetfem::Piece { mesh, plastic, .. }| Share { mesh, plastic };
        let mut shattered = tetfem::shatter(body, conditions, &self.model.fracture);
        if shattered.pieces.len() > 1 {
            return Some(ImpactEffect::Parted(shattered.pieces.into_iter().map(share).collect()));
        }
        if !shattered.cracks.is_empty() {
            let after = shattered.pieces.pop().map(share)?;
            return (after.mesh.tets.len() <= MAX_TETS).then_some(ImpactEffect::Cracked(after));
        }
        let flow = body.flow(response, self.model.yielding?, VOLUME_CHANGE).ok()?;
        let yields = flow.yielded() > 0 && flow.max_share > 0.0;
        yields.then(|| ImpactEffect::Yields(Yield { body: Arc::clone(body), flow }))
    }

    /// The anchored vertices, or those beyond the collision radius without anchors.
    fn supports(&self, mesh: &TetMesh, impact: &Impact<'_>) -> Vec<bool> {
        let anchored: Vec<bool> = mesh.vertices.iter().map(impact.held).collect();
        match self.model.collision_radius {
            Some(radius) if !anchored.contains(&true) => far_vertices(mesh, &impact.at, radius),
            _ => anchored,
        }
    }

    /// The structure with some supports; that of the last supports is cached.
    fn structure(&self, mesh: &TetMesh, supports: Vec<bool>) -> Option<Arc<Structure>> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = last().as_ref().filter(|last| last.supports() == supports) {
            return Some(Arc::clone(same));
        }
        // release the lock first: the thread may steal work that needs it
        let StressModel { material, interpolation, .. } = *self.model;
        let solver = LinearSolver::Cholesky;
        let made = Structure::supported(mesh.clone(), supports, material, interpolation, solver);
        let made = made.ok().and_then(|made| made.with_plastic(self.plastic().to_vec()).ok());
        let made = made.map(Arc::new);
        last().clone_from(&made);
        made
    }

    fn filled(&self, body: &LevelSet) -> Option<&TetMesh> {
        let is_sound = |mesh: &TetMesh| mesh.validate().is_ok() && mesh.components().count == 1;
        let given = || self.given.clone().filter(is_sound);
        let made = || given().or_else(|| stuffed_with_thin_parts(body, self.model.spacing));
        self.mesh.get_or_init(made).as_ref()
    }
}

/// The tetrahedra of each fragment: those of its regions. If a region separated into several
/// fragments, each of its tetrahedra is assigned to the fragment of greatest depth there, in a tie
/// to the first one. If a region has no sample, all fragments are candidates.
pub(crate) fn distribute_tets(parts: &[Share], fragments: &[Piece]) -> Vec<Option<Share>> {
    let mut shares_of = vec![Vec::new(); fragments.len()];
    for (region, part) in parts.iter().enumerate() {
        let has = |n: &usize| fragments[*n].regions.contains(&region);
        let mut owners: Vec<usize> = (0..fragments.len()).filter(has).collect();
        if owners.is_empty() {
            owners = (0..fragments.len()).collect();
        }
        if let [owner] = owners[..] {
            shares_of[owner].push(part.clone());
            continue;
        }
        let empty = Share { mesh: TetMesh::default(), plastic: Vec::new() };
        let mut shares = vec![empty; owners.len()];
        for (t, tet) in part.mesh.tets.iter().enumerate() {
            let sum: Vector3<f64> = part.mesh.corners(t).iter().map(|p| p.coords).sum();
            let at = Point3::from(sum / 4.0);
            let depth = |owner: &usize| fragments[*owner].geometry.level_set().value(&at);
            let deepest =
                (0..owners.len()).min_by(|&a, &b| depth(&owners[a]).total_cmp(&depth(&owners[b])));
            if let Some(n) = deepest {
                shares[n].mesh.tets.push(*tet);
                shares[n].plastic.extend(part.plastic.get(t));
            }
        }
        for (owner, mut share) in owners.into_iter().zip(shares) {
            share.mesh.vertices.clone_from(&part.mesh.vertices);
            shares_of[owner].push(share);
        }
    }
    shares_of.iter().map(|parts| joined(parts)).collect()
}

/// Merges parts into one mesh without unused vertices: copies of a vertex in different parts are
/// merged. `None` if there is nothing.
fn joined(parts: &[Share]) -> Option<Share> {
    let mut places: Vec<([u64; 3], u32)> = Vec::new();
    let mut mesh = TetMesh::default();
    let plastic = parts.iter().flat_map(|part| &part.plastic).copied().collect();
    for Share { mesh: part, .. } in parts {
        let known = places.len();
        let mut names = vec![u32::MAX; part.vertices.len()];
        for &v in part.tets.iter().flatten() {
            let (p, name) = (&part.vertices[v as usize], &mut names[v as usize]);
            if *name != u32::MAX {
                continue;
            }
            let key = key(p);
            // only between parts: cracks within a part stay open
            let found = places[..known].binary_search_by(|(other, _)| other.cmp(&key));
            *name = found.map_or(mesh.vertices.len() as u32, |at| places[at].1);
            if found.is_err() {
                mesh.vertices.push(*p);
                places.push((key, *name));
            }
        }
        places.sort_unstable();
        mesh.tets.extend(part.tets.iter().map(|tet| tet.map(|v| names[v as usize])));
    }
    (!mesh.tets.is_empty()).then_some(Share { mesh, plastic })
}

fn key(p: &Point3<f64>) -> [u64; 3] {
    // adding zero merges -0 and 0
    [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits())
}

/// The shape functions of a scene's setting.
pub(crate) fn interpolation(is_quadratic: bool) -> Interpolation {
    if is_quadratic { Interpolation::Quadratic } else { Interpolation::Linear }
}
