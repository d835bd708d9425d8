//! Dual contouring (Ju, Losasso, Schaefer and Warren 2002): one vertex per cell, at the
//! intersection of the tangent planes of its edge crossings, so that sharp edges stay sharp.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::{LevelSet, TriMesh};

/// Eigenvalues below this fraction of the largest one are treated as zero: in their directions the
/// planes are nearly parallel and do not determine an intersection.
const FLAT: f64 = 0.1;

/// A surface crossing of a grid edge.
struct Crossing {
    point: Point3<f64>,
    normal: Vector3<f64>,
}

const NONE: u32 = u32::MAX;

impl LevelSet {
    /// The zero surface with sharp edges and corners. Each grid edge that the surface crosses has a
    /// quadrilateral (two triangles) between the vertices of the four adjacent cells.
    ///
    /// Unlike [`LevelSet::isosurface`], the mesh need not be a manifold, since two sheets through
    /// one cell share its vertex. The mesh is open where the solid reaches the boundary of the
    /// grid.
    pub fn dual_contour(&self) -> TriMesh {
        let [nx, ny, nz] = self.grid().dims();
        let mut cells = vec![NONE; self.grid().node_count()];
        let mut mesh = TriMesh::default();
        for i in 0..nx - 1 {
            for j in 0..ny - 1 {
                for k in 0..nz - 1 {
                    if let Some(vertex) = self.dual_vertex([i, j, k]) {
                        cells[self.grid().index([i, j, k])] = mesh.vertices.len() as u32;
                        mesh.vertices.push(vertex);
                    }
                }
            }
        }
        for i in 0..nx {
            for j in 0..ny {
                for k in 0..nz {
                    for axis in 0..3 {
                        self.add_dual_face([i, j, k], axis, &cells, &mut mesh);
                    }
                }
            }
        }
        mesh
    }

    /// The quadrilateral around the edge from a node along an axis.
    fn add_dual_face(&self, node: [usize; 3], axis: usize, cells: &[u32], mesh: &mut TriMesh) {
        let dims = self.grid().dims();
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut next = node;
        next[axis] += 1;
        let has_cells = [b, c].iter().all(|&a| node[a] > 0 && node[a] + 1 < dims[a]);
        if next[axis] == dims[axis] || !has_cells {
            return;
        }
        let inside = self.is_inside(node);
        if inside == self.is_inside(next) {
            return;
        }
        let ring = [(1, 1), (0, 1), (0, 0), (1, 0)].map(|(u, v)| {
            let mut cell = node;
            cell[b] -= u;
            cell[c] -= v;
            cells[self.grid().index(cell)]
        });
        // counter-clockwise seen from `next`, which is outside if `node` is inside
        let [p, q, r, s] = if inside { ring } else { [ring[3], ring[2], ring[1], ring[0]] };
        mesh.triangles.extend([[p, q, r], [p, r, s]]);
    }

    fn is_inside(&self, node: [usize; 3]) -> bool {
        self.as_slice()[self.grid().index(node)] < 0.0
    }

    /// The least-squares intersection of the planes of the crossings, clamped to the cell; `None`
    /// without crossings.
    fn dual_vertex(&self, cell: [usize; 3]) -> Option<Point3<f64>> {
        let corner = |c: usize| [cell[0] + (c >> 2), cell[1] + (c >> 1 & 1), cell[2] + (c & 1)];
        let insides = (0..8).filter(|&c| self.is_inside(corner(c))).count();
        if insides == 0 || insides == 8 {
            return None;
        }
        let edges = (0..12).map(crate::cube::edge).map(|(c, axis)| (c, c | 4 >> axis));
        let crossings: Vec<Crossing> = edges
            .filter(|&(a, b)| self.is_inside(corner(a)) != self.is_inside(corner(b)))
            .map(|(a, b)| self.crossing(corner(a), corner(b)))
            .collect();
        let sum: Vector3<f64> = crossings.iter().map(|c| c.point.coords).sum();
        let mass = Point3::from(sum / crossings.len() as f64);
        let mut matrix = Matrix3::zeros();
        let mut right = Vector3::zeros();
        for Crossing { point, normal } in &crossings {
            matrix += normal * normal.transpose();
            right += normal * normal.dot(&(point - mass));
        }
        let eigen = matrix.symmetric_eigen();
        let largest = eigen.eigenvalues.max();
        let mut offset = Vector3::zeros();
        for n in 0..3 {
            let (value, axis) = (eigen.eigenvalues[n], eigen.eigenvectors.column(n));
            if value > FLAT * largest && value > 0.0 {
                offset += axis * (axis.dot(&right) / value);
            }
        }
        let (low, high) = (self.grid().position(cell), self.grid().position(corner(7)));
        Some((mass + offset).sup(&low).inf(&high))
    }

    fn crossing(&self, a: [usize; 3], b: [usize; 3]) -> Crossing {
        let t = self.crossing_fraction(a, b);
        let (from, to) = (self.grid().position(a), self.grid().position(b));
        let point = from + (to - from) * t;
        let slope = Vector3::from_fn(|axis, _| self.one_sided_slope(&point, axis));
        Crossing { point, normal: slope.try_normalize(1e-12).unwrap_or_else(Vector3::zeros) }
    }

    /// Position of the surface crossing on an edge, as a fraction from `a` to `b`. The distance has
    /// kinks where the nearest face changes, so that linear interpolation between the ends would
    /// cut sharp edges off. If the samples along the axis are not collinear, the result is the
    /// extrapolation of the two samples on the steeper side.
    fn crossing_fraction(&self, a: [usize; 3], b: [usize; 3]) -> f64 {
        let value = |node| f64::from(self.as_slice()[self.grid().index(node)]);
        let (start, end) = (value(a), value(b));
        let straight = start / (start - end);
        let dims = self.grid().dims();
        let axis = (0..3).find(|&n| a[n] != b[n]).unwrap_or(0);
        if a[axis] == 0 || b[axis] + 1 == dims[axis] {
            return straight;
        }
        let (mut before, mut after) = (a, b);
        before[axis] -= 1;
        after[axis] += 1;
        let (below, above) = (start - value(before), value(after) - end);
        let bend = (end - start - below).abs().max((above - end + start).abs());
        if bend < 0.1 * self.grid().spacing() {
            return straight;
        }
        let t = if below.abs() > above.abs() { -start / below } else { 1.0 - end / above };
        if (0.0..=1.0).contains(&t) { t } else { straight }
    }

    /// Second-order one-sided derivative along an axis, from the side with the smaller second
    /// difference (as in ENO schemes), so that a normal does not mix both sides of a sharp edge.
    fn one_sided_slope(&self, point: &Point3<f64>, axis: usize) -> f64 {
        let h = self.grid().spacing();
        let at = |steps: f64| {
            let mut p = *point;
            p[axis] += steps * h;
            self.value(&p)
        };
        let side = |sign: f64| {
            let (near, mid, far) = (at(0.0), at(sign), at(2.0 * sign));
            let slope = sign * (4.0 * mid - 3.0 * near - far) / (2.0 * h);
            ((near - 2.0 * mid + far).abs(), slope)
        };
        let (low, high) = (side(-1.0), side(1.0));
        if low.0 < high.0 { low.1 } else { high.1 }
    }
}
