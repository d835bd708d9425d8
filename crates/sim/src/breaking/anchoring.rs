//! Anchoring bodies, and releasing them when nothing supports them any more.

use std::borrow::Cow;

use dynamics::{Body, Momentum};
use fracture::Geometry;
use levelset::{Grid, LevelSet};
use nalgebra::{Isometry3, Point3};

use crate::breaking::anchor::Anchorage;
use crate::breaking::section::{Held, Section};
use crate::{Anchor, BodyId, Events, Solid, World};

impl World {
    /// Anchors a dynamic body: it is fixed until its anchors break away, or its load stresses the
    /// anchored section beyond `strength` Pa. Returns `false`, without effect, if it is not dynamic,
    /// no sample of it is anchored, or it has no solid and its shape is not convex.
    ///
    /// Its mass and potential energy still count in the world.
    pub fn anchor(&mut self, id: BodyId, anchors: Vec<Anchor>, strength: f64) -> bool {
        let Ok(i) = self.ids.binary_search(&id) else { return false };
        let Body::Dynamic(mass) = self.bodies[i] else { return false };
        let Some(solid) = self.solid(i).map(Cow::into_owned) else { return false };
        let world = self.poses[i] * solid.material.inverse();
        let is_held = self.held(&solid.geometry, &world, &anchors).any;
        if is_held {
            self.details[i].solid = Some(solid);
            self.become_body(i, Body::Static);
            self.momenta[i] = Momentum::default();
            self.details[i].anchorage = Some(Anchorage::new(mass, anchors.into(), strength));
        }
        is_held
    }

    /// Whether body `id` is anchored.
    pub fn is_anchored(&self, id: BodyId) -> bool {
        self.ids.binary_search(&id).is_ok_and(|i| self.details[i].anchorage.is_some())
    }

    /// The anchored samples of a solid. The node nearest to the center of mass always counts as
    /// inside, since a splinter thinner than a cell may contain no node.
    pub(crate) fn held(
        &self,
        geometry: &Geometry,
        world: &Isometry3<f64>,
        anchors: &[Anchor],
    ) -> Held {
        let level_set = geometry.level_set();
        let grid = level_set.grid();
        let center = nearest_node(grid, &geometry.moments().center());
        let (reach, rim) = (1.5 * grid.spacing(), 0.5 * grid.spacing());
        let samples = level_set.as_slice();
        let place = |node: usize| world * grid.position(grid.node(node));
        let is_solid = |node: usize| f64::from(samples[node]) < rim || node == center;
        let is_inside = |node: usize| samples[node] < 0.0 || node == center;
        let mut held = Held { by: vec![None; grid.node_count()], any: false };
        for (number, anchor) in (0..).zip(anchors) {
            let mine = anchor.region.nodes(grid, world, is_solid);
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

    /// Whether anchors support a solid of `mass` kg against its weight. `center` is its center of
    /// mass in its own coordinates, which `world` maps to those of the world.
    pub(crate) fn anchors_support(
        &self,
        level_set: &LevelSet,
        held: &Held,
        world: &Isometry3<f64>,
        mass: f64,
        center: &Point3<f64>,
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

    /// Replaces the broken `parent` by its `fragments` in all anchors that refer to it.
    pub(crate) fn pass_anchors_on(&mut self, parent: BodyId, fragments: &[BodyId]) {
        for anchorage in self.details.iter_mut().filter_map(|own| own.anchorage.as_mut()) {
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
    pub(crate) fn release_overloaded(&mut self, events: &mut Events) {
        // a released body may have supported others
        while let Some(i) = (0..self.len()).find(|&i| self.is_overloaded(i)) {
            self.release(i, events);
        }
    }

    /// Releases an anchored body.
    pub(crate) fn release(&mut self, i: usize, events: &mut Events) {
        if let Some(anchorage) = self.details[i].anchorage.take() {
            self.become_body(i, Body::Dynamic(anchorage.mass));
            events.released.push(self.ids[i]);
        }
    }

    fn is_overloaded(&self, i: usize) -> bool {
        let Some(Anchorage { mass, anchors, strength, .. }) = &self.details[i].anchorage else {
            return false;
        };
        // only anchors to other bodies can be lost while the body itself stays whole
        if anchors.iter().all(|anchor| anchor.to.is_none()) {
            return false;
        }
        let Some(Solid { geometry, material }) = &self.details[i].solid else { return true };
        let level_set = geometry.level_set();
        let world = self.poses[i] * material.inverse();
        let held = self.held(geometry, &world, anchors);
        let center = material * Point3::origin();
        !self.anchors_support(level_set, &held, &world, mass.mass(), &center, *strength)
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
