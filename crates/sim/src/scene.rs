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
//! Lengths are metres, masses kilograms, times seconds, y points up. A kind is chosen by the key
//! that holds its settings, `shape = { sphere = { radius = 0.1 } }`, so that every error can point
//! at its own line.

mod error;
mod validate;

use std::collections::BTreeMap;

use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use serde::Deserialize;

pub use error::{InvalidValue, Place, SceneError};

/// Cells of margin that a level set has on every side of a solid.
const MARGIN: usize = 3;

/// Everything a run needs to know, except the meshes that bodies name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Version of the format; must be [`Scene::VERSION`].
    pub version: u32,
    /// Settings of the run.
    #[serde(default)]
    pub simulation: Simulation,
    /// Fracture patterns by name: `[pattern.NAME.voronoi]` or `[pattern.NAME.radial]`.
    #[serde(default, rename = "pattern")]
    pub patterns: BTreeMap<String, Pattern>,
    /// The bodies, in the order of the file: `[[body]]`.
    #[serde(default, rename = "body")]
    pub bodies: Vec<Body>,
}

/// Settings of a run: `[simulation]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Simulation {
    /// Frames per second, each one time step; 30 unless given.
    pub fps: f64,
    /// Frames to simulate after the initial state; 120 unless given.
    pub frames: usize,
    /// Acceleration of every dynamic body, m/s^2; `[0, -9.81, 0]` unless given.
    pub gravity: [f64; 3],
    /// Seed of everything random; 1 unless given.
    pub seed: u64,
    /// Whether bodies that have been still for half a second are held until something concerns
    /// them; `true` unless given.
    pub sleep: bool,
}

impl Default for Simulation {
    fn default() -> Self {
        Self { fps: 30.0, frames: 120, gravity: [0.0, -9.81, 0.0], seed: 1, sleep: true }
    }
}

/// One body: `[[body]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Name, unique in the scene.
    pub name: String,
    /// Its solid, in body coordinates.
    pub shape: Shape,
    /// Who moves it; `"dynamic"` unless given.
    #[serde(default)]
    pub motion: Motion,
    /// Mass per volume, kg/m^3; 1000 unless given.
    #[serde(default = "water")]
    pub density: f64,
    /// Where the shape's origin is, m; `[0, 0, 0]` unless given.
    #[serde(default)]
    pub position: [f64; 3],
    /// How the shape is turned about its origin; not at all unless given.
    #[serde(default)]
    pub rotation: Rotation,
    /// Velocity of the centre of mass, m/s; `[0, 0, 0]` unless given.
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Angular velocity, world axes, rad/s; `[0, 0, 0]` unless given.
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// Coefficient of restitution, 0 (dead) to 1 (elastic); 0.3 unless given.
    #[serde(default = "mild_restitution")]
    pub restitution: f64,
    /// Coefficient of Coulomb friction; 0.5 unless given.
    #[serde(default = "mild_friction")]
    pub friction: f64,
    /// Linear RGB, each 0 to 1; `[0.7, 0.7, 0.7]` unless given.
    #[serde(default = "grey")]
    pub colour: [f32; 3],
    /// How it breaks; never unless given.
    pub fracture: Option<Fracture>,
}

fn water() -> f64 {
    1000.0
}

fn mild_restitution() -> f64 {
    0.3
}

fn mild_friction() -> f64 {
    0.5
}

fn grey() -> [f32; 3] {
    [0.7; 3]
}

impl Body {
    /// Shape coordinates to world.
    pub fn pose(&self) -> Isometry3<f64> {
        let translation = Translation3::from(Vector3::from(self.position));
        Isometry3::from_parts(translation, self.rotation.to_quaternion())
    }
}

/// Who moves a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Motion {
    /// Forces and contacts do.
    #[default]
    Dynamic,
    /// Nobody.
    Static,
    /// It keeps the velocity it is given and nothing stops it.
    Kinematic,
}

/// A turn about an axis through the origin, right-handed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// The axis, of any length but zero; `[0, 1, 0]` unless given.
    #[serde(default = "up")]
    pub axis: [f64; 3],
    /// The angle, degrees.
    pub degrees: f64,
}

fn up() -> [f64; 3] {
    [0.0, 1.0, 0.0]
}

impl Default for Rotation {
    fn default() -> Self {
        Self { axis: up(), degrees: 0.0 }
    }
}

impl Rotation {
    /// The same turn as a unit quaternion.
    pub fn to_quaternion(self) -> UnitQuaternion<f64> {
        let axis = Unit::new_normalize(Vector3::from(self.axis));
        UnitQuaternion::from_axis_angle(&axis, self.degrees.to_radians())
    }
}

/// The solid of a body.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A closed triangle mesh from a file.
    Mesh(Mesh),
    /// A ball about the origin.
    Sphere(Sphere),
    /// A box about the origin, edges along the axes.
    Box(Cuboid),
    /// A cylinder about the origin, its axis along y.
    Cylinder(Cylinder),
    /// A cylinder with round ends about the origin, its axis along y.
    Capsule(Capsule),
    /// A half space without end; only for static bodies.
    Plane(Plane),
}

/// `shape = { mesh = { file = "bunny.obj", resolution = [70, 60, 45] } }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Path of the mesh, relative to the scene file.
    pub file: String,
    /// Longest edge of the bounding box after scaling, m; as in the file unless given. A mesh that
    /// is given a size is also moved: the centre of its bounding box comes to the origin.
    pub size: Option<f64>,
    /// Most nodes of the level set along x, y and z; the spacing is the finest that fits.
    pub resolution: [usize; 3],
}

/// `shape = { sphere = { radius = 0.1 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Radius, m.
    pub radius: f64,
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
}

/// `shape = { box = { half_extents = [1, 0.5, 0.1] } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cuboid {
    /// Half the edge lengths, m.
    pub half_extents: [f64; 3],
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
}

/// `shape = { cylinder = { radius = 0.1, half_height = 0.5 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Radius, m.
    pub radius: f64,
    /// Half the length along y, m.
    pub half_height: f64,
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
}

/// `shape = { capsule = { radius = 0.1, half_height = 0.5 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// Radius, m.
    pub radius: f64,
    /// Half the length along y of the part between the round ends, m.
    pub half_height: f64,
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
}

/// `shape = { plane = { normal = [0, 1, 0] } }`: the solid is where `normal . x < offset`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// Points out of the solid, of any length but zero; `[0, 1, 0]` unless given.
    #[serde(default = "up")]
    pub normal: [f64; 3],
    /// Height of the surface along the unit normal, m; 0 unless given.
    #[serde(default)]
    pub offset: f64,
}

impl Shape {
    /// Edge lengths of the bounding box, m; `None` where the file does not tell (mesh, plane).
    pub fn extents(&self) -> Option<[f64; 3]> {
        match self {
            Self::Mesh(_) | Self::Plane(_) => None,
            Self::Sphere(s) => Some([2.0 * s.radius; 3]),
            Self::Box(b) => Some(b.half_extents.map(|h| 2.0 * h)),
            Self::Cylinder(c) => Some([2.0 * c.radius, 2.0 * c.half_height, 2.0 * c.radius]),
            Self::Capsule(c) => {
                let length = 2.0 * (c.half_height + c.radius);
                Some([2.0 * c.radius, length, 2.0 * c.radius])
            }
        }
    }

    /// Spacing of the level set of an analytic solid, m; `None` for a mesh or plane.
    ///
    /// Unless the scene gives one it is a 40th of the longest edge of the bounding box, or an 8th
    /// of the shortest where that is less.
    pub fn spacing(&self) -> Option<f64> {
        let given = match self {
            Self::Mesh(_) | Self::Plane(_) => None,
            Self::Sphere(s) => s.spacing,
            Self::Box(b) => b.spacing,
            Self::Cylinder(c) => c.spacing,
            Self::Capsule(c) => c.spacing,
        };
        let by_size = |e: [f64; 3]| {
            let longest = e[0].max(e[1]).max(e[2]);
            let shortest = e[0].min(e[1]).min(e[2]);
            (longest / 40.0).min(shortest / 8.0)
        };
        given.or_else(|| self.extents().map(by_size))
    }

    /// Most nodes of its level set, should it need one; `None` for a plane.
    pub fn nodes(&self) -> Option<f64> {
        if let Self::Mesh(mesh) = self {
            return Some(mesh.resolution.iter().map(|&n| n as f64).product());
        }
        let (extents, spacing) = (self.extents()?, self.spacing()?);
        let axis = |extent: f64| (extent / spacing).ceil() + 1.0 + 2.0 * MARGIN as f64;
        Some(extents.into_iter().map(axis).product())
    }
}

/// How a body breaks: `fracture = { pattern = "shards", strength = 20 }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fracture {
    /// Name of a `[pattern.NAME]` table.
    pub pattern: String,
    /// The impulse at one contact above which it breaks, N s.
    pub strength: f64,
    /// How often it and its fragments may break in turn; 3 unless given.
    #[serde(default = "three")]
    pub generations: u32,
    /// Pieces of fewer level-set nodes stay with the neighbour they touch most; 64 unless given.
    #[serde(default = "sixty_four")]
    pub min_nodes: usize,
}

fn three() -> u32 {
    3
}

fn sixty_four() -> usize {
    64
}

/// A division of space that is centred where a body is hit: `[pattern.NAME.KIND]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Cells of random points.
    Voronoi(Voronoi),
    /// Sectors and rings about the impact, as in a pane of glass.
    Radial(Radial),
}

/// `[pattern.NAME.voronoi]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voronoi {
    /// About how many pieces a body comes apart into; bodies of different shapes each get cells
    /// enough for that.
    pub pieces: usize,
    /// How much the cells crowd around the impact: 0 not at all, 1 strongly; 0.5 unless given.
    #[serde(default = "half")]
    pub clustering: f64,
}

/// `[pattern.NAME.radial]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Radial {
    /// Number of sectors around the impact.
    pub sectors: usize,
    /// Number of rings around the impact.
    pub rings: usize,
    /// How irregular the cracks are: 0 not at all, 1 strongly; 0.5 unless given.
    #[serde(default = "half")]
    pub jitter: f64,
}

fn half() -> f64 {
    0.5
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
        let scene: Self = toml::from_str(text).map_err(|e| SceneError::from_toml(text, &e))?;
        scene.validate().map_err(|invalid| SceneError::from_invalid(text, invalid))?;
        Ok(scene)
    }

    /// The mesh files that bodies name, in the order of the bodies; a file may come twice.
    pub fn mesh_files(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().filter_map(|body| match &body.shape {
            Shape::Mesh(mesh) => Some(mesh.file.as_str()),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;
