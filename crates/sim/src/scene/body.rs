//! Bodies: where they are, who moves them and what holds them.

use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use serde::Deserialize;

use crate::{SmallPieces, Texture};

use super::{Axis, Fracture, Keyframe, OwnMaterial, Plane, Rule, Shape, up};

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
    /// What it is made of, a name of [`Material::TABLE`](super::Material::TABLE) or of the scene's
    /// own: the default of `density`, `restitution`, `friction`, `color`, `inner_color`,
    /// `roughness` and of the strength of its fracture.
    pub material: Option<String>,
    /// Its material, if that is the scene's own.
    #[serde(skip)]
    pub(super) own_material: Option<OwnMaterial>,
    /// Mass per volume, kg/m^3; as the material or 1000 unless given.
    pub density: Option<f64>,
    /// Where the shape's origin is, m; `[0, 0, 0]` unless given.
    #[serde(default)]
    pub position: [f64; 3],
    /// How the shape is turned about its origin; not at all unless given.
    #[serde(default)]
    pub rotation: Rotation,
    /// Velocity of the center of mass, m/s; `[0, 0, 0]` unless given.
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Angular velocity, world axes, rad/s; `[0, 0, 0]` unless given.
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// Coefficient of restitution, 0 (dead) to 1 (elastic); as the material or 0.3 unless given.
    pub restitution: Option<f64>,
    /// Coefficient of Coulomb friction; as the material or 0.5 unless given.
    pub friction: Option<f64>,
    /// How its restitution becomes that of a pair; as the material or the other body says, or
    /// `"min"`, unless given.
    pub restitution_rule: Option<Rule>,
    /// The same of friction, `"max"` if neither says.
    pub friction_rule: Option<Rule>,
    /// Rolling friction, m: the largest torque against rolling over the normal force; as the material or 0 unless
    /// given. The larger one counts of a pair.
    pub rolling_friction: Option<f64>,
    /// Spinning friction, m: the same about the normal.
    pub spinning_friction: Option<f64>,
    /// Names of the groups it is in; `["default"]` unless given. Its pieces are in them too.
    pub groups: Option<Vec<String>>,
    /// Names of the groups it touches; all unless given. Two bodies touch only if each is in a
    /// group that the other touches.
    pub collides_with: Option<Vec<String>>,
    /// Linear RGB, each 0 to 1; as the material or `[0.7, 0.7, 0.7]` unless given.
    #[serde(rename = "colour", alias = "color")]
    pub color: Option<[f32; 3]>,
    /// Linear RGB of cuts, each 0 to 1; as the material or somewhat paler than `color` unless
    /// given.
    #[serde(rename = "inner_colour", alias = "inner_color")]
    pub inner_color: Option<[f32; 3]>,
    /// From 0, a mirror, to 1, chalk; as the material or 0.8 unless given.
    pub roughness: Option<f32>,
    /// How its colors vary; as the material or not at all unless given.
    pub texture: Option<Texture>,
    /// The share of light that its surface lets through, 0 to 1; as the material or 0 unless given.
    pub transmission: Option<f32>,
    /// Refractive index, 1 to 3; as the material or 1.5 unless given.
    pub ior: Option<f32>,
    /// Opacity, 0 to 1; 1 unless given.
    pub alpha: Option<f32>,
    /// A color of small pieces of it; that of the body unless given.
    pub small_pieces: Option<SmallPieces>,
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
    /// Its center, m; `[0, 0, 0]` unless given.
    #[serde(default, rename = "centre", alias = "center")]
    pub center: [f64; 3],
    /// Its radius, m.
    pub radius: f64,
}

/// A box of a region.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Its center, m; `[0, 0, 0]` unless given.
    #[serde(default, rename = "centre", alias = "center")]
    pub center: [f64; 3],
    /// Half the edge lengths, m.
    pub half_extents: [f64; 3],
}

/// Equal bodies in a grid: `copies = { count = [5, 1, 5], spacing = [0.3, 0.3, 0.3] }`. The body's
/// `position` is the middle of the lowest layer, and copies are called `NAME 1`, `NAME 2` and so on. Mirror images come
/// after all others: `copies = { mirror = "x" }` is a body and its image.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copies {
    /// How many along x, y and z; 1 unless given.
    #[serde(default = "one")]
    pub count: [usize; 3],
    /// From one to the next, m; along axes with one copy 0 unless given.
    #[serde(default)]
    pub spacing: [f64; 3],
    /// How far each may stray from its place along each axis, m; 0 unless given.
    #[serde(default)]
    pub jitter: f64,
    /// Rotation of each copy relative to the previous one, about its own origin; none unless given.
    #[serde(default)]
    pub turn: Rotation,
    /// How far each may be turned about an axis of any direction, degrees; 0 unless given.
    #[serde(default)]
    pub turn_jitter: f64,
    /// Adds the mirror image of each copy in a plane of the world across this axis; none unless given. Shapes,
    /// velocities, keyframes, anchors and what weakens lattices are mirrored, patterns and solid textures are not.
    pub mirror: Option<Axis>,
    /// Where that plane is along its axis, m; 0 unless given.
    #[serde(default)]
    pub mirror_at: f64,
}

fn one() -> [usize; 3] {
    [1; 3]
}

impl Copies {
    /// How many bodies there are.
    pub fn total(&self) -> usize {
        self.count.iter().fold(self.solids(), |product, &n| product.saturating_mul(n))
    }

    /// How many different solids they have: that of the body, and its mirror image.
    fn solids(&self) -> usize {
        1 + usize::from(self.mirror.is_some())
    }
}

impl Body {
    /// Most nodes of the level set that it is built with: boxes and balls need none unless finite
    /// elements or a lattice fill them, or anchors hold them.
    pub fn nodes(&self) -> f64 {
        let solids = self.copies.map_or(1, |copies| copies.solids());
        let nodes = self.shape.nodes().filter(|_| self.is_sampled()).unwrap_or(0.0);
        nodes * solids as f64
    }

    /// Whether a level set of it may ever be made.
    pub(crate) fn may_be_sampled(&self) -> bool {
        self.fracture.is_some() || self.is_sampled()
    }

    /// Whether it is built with a level set.
    fn is_sampled(&self) -> bool {
        let cracks = self.fracture.as_ref().is_some_and(|f| f.pattern.is_none());
        let is_exact = matches!(self.shape, Shape::Box(_) | Shape::Sphere(_));
        !is_exact || cracks || !self.anchors.is_empty()
    }

    /// Shape coordinates to world, at the start; of copies that of their middle.
    pub fn pose(&self) -> Isometry3<f64> {
        let first = self.keyframes.as_ref().and_then(|keyframes| keyframes.first());
        first.map_or_else(|| placed(self.position, self.rotation), Keyframe::pose)
    }

    /// Its name, or those of its copies; none of what is in pieces, whose number is in their files.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let one = usize::from(!matches!(self.shape, Shape::Pieces(_)));
        let count = self.copies.map_or(one, |copies| copies.total());
        (1..=count).map(move |n| match self.copies {
            Some(_) => format!("{} {n}", self.name),
            None => self.name.clone(),
        })
    }
}

/// Shape coordinates to world.
pub(super) fn placed(position: [f64; 3], rotation: Rotation) -> Isometry3<f64> {
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
