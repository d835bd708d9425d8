//! Anchors of bodies and their loads.

use std::sync::Arc;

use dynamics::{MassProperties, Momentum};
use nalgebra::{Isometry3, Point3, UnitVector3, Vector3};

use crate::BodyId;
use crate::breaking::section::Section;

/// Fixes the part of a body in a region to the world or to another body.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// Region in the world.
    pub region: Region,
    /// The supporting body, which is static or itself anchored; `None` for the world.
    pub to: Option<BodyId>,
}

/// A region of the world, m.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// All of the world.
    Everywhere,
    /// A ball.
    Ball {
        /// Its center.
        center: Point3<f64>,
        /// Its radius.
        radius: f64,
    },
    /// A box.
    Cuboid {
        /// From its own coordinates, with the origin at its center and axes along its edges, to the
        /// world's.
        pose: Isometry3<f64>,
        /// Half the edge lengths.
        half: Vector3<f64>,
    },
    /// Where `normal . x < offset`.
    HalfSpace {
        /// Unit normal out of the half-space.
        normal: UnitVector3<f64>,
        /// Offset along the normal.
        offset: f64,
    },
}

impl Region {
    /// Whether the region contains `p`.
    pub fn contains(&self, p: &Point3<f64>) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Ball { center, radius } => (p - center).norm() <= *radius,
            Self::Cuboid { pose, half } => {
                let p = pose.inverse_transform_point(p);
                (0..3).all(|a| p[a].abs() <= half[a])
            }
            Self::HalfSpace { normal, offset } => normal.dot(&p.coords) < *offset,
        }
    }
}

/// The load of an anchored body at its anchors.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnchorLoad {
    /// The body.
    pub body: BodyId,
    /// Force in world axes, N.
    pub force: Vector3<f64>,
    /// Torque about the center of the section where anchors hold the body, in world axes, N m.
    pub torque: Vector3<f64>,
    /// The largest stress of the section, Pa; zero if anchors hold all of the body.
    pub stress: f64,
    /// Stress at which the body fails, Pa.
    pub strength: f64,
    /// The point of the largest stress, in the world, m.
    pub at: Point3<f64>,
}

impl AnchorLoad {
    /// Stress over strength: the body fails above 1.
    pub fn utilization(&self) -> f64 {
        self.stress / self.strength
    }
}

/// The state of an anchored body: static until its anchors fail.
#[derive(Clone, Debug)]
pub(crate) struct Anchorage {
    pub(crate) mass: MassProperties,
    pub(crate) anchors: Arc<[Anchor]>,
    /// Stress at which they fail, Pa.
    pub(crate) strength: f64,
    /// Impulses of contacts and joints on the body in a frame, about its center of mass, averaged
    /// over some frames, N s and N m s.
    pub(crate) constraint_impulse: Momentum,
    /// The section at its anchors; cached until a supporting body breaks or is removed.
    pub(crate) section: Option<Arc<Section>>,
}

impl Anchorage {
    pub(super) fn new(mass: MassProperties, anchors: Arc<[Anchor]>, strength: f64) -> Self {
        Self { mass, anchors, strength, constraint_impulse: Momentum::default(), section: None }
    }

    /// The anchorage of a piece of `mass` of the body.
    pub(crate) fn of_piece(&self, mass: MassProperties) -> Self {
        Self::new(mass, Arc::clone(&self.anchors), self.strength)
    }
}
