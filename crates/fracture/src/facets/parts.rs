//! Connected parts of a surface.

use levelset::Union;

use super::surface::{Cap, Face, Facets};
use crate::fill::Border;
use crate::slicing::Projection;

impl Facets {
    /// The connected solids, in order of their first faces; contact in a vertex counts as
    /// connected. Cavities belong to the smallest solid around them.
    pub(crate) fn parts(self) -> Vec<Self> {
        let (owners, count) = self.shells();
        if count < 2 {
            return vec![self];
        }
        let mut shells = self.split(&owners, count);
        let volumes: Vec<f64> = shells.iter().map(|shell| shell.moments().volume).collect();
        let mut owners: Vec<usize> = (0..count).collect();
        for cavity in (0..count).filter(|&s| volumes[s] < 0.0) {
            let point = shells[cavity].vertices[0];
            let winds = |s: &usize| volumes[*s] > 0.0 && shells[*s].winding(&point) > 0;
            let around = (0..count).filter(winds);
            if let Some(owner) = around.min_by(|&a, &b| volumes[a].total_cmp(&volumes[b])) {
                owners[cavity] = owner;
            }
        }
        for cavity in (0..count).filter(|&s| owners[s] != s) {
            let shell = std::mem::take(&mut shells[cavity]);
            shells[owners[cavity]].append(&shell);
        }
        shells.into_iter().filter(|shell| !shell.is_empty()).collect()
    }

    /// The index of the shell of each vertex, and their number.
    fn shells(&self) -> (Vec<u32>, usize) {
        let mut union = Union::new(self.vertices.len());
        for (corners, _) in self.polygons() {
            corners[1..].iter().for_each(|&v| union.join(corners[0], v));
        }
        for cap in self.caps() {
            cap.edges.iter().for_each(|&[a, b]| union.join(a, b));
        }
        // a cap of several loops joins those that bound one region
        let (numbers, count) = union.clone().numbered();
        if count > 1 {
            for cap in self.caps() {
                let first = numbers[cap.edges[0][0] as usize];
                if cap.edges.iter().any(|edge| numbers[edge[0] as usize] != first) {
                    let projection = Projection::along(&cap.normal);
                    let border = Border::new(&cap.edges, self.projected(&projection));
                    for [a, b, c] in border.filled() {
                        union.join(a, b);
                        union.join(a, c);
                    }
                }
            }
        }
        let (numbers, count) = union.numbered();
        (numbers.into_iter().map(|number| number - 1).collect(), count)
    }

    /// The faces of each shell.
    fn split(&self, owners: &[u32], count: usize) -> Vec<Self> {
        let mut shells = vec![Self { size: self.size, ..Self::default() }; count];
        let mut names = Vec::with_capacity(owners.len());
        for (p, &owner) in self.vertices.iter().zip(owners) {
            let shell = &mut shells[owner as usize];
            names.push(shell.vertices.len() as u32);
            shell.vertices.push(*p);
        }
        let mut named = Vec::new();
        for (corners, tag) in self.polygons() {
            named.clear();
            named.extend(corners.iter().map(|&v| names[v as usize]));
            shells[owners[corners[0] as usize] as usize].push(&named, tag);
        }
        for cap in self.caps() {
            let mut edges = cap.edges.clone();
            edges.sort_by_cached_key(|edge| owners[edge[0] as usize]);
            for own in edges.chunk_by(|a, b| owners[a[0] as usize] == owners[b[0] as usize]) {
                let edges = own.iter().map(|edge| edge.map(|v| names[v as usize])).collect();
                let shell = &mut shells[owners[own[0][0] as usize] as usize];
                shell.caps.push(Cap { edges, ..*cap });
            }
        }
        shells
    }

    /// Adds the faces of another surface.
    pub(crate) fn append(&mut self, other: &Self) {
        let first = self.vertices.len() as u32;
        self.vertices.extend_from_slice(&other.vertices);
        for (corners, tag) in other.polygons() {
            let (start, len) = (self.corners.len() as u32, corners.len() as u32);
            self.corners.extend(corners.iter().map(|v| v + first));
            self.faces.push(Face { start, len, tag });
        }
        let moved = |edge: &[u32; 2]| edge.map(|v| v + first);
        let caps = other.caps.iter();
        self.caps
            .extend(caps.map(|cap| Cap { edges: cap.edges.iter().map(moved).collect(), ..*cap }));
        self.size = self.size.max(other.size);
    }
}
