//! Heaps of falling boxes: overlaps, measured by an independent collision library.

use contact::Settings;
use nalgebra::{Isometry3, Vector3};
use parry3d::math::{Pose, Rotation, Vector};
use parry3d::query;
use parry3d::shape::Cuboid;
use sim::{BodyId, NewBody, World};

use crate::contact_scenes::{at, cuboid, floor, material, steps_without_gain, world};

/// Half the edge length of a box, m.
const HALF: f64 = 0.1;
const COUNT: [i32; 3] = [8, 8, 8];
/// Limits of the depth in any frame, without and with restitution, and after two seconds, m. Measured in six heaps each:
/// 5 to 9 mm, 5 to 15 mm and 1 to 2 mm. Boxes land at a speed of their own size per frame.
const TRANSIENT_DEPTH: [f64; 2] = [0.02, 0.03];
const FINAL_DEPTH: f64 = 0.003;

/// A block of slightly irregular columns of boxes, 1 m above the floor.
fn block(restitution: f64) -> (World, Vec<BodyId>) {
    let mut world = world(Settings::default());
    let surface = material(restitution, 0.5);
    floor(&mut world, 0.0, surface);
    let mut state = 3u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
    };
    let mut ids = Vec::new();
    for i in 0..COUNT[0] {
        for j in 0..COUNT[1] {
            for k in 0..COUNT[2] {
                let [x, y, z] =
                    [(i, 0.21), (j, 0.25), (k, 0.21)].map(|(n, step)| f64::from(n) * step);
                let pose = at(x + 0.02 * random(), 1.1 + y, z + 0.02 * random());
                ids.push(world.add(cuboid([HALF; 3], 5.0, pose, surface)).unwrap());
            }
        }
    }
    (world, ids)
}

/// The depths of all overlapping pairs, m, in ascending order.
fn depths(world: &World, ids: &[BodyId]) -> Vec<f64> {
    let poses: Vec<Isometry3<f64>> = ids.iter().map(|&id| *world.get(id).unwrap().pose).collect();
    let shape = Cuboid::new(Vector::splat(HALF));
    let pose = |x: &Isometry3<f64>| {
        let place = Vector::from_array(x.translation.vector.into());
        Pose::from_parts(place, Rotation::from_array(x.rotation.coords.into()))
    };
    let mut depths = Vec::new();
    for (n, p) in poses.iter().enumerate() {
        for q in &poses[n + 1..] {
            let apart: Vector3<f64> = p.translation.vector - q.translation.vector;
            if apart.norm() < 3.5 * HALF {
                let found = query::contact(&pose(p), &shape, &pose(q), &shape, 0.0).unwrap();
                depths.extend(found.map(|found| -found.dist).filter(|depth| *depth > 0.0));
            }
        }
    }
    depths.sort_by(f64::total_cmp);
    depths
}

#[test]
fn boxes_that_land_in_a_heap_do_not_pass_into_each_other() {
    for (restitution, passing) in [0.0, 0.5].into_iter().zip(TRANSIENT_DEPTH) {
        let (mut world, ids) = block(restitution);
        let mut deepest = 0.0f64;
        for _ in 0..60 {
            steps_without_gain(&mut world, 1);
            deepest = depths(&world, &ids).last().copied().unwrap_or(0.0).max(deepest);
        }
        let left = depths(&world, &ids).last().copied().unwrap_or(0.0);
        assert!(deepest < passing && left < FINAL_DEPTH, "{deepest} m, {left} m at {restitution}");
    }
}

/// Boxes fall on a plate of their total mass, which lies on two static legs. The impacts of the boxes must not use up
/// the collisions of the plate with its legs. A plate that a box strikes late in a frame must not keep the speed that
/// gravity adds afterwards.
#[test]
fn boxes_that_fall_on_a_heavy_plate_come_to_rest() {
    let mut world = world(Settings::default());
    let surface = material(0.3, 0.5);
    for x in [-0.6, 0.6] {
        let leg = cuboid([0.05, 0.35, 0.45], 1.0, at(x, 0.35, 0.0), surface);
        world
            .add(NewBody { pose: leg.pose, material: surface, ..NewBody::fixed(leg.shape) })
            .unwrap();
    }
    world.add(cuboid([0.75, 0.03, 0.5], 46.0, at(0.0, 0.73, 0.0), surface)).unwrap();
    let mut boxes = Vec::new();
    for n in 0..192 {
        let [i, j, k] = [n % 12, n / 12 % 8, n / 96].map(f64::from);
        let turn = Isometry3::rotation(Vector3::new(0.3 * (i - 5.0), 0.1 * k, 0.2 * (j - 3.0)));
        let place = at(0.11 * (i - 5.5), 0.85 + 0.12 * k, 0.11 * (j - 3.5));
        boxes.push(world.add(cuboid([0.03; 3], 0.24, place * turn, surface)).unwrap());
    }
    let speed = |world: &World, id: BodyId| world.get(id).unwrap().momentum.linear.y.abs() / 0.24;
    let (mut medians, mut limited) = (Vec::new(), 0);
    for _ in 0..40 {
        limited += world.step().counters.limited_collisions;
        let mut speeds: Vec<f64> = boxes.iter().map(|&id| speed(&world, id)).collect();
        speeds.sort_by(f64::total_cmp);
        medians.push(speeds[96]);
    }
    assert_eq!(limited, 0, "pairs at the limit of collisions");
    let mean = medians[10..].iter().sum::<f64>() / 30.0;
    assert!(mean < 1e-3, "half of the boxes move by {mean} m/s: {medians:?}");
}
