//! No frame gains more energy than the external work, computed here from momentum, angles and distances.

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

use brisance_tests::properties;
use brisance_tests::strategies::{direction, rotation, vector};
use contact::constraint::{JointKind, Motor};
use dynamics::Velocity;
use nalgebra::{UnitQuaternion, Vector3};
use proptest::prelude::*;
use sim::scene::Scene;
use sim::{BodyId, NewJoint, Settings, World};

use crate::contact_scenes::{at, cuboid, floor, material};
use crate::joints::joint;

/// A body above a platform.
#[derive(Clone, Debug)]
struct Faller {
    size: f64,
    is_box: bool,
    place: Vector3<f64>,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
    breaks: bool,
}

fn faller() -> impl Strategy<Value = Faller> {
    let motion = (vector(3.0), vector(6.0));
    (0.05..0.15_f64, any::<bool>(), vector(0.6), motion, any::<bool>()).prop_map(
        |(size, is_box, place, (velocity, spin), breaks)| Faller {
            size,
            is_box,
            place,
            velocity,
            spin,
            breaks,
        },
    )
}

/// A platform and a wall that move with `velocity`, and bodies in their way.
fn moving_platform(fallers: &[Faller], velocity: &Vector3<f64>) -> String {
    let triple = |v: &Vector3<f64>| format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z);
    let mut toml = "version = 1\n[simulation]\nsleep = false\ngravity = [0, 0, 0]\n\
                    [pattern.shards.voronoi]\npieces = 6\n"
        .to_owned();
    for (name, half, place) in [
        ("platform", [1.5, 0.1, 1.5], [0.0, -0.1, 0.0]),
        ("wall", [0.1, 1.0, 1.5], [-1.0, 1.0, 0.0]),
    ] {
        let velocity = triple(velocity);
        toml += &format!(
            "[[body]]\nname = \"{name}\"\nmotion = \"kinematic\"\nshape = {{ box = {{ half_extents = {half:?} }} }}\n\
             position = {place:?}\nvelocity = {velocity}\n"
        );
    }
    for (n, body) in fallers.iter().enumerate() {
        let size = body.size;
        let shape = if body.is_box {
            format!("box = {{ half_extents = [{size:?}, {size:?}, {size:?}], nodes = 4000 }}")
        } else {
            format!("sphere = {{ radius = {size:?}, nodes = 4000 }}")
        };
        let place = body.place + Vector3::y() * (0.8 + 0.3 * n as f64);
        let [place, velocity, spin] = [place, body.velocity, body.spin].map(|v| triple(&v));
        toml += &format!(
            "[[body]]\nname = \"b{n}\"\nshape = {{ {shape} }}\nposition = {place}\nvelocity = {velocity}\n\
             angular_velocity = {spin}\nrestitution = 0.3\n"
        );
        if body.breaks {
            let bears = 1000.0 * size.powi(3);
            toml += &format!(
                "fracture = {{ pattern = \"shards\", break_impulse = {bears:?}, generations = 2 }}\n"
            );
        }
    }
    toml
}

/// Current energy, J.
fn energy(world: &World) -> f64 {
    world.kinetic_energy() + world.potential_energy()
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() }
}

properties! {
    #![proptest_config(config())]

    /// Kinematic bodies with one velocity V do the work V . J by an impulse J, which equals the
    /// momentum change of the others without gravity. In a frame of reference with velocity V the
    /// kinematic bodies are static.
    #[test]
    fn kinematic_bodies_give_no_more_energy_than_the_work_of_their_impulse(
        fallers in prop::collection::vec(faller(), 1..6),
        velocity in vector(1.5),
    ) {
        let scene = Scene::from_toml(&moving_platform(&fallers, &velocity)).unwrap();
        let (mut world, _) = sim::build(&scene, &BTreeMap::new()).unwrap();
        let mut scale = 0.0_f64;
        for frame in 0..60 {
            let (before, momentum) = (energy(&world), world.momentum().linear);
            let report = world.step();
            let work = velocity.dot(&(world.momentum().linear - momentum));
            let growth = energy(&world) - before;
            scale = scale.max(world.kinetic_energy()).max(before).max(work.abs());
            prop_assert!(growth <= work + 1e-9 * scale, "frame {}: {} J by {} J", frame, growth, work);
            let reported = report.energy.work;
            prop_assert!(reported <= work + 1e-9 * scale, "frame {}: {} J, not {}", frame, reported, work);
        }
    }

    /// A motor with torque or force F does at most the work of F times the travel of its joint.
    #[test]
    fn a_motor_gives_no_more_energy_than_its_torque_on_its_way(
        (kind, axis) in (prop::sample::select(vec![JointKind::Hinge, JointKind::Slider]), direction()),
        turns in [rotation(), rotation()],
        (linear, angular) in (vector(2.0), vector(4.0)),
        (speed, most) in (-5.0..5.0_f64, 0.1..20.0_f64),
    ) {
        let gravity = Vector3::zeros();
        let mut world = World::new(Settings { gravity, sleep: false, ..Settings::default() });
        let add = |world: &mut World, x: f64, turn: UnitQuaternion<f64>, velocity: Velocity| -> BodyId {
            let mut new = cuboid([0.1, 0.2, 0.15], 3.0, at(x, 0.0, 0.0) * turn, material(0.0, 0.5));
            new.velocity = velocity;
            world.add(new).unwrap()
        };
        let ids = [
            add(&mut world, 0.0, turns[0], Velocity { linear, angular }),
            add(&mut world, 0.8, turns[1], Velocity { linear, angular: -angular }),
        ];
        let motor = Some(Motor { speed, max_force: most });
        let joint = joint(kind, ids, Vector3::new(0.4, 0.0, 0.0));
        world.add_joint(NewJoint { motor, axis, ..joint }).unwrap();
        world.step();
        let mut last = world.joints().next().unwrap().coordinate;
        for frame in 0..60 {
            let before = energy(&world);
            world.step();
            let now = world.joints().next().unwrap().coordinate;
            // an angle may exceed half a turn
            let way = match kind {
                JointKind::Hinge => (now - last + PI).rem_euclid(TAU) - PI,
                _ => now - last,
            };
            last = now;
            let growth = energy(&world) - before;
            // a step rotates by the chord of an angle, not by its arc
            let most = 1.01 * most;
            let slack = 1e-9 * (world.kinetic_energy() + before) + 1e-5 * most;
            prop_assert!(growth <= most * way.abs() + slack, "frame {}: {} J by {} on {}", frame, growth, most, way);
        }
    }

    #[test]
    fn the_work_of_a_force_is_reported_in_frames_with_blows_too_and_no_more_is_gained(
        force in vector(60.0),
        turn in rotation(),
        (velocity, spin) in (vector(2.0), vector(5.0)),
        restitution in 0.0..1.0_f64,
    ) {
        let mut world = World::new(Settings::default());
        floor(&mut world, 0.0, material(restitution, 0.5));
        let pose = at(0.0, 0.3, 0.0) * turn;
        let mut new = cuboid([0.1, 0.08, 0.12], 5.0, pose, material(restitution, 0.5));
        new.velocity = Velocity { linear: velocity, angular: spin };
        let id = world.add(new).unwrap();
        let place = |world: &World| world.get(id).unwrap().pose.translation.vector;
        let mut scale = 0.0_f64;
        for frame in 0..90 {
            let (before, start) = (energy(&world), place(&world));
            world.apply_force(id, &force, None).unwrap();
            let report = world.step();
            let work = force.dot(&(place(&world) - start));
            let growth = energy(&world) - before;
            scale = scale.max(world.kinetic_energy()).max(world.potential_energy()).max(work.abs());
            // the push-out may lift a body out of the floor against the force
            let is_held = growth <= work + 1e-3 * scale;
            prop_assert!(is_held, "frame {}: {} J by {} J", frame, growth, work);
            let off = (report.energy.work - work).abs();
            prop_assert!(off < 1e-9 * scale, "frame {}: {} J of {} J", frame, report.energy.work, work);
            let closed = growth - report.energy.work + report.energy.dissipation.total();
            prop_assert!(closed.abs() < 1e-9 * scale, "frame {}: {} J", frame, closed);
        }
    }
}
