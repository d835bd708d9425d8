//! Prescored space: patterns, their placement, and the finer patterns of pieces.

use std::sync::Arc;

use fracture::{Alignment, Geometry, Pattern};
use levelset::Aabb;
use nalgebra::{Point3, UnitVector3, Vector3};
use serde::Deserialize;

use crate::{Bonds, Strength};

/// Placement of a pattern in a body that is hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Its center at the impact point, its y axis along the impact, out of the body.
    #[default]
    Turned,
    /// Its center at the node of the body's grid nearest to the impact, its axes along the grid's
    /// (the fast form of Su09 section 4.2): bodies that share a shape, and are hit at one node,
    /// share pieces.
    Snapped,
    /// Fixed in the body, independent of the impact: its center in the middle of the shape's box,
    /// its axes as for an impact from +z.
    Fixed,
}

impl Placement {
    /// The alignment of a pattern in a body hit at a point, m, with a normal out of the body there.
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

/// A pattern fixed in a body.
#[derive(Clone, Debug)]
pub struct FixedPattern {
    /// The pattern.
    pub pattern: Arc<Pattern>,
    /// Its alignment in the material space of the body.
    pub at: Alignment,
    /// The pattern of pieces that this one does not divide further; `None` for none.
    pub then: Option<NextPattern>,
}

impl FixedPattern {
    /// The alignment of a fixed pattern in a body of some bounds: see [`Placement::Fixed`].
    pub fn alignment(bounds: &Aabb) -> Alignment {
        Alignment::enclosing(bounds, bounds.center(), Vector3::z_axis())
    }
}

/// The pattern of pieces that a fixed pattern does not divide further.
#[derive(Clone, Debug)]
pub enum NextPattern {
    /// A pattern centered at the impact on a piece.
    Centered(CenteredPattern),
    /// A finer pattern, also fixed in the body: pieces of the coarser one are clusters of its
    /// pieces.
    Level(Arc<Level>),
}

/// A level of a hierarchy of pieces: how clusters separate.
#[derive(Clone, Debug)]
pub struct Level {
    /// The pattern that divides a cluster, placed as the coarser one.
    pub pattern: Arc<FixedPattern>,
    /// The strength of a cluster.
    pub strength: Strength,
    /// Pieces with a smaller share of the cluster's volume are merged with the neighbor they share
    /// most area with.
    pub min_share: f64,
    /// Bonds between the pieces of a cluster; `None` for none.
    pub bonds: Option<Bonds>,
}

/// A pattern centered at the impact on a piece.
#[derive(Clone, Debug)]
pub struct CenteredPattern {
    /// The pattern, centered where a piece is hit.
    pub pattern: Arc<Pattern>,
    /// Its placement, turned or snapped.
    pub placement: Placement,
    /// Pieces with a smaller share of the parent's volume are merged with the neighbor they share
    /// most area with.
    pub min_share: f64,
}
