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
mod files;
mod groups;
mod material;
mod timeline;
mod validate;

use std::collections::BTreeMap;
use std::sync::Arc;

use contact::constraint::SequentialImpulse;
use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use serde::Deserialize;

pub use error::{InvalidValue, Place, SceneError};
pub use files::FileError;
pub use material::{Material, OwnMaterial};
pub use timeline::{Cut, Event, Explosion, Keyframe, Push, Wind};

/// Cells of margin that a level set has on every side of a solid.
const MARGIN: usize = 3;

/// Largest time of an event or a keyframe, s.
const LARGEST_TIME: f64 = 1e6;

/// Everything a run needs to know, except the meshes that bodies name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Version of the format; must be [`Scene::VERSION`].
    pub version: u32,
    /// Files with more of the scene, relative to this one: what they hold comes first.
    #[serde(default)]
    pub include: Vec<String>,
    /// Settings of the run.
    #[serde(default)]
    pub simulation: Simulation,
    /// Air that moves and drags bodies along; none unless given.
    pub wind: Option<Wind>,
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
    /// What finds the impulses; `"manifold"` unless given.
    pub solver: Solver,
}

/// What finds the impulses of contacts and joints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Solver {
    /// All contacts of a frame together, in two passes, with shock propagation.
    #[default]
    Manifold,
    /// Pair by pair, as GBF03 and Su09 do; slow, and without joints.
    Reference,
    /// Projected Gauss-Seidel over contacts and joints, as Br11 does.
    SequentialImpulse,
    /// All normal forces at once as a quadratic programme, as Ku07 does.
    QuadraticProgram,
    /// Contact by contact by its class, as the lecture does; without joints.
    Impulse,
}

impl Solver {
    /// The solver at its default settings.
    pub fn contact(self) -> contact::Solver {
        match self {
            Self::Manifold => contact::Solver::Manifold,
            Self::Reference => contact::Solver::reference(),
            Self::SequentialImpulse => {
                contact::Solver::SequentialImpulse(SequentialImpulse::default())
            }
            Self::QuadraticProgram => contact::Solver::QuadraticProgram,
            Self::Impulse => contact::Solver::Impulse,
        }
    }
}

/// Two bodies that stay joined until it bears too much: `[[joints]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// What it leaves free.
    pub kind: JointKind,
    /// Names of the bodies it joins; one must be dynamic.
    pub bodies: [String; 2],
    /// Where in the world, m. That of a distance joint is on the first body.
    pub anchor: [f64; 3],
    /// Where a distance joint is on the second body, m; at `anchor` unless given.
    pub second_anchor: Option<[f64; 3]>,
    /// Axis of a hinge or slider, in the world, of any length but zero; `[0, 1, 0]` unless given.
    #[serde(default = "up")]
    pub axis: [f64; 3],
    /// Least and most: angle of a hinge, degrees, shift of a slider, m, from where the bodies start;
    /// distance of a distance joint, m, as at the start unless given.
    pub limits: Option<[f64; 2]>,
    /// What drives a hinge or slider; nothing unless given.
    pub motor: Option<Motor>,
    /// The force it bears, N; any unless given.
    pub break_force: Option<f64>,
    /// The torque it bears, N m; any unless given.
    pub break_torque: Option<f64>,
    /// Whether the bodies collide with each other; false unless given.
    #[serde(default)]
    pub collides: bool,
}

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// All turning: ball and socket.
    Point,
    /// All but a distance: a rod, or a rope if limits let it.
    Distance,
    /// Turning about an axis.
    Hinge,
    /// Moving along an axis.
    Slider,
    /// Nothing.
    Fixed,
}

/// `motor = { speed = 6, most = 50 }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// Of the first body relative to the second: rad/s of a hinge, m/s of a slider.
    pub speed: f64,
    /// The most it can do: N m or N.
    pub most: f64,
}

impl Default for Simulation {
    fn default() -> Self {
        Self {
            fps: 30.0,
            frames: 120,
            gravity: [0.0, -9.81, 0.0],
            seed: 1,
            sleep: true,
            solver: Solver::default(),
        }
    }
}

/// Limits on the pieces that bodies leave behind: `[debris]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Debris {
    /// Most bodies with a mass at a time, those of the scene included; without limit unless given.
    /// A body that would break into more holds together in that frame.
    pub max_bodies: Option<usize>,
    /// Most pieces that come about in one frame; without limit unless given.
    pub max_new: Option<usize>,
    /// Pieces of less volume than a cube of this edge stay with a neighbour, m; 0 unless given.
    pub min_size: f64,
    /// Which pieces are retired; none unless given.
    pub retire: Option<Retire>,
}

/// `retire = { after = 2, then = "shrink" }`: pieces that came to rest are no longer simulated.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retire {
    /// How long a piece has been slow, s.
    pub after: f64,
    /// The speed below which a piece is slow, m/s; 0.05 unless given.
    #[serde(default = "crawling")]
    pub slower_than: f64,
    /// What becomes of it; it is kept unless given.
    #[serde(default)]
    pub then: Then,
}

/// What becomes of a piece that came to rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Then {
    /// It stays as scenery that others rest on.
    #[default]
    Keep,
    /// It is removed.
    Remove,
    /// It is removed, and shown to shrink away over half a second.
    Shrink,
}

fn crawling() -> f64 {
    0.05
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
    /// What it is made of, a name of [`Material::TABLE`] or of the scene's own: the default of
    /// `density`, `restitution`, `friction`, `colour`, `inner_colour`, `roughness` and of the strength
    /// of its fracture.
    pub material: Option<String>,
    /// Its material, if that is the scene's own.
    #[serde(skip)]
    own_material: Option<OwnMaterial>,
    /// Mass per volume, kg/m^3; as the material or 1000 unless given.
    pub density: Option<f64>,
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
    /// Coefficient of restitution, 0 (dead) to 1 (elastic); as the material or 0.3 unless given.
    pub restitution: Option<f64>,
    /// Coefficient of Coulomb friction; as the material or 0.5 unless given.
    pub friction: Option<f64>,
    /// Names of the groups it is in; `["default"]` unless given. Its pieces are in them too.
    pub groups: Option<Vec<String>>,
    /// Names of the groups it touches; all unless given. Two bodies touch only if each is in a
    /// group that the other touches.
    pub collides_with: Option<Vec<String>>,
    /// Linear RGB, each 0 to 1; as the material or `[0.7, 0.7, 0.7]` unless given.
    pub colour: Option<[f32; 3]>,
    /// Linear RGB of cuts, each 0 to 1; as the material or somewhat paler than `colour` unless
    /// given.
    pub inner_colour: Option<[f32; 3]>,
    /// From 0, a mirror, to 1, chalk; as the material or 0.8 unless given.
    pub roughness: Option<f32>,
    /// How it breaks; never unless given.
    pub fracture: Option<Fracture>,
    /// What holds it in place until it breaks away; nothing unless given.
    #[serde(default, rename = "anchor")]
    pub anchors: Vec<Anchor>,
    /// Stress at which anchors give way under its weight, Pa; that of its material, or never,
    /// unless given.
    pub anchor_strength: Option<f64>,
    /// Copies of it in a grid; itself alone unless given.
    pub copies: Option<Copies>,
    /// Where a kinematic body is when; `position` and `velocity` say so unless given.
    pub keyframes: Option<Vec<Keyframe>>,
}

/// Holds what a body has in a region, until it breaks away:
/// `anchor = [{ plane = { offset = -0.9 } }, { box = { half_extents = [0.1, 1, 1] }, to = "pier" }]`.
/// Lengths are in the coordinates of the body's shape; all of it is held if no region is given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// What is in a ball.
    pub sphere: Option<Ball>,
    /// What is in a box along the axes.
    pub r#box: Option<Block>,
    /// What is behind a plane, where `normal . x < offset`.
    pub plane: Option<Plane>,
    /// The body it holds on to, static or itself anchored, which must touch it in the region; the
    /// world unless given.
    pub to: Option<String>,
}

/// A ball of a region.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Its centre, m; `[0, 0, 0]` unless given.
    #[serde(default)]
    pub centre: [f64; 3],
    /// Its radius, m.
    pub radius: f64,
}

/// A box of a region.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Its centre, m; `[0, 0, 0]` unless given.
    #[serde(default)]
    pub centre: [f64; 3],
    /// Half the edge lengths, m.
    pub half_extents: [f64; 3],
}

/// Equal bodies in a grid: `copies = { count = [5, 1, 5], spacing = [0.3, 0.3, 0.3] }`. The body's
/// `position` is the middle of the lowest layer, and copies are called `NAME 1`, `NAME 2` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copies {
    /// How many along x, y and z.
    pub count: [usize; 3],
    /// From one to the next, m.
    pub spacing: [f64; 3],
    /// How far each may stray from its place along each axis, m; 0 unless given.
    #[serde(default)]
    pub jitter: f64,
}

impl Copies {
    /// How many bodies there are.
    pub fn total(&self) -> usize {
        self.count.iter().fold(1, |product, &n| product.saturating_mul(n))
    }
}

impl Body {
    /// Shape coordinates to world, at the start; of copies that of their middle.
    pub fn pose(&self) -> Isometry3<f64> {
        let first = self.keyframes.as_ref().and_then(|keyframes| keyframes.first());
        first.map_or_else(|| placed(self.position, self.rotation), Keyframe::pose)
    }

    /// Its name, or those of its copies.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let count = self.copies.map_or(1, |copies| copies.total());
        (1..=count).map(move |n| match self.copies {
            Some(_) => format!("{} {n}", self.name),
            None => self.name.clone(),
        })
    }
}

/// Shape coordinates to world.
fn placed(position: [f64; 3], rotation: Rotation) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::from(Vector3::from(position)), rotation.to_quaternion())
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
    /// A mesh of tetrahedra from a file, with which `stress` goes to work as they are.
    Tets(Mesh),
    /// A ball about the origin.
    Sphere(Sphere),
    /// A box about the origin, edges along the axes.
    Box(Cuboid),
    /// A cylinder about the origin, its axis along y.
    Cylinder(Cylinder),
    /// A cylinder with round ends about the origin, its axis along y.
    Capsule(Capsule),
    /// A cone about the origin, its tip up the y axis.
    Cone(Cone),
    /// A ring about the y axis.
    Torus(Torus),
    /// A half space without end; only for static bodies.
    Plane(Plane),
    /// The triangles of a file as they are, open or closed; only for static and kinematic bodies.
    Trimesh(Trimesh),
}

/// `shape = { mesh = { file = "bunny.obj", resolution = [70, 60, 45] } }`, and the same of `tets`.
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

/// `shape = { trimesh = { file = "terrain.obj" } }`: solid is what is behind the triangles, seen from
/// the side from which their corners run counter-clockwise.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trimesh {
    /// Path of the mesh, relative to the scene file.
    pub file: String,
    /// As [`Mesh::size`].
    pub size: Option<f64>,
    /// How much solid there is behind the triangles, m: for sheets that bodies may be on both sides
    /// of. All that is behind them unless given.
    pub thickness: Option<f64>,
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

/// `shape = { cone = { radius = 0.1, half_height = 0.2 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cone {
    /// Radius of the base, m.
    pub radius: f64,
    /// Half the height along y, m.
    pub half_height: f64,
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
}

/// `shape = { torus = { major = 0.2, minor = 0.05 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// From the axis to the middle of the tube, m.
    pub major: f64,
    /// Radius of the tube, m.
    pub minor: f64,
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
    /// The file it is in, if it is in one.
    fn file_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Mesh(mesh) | Self::Tets(mesh) => Some(&mut mesh.file),
            Self::Trimesh(mesh) => Some(&mut mesh.file),
            _ => None,
        }
    }

    /// Edge lengths of the bounding box, m; `None` where the scene does not tell (mesh, plane).
    pub fn extents(&self) -> Option<[f64; 3]> {
        match self {
            Self::Mesh(_) | Self::Tets(_) | Self::Plane(_) | Self::Trimesh(_) => None,
            Self::Sphere(s) => Some([2.0 * s.radius; 3]),
            Self::Box(b) => Some(b.half_extents.map(|h| 2.0 * h)),
            Self::Cylinder(c) => Some([2.0 * c.radius, 2.0 * c.half_height, 2.0 * c.radius]),
            Self::Capsule(c) => {
                let length = 2.0 * (c.half_height + c.radius);
                Some([2.0 * c.radius, length, 2.0 * c.radius])
            }
            Self::Cone(c) => Some([2.0 * c.radius, 2.0 * c.half_height, 2.0 * c.radius]),
            Self::Torus(t) => {
                let across = 2.0 * (t.major + t.minor);
                Some([across, 2.0 * t.minor, across])
            }
        }
    }

    /// Spacing of the level set of an analytic solid, m; `None` for a mesh or plane.
    ///
    /// Unless the scene gives one it is a 40th of the longest edge of the bounding box, or an 8th
    /// of the shortest where that is less.
    pub fn spacing(&self) -> Option<f64> {
        let given = match self {
            Self::Mesh(_) | Self::Tets(_) | Self::Plane(_) | Self::Trimesh(_) => None,
            Self::Sphere(s) => s.spacing,
            Self::Box(b) => b.spacing,
            Self::Cylinder(c) => c.spacing,
            Self::Capsule(c) => c.spacing,
            Self::Cone(c) => c.spacing,
            Self::Torus(t) => t.spacing,
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
        if let Self::Mesh(mesh) | Self::Tets(mesh) = self {
            return Some(mesh.resolution.iter().map(|&n| n as f64).product());
        }
        let (extents, spacing) = (self.extents()?, self.spacing()?);
        let axis = |extent: f64| (extent / spacing).ceil() + 1.0 + 2.0 * MARGIN as f64;
        Some(extents.into_iter().map(axis).product())
    }
}

/// How a body breaks: `fracture = { pattern = "shards", strength = 20 }`. Give one of `pattern`,
/// `lattice` and `stress`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fracture {
    /// Name of a `[pattern.NAME]` table: the body is divided by a pattern centred where it is hit.
    pub pattern: Option<String>,
    /// The body is divided where the links of a lattice of masses break.
    pub lattice: Option<Lattice>,
    /// The body is divided where the blow stretches it too much.
    pub stress: Option<Stress>,
    /// The impulse at one contact above which it breaks, N s; that which stresses it to the strength
    /// of its material unless given, see [`fracture::Material::impulse_for_strength`].
    pub strength: Option<f64>,
    /// How often it and its fragments may break in turn; 3 unless given.
    #[serde(default = "three")]
    pub generations: u32,
    /// Pieces of fewer level-set nodes stay with the neighbour they touch most; 64 unless given.
    #[serde(default = "sixty_four")]
    pub min_nodes: usize,
    /// What holds its pieces together where the blow is too weak to part them; nothing unless
    /// given.
    pub bonds: Option<Bonds>,
}

/// `lattice = { spacing = 0.1 }`: a mass for each tetrahedron of that size (Ku07).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lattice {
    /// Edge length of the tetrahedra, m.
    pub spacing: f64,
    /// Stress that links bear, Pa; that of the body's material unless given.
    pub strength: Option<f64>,
    /// How long a blow lasts, s; 0.001 unless given.
    #[serde(default = "millisecond")]
    pub duration: f64,
    /// Which tetrahedra are linked, those that share `"faces"`, as in the paper, whose lattice gives
    /// way a few tetrahedra around the blow, or also those that share `"edges"`, which breaks into
    /// large parts; `"edges"` unless given.
    #[serde(default)]
    pub links: LatticeLinks,
    /// How much more one link at each mass is weakened by a crack than the others, 0 for a uniform
    /// body; 1 unless given.
    #[serde(default = "one_fold")]
    pub randomness: f64,
    /// Bumps in the strength: amplitude below 1, frequency in 1/m; none unless given.
    pub noise: Option<Noise>,
    /// Planes along which links are weak.
    #[serde(default)]
    pub cleave: Vec<Cleave>,
    /// A picture of how strong it is; as strong everywhere unless given.
    pub strength_picture: Option<StrengthPicture>,
}

/// `strength_picture = { file = "weak.png", corner = [-1, 1, 0], across = [2, 0, 0], down = [0, -2, 0] }`,
/// in the coordinates of the body's shape: links are as strong as elsewhere where it is white, and the
/// picture is the same at every depth.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrengthPicture {
    /// Path of a PNG file, relative to the scene file.
    pub file: String,
    /// Where the upper left corner of the picture is, m.
    pub corner: [f64; 3],
    /// From there to its upper right corner, m.
    pub across: [f64; 3],
    /// From there to its lower left corner, m; at a right angle to `across`.
    pub down: [f64; 3],
    /// What strengths are multiplied by where it is black; 0 unless given.
    #[serde(default)]
    pub darkest: f64,
    /// What is in it; see [`Scene::give_strength`].
    #[serde(skip)]
    pub(crate) read: Option<Arc<fracture::Stencil>>,
}

/// Which tetrahedra of a lattice are linked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatticeLinks {
    /// Those that share a face.
    Faces,
    /// Also those that share an edge.
    #[default]
    Edges,
}

/// `cleave = [{ normal = [1, 0, 0], width = 0.1, factor = 0.2 }]`, in the coordinates of the
/// body's shape.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cleave {
    /// Across the plane, of any length but zero.
    pub normal: [f64; 3],
    /// Where the plane is along the unit normal, m; 0 unless given.
    #[serde(default)]
    pub offset: f64,
    /// Distance at which links are as strong as elsewhere, m.
    pub width: f64,
    /// What strengths on the plane are multiplied by.
    pub factor: f64,
}

/// `stress = { spacing = 0.05 }`: cracks where finite elements of that size find more tension than
/// the body bears (Mu01).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stress {
    /// Edge length of the tetrahedra, m.
    pub spacing: f64,
    /// Tension that the body bears, Pa; that of its material unless given.
    pub strength: Option<f64>,
    /// Young's modulus, Pa; that of its material unless given.
    pub young: Option<f64>,
    /// Poisson's ratio; 0.25 unless given.
    #[serde(default = "quarter")]
    pub poisson: f64,
    /// Von Mises stress beyond which the body stays deformed where it does not break, Pa; it springs
    /// back unless given.
    pub yield_strength: Option<f64>,
    /// Radius over which blows are spread and stress is averaged, m; a quarter of the edge of a cube of
    /// the body's volume unless given.
    pub averaging: Option<f64>,
    /// Whether displacements are quadratic in each tetrahedron: stress is far more exact, and takes
    /// some ten times as long; `false` unless given.
    #[serde(default)]
    pub quadratic: bool,
    /// How long a blow lasts, s; 0.001 unless given.
    #[serde(default = "millisecond")]
    pub duration: f64,
    /// Radius of a crack at the strength, m; twice the spacing unless given.
    pub reach: Option<f64>,
    /// Most cracks in one event; 16 unless given.
    #[serde(default = "sixteen")]
    pub cracks: usize,
}

fn one_fold() -> f64 {
    1.0
}

fn quarter() -> f64 {
    0.25
}

fn sixteen() -> usize {
    16
}

/// `bonds = { strength = 3e6 }`: a cut parts only if the share of the blow that it would have to
/// carry passes strength x area x duration. Pieces whose bonds hold stay one body.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bonds {
    /// Stress that a cut bears, Pa; that of the body's material unless given.
    pub strength: Option<f64>,
    /// How long a blow lasts, s; 0.001 unless given.
    #[serde(default = "millisecond")]
    pub duration: f64,
}

fn millisecond() -> f64 {
    0.001
}

fn three() -> u32 {
    3
}

fn sixty_four() -> usize {
    64
}

/// A division of space that is centred where a body is hit: `[pattern.NAME.KIND]`, or
/// `[pattern.NAME]` with a `file`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Cells of random points.
    Voronoi(Voronoi),
    /// Sectors and rings about the impact, as in a pane of glass.
    Radial(Radial),
    /// A file that `brisance pattern new` wrote.
    File(PatternFile),
}

/// `[pattern.NAME]` with `file = "shards.pattern"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub struct PatternFile {
    /// Path of the file, relative to the scene file.
    pub file: String,
    /// What is in it; see [`Scene::give_pattern`].
    pub(crate) read: Option<Arc<fracture::Pattern>>,
}

impl From<String> for PatternFile {
    fn from(file: String) -> Self {
        Self { file, read: None }
    }
}

impl PartialEq for PatternFile {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

/// Reads `voronoi:35` (pieces), `radial:9x3` (sectors and rings), and more settings after commas by
/// their keys in scene files: `voronoi:35,clustering=0.8`.
impl std::str::FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "give voronoi:PIECES or radial:SECTORSxRINGS, as in \
            voronoi:35,clustering=0.8";
        let mut parts = text.split(',');
        let first = parts.next().unwrap_or_default();
        let (kind, counts) = first.split_once(':').ok_or(FORM)?;
        let counts = match (kind, counts.split_once('x')) {
            ("voronoi", None) => format!("pieces = {counts}"),
            ("radial", Some((sectors, rings))) => format!("sectors = {sectors}\nrings = {rings}"),
            _ => return Err(FORM.to_owned()),
        };
        let rest: Vec<&str> = parts.collect();
        let toml = format!("[{kind}]\n{counts}\n{}\n", rest.join("\n"));
        let pattern: Self =
            toml::from_str(&toml).map_err(|e| format!("{}: {FORM}", e.message()))?;
        validate::pattern("pattern", &pattern).map_err(|invalid| invalid.to_string())?;
        Ok(pattern)
    }
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
    /// How rough the cuts are; plane unless given.
    pub noise: Option<Noise>,
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
    /// Cells of random points that each sector of each ring is divided into; 1 unless given.
    #[serde(default = "one")]
    pub splinters: usize,
    /// How rough the cuts are; plane unless given.
    pub noise: Option<Noise>,
}

/// `noise = { amplitude = 0.02, frequency = 6 }`: rough cuts. Lengths are in diagonals of the
/// body's box.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// About the most that a cut moves; at most a third of `1 / frequency`.
    pub amplitude: f64,
    /// Bumps per diagonal.
    pub frequency: f64,
}

fn one() -> usize {
    1
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
        let read = &mut |_: &str| Err("only a scene in a file includes others".to_owned());
        Self::from_files(text, read).map_err(|file| file.error)
    }

    /// Hands over what is in a pattern file, for all patterns that name it.
    pub fn give_pattern(&mut self, file: &str, pattern: &Arc<fracture::Pattern>) {
        for spec in self.patterns.values_mut() {
            if let Pattern::File(named) = spec
                && named.file == file
            {
                named.read = Some(Arc::clone(pattern));
            }
        }
    }

    /// The pattern files that patterns name.
    pub fn pattern_files(&self) -> impl Iterator<Item = &str> {
        self.patterns.values().filter_map(|pattern| match pattern {
            Pattern::File(named) => Some(named.file.as_str()),
            Pattern::Voronoi(_) | Pattern::Radial(_) => None,
        })
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
