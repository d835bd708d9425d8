//! Joints, against analytic motion and equations in reduced coordinates.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use contact::constraint::{FrictionBounds, JointKind, Motor, SequentialImpulse};
use contact::{Clamp, Shape, Solver};
use dynamics::{Body, MassProperties, Velocity};
use nalgebra::{Isometry3, Matrix2, Point3, UnitQuaternion, Vector2, Vector3};
use sim::scene::Scene;
use sim::{BodyId, JointError, JointId, JointState, NewBody, NewJoint, Settings, World, build};

const G: f64 = 9.81;

const SEQUENTIAL: Solver = Solver::SequentialImpulse(SequentialImpulse {
    sweeps: 100,
    error_reduction: 0.2,
    friction: FrictionBounds::Cone,
    warm_start: true,
});

const WITH_JOINTS: [Solver; 3] = [Solver::Manifold, SEQUENTIAL, Solver::QuadraticProgram];

fn world(solver: Solver, fps: f64) -> World {
    // tests only joints, not the effect of the clamp
    let contact = contact::Settings { solver, clamp: Clamp::Off, ..contact::Settings::default() };
    World::new(Settings { dt: 1.0 / fps, contact, sleep: false, ..Settings::default() })
}

fn ghost(world: &mut World, body: Body, pose: Isometry3<f64>) -> BodyId {
    world.add(NewBody { pose, ..NewBody::of(body, Shape::empty()) }).unwrap()
}

pub(crate) fn mass(mass: f64, inertia: [f64; 3]) -> Body {
    Body::Dynamic(MassProperties::new(mass, inertia.into()).unwrap())
}

/// A joint at `place` along z with unlimited strength.
pub(crate) fn joint(
    kind: JointKind,
    bodies: [BodyId; 2],
    place: impl Into<Point3<f64>>,
) -> NewJoint {
    NewJoint { axis: Vector3::z(), ..NewJoint::new(kind, bodies, place.into()) }
}

fn state(world: &World, id: JointId) -> JointState {
    world.joint(id).unwrap()
}

fn place(world: &World, id: BodyId) -> Vector3<f64> {
    world.get(id).unwrap().pose.translation.vector
}

/// Fourth-order Runge-Kutta over `time` s in steps of 0.1 ms.
fn follow<const N: usize>(
    start: [f64; N],
    time: f64,
    rate: impl Fn(&[f64; N]) -> [f64; N],
) -> [f64; N] {
    let steps = (time / 1e-4).round() as usize;
    let h = time / steps as f64;
    let add = |x: &[f64; N], r: &[f64; N], s: f64| std::array::from_fn(|k| x[k] + s * r[k]);
    let mut x = start;
    for _ in 0..steps {
        let a = rate(&x);
        let b = rate(&add(&x, &a, 0.5 * h));
        let c = rate(&add(&x, &b, 0.5 * h));
        let d = rate(&add(&x, &c, h));
        x = std::array::from_fn(|k| x[k] + h / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]));
    }
    x
}

/// A rod of 1 kg and 1 m, initially level, that hangs at its end by `kind`.
fn pendulum(solver: Solver, fps: f64, kind: JointKind) -> (World, BodyId, JointId) {
    let mut world = world(solver, fps);
    let nail = ghost(&mut world, Body::Static, Isometry3::identity());
    let rod = mass(1.0, [1e-4, 1.0 / 12.0, 1.0 / 12.0]);
    let rod = ghost(&mut world, rod, Isometry3::translation(0.5, 0.0, 0.0));
    let hung = world.add_joint(joint(kind, [rod, nail], Point3::origin())).unwrap();
    (world, rod, hung)
}

#[test]
fn a_pendulum_swings_as_its_equation_says() {
    // angle from the downward vertical; a rod about its end: 3 g / 2 l
    let exact = follow([PI / 2.0, 0.0], 1.0, |x| [x[1], -1.5 * G * x[0].sin()]);
    for (solver, near) in WITH_JOINTS.into_iter().zip([1e-3, 0.05, 0.05]) {
        for kind in [JointKind::Point, JointKind::Hinge] {
            let (mut world, rod, hung) = pendulum(solver, 240.0, kind);
            for _ in 0..240 {
                world.step();
            }
            let at = place(&world, rod);
            let angle = at.x.atan2(-at.y);
            assert!((angle - exact[0]).abs() < near, "{solver:?} {kind:?}: {angle} {}", exact[0]);
            let [error, bend] = state(&world, hung).error;
            assert!(error < 1e-3 && bend < 1e-3 && (at.z.abs() < 1e-9), "{solver:?} {kind:?}");
        }
    }
}

#[test]
fn the_default_solver_keeps_a_pendulum_swinging_at_one_step_a_frame() {
    let (mut world, rod, _) = pendulum(Solver::Manifold, 30.0, JointKind::Hinge);
    let mut highest = f64::NEG_INFINITY;
    for frame in 0..300 {
        world.step();
        if frame > 240 {
            highest = highest.max(place(&world, rod).y);
        }
    }
    // its height changes from 0 to -0.5 m
    assert!(highest > -0.01 && highest < 1e-3, "{highest} m after 10 s");
}

#[test]
fn two_rods_in_a_chain_swing_as_lagrange_says() {
    let rate = |x: &[f64; 4]| {
        let [a, b, p, q] = *x;
        let (s, c) = (a - b).sin_cos();
        let matrix = Matrix2::new(4.0 / 3.0, 0.5 * c, 0.5 * c, 1.0 / 3.0);
        let side = -Vector2::new(
            0.5 * q * q * s + 1.5 * G * a.sin(),
            -0.5 * p * p * s + 0.5 * G * b.sin(),
        );
        let spin = matrix.try_inverse().unwrap() * side;
        [p, q, spin.x, spin.y]
    };
    let exact = follow([PI / 2.0, PI / 2.0, 0.0, 0.0], 0.8, rate);
    let end = Vector3::new(exact[0].sin() + exact[1].sin(), -exact[0].cos() - exact[1].cos(), 0.0);
    for (solver, near) in WITH_JOINTS.into_iter().zip([4e-3, 0.06, 0.06]) {
        let mut world = world(solver, 240.0);
        let nail = ghost(&mut world, Body::Static, Isometry3::identity());
        let mut ids = vec![nail];
        for i in 0..2 {
            let at = Vector3::x() * (f64::from(i) + 0.5);
            let rod = mass(1.0, [1e-4, 1.0 / 12.0, 1.0 / 12.0]);
            ids.push(ghost(&mut world, rod, Isometry3::from(at)));
            let place = Point3::new(f64::from(i), 0.0, 0.0);
            let bodies = [ids[i as usize + 1], ids[i as usize]];
            world.add_joint(joint(JointKind::Point, bodies, place)).unwrap();
        }
        for _ in 0..192 {
            world.step();
        }
        let tip = world.get(ids[2]).unwrap().pose * Point3::new(0.5, 0.0, 0.0);
        let off = (tip.coords - end).norm();
        assert!(off < near, "{solver:?}: {off} m");
    }
}

#[test]
fn baumgarte_takes_its_share_of_the_error_away_in_each_step() {
    for share in [0.05, 0.2, 0.7] {
        let solver = Solver::SequentialImpulse(SequentialImpulse {
            error_reduction: share,
            ..SequentialImpulse::default()
        });
        let contact = contact::Settings { solver, clamp: Clamp::Off, ..Default::default() };
        let gravity = Vector3::zeros();
        let mut world =
            World::new(Settings { contact, gravity, sleep: false, ..Settings::default() });
        let nail = ghost(&mut world, Body::Static, Isometry3::identity());
        let ball = ghost(&mut world, mass(2.0, [1.0; 3]), Isometry3::translation(0.1, 0.2, 0.0));
        let anchors = [Point3::new(0.1, 0.2, 0.0), Point3::origin()];
        let point = joint(JointKind::Point, [ball, nail], Point3::origin());
        let hung = world.add_joint(NewJoint { anchors, ..point }).unwrap();
        let start = state(&world, hung).error[0];
        for step in 1..=40 {
            world.step();
            let predicted = start * (1.0_f64 - share).powi(step);
            assert!((state(&world, hung).error[0] - predicted).abs() < 1e-12);
        }
    }
}

#[test]
fn a_motor_speeds_a_hinge_up_with_its_torque_until_it_runs_at_its_speed() {
    for solver in WITH_JOINTS {
        let mut world = world(solver, 120.0);
        let axle = ghost(&mut world, Body::Static, Isometry3::identity());
        let wheel = ghost(&mut world, mass(4.0, [0.3, 0.3, 0.5]), Isometry3::identity());
        let hinge = joint(JointKind::Hinge, [wheel, axle], Point3::origin());
        let motor = Some(Motor { speed: 6.0, max_force: 2.0 });
        world.add_joint(NewJoint { motor, ..hinge }).unwrap();
        // 2 N m on 0.5 kg m^2: 4 rad/s^2
        let spin = |world: &World| world.get(wheel).unwrap().momentum.angular.z / 0.5;
        for _ in 0..120 {
            world.step();
        }
        assert!((spin(&world) - 4.0).abs() < 1e-6, "{solver:?}: {}", spin(&world));
        for _ in 0..120 {
            world.step();
        }
        assert!((spin(&world) - 6.0).abs() < 1e-6, "{solver:?}: {}", spin(&world));
    }
}

#[test]
fn limits_stop_hinges_sliders_and_ropes() {
    for solver in WITH_JOINTS {
        let mut world = world(solver, 120.0);
        let nail = ghost(&mut world, Body::Static, Isometry3::identity());
        let rod = mass(1.0, [1e-4, 1.0 / 12.0, 1.0 / 12.0]);
        let rod = ghost(&mut world, rod, Isometry3::translation(0.5, 0.0, 0.0));
        let hinge = joint(JointKind::Hinge, [rod, nail], Point3::origin());
        let hinge = world.add_joint(NewJoint { limits: Some([-0.5, 0.3]), ..hinge }).unwrap();
        let ball = mass(1.0, [0.1; 3]);
        let bead = ghost(&mut world, ball, Isometry3::translation(3.0, 0.0, 0.0));
        let slider = joint(JointKind::Slider, [bead, nail], Point3::new(3.0, 0.0, 0.0));
        let axis = Vector3::new(1.0, -1.0, 0.0);
        let slider = NewJoint { limits: Some([-1.0, 0.4]), axis, ..slider };
        let slider = world.add_joint(slider).unwrap();
        let plumb = ghost(&mut world, ball, Isometry3::translation(-3.0, 0.0, 0.0));
        let rope = JointKind::Distance { least: 0.0, most: 0.7 };
        let rope = joint(rope, [plumb, nail], Point3::new(-3.0, 0.0, 0.0));
        let rope = world.add_joint(rope).unwrap();
        let mut slid = 0.0;
        for frame in 0..360 {
            world.step();
            if frame == 29 {
                slid = state(&world, slider).coordinate;
            }
        }
        // a quarter of a second down a slope of 45 degrees
        let fallen = 0.5 * G * 0.5_f64.sqrt() * 0.25 * 0.25;
        assert!((slid - fallen).abs() < 0.02, "{solver:?}: {slid} {fallen}");
        for (id, end) in [(hinge, -0.5), (slider, 0.4), (rope, 0.7)] {
            let at = state(&world, id).coordinate;
            assert!((at - end).abs() < 0.01, "{solver:?} {:?}: {at} {end}", state(&world, id).kind);
        }
    }
}

#[test]
fn a_weld_bears_weight_and_torque_and_tells_them() {
    for solver in WITH_JOINTS {
        let mut world = world(solver, 120.0);
        let wall = ghost(&mut world, Body::Static, Isometry3::identity());
        let beam = mass(3.0, [0.1, 0.3, 0.3]);
        let beam = ghost(&mut world, beam, Isometry3::translation(0.8, 0.0, 0.0));
        let weld = joint(JointKind::Fixed, [beam, wall], Point3::origin());
        let weld = world.add_joint(weld).unwrap();
        for _ in 0..240 {
            world.step();
        }
        let now = state(&world, weld);
        assert!((now.force.y / (3.0 * G) - 1.0).abs() < 0.01, "{solver:?}: {:?}", now.force);
        assert!(
            (now.torque.z / (3.0 * G * 0.8) - 1.0).abs() < 0.01,
            "{solver:?}: {:?}",
            now.torque
        );
        assert!(now.error[0] < 1e-3 && now.error[1] < 1e-3, "{solver:?}: {:?}", now.error);
    }
}

#[test]
fn a_joint_breaks_at_its_force_and_at_its_torque() {
    for solver in WITH_JOINTS {
        let weight = 3.0 * G;
        let hang = |force: f64, torque: f64| {
            let mut world = world(solver, 60.0);
            let wall = ghost(&mut world, Body::Static, Isometry3::identity());
            let beam = mass(3.0, [0.1, 0.3, 0.3]);
            let beam = ghost(&mut world, beam, Isometry3::translation(0.8, 0.0, 0.0));
            let weld = joint(JointKind::Fixed, [beam, wall], Point3::origin());
            let weld = NewJoint { break_force: force, break_torque: torque, ..weld };
            let id = world.add_joint(weld).unwrap();
            let broken: Vec<JointId> =
                (0..60).flat_map(|_| world.step().events.broken_joints).collect();
            assert!(broken.is_empty() || broken == [id]);
            assert_eq!(broken.is_empty(), place(&world, beam).y > -0.1, "broken beams fall");
            !broken.is_empty()
        };
        let most = f64::INFINITY;
        assert!(hang(0.9 * weight, most) && !hang(1.3 * weight, most), "{solver:?}");
        assert!(hang(most, 0.9 * 0.8 * weight) && !hang(most, 1.3 * 0.8 * weight), "{solver:?}");
    }
}

/// A joint that an impact breaks transmits no impulse: both bodies move as without a joint.
#[test]
fn a_joint_that_an_impact_breaks_does_not_stop_it() {
    let struck = |strength: Option<f64>| {
        let mut world = World::new(Settings { gravity: Vector3::zeros(), ..Settings::default() });
        let wall = ghost(&mut world, Body::Static, Isometry3::identity());
        let cube = |x: f64, speed: f64| NewBody {
            pose: Isometry3::translation(x, 0.0, 0.0),
            velocity: Velocity { linear: Vector3::x() * speed, ..Velocity::default() },
            ..NewBody::cuboid(Vector3::repeat(0.1), 1000.0).unwrap()
        };
        let bodies = [cube(0.0, 0.0), cube(-1.03, 15.0)].map(|new| world.add(new).unwrap());
        if let Some(break_force) = strength {
            let weld = joint(JointKind::Fixed, [bodies[0], wall], Point3::origin());
            world.add_joint(NewJoint { break_force, ..weld }).unwrap();
        }
        let broken: usize = (0..4).map(|_| world.step().events.broken_joints.len()).sum();
        (broken, bodies.map(|id| world.get(id).unwrap().momentum.linear.x / 8.0))
    };
    let (_, free) = struck(None);
    let (broken, speeds) = struck(Some(1000.0));
    assert!(free[0] > 1.0 && broken == 1, "{free:?}, {broken} broken");
    assert!((0..2).all(|n| (speeds[n] - free[n]).abs() < 1e-9), "{speeds:?} for {free:?}");
    let (broken, speeds) = struck(Some(1e6));
    assert!(broken == 0 && speeds[0].abs() < 1e-6 && speeds[1] < 1e-6, "{speeds:?}");
}

#[test]
fn joints_that_cannot_be_are_refused() {
    let mut world = world(Solver::Manifold, 30.0);
    let nail = ghost(&mut world, Body::Static, Isometry3::identity());
    let other = ghost(&mut world, Body::Static, Isometry3::identity());
    let ball = ghost(&mut world, mass(1.0, [1.0; 3]), Isometry3::identity());
    let good = joint(JointKind::Hinge, [ball, nail], Point3::origin());
    let mut refused = |new: NewJoint| world.add_joint(new).unwrap_err();
    assert_eq!(refused(NewJoint { bodies: [ball, ball], ..good }), JointError::Bodies);
    assert_eq!(refused(NewJoint { bodies: [nail, other], ..good }), JointError::Immovable);
    assert_eq!(refused(NewJoint { axis: Vector3::zeros(), ..good }), JointError::NotFinite);
    assert!(matches!(
        refused(NewJoint { break_force: f64::NAN, ..good }),
        JointError::Strength { .. }
    ));
    let limits = Some([1.0, -1.0]);
    assert_eq!(refused(NewJoint { limits, ..good }), JointError::Limits { least: 1.0, most: -1.0 });
    let point = NewJoint { kind: JointKind::Point, limits: Some([0.0, 1.0]), ..good };
    assert_eq!(refused(point), JointError::NoAxis);
    assert!(world.remove(nail));
    assert_eq!(world.add_joint(good), Err(JointError::Bodies));
    for solver in [Solver::Ku07, Solver::reference()] {
        let mut world = self::world(solver, 30.0);
        let nail = ghost(&mut world, Body::Static, Isometry3::identity());
        let ball = ghost(&mut world, mass(1.0, [1.0; 3]), Isometry3::identity());
        let joined = world.add_joint(joint(JointKind::Point, [ball, nail], Point3::origin()));
        assert_eq!(joined, Err(JointError::Solver));
    }
}

const CHAIN: &str = r#"
    version = 1
    [simulation]
    fps = 60
    [[body]]
    name = "hook"
    shape = { box = { half_extents = [0.1, 0.1, 0.1] } }
    motion = "static"
    position = [0, 2, 0]
    [[body]]
    name = "link"
    shape = { box = { half_extents = [0.02, 0.2, 0.02] } }
    density = 2000
    position = [0, 1.7, 0]
    [[body]]
    name = "weight"
    shape = { sphere = { radius = 0.1 } }
    density = 2000
    position = [0, 1.4, 0]
    [[joints]]
    kind = "point"
    bodies = ["link", "hook"]
    anchor = [0, 1.9, 0]
    [[joints]]
    kind = "point"
    bodies = ["weight", "link"]
    anchor = [0, 1.5, 0]
"#;

#[test]
fn what_is_joined_sleeps_and_wakes_together() {
    let scene = Scene::from_toml(CHAIN).unwrap();
    let (mut world, bodies) = build(&scene, &BTreeMap::new()).unwrap();
    let reports: Vec<_> = (0..120).map(|_| world.step()).collect();
    assert_eq!(reports[119].counters.awake, 0, "the chain is asleep");
    let asleep = |world: &World, n: usize| world.get(bodies[n].body).unwrap().asleep;
    assert!(asleep(&world, 1) && asleep(&world, 2));
    let ids: Vec<JointId> = world.joints().map(|joint| joint.id).collect();
    assert!(world.remove_joint(ids[0]) && !world.remove_joint(ids[0]));
    assert!(!asleep(&world, 1) && !asleep(&world, 2), "both fall");
    for _ in 0..30 {
        world.step();
    }
    let fallen = [1, 2].map(|n| place(&world, bodies[n].body).y);
    let exact = 0.5 * G * 0.25;
    assert!((1.7 - fallen[0] - exact).abs() < 0.05 && (1.4 - fallen[1] - exact).abs() < 0.05);
    assert!((fallen[0] - fallen[1] - 0.3).abs() < 1e-2, "the joint still connects them");
}

#[test]
fn a_blow_on_one_end_wakes_and_moves_the_other() {
    let thrown = r#"
    [[body]]
    name = "shot"
    shape = { sphere = { radius = 0.05 } }
    density = 7000
    position = [-20, 1.45, 0]
    velocity = [10, 9.81, 0]
    "#;
    let scene = Scene::from_toml(&format!("{CHAIN}{thrown}")).unwrap();
    let (mut world, bodies) = build(&scene, &BTreeMap::new()).unwrap();
    for _ in 0..110 {
        world.step();
    }
    assert!(world.get(bodies[2].body).unwrap().asleep);
    let mut far: f64 = 0.0;
    for _ in 0..40 {
        world.step();
        far = far.max(place(&world, bodies[1].body).x);
    }
    assert!(far > 0.01, "the link swings too: {far}");
    let errors: Vec<f64> = world.joints().map(|joint| joint.error[0]).collect();
    assert!(errors.len() == 2 && errors.iter().all(|error| *error < 0.01), "{errors:?}");
}

#[test]
fn a_piece_takes_over_the_joint_of_the_body_it_broke_off() {
    let scene = r#"
    version = 1
    [pattern.two.voronoi]
    pieces = 8
    clustering = 0
    [[body]]
    name = "nail"
    shape = { sphere = { radius = 0.01 } }
    motion = "static"
    position = [0, 3, 0]
    [[body]]
    name = "sign"
    shape = { box = { half_extents = [0.4, 0.3, 0.05], spacing = 0.02 } }
    density = 1000
    position = [0, 2.7, 0]
    fracture = { pattern = "two", strength = 5, generations = 1 }
    [[body]]
    name = "shot"
    shape = { sphere = { radius = 0.08 } }
    density = 5000
    position = [0.1, 2.6, 1]
    velocity = [0, 1, -10]
    [[joints]]
    kind = "point"
    bodies = ["sign", "nail"]
    anchor = [0, 2.99, 0]
    "#;
    let (mut world, bodies) = build(&Scene::from_toml(scene).unwrap(), &BTreeMap::new()).unwrap();
    for _ in 0..90 {
        world.step();
    }
    assert!(world.get(bodies[1].body).is_none(), "the sign broke");
    let joint = world.joints().next().expect("a piece still hangs");
    assert!(joint.error[0] < 0.02);
    let piece = world.get(joint.bodies[0]).unwrap();
    assert!(piece.lineage.is_some() && piece.pose.translation.vector.y > 2.4);
    let fallen = world.iter().filter(|s| s.pose.translation.vector.y < 0.0).count();
    assert!(fallen > 0, "others fell");
}

#[test]
fn scenes_say_what_is_wrong_with_a_joint() {
    let problem = |joint: &str| {
        let error = Scene::from_toml(&format!("{CHAIN}\n[[joints]]\n{joint}")).unwrap_err();
        error.to_string()
    };
    let said = |joint: &str, what: &str| {
        let message = problem(joint);
        assert!(message.contains(what), "{message}");
    };
    let ends = "bodies = [\"weight\", \"hook\"]\nanchor = [0, 0, 0]\n";
    said(
        "kind = \"point\"\nbodies = [\"wieght\", \"hook\"]\nanchor = [0, 0, 0]",
        "did you mean `weight`",
    );
    said("kind = \"point\"\nbodies = [\"hook\", \"hook\"]\nanchor = [0, 0, 0]", "one body twice");
    said(&format!("kind = \"hinge\"\n{ends}axis = [0, 0, 0]"), "direction");
    said(&format!("kind = \"hinge\"\n{ends}limits = [10, -10]"), "ascend");
    said(&format!("kind = \"point\"\n{ends}motor = {{ speed = 1, most = 1 }}"), "only `hinge`");
    said(&format!("kind = \"hing\"\n{ends}"), "hinge");
    let hinge = |more: &str| format!("kind = \"hinge\"\n{ends}{more}");
    said(&hinge("axis = [0, nan, 0]"), "joints[2].axis");
    said(&hinge("limits = [nan, 10]"), "joints[2].limits");
    said(&hinge("limits = [-200, 10]"), "between -179 and 179");
    said(&hinge("motor = { speed = inf, most = 1 }"), "motor.speed");
    said(&hinge("motor = { speed = 1, most = -1 }"), "motor.most");
    said(&hinge("break_force = 0"), "leave it out");
    said(&hinge("break_torque = -1"), "leave it out");
    said(&hinge("second_anchor = [0, 1, 0]"), "only `distance`");
    said(&format!("kind = \"distance\"\n{ends}limits = [-1, 2]"), "between 0 and");
    said(
        "kind = \"point\"\nbodies = [\"weight\", \"hook\"]\nanchor = [nan, 0, 0]",
        "joints[2].anchor",
    );
    let fixed = CHAIN.replace("density = 2000", "density = 2000\nmotion = \"static\"");
    let message = Scene::from_toml(&fixed).unwrap_err().to_string();
    assert!(message.contains("motion = \"dynamic\""), "{message}");
    let reference = CHAIN.replace("fps = 60", "fps = 60\nsolver = \"reference\"");
    let message = Scene::from_toml(&reference).unwrap_err().to_string();
    assert!(message.contains("has no joints"), "{message}");
}

#[test]
fn the_impulse_cache_of_a_long_pile_does_not_grow() {
    let scene = r#"
    version = 1
    [simulation]
    fps = 120
    sleep = false
    solver = "sequential_impulse"
    [[body]]
    name = "floor"
    shape = { plane = {} }
    motion = "static"
    [[body]]
    name = "brick"
    shape = { box = { half_extents = [0.1, 0.1, 0.1] } }
    position = [0, 0.12, 0]
    copies = { count = [2, 4, 2], spacing = [0.22, 0.22, 0.22], jitter = 0.02 }
    "#;
    let (mut world, _) = build(&Scene::from_toml(scene).unwrap(), &BTreeMap::new()).unwrap();
    let (mut most, mut found, mut contacts, mut remembered) = (0, 0, 0, [0; 2]);
    for frame in 0..960 {
        let report = world.step();
        most = most.max(report.counters.contacts);
        let half = usize::from(frame >= 480);
        remembered[half] = report.counters.impulses_remembered.max(remembered[half]);
        if half == 1 {
            (found, contacts) =
                (found + report.counters.impulses_found, contacts + report.counters.contacts);
        }
    }
    // the contacts of the frame and of ten previous frames
    assert!(remembered[0] <= 11 * most, "{remembered:?} {most}");
    assert!(remembered[1] <= remembered[0], "{remembered:?}");
    assert!(found * 2 > contacts, "{found} of {contacts} contacts had warm-start impulses at rest");
    let rotation = UnitQuaternion::<f64>::identity();
    assert!(
        world.iter().all(|s| s.pose.translation.vector.y > -0.02
            && s.pose.rotation.angle_to(&rotation).is_finite())
    );
}

/// A world without gravity, with moving bodies 1 m apart along x.
fn afloat(fps: f64) -> World {
    let contact = contact::Settings { clamp: Clamp::Off, ..contact::Settings::default() };
    let gravity = Vector3::zeros();
    World::new(Settings { dt: 1.0 / fps, contact, gravity, sleep: false, ..Settings::default() })
}

fn moving(world: &mut World, x: f64, [linear, angular]: [[f64; 3]; 2]) -> BodyId {
    world
        .add(NewBody {
            pose: Isometry3::translation(x, 0.0, 0.0),
            velocity: Velocity { linear: linear.into(), angular: angular.into() },
            ..NewBody::of(mass(40.0, [0.27, 3.5, 3.5]), Shape::empty())
        })
        .unwrap()
}

#[test]
fn what_is_welded_together_and_tumbles_gains_no_energy() {
    let mut world = afloat(30.0);
    let spin = [4.0, 0.2, 1.5];
    let a = moving(&mut world, 0.0, [[0.0, -0.75, 0.1], spin]);
    let b = moving(&mut world, 1.0, [[0.0, 0.75, -0.1], spin]);
    world.add_joint(joint(JointKind::Fixed, [a, b], Point3::new(0.5, 0.0, 0.0))).unwrap();
    let start = world.step().energy.kinetic;
    for frame in 0..600 {
        let energy = world.step().energy.kinetic;
        assert!(energy <= start * (1.0 + 1e-9) && energy > 0.9 * start, "{frame}: {energy}");
    }
}

#[test]
fn a_motor_turns_bodies_that_touch_nothing() {
    let mut world = afloat(30.0);
    let [a, b] = [0.0, 1.0].map(|x| moving(&mut world, x, [[0.0; 3]; 2]));
    let motor = Some(Motor { speed: 2.0, max_force: 100.0 });
    let hinge = joint(JointKind::Hinge, [a, b], Point3::new(0.5, 0.0, 0.0));
    world.add_joint(NewJoint { motor, ..hinge }).unwrap();
    (0..60).for_each(|_| drop(world.step()));
    let [p, q] = [a, b].map(|id| {
        let state = world.get(id).unwrap();
        state.body.velocity(&state.pose.rotation, state.momentum)
    });
    assert!((p.angular.z - q.angular.z - 2.0).abs() < 0.05, "{} {}", p.angular, q.angular);
    let sum = p.linear + q.linear;
    assert!(sum.norm() < 1e-9, "{sum}");
}

#[test]
fn a_rope_that_is_pulled_taut_takes_what_it_stops() {
    let mut world = afloat(30.0);
    let hook = ghost(&mut world, Body::Static, Isometry3::translation(0.0, 0.0, 0.0));
    let ball = moving(&mut world, 1.0, [[3.0, 1.0, 0.0], [0.0; 3]]);
    let rope = NewJoint {
        anchors: [Point3::new(1.0, 0.0, 0.0), Point3::origin()],
        ..joint(JointKind::Distance { least: 0.0, most: 1.5 }, [ball, hook], Point3::origin())
    };
    world.add_joint(rope).unwrap();
    for _ in 0..60 {
        world.step();
    }
    // the angular momentum about the hook is conserved, at the length of the rope
    let angular: f64 = 40.0;
    let energy = world.step().energy.kinetic;
    let most = angular * angular / (2.0 * 40.0 * 1.5 * 1.5);
    assert!(energy < 1.02 * most && energy > 0.9 * most, "{energy} of {most}");
}

/// 50 links of 0.2 m, level from a nail, with transverse velocities proportional to the distance.
fn whip(kind: JointKind, speed: f64) -> World {
    const LINKS: u32 = 50;
    let mut world = world(Solver::Manifold, 30.0);
    let mut last = ghost(&mut world, Body::Static, Isometry3::identity());
    for i in 0..LINKS {
        let at = 0.2 * (f64::from(i) + 0.5);
        let share = at / (0.2 * f64::from(LINKS));
        // hinged links rotate only about z
        let aside = if kind == JointKind::Hinge { 0.0 } else { 0.3 * speed * share * share };
        let link = world
            .add(NewBody {
                pose: Isometry3::translation(at, 0.0, 0.0),
                velocity: Velocity {
                    linear: Vector3::new(0.0, speed * share.powi(4), aside),
                    ..Velocity::default()
                },
                ..NewBody::of(mass(0.1, [1e-5, 3.3e-4, 3.3e-4]), Shape::empty())
            })
            .unwrap();
        let place = Point3::new(0.2 * f64::from(i), 0.0, 0.0);
        world.add_joint(joint(kind, [link, last], place)).unwrap();
        last = link;
    }
    world
}

#[test]
fn a_whipped_chain_does_not_part_and_gains_no_energy() {
    for (kind, speed) in [
        (JointKind::Point, 0.0),
        (JointKind::Point, 5.0),
        (JointKind::Point, 30.0),
        (JointKind::Hinge, 5.0),
        (JointKind::Hinge, 30.0),
    ] {
        let mut world = whip(kind, speed);
        let mut energy = f64::INFINITY;
        for frame in 0..150 {
            let report = world.step();
            let parts = world.joints().map(|joint| joint.error[0]).fold(0.0, f64::max);
            assert!(parts < 1e-6, "{kind:?} {speed} m/s, frame {frame}: {parts} m");
            let now = report.energy.kinetic + report.energy.potential;
            assert!(now < energy + 1e-9, "{kind:?} {speed} m/s, frame {frame}: {now} J");
            energy = now;
        }
    }
}

#[test]
fn legs_that_do_not_need_each_other_share_what_they_bear() {
    let mut world = world(Solver::Manifold, 30.0);
    let ground = ghost(&mut world, Body::Static, Isometry3::identity());
    let table = mass(8.0, [0.5, 0.8, 0.5]);
    let table = ghost(&mut world, table, Isometry3::translation(0.0, 1.0, 0.0));
    let legs: Vec<JointId> = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        .map(|(x, z)| {
            let foot = Point3::new(x, 0.0, z);
            world.add_joint(joint(JointKind::Point, [table, ground], foot)).unwrap()
        })
        .to_vec();
    for _ in 0..30 {
        world.step();
    }
    for leg in legs {
        let force = state(&world, leg).force.y;
        assert!((force / (2.0 * G) - 1.0).abs() < 0.01, "{force}");
    }
}

/// A bar of 2 m along x, its left end hinged to the world at the origin.
fn hinged_bar() -> (World, BodyId, JointId) {
    let mut world = world(Solver::Manifold, 30.0);
    let nail = ghost(&mut world, Body::Static, Isometry3::identity());
    let bar = NewBody::cuboid(Vector3::new(1.0, 0.1, 0.1), 500.0).unwrap();
    let bar = world.add(bar.at(&Isometry3::translation(1.0, 0.0, 0.0))).unwrap();
    let hinge = world.add_joint(joint(JointKind::Hinge, [bar, nail], Point3::origin())).unwrap();
    (world, bar, hinge)
}

#[test]
fn the_joint_of_a_removed_body_is_left_out_and_then_reported() {
    let (mut world, bar, hinge) = hinged_bar();
    assert!(world.remove(bar));
    assert_eq!(world.joints().count(), 0);
    assert_eq!(world.step().events.broken_joints, [hinge]);
    assert!(!world.remove_joint(hinge));
}

#[test]
fn a_joint_stays_with_the_part_of_a_cut_body_at_its_anchor() {
    let edge = |x: f64, y: f64| [-9.0, 9.0].map(|z| Point3::new(x, y, z));
    for x in [0.5, 1.5] {
        let (mut world, bar, hinge) = hinged_bar();
        world.step();
        let cuts = world.cut(edge(x, 9.0), edge(x, -9.0));
        assert_eq!(cuts.len(), 1);
        let held = state(&world, hinge).bodies[0];
        assert!(held != bar && cuts[0].fragments.contains(&held));
        assert!(place(&world, held).x < x, "the left part");
        for _ in 0..10 {
            assert!(world.step().events.broken_joints.is_empty());
            assert!(state(&world, hinge).error[0] < 1e-6);
        }
    }
}

/// A pendulum whose joint is above its bob.
#[test]
fn the_nearest_part_keeps_a_joint_with_its_anchor_outside_the_body() {
    for height in [0.2, 1.0, 3.0] {
        let mut world = world(Solver::Manifold, 30.0);
        let nail = ghost(&mut world, Body::Static, Isometry3::identity());
        let bob = NewBody::ball(0.15, 500.0).unwrap();
        let bob = world.add(bob.at(&Isometry3::translation(0.0, -height, 0.0))).unwrap();
        let point = joint(JointKind::Point, [bob, nail], Point3::origin());
        let point = world.add_joint(point).unwrap();
        world.step();
        let edge = |z: f64| [-1.0, 1.0].map(|x| Point3::new(x, -height + 0.02, z));
        assert_eq!(world.cut(edge(-1.0), edge(1.0)).len(), 1);
        assert!(world.step().events.broken_joints.is_empty());
        let held = state(&world, point).bodies[0];
        assert!(held != bob && place(&world, held).y > -height, "the upper part");
    }
}

#[test]
fn limits_of_a_hinge_beyond_half_a_turn_are_refused() {
    let (mut world, bar, _) = hinged_bar();
    let nail = world.iter().next().unwrap().id;
    let hinge = joint(JointKind::Hinge, [bar, nail], Point3::origin());
    for limits in [[-0.1, 3.3], [-6.0, 6.0], [f64::NEG_INFINITY, 4.0]] {
        let found = world.add_joint(NewJoint { limits: Some(limits), ..hinge });
        assert!(matches!(found, Err(JointError::HingeLimit { .. })), "{limits:?}: {found:?}");
    }
    let most = NewJoint::MAX_HINGE_LIMIT;
    for limits in [[-most, most], [-1.0, f64::INFINITY]] {
        assert!(world.add_joint(NewJoint { limits: Some(limits), ..hinge }).is_ok());
    }
    // a slider may slide farther
    let slider = NewJoint { kind: JointKind::Slider, limits: Some([-5.0, 5.0]), ..hinge };
    assert!(world.add_joint(slider).is_ok());
}
