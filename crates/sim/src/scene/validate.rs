//! Which values of a scene can be simulated.

mod contact;
mod lattice;
mod levels;
mod pattern;
mod pieces;
mod plane;
mod solids;

use std::collections::BTreeSet;
use std::fmt::Display;

use super::error::nearest;
use super::material::refractive_index;
use super::shape::MARGIN;
use super::timeline::check_keyframes;
use super::{
    Anchor, Body, Bonds, Collide, Copies, Debris, Fracture, InvalidValue, Joint, JointKind, Mesh,
    Motion, Scene, Shape, Simulation, Stress, Trimesh,
};
pub(super) use pattern::pattern;

/// Most nodes of one level set that a scene may ask for: 2^27, half a gibibyte.
pub(crate) const MAX_NODES: usize = 1 << 27;
/// Most times a body and its pieces may break in turn: they soon outgrow any memory.
const MAX_GENERATIONS: u32 = 16;
/// Most frames of a run: over nine hours at 30 frames per second.
const MAX_FRAMES: usize = 1_000_000;
/// Most cells of a fracture pattern.
const MAX_PIECES: usize = 10_000;
/// Most collision groups of a scene: one bit each.
const MAX_GROUPS: usize = 32;
/// Most nodes of all level sets of a scene together: a gibibyte.
const MAX_ALL_NODES: f64 = 268_435_456.0;
/// Most bodies of a scene times its frames: a pose of each is kept, 4 GiB in all.
const MAX_POSES: usize = 1 << 26;
/// Largest length, speed or offset, in SI units; keeps squares and cubes far from overflow.
const LARGEST: f64 = 1e9;
/// Smallest size of a body, m; keeps masses and moments of inertia far from underflow.
const SMALLEST_SIZE: f64 = 1e-9;
/// Largest stress, Pa.
const STRONGEST: f64 = 1e15;

impl Scene {
    /// Checks every value: finite numbers, positive masses and sizes, level sets that fit in
    /// memory, names that exist.
    ///
    /// # Errors
    /// The first [`InvalidValue`] in the order of the file format.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        require(self.version == Self::VERSION, "version", || version(self.version))?;
        simulation(&self.simulation)?;
        debris(&self.debris, self)?;
        self.check_materials()?;
        for (name, p) in &self.patterns {
            pattern(&format!("pattern.{name}"), p)?;
        }
        require(!self.bodies.is_empty(), "body", || "is missing: add a [[body]] table")?;
        let groups = self.groups();
        let mut names = BTreeSet::new();
        for (i, b) in self.bodies.iter().enumerate() {
            let key = format!("body[{i}]");
            require(!b.name.is_empty(), &at(&key, "name"), || "is empty: give it a name")?;
            require(names.insert(&b.name), &at(&key, "name"), || {
                format!("`{}` is taken by an earlier body: choose another", b.name)
            })?;
            require(!self.is_copy(&b.name), &at(&key, "name"), || {
                format!("`{}` is the name of a copy of another body: choose another", b.name)
            })?;
            if let Some(name) = &b.material {
                self.check_material(&at(&key, "material"), name)?;
            }
            body(&key, b)?;
            pieces::check(&key, b, self)?;
            groups_of(&key, b, &groups)?;
            if let Some(f) = &b.fracture {
                fracture(&at(&key, "fracture"), f, b, self)?;
            }
            for (n, anchor) in b.anchors.iter().enumerate() {
                self.anchor(&format!("{key}.anchor[{n}]"), anchor, &b.name)?;
            }
        }
        for (n, joint) in self.joints.iter().enumerate() {
            self.joint(&format!("joints[{n}]"), joint)?;
        }
        self.check_timeline()?;
        self.check_plane()?;
        self.check_camera()?;
        self.memory()
    }

    fn joint(&self, key: &str, joint: &Joint) -> Result<(), InvalidValue> {
        let solver = self.simulation.solver;
        require(solver.contact().has_joints(), key, || {
            format!(
                "cannot be: the solver `{}` has no joints; use `manifold`, \
                 `sequential_impulse`, `quadratic_program` or `impulse`",
                solver.name()
            )
        })?;
        let mut moves = false;
        for (n, name) in joint.bodies.iter().enumerate() {
            let key = format!("{key}.bodies[{n}]");
            let body = self.bodies.iter().find(|b| b.name == *name);
            let Some(body) = body else {
                let names = self.bodies.iter().map(|b| b.name.as_str());
                let problem = match nearest(name, names) {
                    _ if self.is_copy(name) => {
                        format!("names `{name}`, which is a copy: name a body that stands alone")
                    }
                    Some(near) => format!("names no body `{name}`, did you mean `{near}`?"),
                    None => format!("names no body `{name}`: add it or remove the joint"),
                };
                return Err(InvalidValue { key, problem });
            };
            require(body.copies.is_none(), &key, || {
                format!("names `{name}`, which has copies: name a body that stands alone")
            })?;
            pieces::stands_alone(&key, body)?;
            moves |= body.motion == Motion::Dynamic;
        }
        let key_of = |name: &str| at(key, name);
        require(joint.bodies[0] != joint.bodies[1], &key_of("bodies"), || "names one body twice")?;
        require(moves, &key_of("bodies"), || "names two bodies that nothing moves")?;
        joint_numbers(key, joint)
    }

    /// Whether a copy of a body has this name.
    fn is_copy(&self, name: &str) -> bool {
        let Some((of, number)) = name.rsplit_once(' ') else { return false };
        let Ok(number) = number.parse::<usize>() else { return false };
        let is_own = |body: &Body| body.name == of && format!("{of} {number}") == name;
        let total = |body: &Body| body.copies.map_or(0, |copies| copies.total());
        self.bodies.iter().any(|body| is_own(body) && (1..=total(body)).contains(&number))
    }

    /// How many bodies it starts with.
    pub fn body_count(&self) -> usize {
        let copies = |b: &Body| b.copies.map_or(1, |copies| copies.total());
        self.bodies.iter().map(copies).fold(0, usize::saturating_add)
    }

    /// How many nodes pieces may have, all together.
    pub(crate) fn nodes_left(&self) -> usize {
        let nodes: f64 = self.bodies.iter().map(Body::nodes).sum();
        (MAX_ALL_NODES - nodes) as usize
    }

    /// Refuses what fits in memory body by body, but not together.
    fn memory(&self) -> Result<(), InvalidValue> {
        let mut nodes = 0.0;
        for (i, b) in self.bodies.iter().enumerate() {
            nodes += b.nodes();
            require(nodes <= MAX_ALL_NODES, &format!("body[{i}].shape"), || {
                format!(
                    "brings the level sets of the scene to {nodes:.0} nodes, more than \
                     {MAX_ALL_NODES:.0}: use coarser ones"
                )
            })?;
        }
        let (frames, bodies) = (self.simulation.frames, self.body_count());
        require(frames.saturating_mul(bodies) <= MAX_POSES, "simulation.frames", || {
            format!("times {bodies} bodies passes the limit of {MAX_POSES} poses: use fewer")
        })
    }

    fn anchor(&self, key: &str, anchor: &Anchor, name: &str) -> Result<(), InvalidValue> {
        let Anchor { sphere, r#box, plane, to } = anchor;
        let regions = [sphere.is_some(), r#box.is_some(), plane.is_some()];
        require(
            regions.iter().filter(|given| **given).count() <= 1,
            key,
            || "must have one region at most, `sphere`, `box` or `plane`: add another anchor",
        )?;
        if let Some(ball) = sphere {
            bounded(&at(key, "sphere.centre"), &ball.center, "m")?;
            positive(&at(key, "sphere.radius"), ball.radius, "m")?;
        }
        if let Some(block) = r#box {
            bounded(&at(key, "box.centre"), &block.center, "m")?;
            for half in block.half_extents {
                positive(&at(key, "box.half_extents"), half, "m")?;
            }
        }
        if let Some(plane) = plane {
            direction(&at(key, "plane.normal"), &plane.normal)?;
            bounded(&at(key, "plane.offset"), &[plane.offset], "m")?;
        }
        let Some(to) = to else { return Ok(()) };
        let key = at(key, "to");
        let other = self.bodies.iter().find(|b| b.name == *to && b.name != name);
        let Some(other) = other else {
            let others = self.bodies.iter().map(|b| b.name.as_str()).filter(|n| *n != name);
            return Err(InvalidValue {
                problem: match nearest(to, others) {
                    Some(near) => format!("names no other body `{to}`, did you mean `{near}`?"),
                    None => format!("names no other body `{to}`: add it or remove this key"),
                },
                key,
            });
        };
        require(other.copies.is_none(), &key, || {
            format!("names `{to}`, which has copies: name a body that stands alone")
        })?;
        pieces::stands_alone(&key, other)?;
        require(other.motion == Motion::Static || !other.anchors.is_empty(), &key, || {
            format!("names `{to}`, which moves: it must be static or have an anchor itself")
        })
    }
}

fn joint_numbers(key: &str, joint: &Joint) -> Result<(), InvalidValue> {
    let key_of = |name: &str| at(key, name);
    bounded(&key_of("anchor"), &joint.anchor, "m")?;
    direction(&key_of("axis"), &joint.axis)?;
    let drives = matches!(joint.kind, JointKind::Hinge | JointKind::Slider);
    let distance = joint.kind == JointKind::Distance;
    if let Some(second) = &joint.second_anchor {
        bounded(&key_of("second_anchor"), second, "m")?;
        require(distance, &key_of("second_anchor"), || "must be removed: only `distance` has two")?;
    }
    if let Some([least, most]) = joint.limits {
        let range = if joint.kind == JointKind::Hinge { 179.0 } else { LARGEST };
        let low = if distance { 0.0 } else { -range };
        require(low <= least && least <= most && most <= range, &key_of("limits"), || {
            format!("must ascend between {low} and {range}, not {least} and {most}")
        })?;
        require(
            drives || distance,
            &key_of("limits"),
            || "must be removed: only `hinge`, `slider` and `distance` have them",
        )?;
    }
    if let Some(motor) = joint.motor {
        require(
            drives,
            &key_of("motor"),
            || "must be removed: only `hinge` and `slider` have one",
        )?;
        bounded(&key_of("motor.speed"), &[motor.speed], "rad/s or m/s")?;
        positive(&key_of("motor.most"), motor.most, "N m or N")?;
    }
    for (name, bears) in [("break_force", joint.break_force), ("break_torque", joint.break_torque)]
    {
        if let Some(bears) = bears {
            positive(&key_of(name), bears, "N or N m")?;
        }
    }
    Ok(())
}

/// What is wrong with a version.
pub(super) fn version(other: u32) -> String {
    format!("is {other}, but this program reads version {}", Scene::VERSION)
}

pub(super) fn at(path: &str, key: &str) -> String {
    format!("{path}.{key}")
}

pub(super) fn require<P: Display>(
    holds: bool,
    key: &str,
    problem: impl FnOnce() -> P,
) -> Result<(), InvalidValue> {
    if holds {
        return Ok(());
    }
    Err(InvalidValue { key: key.to_owned(), problem: problem().to_string() })
}

pub(super) fn positive(key: &str, x: f64, unit: &str) -> Result<(), InvalidValue> {
    require(x > 0.0 && x <= LARGEST, key, || {
        format!("must be above 0 and at most {LARGEST:e} {unit}, not {x:?}")
    })
}

/// A length of a body, m.
fn extent(key: &str, x: f64) -> Result<(), InvalidValue> {
    require((SMALLEST_SIZE..=LARGEST).contains(&x), key, || {
        format!("must be between {SMALLEST_SIZE:e} and {LARGEST:e} m, not {x:?}")
    })
}

/// A lever arm of torques over forces, m.
pub(super) fn lever_arm(key: &str, x: f64) -> Result<(), InvalidValue> {
    require((0.0..=LARGEST).contains(&x), key, || {
        format!("must be between 0 and {LARGEST:e} m, not {x:?}")
    })
}

pub(super) fn stress(key: &str, x: f64) -> Result<(), InvalidValue> {
    require(x > 0.0 && x <= STRONGEST, key, || {
        format!("must be above 0 and at most {STRONGEST:e} Pa, not {x:?}")
    })
}

pub(super) fn bounded(key: &str, values: &[f64], unit: &str) -> Result<(), InvalidValue> {
    require(values.iter().all(|x| x.abs() <= LARGEST), key, || {
        format!("must hold finite numbers of at most {LARGEST:e} {unit}, not {values:?}")
    })
}

pub(super) fn fraction(key: &str, x: f64) -> Result<(), InvalidValue> {
    require((0.0..=1.0).contains(&x), key, || format!("must be between 0 and 1, not {x:?}"))
}

pub(super) fn direction(key: &str, v: &[f64; 3]) -> Result<(), InvalidValue> {
    bounded(key, v, "")?;
    let squared: f64 = v.iter().map(|x| x * x).sum();
    require(squared > 1e-18, key, || "must be a direction, not the zero vector")
}

fn count(key: &str, n: usize, least: usize, most: usize) -> Result<(), InvalidValue> {
    require((least..=most).contains(&n), key, || {
        format!("must be between {least} and {most}, not {n}")
    })
}

fn simulation(s: &Simulation) -> Result<(), InvalidValue> {
    require(s.fps >= 1.0 && s.fps <= 1e5, "simulation.fps", || {
        format!("must be between 1 and 100000 frames per second, not {:?}", s.fps)
    })?;
    count("simulation.frames", s.frames, 1, MAX_FRAMES)?;
    bounded("simulation.gravity", &s.gravity, "m/s^2")?;
    contact::check(s)
}

fn debris(d: &Debris, scene: &Scene) -> Result<(), InvalidValue> {
    if let Some(most) = d.max_bodies {
        let with_mass = |b: &&Body| b.motion == Motion::Dynamic;
        let copies = |b: &Body| b.copies.map_or(1, |copies| copies.total());
        let bodies =
            scene.bodies.iter().filter(with_mass).map(copies).fold(0, usize::saturating_add);
        require(most >= bodies, "debris.max_bodies", || {
            format!("is {most}, but the scene starts with {bodies} dynamic bodies")
        })?;
    }
    if let Some(most) = d.max_new {
        require(most >= 2, "debris.max_new", || "must be at least 2, or nothing ever breaks")?;
    }
    bounded("debris.min_size", &[d.min_size], "m")?;
    require(d.min_size >= 0.0, "debris.min_size", || "must be 0 m or more")?;
    if let Some(retire) = &d.retire {
        positive("debris.retire.after", retire.after, "s")?;
        positive("debris.retire.slower_than", retire.slower_than, "m/s")?;
    }
    Ok(())
}

fn body(key: &str, b: &Body) -> Result<(), InvalidValue> {
    shape(&at(key, "shape"), &b.shape, b.may_be_sampled())?;
    positive(&at(key, "density"), b.density(), "kg/m^3")?;
    check_keyframes(&at(key, "keyframes"), b)?;
    bounded(&at(key, "position"), &b.position, "m")?;
    direction(&at(key, "rotation.axis"), &b.rotation.axis)?;
    bounded(&at(key, "rotation.degrees"), &[b.rotation.degrees], "degrees")?;
    bounded(&at(key, "velocity"), &b.velocity, "m/s")?;
    bounded(&at(key, "angular_velocity"), &b.angular_velocity, "rad/s")?;
    fraction(&at(key, "restitution"), b.restitution())?;
    lever_arm(&at(key, "rolling_friction"), b.rolling_friction())?;
    lever_arm(&at(key, "spinning_friction"), b.spinning_friction())?;
    let friction = b.friction();
    require((0.0..=LARGEST).contains(&friction), &at(key, "friction"), || {
        format!("must be 0 or more and finite, not {friction:?}")
    })?;
    let look = b.look();
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
    for (name, share) in
        [("roughness", look.roughness), ("transmission", look.transmission), ("alpha", look.alpha)]
    {
        fraction(&at(key, name), f64::from(share))?;
    }
    refractive_index(&at(key, "ior"), look.ior)?;
    let rests = b.velocity == [0.0; 3] && b.angular_velocity == [0.0; 3];
    require(
        rests || b.motion != Motion::Static,
        &at(key, "motion"),
        || "is \"static\", but the body has a velocity: remove it or use \"kinematic\"",
    )?;
    let plane = matches!(b.shape, Shape::Plane(_));
    require(
        !plane || b.motion == Motion::Static,
        &at(key, "motion"),
        || "must be \"static\" for a plane, which has no end and no mass",
    )?;
    require(
        !matches!(b.shape, Shape::Trimesh(_)) || b.motion != Motion::Dynamic,
        &at(key, "motion"),
        || "must be \"static\" or \"kinematic\" for a trimesh, which has no mass: use `mesh`",
    )?;
    require(
        b.motion == Motion::Dynamic || b.fracture.is_none(),
        &at(key, "fracture"),
        || "must be removed: only a dynamic body breaks",
    )?;
    let key_of = |name: &str| at(key, name);
    require(
        b.anchors.is_empty() || (b.motion == Motion::Dynamic && rests),
        &key_of("anchor"),
        || "must be removed: only a dynamic body without a velocity is anchored",
    )?;
    if let Some(strength) = b.anchor_strength {
        stress(&key_of("anchor_strength"), strength)?;
    }
    b.copies.as_ref().map_or(Ok(()), |copies| copies_of(&key_of("copies"), copies))
}

fn groups_of(key: &str, b: &Body, all: &[&str]) -> Result<(), InvalidValue> {
    require(all.len() <= MAX_GROUPS, &at(key, "groups"), || {
        format!("makes {} groups, more than {MAX_GROUPS}: use fewer", all.len())
    })?;
    let own = b.groups.as_deref().unwrap_or_default();
    require(
        own.iter().all(|name| !name.is_empty()),
        &at(key, "groups"),
        || "holds an empty name: give the group a name",
    )?;
    for name in b.collides_with.as_deref().unwrap_or_default() {
        require(all.contains(&name.as_str()), &at(key, "collides_with"), || {
            match nearest(name, all.iter().copied()) {
                Some(other) => format!("names no group `{name}`, did you mean `{other}`?"),
                None => format!("names no group `{name}`; known: {}", all.join(", ")),
            }
        })?;
    }
    Ok(())
}

fn copies_of(key: &str, c: &Copies) -> Result<(), InvalidValue> {
    for n in c.count {
        count(&at(key, "count"), n, 1, MAX_PIECES)?;
    }
    count(&at(key, "count"), c.total(), 1, MAX_PIECES)?;
    bounded(&at(key, "spacing"), &c.spacing, "m")?;
    let apart = |k: usize| c.count[k] == 1 || c.spacing[k] != 0.0 || c.jitter != 0.0;
    require((0..3).all(apart), &at(key, "spacing"), || {
        format!("must not be 0 along an axis with several copies; `count` is {:?}", c.count)
    })?;
    require(
        c.mirror.is_some() || c.mirror_at == 0.0,
        &at(key, "mirror_at"),
        || "is where the plane of `mirror` is: give `mirror` too, or remove it",
    )?;
    bounded(&at(key, "mirror_at"), &[c.mirror_at], "m")?;
    bounded(&at(key, "jitter"), &[c.jitter], "m")?;
    bounded(&at(key, "turn.degrees"), &[c.turn.degrees], "degrees")?;
    direction(&at(key, "turn.axis"), &c.turn.axis)?;
    bounded(&at(key, "turn_jitter"), &[c.turn_jitter], "degrees")
}

fn shape(key: &str, s: &Shape, is_sampled: bool) -> Result<(), InvalidValue> {
    match s {
        Shape::Mesh(m) => {
            require(
                m.collide == Collide::Samples,
                &at(key, "mesh.collide"),
                || "must be \"samples\": only the shape `tets` has tetrahedra",
            )?;
            return mesh(&at(key, "mesh"), m);
        }
        Shape::Tets(m) => return mesh(&at(key, "tets"), m),
        Shape::Plane(p) => {
            direction(&at(key, "plane.normal"), &p.normal)?;
            return bounded(&at(key, "plane.offset"), &[p.offset], "m");
        }
        Shape::Trimesh(m) => return trimesh(&at(key, "trimesh"), m),
        Shape::Pieces(p) => return pieces::shape(&at(key, "pieces"), p),
        Shape::Svg(s) => return solids::svg(&at(key, "svg"), s),
        Shape::Sphere(s) => extent(&at(key, "sphere.radius"), s.radius)?,
        Shape::Box(b) => {
            for half in b.half_extents {
                extent(&at(key, "box.half_extents"), half)?;
            }
        }
        Shape::Cylinder(c) => {
            extent(&at(key, "cylinder.radius"), c.radius)?;
            extent(&at(key, "cylinder.half_height"), c.half_height)?;
        }
        Shape::Capsule(c) => {
            extent(&at(key, "capsule.radius"), c.radius)?;
            extent(&at(key, "capsule.half_height"), c.half_height)?;
        }
        Shape::Cone(c) => {
            extent(&at(key, "cone.radius"), c.radius)?;
            extent(&at(key, "cone.half_height"), c.half_height)?;
        }
        Shape::Combined(c) => solids::combined(&at(key, "combined"), c)?,
        Shape::Polygon(p) => solids::polygon(&at(key, "polygon"), p)?,
        Shape::Extruded(e) => solids::extruded(&at(key, "extruded"), e)?,
        Shape::Heightfield(h) => solids::heightfield(&at(key, "heightfield"), h)?,
        Shape::Torus(t) => {
            extent(&at(key, "torus.minor"), t.minor)?;
            require(t.major >= t.minor && t.major <= LARGEST, &at(key, "torus.major"), || {
                format!("must be at least the minor radius, {:?} m, not {:?}", t.minor, t.major)
            })?;
        }
    }
    let kind = match s {
        Shape::Sphere(_) => "sphere",
        Shape::Box(_) => "box",
        Shape::Cylinder(_) => "cylinder",
        Shape::Cone(_) => "cone",
        Shape::Torus(_) => "torus",
        Shape::Combined(_) => "combined",
        Shape::Polygon(_) => "polygon",
        Shape::Extruded(_) => "extruded",
        Shape::Heightfield(_) => "heightfield",
        _ => "capsule",
    };
    fineness(&at(key, kind), s.fineness())?;
    let key = at(key, &format!("{kind}.spacing"));
    let spacing = s.spacing().unwrap_or(f64::NAN);
    positive(&key, spacing, "m")?;
    // what never breaks and meets others by its closed form needs none
    let nodes = if is_sampled { s.nodes().unwrap_or(f64::NAN) } else { 0.0 };
    require(nodes <= MAX_NODES as f64, &key, || {
        format!("of {spacing} m makes {nodes:.0} nodes, more than {MAX_NODES}: use a coarser one")
    })
}

fn mesh(key: &str, m: &Mesh) -> Result<(), InvalidValue> {
    require(!m.file.is_empty(), &at(key, "file"), || "is empty: name a mesh file")?;
    if let Some(size) = m.size {
        extent(&at(key, "size"), size)?;
    }
    fineness(key, (m.spacing, m.nodes))
}

/// `spacing` or `nodes`, not both.
fn fineness(key: &str, (spacing, nodes): (Option<f64>, Option<usize>)) -> Result<(), InvalidValue> {
    let least = (2 * MARGIN + 2).pow(3);
    if let Some(spacing) = spacing {
        positive(&at(key, "spacing"), spacing, "m")?;
        require(nodes.is_none(), &at(key, "nodes"), || "must be removed: `spacing` is given")?;
    }
    nodes.map_or(Ok(()), |nodes| count(&at(key, "nodes"), nodes, least, MAX_NODES))
}

fn trimesh(key: &str, m: &Trimesh) -> Result<(), InvalidValue> {
    require(!m.file.is_empty(), &at(key, "file"), || "is empty: name a mesh file")?;
    if let Some(size) = m.size {
        extent(&at(key, "size"), size)?;
    }
    m.thickness.map_or(Ok(()), |thickness| extent(&at(key, "thickness"), thickness))
}

fn fracture(key: &str, f: &Fracture, b: &Body, scene: &Scene) -> Result<(), InvalidValue> {
    model(key, f, b, scene)?;
    share(&at(key, "min_share"), f.min_share)?;
    require((0.0..=LARGEST).contains(&f.min_size), &at(key, "min_size"), || {
        format!("must be 0 or more and finite, not {:?}", f.min_size)
    })?;
    f.bonds.as_ref().map_or(Ok(()), |bonds| strength_of_bonds(&at(key, "bonds"), bonds, b))?;
    require(
        f.break_impulse.is_none() || f.strength.is_none(),
        &at(key, "strength"),
        || "is the former name of `break_impulse`, which is given too: remove one of them",
    )?;
    let name = if f.strength.is_some() { "strength" } else { "break_impulse" };
    match f.impulse() {
        Some(impulse) => positive(&at(key, name), impulse, "N s")?,
        None => require(
            b.solid().is_some(),
            key,
            || "lacks the key `break_impulse`, in N s: give it, or name the body's `material`",
        )?,
    }
    require((1..=MAX_GENERATIONS).contains(&f.generations()), &at(key, "generations"), || {
        format!("must be 1 to {MAX_GENERATIONS}: remove `fracture` for a body that never breaks")
    })
}

/// Share of the volume of the smallest piece.
fn share(key: &str, share: Option<f64>) -> Result<(), InvalidValue> {
    let share = share.unwrap_or(0.0);
    require((0.0..1.0).contains(&share), key, || {
        format!("must be 0 or more and less than 1, not {share:?}")
    })
}

fn strength_of_bonds(key: &str, bonds: &Bonds, body: &Body) -> Result<(), InvalidValue> {
    positive(&at(key, "duration"), bonds.duration, "s")?;
    match bonds.strength {
        Some(strength) => stress(&at(key, "strength"), strength),
        None => require(
            body.solid().is_some(),
            key,
            || "lacks the key `strength`, in Pa: give it, or name the body's `material`",
        ),
    }
}

fn model(key: &str, f: &Fracture, b: &Body, scene: &Scene) -> Result<(), InvalidValue> {
    let given = [f.pattern.is_some(), f.lattice.is_some(), f.stress.is_some()];
    require(
        given.iter().filter(|given| **given).count() == 1,
        key,
        || "needs exactly one of the keys `pattern`, `lattice` and `stress`",
    )?;
    require(
        f.placement.is_none() || f.pattern.is_some(),
        &at(key, "placement"),
        || "is of a pattern: give the key `pattern` too, or remove it",
    )?;
    levels::check(key, f, b, scene)?;
    if let Some(l) = &f.lattice {
        lattice::check(&at(key, "lattice"), l, b)?;
    }
    f.stress.as_ref().map_or(Ok(()), |s| tension(&at(key, "stress"), s, b))
}

fn tension(key: &str, s: &Stress, b: &Body) -> Result<(), InvalidValue> {
    tetrahedra(key, s.spacing, b)?;
    of_material(key, "strength", s.strength, b)?;
    of_material(key, "young", s.young, b)?;
    let lengths = [("duration", s.duration, "s"), ("collision_radius", s.collision_radius, "m")];
    for (name, value, unit) in lengths.into_iter().filter_map(|(n, x, u)| Some((n, x?, u))) {
        positive(&at(key, name), value, unit)?;
    }
    require((-0.9..=0.49).contains(&s.poisson), &at(key, "poisson"), || {
        format!("must be from -0.9 to 0.49, not {:?}", s.poisson)
    })?;
    if let Some(reach) = s.reach {
        positive(&at(key, "reach"), reach, "m")?;
    }
    if let Some(averaging) = s.averaging {
        bounded(&at(key, "averaging"), &[averaging], "m")?;
        require(averaging >= 0.0, &at(key, "averaging"), || "must be 0 m or more")?;
    }
    if let Some(yields) = s.yield_strength {
        stress(&at(key, "yield_strength"), yields)?;
    }
    if let Some(hardening) = s.hardening {
        let key = at(key, "hardening");
        require((0.0..=STRONGEST).contains(&hardening), &key, || {
            format!("must be 0 to {STRONGEST:e} Pa, not {hardening:?}")
        })?;
        require(s.yield_strength.is_some(), &key, || "needs a `yield_strength`")?;
    }
    require((1..=1000).contains(&s.cracks), &at(key, "cracks"), || {
        format!("must be 1 to 1000, not {}", s.cracks)
    })
}

/// A stress, Pa, of its own or of the body's material.
fn of_material(key: &str, name: &str, own: Option<f64>, b: &Body) -> Result<(), InvalidValue> {
    match own {
        Some(own) => stress(&at(key, name), own),
        None => require(b.solid().is_some(), key, || {
            format!("lacks the key `{name}`, in Pa: give it, or name the body's `material`")
        }),
    }
}

/// Tetrahedra neither larger than the body nor too many.
fn tetrahedra(key: &str, spacing: f64, b: &Body) -> Result<(), InvalidValue> {
    let key = at(key, "spacing");
    positive(&key, spacing, "m")?;
    let Some(extents) = b.shape.extents() else { return Ok(()) };
    // two lattice cells, six tetrahedra each at the least
    let count: f64 = extents.iter().map(|x| (x / spacing).max(1.0)).product::<f64>() * 12.0;
    require(count <= 1e6, &key, || {
        format!(
            "makes about {count:.0} tetrahedra, but at most 1000000 are allowed: use larger ones"
        )
    })
}
