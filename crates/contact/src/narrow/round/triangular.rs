//! A solid of revolution against triangles: local minima of its signed distance over their surface.

use nalgebra::{Isometry3, Point3, Vector3};

use super::collector::{Collector, Edge, KEYS, Region, RegionSide};
use super::search::least_along;
use crate::Triangles;
use crate::narrow::broad::turned;
use crate::narrow::candidate::{Candidate, Side};
use crate::shape::round::Round;
use crate::shape::triangles::{Facing, Place};

/// Keys per triangle: 14 of its face, and those of its edges.
///
/// Keys of more than 2^26 triangles repeat: of contacts with one key, the first one alone is kept.
const KEYS_OF_TRIANGLE: u32 = 32;
/// First key of the edges of a triangle.
const FIRST_EDGE_KEY: u32 = 16;
/// First key of vertices.
const FIRST_VERTEX_KEY: u32 = 1 << 31;
/// Cosine of the angle to the axis up to which an edge faces a cap, whose normal has round-off.
const ALONG: f64 = 1.0 - 1e-9;
/// Depth as a share of the margin up to which a point is at the surface and not beyond a wedge.
const SLIGHT: f64 = 1e-4;
/// Distance as a share of the margin, and angle of the normals, rad, up to which candidates of a face
/// and of an edge are one.
const SAME: f64 = 1e-4;

/// A solid of revolution near triangles.
pub(super) struct AgainstTriangles<'a> {
    /// The body that is the solid of revolution.
    owner: Side,
    round: &'a Round,
    triangles: &'a Triangles,
    /// Coordinates of the solid of revolution to those of the triangles.
    map: &'a Isometry3<f64>,
    back: Isometry3<f64>,
    /// Where the center is.
    center: Place,
}

impl<'a> AgainstTriangles<'a> {
    pub(super) fn new(
        owner: Side,
        round: &'a Round,
        triangles: &'a Triangles,
        map: &'a Isometry3<f64>,
    ) -> Self {
        let center = triangles.place_of(&map.translation.vector.into());
        Self { owner, round, triangles, map, back: map.inverse(), center }
    }

    /// The sign that turns face normals towards the center of the round body, and the thickness of the
    /// mesh between the face and that center, m.
    fn towards_center(&self) -> (f64, f64) {
        match self.center {
            Place::Front { .. } | Place::Inside(_) => (1.0, 0.0),
            Place::Back(_) => (-1.0, self.triangles.thickness()),
        }
    }

    /// Contacts nearer than `margin`.
    pub(super) fn near(&self, margin: f64) -> Vec<Candidate> {
        if let Place::Inside(way) = self.center {
            return self.out_along(&way);
        }
        let triangles = self.triangles_within(margin);
        let mut found: Vec<Candidate> =
            triangles.iter().flat_map(|&triangle| self.on_face(triangle, margin)).collect();
        let mut of_edges = self.collector(margin);
        triangles.iter().for_each(|&triangle| self.under_caps(triangle, &mut of_edges));
        of_edges.found.retain(|c| c.distance >= -SLIGHT * margin || self.is_under_cap(c, &found));
        let mut is_met = found.iter().chain(&of_edges.found).any(|c| c.distance < 0.0);
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
        if let Place::Inside(Facing { distance, normal, .. }) = self.center {
            return distance - self.round.reach(&-(self.back.rotation * normal));
        }
        // the distance of the center from the surface is an upper bound
        let above = match self.center {
            Place::Front { distance } => distance,
            Place::Back(Facing { distance, .. }) | Place::Inside(Facing { distance, .. }) => {
                distance
            }
        };
        let (mut least, mut deepest) = (most.min(above.max(0.0)), 0.0);
        let triangles = self.triangles_within(least.max(0.0));
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

    /// The sides of triangles, each once. None if the center is behind the solid, whose back has no
    /// edges at those of the triangles.
    fn edges<'t>(&'t self, triangles: &'t [u32]) -> impl Iterator<Item = (u32, usize)> {
        let sides = |&triangle: &u32| (0..3).map(move |side| (triangle, side));
        let triangles = if let Place::Back(_) = self.center { &[] } else { triangles };
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
        let is_slight = |c: &Candidate| c.distance >= -SLIGHT * margin.abs();
        collector.found.retain(|c| is_slight(c) || self.is_met_before(c));
        collector.found
    }

    /// The parts of the outline of a triangle in front of the center under a cap that is level with
    /// it.
    fn under_caps(&self, triangle: u32, collector: &mut Collector<'_>) {
        let (normal, offset) = self.plane(triangle);
        let level = [0, 1].map(|end| collector.is_level(end, &normal));
        if offset >= 0.0 || !level.contains(&true) || matches!(self.center, Place::Back(_)) {
            return;
        }
        for side in (0..3).filter(|&side| self.triangles.is_bent(triangle, side)) {
            for end in (0..2).filter(|&end| level[end]) {
                collector.under_cap(end, &self.edge(triangle, side), &normal);
            }
        }
    }

    /// Whether the cap, not the side of the solid of revolution, penetrates the edge of this
    /// candidate. The side does where a cylinder lies across the edge of a table. A candidate of a
    /// face with the same normal proves that the cap does.
    fn is_under_cap(&self, edge: &Candidate, of_faces: &[Candidate]) -> bool {
        let Some(normal) = edge.normal.map(|normal| -(self.map.rotation * normal)) else {
            return false;
        };
        let is_known = |face: &Candidate| {
            face.distance < 0.0 && face.normal.is_some_and(|own| (own - normal).norm() < SAME)
        };
        let (center, cap) =
            (self.map.translation.vector.into(), edge.point + normal * edge.distance);
        of_faces.iter().any(is_known) || self.triangles.is_between([&center, &cap], &normal)
    }

    /// Whether a face with the normal of the candidate separates it from the center. Points beyond
    /// an edge may be behind the plane of a face that does not: those of a can that overhangs a
    /// table are behind the plane of the table's side.
    fn is_met_before(&self, own: &Candidate) -> bool {
        let (center, point) = (self.map.translation.vector.into(), self.map * own.point);
        let normal = own.normal.unwrap_or_else(Vector3::zeros);
        match self.center {
            Place::Back(_) => {
                let is_within = -own.distance <= self.triangles.thickness();
                is_within || self.triangles.is_between([&point, &center], &-normal)
            }
            Place::Front { .. } | Place::Inside(_) => {
                self.triangles.is_between([&center, &point], &normal)
            }
        }
    }

    /// The supporting points of a solid of revolution with its center in the solid, along the way
    /// out.
    fn out_along(&self, way: &Facing) -> Vec<Candidate> {
        let normal = self.back.rotation * way.normal;
        let candidate = |(key, point): (u32, Point3<f64>)| Candidate {
            owner: self.owner,
            point,
            normal: Some(way.normal),
            key,
            distance: way.distance + normal.dot(&point.coords),
        };
        self.round.around(&-normal).map(candidate).filter(|c| c.distance < 0.0).collect()
    }

    /// The triangles whose boxes are nearer than `margin` to that of the solid of revolution.
    fn triangles_within(&self, margin: f64) -> Vec<u32> {
        let (_, thickness) = self.towards_center();
        self.triangles.within(&turned(&self.round.bounds(), self.map).grown(margin + thickness))
    }

    fn corners(&self, triangle: u32) -> [Point3<f64>; 3] {
        self.triangles.mesh().corners(triangle as usize).map(|p| self.back * p)
    }

    /// The normal towards the center, and the offset of the surface there.
    fn plane(&self, triangle: u32) -> (Vector3<f64>, f64) {
        let (sign, thickness) = self.towards_center();
        let normal = self.back.rotation * self.triangles.face_normal(triangle) * sign;
        let corner = self.triangles.mesh().corners(triangle as usize)[0];
        (normal, normal.dot(&(self.back * corner).coords) + thickness)
    }

    fn region(&self, triangle: u32) -> Region {
        let (normal, offset) = self.plane(triangle);
        let corners = self.corners(triangle);
        let (sign, _) = self.towards_center();
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

struct NearestOfEdge {
    share: f64,
    /// Of the signed distance of the solid of revolution.
    gradient: Vector3<f64>,
    /// m.
    distance: f64,
}
