//! Anchors of bodies and their loads.

use std::sync::Arc;

use dynamics::{MassProperties, Momentum};
use levelset::Grid;
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

    /// A lower bound of the signed distance from the surface of the region to `p`, m, negative inside. It is
    /// 1-Lipschitz: a step of `d` m changes it by at most `d`.
    fn bound(&self, p: &Point3<f64>) -> f64 {
        match self {
            Self::Everywhere => f64::NEG_INFINITY,
            Self::Ball { center, radius } => (p - center).norm() - radius,
            Self::Cuboid { pose, half } => {
                (pose.inverse_transform_point(p).coords.abs() - half).max()
            }
            Self::HalfSpace { normal, offset } => normal.dot(&p.coords) - offset,
        }
    }

    /// Indices of the grid nodes in the region for which `is_wanted` holds, in no particular order. `world` maps
    /// coordinates of the grid to those of the world.
    ///
    /// Blocks of nodes that are entirely inside or outside the region need a single distance.
    pub(crate) fn nodes(
        &self,
        grid: &Grid,
        world: &Isometry3<f64>,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut found = Vec::new();
        let mut blocks = vec![Block { first: [0; 3], last: grid.dims().map(|n| n - 1) }];
        while let Some(block) = blocks.pop() {
            let [low, high] = [block.first, block.last].map(|node| grid.position(node));
            let center = world * nalgebra::center(&low, &high);
            let (bound, radius) = (self.bound(&center), 0.5 * (high - low).norm());
            let reach = radius + ROUND_OFF * (radius + center.coords.norm());
            if bound > reach {
                continue;
            }
            if bound < -reach {
                found.extend(block.nodes().map(|node| grid.index(node)).filter(|&n| is_wanted(n)));
            } else if let Some(halves) = block.halves() {
                blocks.extend(halves);
            } else {
                let wanted = block.nodes().filter(|&node| is_wanted(grid.index(node)));
                let inside = wanted.filter(|&node| self.contains(&(world * grid.position(node))));
                found.extend(inside.map(|node| grid.index(node)));
            }
        }
        found
    }
}

/// Tolerance of a distance, relative to coordinates: far above their round-off. Blocks closer to the surface of the
/// region are divided, and their nodes tested one by one.
const ROUND_OFF: f64 = 1e-9;
/// Largest number of nodes along an edge of a block that is not divided: the distance of a smaller block would save
/// the tests of few nodes.
const UNDIVIDED: usize = 4;

/// A block of grid nodes, by its first and its last node along each axis.
#[derive(Clone, Copy)]
struct Block {
    first: [usize; 3],
    last: [usize; 3],
}

impl Block {
    /// The halves of the block along its longest axis; `None` if no edge has more than [`UNDIVIDED`] nodes.
    fn halves(&self) -> Option<[Self; 2]> {
        let Self { first, last } = *self;
        let axis = (0..3).max_by_key(|&axis| last[axis] - first[axis])?;
        if last[axis] - first[axis] < UNDIVIDED {
            return None;
        }
        let middle = first[axis].midpoint(last[axis]);
        let (mut low, mut high) = (*self, *self);
        (low.last[axis], high.first[axis]) = (middle, middle + 1);
        Some([low, high])
    }

    fn nodes(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let Self { first: [i, j, k], last: [l, m, n] } = *self;
        (i..=l).flat_map(move |i| (j..=m).flat_map(move |j| (k..=n).map(move |k| [i, j, k])))
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

#[cfg(test)]
mod tests {
    use nalgebra::{Translation3, UnitQuaternion};
    use proptest::prelude::*;

    use super::*;

    fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
        prop::array::uniform3(-size..size).prop_map(Vector3::from)
    }

    fn pose() -> impl Strategy<Value = Isometry3<f64>> {
        (vector(1.0), vector(3.0)).prop_map(|(place, turn)| {
            let rotation = UnitQuaternion::from_scaled_axis(turn);
            Isometry3::from_parts(Translation3::from(place), rotation)
        })
    }

    fn region() -> impl Strategy<Value = Region> {
        let ball = (vector(1.0), 0.0..1.5f64)
            .prop_map(|(center, radius)| Region::Ball { center: center.into(), radius });
        let cuboid = (pose(), vector(1.0))
            .prop_map(|(pose, half)| Region::Cuboid { pose, half: half.abs() });
        let half_space = (vector(1.0), -1.0..1.0f64).prop_map(|(normal, offset)| {
            let normal = UnitVector3::new_normalize(normal + Vector3::x() * 2.0);
            Region::HalfSpace { normal, offset }
        });
        prop_oneof![Just(Region::Everywhere), ball, cuboid, half_space]
    }

    proptest! {
        /// The search by blocks finds the same nodes as a test of every node.
        #[test]
        fn nodes_of_a_region_are_all_that_it_contains(
            region in region(), world in pose(), half in vector(0.6), spacing in 0.04..0.2,
            rest in 0..4usize,
        ) {
            let bounds = levelset::Aabb { min: (-half.abs()).into(), max: half.abs().into() };
            let grid = Grid::enclosing(&bounds, spacing, 1, Grid::MAX_NODES).expect("a small grid");
            let is_wanted = |n: usize| n % 4 != rest;
            let mut found = region.nodes(&grid, &world, is_wanted);
            found.sort_unstable();
            let inside = |n: &usize| region.contains(&(world * grid.position(grid.node(*n))));
            let all = (0..grid.node_count()).filter(|&n| is_wanted(n)).filter(inside);
            prop_assert_eq!(found, all.collect::<Vec<usize>>());
        }
    }
}
