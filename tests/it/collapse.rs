//! Simultaneous impacts prevent inelastic collapse.

use brisance_tests::properties;
use contact::Settings;
use dynamics::{Momentum, Velocity};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use sim::{BodyId, NewBody, World};

use crate::contact_scenes::{
    at, cuboid, floor, material, place, steps_without_gain, weightless, world,
};

/// Half the thickness of a plate and half its width, m.
const THIN: f64 = 0.01;
const WIDE: f64 = 0.1;

/// A stack of plates that falls at `speed` m/s and rotates as one rigid body at `spin` rad/s.
fn add_stack(
    world: &mut World,
    (count, base): (usize, f64),
    (speed, spin): (f64, f64),
    (restitution, friction): (f64, f64),
) -> Vec<BodyId> {
    let surface = material(restitution, friction);
    let middle = base + THIN * count as f64;
    let plate = |n: usize| {
        let height = base + THIN * (2 * n + 1) as f64;
        let linear = Vector3::new(-spin * (height - middle), -speed, 0.0);
        let velocity = Velocity { linear, angular: Vector3::z() * spin };
        let mass = 700.0 * 8.0 * THIN * WIDE * WIDE;
        NewBody { velocity, ..cuboid([WIDE, THIN, WIDE], mass, at(0.0, height, 0.0), surface) }
    };
    (0..count).map(|n| world.add(plate(n)).unwrap()).collect()
}

fn lowest(pose: &Isometry3<f64>) -> f64 {
    let axes = pose.rotation.to_rotation_matrix();
    let reach = axes.matrix().row(1).transpose().abs().dot(&Vector3::new(WIDE, THIN, WIDE));
    pose.translation.y - reach
}

/// Sequential impacts of such a stack exceed the limit of impacts per step: plates tunnel through
/// the floor.
#[test]
fn thin_plates_that_land_in_a_stack_stay_above_the_floor() {
    // sixteen plates at 20 m/s that bounce exceed the impact limit of a frame
    for (speed, most) in [(2.0, 16), (5.0, 16), (10.0, 16), (20.0, 8)] {
        for count in [3, 8, 16].into_iter().filter(|&count| count <= most) {
            for (friction, restitution) in [(0.5, 0.0), (0.5, 0.3), (0.0, 0.0), (0.3, 0.8)] {
                let mut world = world(Settings::default());
                floor(&mut world, 0.0, material(restitution, friction));
                let surface = (restitution, friction);
                let ids = add_stack(&mut world, (count, 0.05), (speed, 2.0), surface);
                let case = format!(
                    "{count} plates at {speed} m/s, friction {friction}, restitution {restitution}"
                );
                for frame in 0..30 {
                    steps_without_gain(&mut world, 1);
                    let sunk = ids.iter().filter(|&&id| place(&world, id).y < 0.0).count();
                    assert_eq!(sunk, 0, "{case}, frame {frame}");
                }
                let depth = ids.iter().map(|&id| -lowest(world.get(id).unwrap().pose));
                let deepest = depth.fold(0.0, f64::max);
                assert!(deepest < 2.0 * THIN, "{case}: {deepest} m");
            }
        }
    }
}

/// Linear momentum, and angular momentum about the origin.
fn momenta(world: &World) -> Momentum {
    let mut sum = Momentum::default();
    for state in world.iter() {
        let place = state.pose.translation.vector;
        sum.linear += state.momentum.linear;
        sum.angular += state.momentum.angular + place.cross(&state.momentum.linear);
    }
    sum
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Two stacks that collide in free space, one of them on its side or in another orientation.
    #[test]
    fn stacks_that_collide_keep_momentum_and_gain_no_energy(
        counts in prop::array::uniform2(2_usize..9),
        speed in 2.0..20.0_f64,
        turn in prop::array::uniform3(-3.0..3.0_f64),
        restitution in 0.0..1.0_f64,
        friction in 0.0..1.0_f64,
    ) {
        let mut world = weightless(Settings::default());
        let surface = (restitution, friction);
        add_stack(&mut world, (counts[0], 0.3), (speed, 1.0), surface);
        let turn = UnitQuaternion::from_scaled_axis(Vector3::from(turn));
        let heavy = material(restitution, friction);
        for n in 0..counts[1] {
            let center = turn * Vector3::new(0.0, THIN * (2 * n) as f64 - 0.05, 0.0);
            let pose = Isometry3::from_parts(center.into(), turn);
            // each box has twice the mass of the previous one
            world.add(cuboid([WIDE, THIN, WIDE], 0.2 * 2_f64.powi(n as i32), pose, heavy)).unwrap();
        }
        let (before, energy) = (momenta(&world), world.kinetic_energy());
        for _ in 0..6 {
            let gain = world.step().energy.gain;
            prop_assert!(gain <= 1e-10 * energy, "{gain} of {energy} J");
        }
        let after = momenta(&world);
        let scale = before.linear.norm();
        prop_assert!((after.linear - before.linear).norm() < 1e-9 * scale);
        prop_assert!((after.angular - before.angular).norm() < 1e-9 * scale);
    }
}
