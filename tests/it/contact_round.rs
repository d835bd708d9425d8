//! Cylinders, capsules and cones at 30 Hz: rolling against closed forms, and standing.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;
use std::sync::{Arc, LazyLock};

use brisance_tests::properties;
use contact::{Field, Round, Settings, Shape, Triangles};
use dynamics::{Body, MassProperties, Velocity};
use levelset::{Aabb, Grid, LevelSet, Solid};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use sim::scene::Scene;
use sim::{BodyId, NewBody, World, build};

use crate::contact_mesh::sheet;
use crate::contact_scenes::{GRAVITY, at, floor, material, place, steps_without_gain, world};

/// The ground of a body.
#[derive(Clone, Copy, Debug)]
enum Ground {
    Plane,
    Block,
    Triangles,
    Samples,
}

const GROUNDS: [Ground; 4] = [Ground::Plane, Ground::Block, Ground::Triangles, Ground::Samples];
const WIDE_GROUNDS: [Ground; 3] = [Ground::Plane, Ground::Block, Ground::Triangles];

/// A sheet of triangles.
static TRIANGLES: LazyLock<Arc<Shape>> = LazyLock::new(|| {
    let flat = Triangles::new(&sheet(160, 1.2, |_, _| 0.0), f64::INFINITY).unwrap();
    Arc::new(Shape::mesh(Arc::new(flat)))
});

/// A sampled slab, whose top is at 0.5 m.
static SAMPLES: LazyLock<Arc<Shape>> = LazyLock::new(|| {
    let half = Vector3::new(13.0, 0.5, 13.0);
    let bounds = Aabb { min: Point3::from(-half), max: half.into() };
    let grid = Grid::enclosing(&bounds, 0.13, 2, Grid::MAX_NODES).unwrap();
    let solid = Solid::Box { half_extents: half };
    let slab = LevelSet::from_fn(grid, |p| solid.distance(&p));
    let points = slab.surface_particles(0.13);
    Arc::new(Shape::grid(slab, &points, Isometry3::identity()))
});

/// A world with ground of friction 0.5 through the origin, tilted about z.
fn on(ground: Ground, tilt: f64) -> World {
    let mut world = world(Settings::default());
    let (shape, low) = match ground {
        Ground::Plane => {
            floor(&mut world, tilt, material(0.0, 0.5));
            return world;
        }
        Ground::Block => (Arc::new(Shape::cuboid(Vector3::new(100.0, 1.0, 100.0), 10.0)), -1.0),
        Ground::Triangles => (Arc::clone(&TRIANGLES), 0.0),
        Ground::Samples => (Arc::clone(&SAMPLES), -0.5),
    };
    let turn = Isometry3::rotation(Vector3::z() * tilt);
    let pose = turn * Translation3::new(0.0, low, 0.0);
    world.add(NewBody { pose, ..body_of(shape, Body::Static) }).unwrap();
    world
}

fn body_of(shape: impl Into<Arc<Shape>>, body: Body) -> NewBody {
    NewBody { material: material(0.0, 0.5), ..NewBody::of(body, shape) }
}

fn mass_of(solid: &Solid) -> MassProperties {
    let moments = solid.moments().unwrap();
    let inertia = moments.inertia().diagonal() * 1000.0;
    MassProperties::new(moments.volume * 1000.0, inertia).unwrap()
}

fn cylinder(half_height: f64, radius: f64) -> NewBody {
    let mass = mass_of(&Solid::Cylinder { half_height, radius });
    body_of(Shape::round(Round::cylinder(half_height, radius), 0.1 * radius), Body::Dynamic(mass))
}

fn capsule(half_height: f64, radius: f64) -> NewBody {
    let mass = mass_of(&Solid::Capsule { half_height, radius });
    body_of(Shape::round(Round::capsule(half_height, radius), 0.1 * radius), Body::Dynamic(mass))
}

fn cone(half_height: f64, radius: f64) -> NewBody {
    let mass = mass_of(&Solid::Cone { half_height, radius });
    body_of(Shape::round(Round::cone(half_height, radius), 0.1 * radius), Body::Dynamic(mass))
}

fn ball(radius: f64) -> NewBody {
    let mass = mass_of(&Solid::Sphere { radius });
    body_of(Shape::ball(radius), Body::Dynamic(mass))
}

/// An orientation with the axis along z.
fn lying() -> UnitQuaternion<f64> {
    UnitQuaternion::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2)
}

/// Moment of inertia about the axis over `mass * radius^2`.
fn roundness(body: &NewBody, radius: f64) -> f64 {
    let Body::Dynamic(mass) = &body.body else { unreachable!() };
    mass.inertia().y / (mass.mass() * radius * radius)
}

fn axis(world: &World, id: BodyId) -> Vector3<f64> {
    world.get(id).unwrap().pose * Vector3::y()
}

#[test]
fn what_rolls_down_an_incline_goes_as_far_as_the_closed_form_has_it() {
    let tilt = 20_f64.to_radians();
    let turn = Isometry3::rotation(Vector3::z() * tilt);
    for ground in GROUNDS {
        let bodies = [(cylinder(0.25, 0.25), 0.25), (capsule(0.2, 0.1), 0.1), (ball(0.2), 0.2)];
        for (body, radius) in bodies {
            let want = 2.0 * GRAVITY * tilt.sin() / (1.0 + roundness(&body, radius));
            let pose = turn * Translation3::new(0.0, radius, 0.0) * lying();
            let mut world = on(ground, tilt);
            let id = world.add(NewBody { pose, ..body }).unwrap();
            steps_without_gain(&mut world, 60);
            let way = turn.inverse() * (place(&world, id) - pose.translation.vector);
            assert!((-way.x / want - 1.0).abs() < 1e-3, "{ground:?} {radius}: {} {want}", -way.x);
            assert!(way.z.abs() < 1e-4 && way.y.abs() < 1e-5, "{ground:?} {radius}: {way}");
        }
    }
}

#[test]
fn what_rolls_on_the_level_keeps_its_speed() {
    for ground in WIDE_GROUNDS {
        for (body, radius, speed) in [
            (cylinder(0.25, 0.25), 0.25, 3.0),
            (capsule(0.2, 0.1), 0.1, 1.0),
            (ball(0.2), 0.2, 2.0),
        ] {
            let velocity = Velocity {
                linear: Vector3::x() * speed,
                angular: Vector3::z() * (-speed / radius),
            };
            let start = -15.0 * speed;
            let pose = Translation3::new(start, radius, 0.0) * lying();
            let mut world = on(ground, 0.0);
            let id = world.add(NewBody { pose, velocity, ..body }).unwrap();
            let energy = world.kinetic_energy();
            steps_without_gain(&mut world, 900);
            let way = place(&world, id) - pose.translation.vector;
            assert!((way.x / (30.0 * speed) - 1.0).abs() < 1e-4, "{ground:?} {radius}: {way}");
            assert!(way.z.abs() < 1e-3 && way.y.abs() < 1e-4, "{ground:?} {radius}: {way}");
            assert!((world.kinetic_energy() / energy - 1.0).abs() < 1e-4, "{ground:?} {radius}");
        }
    }
}

#[test]
fn a_wheel_rolls_on_upright() {
    let (radius, speed) = (0.25, 3.0);
    for ground in WIDE_GROUNDS {
        let velocity =
            Velocity { linear: Vector3::x() * speed, angular: Vector3::z() * (-speed / radius) };
        let pose = Translation3::new(-15.0, radius, 0.0) * lying();
        let mut world = on(ground, 0.0);
        let id = world.add(NewBody { pose, velocity, ..cylinder(0.02, radius) }).unwrap();
        steps_without_gain(&mut world, 300);
        let way = place(&world, id) - pose.translation.vector;
        assert!((way.x / 30.0 - 1.0).abs() < 1e-3, "{ground:?}: {way}");
        assert!(axis(&world, id).y.abs() < 1e-3, "{ground:?}: {}", axis(&world, id));
    }
}

#[test]
fn what_stands_on_its_cap_stays() {
    for ground in GROUNDS {
        for (body, height) in [(cylinder(0.06, 0.033), 0.06), (cone(0.06, 0.033), 0.03)] {
            let pose = at(0.0, height, 0.0);
            let mut world = on(ground, 0.0);
            let id = world.add(NewBody { pose, ..body }).unwrap();
            steps_without_gain(&mut world, 300);
            let way = place(&world, id) - pose.translation.vector;
            assert!(way.norm() < 1e-4, "{ground:?} {height}: {way}");
            assert!((axis(&world, id) - Vector3::y()).norm() < 1e-3, "{ground:?} {height}");
        }
    }
}

#[test]
fn a_stack_of_three_cans_stands() {
    for ground in GROUNDS {
        let mut world = on(ground, 0.0);
        let cans: Vec<_> = (0..3)
            .map(|n| {
                let n = f64::from(n);
                let pose = Translation3::new(0.004 * n, 0.06 + 0.12 * n, 0.0)
                    * UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.7 * n);
                (world.add(NewBody { pose, ..cylinder(0.06, 0.033) }).unwrap(), pose)
            })
            .collect();
        steps_without_gain(&mut world, 900);
        for (id, pose) in cans {
            let way = place(&world, id) - pose.translation.vector;
            assert!(way.norm() < 1e-3, "{ground:?}: {way}");
            assert!(axis(&world, id).xz().norm() < 2e-3, "{ground:?}: {}", axis(&world, id));
        }
        assert!(world.kinetic_energy() < 1e-12);
    }
}

#[test]
fn a_can_that_hangs_over_the_edge_by_less_than_half_stays_and_by_more_falls() {
    for (over, stays) in [(0.4, true), (0.6, false)] {
        let mut world = world(Settings::default());
        floor(&mut world, 0.0, material(0.0, 0.5));
        let table = body_of(Shape::cuboid(Vector3::new(0.5, 0.5, 0.5), 0.1), Body::Static);
        world.add(NewBody { pose: at(0.0, 0.5, 0.0), ..table }).unwrap();
        let pose = at(0.5 + 0.06 * (over - 0.5), 1.06, 0.0);
        let id = world.add(NewBody { pose, ..cylinder(0.06, 0.03) }).unwrap();
        steps_without_gain(&mut world, 150);
        let fell = pose.translation.vector.y - place(&world, id).y;
        // the overlap that contacts allow
        let slop = 2.0 * Settings::default().slop * 0.06_f64.hypot(0.03);
        assert!(if stays { fell.abs() < slop } else { fell > 0.5 }, "{over}: {fell}");
    }
}

/// Without slip, a cone on its side rotates about its tip: the line of contact is at rest.
#[test]
fn a_cone_on_its_side_rolls_in_a_circle() {
    let (half_height, radius, spin) = (0.2, 0.1, 3.0);
    for ground in GROUNDS {
        let half_angle = f64::atan(radius / (2.0 * half_height));
        let along = Vector3::new(-half_angle.cos(), -half_angle.sin(), 0.0);
        let center = -along * (1.5 * half_height);
        let turn = UnitQuaternion::rotation_between(&Vector3::y(), &along).unwrap();
        let angular = Vector3::x() * spin;
        let velocity = Velocity { linear: angular.cross(&center), angular };
        let mut world = on(ground, 0.0);
        let pose = Isometry3::from_parts(center.into(), turn);
        let id = world.add(NewBody { pose, velocity, ..cone(half_height, radius) }).unwrap();
        let energy = world.kinetic_energy();
        // angular velocity of the center about the vertical through the tip
        let rate = velocity.linear.norm() / center.x;
        for second in 1..=5 {
            steps_without_gain(&mut world, 30);
            let tip = world.get(id).unwrap().pose * Point3::new(0.0, 1.5 * half_height, 0.0);
            assert!(tip.coords.norm() < 0.02, "{ground:?} {second} s: {tip}");
            let p = place(&world, id);
            assert!((p.y - center.y).abs() < 1e-3, "{ground:?} {second} s: {p}");
            let turned = p.z.atan2(p.x).rem_euclid(std::f64::consts::TAU);
            let want = rate * f64::from(second);
            assert!((turned / want - 1.0).abs() < 0.03, "{ground:?} {second} s: {turned} {want}");
        }
        let kept = world.kinetic_energy() / energy;
        assert!(kept < 1.0 && kept > 0.95, "{ground:?}: {kept}");
    }
}

#[test]
fn scenes_make_exact_cylinders_of_what_breaks_and_what_does_not() {
    for fracture in ["", "fracture = { break_impulse = 1e9, pattern = \"p\" }"] {
        let text = format!(
            r#"version = 1
            [simulation]
            sleep = false
            [pattern.p]
            voronoi = {{ pieces = 8 }}
            [[body]]
            name = "incline"
            shape = {{ box = {{ half_extents = [50.0, 1.0, 50.0] }} }}
            motion = "static"
            position = [0.34202014332566866, -0.9396926207859084, 0.0]
            rotation = {{ axis = [0.0, 0.0, 1.0], degrees = 20.0 }}
            friction = 0.5
            restitution = 0.0
            [[body]]
            name = "roller"
            shape = {{ cylinder = {{ radius = 0.25, half_height = 0.25 }} }}
            position = [-0.08550503583141716, 0.2349231551964771, 0.0]
            rotation = {{ axis = [1.0, 0.0, 0.0], degrees = 90.0 }}
            friction = 0.5
            restitution = 0.0
            {fracture}
            "#
        );
        let (mut world, bodies) =
            build(&Scene::from_toml(&text).unwrap(), &BTreeMap::new()).unwrap();
        let id = bodies[1].body;
        assert!(matches!(world.get(id).unwrap().shape.field(), Field::Round(_)));
        let start = place(&world, id);
        (0..60).for_each(|_| {
            world.step();
        });
        let way = place(&world, id) - start;
        let want = 2.0 * GRAVITY * 20_f64.to_radians().sin() / 1.5;
        assert!((way.norm() / want - 1.0).abs() < 1e-3, "{} {want}", way.norm());
        assert!(way.z.abs() < 1e-4, "{}", way.z);
    }
}

/// Cylinders, capsules, cones, flat discs and balls fall into a pit.
#[test]
fn a_pile_of_round_bodies_comes_to_rest_without_gaining_energy() {
    let mut world = world(Settings::default());
    floor(&mut world, 0.0, material(0.0, 0.5));
    for (half, x, z) in [([0.1, 2.0, 1.0], 0.6, 0.0), ([1.0, 2.0, 0.1], 0.0, 0.6)] {
        for sign in [-1.0, 1.0] {
            let wall = body_of(Shape::cuboid(Vector3::from(half), 0.1), Body::Static);
            world.add(NewBody { pose: at(sign * x, 2.0, sign * z), ..wall }).unwrap();
        }
    }
    let kinds = [
        cylinder(0.06, 0.08),
        capsule(0.06, 0.05),
        cone(0.1, 0.08),
        cylinder(0.01, 0.1),
        ball(0.06),
    ];
    let ids: Vec<_> = (0..45)
        .map(|n| {
            let k = f64::from(n);
            let (x, y, z) = (n % 3 - 1, n / 9, n / 3 % 3 - 1);
            let spot = Vector3::new(f64::from(x), f64::from(y), f64::from(z)) * 0.28;
            let turn = Vector3::new(1.0, 1.3, 0.7) * k;
            let pose = Isometry3::new(spot + Vector3::y() * 0.2, turn);
            world.add(NewBody { pose, ..kinds[n as usize % 5].clone() }).unwrap()
        })
        .collect();
    steps_without_gain(&mut world, 300);
    assert!(world.kinetic_energy() < 1e-3, "{}", world.kinetic_energy());
    for id in ids {
        let p = place(&world, id);
        assert!(p.y > 0.0 && p.x.abs() < 0.5 && p.z.abs() < 0.5, "{p}");
    }
}

/// Both ends of a body that lands nearly level hit the floor within one frame.
#[test]
fn both_ends_of_a_tilted_round_body_land() {
    let (half_height, radius) = (0.15, 0.1);
    for (kind, body) in
        [cylinder(half_height, radius), capsule(half_height, radius)].iter().enumerate()
    {
        for tilt in [0.001, 0.01, 0.03, 0.06, 0.1, 0.2] {
            for height in [0.4, 0.55, 0.7, 1.0, 1.5] {
                let mut world = on(Ground::Plane, 0.0);
                let rotation =
                    UnitQuaternion::from_axis_angle(&Vector3::z_axis(), FRAC_PI_2 - tilt);
                let pose = Isometry3::from_parts(Translation3::new(0.0, height, 0.0), rotation);
                let id = world.add(NewBody { pose, ..body.clone() }).unwrap();
                steps_without_gain(&mut world, 90);
                let pose = world.get(id).unwrap().pose;
                let slope = (pose.rotation * Vector3::y()).y.abs();
                let across = [radius * (1.0 - slope * slope).sqrt(), radius][kind];
                let lowest = pose.translation.y - slope * half_height - across;
                // a sunk end stays where it is: a push-out without an impact would add energy
                assert!(lowest > -0.12 * radius, "{kind} {tilt} {height}: {lowest}");
            }
        }
    }
}

/// A box as thick as a cylinder, with exact contacts.
fn block(half: Vector3<f64>) -> NewBody {
    let solid = Solid::Box { half_extents: half };
    body_of(Shape::cuboid(half, 0.5 * half.min()), Body::Dynamic(mass_of(&solid)))
}

/// Height of the lowest point of a cylinder, a capsule, a cone or a box with this radius.
fn lowest(kind: usize, radius: f64, pose: &Isometry3<f64>) -> f64 {
    let height = pose.translation.y;
    let axis = (pose * Vector3::y()).y;
    let across = radius * (1.0 - axis * axis).max(0.0).sqrt();
    let along = 1.5 * radius * axis;
    match kind {
        0 => height - along.abs() - across,
        1 => height - along.abs() - radius,
        2 => height + (1.5 * along).min(-0.5 * along - across),
        _ => {
            let rows = pose.rotation.to_rotation_matrix();
            let half = Vector3::new(1.0, 1.5, 0.7) * radius;
            height - rows.matrix().row(1).transpose().abs().dot(&half)
        }
    }
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// At 30 Hz a body of 1 cm turns several times between two impacts of its ends, and falls by many of its
    /// lengths in a frame.
    #[test]
    fn a_small_body_that_lands_ends_on_the_ground(
        kind in 0..4usize,
        ground in prop::sample::select(GROUNDS.to_vec()),
        radius in prop::sample::select(vec![0.01, 0.02, 0.05]),
        turn in prop::array::uniform3(-3.0..3.0),
        speed in prop::array::uniform3(-1.0..1.0),
        spin in prop::array::uniform3(-5.0..5.0),
        height in 0.3..1.2,
        restitution in prop::sample::select(vec![0.0, 0.2, 0.5]),
    ) {
        let half = 1.5 * radius;
        let body = match kind {
            0 => cylinder(half, radius),
            1 => capsule(half, radius),
            2 => cone(half, radius),
            _ => block(Vector3::new(1.0, 1.5, 0.7) * radius),
        };
        let rotation = UnitQuaternion::from_scaled_axis(Vector3::from(turn));
        let pose = Isometry3::from_parts(Translation3::new(0.0, height, 0.0), rotation);
        let velocity = Velocity { linear: speed.into(), angular: spin.into() };
        let surface = material(restitution, 0.5);
        let mut world = on(ground, 0.0);
        let id = world.add(NewBody { pose, velocity, material: surface, ..body }).unwrap();
        for frame in 0..90 {
            steps_without_gain(&mut world, 1);
            let depth = -lowest(kind, radius, world.get(id).unwrap().pose) / radius;
            prop_assert!(depth < 0.5, "frame {}: {} radii", frame, depth);
        }
        let depth = -lowest(kind, radius, world.get(id).unwrap().pose) / radius;
        prop_assert!(depth < 0.1, "{} radii", depth);
    }
}
