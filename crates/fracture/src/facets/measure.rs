//! Volume integrals over closed surfaces.

use levelset::Moments;
use nalgebra::{Point3, Vector3};

use super::surface::{Facets, Tag};

impl Facets {
    /// Moments of the solid for unit density, by surface integrals: exact up to round-off.
    pub(crate) fn moments(&self) -> Moments {
        // about a vertex, so that a solid far from the origin loses no digits
        let Some(base) = self.vertices.first() else { return Moments::default() };
        let at = |v: u32| self.vertices[v as usize] - base;
        let mut sum = Moments::default();
        let mut add = |a: u32, b: u32, c: u32| {
            sum = sum + Moments::of_tet([Vector3::zeros(), at(a), at(b), at(c)]);
        };
        for (corners, _) in self.polygons() {
            for pair in corners[1..].windows(2) {
                add(corners[0], pair[0], pair[1]);
            }
        }
        for cap in self.caps() {
            // areas of a fan add up with their signs, for any edges
            for &[from, to] in &cap.edges {
                add(cap.edges[0][0], from, to);
            }
        }
        sum.moved(base.coords)
    }

    /// For each plane of a cut its index, area, m^2, and the integral of the position over it, m^3.
    pub(crate) fn sections(&self) -> Vec<(usize, f64, Vector3<f64>)> {
        let mut sums: Vec<(usize, f64, Vector3<f64>)> = Vec::new();
        let at = |v: u32| self.vertices[v as usize];
        let mut add = |plane: usize, normal: &Vector3<f64>, [a, b, c]: [Point3<f64>; 3]| {
            let area = 0.5 * normal.dot(&(b - a).cross(&(c - a)));
            let moment = (a.coords + b.coords + c.coords) * (area / 3.0);
            match sums.iter_mut().find(|sum| sum.0 == plane) {
                Some((_, sum, first)) => (*sum, *first) = (*sum + area, *first + moment),
                None => sums.push((plane, area, moment)),
            }
        };
        for (corners, tag) in self.polygons() {
            let Some(plane) = tag.as_plane() else { continue };
            let Some(normal) = self.area_vector(corners).try_normalize(0.0) else { continue };
            for pair in corners[1..].windows(2) {
                add(plane, &normal, [corners[0], pair[0], pair[1]].map(at));
            }
        }
        for cap in self.caps() {
            let Some(plane) = cap.tag.as_plane() else { continue };
            for &[from, to] in &cap.edges {
                add(plane, &cap.normal, [cap.edges[0][0], from, to].map(at));
            }
        }
        sums
    }

    /// The triangles of the cut by a plane.
    pub(crate) fn triangles_of(&self, plane: usize) -> Vec<[Point3<f64>; 3]> {
        let mut triangles = Vec::new();
        let wanted = Tag::plane(plane);
        self.for_each_triangle_of(
            |tag| tag == wanted,
            |triangle, _| triangles.push(triangle.map(|v| self.vertices[v as usize])),
        );
        triangles
    }
}
