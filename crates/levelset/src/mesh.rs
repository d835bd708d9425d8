//! Triangle meshes: plain vertices and indices.

use nalgebra::{Point3, Vector3};

use crate::total_order;

/// A triangle mesh: vertices in meters and triangles wound counter-clockwise seen from outside.
///
/// The fields are plain data without guarantees; functions with requirements check them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions, m.
    pub vertices: Vec<Point3<f64>>,
    /// Indices into `vertices`, three per triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// The corners of a triangle.
    ///
    /// # Panics
    /// If there is no such triangle or it names a vertex that does not exist.
    pub fn corners(&self, triangle: usize) -> [Point3<f64>; 3] {
        self.triangles[triangle].map(|v| self.vertices[v as usize])
    }

    /// Half the cross product of two edges: outwards, as long as the area, m^2.
    ///
    /// # Panics
    /// As [`TriMesh::corners`].
    pub fn area_vector(&self, triangle: usize) -> Vector3<f64> {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(&(c - a)) / 2.0
    }

    /// Volume enclosed by a closed mesh, negative if it is inside out, m^3.
    ///
    /// # Panics
    /// If a triangle names a vertex that does not exist.
    pub fn signed_volume(&self) -> f64 {
        // about a vertex, so that a mesh far from the origin loses no digits
        let Some(base) = self.vertices.first() else { return 0.0 };
        let six = |t: usize| {
            let [a, b, c] = self.corners(t).map(|p| p - base);
            a.dot(&b.cross(&c))
        };
        (0..self.triangles.len()).map(six).sum::<f64>() / 6.0
    }

    /// The mesh with one vertex per position, without triangles that have two corners at one.
    /// Vertices are sorted by their coordinates.
    ///
    /// # Panics
    /// If a triangle names a vertex that does not exist.
    #[must_use]
    pub fn welded(&self) -> Self {
        // adding zero merges -0 and 0
        let place = |p: &Point3<f64>| Point3::from(p.coords.map(|x| x + 0.0));
        let key = |p: &Point3<f64>| <[u64; 3]>::from(place(p).coords.map(total_order));
        let mut order: Vec<([u64; 3], u32)> = self.vertices.iter().map(key).zip(0..).collect();
        order.sort_unstable();
        let (mut numbers, mut vertices) = (vec![0; order.len()], Vec::new());
        for same in order.chunk_by(|p, q| p.0 == q.0) {
            same.iter().for_each(|&(_, v)| numbers[v as usize] = vertices.len() as u32);
            vertices.push(place(&self.vertices[same[0].1 as usize]));
        }
        let triangles = self.triangles.iter().map(|t| t.map(|v| numbers[v as usize]));
        let left = triangles.filter(|[a, b, c]| a != b && b != c && c != a);
        Self { vertices, triangles: left.collect() }
    }

    /// Points on the surface, including its vertices, at most about `spacing` meters apart: the
    /// first one in each cube of that edge, where vertices come first and in their order. No edge
    /// is divided into more than 64 parts. The vertices alone if `spacing` is not positive.
    ///
    /// # Panics
    /// If a triangle names a vertex that does not exist.
    pub fn spread_points(&self, spacing: f64) -> Vec<Point3<f64>> {
        let mut points = self.vertices.clone();
        if spacing.is_nan() || spacing <= 0.0 {
            return points;
        }
        for triangle in 0..self.triangles.len() {
            fill(self.corners(triangle), spacing, &mut points);
        }
        first_of_cubes(&points, spacing).into_iter().map(|n| points[n as usize]).collect()
    }
}

/// The first point in each cube of a lattice, in order.
fn first_of_cubes(points: &[Point3<f64>], spacing: f64) -> Vec<u32> {
    /// Cubes per point up to which a table of all is used; beyond it cubes are sorted.
    const SPARSE: f64 = 64.0;
    let cube = |p: &Point3<f64>| p.coords.map(|x| (x / spacing).floor());
    let (low, high) = points.iter().fold(
        (Point3::from([f64::INFINITY; 3]), Point3::from([f64::NEG_INFINITY; 3])),
        |(low, high), p| (low.inf(p), high.sup(p)),
    );
    let (low, high) = (cube(&low), cube(&high));
    let dims = (high - low).add_scalar(1.0);
    if dims.product() <= SPARSE * points.len() as f64 {
        let origin = low * spacing;
        let [_, y, z] = dims.map(|n| n as usize).into();
        let mut is_taken = vec![false; dims.product() as usize];
        let mut is_first = |p: &Point3<f64>| {
            // not negative, so that truncation rounds down
            let at = (p.coords - origin) / spacing;
            let at = at.zip_map(&dims, |x, n| x.min(n - 1.0) as usize);
            !std::mem::replace(&mut is_taken[(at.x * y + at.y) * z + at.z], true)
        };
        return (0..).zip(points).filter(|(_, p)| is_first(p)).map(|(n, _)| n).collect();
    }
    let cube = |p: &Point3<f64>| <[i64; 3]>::from(cube(p).map(|n| n as i64));
    let mut keyed: Vec<([i64; 3], u32)> = points.iter().map(cube).zip(0..).collect();
    keyed.sort_unstable();
    keyed.dedup_by_key(|(cube, _)| *cube);
    let mut kept: Vec<u32> = keyed.into_iter().map(|(_, n)| n).collect();
    kept.sort_unstable();
    kept
}

/// Adds points in rows from a corner of a triangle to its shortest side, except its corners.
fn fill([a, b, c]: [Point3<f64>; 3], spacing: f64, points: &mut Vec<Point3<f64>>) {
    /// Contacts of large flat faces need no more.
    const MAX_STEPS: f64 = 64.0;
    let [ab, bc, ca] = [b - a, c - b, a - c].map(|side| side.norm_squared());
    if ab.max(bc).max(ca) < spacing * spacing {
        return;
    }
    let steps = |length: f64| (length / spacing).clamp(0.0, MAX_STEPS) as usize + 1;
    let shortest = ab.min(bc).min(ca);
    let [a, b, c] = if bc == shortest {
        [a, b, c]
    } else if ca == shortest {
        [b, c, a]
    } else {
        [c, a, b]
    };
    let rows = steps(ab.max(bc).max(ca).sqrt());
    for row in 1..=rows {
        let share = row as f64 / rows as f64;
        let (from, along) = (a + (b - a) * share, (c - b) * share);
        let count = steps(shortest.sqrt() * share);
        // the last row ends in corners
        let ends = if row < rows { 0..=count } else { 1..=count - 1 };
        points.extend(ends.map(|k| from + along * (k as f64 / count as f64)));
    }
}
