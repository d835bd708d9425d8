//! Changes of joints, surfaces, collision groups and breakage while a world runs.

use std::f64::consts::FRAC_PI_2;

use brisance_tests::properties;
use contact::{Groups, Material, MaterialError, Round, Shape};
use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use sim::{
    Anchor, BodyError, BodyId, Bonds, Breakage, BreakageError, JointError, JointId, JointKind,
    Motor, NewBody, NewJoint, Region, Settings, SteeringError, Strength, World,
};

use super::{ball, cube, floor, place, speed, steps};
use crate::sim::brick as solid_brick;

/// A box of 1 kg with half extents 0.5, 1 and 0.02 m on a hinge about y through its left edge,
/// without gravity.
fn door(world: &mut World) -> (BodyId, JointId) {
    let frame = world.add(NewBody::fixed(Shape::empty())).unwrap();
    let half = Vector3::new(0.5, 1.0, 0.02);
    let door = world.add(NewBody::cuboid(half, 1.0 / (8.0 * half.product())).unwrap()).unwrap();
    let edge = Point3::new(-0.5, 0.0, 0.0);
    let hinge = NewJoint::new(JointKind::Hinge, [door, frame], edge);
    let hinge = world.add_joint(NewJoint { axis: Vector3::y(), ..hinge }).unwrap();
    (door, hinge)
}

/// A breakable brick.
fn brick(at: [f64; 3]) -> NewBody {
    let half = Vector3::new(0.3, 0.2, 0.15);
    solid_brick(half, Isometry3::translation(at[0], at[1], at[2]), 20.0)
}

fn weightless() -> World {
    World::new(Settings { gravity: Vector3::zeros(), ..Settings::default() })
}

/// A motor far below its speed applies its largest torque: the door turns by half of torque over
/// moment of inertia times the square of time.
#[test]
fn a_motor_that_is_set_later_turns_a_door_by_its_torque() {
    let mut world = weightless();
    let (_, hinge) = door(&mut world);
    steps(&mut world, 10);
    assert_eq!(world.joint(hinge).unwrap().coordinate, 0.0);
    let torque = 0.02;
    world.set_joint_motor(hinge, Some(Motor { speed: 100.0, max_force: torque })).unwrap();
    steps(&mut world, 30);
    let inertia = (1.0 + 0.04 * 0.04) / 12.0 + 0.25;
    let expected = 0.5 * torque / inertia;
    let found = world.joint(hinge).unwrap();
    assert!((found.coordinate / expected - 1.0).abs() < 1e-3, "{found:?} for {expected}");
    assert_eq!(found.motor, Some(Motor { speed: 100.0, max_force: torque }));
    // without it the door turns on
    let before = world.kinetic_energy();
    world.set_joint_motor(hinge, None).unwrap();
    steps(&mut world, 10);
    assert!((world.kinetic_energy() / before - 1.0).abs() < 1e-9);
}

#[test]
fn limits_that_are_set_later_stop_a_door() {
    let mut world = weightless();
    let (door, hinge) = door(&mut world);
    let spin = Velocity { linear: Vector3::z() * -0.5, angular: Vector3::y() };
    world.set_velocity(door, spin).unwrap();
    steps(&mut world, 3);
    world.set_joint_limits(hinge, Some([-0.1, 0.4])).unwrap();
    steps(&mut world, 30);
    let angle = world.joint(hinge).unwrap().coordinate;
    assert!((angle - 0.4).abs() < 1e-3 || angle.abs() < 0.4, "{angle}");
    world.set_joint_limits(hinge, None).unwrap();
    world.set_velocity(door, spin).unwrap();
    steps(&mut world, 30);
    assert!(world.joint(hinge).unwrap().coordinate > 1.0);
}

#[test]
fn a_weight_hangs_by_a_joint_until_its_strength_is_lowered() {
    let mut world = World::new(Settings::default());
    let hook = world.add(NewBody::fixed(Shape::empty())).unwrap();
    let weight = world.add(ball(0.1, [0.0, 5.0, 0.0])).unwrap();
    let weld = NewJoint::new(JointKind::Fixed, [weight, hook], Point3::new(0.0, 5.0, 0.0));
    let weld = world.add_joint(weld).unwrap();
    steps(&mut world, 60);
    world.set_joint_strength(weld, 12.0, f64::INFINITY).unwrap();
    steps(&mut world, 10);
    assert_eq!(place(&world, weight).y, 5.0);
    world.set_joint_strength(weld, 8.0, f64::INFINITY).unwrap();
    world.apply_impulse(weight, &Vector3::zeros(), None).unwrap();
    let broken: Vec<_> = (0..3).flat_map(|_| world.step().events.broken_joints).collect();
    assert_eq!(broken, [weld]);
    assert_eq!(world.set_joint_strength(weld, 1.0, 1.0), Err(JointError::Unknown(weld)));
    assert!(world.joint(weld).is_none());
}

#[test]
fn changes_of_joints_with_invalid_numbers_leave_them_as_they_were() {
    let mut world = weightless();
    let (door, hinge) = door(&mut world);
    let frame = world.iter().next().unwrap().id;
    let weld = NewJoint::new(JointKind::Fixed, [door, frame], Point3::origin());
    let weld = world.add_joint(weld).unwrap();
    let motor = Some(Motor { speed: 1.0, max_force: 1.0 });
    assert_eq!(world.set_joint_motor(weld, motor), Err(JointError::NoAxis));
    assert_eq!(world.set_joint_limits(weld, Some([0.0, 1.0])), Err(JointError::NoAxis));
    let nan = Some(Motor { speed: f64::NAN, max_force: 1.0 });
    assert!(matches!(world.set_joint_motor(hinge, nan), Err(JointError::Motor { .. })));
    let reversed = world.set_joint_limits(hinge, Some([1.0, 0.0]));
    assert_eq!(reversed, Err(JointError::Limits { least: 1.0, most: 0.0 }));
    let beyond = world.set_joint_limits(hinge, Some([0.0, 4.0]));
    assert_eq!(beyond, Err(JointError::HingeLimit { limit: 4.0 }));
    let weak = world.set_joint_strength(hinge, -1.0, 0.0);
    assert_eq!(weak, Err(JointError::Strength { force: -1.0, torque: 0.0 }));
    let state = world.joint(hinge).unwrap();
    assert!(state.motor.is_none() && state.limits.is_none() && state.break_force.is_infinite());
}

/// A stack wakes as a whole, a box beside it sleeps on, and the stack sleeps again.
#[test]
fn a_body_wakes_with_the_sleepers_that_touch_it() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    let places = [[0.0, 0.1, 0.0], [0.0, 0.3, 0.0], [1.0, 0.1, 0.0]];
    let ids = places.map(|at| world.add(cube(0.1, at)).unwrap());
    let asleep = |world: &World| ids.map(|id| world.get(id).unwrap().asleep);
    steps(&mut world, 60);
    assert_eq!(asleep(&world), [true; 3]);
    world.wake_body(ids[1]).unwrap();
    assert_eq!(asleep(&world), [false, false, true]);
    steps(&mut world, 60);
    assert_eq!(asleep(&world), [true; 3]);
    world.remove(ids[1]);
    assert_eq!(world.wake_body(ids[1]), Err(SteeringError::Unknown(ids[1])));
}

/// A box at rest by friction slides at `g sin(angle)` once its friction and that of the plane are
/// gone.
#[test]
fn a_sleeper_wakes_and_slides_when_its_surface_becomes_slippery() {
    let mut world = World::new(Settings::default());
    let angle = 0.2_f64;
    let turned = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle);
    let slope = NewBody::fixed(Shape::half_space());
    let slope = world
        .add(NewBody { pose: Isometry3::from_parts(Vector3::zeros().into(), turned), ..slope })
        .unwrap();
    let cube = cube(0.1, [0.0, 0.0, 0.0]);
    let pose = Isometry3::from_parts((turned * Vector3::y() * 0.1).into(), turned);
    let cube = world.add(NewBody { pose, ..cube }).unwrap();
    steps(&mut world, 60);
    assert!(world.get(cube).unwrap().asleep);
    let ice = Material { friction: 0.0, ..Material::default() };
    for body in [slope, cube] {
        world.set_material(body, ice).unwrap();
    }
    steps(&mut world, 30);
    let expected = 9.81 * angle.sin();
    let found = speed(&world, cube).linear.norm();
    assert!((found / expected - 1.0).abs() < 2e-3, "{found} m/s for {expected}");
    let bad = Material { restitution: 2.0, ..ice };
    let refused = SteeringError::Material(MaterialError::Restitution(2.0));
    assert_eq!(world.set_material(cube, bad), Err(refused));
    world.remove(cube);
    assert_eq!(world.set_material(cube, ice), Err(SteeringError::Unknown(cube)));
}

#[test]
fn a_sleeper_falls_through_a_floor_that_leaves_its_groups() {
    let mut world = World::new(Settings::default());
    let floor = floor(&mut world);
    let ball = world.add(ball(0.1, [0.0, 0.1, 0.0])).unwrap();
    steps(&mut world, 60);
    assert!(world.get(ball).unwrap().asleep);
    world.set_groups(floor, Groups { memberships: 0, filter: 0 }).unwrap();
    steps(&mut world, 30);
    let fallen = 0.1 - place(&world, ball).y;
    assert!((fallen / (0.5 * 9.81) - 1.0).abs() < 1e-9, "{fallen} m");
    assert_eq!(world.get(floor).unwrap().groups.filter, 0);
}

#[test]
fn a_body_breaks_once_it_may() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    let whole = brick([0.0, 0.5, 0.0]);
    let breakage = whole.breakage.clone().unwrap();
    let body = world.add(NewBody { breakage: None, ..whole }).unwrap();
    steps(&mut world, 30);
    assert!(world.get(body).is_some(), "unbreakable");
    let up = Isometry3::translation(0.0, 0.5, 0.0);
    world.set_pose(body, &up).unwrap();
    world
        .set_velocity(body, Velocity { linear: Vector3::y() * -20.0, ..Default::default() })
        .unwrap();
    world.set_breakage(body, Some(breakage)).unwrap();
    steps(&mut world, 10);
    assert!(world.get(body).is_none() && world.len() > 2, "{} bodies", world.len());
}

/// A ball without a solid has an exact one, and breaks into pieces of its mass.
#[test]
fn a_plain_ball_breaks_by_the_breakage_that_it_is_given() {
    for later in [false, true] {
        let mut world = World::new(Settings::default());
        floor(&mut world);
        let breakage = brick([0.0; 3]).breakage;
        let velocity = Velocity { linear: Vector3::y() * -20.0, ..Velocity::default() };
        let plain = NewBody { velocity, ..ball(0.1, [0.0, 0.5, 0.0]) };
        if later {
            let ball = world.add(plain).unwrap();
            world.set_breakage(ball, breakage).unwrap();
        } else {
            world.add(NewBody { breakage, ..plain }).unwrap();
        }
        steps(&mut world, 5);
        assert!(world.len() > 3, "{} bodies, later: {later}", world.len());
        assert!((world.mass() - 1.0).abs() < 1e-9, "{} kg", world.mass());
    }
}

/// A plain cylinder whose lower end is anchored hangs in the air; a body without a solid does not.
#[test]
fn a_plain_cylinder_is_anchored() {
    let mut world = World::new(Settings::default());
    let mass = ball(0.1, [0.0; 3]).body;
    let post = world.add(NewBody::of(mass, Shape::round(Round::cylinder(0.5, 0.1), 0.05))).unwrap();
    let nothing = world.add(NewBody::of(mass, Shape::empty())).unwrap();
    let low = || Region::HalfSpace { normal: Vector3::y_axis(), offset: -0.4 };
    let anchors = || vec![Anchor { region: low(), to: None }];
    assert!(world.anchor(post, anchors(), f64::INFINITY));
    assert!(!world.anchor(nothing, anchors(), f64::INFINITY));
    steps(&mut world, 10);
    assert_eq!(place(&world, post), Vector3::zeros());
    assert!(world.is_anchored(post) && place(&world, nothing).y < -0.4);
}

#[test]
fn breakage_without_a_solid_or_with_invalid_numbers_is_refused() {
    let mut world = World::new(Settings::default());
    let good = brick([0.0, 0.5, 0.0]);
    let breakage = good.breakage.clone().unwrap();
    let plain = NewBody::of(ball(0.1, [0.0; 3]).body, Shape::empty());
    let hollow = NewBody { breakage: Some(breakage.clone()), ..plain.clone() };
    assert_eq!(world.add(hollow), Err(BodyError::Breakage(BreakageError::NoSolid)));
    assert!(world.is_empty());
    let plain = world.add(plain).unwrap();
    let refused = SteeringError::Breakage(BreakageError::NoSolid);
    assert_eq!(world.set_breakage(plain, Some(breakage.clone())), Err(refused));
    let body = world.add(good.clone()).unwrap();
    let bonds = |strength| Some(Bonds { strength, duration: 1e-3 });
    for x in [f64::NAN, -1.0, f64::NEG_INFINITY] {
        let bad = [
            Breakage { strength: Strength::Impulse(x), ..breakage.clone() },
            Breakage { min_share: x, ..breakage.clone() },
            Breakage { min_size: x, ..breakage.clone() },
            Breakage { bonds: bonds(x), ..breakage.clone() },
        ];
        for bad in bad {
            let changed = world.set_breakage(body, Some(bad.clone()));
            let is_refused = |found: &SteeringError| {
                matches!(found, SteeringError::Breakage(BreakageError::OutOfRange { .. }))
            };
            assert!(changed.as_ref().is_err_and(is_refused), "{bad:?}: {changed:?}");
            let added = world.add(NewBody { breakage: Some(bad), ..good.clone() });
            assert!(matches!(added, Err(BodyError::Breakage(_))), "{added:?}");
        }
    }
    assert_eq!(world.set_breakage(body, None), Ok(()));
    assert_eq!(world.len(), 2);
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A world continues from a state of another one with the same bits, whatever was changed there.
    #[test]
    fn a_state_contains_changes_of_joints_surfaces_and_groups(
        speed in -5.0..5.0_f64,
        limit in 0.1..FRAC_PI_2,
        friction in 0.0..1.0_f64,
        filter in any::<u32>(),
        drives in any::<bool>(),
    ) {
        let new = || {
            let mut world = World::new(Settings::default());
            floor(&mut world);
            let (door, hinge) = door(&mut world);
            let cube = world.add(cube(0.1, [3.0, 0.1, 0.0])).unwrap();
            (world, door, hinge, cube)
        };
        let (mut world, _, hinge, cube) = new();
        steps(&mut world, 5);
        let motor = Motor { speed, max_force: 3.0 };
        world.set_joint_motor(hinge, drives.then_some(motor)).unwrap();
        world.set_joint_limits(hinge, Some([-limit, limit])).unwrap();
        world.set_joint_strength(hinge, 1e6, 1e5).unwrap();
        world.set_material(cube, Material { friction, ..Material::default() }).unwrap();
        world.set_groups(cube, Groups { memberships: 1, filter }).unwrap();
        world.set_velocity(cube, Velocity { linear: Vector3::x(), ..Velocity::default() }).unwrap();
        steps(&mut world, 5);
        let (mut other, ..) = new();
        other.restore(&world.saved()).unwrap();
        prop_assert_eq!(other.saved(), world.saved());
        for _ in 0..20 {
            world.step();
            other.step();
            prop_assert_eq!(world.motion_hash(), other.motion_hash());
        }
        let [p, q] = [&world, &other].map(|world| world.joint(hinge).unwrap());
        prop_assert_eq!(p.motor, q.motor);
        prop_assert_eq!(p.break_torque, q.break_torque);
    }
}

#[test]
fn the_velocity_of_a_point_is_that_of_the_rigid_body() {
    let mut world = weightless();
    let spin =
        Velocity { linear: Vector3::new(1.0, 2.0, 3.0), angular: Vector3::new(0.1, -0.7, 2.0) };
    let body = world.add(NewBody { velocity: spin, ..cube(0.1, [4.0, 5.0, 6.0]) }).unwrap();
    let state = world.get(body).unwrap();
    let found = state.velocity();
    assert!((found.linear - spin.linear).norm() < 1e-12);
    assert!((found.angular - spin.angular).norm() < 1e-12);
    let arm = Vector3::new(0.1, -0.1, 0.05);
    let point = Point3::new(4.0, 5.0, 6.0) + arm;
    assert!((state.velocity_at(&point) - found.linear - found.angular.cross(&arm)).norm() < 1e-12);
    let lift = Body::Kinematic(spin);
    let lift = world.add(NewBody::of(lift, Shape::empty())).unwrap();
    assert_eq!(world.get(lift).unwrap().velocity(), spin);
    assert_eq!(*world.get(lift).unwrap().momentum, Momentum::default());
}
