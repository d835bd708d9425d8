//! Solids and open surfaces from files of meshes and outlines.

use std::sync::Arc;

use levelset::Aabb;
use nalgebra::{Point3, Vector2, Vector3};
use serde::Deserialize;

use super::check::{at, extent, require};
use super::outline::Outline;
use super::spacing::check_fineness;
use super::{Axis, InvalidValue};

/// `shape = { mesh = { file = "bunny.obj", size = 0.5 } }`, also for `tets`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Path of the mesh, relative to the scene file.
    pub file: String,
    /// Longest edge of the bounding box after scaling, m; by default as in the file. A mesh with a
    /// size is also centered: the center of its bounding box moves to the origin.
    pub size: Option<f64>,
    /// Spacing of the level set, m; see [`super::default_spacing`] for the default.
    pub spacing: Option<f64>,
    /// Largest number of nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
    /// Definition of the inside of the triangles; `"auto"` by default.
    #[serde(default)]
    pub sign: MeshSign,
    /// Mirrors the mesh in the plane through the origin normal to this axis, before `size` applies;
    /// none by default.
    pub mirror: Option<Axis>,
    /// Its collision geometry; by default `"samples"`, unless it is convex.
    #[serde(default)]
    pub collide: Collide,
}

/// The collision geometry of a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collide {
    /// Surface points and the signed distance of samples, or faces, edges and corners of a convex
    /// mesh.
    #[default]
    Samples,
    /// Vertices and tetrahedra (Mu01 section 2.9); for `tets` only.
    Tets,
}

/// Definition of the inside of the triangles of a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeshSign {
    /// `Strict` if the mesh is closed, else `Winding`, with a warning.
    #[default]
    Auto,
    /// The mesh must be closed and wound outwards.
    Strict,
    /// The generalised winding number (Jacobson et al. 2013), which closes holes smoothly.
    Winding,
}

/// `shape = { trimesh = { file = "terrain.obj" } }`: the solid is behind the triangles, whose front
/// has counter-clockwise corners.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trimesh {
    /// Path of the mesh, relative to the scene file.
    pub file: String,
    /// See [`Mesh::size`].
    pub size: Option<f64>,
    /// See [`Mesh::mirror`].
    pub mirror: Option<Axis>,
    /// Thickness of the solid behind the triangles, m, for sheets with bodies on both sides;
    /// infinite by default.
    pub thickness: Option<f64>,
}

/// `shape = { svg = { file = "letter.svg", size = 0.5, depth = 0.1 } }`: the filled area of an SVG
/// file, extruded along z, with the center of its box at the origin and y upwards.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Svg {
    /// Path of the file, relative to the scene file.
    pub file: String,
    /// Longest edge of the bounding box of the filled area, m; by default as in the file, at 96
    /// pixels per inch.
    pub size: Option<f64>,
    /// Thickness along z, m.
    pub depth: f64,
    /// Mirrors the shape in the plane through the origin normal to this axis; none by default.
    pub mirror: Option<Axis>,
    /// See [`Mesh::spacing`].
    pub spacing: Option<f64>,
    /// See [`Mesh::nodes`].
    pub nodes: Option<usize>,
    /// The filled area of the file, for a part of a combined solid.
    #[serde(skip)]
    pub(crate) read: Option<Arc<Outline>>,
}

impl Mesh {
    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(!self.file.is_empty(), &at(key, "file"), || "is empty: name a mesh file")?;
        if let Some(size) = self.size {
            extent(&at(key, "size"), size)?;
        }
        check_fineness(key, self.spacing, self.nodes)
    }
}

impl Trimesh {
    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(!self.file.is_empty(), &at(key, "file"), || "is empty: name a mesh file")?;
        if let Some(size) = self.size {
            extent(&at(key, "size"), size)?;
        }
        self.thickness.map_or(Ok(()), |thickness| extent(&at(key, "thickness"), thickness))
    }
}

impl Svg {
    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(!self.file.is_empty(), &at(key, "file"), || "is empty: name an .svg file")?;
        if let Some(size) = self.size {
            extent(&at(key, "size"), size)?;
        }
        extent(&at(key, "depth"), self.depth)?;
        check_fineness(key, self.spacing, self.nodes)
    }
}

impl Svg {
    /// Scale from meters of the file to m.
    fn scale(&self, outline: &Outline) -> f64 {
        self.size.map_or(1.0, |size| size / (2.0 * outline.half.max()))
    }

    /// A bound of the signed distance, m: exact sign, and exact distance near faces.
    pub(crate) fn value(&self, p: &Point3<f64>) -> f64 {
        let Some(outline) = &self.read else { return f64::INFINITY };
        let scale = self.scale(outline);
        let mut place = p.xy() / scale;
        match self.mirror {
            Some(Axis::X) => place.x = -place.x,
            Some(Axis::Y) => place.y = -place.y,
            _ => {}
        }
        (scale * outline.distance(&place)).max(p.z.abs() - self.depth / 2.0)
    }

    /// Its bounding box: before the file is read, a box as wide and high as its longest edge.
    pub(crate) fn bounds(&self) -> Option<Aabb> {
        let half = match &self.read {
            Some(outline) => outline.half * self.scale(outline),
            None => Vector2::repeat(self.size? / 2.0),
        };
        let half = Vector3::new(half.x, half.y, self.depth / 2.0);
        Some(Aabb { min: (-half).into(), max: half.into() })
    }
}
