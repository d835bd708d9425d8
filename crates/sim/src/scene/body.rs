//! Bodies: pose, material and motion.

use nalgebra::Isometry3;
use serde::Deserialize;

use super::check::{
    LARGEST, MAX_PIECES, at, bounded, direction, fraction, lacks_strength, lever_arm, positive,
    require, stress,
};
use super::material::refractive_index;
use super::motion::time;
use super::pieces::Whole;
use super::pose::placed;
use super::{
    Anchor, Copies, Fracture, InvalidValue, Keyframe, Motion, OwnMaterial, Rotation, Rule, Shape,
    Solver,
};
use crate::{SmallPieces, Texture};

/// One body: `[[body]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Name, unique in the scene.
    pub name: String,
    /// Its solid, in body coordinates.
    pub shape: Shape,
    /// Its kind of motion; `"dynamic"` by default.
    #[serde(default)]
    pub motion: Motion,
    /// Its material, a name of [`Material::TABLE`](super::Material::TABLE) or of the scene's own:
    /// the default of `density`, `restitution`, `friction`, `color`, `inner_color`, `roughness`,
    /// `metallic` and of the strength of its fracture.
    pub material: Option<String>,
    /// Its material, if the scene defines it.
    #[serde(skip)]
    pub(super) own_material: Option<OwnMaterial>,
    /// Density, kg/m^3; by default that of the material or 1000.
    pub density: Option<f64>,
    /// Position of the shape's origin, m; `[0, 0, 0]` by default.
    #[serde(default)]
    pub position: [f64; 3],
    /// Rotation of the shape about its origin; none by default.
    #[serde(default)]
    pub rotation: Rotation,
    /// Velocity of the center of mass, m/s; `[0, 0, 0]` by default.
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Angular velocity, world axes, rad/s; `[0, 0, 0]` by default.
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// Coefficient of restitution, 0 (plastic) to 1 (elastic); by default that of the material or
    /// 0.3.
    pub restitution: Option<f64>,
    /// Coefficient of Coulomb friction; by default that of the material or 0.5.
    pub friction: Option<f64>,
    /// Combination rule of restitution; by default that of the material or the other body, or
    /// `"min"`.
    pub restitution_rule: Option<Rule>,
    /// Combination rule of friction; by default that of the material or the other body, or `"max"`.
    pub friction_rule: Option<Rule>,
    /// Rolling friction, m: the largest torque against rolling divided by the normal force; by
    /// default that of the material or 0. A pair has the larger one of both.
    pub rolling_friction: Option<f64>,
    /// Spinning friction, m: the largest torque about the normal divided by the normal force;
    /// defaults and pairs as for rolling friction.
    pub spinning_friction: Option<f64>,
    /// Names of the collision groups of the body and its pieces; `["default"]` by default.
    pub groups: Option<Vec<String>>,
    /// Names of the collision groups that the body collides with; all by default. Two bodies
    /// collide only if each is in a group that the other collides with.
    pub collides_with: Option<Vec<String>>,
    /// Linear RGB, each 0 to 1; by default that of the material or `[0.7, 0.7, 0.7]`.
    #[serde(rename = "colour", alias = "color")]
    pub color: Option<[f32; 3]>,
    /// Linear RGB of cuts, each 0 to 1; by default that of the material or somewhat paler than
    /// `color`.
    #[serde(rename = "inner_colour", alias = "inner_color")]
    pub inner_color: Option<[f32; 3]>,
    /// Roughness from 0 (mirror) to 1 (chalk); by default that of the material or 0.8.
    pub roughness: Option<f32>,
    /// Metalness from 0 (dielectric) to 1 (metal); by default that of the material or 0.
    pub metallic: Option<f32>,
    /// Solid texture; by default that of the material or none.
    pub texture: Option<Texture>,
    /// Fraction of light that the surface transmits, 0 to 1; by default that of the material or
    /// 0.
    pub transmission: Option<f32>,
    /// Refractive index, 1 to 3; by default that of the material or 1.5.
    pub ior: Option<f32>,
    /// Opacity, 0 to 1; 1 by default.
    pub alpha: Option<f32>,
    /// A color of its small pieces; that of the body by default.
    pub small_pieces: Option<SmallPieces>,
    /// Fracture model; by default the body never breaks.
    pub fracture: Option<Fracture>,
    /// Its anchors; none by default.
    #[serde(default, rename = "anchor")]
    pub anchors: Vec<Anchor>,
    /// Stress at which an anchored section fails, Pa; by default the strength of the material, or
    /// infinite without a material.
    pub anchor_strength: Option<f64>,
    /// A grid of copies; one body by default.
    pub copies: Option<Copies>,
    /// Keyframes of a kinematic body; by default `position` and `velocity` determine its motion.
    pub keyframes: Option<Vec<Keyframe>>,
    /// The body in pieces that this body is a piece of; set by [`separate`](crate::separate).
    #[serde(skip)]
    pub(crate) whole: Option<Whole>,
}

/// Parses the first number of the suffix of a name, such as ` 3 12`: 3 and ` 12`.
fn take_number(text: &str) -> Option<(usize, &str)> {
    let text = text.strip_prefix(' ')?;
    let (digits, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
    let number = digits.parse().ok().filter(|_| !digits.starts_with(['0', '+']))?;
    Some((number, rest))
}

impl Body {
    /// Largest number of nodes of its level set: boxes and balls need none unless finite elements
    /// or a lattice fill them, or they are anchored.
    pub fn nodes(&self) -> f64 {
        let solids = self.copies.map_or(1, |copies| copies.solids());
        let nodes = self.shape.nodes().filter(|_| self.is_sampled()).unwrap_or(0.0);
        nodes * solids as f64
    }

    /// Whether its level set may ever be needed.
    pub(crate) fn may_be_sampled(&self) -> bool {
        self.fracture.is_some() || self.is_sampled()
    }

    /// Whether it is built with a level set.
    fn is_sampled(&self) -> bool {
        let cracks = self.fracture.as_ref().is_some_and(|f| f.pattern.is_none());
        let is_exact = matches!(self.shape, Shape::Box(_) | Shape::Sphere(_));
        !is_exact || cracks || !self.anchors.is_empty()
    }

    /// Shape coordinates to world, at the start; for copies that of their middle.
    pub fn pose(&self) -> Isometry3<f64> {
        let first = self.keyframes.as_ref().and_then(|keyframes| keyframes.first());
        first.map_or_else(|| placed(self.position, self.rotation), Keyframe::pose)
    }

    /// Whether the body, a copy or a piece has this name: `wall`, `wall 3`, or `wall 3 2` for the
    /// second copy of the third piece. The number of pieces is unknown before their files are read.
    pub fn has_name(&self, name: &str) -> bool {
        let numbers = || {
            let mut rest = name.strip_prefix(self.name.as_str())?;
            if self.starts_in_pieces() {
                rest = take_number(rest).filter(|(piece, _)| *piece <= MAX_PIECES)?.1;
            }
            if let Some(copies) = &self.copies {
                rest = take_number(rest).filter(|(copy, _)| *copy <= copies.total())?.1;
            }
            Some(rest)
        };
        numbers().is_some_and(str::is_empty)
    }

    pub(super) fn starts_in_pieces(&self) -> bool {
        matches!(self.shape, Shape::Pieces(_))
    }

    /// Its name in the scene; for a piece that of its whole.
    pub fn given_name(&self) -> &str {
        self.whole.as_ref().map_or(&self.name, |whole| &whole.name)
    }

    /// The name of its first copy or piece.
    pub(super) fn first_name(&self) -> String {
        let numbers = usize::from(self.starts_in_pieces()) + usize::from(self.copies.is_some());
        self.name.clone() + &" 1".repeat(numbers)
    }

    /// The name of the body, or the names of its copies. Empty for a body that starts in pieces,
    /// whose files determine the number.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let count = self.copies.map_or(1, |copies| copies.total());
        let count = if self.starts_in_pieces() { 0 } else { count };
        (1..=count).map(move |n| match self.copies {
            Some(_) => format!("{} {n}", self.name),
            None => self.name.clone(),
        })
    }

    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        self.shape.check(&at(key, "shape"), self.may_be_sampled())?;
        positive(&at(key, "density"), self.density(), "kg/m^3")?;
        self.check_keyframes(&at(key, "keyframes"))?;
        bounded(&at(key, "position"), &self.position, "m")?;
        direction(&at(key, "rotation.axis"), &self.rotation.axis)?;
        bounded(&at(key, "rotation.degrees"), &[self.rotation.degrees], "degrees")?;
        bounded(&at(key, "velocity"), &self.velocity, "m/s")?;
        bounded(&at(key, "angular_velocity"), &self.angular_velocity, "rad/s")?;
        fraction(&at(key, "restitution"), self.restitution())?;
        lever_arm(&at(key, "rolling_friction"), self.rolling_friction())?;
        lever_arm(&at(key, "spinning_friction"), self.spinning_friction())?;
        let friction = self.friction();
        require((0.0..=LARGEST).contains(&friction), &at(key, "friction"), || {
            format!("must be 0 or more and finite, not {friction:?}")
        })?;
        let look = self.look();
        for c in look.color {
            fraction(&at(key, "colour"), f64::from(c))?;
        }
        for c in look.inner_color {
            fraction(&at(key, "inner_colour"), f64::from(c))?;
        }
        if let Some(small) = look.small_pieces {
            positive(&at(key, "small_pieces.size"), small.size, "m")?;
            let key = at(key, "small_pieces.colour");
            small.color.iter().try_for_each(|c| fraction(&key, f64::from(*c)))?;
        }
        for (name, share) in [
            ("roughness", look.roughness),
            ("metallic", look.metallic),
            ("transmission", look.transmission),
            ("alpha", look.alpha),
        ] {
            fraction(&at(key, name), f64::from(share))?;
        }
        refractive_index(&at(key, "ior"), look.ior)?;
        let rests = self.velocity == [0.0; 3] && self.angular_velocity == [0.0; 3];
        require(
            rests || self.motion != Motion::Static,
            &at(key, "motion"),
            || "is \"static\", but the body has a velocity: remove it or use \"kinematic\"",
        )?;
        let plane = matches!(self.shape, Shape::Plane(_));
        require(
            !plane || self.motion == Motion::Static,
            &at(key, "motion"),
            || "must be \"static\" for a plane, which has no end and no mass",
        )?;
        require(
            !matches!(self.shape, Shape::Trimesh(_)) || self.motion != Motion::Dynamic,
            &at(key, "motion"),
            || "must be \"static\" or \"kinematic\" for a trimesh, which has no mass: use `mesh`",
        )?;
        require(
            self.motion == Motion::Dynamic || self.fracture.is_none(),
            &at(key, "fracture"),
            || "must be removed: only a dynamic body breaks",
        )?;
        let key_of = |name: &str| at(key, name);
        require(
            self.anchors.is_empty() || (self.motion == Motion::Dynamic && rests),
            &key_of("anchor"),
            || "must be removed: only a dynamic body without a velocity is anchored",
        )?;
        if let Some(strength) = self.anchor_strength {
            stress(&key_of("anchor_strength"), strength)?;
        }
        self.copies.as_ref().map_or(Ok(()), |copies| copies.check(&key_of("copies")))
    }

    /// Checks the keyframes of a body.
    pub(super) fn check_keyframes(&self, key: &str) -> Result<(), InvalidValue> {
        let Some(keyframes) = &self.keyframes else { return Ok(()) };
        let rests = self.velocity == [0.0; 3] && self.angular_velocity == [0.0; 3];
        require(
            self.motion == Motion::Kinematic && rests,
            key,
            || "must be removed: only a kinematic body without a velocity follows keyframes",
        )?;
        require(
            self.position == [0.0; 3] && self.rotation == Rotation::default(),
            key,
            || "says where the body is: remove its `position` and `rotation`",
        )?;
        require(!keyframes.is_empty(), key, || "is empty: give at least one keyframe")?;
        let mut last = f64::NEG_INFINITY;
        for (n, keyframe) in keyframes.iter().enumerate() {
            let key = format!("{key}[{n}]");
            time(&at(&key, "time"), keyframe.time)?;
            require(keyframe.time > last, &at(&key, "time"), || {
                format!("must be after the time of the keyframe before, {last} s")
            })?;
            last = keyframe.time;
            bounded(&at(&key, "position"), &keyframe.position, "m")?;
            direction(&at(&key, "rotation.axis"), &keyframe.rotation.axis)?;
            bounded(&at(&key, "rotation.degrees"), &[keyframe.rotation.degrees], "degrees")?;
        }
        Ok(())
    }

    /// Checks the other keys of a body in pieces.
    pub(super) fn check_pieces(&self, key: &str, solver: Solver) -> Result<(), InvalidValue> {
        let Shape::Pieces(pieces) = &self.shape else { return Ok(()) };
        require(
            self.motion != Motion::Kinematic || self.angular_velocity == [0.0; 3],
            &at(key, "angular_velocity"),
            || "must be 0 for kinematic pieces, each of which would turn about itself: give `keyframes`",
        )?;
        let Some(bonds) = &pieces.bonds else { return Ok(()) };
        let key = at(key, "shape.pieces.bonds");
        require(
            self.motion == Motion::Dynamic,
            &key,
            || "must be removed: bonds hold dynamic pieces alone",
        )?;
        require(bonds.strength.is_some() || self.solid().is_some(), &key, || {
            lacks_strength("strength", "Pa")
        })?;
        require(solver.contact().has_joints(), &key, || {
            format!("cannot be: the solver `{}` has no joints, which bonds are", solver.name())
        })
    }
}
