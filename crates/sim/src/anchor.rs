//! What holds bodies in place, and when it no longer does.

use std::sync::Arc;

use dynamics::{Body, MassProperties, Momentum};
use fracture::Geometry;
use levelset::{Grid, LevelSet};
use nalgebra::{Isometry3, Matrix3, Point3, UnitVector3, Vector3};

use crate::{BodyId, Report, Solid, World};

/// Holds what a body has in a region, to the world or to another body.
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
        /// Its centre.
        centre: Point3<f64>,
        /// Its radius.
        radius: f64,
    },
    /// A box.
    Cuboid {
        /// Its own coordinates, in which it is about the origin with edges along the axes, to
        /// the world's.
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
            Self::Ball { centre, radius } => (p - centre).norm() <= *radius,
            Self::Cuboid { pose, half } => {
                let p = pose.inverse_transform_point(p);
                (0..3).all(|a| p[a].abs() <= half[a])
            }
            Self::HalfSpace { normal, offset } => normal.dot(&p.coords) < *offset,
        }
    }
}

/// A body that anchors hold: static, until they no longer do.
#[derive(Clone, Debug)]
pub(crate) struct Anchorage {
    pub(crate) mass: MassProperties,
    pub(crate) anchors: Arc<[Anchor]>,
    /// Stress at which they give way, Pa.
    pub(crate) strength: f64,
}

impl World {
    /// Anchors a dynamic body with a solid: it stays where it is until what holds it
    /// breaks away, or its weight stresses what still holds it beyond `strength` Pa. `false`, and
    /// nothing is changed, if the body is none such or no sample of it is anchored.
    ///
    /// Its mass and potential energy still count as the world's.
    pub fn anchor(&mut self, id: BodyId, anchors: Vec<Anchor>, strength: f64) -> bool {
        let Ok(i) = self.ids.binary_search(&id) else { return false };
        let Body::Dynamic(mass) = self.bodies[i] else { return false };
        let Some(Solid { geometry, material }) = &self.solids[i] else { return false };
        let world = self.poses[i] * material.inverse();
        let is_held = self.held_nodes(geometry, &world, &anchors).contains(&true);
        if is_held {
            self.become_body(i, Body::Static);
            self.momenta[i] = Momentum::default();
            self.anchorages[i] = Some(Anchorage { mass, anchors: anchors.into(), strength });
        }
        is_held
    }

    /// Whether anchors hold the body named `id`.
    pub fn is_anchored(&self, id: BodyId) -> bool {
        self.ids.binary_search(&id).is_ok_and(|i| self.anchorages[i].is_some())
    }

    /// For each grid node of a solid, whether it is inside and an anchor holds it. The node nearest to the center
    /// of mass always counts as inside, since a splinter thinner than a cell may contain no node.
    pub(crate) fn held_nodes(
        &self,
        geometry: &Geometry,
        world: &Isometry3<f64>,
        anchors: &[Anchor],
    ) -> Vec<bool> {
        let level_set = geometry.level_set();
        let grid = level_set.grid();
        let center = nearest_node(grid, &geometry.moments().centre());
        let [_, ny, nz] = grid.dims();
        let reach = 1.5 * grid.spacing();
        let place =
            |node: usize| world * grid.position([node / (ny * nz), node / nz % ny, node % nz]);
        let mut held = vec![false; grid.node_count()];
        for anchor in anchors {
            let inside = level_set.as_slice().iter().map(|value| *value < 0.0);
            let mine: Vec<usize> = inside
                .enumerate()
                .filter(|&(node, inside)| {
                    (inside || node == center) && anchor.region.contains(&place(node))
                })
                .map(|(node, _)| node)
                .collect();
            // the region reaches into both bodies, which touch there
            let touches = anchor.to.is_none_or(|to| {
                self.is_fixed(to) && mine.iter().any(|&n| self.distance(to, &place(n)) < reach)
            });
            if touches {
                mine.into_iter().for_each(|node| held[node] = true);
            }
        }
        held
    }

    fn is_fixed(&self, id: BodyId) -> bool {
        self.ids.binary_search(&id).is_ok_and(|i| matches!(self.bodies[i], Body::Static))
    }

    fn distance(&self, id: BodyId, p: &Point3<f64>) -> f64 {
        let Ok(i) = self.ids.binary_search(&id) else { return f64::INFINITY };
        self.shapes[i].field().distance(&self.poses[i].inverse_transform_point(p))
    }

    /// Whether anchors hold a solid of `mass` kg with centre of mass `centre`, in its own
    /// coordinates that `world` takes to the world's, against its weight.
    ///
    /// Force and torque are carried by the section between what is held and what is not, as by a
    /// group of equal rivets: the stress at each is that of the force and, in proportion to the
    /// distance from their middle, of the torque.
    pub(crate) fn bears_weight(
        &self,
        level_set: &LevelSet,
        held: &[bool],
        world: &Isometry3<f64>,
        (mass, centre): (f64, &Point3<f64>),
        strength: f64,
    ) -> bool {
        if !held.contains(&true) {
            return false;
        }
        let rivets = section(level_set, held);
        if rivets.is_empty() || strength == f64::INFINITY {
            return true;
        }
        let area = level_set.grid().spacing().powi(2);
        let total = area * rivets.len() as f64;
        let middle = rivets.iter().map(|p| p.coords).sum::<Vector3<f64>>() / rivets.len() as f64;
        let weight = world.inverse_transform_vector(&(self.settings.gravity * mass));
        let torque = (centre.coords - middle).cross(&weight);
        let mut polar = Matrix3::zeros();
        for p in &rivets {
            let cross = (p.coords - middle).cross_matrix();
            polar += cross.transpose() * cross * area;
        }
        let Some(inverse) = polar.try_inverse() else { return torque == Vector3::zeros() };
        let turn = inverse * torque;
        let stress = |p: &Point3<f64>| (weight / total + turn.cross(&(p.coords - middle))).norm();
        rivets.iter().map(stress).fold(0.0, f64::max) <= strength
    }

    /// Replaces the `parent`, which broke, by its `fragments` in all anchors that refer to it.
    pub(crate) fn pass_anchors_on(&mut self, parent: BodyId, fragments: &[BodyId]) {
        for anchorage in self.anchorages.iter_mut().flatten() {
            if anchorage.anchors.iter().any(|anchor| anchor.to == Some(parent)) {
                let on = |anchor: &Anchor| {
                    let to = if anchor.to == Some(parent) { fragments } else { &[] };
                    let rest = to.is_empty().then(|| anchor.clone());
                    let region = &anchor.region;
                    let passed =
                        to.iter().map(|&id| Anchor { region: region.clone(), to: Some(id) });
                    passed.chain(rest).collect::<Vec<_>>()
                };
                anchorage.anchors = anchorage.anchors.iter().flat_map(on).collect();
            }
        }
    }

    /// Releases every body whose anchors no longer bear its weight.
    pub(crate) fn release_overloaded(&mut self, report: &mut Report) {
        // what is let go may have held others
        while let Some(i) = (0..self.len()).find(|&i| self.is_overloaded(i)) {
            if let Some(anchorage) = self.anchorages[i].take() {
                self.become_body(i, Body::Dynamic(anchorage.mass));
                report.released.push(self.ids[i]);
            }
        }
    }

    fn is_overloaded(&self, i: usize) -> bool {
        let Some(Anchorage { mass, anchors, strength }) = &self.anchorages[i] else { return false };
        // only what holds on to other bodies can lose its hold without breaking
        if anchors.iter().all(|anchor| anchor.to.is_none()) {
            return false;
        }
        let Some(Solid { geometry, material }) = &self.solids[i] else { return true };
        let level_set = geometry.level_set();
        let world = self.poses[i] * material.inverse();
        let held = self.held_nodes(geometry, &world, anchors);
        let centre = material * Point3::origin();
        !self.bears_weight(level_set, &held, &world, (mass.mass(), &centre), *strength)
    }
}

/// The node of a grid nearest to a point.
fn nearest_node(grid: &Grid, p: &Point3<f64>) -> usize {
    let (first, dims) = (grid.position([0; 3]), grid.dims());
    let along = |axis: usize| {
        let cells = ((p[axis] - first[axis]) / grid.spacing()).round();
        (cells.max(0.0) as usize).min(dims[axis] - 1)
    };
    grid.index([along(0), along(1), along(2)])
}

/// The middles of the edges of the grid from held inside nodes to other inside nodes.
fn section(level_set: &LevelSet, held: &[bool]) -> Vec<Point3<f64>> {
    let grid = level_set.grid();
    let [nx, ny, nz] = grid.dims();
    let samples = level_set.as_slice();
    let mut middles = Vec::new();
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                let here = [i, j, k];
                for (axis, n) in [nx, ny, nz].into_iter().enumerate() {
                    let mut next = here;
                    next[axis] += 1;
                    if next[axis] == n {
                        continue;
                    }
                    let [a, b] = [grid.index(here), grid.index(next)];
                    let inside = samples[a] < 0.0 && samples[b] < 0.0;
                    if inside && held[a] != held[b] {
                        middles.push(nalgebra::center(&grid.position(here), &grid.position(next)));
                    }
                }
            }
        }
    }
    middles
}
