//! Invalid numbers from a game: the world refuses them, ignores them, or freezes the body and
//! reports it.

use std::f64::consts::FRAC_1_SQRT_2;
use std::sync::Arc;

use brisance_tests::properties;
use brisance_tests::strategies::vector;
use contact::constraint::SequentialImpulse;
use contact::{Round, Shape, Solver};
use dynamics::{Body, MassError, MassProperties, Velocity};
use levelset::TriMesh;
use nalgebra::{Isometry3, Point3, UnitVector3, Vector3};
use proptest::prelude::*;
use sim::{
    Action, BodyId, Explosion, Filter, JointError, JointKind, Motor, NewBody, NewJoint, Report,
    RigidError, Settings, SteeringError, TimedAction, Timeline, Wind, World,
};

use super::{ball, body, cube, floor, steps};

const INFINITE: f64 = f64::INFINITY;
const BAD: [f64; 5] = [f64::NAN, INFINITE, f64::NEG_INFINITY, 1e200, f64::MAX];
const NEGATIVE: f64 = -1.0;

fn finite(world: &World, report: &Report) -> bool {
    let energy = &report.energy;
    let numbers =
        [energy.kinetic, energy.potential, energy.gain, energy.work, energy.dissipation.total()];
    let of = |state: sim::BodyState<'_>| {
        let place = state.pose.translation.vector.iter().chain(state.pose.rotation.coords.iter());
        let motion = state.momentum.linear.iter().chain(state.momentum.angular.iter());
        place.chain(motion).all(|x| x.is_finite())
    };
    numbers.iter().all(|x| x.is_finite()) && world.iter().all(of)
}

/// Shapes with an invalid length.
fn unusable() -> Vec<Shape> {
    let of = |x: f64| {
        let rounds = [
            Round::cylinder(x, 0.2),
            Round::cylinder(0.2, x),
            Round::cone(x, 0.2),
            Round::cone(0.2, x),
            Round::capsule(x, 0.2),
            Round::capsule(0.2, x),
        ];
        let mut shapes = vec![Shape::ball(x), Shape::cuboid(Vector3::new(x, 0.2, 0.2), 0.2)];
        shapes.extend(rounds.map(|round| Shape::round(round, 0.1)));
        shapes
    };
    BAD.into_iter().chain([NEGATIVE]).flat_map(of).filter(|shape| shape.radius() != 0.0).collect()
}

#[test]
fn a_body_whose_shape_has_no_size_is_frozen_and_reported_and_disturbs_none() {
    for shape in unusable() {
        let description = format!("{:?} of radius {}", shape.field(), shape.radius());
        assert!(!shape.is_usable(), "{description}");
        let shape = Arc::new(shape);
        let mut world = World::new(Settings::default());
        floor(&mut world);
        let cube = world.add(cube(0.2, [0.0, 1.0, 0.0])).unwrap();
        let moving = Body::Dynamic(MassProperties::ball(1.0, 1.0).unwrap());
        let bodies = [Body::Static, Body::Kinematic(Velocity::default()), moving];
        let odd = bodies.map(|body| world.add(NewBody::of(body, Arc::clone(&shape))).unwrap());
        let report = world.step();
        assert_eq!(report.events.frozen, odd, "{description}");
        assert!(finite(&world, &report), "{description}");
        steps(&mut world, 40);
        assert!((world.get(cube).unwrap().pose.translation.y - 0.2).abs() < 1e-3, "{description}");
    }
}

#[test]
fn a_query_with_a_solid_without_a_size_meets_nothing() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    world.add(cube(0.5, [0.0, 0.5, 0.0])).unwrap();
    world.add(ball(0.5, [0.0, 0.5, 0.0])).unwrap();
    let (above, all) = (Isometry3::translation(0.0, 0.5, 0.0), Filter::default());
    for shape in unusable() {
        assert!(world.overlap_shape(&shape, &above, &all).is_empty(), "{:?}", shape.field());
        let hit = world.cast_shape(&shape, &above, &Vector3::x(), &all);
        assert!(hit.is_none(), "{:?}", shape.field());
        let other = Shape::cuboid(Vector3::repeat(1.0), 1.0);
        let here = Isometry3::identity();
        let (other, own) = (other.at(&here), shape.at(&here));
        assert!(!other.overlaps(&own) && !own.overlaps(&other));
        let sweep = contact::Sweep { along: Vector3::x_axis(), max_distance: 1.0 };
        assert!(other.sweep(&sweep, &own).is_none());
    }
    for x in BAD {
        assert!(world.overlap_ball(&Point3::new(0.0, 0.5, 0.0), x, &all).is_empty(), "{x}");
        assert!(world.overlap_box(&Vector3::repeat(x), &above, &all).is_empty(), "{x}");
        let ball = world.cast_ball(&Point3::new(0.0, 5.0, 0.0), x, &-Vector3::y(), &all);
        assert!(ball.is_none(), "{x}");
    }
}

#[test]
fn negative_lengths_make_no_mass() {
    let refused = Err(MassError::Length { length: NEGATIVE });
    assert_eq!(MassProperties::ball(1.0, NEGATIVE), refused);
    assert_eq!(MassProperties::cuboid(1.0, &Vector3::new(1.0, NEGATIVE, 1.0)), refused);
    // two negative numbers would give a positive mass
    let ball = NewBody::ball(NEGATIVE, NEGATIVE).err();
    assert_eq!(ball, Some(RigidError::Mass(MassError::Length { length: NEGATIVE })));
}

#[test]
fn settings_without_a_time_step_freeze_every_body() {
    for dt in [0.0, -0.0, NEGATIVE].into_iter().chain(BAD) {
        let settings = Settings { dt, ..Settings::default() };
        assert!(!settings.is_usable(), "{dt}");
        let mut world = World::new(settings);
        let bodies = [floor(&mut world), world.add(cube(0.2, [0.0, 1.0, 0.0])).unwrap()];
        assert_eq!(world.step().events.frozen, bodies, "{dt}");
        for _ in 0..40 {
            assert!(world.step().events.frozen.is_empty(), "{dt}");
        }
        assert_eq!(world.get(bodies[1]).unwrap().pose.translation.y, 1.0, "{dt}");
    }
}

/// The cubes reach the floor within the first step or two.
#[test]
fn cubes_rest_in_steps_of_seconds() {
    for dt in [0.3, 1.0, 3.0] {
        let mut world = World::new(Settings { dt, ..Settings::default() });
        floor(&mut world);
        let cubes = [0.2, 1.0, 5.0].map(|y| world.add(cube(0.2, [2.0 * y, y, 0.0])).unwrap());
        steps(&mut world, 20);
        for id in cubes {
            let height = world.get(id).unwrap().pose.translation.y;
            assert!((height - 0.2).abs() < 1e-3, "{height} m in steps of {dt} s");
        }
    }
}

/// Bodies fall asleep after half a second at rest: more frames than an integer can count.
#[test]
fn time_steps_next_to_nothing_are_stepped() {
    for dt in [f64::MIN_POSITIVE, 1e-200, 1e-30, 1e-12] {
        let mut world = World::new(Settings { dt, ..Settings::default() });
        floor(&mut world);
        let cube = world.add(cube(0.2, [0.0, 0.2, 0.0])).unwrap();
        steps(&mut world, 3);
        assert!((world.get(cube).unwrap().pose.translation.y - 0.2).abs() < 1e-9, "{dt}");
    }
}

#[test]
fn impulses_that_add_up_beyond_the_limit_are_refused_and_change_nothing() {
    let mut world = World::new(Settings::default());
    let ball = world.add(ball(0.5, [0.0; 3])).unwrap();
    let most = Vector3::x() * 1e30;
    world.apply_impulse(ball, &most, None).unwrap();
    let before = world.fingerprint();
    let far = Point3::new(0.0, 1e10, 0.0);
    for (impulse, at) in [(most, None), (Vector3::x() * -1e25, Some(&far))] {
        assert_eq!(world.apply_impulse(ball, &impulse, at), Err(SteeringError::NotFinite));
        assert_eq!(world.fingerprint(), before);
    }
}

#[test]
fn wind_and_explosions_of_no_numbers_have_no_effect() {
    let run = |timeline: Timeline| {
        let mut world = World::new(Settings::default());
        floor(&mut world);
        world.add(cube(0.2, [0.0, 0.5, 0.0])).unwrap();
        world.set_timeline(timeline).unwrap();
        (0..5).for_each(|_| {
            let report = world.step();
            assert!(finite(&world, &report) && report.events.frozen.is_empty());
        });
        world.motion_hash()
    };
    let still = run(Timeline::default());
    let wind = Wind { velocity: Vector3::x() * 5.0, density: 1.2, drag: 1.0 };
    let blast = Explosion { at: Point3::origin(), radius: 2.0, impulse: 10.0 };
    let blown = |wind| run(Timeline { wind: Some(wind), ..Timeline::default() });
    let blasted = |blast| {
        run(Timeline {
            actions: vec![TimedAction { frame: 1, action: Action::Explode(blast) }],
            ..Timeline::default()
        })
    };
    assert!(blown(wind) != still && blasted(blast) != still);
    for x in BAD {
        assert_eq!(blown(Wind { velocity: Vector3::x() * x, ..wind }), still, "{x}");
        assert_eq!(blown(Wind { density: x, ..wind }), still, "{x}");
        assert_eq!(blown(Wind { drag: x, ..wind }), still, "{x}");
        assert_eq!(blasted(Explosion { at: Point3::new(x, 0.0, 0.0), ..blast }), still, "{x}");
        assert_eq!(blasted(Explosion { impulse: x, ..blast }), still, "{x}");
    }
    assert_eq!(blown(Wind { density: NEGATIVE, ..wind }), still);
    assert_eq!(blasted(Explosion { radius: f64::NAN, ..blast }), still);
}

fn pair(world: &mut World) -> [BodyId; 2] {
    [-0.5, 0.5].map(|x| world.add(cube(0.2, [x, 5.0, 0.0])).unwrap())
}

fn hinge(bodies: [BodyId; 2]) -> NewJoint {
    let anchor = Point3::new(0.0, 5.0, 0.0);
    let hinge = NewJoint::new(JointKind::Hinge, bodies, anchor);
    NewJoint { axis: Vector3::z(), collides: true, ..hinge }
}

#[test]
fn joints_of_no_numbers_are_refused() {
    let mut world = World::new(Settings::default());
    let hinge = hinge(pair(&mut world));
    let distance = |least, most| JointKind::Distance { least, most };
    let not_finite = |found: &JointError| *found == JointError::NotFinite;
    let no_distance = |found: &JointError| matches!(found, JointError::Distance(_));
    let no_motor = |found: &JointError| matches!(found, JointError::Motor { .. });
    let no_strength = |found: &JointError| matches!(found, JointError::Strength { .. });
    let mut refused = |joint: NewJoint, is_expected: &dyn Fn(&JointError) -> bool| {
        let found = world.add_joint(joint).expect_err("invalid numbers");
        assert!(is_expected(&found), "{joint:?}: {found:?}");
    };
    refused(NewJoint { axis: Vector3::zeros(), ..hinge }, &not_finite);
    refused(NewJoint { kind: distance(-2.0, -1.0), ..hinge }, &no_distance);
    refused(NewJoint { kind: distance(-1.0, 1.0), ..hinge }, &no_distance);
    for x in BAD {
        refused(NewJoint { axis: Vector3::z() * x, ..hinge }, &not_finite);
        refused(NewJoint { anchors: [Point3::new(x, 5.0, 0.0); 2], ..hinge }, &not_finite);
        refused(NewJoint { kind: distance(x, x), ..hinge }, &no_distance);
        let motor = |speed, max_force| Some(Motor { speed, max_force });
        refused(NewJoint { motor: motor(x, 1.0), ..hinge }, &no_motor);
    }
    for x in [f64::NAN, -1.0, f64::NEG_INFINITY] {
        let motor = Some(Motor { speed: 1.0, max_force: x });
        refused(NewJoint { motor, ..hinge }, &no_motor);
        refused(NewJoint { break_force: x, ..hinge }, &no_strength);
        refused(NewJoint { break_torque: x, ..hinge }, &no_strength);
    }
    for x in [INFINITE, f64::NEG_INFINITY] {
        let found = world.add_joint(NewJoint { limits: Some([x, x]), ..hinge });
        assert!(matches!(found, Err(JointError::Limits { .. })), "{x}: {found:?}");
    }
    let rope = NewJoint { kind: distance(0.0, INFINITE), ..hinge };
    let one_sided = NewJoint { limits: Some([0.0, INFINITE]), ..hinge };
    assert!(world.add_joint(rope).is_ok() && world.add_joint(one_sided).is_ok());
}

properties! {
    /// The documentation of the axis allows "any length but zero".
    #[test]
    fn the_length_of_the_axis_of_a_joint_does_not_matter(
        axis in vector(1.0), exponent in -300..29_i32,
    ) {
        let Some(axis) = UnitVector3::try_new(axis, 1e-3) else { return Ok(()) };
        let run = |axis| {
            let mut world = World::new(Settings::default());
            let hinge = hinge(pair(&mut world));
            let motor = Some(Motor { speed: 3.0, max_force: 2.0 });
            world.add_joint(NewJoint { axis, motor, ..hinge }).unwrap();
            steps(&mut world, 5);
            *world.iter().next().unwrap().pose
        };
        let (unit, scaled) = (run(*axis), run(*axis * 10_f64.powi(exponent)));
        prop_assert!((unit.inv_mul(&scaled).translation.vector).norm() < 1e-9);
        prop_assert!(unit.rotation.angle_to(&scaled.rotation) < 1e-6);
    }
}

/// The corners of a triangle mesh may be far outside the simulated region.
#[test]
fn an_endless_triangle_is_frozen() {
    let far = 1e200 * FRAC_1_SQRT_2;
    let corners = [[0.0, 0.0, 0.0], [far, 0.0, 0.0], [0.0, 0.0, -far]].map(Point3::from);
    let mesh = TriMesh { vertices: corners.to_vec(), triangles: vec![[0, 1, 2]] };
    let Ok(triangles) = contact::Triangles::new(&mesh, 0.1) else { return };
    let mut world = World::new(Settings::default());
    let shape = Shape::mesh(Arc::new(triangles));
    let id = world.add(body(Body::Static, shape, Isometry3::identity())).unwrap();
    assert_eq!(world.step().events.frozen, [id]);
}

#[test]
fn reports_stay_finite_without_a_finite_gravity() {
    let solvers = [
        Solver::Manifold,
        Solver::reference(),
        Solver::SequentialImpulse(SequentialImpulse::default()),
        Solver::QuadraticProgram,
        Solver::Impulse,
        Solver::Ku07,
    ];
    for (solver, x) in solvers.into_iter().flat_map(|solver| BAD.map(|x| (solver, x))) {
        let contact = contact::Settings { solver, ..contact::Settings::default() };
        let gravity = Vector3::new(0.0, x, 0.0);
        let mut world = World::new(Settings { gravity, contact, ..Settings::default() });
        floor(&mut world);
        let velocity = Velocity { linear: Vector3::new(0.0, -3.0, 1.0), ..Velocity::default() };
        let cubes = [0.2, 0.6, 3.0]
            .map(|y| world.add(NewBody { velocity, ..cube(0.2, [0.0, y, 0.0]) }).unwrap());
        for _ in 0..5 {
            let report = world.step();
            assert!(finite(&world, &report), "{solver:?}, {x}: {:?}", report.energy);
            assert_eq!(report.events.frozen, cubes, "{solver:?}, {x}");
        }
        world.set_gravity(Vector3::new(0.0, -9.81, 0.0)).unwrap();
        assert!(world.step().events.frozen.is_empty(), "{solver:?}, {x}");
    }
}

#[test]
fn contact_settings_of_no_numbers_freeze_every_body() {
    type Change = fn(&mut contact::Settings, f64);
    let changes: [Change; 7] = [
        |settings, x| settings.rough_speed = x,
        |settings, x| settings.settled_speed = x,
        |settings, x| settings.push_out = x,
        |settings, x| settings.slop = x,
        |settings, x| settings.resting_speed = x,
        |settings, x| settings.resting_share = x,
        |settings, x| {
            let own = SequentialImpulse { error_reduction: x, ..SequentialImpulse::default() };
            settings.solver = Solver::SequentialImpulse(own);
        },
    ];
    for (n, change) in changes.into_iter().enumerate() {
        for x in BAD.into_iter().chain([NEGATIVE]) {
            let mut settings = Settings::default();
            change(&mut settings.contact, 0.0);
            assert!(settings.is_usable());
            change(&mut settings.contact, x);
            assert!(!settings.is_usable() && !settings.contact.is_usable(), "{n}: {x}");
            let mut world = World::new(settings);
            let bodies = [floor(&mut world), world.add(cube(0.2, [0.0, 1.0, 0.0])).unwrap()];
            let report = world.step();
            assert_eq!(report.events.frozen, bodies, "{n}: {x}");
            assert!(finite(&world, &report), "{n}: {x}");
        }
    }
}
