//! Fracture models: prescored space, or cracks by the impact itself.

use std::sync::Arc;

use fracture::{Alignment, Geometry, Pattern, Piece};

use crate::breaking::elastic::{self, Share, Strained, Yield, distribute_tets};
use crate::breaking::impact::Impact;
use crate::breaking::lattice::{self, Parted};
use crate::breaking::regions::Regions;
use crate::{ElasticBody, FixedPattern, LatticeBody, Placement, StressModel};

/// How a body is divided.
#[derive(Clone, Debug)]
pub enum FractureModel {
    /// By prescored space (Su09).
    Prescored(Arc<Pattern>, Placement),
    /// By prescored space fixed in the body.
    Fixed(Arc<FixedPattern>),
    /// At broken links between masses (Ku07). Equal bodies share their tetrahedra and links until
    /// an impact.
    Lattice(Arc<LatticeBody>),
    /// Where tension exceeds the strength (Mu01). Equal bodies share their tetrahedra.
    Stress(Arc<ElasticBody>),
}

/// The pattern that divides a body, and its place in material space.
pub(crate) struct Division {
    pub(crate) pattern: Arc<Pattern>,
    pub(crate) at: Alignment,
    /// The tetrahedra in each region, if any.
    pub(crate) tets: Vec<Share>,
    /// The lattice whose broken links divide it, if any.
    pub(crate) lattice: Option<Parted>,
}

/// The effect of an impact by a model.
pub(crate) enum Effect {
    /// The body withstands it.
    None,
    /// It is divided.
    Divides(Division),
    /// It continues with another model.
    Changes(FractureModel),
    /// It is deformed.
    Dents(Arc<ElasticBody>, Yield),
}

impl FractureModel {
    /// Whether it divides space by a pattern, whatever the strength of the impact.
    pub(crate) fn is_pattern(&self) -> bool {
        matches!(self, Self::Prescored(..) | Self::Fixed(_))
    }

    /// The least stress at which it breaks or yields, Pa; infinite for a pattern.
    pub(crate) fn least_strength(&self) -> f64 {
        match self {
            Self::Prescored(..) | Self::Fixed(_) => f64::INFINITY,
            Self::Lattice(latticed) => latticed.model().strength,
            Self::Stress(elastic) => {
                let StressModel { fracture, yielding, .. } = elastic.model();
                yielding.map_or(f64::INFINITY, |y| y.strength).min(fracture.strength)
            }
        }
    }

    /// The effect of an impact, and the stress by finite elements.
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
            Self::Lattice(latticed) => {
                let effect = match latticed.struck(body.level_set(), impact) {
                    lattice::ImpactEffect::Held => Effect::None,
                    lattice::ImpactEffect::Parted(regions, parted) => {
                        let lattice = Some(parted);
                        Effect::Divides(Division { lattice, ..Division::of(regions) })
                    }
                    lattice::ImpactEffect::Weakened(after) => Effect::Changes(Self::Lattice(after)),
                };
                (effect, None)
            }
            Self::Stress(elastic) => {
                let body = body.level_set();
                let (struck, stress) = elastic.struck(body, impact);
                let effect = match struck {
                    elastic::ImpactEffect::Held => Effect::None,
                    elastic::ImpactEffect::Parted(tets) => {
                        let surfaces: Vec<_> =
                            tets.iter().map(|part| part.mesh.boundary()).collect();
                        let divides =
                            |regions| Effect::Divides(Division { tets, ..Division::of(regions) });
                        Regions::new(body, &surfaces).map_or(Effect::None, divides)
                    }
                    elastic::ImpactEffect::Cracked(after) => {
                        Effect::Changes(Self::Stress(Arc::new(elastic.with(Some(after)))))
                    }
                    elastic::ImpactEffect::Yields(yields) => {
                        Effect::Dents(Arc::clone(elastic), yields)
                    }
                };
                (effect, stress)
            }
        }
    }

    /// The model of each piece of a divided body, of some density in kg/m^3.
    pub(crate) fn of_pieces(
        &self,
        body: &Geometry,
        density: f64,
        division: &Division,
        pieces: &[Piece],
    ) -> Vec<Self> {
        match self {
            Self::Stress(elastic) => {
                let meshes = distribute_tets(&division.tets, pieces).into_iter();
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
    /// A division by a pattern without tetrahedra.
    pub(crate) fn new(pattern: Arc<Pattern>, at: Alignment) -> Self {
        Self { pattern, at, tets: Vec::new(), lattice: None }
    }

    fn of(Regions { pattern, at }: Regions) -> Self {
        Self::new(pattern, at)
    }

    /// Whether a piece is removed at the end of the frame.
    pub(crate) fn is_dust(&self, piece: &Piece) -> bool {
        self.lattice.as_ref().is_some_and(|parted| parted.is_dust(piece))
    }

    /// The model of the body if it stays whole after all.
    pub(crate) fn weakened(&self) -> Option<FractureModel> {
        let parted = self.lattice.as_ref()?;
        Some(FractureModel::Lattice(Arc::clone(&parted.whole)))
    }
}
