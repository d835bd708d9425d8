//! The build stage (Br11 section 3.6): meshes of the halves, and origins of their vertices.

use levelset::TriMesh;
use nalgebra::{UnitVector3, Vector3};

use super::ClosedMesh;
use super::split::{Side, Split};

/// Origin of a vertex of a half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// A vertex of the solid.
    Vertex(u32),
    /// A point on an edge of the solid, at the `share` of the edge from its first end.
    Edge {
        /// Vertices of the solid.
        ends: [u32; 2],
        /// Between 0 and 1.
        share: f64,
    },
}

/// The part on one side of the plane.
#[derive(Clone, Debug)]
pub struct Half {
    mesh: ClosedMesh,
    origins: Vec<Origin>,
    sources: Vec<u32>,
    cap_normal: UnitVector3<f64>,
}

impl Half {
    /// The mesh: triangles of the solid first, then those of the cap.
    pub fn mesh(&self) -> &ClosedMesh {
        &self.mesh
    }

    /// The mesh alone.
    pub fn into_mesh(self) -> ClosedMesh {
        self.mesh
    }

    /// The origin of each vertex.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// The triangles of the solid from which the first triangles come; those beyond are the cap.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// The triangles of the cap: indices into those of the mesh.
    pub fn cap(&self) -> std::ops::Range<usize> {
        self.sources.len()..self.mesh.mesh().triangles.len()
    }

    /// Out of the solid at the cap.
    pub fn cap_normal(&self) -> UnitVector3<f64> {
        self.cap_normal
    }

    /// Interpolates any attribute of the solid's vertices to the vertices of this half; `mix`
    /// interpolates two values by a share.
    ///
    /// # Panics
    /// If there are fewer attributes than vertices of the solid.
    pub fn interpolated<T: Clone>(
        &self,
        attributes: &[T],
        mix: impl Fn(&T, &T, f64) -> T,
    ) -> Vec<T> {
        let carry = |origin: &Origin| match *origin {
            Origin::Vertex(v) => attributes[v as usize].clone(),
            Origin::Edge { ends: [a, b], share } => {
                mix(&attributes[a as usize], &attributes[b as usize], share)
            }
        };
        self.origins.iter().map(carry).collect()
    }

    /// Interpolates any attribute of the corners of `solid`'s triangles, which preserves texture
    /// seams and hard edges, to the corners of this half's triangles, except the cap's.
    ///
    /// # Panics
    /// If `solid` is not the mesh that was sliced, or has more triangles than `attributes`.
    pub fn interpolated_corners<T: Clone>(
        &self,
        solid: &TriMesh,
        attributes: &[[T; 3]],
        mix: impl Fn(&T, &T, f64) -> T,
    ) -> Vec<[T; 3]> {
        let parts = self.mesh.mesh().triangles.iter().zip(&self.sources);
        let carry = |(triangle, &source): (&[u32; 3], &u32)| {
            let corners = solid.triangles[source as usize];
            let values = &attributes[source as usize];
            let at = |v: u32| {
                let k = corners.iter().position(|&c| c == v).expect("a corner of the source");
                &values[k]
            };
            triangle.map(|v| match self.origins[v as usize] {
                Origin::Vertex(v) => at(v).clone(),
                Origin::Edge { ends: [a, b], share } => mix(at(a), at(b), share),
            })
        };
        parts.map(carry).collect()
    }

    /// Normals for shading, one per corner: for the cap that of the plane, elsewhere the mean of
    /// the triangles around the vertex, weighted by their angles there, without the cap.
    pub fn corner_normals(&self) -> Vec<[UnitVector3<f64>; 3]> {
        let mesh = self.mesh.mesh();
        let mut sums = vec![Vector3::zeros(); mesh.vertices.len()];
        for t in 0..self.sources.len() {
            let Some(normal) = mesh.area_vector(t).try_normalize(0.0) else { continue };
            let corners = mesh.corners(t);
            for k in 0..3 {
                let [one, two] = [1, 2].map(|n| corners[(k + n) % 3] - corners[k]);
                sums[mesh.triangles[t][k] as usize] += normal * one.angle(&two);
            }
        }
        let smooth =
            |v: &u32| UnitVector3::try_new(sums[*v as usize], 0.0).unwrap_or(self.cap_normal);
        let all = mesh.triangles.iter().enumerate();
        all.map(|(t, triangle)| match t < self.sources.len() {
            true => triangle.each_ref().map(smooth),
            false => [self.cap_normal; 3],
        })
        .collect()
    }
}

pub(super) fn build(
    split: &Split,
    side: &Side,
    cap: &[[u32; 3]],
    cap_normal: UnitVector3<f64>,
) -> Half {
    let old = split.solid.mesh();
    let mut names = vec![u32::MAX; old.vertices.len() + split.crossings.len()];
    let mut references = Vec::new();
    let mut name = |reference: &u32| {
        let name = &mut names[*reference as usize];
        if *name == u32::MAX {
            *name = references.len() as u32;
            references.push(*reference);
        }
        *name
    };
    let all = side.triangles.iter().chain(cap);
    let triangles = all.map(|triangle| triangle.each_ref().map(&mut name)).collect();
    let vertices = references.iter().map(|&r| split.position(r)).collect();
    let solids = references.iter().map(|&r| split.solid_of(r)).collect();
    let origin = |&reference: &u32| match (reference as usize).checked_sub(old.vertices.len()) {
        None => Origin::Vertex(reference),
        Some(crossing) => {
            let crossing = &split.crossings[crossing];
            Origin::Edge { ends: crossing.ends, share: crossing.share }
        }
    };
    Half {
        origins: references.iter().map(origin).collect(),
        sources: side.sources.clone(),
        mesh: split.solid.part(TriMesh { vertices, triangles }, solids),
        cap_normal,
    }
}
