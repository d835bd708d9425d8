//! Free linkages, against equations in reduced coordinates and conservation laws.

use std::f64::consts::{FRAC_PI_2, TAU};

use brisance_tests::properties;
use contact::Shape;
use contact::constraint::{JointKind, Motor};
use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Matrix2, Point3, UnitQuaternion, Vector2, Vector3};
use proptest::prelude::*;
use sim::{BodyId, NewBody, NewJoint, Report, Settings, World};

use crate::joints::{joint, mass};

const G: f64 = 9.81;

fn world(fps: f64, gravity: f64) -> World {
    let gravity = Vector3::new(0.0, -gravity, 0.0);
    World::new(Settings { dt: 1.0 / fps, gravity, sleep: false, ..Settings::default() })
}

/// A body without a shape.
fn add(world: &mut World, body: Body, pose: Isometry3<f64>, velocity: Velocity) -> BodyId {
    let new = NewBody { pose, velocity, ..NewBody::of(body, Shape::empty()) };
    world.add(new).unwrap()
}

fn nail(world: &mut World) -> BodyId {
    add(world, Body::Static, Isometry3::identity(), Velocity::default())
}

/// A chain of rods, level from a nail along x.
fn chain(world: &mut World, kind: JointKind, count: u32, length: f64) -> Vec<BodyId> {
    let mut ids = vec![nail(world)];
    for i in 0..count {
        let about = length.powi(3) / 12.0;
        let rod = mass(length, [1e-4 * length, about, about]);
        let pose = Isometry3::translation(length * (f64::from(i) + 0.5), 0.0, 0.0);
        ids.push(add(world, rod, pose, Velocity::default()));
        let bodies = [ids[i as usize + 1], ids[i as usize]];
        let place = Vector3::x() * (length * f64::from(i));
        world.add_joint(joint(kind, bodies, place)).unwrap();
    }
    ids
}

fn energy(world: &World) -> f64 {
    world.kinetic_energy() + world.potential_energy()
}

/// The largest change of energy in some frames, and the largest joint error.
fn follow(world: &mut World, frames: usize) -> (f64, f64) {
    let start = energy(world);
    let (mut off, mut open) = (0.0_f64, 0.0_f64);
    for _ in 0..frames {
        let report = world.step();
        assert!(!report.events.unsolved, "frame {}", report.frame);
        off = off.max((energy(world) - start).abs());
        open = world.joints().flat_map(|joint| joint.error).fold(open, f64::max);
    }
    (off, open)
}

/// The tip of two rods of 1 m released level, by Lagrange's equations and Runge-Kutta in steps of 0.1 ms.
fn tip(time: f64) -> Vector3<f64> {
    let rate = |x: [f64; 4]| {
        let [a, b, p, q] = x;
        let (s, c) = (a - b).sin_cos();
        let matrix = Matrix2::new(4.0 / 3.0, 0.5 * c, 0.5 * c, 1.0 / 3.0);
        let side = -Vector2::new(
            0.5 * q * q * s + 1.5 * G * a.sin(),
            -0.5 * p * p * s + 0.5 * G * b.sin(),
        );
        let spin = matrix.try_inverse().unwrap() * side;
        [p, q, spin.x, spin.y]
    };
    let add = |x: [f64; 4], r: [f64; 4], h: f64| std::array::from_fn(|k| x[k] + h * r[k]);
    let (mut x, h) = ([FRAC_PI_2, FRAC_PI_2, 0.0, 0.0], 1e-4);
    for _ in 0..(time / h).round() as usize {
        let a = rate(x);
        let b = rate(add(x, a, 0.5 * h));
        let c = rate(add(x, b, 0.5 * h));
        let d = rate(add(x, c, h));
        x = std::array::from_fn(|k| x[k] + h / 6.0 * (a[k] + 2.0 * (b[k] + c[k]) + d[k]));
    }
    Vector3::new(x[0].sin() + x[1].sin(), -x[0].cos() - x[1].cos(), 0.0)
}

#[test]
fn a_double_pendulum_keeps_its_energy_for_a_minute() {
    for kind in [JointKind::Hinge, JointKind::Point] {
        let mut world = world(30.0, G);
        chain(&mut world, kind, 2, 1.0);
        let (off, open) = follow(&mut world, 1800);
        // two rods of 1 kg and 1 m
        assert!(off < 1e-9 * 2.0 * G, "{kind:?}: {off} J");
        assert!(open < 1e-9, "{kind:?}: {open}");
    }
}

#[test]
fn a_double_pendulum_goes_where_lagrange_says_to_second_order() {
    let exact = tip(1.0);
    let off = |fps: u32| {
        let mut world = world(f64::from(fps), G);
        let ids = chain(&mut world, JointKind::Hinge, 2, 1.0);
        (0..fps).for_each(|_| drop(world.step()));
        let end = world.get(ids[2]).unwrap().pose * Point3::new(0.5, 0.0, 0.0);
        (end.coords - exact).norm()
    };
    let (coarse, fine, finest) = (off(30), off(120), off(480));
    assert!(coarse < 0.02, "{coarse} m of 2");
    assert!(fine < coarse / 8.0 && finest < fine / 8.0, "{coarse} {fine} {finest}");
}

#[test]
fn a_long_chain_keeps_its_energy() {
    let mut world = world(30.0, G);
    chain(&mut world, JointKind::Point, 30, 0.1);
    let (off, open) = follow(&mut world, 600);
    // 3 kg that may fall by 1.5 m
    assert!(off < 1e-9 * 3.0 * G * 1.5, "{off} J");
    assert!(open < 1e-9, "{open}");
}

/// Crank of 0.3 m, coupler of 1 m, rocker of 0.8 m and ground of 1 m, whose motor turns at 5 rad/s.
fn four_bar(most: f64) -> (World, BodyId) {
    let mut world = world(30.0, G);
    let ground = nail(&mut world);
    let at = |x: f64, y: f64| Vector3::new(x, y, 0.0);
    let top = at(0.871_903_383_504_358_4, 0.789_677_945_014_528_4);
    let ends = [[at(0.0, 0.0), at(0.0, 0.3)], [at(0.0, 0.3), top], [at(1.0, 0.0), top]];
    let bars = ends.map(|[from, to]| {
        let (way, m) = (to - from, 1.6 * (to - from).norm());
        let about = m / 3.0 * (way.norm_squared() / 4.0 + 4e-4);
        let rod = mass(m, [m / 3.0 * 8e-4, about, about]);
        let turn = Vector3::z() * way.y.atan2(way.x);
        add(&mut world, rod, Isometry3::new((from + to) / 2.0, turn), Velocity::default())
    });
    let hinge = |bodies, place| joint(JointKind::Hinge, bodies, place);
    let motor = Some(Motor { speed: 5.0, max_force: most });
    world.add_joint(NewJoint { motor, ..hinge([bars[0], ground], ends[0][0]) }).unwrap();
    world.add_joint(hinge([bars[1], bars[0]], ends[0][1])).unwrap();
    world.add_joint(hinge([bars[2], bars[1]], top)).unwrap();
    world.add_joint(hinge([bars[2], ground], ends[2][0])).unwrap();
    (world, bars[0])
}

/// The rotation of a body about z in a frame, rad.
fn turned(world: &mut World, id: BodyId) -> (f64, Report) {
    let before = world.get(id).unwrap().pose.rotation;
    let report = world.step();
    let after = world.get(id).unwrap().pose.rotation;
    ((after * before.inverse()).scaled_axis().z, report)
}

#[test]
fn a_four_bar_linkage_turns_on() {
    let (mut world, crank) = four_bar(100.0);
    let (mut angle, mut slowest) = (0.0, f64::INFINITY);
    for frame in 0..600 {
        let (turn, report) = turned(&mut world, crank);
        assert!(!report.events.unsolved);
        angle += turn;
        if frame > 0 {
            slowest = slowest.min(turn * 30.0);
        }
        let open = world.joints().flat_map(|joint| joint.error).fold(0.0, f64::max);
        assert!(open < 1e-9, "frame {frame}: {open}");
        // the weights need about 20 N per joint
        let force = world.joints().map(|joint| joint.force.norm()).fold(0.0, f64::max);
        assert!(frame == 0 || force < 60.0, "frame {frame}: {force} N");
    }
    assert!((angle / (5.0 * 20.0) - 1.0).abs() < 0.01, "{} turns", angle / TAU);
    assert!(slowest > 4.9, "{slowest} rad/s");
}

#[test]
fn a_motor_gives_what_the_energy_grows_by() {
    // the second motor is too weak for a full rotation
    for most in [100.0, 3.0] {
        let (mut world, _) = four_bar(most);
        let start = energy(&world);
        let (mut work, mut moved) = (0.0, 0.0_f64);
        for _ in 0..300 {
            let report = world.step();
            work += report.energy.work;
            moved = moved.max(report.energy.work.abs());
            let off = energy(&world) - start - work;
            assert!(off.abs() < 1e-6 * work.abs().max(moved), "{most} N m: {off} of {work} J");
            assert!(
                report.energy.dissipation.total().abs() < 1e-9,
                "{:?}",
                report.energy.dissipation
            );
        }
        assert!(moved > 0.01, "{moved} J");
    }
}

/// A spinning disc on an initially level rod of 0.2 m about one end of the rod: the rate of precession and the
/// largest change of energy, relative to m g l, over 5 s.
fn top(fps: f64, spin: f64) -> (f64, f64) {
    let mut world = world(fps, G);
    let nail = nail(&mut world);
    let (m, thin, wide) = (0.8, 1e-4, 1e-2);
    let inertia = [m / 3.0 * 2.0 * wide, m / 3.0 * (thin + wide), m / 3.0 * (thin + wide)];
    let velocity = Velocity { angular: Vector3::x() * spin, ..Velocity::default() };
    let pose = Isometry3::translation(0.2, 0.0, 0.0);
    let disc = add(&mut world, mass(m, inertia), pose, velocity);
    world.add_joint(joint(JointKind::Point, [disc, nail], Vector3::zeros())).unwrap();
    let start = energy(&world);
    let (mut angle, mut last, mut off) = (0.0, 0.0, 0.0_f64);
    for _ in 0..(5.0 * fps) as usize {
        assert!(!world.step().events.unsolved);
        let at = world.get(disc).unwrap().pose.translation.vector;
        let now = at.z.atan2(at.x);
        angle += (now - last + 1.5 * TAU).rem_euclid(TAU) - 0.5 * TAU;
        last = now;
        off = off.max((energy(&world) - start).abs() / (m * G * 0.2));
    }
    (angle / 5.0, off)
}

#[test]
fn a_top_precesses_as_at_short_steps_and_keeps_its_energy() {
    for spin in [50.0, 100.0, 150.0] {
        let (rate, off) = top(30.0, spin);
        let (exact, _) = top(1000.0, spin);
        assert!(off < 1e-9, "{spin} rad/s: {off}");
        assert!((rate / exact - 1.0).abs() < 0.005, "{spin} rad/s: {rate} of {exact}");
    }
}

#[test]
fn a_flywheel_on_a_hinge_keeps_its_spin() {
    for spin in [5.0, 300.0] {
        let mut world = world(30.0, G);
        let nail = nail(&mut world);
        let velocity = Velocity { angular: Vector3::z() * spin, ..Velocity::default() };
        let wheel = mass(4.0, [0.3, 0.3, 0.5]);
        let wheel = add(&mut world, wheel, Isometry3::identity(), velocity);
        world.add_joint(joint(JointKind::Hinge, [wheel, nail], Vector3::zeros())).unwrap();
        let (off, open) = follow(&mut world, 300);
        assert!(off < 1e-12 * 0.25 * spin * spin && open < 1e-12, "{off} J, {open}");
        let angular = world.get(wheel).unwrap().momentum.angular;
        assert!((angular - Vector3::z() * (0.5 * spin)).norm() < 1e-12 * spin, "{angular}");
    }
}

#[test]
fn a_kinematic_crank_gives_what_the_energy_grows_by() {
    let mut world = world(30.0, G);
    let spin = Velocity { angular: Vector3::new(0.3, 0.0, 4.0), ..Velocity::default() };
    let crank = add(&mut world, Body::Kinematic(spin), Isometry3::identity(), spin);
    let rod = mass(1.0, [1e-3, 0.1, 0.1]);
    let at = Vector3::new(0.3, 0.0, 0.0);
    let rod = add(&mut world, rod, Isometry3::from(at * 2.5), Velocity::default());
    world.add_joint(joint(JointKind::Point, [rod, crank], at)).unwrap();
    // in the first frame an impact accelerates the linkage
    world.step();
    let (start, mut work) = (energy(&world), 0.0);
    for _ in 0..300 {
        let report = world.step();
        work += report.energy.work;
        assert!((energy(&world) - start - work).abs() < 1e-9 * (1.0 + work.abs()));
        assert!(world.joints().next().unwrap().error[0] < 1e-9);
    }
}

#[test]
fn what_swings_against_a_limit_stops_there_and_gains_nothing() {
    for fps in [30.0, 60.0] {
        let mut world = world(fps, G);
        let nail = nail(&mut world);
        let rod = mass(1.0, [1e-4, 1.0 / 12.0, 1.0 / 12.0]);
        let rod = add(&mut world, rod, Isometry3::translation(0.5, 0.0, 0.0), Velocity::default());
        let hinge = joint(JointKind::Hinge, [rod, nail], Vector3::zeros());
        world.add_joint(NewJoint { limits: Some([-1.0, 0.5]), ..hinge }).unwrap();
        let mut last = energy(&world);
        for frame in 0..(2.0 * fps) as usize {
            world.step();
            let joint = world.joints().next().unwrap();
            assert!(joint.coordinate > -1.0 - 1e-6, "frame {frame}: {}", joint.coordinate);
            assert!(energy(&world) < last + 1e-9, "frame {frame}");
            last = energy(&world);
        }
        let joint = world.joints().next().unwrap();
        assert!((joint.coordinate + 1.0).abs() < 1e-6, "{}", joint.coordinate);
        assert!(world.kinetic_energy() < 1e-12, "{} J", world.kinetic_energy());
    }
}

#[test]
fn a_motor_that_a_limit_stops_holds_and_does_no_work() {
    let mut world = world(30.0, 0.0);
    let nail = nail(&mut world);
    let rod = add(&mut world, mass(1.0, [0.1; 3]), Isometry3::identity(), Velocity::default());
    let hinge = joint(JointKind::Hinge, [rod, nail], Vector3::zeros());
    let motor = Some(Motor { speed: 2.0, max_force: 0.5 });
    world.add_joint(NewJoint { motor, limits: Some([-0.5, 0.7]), ..hinge }).unwrap();
    (0..60).for_each(|_| drop(world.step()));
    let report = world.step();
    let joint = world.joints().next().unwrap();
    assert!((joint.coordinate - 0.7).abs() < 1e-6, "{}", joint.coordinate);
    assert!(report.energy.work.abs() < 1e-9 && !report.events.unsolved, "{report:?}");
}

/// A limit stops the hinge, and then the motor drives it back.
#[test]
fn a_motor_takes_a_hinge_back_from_the_limit_it_was_thrown_against() {
    let mut world = world(30.0, 0.0);
    let nail = nail(&mut world);
    let thrown = Velocity { angular: Vector3::z() * -20.0, ..Velocity::default() };
    let rod = add(&mut world, mass(1.0, [0.1; 3]), Isometry3::identity(), thrown);
    let hinge = joint(JointKind::Hinge, [rod, nail], Vector3::zeros());
    let motor = Some(Motor { speed: 2.0, max_force: 10.0 });
    world.add_joint(NewJoint { motor, limits: Some([-0.1, 1.0]), ..hinge }).unwrap();
    world.step();
    let report = world.step();
    let coordinate = world.joints().next().unwrap().coordinate;
    assert!(coordinate > -0.1 && !report.events.unsolved, "{coordinate}");
    (0..10).for_each(|_| drop(world.step()));
    let spin = world.get(rod).unwrap().momentum.angular.z / 0.1;
    assert!((spin - 2.0).abs() < 1e-9, "{spin} rad/s");
}

/// A flywheel on the shaft of the previous one: inertia, kg m^2; speed, rad/s; motor; limits, rad.
#[derive(Clone, Debug)]
struct Flywheel {
    inertia: f64,
    spin: f64,
    motor: Motor,
    limits: Option<[f64; 2]>,
}

fn flywheel() -> impl Strategy<Value = Flywheel> {
    let power = |least: f64, most: f64| (least..most).prop_map(|x: f64| 10.0_f64.powf(x));
    // limits the speed to one inner step per frame, since the torques of several steps would add up
    let motor = (-5.0..5.0_f64, power(-2.0, 1.0));
    let limits = prop::option::of((0.0..1.0_f64, 0.0..1.0_f64));
    (power(-1.0, 1.0), -3.0..3.0_f64, motor, limits).prop_map(
        |(inertia, spin, (speed, most), limits)| Flywheel {
            inertia,
            spin,
            motor: Motor { speed, max_force: most },
            limits: limits.map(|(less, more)| [-less, more]),
        },
    )
}

/// Flywheels on one shaft, each driven relative to the previous one.
fn shaft(wheels: &[Flywheel]) -> (World, Vec<BodyId>) {
    let mut world = world(240.0, 0.0);
    let mut ids = vec![nail(&mut world)];
    for wheel in wheels {
        let spin = Velocity { angular: Vector3::z() * wheel.spin, ..Velocity::default() };
        let body = mass(1.0, [wheel.inertia; 3]);
        let id = add(&mut world, body, Isometry3::identity(), spin);
        let hinge = joint(JointKind::Hinge, [id, ids[ids.len() - 1]], Vector3::zeros());
        let (motor, limits) = (Some(wheel.motor), wheel.limits);
        world.add_joint(NewJoint { motor, limits, ..hinge }).unwrap();
        ids.push(id);
    }
    (world, ids)
}

/// Angular velocity of each wheel relative to the previous one, rad/s.
fn rates(world: &World, ids: &[BodyId]) -> Vec<f64> {
    let spin = |id: &BodyId| {
        let state = world.get(*id).unwrap();
        state.body.velocity(&state.pose.rotation, state.momentum).angular.z
    };
    ids.windows(2).map(|pair| spin(&pair[1]) - spin(&pair[0])).collect()
}

properties! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A motor below its maximum torque reaches its target speed. A motor at its maximum torque has not reached the
    /// target in the direction of the torque. A limit only pushes.
    #[test]
    fn motors_and_limits_of_a_shaft_meet_complementarity(
        wheels in prop::collection::vec(flywheel(), 2..9),
    ) {
        let (mut world, ids) = shaft(&wheels);
        // an angle error of 1e-9 rad per step of 1/240 s
        let slack = 1e-9 * 240.0;
        for frame in 0..120 {
            let before = rates(&world, &ids);
            let report = world.step();
            prop_assert!(!report.events.unsolved, "frame {}", frame);
            let after = rates(&world, &ids);
            let joints: Vec<_> = world.joints().collect();
            let at = |n: usize| {
                let ends = wheels[n].limits.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                [joints[n].coordinate - ends[0] < 1e-8, ends[1] - joints[n].coordinate < 1e-8]
            };
            // an impact at a limit changes all speeds without work by motors
            let is_struck = (0..wheels.len())
                .any(|n| at(n) != [false; 2] && (before[n] - after[n]).abs() > slack);
            if is_struck {
                continue;
            }
            for (n, wheel) in wheels.iter().enumerate() {
                let Motor { speed, max_force: most } = wheel.motor;
                let (rate, torque, near) = (after[n], joints[n].torque.z, 1e-9 * most);
                let [lower, upper] = at(n);
                let is_driven = torque.abs() <= most + near
                    && ((rate - speed).abs() < slack
                        || torque > most - near && rate < speed
                        || torque < near - most && rate > speed);
                let is_stopped = rate.abs() < slack
                    && (lower && torque >= -most - near || upper && torque <= most + near);
                let is_met = is_driven || is_stopped;
                prop_assert!(is_met, "frame {}, {}: {} rad/s by {} N m", frame, n, rate, torque);
            }
        }
    }
}

/// A body of a random tree: parent, joint, velocities and mass.
type Branch = (usize, usize, [[f64; 3]; 2], f64);

const KINDS: [JointKind; 5] = [
    JointKind::Point,
    JointKind::Hinge,
    JointKind::Slider,
    JointKind::Fixed,
    JointKind::Distance { least: 0.5, most: 0.5 },
];

fn branch() -> impl Strategy<Value = Branch> {
    let vector = || prop::array::uniform3(-3.0..3.0);
    (0_usize..8, 0_usize..5, [vector(), vector()], 0.2_f64..5.0)
}

/// The branches in zero gravity, each beside its parent.
fn tree(branches: &[Branch]) -> World {
    let mut world = world(30.0, 0.0);
    let mut ids: Vec<(BodyId, Vector3<f64>)> = Vec::new();
    for (n, &(on, kind, [linear, angular], m)) in branches.iter().enumerate() {
        let on = (n > 0).then(|| ids[on % n]);
        let step = Vector3::new(0.8, 0.3 * (n as f64).sin(), 0.5 - 0.4 * (n % 3) as f64);
        let at = on.map_or_else(Vector3::zeros, |(_, place)| place + step);
        let pose = Isometry3::new(at, Vector3::new(0.3, -0.2, 0.1) * n as f64);
        let velocity = Velocity { linear: linear.into(), angular: angular.into() };
        let id = add(&mut world, mass(m, [0.05 * m, 0.08 * m, 0.1 * m]), pose, velocity);
        ids.push((id, at));
        if let Some((other, place)) = on {
            let new = joint(KINDS[kind], [id, other], (at + place) / 2.0);
            let apart = step.normalize() * 0.25;
            let anchors = match KINDS[kind] {
                JointKind::Distance { .. } => [new.anchors[0] + apart, new.anchors[1] - apart],
                _ => new.anchors,
            };
            world
                .add_joint(NewJoint { anchors, axis: Vector3::new(1.0, 2.0, -1.0), ..new })
                .unwrap();
        }
    }
    world
}

properties! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn free_trees_of_bodies_keep_energy_and_both_momenta(
        branches in prop::collection::vec(branch(), 2..7),
    ) {
        let mut world = tree(&branches);
        let Momentum { linear, angular } = world.momentum();
        // the joints first stop incompatible motion
        world.step();
        let start = world.kinetic_energy();
        for frame in 0..90 {
            let report = world.step();
            prop_assert!(!report.events.unsolved, "frame {}", frame);
            let off = (world.kinetic_energy() / start - 1.0).abs();
            prop_assert!(off < 1e-9, "energy is off by {} in frame {}", off, frame);
            let now = world.momentum();
            // relative to the summands, which may cancel
            let size = |of: fn(&Momentum) -> f64| {
                world.iter().map(|body| of(body.momentum)).sum::<f64>()
            };
            let (p, reach) = (size(|m| m.linear.norm()), world.iter().map(|body| {
                body.pose.translation.vector.norm()
            }).fold(1.0, f64::max));
            let moved = (now.linear - linear).norm();
            prop_assert!(moved < 1e-12 * p, "{} of {}", moved, p);
            let l = size(|m| m.angular.norm()) + p * reach;
            let turned = (now.angular - angular).norm();
            prop_assert!(turned < 1e-12 * l, "{} of {}", turned, l);
        }
        let open = world.joints().flat_map(|joint| joint.error).fold(0.0, f64::max);
        prop_assert!(open < 1e-9, "{}", open);
    }
}

#[test]
fn what_is_level_and_tilted_swings_alike() {
    // the result is independent of the axes of the world
    let heights = [Vector3::zeros(), Vector3::new(0.4, 1.1, -0.7)].map(|turn| {
        let mut world = world(30.0, 0.0);
        let by = Isometry3::new(Vector3::new(0.3, -2.0, 1.0), turn);
        let nail = add(&mut world, Body::Static, by, Velocity::default());
        let spin = by * Vector3::new(9.0, 3.0, -5.0);
        let arm = by * Vector3::new(0.5, 0.0, 0.0);
        let velocity = Velocity { linear: spin.cross(&arm), angular: spin };
        let rod = mass(1.0, [0.02, 0.08, 0.09]);
        let rod = add(&mut world, rod, by * Isometry3::translation(0.5, 0.0, 0.0), velocity);
        world.add_joint(joint(JointKind::Point, [rod, nail], by.translation.vector)).unwrap();
        (0..60).for_each(|_| drop(world.step()));
        by.inverse() * world.get(rod).unwrap().pose
    });
    let [level, tilted]: [Isometry3<f64>; 2] = heights;
    assert!((level.translation.vector - tilted.translation.vector).norm() < 1e-9);
    let apart: UnitQuaternion<f64> = level.rotation.rotation_to(&tilted.rotation);
    assert!(apart.angle() < 1e-6, "{}", apart.angle());
}
