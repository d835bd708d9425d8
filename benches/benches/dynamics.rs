//! One frame of free flight of the same bodies: our step with energy fix beside that of Rapier.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dynamics::{Body, MassProperties, Momentum, Velocity, advance_all, energy_fix};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use rapier::prelude::{
    AngVector, MassProperties as RapierMass, PhysicsWorld, Pose, RigidBody, RigidBodyBuilder,
    RigidBodyVelocity, Vector,
};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::hint::black_box;

const BODIES: usize = 10_000;
const FRAME: f64 = 1.0 / 30.0;
/// Default number of substeps of Rapier.
const SUBSTEPS: usize = 4;

struct Spinning {
    mass: MassProperties,
    pose: Isometry3<f64>,
    velocity: Velocity,
}

/// Boxes with edges of 0.1 to 1 m that spin at up to 15 rad/s.
fn boxes() -> Vec<Spinning> {
    // fractional parts of powers of the golden ratio fill the cube evenly without a generator
    let spread =
        |i: usize, k: usize| (i as f64 * [0.819_172_513, 0.671_043_607, 0.549_700_478][k]).fract();
    let vector = |i: usize| Vector3::new(spread(i, 0), spread(i, 1), spread(i, 2));
    (0..BODIES)
        .map(|i| {
            let half = (vector(i) * 0.9).add_scalar(0.1) / 2.0;
            let axis = vector(i + 1).add_scalar(-0.5);
            Spinning {
                mass: MassProperties::cuboid(1.0, &half).expect("boxes are solids"),
                pose: Isometry3::new(vector(i + 2) * 100.0, vector(i + 3) * 3.0),
                velocity: Velocity {
                    linear: vector(i + 4),
                    angular: axis.normalize() * (15.0 * spread(i, 0)),
                },
            }
        })
        .collect()
}

fn columns(boxes: &[Spinning]) -> (Vec<Body>, Vec<Isometry3<f64>>, Vec<Momentum>) {
    let bodies = boxes.iter().map(|b| Body::Dynamic(b.mass)).collect();
    let poses = boxes.iter().map(|b| b.pose).collect();
    let momenta = boxes.iter().map(|b| b.mass.momentum(&b.pose.rotation, &b.velocity)).collect();
    (bodies, poses, momenta)
}

fn rapier_world(boxes: &[Spinning]) -> PhysicsWorld {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::ZERO;
    world.integration_parameters.dt = FRAME;
    for b in boxes {
        world.insert_body(rapier_body(b));
    }
    world
}

fn rapier_body(b: &Spinning) -> RigidBody {
    let inertia = AngVector::from_array(b.mass.inertia().into());
    let mass = RapierMass::new(Vector::ZERO, b.mass.mass(), inertia);
    let pose = Pose::from_parts(
        Vector::from_array(b.pose.translation.vector.into()),
        rapier::math::Rotation::from_array(b.pose.rotation.coords.into()),
    );
    RigidBodyBuilder::dynamic()
        .pose(pose)
        .additional_mass_properties(mass)
        .linvel(Vector::from_array(b.velocity.linear.into()))
        .angvel(AngVector::from_array(b.velocity.angular.into()))
        .can_sleep(false)
        .build()
}

/// Only the free-flight arithmetic of Rapier, by its public functions, without its pipeline.
fn rapier_update(body: &mut RigidBody) {
    let dt = FRAME / SUBSTEPS as f64;
    for _ in 0..SUBSTEPS {
        let angvel = body.angvel_with_gyroscopic_forces(dt);
        let velocity = RigidBodyVelocity { linvel: body.linvel(), angvel };
        let pose = velocity.integrate(dt, body.position(), &Vector::ZERO);
        body.set_position(pose, false);
        body.set_angvel(angvel, false);
    }
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start")
}

fn free_flight(c: &mut Criterion) {
    let boxes = boxes();
    let mut group = c.benchmark_group("free_flight");
    group.throughput(Throughput::Elements(BODIES as u64)).sample_size(20);
    for threads in [1, 2] {
        let (bodies, mut poses, momenta) = columns(&boxes);
        let pool = pool(threads);
        group.bench_function(BenchmarkId::new("advance", threads), |b| {
            b.iter(|| pool.install(|| advance_all(&bodies, &mut poses, &momenta, FRAME)));
        });
    }
    for threads in [1, 2] {
        let mut world = rapier_world(&boxes);
        let pool = pool(threads);
        group.bench_function(BenchmarkId::new("rapier_step", threads), |b| {
            b.iter(|| pool.install(|| world.step()));
        });
    }
    let mut bodies: Vec<_> = boxes.iter().map(rapier_body).collect();
    group.bench_function(BenchmarkId::new("rapier_arithmetic", 1), |b| {
        b.iter(|| bodies.iter_mut().for_each(rapier_update));
    });
    group.finish();
}

fn fix_alone(c: &mut Criterion) {
    let (bodies, poses, momenta) = columns(&boxes());
    let fix = |body: &Body, rotation: &UnitQuaternion<f64>, momentum: &Momentum| {
        let mass = body.mass_properties().expect("all are dynamic");
        let energy = 1.001 * mass.rotational_energy(rotation, &momentum.angular);
        energy_fix(mass, rotation, &momentum.angular, energy)
    };
    let mut group = c.benchmark_group("energy_fix");
    group.throughput(Throughput::Elements(BODIES as u64)).sample_size(20);
    group.bench_function("one_thread", |b| {
        b.iter(|| {
            for (body, (pose, momentum)) in bodies.iter().zip(poses.iter().zip(&momenta)) {
                black_box(fix(body, &pose.rotation, momentum));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, free_flight, fix_alone);
criterion_main!(benches);
