//! Explosions: impulses on cross-sections of rays, shielding, and pieces of bodies that break.

use std::collections::BTreeMap;
use std::f64::consts::PI;

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

/// The impulse on a sphere of radius `r` at the distance `d`: that of all rays in the cone that it
/// covers, each on `s^2` of its solid angle at the distance `s` of the hit.
pub(crate) fn expected(r: f64, d: f64, radius: f64, impulse: f64) -> f64 {
    const STEPS: usize = 100_000;
    let most = (r / d).asin();
    let step = most / STEPS as f64;
    (0..STEPS)
        .map(|n| {
            let angle = (n as f64 + 0.5) * step;
            let s = d * angle.cos() - (r * r - (d * angle.sin()).powi(2)).max(0.0).sqrt();
            impulse * (1.0 - s / radius) * s * s * angle.cos() * 2.0 * PI * angle.sin() * step
        })
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_ball_receives_the_impulse_on_its_cross_section(
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

/// The piece around the center shields nothing.
#[test]
fn a_charge_inside_a_body_drives_its_pieces_apart() {
    let body = "[pattern.p.voronoi]\npieces = 40\n\
        [[body]]\nname = \"crate\"\nshape = { box = { half_extents = [0.2, 0.2, 0.2] } }\n\
        fracture = { pattern = \"p\", break_impulse = 20 }\n";
    let world = exploded(body, "at = [0, 0, 0], radius = 2, impulse = 500");
    assert!(world.len() > 20);
    let outward = world
        .iter()
        .filter(|state| state.momentum.linear.dot(&state.pose.translation.vector) > 0.0)
        .count();
    assert!(outward > world.len() / 4, "{outward} of {}", world.len());
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
        let given = world.momentum().linear;
        let off = (given - expected).norm() / expected.norm();
        assert!(off < 0.03, "{pieces} pieces: {given} for {expected}");
    }
}
