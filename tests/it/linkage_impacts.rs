//! Impacts on linkages against rigid bodies and closed forms.

use brisance_tests::properties;
use contact::constraint::JointKind;
use contact::{Settings, Shape};
use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use sim::{BodyId, NewBody, World};

use crate::contact_scenes::{at, ball, cuboid, material, moving, place, weightless};
use crate::joints::joint;

/// Linear momentum, and angular momentum about the common center of bodies of equal mass.
fn momentum(world: &World, ids: &[BodyId]) -> Momentum {
    let center = ids.iter().map(|&id| place(world, id)).sum::<Vector3<f64>>() / ids.len() as f64;
    let mut sum = Momentum::default();
    for &id in ids {
        let Momentum { linear, angular } = *world.get(id).unwrap().momentum;
        sum.linear += linear;
        sum.angular += angular + (place(world, id) - center).cross(&linear);
    }
    sum
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Two cubes that are fixed to each other rebound from a wall as one bar does.
    #[test]
    fn fixed_cubes_rebound_as_one_bar(
        turn in prop::array::uniform3(-3.0..3.0f64),
        velocity in prop::array::uniform2(-1.0..1.0f64),
        restitution in 0.0..0.5f64,
        friction in 0.0..0.5f64,
    ) {
        let surface = material(restitution, friction);
        let turn = UnitQuaternion::from_scaled_axis(Vector3::from(turn));
        let velocity = Velocity {
            linear: Vector3::new(velocity[0], -4.0, velocity[1]),
            angular: Vector3::zeros(),
        };
        let along = turn.inverse_transform_vector(&Vector3::y());
        let along = along.component_mul(&Vector3::new(1.0, 0.5, 0.5)).abs();
        // one corner lands
        prop_assume!(along.min() > 0.1);
        // at the end of the frame, so that other corners do not land in it
        let center = Vector3::y() * (along.sum() + 0.95 * 4.0 / 30.0);
        let run = |is_whole: bool| {
            let mut world = weightless(Settings::default());
            let wall = NewBody::of(Body::Static, Shape::half_space());
            world.add(NewBody { material: surface, ..wall }).unwrap();
            let pose = |x: f64| Isometry3::from_parts((center + turn * Vector3::x() * x).into(), turn);
            let mut add = |half: [f64; 3], mass: f64, x: f64| {
                world.add(NewBody { velocity, ..cuboid(half, mass, pose(x), surface) }).unwrap()
            };
            let ids = match is_whole {
                true => vec![add([1.0, 0.5, 0.5], 8.0, 0.0)],
                false => vec![add([0.5; 3], 4.0, -0.5), add([0.5; 3], 4.0, 0.5)],
            };
            if let [a, b] = ids[..] {
                world.add_joint(joint(JointKind::Fixed, [a, b], center)).unwrap();
            }
            world.step();
            (momentum(&world, &ids), world.kinetic_energy())
        };
        let (bar, energy) = run(true);
        let (cubes, joined) = run(false);
        let off = (bar.linear - cubes.linear).norm() + (bar.angular - cubes.angular).norm();
        prop_assert!(off < 1e-4 * 32.0, "{bar:?} {cubes:?}");
        prop_assert!((joined / energy - 1.0).abs() < 1e-4, "{joined} J for {energy} J");
    }

    /// An elastic impact on a chain keeps the kinetic energy, wherever it is struck.
    #[test]
    fn an_elastic_impact_on_a_chain_keeps_its_energy(
        struck in 0..4usize,
        heading in 0.0..6.2f64,
        mass in 0.3..3.0f64,
    ) {
        let mut world = weightless(Settings::default());
        let surface = material(1.0, 0.0);
        let chain: Vec<_> = (0..4)
            .map(|n| {
                let link = cuboid([0.25, 0.1, 0.1], 1.0, at(0.5 * f64::from(n), 0.0, 0.0), surface);
                world.add(link).unwrap()
            })
            .collect();
        for n in 1..4 {
            let place = Vector3::new(0.5 * n as f64 - 0.25, 0.0, 0.0);
            world.add_joint(joint(JointKind::Point, [chain[n - 1], chain[n]], place)).unwrap();
        }
        let way = Vector3::new(0.2 * heading.cos(), -3.0, 0.2 * heading.sin());
        let target = Vector3::new(0.5 * struck as f64 + 0.1, 0.1, 0.0);
        let start = target + Vector3::y() * 0.15 - way * 0.01;
        let striker = NewBody {
            velocity: moving(way.x, way.y, way.z),
            ..ball(0.1, mass, at(start.x, start.y, start.z), surface)
        };
        let id = world.add(striker).unwrap();
        let before = (world.kinetic_energy(), world.momentum());
        (0..3).for_each(|_| drop(world.step()));
        let after = (world.kinetic_energy(), world.momentum());
        prop_assert!((after.0 / before.0 - 1.0).abs() < 1e-9, "{} J for {} J", after.0, before.0);
        prop_assert!((after.1.linear - before.1.linear).norm() < 1e-9);
        prop_assert!(world.get(id).unwrap().momentum.linear.y / mass > -2.9, "it missed");
    }
}

/// A bar on a hinge that is struck at its end: `v' = v (m l^2 - e I) / (m l^2 + I)`, with the bar's
/// moment of inertia `I` about the hinge.
#[test]
fn a_ball_rebounds_from_a_hinged_bar_as_the_closed_form_says() {
    for restitution in [0.0, 0.5, 1.0] {
        let mut world = weightless(Settings::default());
        let surface = material(restitution, 0.0);
        let bar = world.add(cuboid([0.5, 0.1, 0.1], 3.0, at(0.5, 0.0, 0.0), surface)).unwrap();
        let hidden = NewBody::of(Body::Static, Shape::empty());
        let wall = world.add(hidden).unwrap();
        let hinge = sim::NewJoint {
            anchors: [Point3::origin(); 2],
            ..joint(JointKind::Hinge, [wall, bar], Vector3::zeros())
        };
        world.add_joint(hinge).unwrap();
        let (mass, arm, speed) = (0.7, 0.9, 3.0);
        let striker = NewBody {
            velocity: moving(0.0, -speed, 0.0),
            ..ball(0.1, mass, at(arm, 0.25, 0.0), surface)
        };
        let id = world.add(striker).unwrap();
        world.step();
        let inertia = 3.0 * ((1.0f64 + 0.04) / 12.0 + 0.25);
        let share = mass * arm * arm;
        let expected = -speed * (share - restitution * inertia) / (share + inertia);
        let found = world.get(id).unwrap().momentum.linear.y / mass;
        assert!((found - expected).abs() < 1e-4 * speed, "{restitution}: {found} for {expected}");
    }
}
