//! Convex hulls, for engines that collide those.

use std::collections::BTreeSet;

use levelset::TriMesh;
use nalgebra::{Point3, Vector3};

/// The convex hull of `points`, without those that stand out of it by less than `tolerance`
/// metres; `None` if they are fewer than four, not finite, or all within `tolerance` of a plane.
///
/// Grows from a tetrahedron by the point that stands out most, so that few vertices do.
pub fn convex_hull(points: &[Point3<f64>], tolerance: f64) -> Option<TriMesh> {
    let bounds = levelset::Aabb::around(points)?;
    // no less than what rounding leaves of a plane through three points
    let tolerance = tolerance.max(1e-9 * (bounds.extents().norm() + bounds.centre().coords.amax()));
    let mut faces = tetrahedron(points, tolerance)?;
    // no point is above the first `done`
    let mut done = 0;
    while done < faces.len() {
        let face = Plane::of(points, faces[done]);
        let (farthest, height) = highest(points.iter().map(|p| face.height(p)))?;
        if height <= tolerance {
            done += 1;
            continue;
        }
        let sees = |f: &[usize; 3]| Plane::of(points, *f).height(&points[farthest]) > 0.0;
        let edges: BTreeSet<_> = faces.iter().filter(|f| sees(f)).flat_map(|f| edges(*f)).collect();
        done -= faces[..done].iter().filter(|f| sees(f)).count();
        faces.retain(|f| !sees(f));
        let rim = edges.iter().filter(|[a, b]| !edges.contains(&[*b, *a]));
        faces.extend(rim.map(|&[a, b]| [a, b, farthest]));
    }
    Some(compact(points, &faces))
}

struct Plane {
    normal: Vector3<f64>,
    through: Point3<f64>,
}

impl Plane {
    fn of(points: &[Point3<f64>], [a, b, c]: [usize; 3]) -> Self {
        let normal = (points[b] - points[a]).cross(&(points[c] - points[a]));
        let length = normal.norm();
        // a face without area sees nothing
        let normal = if length > 0.0 { normal / length } else { Vector3::zeros() };
        Self { normal, through: points[a] }
    }

    fn height(&self, p: &Point3<f64>) -> f64 {
        self.normal.dot(&(p - self.through))
    }
}

/// Index and value of the highest, the first of equals.
fn highest(values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    values.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best })
}

fn edges([a, b, c]: [usize; 3]) -> [[usize; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

/// Four points that span a volume, as faces wound counter-clockwise seen from outside.
fn tetrahedron(points: &[Point3<f64>], tolerance: f64) -> Option<Vec<[usize; 3]>> {
    let (a, _) = highest(points.iter().map(|p| -p.x))?;
    let (b, length) = highest(points.iter().map(|p| (p - points[a]).norm()))?;
    if length <= tolerance {
        return None;
    }
    let along = (points[b] - points[a]) / length;
    let (c, width) = highest(points.iter().map(|p| (p - points[a]).cross(&along).norm()))?;
    if width <= tolerance {
        return None;
    }
    let plane = Plane::of(points, [a, b, c]);
    let (d, height) = highest(points.iter().map(|p| plane.height(p).abs()))?;
    if height <= tolerance {
        return None;
    }
    let [b, c] = if plane.height(&points[d]) > 0.0 { [c, b] } else { [b, c] };
    Some(vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
}

/// The mesh of the faces with the vertices they use, in order of the points.
fn compact(points: &[Point3<f64>], faces: &[[usize; 3]]) -> TriMesh {
    let used: Vec<usize> = {
        let set: BTreeSet<usize> = faces.iter().flatten().copied().collect();
        set.into_iter().collect()
    };
    // every corner of a face is in the list it was collected into
    let place = |point: &usize| used.partition_point(|p| p < point) as u32;
    TriMesh {
        vertices: used.iter().map(|&p| points[p]).collect(),
        triangles: faces.iter().map(|face| [0, 1, 2].map(|n| place(&face[n]))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_hull_of_points_in_a_cube_with_its_corners_is_the_cube() {
        let mut random = Random::new(1);
        let mut points: Vec<_> = (0..500).map(|_| Point3::from(random.in_cube())).collect();
        for corner in 0..8 {
            points.push(Point3::from([0, 1, 2].map(|a| f64::from(corner >> a & 1) * 2.0 - 1.0)));
        }
        let hull = convex_hull(&points, 0.0).unwrap();
        assert_eq!((hull.vertices.len(), hull.triangles.len()), (8, 12));
        assert!((hull.signed_volume() - 8.0).abs() < 1e-12);
    }

    #[test]
    fn every_point_is_inside_up_to_the_tolerance() {
        let mut random = Random::new(2);
        let points: Vec<_> =
            (0..800).map(|_| Point3::from(random.direction().into_inner())).collect();
        for tolerance in [0.0, 0.02, 0.1] {
            let hull = convex_hull(&points, tolerance).unwrap();
            for t in &hull.triangles {
                let plane = Plane::of(&hull.vertices, t.map(|n| n as usize));
                assert!(points.iter().all(|p| plane.height(p) <= tolerance.max(1e-8)));
            }
            // closed: Euler's formula for triangles
            assert_eq!(hull.triangles.len(), 2 * hull.vertices.len() - 4);
        }
        let coarse = convex_hull(&points, 0.1).unwrap();
        assert!(coarse.vertices.len() < 100, "{}", coarse.vertices.len());
    }

    #[test]
    fn flat_and_few_points_have_no_hull() {
        let mut random = Random::new(3);
        let flat: Vec<_> =
            (0..50).map(|_| Point3::new(random.unit(), 0.25, random.unit())).collect();
        assert_eq!(convex_hull(&flat, 0.0), None);
        assert_eq!(convex_hull(&flat[..3], 0.0), None);
        assert_eq!(convex_hull(&[], 0.0), None);
    }
}
