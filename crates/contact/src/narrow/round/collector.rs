//! Candidates of a solid of revolution near faces and edges of another solid.

use nalgebra::{Isometry3, Point3, Vector3};

use super::search::{EVEN, in_column};
use crate::narrow::candidate::{Candidate, Side};
use crate::shape::round::Round;

/// First key of points of a face that are not at fixed angles of a rim of the solid of revolution.
const FIRST_KEY: u32 = 8;
/// Keys per edge: both ends of its part on a cap or side, and its nearest point.
pub(super) const KEYS: u32 = 3;

/// Largest angle between the normals at two points of an edge that form one line contact, rad. An edge
/// across the side of a round body touches it at a single point. A body that rolls approaches a second
/// point at this angle by a thousandth of its speed.
const PARALLEL: f64 = 1e-3;

/// An edge of the other solid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// In coordinates of the solid of revolution.
    pub(super) ends: [Point3<f64>; 2],
    /// In coordinates of the other solid.
    pub(super) places: [Point3<f64>; 2],
    pub(super) end_keys: [u32; 2],
    /// The first of [`KEYS`].
    pub(super) first_key: u32,
}

/// The Voronoi region of a face: its plane and the planes through its edges across it.
pub(super) struct Region {
    pub(super) normal: Vector3<f64>,
    pub(super) offset: f64,
    pub(super) sides: Vec<RegionSide>,
    /// Key of its first point.
    pub(super) first_key: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RegionSide {
    /// Number of the edge.
    pub(super) edge: usize,
    /// Unit normal out of the face.
    pub(super) out: Vector3<f64>,
    pub(super) offset: f64,
    /// Whether the surface bends there. Contacts at edges inside a flat surface are redundant.
    pub(super) is_bent: bool,
}

impl Region {
    /// Height of a point above the face, m.
    pub(super) fn height(&self, p: &Point3<f64>) -> f64 {
        self.normal.dot(&p.coords) - self.offset
    }

    pub(super) fn contains(&self, p: &Point3<f64>, slack: f64) -> bool {
        self.sides.iter().all(|side| side.out.dot(&p.coords) - side.offset <= slack)
    }

    /// The part of a segment over the face, as shares of its length, and the sides that bound it.
    fn clip(&self, [from, to]: &[Point3<f64>; 2]) -> Option<[(f64, Option<RegionSide>); 2]> {
        let mut part = [(0.0, None), (1.0, None)];
        for side in &self.sides {
            let [p, q] = [from, to].map(|p| side.out.dot(&p.coords) - side.offset);
            if p > 0.0 && q > 0.0 {
                return None;
            }
            let share = p / (p - q);
            if p > 0.0 && share > part[0].0 {
                part[0] = (share, Some(*side));
            } else if q > 0.0 && share < part[1].0 {
                part[1] = (share, Some(*side));
            }
        }
        (part[0].0 < part[1].0).then_some(part)
    }
}

/// Collects the candidates nearer than a margin. Directions and regions are in coordinates of the
/// solid of revolution.
pub(super) struct Collector<'a> {
    /// The body that is the solid of revolution.
    pub(super) owner: Side,
    pub(super) round: &'a Round,
    /// Maps to the coordinates of the other solid.
    pub(super) map: &'a Isometry3<f64>,
    pub(super) margin: f64,
    pub(super) found: Vec<Candidate>,
}

impl Collector<'_> {
    /// Adds a point of the solid of revolution; `direction` leads out of the other solid.
    fn add_own(&mut self, key: u32, point: Point3<f64>, direction: &Vector3<f64>, distance: f64) {
        if distance < self.margin {
            let normal = Some(self.map.rotation * direction);
            self.found.push(Candidate { owner: self.owner, point, normal, key, distance });
        }
    }

    /// Adds a point of an edge at a share of its length, unless it is known; `direction` leads out
    /// of its solid.
    fn add_of_edge(
        &mut self,
        edge: &Edge,
        share: f64,
        place: u32,
        direction: &Vector3<f64>,
        distance: f64,
    ) {
        let owner = if self.owner == Side::A { Side::B } else { Side::A };
        let [from, to] = edge.places;
        let key = match share {
            0.0 => edge.end_keys[0],
            1.0 => edge.end_keys[1],
            _ => edge.first_key + place,
        };
        let is_known = |c: &Candidate| c.owner == owner && c.key == key;
        if distance < self.margin && !self.found.iter().any(is_known) {
            let (point, normal) = (from + (to - from) * share, Some(-direction));
            self.found.push(Candidate { owner, point, normal, key, distance });
        }
    }

    /// Whether a cap is so nearly parallel to a plane with this normal that its rim is within the
    /// margin.
    pub(super) fn is_level(&self, end: usize, normal: &Vector3<f64>) -> bool {
        let across = (normal.x * normal.x + normal.z * normal.z).sqrt();
        let rim = &self.round.rims()[end];
        rim.radius > 0.0 && rim.radius * across < self.margin && normal.dot(&axis(end)) < 0.0
    }

    /// Adds the supporting points of the solid of revolution over a face, and the part of the
    /// face's outline under a cap.
    pub(super) fn on_face(&mut self, region: &Region, edge: impl Fn(usize) -> Edge) {
        self.rim_points(region, &region.normal);
        self.on_generator(region);
        let level = [0, 1].map(|end| self.is_level(end, &region.normal));
        for end in (0..2).filter(|&end| level[end]) {
            for side in region.sides.iter().filter(|side| side.is_bent) {
                self.under_cap(end, &edge(side.edge), &region.normal);
            }
        }
    }

    /// Adds the points of the supporting generator over the sides of a face.
    pub(super) fn on_generator(&mut self, region: &Region) {
        let ends = self.round.farthest(&-region.normal);
        let heights = ends.map(|p| region.height(&p));
        for (place, (share, side)) in region.clip(&ends).into_iter().flatten().enumerate() {
            let Some(side) = side.filter(|side| side.is_bent) else { continue };
            let distance = heights[0] + (heights[1] - heights[0]) * share;
            let key = region.first_key + FIRST_KEY + 2 * side.edge as u32 + place as u32;
            let point = ends[0] + (ends[1] - ends[0]) * share;
            self.add_own(key, point, &region.normal, distance);
        }
    }

    /// Adds the supporting points of the rims over a face.
    pub(super) fn rim_points(&mut self, region: &Region, direction: &Vector3<f64>) {
        for (key, point) in self.round.around(&-region.normal) {
            if region.contains(&point, EVEN * self.margin) {
                let distance = region.height(&point);
                self.add_own(region.first_key + key, point, direction, distance);
            }
        }
    }

    /// Adds the ends of the part of an edge over a cap.
    pub(super) fn under_cap(&mut self, end: usize, edge: &Edge, direction: &Vector3<f64>) {
        let rim = self.round.rims()[end];
        let out = axis(end);
        let offset = out.y * rim.height + self.round.rounding();
        let [from, to] = &edge.ends;
        let [low, high] = [from, to].map(|p| out.y * p.y - offset);
        if low.min(high) >= self.margin {
            return;
        }
        let radius = rim.radius * (1.0 + EVEN);
        for (place, share) in (0..).zip(in_column(from, to, radius).into_iter().flatten()) {
            self.add_of_edge(edge, share, place, direction, low + (high - low) * share);
        }
    }

    /// Adds the nearest point of an edge, and the ends of its part along the side if the edge is
    /// parallel to it.
    pub(super) fn on_edge(&mut self, edge: &Edge, nearest: f64, direction: &Vector3<f64>) {
        let [from, to] = edge.ends;
        let along = to - from;
        let [low, high] = self.round.rims().map(|rim| rim.height);
        let part = if along.y == 0.0 {
            [0.0, 1.0]
        } else {
            let [p, q] = [(low - from.y) / along.y, (high - from.y) / along.y];
            [p.min(q).clamp(0.0, 1.0), p.max(q).clamp(0.0, 1.0)]
        };
        for (place, share) in [(2, nearest), (0, part[0]), (1, part[1])] {
            let (distance, out) = self.round.distance_and_normal(&(from + along * share));
            if share == nearest || (out + direction).norm() < PARALLEL {
                self.add_of_edge(edge, share, place, direction, distance);
            }
        }
    }
}

/// The outward direction of a cap.
pub(super) fn axis(end: usize) -> Vector3<f64> {
    if end == 0 { -Vector3::y() } else { Vector3::y() }
}
