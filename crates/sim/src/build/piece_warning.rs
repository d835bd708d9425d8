//! Warnings about bodies that do not break as the scene requests.

use std::fmt;

use fracture::{Geometry, Pattern};

use crate::scene::{self, Scene};
use crate::{ElasticBody, FractureModel, World};

/// Why a body breaks into fewer pieces than its pattern requests, or loses parts.
#[derive(Clone, Debug, PartialEq)]
pub enum PieceWarning {
    /// It is sampled, and its samples do not resolve that many pieces.
    Coarse {
        /// Its name.
        body: String,
        /// Requested number of pieces.
        pieces: usize,
        /// Largest number of pieces that its samples resolve.
        most: usize,
    },
    /// It fills so little of the divided space that no pattern has enough cells.
    Cells {
        /// Its name.
        body: String,
        /// Requested number of pieces.
        pieces: usize,
    },
    /// Most pieces are below the least size and are merged with a neighbor.
    Joined {
        /// Its name.
        body: String,
        /// Requested number of pieces.
        pieces: usize,
        /// Least share of the volume of a piece.
        least: f64,
    },
    /// The tetrahedra that fill it for stress lack parts of it.
    Lost {
        /// Its name.
        body: String,
        /// Distance of these parts from the surface of the tetrahedra, m; `None` if there are no
        /// tetrahedra.
        lost: Option<f64>,
        /// Edge of the tetrahedra, m.
        spacing: f64,
    },
}

impl fmt::Display for PieceWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Coarse { body, pieces, most } => write!(
                f,
                "the samples of {body} hold fewer than {pieces} pieces, at most {most}: use a smaller \
                 spacing or more nodes, or ask for fewer"
            ),
            Self::Joined { body, pieces, least } => write!(
                f,
                "{body} may break into fewer pieces than {pieces} or not at all: less than {:.3} of its \
                 volume stays with a neighbour, and the mean piece is {:.3} of it; take a smaller \
                 min_share or min_size, or ask for fewer",
                least,
                1.0 / *pieces as f64
            ),
            Self::Lost { body, lost: Some(lost), spacing } => write!(
                f,
                "the tetrahedra of {body} lack parts of it up to {lost:.2} m from their surface: take a \
                 stress spacing below {spacing} m, or give tetrahedra that hold them"
            ),
            Self::Lost { body, lost: None, spacing } => write!(
                f,
                "{body} holds no tetrahedra of {spacing} m and does not break: take a smaller stress spacing"
            ),
            Self::Cells { body, pieces } => write!(
                f,
                "{body} breaks into fewer than {pieces} pieces: a pattern has at most {} cells, of which \
                 few meet the body; ask for fewer",
                Pattern::MAX_REGIONS
            ),
        }
    }
}

impl PieceWarning {
    /// The warning for a body that `pattern` should break into `pieces`.
    pub fn of(body: &str, geometry: &Geometry, pattern: &Pattern, pieces: usize) -> Option<Self> {
        let body = body.to_owned();
        let most = geometry.max_pieces();
        if most < pieces {
            return Some(Self::Coarse { body, pieces, most });
        }
        let is_full = pattern.region_count() == Pattern::MAX_REGIONS;
        is_full.then_some(Self::Cells { body, pieces })
    }

    /// The warning for a body filled with tetrahedra for stress.
    fn of_elastic(body: &str, geometry: &Geometry, elastic: &ElasticBody) -> Option<Self> {
        let lost = elastic.lost(geometry.level_set())?;
        let (body, spacing) = (body.to_owned(), elastic.model().spacing);
        Some(Self::Lost { body, lost: Some(lost).filter(|lost| lost.is_finite()), spacing })
    }
}

impl Scene {
    /// Bodies of `world`, which was built from this scene, that break into fewer pieces than
    /// requested, or lose parts; of copies only the first.
    pub fn piece_warnings(&self, world: &World) -> Vec<PieceWarning> {
        let mut states = world.iter();
        let mut warnings = Vec::new();
        for body in &self.bodies {
            let copies = body.copies.map_or(1, |copies| copies.total());
            let Some(state) = states.next() else { break };
            states.by_ref().take(copies - 1).for_each(drop);
            if let Some((solid, FractureModel::Stress(elastic))) =
                state.solid.zip(state.breakage.map(|breakage| &breakage.model))
            {
                warnings.extend(PieceWarning::of_elastic(&body.name, &solid.geometry, elastic));
            }
            let pattern =
                body.fracture.as_ref().and_then(|fracture| fracture.first_pattern(&self.patterns));
            let Some(pattern) = pattern else { continue };
            if let Some((pieces, (solid, breakage))) =
                pattern.pieces().zip(state.solid.zip(state.breakage))
            {
                let smallest = breakage.least_size.powi(3) / solid.geometry.moments().volume;
                let least = breakage.min_share.max(smallest);
                if least * pieces as f64 > 1.0 {
                    warnings.push(PieceWarning::Joined { body: body.name.clone(), pieces, least });
                }
            }
            let scene::Pattern::Voronoi(spec) = pattern.spec() else { continue };
            let model = state.breakage.map(|breakage| &breakage.model);
            let Some((solid, FractureModel::Prescored(pattern, _))) = state.solid.zip(model) else {
                continue;
            };
            warnings.extend(PieceWarning::of(&body.name, &solid.geometry, pattern, spec.pieces));
        }
        warnings
    }
}
