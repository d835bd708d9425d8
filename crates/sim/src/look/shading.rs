//! Smooth normals of surfaces with sharp edges.

use fracture::FaceOrigin;
use levelset::TriMesh;
use nalgebra::{Point3, Vector3};

use crate::look::paint::barycentric;

/// Smooth normals of a whole body's exact surface, with sharp edges.
#[derive(Debug)]
pub(crate) struct Shading {
    pub(super) surface: fracture::Surface,
    /// Normals at the corners of each triangle.
    normals: Vec<[Vector3<f64>; 3]>,
}

impl Shading {
    pub(crate) fn new(surface: fracture::Surface) -> Self {
        let mesh = &surface.mesh;
        let areas: Vec<Vector3<f64>> =
            (0..mesh.triangles.len()).map(|t| mesh.area_vector(t)).collect();
        let outer = vec![false; areas.len()];
        let mut normals: Vec<[Vector3<f64>; 3]> = areas.iter().map(|area| [*area; 3]).collect();
        for corners in corners_by_vertex(mesh) {
            for fan in fans(&corners, &areas, &outer) {
                // weights by the corner angle make the normal independent of the triangulation
                let weighted = |&(t, corner): &Corner| {
                    let p = mesh.corners(t);
                    let [a, b] = [1, 2].map(|n| p[(corner + n) % 3] - p[corner]);
                    areas[t].try_normalize(0.0).map_or_else(Vector3::zeros, |n| n * a.angle(&b))
                };
                let sum: Vector3<f64> = fan.iter().map(weighted).sum();
                let normal = sum.try_normalize(0.0).unwrap_or_else(Vector3::y);
                fan.iter().for_each(|&(t, corner)| normals[t][corner] = normal);
            }
        }
        Self { surface, normals }
    }

    /// The smooth normal at a point of a face; `flat` if no triangle of the face has an area.
    pub(super) fn normal(&self, face: u32, p: &Point3<f64>, flat: &Vector3<f64>) -> Vector3<f64> {
        let origins = &self.surface.origins;
        // triangles are in the order of their faces
        let first = origins.partition_point(|origin| *origin < FaceOrigin::Outer(face));
        let count = origins[first..].iter().take_while(|o| **o == FaceOrigin::Outer(face)).count();
        let mut best: Option<(f64, Vector3<f64>)> = None;
        for t in first..first + count {
            // a degenerate triangle, such as at a vertex on an edge, has no normal
            let Some(weights) = barycentric(&self.surface.mesh.corners(t), p) else { continue };
            let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
            if best.is_none_or(|(most, _)| least > most) {
                let [u, v, w] = weights.map(|x| x.clamp(0.0, 1.0));
                let [x, y, z] = self.normals[t];
                best = Some((least, x * u + y * v + z * w));
            }
        }
        let normal = best.and_then(|(_, n)| n.try_normalize(1e-12));
        normal.filter(|n| n.iter().all(|x| x.is_finite())).unwrap_or(*flat)
    }
}

/// Cosine of 40 degrees, the largest angle between the normals of smoothly shaded faces.
const CREASE: f64 = 0.766;

/// A triangle and the index of a corner.
pub(super) type Corner = (usize, usize);

pub(super) fn corners_by_vertex(mesh: &TriMesh) -> Vec<Vec<Corner>> {
    let mut corners = vec![Vec::new(); mesh.vertices.len()];
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        for (corner, &vertex) in triangle.iter().enumerate() {
            corners[vertex as usize].push((t, corner));
        }
    }
    corners
}

/// The corners at one vertex in groups of smooth shading. A group has corners of the surface only
/// or of cuts only, connected by chains of angles below the crease angle.
pub(super) fn fans(corners: &[Corner], areas: &[Vector3<f64>], inner: &[bool]) -> Vec<Vec<Corner>> {
    let smooth = |&(s, _): &Corner, &(t, _): &Corner| {
        let (a, b) = (areas[s], areas[t]);
        // without division, since degenerate triangles have no area
        inner[s] == inner[t] && a.dot(&b) >= CREASE * a.norm() * b.norm()
    };
    let mut fans: Vec<Vec<Corner>> = Vec::new();
    for corner in corners {
        let (mut joined, apart): (Vec<_>, Vec<_>) =
            fans.into_iter().partition(|fan| fan.iter().any(|other| smooth(corner, other)));
        let mut fan = joined.pop().unwrap_or_default();
        fan.extend(joined.into_iter().flatten());
        fan.push(*corner);
        fans = apart;
        fans.push(fan);
    }
    fans
}
