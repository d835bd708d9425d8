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
        /// Its center.
        center: Point3<f64>,
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
            Self::Ball { center, radius } => (p - center).norm() <= *radius,
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
    /// What contacts and joints do to the body in a frame, about its center of mass, averaged over some frames, N s
    /// and N m s.
    pub(crate) press: Momentum,
    /// Where it is held; known until a body that holds it breaks or goes.
    pub(crate) section: Option<Arc<Section>>,
}

impl Anchorage {
    fn new(mass: MassProperties, anchors: Arc<[Anchor]>, strength: f64) -> Self {
        Self { mass, anchors, strength, press: Momentum::default(), section: None }
    }

    /// That of a piece of `mass` of the body.
    pub(crate) fn of_piece(&self, mass: MassProperties) -> Self {
        Self::new(mass, Arc::clone(&self.anchors), self.strength)
    }
}

/// Which samples of a solid anchors hold.
pub(crate) struct Held {
    /// The number of the anchor, for each grid node that is inside or less than half a cell outside.
    by: Vec<Option<u32>>,
    /// Whether one of the nodes inside is held.
    pub(crate) any: bool,
}

impl World {
    /// Anchors a dynamic body with a solid: it stays where it is until what holds it
    /// breaks away, or what it bears stresses what still holds it beyond `strength` Pa. `false`, and
    /// nothing is changed, if the body is none such or no sample of it is anchored.
    ///
    /// Its mass and potential energy still count as the world's.
    pub fn anchor(&mut self, id: BodyId, anchors: Vec<Anchor>, strength: f64) -> bool {
        let Ok(i) = self.ids.binary_search(&id) else { return false };
        let Body::Dynamic(mass) = self.bodies[i] else { return false };
        let Some(Solid { geometry, material }) = &self.solids[i] else { return false };
        let world = self.poses[i] * material.inverse();
        let is_held = self.held(geometry, &world, &anchors).any;
        if is_held {
            self.become_body(i, Body::Static);
            self.momenta[i] = Momentum::default();
            self.anchorages[i] = Some(Anchorage::new(mass, anchors.into(), strength));
        }
        is_held
    }

    /// Whether anchors hold the body named `id`.
    pub fn is_anchored(&self, id: BodyId) -> bool {
        self.ids.binary_search(&id).is_ok_and(|i| self.anchorages[i].is_some())
    }

    /// What anchors hold of a solid. The node nearest to the center of mass always counts as inside, since a
    /// splinter thinner than a cell may contain no node.
    pub(crate) fn held(
        &self,
        geometry: &Geometry,
        world: &Isometry3<f64>,
        anchors: &[Anchor],
    ) -> Held {
        let level_set = geometry.level_set();
        let grid = level_set.grid();
        let center = nearest_node(grid, &geometry.moments().center());
        let [_, ny, nz] = grid.dims();
        let (reach, rim) = (1.5 * grid.spacing(), 0.5 * grid.spacing());
        let samples = level_set.as_slice();
        let place =
            |node: usize| world * grid.position([node / (ny * nz), node / nz % ny, node % nz]);
        let is_inside = |node: usize| samples[node] < 0.0 || node == center;
        let mut held = Held { by: vec![None; grid.node_count()], any: false };
        for (number, anchor) in (0..).zip(anchors) {
            let mine: Vec<usize> = (0..samples.len())
                .filter(|&node| f64::from(samples[node]) < rim || node == center)
                .filter(|&node| anchor.region.contains(&place(node)))
                .collect();
            let mut inside = mine.iter().filter(|&&node| is_inside(node)).peekable();
            if inside.peek().is_none() {
                continue;
            }
            // the region reaches into both bodies, which touch there
            let touches = anchor.to.is_none_or(|to| {
                self.is_fixed(to) && inside.any(|&n| self.distance(to, &place(n)) < reach)
            });
            if touches {
                held.any = true;
                mine.into_iter().for_each(|node| held.by[node] = Some(number));
            }
        }
        held
    }

    pub(crate) fn is_fixed(&self, id: BodyId) -> bool {
        self.ids.binary_search(&id).is_ok_and(|i| matches!(self.bodies[i], Body::Static))
    }

    fn distance(&self, id: BodyId, p: &Point3<f64>) -> f64 {
        let Ok(i) = self.ids.binary_search(&id) else { return f64::INFINITY };
        self.shapes[i].field().distance(&self.poses[i].inverse_transform_point(p))
    }

    /// Whether anchors hold a solid of `mass` kg with center of mass `center`, in its own
    /// coordinates that `world` takes to the world's, against its weight.
    pub(crate) fn bears_weight(
        &self,
        level_set: &LevelSet,
        held: &Held,
        world: &Isometry3<f64>,
        (mass, center): (f64, &Point3<f64>),
        strength: f64,
    ) -> bool {
        if !held.any {
            return false;
        }
        if strength == f64::INFINITY {
            return true;
        }
        let section = Section::new(level_set, held);
        let weight = world.inverse_transform_vector(&(self.settings.gravity * mass));
        let torque = (center - section.middle).cross(&weight);
        section.stress(&weight, &torque) <= strength
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
                anchorage.section = None;
            }
        }
    }

    /// Releases every body whose anchors no longer bear its weight.
    pub(crate) fn release_overloaded(&mut self, report: &mut Report) {
        // what is let go may have held others
        while let Some(i) = (0..self.len()).find(|&i| self.is_overloaded(i)) {
            self.release(i, report);
        }
    }

    /// Lets a body go that anchors held.
    pub(crate) fn release(&mut self, i: usize, report: &mut Report) {
        if let Some(anchorage) = self.anchorages[i].take() {
            self.become_body(i, Body::Dynamic(anchorage.mass));
            report.released.push(self.ids[i]);
        }
    }

    fn is_overloaded(&self, i: usize) -> bool {
        let Some(Anchorage { mass, anchors, strength, .. }) = &self.anchorages[i] else {
            return false;
        };
        // only what holds on to other bodies can lose its hold without breaking
        if anchors.iter().all(|anchor| anchor.to.is_none()) {
            return false;
        }
        let Some(Solid { geometry, material }) = &self.solids[i] else { return true };
        let level_set = geometry.level_set();
        let world = self.poses[i] * material.inverse();
        let held = self.held(geometry, &world, anchors);
        let center = material * Point3::origin();
        !self.bears_weight(level_set, &held, &world, (mass.mass(), &center), *strength)
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

/// The section between what anchors hold of a solid and what they do not.
///
/// It carries force and torque as a group of rivets does: the stress at each is that of the force and, in proportion
/// to the distance from their middle, of the torque.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Section {
    pub(crate) rivets: Vec<Rivet>,
    /// Their center of area, in the coordinates of the solid, m.
    pub(crate) middle: Point3<f64>,
    /// m^2.
    area: f64,
    /// The inverse of their second moment of area, if they resist torque about all axes, 1/m^4.
    inverse: Option<Matrix3<f64>>,
}

/// Where material that is held meets other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rivet {
    /// In the coordinates of the solid, m.
    pub(crate) at: Point3<f64>,
    /// m^2.
    pub(crate) area: f64,
    /// The number of the anchor that holds it.
    pub(crate) anchor: u32,
}

impl Section {
    /// A rivet for each edge of the grid from a node that is held to another one. Nodes by the surface count as far
    /// as their cell is inside.
    pub(crate) fn new(level_set: &LevelSet, held: &Held) -> Self {
        let grid = level_set.grid();
        let [nx, ny, nz] = grid.dims();
        let (samples, h) = (level_set.as_slice(), grid.spacing());
        let mut rivets = Vec::new();
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
                        let is_solid = |node: usize| f64::from(samples[node]) < 0.5 * h;
                        let (p, q) = (held.by[a], held.by[b]);
                        let Some(anchor) = p.xor(q).filter(|_| is_solid(a) && is_solid(b)) else {
                            continue;
                        };
                        let middle = 0.5 * f64::from(samples[a] + samples[b]);
                        let area = h * h * (0.5 - middle / h).clamp(0.0, 1.0);
                        if area > 0.0 {
                            let at = nalgebra::center(&grid.position(here), &grid.position(next));
                            rivets.push(Rivet { at, area, anchor });
                        }
                    }
                }
            }
        }
        Self::of(rivets)
    }

    fn of(rivets: Vec<Rivet>) -> Self {
        let area: f64 = rivets.iter().map(|rivet| rivet.area).sum();
        let sum: Vector3<f64> = rivets.iter().map(|rivet| rivet.at.coords * rivet.area).sum();
        let middle = if area > 0.0 { Point3::from(sum / area) } else { Point3::origin() };
        let mut polar = Matrix3::zeros();
        for rivet in &rivets {
            let cross = (rivet.at - middle).cross_matrix();
            polar += cross.transpose() * cross * rivet.area;
        }
        Self { rivets, middle, area, inverse: polar.try_inverse() }
    }

    /// The stress at each rivet, N/m^2 as a vector, under a force in N and a torque about the middle in N m, both in
    /// the coordinates of the solid.
    pub(crate) fn stresses(
        &self,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
    ) -> impl Iterator<Item = (&Rivet, Vector3<f64>)> {
        let turn = self.inverse.map_or_else(Vector3::zeros, |inverse| inverse * torque);
        let mean = force / self.area;
        self.rivets.iter().map(move |rivet| (rivet, mean + turn.cross(&(rivet.at - self.middle))))
    }

    /// The largest of them, Pa; zero if the solid is held as a whole.
    pub(crate) fn stress(&self, force: &Vector3<f64>, torque: &Vector3<f64>) -> f64 {
        if self.inverse.is_none() && !self.rivets.is_empty() && *torque != Vector3::zeros() {
            return f64::INFINITY;
        }
        self.stresses(force, torque).map(|(_, stress)| stress.norm()).fold(0.0, f64::max)
    }
}
