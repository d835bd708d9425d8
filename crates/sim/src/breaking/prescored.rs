//! Prescored space: patterns, their placement, and the finer patterns of pieces.

use std::sync::Arc;

use fracture::{Alignment, Geometry, Pattern};
use levelset::Aabb;
use nalgebra::{Point3, UnitVector3, Vector3};
use serde::Deserialize;

use crate::{Bonds, Strength};

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
    /// Fixed in the body, wherever that is hit: its center in the middle of the shape's box, its axes as for a blow
    /// from +z.
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

/// A pattern that is fixed in a body.
#[derive(Clone, Debug)]
pub struct FixedPattern {
    /// The pattern.
    pub pattern: Arc<Pattern>,
    /// Where it is, in the material space of the body.
    pub at: Alignment,
    /// The pattern of pieces that this one divides no further; none unless given.
    pub then: Option<NextPattern>,
}

impl FixedPattern {
    /// Where a pattern is fixed in a body of some bounds: see [`Placement::Fixed`].
    pub fn alignment(bounds: &Aabb) -> Alignment {
        Alignment::enclosing(bounds, bounds.center(), Vector3::z_axis())
    }
}

/// The pattern of pieces that a fixed pattern divides no further.
#[derive(Clone, Debug)]
pub enum NextPattern {
    /// A pattern that is centered where a piece is hit.
    Centered(CenteredPattern),
    /// A finer pattern that is fixed in the body, too: pieces of the coarser one are clusters of its pieces.
    Level(Arc<Level>),
}

/// A level of a hierarchy of pieces: how clusters come apart.
#[derive(Clone, Debug)]
pub struct Level {
    /// The pattern that divides a cluster, placed as the coarser one.
    pub pattern: Arc<FixedPattern>,
    /// The strength of a cluster.
    pub strength: Strength,
    /// Pieces of a smaller share of the volume of the cluster go to the neighbor they share most with.
    pub min_share: f64,
    /// Bonds between the pieces of a cluster; none unless given.
    pub bonds: Option<Bonds>,
}

/// A pattern that is centered where a piece is hit.
#[derive(Clone, Debug)]
pub struct CenteredPattern {
    /// The pattern, centered where a piece is hit.
    pub pattern: Arc<Pattern>,
    /// How it is placed, turned or snapped.
    pub placement: Placement,
    /// Pieces of a smaller share of the volume that breaks go to the neighbor they share most with.
    pub min_share: f64,
}
