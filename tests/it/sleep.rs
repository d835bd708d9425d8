//! Sleeping bodies.

use std::sync::Arc;

use contact::Shape;
use dynamics::{Body, MassProperties, Velocity};
use levelset::{Aabb, Grid, LevelSet, Solid};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use sim::{BodyId, NewBody, Settings, SteeringError, World, rigid};

fn floor(world: &mut World) -> BodyId {
    world.add(NewBody::fixed(Shape::half_space())).unwrap()
}

fn cube(body: Option<Body>, half: [f64; 3], at: [f64; 3]) -> NewBody {
    let place = Isometry3::translation(at[0], at[1], at[2]);
    let made = NewBody::cuboid(half.into(), 1000.0).unwrap().at(&place);
    NewBody { body: body.unwrap_or(made.body), ..made }
}

fn stack(world: &mut World, boxes: usize) -> Vec<BodyId> {
    let at = |i: usize| [0.0, 0.25 + 0.5 * i as f64, 0.0];
    (0..boxes).map(|i| world.add(cube(None, [0.25; 3], at(i))).unwrap()).collect()
}

fn steps(world: &mut World, frames: usize) {
    for _ in 0..frames {
        let report = world.step();
        let size = report.energy.kinetic + report.energy.potential.abs();
        assert!(report.energy.gain <= 1e-10 * size, "{report:?}");
    }
}

fn asleep(world: &World, ids: &[BodyId]) -> usize {
    ids.iter().filter(|&&id| world.get(id).unwrap().asleep).count()
}

fn place(world: &World, id: BodyId) -> Vector3<f64> {
    world.get(id).unwrap().pose.translation.vector
}

/// Sampled boxes, dropped in a heap.
fn heap(sleep: bool) -> (World, Vec<BodyId>) {
    thrown_heap(sleep, Velocity::default())
}

/// Sampled boxes, thrown into a heap.
fn thrown_heap(sleep: bool, velocity: Velocity) -> (World, Vec<BodyId>) {
    let mut world = World::new(Settings { sleep, ..Settings::default() });
    floor(&mut world);
    let half = Vector3::new(0.1, 0.08, 0.12);
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    let grid = Grid::enclosing(&bounds, 0.02, 2, Grid::MAX_NODES).unwrap();
    let solid = Solid::Box { half_extents: half };
    let level_set = LevelSet::from_fn(grid, |p| solid.distance(&p));
    let (mass, frame) = rigid(&level_set.moments(), 1000.0).unwrap();
    let shape = Arc::new(Shape::grid(level_set.clone(), &level_set.surface_particles(0.03), frame));
    let ids = (0..27)
        .map(|i| {
            let cell = [i % 3, i / 9, i / 3 % 3].map(|n| 0.3 * n as f64);
            let turn = Vector3::new(0.3, i as f64, 0.7);
            world
                .add(NewBody {
                    pose: Isometry3::new(Vector3::from(cell) + Vector3::y() * 0.3, turn) * frame,
                    velocity,
                    ..NewBody::of(Body::Dynamic(mass), Arc::clone(&shape))
                })
                .unwrap()
        })
        .collect();
    (world, ids)
}

#[test]
fn a_heap_falls_asleep_and_then_does_not_move() {
    let (mut world, ids) = heap(true);
    steps(&mut world, 240);
    assert_eq!(asleep(&world, &ids), ids.len());
    let before: Vec<_> = ids.iter().map(|&id| *world.get(id).unwrap().pose).collect();
    let report = world.step();
    assert_eq!((report.counters.awake, report.counters.pairs, report.energy.kinetic), (0, 0, 0.0));
    steps(&mut world, 30);
    let after: Vec<_> = ids.iter().map(|&id| *world.get(id).unwrap().pose).collect();
    assert_eq!(before, after);
}

/// The largest depth of a surface point of a body in another, m.
fn deepest(world: &World, ids: &[BodyId]) -> f64 {
    let states: Vec<_> = ids.iter().map(|&id| world.get(id).unwrap()).collect();
    let mut deepest: f64 = 0.0;
    for (i, a) in states.iter().enumerate() {
        for (j, b) in states.iter().enumerate() {
            let apart = a.pose.translation.vector - b.pose.translation.vector;
            if i == j || apart.norm() > a.shape.radius() + b.shape.radius() {
                continue;
            }
            let there = b.pose.inv_mul(a.pose);
            let depths = a.shape.points().iter().map(|p| -b.shape.field().distance(&(there * p)));
            deepest = depths.fold(deepest, f64::max);
        }
    }
    deepest
}

#[test]
fn boxes_that_fall_their_own_size_a_frame_do_not_end_up_in_each_other() {
    let velocity = Velocity { linear: Vector3::y() * -6.0, angular: Vector3::z() * 10.0 };
    let (mut world, ids) = thrown_heap(true, velocity);
    for _ in 0..60 {
        steps(&mut world, 1);
        // half of the distance to the middle of a box
        assert!(deepest(&world, &ids) < 0.04, "{}", deepest(&world, &ids));
    }
}

#[test]
fn no_body_falls_asleep_with_sleep_off() {
    let (mut world, ids) = heap(false);
    steps(&mut world, 120);
    assert_eq!(asleep(&world, &ids), 0);
    assert_eq!(world.step().counters.awake, ids.len());
}

/// The state of a stack with or without sleep, six frames after a fast ball struck its middle.
fn hit_stack(sleep: bool, frames: usize) -> Vec<Vector3<f64>> {
    let mut world = World::new(Settings { sleep, ..Settings::default() });
    floor(&mut world);
    let ids = stack(&mut world, 5);
    steps(&mut world, frames);
    assert_eq!(asleep(&world, &ids), if sleep { 5 } else { 0 });
    let mut ball = cube(None, [0.2; 3], [-0.6, 1.3, 0.0]);
    ball.shape = Arc::new(Shape::ball(0.2));
    ball.velocity.linear = Vector3::new(12.0, 1.0, 0.0);
    world.add(ball).unwrap();
    steps(&mut world, 1);
    assert_eq!(asleep(&world, &ids), 0, "they woke in the frame of the blow");
    steps(&mut world, 5);
    ids.iter().map(|&id| place(&world, id)).collect()
}

/// The effect of an impact is sensitive to round-off. Two runs without sleep, with impacts at two
/// times, measure this sensitivity.
#[test]
fn a_sleeping_stack_that_is_hit_moves_as_if_it_had_never_slept() {
    let (slept, woke, later) = (hit_stack(true, 60), hit_stack(false, 60), hit_stack(false, 75));
    let off =
        |p: &[Vector3<f64>]| p.iter().zip(&woke).map(|(p, q)| (p - q).norm()).fold(0.0, f64::max);
    let moved = slept.iter().map(|p| p.x.abs()).fold(0.0, f64::max);
    assert!(moved > 0.2, "{slept:?}");
    let (slept, later) = (off(&slept), off(&later));
    assert!(slept <= 0.02 * moved + 2.0 * later, "{slept} {later} of {moved}");
}

#[test]
fn what_loses_its_support_falls_in_the_same_frame() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    let ids = stack(&mut world, 4);
    steps(&mut world, 60);
    assert_eq!(asleep(&world, &ids), 4);
    let before = place(&world, ids[3]).y;
    assert!(world.remove(ids[1]));
    world.step();
    assert_eq!(asleep(&world, &[ids[2], ids[3]]), 0);
    assert!(place(&world, ids[3]).y < before - 1e-3);
    // the bodies below only lost a load
    steps(&mut world, 90);
    assert!((place(&world, ids[3]).y - 1.25).abs() <= 0.01, "{}", place(&world, ids[3]));
    assert_eq!(asleep(&world, &[ids[0], ids[2], ids[3]]), 3);
}

/// A plank on a narrow block with a weight at each end tips after the removal of one.
#[test]
fn a_balance_wakes_when_a_weight_is_taken_away() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    world.add(cube(Some(Body::Static), [0.02, 0.2, 0.5], [0.0, 0.2, 0.0])).unwrap();
    let plank = world.add(cube(None, [1.0, 0.05, 0.3], [0.0, 0.45, 0.0])).unwrap();
    let weights = [-0.8, 0.8].map(|x| world.add(cube(None, [0.15; 3], [x, 0.65, 0.0])).unwrap());
    steps(&mut world, 60);
    assert_eq!(asleep(&world, &[plank, weights[0], weights[1]]), 3);
    world.remove(weights[0]);
    steps(&mut world, 30);
    assert!(place(&world, weights[1]).y < 0.5, "{}", place(&world, weights[1]));
}

#[test]
fn a_body_on_a_slow_lift_stays_awake_and_one_beside_it_sleeps() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    let rising = Velocity { linear: Vector3::y() * 0.01, ..Velocity::default() };
    world.add(cube(Some(Body::Kinematic(rising)), [0.5, 0.1, 0.5], [0.0, 0.1, 0.0])).unwrap();
    let lifted = world.add(cube(None, [0.2; 3], [0.0, 0.4, 0.0])).unwrap();
    let beside = world.add(cube(None, [0.2; 3], [3.0, 0.2, 0.0])).unwrap();
    steps_lifted(&mut world, 90);
    assert_eq!((asleep(&world, &[lifted]), asleep(&world, &[beside])), (0, 1));
    assert!((place(&world, lifted).y - 0.43).abs() <= 1e-3, "{}", place(&world, lifted));
}

fn steps_lifted(world: &mut World, frames: usize) {
    (0..frames).for_each(|_| {
        world.step();
    });
}

#[test]
fn a_sweeper_wakes_what_it_comes_to() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    let id = world.add(cube(None, [0.2; 3], [0.0, 0.2, 0.0])).unwrap();
    steps(&mut world, 60);
    assert_eq!(asleep(&world, &[id]), 1);
    let sweeping = Velocity { linear: Vector3::x(), ..Velocity::default() };
    world.add(cube(Some(Body::Kinematic(sweeping)), [0.1, 0.3, 0.5], [-1.5, 0.35, 0.0])).unwrap();
    steps_lifted(&mut world, 60);
    assert!(place(&world, id).x > 0.5, "{}", place(&world, id));
}

#[test]
fn a_heavy_body_put_down_gently_wakes_what_it_tips() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    world.add(cube(Some(Body::Static), [0.1, 0.2, 0.5], [0.0, 0.2, 0.0])).unwrap();
    let plank = world.add(cube(None, [1.0, 0.05, 0.3], [0.0, 0.45, 0.0])).unwrap();
    steps(&mut world, 60);
    assert_eq!(asleep(&world, &[plank]), 1);
    world.add(cube(None, [0.2; 3], [0.7, 0.7001, 0.0])).unwrap();
    steps(&mut world, 45);
    assert!(world.get(plank).unwrap().pose.rotation.angle() > 0.1);
}

fn bits(threads: usize) -> Vec<u64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let (mut world, ids) = heap(true);
        steps(&mut world, 150);
        let mut ball = cube(None, [0.1; 3], [0.3, 3.0, 0.3]);
        ball.velocity.linear.y = -5.0;
        world.add(ball).unwrap();
        steps(&mut world, 30);
        let numbers = |&id: &BodyId| {
            let pose = world.get(id).unwrap().pose;
            let place = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
            place.map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        ids.iter().flat_map(numbers).collect()
    })
}

#[test]
fn sleep_gives_the_same_bits_for_any_number_of_threads() {
    let one = bits(1);
    assert_eq!(one, bits(2));
    assert_eq!(one, bits(3));
}

#[test]
fn a_wave_runs_through_sleeping_dominoes_as_fast_as_through_waking_ones() {
    let last_falls = |sleep: bool| {
        let mut world = World::new(Settings { sleep, ..Settings::default() });
        floor(&mut world);
        let ids: Vec<BodyId> = (0..6)
            .map(|n| {
                world.add(cube(None, [0.05, 0.5, 0.25], [0.5 * f64::from(n), 0.5, 0.0])).unwrap()
            })
            .collect();
        steps(&mut world, 30);
        assert_eq!(asleep(&world, &ids), if sleep { 6 } else { 0 });
        let finger = cube(None, [0.1; 3], [-0.35, 0.9, 0.0]);
        let velocity = Velocity { linear: Vector3::new(3.0, 1.0, 0.0), ..Velocity::default() };
        world.add(NewBody { velocity, ..finger }).unwrap();
        let up = |world: &World| {
            let last = world.get(ids[5]).expect("a domino").pose;
            (last.rotation * Vector3::y()).y
        };
        (0..200_usize).find(|_| {
            world.step();
            up(&world) < 0.8
        })
    };
    let (waking, sleeping) = (last_falls(false).expect("it falls"), last_falls(true));
    let late = sleeping.expect("it falls").abs_diff(waking);
    assert!(late <= 4, "{late} of {waking} frames");
}

/// A block of this mass, kg.
fn heavy(mass: f64, half: [f64; 3], at: [f64; 3]) -> NewBody {
    let own = MassProperties::cuboid(mass, &half.into()).unwrap();
    cube(Some(Body::Dynamic(own)), half, at)
}

/// The rotation of a plank of 10 kg on an edge at x = 0, rad, 8 s after `load` was added, and
/// whether it sleeps then. `weight` lay on the plank before, and all slept if allowed.
fn plank_under(sleep: bool, plank: f64, weight: Option<NewBody>, load: NewBody) -> (f64, bool) {
    let mut world = World::new(Settings { sleep, ..Settings::default() });
    floor(&mut world);
    world.add(cube(Some(Body::Static), [0.5, 0.2, 0.5], [-0.5, 0.2, 0.0])).unwrap();
    let plank = world.add(heavy(10.0, [0.5, 0.03, 0.2], [plank, 0.43, 0.0])).unwrap();
    let weight = weight.map(|weight| world.add(weight).unwrap());
    steps(&mut world, 90);
    let ids: Vec<BodyId> = weight.into_iter().chain([plank]).collect();
    assert_eq!(asleep(&world, &ids), if sleep { ids.len() } else { 0 });
    world.add(load).unwrap();
    for _ in 0..240 {
        world.step();
    }
    let plank = world.get(plank).unwrap();
    (plank.pose.rotation.angle(), plank.asleep)
}

fn plank_turns_by(plank: f64, weight: Option<NewBody>, load: NewBody) -> f64 {
    plank_under(true, plank, weight, load).0
}

#[test]
fn a_load_on_its_end_tips_a_sleeping_plank() {
    // at its end the plank bears at most 4.5 % of its weight without tipping
    for share in [0.08, 0.12, 0.15, 0.18, 0.25] {
        let load = heavy(10.0 * share, [0.03; 3], [0.44, 0.49, 0.0]);
        for sleep in [false, true] {
            let (angle, _) = plank_under(sleep, -0.02, None, load.clone());
            assert!(angle > 0.5, "{share}: {angle}, sleep {sleep}");
        }
    }
}

#[test]
fn a_load_that_a_plank_bears_does_not_wake_it() {
    for (share, place) in [(0.03, 0.44), (0.5, -0.2), (3.0, -0.4)] {
        let load = heavy(10.0 * share, [0.03; 3], [place, 0.49 + 1e-4, 0.0]);
        let (angle, asleep) = plank_under(true, -0.02, None, load);
        assert!(angle < 1e-3 && asleep, "{share}: {angle}");
    }
}

/// The frame in which a sleeping plank on a narrow block has tipped under a slowly rolling ball.
fn tips_under_ball(sleep: bool) -> Option<usize> {
    let mut world = World::new(Settings { sleep, ..Settings::default() });
    floor(&mut world);
    world.add(cube(Some(Body::Static), [0.1, 0.2, 0.5], [0.0, 0.2, 0.0])).unwrap();
    let plank = world.add(heavy(20.0, [1.0, 0.05, 0.3], [0.0, 0.45, 0.0])).unwrap();
    steps(&mut world, 60);
    assert_eq!(asleep(&world, &[plank]), usize::from(sleep));
    let (radius, speed) = (0.1, 0.3);
    let mass = MassProperties::ball(5.0, radius).unwrap();
    let mut ball = cube(Some(Body::Dynamic(mass)), [radius; 3], [0.0, 0.5 + radius, 0.0]);
    ball.shape = Arc::new(Shape::ball(radius));
    ball.velocity =
        Velocity { linear: Vector3::x() * speed, angular: Vector3::z() * (-speed / radius) };
    world.add(ball).unwrap();
    (0..200).find(|_| {
        world.step();
        world.get(plank).unwrap().pose.rotation.angle() > 0.05
    })
}

#[test]
fn a_ball_that_rolls_along_a_sleeping_plank_tips_it_past_its_support() {
    let awake = tips_under_ball(false).expect("it tips");
    let slept = tips_under_ball(true).expect("it tips though it slept");
    // the delay by the threshold of a twentieth of gravity and the averaging of loads
    assert!(slept.abs_diff(awake) <= 20, "{slept} not {awake}");
}

/// The frame in which a tower of `blocks` has fallen that leans by `past` rad beyond the limit of
/// stability.
fn tower_falls(sleep: bool, blocks: usize, past: f64) -> Option<usize> {
    let mut world = World::new(Settings { sleep, ..Settings::default() });
    floor(&mut world);
    let (width, height) = (0.1, 1.0);
    let lean = f64::atan2(width, height) + past;
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -lean);
    let half = height / blocks as f64;
    let ids: Vec<BodyId> = (0..blocks)
        .map(|n| {
            let up = (2 * n + 1) as f64 * half;
            let place = turn * Vector3::new(-width, up, 0.0);
            let block = heavy(10.0, [width, half, width], [0.0; 3]);
            world.add(NewBody { pose: Isometry3::from_parts(place.into(), turn), ..block }).unwrap()
        })
        .collect();
    let start = place(&world, ids[blocks - 1]).y;
    (0..300).find(|_| {
        world.step();
        place(&world, ids[blocks - 1]).y < 0.8 * start
    })
}

/// Checks that a tower with sleep falls within 3 frames of one without sleep.
fn falls_alike(blocks: usize, past: f64) {
    let awake = tower_falls(false, blocks, past).expect("it falls");
    let may_sleep = tower_falls(true, blocks, past);
    let late = may_sleep.map(|frame| frame.abs_diff(awake));
    assert!(late.is_some_and(|late| late <= 3), "{blocks} {past}: {may_sleep:?} not {awake}");
}

#[test]
fn a_block_that_is_about_to_fall_does_not_fall_asleep() {
    for past in [0.001, 0.002, 0.005, 0.01, 0.02, 0.05] {
        falls_alike(1, past);
    }
}

#[test]
fn a_load_on_its_end_tips_a_sleeping_plank_with_what_sleeps_on_it() {
    // more than half of the weight on the other end tips the plank
    for share in [0.65, 0.75, 0.9, 1.2] {
        let weight = heavy(20.0, [0.08; 3], [-0.3, 0.54, 0.0]);
        let load = heavy(20.0 * share, [0.06; 3], [0.5, 0.52, 0.0]);
        let angle = plank_turns_by(0.1, Some(weight), load);
        assert!(angle > 0.5, "{share}: {angle}");
    }
}

/// After free fall for t, a body is t^2 g / 2 lower.
#[test]
fn sleepers_wake_and_fall_when_gravity_turns() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    let ids = stack(&mut world, 3);
    steps(&mut world, 60);
    assert_eq!(asleep(&world, &ids), 3);
    let before = ids.iter().map(|&id| place(&world, id)).collect::<Vec<_>>();
    world.set_gravity(Vector3::new(0.0, -9.81, 0.0)).unwrap();
    assert_eq!(asleep(&world, &ids), 3, "equal gravity wakes no body");
    world.set_gravity(Vector3::new(0.0, 2.0, 0.0)).unwrap();
    assert_eq!(asleep(&world, &ids), 0);
    steps(&mut world, 30);
    for (&id, before) in ids.iter().zip(&before) {
        let rise = place(&world, id).y - before.y;
        assert!((rise - 1.0).abs() < 0.02, "{rise}");
    }
    let bad = world.set_gravity(Vector3::new(0.0, f64::NAN, 0.0));
    assert_eq!(bad, Err(SteeringError::NotFinite));
    assert_eq!(world.settings().gravity.y, 2.0);
}

#[test]
fn what_sleeps_on_a_kinematic_body_wakes_when_that_is_set_in_motion_and_when_it_stops() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    let lift = Body::Kinematic(Velocity::default());
    let lift = world.add(cube(Some(lift), [0.5, 0.1, 0.5], [0.0, 0.1, 0.0])).unwrap();
    let load = world.add(cube(None, [0.2; 3], [0.0, 0.4, 0.0])).unwrap();
    let far = world.add(cube(None, [0.2; 3], [5.0, 0.2, 0.0])).unwrap();
    (0..60).for_each(|_| drop(world.step()));
    assert_eq!(asleep(&world, &[load, far]), 2);
    let up = |speed: f64| Velocity { linear: Vector3::y() * speed, ..Velocity::default() };
    world.set_velocity(lift, up(1.0)).unwrap();
    assert_eq!((asleep(&world, &[load]), asleep(&world, &[far])), (0, 1));
    (0..30).for_each(|_| drop(world.step()));
    assert!((place(&world, lift).y - 1.1).abs() < 1e-9);
    assert!((place(&world, load).y - 1.4).abs() < 0.01, "{}", place(&world, load).y);
    world.set_velocity(lift, up(0.0)).unwrap();
    (0..90).for_each(|_| drop(world.step()));
    assert!((place(&world, load).y - 1.4).abs() < 0.01, "{}", place(&world, load).y);
    assert_eq!(asleep(&world, &[load]), 1);
    assert_eq!(world.set_velocity(lift, up(f64::NAN)), Err(SteeringError::NotFinite));
    world.remove(lift);
    assert_eq!(world.set_velocity(lift, up(1.0)), Err(SteeringError::Unknown(lift)));
}

#[test]
fn what_is_struck_in_its_last_still_frame_does_not_fall_asleep() {
    for frames in 10..22 {
        let settings = Settings { gravity: Vector3::zeros(), ..Settings::default() };
        let (speed, dt) = (1.0, settings.dt);
        let mut world = World::new(settings);
        let target = world.add(cube(None, [0.25; 3], [0.0; 3])).unwrap();
        // they touch at the end of a frame
        let gap = speed * dt * f64::from(frames);
        let mut striker = cube(None, [0.25; 3], [-0.5 - gap, 0.0, 0.0]);
        striker.velocity.linear.x = speed;
        world.add(striker).unwrap();
        let before = world.momentum().linear;
        for _ in 0..40 {
            world.step();
            let lost = (world.momentum().linear - before).norm() / before.norm();
            assert!(lost < 1e-12, "{lost} of a blow after {frames} frames");
        }
        let struck = world.get(target).unwrap().momentum.linear.x;
        assert!(struck > 0.1 * before.x, "{struck} kg m/s after {frames} frames");
    }
}

#[test]
fn what_is_wedged_under_a_sleeper_is_not_pressed_into_the_floor() {
    let mut world = World::new(Settings { sleep: true, ..Settings::default() });
    floor(&mut world);
    for x in [-0.5, 0.5] {
        world.add(cube(Some(Body::Static), [0.05, 0.1, 0.15], [x, 0.1, 0.0])).unwrap();
    }
    let plank = world.add(cube(None, [0.6, 0.01, 0.1], [0.0, 0.21, 0.0])).unwrap();
    steps(&mut world, 60);
    assert_eq!(asleep(&world, &[plank]), 1);
    // 5 mm too high, and not below the middle of the plank
    let half = Vector3::new(0.1, 0.1025, 0.1);
    let wedge = world.add(cube(None, half.into(), [0.2, 0.1025, 0.0])).unwrap();
    let corners = Aabb { min: Point3::from(-half), max: Point3::from(half) }.corners();
    for _ in 0..120 {
        steps(&mut world, 1);
        let pose = world.get(wedge).unwrap().pose;
        let low = corners.iter().map(|p| (pose * p).y).fold(f64::INFINITY, f64::min);
        assert!(low > -5e-4, "{low}");
    }
    assert_eq!(asleep(&world, &[plank, wedge]), 2, "they fall asleep together");
}
