//! The root of a scene file.

use std::collections::BTreeMap;
use std::sync::Arc;

use contact::Groups;
use serde::Deserialize;

use super::groups;
use super::{
    Body, Camera, Debris, Event, Joint, Motion, OwnMaterial, Pattern, Shape, Simulation,
    StrengthPicture, Wind,
};

/// All inputs of a run, except the mesh files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Version of the format; must be [`Scene::VERSION`].
    pub version: u32,
    /// Files with more parts of the scene, relative to this one: their contents come first.
    #[serde(default)]
    pub include: Vec<String>,
    /// Values that strings of this file refer to with `$`, in SI units: `[variables]`.
    #[serde(default)]
    pub variables: BTreeMap<String, f64>,
    /// Settings of the run.
    #[serde(default)]
    pub simulation: Simulation,
    /// Moving air with drag; none by default.
    pub wind: Option<Wind>,
    /// The camera; by default fitted to the bodies that break.
    pub camera: Option<Camera>,
    /// Limits on pieces.
    #[serde(default)]
    pub debris: Debris,
    /// Materials by name, beside those of [`Material::TABLE`](super::Material::TABLE):
    /// `[material.NAME]`.
    #[serde(default, rename = "material")]
    pub materials: BTreeMap<String, OwnMaterial>,
    /// Fracture patterns by name: `[pattern.NAME.voronoi]` or `[pattern.NAME.radial]`, or a file.
    #[serde(default, rename = "pattern")]
    pub patterns: BTreeMap<String, Pattern>,
    /// The bodies, in the order of the file: `[[body]]`.
    #[serde(default, rename = "body")]
    pub bodies: Vec<Body>,
    /// The joints between bodies: `[[joints]]`.
    #[serde(default)]
    pub joints: Vec<Joint>,
    /// Events at given times: `[[event]]`.
    #[serde(default, rename = "event")]
    pub events: Vec<Event>,
}

impl Scene {
    /// The version of the format this code reads.
    pub const VERSION: u32 = 1;
    /// The group of bodies without `groups`.
    pub const DEFAULT_GROUP: &str = groups::DEFAULT;

    /// Sets the contents of a pattern file, for all patterns that use it.
    pub fn set_pattern(&mut self, file: &str, pattern: &Arc<fracture::Pattern>) {
        let all = self.patterns.values_mut().flat_map(Pattern::in_files_mut);
        for reference in all.filter(|reference| reference.file == file) {
            reference.read = Some(Arc::clone(pattern));
        }
    }

    /// The files of the patterns.
    pub fn pattern_files(&mut self) -> impl Iterator<Item = &str> {
        let all = self.patterns.values_mut().flat_map(Pattern::in_files_mut);
        all.map(|reference| reference.file.as_str())
    }

    /// Sets the images of painted patterns and of shapes defined by images, as their darkness:
    /// `read` reads the image at a path.
    ///
    /// # Errors
    /// The first error of `read`.
    pub fn set_density_maps<E>(
        &mut self,
        mut read: impl FnMut(&str) -> Result<fracture::DensityMap, E>,
    ) -> Result<(), E> {
        for painted in self.patterns.values_mut().flat_map(Pattern::painted_mut) {
            painted.read = Some(Arc::new(read(&painted.picture)?));
        }
        for picture in self.bodies.iter_mut().flat_map(|body| body.shape.pictures_mut()) {
            picture.read = Some(Arc::new(read(&picture.file)?));
        }
        Ok(())
    }

    /// Sets the images of strength: `stencil` reads that of a [`StrengthPicture`].
    ///
    /// # Errors
    /// The first error of `stencil`.
    pub fn set_strength_images<E>(
        &mut self,
        mut stencil: impl FnMut(&StrengthPicture) -> Result<fracture::Stencil, E>,
    ) -> Result<(), E> {
        let fractures = self.bodies.iter_mut().filter_map(|body| body.fracture.as_mut());
        let lattices = fractures.filter_map(|fracture| fracture.lattice.as_mut());
        for picture in lattices.filter_map(|lattice| lattice.strength_picture.as_mut()) {
            picture.read = Some(Arc::new(stencil(picture)?));
        }
        Ok(())
    }

    /// The mesh files of bodies, in the order of the bodies; a file may occur twice.
    pub fn mesh_files(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().filter_map(|body| match &body.shape {
            Shape::Mesh(mesh) => Some(mesh.file.as_str()),
            Shape::Trimesh(mesh) => Some(mesh.file.as_str()),
            _ => None,
        })
    }

    /// The SVG files of bodies and parts of combined solids, like [`Scene::mesh_files`]. Their
    /// contents must be a [`MeshData::Surface`] of unit thickness, symmetric about z = 0; see
    /// [`Svg`](super::Svg).
    ///
    /// [`MeshData::Surface`]: crate::MeshData::Surface
    pub fn outline_files(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().flat_map(|body| body.shape.outlines()).map(|svg| svg.file.as_str())
    }

    /// The files and folders of pieces, like [`Scene::mesh_files`]; [`separate`](crate::separate)
    /// takes their contents.
    pub fn piece_files(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().filter_map(|body| match &body.shape {
            Shape::Pieces(pieces) => Some(pieces.file.as_str()),
            _ => None,
        })
    }

    /// The files of tetrahedra, like [`Scene::mesh_files`].
    pub fn tet_files(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().filter_map(|body| match &body.shape {
            Shape::Tets(mesh) => Some(mesh.file.as_str()),
            _ => None,
        })
    }

    /// Number of bodies at the start.
    pub fn body_count(&self) -> usize {
        let copies = |b: &Body| b.copies.map_or(1, |copies| copies.total());
        self.bodies.iter().map(copies).fold(0, usize::saturating_add)
    }

    /// Number of dynamic bodies at the start.
    pub(super) fn dynamic_body_count(&self) -> usize {
        let with_mass = |b: &&Body| b.motion == Motion::Dynamic;
        let copies = |b: &Body| b.copies.map_or(1, |copies| copies.total());
        self.bodies.iter().filter(with_mass).map(copies).fold(0, usize::saturating_add)
    }

    /// The groups of a body as bits.
    pub(crate) fn groups_of(&self, body: &Body) -> Groups {
        body.groups_among(&groups::names(&self.bodies))
    }

    /// Assigns the scene's own materials to the bodies that name them.
    pub(super) fn assign_materials(&mut self) {
        for body in &mut self.bodies {
            let name = body.material.as_deref();
            body.own_material = name.and_then(|name| self.materials.get(name)).cloned();
        }
    }
}
