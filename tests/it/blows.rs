//! Impacts at their time of impact and contact point, with one step per frame.

use std::sync::Arc;

use contact::{Material, Round, Settings, Shape};
use dynamics::{Body, Velocity};
use levelset::ConvexHull;
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use sim::{BodyId, NewBody, World};

use crate::contact_scenes::{
    GRAVITY, at, ball, cuboid, floor, material, moving, place, steps_without_gain, weightless,
    world,
};

fn still_box(half: [f64; 3], pose: Isometry3<f64>, surface: Material) -> NewBody {
    NewBody { body: Body::Static, ..cuboid(half, 1.0, pose, surface) }
}

fn speed(world: &World, id: BodyId, mass: f64) -> Vector3<f64> {
    world.get(id).unwrap().momentum.linear / mass
}

/// The apex heights above `rest`, m, from the energy after the first rising frame of each bounce.
fn apexes(world: &mut World, id: BodyId, rest: f64, count: usize) -> Vec<f64> {
    let mut heights: Vec<f64> = Vec::new();
    let mut last = f64::INFINITY;
    while heights.len() < count {
        steps_without_gain(world, 1);
        let (y, v) = (place(world, id).y - rest, speed(world, id, 1.0).y);
        let apex = y + v * v / (2.0 * GRAVITY);
        if apex < 0.999 * last && last.is_finite() {
            heights.push(apex);
        }
        last = apex;
    }
    heights
}

#[test]
fn what_bounces_rises_to_the_square_of_its_restitution() {
    let ground: [fn(&mut World, Material) -> BodyId; 2] = [
        |world, surface| floor(world, 0.0, surface),
        |world, surface| {
            world.add(still_box([2.0, 0.5, 2.0], at(0.0, -0.5, 0.0), surface)).unwrap()
        },
    ];
    for on in ground {
        for (e, count) in [(0.5, 4), (0.9, 20)] {
            let surface = material(e, 0.3);
            let bodies = [
                ball(0.1, 1.0, at(0.0, 1.1, 0.0), surface),
                cuboid([0.1; 3], 1.0, at(0.0, 1.1, 0.0), surface),
            ];
            for body in bodies {
                let mut world = world(Settings::default());
                on(&mut world, surface);
                let id = world.add(body).unwrap();
                let heights = apexes(&mut world, id, 0.1, count);
                for (n, height) in (1..).zip(heights) {
                    let expected = e.powi(2 * n);
                    assert!((height / expected - 1.0).abs() < 5e-3, "{e} {n}: {height} {expected}");
                }
            }
        }
    }
}

#[test]
fn what_bounces_comes_to_rest_in_the_time_of_all_its_bounces() {
    let e = 0.9;
    let mut world = world(Settings::default());
    floor(&mut world, 0.0, material(e, 0.3));
    let id = world.add(ball(0.1, 1.0, at(0.0, 1.1, 0.0), material(e, 0.3))).unwrap();
    let first = (2.0 / GRAVITY).sqrt();
    let end = first * (1.0 + e) / (1.0 - e);
    let mut time = 0.0;
    let mut moved = 0.0;
    while time < end + 1.0 {
        steps_without_gain(&mut world, 1);
        time += 1.0 / 30.0;
        if (place(&world, id).y - 0.1).abs() > 1e-4 || speed(&world, id, 1.0).norm() > 1e-2 {
            moved = time;
        }
    }
    assert!((moved / end - 1.0).abs() < 0.02, "{moved} of {end}");
}

#[test]
fn an_elastic_ball_keeps_its_height_and_a_flat_box_too() {
    let surface = material(1.0, 0.0);
    let bodies = [
        ball(0.1, 1.0, at(0.0, 1.1, 0.0), surface),
        cuboid([0.1; 3], 1.0, at(0.0, 1.1, 0.0), surface),
    ];
    for body in bodies {
        let mut world = world(Settings::default());
        floor(&mut world, 0.0, surface);
        let id = world.add(body).unwrap();
        for _ in 0..900 {
            steps_without_gain(&mut world, 1);
            let (y, v) = (place(&world, id).y - 0.1, speed(&world, id, 1.0).y);
            let apex = y + v * v / (2.0 * GRAVITY);
            assert!((apex - 1.0).abs() < 1e-6 && y > -1e-6, "{apex} {y}");
        }
    }
}

/// Unfolding the reflections gives a straight path.
#[test]
fn a_ball_between_two_walls_bounces_as_often_as_it_has_to() {
    for speed in [20.0, 30.0, 100.0, 1000.0] {
        let surface = material(1.0, 0.0);
        let mut world = weightless(Settings::default());
        for x in [-1.5, 1.5] {
            world.add(still_box([0.5, 2.0, 2.0], at(x, 0.0, 0.0), surface)).unwrap();
        }
        let velocity = moving(speed, 0.0, 0.0);
        let id = world.add(NewBody { velocity, ..ball(0.1, 1.0, at(0.0, 0.0, 0.0), surface) });
        let id = id.unwrap();
        for frame in 1..=60 {
            world.step();
            let now = world.get(id).unwrap().momentum.linear.x;
            assert!((now.abs() / speed - 1.0).abs() < 1e-9, "{speed} frame {frame}: {now}");
            // 1.8 m from wall to wall
            let way = (0.9 + speed * f64::from(frame) / 30.0).rem_euclid(3.6);
            let x = if way < 1.8 { way - 0.9 } else { 2.7 - way };
            let off = (place(&world, id).x - x).abs();
            assert!(off < 1e-6 * speed * f64::from(frame), "{speed} frame {frame}: off by {off}");
        }
    }
}

#[test]
fn a_light_ball_on_a_heavy_one_leaves_at_three_times_its_speed() {
    let surface = material(1.0, 0.0);
    let mut world = world(Settings::default());
    floor(&mut world, 0.0, surface);
    world.add(ball(0.1, 1e6, at(0.0, 1.0 + 0.1, 0.0), surface)).unwrap();
    let light = world.add(ball(0.05, 1.0, at(0.0, 1.0 + 0.25 + 1e-3, 0.0), surface)).unwrap();
    let mut fastest = 0.0f64;
    for _ in 0..30 {
        steps_without_gain(&mut world, 1);
        let (y, v) = (place(&world, light).y, speed(&world, light, 1.0).y);
        if v > 0.0 {
            // point of contact
            fastest = fastest.max((v * v + 2.0 * GRAVITY * (y - 0.25)).sqrt());
        }
    }
    let expected = 3.0 * (2.0 * GRAVITY).sqrt();
    assert!((fastest / expected - 1.0).abs() < 0.01, "{fastest} {expected}");
}

fn random(random: &mut TestRng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn direction(source: &mut TestRng) -> Vector3<f64> {
    loop {
        let v = Vector3::from_fn(|_, _| 2.0 * random(source) - 1.0);
        if v.norm() > 0.1 && v.norm() < 1.0 {
            return v.normalize();
        }
    }
}

const BULLETS: [&str; 6] = ["ball", "cube", "hull", "cylinder", "rod", "plate"];

fn bullet(kind: &str, pose: Isometry3<f64>, velocity: Velocity) -> NewBody {
    let surface = material(0.0, 0.3);
    let half = match kind {
        "rod" => [0.05, 0.005, 0.005],
        "plate" => [0.05, 0.05, 0.002],
        _ => [0.01; 3],
    };
    let mass = 0.06;
    let shape = match kind {
        "ball" => Shape::ball(0.01),
        "cylinder" => Shape::round(Round::cylinder(0.01, 0.01), 0.001),
        "hull" => {
            let corners: Vec<Point3<f64>> = (0..8u8)
                .map(|n| {
                    Point3::from(Vector3::from_fn(
                        |k, _| if n >> k & 1 == 1 { 0.01 } else { -0.01 },
                    ))
                })
                .collect();
            let hull = ConvexHull::new(&corners).unwrap();
            Shape::convex(&hull, 0.005, &Isometry3::identity()).unwrap()
        }
        _ => Shape::cuboid(half.into(), 0.5 * Vector3::from(half).min()),
    };
    NewBody { shape: Arc::new(shape), velocity, ..cuboid(half, mass, pose, surface) }
}

/// A plate in the plane z = 0 and a bullet from above towards a point near its middle.
fn shot(
    kind: &str,
    (thickness, speed): (f64, f64),
    free: bool,
    source: &mut TestRng,
) -> (World, [BodyId; 2]) {
    let mut world = weightless(Settings::default());
    let half = [0.5, 0.5, 0.5 * thickness];
    let surface = material(0.0, 0.3);
    let plate = cuboid(half, 5000.0 * thickness, Isometry3::identity(), surface);
    let body = if free { plate.body } else { Body::Static };
    let plate = world.add(NewBody { body, ..plate }).unwrap();
    let slope = 1.2 * random(source);
    let around = std::f64::consts::TAU * random(source);
    let way = Vector3::new(slope * around.cos(), slope * around.sin(), -1.0).normalize();
    let aim = Vector3::new(0.2 * random(source) - 0.1, 0.2 * random(source) - 0.1, 0.0);
    let from = aim - way * (0.12 + 0.5 * thickness + 0.5 * random(source)) / -way.z;
    let turn = UnitQuaternion::from_scaled_axis(direction(source) * 3.0 * random(source));
    let pose = Isometry3::from_parts(from.into(), turn);
    let velocity =
        Velocity { linear: way * speed, angular: direction(source) * 60.0 * random(source) };
    let bullet = world.add(bullet(kind, pose, velocity)).unwrap();
    (world, [plate, bullet])
}

#[test]
fn no_bullet_passes_a_plate() {
    let mut source = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let (mut shots, mut through) = (0, Vec::new());
    for speed in [10.0, 30.0, 100.0, 300.0, 1000.0] {
        for thickness in [0.006, 0.01, 0.03, 0.3] {
            for free in [false, true] {
                for kind in BULLETS {
                    for n in 0..3 {
                        let (mut world, [plate, bullet]) =
                            shot(kind, (thickness, speed), free, &mut source);
                        shots += 1;
                        for _ in 0..8 {
                            world.step();
                            let to_plate = world.get(plate).unwrap().pose.inverse();
                            let p = to_plate * world.get(bullet).unwrap().pose;
                            let p = p.translation.vector;
                            if p.x.abs().max(p.y.abs()) > 0.4 {
                                break;
                            }
                            if p.z < 0.0 {
                                through.push((kind, speed, thickness, free, n));
                                break;
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(through.is_empty(), "{} of {shots}: {through:?}", through.len());
}

#[test]
fn no_two_bodies_pass_each_other_head_on() {
    let mut source = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut through = Vec::new();
    for speed in [10.0, 100.0, 1000.0] {
        for kind in BULLETS {
            for n in 0..4 {
                let mut world = weightless(Settings::default());
                let turn = |source: &mut TestRng| {
                    UnitQuaternion::from_scaled_axis(direction(source) * 3.0)
                };
                let aside =
                    Vector3::new(0.0, 2e-3 * random(&mut source), 2e-3 * random(&mut source));
                let apart = 0.3 + 2.0 * random(&mut source);
                let [a, b] = [-1.0, 1.0].map(|side| {
                    let place = Vector3::x() * (0.5 * apart * side) + aside * side * 0.5;
                    let pose = Isometry3::from_parts(place.into(), turn(&mut source));
                    let velocity = moving(-0.5 * side * speed, 0.0, 0.0);
                    world.add(bullet(kind, pose, velocity)).unwrap()
                });
                for _ in 0..20 {
                    world.step();
                    let between = place(&world, b).x - place(&world, a).x;
                    let close = (place(&world, b) - place(&world, a)).yz().norm();
                    if between < 0.0 && close < 5e-3 {
                        through.push((kind, speed, n));
                        break;
                    }
                }
            }
        }
    }
    assert!(through.is_empty(), "{through:?}");
}

/// The speed of a wave through 40 dominoes 1 m high and 0.5 m apart, m/s.
fn wave(fps: f64) -> f64 {
    const COUNT: usize = 40;
    let settings = sim::Settings { sleep: false, dt: 1.0 / fps, ..sim::Settings::default() };
    let mut world = World::new(settings);
    floor(&mut world, 0.0, material(0.0, 0.6));
    let surface = material(0.0, 0.3);
    let domino = |n: usize| cuboid([0.05, 0.5, 0.25], 5.0, at(0.5 * n as f64, 0.5, 0.0), surface);
    let ids: Vec<BodyId> = (0..COUNT).map(|n| world.add(domino(n)).unwrap()).collect();
    let finger = cuboid([0.1; 3], 5.0, at(-0.35, 0.85, 0.0), surface);
    world.add(NewBody { velocity: moving(3.0, 1.0, 0.0), ..finger }).unwrap();
    let leans =
        |world: &World, n: usize| (world.get(ids[n]).unwrap().pose.rotation * Vector3::y()).x > 0.1;
    let mut times = [0.0; 2];
    for frame in 1..(20.0 * fps) as usize {
        world.step();
        for (time, n) in times.iter_mut().zip([COUNT / 2 - 1, COUNT - 1]) {
            if *time == 0.0 && leans(&world, n) {
                *time = frame as f64 / fps;
            }
        }
    }
    0.25 * COUNT as f64 / (times[1] - times[0])
}

#[test]
fn a_wave_of_dominoes_is_as_fast_at_frame_rate_as_in_small_steps() {
    let [coarse, fine] = [30.0, 480.0].map(wave);
    assert!((coarse / fine - 1.0).abs() < 0.08, "{coarse} {fine}");
}
