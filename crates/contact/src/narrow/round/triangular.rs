//! A solid of revolution against triangles: local minima of its signed distance over their surface.

use nalgebra::{Isometry3, Point3, Vector3};

use super::collector::{Collector, Edge, KEYS, Region, RegionSide};
use super::search::least_along;
use crate::Triangles;
use crate::narrow::broad::turned;
use crate::narrow::candidate::{Candidate, Side};
use crate::shape::round::Round;

/// Keys per triangle: 14 of its face, and those of its edges.
const KEYS_OF_TRIANGLE: u32 = 32;
/// First key of the edges of a triangle.
const FIRST_EDGE_KEY: u32 = 16;
/// First key of vertices.
const FIRST_VERTEX_KEY: u32 = 1 << 31;
/// Cosine of an angle to the axis up to which an edge faces a cap.
const ALONG: f64 = 1.0 - 1e-9;

/// Where the center of the solid of revolution is.
#[derive(Clone, Copy, Debug)]
enum Place {
    Front,
    /// Beyond the back of the solid behind the triangles, at this thickness, m.
    Back(f64),
    /// In the solid.
    Inside {
        /// m, negative.
        height: f64,
        /// The way out, in coordinates of the solid of revolution.
        normal: Vector3<f64>,
    },
}

impl Place {
    /// The sign of normals towards the center, and the thickness of the solid between, m.
    fn towards(self) -> (f64, f64) {
        match self {
            Self::Front | Self::Inside { .. } => (1.0, 0.0),
            Self::Back(thickness) => (-1.0, thickness),
        }
    }
}

/// A solid of revolution near triangles.
pub(super) struct AgainstTriangles<'a> {
    /// The body that is the solid of revolution.
    owner: Side,
    round: &'a Round,
    triangles: &'a Triangles,
    /// Coordinates of the solid of revolution to those of the triangles.
    map: &'a Isometry3<f64>,
    back: Isometry3<f64>,
    place: Place,
}

impl<'a> AgainstTriangles<'a> {
    pub(super) fn new(
        owner: Side,
        round: &'a Round,
        triangles: &'a Triangles,
        map: &'a Isometry3<f64>,
    ) -> Self {
        let back = map.inverse();
        // without a reach, only of a center that is not in front
        let behind = triangles.facing(&map.translation.vector.into(), 0.0);
        let place = match behind.first() {
            None => Place::Front,
            Some(facing) if facing.distance < 0.0 => {
                let normal = back.rotation * facing.normal;
                Place::Inside { height: facing.distance, normal }
            }
            Some(_) => Place::Back(triangles.thickness()),
        };
        Self { owner, round, triangles, map, back, place }
    }

    /// Contacts nearer than `margin`.
    pub(super) fn near(&self, margin: f64) -> Vec<Candidate> {
        if let Place::Inside { height, normal } = self.place {
            return self.out_along(&normal, height);
        }
        let triangles = self.triangles_within(margin);
        let mut found: Vec<Candidate> =
            triangles.iter().flat_map(|&triangle| self.on_face(triangle, margin)).collect();
        let mut of_edges = self.collector(margin);
        if let Place::Front = self.place {
            triangles.iter().for_each(|&triangle| self.under_caps(triangle, &mut of_edges));
        }
        let mut is_met = found.iter().any(|c| c.distance < 0.0);
        let mut deepest: Option<(Edge, NearestOfEdge)> = None;
        for (triangle, side) in self.edges(&triangles) {
            let edge = self.edge(triangle, side);
            let Some(nearest) = self.nearest_of_edge(&edge, margin) else { continue };
            if self.is_minimum(triangle, side, &nearest) {
                self.at_edge(&edge, &nearest, &mut of_edges);
                is_met |= nearest.distance < 0.0;
            } else if deepest.as_ref().is_none_or(|(_, known)| nearest.distance < known.distance) {
                deepest = Some((edge, nearest));
            }
        }
        // an edge far inside the solid of revolution, whose direction is that to its nearest side
        if let Some((edge, nearest)) = deepest.filter(|(_, n)| !is_met && n.distance < 0.0) {
            self.at_edge(&edge, &nearest, &mut of_edges);
        }
        let is_known = |edge: &Candidate| found.iter().any(|f| self.is_same(f, edge, margin));
        let fresh: Vec<Candidate> =
            of_edges.found.into_iter().filter(|edge| !is_known(edge)).collect();
        found.extend(fresh);
        found
    }

    /// The signed distance of the solids, m, at most `most`; negative for a depth.
    pub(super) fn distance(&self, most: f64) -> f64 {
        if let Place::Inside { height, normal } = self.place {
            return height - self.round.reach(&-normal);
        }
        let (mut least, mut deepest) = (most, 0.0);
        let triangles = self.triangles_within(most.max(0.0));
        for &triangle in &triangles {
            let on_face = self.on_face(triangle, least);
            least = on_face.iter().map(|c| c.distance).fold(least, f64::min);
        }
        for (triangle, side) in self.edges(&triangles) {
            let edge = self.edge(triangle, side);
            let Some(nearest) = self.nearest_of_edge(&edge, least) else { continue };
            if nearest.distance >= 0.0 || self.is_minimum(triangle, side, &nearest) {
                least = nearest.distance;
            } else {
                deepest = nearest.distance.min(deepest);
            }
        }
        if least >= 0.0 && deepest < 0.0 { deepest } else { least }
    }

    /// The sides of triangles, each once; none behind them, where the surface is not at its edges.
    fn edges<'t>(&'t self, triangles: &'t [u32]) -> impl Iterator<Item = (u32, usize)> {
        let sides = |&triangle: &u32| (0..3).map(move |side| (triangle, side));
        let triangles = if let Place::Back(_) = self.place { &[] } else { triangles };
        triangles.iter().flat_map(sides).filter(|&(t, side)| self.triangles.owns_edge(t, side))
    }

    fn collector(&self, margin: f64) -> Collector<'_> {
        let Self { owner, round, map, .. } = *self;
        Collector { owner, round, map, margin, found: Vec::new() }
    }

    /// The contacts with a triangle nearer than `margin`, without those at its edges.
    fn on_face(&self, triangle: u32, margin: f64) -> Vec<Candidate> {
        let (normal, offset) = self.plane(triangle);
        // the center is behind it, or all of the solid is far in front
        if offset >= 0.0 || -self.round.reach(&-normal) - offset >= margin {
            return Vec::new();
        }
        let (mut collector, region) = (self.collector(margin), self.region(triangle));
        collector.rim_points(&region, &region.normal);
        collector.on_generator(&region);
        let is_slight = |c: &Candidate| c.distance >= -SAME * margin.abs();
        collector.found.retain(|c| is_slight(c) || self.is_met_before(c));
        collector.found
    }

    /// The parts of the outline of a triangle under a cap that is level with it.
    fn under_caps(&self, triangle: u32, collector: &mut Collector<'_>) {
        let (normal, _) = self.plane(triangle);
        for end in 0..2 {
            for side in (0..3).filter(|&side| self.triangles.is_bent(triangle, side)) {
                if collector.is_level(end, &normal) {
                    collector.under_cap(end, &self.edge(triangle, side), &normal);
                }
            }
        }
    }

    /// Whether the surface is between the center and a point of the solid of revolution. Points
    /// beyond a wedge may be behind one of its faces without that.
    fn is_met_before(&self, own: &Candidate) -> bool {
        let ends = [self.map.translation.vector.into(), self.map * own.point];
        match self.place {
            Place::Back(thickness) => {
                -own.distance <= thickness || self.triangles.is_between(&ends[1], &ends[0])
            }
            Place::Front | Place::Inside { .. } => self.triangles.is_between(&ends[0], &ends[1]),
        }
    }

    /// The supporting points along a normal, with the center at a height above the surface.
    fn out_along(&self, normal: &Vector3<f64>, height: f64) -> Vec<Candidate> {
        let candidate = |(key, point): (u32, Point3<f64>)| Candidate {
            owner: self.owner,
            point,
            normal: Some(self.map.rotation * normal),
            key,
            distance: height + normal.dot(&point.coords),
        };
        self.round.around(&-normal).map(candidate).filter(|c| c.distance < 0.0).collect()
    }

    /// The triangles whose boxes are nearer than `margin` to that of the solid of revolution.
    fn triangles_within(&self, margin: f64) -> Vec<u32> {
        let (_, thickness) = self.place.towards();
        self.triangles.within(&turned(&self.round.bounds(), self.map).grown(margin + thickness))
    }

    fn corners(&self, triangle: u32) -> [Point3<f64>; 3] {
        self.triangles.mesh().corners(triangle as usize).map(|p| self.back * p)
    }

    /// The normal towards the center, and the offset of the surface there.
    fn plane(&self, triangle: u32) -> (Vector3<f64>, f64) {
        let (sign, thickness) = self.place.towards();
        let normal = self.back.rotation * self.triangles.face_normal(triangle) * sign;
        let corner = self.triangles.mesh().corners(triangle as usize)[0];
        (normal, normal.dot(&(self.back * corner).coords) + thickness)
    }

    fn region(&self, triangle: u32) -> Region {
        let (normal, offset) = self.plane(triangle);
        let corners = self.corners(triangle);
        let (sign, _) = self.place.towards();
        let side = |edge: usize| {
            let [from, to] = [corners[edge], corners[(edge + 1) % 3]];
            let out = (to - from).cross(&normal) * sign;
            let out = out.try_normalize(0.0).unwrap_or_else(Vector3::zeros);
            let is_bent = self.triangles.is_bent(triangle, edge);
            RegionSide { edge, out, offset: out.dot(&from.coords), is_bent }
        };
        Region {
            normal,
            offset,
            sides: (0..3).map(side).collect(),
            first_key: triangle.wrapping_mul(KEYS_OF_TRIANGLE),
        }
    }

    fn edge(&self, triangle: u32, side: usize) -> Edge {
        let names = self.triangles.edge(triangle, side);
        let places = names.map(|v| self.triangles.mesh().vertices[v as usize]);
        Edge {
            ends: places.map(|p| self.back * p),
            places,
            end_keys: names.map(|v| FIRST_VERTEX_KEY | v),
            first_key: triangle.wrapping_mul(KEYS_OF_TRIANGLE)
                + FIRST_EDGE_KEY
                + KEYS * side as u32,
        }
    }

    /// Adds the contacts at an edge.
    fn at_edge(&self, edge: &Edge, nearest: &NearestOfEdge, collector: &mut Collector<'_>) {
        let direction = -nearest.gradient;
        if direction.y.abs() > ALONG {
            collector.under_cap(usize::from(direction.y < 0.0), edge, &direction);
        } else {
            collector.on_edge(edge, nearest.share, &direction);
        }
    }

    /// Whether no surface beside the nearest point of an edge is nearer. False if the direction is
    /// normal to a triangle there, which then has the contact.
    fn is_minimum(&self, triangle: u32, side: usize, nearest: &NearestOfEdge) -> bool {
        let names = self.triangles.edge(triangle, side);
        let ends = match nearest.share {
            0.0 => [names[0]; 2],
            1.0 => [names[1]; 2],
            _ => names,
        };
        let [from, to] = names.map(|v| self.triangles.mesh().vertices[v as usize]);
        let place = from + (to - from) * nearest.share;
        let direction = -(self.map.rotation * nearest.gradient);
        self.triangles.is_lowest(ends, &place, &direction)
            && !self.triangles.has_normal(ends, &direction)
    }

    /// The point of an edge nearest to the solid of revolution; `None` beyond `most` meters.
    fn nearest_of_edge(&self, edge: &Edge, most: f64) -> Option<NearestOfEdge> {
        let [from, to] = &edge.ends;
        let along = to - from;
        let middle = self.round.distance_and_normal(&(from + along * 0.5)).0;
        if middle - 0.5 * along.norm() >= most {
            return None;
        }
        let (share, gradient) = least_along(from, &along, |p| self.round.distance_and_normal(p).1);
        let distance = self.round.distance_and_normal(&(from + along * share)).0;
        (distance < most).then_some(NearestOfEdge { share, gradient, distance })
    }

    /// Whether a candidate of an edge is that of a face up to round-off.
    fn is_same(&self, of_face: &Candidate, of_edge: &Candidate, margin: f64) -> bool {
        let (Some(up), Some(out)) = (of_face.normal, of_edge.normal) else { return false };
        let apart = self.map * of_face.point - of_edge.point;
        let across = apart - up * up.dot(&apart);
        across.norm() < SAME * margin && (up + self.map.rotation * out).norm() < SAME
    }
}

/// Candidates of a face and an edge closer than this are one: as a share of the margin, and the
/// angle of their normals.
const SAME: f64 = 1e-4;

struct NearestOfEdge {
    share: f64,
    /// Of the signed distance of the solid of revolution.
    gradient: Vector3<f64>,
    /// m.
    distance: f64,
}
