//! Random crowded scenes and their invariants.

use std::collections::BTreeMap;
use std::fmt::Write;

use dynamics::Momentum;
use dynamics::Velocity;
use nalgebra::{Isometry3, Vector3};
use proptest::prelude::*;
use proptest::sample::select;
use sim::scene::Scene;
use sim::{BodyId, Report, World};

use crate::strategies::{direction, rotation, vector};

/// Frames that each scene runs.
pub const FRAMES: usize = 60;
/// Limit of the energy gain of a frame by the tolerance of over-determined joints, relative to the energy
/// transferred so far.
const GAIN: f64 = 1e-7;
/// Round-off tolerance of the energy ledger and of momentum.
const ROUND_OFF: f64 = 1e-9;

/// Minimum displacement of moving bodies in a frame, relative to the size of the largest body.
const MIN_DISPLACEMENT: f64 = 1e-3;

/// A scene with the actions of a game.
#[derive(Clone, Debug)]
pub struct RandomScene {
    /// The scene file.
    pub toml: String,
    /// Frame and action.
    pub acts: Vec<(usize, Act)>,
}

/// An external change of the world.
#[derive(Clone, Debug)]
pub enum Act {
    /// Removes a body.
    Remove(usize),
    /// Sets the velocity of a body, in lengths of the scene per frame.
    Throw(usize, Vector3<f64>),
    /// Requests a non-finite pose.
    Corrupt(usize),
    /// Cuts breakable bodies along a plane through the origin.
    Cut(Vector3<f64>),
}

/// A solid of a size of about 1.
#[derive(Clone, Debug)]
struct Body {
    shape: Shape,
    place: Vector3<f64>,
    axis: Vector3<f64>,
    degrees: f64,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
    material: [f64; 4],
    motion: &'static str,
    breaks: bool,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Sphere(f64),
    Box([f64; 3]),
    Cylinder(f64, f64),
    Capsule(f64, f64),
    Cone(f64, f64),
    Torus(f64, f64),
}

fn shape() -> impl Strategy<Value = Shape> {
    let size = || 0.05..0.5;
    prop_oneof![
        3 => size().prop_map(Shape::Sphere),
        4 => [size(), size(), size()].prop_map(Shape::Box),
        1 => (size(), size()).prop_map(|(r, h)| Shape::Cylinder(r, h)),
        1 => (size(), size()).prop_map(|(r, h)| Shape::Capsule(r, h)),
        1 => (size(), size()).prop_map(|(r, h)| Shape::Cone(r, h)),
        1 => (0.2..0.5, 0.05..0.15).prop_map(|(r, h)| Shape::Torus(r, h)),
    ]
}

fn body() -> impl Strategy<Value = Body> {
    let motion = prop_oneof![
        8 => Just("dynamic"),
        1 => Just("static"),
        1 => Just("kinematic"),
    ];
    let rates = [0.0..=1.0, 0.0..=1.0, 0.0..=0.3, 0.0..=0.3];
    let is_slow = prop_oneof![Just(0.0), 0.0..0.3];
    let turned = rotation().prop_map(|turn| {
        let axis = turn.axis().map_or_else(Vector3::y, nalgebra::UnitVector3::into_inner);
        (axis, turn.angle().to_degrees())
    });
    (
        shape(),
        vector(1.0),
        turned,
        (vector(1.0), vector(1.0), is_slow),
        rates,
        motion,
        any::<bool>(),
    )
        .prop_map(
            |(shape, place, (axis, degrees), (velocity, spin, speed), rates, motion, breaks)| {
                let speed = if motion == "static" { 0.0 } else { speed };
                let spin = spin * (4.0 * speed);
                let place = Vector3::new(place.x, 1.0 + place.y, place.z);
                let [restitution, friction, rolling, spinning] = rates;
                let material = [restitution, friction, rolling, spinning];
                let velocity = velocity * speed;
                Body { shape, place, axis, degrees, velocity, spin, material, motion, breaks }
            },
        )
}

fn act() -> impl Strategy<Value = (usize, Act)> {
    let kind = prop_oneof![
        (0usize..8).prop_map(Act::Remove),
        (0usize..8, vector(0.3)).prop_map(|(n, v)| Act::Throw(n, v)),
        (0usize..8).prop_map(Act::Corrupt),
        direction().prop_map(Act::Cut),
    ];
    (1..FRAMES, kind)
}

/// Scenes of two to nine bodies 1 mm to 100 m in size, on the ground or in free space, with fewer than `joints`
/// joints, bodies that break, and steps in which gravity moves a body by less than its size.
pub fn random_scene(joints: usize) -> impl Strategy<Value = RandomScene> {
    let floor = select(vec!["none", "plane", "box"]);
    let joint = (0usize..8, 0usize..8, 0usize..5, vector(0.5));
    let joints = proptest::collection::vec(joint, 0..joints);
    let bodies = proptest::collection::vec(body(), 2..9);
    let acts = proptest::collection::vec(act(), 0..4);
    let is_heavy = prop_oneof![1 => Just(0.0), 4 => 0.0..0.1];
    (-3.0..2.0, -4.5..0.0, is_heavy, floor, bodies, joints, acts, any::<bool>()).prop_map(
        |(size, step, weight, floor, bodies, joints, acts, sleep)| {
            let [size, dt] = [size, step].map(|e: f64| 10f64.powf(e));
            let frame = Frame { size, dt, weight };
            let mut toml = frame.head(sleep);
            frame.floor(floor, &mut toml);
            for (n, body) in bodies.iter().enumerate() {
                frame.body(n, body, &mut toml);
            }
            for (a, b, kind, at) in joints {
                frame.joint(&bodies, [a, b], (kind, at), &mut toml);
            }
            RandomScene { toml, acts }
        },
    )
}

/// Units of a scene.
#[derive(Clone, Copy)]
struct Frame {
    /// m.
    size: f64,
    /// s.
    dt: f64,
    /// Displacement of a body from rest in a step, relative to the size.
    weight: f64,
}

impl Frame {
    fn head(&self, sleep: bool) -> String {
        let gravity = -(self.weight * self.size / (self.dt * self.dt)).min(1e8);
        format!(
            "version = 1\n[simulation]\nfps = {:?}\ngravity = [0.0, {gravity:?}, 0.0]\nsleep = {sleep}\n\
             [pattern.shards.voronoi]\npieces = 5\n",
            1.0 / self.dt
        )
    }

    fn floor(&self, kind: &str, toml: &mut String) {
        let shape = match kind {
            "plane" => "{ plane = {} }".to_owned(),
            "box" => {
                let [half, thin] = [4.0 * self.size, 0.5 * self.size];
                format!("{{ box = {{ half_extents = [{half:?}, {thin:?}, {half:?}] }} }}")
            }
            _ => return,
        };
        let height = if kind == "box" { -0.5 * self.size } else { 0.0 };
        put(
            toml,
            format_args!(
                "[[body]]\nname = \"floor\"\nmotion = \"static\"\nshape = {shape}\nposition = [0.0, {height:?}, 0.0]\n"
            ),
        );
    }

    fn body(&self, n: usize, body: &Body, toml: &mut String) {
        let m = |x: f64| x * self.size;
        let triple = |v: Vector3<f64>| format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z);
        let shape = match body.shape {
            Shape::Sphere(r) => format!("sphere = {{ radius = {:?}, nodes = 4000 }}", m(r)),
            Shape::Box([x, y, z]) => {
                let half = triple(Vector3::new(x, y, z) * self.size);
                format!("box = {{ half_extents = {half}, nodes = 4000 }}")
            }
            Shape::Cylinder(r, h) => round("cylinder", m(r), m(h)),
            Shape::Capsule(r, h) => round("capsule", m(r), m(h)),
            Shape::Cone(r, h) => round("cone", m(r), m(h)),
            Shape::Torus(r, h) => {
                format!("torus = {{ major = {:?}, minor = {:?}, nodes = 4000 }}", m(r), m(h))
            }
        };
        let [restitution, friction, rolling, spinning] = body.material;
        let speed = self.size / self.dt;
        put(
            toml,
            format_args!(
                "[[body]]\nname = \"b{n}\"\nmotion = \"{}\"\nshape = {{ {shape} }}\nposition = {}\n\
                 rotation = {{ axis = {}, degrees = {:?} }}\nvelocity = {}\nangular_velocity = {}\n\
                 restitution = {restitution:?}\nfriction = {friction:?}\n\
                 rolling_friction = {rolling:?}\nspinning_friction = {spinning:?}\n",
                body.motion,
                triple(body.place * self.size),
                triple(body.axis),
                body.degrees,
                triple(body.velocity * speed),
                triple(body.spin / self.dt),
            ),
        );
        if body.breaks && body.motion == "dynamic" {
            // a cube of this size breaks at 1 % of its momentum at a speed of one size per frame
            let bears = (1e-2 * 1000.0 * self.size.powi(3) * speed).min(1e9);
            put(
                toml,
                format_args!(
                    "fracture = {{ pattern = \"shards\", break_impulse = {bears:?}, generations = 2 }}\n"
                ),
            );
        }
    }

    fn joint(
        &self,
        bodies: &[Body],
        [a, b]: [usize; 2],
        (kind, at): (usize, Vector3<f64>),
        toml: &mut String,
    ) {
        let [a, b] = [a % bodies.len(), b % bodies.len()];
        let is_dynamic = |n: usize| bodies[n].motion == "dynamic";
        if a == b || !(is_dynamic(a) || is_dynamic(b)) {
            return;
        }
        let kind = ["point", "distance", "hinge", "slider", "fixed"][kind];
        let anchor = (bodies[a].place + at) * self.size;
        put(
            toml,
            format_args!(
                "[[joints]]\nkind = \"{kind}\"\nbodies = [\"b{a}\", \"b{b}\"]\nanchor = [{:?}, {:?}, {:?}]\n",
                anchor.x, anchor.y, anchor.z
            ),
        );
        if kind == "slider" {
            // sliders without limits between spinning bodies diverge
            let most = 4.0 * self.size;
            put(toml, format_args!("limits = [{:?}, {most:?}]\n", -most));
        }
        if kind == "distance" {
            let end = bodies[b].place * self.size;
            put(toml, format_args!("second_anchor = [{:?}, {:?}, {:?}]\n", end.x, end.y, end.z));
        }
    }
}

fn round(kind: &str, radius: f64, half_height: f64) -> String {
    format!("{kind} = {{ radius = {radius:?}, half_height = {half_height:?}, nodes = 4000 }}")
}

fn put(toml: &mut String, text: std::fmt::Arguments<'_>) {
    toml.write_fmt(text).expect("a string takes all");
}

impl RandomScene {
    /// The world at the start.
    ///
    /// # Errors
    /// The error of the scene.
    pub fn world(&self) -> Result<World, String> {
        let scene = Scene::from_toml(&self.toml).map_err(|e| e.to_string())?;
        let (world, _) = sim::build(&scene, &BTreeMap::new()).map_err(|e| e.to_string())?;
        Ok(world)
    }

    /// The actions of a game before a frame, in order.
    pub fn acts_of(&self, frame: usize) -> impl Iterator<Item = &Act> {
        self.acts.iter().filter(move |(at, _)| *at == frame).map(|(_, act)| act)
    }

    /// Runs the scene with all checks, and returns the end state: poses and momenta, bit by bit.
    ///
    /// # Errors
    /// The first violated invariant: energy grows by no more than the work, all motion is finite, the ledger
    /// adds up, and momentum is conserved without external forces.
    pub fn run(&self) -> Result<Vec<u64>, String> {
        let mut world = self.world()?;
        let mut ledger = Ledger::new(&world);
        for frame in 0..FRAMES {
            for act in self.acts_of(frame) {
                act.apply(&mut world)?;
                ledger.restart(&world);
            }
            let report = world.step();
            ledger.check(&world, &report).map_err(|e| format!("frame {frame}: {e}"))?;
        }
        Ok(bits(&world))
    }
}

impl Act {
    /// Executes the action.
    ///
    /// # Errors
    /// When the world accepts an invalid action.
    pub fn apply(&self, world: &mut World) -> Result<(), String> {
        let ids: Vec<BodyId> = world.iter().map(|body| body.id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let id = |n: usize| ids[n % ids.len()];
        let step = world.settings().dt;
        match self {
            Self::Remove(n) => {
                world.remove(id(*n));
            }
            Self::Throw(n, speed) => {
                let radius = world.iter().map(|body| body.shape.radius());
                let size = radius.filter(|r| r.is_finite()).fold(0.0, f64::max);
                let linear = speed * (size / step);
                let velocity = Velocity { linear, ..Velocity::default() };
                // the world refuses this for static bodies
                world.set_velocity(id(*n), velocity).ok();
            }
            Self::Corrupt(n) => {
                let pose = Isometry3::translation(f64::NAN, 0.0, 0.0);
                if world.set_pose(id(*n), &pose).is_ok() {
                    return Err("a pose that is not finite was taken".into());
                }
            }
            Self::Cut(normal) => {
                let aside = normal.cross(&Vector3::x()) + normal.cross(&Vector3::y());
                let along = normal.cross(&aside);
                let point = |s: f64, t: f64| (aside * s + along * t).into();
                world.cut(
                    [point(-1e3, -1e3), point(-1e3, 1e3)],
                    [point(1e3, -1e3), point(1e3, 1e3)],
                );
            }
        }
        Ok(())
    }
}

/// Energy and momentum transferred so far.
struct Ledger {
    energy: f64,
    /// Largest transferred energy, J, and momentum, N s.
    scales: [f64; 2],
    momentum: Vector3<f64>,
}

impl Ledger {
    fn new(world: &World) -> Self {
        let radius = world.iter().map(|body| body.shape.radius());
        let size = radius.filter(|r| r.is_finite()).fold(0.0, f64::max);
        let (mass, speed) = (world.mass(), MIN_DISPLACEMENT * size / world.settings().dt);
        let scales = [0.5 * mass * speed * speed, mass * speed];
        let mut ledger = Self { energy: 0.0, scales, momentum: Vector3::zeros() };
        ledger.restart(world);
        ledger
    }

    fn restart(&mut self, world: &World) {
        let before = self.energy;
        self.energy = world.kinetic_energy() + world.potential_energy();
        self.momentum = world.momentum().linear;
        self.grow(world, before);
    }

    fn grow(&mut self, world: &World, before: f64) {
        let moved = world.kinetic_energy().max((self.energy - before).abs());
        // potential energy is relative to the origin: its round-off grows with it
        let depth = world.potential_energy().abs();
        let speed = (2.0 * world.kinetic_energy() / world.mass().max(f64::MIN_POSITIVE)).sqrt();
        self.scales[0] = self.scales[0].max(moved).max(1e-4 * depth);
        self.scales[1] = self.scales[1].max(world.mass() * speed);
    }

    fn check(&mut self, world: &World, report: &Report) -> Result<(), String> {
        let before = self.energy;
        self.energy = world.kinetic_energy() + world.potential_energy();
        self.grow(world, before);
        let growth = self.energy - before;
        // contradictory joints do far more work on bodies than the bodies retain
        let most = ROUND_OFF * self.scales[0] + 8.0 * f64::EPSILON * report.energy.work.abs();
        if !report.events.frozen.is_empty()
            || !bits(world).iter().all(|&x| f64::from_bits(x).is_finite())
        {
            return Err("a state is not finite".into());
        }
        // retirement of bodies removes their energy
        if report.energy.gain > report.energy.work + GAIN * self.scales[0] {
            let (gain, work) = (report.energy.gain, report.energy.work);
            return Err(format!("{gain} J gained by {work} J of work, {} J moved", self.scales[0]));
        }
        let explained = report.energy.work - report.energy.dissipation.total();
        if (growth - explained).abs() > most {
            return Err(format!("the ledger says {explained} J of {growth} J"));
        }
        let is_fixed = |body: &sim::BodyState<'_>| body.body.mass_properties().is_none();
        if world.iter().any(|body| is_fixed(&body) && *body.momentum != Momentum::default()) {
            return Err("a static or kinematic body has momentum".into());
        }
        let momentum = world.momentum().linear;
        // sleepers are static
        let is_free = world.settings().gravity == Vector3::zeros()
            && !world.settings().sleep
            && world.iter().all(|body| body.body.mass_properties().is_some());
        let lost = (momentum - self.momentum).norm();
        if is_free && lost > ROUND_OFF * self.scales[1] {
            return Err(format!("momentum changes by {lost} N s of {}", self.scales[1]));
        }
        self.momentum = momentum;
        Ok(())
    }
}

/// Poses and momenta of all bodies, bit by bit.
pub fn bits(world: &World) -> Vec<u64> {
    let of = |body: sim::BodyState<'_>| {
        let pose = [body.pose.translation.vector.as_slice(), body.pose.rotation.coords.as_slice()];
        let momentum = [body.momentum.linear.as_slice(), body.momentum.angular.as_slice()];
        pose.concat().into_iter().chain(momentum.concat()).map(f64::to_bits).collect::<Vec<_>>()
    };
    world.iter().flat_map(of).collect()
}
