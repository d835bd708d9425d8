//! Anchors of bodies and their loads.

use std::sync::Arc;

use dynamics::{MassProperties, Momentum};
use nalgebra::{Isometry3, Point3, UnitVector3, Vector3};

use crate::BodyId;
use crate::breaking::section::Section;

/// Holds the part of a body in a region, to the world or to another body.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// Where, in the world.
    pub region: Region,
    /// The body it holds on to, which is static or itself anchored; `None` for the world.
    pub to: Option<BodyId>,
}

/// A part of the world, m.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// All of it.
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
        /// From its own coordinates, in which it is centered and its edges are along the axes, to the world's.
        pose: Isometry3<f64>,
        /// Half the edge lengths.
        half: Vector3<f64>,
    },
    /// Where `normal . x < offset`.
    HalfSpace {
        /// Out of it.
        normal: UnitVector3<f64>,
        /// Along the normal.
        offset: f64,
    },
}

impl Region {
    /// Whether it holds `p`.
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
    /// In world axes, N.
    pub force: Vector3<f64>,
    /// About the middle of the section where anchors hold the body, in world axes, N m.
    pub torque: Vector3<f64>,
    /// The largest stress of the section, Pa; zero if all of the body is held.
    pub stress: f64,
    /// Stress at which the body gives way, Pa.
    pub strength: f64,
    /// Where the stress is largest, in the world, m.
    pub at: Point3<f64>,
}

impl AnchorLoad {
    /// Stress over strength: the body gives way above 1.
    pub fn utilization(&self) -> f64 {
        self.stress / self.strength
    }
}

/// A body that anchors hold: static, until they no longer do.
#[derive(Clone, Debug)]
pub(crate) struct Anchorage {
    pub(crate) mass: MassProperties,
    pub(crate) anchors: Arc<[Anchor]>,
    /// Stress at which they give way, Pa.
    pub(crate) strength: f64,
    /// Impulses of contacts and joints on the body in a frame, about its center of mass, averaged over some frames,
    /// N s and N m s.
    pub(crate) press: Momentum,
    /// Where it is held; known until a body that holds it breaks or goes.
    pub(crate) section: Option<Arc<Section>>,
}

impl Anchorage {
    pub(super) fn new(mass: MassProperties, anchors: Arc<[Anchor]>, strength: f64) -> Self {
        Self { mass, anchors, strength, press: Momentum::default(), section: None }
    }

    /// That of a piece of `mass` of the body.
    pub(crate) fn of_piece(&self, mass: MassProperties) -> Self {
        Self::new(mass, Arc::clone(&self.anchors), self.strength)
    }
}
