//! Unions of pieces.

use levelset::total_order;
use nalgebra::Vector3;

use super::surface::{Cap, Facets, Tag};
use crate::cell::Plane;
use crate::slicing::cancel_opposites;

/// Distance, as a share of the solid's size, within which vertices of two pieces coincide:
/// positions are rounded to about 4e-16 of it, and a little more where planes meet at small angles.
const SAME: f64 = 1e-11;

impl Facets {
    /// The union of pieces that touch in cuts. `planes` are those of the cuts by index; faces in
    /// them that lie on faces of other pieces are removed.
    ///
    /// For each plane with faces in both directions, all its faces are removed. The open border is filled where its
    /// winding number is not zero. Where two pieces match only in part, the unmatched rest remains.
    pub(crate) fn union(pieces: &[&Self], planes: &[Plane]) -> Self {
        let mut whole = Self::default();
        pieces.iter().for_each(|piece| whole.append(piece));
        whole.weld();
        whole.drop_unused();
        let shared = whole.planes_of_both_sides(planes);
        let shared: Vec<(Tag, &Plane)> =
            shared.into_iter().map(|n| (Tag::plane(n), &planes[n])).collect();
        whole.split_edges(|tag| shared.iter().any(|(other, _)| *other == tag));
        shared.iter().for_each(|(tag, plane)| whole.refill(*tag, plane));
        whole.drop_unused();
        whole
    }

    /// The indices of the planes with faces in both directions.
    fn planes_of_both_sides(&self, planes: &[Plane]) -> Vec<usize> {
        let caps = self.caps.iter().map(|cap| (cap.tag, *cap.normal));
        let polygons = self.polygons().map(|(corners, tag)| (tag, self.area_vector(corners)));
        let side = |(tag, normal): (Tag, Vector3<f64>)| {
            let number = tag.as_plane()?;
            Some((number, normal.dot(&planes[number].normal) > 0.0))
        };
        let mut sides: Vec<(usize, bool)> = caps.chain(polygons).filter_map(side).collect();
        sides.sort_unstable();
        sides.dedup();
        sides.windows(2).filter(|two| two[0].0 == two[1].0).map(|two| two[0].0).collect()
    }

    /// Merges vertices at the same position.
    fn weld(&mut self) {
        let tolerance = SAME * self.size;
        let mut order: Vec<u32> = (0..self.vertices.len() as u32).collect();
        order.sort_by_cached_key(|&v| total_order(self.vertices[v as usize].x));
        let mut names: Vec<u32> = (0..self.vertices.len() as u32).collect();
        for (n, &v) in order.iter().enumerate() {
            if names[v as usize] != v {
                continue;
            }
            let p = self.vertices[v as usize];
            let near = order[n + 1..].iter();
            for &other in near.take_while(|&&o| self.vertices[o as usize].x - p.x <= tolerance) {
                if (self.vertices[other as usize] - p).amax() <= tolerance {
                    names[other as usize] = v;
                }
            }
        }
        self.corners.iter_mut().for_each(|v| *v = names[*v as usize]);
        for cap in &mut self.caps {
            cap.edges.as_flattened_mut().iter_mut().for_each(|v| *v = names[*v as usize]);
            cap.edges.retain(|[a, b]| a != b);
            cancel_opposites(&mut cap.edges);
        }
        self.caps.retain(|cap| !cap.edges.is_empty());
        self.drop_repeated();
    }

    /// Subdivides every edge of faces with some tags at the vertices of such faces on it, so that
    /// faces that touch along a part of an edge match there.
    fn split_edges(&mut self, is_shared: impl Fn(Tag) -> bool) {
        let mut edges = Vec::new();
        for (corners, _) in self.polygons().filter(|(_, tag)| is_shared(*tag)) {
            let next = corners[1..].iter().chain(&corners[..1]);
            edges.extend(corners.iter().zip(next).map(|(&a, &b)| [a.min(b), a.max(b)]));
        }
        let caps = self.caps.iter().filter(|cap| is_shared(cap.tag));
        edges.extend(caps.flat_map(|cap| &cap.edges).map(|&[a, b]| [a.min(b), a.max(b)]));
        edges.sort_unstable();
        edges.dedup();
        let mut ends: Vec<u32> = edges.as_flattened().to_vec();
        ends.sort_unstable();
        ends.dedup();
        let between = |a: u32, b: u32| match edges.binary_search(&[a.min(b), a.max(b)]) {
            Ok(_) => self.on_edge(&ends, a, b),
            Err(_) => Vec::new(),
        };
        let mut kept = Self { size: self.size, ..Self::default() };
        let mut corners: Vec<u32> = Vec::new();
        for (all, tag) in self.polygons() {
            corners.clear();
            let mut from = all[all.len() - 1];
            for &to in all {
                corners.extend(between(from, to));
                corners.push(to);
                from = to;
            }
            kept.push(&corners, tag);
        }
        for cap in &self.caps {
            let mut edges = Vec::with_capacity(cap.edges.len());
            for &[from, to] in &cap.edges {
                let mut last = from;
                for next in between(from, to).into_iter().chain([to]) {
                    edges.push([last, next]);
                    last = next;
                }
            }
            kept.caps.push(Cap { edges, ..*cap });
        }
        (self.corners, self.faces, self.caps) = (kept.corners, kept.faces, kept.caps);
    }

    /// The given vertices between the ends of an edge, in order.
    fn on_edge(&self, among: &[u32], from: u32, to: u32) -> Vec<u32> {
        let tolerance = SAME * self.size;
        let [p, q] = [from, to].map(|v| self.vertices[v as usize]);
        let (low, high) = (p.inf(&q), p.sup(&q));
        let edge = q - p;
        let length = edge.norm();
        let mut found: Vec<(u64, u32)> = Vec::new();
        for &v in among {
            let r = self.vertices[v as usize];
            let is_near = (0..3).all(|a| r[a] >= low[a] - tolerance && r[a] <= high[a] + tolerance);
            if !is_near {
                continue;
            }
            let along = edge.dot(&(r - p)) / length;
            let aside = (r - p).cross(&edge).norm() / length;
            if aside <= tolerance && along > tolerance && along < length - tolerance {
                found.push((total_order(along), v));
            }
        }
        found.sort_unstable();
        found.into_iter().map(|(_, v)| v).collect()
    }

    /// Removes corners that repeat the previous one, and faces with fewer than three.
    fn drop_repeated(&mut self) {
        let mut kept = Self { size: self.size, ..Self::default() };
        let mut corners: Vec<u32> = Vec::new();
        for (all, tag) in self.polygons() {
            corners.clear();
            corners.extend_from_slice(all);
            corners.dedup();
            while corners.len() > 1 && corners.first() == corners.last() {
                corners.pop();
            }
            if corners.len() > 2 {
                kept.push(&corners, tag);
            }
        }
        (self.corners, self.faces) = (kept.corners, kept.faces);
    }

    /// Removes all faces in a plane and fills the open border.
    fn refill(&mut self, tag: Tag, plane: &Plane) {
        let mut border: Vec<[u32; 2]> = Vec::new();
        let mut kept = Self { size: self.size, ..Self::default() };
        for (corners, own) in self.polygons() {
            if own == tag {
                let next = corners.iter().cycle().skip(1);
                border.extend(corners.iter().zip(next).map(|(&a, &b)| [a, b]));
            } else {
                kept.push(corners, own);
            }
        }
        (self.corners, self.faces) = (kept.corners, kept.faces);
        let (gone, caps) = std::mem::take(&mut self.caps).into_iter().partition(|c| c.tag == tag);
        self.caps = caps;
        let gone: Vec<Cap> = gone;
        border.extend(gone.iter().flat_map(|cap| &cap.edges));
        cancel_opposites(&mut border);
        if border.is_empty() {
            return;
        }
        let normal = nalgebra::UnitVector3::new_unchecked(plane.normal);
        self.caps.push(Cap { edges: border, normal, tag });
    }
}
