//! Stability and strength of stacks at 30 Hz.

use brisance_tests::properties;
use contact::{Material, Settings};
use dynamics::Body;
use nalgebra::{Isometry3, Vector3};
use proptest::prelude::*;
use sim::{BodyId, World};

use crate::contact_scenes::{
    at, both, cuboid, floor, largest_gain, material, moving, place, steps_without_gain, unbound,
    world,
};

fn tower(contact: Settings, boxes: usize) -> (World, Vec<BodyId>) {
    let mut world = world(contact);
    floor(&mut world, 0.0, Material::default());
    let ids = (0..boxes)
        .map(|i| {
            let pose = at(0.0, 0.5 + i as f64, 0.0);
            world.add(cuboid([0.5; 3], 100.0, pose, Material::default())).unwrap()
        })
        .collect();
    (world, ids)
}

/// Checks that no box of a tower moves by more than a millimeter from its initial position.
fn tower_stands(contact: Settings, boxes: usize, seconds: usize) {
    let (mut world, ids) = tower(contact, boxes);
    let start: Vec<_> = ids.iter().map(|&id| place(&world, id)).collect();
    steps_without_gain(&mut world, 30 * seconds);
    let drift = ids.iter().zip(&start).map(|(&id, p)| (place(&world, id) - p).norm());
    let drift = drift.fold(0.0, f64::max);
    assert!(drift <= 1e-3, "{drift}");
    assert!(world.kinetic_energy() <= 1e-6, "{}", world.kinetic_energy());
}

#[test]
fn a_tower_of_twenty_boxes_stands_for_thirty_seconds() {
    tower_stands(Settings::default(), 20, 30);
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A Jenga tower: layers of parallel blocks, each across the layer below. A factorization of its
    /// bodies costs more than a sweep over its contacts, but errors of sweeps bend it.
    #[test]
    fn a_tower_of_crossed_blocks_stands(
        layers in 6usize..30, blocks in 3usize..6, gap in prop_oneof![Just(0.0), 0.0005..0.003],
    ) {
        let mut world = world(Settings::default());
        floor(&mut world, 0.0, Material::default());
        let (half, height) = (0.024, 0.015);
        let along = half * blocks as f64;
        let mut ids = Vec::new();
        for layer in 0..layers {
            let y = height * (2.0 * layer as f64 + 1.0);
            for n in 0..blocks {
                let aside = (n as f64 - 0.5 * (blocks - 1) as f64) * (2.0 * half + gap);
                let (sizes, place) = match layer % 2 {
                    0 => ([along, height, half], at(0.0, y, aside)),
                    _ => ([half, height, along], at(aside, y, 0.0)),
                };
                ids.push(world.add(cuboid(sizes, 0.1, place, Material::default())).unwrap());
            }
        }
        let start: Vec<_> = ids.iter().map(|&id| place(&world, id)).collect();
        steps_without_gain(&mut world, 60);
        let moved = ids.iter().zip(&start).map(|(&id, p)| (place(&world, id) - p).norm());
        let moved = moved.fold(0.0, f64::max);
        prop_assert!(moved < 1e-5, "{moved} m");
    }
}

/// Bricks of a wall in running bond with open head joints, by center and length. The ends are flush.
fn wall_bricks(columns: usize, rows: usize, gap: f64) -> Vec<(Vector3<f64>, f64)> {
    let (length, height) = (0.2, 0.1);
    let pitch = length + gap;
    let mut bricks = Vec::new();
    for row in 0..rows {
        let y = height * (row as f64 + 0.5);
        let mut add = |x: f64, length: f64| bricks.push((Vector3::new(x, y, 0.0), length));
        if row % 2 == 0 {
            (0..columns).for_each(|n| add(pitch * n as f64, length));
        } else {
            let half = 0.5 * (length - gap);
            let end = 0.25 * pitch;
            add(-end, half);
            (1..columns).for_each(|n| add(pitch * (n as f64 - 0.5), length));
            add(pitch * (columns - 1) as f64 + end, half);
        }
    }
    bricks
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Sweeps would let it fall: 200 bricks moved by 57 mm in two seconds.
    #[test]
    fn a_brick_wall_stands(
        columns in 3usize..16, rows in 6usize..22, gap in prop_oneof![Just(0.0), 1e-4..1e-3],
    ) {
        let mut world = world(Settings::default());
        floor(&mut world, 0.0, Material::default());
        let mut ids = Vec::new();
        for (place, length) in wall_bricks(columns, rows, gap) {
            let pose = at(place.x, place.y, place.z);
            let size = [0.5 * length, 0.05, 0.05];
            ids.push(world.add(cuboid(size, 18.5 * length, pose, Material::default())).unwrap());
        }
        let start: Vec<_> = ids.iter().map(|&id| place(&world, id)).collect();
        steps_without_gain(&mut world, 60);
        let moved = ids.iter().zip(&start).map(|(&id, p)| (place(&world, id) - p).norm());
        let moved = moved.fold(0.0, f64::max);
        prop_assert!(moved < 2e-4, "{moved} m");
    }
}

/// The contact margin is relative to thickness: relative to the radius it would span nine sheets.
#[test]
fn twenty_sheets_of_a_millimeter_lie_on_each_other() {
    let mut world = world(Settings::default());
    floor(&mut world, 0.0, material(0.0, 0.5));
    let height = |n: usize| 1e-3 * (n as f64 + 0.5);
    let ids: Vec<BodyId> = (0..20)
        .map(|n| {
            let half = [0.15, 0.0005, 0.1];
            world.add(cuboid(half, 0.12, at(0.0, height(n), 0.0), material(0.0, 0.5))).unwrap()
        })
        .collect();
    steps_without_gain(&mut world, 300);
    for (n, &id) in ids.iter().enumerate() {
        let off = place(&world, id) - Vector3::new(0.0, height(n), 0.0);
        assert!(off.norm() < 1e-4, "sheet {n} is off by {off}");
    }
}

/// Enough boxes that sweeps skip pairs without changed bodies.
#[test]
fn many_towers_stand() {
    let mut world = world(Settings::default());
    floor(&mut world, 0.0, Material::default());
    let all = (0..40).flat_map(|tower| (0..12).map(move |box_| (tower, box_)));
    let places = all.map(|(tower, box_)| {
        at(3.0 * f64::from(tower % 8), 0.5 + f64::from(box_), 3.0 * f64::from(tower / 8))
    });
    let add = |pose| world.add(cuboid([0.5; 3], 100.0, pose, Material::default())).unwrap();
    let boxes: Vec<BodyId> = places.map(add).collect();
    steps_without_gain(&mut world, 60);
    let settled: Vec<_> = boxes.iter().map(|&id| place(&world, id)).collect();
    steps_without_gain(&mut world, 150);
    for (id, start) in boxes.into_iter().zip(settled) {
        let drift = (place(&world, id) - start).norm();
        assert!(drift <= 1e-3, "{drift}");
    }
}

#[test]
fn a_tower_of_ten_boxes_stands_with_the_reference_solver() {
    tower_stands(Settings::reference(), 10, 5);
}

/// Boxes of 100 kg with one of `ratio` times that on top; the lowest height of the top box over 3
/// s, relative to its initial height.
fn heavy_top(contact: Settings, below: usize, ratio: f64) -> f64 {
    let (mut world, _) = tower(contact, below);
    let pose = at(0.0, 0.5 + below as f64, 0.0);
    let top = world.add(cuboid([0.5; 3], 100.0 * ratio, pose, Material::default())).unwrap();
    steps_without_gain(&mut world, 90);
    place(&world, top).y / pose.translation.y
}

#[test]
fn a_heavy_box_stands_on_light_ones() {
    for contact in both() {
        let height = heavy_top(contact, 4, 100.0);
        let thousandfold = heavy_top(contact, 1, 1000.0);
        assert!((height - 1.0).abs() <= 1e-3, "{:?}: {height}", contact.solver);
        assert!((thousandfold - 1.0).abs() <= 1e-3, "{:?}: {thousandfold}", contact.solver);
    }
}

#[test]
fn without_shock_propagation_a_heavy_box_crushes_the_stack() {
    let without = Settings { shock_sweeps: 0, ..Settings::reference() };
    let height = heavy_top(without, 5, 10.0);
    assert!(height < 0.95, "{height}");
}

/// Six boxes and a larger one that flies at them.
fn disrupted(world: &mut World) -> Vec<BodyId> {
    floor(world, 0.0, Material::default());
    let stacked = |i: u32| {
        let pose = at(0.0, 0.25 + 0.5 * f64::from(i), 0.0);
        world.add(cuboid([0.25; 3], 50.0, pose, Material::default())).unwrap()
    };
    let ids = (0..6).map(stacked).collect();
    let mut large = cuboid([0.75; 3], 1000.0, at(-4.0, 1.5, 0.1), Material::default());
    large.velocity = moving(6.0, 1.0, 0.0);
    world.add(large).unwrap();
    ids
}

/// Su09 figure 2.
#[test]
fn a_stack_disrupted_by_a_larger_box_gains_no_energy() {
    for contact in both() {
        let mut world = world(contact);
        let ids = disrupted(&mut world);
        steps_without_gain(&mut world, 90);
        let scattered = ids.iter().filter(|&&id| place(&world, id).x > 0.5).count();
        assert!(scattered >= 4, "{scattered}");
    }
}

/// The energy bound corrects little.
#[test]
fn a_stack_disrupted_by_a_larger_box_gains_little_without_the_bound_on_energy() {
    for contact in both() {
        let mut world = unbound(contact);
        disrupted(&mut world);
        let gain = largest_gain(&mut world, 90);
        assert!(gain <= 5e-4, "{:?}: {gain:e}", contact.solver);
    }
}

/// Two cards lean on each other, twice, with one across and two more on top.
#[test]
fn a_house_of_cards_stands() {
    let mut world = World::new(sim::Settings::default());
    floor(&mut world, 0.0, material(0.0, 0.8));
    let (half, tilt) = ([0.005, 0.15, 0.1], 0.35f64);
    let mut ids = Vec::new();
    let mut lean = |world: &mut World, x: f64, y: f64| {
        // the foot rests on an edge, and the heads meet
        let height = half[1] * tilt.cos() + half[0] * tilt.sin();
        let reach = half[1] * tilt.sin() + half[0] * tilt.cos();
        for side in [-1.0, 1.0] {
            let turn = Isometry3::rotation(Vector3::z() * (side * tilt));
            let pose = at(x + side * reach, y + height, 0.0) * turn;
            ids.push(world.add(cuboid(half, 0.05, pose, material(0.0, 0.8))).unwrap());
        }
        2.0 * height
    };
    let width = 2.2 * (half[1] * tilt.sin() + half[0] * tilt.cos());
    let top = lean(&mut world, -width, 0.0);
    lean(&mut world, width, 0.0);
    lean(&mut world, 0.0, top + 0.01);
    let across = cuboid([0.2, 0.005, 0.1], 0.05, at(0.0, top + 0.005, 0.0), material(0.0, 0.8));
    ids.push(world.add(across).unwrap());
    let start: Vec<_> = ids.iter().map(|&id| place(&world, id)).collect();
    steps_without_gain(&mut world, 300);
    for (&id, start) in ids.iter().zip(start) {
        let moved = (place(&world, id) - start).norm();
        assert!(moved <= 0.01, "{moved} from {start}");
    }
    assert!(world.iter().all(|s| s.asleep || s.body.mass_properties().is_none()), "it sleeps");
}

#[test]
fn a_tower_of_twenty_boxes_falls_asleep() {
    let (tower, _) = tower(Settings::default(), 20);
    let mut world = World::new(sim::Settings::default());
    for s in tower.iter() {
        let new = cuboid([0.5; 3], 100.0, *s.pose, Material::default());
        match s.body {
            Body::Dynamic(_) => world.add(new).unwrap(),
            _ => floor(&mut world, 0.0, Material::default()),
        };
    }
    steps_without_gain(&mut world, 90);
    assert_eq!(world.iter().filter(|s| s.asleep).count(), 20);
}
