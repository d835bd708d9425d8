//! A solid of revolution against a convex polyhedron.

use nalgebra::{Isometry3, Point3, Vector3};

use super::collector::{Collector, Edge, KEYS, Region, RegionSide, axis};
use super::search::{EVEN, least_along};
use crate::narrow::candidate::{Candidate, Side};
use crate::shape::polyhedron::Polyhedron;
use crate::shape::round::Round;

/// Tolerance of a corner on the plane of a face as a share of the polyhedron's size: faces this
/// close to coplanar are merged.
const ON_FACE: f64 = 1e-4;

/// Both solids in the coordinates of the solid of revolution.
pub(super) struct AgainstPolyhedron<'a> {
    /// The body that is the solid of revolution.
    owner: Side,
    round: &'a Round,
    solid: &'a Polyhedron,
    /// Maps to the coordinates of the polyhedron.
    map: &'a Isometry3<f64>,
    back: Isometry3<f64>,
    corners: Vec<Point3<f64>>,
}

/// The best separating axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separation {
    /// Separation along the axis, m; negative for a depth.
    pub(super) distance: f64,
    /// Unit vector out of the polyhedron.
    direction: Vector3<f64>,
    feature: Feature,
}

#[derive(Clone, Copy, Debug)]
enum Feature {
    /// A face of the polyhedron.
    Face(usize),
    /// A cap of the solid of revolution.
    Cap(usize),
    /// An edge of the polyhedron and a position on it, as a share of its length.
    Edge(usize, f64),
}

impl<'a> AgainstPolyhedron<'a> {
    pub(super) fn new(
        owner: Side,
        round: &'a Round,
        solid: &'a Polyhedron,
        map: &'a Isometry3<f64>,
    ) -> Self {
        let back = map.inverse();
        let corners = solid.corners().iter().map(|p| back * p).collect();
        Self { owner, round, solid, map, back, corners }
    }

    /// Contacts nearer than `margin`.
    pub(super) fn near(&self, margin: f64) -> Vec<Candidate> {
        let Self { owner, round, map, .. } = *self;
        let mut collector = Collector { owner, round, map, margin, found: Vec::new() };
        let best = self.separation(margin);
        if best.distance >= margin {
            return collector.found;
        }
        match best.feature {
            Feature::Face(face) => collector.on_face(&self.region(face), |edge| self.edge(edge)),
            Feature::Cap(end) => self.on_cap(end, &mut collector),
            Feature::Edge(edge, share) => {
                collector.on_edge(&self.edge(edge), share, &best.direction);
            }
        }
        if collector.found.is_empty() {
            // the supporting features do not overlap: an edge is nearest
            if let Some(Separation { direction, feature: Feature::Edge(edge, share), .. }) =
                self.by_edges(margin, None)
            {
                collector.on_edge(&self.edge(edge), share, &direction);
            }
        }
        collector.found
    }

    /// The best separating axis, or the first that separates the solids by `most` or more.
    pub(super) fn separation(&self, most: f64) -> Separation {
        let mut best = Separation {
            distance: f64::NEG_INFINITY,
            direction: Vector3::y(),
            feature: Feature::Cap(0),
        };
        for face in 0..self.solid.face_count() {
            let (direction, offset) = self.plane(face);
            let distance = -self.round.reach(&-direction) - offset;
            if distance > best.distance {
                best = Separation { distance, direction, feature: Feature::Face(face) };
            }
        }
        let slack = EVEN * self.round.radius();
        for end in 0..2 {
            let direction = -axis(end);
            let distance = self.along(&direction);
            if distance > best.distance + slack {
                best = Separation { distance, direction, feature: Feature::Cap(end) };
            }
        }
        if best.distance >= most {
            return best;
        }
        let by_edge = self.by_edges(most, Some(best.distance + slack));
        by_edge.unwrap_or(best)
    }

    /// The best separating axis among those of edges, if it separates the solids by more than
    /// `least`.
    fn by_edges(&self, most: f64, least: Option<f64>) -> Option<Separation> {
        let reach = self.round.radius() + most;
        let mut limit = least.unwrap_or(f64::NEG_INFINITY);
        let mut best = None;
        for (edge, ends) in self.solid.edges().enumerate() {
            let [from, to] = ends.map(|n| self.corners[n]);
            let along = to - from;
            // farther from the center than any point of the solid
            let nearest = (-from.coords.dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
            if (from.coords + along * nearest).norm_squared() > reach * reach {
                continue;
            }
            let gradient = |p: &Point3<f64>| self.round.distance_and_normal(p).1;
            let (share, out) = least_along(&from, &along, gradient);
            let direction = -out;
            let distance = self.along(&direction);
            if distance > limit {
                limit = distance;
                best =
                    Some(Separation { distance, direction, feature: Feature::Edge(edge, share) });
            }
        }
        best
    }

    /// Separation of the solid of revolution from the polyhedron along `direction`, m.
    fn along(&self, direction: &Vector3<f64>) -> f64 {
        let heights = self.corners.iter().map(|p| direction.dot(&p.coords));
        -self.round.reach(&-direction) - heights.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Normal and offset of a face.
    fn plane(&self, face: usize) -> (Vector3<f64>, f64) {
        let (normal, offset) = self.solid.plane(face);
        let turned = self.back.rotation * normal;
        (turned, offset + turned.dot(&self.back.translation.vector))
    }

    fn region(&self, face: usize) -> Region {
        let (normal, offset) = self.plane(face);
        let size = self.solid.reach();
        let is_on = |p: &Point3<f64>| (normal.dot(&p.coords) - offset).abs() <= ON_FACE * size;
        let on: Vec<_> = self.corners.iter().filter(|p| is_on(p)).map(|p| p.coords).collect();
        let middle = on.iter().sum::<Vector3<f64>>() / on.len().max(1) as f64;
        let side = |(edge, ends): (usize, [usize; 2])| {
            let [from, to] = ends.map(|n| self.corners[n]);
            if !is_on(&from) || !is_on(&to) {
                return None;
            }
            let out = normal.cross(&(to - from)).try_normalize(0.0)?;
            let out = if out.dot(&(middle - from.coords)) > 0.0 { -out } else { out };
            Some(RegionSide { edge, out, offset: out.dot(&from.coords), is_bent: true })
        };
        let sides = self.solid.edges().enumerate().filter_map(side).collect();
        Region { normal, offset, sides, first_key: 0 }
    }

    fn edge(&self, edge: usize) -> Edge {
        let ends = self.solid.edge(edge);
        Edge {
            ends: ends.map(|n| self.corners[n]),
            places: ends.map(|n| self.solid.corners()[n]),
            end_keys: ends.map(|n| n as u32),
            first_key: self.corners.len() as u32 + KEYS * edge as u32,
        }
    }

    /// Adds the parts of the polyhedron over a cap, and the rim where a face is level with it.
    fn on_cap(&self, end: usize, collector: &mut Collector<'_>) {
        let direction = -axis(end);
        for edge in 0..self.solid.edge_count() {
            collector.under_cap(end, &self.edge(edge), &direction);
        }
        let up = |face: &usize| self.plane(*face).0.dot(&direction);
        let facing = (0..self.solid.face_count()).max_by(|p, q| up(p).total_cmp(&up(q)));
        if let Some(face) = facing.filter(|&f| collector.is_level(end, &self.plane(f).0)) {
            collector.rim_points(&self.region(face), &direction);
        }
    }
}
