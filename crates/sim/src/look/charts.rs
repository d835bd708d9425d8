//! Paint of sampled surfaces, taken from the nearest points of the source mesh.

use std::collections::BTreeSet;

use fracture::{Projector, nearest_on_triangle};
use nalgebra::{Point3, Vector3};

use crate::{Paint, PaintedMesh};

/// Adjacency of the triangles of a mesh within texture charts: two triangles are adjacent if they
/// share an edge, a material and the texture coordinates at both ends of the edge. Where the
/// coordinates differ there is a seam.
#[derive(Debug)]
pub(crate) struct Charts {
    /// Sorted neighbors of each triangle.
    neighbors: Vec<Vec<u32>>,
}

/// The paint of a triangle of a sampled surface.
pub(crate) struct Painted {
    /// Index of the coat.
    pub(crate) coat: u32,
    /// Paint of the corners.
    pub(crate) corners: [Paint; 3],
}

impl Charts {
    pub(crate) fn new(mesh: &PaintedMesh) -> Self {
        let triangles = &mesh.mesh.triangles;
        let mut edges: Vec<([u32; 2], u32, [Paint; 2])> = Vec::with_capacity(3 * triangles.len());
        for (n, corners) in (0..).zip(triangles) {
            let paint = mesh.corners.get(n as usize).copied().unwrap_or_default();
            for k in 0..3 {
                let l = (k + 1) % 3;
                // each edge from its lower end
                let [k, l] = if corners[k] < corners[l] { [k, l] } else { [l, k] };
                edges.push(([corners[k], corners[l]], n, [paint[k], paint[l]]));
            }
        }
        edges.sort_by_cached_key(|(ends, ..)| *ends);
        let mut neighbors = vec![Vec::new(); triangles.len()];
        for edge in edges.chunk_by(|a, b| a.0 == b.0) {
            for (i, (_, a, paint)) in edge.iter().enumerate() {
                for (_, b, other) in &edge[i + 1..] {
                    let goes_on = (0..2).all(|k| paint[k].uv == other[k].uv);
                    if goes_on && mesh.coat(*a) == mesh.coat(*b) {
                        neighbors[*a as usize].push(*b);
                        neighbors[*b as usize].push(*a);
                    }
                }
            }
        }
        neighbors.iter_mut().for_each(|list| list.sort_unstable());
        Self { neighbors }
    }

    /// The paint of a triangle near the mesh. All corners take that of the nearest points in one
    /// chart, that of the triangle nearest to the middle, so that no triangle crosses a seam.
    /// `None` if the mesh is beyond the reach of the projector.
    pub(crate) fn paint(
        &self,
        mesh: &PaintedMesh,
        projector: &Projector,
        corners: &[Point3<f64>; 3],
    ) -> Option<Painted> {
        let [a, b, c] = corners;
        let middle = Point3::from((a.coords + b.coords + c.coords) / 3.0);
        let normal: Vector3<f64> = (b - a).cross(&(c - a));
        let first = projector.nearest_facing(&middle, &normal)?;
        let patch = self.patch(mesh, first, &middle, corners, projector.reach());
        let paint = corners.map(|p| {
            let nearest = patch.iter().map(|&t| {
                let point = nearest_on_triangle(&p, &mesh.mesh.corners(t as usize));
                (t, point, (point - p).norm_squared())
            });
            let nearest = nearest.min_by(|a, b| a.2.total_cmp(&b.2).then(a.0.cmp(&b.0)));
            nearest.map_or_else(Paint::default, |(t, point, _)| mesh.paint(t, &point))
        });
        Some(Painted { coat: mesh.coat(first), corners: paint })
    }

    /// The triangles of the chart of `first` that may contain the nearest points of the corners:
    /// those whose distance from the middle is at most the sum of those of the first triangle and
    /// of the farthest corner and the projector's reach.
    fn patch(
        &self,
        mesh: &PaintedMesh,
        first: u32,
        middle: &Point3<f64>,
        corners: &[Point3<f64>; 3],
        reach: f64,
    ) -> Vec<u32> {
        let place = |t: u32| mesh.mesh.corners(t as usize);
        let distance = |t: u32| (nearest_on_triangle(middle, &place(t)) - middle).norm();
        let farthest = corners.iter().map(|p| (p - middle).norm()).fold(0.0, f64::max);
        let limit = distance(first) + farthest + reach;
        let mut patch = vec![first];
        let mut known = BTreeSet::from([first]);
        let mut next = 0;
        while let Some(&t) = patch.get(next) {
            next += 1;
            for &other in &self.neighbors[t as usize] {
                if known.insert(other) && distance(other) <= limit {
                    patch.push(other);
                }
            }
        }
        patch
    }
}

/// Whether a mesh has paint that a sampled surface shows.
pub(crate) fn is_painted(mesh: &PaintedMesh) -> bool {
    !mesh.corners.is_empty() || !mesh.coat_of.is_empty()
}

#[cfg(test)]
mod tests {
    use levelset::TriMesh;
    use nalgebra::Vector2;

    use super::*;

    /// A strip of two squares in the plane across z; the texture has a seam between them.
    fn strip() -> PaintedMesh {
        let vertices: Vec<Point3<f64>> =
            (0..3).flat_map(|x| [0.0, 1.0].map(|y| Point3::new(f64::from(x), y, 0.0))).collect();
        let triangles = vec![[0, 2, 1], [2, 3, 1], [2, 4, 3], [4, 5, 3]];
        let uv = |t: usize, v: u32| {
            let p = &vertices[v as usize];
            let shift = if t < 2 { 0.0 } else { 10.0 };
            Paint { uv: Some(Vector2::new(p.x + shift, p.y)), ..Paint::default() }
        };
        let corners = triangles.iter().enumerate().map(|(t, c)| c.map(|v| uv(t, v))).collect();
        PaintedMesh { corners, mesh: TriMesh { vertices, triangles }, ..PaintedMesh::default() }
    }

    #[test]
    fn a_triangle_across_a_seam_is_painted_from_one_side() {
        let mesh = strip();
        let projector = Projector::new(&mesh.mesh, 0.05).unwrap();
        let charts = Charts::new(&mesh);
        for (middle, shift) in [(0.98, 0.0), (1.02, 10.0)] {
            let corner = |x: f64, y: f64| Point3::new(middle + x, 0.5 + y, 0.01);
            let triangle = [corner(-0.1, -0.1), corner(0.1, -0.1), corner(0.0, 0.2)];
            let Painted { corners, .. } = charts.paint(&mesh, &projector, &triangle).unwrap();
            for (p, paint) in triangle.iter().zip(corners) {
                // positions beyond the seam take the color of its edge
                let x = if shift == 0.0 { p.x.min(1.0) } else { p.x.max(1.0) };
                let wanted = Vector2::new(x + shift, p.y);
                assert!((paint.uv.unwrap() - wanted).norm() < 1e-12, "{paint:?} for {wanted}");
            }
        }
        let far = [Point3::new(9.0, 0.0, 0.0); 3];
        assert!(charts.paint(&mesh, &projector, &far).is_none());
    }
}
