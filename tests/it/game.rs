//! The interface for games: steering, contact events, user data and poses for display.

mod changes;
mod contacts;
mod queries;
mod query_shapes;
mod unusable;
mod waypoints;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use brisance_tests::properties;
use brisance_tests::strategies::{pose, vector, velocity};
use contact::Shape;
use dynamics::{Body, MassProperties, Momentum, Velocity};
use fracture::{ClosedMesh, Geometry};
use levelset::{Aabb, ConvexHull, Grid, LevelSet, Sign};
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, UnitVector3, Vector3};
use proptest::prelude::*;
use sim::scene::Scene;
use sim::{
    Action, BodyId, Debris, Events, Filter, Fracture, NewBody, Path, PathKey, Retire, RetireAction,
    Settings, SteeringError, Timeline, World, build,
};

use crate::sim::brick;

const DT: f64 = 1.0 / 30.0;

pub(crate) fn body(body: Body, shape: Shape, pose: Isometry3<f64>) -> NewBody {
    NewBody { pose, ..NewBody::of(body, shape) }
}

pub(crate) fn floor(world: &mut World) -> BodyId {
    world.add(body(Body::Static, Shape::half_space(), Isometry3::identity())).unwrap()
}

/// A cube of 1 kg.
pub(crate) fn cube(half: f64, at: [f64; 3]) -> NewBody {
    let half = Vector3::repeat(half);
    let mass = Body::Dynamic(MassProperties::cuboid(1.0, &half).unwrap());
    body(mass, Shape::cuboid(half, half.x), Isometry3::translation(at[0], at[1], at[2]))
}

/// A ball of 1 kg.
pub(crate) fn ball(radius: f64, at: [f64; 3]) -> NewBody {
    let mass = Body::Dynamic(MassProperties::ball(1.0, radius).unwrap());
    body(mass, Shape::ball(radius), Isometry3::translation(at[0], at[1], at[2]))
}

pub(crate) fn steps(world: &mut World, count: usize) {
    (0..count).for_each(|_| drop(world.step()));
}

fn place(world: &World, id: BodyId) -> Vector3<f64> {
    world.get(id).unwrap().pose.translation.vector
}

fn speed(world: &World, id: BodyId) -> Velocity {
    let state = world.get(id).unwrap();
    state.body.velocity(&state.pose.rotation, state.momentum)
}

pub(crate) fn asleep(world: &World, ids: &[BodyId]) -> usize {
    ids.iter().filter(|id| world.get(**id).unwrap().asleep).count()
}

/// A stack of cubes of 0.4 m on a plate.
fn stack(world: &mut World) -> (BodyId, Vec<BodyId>) {
    let plate = Shape::cuboid(Vector3::new(1.0, 0.1, 1.0), 0.2);
    let plate = body(Body::Static, plate, Isometry3::translation(0.0, -0.1, 0.0));
    let plate = world.add(plate).unwrap();
    let cubes = (0..3).map(|i| cube(0.2, [0.0, 0.2 + 0.4 * f64::from(i), 0.0]));
    (plate, cubes.map(|cube| world.add(cube).unwrap()).collect())
}

properties! {
    /// The previous position of a body has no effect.
    #[test]
    fn a_body_that_is_put_elsewhere_goes_on_as_one_that_was_added_there(
        to in pose(), velocity in velocity(), turn in vector(3.0),
    ) {
        let mass = MassProperties::new(2.0, Vector3::new(0.02, 0.03, 0.04)).unwrap();
        let shape = || Shape::cuboid(Vector3::new(0.15, 0.1, 0.05), 0.1);
        let new = |pose| NewBody { velocity, ..body(Body::Dynamic(mass), shape(), pose) };
        let mut moved = World::new(Settings::default());
        let id = moved.add(new(Isometry3::new(Vector3::zeros(), turn))).unwrap();
        moved.set_pose(id, &to).unwrap();
        let now = speed(&moved, id);
        prop_assert!((now.linear - velocity.linear).norm() <= 1e-12 * velocity.linear.norm());
        prop_assert!((now.angular - velocity.angular).norm() <= 1e-12 * velocity.angular.norm());
        moved.set_velocity(id, velocity).unwrap();
        let mut added = World::new(Settings::default());
        added.add(new(to)).unwrap();
        steps(&mut moved, 5);
        steps(&mut added, 5);
        prop_assert_eq!(moved.saved(), added.saved());
    }

    /// The displacements v t and g t^2 / 2 are exact. Semi-implicit Euler gives g t (t + dt) / 2.
    #[test]
    fn a_body_that_is_given_a_velocity_flies_as_far_as_it_says(to in velocity()) {
        let mut world = World::new(Settings::default());
        let id = world.add(ball(0.1, [0.0; 3])).unwrap();
        steps(&mut world, 7);
        let start = place(&world, id);
        world.set_velocity(id, to).unwrap();
        steps(&mut world, 12);
        let time = 12.0 * DT;
        let wanted = to.linear * time - Vector3::y() * (9.81 / 2.0 * time * time);
        prop_assert!((place(&world, id) - start - wanted).norm() < 1e-9);
        prop_assert!((speed(&world, id).angular - to.angular).norm() < 1e-9 * to.angular.norm());
    }

    /// A force and gravity add up to one acceleration; the reported work equals the energy gain.
    #[test]
    fn a_force_accelerates_a_body_as_newton_says_and_its_work_is_reported(
        force in vector(30.0), torque in vector(1.0), start in velocity(),
    ) {
        let mut world = World::new(Settings::default());
        let id = world.add(NewBody { velocity: start, ..ball(0.3, [0.0; 3]) }).unwrap();
        let spin = world.get(id).unwrap().momentum.angular;
        let energy = |world: &World| world.kinetic_energy() + world.potential_energy();
        for _ in 0..20 {
            let (before, at) = (energy(&world), place(&world, id));
            world.apply_force(id, &(force * 0.25), None).unwrap();
            world.apply_force(id, &(force * 0.75), Some(&at.into())).unwrap();
            world.apply_torque(id, &torque).unwrap();
            let report = world.step();
            let gain = energy(&world) - before;
            let size = world.kinetic_energy() + before.abs();
            prop_assert!((gain - report.energy.work + report.energy.dissipation.total()).abs() < 1e-12 * size);
            prop_assert!(report.energy.dissipation.total().abs() < 1e-9 * size);
        }
        let time = 20.0 * DT;
        let acceleration = force - Vector3::y() * 9.81;
        let wanted = start.linear * time + acceleration * (0.5 * time * time);
        prop_assert!((place(&world, id) - wanted).norm() < 1e-9 * (1.0 + wanted.norm()));
        let gained = world.get(id).unwrap().momentum.angular - spin;
        prop_assert!((gained - torque * time).norm() < 1e-9 * (1.0 + spin.norm()));
        // forces act for a single frame
        let before = speed(&world, id).linear;
        world.step();
        let change = speed(&world, id).linear - before + Vector3::y() * (9.81 * DT);
        prop_assert!(change.norm() < 1e-9 * (1.0 + before.norm()));
    }

    #[test]
    fn a_kinematic_body_is_at_its_target_after_a_frame_and_stays_there(to in pose()) {
        let mut world = World::new(Settings::default());
        let door = Shape::cuboid(Vector3::new(0.5, 1.0, 0.05), 0.2);
        let door = body(Body::Kinematic(Velocity::default()), door, Isometry3::identity());
        let door = world.add(door).unwrap();
        world.move_kinematic(door, &Isometry3::identity()).unwrap();
        world.move_kinematic(door, &to).unwrap();
        world.step();
        prop_assert_eq!(world.get(door).unwrap().pose, &to);
        prop_assert_eq!(speed(&world, door), Velocity::default());
        world.step();
        let moved = world.get(door).unwrap().pose.inv_mul(&to);
        prop_assert!(moved.translation.vector.norm() + moved.rotation.angle() < 1e-7);
    }

    #[test]
    fn a_share_of_a_frame_is_between_its_ends(velocity in velocity(), t in 0.0..=1.0) {
        let mut world = World::new(Settings { gravity: Vector3::zeros(), ..Settings::default() });
        let id = world.add(NewBody { velocity, ..ball(0.1, [1.0, 2.0, 3.0]) }).unwrap();
        steps(&mut world, 4);
        let start = *world.get(id).unwrap().pose;
        world.step();
        let end = *world.get(id).unwrap().pose;
        let pose = world.interpolated_pose(id, t).unwrap();
        let wanted = start.translation.vector + velocity.linear * (t * DT);
        prop_assert!((pose.translation.vector - wanted).norm() < 1e-12);
        let turned = start.rotation.rotation_to(&pose.rotation).scaled_axis();
        prop_assert!((turned - velocity.angular * (t * DT)).norm() < 1e-7);
        prop_assert_eq!(world.interpolated(t).collect::<Vec<_>>(), vec![(id, pose)]);
        for (t, wanted) in [(0.0, start), (-1.0, start), (1.0, end), (2.0, end), (f64::NAN, end)] {
            prop_assert_eq!(world.interpolated_pose(id, t), Some(wanted));
        }
        world.set_pose(id, &start).unwrap();
        prop_assert_eq!(world.interpolated_pose(id, 0.5), Some(start));
    }
}

#[test]
fn sleepers_fall_when_what_carries_them_is_put_elsewhere() {
    let mut world = World::new(Settings::default());
    let (plate, cubes) = stack(&mut world);
    steps(&mut world, 60);
    assert_eq!(asleep(&world, &cubes), 3);
    let before: Vec<_> = cubes.iter().map(|&id| place(&world, id)).collect();
    world.set_pose(plate, &Isometry3::translation(0.0, -20.0, 0.0)).unwrap();
    assert_eq!(asleep(&world, &cubes), 0);
    steps(&mut world, 30);
    for (id, before) in cubes.iter().zip(before) {
        let fall = before.y - place(&world, *id).y;
        assert!((fall - 9.81 / 2.0).abs() < 0.02, "{fall}");
    }
}

#[test]
fn a_sleeper_wakes_when_a_body_leaves_it_or_is_put_into_it() {
    let mut world = World::new(Settings::default());
    let (_, cubes) = stack(&mut world);
    let far =
        world.add(body(Body::Static, Shape::ball(0.3), Isometry3::translation(9.0, 0.0, 0.0)));
    let far = far.unwrap();
    steps(&mut world, 60);
    assert_eq!(asleep(&world, &cubes), 3);
    world.set_pose(far, &Isometry3::translation(9.0, 5.0, 0.0)).unwrap();
    assert_eq!(asleep(&world, &cubes), 3, "it is far away");
    // now static beside the topmost cube, 0.1 m deep in it
    world.set_pose(far, &Isometry3::translation(0.4, 1.0, 0.0)).unwrap();
    assert!(!world.get(cubes[2]).unwrap().asleep);
    steps(&mut world, 5);
    assert!(place(&world, cubes[2]).x < -0.01, "it is pushed aside");

    let mut world = World::new(Settings::default());
    let (_, cubes) = stack(&mut world);
    steps(&mut world, 60);
    world.set_pose(cubes[1], &Isometry3::translation(0.0, 9.0, 0.0)).unwrap();
    assert_eq!(asleep(&world, &cubes[1..]), 0);
    steps(&mut world, 12);
    assert!(place(&world, cubes[2]).y < 0.7, "it falls on the lowest");
}

#[test]
fn what_cannot_be_steered_is_refused_and_changes_nothing() {
    let mut world = World::new(Settings::default());
    let floor = floor(&mut world);
    let lift = Shape::cuboid(Vector3::new(1.0, 0.1, 1.0), 0.2);
    let lift =
        body(Body::Kinematic(Velocity::default()), lift, Isometry3::translation(5.0, 0.0, 0.0));
    let lift = world.add(lift).unwrap();
    let led = body(Body::Kinematic(Velocity::default()), Shape::ball(0.1), Isometry3::identity());
    let led = world.add(led).unwrap();
    let key = |time, pose| PathKey { time, pose };
    let up = Isometry3::translation(0.0, 1.0, 0.0);
    let keys = vec![key(0.0, Isometry3::identity()), key(1.0, up)];
    let path = |keys| Path { body: led, keys, in_frame: Isometry3::identity() };
    let led_by = |keys| Timeline { paths: vec![path(keys)], ..Timeline::default() };
    world.set_timeline(led_by(keys.clone())).unwrap();
    let free = world.add(cube(0.2, [0.0, 3.0, 0.0])).unwrap();
    let gone = world.add(cube(0.2, [3.0, 3.0, 0.0])).unwrap();
    world.remove(gone);
    let before = world.saved();

    let nan = Isometry3::translation(0.0, f64::NAN, 0.0);
    let long = UnitQuaternion::new_unchecked(Quaternion::new(1.0, 0.5, 0.0, 0.0));
    let long = Isometry3::from_parts(Vector3::zeros().into(), long);
    let (here, still) = (Isometry3::identity(), Velocity::default());
    let bad = Velocity { angular: Vector3::new(0.0, 1e31, 0.0), ..still };
    let up = Vector3::y();
    let framed = Path { in_frame: nan, ..path(keys) };
    let framed = Timeline { paths: vec![framed], ..Timeline::default() };
    let refused = [
        (world.set_pose(free, &nan), SteeringError::NotFinite),
        (world.set_pose(free, &long), SteeringError::NotARotation),
        (world.set_pose(gone, &here), SteeringError::Unknown(gone)),
        (world.set_pose(led, &here), SteeringError::OnPath(led)),
        (world.set_velocity(free, bad), SteeringError::NotFinite),
        (world.set_velocity(floor, still), SteeringError::Static(floor)),
        (world.set_velocity(led, still), SteeringError::OnPath(led)),
        (world.set_timeline(led_by(vec![key(f64::NAN, here)])), SteeringError::NotFinite),
        (world.set_timeline(led_by(vec![key(0.0, here), key(1.0, nan)])), SteeringError::NotFinite),
        (world.set_timeline(led_by(vec![key(0.0, long)])), SteeringError::NotARotation),
        (
            world.set_timeline(led_by(vec![key(1.0, here), key(0.5, here)])),
            SteeringError::PathOrder(led),
        ),
        (world.set_timeline(framed), SteeringError::NotFinite),
        (world.move_kinematic(lift, &nan), SteeringError::NotFinite),
        (world.move_kinematic(lift, &long), SteeringError::NotARotation),
        (world.move_kinematic(free, &here), SteeringError::NotKinematic(free)),
        (world.move_kinematic(led, &here), SteeringError::OnPath(led)),
        (world.apply_force(free, &(up * f64::INFINITY), None), SteeringError::NotFinite),
        (
            world.apply_force(free, &up, Some(&Point3::new(f64::NAN, 0.0, 0.0))),
            SteeringError::NotFinite,
        ),
        (world.apply_force(lift, &up, None), SteeringError::NotDynamic(lift)),
        (world.apply_torque(floor, &up), SteeringError::NotDynamic(floor)),
        (world.apply_torque(gone, &up), SteeringError::Unknown(gone)),
        (world.apply_impulse(free, &(up * f64::NAN), None), SteeringError::NotFinite),
        (
            world.apply_impulse(free, &up, Some(&Point3::new(0.0, f64::INFINITY, 0.0))),
            SteeringError::NotFinite,
        ),
        (world.apply_impulse(lift, &up, None), SteeringError::NotDynamic(lift)),
        (world.apply_impulse(gone, &up, None), SteeringError::Unknown(gone)),
    ];
    for (n, (result, error)) in refused.into_iter().enumerate() {
        assert_eq!(result, Err(error), "{n}");
    }
    assert!(!world.set_user_data(gone, Some(3)));
    assert_eq!(world.saved(), before);
    // the body still follows its previous path
    world.step();
    assert!((world.get(led).unwrap().pose.translation.y - DT).abs() < 1e-9);
}

/// Coulomb: friction of 0.5 holds a cube against half of its weight.
#[test]
fn a_force_moves_a_cube_on_the_floor_only_beyond_friction() {
    for (share, wanted) in [(0.4, 0.0), (0.9, 0.4)] {
        let mut world = World::new(Settings::default());
        floor(&mut world);
        let id = world.add(cube(0.2, [0.0, 0.2, 0.0])).unwrap();
        steps(&mut world, 10);
        let before = place(&world, id);
        for _ in 0..30 {
            // at the height of the floor, so that the cube does not tilt
            let at = place(&world, id) - Vector3::y() * 0.2;
            world.apply_force(id, &(Vector3::x() * (9.81 * share)), Some(&at.into())).unwrap();
            world.step();
        }
        let moved = (place(&world, id) - before).x;
        let wanted = 0.5 * 9.81 * wanted;
        assert!((moved - wanted).abs() < 0.02 + 0.05 * wanted, "{share}: {moved} for {wanted}");
    }
}

/// A free pair conserves the angular momentum from forces.
#[test]
fn a_force_on_one_of_two_cubes_that_touch_turns_both() {
    let mut world = World::new(Settings { gravity: Vector3::zeros(), ..Settings::default() });
    let ids = [-0.1, 0.1].map(|x| world.add(cube(0.1, [x, 0.0, 0.0])).unwrap());
    let force = Vector3::new(-2.0, 1.0, 0.0);
    let mut wanted = Momentum::default();
    for _ in 0..6 {
        world.apply_force(ids[1], &force, None).unwrap();
        let before = place(&world, ids[1]);
        world.step();
        let middle = (before + place(&world, ids[1])) * 0.5;
        wanted.apply_impulse(&(force * DT), &middle);
    }
    let Momentum { linear, angular } = world.momentum();
    assert!((linear - wanted.linear).norm() < 1e-9, "{linear}");
    assert!((angular - wanted.angular).norm() < 2e-3, "{angular} for {}", wanted.angular);
}

#[test]
fn a_lift_that_goes_to_a_target_every_frame_carries_a_load() {
    let mut world = World::new(Settings::default());
    let plate = Shape::cuboid(Vector3::new(0.5, 0.1, 0.5), 0.1);
    let lift =
        body(Body::Kinematic(Velocity::default()), plate, Isometry3::translation(0.0, -0.1, 0.0));
    let lift = world.add(lift).unwrap();
    let load = world.add(cube(0.2, [0.0, 0.2, 0.0])).unwrap();
    steps(&mut world, 60);
    assert_eq!(asleep(&world, &[load]), 1);
    for frame in 1..=30 {
        let height = f64::from(frame) / 30.0 - 0.1;
        world.move_kinematic(lift, &Isometry3::translation(0.0, height, 0.0)).unwrap();
        world.step();
        assert_eq!(place(&world, lift).y, height);
        let apart = place(&world, load).y - height;
        assert!((apart - 0.3).abs() < 0.01, "{apart} in frame {frame}");
    }
    steps(&mut world, 60);
    assert!((place(&world, load).y - 1.2).abs() < 0.01);
    assert_eq!(asleep(&world, &[load]), 1);
}

#[test]
fn scheduled_actions_belong_to_the_state() {
    let mut world = World::new(Settings::default());
    let ball = world.add(ball(0.1, [0.0, 5.0, 0.0])).unwrap();
    let before = world.saved();
    let push = |x: f64| Action::Push { body: ball, impulse: Vector3::x() * x, at: None };
    world.schedule(push(2.0));
    let pushed = world.saved();
    let momentum = |world: &mut World| {
        world.step();
        world.get(ball).unwrap().momentum.linear.x
    };
    assert_eq!(momentum(&mut world), 2.0);
    // back to before the push, it takes place once or not at all
    world.restore(&before).unwrap();
    assert_eq!(momentum(&mut world), 0.0);
    world.restore(&pushed).unwrap();
    assert_eq!(momentum(&mut world), 2.0);
    assert_eq!(momentum(&mut world), 2.0);
}

#[test]
fn a_state_is_restored_after_bodies_were_added() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    let first = world.add(ball(0.1, [0.0, 1.0, 0.0])).unwrap();
    steps(&mut world, 3);
    let state = world.saved();
    let run = |world: &mut World| {
        let next = world.add(cube(0.1, [0.5, 0.5, 0.0])).unwrap();
        steps(world, 10);
        (next, world.saved())
    };
    let once = run(&mut world);
    world.restore(&state).unwrap();
    assert!(world.len() == 2 && world.get(first).is_some());
    assert!(run(&mut world) == once);
    // also if the added body is gone
    world.remove(once.0);
    world.restore(&state).unwrap();
    assert!(run(&mut world) == once);
}

/// A brick on the floor and a ball that strikes it.
pub(crate) fn struck_brick(world: &mut World) -> (BodyId, BodyId) {
    let half = Vector3::new(0.3, 0.2, 0.15);
    let brick = world.add(brick(half, Isometry3::translation(0.0, 0.2, 0.0), 20.0)).unwrap();
    let mass = MassProperties::ball(16.0, 0.08).unwrap();
    let linear = Vector3::new(9.0, 1.0, 0.0);
    let ball =
        body(Body::Dynamic(mass), Shape::ball(0.08), Isometry3::translation(-1.0, 0.25, 0.02));
    let velocity = Velocity { linear, ..Velocity::default() };
    (brick, world.add(NewBody { velocity, ..ball }).unwrap())
}

#[test]
fn pieces_inherit_the_user_data_of_what_they_came_of_and_start_where_they_came_about() {
    let mut world = World::new(Settings::default());
    let floor = floor(&mut world);
    let (brick, ball) = struck_brick(&mut world);
    world.set_user_data(brick, Some(41));
    world.set_user_data(ball, Some(7));
    let mut broken = 0;
    for _ in 0..40 {
        let report = world.step();
        for event in &report.events.fractures {
            broken += 1;
            assert_eq!(world.user_data(event.parent), None);
            for &piece in event.fragments.iter().filter(|piece| world.get(**piece).is_some()) {
                assert_eq!(world.user_data(piece), Some(41));
                let (first, last) = [0.0, 1.0].map(|t| world.interpolated_pose(piece, t)).into();
                let way = last.unwrap().translation.vector - first.unwrap().translation.vector;
                assert!(way.norm() < 30.0 * DT, "{way}");
            }
        }
    }
    assert!(broken > 0);
    let numbers: Vec<_> = world.iter().map(|state| world.user_data(state.id)).collect();
    let pieces = numbers.iter().filter(|number| **number == Some(41)).count();
    assert!(pieces > 5 && pieces + 2 == world.len(), "{numbers:?}");
    assert_eq!((world.user_data(floor), world.user_data(ball)), (None, Some(7)));

    // the pieces of a cut, too
    let piece = world.iter().find(|state| world.user_data(state.id) == Some(41)).unwrap().id;
    let at = place(&world, piece);
    let edge = |z: f64| [-1.0, 1.0].map(|x| Point3::new(at.x + x, at.y, at.z + z));
    let cuts = world.cut(edge(-1.0), edge(1.0));
    assert!(cuts.iter().any(|cut| cut.parent == piece));
    for cut in cuts {
        // the blade also cuts the ball
        let own = if cut.parent == ball { 7 } else { 41 };
        assert!(cut.fragments.iter().all(|&id| world.user_data(id) == Some(own)));
    }
}

/// Pieces of the brick break, retire and are cut, some in the frame of their creation.
#[test]
fn a_mirror_of_the_bodies_follows_from_what_frames_add_and_remove() {
    let retire = Retire { after: 3.0 * DT, slower_than: 0.5, action: RetireAction::Remove };
    let debris = Debris { retire: Some(retire), ..Debris::default() };
    let mut world = World::new(Settings { debris, ..Settings::default() });
    floor(&mut world);
    let (brick, ball) = struck_brick(&mut world);
    let sweep = |height: f64| {
        let edge = |z: f64| [-2.0, 2.0].map(|x| Point3::new(x, height, z));
        (edge(-2.0), edge(2.0))
    };
    let mut mirror: BTreeSet<BodyId> = world.iter().map(|state| state.id).collect();
    let (mut broke, mut cut, mut retired) = (0, 0, 0);
    for frame in 0..90 {
        if frame == 2 {
            let (from, to) = sweep(0.3);
            world.schedule(Action::Cut { from, to });
        }
        let Events { added, removed, fractures, retired: gone, .. } = world.step().events;
        assert!(added.is_sorted() && removed.is_sorted());
        for body in removed {
            assert!(world.get(body).is_none() && mirror.remove(&body), "{frame}: {body}");
        }
        for body in added {
            assert!(world.get(body).is_some() && mirror.insert(body), "{frame}: {body}");
        }
        let bodies: Vec<BodyId> = world.iter().map(|state| state.id).collect();
        assert!(mirror.iter().eq(&bodies), "{frame}: {mirror:?} {bodies:?}");
        let is_cut = |fracture: &&Fracture| fracture.impulse == Vector3::zeros();
        cut += fractures.iter().filter(is_cut).count();
        broke += fractures.iter().filter(|fracture| !is_cut(fracture)).count();
        retired += gone.len();
        if frame == 20 {
            // cuts between frames are returned and not reported
            let (from, to) = sweep(0.05);
            for fracture in world.cut(from, to) {
                mirror.remove(&fracture.parent);
                mirror.extend(fracture.fragments);
            }
            world.remove(ball);
            mirror.remove(&ball);
        }
    }
    assert!(!mirror.contains(&brick) && broke > 0 && cut > 0 && retired > 0);
}

const SCENE: &str = r#"version = 1
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "crate"
shape = { box = { half_extents = [0.2, 0.2, 0.2] } }
density = 500
position = [0, 0.2, 0]
[[body]]
name = "lift"
shape = { box = { half_extents = [0.5, 0.1, 0.5] } }
motion = "kinematic"
position = [3, 0, 0]
"#;

#[test]
fn a_state_holds_user_data_targets_forces_and_who_touches_whom() {
    let world = || build(&Scene::from_toml(SCENE).unwrap(), &BTreeMap::new()).unwrap().0;
    let mut first = world();
    let [floor, load, lift] = [0, 1, 2].map(|n| first.iter().nth(n).unwrap().id);
    first.set_contact_events(true);
    let report = first.step();
    assert_eq!(report.events.contacts.began, [[floor, load]]);
    first.set_user_data(load, Some(u64::MAX));
    first.set_user_data(lift, Some(0));
    first.apply_force(load, &Vector3::new(300.0, 0.0, 0.0), None).unwrap();
    first.move_kinematic(lift, &Isometry3::translation(3.0, 1.0, 0.0)).unwrap();
    let state = first.saved();
    let mut second = world();
    second.restore(&state).unwrap();
    assert_eq!(second.saved(), state);
    assert_eq!([floor, load, lift].map(|id| second.user_data(id)), [None, Some(u64::MAX), Some(0)]);
    let events = [&mut first, &mut second].map(|world| world.step().events.contacts);
    assert_eq!(events[0], events[1]);
    assert!(events[0].began.is_empty() && events[0].touching.len() == 1);
    assert_eq!(first.saved(), second.saved());
    assert_eq!(place(&second, lift).y, 1.0);
    assert!(place(&second, load).x > 1e-4);
}

/// The documentation of `World::saved` recommends such a clone.
#[test]
fn a_clone_goes_back_past_a_fracture_and_a_broken_joint_and_on_with_the_same_bits() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    struck_brick(&mut world);
    let [post, weight] = [[5.0, 3.0, 0.0], [6.0, 3.0, 0.0]].map(|at| ball(0.1, at));
    let post = world.add(NewBody { body: Body::Static, ..post }).unwrap();
    let weight = world.add(weight).unwrap();
    let rod = sim::NewJoint {
        kind: sim::JointKind::Point,
        bodies: [post, weight],
        anchors: [Point3::new(5.0, 3.0, 0.0); 2],
        axis: Vector3::x(),
        limits: None,
        motor: None,
        break_force: 15.0,
        break_torque: f64::INFINITY,
        collides: false,
    };
    world.add_joint(rod).unwrap();
    let before = world.clone();
    let run = |world: &mut World| {
        let marks: Vec<u64> =
            (0..30).map(|_| (drop(world.step()), world.fingerprint()).1).collect();
        (marks, world.len(), world.joints().count())
    };
    let first = run(&mut world);
    assert!(first.1 > before.len() && first.2 == 0, "{} bodies, {} joints", first.1, first.2);
    assert_eq!(run(&mut before.clone()), first);
}

#[test]
fn bodies_of_solids_have_their_mass_and_lie_where_they_are_put() {
    let half = Vector3::new(0.2, 0.1, 0.3);
    // the center is not at the origin of the coordinates of the solid
    let corners = Aabb { min: Point3::origin(), max: Point3::from(2.0 * half) };
    let grid = Grid::enclosing(&corners, 0.02, 3, Grid::MAX_NODES).unwrap();
    let mesh = ConvexHull::new(&corners.corners()).unwrap().mesh().clone();
    let samples = LevelSet::from_mesh(&mesh, grid, Sign::Strict).unwrap();
    let geometry = Geometry::mesh(&ClosedMesh::new(mesh).unwrap(), Arc::new(samples));
    let place = Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.3, -0.5, 0.7));
    let of_mesh = NewBody::new(geometry, 500.0).unwrap().at(&place);
    let cuboid = NewBody::cuboid(half, 500.0).unwrap();
    let mass = |body: &NewBody| *body.body.mass_properties().unwrap();
    assert!((mass(&of_mesh).mass() - 500.0 * 8.0 * half.product()).abs() < 1e-9);
    assert!((mass(&cuboid).mass() - mass(&of_mesh).mass()).abs() < 1e-9);
    let sorted = |body: &NewBody| {
        let mut moments: [f64; 3] = mass(body).inertia().into();
        moments.sort_by(f64::total_cmp);
        Vector3::from(moments)
    };
    assert!((sorted(&cuboid) - sorted(&of_mesh)).norm() < 1e-9);
    let middle = (place * Point3::from(half)).coords;
    assert!((of_mesh.pose.translation.vector - middle).norm() < 1e-12);
    // the corner of the body is at the position of the corner of the mesh
    let mut world = World::new(Settings { gravity: Vector3::zeros(), ..Settings::default() });
    let id = world.add(of_mesh).unwrap();
    let from = place * Point3::new(half.x, half.y, 5.0);
    let way = UnitVector3::new_normalize(place.rotation * -Vector3::z());
    let hit = world.cast_ray(&from, &way, 10.0, &Filter::default()).unwrap();
    assert!(hit.body == id && (hit.distance - (5.0 - 2.0 * half.z)).abs() < 1e-9, "{hit:?}");
    let ball = NewBody::ball(0.5, 3.0).unwrap();
    let expected = 3.0 * std::f64::consts::PI / 6.0;
    assert!((mass(&ball).mass() - expected).abs() < 1e-12);
    assert!((mass(&ball).inertia() - Vector3::repeat(0.1 * expected)).norm() < 1e-12);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(NewBody::ball(bad, 1.0).is_err() && NewBody::ball(1.0, bad).is_err(), "{bad}");
        assert!(NewBody::cuboid(half, bad).is_err(), "{bad}");
        assert!(NewBody::cuboid(Vector3::new(bad, 1.0, 1.0), 1.0).is_err(), "{bad}");
        assert!(NewBody::cuboid(Vector3::new(-1.0, -1.0, 1.0), 1.0).is_err());
    }
}
