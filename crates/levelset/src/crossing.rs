//! Exact signed crossings of grid lines with a triangle mesh.
//!
//! Lines run along z through the grid's nodes. A line through an edge or a vertex is perturbed
//! symbolically by `(e, e^2)` for an infinitesimal `e`, and every decision is an exact predicate.
//! For a closed mesh the crossings of each line therefore add up to zero, and the sum below a node
//! is its winding number.

use nalgebra::Point3;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// One crossing: from `node` on, the winding number of the row changes by `turn`, +1 or -1.
#[derive(Clone, Copy)]
pub(crate) struct Crossing {
    /// Flat index of the first node past the surface.
    pub(crate) node: u32,
    pub(crate) turn: i32,
}

/// A triangle in grid units with its vertex indices, which make decisions on shared edges
/// consistent.
pub(crate) struct Crosser {
    corners: [Point3<f64>; 3],
    names: [u32; 3],
}

impl Crosser {
    pub(crate) fn new(corners: [Point3<f64>; 3], names: [u32; 3]) -> Self {
        Self { corners, names }
    }

    /// Crossing direction, if any, of the upward line through `(x, y)`: +1 into the solid.
    pub(crate) fn turn(&self, x: f64, y: f64) -> i32 {
        let first = self.left_of(0, x, y);
        if first != self.left_of(1, x, y) || first != self.left_of(2, x, y) {
            return 0;
        }
        // a triangle that is counter-clockwise from above faces up: the line leaves the solid
        if first { -1 } else { 1 }
    }

    /// The first of the nodes `0..count` on the line at `(x, y)` that is above the triangle.
    ///
    /// The line must cross it.
    pub(crate) fn first_above(&self, x: f64, y: f64, turn: i32, count: usize) -> usize {
        let guess = self.height(x, y).clamp(-1.0, count as f64).ceil();
        let mut k = guess.max(0.0) as usize;
        let above = |k: usize| {
            let [a, b, c] = self.corners.map(|p| Coord3D { x: p.x, y: p.y, z: p.z });
            let side = orient3d(a, b, c, Coord3D { x, y, z: k as f64 });
            // positive when the node is below a triangle that is counter-clockwise from above
            if turn < 0 { side < 0.0 } else { side > 0.0 }
        };
        while k > 0 && above(k - 1) {
            k -= 1;
        }
        while k < count && !above(k) {
            k += 1;
        }
        k
    }

    fn left_of(&self, edge: usize, x: f64, y: f64) -> bool {
        let (i, j) = (edge, (edge + 1) % 3);
        let flip = self.names[i] > self.names[j];
        let (i, j) = if flip { (j, i) } else { (i, j) };
        let coord = |p: &Point3<f64>| Coord { x: p.x, y: p.y };
        let (a, b) = (coord(&self.corners[i]), coord(&self.corners[j]));
        let side = orient2d(a, b, Coord { x, y });
        let left = if side != 0.0 {
            side > 0.0
        } else if a.y != b.y {
            a.y > b.y
        } else {
            b.x > a.x
        };
        left != flip
    }

    /// Height of the triangle's plane on the line, clamped to the range of the triangle.
    fn height(&self, x: f64, y: f64) -> f64 {
        let [a, b, c] = self.corners;
        let area = |p: &Point3<f64>, q: &Point3<f64>| {
            ((p.x - x) * (q.y - y) - (q.x - x) * (p.y - y)).abs()
        };
        let weights = [area(&b, &c), area(&c, &a), area(&a, &b)];
        let sum: f64 = weights.iter().sum();
        let z = (weights[0] * a.z + weights[1] * b.z + weights[2] * c.z) / sum;
        let (low, high) = (a.z.min(b.z).min(c.z), a.z.max(b.z).max(c.z));
        if z.is_finite() { z.clamp(low, high) } else { low }
    }
}
