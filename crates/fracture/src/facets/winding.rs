//! Winding numbers of a surface.

use nalgebra::{Point3, Vector3};
use robust::{Coord, orient2d};

use super::clip::ON_PLANE;
use super::surface::{Face, Facets};
use crate::slicing::solid_angle;

impl Facets {
    /// The winding number around a point that is not on the surface.
    pub(crate) fn winding(&self, point: &Point3<f64>) -> i32 {
        let along = |axis| self.ray_winding(point, axis, self.faces.iter());
        (0..3).find_map(along).unwrap_or_else(|| {
            let mut angle = 0.0;
            self.for_each_triangle(|triangle, _| {
                angle += solid_angle(triangle.map(|v| self.vertices[v as usize] - point));
            });
            (angle / (4.0 * std::f64::consts::PI)).round() as i32
        })
    }

    /// The winding number by the crossings of a ray along an axis with convex faces; candidates
    /// must include all faces that it crosses. `None` if the ray hits an edge, or the point is in
    /// the plane of a face that the ray hits.
    pub(super) fn ray_winding<'a>(
        &self,
        from: &Point3<f64>,
        axis: usize,
        faces: impl Iterator<Item = &'a Face>,
    ) -> Option<i32> {
        let at = |v: u32| &self.vertices[v as usize];
        let mut winding = 0;
        for face in faces {
            let corners = self.corners_of(face);
            if corners.iter().all(|&v| at(v)[axis] < from[axis]) {
                continue;
            }
            let mut turns = 0;
            let mut last = at(corners[corners.len() - 1]);
            for &v in corners {
                turns += turn(last, at(v), from, axis)?;
                last = at(v);
            }
            if turns != 0 {
                let is_ahead = self.is_ahead(last, &self.area_vector(corners), from, axis)?;
                winding += if is_ahead { turns } else { 0 };
            }
        }
        for cap in &self.caps {
            let mut turns = 0;
            for &[a, b] in &cap.edges {
                turns += turn(at(a), at(b), from, axis)?;
            }
            if turns != 0 {
                let is_ahead = self.is_ahead(at(cap.edges[0][0]), &cap.normal, from, axis)?;
                winding += if is_ahead { turns } else { 0 };
            }
        }
        Some(winding)
    }

    /// Whether the ray from a point, and not the opposite ray, hits a plane.
    fn is_ahead(
        &self,
        on_plane: &Point3<f64>,
        normal: &Vector3<f64>,
        from: &Point3<f64>,
        axis: usize,
    ) -> Option<bool> {
        let distance = normal.dot(&(on_plane - from)) / normal[axis];
        let is_clear = distance.is_finite() && distance.abs() > ON_PLANE * self.size;
        is_clear.then_some(distance > 0.0)
    }
}

/// Contribution of an edge to the winding number of a face around a ray along an axis; `None` if
/// they intersect.
fn turn(a: &Point3<f64>, b: &Point3<f64>, ray: &Point3<f64>, axis: usize) -> Option<i32> {
    let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    if (a[v] <= ray[v]) == (b[v] <= ray[v]) {
        return Some(0);
    }
    let [p, q, r] = [a, b, ray].map(|p| Coord { x: p[u], y: p[v] });
    let side = orient2d(p, q, r);
    let is_up = b[v] > a[v];
    (side != 0.0).then_some(match (is_up, side > 0.0) {
        (true, true) => 1,
        (false, false) => -1,
        _ => 0,
    })
}
