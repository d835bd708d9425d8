//! Explosions: impulses on cross-sections of rays, shielding, and pieces of bodies that break.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use brisance_tests::properties;
use nalgebra::Vector3;
use proptest::prelude::*;
use sim::scene::Scene;
use sim::{World, build};

fn exploded(bodies: &str, blast: &str) -> World {
    let text = format!(
        "version = 1\n[simulation]\ngravity = [0, 0, 0]\n{bodies}\n\
         [[event]]\ntime = 0\nexplode = {{ {blast} }}\n"
    );
    let mut world = build(&Scene::from_toml(&text).unwrap(), &BTreeMap::new()).unwrap().0;
    world.step();
    world
}

fn sphere(name: &str, at: [f64; 3], radius: f64) -> String {
    format!(
        "[[body]]\nname = \"{name}\"\nshape = {{ sphere = {{ radius = {radius} }} }}\n\
         position = {at:?}\n"
    )
}

fn linear(world: &World, n: usize) -> Vector3<f64> {
    world.iter().nth(n).unwrap().momentum.linear
}

/// The impulse on a sphere of radius `r` at the distance `d`: over its projected disc, at the
/// distance of its near side.
pub(crate) fn expected(r: f64, d: f64, radius: f64, impulse: f64) -> f64 {
    const STEPS: usize = 10_000;
    let step = r / STEPS as f64;
    (0..STEPS)
        .map(|n| {
            let across = (n as f64 + 0.5) * step;
            let along = d - (r * r - across * across).sqrt();
            let away = across.hypot(along);
            impulse * (1.0 - away / radius).max(0.0) * 2.0 * PI * across * step
        })
        .sum()
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_ball_receives_the_impulse_on_its_projected_area(
        r in 0.05..0.5f64, gap in 0.02..3.0f64, impulse in 1.0..1e4,
        towards in [-1.0..1.0f64, -1.0..1.0, -1.0..1.0],
    ) {
        let Some(towards) = Vector3::from(towards).try_normalize(0.1) else { return Ok(()) };
        let at: [f64; 3] = (towards * (r + gap)).into();
        let blast = format!("at = [0, 0, 0], radius = 4, impulse = {impulse}");
        let world = exploded(&sphere("a", at, r), &blast);
        let wanted = expected(r, r + gap, 4.0, impulse);
        let given = linear(&world, 0);
        prop_assert!((given - towards * wanted).norm() < 0.02 * wanted, "{given} for {wanted}");
    }
}

#[test]
fn bodies_shield_those_behind_them() {
    let both = sphere("near", [1.0, 0.0, 0.0], 0.3) + &sphere("far", [2.0, 0.0, 0.0], 0.3);
    let world = exploded(&both, "at = [0, 0, 0], radius = 4, impulse = 100");
    assert!(linear(&world, 0).x > 10.0);
    assert_eq!(linear(&world, 1), Vector3::zeros());
    let aside = sphere("near", [1.0, 0.0, 0.0], 0.3) + &sphere("far", [0.0, 2.0, 0.0], 0.3);
    let world = exploded(&aside, "at = [0, 0, 0], radius = 4, impulse = 100");
    assert!(linear(&world, 1).y > 1.0);
}

/// Round-off decides on which side of the surface a picked point is.
#[test]
fn a_charge_at_a_surface_pushes_as_one_just_off_it() {
    let body = "[[body]]\nname = \"crate\"\nshape = { box = { half_extents = [0.2, 0.2, 0.2] } }\n";
    let pushed = |x: f64| {
        let world = exploded(body, &format!("at = [{x}, 0, 0], radius = 2, impulse = 500"));
        linear(&world, 0)
    };
    let off = pushed(-0.25);
    assert!((off.x / (500.0 * 0.16) - 0.93).abs() < 0.05, "{off}");
    for x in [-0.201, -0.2 - 1e-9, -0.2, -0.2 + 1e-9, -0.199] {
        let given = pushed(x);
        assert!((given - off).norm() < 0.05 * off.norm(), "{x}: {given} beside {off}");
    }
    // the impulses on opposite sides cancel
    assert!(pushed(0.0).norm() < 1e-9 && pushed(-0.1).x < 0.6 * off.x);
}

/// The part of a body that another one does not shield turns it.
#[test]
fn a_body_that_is_shielded_in_part_turns() {
    let bodies = "[[body]]\nname = \"wall\"\nmotion = \"static\"\n\
        shape = { box = { half_extents = [0.01, 1, 1] } }\nposition = [-0.5, 1, 0]\n\
        [[body]]\nname = \"crate\"\nshape = { box = { half_extents = [0.2, 0.2, 0.2] } }\n";
    let world = exploded(bodies, "at = [-1, 0, 0], radius = 4, impulse = 500");
    let momentum = world.iter().nth(1).unwrap().momentum;
    // only the lower half is visible: it is pushed along x below the center
    let half = 0.5 * 500.0 * 0.16 * (1.0 - 0.8 / 4.0);
    assert!((momentum.linear.x / half - 1.0).abs() < 0.05, "{}", momentum.linear);
    assert!((momentum.angular.z / (0.1 * half) - 1.0).abs() < 0.1, "{}", momentum.angular);
    assert!(momentum.angular.xy().norm() < 0.02 * half, "{}", momentum.angular);
}

#[test]
fn a_charge_inside_a_body_drives_its_pieces_apart() {
    let body = "[pattern.p.voronoi]\npieces = 40\n\
        [[body]]\nname = \"crate\"\nshape = { box = { half_extents = [0.2, 0.2, 0.2] } }\n\
        fracture = { pattern = \"p\", break_impulse = 20 }\n";
    let world = exploded(body, "at = [0.01, 0.02, 0], radius = 2, impulse = 500");
    let center = Vector3::new(0.01, 0.02, 0.0);
    let along = |state: sim::BodyState<'_>| {
        state.momentum.linear.dot(&(state.pose.translation.vector - center))
    };
    let pushed: Vec<f64> = world.iter().map(along).filter(|along| along.abs() > 1e-6).collect();
    assert!(pushed.len() > 10, "{}", pushed.len());
    assert!(pushed.iter().all(|along| *along > 0.0), "{pushed:?}");
}

#[test]
fn the_pieces_of_a_body_receive_as_much_as_the_whole() {
    let whole = "[[body]]\nname = \"crate\"\n\
        shape = { box = { half_extents = [0.2, 0.2, 0.2] } }\n";
    let blast = "at = [-0.5, 0, 0], radius = 2, impulse = 500";
    let expected = exploded(whole, blast).momentum().linear;
    for pieces in [2, 12, 100] {
        let broken = format!(
            "[pattern.p.voronoi]\npieces = {pieces}\n{whole}\
             fracture = {{ pattern = \"p\", break_impulse = 20 }}\n"
        );
        let world = exploded(&broken, blast);
        assert!(world.len() > 1);
        let share = world.momentum().linear.x / expected.x;
        assert!((0.75..1.25).contains(&share), "{pieces} pieces: {share}");
    }
}
