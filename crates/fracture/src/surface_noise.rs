//! Noise on the cuts of exact solids: the flat cuts are displaced, and their rims are fixed.

use std::collections::BTreeMap;

use levelset::TriMesh;
use nalgebra::{Point3, Similarity3, UnitVector3, Vector3};

use crate::Noise;
use crate::facets::{FaceOrigin, Surface};
use crate::fill::Border;
use crate::slicing::{Projection, cancel_opposites};

/// Largest angle between triangles of one cut, rad: round-off only.
const FLAT: f64 = 1e-5;
/// Triangles per period of the coarsest octave, along a line.
const PER_PERIOD: f64 = 8.0;
/// Width of the strip along a rim in which the noise rises from zero to its full amplitude, in
/// periods of the coarsest octave. The slope there is at most 1 if the amplitude is at most a third
/// of a period.
const STRIP: f64 = 0.5;
/// Limit of the points within a cut, which give 32,768 triangles, and of the parts of an edge.
/// Beyond it triangles are larger.
const MAX_POINTS: f64 = 16384.0;
const MAX_EDGE_POINTS: f64 = 256.0;

/// A surface whose cuts are displaced by noise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoisySurface {
    /// The surface, closed as before.
    pub surface: Surface,
    /// Unit normal of the flat face of each triangle.
    pub flat: Vec<Vector3<f64>>,
}

/// Triangles of a cut in one plane, or a single triangle of the outer surface.
struct Face {
    origin: FaceOrigin,
    normal: UnitVector3<f64>,
    triangles: Vec<usize>,
}

/// Indices of the vertices that subdivide each edge, in the order from its lower index to its
/// higher.
type Chains = BTreeMap<[u32; 2], Vec<u32>>;

impl Surface {
    /// The surface with its cuts refined and displaced along their normals by gradient noise
    /// (Perlin 2002). Lengths of `noise` are in pattern units; `pattern` maps these to the
    /// coordinates of the surface, m.
    ///
    /// The rims are fixed. The noise depends only on the position and on the distance to the rim. Two
    /// pieces with a whole common face therefore fit, except for differing diagonals.
    ///
    /// # Panics
    /// If a triangle has an unknown vertex, or there are fewer origins than triangles.
    pub fn with_noise(&self, noise: &Noise, pattern: &Similarity3<f64>) -> NoisySurface {
        let noise = NoiseField { noise, pattern, to_pattern: pattern.inverse() };
        let faces = self.faces();
        let mut mesh = TriMesh { vertices: self.mesh.vertices.clone(), triangles: Vec::new() };
        let mut chains = Chains::new();
        for face in faces.iter().filter(|face| face.origin == FaceOrigin::Cut) {
            for edge in self.rim(face) {
                let own = [edge[0].min(edge[1]), edge[0].max(edge[1])];
                chains
                    .entry(own)
                    .or_insert_with(|| divided(&mut mesh.vertices, own, noise.spacing()));
            }
        }
        let mut noisy = NoisySurface::default();
        for face in &faces {
            let edges: Vec<[u32; 2]> =
                self.rim(face).into_iter().flat_map(|edge| pieces_of(&chains, edge)).collect();
            let inside = match face.origin {
                FaceOrigin::Cut => noise.points_in(self, face),
                FaceOrigin::Outer(_) => Vec::new(),
            };
            let first = mesh.vertices.len() as u32;
            mesh.vertices.extend(inside.iter().map(|(p, _)| p));
            let numbers: Vec<u32> = (first..mesh.vertices.len() as u32).collect();
            let projection = Projection::along(&face.normal);
            let at = |v: u32| projection.point(&mesh.vertices[v as usize]);
            let filled = Border::new(&edges, at).with_points(&numbers, at).filled();
            for ((_, height), &number) in inside.iter().zip(&numbers) {
                mesh.vertices[number as usize] += face.upward() * *height;
            }
            noisy.surface.origins.extend(std::iter::repeat_n(face.origin, filled.len()));
            noisy.flat.extend(std::iter::repeat_n(face.normal.into_inner(), filled.len()));
            mesh.triangles.extend(filled);
        }
        noisy.surface.mesh = mesh;
        noisy
    }

    /// The faces in the order of their first triangles.
    fn faces(&self) -> Vec<Face> {
        let normals: Vec<Option<UnitVector3<f64>>> = (0..self.mesh.triangles.len())
            .map(|t| UnitVector3::try_new(self.mesh.area_vector(t), 0.0))
            .collect();
        let beside = self.beside();
        let mut done = vec![false; normals.len()];
        let mut faces = Vec::new();
        for first in 0..normals.len() {
            if done[first] {
                continue;
            }
            let origin = self.origins[first];
            let mut face = Face { origin, normal: Vector3::y_axis(), triangles: Vec::new() };
            let mut normal: Option<UnitVector3<f64>> = None;
            let mut open = vec![first];
            done[first] = true;
            while let Some(t) = open.pop() {
                face.triangles.push(t);
                normal = normal.or(normals[t]);
                if origin != FaceOrigin::Cut {
                    break;
                }
                for &other in &beside[t] {
                    // a triangle without area belongs to any face
                    let is_flat = match (normal, normals[other]) {
                        (Some(p), Some(q)) => p.cross(&q).norm() <= FLAT && p.dot(&q) > 0.0,
                        _ => true,
                    };
                    if self.origins[other] == FaceOrigin::Cut && is_flat && !done[other] {
                        done[other] = true;
                        open.push(other);
                    }
                }
            }
            face.triangles.sort_unstable();
            face.normal = normal.unwrap_or_else(Vector3::y_axis);
            faces.push(face);
        }
        faces
    }

    /// The adjacent triangles of each triangle at edges with two.
    fn beside(&self) -> Vec<Vec<usize>> {
        let mut edges: Vec<([u32; 2], usize)> = Vec::new();
        for (t, &[a, b, c]) in self.mesh.triangles.iter().enumerate() {
            edges.extend([[a, b], [b, c], [c, a]].map(|[p, q]| ([p.min(q), p.max(q)], t)));
        }
        edges.sort_unstable();
        let mut beside = vec![Vec::new(); self.mesh.triangles.len()];
        for same in edges.chunk_by(|p, q| p.0 == q.0) {
            if let [(_, s), (_, t)] = *same {
                beside[s].push(t);
                beside[t].push(s);
            }
        }
        beside
    }

    /// The directed edges around a face.
    fn rim(&self, face: &Face) -> Vec<[u32; 2]> {
        let run = |t: &usize| {
            let [a, b, c] = self.mesh.triangles[*t];
            [[a, b], [b, c], [c, a]]
        };
        let mut edges: Vec<[u32; 2]> = face.triangles.iter().flat_map(run).collect();
        cancel_opposites(&mut edges);
        edges
    }
}

impl Face {
    /// The normal or its opposite, the same for both sides of a cut.
    fn upward(&self) -> Vector3<f64> {
        let normal = self.normal.into_inner();
        if normal[normal.iamax()] > 0.0 { normal } else { -normal }
    }
}

/// The noise of a pattern, lengths in m.
struct NoiseField<'a> {
    noise: &'a Noise,
    pattern: &'a Similarity3<f64>,
    to_pattern: Similarity3<f64>,
}

impl NoiseField<'_> {
    /// Distance between points.
    fn spacing(&self) -> f64 {
        self.pattern.scaling() / (PER_PERIOD * self.noise.frequency)
    }

    /// Points within a face with their upward displacements.
    fn points_in(&self, surface: &Surface, face: &Face) -> Vec<(Point3<f64>, f64)> {
        let vertices = &surface.mesh.vertices;
        let rim: Vec<[Point3<f64>; 2]> =
            surface.rim(face).iter().map(|edge| edge.map(|v| vertices[v as usize])).collect();
        let Some([base, _]) = rim.first() else { return Vec::new() };
        let (up, axis) = (face.upward(), face.normal.iamax());
        let area: f64 =
            face.triangles.iter().map(|&t| surface.mesh.area_vector(t).norm() / 2.0).sum();
        let spacing = self.spacing().max((area / MAX_POINTS).sqrt());
        // as many in the projection as in the plane
        let across = spacing * face.normal[axis].abs().sqrt();
        let along = across * 0.75_f64.sqrt();
        // both sides of a cut have the same points
        let [u, v] = [[1, 2], [0, 2], [0, 1]][axis];
        let range = |k: usize, step: f64| {
            let all = rim.iter().flatten().map(|p| p[k] / step);
            let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
            (low.floor(), high.ceil())
        };
        let (first, last) = range(v, along);
        let mut points = Vec::new();
        let mut row = first;
        while row <= last {
            let shift = if row.rem_euclid(2.0) == 0.0 { 0.0 } else { 0.5 };
            let (low, high) = range(u, across);
            let mut column = low;
            while column <= high {
                let mut p = *base;
                (p[u], p[v]) = ((column + shift) * across, row * along);
                p[axis] -= up.dot(&(p - base)) / up[axis];
                let distance = distance_to(&rim, &p);
                if distance > 0.5 * spacing && is_inside(&rim, &p, [u, v]) {
                    points.push((p, self.height(&p, &up, distance)));
                }
                column += 1.0;
            }
            row += 1.0;
        }
        points
    }

    /// Displacement of a point of a cut at a distance from the rim.
    fn height(&self, p: &Point3<f64>, up: &Vector3<f64>, distance: f64) -> f64 {
        let scale = self.pattern.scaling();
        let moved = self.noise.displacement(&(self.to_pattern * p));
        let along = self.pattern.isometry.inverse_transform_vector(up);
        let share = (distance * self.noise.frequency / (STRIP * scale)).min(1.0);
        scale * moved.dot(&along) * share * share * (3.0 - 2.0 * share)
    }
}

fn distance_to(rim: &[[Point3<f64>; 2]], p: &Point3<f64>) -> f64 {
    let distance = |[a, b]: &[Point3<f64>; 2]| {
        let segment = b - a;
        let square = segment.norm_squared();
        let share =
            if square > 0.0 { (segment.dot(&(p - a)) / square).clamp(0.0, 1.0) } else { 0.0 };
        (p - (a + segment * share)).norm()
    };
    rim.iter().map(distance).fold(f64::INFINITY, f64::min)
}

/// Whether a ray crosses the rim an odd number of times.
fn is_inside(rim: &[[Point3<f64>; 2]], p: &Point3<f64>, [u, v]: [usize; 2]) -> bool {
    let crosses = |[a, b]: &&[Point3<f64>; 2]| {
        let (low, high) = if a[v] <= b[v] { (a, b) } else { (b, a) };
        let is_level = low[v] <= p[v] && p[v] < high[v];
        let side = (high[u] - low[u]) * (p[v] - low[v]) - (high[v] - low[v]) * (p[u] - low[u]);
        is_level && side > 0.0
    };
    rim.iter().filter(crosses).count() % 2 == 1
}

/// Appends vertices that subdivide an edge, and returns their indices from its first end on.
fn divided(vertices: &mut Vec<Point3<f64>>, [a, b]: [u32; 2], spacing: f64) -> Vec<u32> {
    let [p, q] = [a, b].map(|v| vertices[v as usize]);
    let parts = ((q - p).norm() / spacing).min(MAX_EDGE_POINTS) as u32;
    let first = vertices.len() as u32;
    // from the same end for both sides of a cut
    let is_forward = p.iter().partial_cmp(q.iter()).is_none_or(std::cmp::Ordering::is_lt);
    let at = |k: u32| {
        let share = f64::from(if is_forward { k } else { parts - k }) / f64::from(parts);
        let (from, to) = if is_forward { (p, q) } else { (q, p) };
        from + (to - from) * share
    };
    vertices.extend((1..parts).map(at));
    (first..vertices.len() as u32).collect()
}

/// The parts of a directed edge.
fn pieces_of(chains: &Chains, [from, to]: [u32; 2]) -> Vec<[u32; 2]> {
    let known = chains.get(&[from.min(to), from.max(to)]);
    let mut all = vec![from];
    let inner = known.into_iter().flatten().copied();
    if from < to {
        all.extend(inner);
    } else {
        all.extend(inner.rev());
    }
    all.push(to);
    all.windows(2).map(|pair| [pair[0], pair[1]]).collect()
}
