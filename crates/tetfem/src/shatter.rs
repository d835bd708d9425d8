//! Iterated cracking of a body under its contact forces until it holds (Mu01 section 2.5).

use std::collections::VecDeque;

use levelset::{Moments, TetMesh};
use nalgebra::Vector3;

use crate::contact::Surface;
use crate::{Contact, Crack, CutLimits, Load, PlasticState, Structure, pieces, separate};

/// Fracture properties of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fracture {
    /// Tensile strength, Pa.
    pub strength: f64,
    /// Radius over which forces are spread and stress is averaged before comparison, m; 0 for none.
    pub averaging: f64,
    /// Radius of a crack that opens at the strength, m; it grows in proportion to the tension.
    pub reach: f64,
    /// How cracks cut tetrahedra; without it they follow the existing faces.
    pub cut: Option<CutLimits>,
    /// Maximum number of cracks.
    pub max_cracks: usize,
    /// Minimum volume of a piece that can break, m^3.
    pub min_volume: f64,
}

/// A piece of a broken body, in its frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Its tetrahedra, with separate vertices.
    pub mesh: TetMesh,
    /// Plastic state of each of them; empty if none yielded.
    pub plastic: Vec<PlasticState>,
    /// Volume integrals.
    pub moments: Moments,
}

/// The pieces of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Shattered {
    /// All pieces; one with the mesh of the body if it held.
    pub pieces: Vec<Piece>,
    /// The cracks, in order; `tet` is an index in the piece that cracked.
    pub cracks: Vec<Crack>,
    /// Number of pieces that may still exceed their strength: the crack limit was reached, no crack
    /// could open, or the solve failed.
    pub unresolved: usize,
}

/// Loads and supports of a body while it breaks.
#[derive(Clone, Copy)]
pub struct BoundaryConditions<'a> {
    /// Forces on the surface; each acts on the nearest piece.
    pub contacts: &'a [Contact],
    /// Body force, N/m^3.
    pub body_force: Vector3<f64>,
    /// For each vertex of a mesh of the body or of a piece, whether a support fixes it.
    pub supports: &'a dyn Fn(&TetMesh) -> Vec<bool>,
}

impl<'a> BoundaryConditions<'a> {
    /// Forces on a free body.
    pub fn free(contacts: &'a [Contact]) -> Self {
        let supports = &|mesh: &TetMesh| vec![false; mesh.vertices.len()];
        Self { contacts, body_force: Vector3::zeros(), supports }
    }
}

/// Cracks a body where its tension exceeds its strength, then every piece that is still loaded,
/// until all hold or the crack limit is reached. Volume is preserved to rounding.
///
/// The supports of `body` must be those of `conditions`. A supported piece without contacts is
/// still loaded by the body force.
pub fn shatter(
    body: &Structure,
    conditions: &BoundaryConditions<'_>,
    fracture: &Fracture,
) -> Shattered {
    let mut result = Shattered { pieces: Vec::new(), cracks: Vec::new(), unresolved: 0 };
    let all = PlasticMesh { mesh: body.mesh().clone(), plastic: body.plastic().to_vec() };
    let mut pending = VecDeque::from([(all, conditions.contacts.to_vec())]);
    while let Some((PlasticMesh { mesh, plastic }, contacts)) = pending.pop_front() {
        let whole = result.cracks.is_empty();
        let moments = if whole { *body.moments() } else { mesh.moments() };
        let supports = if whole { body.supports().to_vec() } else { (conditions.supports)(&mesh) };
        let hangs = conditions.body_force != Vector3::zeros() && supports.contains(&true);
        let outcome = if contacts.is_empty() && !hangs || moments.volume < fracture.min_volume {
            Attempt::Holds
        } else if result.cracks.len() >= fracture.max_cracks {
            Attempt::Fails
        } else {
            let load = Load {
                body_force: conditions.body_force,
                ..Load::new(&contacts).spread(fracture.averaging)
            };
            if whole {
                // reuses its factor
                attempt(body, &load, fracture)
            } else {
                let piece = body.with_mesh(mesh.clone(), supports).ok();
                let piece = piece.and_then(|piece| piece.with_plastic(plastic.clone()).ok());
                piece.map_or(Attempt::Fails, |piece| attempt(&piece, &load, fracture))
            }
        };
        if let Attempt::Cracks(crack, parts) = outcome {
            result.cracks.push(crack);
            pending.extend(assign_contacts(parts, &contacts));
        } else {
            result.unresolved += usize::from(matches!(outcome, Attempt::Fails));
            result.pieces.push(Piece { mesh, plastic, moments });
        }
    }
    result
}

/// Tetrahedra and their plastic states.
struct PlasticMesh {
    mesh: TetMesh,
    plastic: Vec<PlasticState>,
}

enum Attempt {
    Holds,
    Fails,
    Cracks(Crack, Vec<PlasticMesh>),
}

/// Solves for the stress and opens one crack.
fn attempt(body: &Structure, load: &Load<'_>, fracture: &Fracture) -> Attempt {
    let Ok(response) = body.respond(load) else { return Attempt::Fails };
    let mesh = body.mesh();
    let averaging = body.averaging(fracture.averaging);
    let Some(crack) = averaging.crack(mesh, &response.stresses, fracture.strength) else {
        return Attempt::Holds;
    };
    let radius = fracture.reach * crack.tension / fracture.strength;
    let (opened, parents) = match &fracture.cut {
        Some(limits) => {
            let cut = crack.cut(mesh, radius, limits);
            (separate(&cut.mesh, &cut.marks), Some(cut.parents))
        }
        None => (separate(mesh, &crack.mark(mesh, radius)), None),
    };
    // unduplicated vertices hold the crack closed
    if opened.copies() == 0 {
        return Attempt::Fails;
    }
    let plastic = |tet: &u32| {
        let parent = parents.as_ref().map_or(*tet, |parents| parents[*tet as usize]);
        body.plastic().get(parent as usize).copied()
    };
    let part = |(mesh, tets): (TetMesh, Vec<u32>)| PlasticMesh {
        mesh,
        plastic: tets.iter().filter_map(plastic).collect(),
    };
    Attempt::Cracks(crack, pieces(&opened.mesh).into_iter().map(part).collect())
}

/// A piece to be examined, and its contacts.
type PendingPart = (PlasticMesh, Vec<Contact>);

/// Assigns every contact to the piece with the nearest surface, the first of equals.
fn assign_contacts(parts: Vec<PlasticMesh>, contacts: &[Contact]) -> VecDeque<PendingPart> {
    let surfaces: Vec<_> = parts.iter().map(|part| Surface::new(&part.mesh)).collect();
    let mut pending: VecDeque<PendingPart> = parts.into_iter().map(|part| (part, vec![])).collect();
    for contact in contacts {
        let mut best = (f64::INFINITY, 0);
        for (n, surface) in surfaces.iter().enumerate() {
            let gap =
                surface.nearest(&pending[n].0.mesh, &contact.place).map(|nearest| nearest.gap);
            let gap = gap.unwrap_or(f64::INFINITY);
            if gap < best.0 {
                best = (gap, n);
            }
        }
        if let Some(piece) = pending.get_mut(best.1) {
            piece.1.push(*contact);
        }
    }
    pending
}
