//! Bodies in the plane: closed forms, a stack, and refusals.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use brisance_tests::scenes::{LoadedScene, load};
use nalgebra::Vector3;
use sim::scene::{Scene, Solver};
use sim::{Appearance, BodyState, World, build};

const G: f64 = 9.81;
const FLOOR: &str = "[[body]]\nname = \"floor\"\nshape = { plane = {} }\nmotion = \"static\"\n";

fn made(simulation: &str, bodies: &str) -> (World, Vec<Appearance>) {
    let text = format!("version = 1\n[simulation]\nplane = true\n{simulation}\n{bodies}");
    build(&Scene::from_toml(&text).unwrap(), &BTreeMap::new()).unwrap()
}

fn named<'a>(world: &'a World, looks: &[Appearance], name: &str) -> BodyState<'a> {
    world.get(looks.iter().find(|look| look.name == name).unwrap().body).unwrap()
}

fn velocity(state: &BodyState<'_>) -> (Vector3<f64>, Vector3<f64>) {
    let velocity = state.body.velocity(&state.pose.rotation, state.momentum);
    (velocity.linear, velocity.angular)
}

#[test]
fn five_boxes_stand_for_ten_seconds_in_the_plane() {
    let boxes = "[[body]]\nname = \"box\"\nshape = { box = { half_extents = [0.1, 0.1, 0.1] } }\n\
                 position = [0, 0.1, 0]\ncopies = { count = [1, 5, 1], spacing = [0, 0.2, 0] }\n";
    for (solver, fps) in ["impulse", "manifold"].into_iter().flat_map(|s| [(s, 30), (s, 60)]) {
        let simulation = format!("solver = \"{solver}\"\nfps = {fps}\nsleep = false");
        let (mut world, looks) = made(&simulation, &format!("{FLOOR}{boxes}"));
        (0..10 * fps).for_each(|_| drop(world.step()));
        for n in 0..5 {
            let state = named(&world, &looks, &format!("box {}", n + 1));
            let off = state.pose.translation.vector - Vector3::y() * (0.1 + 0.2 * f64::from(n));
            assert!(off.norm() < 1e-3, "{solver}, {fps} Hz, box {n}: {off:?}");
            assert!(off.z == 0.0 && state.pose.rotation.angle() < 1e-3);
        }
    }
}

#[test]
fn a_block_slides_down_an_incline_as_coulomb_says() {
    let (slope, friction) = (0.3_f64, 0.15);
    let (fps, frames) = (120, 120);
    let ramp = format!(
        "[[body]]\nname = \"ramp\"\nshape = {{ plane = {{ normal = [{}, {}, 0] }} }}\nmotion = \"static\"\n\
         friction = {friction}\n[[body]]\nname = \"block\"\nfriction = {friction}\nrestitution = 0\n\
         shape = {{ polygon = {{ corners = [[-0.2, -0.1], [0.2, -0.1], [0.2, 0.1], [-0.2, 0.1]], depth = 0.2 }} }}\n\
         position = [{}, {}, 0]\nrotation = {{ axis = [0, 0, 1], degrees = {} }}\n",
        slope.sin(),
        slope.cos(),
        0.1 * slope.sin(),
        0.1 * slope.cos(),
        -slope.to_degrees()
    );
    for solver in ["impulse", "manifold"] {
        let (mut world, looks) = made(&format!("solver = \"{solver}\"\nfps = {fps}"), &ramp);
        let start = named(&world, &looks, "block").pose.translation.vector;
        (0..frames).for_each(|_| drop(world.step()));
        let way = (named(&world, &looks, "block").pose.translation.vector - start).norm();
        let acceleration = G * (slope.sin() - friction * slope.cos());
        // semi-implicit Euler leads the exact motion by half a step
        let ahead = 0.5 * acceleration / f64::from(fps);
        let error = way - 0.5 * acceleration;
        assert!((-1e-3..ahead + 1e-3).contains(&error), "{solver}: {way} m");
    }
}

/// Discs of different mass that collide off center exchange momentum only along the line of centers.
#[test]
fn discs_bounce_off_each_other_elastically() {
    let disc = |name: &str, x: f64, y: f64, speed: f64, density: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nshape = {{ cylinder = {{ radius = 0.1, half_height = 0.1 }} }}\n\
             rotation = {{ axis = [1, 0, 0], degrees = 90 }}\nposition = [{x}, {y}, 0]\n\
             velocity = [{speed}, 0, 0]\ndensity = {density}\nrestitution = 1\nfriction = 0\n"
        )
    };
    let bodies = disc("a", -0.5, 0.0, 2.0, 1000.0) + &disc("b", 0.5, 0.12, -1.0, 3000.0);
    // the contact normal is that of a pose at most one step from the impact
    for solver in ["impulse", "manifold"] {
        let simulation = format!("gravity = [0, 0, 0]\nsolver = \"{solver}\"\nfps = 3000");
        let (mut world, looks) = made(&simulation, &bodies);
        let before = world.kinetic_energy();
        (0..3000).for_each(|_| drop(world.step()));
        let [a, b] = ["a", "b"].map(|name| velocity(&named(&world, &looks, name)).0);
        // the line of centers at the impact
        let normal = Vector3::new((0.2_f64.powi(2) - 0.12_f64.powi(2)).sqrt(), 0.12, 0.0) / 0.2;
        let exchanged = 2.0 * 3.0 / 4.0 * 3.0 * normal.x;
        let expected = [
            Vector3::x() * 2.0 - normal * exchanged,
            Vector3::x() * -1.0 + normal * (exchanged / 3.0),
        ];
        for (found, expected) in [a, b].into_iter().zip(expected) {
            assert!((found - expected).norm() < 5e-3, "{solver}: {found:?} {expected:?}");
        }
        assert!((world.kinetic_energy() / before - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_free_body_turns_evenly_and_stays_in_the_plane() {
    let spinning = "[[body]]\nname = \"box\"\nshape = { box = { half_extents = [0.3, 0.1, 0.05] } }\n\
                    velocity = [1, 0, 0]\nangular_velocity = [0, 0, 3]\nrotation = { axis = [1, 0, 0], degrees = 90 }\n";
    let (mut world, looks) = made("gravity = [0, 0, 0]", spinning);
    (0..300).for_each(|_| drop(world.step()));
    let state = named(&world, &looks, "box");
    let (linear, angular) = velocity(&state);
    assert!((linear - Vector3::x()).norm() < 1e-12 && (angular - Vector3::z() * 3.0).norm() < 1e-9);
    assert!((state.pose.translation.vector - Vector3::x() * 10.0).norm() < 1e-9);
    // thirty radians: the long side was initially along x
    let side = state.pose.rotation * Vector3::x();
    assert!((side - Vector3::new(30.0_f64.cos(), 30.0_f64.sin(), 0.0)).norm() < 1e-6, "{side:?}");
    assert_eq!(state.pose.translation.z, 0.0);
}

/// The period of a pendulum from 60 degrees by the arithmetic-geometric mean.
#[test]
fn a_pendulum_swings_with_its_period() {
    let angle = std::f64::consts::FRAC_PI_3;
    let bodies = format!(
        "[[body]]\nname = \"nail\"\nshape = {{ sphere = {{ radius = 0.01 }} }}\nmotion = \"static\"\n\
         [[body]]\nname = \"bob\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nposition = [{}, {}, 0]\n\
         [[joints]]\nkind = \"point\"\nbodies = [\"bob\", \"nail\"]\nanchor = [0, 0, 0]\n",
        angle.sin(),
        -angle.cos()
    );
    let (mut a, mut b) = (1.0, (angle / 2.0).cos());
    for _ in 0..6 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    let period = TAU * ((1.0 + 0.4 * 0.01) / G).sqrt() / a;
    let fps = 240.0;
    for solver in ["manifold", "impulse"] {
        let (mut world, looks) =
            made(&format!("fps = {fps}\nsleep = false\nsolver = \"{solver}\""), &bodies);
        // the pendulum is lowest after a quarter of the period and after three quarters
        let mut crossings = Vec::new();
        let mut last = 1.0;
        for frame in 0..(3.0 * fps) as usize {
            world.step();
            let x = named(&world, &looks, "bob").pose.translation.x;
            if (x < 0.0) != (last < 0.0) {
                crossings.push((frame as f64 + last / (last - x)) / fps);
            }
            last = x;
        }
        let found = 2.0 * (crossings[1] - crossings[0]);
        assert!((found / period - 1.0).abs() < 0.01, "{solver}: {found} s, not {period} s");
    }
}

#[test]
fn a_polygon_has_the_mass_and_inertia_of_its_formula() {
    let side = 0.2_f64;
    let corners: Vec<[f64; 2]> = (0..6)
        .map(|k| f64::from(k) * TAU / 6.0)
        .map(|angle| [0.5 + side * angle.cos(), side * angle.sin()])
        .collect();
    let text = format!(
        "[[body]]\nname = \"hexagon\"\nshape = {{ polygon = {{ corners = {corners:?}, depth = 0.4 }} }}\n"
    );
    let (world, looks) = made("", &text);
    let state = named(&world, &looks, "hexagon");
    let mass = state.body.mass_properties().unwrap();
    let exact = 1000.0 * 0.4 * 1.5 * 3.0_f64.sqrt() * side * side;
    assert!((mass.mass() / exact - 1.0).abs() < 1e-12);
    let inertia = mass.world_inertia(&state.pose.rotation)[(2, 2)];
    assert!((inertia / (exact * 5.0 / 12.0 * side * side) - 1.0).abs() < 1e-9, "{inertia}");
    assert!((state.pose.translation.vector - Vector3::x() * 0.5).norm() < 1e-12);
}

#[test]
fn any_number_of_threads_ends_with_the_same_bits() {
    let bodies = "[[body]]\nname = \"disc\"\nshape = { cylinder = { radius = 0.1, half_height = 0.1 } }\n\
                  rotation = { axis = [1, 0, 0], degrees = 90 }\nposition = [0.03, 0.3, 0]\n\
                  copies = { count = [5, 6, 1], spacing = [0.21, 0.22, 0] }\n";
    for solver in ["impulse", "manifold"] {
        let end = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let simulation = format!("solver = \"{solver}\"");
                let (mut world, _) = made(&simulation, &format!("{FLOOR}{bodies}"));
                (0..60).for_each(|_| drop(world.step()));
                world.iter().map(|state| (*state.pose, *state.momentum)).collect::<Vec<_>>()
            })
        };
        let one = end(1);
        assert_eq!(one, end(3));
        assert!(one.iter().all(|(pose, _)| pose.translation.z.abs() < 1e-15));
    }
}

#[test]
fn scenes_in_the_plane_say_what_is_out_of_it() {
    let said = |simulation: &str, body: &str, what: &str| {
        let text = format!(
            "version = 1\n[simulation]\nplane = true\n{simulation}\n[[body]]\nname = \"b\"\n{body}"
        );
        let message = Scene::from_toml(&text).unwrap_err().to_string();
        assert!(message.contains(what) && message.contains("simulation.plane"), "{message}");
    };
    let cube = "shape = { box = { half_extents = [1, 1, 1] } }\n";
    let with = |line: &str| format!("{cube}{line}");
    said("gravity = [0, -9, 1]", cube, "simulation.gravity");
    said("", &with("position = [0, 0, 1]"), "body[0].position");
    said("", &with("velocity = [0, 0, 1]"), "body[0].velocity");
    said("", &with("angular_velocity = [1, 0, 0]"), "body[0].angular_velocity");
    said("", &with("rotation = { axis = [1, 0, 0], degrees = 30 }"), "body[0].rotation");
    said("", &with("copies = { count = [1, 1, 2], spacing = [1, 1, 1] }"), "body[0].copies.count");
    said(
        "",
        &with("copies = { count = [2, 1, 1], spacing = [1, 1, 1], jitter = 0.1 }"),
        "body[0].copies.jitter",
    );
    said("", "shape = { torus = { major = 1, minor = 0.2 } }", "must be a sphere, box");
    said("", "shape = { plane = { normal = [0, 1, 1] } }\nmotion = \"static\"", "plane.normal");
    said(
        "",
        &with("[[event]]\ntime = 1\npush = { body = \"b\", impulse = [0, 0, 1] }"),
        "push.impulse",
    );
    said(
        "",
        &with(
            "[[event]]\ntime = 1\ncut = { from = [[0, 1, 0], [1, 1, 0]], to = [[0, 0, 0], [1, 0, 0]] }",
        ),
        "event[0].cut",
    );
    let flat = "version = 1\n[simulation]\nplane = true\n[[body]]\nname = \"b\"\nshape = { polygon = { depth = 1, corners = ";
    for corners in
        ["[[0, 0], [0, 1], [1, 0]]", "[[0, 0], [2, 0], [1, 0.5], [1, 2]]", "[[0, 0], [1, 0]]"]
    {
        let message = Scene::from_toml(&format!("{flat}{corners} }} }}")).unwrap_err().to_string();
        assert!(message.contains("corners"), "{message}");
    }
}

/// The largest relative energy gain beyond work in a frame of the tower and the pendulum.
fn largest_gain(solver: Solver, bound: bool) -> f64 {
    let LoadedScene { mut world, .. } = load("flatland", |scene| {
        scene.simulation.solver = solver;
        scene.simulation.energy.bound = bound;
    });
    let start = world.kinetic_energy() + world.potential_energy();
    let gain = |_| {
        let report = world.step();
        (report.energy.gain - report.energy.work) / start
    };
    (0..240).map(gain).fold(f64::NEG_INFINITY, f64::max)
}

/// The bound removes the energy gain of the joint of the pendulum, overlaps and linearized contacts
/// from the motion.
#[test]
fn no_frame_of_the_tower_and_the_pendulum_gains_energy() {
    for solver in [Solver::Impulse, Solver::Manifold, Solver::SequentialImpulse] {
        let gained = largest_gain(solver, true);
        assert!(gained < 1e-9, "{solver:?}: {gained:e}");
        let unbound = largest_gain(solver, false);
        assert!(unbound < 2e-3, "{solver:?} without the bound on energy: {unbound:e}");
    }
}
