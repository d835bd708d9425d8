//! Projection onto a plane.

use nalgebra::{Point3, UnitVector3};
use robust::Coord;

/// Drops the coordinate of the normal's largest component, which rounds nothing.
pub(crate) struct Projection {
    axes: [usize; 2],
}

impl Projection {
    pub(crate) fn along(normal: &UnitVector3<f64>) -> Self {
        let axis = normal.iamax();
        let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        // counter-clockwise is preserved
        Self { axes: if normal[axis] > 0.0 { [u, v] } else { [v, u] } }
    }

    pub(crate) fn point(&self, p: &Point3<f64>) -> [f64; 2] {
        // there is no negative zero, so that equal numbers have equal bits
        self.axes.map(|axis| p[axis] + 0.0)
    }

    /// The point of a plane with a normal that projects to a position; `on_plane` is another point.
    pub(crate) fn lifted(
        &self,
        at: [f64; 2],
        on_plane: &Point3<f64>,
        normal: &UnitVector3<f64>,
    ) -> Point3<f64> {
        let [u, v] = self.axes;
        let axis = 3 - u - v;
        let mut p = *on_plane;
        (p[u], p[v]) = (at[0], at[1]);
        p[axis] -= normal.dot(&(p - on_plane)) / normal[axis];
        p
    }

    /// Positive for a triangle that projects counter-clockwise; the sign is exact.
    pub(crate) fn area_sign(&self, corners: [Point3<f64>; 3]) -> f64 {
        let [a, b, c] = corners.map(|p| {
            let [x, y] = self.point(&p);
            Coord { x, y }
        });
        robust::orient2d(a, b, c)
    }
}
