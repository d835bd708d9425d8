//! A solid of revolution against a convex polyhedron.

use nalgebra::{Isometry3, Point3, Vector3};

use super::search::{EVEN, in_column, least_along};
use crate::narrow::candidate::{Candidate, Side};
use crate::shape::polyhedron::Polyhedron;
use crate::shape::round::Round;

/// Tolerance of a corner on the plane of a face as a share of the polyhedron's size: faces this
/// close to coplanar are merged.
const ON_FACE: f64 = 1e-4;

/// First key of points that are not at fixed angles of a rim of the solid of revolution.
const FIRST_KEY: u32 = 8;
/// Keys per edge of the polyhedron: both ends of its part on a cap or side, and its nearest point.
const KEYS: u32 = 3;

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

/// The Voronoi region of a face: its plane and the planes through its edges across it.
struct Region {
    normal: Vector3<f64>,
    offset: f64,
    /// Edge, unit normal out of the face and offset.
    sides: Vec<(usize, Vector3<f64>, f64)>,
}

impl Region {
    fn height(&self, p: &Point3<f64>) -> f64 {
        self.normal.dot(&p.coords) - self.offset
    }

    fn contains(&self, p: &Point3<f64>, slack: f64) -> bool {
        self.sides.iter().all(|(_, normal, offset)| normal.dot(&p.coords) - offset <= slack)
    }

    /// The part of a segment over the face, as shares of its length, and the edges that bound it.
    fn clip(&self, [from, to]: &[Point3<f64>; 2]) -> Option<[(f64, Option<usize>); 2]> {
        let mut part = [(0.0, None), (1.0, None)];
        for &(edge, normal, offset) in &self.sides {
            let [p, q] = [from, to].map(|p| normal.dot(&p.coords) - offset);
            if p > 0.0 && q > 0.0 {
                return None;
            }
            let share = p / (p - q);
            if p > 0.0 && share > part[0].0 {
                part[0] = (share, Some(edge));
            } else if q > 0.0 && share < part[1].0 {
                part[1] = (share, Some(edge));
            }
        }
        (part[0].0 < part[1].0).then_some(part)
    }
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
        let mut found = Vec::new();
        let best = self.separation(margin);
        if best.distance >= margin {
            return found;
        }
        match best.feature {
            Feature::Face(face) => self.on_face(face, margin, &mut found),
            Feature::Cap(end) => self.on_cap(end, margin, &mut found),
            Feature::Edge(edge, share) => {
                self.on_edge(edge, share, &best.direction, margin, &mut found);
            }
        }
        if found.is_empty() {
            // the supporting features do not overlap: an edge is nearest
            if let Some(Separation { direction, feature: Feature::Edge(edge, share), .. }) =
                self.by_edges(margin, None)
            {
                self.on_edge(edge, share, &direction, margin, &mut found);
            }
        }
        found
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
            Some((edge, out, out.dot(&from.coords)))
        };
        Region { normal, offset, sides: self.solid.edges().enumerate().filter_map(side).collect() }
    }

    /// A candidate on the solid of revolution; `direction` leads out of the polyhedron.
    fn own(
        &self,
        key: u32,
        point: Point3<f64>,
        direction: &Vector3<f64>,
        distance: f64,
    ) -> Candidate {
        let normal = Some(self.map.rotation * direction);
        Candidate { owner: self.owner, point, normal, key, distance }
    }

    /// A candidate on an edge of the polyhedron; `direction` leads out of the polyhedron.
    fn of_edge(
        &self,
        (edge, share, place): (usize, f64, u32),
        direction: &Vector3<f64>,
        distance: f64,
    ) -> Candidate {
        let owner = if self.owner == Side::A { Side::B } else { Side::A };
        let ends = self.solid.edge(edge);
        let [from, to] = ends.map(|n| self.solid.corners()[n]);
        let count = self.corners.len() as u32;
        let key = match share {
            0.0 => ends[0] as u32,
            1.0 => ends[1] as u32,
            _ => count + KEYS * edge as u32 + place,
        };
        Candidate {
            owner,
            point: from + (to - from) * share,
            normal: Some(-direction),
            key,
            distance,
        }
    }

    /// Whether a cap is so nearly parallel to a plane with this normal that its rim is within the
    /// margin.
    fn is_level(&self, end: usize, normal: &Vector3<f64>, margin: f64) -> bool {
        let across = (normal.x * normal.x + normal.z * normal.z).sqrt();
        let rim = &self.round.rims()[end];
        rim.radius > 0.0 && rim.radius * across < margin && normal.dot(&axis(end)) < 0.0
    }

    /// The supporting points of the solid of revolution over a face, and the part of the face's
    /// outline under a cap.
    fn on_face(&self, face: usize, margin: f64, found: &mut Vec<Candidate>) {
        let region = self.region(face);
        let down = -region.normal;
        self.rim_points(&region, &region.normal, margin, found);
        let ends = self.round.farthest(&down);
        let heights = ends.map(|p| region.height(&p));
        for (place, (share, edge)) in region.clip(&ends).into_iter().flatten().enumerate() {
            let Some(edge) = edge else { continue };
            let distance = heights[0] + (heights[1] - heights[0]) * share;
            if distance < margin {
                let key = FIRST_KEY + 2 * edge as u32 + place as u32;
                let point = ends[0] + (ends[1] - ends[0]) * share;
                found.push(self.own(key, point, &region.normal, distance));
            }
        }
        for end in (0..2).filter(|&end| self.is_level(end, &region.normal, margin)) {
            let edges = region.sides.iter().map(|side| side.0);
            self.under_cap(end, edges, &region.normal, margin, found);
        }
    }

    fn rim_points(
        &self,
        region: &Region,
        direction: &Vector3<f64>,
        margin: f64,
        found: &mut Vec<Candidate>,
    ) {
        for (key, point) in self.round.around(&-region.normal) {
            let distance = region.height(&point);
            if distance < margin && region.contains(&point, EVEN * margin) {
                found.push(self.own(key, point, direction, distance));
            }
        }
    }

    /// The ends of the parts of edges over a cap.
    fn under_cap(
        &self,
        end: usize,
        edges: impl Iterator<Item = usize>,
        direction: &Vector3<f64>,
        margin: f64,
        found: &mut Vec<Candidate>,
    ) {
        let rim = self.round.rims()[end];
        let out = axis(end);
        let offset = out.y * rim.height + self.round.rounding();
        for edge in edges {
            let [from, to] = self.solid.edge(edge).map(|n| self.corners[n]);
            let [low, high] = [from, to].map(|p| out.y * p.y - offset);
            if low.min(high) >= margin {
                continue;
            }
            let radius = rim.radius * (1.0 + EVEN);
            let Some(part) = in_column(&from, &to, radius) else { continue };
            for (place, share) in part.into_iter().enumerate() {
                let distance = low + (high - low) * share;
                let candidate = self.of_edge((edge, share, place as u32), direction, distance);
                let is_known = |c: &Candidate| c.owner == candidate.owner && c.key == candidate.key;
                if distance < margin && !found.iter().any(is_known) {
                    found.push(candidate);
                }
            }
        }
    }

    /// The parts of the polyhedron over a cap, and the rim where a face is level with it.
    fn on_cap(&self, end: usize, margin: f64, found: &mut Vec<Candidate>) {
        let direction = -axis(end);
        self.under_cap(end, 0..self.solid.edge_count(), &direction, margin, found);
        let up = |face: &usize| self.plane(*face).0.dot(&direction);
        let facing = (0..self.solid.face_count()).max_by(|p, q| up(p).total_cmp(&up(q)));
        if let Some(face) = facing.filter(|&f| self.is_level(end, &self.plane(f).0, margin)) {
            self.rim_points(&self.region(face), &direction, margin, found);
        }
    }

    /// The nearest point of an edge, and the ends of its part along the side.
    fn on_edge(
        &self,
        edge: usize,
        nearest: f64,
        direction: &Vector3<f64>,
        margin: f64,
        found: &mut Vec<Candidate>,
    ) {
        let [from, to] = self.solid.edge(edge).map(|n| self.corners[n]);
        let along = to - from;
        let [low, high] = self.round.rims().map(|rim| rim.height);
        let part = if along.y == 0.0 {
            [0.0, 1.0]
        } else {
            let [p, q] = [(low - from.y) / along.y, (high - from.y) / along.y];
            [p.min(q).clamp(0.0, 1.0), p.max(q).clamp(0.0, 1.0)]
        };
        for (place, share) in [(2, nearest), (0, part[0]), (1, part[1])] {
            let distance = self.round.distance_and_normal(&(from + along * share)).0;
            if distance < margin {
                found.push(self.of_edge((edge, share, place), direction, distance));
            }
        }
    }
}

/// The outward direction of a cap.
pub(super) fn axis(end: usize) -> Vector3<f64> {
    if end == 0 { -Vector3::y() } else { Vector3::y() }
}
