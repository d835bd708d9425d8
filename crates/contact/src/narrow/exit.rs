//! The shortest exit of a point from a union of convex polyhedra.

use nalgebra::{Point3, Vector3};

use crate::narrow::candidate::Candidate;
use crate::shape::compound::Compound;

/// Below this length the sum of two unit normals counts as zero: the faces are opposite.
const OPPOSITE: f64 = 1e-6;

/// A point inside a union.
pub(super) struct Exit<'a> {
    pub(super) union: &'a Compound,
    /// The point, in coordinates of the union, m.
    pub(super) from: Point3<f64>,
    /// Gap beyond a face within which another part counts as adjacent, m.
    pub(super) step: f64,
}

impl<'a> Exit<'a> {
    /// Whether the normal of a candidate at `part` does not lead into another part.
    pub(super) fn leads_out(&self, candidate: &Candidate, part: usize) -> bool {
        let Candidate { normal, distance, .. } = candidate;
        normal.is_none_or(|normal| {
            self.parts_beyond(&(normal * -distance), &normal, part).next().is_none()
        })
    }

    /// The parts other than `left` that contain the point one step along `normal` beyond the end
    /// of `displacement`.
    fn parts_beyond(
        &self,
        displacement: &Vector3<f64>,
        normal: &Vector3<f64>,
        left: usize,
    ) -> impl Iterator<Item = usize> + use<'a> {
        let (beyond, step) = (self.from + displacement + normal * self.step, self.step);
        let parts = self.union.parts.iter().enumerate();
        parts
            .filter(move |(n, part)| *n != left && part.solid.height(&beyond) < -0.5 * step)
            .map(|(n, _)| n)
    }

    /// The shortest displacement out of the union through one face of the `part` that contains the
    /// point, or through that face and one of the adjacent part behind it, m.
    pub(super) fn shortest(&self, part: usize) -> Option<Vector3<f64>> {
        let mut best: Option<Vector3<f64>> = None;
        let is_longer = |displacement: &Vector3<f64>, best: Option<Vector3<f64>>| {
            best.is_some_and(|b| displacement.norm() >= b.norm())
        };
        for (first, displacement) in self.faces(part, Vector3::zeros()) {
            if is_longer(&displacement, best) {
                continue;
            }
            let Some(next) = self.parts_beyond(&displacement, &first, part).next() else {
                best = Some(displacement);
                continue;
            };
            for (second, displacement) in self.faces(next, displacement) {
                // at a concave crease only directions between both normals lead out
                let between = (first + second).try_normalize(OPPOSITE).unwrap_or(second);
                let is_out = || self.parts_beyond(&displacement, &between, next).next().is_none();
                if !is_longer(&displacement, best) && is_out() {
                    best = Some(displacement);
                }
            }
        }
        best.filter(|displacement| displacement.norm() > 0.0)
    }

    /// For each face of a part: its normal, and the displacement `before` continued onto its plane.
    fn faces(
        &self,
        part: usize,
        before: Vector3<f64>,
    ) -> impl Iterator<Item = (Vector3<f64>, Vector3<f64>)> + use<'a> {
        let (at, solid) = (self.from + before, &self.union.parts[part].solid);
        (0..solid.face_count()).map(move |n| {
            let (normal, offset) = solid.plane(n);
            (normal, before - normal * (normal.dot(&at.coords) - offset))
        })
    }
}

#[cfg(test)]
mod tests {
    use levelset::{Aabb, ConvexHull};
    use nalgebra::Isometry3;

    use super::*;
    use crate::narrow::random::Random;
    use crate::shape::polyhedron::Polyhedron;

    /// Boxes that overlap.
    fn boxes(random: &mut Random) -> Compound {
        let solid = |random: &mut Random| {
            let half = random.vector(0.4) + Vector3::repeat(0.4);
            let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
            let pose = Isometry3::new(random.vector(0.8), random.vector(3.0));
            let corners = bounds.corners().map(|p| pose * p);
            Polyhedron::new(&ConvexHull::new(&corners).unwrap(), &Isometry3::identity()).unwrap()
        };
        let parts: Vec<Polyhedron> = (0..3).map(|_| solid(random)).collect();
        Compound::new(parts).unwrap()
    }

    fn is_inside(union: &Compound, p: &Point3<f64>) -> bool {
        union.parts.iter().any(|part| part.solid.height(p) < 0.0)
    }

    /// The first point outside in steps of 1 mm along the best of many directions.
    fn shortest_by_search(union: &Compound, from: &Point3<f64>) -> f64 {
        let directions = (0..400).map(|n| {
            let (y, turn) = (1.0 - (f64::from(n) + 0.5) / 200.0, 2.399_963 * f64::from(n));
            let across = (1.0 - y * y).sqrt();
            Vector3::new(across * turn.cos(), y, across * turn.sin())
        });
        let length = |displacement: Vector3<f64>| {
            let out = (1..2000)
                .find(|&n| !is_inside(union, &(from + displacement * (1e-3 * f64::from(n)))));
            out.map_or(f64::INFINITY, |n| 1e-3 * f64::from(n))
        };
        directions.map(length).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn exits_leave_the_union_and_are_hardly_longer_than_the_shortest() {
        let (mut random, mut inside, mut longer) = (Random(7), 0, 0);
        while inside < 300 {
            let union = boxes(&mut random);
            let from = Point3::from(random.vector(1.2));
            let parts = union.parts.iter();
            let Some(part) = parts.clone().position(|part| part.solid.height(&from) < 0.0) else {
                continue;
            };
            inside += 1;
            let exit = Exit { union: &union, from, step: 1e-4 };
            let Some(displacement) = exit.shortest(part) else {
                longer += 1;
                continue;
            };
            let beyond = from + displacement * (1.0 + 2e-4 / displacement.norm());
            assert!(!is_inside(&union, &beyond), "{from} by {displacement}");
            longer +=
                usize::from(displacement.norm() > 1.1 * shortest_by_search(&union, &from) + 2e-3);
        }
        // 33 of 300: through three faces, or to an edge
        assert!(longer <= inside / 8, "{longer} of {inside}");
    }
}
