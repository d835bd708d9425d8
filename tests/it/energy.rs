//! The energy balance of a frame.

use std::collections::BTreeMap;

use contact::constraint::JointKind;
use contact::{Material, Settings as ContactSettings, Shape};
use dynamics::{Body, MassProperties, Velocity};
use nalgebra::{Isometry3, Point3, Vector3};
use sim::scene::Scene;
use sim::{NewBody, NewJoint, Report, Settings, World};

use crate::joints::joint;

const GRAVITY: f64 = 9.81;
const MASS: f64 = 2.0;

fn both() -> [ContactSettings; 2] {
    [ContactSettings::default(), ContactSettings::reference()]
}

fn world(gravity: f64, contact: ContactSettings) -> World {
    let gravity = Vector3::new(0.0, -gravity, 0.0);
    World::new(Settings { contact, gravity, sleep: false, ..Settings::default() })
}

fn material(restitution: f64, friction: f64) -> Material {
    Material { restitution, friction, ..Material::default() }
}

fn along(x: f64) -> Velocity {
    Velocity { linear: Vector3::new(x, 0.0, 0.0), ..Velocity::default() }
}

fn body(body: Body, shape: Shape, [x, y]: [f64; 2], speed: f64, material: Material) -> NewBody {
    let pose = Isometry3::translation(x, y, 0.0);
    NewBody { pose, velocity: along(speed), material, ..NewBody::of(body, shape) }
}

/// A flat box that slides rather than tips, 1 m long and 0.2 m high.
fn slab(x: f64, speed: f64, material: Material) -> NewBody {
    let half = Vector3::new(0.5, 0.1, 0.5);
    let mass = MassProperties::cuboid(MASS, &half).unwrap();
    body(Body::Dynamic(mass), Shape::cuboid(half, 0.1), [x, 0.1], speed, material)
}

fn ground(material: Material) -> NewBody {
    body(Body::Static, Shape::half_space(), [0.0; 2], 0.0, material)
}

/// Newton's law of impact: a ball struck by a wall of speed V leaves at (1 + e) V. The wall does m (1 + e) V^2
/// of work, and m (1 - e^2) V^2 / 2 is dissipated.
#[test]
fn a_moving_wall_does_the_work_that_newtons_law_of_impact_says() {
    let speed = 1.5;
    for contact in both() {
        for e in [0.0, 0.4, 1.0] {
            let mut world = world(0.0, contact);
            let wall = Shape::cuboid(Vector3::repeat(0.5), 0.1);
            let surface = material(e, 0.0);
            world.add(body(Body::Kinematic(along(speed)), wall, [0.0; 2], speed, surface)).unwrap();
            let mass = MassProperties::ball(MASS, 0.1).unwrap();
            let ball = Shape::ball(0.1);
            world.add(body(Body::Dynamic(mass), ball, [0.62, 0.0], 0.0, surface)).unwrap();
            let report = world.step();
            let unit = MASS * speed * speed;
            assert!((report.energy.work - (1.0 + e) * unit).abs() < 1e-9 * unit, "{report:?}");
            let lost = report.energy.dissipation.collision;
            assert!((lost - 0.5 * (1.0 - e * e) * unit).abs() < 1e-9 * unit, "{report:?}");
            assert!(report.energy.dissipation.contact.abs() < 1e-9 * unit, "{report:?}");
        }
    }
}

/// Coulomb: a box decelerates by mu g, and contact dissipates its loss of kinetic energy.
#[test]
fn friction_takes_what_a_sliding_box_loses() {
    let (friction, start, frames) = (0.3, 3.0, 10);
    for contact in both() {
        let mut world = world(GRAVITY, contact);
        world.add(ground(material(0.0, friction))).unwrap();
        world.add(slab(0.0, start, material(0.0, friction))).unwrap();
        let reports: Vec<Report> = (0..frames).map(|_| world.step()).collect();
        let end = start - friction * GRAVITY * f64::from(frames) / 30.0;
        let lost = 0.5 * MASS * (start * start - end * end);
        let taken: f64 = reports.iter().map(|r| r.energy.dissipation.contact).sum();
        assert!((taken / lost - 1.0).abs() < 0.01, "{taken} {lost}");
        assert!(
            reports.iter().all(|r| r.energy.work == 0.0 && r.energy.dissipation.fracture == 0.0)
        );
    }
}

/// A body on a conveyor belt of speed V slips until it reaches V. The belt does m V^2 of work: one half
/// becomes kinetic energy and the other is dissipated, for any friction.
#[test]
fn a_conveyor_belt_pays_twice() {
    let speed = 1.2;
    for contact in both() {
        for friction in [0.1, 0.4] {
            let mut world = world(GRAVITY, contact);
            let (surface, belt) = (material(0.0, friction), Body::Kinematic(along(speed)));
            world.add(body(belt, Shape::half_space(), [0.0; 2], speed, surface)).unwrap();
            world.add(slab(0.0, 0.0, surface)).unwrap();
            let reports: Vec<Report> = (0..60).map(|_| world.step()).collect();
            let unit = MASS * speed * speed;
            let work: f64 = reports.iter().map(|r| r.energy.work).sum();
            let taken: f64 = reports.iter().map(|r| r.energy.dissipation.contact).sum();
            assert!((work / unit - 1.0).abs() < 0.01, "{work} {unit}");
            assert!((taken / (0.5 * unit) - 1.0).abs() < 0.02, "{taken} {unit}");
        }
    }
}

/// A sled that a kinematic body pulls at a constant speed V: the joint does mu m g V t of work, which friction
/// dissipates.
#[test]
fn a_joint_does_the_work_that_the_friction_of_a_sled_takes() {
    let (speed, friction, frames) = (0.6, 0.3, 60);
    let mut world = world(GRAVITY, ContactSettings::default());
    let surface = material(0.0, friction);
    world.add(ground(surface)).unwrap();
    let sled = world.add(slab(0.0, speed, surface)).unwrap();
    let hook = body(Body::Kinematic(along(speed)), Shape::ball(0.05), [1.0, 0.1], speed, surface);
    let hook = world.add(hook).unwrap();
    let rod = JointKind::Distance { least: 1.0, most: 1.0 };
    let anchors = [0.0, 1.0].map(|x| Point3::new(x, 0.1, 0.0));
    world.add_joint(NewJoint { anchors, ..joint(rod, [sled, hook], anchors[0]) }).unwrap();
    let reports: Vec<Report> = (0..frames).map(|_| world.step()).collect();
    let wanted = friction * MASS * GRAVITY * speed * f64::from(frames) / 30.0;
    let sum = |of: fn(&Report) -> f64| reports.iter().map(of).sum::<f64>();
    let (work, taken) = (sum(|r| r.energy.work), sum(|r| r.energy.dissipation.contact));
    assert!((work / wanted - 1.0).abs() < 0.01, "{work} {wanted}");
    assert!((taken / wanted - 1.0).abs() < 0.01, "{taken} {wanted}");
}

/// Two balls of stone fall on a rotating bar of steel, break, fall on and are retired.
const SCENE: &str = r#"version = 1
[debris]
retire = { after = 0.2, slower_than = 0.5, then = "remove" }
[pattern.shards.voronoi]
pieces = 8
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "bar"
shape = { box = { half_extents = [0.5, 0.05, 0.2] } }
motion = "kinematic"
angular_velocity = [0, 0, 2]
position = [0, 0.7, 0]
[[body]]
name = "ball"
shape = { sphere = { radius = 0.1, spacing = 0.02 } }
position = [0, 1.2, 0]
angular_velocity = [3, 9, 1]
fracture = { pattern = "shards", strength = 2, generations = 1 }
copies = { count = [2, 1, 1], spacing = [0.5, 1, 1] }
"#;

#[test]
fn every_joule_of_a_scene_is_accounted_for() {
    let scene = Scene::from_toml(SCENE).unwrap();
    let (mut world, _) = sim::build(&scene, &BTreeMap::new()).unwrap();
    let scale = world.potential_energy();
    let mut reports = vec![];
    for _ in 0..90 {
        let before = world.kinetic_energy() + world.potential_energy();
        let report = world.step();
        let growth = world.kinetic_energy() + world.potential_energy() - before;
        let explained = report.energy.work - report.energy.dissipation.total();
        assert!((growth - explained).abs() < 1e-10 * scale, "{growth} {report:?}");
        for event in &report.events.fractures {
            let (before, after) = (&event.before, &event.after);
            let energy = |m: &sim::Motion| m.kinetic_energy + m.potential_energy;
            assert!((energy(after) - energy(before)).abs() < 1e-10 * scale, "{event:?}");
            let momentum = |m: &sim::Motion| [m.momentum.linear, m.momentum.angular];
            for (p, q) in momentum(before).iter().zip(momentum(after)) {
                assert!((p - q).norm() < 1e-10 * (1.0 + p.norm()), "{event:?}");
            }
        }
        reports.push(report);
    }
    let sum = |of: fn(&Report) -> f64| reports.iter().map(of).sum::<f64>();
    assert!(reports.iter().any(|r| !r.events.fractures.is_empty()), "nothing broke");
    assert!(sum(|r| r.energy.work) > 0.01 * scale, "the bar does no work");
    assert!(sum(|r| r.energy.dissipation.collision) > 0.01 * scale);
    assert!(sum(|r| r.energy.dissipation.contact) > 0.0);
    assert!(sum(|r| r.energy.dissipation.retirement) > 0.0, "nothing was retired");
    assert!(
        sum(|r| r.energy.dissipation.fracture).abs() < 1e-10 * scale,
        "breaking itself is free"
    );
}
