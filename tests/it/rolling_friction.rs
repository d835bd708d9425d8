//! Rolling and spinning friction against closed forms at 30 Hz.

use brisance_tests::properties;
use contact::{Material, Settings};
use dynamics::{Body, Velocity};
use nalgebra::Vector3;
use proptest::prelude::*;
use sim::{BodyId, NewBody, World};

use crate::contact_scenes::{
    GRAVITY, at, ball, cuboid, floor, material, place, steps, steps_without_gain, weightless, world,
};

const RADIUS: f64 = 0.1;
const MASS: f64 = 2.0;

/// The rolling friction, m, that holds a ball on a slope up to an angle.
fn holding(angle: f64) -> f64 {
    RADIUS * angle.tan()
}

fn surface(rolling_friction: f64) -> Material {
    Material { rolling_friction, ..material(0.0, 0.8) }
}

/// A ball at rest `along` m up a slope and `aside` m across.
fn resting(angle: f64, along: f64, aside: f64, rolling_friction: f64) -> NewBody {
    let (up, out) =
        (Vector3::new(angle.cos(), angle.sin(), 0.0), Vector3::new(-angle.sin(), angle.cos(), 0.0));
    let center = up * along + out * RADIUS;
    ball(RADIUS, MASS, at(center.x, center.y, aside), surface(rolling_friction))
}

fn speed(world: &World, id: BodyId) -> f64 {
    world.get(id).unwrap().momentum.linear.norm() / MASS
}

/// The torque on a ball that neither slides nor rotates is `m g sin(angle) r`; the maximum torque of rolling
/// friction is `m g cos(angle) c`.
#[test]
fn a_ball_stays_on_a_slope_up_to_the_angle_of_its_rolling_friction() {
    for angle in [0.05, 0.2, 0.4_f64] {
        for share in [0.95, 0.999] {
            let mut world = world(Settings::default());
            floor(&mut world, angle, material(0.0, 0.8));
            let id = world.add(resting(angle, 0.0, 0.0, holding(angle) / share)).unwrap();
            let start = place(&world, id);
            steps(&mut world, 300);
            let moved = (place(&world, id) - start).norm();
            assert!(moved < 1e-6, "{angle} {share}: {moved} m in 10 s");
        }
    }
}

/// On steeper slopes a ball accelerates by `5/7 g (sin(angle) - c/r cos(angle))`.
#[test]
fn a_ball_rolls_down_a_slope_as_far_as_the_closed_form_says() {
    for angle in [0.1, 0.3_f64] {
        for share in [0.0, 0.5, 0.9] {
            let mut world = world(Settings::default());
            floor(&mut world, angle, material(0.0, 0.8));
            let id = world.add(resting(angle, 0.0, 0.0, share * holding(angle))).unwrap();
            let start = place(&world, id);
            steps_without_gain(&mut world, 60);
            let wanted = 0.5 * 5.0 / 7.0 * GRAVITY * angle.sin() * (1.0 - share) * 4.0;
            let moved = (place(&world, id) - start).norm();
            assert!((moved / wanted - 1.0).abs() < 0.01, "{angle} {share}: {moved} of {wanted} m");
        }
    }
}

/// A ball that rolls uphill stops and stays.
#[test]
fn a_ball_that_rolls_uphill_stops_where_the_closed_form_says_and_stays() {
    let (angle, start) = (0.1_f64, 1.0);
    let mut world = world(Settings::default());
    floor(&mut world, angle, material(0.0, 0.8));
    let mut rolling = resting(angle, 0.0, 0.0, 1.5 * holding(angle));
    rolling.velocity = Velocity {
        linear: Vector3::new(angle.cos(), angle.sin(), 0.0) * start,
        angular: Vector3::z() * (-start / RADIUS),
    };
    let id = world.add(rolling).unwrap();
    let from = place(&world, id);
    steps_without_gain(&mut world, 60);
    let wanted = start * start / (2.0 * 5.0 / 7.0 * GRAVITY * angle.sin() * 2.5);
    let up = (place(&world, id) - from).norm();
    assert!((up / wanted - 1.0).abs() < 0.01, "{up} of {wanted} m");
    let there = place(&world, id);
    steps(&mut world, 300);
    let moved = (place(&world, id) - there).norm();
    assert!(moved < 1e-6, "{moved} m in 10 s");
}

/// One island with more balls than the limit of the exact solver.
#[test]
fn balls_side_by_side_on_a_slope_stay_where_sweeps_solve_them() {
    let angle = 0.2;
    let mut world = world(Settings::default());
    floor(&mut world, angle, material(0.0, 0.8));
    let all: Vec<BodyId> = (0..500)
        .map(|n| {
            let aside = 2.0 * RADIUS * f64::from(n);
            world.add(resting(angle, 0.0, aside, 1.2 * holding(angle))).unwrap()
        })
        .collect();
    let start: Vec<_> = all.iter().map(|&id| place(&world, id)).collect();
    steps(&mut world, 90);
    let moved = all.iter().zip(&start).map(|(&id, start)| (place(&world, id) - start).norm());
    let (most, fastest) =
        (moved.fold(0.0, f64::max), all.iter().map(|&id| speed(&world, id)).fold(0.0, f64::max));
    assert!(most < 1e-3 && fastest < 1e-4, "{most} m in 3 s, {fastest} m/s at the end");
}

/// Spinning friction drags a block on a turntable with the angular acceleration of the closed form, and the
/// reported work is that of the torque.
#[test]
fn spinning_friction_takes_a_ball_along_on_a_turntable() {
    let (spin, arm) = (3.0, 0.001);
    let mut world = world(Settings::default());
    let table = NewBody {
        body: Body::Kinematic(Velocity { angular: Vector3::y() * spin, ..Velocity::default() }),
        ..cuboid([1.0, 0.1, 1.0], 1.0, at(0.0, -0.1, 0.0), material(0.0, 0.5))
    };
    let table = NewBody {
        velocity: Velocity { angular: Vector3::y() * spin, ..Velocity::default() },
        ..table
    };
    world.add(table).unwrap();
    let surface = Material { spinning_friction: arm, ..material(0.0, 0.5) };
    let id = world.add(ball(RADIUS, MASS, at(0.0, RADIUS, 0.0), surface)).unwrap();
    let mut work = 0.0;
    for _ in 0..30 {
        work += world.step().energy.work;
    }
    let turned = world.get(id).unwrap().momentum.angular.y / (0.4 * MASS * RADIUS * RADIUS);
    let wanted = MASS * GRAVITY * arm / (0.4 * MASS * RADIUS * RADIUS);
    assert!((turned / wanted - 1.0).abs() < 0.01, "{turned} of {wanted} rad/s");
    let wanted = MASS * GRAVITY * arm * spin;
    assert!((work / wanted - 1.0).abs() < 0.01, "{work} of {wanted} J");
    steps(&mut world, 150);
    let turned = world.get(id).unwrap().momentum.angular.y / (0.4 * MASS * RADIUS * RADIUS);
    assert!((turned / spin - 1.0).abs() < 1e-6, "{turned} rad/s on a table of {spin}");
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Torques act on both bodies equally and dissipate energy.
    #[test]
    fn rolling_friction_keeps_momentum_and_gains_no_energy(
        spins in prop::array::uniform3(-20.0..20.0_f64),
        approach in 0.0..2.0_f64,
        arms in prop::array::uniform2(0.0..0.1_f64),
    ) {
        let mut world = weightless(Settings::default());
        let [rolling_friction, spinning_friction] = arms;
        let surface = Material { rolling_friction, spinning_friction, ..material(0.0, 0.5) };
        let mut a = ball(RADIUS, MASS, at(0.0, 0.0, 0.0), surface);
        let mut b = cuboid([0.2, 0.1, 0.15], 3.0, at(0.0, 0.2, 0.0), surface);
        a.velocity = Velocity { linear: Vector3::y() * approach, angular: spins.into() };
        b.velocity.angular = Vector3::y() * spins[1];
        world.add(a).unwrap();
        world.add(b).unwrap();
        let before = world.momentum();
        steps_without_gain(&mut world, 30);
        let after = world.momentum();
        prop_assert!((after.linear - before.linear).norm() <= 1e-12 * (1.0 + before.linear.norm()));
        prop_assert!((after.angular - before.angular).norm() <= 1e-10);
    }
}
