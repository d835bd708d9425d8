//! The energy fix in the loop of another engine: Rapier bodies at 30 Hz with centers of mass off their origins.
//!
//! `cargo run --release -p brisance-benches --example rapier_energy_fix`
#![expect(clippy::print_stdout, reason = "an example that reports")]

use std::error::Error;

use dynamics::{EnergyKeeper, EngineBody};
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};
use rapier::prelude::{
    AngVector, ColliderBuilder, PhysicsWorld, Pose, RigidBody, RigidBodyBuilder, RigidBodyHandle,
    Rotation, Vector,
};

const FRAMES: usize = 300;

/// Handles of Rapier do not implement `Ord`, but their parts do.
type Handle = (u32, u32);

fn engine_body(body: &RigidBody) -> EngineBody {
    let local = &body.mass_properties().local_mprops;
    let quaternion = |q: Rotation| UnitQuaternion::new_normalize(Quaternion::from(q.to_array()));
    let place = Vector3::from(body.translation().to_array());
    EngineBody {
        pose: Isometry3::from_parts(place.into(), quaternion(*body.rotation())),
        angular_velocity: body.angvel().to_array().into(),
        mass: body.mass(),
        center: Point3::from(local.local_com.to_array()),
        principal_inertia: local.principal_inertia().to_array().into(),
        principal_axes: quaternion(local.principal_inertia_local_frame),
    }
}

/// Whether the body has contacts.
fn is_touched(world: &PhysicsWorld, body: &RigidBody) -> bool {
    let mut pairs =
        body.colliders().iter().flat_map(|&part| world.narrow_phase.contact_pairs_with(part));
    pairs.any(|pair| pair.has_any_active_contact())
}

/// The correction pass after each step.
fn correct_energies(world: &mut PhysicsWorld, keeper: &mut EnergyKeeper<Handle>) {
    let awake =
        |(_, body): &(RigidBodyHandle, &RigidBody)| body.is_dynamic() && !body.is_sleeping();
    let all: Vec<(Handle, EngineBody, bool)> = world
        .bodies
        .iter()
        .filter(awake)
        .map(|(handle, body)| (handle.into_raw_parts(), engine_body(body), is_touched(world, body)))
        .collect();
    keeper.retain(|handle| all.iter().any(|(other, ..)| other == handle));
    for (handle, body, is_touched) in all {
        let Some(corrected) = keeper.correct(handle, &body, is_touched) else { continue };
        let body = &mut world.bodies[RigidBodyHandle::from_raw_parts(handle.0, handle.1)];
        let place = Vector::from_array(corrected.pose.translation.vector.into());
        let rotation = Rotation::from_array(corrected.pose.rotation.coords.into());
        body.set_position(Pose::from_parts(place, rotation), false);
        body.set_angvel(AngVector::from_array(corrected.angular_velocity.into()), false);
    }
}

/// An L of two plates.
fn letter(world: &mut PhysicsWorld, body: RigidBodyBuilder) -> RigidBodyHandle {
    let body = world.insert_body(body.can_sleep(false));
    for (half, at) in [([0.5, 0.05, 0.15], [0.5, 0.0, 0.0]), ([0.05, 0.4, 0.15], [0.0, 0.4, 0.1])] {
        let part = ColliderBuilder::cuboid(half[0], half[1], half[2]);
        let part = part.translation(Vector::from_array(at)).density(100.0);
        world.insert_collider(part, Some(body));
    }
    world.bodies[body].recompute_mass_properties_from_colliders(&world.colliders);
    body
}

fn world(gravity: f64) -> PhysicsWorld {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, -gravity, 0.0);
    world.integration_parameters.dt = 1.0 / 30.0;
    world
}

/// Angular momentum in world axes, rotational energy and position of the center of mass.
fn state(body: &RigidBody) -> (Vector3<f64>, f64, Point3<f64>) {
    let body = engine_body(body);
    let axes = (body.pose.rotation * body.principal_axes).to_rotation_matrix().into_inner();
    let inertia =
        axes * nalgebra::Matrix3::from_diagonal(&body.principal_inertia) * axes.transpose();
    let momentum = inertia * body.angular_velocity;
    (momentum, 0.5 * momentum.dot(&body.angular_velocity), body.pose * body.center)
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "an L of 1 x 0.8 m in free flight, {FRAMES} frames of 1/30 s; spin = factor x (8, 0.1, 6) rad/s"
    );
    for speed in [0.5, 1.0, 2.0] {
        for is_held in [false, true] {
            let [energy, turn, off] = fly(speed, is_held);
            let name = if is_held { "with the keeper" } else { "Rapier alone" };
            println!(
                "{speed:>4}, {name:15}: energy x {energy:.6}, angular momentum off by {turn:.1e} deg, center by {off:.1e} m"
            );
            if is_held && ((energy - 1.0).abs() > 1e-10 || turn > 1e-5 || off > 1e-9) {
                return Err("the drift is not gone".into());
            }
        }
    }
    let (most, lowest) = fall();
    println!(
        "six L bodies fall onto a floor: largest relative energy growth in a frame {most:.1e}, lowest center {lowest:.2} m"
    );
    Ok(())
}

/// Energy over initial energy, rotation of the angular momentum, deg, and displacement of the center of mass, m.
fn fly(speed: f64, is_held: bool) -> [f64; 3] {
    let mut world = world(0.0);
    let spin = AngVector::new(8.0, 0.1, 6.0) * speed;
    let body = letter(&mut world, RigidBodyBuilder::dynamic().angvel(spin));
    let (momentum, energy, center) = state(&world.bodies[body]);
    let mut keeper = EnergyKeeper::new();
    if is_held {
        correct_energies(&mut world, &mut keeper);
    }
    for _ in 0..FRAMES {
        world.step();
        if is_held {
            correct_energies(&mut world, &mut keeper);
        }
    }
    let (now, after, place) = state(&world.bodies[body]);
    [after / energy, now.angle(&momentum).to_degrees(), (place - center).norm()]
}

/// The largest relative growth of energy in a frame, and the height of the lowest center, m.
fn fall() -> (f64, f64) {
    let mut world = world(9.81);
    let ground = world.insert_body(RigidBodyBuilder::fixed());
    let slab = ColliderBuilder::cuboid(50.0, 1.0, 50.0).translation(-Vector::Y);
    world.insert_collider(slab, Some(ground));
    let bodies: Vec<RigidBodyHandle> = (0..6)
        .map(|n| {
            let at = Vector::new(1.5 * f64::from(n % 3), 3.0 + f64::from(n), 0.0);
            let spin = AngVector::new(6.0, f64::from(n), 3.0);
            letter(&mut world, RigidBodyBuilder::dynamic().translation(at).angvel(spin))
        })
        .collect();
    let energy = |world: &PhysicsWorld| {
        let of = |&body: &RigidBodyHandle| {
            let (_, spin, center) = state(&world.bodies[body]);
            let body = &world.bodies[body];
            spin + body.mass() * (9.81 * center.y + 0.5 * body.linvel().length_squared())
        };
        bodies.iter().map(of).sum::<f64>()
    };
    let (mut keeper, mut most, mut before) =
        (EnergyKeeper::new(), f64::NEG_INFINITY, energy(&world));
    for _ in 0..FRAMES {
        world.step();
        correct_energies(&mut world, &mut keeper);
        let now = energy(&world);
        most = most.max(now / before - 1.0);
        before = now;
    }
    let height = |&body: &RigidBodyHandle| state(&world.bodies[body]).2.y;
    (most, bodies.iter().map(height).fold(f64::INFINITY, f64::min))
}
