//! Impacts at the same time on one body.

use brisance_tests::properties;
use contact::Settings;
use nalgebra::Vector3;
use proptest::prelude::*;
use sim::{BodyId, NewBody, World};

use crate::contact_scenes::{
    at, ball, cuboid, floor, material, moving, place, steps_without_gain, weightless, world,
};

const RADIUS: f64 = 0.1;

fn velocity(world: &World, id: BodyId, mass: f64) -> Vector3<f64> {
    world.get(id).unwrap().momentum.linear / mass
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A ball hits two that touch: by Newton's law of restitution along both normals, which are 30
    /// degrees from its way, it keeps `1 - 0.6 (1 + e)` of its speed. The order of bodies is irrelevant.
    #[test]
    fn a_ball_that_hits_two_balls_rebounds_straight(
        order in 0..6usize,
        restitution in 0.1..1.0,
        speed in 1.0..20.0f64,
        gap in 0.0..0.02,
    ) {
        let mut world = weightless(Settings::default());
        let surface = material(restitution, 0.0);
        let height = 3f64.sqrt() * RADIUS + gap + 1e-4;
        let places = [at(0.0, height, 0.0), at(-RADIUS, 0.0, 0.0), at(RADIUS, 0.0, 0.0)];
        let body = |n: usize| {
            let velocity = moving(0.0, if n == 0 { -speed } else { 0.0 }, 0.0);
            NewBody { velocity, ..ball(RADIUS, 2.0, places[n], surface) }
        };
        let all = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][order];
        let mut ids = [None; 3];
        for n in all {
            ids[n] = Some(world.add(body(n)).unwrap());
        }
        steps_without_gain(&mut world, 3);
        let [striker, left, right] = ids.map(|id| velocity(&world, id.unwrap(), 2.0));
        let share = 0.6 * (1.0 + restitution);
        let kept = -striker / speed;
        prop_assert!((kept - Vector3::y() * (1.0 - share)).norm() < 1e-4, "{kept:?} at {share}");
        for (own, sign) in [(left, -1.0), (right, 1.0)] {
            let expected = Vector3::new(sign * share / 12f64.sqrt(), -0.5 * share, 0.0);
            prop_assert!((own / speed - expected).norm() < 1e-4, "{own}, expected {expected}");
        }
    }

    /// Free columns have no restitution: otherwise they bounce between the beam and the floor one after the other.
    #[test]
    fn a_beam_that_lands_on_two_columns_stays_level(
        height in 0.1..3.0,
        restitution in 0.0..0.9,
        friction in 0.0..1.0,
        is_free in any::<bool>(),
        is_beam_first in any::<bool>(),
    ) {
        let mut world = world(Settings::default());
        let surface = material(if is_free { 0.0 } else { restitution }, friction);
        floor(&mut world, 0.0, surface);
        let beam = cuboid([0.6, 0.05, 0.1], 3.0, at(0.0, 1.05 + height, 0.0), surface);
        let columns = [-0.4, 0.4].map(|x| {
            let column = cuboid([0.1, 0.5, 0.1], 8.0, at(x, 0.5, 0.0), surface);
            if is_free {
                return column;
            }
            NewBody { pose: column.pose, material: surface, ..NewBody::fixed(column.shape) }
        });
        let first = is_beam_first.then(|| world.add(beam.clone()).unwrap());
        for column in columns {
            world.add(column).unwrap();
        }
        let id = first.unwrap_or_else(|| world.add(beam).unwrap());
        for _ in 0..60 {
            steps_without_gain(&mut world, 1);
            let pose = world.get(id).unwrap().pose;
            let (aside, turn) = (place(&world, id).xz().norm(), pose.rotation.angle());
            prop_assert!(aside < 3e-3 && turn < 1e-2, "{aside} m aside, turned by {turn}");
        }
    }
}

/// Balls break when another one strikes them: impulses transmitted through pieces that collided before in the frame keep
/// the angular momentum of all.
#[test]
fn impulses_through_pieces_conserve_angular_momentum() {
    let balls = [
        "[-0.39632077464173276, 0.7193899360930354, -0.8836748788862501]\n\
         angular_velocity = [-2.3899288242156294, 2.352218041569359, -2.3969996873608066]",
        "[0.61383876379037, 0.7117195975451442, -0.3925110534718863]\n\
         angular_velocity = [-0.7516963898102649, -2.5461000574574655, 0.571774930165061]",
        "[0.8460740348497529, 0.0186402616444441, -0.21781556373393318]\n\
         angular_velocity = [3.957230343233073, -0.18847583944440416, -3.7027651330400313]",
    ];
    let mut scene = String::from(
        "version = 1\n[simulation]\ngravity = [0, 0, 0]\n[pattern.v.voronoi]\npieces = 4\n",
    );
    for (n, motion) in balls.iter().enumerate() {
        scene.push_str(&format!(
            "[[body]]\nname = \"b{n}\"\nshape = {{ sphere = {{ radius = 0.2 }} }}\nposition = [{}, 0, 0]\n\
             velocity = {motion}\nfriction = 0.5\nrestitution = 0.3\ndensity = 1000\n\
             fracture = {{ pattern = \"v\", break_impulse = 0.5, generations = 1 }}\n",
            0.45 * n as f64,
        ));
    }
    scene.push_str(
        "[[body]]\nname = \"hit\"\nshape = { sphere = { radius = 0.1 } }\n\
         position = [0.4713717407675646, 0.6, 0.01172923701909405]\nvelocity = [0, -26.100145547610914, 0]\n\
         angular_velocity = [1.6272721739539886, 0.4015737080006314, -9.394632593271377]\n\
         density = 8000\nfriction = 0.5\nrestitution = 0.3\n",
    );
    let scene = sim::scene::Scene::from_toml(&scene).unwrap();
    let mut world = sim::build(&scene, &std::collections::BTreeMap::new()).unwrap().0;
    let before = world.momentum().angular;
    let mut causes = vec![];
    for _ in 0..8 {
        causes.extend(world.step().events.replayable.into_iter().map(|event| event.cause));
        let lost = (world.momentum().angular - before).norm();
        assert!(lost < 1e-9 * before.norm(), "{lost} of {}", before.norm());
    }
    // the last pass of a frame breaks bodies by transmitted impulses
    assert!(causes.len() > 1, "{causes:?}");
}
