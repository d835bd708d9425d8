//! Projection of drawn surfaces onto the source mesh of a body.

use levelset::{Aabb, TriMesh};
use nalgebra::{Point3, Vector3};

use crate::Drawing;

impl Drawing {
    /// Moves the vertices of outer triangles only to the nearest point of the whole body's source
    /// mesh, if that is within reach: an unbroken side then looks unbroken.
    ///
    /// The rim of the cuts is fixed, so that fragments still fit.
    pub fn project_outer(&mut self, projector: &Projector) {
        let mut moves = vec![true; self.mesh.vertices.len()];
        for (triangle, _) in self.mesh.triangles.iter().zip(&self.inner).filter(|(_, i)| **i) {
            triangle.iter().for_each(|&v| moves[v as usize] = false);
        }
        let reach = projector.reach;
        for (vertex, _) in self.mesh.vertices.iter_mut().zip(moves).filter(|(_, moves)| *moves) {
            let near = projector.near(vertex, reach);
            let near = near.map(|(_, t)| nearest_on_triangle(vertex, &t));
            let distance = |q: &Point3<f64>| (q - *vertex).norm_squared();
            let nearest = near.reduce(|a, b| if distance(&b) < distance(&a) { b } else { a });
            if let Some(q) = nearest.filter(|q| distance(q) <= reach * reach) {
                *vertex = q;
            }
        }
    }
}

/// Finds the nearest point of a mesh: its triangles by the cubes of a lattice that their boxes
/// overlap.
#[derive(Clone, Debug)]
pub struct Projector {
    origin: Point3<f64>,
    size: f64,
    reach: f64,
    /// Cube, and triangle with its index in the mesh; sorted by cubes.
    entries: Vec<([i32; 3], u32, [Point3<f64>; 3])>,
}

impl Projector {
    /// Searches up to `reach` meters; half a voxel is appropriate. Triangles of `mesh` with indices
    /// out of range or vertices that are not finite are ignored. `None` if no triangle is left, or
    /// `reach` is not positive.
    pub fn new(mesh: &TriMesh, reach: f64) -> Option<Self> {
        let corner = |index: &u32| mesh.vertices.get(*index as usize).copied();
        let triangles: Vec<(u32, [Point3<f64>; 3])> = (0..)
            .zip(&mesh.triangles)
            .filter_map(|(n, [a, b, c])| Some((n, [corner(a)?, corner(b)?, corner(c)?])))
            .filter(|(_, t)| Aabb::around(t).is_some())
            .collect();
        let bounds = Aabb::around(triangles.iter().flat_map(|(_, t)| t))?;
        if !(reach > 0.0 && reach.is_finite()) {
            return None;
        }
        // cubes about as large as triangles, and not too many to number
        let edges: f64 = triangles.iter().map(|(_, t)| around(t).extents().max()).sum();
        let size = (edges / triangles.len() as f64).max(reach).max(bounds.extents().max() / 1e4);
        let mut projector = Self { origin: bounds.min, size, reach, entries: Vec::new() };
        for (n, triangle) in triangles {
            let [low, high] =
                [around(&triangle).min, around(&triangle).max].map(|p| projector.cube(&p));
            projector.entries.extend(cubes(low, high).map(|cube| (cube, n, triangle)));
        }
        projector.entries.sort_by_key(|entry| entry.0);
        Some(projector)
    }

    fn cube(&self, p: &Point3<f64>) -> [i32; 3] {
        std::array::from_fn(|a| ((p[a] - self.origin[a]) / self.size).floor() as i32)
    }

    /// Its reach, m.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// The index of the triangle of the mesh nearest to `p`, among those facing like `normal` if
    /// there are any: thin walls have two sides. It searches four times as far as vertices are
    /// moved, two voxels.
    pub fn nearest_facing(&self, p: &Point3<f64>, normal: &Vector3<f64>) -> Option<u32> {
        let rank = |(n, t): (u32, [Point3<f64>; 3])| {
            let [a, b, c] = &t;
            let turns = (b - a).cross(&(c - a)).dot(normal) <= 0.0;
            (turns, (nearest_on_triangle(p, &t) - p).norm_squared(), n)
        };
        let less = |a: &(bool, f64, u32), b: &(bool, f64, u32)| {
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
        };
        let mut reaches = [1.0, 2.0, 4.0].into_iter().map(|times| times * self.reach);
        reaches.find_map(|reach| {
            let near = self.near(p, reach).map(rank).filter(|(_, far, _)| *far <= reach * reach);
            near.min_by(less).map(|(.., n)| n)
        })
    }

    /// Triangles that may be within `reach` of `p`, with their indices, some repeated.
    fn near(&self, p: &Point3<f64>, reach: f64) -> impl Iterator<Item = (u32, [Point3<f64>; 3])> {
        let reach = Aabb { min: *p, max: *p }.grown(reach);
        cubes(self.cube(&reach.min), self.cube(&reach.max)).flat_map(|cube| {
            let start = self.entries.partition_point(|entry| entry.0 < cube);
            let rest = self.entries[start..].iter();
            rest.take_while(move |entry| entry.0 == cube).map(|entry| (entry.1, entry.2))
        })
    }
}

fn around([a, b, c]: &[Point3<f64>; 3]) -> Aabb {
    Aabb { min: a.inf(b).inf(c), max: a.sup(b).sup(c) }
}

fn cubes(low: [i32; 3], high: [i32; 3]) -> impl Iterator<Item = [i32; 3]> {
    (low[0]..=high[0]).flat_map(move |i| {
        (low[1]..=high[1]).flat_map(move |j| (low[2]..=high[2]).map(move |k| [i, j, k]))
    })
}

/// The point of a triangle nearest to `p`: inside, or on the nearest of its edges.
pub fn nearest_on_triangle(p: &Point3<f64>, [a, b, c]: &[Point3<f64>; 3]) -> Point3<f64> {
    let normal = (b - a).cross(&(c - a));
    let square = normal.norm_squared();
    let inside = square > 0.0
        && [(a, b), (b, c), (c, a)]
            .into_iter()
            .all(|(from, to)| normal.cross(&(to - from)).dot(&(p - from)) >= 0.0);
    if inside {
        return p - normal * (normal.dot(&(p - a)) / square);
    }
    let on_edge = |from: &Point3<f64>, to: &Point3<f64>| {
        let edge = to - from;
        let t = edge.dot(&(p - from)) / edge.norm_squared();
        // an edge of zero length is a point
        from + edge * if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 }
    };
    let [x, y, z] = [on_edge(a, b), on_edge(b, c), on_edge(c, a)];
    let nearer = |q: Point3<f64>, r: Point3<f64>| {
        if (r - p).norm_squared() < (q - p).norm_squared() { r } else { q }
    };
    nearer(nearer(x, y), z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_nearest_point_is_no_farther_than_any_sampled_one() {
        let mut random = Random::new(8);
        for _ in 0..300 {
            let t = [(); 3].map(|()| Point3::from(random.in_cube()));
            let p = Point3::from(random.in_cube() * 2.0);
            let q = nearest_on_triangle(&p, &t);
            let mut least = f64::INFINITY;
            for _ in 0..400 {
                let (mut u, mut v) = (random.unit(), random.unit());
                if u + v > 1.0 {
                    (u, v) = (1.0 - u, 1.0 - v);
                }
                let sample = t[0] + (t[1] - t[0]) * u + (t[2] - t[0]) * v;
                least = least.min((sample - p).norm());
            }
            let gap = (q - p).norm();
            assert!(gap <= least + 1e-12 && gap >= least - 0.5, "{gap} {least}");
        }
    }

    #[test]
    fn broken_meshes_and_reaches_move_nothing() {
        let vertices = vec![Point3::new(0.0, 0.0, 0.1); 3];
        let before =
            Drawing { mesh: TriMesh { vertices, triangles: vec![[0, 1, 2]] }, inner: vec![false] };
        let nan = TriMesh {
            vertices: vec![Point3::new(f64::NAN, 0.0, 0.0), Point3::origin(), Point3::origin()],
            triangles: vec![[0, 1, 2], [7, 8, 9]],
        };
        let flat = TriMesh {
            vertices: vec![
                Point3::origin(),
                Point3::new(1.0, 0.0, 0.0),
                Point3::new(0.0, 1.0, 0.0),
            ],
            triangles: vec![[0, 1, 2]],
        };
        for (mesh, reach) in [(&nan, 1.0), (&flat, f64::NAN), (&flat, -1.0), (&flat, 0.05)] {
            let mut after = before.clone();
            if let Some(projector) = Projector::new(mesh, reach) {
                after.project_outer(&projector);
            }
            assert_eq!(after, before);
        }
        let mut after = before;
        after.project_outer(&Projector::new(&flat, 0.2).unwrap());
        assert_eq!(after.mesh.vertices, [Point3::origin(); 3]);
    }
}
