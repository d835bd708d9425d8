//! Lattice tetrahedra cut by the surface.

use super::lattice::{Lattice, Side};
use crate::TetMesh;

const NONE: u32 = u32::MAX;

/// Collects the inside parts of tetrahedra.
pub(super) struct Cutter<'a> {
    lattice: &'a Lattice,
    /// Mesh index of each lattice point, and of each cut; `NONE` if not used yet.
    points: Vec<u32>,
    cuts: Vec<u32>,
    mesh: TetMesh,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(lattice: &'a Lattice) -> Self {
        let points = vec![NONE; lattice.sides.len()];
        let cuts = vec![NONE; lattice.crossing_count()];
        Self { lattice, points, cuts, mesh: TetMesh::default() }
    }

    pub(super) fn into_mesh(self) -> TetMesh {
        self.mesh
    }

    /// Adds the inside part of a lattice tetrahedron; its corners may be in any order.
    pub(super) fn add(&mut self, corners: [u32; 4]) {
        let mut sorted = corners;
        let rank = |p: &u32| match self.lattice.sides[*p as usize] {
            Side::Inside => 0,
            Side::On => 1,
            Side::Outside => 2,
        };
        sorted.sort_unstable_by_key(|p| (rank(p), *p));
        let count = |wanted: u8| sorted.iter().filter(|p| rank(p) == wanted).count();
        let [p, q, r, s] = sorted;
        match (count(0), count(2)) {
            (0, _) => {}
            (_, 0) => {
                let tet = sorted.map(|p| self.point(p));
                self.push(tet);
            }
            (1, _) => {
                let first = self.point(p);
                let others = [q, r, s].map(|o| match self.lattice.sides[o as usize] {
                    Side::Outside => self.cut(p, o),
                    _ => self.point(o),
                });
                self.push([first, others[0], others[1], others[2]]);
            }
            (2, 1) => self.add_pyramid([p, q], s, r),
            (2, _) => self.add_two_and_two([p, q], [r, s]),
            _ => self.add_prism([p, q, r], s),
        }
    }

    /// Whether the quadrilateral of inside `a`, `b` and their cuts towards `out` is split from `a`
    /// to the cut of `b`; both tetrahedra that share it agree.
    ///
    /// The diagonal ends at the cut of the longer edge; for equal edges, at that of the point with
    /// the higher index.
    fn divides_from_first(&self, a: u32, b: u32, out: u32) -> bool {
        let key = |point| (self.lattice.length_squared(point, out), point);
        key(a) < key(b)
    }

    fn add_pyramid(&mut self, [a, b]: [u32; 2], out: u32, on: u32) {
        let from_a = self.divides_from_first(a, b, out);
        let (cut_a, cut_b) = (self.cut(a, out), self.cut(b, out));
        let [a, b, on] = [a, b, on].map(|p| self.point(p));
        if from_a {
            self.push([a, b, cut_b, on]);
            self.push([a, cut_b, cut_a, on]);
        } else {
            self.push([a, b, cut_a, on]);
            self.push([b, cut_b, cut_a, on]);
        }
    }

    fn add_prism(&mut self, inside: [u32; 3], out: u32) {
        let diagonals =
            [0, 1, 2].map(|n| self.divides_from_first(inside[n], inside[(n + 1) % 3], out));
        let cuts = inside.map(|p| self.cut(p, out));
        let inside = inside.map(|p| self.point(p));
        self.push_prism(inside, cuts, diagonals);
    }

    fn add_two_and_two(&mut self, [a, b]: [u32; 2], [c, d]: [u32; 2]) {
        let first = self.divides_from_first(a, b, c);
        let last = self.divides_from_first(a, b, d);
        let near_a = [self.point(a), self.cut(a, c), self.cut(a, d)];
        let near_b = [self.point(b), self.cut(b, c), self.cut(b, d)];
        // the third side is on the surface, where any split that is not cyclic is valid
        let diagonals = [first, !first, !last];
        self.push_prism(near_a, near_b, diagonals);
    }

    /// Three tetrahedra of a prism; side `n`, between `bottom[n]` and `bottom[n + 1]`, is split
    /// from `bottom[n]` if `diagonals[n]`, otherwise from `bottom[n + 1]`. Not all are equal.
    fn push_prism(&mut self, bottom: [u32; 3], top: [u32; 3], diagonals: [bool; 3]) {
        let start = (0..3).find(|&n| diagonals[n] && !diagonals[(n + 2) % 3]).unwrap_or(0);
        let (next, last) = ((start + 1) % 3, (start + 2) % 3);
        let apex = bottom[start];
        self.push([apex, top[0], top[1], top[2]]);
        if diagonals[next] {
            self.push([apex, bottom[next], bottom[last], top[last]]);
            self.push([apex, bottom[next], top[last], top[next]]);
        } else {
            self.push([apex, bottom[next], bottom[last], top[next]]);
            self.push([apex, bottom[last], top[last], top[next]]);
        }
    }

    fn push(&mut self, mut tet: [u32; 4]) {
        let [a, b, c, d] = tet.map(|v| self.mesh.vertices[v as usize]);
        if (b - a).dot(&(c - a).cross(&(d - a))) < 0.0 {
            tet.swap(2, 3);
        }
        self.mesh.tets.push(tet);
    }

    fn point(&mut self, point: u32) -> u32 {
        let number = &mut self.points[point as usize];
        if *number == NONE {
            *number = self.mesh.vertices.len() as u32;
            self.mesh.vertices.push(self.lattice.position(point));
        }
        *number
    }

    fn cut(&mut self, inside: u32, outside: u32) -> u32 {
        let crossing = self.lattice.crossing(inside, outside);
        let number = &mut self.cuts[crossing];
        if *number == NONE {
            *number = self.mesh.vertices.len() as u32;
            self.mesh.vertices.push(self.lattice.cut(crossing));
        }
        *number
    }
}
