//! Exact solution of contact islands at 30 Hz, without sleep.

use std::f64::consts::PI;
use std::sync::Arc;

use contact::{Settings, Shape};
use dynamics::{Body, MassProperties};
use levelset::ConvexHull;
use nalgebra::{Isometry3, Point3, Vector3};
use sim::{BodyId, NewBody, World};

use crate::contact_scenes::{
    at, ball, cuboid, floor, material, place, steps, steps_without_gain, world,
};

const VOUSSOIRS: usize = 13;

/// A semicircular arch of radius 2 m and width 0.5 m; `thickness` is relative to the radius.
fn arch(thickness: f64) -> (World, Vec<BodyId>) {
    let mut world = world(Settings::default());
    floor(&mut world, 0.0, material(0.0, 0.7));
    let (half_angle, depth, density) = (PI / VOUSSOIRS as f64 / 2.0, 0.5, 2000.0);
    let radii = [-0.5, 0.5].map(|side| 2.0 * (1.0 + side * thickness));
    let corner =
        |radius: f64, side: f64| [radius * half_angle.cos(), side * radius * half_angle.sin()];
    let [inner, outer] = radii;
    let face = [corner(inner, -1.0), corner(outer, -1.0), corner(outer, 1.0), corner(inner, 1.0)];
    let (mut area, mut first, mut across, mut along) = (0.0, 0.0, 0.0, 0.0);
    for ([px, py], [qx, qy]) in (0..4).map(|k| (face[k], face[(k + 1) % 4])) {
        let cross = px * qy - qx * py;
        area += cross / 2.0;
        first += (px + qx) * cross / 6.0;
        across += cross * (py * py + py * qy + qy * qy) / 12.0;
        along += cross * (px * px + px * qx + qx * qx) / 12.0;
    }
    let center = first / area;
    let along = along - area * center * center;
    let mass = density * depth * area;
    let thin = mass * depth * depth / 12.0;
    let [across, along] = [across, along].map(|moment| density * depth * moment);
    let inertia = Vector3::new(across + thin, along + thin, across + along);
    let body = Body::Dynamic(MassProperties::new(mass, inertia).unwrap());
    let sides = [-0.5, 0.5].map(|side| side * depth);
    let point = |z: f64| face.map(|[x, y]| Point3::new(x - center, y, z));
    let hull = ConvexHull::new(&sides.map(point).concat()).unwrap();
    let shape = Arc::new(Shape::convex(&hull, 0.1, &Isometry3::identity()).unwrap());
    let voussoir = |n: usize| {
        let turn = Isometry3::rotation(Vector3::z() * (half_angle * (2 * n + 1) as f64));
        let pose = turn * Isometry3::translation(center, 0.0, 0.0);
        let shape = Arc::clone(&shape);
        NewBody { body, shape, ..cuboid([0.1; 3], 1.0, pose, material(0.0, 0.7)) }
    };
    let ids = (0..VOUSSOIRS).map(|n| world.add(voussoir(n)).unwrap()).collect();
    (world, ids)
}

fn places(world: &World, ids: &[BodyId]) -> Vec<Vector3<f64>> {
    ids.iter().map(|&id| place(world, id)).collect()
}

/// The largest displacement of a body, m.
fn drift(world: &World, ids: &[BodyId], start: &[Vector3<f64>]) -> f64 {
    let ways = places(world, ids).into_iter().zip(start).map(|(now, start)| (now - start).norm());
    ways.fold(0.0, f64::max)
}

/// An arch stands from a thickness of 0.1075 of its radius (Heyman 1969).
#[test]
fn an_arch_stands_for_thirty_seconds_if_it_is_thick_enough_and_else_falls() {
    for thickness in [0.12, 0.15] {
        let (mut world, ids) = arch(thickness);
        let start = places(&world, &ids);
        steps_without_gain(&mut world, 900);
        let drift = drift(&world, &ids, &start);
        assert!(drift < 1e-3, "{thickness}: {drift} m");
    }
    let (mut world, ids) = arch(0.09);
    let start = places(&world, &ids);
    steps_without_gain(&mut world, 90);
    assert!(drift(&world, &ids, &start) > 0.5);
}

#[test]
fn a_pillar_of_small_bricks_stands_for_thirty_seconds() {
    let mut world = world(Settings::default());
    let surface = material(0.0, 0.5);
    floor(&mut world, 0.0, surface);
    let brick = |n: usize| {
        let pose = at(0.002 * (n % 2) as f64, 0.05 + 0.1 * n as f64, 0.0);
        cuboid([0.1, 0.05, 0.05], 2.0, pose, surface)
    };
    let ids: Vec<BodyId> = (0..15).map(|n| world.add(brick(n)).unwrap()).collect();
    let start = places(&world, &ids);
    steps(&mut world, 900);
    let drift = drift(&world, &ids, &start);
    assert!(drift < 1e-3, "{drift} m");
}

#[test]
fn a_ball_of_three_grams_carries_a_cube_of_two_tonnes() {
    let mut world = world(Settings::default());
    let surface = material(0.0, 0.5);
    floor(&mut world, 0.0, surface);
    let radius = 0.009;
    let small = world.add(ball(radius, 0.003, at(0.0, radius, 0.0), surface)).unwrap();
    let cube = cuboid([0.5; 3], 2000.0, at(0.0, 2.0 * radius + 0.5, 0.0), surface);
    let cube = world.add(cube).unwrap();
    steps(&mut world, 300);
    let depth = radius - place(&world, small).y;
    assert!(depth < 1e-3, "the ball is {depth} m deep");
    let sunk = 2.0 * radius + 0.5 - place(&world, cube).y;
    assert!(sunk < 1e-3, "the cube sank {sunk} m");
}

/// Slightly offset boxes keep their initial poses.
#[test]
fn towers_of_twenty_uneven_boxes_stay_where_they_are() {
    let mut world = world(Settings::default());
    let surface = material(0.0, 0.5);
    floor(&mut world, 0.0, surface);
    let shift = |n: usize| 0.02 * (12.9898 * n as f64).sin();
    let uneven = |n: usize| {
        let (tower, height) = ((n / 20) as f64, (n % 20) as f64);
        let pose = at(4.0 * tower + shift(n), 0.5 + height, shift(n + 77));
        cuboid([0.5; 3], 1000.0, pose, surface)
    };
    let ids: Vec<BodyId> = (0..60).map(|n| world.add(uneven(n)).unwrap()).collect();
    let start = places(&world, &ids);
    steps(&mut world, 300);
    let drift = drift(&world, &ids, &start);
    assert!(drift < 1e-4, "{drift} m");
}

/// A wall of 21 rows of 21 bricks in running bond: one island above the limit of the exact solver.
fn brick_wall(settings: Settings) -> World {
    let mut world = world(settings);
    floor(&mut world, 0.0, material(0.0, 0.5));
    for row in 0..21 {
        for column in 0..21 {
            let x = 0.4 * f64::from(column) + 0.2 * f64::from(row % 2);
            let pose = Isometry3::translation(x, 0.1 + 0.2 * f64::from(row), 0.0);
            let brick = cuboid([0.199, 0.1, 0.1], 1000.0, pose, material(0.0, 0.5));
            world.add(brick).unwrap();
        }
    }
    world
}

#[test]
fn the_residual_is_round_off_where_islands_are_solved_and_falls_with_the_sweeps_elsewhere() {
    let (mut arch, _) = arch(0.15);
    let mut solved = 0;
    for _ in 0..10 {
        let report = arch.step();
        assert!(
            report.counters.unsolved_islands > 0 || report.counters.residual < 1e-5,
            "{}",
            report.counters.residual
        );
        solved += usize::from(report.counters.unsolved_islands == 0);
    }
    assert!(solved >= 8, "{solved} of 10 frames");
    let residual = |sweeps: usize| {
        let settings = Settings { contact_sweeps: sweeps, shock_sweeps: 0, ..Settings::default() };
        let mut wall = brick_wall(settings);
        wall.step();
        wall.step().counters.residual
    };
    let residuals = [2, 60, 600].map(residual);
    assert!(residuals[0] > 1e-3 && residuals[0] < 9.81, "{residuals:?}");
    assert!(residuals.is_sorted_by(|p, q| *p > 2.0 * q), "{residuals:?}");
}

/// Islands of debris with friction, where the natural map has local minima.
#[test]
fn a_heap_that_falls_is_solved_exactly_in_most_frames() {
    let mut world = world(Settings { exact_products: 2, ..Settings::default() });
    floor(&mut world, 0.0, material(0.1, 0.6));
    let noise = |n: usize| (12.9898 * n as f64).sin();
    for n in 0..100 {
        let place = Vector3::new((n % 4) as f64, (n / 16) as f64 + 0.5, (n / 4 % 4) as f64);
        let turn = Vector3::new(noise(n), noise(n + 31), noise(n + 57));
        let half = [0.25 + 0.1 * noise(n + 5), 0.2 + 0.1 * noise(n + 7), 0.2];
        let pose = Isometry3::new(place * 0.7, turn);
        world.add(cuboid(half, 100.0, pose, material(0.1, 0.6))).unwrap();
    }
    let mut residuals: Vec<f64> = (0..120).map(|_| world.step().counters.residual).collect();
    residuals.sort_by(f64::total_cmp);
    let [median, most] = [60, 108].map(|n| residuals[n]);
    assert!(median < 1e-4 && most < 1e-2, "median {median}, nine tenths {most} m/s");
}
