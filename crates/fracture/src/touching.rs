//! Contact areas of meshes that were not cut here.

use levelset::{Aabb, TriMesh, total_order};
use nalgebra::{Point3, Vector3};

use crate::Bond;

/// Cosine of the largest angle, 2.6 degrees, between touching faces.
const PARALLEL: f64 = 0.999;

/// Gap of [`touching`] for meshes from files, which have seven digits, as a share of the longest
/// edge of the common bounding box.
pub const TOUCHING_GAP: f64 = 1e-4;

/// The bonds between touching solids: one for each two of `meshes` that touch in an area. Faces
/// touch if they face each other and are at most `gap` m apart; deeper overlaps do not count.
/// Meshes are closed, with normals that point outwards.
///
/// # Panics
/// If a triangle names a vertex that does not exist.
pub fn touching(meshes: &[TriMesh], gap: f64) -> Vec<Bond> {
    let solids: Vec<Faces> = meshes.iter().map(|mesh| Faces::of(mesh, gap)).collect();
    let mut bonds = Vec::new();
    for (j, other) in solids.iter().enumerate() {
        for (i, solid) in solids[..j].iter().enumerate() {
            bonds.extend(solid.bond(other, gap).map(|bond| Bond { fragments: [i, j], ..bond }));
        }
    }
    bonds.sort_by_cached_key(|bond| bond.fragments);
    bonds
}

/// A triangle, its unit normal and its box, enlarged by the gap.
struct Face {
    corners: [Point3<f64>; 3],
    normal: Vector3<f64>,
    bounds: Aabb,
}

/// The faces of a solid, sorted by the lower end of their boxes along x.
struct Faces {
    faces: Vec<Face>,
    bounds: Option<Aabb>,
    /// The longest box along x, m.
    longest: f64,
}

fn meet(a: &Aabb, b: &Aabb) -> bool {
    (0..3).all(|k| a.min[k] <= b.max[k] && b.min[k] <= a.max[k])
}

impl Faces {
    fn of(mesh: &TriMesh, gap: f64) -> Self {
        let face = |t: usize| {
            let corners = mesh.corners(t);
            let normal = mesh.area_vector(t).try_normalize(0.0)?;
            let bounds = Aabb::around(&corners)?;
            let margin = Vector3::repeat(gap / 2.0);
            let bounds = Aabb { min: bounds.min - margin, max: bounds.max + margin };
            Some(Face { corners, normal, bounds })
        };
        let mut faces: Vec<Face> = (0..mesh.triangles.len()).filter_map(face).collect();
        faces.sort_by_cached_key(|face| total_order(face.bounds.min.x));
        let longest = faces.iter().map(|f| f.bounds.max.x - f.bounds.min.x).fold(0.0_f64, f64::max);
        let corners = faces.iter().flat_map(|face| [&face.bounds.min, &face.bounds.max]);
        let bounds = Aabb::around(corners);
        Self { faces, bounds, longest }
    }

    /// The faces whose boxes overlap one.
    fn near<'a>(&'a self, bounds: &'a Aabb) -> impl Iterator<Item = &'a Face> {
        let first = self.faces.partition_point(|f| f.bounds.min.x < bounds.min.x - self.longest);
        let rest = self.faces[first..].iter();
        rest.take_while(|f| f.bounds.min.x <= bounds.max.x).filter(|f| meet(&f.bounds, bounds))
    }

    fn bond(&self, other: &Self, gap: f64) -> Option<Bond> {
        let (own, others) = (self.bounds.as_ref()?, other.bounds.as_ref()?);
        if !meet(own, others) {
            return None;
        }
        let (mut area, mut moment, mut normal) = (0.0, Vector3::zeros(), Vector3::zeros());
        for face in self.near(others) {
            let opposite = |f: &&Face| f.normal.dot(&face.normal) <= -PARALLEL;
            for facing in other.near(&face.bounds).filter(opposite) {
                let (part, middle) = face.common(facing);
                if part > 0.0 && face.normal.dot(&(middle - face.corners[0])).abs() <= gap {
                    area += part;
                    moment += middle.coords * part;
                    normal += face.normal * part;
                }
            }
        }
        (area > 0.0).then(|| Bond {
            fragments: [0, 1],
            area,
            center: Point3::from(moment / area),
            normal: normal / area,
        })
    }
}

impl Face {
    /// The area that a face covers of this one along its normal, and its center on the other.
    fn common(&self, other: &Self) -> (f64, Point3<f64>) {
        let mut polygon = other.corners.to_vec();
        for k in 0..3 {
            let (a, b) = (self.corners[k], self.corners[(k + 1) % 3]);
            let inward = self.normal.cross(&(b - a));
            polygon = clipped(&polygon, |p| inward.dot(&(p - a)));
        }
        let Some((&first, rest)) = polygon.split_first() else { return (0.0, Point3::origin()) };
        let (mut area, mut moment) = (0.0, Vector3::zeros());
        for edge in rest.windows(2) {
            let [u, v] = [edge[0] - first, edge[1] - first];
            let part = u.cross(&v).dot(&self.normal).abs() / 2.0;
            area += part;
            moment += (u + v) * (part / 3.0);
        }
        if area > 0.0 { (area, first + moment / area) } else { (0.0, first) }
    }
}

/// The part of a convex polygon where a linear function is not below zero.
fn clipped(polygon: &[Point3<f64>], height: impl Fn(&Point3<f64>) -> f64) -> Vec<Point3<f64>> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (n, p) in polygon.iter().enumerate() {
        let q = &polygon[(n + 1) % polygon.len()];
        let (a, b) = (height(p), height(q));
        if a >= 0.0 {
            kept.push(*p);
        }
        if (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0) {
            kept.push(p + (q - p) * (a / (a - b)));
        }
    }
    kept
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A closed box of twelve triangles.
    pub(crate) fn cuboid(min: [f64; 3], max: [f64; 3]) -> TriMesh {
        let corner = |n: usize| {
            Point3::from(Vector3::from_fn(|k, _| if n >> k & 1 == 1 { max[k] } else { min[k] }))
        };
        let quads =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        TriMesh {
            vertices: (0..8).map(corner).collect(),
            triangles: quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect(),
        }
    }

    #[test]
    fn boxes_touch_in_the_overlap_of_their_sides() {
        let low = cuboid([0.0; 3], [2.0, 1.0, 1.0]);
        assert!((low.signed_volume() - 2.0).abs() < 1e-12);
        // on top, shifted by half; and one whose side is on that of the first, 0.1 mm off
        let top = cuboid([1.0, 1.0, 0.5], [3.0, 2.0, 1.5]);
        let side = cuboid([2.0001, 0.0, 0.0], [3.0, 1.0, 0.25]);
        let far = cuboid([5.0, 0.0, 0.0], [6.0, 1.0, 1.0]);
        let bonds = touching(&[low, top, side, far], 1e-3);
        let pairs: Vec<_> = bonds.iter().map(|bond| bond.fragments).collect();
        assert_eq!(pairs, [[0, 1], [0, 2]]);
        assert!((bonds[0].area - 0.5).abs() < 1e-12, "{}", bonds[0].area);
        assert!((bonds[0].center - Point3::new(1.5, 1.0, 0.75)).norm() < 1e-12);
        assert!((bonds[0].normal - Vector3::y()).norm() < 1e-12);
        assert!((bonds[1].area - 0.25).abs() < 1e-12);
        assert!((bonds[1].normal - Vector3::x()).norm() < 1e-12);
    }
}
