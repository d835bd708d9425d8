//! Warnings about bodies that do not break as the scene requests.

use std::fmt;

use fracture::{Geometry, Pattern};

use crate::scene::{self, Scene};
use crate::{FractureModel, World};

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
    /// The edges of the tetrahedra that fill it for stress, or as a lattice, are longer than half its
    /// extent: it has no links or sections that could crack.
    Large {
        /// Its name.
        body: String,
        /// The key of their spacing: `stress` or `lattice`.
        key: &'static str,
        /// Edge of the tetrahedra, m.
        spacing: f64,
        /// Its longest extent, m.
        size: f64,
    },
    /// The tetrahedra that fill it for stress, or as a lattice, lack parts of it.
    Lost {
        /// Its name.
        body: String,
        /// The key of their spacing: `stress` or `lattice`.
        key: &'static str,
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
            Self::Large { body, key, spacing, size } => write!(
                f,
                "{body} is {size:.2e} m large and its tetrahedra are of {spacing} m, too few to crack: give \
                 a {key} spacing of at most half its size"
            ),
            Self::Lost { body, key, lost: Some(lost), spacing } => write!(
                f,
                "the tetrahedra of {body} lack parts of it up to {lost:.2} m from their surface: take a \
                 {key} spacing below {spacing} m, or give tetrahedra that hold them"
            ),
            Self::Lost { body, key, lost: None, spacing } => write!(
                f,
                "{body} holds no tetrahedra of {spacing} m and does not break: take a smaller {key} spacing"
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

    /// The warning for a body that tetrahedra fill, for stress or as a lattice.
    fn of_filled(body: &str, geometry: &Geometry, model: &FractureModel) -> Option<Self> {
        let solid = || geometry.level_set();
        let (key, spacing, is_given, lost) = match model {
            FractureModel::Stress(elastic) => {
                let is_given = elastic.mesh().is_some();
                ("stress", elastic.model().spacing, is_given, elastic.lost(solid()))
            }
            FractureModel::Lattice(lattice) => {
                let is_given = lattice.mesh().is_some();
                ("lattice", lattice.model().spacing, is_given, lattice.lost(solid()))
            }
            _ => return None,
        };
        let body = body.to_owned();
        if let Some(lost) = lost {
            let lost = Some(lost).filter(|lost| lost.is_finite());
            return Some(Self::Lost { body, key, lost, spacing });
        }
        let (low, high) = solid().inside_range()?;
        let most = (0..3).map(|k| high[k] - low[k] + 1).max()?;
        let size = most as f64 * solid().grid().spacing();
        (!is_given && 2.0 * spacing > size).then_some(Self::Large { body, key, spacing, size })
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
            let model = state.breakage.map(|breakage| &breakage.model);
            let geometry = state.solid.map(|solid| &*solid.geometry);
            warnings.extend(geometry.zip(model).and_then(|(geometry, model)| {
                PieceWarning::of_filled(&body.name, geometry, model)
            }));
            let pattern =
                body.fracture.as_ref().and_then(|fracture| fracture.first_pattern(&self.patterns));
            let Some(pattern) = pattern else { continue };
            if let Some((pieces, (solid, breakage))) =
                pattern.pieces().zip(state.solid.zip(state.breakage))
            {
                let smallest = breakage.min_size.powi(3) / solid.geometry.moments().volume;
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
