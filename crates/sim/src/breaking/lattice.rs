//! Bodies of masses and links that break or weaken under an impact (Ku07 section 3.2).

use std::sync::{Arc, OnceLock};

use fracture::{
    Lattice, LatticeError, LatticeImpactSettings, Neighbors, Noise, Pattern, Piece, Shards,
    Stencil, Weakness, smoothed_crack,
};
use levelset::{LevelSet, TetMesh, TriMesh};
use nalgebra::{Point3, Vector3};

use crate::breaking::filling::{lost, stuffed};
use crate::breaking::impact::Impact;
use crate::breaking::regions::Regions;

/// Parameters of fracture by a lattice.
#[derive(Clone, Debug)]
pub struct LatticeModel {
    /// Edge length of generated tetrahedra, and radius over which an impact is spread, m.
    pub spacing: f64,
    /// Which tetrahedra are linked.
    pub neighbors: Neighbors,
    /// Stress at which links fail, Pa.
    pub strength: f64,
    /// Duration of an impact, s.
    pub duration: f64,
    /// How links break.
    pub breaking: LatticeImpactSettings,
    /// Treatment of single loose tetrahedra. Dust is removed at the end of the frame.
    pub shards: Shards,
    /// Rounds of smoothing of the surfaces between pieces; see [`fracture::smoothed_crack`].
    pub smoothing: usize,
    /// Variation of the strength of links, in the material space of the body.
    pub noise: Option<Noise>,
    /// Places where links are weak, in the material space of the body.
    pub weaknesses: Vec<Weakness>,
    /// An image of the strength, in the material space of the body.
    pub stencil: Option<Arc<Stencil>>,
}

/// A body's tetrahedra in its material space, and the links between them, whose damage persists.
#[derive(Debug)]
pub struct LatticeBody {
    model: Arc<LatticeModel>,
    /// Given tetrahedra; without these the body is filled at its first impact.
    mesh: Option<Arc<TetMesh>>,
    ready: OnceLock<Option<Linked>>,
}

/// Tetrahedra and their links.
#[derive(Clone, Debug)]
struct Linked {
    mesh: Arc<TetMesh>,
    lattice: Lattice,
}

/// The effect of an impact on a lattice.
pub(crate) enum ImpactEffect {
    /// No lasting effect.
    Held,
    /// It separates.
    Parted(Regions, Parted),
    /// Its links weaken and it stays in one piece.
    Weakened(Arc<LatticeBody>),
}

/// A lattice that separated.
#[derive(Clone, Debug)]
pub(crate) struct Parted {
    /// The whole lattice after the impact.
    pub(crate) whole: Arc<LatticeBody>,
    /// Its tetrahedra with the vertices of its pieces: smoothing moves vertices between pieces.
    mesh: Arc<TetMesh>,
    /// The region of each tetrahedron. `None`: the tetrahedron belongs to the piece that contains
    /// its centroid.
    regions: Vec<Option<u32>>,
    /// The region of shards that are dust.
    dust: Option<u32>,
}

impl Parted {
    /// Whether a piece consists of dust only.
    pub(crate) fn is_dust(&self, piece: &Piece) -> bool {
        self.dust.is_some_and(|dust| piece.regions == [dust as usize])
    }
}

impl LatticeBody {
    /// A body that is filled with tetrahedra at its first impact.
    pub fn new(model: Arc<LatticeModel>) -> Self {
        Self { model, mesh: None, ready: OnceLock::new() }
    }

    /// A body of given tetrahedra in its material space, for example by a mesh generator (Ku07
    /// section 2): the surfaces of its pieces are faces of these.
    ///
    /// # Errors
    /// As [`Lattice::check`].
    pub fn of_mesh(model: Arc<LatticeModel>, mesh: TetMesh) -> Result<Self, LatticeError> {
        Lattice::check(&mesh, model.neighbors)?;
        Ok(Self { model, mesh: Some(Arc::new(mesh)), ready: OnceLock::new() })
    }

    /// The parameters.
    pub fn model(&self) -> &LatticeModel {
        &self.model
    }

    /// Largest distance of parts of `body` from the surface of the tetrahedra that fill it, m, if
    /// that exceeds two edges: those parts are lost at the first impact. Infinite if no tetrahedra
    /// of this size fit. `None` for given tetrahedra, and for a body longer than eight edges: the
    /// test costs as much as its filling.
    pub fn lost(&self, body: &LevelSet) -> Option<f64> {
        const MOST_EDGES: f64 = 8.0;
        let spacing = self.model.spacing;
        let (low, high) = body.inside_range()?;
        let most = (0..3).map(|k| high[k] - low[k]).max().unwrap_or(0);
        if self.mesh.is_some() || most as f64 * body.grid().spacing() > MOST_EDGES * spacing {
            return None;
        }
        lost(stuffed(body, spacing), body, spacing)
    }

    /// The tetrahedra, if they exist already.
    pub fn mesh(&self) -> Option<&TetMesh> {
        let made = self.ready.get().and_then(Option::as_ref).map(|linked| &linked.mesh);
        made.or(self.mesh.as_ref()).map(|mesh| &**mesh)
    }

    /// The masses and links with their remaining strengths; `None` before the first impact.
    pub fn lattice(&self) -> Option<&Lattice> {
        self.ready.get().and_then(Option::as_ref).map(|linked| &linked.lattice)
    }

    /// The effect of an impact. Weakened links stay weak, whether or not the body separates.
    pub(crate) fn struck(&self, body: &LevelSet, impact: &Impact<'_>) -> ImpactEffect {
        let Some(linked) = self.linked(body, impact.density) else { return ImpactEffect::Held };
        let LatticeModel { spacing, duration, breaking, .. } = &*self.model;
        let mut lattice = linked.lattice.clone();
        lattice.fix(impact.held);
        let loads = lattice.load(&impact.at, *spacing, &impact.impulse, *duration);
        lattice.impact(&loads, breaking);
        let is_weaker = lattice.strengths() != linked.lattice.strengths();
        let (regions, dust) = self.regions(&lattice);
        let mesh = match self.model.smoothing {
            0 => Arc::clone(&linked.mesh),
            rounds => Arc::new(smoothed_crack(&linked.mesh, &regions, rounds)),
        };
        let linked = Linked { mesh: Arc::clone(&linked.mesh), lattice };
        let whole = Arc::new(self.with(Some(linked)));
        match Regions::new(body, &surfaces(&mesh, &regions)) {
            Some(pieces) => ImpactEffect::Parted(pieces, Parted { whole, mesh, regions, dust }),
            None if is_weaker => ImpactEffect::Weakened(whole),
            None => ImpactEffect::Held,
        }
    }

    /// The region of each tetrahedron: one per piece, and one for all dust if there is any. A body
    /// that separates into single tetrahedra alone has no dust.
    fn regions(&self, lattice: &Lattice) -> (Vec<Option<u32>>, Option<u32>) {
        let mut pieces = lattice.pieces(self.model.shards);
        if pieces.masses.is_empty() {
            pieces = lattice.pieces(Shards::Keep);
        }
        let dust = (pieces.dust > 0.0).then_some(pieces.masses.len() as u32);
        (pieces.labels.into_iter().map(|label| label.or(dust)).collect(), dust)
    }

    /// The whole body as one region, if its tetrahedra exist.
    pub(crate) fn parted(&self, body: &LevelSet, density: f64) -> Option<Parted> {
        self.mesh()?;
        let linked = self.linked(body, density)?;
        let (mesh, regions) = (Arc::clone(&linked.mesh), vec![None; linked.mesh.tets.len()]);
        let whole = Arc::new(self.with(Some(linked.clone())));
        Some(Parted { whole, mesh, regions, dust: None })
    }

    /// The lattices of the pieces, each with its tetrahedra and their links after the impact.
    pub(crate) fn of_pieces(&self, parted: Option<&Parted>, pieces: &[Piece]) -> Vec<Self> {
        let known = parted.and_then(|parted| Some((parted, parted.whole.lattice()?)));
        let Some((Parted { mesh, regions, .. }, lattice)) = known else {
            return pieces.iter().map(|_| self.with(None)).collect();
        };
        let shares = distribute_tets(mesh, regions, pieces);
        let meshes = parts(mesh, &shares);
        let of = |(mesh, tets): (TetMesh, &Vec<u32>)| {
            let linked = || Linked { mesh: Arc::new(mesh), lattice: lattice.part(tets) };
            self.with((!tets.is_empty()).then(linked))
        };
        meshes.into_iter().zip(&shares).map(of).collect()
    }

    /// Another body of the same parameters.
    fn with(&self, linked: Option<Linked>) -> Self {
        let ready = linked.map_or_else(OnceLock::new, |linked| OnceLock::from(Some(linked)));
        Self { model: Arc::clone(&self.model), mesh: None, ready }
    }

    fn linked(&self, body: &LevelSet, density: f64) -> Option<&Linked> {
        self.ready.get_or_init(|| self.made(body, density)).as_ref()
    }

    /// The lattice before any impact. Variation of strength (Ku07 section 2) is applied once.
    fn made(&self, body: &LevelSet, density: f64) -> Option<Linked> {
        let LatticeModel { spacing, neighbors, strength, .. } = *self.model;
        // equal masses need cells of one size
        let mesh = self.mesh.clone().or_else(|| stuffed(body, spacing).map(Arc::new))?;
        let mut lattice = Lattice::new(&mesh, neighbors, |_| density, |_| strength).ok()?;
        self.model.weaknesses.iter().for_each(|weakness| lattice.weaken(weakness));
        if let Some(stencil) = &self.model.stencil {
            lattice.scale_by_stencil(stencil);
        }
        if let Some(noise) = &self.model.noise {
            lattice.scale_by_noise(noise);
        }
        Some(Linked { mesh, lattice })
    }
}

/// The tetrahedra of each part, with their own vertices.
fn parts(mesh: &TetMesh, shares: &[Vec<u32>]) -> Vec<TetMesh> {
    // the part for which a vertex was numbered last, and its index there
    let mut names = vec![(usize::MAX, 0); mesh.vertices.len()];
    let mut part = |(n, tets): (usize, &Vec<u32>)| {
        let mut vertices = Vec::new();
        let mut named = |v: u32| {
            let name = &mut names[v as usize];
            if name.0 != n {
                *name = (n, vertices.len() as u32);
                vertices.push(mesh.vertices[v as usize]);
            }
            name.1
        };
        let tets = tets.iter().map(|&tet| mesh.tets[tet as usize].map(&mut named)).collect();
        TetMesh { vertices, tets }
    };
    shares.iter().enumerate().map(&mut part).collect()
}

/// The surface of each region; none if there are too many.
fn surfaces(mesh: &TetMesh, regions: &[Option<u32>]) -> Vec<TriMesh> {
    let count = regions.iter().flatten().max().map_or(0, |&most| most as usize + 1);
    if count > Pattern::MAX_REGIONS {
        return Vec::new();
    }
    let mut shares = vec![Vec::new(); count];
    for (tet, region) in (0..).zip(regions) {
        region.iter().for_each(|&region| shares[region as usize].push(tet));
    }
    parts(mesh, &shares).iter().map(TetMesh::boundary).collect()
}

/// Assigns tetrahedra to pieces: those of a region to its piece. If a region has several pieces or
/// none, each tetrahedron is assigned to the piece in which its centroid is deepest, in a tie to
/// the first one.
fn distribute_tets(mesh: &TetMesh, regions: &[Option<u32>], pieces: &[Piece]) -> Vec<Vec<u32>> {
    let all: Vec<usize> = (0..pieces.len()).collect();
    let count = regions.iter().flatten().max().map_or(0, |&most| most as usize + 1);
    let mut owners = vec![Vec::new(); count];
    for (n, piece) in pieces.iter().enumerate() {
        for &region in piece.regions.iter().filter(|&&region| region < count) {
            owners[region].push(n);
        }
    }
    let mut shares = vec![Vec::new(); pieces.len()];
    for (tet, region) in regions.iter().enumerate() {
        // a region may have no sample
        let owners = region.map(|region| &owners[region as usize]);
        let owners = owners.filter(|owners| !owners.is_empty()).unwrap_or(&all);
        if let Some(owner) = deepest(mesh, tet, owners, pieces) {
            shares[owner].push(tet as u32);
        }
    }
    shares
}

/// The piece in which a tetrahedron's centroid is deepest, in a tie the first one.
fn deepest(mesh: &TetMesh, tet: usize, owners: &[usize], pieces: &[Piece]) -> Option<usize> {
    if let [owner] = *owners {
        return Some(owner);
    }
    let sum: Vector3<f64> = mesh.corners(tet).iter().map(|p| p.coords).sum();
    let at = Point3::from(sum / 4.0);
    let depth = |owner: &usize| pieces[*owner].geometry.level_set().value(&at);
    owners.iter().copied().min_by(|a, b| depth(a).total_cmp(&depth(b)))
}
