//! Cells joined into octants away from the surface and where the solid is thick, and the tetrahedra
//! between their centers.

use super::lattice::Sites;
use super::thin::Thin;
use crate::LevelSet;

/// A balanced octree as the level of the octant that contains each cell: 0 is one cell, `n` is
/// `2^n` cells wide. Octants that touch, even in an edge or a corner, differ by at most one level.
pub(super) struct Octants<'a> {
    sites: &'a Sites,
    /// Cells per axis; the arrays below have the lattice's dims, one more.
    cells: [usize; 3],
    levels: Vec<u8>,
}

impl<'a> Octants<'a> {
    /// `full` are the sites of cells of full size, and `thin` whether they are thin. Elsewhere
    /// cells are joined to these, and deep inside to cells up to `doublings` times doubled.
    pub(super) fn new(
        sites: &'a Sites,
        level_set: &LevelSet,
        full: &Sites,
        thin: &Thin,
        doublings: u8,
    ) -> Self {
        let cells = sites.grid().dims().map(|n| n - 1);
        let levels = vec![0; sites.grid().node_count()];
        let mut octants = Self { sites, cells, levels };
        let mut allowed = vec![true; cells.iter().product()];
        let mut blocks = cells;
        let mut level = 0;
        for too_large in thin.too_large.iter().rev() {
            level += 1;
            let parents = blocks.map(|n| n / 2);
            allowed = grouped(&allowed, blocks, parents, true);
            allowed.iter_mut().zip(too_large).for_each(|(allowed, large)| *allowed &= !large);
            blocks = parents;
            octants.raise(level, blocks, &allowed);
        }
        if doublings > 0 {
            let quiet = quiet_cells(level_set, full);
            allowed.iter_mut().zip(quiet).for_each(|(allowed, quiet)| *allowed &= quiet);
        }
        for level in level + 1..=level + doublings {
            let parents = blocks.map(|n| n / 2);
            if parents.contains(&0) {
                break;
            }
            allowed = grouped(&allowed, blocks, parents, false);
            blocks = parents;
            octants.raise(level, blocks, &allowed);
        }
        octants
    }

    fn raise(&mut self, level: u8, blocks: [usize; 3], allowed: &[bool]) {
        let size = 1 << level;
        for (n, _) in allowed.iter().enumerate().filter(|(_, allowed)| **allowed) {
            let block = [n / (blocks[1] * blocks[2]), n / blocks[2] % blocks[1], n % blocks[2]];
            let low = block.map(|b| b * size);
            for i in low[0]..low[0] + size {
                for j in low[1]..low[1] + size {
                    let start = self.sites.grid().index([i, j, low[2]]);
                    self.levels[start..start + size].fill(level);
                }
            }
        }
    }

    fn level(&self, cell: [usize; 3]) -> u8 {
        self.levels[self.sites.grid().index(cell)]
    }

    /// The point at the center of an octant.
    fn center(&self, low: [usize; 3], level: u8) -> u32 {
        match level {
            0 => self.sites.center(low),
            _ => self.sites.corner(low.map(|n| n + (1 << (level - 1)))),
        }
    }

    /// Visits every tetrahedron, each once.
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

    /// The four tetrahedra around the line from an octant's center to that of its upper neighbor,
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
        let centers = [self.center(low, level), self.center(above, level)];
        let ring = self.ring(above, axis, size).map(|p| self.sites.corner(p));
        for side in 0..4 {
            let (p, q) = (ring[side], ring[(side + 1) % 4]);
            if level > 0 && self.edge_is_split(above, axis, side, level) {
                let middle = (p + q) / 2;
                visit([centers[0], centers[1], p, middle]);
                visit([centers[0], centers[1], middle, q]);
            } else {
                visit([centers[0], centers[1], p, q]);
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
        [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().any(|(u, v)| {
            let (Some(x), Some(y)) = (start[b].checked_sub(u), start[c].checked_sub(v)) else {
                return false;
            };
            let mut cell = start;
            (cell[b], cell[c]) = (x, y);
            x < self.cells[b] && y < self.cells[c] && self.level(cell) < level
        })
    }

    /// The tetrahedra on both sides of a face with four smaller octants beyond it: eight triangles
    /// around its middle, joined to both sides' centers.
    fn onto_smaller(
        &self,
        low: [usize; 3],
        face: [usize; 3],
        axis: usize,
        level: u8,
        visit: &mut impl FnMut([u32; 4]),
    ) {
        let half = 1 << (level - 1);
        let center = self.center(low, level);
        let ring = self.ring(face, axis, 2 * half);
        let middle_of = |p: [usize; 3], q: [usize; 3]| {
            self.sites.corner(std::array::from_fn(|a| (p[a] + q[a]) / 2))
        };
        let middle = middle_of(ring[0], ring[2]);
        for n in 0..4 {
            let corner = self.sites.corner(ring[n]);
            // the small octant at this corner, across the face
            let mut small: [usize; 3] =
                std::array::from_fn(|a| ring[n][a].min((ring[0][a] + ring[2][a]) / 2));
            if face == low {
                small[axis] -= half;
            }
            let small = self.center(small, level - 1);
            for other in [ring[(n + 1) % 4], ring[(n + 3) % 4]] {
                let edge = middle_of(ring[n], other);
                visit([center, middle, corner, edge]);
                visit([small, middle, corner, edge]);
            }
        }
    }
}

/// Cells all of whose points are inside, together with their neighbors.
fn quiet_cells(level_set: &LevelSet, sites: &Sites) -> Vec<bool> {
    let grid = sites.grid();
    let [nx, ny, nz] = grid.dims();
    let values: Vec<f32> = (0..sites.count() as u32)
        .map(|site| level_set.value(&sites.position(site)) as f32)
        .collect();
    let value = |site: u32| values[site as usize];
    // corners and centers whose neighbors, all of the grid, are not outside
    let around = |[i, j, k]: [usize; 3], up: usize| {
        (0..8).map(move |c| [i + up - (c >> 2), j + up - (c >> 1 & 1), k + up - (c & 1)])
    };
    let along = |at: [usize; 3]| {
        (0..6).filter_map(move |n| {
            let mut next = at;
            next[n / 2] = if n & 1 == 0 { at[n / 2].checked_sub(1)? } else { at[n / 2] + 1 };
            Some(next)
        })
    };
    let deep_corner = |at: [usize; 3]| {
        value(sites.corner(at)) < 0.0
            && along(at).all(|n| value(sites.corner(n)) <= 0.0)
            && around(at, 0).all(|n| value(sites.center(n)) <= 0.0)
    };
    let deep_center = |at: [usize; 3]| {
        value(sites.center(at)) < 0.0
            && along(at).all(|n| value(sites.center(n)) <= 0.0)
            && around(at, 1).all(|n| value(sites.corner(n)) <= 0.0)
    };
    let mut quiet = Vec::with_capacity((nx - 1) * (ny - 1) * (nz - 1));
    for i in 0..nx - 1 {
        for j in 0..ny - 1 {
            for k in 0..nz - 1 {
                let low = [i, j, k];
                let last = [nx - 2, ny - 2, nz - 2];
                let interior = (0..3).all(|a| low[a] > 0 && low[a] < last[a]);
                quiet.push(interior && deep_center(low) && around(low, 1).all(deep_corner));
            }
        }
    }
    quiet
}

/// Parents all of whose children, and all children of whose 26 neighbors, are allowed; cells beyond
/// the grid are allowed if `beyond`.
fn grouped(allowed: &[bool], blocks: [usize; 3], parents: [usize; 3], beyond: bool) -> Vec<bool> {
    let child = |[i, j, k]: [usize; 3]| allowed[(i * blocks[1] + j) * blocks[2] + k];
    let whole = |[i, j, k]: [usize; 3]| {
        (0..8).all(|c| child([2 * i + (c >> 2), 2 * j + (c >> 1 & 1), 2 * k + (c & 1)]))
    };
    let at =
        |n: usize| [n / (parents[1] * parents[2]), n / parents[2] % parents[1], n % parents[2]];
    let count = parents.iter().product();
    let full: Vec<bool> = (0..count).map(|n| whole(at(n))).collect();
    let neighbor = |at: [usize; 3], n: usize| {
        let steps = [n / 9, n / 3 % 3, n % 3];
        // wraps below 0 to an index that no grid has
        let [i, j, k]: [usize; 3] = std::array::from_fn(|a| (at[a] + steps[a]).wrapping_sub(1));
        let is_there = i < parents[0] && j < parents[1] && k < parents[2];
        if is_there { full[(i * parents[1] + j) * parents[2] + k] } else { beyond }
    };
    (0..count).map(|n| full[n] && (0..27).all(|m| neighbor(at(n), m))).collect()
}
