//! Convex cells.

use levelset::{Aabb, total_order};
use nalgebra::{Point3, Similarity3, Vector3};

/// A half-space `normal . x <= offset` with a unit normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plane {
    pub(crate) normal: Vector3<f64>,
    pub(crate) offset: f64,
}

impl Plane {
    /// The plane through `point`, normal to `normal`, which need not be of unit length.
    pub(crate) fn through(point: &Point3<f64>, normal: Vector3<f64>) -> Self {
        let normal = normal / normal.norm();
        Self { normal, offset: normal.dot(&point.coords) }
    }

    pub(crate) fn value(&self, p: &Point3<f64>) -> f64 {
        self.normal.dot(&p.coords) - self.offset
    }

    pub(crate) fn flipped(&self) -> Self {
        Self { normal: -self.normal, offset: -self.offset }
    }

    pub(crate) fn transformed(&self, by: &Similarity3<f64>) -> Self {
        let normal = by.isometry.rotation * self.normal;
        let offset = by.scaling() * self.offset + normal.dot(&by.isometry.translation.vector);
        Self { normal, offset }
    }
}

/// One polygon of a cell's hull.
#[derive(Clone, Debug)]
struct Face {
    /// Index of its plane; `None` for the box from which the cell was cut.
    plane: Option<usize>,
    /// In either winding order, which has no effect here.
    points: Vec<Point3<f64>>,
}

/// An intersection of half-spaces, with the polygons that bound it inside a finite box.
///
/// Only the planes determine the inside; the polygons show which planes bound the cell, and its
/// extent.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    planes: Vec<Plane>,
    faces: Vec<Face>,
}

impl Cell {
    /// All of space, clipped to `bounds`.
    pub(crate) fn whole(bounds: &Aabb) -> Self {
        let corners = bounds.corners();
        let faces =
            [[0, 2, 6, 4], [1, 3, 7, 5], [0, 1, 5, 4], [2, 3, 7, 6], [0, 1, 3, 2], [4, 5, 7, 6]]
                .map(|quad| Face { plane: None, points: quad.map(|n| corners[n]).to_vec() });
        Self { planes: Vec::new(), faces: faces.to_vec() }
    }

    /// Whether it has no part in the box from which it was cut.
    pub(crate) fn is_empty(&self) -> bool {
        self.faces.is_empty()
    }

    pub(crate) fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// Signed distance inside, a lower bound of it outside.
    pub(crate) fn value(&self, p: &Point3<f64>) -> f64 {
        if self.is_empty() {
            return f64::INFINITY;
        }
        self.planes.iter().map(|plane| plane.value(p)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The faces of the cell within its box: polygons, each with the index of its plane, or `None`
    /// for a face of the box.
    pub(crate) fn polygons(&self) -> impl Iterator<Item = (Option<usize>, &[Point3<f64>])> {
        self.faces.iter().map(|face| (face.plane, face.points.as_slice()))
    }

    /// [`Cell::value`] if it is below `bound`.
    pub(crate) fn value_below(&self, p: &Point3<f64>, bound: f64) -> Option<f64> {
        let mut value = if self.is_empty() { f64::INFINITY } else { f64::NEG_INFINITY };
        for plane in &self.planes {
            if value >= bound {
                break;
            }
            value = value.max(plane.value(p));
        }
        (value < bound).then_some(value)
    }

    /// Corners of the cell in its box, repeated for every face.
    pub(crate) fn corners(&self) -> impl Iterator<Item = &Point3<f64>> {
        self.faces.iter().flat_map(|face| &face.points)
    }

    /// The part of the cell behind `plane`. Planes that no longer bound it are removed.
    #[must_use]
    pub(crate) fn cut(mut self, plane: Plane) -> Self {
        self.clip(&plane, Some(plane));
        self
    }

    /// The part of the cell behind `plane`, which counts as a face of the box.
    #[must_use]
    pub(crate) fn behind(mut self, plane: &Plane) -> Self {
        self.clip(plane, None);
        self
    }

    /// The part of the cell in `bounds`; its planes are those that bound it there.
    pub(crate) fn within(&self, bounds: &Aabb) -> Self {
        (0..3).fold(self.clone(), |cell, axis| {
            let n = Vector3::ith(axis, 1.0);
            let low = Plane { normal: -n, offset: -bounds.min[axis] };
            let high = Plane { normal: n, offset: bounds.max[axis] };
            cell.behind(&low).behind(&high)
        })
    }

    pub(crate) fn transformed(&self, by: &Similarity3<f64>) -> Self {
        let planes = self.planes.iter().map(|plane| plane.transformed(by)).collect();
        let face = |f: &Face| Face {
            plane: f.plane,
            points: f.points.iter().map(|p| by.transform_point(p)).collect(),
        };
        Self { planes, faces: self.faces.iter().map(face).collect() }
    }

    /// Cuts the polygons by `by`, and adds `plane` to the cell's own if one is given.
    fn clip(&mut self, by: &Plane, plane: Option<Plane>) {
        let size = self.corners().fold(0.0, |m: f64, p| m.max(p.coords.amax()));
        let tolerance = 1e-12 * size;
        if self.corners().all(|p| by.value(p) <= tolerance) {
            return;
        }
        self.planes.extend(plane);
        let mut rim = Vec::new();
        self.faces.retain_mut(|face| face.clip(by, tolerance, &mut rim));
        let cap = around(&rim, &by.normal, 1e-9 * size);
        if cap.len() >= 3 && !self.faces.is_empty() {
            let plane = plane.map(|_| self.planes.len() - 1);
            self.faces.push(Face { plane, points: cap });
        }
        self.prune();
    }

    /// Drops planes without a polygon.
    fn prune(&mut self) {
        let mut places = vec![None; self.planes.len()];
        for plane in self.faces.iter().filter_map(|face| face.plane) {
            places[plane] = Some(0);
        }
        places.iter_mut().flatten().enumerate().for_each(|(kept, place)| *place = kept);
        let mut is_kept = places.iter().map(Option::is_some);
        self.planes.retain(|_| is_kept.next() == Some(true));
        for face in &mut self.faces {
            face.plane = face.plane.and_then(|plane| places[plane]);
        }
    }
}

impl Face {
    /// Keeps the part behind `plane` (Sutherland and Hodgman 1974), and returns whether there is
    /// any; its points on the plane are added to `rim`.
    fn clip(&mut self, plane: &Plane, tolerance: f64, rim: &mut Vec<Point3<f64>>) -> bool {
        // most faces of a cell are not cut
        if self.points.iter().all(|p| plane.value(p) <= tolerance) {
            rim.extend(self.points.iter().filter(|p| plane.value(p) >= -tolerance));
            return true;
        }
        let mut points = Vec::with_capacity(self.points.len() + 1);
        let Some(mut a) = self.points.last() else { return false };
        let mut at_a = plane.value(a);
        for b in &self.points {
            let at_b = plane.value(b);
            if (at_a <= tolerance) != (at_b <= tolerance) {
                // an end on the plane is itself the crossing
                if at_a.min(at_b) < -tolerance {
                    let p = a + (b - a) * (at_a / (at_a - at_b));
                    points.push(p);
                    rim.push(p);
                }
            }
            if at_b <= tolerance {
                points.push(*b);
                if at_b >= -tolerance {
                    rim.push(*b);
                }
            }
            (a, at_a) = (b, at_b);
        }
        self.points = points;
        self.points.len() >= 3
    }
}

/// The corners of a convex polygon in the order they follow each other around `normal`.
fn around(points: &[Point3<f64>], normal: &Vector3<f64>, tolerance: f64) -> Vec<Point3<f64>> {
    let Some(bounds) = Aabb::around(points) else { return Vec::new() };
    let center = bounds.center();
    let u = normal.cross(&Vector3::ith(normal.iamin(), 1.0)).normalize();
    let v = normal.cross(&u);
    let angle = |p: &Point3<f64>| libm::atan2((p - center).dot(&v), (p - center).dot(&u));
    let mut sorted: Vec<_> = points.iter().map(|p| (angle(p), *p)).collect();
    sorted.sort_by_cached_key(|(angle, _)| total_order(*angle));
    let mut polygon: Vec<_> = sorted.into_iter().map(|(_, p)| p).collect();
    polygon.dedup_by(|a, b| (*a - *b).norm() <= tolerance);
    if polygon.len() > 1 && (polygon[0] - polygon[polygon.len() - 1]).norm() <= tolerance {
        polygon.pop();
    }
    polygon
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> Cell {
        Cell::whole(&Aabb { min: Point3::new(-1.0, -1.0, -1.0), max: Point3::new(1.0, 1.0, 1.0) })
    }

    #[test]
    fn a_cut_corner_leaves_a_triangle() {
        let cut = Plane::through(&Point3::new(0.5, 0.5, 0.5), Vector3::new(1.0, 1.0, 1.0));
        let cell = cube().cut(cut);
        assert_eq!(cell.faces.len(), 7);
        assert_eq!(cell.faces[6].points.len(), 3);
        assert_eq!(cell.planes().len(), 1);
    }

    #[test]
    fn a_cut_through_corners_and_edges_is_closed() {
        // through two opposite edges: half the cube, five faces
        let diagonal = Plane::through(&Point3::origin(), Vector3::new(1.0, 1.0, 0.0));
        let half = cube().cut(diagonal);
        assert_eq!(half.faces.len(), 5, "{half:?}");
        assert_eq!(half.faces[4].points.len(), 4);
    }

    #[test]
    fn planes_that_no_longer_bound_are_dropped() {
        let x = |offset| Plane { normal: Vector3::x(), offset };
        let cell = cube().cut(x(0.5)).cut(x(0.25)).cut(x(0.75));
        assert_eq!(cell.planes(), [x(0.25)]);
        assert!(cell.cut(x(-2.0)).is_empty());
    }
}
