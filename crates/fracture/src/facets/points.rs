//! Points spread over a surface.

use std::collections::BTreeSet;

use levelset::TriMesh;
use nalgebra::{Point3, Quaternion, UnitQuaternion, Vector3};

use super::surface::{Cap, FaceOrigin, Facets, Tag};
use crate::slicing::Projection;

/// Contacts of large flat faces need no more points along a side.
const MAX_STEPS: f64 = 64.0;
/// Vertices nearer to each other than this share of the size of the solid may be represented by one of them.
const VERTEX_SPACING: f64 = 1.0 / 48.0;

impl Facets {
    /// Points on the surface at most about `spacing` meters apart, with corners and rims of cuts before other vertices;
    /// see [`TriMesh::spread_points`]. Vertices may be nearer to each other: thinning by `spacing` would remove most
    /// vertices of a solid that is not much larger.
    pub(crate) fn spread_points(&self, spacing: f64) -> Vec<Point3<f64>> {
        let mut on_rim = vec![false; self.vertices.len()];
        let is_cut = |tag: Tag| tag.origin() == FaceOrigin::Cut;
        for (corners, _) in self.polygons().filter(|(_, tag)| is_cut(*tag)) {
            corners.iter().for_each(|&v| on_rim[v as usize] = true);
        }
        for cap in self.caps().iter().filter(|cap| is_cut(cap.tag)) {
            cap.edges.iter().for_each(|edge| on_rim[edge[0] as usize] = true);
        }
        let (mut order, inner): (Vec<u32>, Vec<u32>) =
            (0..self.vertices.len() as u32).partition(|&v| on_rim[v as usize]);
        order.extend(inner);
        let mut names = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&v, name)| names[v as usize] = name);
        let mut mesh = TriMesh {
            vertices: order.iter().map(|&v| self.vertices[v as usize]).collect(),
            triangles: Vec::new(),
        };
        for (corners, _) in self.polygons() {
            let corner = |k: usize| names[corners[k] as usize];
            let fan = (1..corners.len() - 1).map(|k| [corner(0), corner(k), corner(k + 1)]);
            mesh.triangles.extend(fan);
        }
        let corners = TriMesh { vertices: mesh.vertices.clone(), triangles: Vec::new() };
        let mut points = corners.spread_points(spacing.min(VERTEX_SPACING * self.size()));
        let bits = |p: &Point3<f64>| p.coords.map(f64::to_bits).data.0;
        let known: BTreeSet<_> = points.iter().map(bits).collect();
        self.caps().iter().for_each(|cap| self.spread_over(cap, spacing, &mut mesh.vertices));
        let spread = mesh.spread_points(spacing);
        points.extend(spread.into_iter().filter(|p| !known.contains(&bits(p))));
        points
    }

    /// Adds points on the edges of a cap, and in it along lines.
    fn spread_over(&self, cap: &Cap, spacing: f64, points: &mut Vec<Point3<f64>>) {
        for [p, q] in cap.edges.iter().map(|edge| edge.map(|v| self.vertices[v as usize])) {
            let count = ((q - p).norm() / spacing).min(MAX_STEPS) as usize + 1;
            points.extend((1..count).map(|k| p + (q - p) * (k as f64 / count as f64)));
        }
        let projection = Projection::along(&cap.normal);
        let base = self.vertices[cap.edges[0][0] as usize];
        let ends = |edge: &[u32; 2]| edge.map(|v| projection.point(&self.vertices[v as usize]));
        let edges: Vec<[[f64; 2]; 2]> = cap.edges.iter().map(ends).collect();
        let heights = edges.iter().map(|[p, _]| p[1]);
        let (low, high) = heights
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        // the projection shortens lengths by up to the largest component of the normal
        let step = (spacing * cap.normal.amax()).max((high - low) / MAX_STEPS);
        let mut crossings: Vec<(f64, i32)> = Vec::new();
        for row in 0..((high - low) / step) as usize + 1 {
            let y = low + (row as f64 + 0.5) * step;
            crossings.clear();
            for [p, q] in edges.iter().filter(|[p, q]| (p[1] <= y) != (q[1] <= y)) {
                let x = p[0] + (q[0] - p[0]) * ((y - p[1]) / (q[1] - p[1]));
                crossings.push((x, if q[1] < p[1] { 1 } else { -1 }));
            }
            crossings.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mut depth = 0;
            for pair in crossings.windows(2) {
                depth += pair[0].1;
                let [from, to] = [pair[0].0, pair[1].0];
                if depth > 0 {
                    let count = ((to - from) / step).min(MAX_STEPS) as usize + 1;
                    let x = |k: usize| from + (to - from) * (k as f64 / count as f64);
                    let lifted = |k| projection.lifted([x(k), y], &base, &cap.normal);
                    points.extend((1..count).map(lifted));
                }
            }
        }
    }

    /// About `count` points of a lattice that are inside the solid, of `volume` m^3, by its
    /// crossings with the columns of the lattice.
    ///
    /// The lattice is oblique to the axes: layers parallel to a plate would all miss one that is
    /// thinner than their distance, or hit it with too many points.
    pub(crate) fn inside_points(&self, volume: f64, count: usize) -> Vec<Point3<f64>> {
        /// Largest number of columns along a side, also of a needle.
        const MAX_COLUMNS: f64 = 1024.0;
        let Some(bounds) = self.bounds() else { return Vec::new() };
        let least = bounds.extents().max() / MAX_COLUMNS;
        let step = libm::cbrt(volume / count.max(1) as f64).max(least);
        if !(step > 0.0 && step.is_finite()) {
            return Vec::new();
        }
        // no simple ratios: no plane of a box is parallel to a plane of many points
        let axes = Quaternion::new(1.0, 0.381_966, 0.618_034, 0.276_393);
        let axes = UnitQuaternion::new_normalize(axes).to_rotation_matrix();
        let to_body = axes.inverse();
        let mut crossings: Vec<([i64; 2], f64, i32)> = Vec::new();
        self.for_each_triangle(|triangle, _| {
            let corner = |v| axes * ((self.vertices[v as usize] - bounds.min) / step);
            let corners = triangle.map(corner);
            cross_columns(&corners, |column, height, sign| crossings.push((column, height, sign)));
        });
        crossings.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut points = Vec::new();
        for column in crossings.chunk_by(|a, b| a.0 == b.0) {
            let mut depth = 0;
            for pair in column.windows(2) {
                depth += pair[0].2;
                if depth <= 0 {
                    continue;
                }
                let (low, high) = (pair[0].1.ceil() as i64, pair[1].1.floor() as i64);
                let [i, j] = column[0].0;
                let place = |k: i64| {
                    let node = Vector3::new(i as f64, j as f64, k as f64);
                    bounds.min + to_body * node * step
                };
                points.extend((low..=high).map(place));
            }
        }
        points
    }
}

/// Calls `found` with the columns along z, at integer x and y, that a triangle crosses, the height
/// and whether the solid begins (1) or ends (-1) there.
fn cross_columns(corners: &[Vector3<f64>; 3], mut found: impl FnMut([i64; 2], f64, i32)) {
    let [a, b, c] = corners;
    let normal = (b - a).cross(&(c - a));
    if normal.z == 0.0 {
        return;
    }
    let sign = if normal.z < 0.0 { 1 } else { -1 };
    let range = |k: usize| {
        let (low, high) = (a[k].min(b[k]).min(c[k]), a[k].max(b[k]).max(c[k]));
        low.ceil() as i64..=high.floor() as i64
    };
    let turn = normal.z.signum();
    for i in range(0) {
        for j in range(1) {
            let (x, y) = (i as f64, j as f64);
            let side = |p: &Vector3<f64>, q: &Vector3<f64>| {
                turn * ((q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x))
            };
            if side(a, b) >= 0.0 && side(b, c) >= 0.0 && side(c, a) >= 0.0 {
                let height = a.z - (normal.x * (x - a.x) + normal.y * (y - a.y)) / normal.z;
                found([i, j], height, sign);
            }
        }
    }
}
