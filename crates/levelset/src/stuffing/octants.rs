//! Cells joined into octants away from the surface, and the tetrahedra between their centres.

use super::lattice::{Lattice, Side};

/// A balanced octree as the level of the octant that holds each cell: 0 is one cell, `n` is `2^n`
/// cells wide. Octants that touch, if only in an edge or a corner, differ by one level at most.
pub(super) struct Octants<'a> {
    lattice: &'a Lattice,
    /// Cells per axis; the arrays below have the lattice's dims, one more.
    cells: [usize; 3],
    levels: Vec<u8>,
}

impl<'a> Octants<'a> {
    pub(super) fn new(lattice: &'a Lattice, doublings: u8) -> Self {
        let cells = lattice.grid.dims().map(|n| n - 1);
        let levels = vec![0; lattice.grid.node_count()];
        let mut octants = Self { lattice, cells, levels };
        let mut allowed = octants.quiet_cells();
        let mut blocks = cells;
        for level in 1..=doublings {
            let parents = blocks.map(|n| n / 2);
            if parents.contains(&0) {
                break;
            }
            allowed = grouped(&allowed, blocks, parents);
            blocks = parents;
            octants.raise(level, blocks, &allowed);
        }
        octants
    }

    /// Cells all of whose points are inside and on no cut edge.
    fn quiet_cells(&self) -> Vec<bool> {
        let deep = |p: u32| {
            self.lattice.sides[p as usize] == Side::Inside && !self.lattice.active[p as usize]
        };
        let mut quiet = Vec::with_capacity(self.cells.iter().product());
        for i in 0..self.cells[0] {
            for j in 0..self.cells[1] {
                for k in 0..self.cells[2] {
                    let corner = |c: usize| {
                        self.lattice.corner([i + (c >> 2), j + (c >> 1 & 1), k + (c & 1)])
                    };
                    let centre = deep(self.lattice.centre([i, j, k]));
                    quiet.push(centre && (0..8).all(|c| deep(corner(c))));
                }
            }
        }
        quiet
    }

    fn raise(&mut self, level: u8, blocks: [usize; 3], allowed: &[bool]) {
        let size = 1 << level;
        for (n, _) in allowed.iter().enumerate().filter(|(_, allowed)| **allowed) {
            let block = [n / (blocks[1] * blocks[2]), n / blocks[2] % blocks[1], n % blocks[2]];
            let low = block.map(|b| b * size);
            for i in low[0]..low[0] + size {
                for j in low[1]..low[1] + size {
                    let start = self.lattice.grid.index([i, j, low[2]]);
                    self.levels[start..start + size].fill(level);
                }
            }
        }
    }

    fn level(&self, cell: [usize; 3]) -> u8 {
        self.levels[self.lattice.grid.index(cell)]
    }

    /// The point at the centre of an octant.
    fn centre(&self, low: [usize; 3], level: u8) -> u32 {
        match level {
            0 => self.lattice.centre(low),
            _ => self.lattice.corner(low.map(|n| n + (1 << (level - 1)))),
        }
    }

    /// Visits every tetrahedron that has a point inside, each once.
    pub(super) fn for_each_tet(&self, mut visit: impl FnMut([u32; 4])) {
        for i in 0..self.cells[0] {
            for j in 0..self.cells[1] {
                for k in 0..self.cells[2] {
                    let low = [i, j, k];
                    let level = self.level(low);
                    let mask = (1 << level) - 1;
                    if low.iter().all(|n| n & mask == 0) {
                        self.octant(low, level, &mut visit);
                    }
                }
            }
        }
    }

    fn octant(&self, low: [usize; 3], level: u8, visit: &mut impl FnMut([u32; 4])) {
        let size = 1 << level;
        for axis in 0..3 {
            let mut above = low;
            above[axis] += size;
            if above[axis] < self.cells[axis] {
                let other = self.level(above);
                if other == level {
                    self.between_equals(low, axis, level, visit);
                } else if other < level {
                    self.onto_smaller(low, above, axis, level, visit);
                }
            }
            if low[axis] > 0 {
                let mut below = low;
                below[axis] -= 1;
                if self.level(below) < level {
                    self.onto_smaller(low, low, axis, level, visit);
                }
            }
        }
    }

    /// The four tetrahedra around the line from an octant's centre to that of its upper neighbour,
    /// halved where the outer edge is.
    fn between_equals(
        &self,
        low: [usize; 3],
        axis: usize,
        level: u8,
        visit: &mut impl FnMut([u32; 4]),
    ) {
        let size = 1 << level;
        let mut above = low;
        above[axis] += size;
        let centres = [self.centre(low, level), self.centre(above, level)];
        let ring = self.ring(above, axis, size).map(|p| self.lattice.corner(p));
        let inside = |p: &u32| self.lattice.sides[*p as usize] == Side::Inside;
        if !centres.iter().chain(&ring).any(inside) {
            return;
        }
        for side in 0..4 {
            let (p, q) = (ring[side], ring[(side + 1) % 4]);
            if level > 0 && self.edge_is_split(above, axis, side, level) {
                let middle = (p + q) / 2;
                visit([centres[0], centres[1], p, middle]);
                visit([centres[0], centres[1], middle, q]);
            } else {
                visit([centres[0], centres[1], p, q]);
            }
        }
    }

    /// The corners of the face of size `size` across `axis` with lowest corner `low`, in turn.
    fn ring(&self, low: [usize; 3], axis: usize, size: usize) -> [[usize; 3]; 4] {
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        [(0, 0), (size, 0), (size, size), (0, size)].map(|(u, v)| {
            let mut p = low;
            p[b] += u;
            p[c] += v;
            p
        })
    }

    /// Whether smaller octants touch side `side` of a face's ring.
    fn edge_is_split(&self, low: [usize; 3], axis: usize, side: usize, level: u8) -> bool {
        let size = 1 << level;
        let ring = self.ring(low, axis, size);
        let along = if side & 1 == 0 { (axis + 1) % 3 } else { (axis + 2) % 3 };
        let start: [usize; 3] = std::array::from_fn(|a| ring[side][a].min(ring[(side + 1) % 4][a]));
        let (b, c) = ((along + 1) % 3, (along + 2) % 3);
        // deep octants have cells on all sides
        [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().any(|(u, v)| {
            let mut cell = start;
            cell[b] -= u;
            cell[c] -= v;
            self.level(cell) < level
        })
    }

    /// The tetrahedra on both sides of a face with four smaller octants beyond it: eight triangles
    /// around its middle, joined to both sides' centres.
    fn onto_smaller(
        &self,
        low: [usize; 3],
        face: [usize; 3],
        axis: usize,
        level: u8,
        visit: &mut impl FnMut([u32; 4]),
    ) {
        let half = 1 << (level - 1);
        let centre = self.centre(low, level);
        let ring = self.ring(face, axis, 2 * half);
        let middle_of = |p: [usize; 3], q: [usize; 3]| {
            self.lattice.corner(std::array::from_fn(|a| (p[a] + q[a]) / 2))
        };
        let middle = middle_of(ring[0], ring[2]);
        for n in 0..4 {
            let corner = self.lattice.corner(ring[n]);
            // the small octant at this corner, across the face
            let mut small: [usize; 3] =
                std::array::from_fn(|a| ring[n][a].min((ring[0][a] + ring[2][a]) / 2));
            if face == low {
                small[axis] -= half;
            }
            let small = self.centre(small, level - 1);
            for other in [ring[(n + 1) % 4], ring[(n + 3) % 4]] {
                let edge = middle_of(ring[n], other);
                visit([centre, middle, corner, edge]);
                visit([small, middle, corner, edge]);
            }
        }
    }
}

/// Parents all of whose children, and all children of whose 26 neighbours, are allowed.
fn grouped(allowed: &[bool], blocks: [usize; 3], parents: [usize; 3]) -> Vec<bool> {
    let child = |[i, j, k]: [usize; 3]| allowed[(i * blocks[1] + j) * blocks[2] + k];
    let whole = |[i, j, k]: [usize; 3]| {
        (0..8).all(|c| child([2 * i + (c >> 2), 2 * j + (c >> 1 & 1), 2 * k + (c & 1)]))
    };
    let mut full = Vec::with_capacity(parents.iter().product());
    for i in 0..parents[0] {
        for j in 0..parents[1] {
            for k in 0..parents[2] {
                full.push(whole([i, j, k]));
            }
        }
    }
    let is_full = |[i, j, k]: [usize; 3]| full[(i * parents[1] + j) * parents[2] + k];
    let surrounded = |at: [usize; 3]| {
        let interior = (0..3).all(|a| at[a] > 0 && at[a] + 1 < parents[a]);
        interior
            && (0..27)
                .all(|n| is_full([at[0] + n / 9 - 1, at[1] + n / 3 % 3 - 1, at[2] + n % 3 - 1]))
    };
    let at =
        |n: usize| [n / (parents[1] * parents[2]), n / parents[2] % parents[1], n % parents[2]];
    (0..full.len()).map(|n| full[n] && surrounded(at(n))).collect()
}
