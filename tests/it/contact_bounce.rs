//! Restitution of pairs with several contacts, and conserved quantities of an isolated world.

use contact::{Material, Settings, Solver};
use dynamics::Velocity;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use sim::{BodyId, NewBody, World};

use crate::contact_scenes::{
    GRAVITY, at, ball, both, cuboid, first_apex, floor, largest_gain, material, moving, place,
    steps_without_gain, unbound, weightless, world,
};

/// A box with edges of 0.5 m that falls flat from `height` m; `dt` is the time step, s.
fn drop(contact: Settings, dt: f64, height: f64) -> (World, BodyId) {
    let settings = sim::Settings { contact, dt, sleep: false, ..sim::Settings::default() };
    let mut world = World::new(settings);
    floor(&mut world, 0.0, material(0.6, 0.5));
    let id = world
        .add(cuboid([0.25; 3], 10.0, at(0.0, 0.25 + height, 0.0), material(0.6, 0.5)))
        .unwrap();
    (world, id)
}

#[test]
fn a_box_that_lands_flat_bounces_as_its_restitution_says() {
    for height in [0.5, 0.8, 1.0, 1.3, 2.0] {
        let (mut world, id) = drop(Settings::default(), 1.0 / 30.0, height);
        let speed = |world: &World| world.get(id).unwrap().momentum.linear.y / 10.0;
        for _ in 0..60 {
            if speed(&world) <= 0.0 {
                steps_without_gain(&mut world, 1);
            }
        }
        let apex = place(&world, id).y - 0.25 + speed(&world).powi(2) / (2.0 * GRAVITY);
        assert!((apex / (0.36 * height) - 1.0).abs() <= 1e-6, "{apex} from {height}");
        let spin = world.get(id).unwrap().momentum.angular.norm();
        assert!(spin <= 1e-6, "{spin}");
    }
}

#[test]
fn a_box_dropped_flat_bounces_to_the_square_of_its_restitution_in_short_frames() {
    let (mut world, id) = drop(Settings::default(), 1.0 / 480.0, 1.0);
    let mut apex = 0.0f64;
    let mut rises = false;
    for _ in 0..400 {
        steps_without_gain(&mut world, 1);
        rises |= world.get(id).unwrap().momentum.linear.y > 0.0;
        if rises {
            apex = apex.max(place(&world, id).y - 0.25);
        }
    }
    assert!((apex / 0.36 - 1.0).abs() <= 0.03, "{apex}");
}

/// Without restitution a body is at rest at the end of the frame of its impact, at any time of impact. Speed that
/// gravity adds after the impact would cause another impact in the next frame.
#[test]
fn a_box_without_restitution_rests_at_the_end_of_the_frame_of_its_impact() {
    for n in 0..60 {
        let mut world = world(Settings::default());
        floor(&mut world, 0.0, material(0.0, 0.5));
        let height = 0.2 + 0.011 * f64::from(n);
        let falling = cuboid([0.1; 3], 8.0, at(0.0, 0.1 + height, 0.0), material(0.0, 0.5));
        let id = world.add(falling).unwrap();
        let frames = ((2.0 * height / GRAVITY).sqrt() * 30.0).ceil() as usize;
        steps_without_gain(&mut world, frames);
        let speed = world.get(id).unwrap().momentum.linear.norm() / 8.0;
        assert!(speed < 1e-6, "{speed} m/s after a fall of {height} m");
        assert!((place(&world, id).y - 0.1).abs() < 1e-3, "{}", place(&world, id));
    }
}

/// A box at rest that light balls strike twice in a frame stays at rest. In free fall between the impacts, it would
/// bounce off the floor at the second one.
#[test]
fn a_resting_box_struck_twice_in_a_frame_keeps_its_support() {
    let mut world = world(Settings::default());
    floor(&mut world, 0.0, material(0.5, 0.5));
    let id = world.add(cuboid([0.2; 3], 100.0, at(0.0, 0.2, 0.0), material(0.5, 0.5))).unwrap();
    steps_without_gain(&mut world, 3);
    for (x, time) in [(-0.05, 0.003), (0.05, 0.030)] {
        let pose = at(x, 0.4 + 0.02 + 3.0 * time, 0.0);
        let striker = ball(0.02, 0.01, pose, material(0.5, 0.5));
        world.add(NewBody { velocity: moving(0.0, -3.0, 0.0), ..striker }).unwrap();
    }
    for _ in 0..3 {
        steps_without_gain(&mut world, 1);
        let speed = world.get(id).unwrap().momentum.linear.norm() / 100.0;
        assert!(speed < 1e-3, "{speed} m/s");
        assert!((place(&world, id).y - 0.2).abs() < 5e-4, "{}", place(&world, id).y);
    }
}

/// Each ball leaves with its own restitution, independent of earlier impacts of the plate in the same
/// frame.
#[test]
fn two_hundred_balls_bounce_off_a_free_plate_in_one_frame() {
    let mut world = weightless(Settings::default());
    let surface = material(0.8, 0.0);
    let plate = world.add(cuboid([2.0, 0.1, 1.0], 1e6, at(0.0, 0.0, 0.0), surface)).unwrap();
    let start = |n: u32| {
        let (column, row) = (f64::from(n % 20), f64::from(n / 20));
        // the balls land one after another
        at(0.18 * (column - 9.5), 0.1 + 0.04 + 2e-3 * f64::from(n), 0.18 * (row - 4.5))
    };
    let drop =
        |n| NewBody { velocity: moving(0.0, -20.0, 0.0), ..ball(0.03, 1e-3, start(n), surface) };
    let balls: Vec<BodyId> = (0..200).map(|n| world.add(drop(n)).unwrap()).collect();
    let report = world.step();
    assert_eq!(report.counters.limited_collisions, 0);
    for id in balls {
        let speed = world.get(id).unwrap().momentum.linear.y / 1e-3;
        assert!((speed / 16.0 - 1.0).abs() < 1e-5, "{speed} m/s");
    }
    assert!(world.get(plate).unwrap().momentum.linear.y < -200.0 * 1e-3 * 35.9);
}

/// The reference solver applies impulses corner by corner, and the box rotates in between, which
/// lowers the rebound.
#[test]
fn with_the_reference_solver_a_flat_box_bounces_no_higher_than_it_may() {
    let (mut world, id) = drop(Settings::reference(), 1.0 / 30.0, 1.0);
    let apex = first_apex(&mut world, id) - 0.25;
    assert!(apex > 0.15 && apex <= 0.36 + 0.64 * (2.0 * GRAVITY).sqrt() / 30.0, "{apex}");
}

/// A box above a floor that falls on an edge, a corner or nearly flat, and turns.
fn tumbling(world: &mut World, restitution: f64, turn: Vector3<f64>) -> BodyId {
    floor(world, 0.0, material(restitution, 0.5));
    let pose = at(0.0, 1.5, 0.0) * Isometry3::rotation(turn);
    let mut falling = cuboid([0.3, 0.2, 0.25], 10.0, pose, material(restitution, 0.5));
    falling.velocity =
        Velocity { linear: Vector3::new(1.0, -2.0, 0.0), angular: Vector3::new(0.0, 1.0, 3.0) };
    world.add(falling).unwrap()
}

/// Restitutions and orientations.
fn landings() -> impl Iterator<Item = (f64, Vector3<f64>)> {
    let turns = [
        Vector3::new(std::f64::consts::FRAC_PI_4, 0.0, 0.0),
        Vector3::new(std::f64::consts::FRAC_PI_4, 0.0, 0.615),
        Vector3::new(0.02, 0.0, 0.01),
        Vector3::new(0.3, 1.0, -0.7),
        Vector3::new(1.2, 0.0, 0.0),
    ];
    [0.0, 0.6, 1.0].into_iter().flat_map(move |e| turns.map(|turn| (e, turn)))
}

#[test]
fn boxes_that_land_on_edges_and_corners_gain_no_energy() {
    for contact in both() {
        for (restitution, turn) in landings() {
            let mut world = world(contact);
            let id = tumbling(&mut world, restitution, turn);
            steps_without_gain(&mut world, 60);
            assert!(place(&world, id).y > 0.15, "{restitution} {turn:?}");
        }
    }
}

/// The energy bound makes only small corrections.
#[test]
fn boxes_that_land_on_edges_and_corners_gain_little_without_the_bound_on_energy() {
    for contact in both() {
        for (restitution, turn) in landings() {
            let mut world = unbound(contact);
            tumbling(&mut world, restitution, turn);
            let gain = largest_gain(&mut world, 60);
            assert!(gain <= 1e-2, "{restitution} {turn:?}: {gain:e}");
        }
    }
}

/// Four boxes that collide in empty space and stay in frictional contact for two seconds.
fn cluster(contact: Settings) -> World {
    let mut world = weightless(contact);
    let rough = material(0.0, 0.6);
    let places = [[-0.6, 0.0, 0.0], [0.6, 0.1, 0.0], [0.0, 0.62, 0.05], [0.1, -0.65, 0.1]];
    for (n, [x, y, z]) in places.into_iter().enumerate() {
        let turn = Isometry3::rotation(Vector3::new(0.0, 0.2 * n as f64, 0.1));
        let mut part = cuboid([0.3, 0.25, 0.3], 2.0 + n as f64, at(x, y, z) * turn, rough);
        part.velocity = Velocity {
            linear: Vector3::new(-1.5 * x - 0.4 * y + 3.0, -1.5 * y + 0.4 * x, 0.1),
            angular: Vector3::new(0.1, -0.1 * n as f64, 0.4),
        };
        world.add(part).unwrap();
    }
    world
}

#[test]
fn bodies_that_touch_only_each_other_keep_momentum_and_angular_momentum() {
    for contact in both() {
        let mut world = cluster(contact);
        let before = world.momentum();
        let (mut touched, mut last) = (0, before.linear);
        for frame in 0..60 {
            let energy = world.kinetic_energy();
            let report = world.step();
            let own = world.iter().next().unwrap().momentum.linear;
            touched += usize::from(own != last);
            last = own;
            assert!(report.energy.gain <= 1e-12 * energy, "{frame}: {}", report.energy.gain);
            let now = world.momentum();
            let linear = (now.linear - before.linear).norm() / before.linear.norm();
            let angular = (now.angular - before.angular).norm() / before.angular.norm();
            assert!(linear <= 1e-10, "frame {frame}: {linear}");
            assert!(angular <= 1e-10, "frame {frame}: {angular}");
        }
        assert!(touched > 3, "{:?}: {touched}", contact.solver);
    }
}

/// With gravity, the total angular momentum about the center of mass is conserved.
#[test]
fn bodies_that_fall_together_keep_their_angular_momentum() {
    for contact in both() {
        let mut world = world(contact);
        for body in cluster(contact).iter() {
            let velocity = body.body.velocity(&body.pose.rotation, body.momentum);
            let new = cuboid([0.3, 0.25, 0.3], 3.0, *body.pose, material(0.0, 0.6));
            world.add(sim::NewBody { velocity, ..new }).unwrap();
        }
        let about_center = |world: &World| {
            let center =
                world.iter().map(|s| s.pose.translation.vector).sum::<Vector3<f64>>() / 4.0;
            let momentum = world.momentum();
            momentum.angular - center.cross(&momentum.linear)
        };
        let before = about_center(&world);
        steps_without_gain(&mut world, 30);
        let lost = (about_center(&world) - before).norm() / before.norm();
        assert!(lost <= 1e-10, "{lost}");
    }
}

/// New pieces touch, and the push-out must not accelerate them.
#[test]
fn bodies_that_overlap_at_the_start_are_pushed_apart_without_energy() {
    for contact in both() {
        let mut world = world(contact);
        floor(&mut world, 0.0, Material::default());
        let mut ids = Vec::new();
        for n in 0..4 {
            let turn = UnitQuaternion::from_euler_angles(0.1 * f64::from(n), 0.3, 0.0);
            let pose = at(0.05 * f64::from(n), 0.2 + 0.35 * f64::from(n), 0.0);
            ids.push(world.add(cuboid([0.25; 3], 10.0, pose * turn, Material::default())).unwrap());
        }
        let top = place(&world, ids[3]).y;
        for _ in 0..90 {
            steps_without_gain(&mut world, 1);
            let fastest = ids
                .iter()
                .map(|&id| world.get(id).unwrap().momentum.linear.norm() / 10.0)
                .fold(0.0, f64::max);
            assert!(fastest <= 3.0, "{fastest}");
        }
        let manifold = contact.solver == Solver::Manifold;
        assert!(place(&world, ids[3]).y <= top + 0.2 || !manifold, "a box is thrown up");
        for (n, &id) in ids.iter().enumerate() {
            // rising out of the ground would need energy
            let height = place(&world, id).y;
            assert!(height > 0.2 - 1e-4, "{n} sinks to {height}");
        }
    }
}

/// Friction of an impact opposes the slip after the impact. If it opposed the slip before the impact, round-off would
/// determine its direction.
#[test]
fn an_impact_depends_continuously_on_the_slip() {
    let states = [-1e-9, 1e-9].map(|slip| {
        let mut world = weightless(Settings::default());
        floor(&mut world, 0.0, material(0.3, 0.4));
        let turn = Isometry3::rotation(Vector3::z() * 0.6);
        let rod = cuboid([0.05, 0.5, 0.05], 2.0, at(0.0, 0.7, 0.0) * turn, material(0.3, 0.4));
        let id = world.add(NewBody { velocity: moving(slip, -4.0, 0.0), ..rod }).unwrap();
        steps_without_gain(&mut world, 3);
        let state = world.get(id).unwrap();
        assert!(state.momentum.angular.norm() > 0.1, "no impact");
        [state.momentum.linear, state.momentum.angular]
    });
    let apart: f64 = (0..2).map(|k| (states[0][k] - states[1][k]).norm()).sum();
    assert!(apart < 1e-6, "{apart}: {states:?}");
}
