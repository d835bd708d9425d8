//! The frame loop of Ku07, against closed forms.

use std::collections::BTreeMap;

use contact::{Material, Shape, Solver};
use dynamics::{Body, MassProperties, Velocity};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use sim::scene::Scene;
use sim::{BodyId, NewBody, Report, Settings, World, build};

const G: f64 = 9.81;
const DT: f64 = 1.0 / 30.0;

fn world() -> World {
    world_at(DT)
}

fn world_at(dt: f64) -> World {
    let contact = contact::Settings::of(Solver::Ku07);
    World::new(Settings { dt, contact, ..Settings::default() })
}

struct Made {
    shape: Shape,
    body: Body,
    pose: Isometry3<f64>,
    velocity: Velocity,
    restitution: f64,
    friction: f64,
}

impl Made {
    fn still(shape: Shape, body: Body, pose: Isometry3<f64>) -> Self {
        Self { shape, body, pose, velocity: Velocity::default(), restitution: 0.0, friction: 0.5 }
    }

    fn into(self, world: &mut World) -> BodyId {
        let material = Material {
            restitution: self.restitution,
            friction: self.friction,
            restitution_rule: None,
            friction_rule: None,
            ..Material::default()
        };
        let new = NewBody {
            pose: self.pose,
            velocity: self.velocity,
            material,
            ..NewBody::of(self.body, self.shape)
        };
        world.add(new).unwrap()
    }
}

fn ball(mass: f64, radius: f64) -> Body {
    Body::Dynamic(MassProperties::ball(mass, radius).unwrap())
}

fn cuboid(mass: f64, half: Vector3<f64>) -> Body {
    Body::Dynamic(MassProperties::cuboid(mass, &half).unwrap())
}

fn ground(world: &mut World, turn: UnitQuaternion<f64>, restitution: f64, friction: f64) {
    let pose = Isometry3::from_parts(Translation3::identity(), turn);
    let made = Made::still(Shape::half_space(), Body::Static, pose);
    Made { restitution, friction, ..made }.into(world);
}

fn energy(world: &World) -> f64 {
    world.kinetic_energy() + world.potential_energy()
}

#[test]
fn free_fall_is_a_parabola() {
    let mut world = world();
    let made = Made::still(Shape::ball(0.1), ball(2.0, 0.1), Isometry3::translation(1.0, 5.0, 0.0));
    let velocity = Velocity { linear: Vector3::new(2.0, 3.0, -1.0), ..Velocity::default() };
    let id = Made { velocity, ..made }.into(&mut world);
    for frame in 1..=90 {
        world.step();
        let t = f64::from(frame) * DT;
        let place = Vector3::new(1.0 + 2.0 * t, 5.0 + 3.0 * t - 0.5 * G * t * t, -t);
        let found = world.get(id).unwrap().pose.translation.vector;
        assert!((found - place).norm() < 1e-10 * place.norm(), "{frame}: {found}");
    }
}

#[test]
fn a_top_precesses() {
    let mut world = world();
    world.set_gravity(Vector3::zeros()).unwrap();
    let (across, along) = (0.3, 0.5);
    let mass = MassProperties::new(1.0, Vector3::new(across, across, along)).unwrap();
    let turn = UnitQuaternion::from_euler_angles(0.4, -0.3, 1.1);
    let spin = turn * Vector3::new(4.0, 0.0, 11.0);
    let pose = Isometry3::from_parts(Translation3::identity(), turn);
    let made = Made::still(Shape::ball(0.1), Body::Dynamic(mass), pose);
    let velocity = Velocity { angular: spin, ..Velocity::default() };
    let id = Made { velocity, ..made }.into(&mut world);
    let momentum = mass.angular_momentum(&turn, &spin);
    for frame in 1..=300 {
        world.step();
        let t = f64::from(frame) * DT;
        // the body rotates by L / I about a fixed axis and by the rest about its own axis
        let about_momentum = UnitQuaternion::from_scaled_axis(momentum * (t / across));
        let own = (1.0 - along / across) * 11.0;
        let about_axis = UnitQuaternion::from_scaled_axis(Vector3::z() * (own * t));
        let expected = about_momentum * turn * about_axis;
        let off = world.get(id).unwrap().pose.rotation.angle_to(&expected);
        assert!(off < 1e-6, "{frame}: {off}");
    }
}

/// The height of a ball dropped from `h` m above its lowest position after `t` s, and the speed of its last
/// impact.
fn bounced(h: f64, restitution: f64, t: f64) -> (f64, f64) {
    let mut speed = (2.0 * G * h).sqrt();
    let fall = speed / G;
    if t < fall {
        return (h - 0.5 * G * t * t, speed);
    }
    let mut since = t - fall;
    loop {
        speed *= restitution;
        let flight = 2.0 * speed / G;
        // a ball has no last bounce: slower bounces are negligible
        if since < flight || speed < 0.01 {
            return (speed * since - 0.5 * G * since * since, speed);
        }
        since -= flight;
    }
}

#[test]
fn a_ball_bounces_at_the_times_and_to_the_heights_of_its_restitution() {
    for restitution in [0.5, 0.9, 1.0] {
        let mut world = world();
        ground(&mut world, UnitQuaternion::identity(), 1.0, 0.0);
        let (radius, h) = (0.1, 1.0);
        let pose = Isometry3::translation(0.0, h + radius, 0.0);
        let made = Made::still(Shape::ball(radius), ball(1.0, radius), pose);
        let id = Made { restitution, friction: 0.0, ..made }.into(&mut world);
        let mut impacts = 0;
        for frame in 1..=120 {
            let report = world.step();
            impacts += report.counters.impacts;
            let (height, speed) = bounced(h, restitution, f64::from(frame) * DT);
            if speed < 0.05 {
                break;
            }
            let found = world.get(id).unwrap().pose.translation.y - radius;
            assert!((found - height).abs() < 1e-6 * h, "{restitution}, {frame}: {found} {height}");
            assert!(report.energy.gain <= 1e-9 * G * h, "{}", report.energy.gain);
        }
        assert!(impacts >= 4, "{impacts}");
    }
}

#[test]
fn a_bouncing_ball_comes_to_rest() {
    let mut world = world();
    ground(&mut world, UnitQuaternion::identity(), 0.5, 0.5);
    let pose = Isometry3::translation(0.0, 0.5, 0.0);
    let made = Made::still(Shape::ball(0.1), ball(1.0, 0.1), pose);
    let id = Made { restitution: 0.5, ..made }.into(&mut world);
    let mut impacts = 0;
    for _ in 0..60 {
        let report = world.step();
        impacts += report.counters.impacts;
        assert_eq!(report.counters.limited_collisions, 0);
    }
    // impact speeds halve until they are below 1 mm/s
    let first = (2.0 * G * 0.4f64).sqrt();
    assert_eq!(impacts, (first / 1e-3).log2().floor() as usize + 1);
    let state = world.get(id).unwrap();
    assert!(state.momentum.linear.norm() < 1e-9, "{}", state.momentum.linear);
    assert!((state.pose.translation.y - 0.1).abs() < 1e-7);
}

#[test]
fn a_block_rests() {
    let mut world = world();
    ground(&mut world, UnitQuaternion::identity(), 0.0, 0.5);
    let half = Vector3::new(0.3, 0.1, 0.2);
    let pose = Isometry3::translation(0.0, 0.1, 0.0);
    let id = Made::still(Shape::cuboid(half, 0.05), cuboid(5.0, half), pose).into(&mut world);
    for _ in 0..60 {
        world.step();
    }
    let state = world.get(id).unwrap();
    assert!((state.pose.translation.vector - Vector3::y() * 0.1).norm() < 1e-7);
    assert!(state.pose.rotation.angle() < 1e-7);
}

#[test]
fn a_block_on_an_incline_obeys_coulomb() {
    let angle = 0.4f64;
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -angle);
    let half = Vector3::new(0.2, 0.1, 0.2);
    for friction in [0.2, 0.5] {
        let mut world = world();
        ground(&mut world, turn, 0.0, friction);
        let pose = Isometry3::from_parts(Translation3::from(turn * Vector3::y() * 0.1), turn);
        let made = Made::still(Shape::cuboid(half, 0.05), cuboid(5.0, half), pose);
        let id = Made { friction, ..made }.into(&mut world);
        for _ in 0..30 {
            world.step();
        }
        let way = world.get(id).unwrap().pose.translation.vector - pose.translation.vector;
        let along = way.dot(&(turn * Vector3::x()));
        let pull = G * (angle.sin() - friction * angle.cos()).max(0.0);
        let expected = 0.5 * pull;
        // static friction holds initially, while the block is slower than some mm/s
        let tolerance = if pull > 0.0 { 1e-3 * expected } else { 1e-4 };
        assert!((along - expected).abs() < tolerance, "{friction}: {along} {expected}");
        assert!((way - turn * Vector3::x() * along).norm() < 1e-6, "{friction}: {way}");
    }
}

#[test]
fn a_stack_stands() {
    let mut world = world();
    ground(&mut world, UnitQuaternion::identity(), 0.0, 0.5);
    let half = Vector3::repeat(0.1);
    let ids: Vec<BodyId> = (0..4)
        .map(|n| {
            let pose = Isometry3::translation(0.0, 0.1 + 0.2 * f64::from(n), 0.0);
            Made::still(Shape::cuboid(half, 0.05), cuboid(1.0, half), pose).into(&mut world)
        })
        .collect();
    for _ in 0..30 {
        world.step();
    }
    for (n, id) in ids.iter().enumerate() {
        let place = world.get(*id).unwrap().pose.translation.vector;
        let off = place - Vector3::y() * (0.1 + 0.2 * n as f64);
        assert!(off.norm() < 1e-6, "{n}: {off}");
    }
}

#[test]
fn a_dropped_block_tumbles_and_comes_to_rest_without_gaining_energy() {
    let mut world = world();
    ground(&mut world, UnitQuaternion::identity(), 0.3, 0.5);
    let half = Vector3::new(0.3, 0.1, 0.2);
    let turn = UnitQuaternion::from_euler_angles(0.3, 0.2, 0.5);
    let pose = Isometry3::from_parts(Translation3::new(0.0, 0.8, 0.0), turn);
    let made = Made::still(Shape::cuboid(half, 0.05), cuboid(5.0, half), pose);
    let id = Made { restitution: 0.3, ..made }.into(&mut world);
    let start = energy(&world);
    for frame in 0..90 {
        let report = world.step();
        assert!(report.energy.gain <= 1e-7 * start, "{frame}: {}", report.energy.gain);
        assert!(!report.events.unsolved, "{frame}");
        assert_eq!(report.counters.limited_collisions, 0, "{frame}");
    }
    let state = world.get(id).unwrap();
    assert!((state.pose.translation.y - 0.1).abs() < 1e-5, "{}", state.pose);
    assert!(world.kinetic_energy() < 1e-9, "{}", world.kinetic_energy());
}

#[test]
fn a_ball_rolls_on_a_ball_as_energy_says() {
    // until it leaves at cos a = 10/17, a small ball that rolls without sliding off a large one has the speed
    // v^2 = 10/7 g (R + r) (1 - cos a)
    let mut world = world_at(0.01);
    let (large, small) = (1.0, 0.1);
    let fixed = Made::still(Shape::ball(large), Body::Static, Isometry3::identity());
    Made { friction: 50.0, ..fixed }.into(&mut world);
    let angle = 0.2f64;
    let at = Vector3::new(angle.sin(), angle.cos(), 0.0) * (large + small);
    let pose = Isometry3::from_parts(Translation3::from(at), UnitQuaternion::identity());
    let made = Made::still(Shape::ball(small), ball(1.0, small), pose);
    let id = Made { friction: 50.0, ..made }.into(&mut world);
    let mut looked = 0;
    for _ in 0..200 {
        world.step();
        let state = world.get(id).unwrap();
        let place = state.pose.translation.vector;
        let cosine = place.y / place.norm();
        if cosine < 0.62 {
            break;
        }
        looked += 1;
        assert!((place.norm() - large - small).abs() < 1e-6, "{}", place.norm());
        let speed = (10.0 / 7.0 * G * (large + small) * (angle.cos() - cosine)).sqrt();
        let found = state.momentum.linear.norm();
        assert!((found - speed).abs() < 2e-3 * speed.max(0.1), "{found} {speed}");
    }
    assert!(looked > 40, "{looked}");
    for _ in 0..20 {
        world.step();
    }
    assert!(world.get(id).unwrap().pose.translation.vector.norm() > large + small + 0.01);
}

#[test]
fn kinematic_work_is_reported() {
    let mut world = world();
    let lift = Body::Kinematic(Velocity { linear: Vector3::y() * 0.5, ..Velocity::default() });
    let half = Vector3::new(0.5, 0.05, 0.5);
    Made::still(Shape::cuboid(half, 0.05), lift, Isometry3::identity()).into(&mut world);
    let half = Vector3::repeat(0.1);
    let pose = Isometry3::translation(0.0, 0.15, 0.0);
    let id = Made::still(Shape::cuboid(half, 0.05), cuboid(2.0, half), pose).into(&mut world);
    let mut work = 0.0;
    let start = energy(&world);
    for _ in 0..30 {
        let report = world.step();
        work += report.energy.work - report.energy.dissipation.total();
    }
    let y = world.get(id).unwrap().pose.translation.y;
    assert!((y - 0.65).abs() < 1e-6, "{y}");
    assert!((energy(&world) - start - work).abs() < 1e-9 * work, "{work}");
    // potential energy of the lift, and the initial impact of the lift
    let lifted = 2.0 * G * 0.5 + 2.0 * 0.5 * 0.5 - 0.5 * 2.0 * 0.25;
    assert!((work - lifted).abs() < 1e-6 * lifted, "{work} {lifted}");
}

/// A wall, and a ball that flies along z.
fn wall(more: &str) -> String {
    format!(
        r#"version = 1
        [simulation]
        solver = "ku07"
        {more}
        [[body]]
        name = "wall"
        shape = {{ box = {{ half_extents = [0.3, 0.2, 0.1], spacing = 0.05 }} }}
        material = "clay"
        density = 1700
        [[body]]
        name = "ball"
        shape = {{ sphere = {{ radius = 0.1 }} }}
        position = [0.05, 0.03, 0.5]
        velocity = [0, 0.5, -9]
        material = "steel"
        "#
    )
}

#[test]
fn keys_of_other_solvers_are_refused() {
    let said = |more: &str| Scene::from_toml(&wall(more)).unwrap_err().to_string();
    let rows = said("contact = { row_sweeps = 5 }");
    assert!(rows.contains("simulation.contact.row_sweeps") && rows.contains("`ku07`"), "{rows}");
    let push = said("contact = { push_out = 0.5 }");
    assert!(push.contains("steers nothing with the solver `ku07`"), "{push}");
    for more in
        [r#"rotation = "second_order""#, "energy = { fix = false }", "energy = { bound = false }"]
    {
        let text = said(more);
        assert!(text.contains("steers nothing with the solver `ku07`"), "{text}");
    }
    let joint = r#"
        [[joints]]
        kind = "point"
        bodies = ["wall", "ball"]
        anchor = [0, 0, 0.4]
        "#;
    let text = Scene::from_toml(&(wall("") + joint)).unwrap_err().to_string();
    assert!(text.contains("the solver `ku07` has no joints"), "{text}");
    assert!(
        Scene::from_toml(&wall("contact = { resting_speed = 1e-4, clamp = \"scale\" }")).is_ok()
    );
}

/// A wall in free space after some frames in which a ball breaks it, and their reports.
fn broken(frames: usize) -> (World, Vec<Report>) {
    let text = wall("gravity = [0, 0, 0]").replace(
        "density = 1700",
        "density = 1700\nfracture = { break_impulse = 1, lattice = { spacing = 0.1, strength = 3e5 } }",
    );
    let scene = Scene::from_toml(&text).unwrap();
    let mut world = build(&scene, &BTreeMap::new()).unwrap().0;
    let reports = (0..frames).map(|_| world.step()).collect();
    (world, reports)
}

#[test]
fn a_wall_that_breaks_keeps_its_momentum_and_gains_no_energy() {
    let (start, _) = broken(0);
    let (before, energy) = (start.momentum(), start.kinetic_energy());
    let (world, reports) = broken(4);
    assert!(world.len() >= 6, "{}", world.len());
    let after = world.momentum();
    let size = before.linear.norm();
    assert!((after.linear - before.linear).norm() < 1e-9 * size, "{}", after.linear);
    assert!((after.angular - before.angular).norm() < 1e-9 * size, "{}", after.angular);
    for (frame, report) in reports.iter().enumerate() {
        assert!(report.energy.gain <= 1e-9 * energy, "{frame}: {}", report.energy.gain);
    }
    let impacts: usize = reports.iter().map(|report| report.counters.impacts).sum();
    assert!(impacts > world.len(), "{impacts}");
    assert!(world.kinetic_energy() < 0.99 * energy);
}

#[test]
fn what_breaks_is_the_same_on_any_number_of_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| broken(3).0.fingerprint())
    };
    assert_eq!(on(1), on(2));
}
