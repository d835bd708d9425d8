//! Scene files: what to simulate, as plain data read from TOML.
//!
//! ```
//! let scene = brisance_sim::scene::Scene::from_toml(
//!     r#"
//!     version = 1
//!
//!     [[body]]
//!     name = "floor"
//!     shape = { plane = {} }
//!     motion = "static"
//!
//!     [[body]]
//!     name = "ball"
//!     shape = { sphere = { radius = 0.1 } }
//!     density = 2500
//!     position = [0, 2, 0]
//!     "#,
//! )?;
//! assert_eq!(scene.bodies.len(), 2);
//! # Ok::<(), brisance_sim::scene::SceneError>(())
//! ```
//!
//! Lengths are meters, masses kilograms, times seconds, y points up. A kind is chosen by the key
//! that holds its settings, `shape = { sphere = { radius = 0.1 } }`, so that every error can point
//! at its own line. A string in the place of a number is a quantity with a unit or an expression,
//! `"20 cm"` or `"$width / 2"`, of which [`units`] knows the unit that the key is in.

mod anchor;
mod body;
mod bonds;
mod breakable;
mod breakage;
mod camera;
mod check;
mod combined;
mod contact;
mod copies;
mod error;
mod files;
mod groups;
mod joint;
mod lattice;
mod level;
mod material;
mod mesh;
mod mirror;
mod motion;
mod outline;
mod pattern;
mod pieces;
mod polygon;
mod pose;
mod primitive;
mod quantity;
mod relief;
mod shape;
mod simulation;
mod solver;
mod spacing;
mod stress;
mod substance;
mod timeline;
mod two_dimensions;
mod units;
mod validate;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

pub use anchor::{Anchor, Ball, Block};
pub use body::Body;
pub use bonds::Bonds;
pub use breakage::Fracture;
pub use camera::{Camera, CameraKey};
pub use contact::{Bounds, ClampKind, Contact, Energy, LeverArms, Turning};
pub use copies::Copies;
pub use error::{InvalidValue, Place, SceneError};
pub use files::{Assembled, FileError, Origins};
pub use joint::{Joint, JointKind, Motor};
pub use lattice::{Cleave, Lattice, LatticeLinks, LatticeShards, StrengthPicture, WeakSphere};
pub use level::Level;
pub use material::{Material, OwnMaterial, Rule};
pub use mesh::{Collide, Mesh, MeshSign, Svg, Trimesh};
pub(crate) use mirror::mirrored_pose;
pub use motion::{Keyframe, Motion};
pub use pattern::{
    Bricks, Nested, Noise, Painted, Pattern, PatternFile, Points, Preset, Radial, Rims, Roughness,
    Slices, Voronoi,
};
pub(crate) use pieces::Whole;
pub use pieces::{PieceBonds, Pieces};
pub use polygon::Polygon;
pub use pose::{Axis, Rotation};
pub use primitive::{Capsule, Cone, Cuboid, Cylinder, Plane, Sphere, Torus};
pub use relief::{Extruded, Heightfield, PictureFile};
pub use shape::{Combined, Op, Part, Shape};
pub use simulation::{Debris, Retire, Simulation, Then};
pub use solver::Solver;
pub use spacing::default_spacing;
pub(crate) use spacing::{MARGIN, MAX_NODES, NODES_THROUGH, spacing};
pub use stress::Stress;
pub use timeline::{Cut, Event, Explosion, Push, Wind};
pub use units::units;

/// Everything a run needs to know, except the meshes that bodies name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Version of the format; must be [`Scene::VERSION`].
    pub version: u32,
    /// Files with more of the scene, relative to this one: what they hold comes first.
    #[serde(default)]
    pub include: Vec<String>,
    /// Values that strings of this file name with `$`, in SI units: `[variables]`.
    #[serde(default)]
    pub variables: BTreeMap<String, f64>,
    /// Settings of the run.
    #[serde(default)]
    pub simulation: Simulation,
    /// Air that moves and drags bodies along; none unless given.
    pub wind: Option<Wind>,
    /// Where pictures are taken from; fitted to what breaks unless given.
    pub camera: Option<Camera>,
    /// Limits on pieces.
    #[serde(default)]
    pub debris: Debris,
    /// Materials by name, beside those of [`Material::TABLE`]: `[material.NAME]`.
    #[serde(default, rename = "material")]
    pub materials: BTreeMap<String, OwnMaterial>,
    /// Fracture patterns by name: `[pattern.NAME.voronoi]` or `[pattern.NAME.radial]`, or a file.
    #[serde(default, rename = "pattern")]
    pub patterns: BTreeMap<String, Pattern>,
    /// The bodies, in the order of the file: `[[body]]`.
    #[serde(default, rename = "body")]
    pub bodies: Vec<Body>,
    /// What joins them: `[[joints]]`.
    #[serde(default)]
    pub joints: Vec<Joint>,
    /// What happens at given times: `[[event]]`.
    #[serde(default, rename = "event")]
    pub events: Vec<Event>,
}

/// The axis of what is given none.
fn up() -> [f64; 3] {
    [0.0, 1.0, 0.0]
}

/// How long a blow lasts unless given, s.
fn millisecond() -> f64 {
    0.001
}

impl Scene {
    /// The version of the format this code reads.
    pub const VERSION: u32 = 1;

    /// Reads a scene and checks every value in it.
    ///
    /// # Errors
    /// [`SceneError`] with line, column and key for text that is not TOML, keys that do not exist
    /// and values that cannot be used.
    pub fn from_toml(text: &str) -> Result<Self, SceneError> {
        let read = &mut |_: &str| Err("only a scene in a file includes others".to_owned());
        Self::from_files(text, read).map_err(|file| file.error)
    }

    /// Puts other numbers in place of those of the scene. With `fps` it lasts as long as before, unless `frames` says
    /// otherwise.
    ///
    /// # Errors
    /// [`InvalidValue`] if one is out of range.
    pub fn replace(
        &mut self,
        fps: Option<f64>,
        frames: Option<usize>,
        seed: Option<u64>,
    ) -> Result<(), InvalidValue> {
        let simulation = &mut self.simulation;
        if let Some(fps) = fps {
            let frames = (simulation.frames as f64 * fps / simulation.fps).round();
            (simulation.fps, simulation.frames) = (fps, frames as usize);
        }
        simulation.frames = frames.unwrap_or(simulation.frames);
        simulation.seed = seed.unwrap_or(simulation.seed);
        self.validate()
    }

    /// What is accepted in the scene but better written in another way, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let renamed = |body: &&Body| body.fracture.as_ref().is_some_and(|f| f.strength.is_some());
        let names: Vec<String> =
            self.bodies.iter().filter(renamed).map(|body| format!("{:?}", body.name)).collect();
        if names.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "the key `strength` of `fracture` is now called `break_impulse` (bodies {}): rename it, \
             or remove it to let the material decide",
            names.join(", ")
        )]
    }

    /// Hands over what is in a pattern file, for all patterns that name it.
    pub fn give_pattern(&mut self, file: &str, pattern: &Arc<fracture::Pattern>) {
        let all = self.patterns.values_mut().flat_map(Pattern::in_files_mut);
        for named in all.filter(|named| named.file == file) {
            named.read = Some(Arc::clone(pattern));
        }
    }

    /// The pattern files that patterns name.
    pub fn pattern_files(&mut self) -> impl Iterator<Item = &str> {
        let all = self.patterns.values_mut().flat_map(Pattern::in_files_mut);
        all.map(|named| named.file.as_str())
    }

    /// Hands over how dark the pictures are that patterns are painted by and that draw shapes: `painting` reads the
    /// one at a path.
    ///
    /// # Errors
    /// The first of `painting`.
    pub fn give_paintings<E>(
        &mut self,
        mut painting: impl FnMut(&str) -> Result<fracture::Painting, E>,
    ) -> Result<(), E> {
        for painted in self.patterns.values_mut().flat_map(Pattern::painted_mut) {
            painted.read = Some(Arc::new(painting(&painted.picture)?));
        }
        for picture in self.bodies.iter_mut().flat_map(|body| body.shape.pictures_mut()) {
            picture.read = Some(Arc::new(painting(&picture.file)?));
        }
        Ok(())
    }

    /// Hands over what is in a picture of strength: `stencil` makes it of what says where it is.
    ///
    /// # Errors
    /// The first of `stencil`.
    pub fn give_strength<E>(
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

    /// The mesh files that bodies name, in the order of the bodies; a file may come twice.
    pub fn mesh_files(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().filter_map(|body| match &body.shape {
            Shape::Mesh(mesh) => Some(mesh.file.as_str()),
            Shape::Trimesh(mesh) => Some(mesh.file.as_str()),
            _ => None,
        })
    }

    /// The SVG files that bodies and parts of combined solids name, as [`Scene::mesh_files`]. What they fill is to be a [`MeshData::Surface`] of
    /// unit thickness, halved by z = 0; see [`Svg`].
    ///
    /// [`MeshData::Surface`]: crate::MeshData::Surface
    pub fn outline_files(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().flat_map(|body| body.shape.outlines()).map(|svg| svg.file.as_str())
    }

    /// The files and folders of pieces that bodies name, as [`Scene::mesh_files`]; [`separate`](crate::separate) takes
    /// what is in them.
    pub fn piece_files(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().filter_map(|body| match &body.shape {
            Shape::Pieces(pieces) => Some(pieces.file.as_str()),
            _ => None,
        })
    }

    /// The files of tetrahedra that bodies name, as [`Scene::mesh_files`].
    pub fn tet_files(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().filter_map(|body| match &body.shape {
            Shape::Tets(mesh) => Some(mesh.file.as_str()),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;
