//! Contact scenes at 30 Hz with quantitative checks.

use std::sync::Arc;

use contact::{Clamp, Levers, Material, Settings, Shape, Solver};
use dynamics::{Body, MassProperties, Velocity};
use levelset::{Aabb, ConvexHull, Grid, LevelSet, Solid};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use sim::{BodyId, NewBody, World, rigid};

pub(crate) const GRAVITY: f64 = 9.81;

pub(crate) fn both() -> [Settings; 2] {
    [Settings::default(), Settings::reference()]
}

pub(crate) fn world(contact: Settings) -> World {
    // bodies of these scenes stay awake
    World::new(sim::Settings { contact, sleep: false, ..sim::Settings::default() })
}

/// Without the energy bound of islands: only the passes conserve energy.
pub(crate) fn unbound(contact: Settings) -> World {
    let settings = sim::Settings { contact, sleep: false, ..sim::Settings::default() };
    World::new(sim::Settings { bound_energy: false, ..settings })
}

pub(crate) fn weightless(contact: Settings) -> World {
    let gravity = Vector3::zeros();
    World::new(sim::Settings { contact, gravity, sleep: false, ..sim::Settings::default() })
}

pub(crate) fn material(restitution: f64, friction: f64) -> Material {
    Material { restitution, friction, ..Material::default() }
}

pub(crate) fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

pub(crate) fn moving(x: f64, y: f64, z: f64) -> Velocity {
    Velocity { linear: Vector3::new(x, y, z), ..Velocity::default() }
}

pub(crate) fn still() -> Velocity {
    Velocity::default()
}

/// A half-space below the plane through the origin, tilted about z.
pub(crate) fn floor(world: &mut World, tilt: f64, surface: Material) -> BodyId {
    world
        .add(NewBody {
            pose: Isometry3::rotation(Vector3::z() * tilt),
            material: surface,
            ..NewBody::fixed(Shape::half_space())
        })
        .unwrap()
}

pub(crate) fn cuboid(
    half: [f64; 3],
    mass: f64,
    pose: Isometry3<f64>,
    surface: Material,
) -> NewBody {
    let half = Vector3::from(half);
    let body = Body::Dynamic(MassProperties::cuboid(mass, &half).unwrap());
    let shape = Shape::cuboid(half, half.min() / 2.0);
    NewBody { pose, material: surface, ..NewBody::of(body, shape) }
}

pub(crate) fn ball(radius: f64, mass: f64, pose: Isometry3<f64>, surface: Material) -> NewBody {
    let body = Body::Dynamic(MassProperties::ball(mass, radius).unwrap());
    NewBody { pose, material: surface, ..NewBody::of(body, Shape::ball(radius)) }
}

pub(crate) fn place(world: &World, id: BodyId) -> Vector3<f64> {
    world.get(id).unwrap().pose.translation.vector
}

pub(crate) fn steps(world: &mut World, frames: usize) {
    (0..frames).for_each(|_| {
        world.step();
    });
}

/// Steps and checks that no frame gains energy beyond round-off.
pub(crate) fn steps_without_gain(world: &mut World, frames: usize) {
    for _ in 0..frames {
        let size = world.kinetic_energy() + world.potential_energy().abs();
        let report = world.step();
        assert!(report.events.frozen.is_empty());
        let gain = report.energy.gain / (size + report.energy.potential.abs());
        assert!(gain <= 1e-10, "frame {} gains {gain:e}", report.frame);
    }
}

/// The largest relative energy gain in some frames.
pub(crate) fn largest_gain(world: &mut World, frames: usize) -> f64 {
    let gain = |_| {
        let size = world.kinetic_energy() + world.potential_energy().abs();
        let report = world.step();
        report.energy.gain / (size + report.energy.potential.abs())
    };
    (0..frames).map(gain).fold(f64::NEG_INFINITY, f64::max)
}

/// The height after the first bounce.
pub(crate) fn first_apex(world: &mut World, id: BodyId) -> f64 {
    let rising = |world: &World| world.get(id).unwrap().momentum.linear.y > 0.0;
    for _ in 0..60 {
        steps_without_gain(world, 1);
        if rising(world) {
            break;
        }
    }
    let mut apex = 0.0f64;
    for _ in 0..60 {
        apex = apex.max(place(world, id).y);
        if !rising(world) {
            break;
        }
        steps_without_gain(world, 1);
    }
    apex
}

/// A unit cube on a plane of 20 degrees, starting with `speed` up the slope.
fn on_incline(contact: Settings, friction: f64, speed: f64) -> (World, BodyId) {
    let tilt = 20f64.to_radians();
    let mut world = world(contact);
    floor(&mut world, tilt, material(0.0, friction));
    let turn = Isometry3::rotation(Vector3::z() * tilt);
    let mut cube = cuboid([0.5; 3], 1.0, turn * at(0.0, 0.5, 0.0), material(0.0, friction));
    cube.velocity.linear = turn * Vector3::x() * speed;
    let cube = world.add(cube).unwrap();
    (world, cube)
}

fn along_incline(world: &World, cube: BodyId) -> Vector3<f64> {
    Isometry3::rotation(Vector3::z() * -20f64.to_radians()) * place(world, cube)
}

/// Su09 figure 3.
#[test]
fn a_cube_slides_down_an_incline_as_the_analytic_solution() {
    let tilt = 20f64.to_radians();
    for contact in both() {
        let (mut world, cube) = on_incline(contact, 0.2, 0.0);
        steps_without_gain(&mut world, 60);
        let x = along_incline(&world, cube);
        let exact = 0.5 * GRAVITY * (tilt.sin() - 0.2 * tilt.cos()) * 4.0;
        assert!((-x.x / exact - 1.0).abs() <= 0.01, "{} for {exact}", -x.x);
        assert!((x.y - 0.5).abs() <= 1e-3, "{}", x.y);
    }
}

#[test]
fn a_cube_slides_up_an_incline_and_stops_for_good() {
    let tilt = 20f64.to_radians();
    for contact in both() {
        let (mut world, cube) = on_incline(contact, 0.5, 3.0);
        steps_without_gain(&mut world, 60);
        let stopped = along_incline(&world, cube);
        let exact = 9.0 / (2.0 * GRAVITY * (tilt.sin() + 0.5 * tilt.cos()));
        assert!((stopped.x / exact - 1.0).abs() <= 0.02, "{} for {exact}", stopped.x);
        steps_without_gain(&mut world, 900);
        let drift = (along_incline(&world, cube) - stopped).norm();
        assert!(drift <= 1e-3, "{drift}");
    }
}

/// A wedge between two planes that lean by `a` from the vertical presses both with
/// `N = m g / (2 sin a)`. Friction along it stops it after `v^2 sin a / (2 mu g)`. Friction below
/// `tan a` is not self-locking, so that the solution is unique.
#[test]
fn a_wedge_slides_along_its_groove_as_the_analytic_solution() {
    for (degrees, share, rate) in [
        (7.0, 0.5, 30.0),
        (7.0, 0.9, 120.0),
        (20.0, 0.9, 30.0),
        (20.0, 0.5, 480.0),
        (45.0, 0.9, 60.0),
    ] {
        let lean = f64::to_radians(degrees);
        let friction = share * lean.tan();
        let mut world = World::new(sim::Settings { dt: 1.0 / rate, ..sim::Settings::default() });
        let (half, length) = (0.2, 0.5);
        for side in [1.0, -1.0] {
            let wall = at(side * half, 0.0, 0.0)
                * Isometry3::rotation(Vector3::z() * (side * (std::f64::consts::FRAC_PI_2 - lean)));
            let shape = Shape::half_space();
            let surface = material(0.0, friction);
            world.add(NewBody { pose: wall, material: surface, ..NewBody::fixed(shape) }).unwrap();
        }
        let corner = |n: usize| {
            let [x, y, z] = [0, 1, 2].map(|k| if n >> k & 1 == 0 { -1.0 } else { 1.0 });
            Point3::new(x * (half + y * 0.2 * lean.tan()), y * 0.2, z * length)
        };
        let hull = ConvexHull::new(&(0..8).map(corner).collect::<Vec<_>>()).unwrap();
        let shape = Shape::convex(&hull, 0.05, &Isometry3::identity()).unwrap();
        let mass = MassProperties::cuboid(50.0, &Vector3::new(half, 0.2, length)).unwrap();
        let speed = 2.0;
        let wedge = NewBody {
            velocity: moving(0.0, 0.0, speed),
            material: material(0.0, friction),
            ..NewBody::of(Body::Dynamic(mass), shape)
        };
        let wedge = world.add(wedge).unwrap();
        let wanted = speed * speed * lean.sin() / (2.0 * friction * GRAVITY);
        steps_without_gain(&mut world, (rate * (2.0 * wanted / speed + 0.3)).ceil() as usize);
        let moved = place(&world, wedge);
        assert!((moved.z / wanted - 1.0).abs() < 0.02, "{degrees}, {rate}: {moved} of {wanted}");
        assert!(moved.xy().norm() < 1e-3, "{degrees}, {rate}: {moved}");
    }
}

#[test]
fn a_dropped_ball_bounces_to_the_height_its_restitution_allows() {
    for contact in both() {
        let mut world = world(contact);
        floor(&mut world, 0.0, material(0.6, 0.5));
        let id = world.add(ball(0.25, 10.0, at(0.0, 1.25, 0.0), material(0.6, 0.5))).unwrap();
        let apex = first_apex(&mut world, id) - 0.25;
        // the cube turns back up to one frame early: at a height of at most v dt, where it is
        // slower
        let early = (2.0 * GRAVITY).sqrt() / 30.0;
        assert!(apex >= 0.36 - 1e-2 && apex <= 0.36 + 0.64 * early, "{apex}");
    }
}

#[test]
fn an_elevator_lifts_three_boxes() {
    for contact in both() {
        let mut world = world(contact);
        let mut platform = cuboid([2.0, 0.1, 2.0], 1.0, at(0.0, -0.1, 0.0), Material::default());
        platform.body = Body::Kinematic(moving(0.0, 1.0, 0.0));
        let platform = world.add(platform).unwrap();
        let ids: Vec<_> = (0..3)
            .map(|i| {
                let pose = at(0.0, 0.5 + f64::from(i), 0.0);
                world.add(cuboid([0.5; 3], 100.0, pose, Material::default())).unwrap()
            })
            .collect();
        steps(&mut world, 60);
        let top = place(&world, platform).y + 0.1;
        for (i, &id) in ids.iter().enumerate() {
            let (y, state) = (place(&world, id).y - top, world.get(id).unwrap());
            assert!((y - 0.5 - i as f64).abs() <= 2e-3, "{y}");
            let lags = state.momentum.linear.y / 100.0 - 1.0;
            // corners differ slightly with the pairwise solver
            let rest = if contact.solver == Solver::Manifold { 1e-9 } else { 2e-3 };
            assert!(lags.abs() <= rest, "{i}: {lags}");
        }
    }
}

#[test]
fn a_slow_lift_lifts_as_well_as_a_fast_one() {
    for speed in [0.02, 0.1, 0.5, 2.0] {
        let mut world = world(Settings::default());
        let mut platform = cuboid([1.0, 0.1, 1.0], 1.0, at(0.0, -0.1, 0.0), Material::default());
        platform.body = Body::Kinematic(moving(0.0, speed, 0.0));
        world.add(platform).unwrap();
        let id =
            world.add(cuboid([0.25; 3], 50.0, at(0.0, 0.25, 0.0), Material::default())).unwrap();
        steps(&mut world, 60);
        let above = place(&world, id).y - 2.0 * speed - 0.25;
        assert!(above.abs() <= 2e-3, "{speed} m/s: {above}");
    }
}

/// Elastic balls of equal mass swap velocities at any time of impact within a frame.
#[test]
fn restitution_does_not_depend_on_where_in_a_frame_bodies_meet() {
    for speed in [4.0, 1.0, 0.3] {
        for offset in 0..40 {
            let mut world = weightless(Settings::default());
            let mut a = ball(0.1, 0.5, at(0.0, 0.0, 0.0), material(1.0, 0.0));
            a.velocity = moving(speed, 0.0, 0.0);
            let gap = 0.35 * speed + f64::from(offset) * speed / 30.0 / 40.0;
            let b = ball(0.1, 0.5, at(0.2 + gap, 0.0, 0.0), material(1.0, 0.0));
            let (a, b) = (world.add(a).unwrap(), world.add(b).unwrap());
            steps_without_gain(&mut world, 30);
            let of = |id| world.get(id).unwrap().momentum.linear.x / 0.5;
            assert!((of(b) - speed).abs() <= 1e-12 && of(a).abs() <= 1e-12, "{speed} {offset}");
        }
    }
}

/// A sliding ball finally rolls at 5/7 of its speed, and a rolling ball keeps its speed.
#[test]
fn a_ball_rolls_without_lifting_or_braking() {
    let radius = 0.1;
    for (speed, spin, end) in [(1.0, 1.0, 1.0), (3.0, 0.0, 15.0 / 7.0), (10.0, 0.0, 50.0 / 7.0)] {
        let mut world = world(Settings::default());
        floor(&mut world, 0.0, material(0.0, 0.5));
        let mut rolling = ball(radius, 2.0, at(0.0, radius, 0.0), material(0.0, 0.5));
        rolling.velocity = moving(speed, 0.0, 0.0);
        rolling.velocity.angular.z = -spin * speed / radius;
        let id = world.add(rolling).unwrap();
        for _ in 0..120 {
            world.step();
            let height = place(&world, id).y;
            assert!((height - radius).abs() <= 1e-3, "{speed}: {height}");
        }
        let reached = world.get(id).unwrap().momentum.linear.x / 2.0;
        assert!((reached / end - 1.0).abs() <= 1e-2, "{speed}: {reached} for {end}");
    }
}

/// Two boxes that collide off center without gravity, and the largest change of their momentum.
fn glancing_hit(contact: Settings) -> (f64, f64) {
    let mut world = weightless(contact);
    let mut a = cuboid([0.5, 0.2, 0.3], 3.0, at(-1.0, 0.15, 0.1), material(0.5, 0.4));
    let mut b = cuboid([0.3; 3], 5.0, at(1.0, 0.0, 0.0), material(0.5, 0.4));
    a.velocity =
        Velocity { linear: Vector3::new(2.5, 0.0, 0.0), angular: Vector3::new(1.0, 2.0, -0.5) };
    b.velocity =
        Velocity { linear: Vector3::new(-1.5, 0.2, 0.0), angular: Vector3::new(0.0, 0.5, 1.0) };
    let (a, _) = (world.add(a).unwrap(), world.add(b).unwrap());
    let before = world.momentum();
    let start = world.get(a).unwrap().momentum.linear;
    steps_without_gain(&mut world, 45);
    assert!((world.get(a).unwrap().momentum.linear - start).norm() > 1.0, "they met");
    let after = world.momentum();
    let share = |p: Vector3<f64>, q: Vector3<f64>| (p - q).norm() / q.norm();
    (share(after.linear, before.linear), share(after.angular, before.angular))
}

#[test]
fn collisions_keep_the_momentum_of_the_world() {
    for contact in both() {
        let (linear, angular) = glancing_hit(contact);
        assert!(linear <= 1e-12, "{linear}");
        assert!(angular <= 1e-12, "{angular}");
    }
}

/// CONTACT section 7: with the lever arms of the paper, an impulse changes the total angular
/// momentum.
#[test]
fn split_levers_lose_angular_momentum_but_no_linear() {
    let solver = Solver::Reference { levers: Levers::Split, clamp_positions: false };
    for clamp in [Clamp::Scale, Clamp::Plastic] {
        let (linear, angular) = glancing_hit(Settings { solver, clamp, ..Settings::reference() });
        assert!(linear <= 1e-12, "{linear}");
        assert!(angular > 1e-3, "{angular}");
    }
}

#[test]
fn billiard_balls_exchange_their_velocities() {
    for contact in both() {
        let mut world = weightless(contact);
        let ids: Vec<_> = (0..5)
            .map(|i| {
                let mut ball = ball(0.1, 0.5, at(0.5 * f64::from(i), 0.0, 0.0), material(1.0, 0.0));
                ball.velocity.linear.x = if i == 0 { 2.0 } else { 0.0 };
                world.add(ball).unwrap()
            })
            .collect();
        steps_without_gain(&mut world, 90);
        let speeds: Vec<f64> =
            ids.iter().map(|&id| world.get(id).unwrap().momentum.linear.x / 0.5).collect();
        assert!((speeds[4] - 2.0).abs() <= 1e-12, "{speeds:?}");
        assert!(speeds[..4].iter().all(|v| v.abs() <= 1e-12), "{speeds:?}");
    }
}

/// In GBF03, restitution rises to zero sweep by sweep. With zero restitution from the first sweep,
/// the corners stop a freely sliding cube one by one.
#[test]
fn without_its_schedule_the_reference_slides_wrong() {
    let tilt = 20f64.to_radians();
    let exact = 0.5 * GRAVITY * (tilt.sin() - 0.2 * tilt.cos()) * 4.0;
    let once =
        Settings { contact_sweeps: 1, shock_sweeps: 1, pair_repeats: 4, ..Settings::reference() };
    let (mut world, cube) = on_incline(once, 0.2, 0.0);
    steps(&mut world, 60);
    let x = along_incline(&world, cube);
    // with the schedule, the error is below 1 %
    assert!((-x.x / exact - 1.0).abs() > 0.01, "{}", x.x);
}

#[test]
fn a_row_of_dominoes_falls_to_the_last() {
    let mut world = world(Settings::default());
    floor(&mut world, 0.0, material(0.0, 0.6));
    let ids: Vec<_> = (0..10)
        .map(|i| {
            let pose = at(0.5 * f64::from(i), 0.5, 0.0);
            world.add(cuboid([0.05, 0.5, 0.25], 5.0, pose, material(0.0, 0.3))).unwrap()
        })
        .collect();
    steps_without_gain(&mut world, 30);
    let upright =
        |world: &World, id: BodyId| (world.get(id).unwrap().pose.rotation * Vector3::y()).y;
    assert!(ids.iter().all(|&id| upright(&world, id) > 0.9999), "they stand");
    let mut pusher = cuboid([0.1; 3], 5.0, at(-0.8, 0.85, 0.0), material(0.0, 0.3));
    pusher.velocity = moving(3.0, 1.0, 0.0);
    world.add(pusher).unwrap();
    steps_without_gain(&mut world, 150);
    let fallen: Vec<f64> = ids.iter().map(|&id| upright(&world, id)).collect();
    assert!(fallen.iter().all(|&up| up < 0.8), "{fallen:?}");
}

/// A sampled solid with points on its surface, about its own center.
pub(crate) fn sampled(solid: Solid, reach: f64, spacing: f64) -> (MassProperties, Arc<Shape>) {
    let half = Vector3::repeat(reach);
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    let grid = Grid::enclosing(&bounds, spacing, 2, Grid::MAX_NODES).unwrap();
    let level_set = LevelSet::from_fn(grid, |p| solid.distance(&p));
    let (mass, frame) = rigid(&level_set.moments(), 1000.0).unwrap();
    let points = level_set.surface_particles(spacing);
    (mass, Arc::new(Shape::grid(level_set, &points, frame)))
}

/// A static or kinematic vessel given by a distance.
fn vessel(world: &mut World, body: Body, reach: f64, distance: impl Fn(Point3<f64>) -> f64 + Sync) {
    let half = Vector3::repeat(reach);
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    let grid = Grid::enclosing(&bounds, reach / 20.0, 2, Grid::MAX_NODES).unwrap();
    let level_set = LevelSet::from_fn(grid, distance);
    let points = level_set.surface_particles(reach / 10.0);
    world
        .add(NewBody {
            material: material(0.1, 0.4),
            ..NewBody::of(body, Shape::grid(level_set, &points, Isometry3::identity()))
        })
        .unwrap();
}

/// Uses 20 rings, since 200 would take minutes in an unoptimized build.
#[test]
fn rings_stay_in_a_bowl() {
    let mut world = world(Settings::default());
    vessel(&mut world, Body::Static, 1.2, |p| {
        let shell = (p.coords.norm() - 1.05).abs() - 0.1;
        shell.max(p.y - 0.6)
    });
    let (mass, shape) = sampled(Solid::Torus { major: 0.15, minor: 0.05 }, 0.2, 0.025);
    let ids: Vec<_> = (0..20)
        .map(|i| {
            let turn = Vector3::new(f64::from(i % 3), 0.3 * f64::from(i), 0.7);
            let pose = Isometry3::new(
                Vector3::new(
                    0.22 * f64::from(i % 2) - 0.1,
                    0.25 * f64::from(i / 2) - 0.4,
                    0.2 * f64::from(i % 3) - 0.2,
                ),
                turn,
            );
            world
                .add(NewBody {
                    pose,
                    material: material(0.1, 0.4),
                    ..NewBody::of(Body::Dynamic(mass), Arc::clone(&shape))
                })
                .unwrap()
        })
        .collect();
    steps_without_gain(&mut world, 150);
    let inside = ids.iter().filter(|&&id| place(&world, id).norm() < 1.0).count();
    assert_eq!(inside, ids.len());
}

/// Uses 20 boxes for 4 s, since 500 for a minute would take too long.
#[test]
fn a_rotating_drum_keeps_its_boxes() {
    let mut world = world(Settings::default());
    let spin = Velocity { angular: Vector3::z(), ..Velocity::default() };
    vessel(&mut world, Body::Kinematic(spin), 1.2, |p| {
        let wall = (p.x.hypot(p.y) - 1.05).abs() - 0.1;
        let sides = (p.z.abs() - 1.05).abs() - 0.1;
        wall.max(p.z.abs() - 1.15).min(sides.max(p.x.hypot(p.y) - 1.15))
    });
    let (mass, shape) = sampled(Solid::Box { half_extents: Vector3::repeat(0.12) }, 0.12, 0.04);
    let ids: Vec<_> = (0..20)
        .map(|i| {
            let at = Vector3::new(
                0.3 * f64::from(i % 3) - 0.3,
                0.3 * f64::from(i / 9) - 0.3,
                0.3 * f64::from(i / 3 % 3) - 0.3,
            );
            world
                .add(NewBody {
                    pose: Isometry3::new(at, Vector3::new(0.3, f64::from(i), 0.1)),
                    material: material(0.1, 0.4),
                    ..NewBody::of(Body::Dynamic(mass), Arc::clone(&shape))
                })
                .unwrap()
        })
        .collect();
    steps(&mut world, 120);
    let out = ids.iter().filter(|&&id| place(&world, id).xy().norm() > 1.0).count();
    let carried = ids.iter().map(|&id| place(&world, id).x).sum::<f64>() / 20.0;
    assert_eq!(out, 0);
    // the pile leans in the direction of the wall
    assert!(carried > 0.05, "{carried}");
}

/// A cone on its tip: it stands and precesses with spin, and falls without.
#[test]
fn a_top_stands_as_long_as_it_spins() {
    let top = |spin: f64| {
        let mut world = world(Settings::default());
        floor(&mut world, 0.0, material(0.0, 1.0));
        let (mass, shape) = sampled(Solid::Cone { half_height: 0.05, radius: 0.3 }, 0.3, 0.02);
        // the principal axes are those of the cone up to their order, so the test searches for the
        // spin axis
        let contact::Field::Grid { material: frame, .. } = shape.field() else { unreachable!() };
        let tilted = Isometry3::rotation(Vector3::x() * (std::f64::consts::PI - 0.1));
        let pose = at(0.0, 0.05, 0.0) * tilted * frame;
        let axis = tilted * Vector3::y();
        let id = world
            .add(NewBody {
                pose,
                velocity: Velocity { angular: axis * spin, ..Velocity::default() },
                material: material(0.0, 1.0),
                ..NewBody::of(Body::Dynamic(mass), Arc::clone(&shape))
            })
            .unwrap();
        let up = |world: &World| {
            let pose = world.get(id).unwrap().pose;
            -(pose.rotation * frame.rotation.inverse() * Vector3::y()).y
        };
        steps_without_gain(&mut world, 60);
        up(&world)
    };
    let (spinning, resting) = (top(30.0), top(0.0));
    assert!(spinning > 0.98, "{spinning}");
    // on its rim, which the samples round off
    let lies = 0.3 / f64::hypot(0.3, 0.1);
    assert!((resting - lies).abs() < 0.01, "{resting}");
}

/// The final poses of a pile beside a body with non-finite numbers.
fn beside(contact: Settings, broken: Option<NewBody>) -> (Vec<Isometry3<f64>>, usize) {
    let mut world = world(contact);
    floor(&mut world, 0.0, Material::default());
    let ids: Vec<_> = (0..3)
        .map(|i| {
            let pose = at(0.05 * f64::from(i), 0.5 + 1.1 * f64::from(i), 0.0);
            world.add(cuboid([0.5; 3], 100.0, pose, Material::default())).unwrap()
        })
        .collect();
    steps(&mut world, 5);
    let id = broken.map(|b| world.add(b).unwrap());
    let mut reported = 0;
    for _ in 0..20 {
        let report = world.step();
        reported += report.events.frozen.len();
        assert!(report.events.frozen.iter().all(|&f| Some(f) == id));
    }
    if let Some(id) = id {
        let state = world.get(id).unwrap();
        assert!(state.pose.translation.vector.iter().all(|x| x.is_finite()));
    }
    (ids.iter().map(|&id| *world.get(id).unwrap().pose).collect(), reported)
}

#[test]
fn a_body_that_is_not_finite_is_frozen_and_reported_and_touches_none() {
    for contact in both() {
        let (clean, none) = beside(contact, None);
        assert_eq!(none, 0);
        let pose = at(0.3, 1.0, 0.2);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200] {
            let whole = || cuboid([0.5; 3], 100.0, pose, Material::default());
            let mut broken = [whole(), whole(), whole(), whole(), whole()];
            broken[0].pose.translation.vector.y = bad;
            broken[1].velocity.linear.x = bad;
            broken[2].velocity.angular.z = bad;
            broken[3].body = Body::Kinematic(moving(0.0, bad, 0.0));
            broken[4].pose.rotation =
                UnitQuaternion::new_unchecked(nalgebra::Quaternion::new(bad, 0.0, 0.0, 0.0));
            for (case, broken) in broken.into_iter().enumerate() {
                let (poses, reported) = beside(contact, Some(broken));
                assert_eq!(reported, 1, "case {case} of {bad}");
                assert_eq!(poses, clean, "case {case} of {bad}");
            }
        }
    }
}

/// The moments of the cube differ only by round-off, so energy hardly constrains its orientation.
#[test]
fn a_sampled_cube_at_rest_stays_as_it_is() {
    for contact in both() {
        let mut world = world(contact);
        floor(&mut world, 0.0, material(0.0, 0.5));
        let (mass, shape) = sampled(Solid::Box { half_extents: Vector3::repeat(0.12) }, 0.12, 0.04);
        let id = world
            .add(NewBody {
                pose: at(0.0, 0.12, 0.0),
                material: material(0.0, 0.5),
                ..NewBody::of(Body::Dynamic(mass), shape)
            })
            .unwrap();
        steps_without_gain(&mut world, 300);
        let pose = world.get(id).unwrap().pose;
        let turned = pose.rotation.scaled_axis();
        assert!(turned.norm() <= 1e-6, "{:?}: {turned}", contact.solver);
        assert!((pose.translation.vector - Vector3::y() * 0.12).norm() <= 1e-6, "{pose}");
    }
}

fn falling_pair(contact: Settings) -> f64 {
    let mut world = world(contact);
    let mut top = cuboid([0.5; 3], 30.0, at(0.1, 1.0, 0.0), Material::default());
    top.velocity = moving(0.0, -0.5, 0.0);
    world.add(cuboid([0.5; 3], 20.0, at(0.0, 0.0, 0.0), Material::default())).unwrap();
    world.add(top).unwrap();
    let before = world.momentum();
    steps_without_gain(&mut world, 30);
    let expected = before.linear + Vector3::new(0.0, -GRAVITY * 50.0, 0.0);
    (world.momentum().linear - expected).norm() / expected.norm()
}

#[test]
fn bodies_that_fall_together_keep_their_common_momentum() {
    for contact in both() {
        let lost = falling_pair(contact);
        assert!(lost <= 1e-12, "{:?}: {lost}", contact.solver);
    }
}

/// A box on a belt slides until it has the speed of the belt.
#[test]
fn a_belt_takes_along_what_is_put_on_it() {
    for contact in both() {
        let mut world = world(contact);
        let belt = cuboid([20.0, 0.1, 1.0], 1.0, at(0.0, -0.1, 0.0), material(0.0, 0.3));
        world.add(NewBody { body: Body::Kinematic(moving(3.0, 0.0, 0.0)), ..belt }).unwrap();
        let id = world.add(cuboid([0.25; 3], 5.0, at(0.0, 0.25, 0.0), material(0.0, 0.3))).unwrap();
        steps(&mut world, 60);
        let slid = 3.0 / (0.3 * GRAVITY);
        let exact = 3.0 * 2.0 - 0.5 * 3.0 * slid;
        let place = place(&world, id);
        assert!((place.x / exact - 1.0).abs() <= 0.02, "{} for {exact}", place.x);
        assert!((place.y - 0.25).abs() <= 1e-3, "{}", place.y);
        let speed = world.get(id).unwrap().momentum.linear.x / 5.0;
        assert!((speed - 3.0).abs() <= 1e-3, "{speed}");
    }
}

/// The force acts on all bodies, so that none is the only cause.
#[test]
fn a_force_that_is_not_finite_freezes_what_it_acts_on() {
    for contact in both() {
        for bad in [f64::NAN, f64::INFINITY, 1e200] {
            let gravity = Vector3::new(0.0, bad, 0.0);
            let settings = sim::Settings { contact, gravity, ..sim::Settings::default() };
            let mut world = World::new(settings);
            floor(&mut world, 0.0, Material::default());
            let pose = at(0.0, 0.7, 0.0);
            let id = world.add(cuboid([0.5; 3], 100.0, pose, Material::default())).unwrap();
            for _ in 0..3 {
                let report = world.step();
                assert_eq!(report.events.frozen, [id], "{bad}");
                let state = world.get(id).unwrap();
                assert_eq!((state.pose, state.momentum.linear.norm()), (&pose, 0.0), "{bad}");
            }
        }
    }
}
