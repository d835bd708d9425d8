//! Paint of meshes: normals, texture coordinates and colors of corners.

use std::sync::Arc;

use levelset::TriMesh;
use nalgebra::{Point3, UnitVector3, Vector2, Vector3, Vector4};

use crate::Coat;

/// Attributes of a corner of a triangle, other than its position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Paint {
    /// Normal for lighting.
    pub normal: Option<UnitVector3<f64>>,
    /// Texture coordinates, `v` upwards.
    pub uv: Option<Vector2<f64>>,
    /// Linear RGBA color.
    pub color: Option<Vector4<f64>>,
}

/// A mesh with its paint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PaintedMesh {
    /// The mesh.
    pub mesh: TriMesh,
    /// One entry per triangle with the paint of its corners; empty without paint.
    pub corners: Vec<[Paint; 3]>,
    /// Its materials.
    pub coats: Arc<[Coat]>,
    /// Index into `coats` for each triangle; empty without coats. An index past their end means no
    /// coat.
    pub coat_of: Vec<u32>,
}

impl From<TriMesh> for PaintedMesh {
    /// A mesh without paint.
    fn from(mesh: TriMesh) -> Self {
        Self { mesh, ..Self::default() }
    }
}

impl Paint {
    /// The paint at a point with barycentric coordinates `weights` on a triangle; attributes that
    /// one of the corners lacks are missing.
    #[must_use]
    pub fn interpolated([a, b, c]: &[Self; 3], weights: &[f64; 3]) -> Self {
        let [u, v, w] = *weights;
        let normal = || {
            let [a, b, c] = [a.normal?, b.normal?, c.normal?].map(UnitVector3::into_inner);
            UnitVector3::try_new(a * u + b * v + c * w, 1e-12)
        };
        let uv = || Some(a.uv? * u + b.uv? * v + c.uv? * w);
        let color = || Some(a.color? * u + b.color? * v + c.color? * w);
        Self { normal: normal(), uv: uv(), color: color() }
    }
}

impl PaintedMesh {
    /// Its mirror image in the plane through the origin and across an axis, 0 to 2.
    pub(crate) fn mirrored(mut self, axis: usize) -> Self {
        self.mesh.vertices.iter_mut().for_each(|p| p[axis] = -p[axis]);
        // mirrored triangles have reversed orientation
        self.mesh.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        for corners in &mut self.corners {
            corners.swap(1, 2);
            for normal in corners.iter_mut().filter_map(|corner| corner.normal.as_mut()) {
                let mut turned = normal.into_inner();
                turned[axis] = -turned[axis];
                *normal = UnitVector3::new_unchecked(turned);
            }
        }
        self
    }

    /// The paint at a point of triangle `face`; empty if there is no such triangle or no paint.
    pub(crate) fn paint(&self, face: u32, p: &Point3<f64>) -> Paint {
        let known = self.corners.get(face as usize).zip(self.mesh.triangles.get(face as usize));
        let weights = known.and_then(|_| barycentric(&self.mesh.corners(face as usize), p));
        match known.zip(weights) {
            Some(((corners, _), weights)) => {
                let within = weights.map(|weight| weight.clamp(0.0, 1.0));
                let sum: f64 = within.iter().sum();
                Paint::interpolated(corners, &within.map(|weight| weight / sum))
            }
            None => Paint::default(),
        }
    }

    /// Index of the coat of triangle `face`, or `u32::MAX` if it has none.
    pub(crate) fn coat(&self, face: u32) -> u32 {
        self.coat_of.get(face as usize).copied().unwrap_or(u32::MAX)
    }

    /// Whether any corner has texture coordinates, and whether any has a color.
    pub(crate) fn has_uvs_and_colors(&self) -> [bool; 2] {
        let mut all = self.corners.iter().flatten();
        let has_uvs = all.clone().any(|corner| corner.uv.is_some());
        [has_uvs, all.any(|corner| corner.color.is_some())]
    }
}

/// Barycentric coordinates of a point of a triangle's plane; negative outside. `None` for a
/// triangle without area.
pub(crate) fn barycentric([a, b, c]: &[Point3<f64>; 3], p: &Point3<f64>) -> Option<[f64; 3]> {
    let area: Vector3<f64> = (b - a).cross(&(c - a));
    let share = |q: &Point3<f64>, r: &Point3<f64>| (q - p).cross(&(r - p)).dot(&area);
    let square = area.norm_squared();
    (square > 0.0).then(|| [share(b, c), share(c, a), share(a, b)].map(|x| x / square))
}
