//! Cutting a solid by a plane, keeping the part behind it.

use levelset::total_order;
use nalgebra::{UnitVector3, Vector3};

use super::surface::{Cap, Face, Facets, Tag};
use crate::cell::Plane;
use crate::slicing::cancel_opposites;

/// Tolerance of a vertex on the plane, as a share of the solid's size. Positions of new vertices
/// are rounded to about 4e-16 of it, also those of parts of parts.
pub(super) const ON_PLANE: f64 = 1e-13;

/// Buffers of cuts.
#[derive(Default)]
pub(crate) struct Clipper {
    distances: Vec<f64>,
    /// -1 behind the plane, 0 on it, 1 in front; 0 of new vertices.
    sides: Vec<i8>,
    /// Indices of the faces that cross the plane.
    crossed: Vec<u32>,
    /// Edges that cross the plane, lower index first, sorted, each with the vertex there.
    crossings: Vec<([u32; 2], u32)>,
    /// Directed edges of the kept part that lie in the plane.
    rim: Vec<[u32; 2]>,
}

impl Clipper {
    /// Keeps the part of `facets` behind `plane`, closed by a cap with a tag. Unused vertices and
    /// corners may remain, see [`Facets::drop_unused`].
    ///
    /// All decisions follow from one side per vertex and one position per crossing edge, so that
    /// faces stay matched despite rounding (Br11 section 3.4 for meshes of triangles).
    pub(crate) fn clip(&mut self, facets: &mut Facets, plane: &Plane, tag: Tag) {
        if !self.classify(facets, plane) {
            return;
        }
        self.rim.clear();
        let caps = std::mem::take(&mut facets.caps);
        self.sort_faces(facets, plane);
        self.add_crossings(facets, &caps);
        for n in 0..self.crossed.len() {
            self.clip_face(facets, self.crossed[n] as usize);
        }
        facets.caps =
            caps.into_iter().filter_map(|cap| self.clip_cap(facets, cap, plane)).collect();
        cancel_opposites(&mut self.rim);
        if !self.rim.is_empty() {
            let edges = self.rim.iter().map(|&[from, to]| [to, from]).collect();
            let normal = UnitVector3::new_unchecked(plane.normal);
            facets.caps.push(Cap { edges, normal, tag });
        }
    }

    /// Whether any vertices are in front of the plane.
    fn classify(&mut self, facets: &Facets, plane: &Plane) -> bool {
        let least = ON_PLANE * facets.size.max(plane.offset.abs());
        self.distances.clear();
        self.distances.extend(facets.vertices.iter().map(|p| plane.value(p)));
        let farthest = self.distances.iter().fold(least, |a, &b| if b > a { b } else { a });
        if farthest <= least {
            return false;
        }
        self.sides.clear();
        let side = |&d: &f64| i8::from(d > least) - i8::from(d < -least);
        self.sides.extend(self.distances.iter().map(side));
        true
    }

    /// Removes the faces in front and finds those that cross.
    fn sort_faces(&mut self, facets: &mut Facets, plane: &Plane) {
        let Self { sides, crossed, rim, .. } = self;
        crossed.clear();
        let mut kept = 0;
        for n in 0..facets.faces.len() {
            let face = facets.faces[n];
            let corners = facets.corners_of(&face);
            let [mut behind, mut in_front, mut on_plane] = [0; 3];
            for &v in corners {
                let side = sides[v as usize];
                behind += u32::from(side < 0);
                in_front += u32::from(side > 0);
                on_plane += u32::from(side == 0);
            }
            if behind == 0 {
                // in the plane: kept if the solid is behind it
                if in_front > 0 || facets.area_vector(corners).dot(&plane.normal) <= 0.0 {
                    continue;
                }
            }
            if in_front > 0 {
                crossed.push(kept as u32);
            } else if on_plane > 1 {
                add_rim(corners, sides, rim);
            }
            facets.faces[kept] = face;
            kept += 1;
        }
        facets.faces.truncate(kept);
    }

    /// Adds a vertex where each edge crosses the plane.
    fn add_crossings(&mut self, facets: &mut Facets, caps: &[Cap]) {
        let Self { sides, distances, crossings, crossed, .. } = self;
        crossings.clear();
        let mut add = |from: u32, to: u32| {
            // only one of the two directions of each edge has the lower index first
            if from < to && sides[from as usize] * sides[to as usize] < 0 {
                crossings.push(([from, to], 0));
            }
        };
        for &n in crossed.iter() {
            let corners = facets.corners_of(&facets.faces[n as usize]);
            let mut from = corners[corners.len() - 1];
            for &to in corners {
                add(from, to);
                from = to;
            }
        }
        for &[from, to] in caps.iter().flat_map(|cap| &cap.edges) {
            add(from, to);
        }
        crossings.sort_unstable();
        crossings.dedup();
        for (ends, vertex) in crossings.iter_mut() {
            let [p, q] = ends.map(|v| facets.vertices[v as usize]);
            let [from, to] = ends.map(|v| distances[v as usize]);
            *vertex = facets.vertices.len() as u32;
            facets.vertices.push(p + (q - p) * (from / (from - to)));
        }
        sides.resize(facets.vertices.len(), 0);
    }

    fn crossing(&self, a: u32, b: u32) -> u32 {
        let ends = [a.min(b), a.max(b)];
        let at = self.crossings.binary_search_by(|(other, _)| other.cmp(&ends));
        self.crossings[at.expect("all edges that cross were found")].1
    }

    /// The part of a polygon behind the plane (Sutherland and Hodgman 1974).
    fn clip_face(&mut self, facets: &mut Facets, n: usize) {
        let Face { start, len, tag } = facets.faces[n];
        let first = facets.corners.len();
        let mut from = facets.corners[(start + len) as usize - 1];
        for k in start..start + len {
            let to = facets.corners[k as usize];
            if self.sides[from as usize] * self.sides[to as usize] < 0 {
                facets.corners.push(self.crossing(from, to));
            }
            if self.sides[to as usize] <= 0 {
                facets.corners.push(to);
            }
            from = to;
        }
        let corners = &facets.corners[first..];
        add_rim(corners, &self.sides, &mut self.rim);
        facets.faces[n] = Face { start: first as u32, len: corners.len() as u32, tag };
    }

    /// The part of a cap behind the plane, closed along their common line.
    fn clip_cap(&mut self, facets: &Facets, cap: Cap, plane: &Plane) -> Option<Cap> {
        let side = |v: u32| self.sides[v as usize];
        let [mut behind, mut in_front] = [false; 2];
        for &v in cap.edges.as_flattened() {
            behind |= side(v) < 0;
            in_front |= side(v) > 0;
        }
        let edges = match (behind, in_front) {
            (true, false) => cap.edges,
            (false, true) => return None,
            (false, false) if cap.normal.dot(&plane.normal) <= 0.0 => return None,
            (false, false) => cap.edges,
            (true, true) => {
                let mut kept = Vec::with_capacity(cap.edges.len());
                for &[from, to] in &cap.edges {
                    match (side(from), side(to)) {
                        (1, -1) => kept.push([self.crossing(from, to), to]),
                        (-1, 1) => kept.push([from, self.crossing(from, to)]),
                        (a, b) if a <= 0 && b <= 0 => kept.push([from, to]),
                        _ => {}
                    }
                }
                self.close(facets, &mut kept, cap.normal.cross(&plane.normal));
                kept
            }
        };
        let is_on_plane = |edge: &&[u32; 2]| edge.iter().all(|&v| self.sides[v as usize] == 0);
        self.rim.extend(edges.iter().filter(is_on_plane));
        (!edges.is_empty()).then_some(Cap { edges, ..cap })
    }

    /// Adds the edges along a line in direction `along` that balance `edges` at its vertices there.
    fn close(&self, facets: &Facets, edges: &mut Vec<[u32; 2]>, along: Vector3<f64>) {
        let mut ends: Vec<(u32, i32)> = edges
            .iter()
            .flat_map(|&[from, to]| [(from, -1), (to, 1)])
            .filter(|&(v, _)| self.sides[v as usize] == 0)
            .collect();
        ends.sort_unstable();
        ends.dedup_by(|(v, more), (kept, sum)| {
            let same = v == kept;
            if same {
                *sum += *more;
            }
            same
        });
        let mut open: Vec<(f64, u32, i32)> = ends
            .into_iter()
            .filter(|&(_, sum)| sum != 0)
            .map(|(v, sum)| (along.dot(&facets.vertices[v as usize].coords), v, sum))
            .collect();
        open.sort_by_cached_key(|(place, ..)| total_order(*place));
        let mut surplus = 0;
        for pair in open.windows(2) {
            surplus += pair[0].2;
            let (low, high) = (pair[0].1, pair[1].1);
            let edge = if surplus > 0 { [low, high] } else { [high, low] };
            edges.extend(std::iter::repeat_n(edge, surplus.unsigned_abs() as usize));
        }
        cancel_opposites(edges);
    }
}

/// Adds the edges of a polygon whose ends are both on the plane.
fn add_rim(corners: &[u32], sides: &[i8], rim: &mut Vec<[u32; 2]>) {
    let mut from = corners[corners.len() - 1];
    for &to in corners {
        if sides[from as usize] == 0 && sides[to as usize] == 0 {
            rim.push([from, to]);
        }
        from = to;
    }
}
