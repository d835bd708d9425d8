//! Breaking a body under its contacts until it holds (Mu01 section 2.5).

use std::collections::VecDeque;

use levelset::{Moments, TetMesh};

use crate::contact::Surface;
use crate::{Contact, Crack, CutLimits, FreeBody, pieces, separate};

/// How a material breaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fracture {
    /// Greatest tension that the material bears, Pa.
    pub strength: f64,
    /// Radius over which forces are spread and stress is averaged before it is compared, m; 0 for
    /// none.
    pub averaging: f64,
    /// Radius of a crack that opens at the strength, m; it grows in proportion to the tension.
    pub reach: f64,
    /// What cracks cut; without it they follow the faces that are there.
    pub cut: Option<CutLimits>,
    /// Cracks after which to stop.
    pub most: usize,
    /// Pieces of less volume do not break, m^3.
    pub least_volume: f64,
}

/// A piece of a broken body, in its frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Its tetrahedra, and vertices of its own.
    pub mesh: TetMesh,
    /// Volume integrals.
    pub moments: Moments,
}

/// What became of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Shattered {
    /// All pieces; one with the mesh of the body if it held.
    pub pieces: Vec<Piece>,
    /// The cracks, in order; `tet` counts in the piece that cracked.
    pub cracks: Vec<Crack>,
    /// Pieces that may be above their strength still: no cracks were left, none could open, or
    /// their stress was not solved.
    pub unresolved: usize,
}

/// Cracks a body where its tension is above its strength, then every piece that is still touched,
/// until all hold or no cracks are left. Volume is kept to rounding.
pub fn shatter(body: &FreeBody, contacts: &[Contact], fracture: &Fracture) -> Shattered {
    let mut result = Shattered { pieces: Vec::new(), cracks: Vec::new(), unresolved: 0 };
    let mut touched = VecDeque::from([(body.mesh().clone(), contacts.to_vec())]);
    while let Some((mesh, contacts)) = touched.pop_front() {
        let whole = result.cracks.is_empty();
        let moments = if whole { *body.moments() } else { mesh.moments() };
        let outcome = if contacts.is_empty() || moments.volume < fracture.least_volume {
            Attempt::Holds
        } else if result.cracks.len() >= fracture.most {
            Attempt::Fails
        } else if whole {
            // its factor is at hand
            attempt(body, &contacts, fracture)
        } else {
            let piece = body.like(mesh.clone());
            piece.map_or(Attempt::Fails, |piece| attempt(&piece, &contacts, fracture))
        };
        if let Attempt::Cracks(crack, parts) = outcome {
            result.cracks.push(crack);
            touched.extend(deal(parts, &contacts));
        } else {
            result.unresolved += usize::from(matches!(outcome, Attempt::Fails));
            result.pieces.push(Piece { mesh, moments });
        }
    }
    result
}

enum Attempt {
    Holds,
    Fails,
    Cracks(Crack, Vec<TetMesh>),
}

/// Solves for the stress and opens one crack.
fn attempt(body: &FreeBody, contacts: &[Contact], fracture: &Fracture) -> Attempt {
    let radius = fracture.averaging;
    let Ok(response) = body.respond_spread(contacts, radius) else { return Attempt::Fails };
    let mesh = body.mesh();
    let Some(crack) = body.averaging(radius).crack(mesh, &response.stresses, fracture.strength)
    else {
        return Attempt::Holds;
    };
    let radius = fracture.reach * crack.tension / fracture.strength;
    let opened = match &fracture.cut {
        Some(limits) => {
            let cut = crack.cut(mesh, radius, limits);
            separate(&cut.mesh, &cut.marks)
        }
        None => separate(mesh, &crack.mark(mesh, radius)),
    };
    // vertices that are not copied hold the crack shut
    if opened.copies() == 0 {
        return Attempt::Fails;
    }
    let parts = pieces(&opened.mesh);
    Attempt::Cracks(crack, parts.into_iter().map(|(mesh, _)| mesh).collect())
}

/// A piece to be looked at, and what touches it.
type Touched = (TetMesh, Vec<Contact>);

/// Gives every contact to the piece whose surface is nearest to it, the first of equals.
fn deal(parts: Vec<TetMesh>, contacts: &[Contact]) -> VecDeque<Touched> {
    let surfaces: Vec<_> = parts.iter().map(Surface::new).collect();
    let mut touched: VecDeque<Touched> = parts.into_iter().map(|mesh| (mesh, vec![])).collect();
    for contact in contacts {
        let mut best = (f64::INFINITY, 0);
        for (n, surface) in surfaces.iter().enumerate() {
            let gap = surface.nearest(&touched[n].0, &contact.place).map(|nearest| nearest.gap);
            let gap = gap.unwrap_or(f64::INFINITY);
            if gap < best.0 {
                best = (gap, n);
            }
        }
        if let Some(piece) = touched.get_mut(best.1) {
            piece.1.push(*contact);
        }
    }
    touched
}
