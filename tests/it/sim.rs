//! Whole worlds, frame by frame.

use std::sync::Arc;

use contact::{Groups, Material, Shape};
use dynamics::{Body, Velocity};
use fracture::{Alignment, Geometry, Pattern, Piece, Voronoi};
use levelset::{Aabb, Grid, LevelSet, Solid, TriMesh};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use sim::{
    Breakage, FractureModel, LazySurface, NewBody, Placement, Recorder, Settings, Strength,
    Surface, World, rigid,
};

fn still(body: Body, shape: Shape, pose: Isometry3<f64>, material: Material) -> NewBody {
    NewBody { pose, material, ..NewBody::of(body, shape) }
}

fn ground(material: Material) -> NewBody {
    still(Body::Static, Shape::half_space(), Isometry3::identity(), material)
}

/// A moving ball.
fn ball(radius: f64, density: f64, place: Vector3<f64>, linear: Vector3<f64>) -> NewBody {
    let velocity = Velocity { linear, ..Velocity::default() };
    let ball = NewBody::ball(radius, density).unwrap();
    NewBody { velocity, ..ball.at(&Translation3::from(place).into()) }
}

/// A sampled breakable brick.
pub(crate) fn brick(half: Vector3<f64>, pose: Isometry3<f64>, strength: f64) -> NewBody {
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    let spacing = half.min() / 6.0;
    let grid = Grid::enclosing(&bounds, spacing, 3, Grid::MAX_NODES).unwrap();
    let solid = Solid::Box { half_extents: half };
    let level_set = LevelSet::from_fn(grid, |p| solid.distance(&p));
    let (mass, frame) = rigid(&level_set.moments(), 2000.0).unwrap();
    let points = level_set.surface_particles(spacing);
    let pattern = Pattern::voronoi(&Voronoi { clustering: 2.0, ..Voronoi::new(80, 5) }).unwrap();
    let breakage = Breakage {
        model: FractureModel::Prescored(Arc::new(pattern), Placement::Turned),
        strength: Strength::Impulse(strength),
        generations: 2,
        min_share: 0.01,
        min_size: 0.0,
        bonds: None,
    };
    let shape = Shape::grid(level_set, &points, frame);
    NewBody {
        groups: Groups::default(),
        breakage: Some(breakage),
        ..still(Body::Dynamic(mass), shape, pose * frame, Material::default())
    }
}

/// A brick on the ground, struck by a ball.
fn struck_brick(settings: Settings) -> World {
    brick_struck_at(settings, 0.02)
}

/// `aside` is the distance of the impact from the middle of the brick, m.
fn brick_struck_at(settings: Settings, aside: f64) -> World {
    let mut world = World::new(settings);
    world.add(ground(Material::default())).unwrap();
    let half = Vector3::new(0.3, 0.2, 0.15);
    world.add(brick(half, Isometry3::translation(0.0, 0.2, 0.0), 20.0)).unwrap();
    world
        .add(ball(0.08, 7800.0, Vector3::new(-1.0, 0.25, aside), Vector3::new(9.0, 1.0, 0.0)))
        .unwrap();
    world
}

#[test]
fn a_recording_of_pieces_holds_the_solids_of_the_world_and_no_surfaces() {
    let mut world = struck_brick(Settings::default());
    let mut recorder = Recorder::new(&world, &[]);
    for _ in 0..40 {
        let report = world.step();
        recorder.record(&world, &report);
    }
    let recording = recorder.finish();
    let live: Vec<_> = recording.tracks.iter().filter(|t| t.end() == recording.frames).collect();
    assert!(live.len() > 5 && live.len() == world.len());
    for (track, state) in live.into_iter().zip(world.iter()) {
        let LazySurface::Of(source) = &track.lazy_surface else {
            panic!("{} is drawn", track.name)
        };
        assert!(Arc::ptr_eq(&source.shape, state.shape), "{}", track.name);
        assert_eq!(source.lineage.is_some(), track.parent.is_some());
    }
    // drawing once or each time gives the same surface
    let drawn = recording.with_surfaces();
    for (kept, drawn) in recording.tracks.iter().zip(&drawn.tracks) {
        assert!(matches!(drawn.lazy_surface, LazySurface::Made(_)));
        assert_eq!(kept.surface(), drawn.surface());
    }
    assert!(crate::glb::glb(&recording) == crate::glb::glb(&drawn));
}

/// 9,000 pieces of spheres (Su09 figure 8) must fit in 2 GiB with all other data; fragments are most of it.
#[test]
fn a_piece_of_a_sphere_takes_less_than_150_kb() {
    let sphere = Solid::Sphere { radius: 0.24 };
    let grid = Grid::new(Point3::from([-0.27; 3]), 0.01, [55; 3], Grid::MAX_NODES).unwrap();
    let body = Geometry::primitive(sphere, grid).unwrap();
    let nine = Voronoi { clustering: 1.4, ..Voronoi::new(9, 1) }.with_pieces(9, &body);
    let pattern = Pattern::voronoi(&nine).unwrap();
    let bottom = Point3::new(0.0, -0.24, 0.0);
    let at = Alignment::enclosing(&body.bounds(), bottom, -Vector3::y_axis());
    let pieces = body.divide(&pattern, &at, 1e-4 * body.moments().volume).pieces;
    assert!(pieces.len() > 6, "{}", pieces.len());
    let bytes = |piece: &Piece| size_of::<f32>() * piece.geometry.memory();
    let mean = pieces.iter().map(bytes).sum::<usize>() / pieces.len();
    assert!(mean < 150_000, "{mean}");
}

/// All numbers of the state of a world.
fn bits(world: &World) -> Vec<u64> {
    let numbers = |s: sim::BodyState<'_>| {
        let pose = s.pose.translation.vector.iter().chain(s.pose.rotation.coords.iter());
        let momentum = s.momentum.linear.iter().chain(s.momentum.angular.iter());
        pose.chain(momentum).map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    world.iter().flat_map(numbers).collect()
}

fn run(threads: usize, frames: usize) -> (Vec<u64>, usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut world = struck_brick(Settings::default());
        for _ in 0..frames {
            world.step();
        }
        (bits(&world), world.len())
    })
}

#[test]
fn the_same_world_has_the_same_bits_for_any_number_of_threads() {
    let one = run(1, 40);
    assert!(one.1 > 10, "it broke into {}", one.1);
    assert_eq!(one, run(2, 40));
    assert_eq!(one, run(3, 40));
}

#[test]
fn a_shattering_scene_keeps_its_mass_and_gains_no_energy_in_any_frame() {
    let mut world = struck_brick(Settings::default());
    let mass = world.mass();
    let mut broke = 0;
    for _ in 0..90 {
        let report = world.step();
        let scale = report.energy.kinetic + report.energy.potential.abs();
        assert!(report.energy.gain <= 1e-10 * scale, "{report:?}");
        assert!(report.events.frozen.is_empty());
        broke += report.events.fractures.len();
        for event in &report.events.fractures {
            let lost = (event.mass_after - event.mass_before).abs();
            assert!(lost <= 1e-12 * event.mass_before, "{event:?}");
        }
    }
    assert!(broke > 0);
    assert!((world.mass() - mass).abs() <= 1e-12 * mass);
}

/// The energy bound makes only small corrections. Of 40 strikes, 0.1 m to either side of the middle, two gained more
/// than a thousandth of their energy in a frame, 0.5 % at most.
#[test]
fn a_shattering_scene_gains_little_without_the_bound_on_energy() {
    let most = |n: i32| {
        let settings = Settings { bound_energy: false, ..Settings::default() };
        let mut world = brick_struck_at(settings, 0.02 * f64::from(n));
        let start = world.kinetic_energy();
        (0..90).map(|_| world.step().energy.gain / start).fold(0.0, f64::max)
    };
    let gains: Vec<f64> = (-5..=5).map(most).collect();
    assert!(gains.iter().all(|gain| *gain <= 1e-2), "{gains:?}");
    assert!(gains.iter().filter(|gain| **gain > 1e-3).count() <= 2, "{gains:?}");
}

/// Tests a body that breaks and an unbreakable one. Both collisions conserve linear momentum, and
/// kinetic energy does not grow.
#[test]
fn breaking_in_free_space_keeps_linear_momentum() {
    for strength in [20.0, f64::INFINITY] {
        let settings = Settings { gravity: Vector3::zeros(), ..Settings::default() };
        let mut world = World::new(settings);
        world.add(brick(Vector3::new(0.3, 0.2, 0.15), Isometry3::identity(), strength)).unwrap();
        let speed = Vector3::new(9.0, 1.0, 0.0);
        world.add(ball(0.08, 7800.0, Vector3::new(-1.0, 0.0, 0.02), speed)).unwrap();
        let before = world.momentum().linear;
        let mut energy = world.kinetic_energy();
        for _ in 0..30 {
            let report = world.step();
            assert!(report.energy.kinetic <= energy * (1.0 + 1e-12));
            energy = report.energy.kinetic;
        }
        assert_eq!(world.len() > 2, strength.is_finite());
        let after = world.momentum().linear;
        assert!((after - before).norm() <= 1e-12 * before.norm(), "{after} {before}");
    }
}

/// Su09 section 4.2: the breaking impulse is not applied. The pieces keep the motion of the body and collide
/// with the striker in the same frame.
#[test]
fn the_blow_that_breaks_a_body_is_borne_by_its_pieces_in_the_same_frame() {
    let mut world = World::new(Settings { gravity: Vector3::zeros(), ..Settings::default() });
    let wall = world.add(brick(Vector3::new(0.05, 0.3, 0.3), Isometry3::identity(), 5.0)).unwrap();
    let way = Vector3::new(8.0, 0.0, 0.0);
    let ball = world.add(ball(0.08, 7800.0, Vector3::new(-0.5, 0.02, 0.01), way)).unwrap();
    for _ in 0..10 {
        let before = world.get(ball).unwrap().momentum.linear;
        let report = world.step();
        let given = before - world.get(ball).unwrap().momentum.linear;
        let Some(event) = report.events.fractures.first() else {
            assert_eq!(given, Vector3::zeros(), "touched before it broke");
            continue;
        };
        assert_eq!((event.parent, event.fragments.len() > 5), (wall, true));
        // fracture itself changes neither energy nor momentum
        let jump = event.after.momentum.linear - event.before.momentum.linear;
        assert!(jump.norm() < 1e-12 * event.impulse.norm(), "{jump}");
        let pieces: Vector3<f64> =
            world.iter().filter(|s| s.id != ball).map(|s| s.momentum.linear).sum();
        assert!((pieces - given).norm() < 1e-10 * before.norm(), "{pieces} {given}");
        // light pieces yield: the ball loses less momentum than at an unbreakable wall
        let share = given.norm() / event.impulse.norm();
        assert!(share > 0.1 && share < 1.0, "{share}");
        return;
    }
    panic!("the wall did not break");
}

#[test]
fn a_body_that_is_not_finite_is_frozen_and_reported() {
    let mut world = struck_brick(Settings::default());
    let nowhere = Vector3::new(f64::NAN, 5.0, 0.0);
    let id = world.add(ball(0.1, 1000.0, Vector3::new(0.0, 5.0, 0.0), nowhere)).unwrap();
    let report = world.step();
    assert_eq!(report.events.frozen, [id]);
    let state = world.get(id).unwrap();
    assert_eq!(state.pose.translation.vector, Vector3::new(0.0, 5.0, 0.0));
    // the other bodies have the same bits as in a world without the frozen body
    let mut alone = struck_brick(Settings::default());
    alone.step();
    let others = bits(&alone);
    assert_eq!(bits(&world)[..others.len()], others);
}

/// The triangles of a surface with one vertex per position.
fn welded(surface: &Surface) -> TriMesh {
    let mut places: Vec<[u32; 3]> = Vec::new();
    let mut place = |v: &u32| {
        let key = surface.vertices[*v as usize].map(f32::to_bits);
        let known = places.iter().position(|p| *p == key);
        known.unwrap_or_else(|| {
            places.push(key);
            places.len() - 1
        }) as u32
    };
    let triangles: Vec<[u32; 3]> =
        surface.outer.iter().chain(&surface.inner).map(|t| t.each_ref().map(&mut place)).collect();
    let point = |p: &[u32; 3]| Point3::from(p.map(|bits| f64::from(f32::from_bits(bits))));
    TriMesh { vertices: places.iter().map(point).collect(), triangles }
}

#[test]
fn pieces_are_drawn_closed_with_the_surface_of_the_whole_and_cuts_apart() {
    let mut world = struck_brick(Settings::default());
    let mut recorder = Recorder::new(&world, &[]);
    while world.len() < 5 {
        let report = world.step();
        recorder.record(&world, &report);
        assert!(report.frame < 40, "the brick must break");
    }
    let recording = recorder.finish();
    let area = |surface: &Surface, triangles: &[[u32; 3]]| -> f64 {
        let corner = |v: u32| Point3::from(surface.vertices[v as usize]).cast::<f64>();
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(corner);
            (b - a).cross(&(c - a)).norm() / 2.0
        };
        triangles.iter().map(area).sum()
    };
    let brick = recording.tracks[1].surface();
    assert!(brick.inner.is_empty());
    let whole = area(&brick, &brick.outer);
    // 0.6 x 0.4 x 0.3 m
    assert!((whole / 1.08 - 1.0).abs() < 0.03, "{whole}");
    let pieces: Vec<_> = recording.tracks.iter().filter(|t| !t.poses.is_empty()).skip(3).collect();
    assert!(pieces.len() > 3);
    let (mut outer, mut volume) = (0.0, 0.0);
    for piece in &pieces {
        let surface = piece.surface();
        let Surface { vertices, normals, rest, outer: skin, inner, .. } = &*surface;
        assert!(!inner.is_empty());
        assert_eq!([normals.len(), rest.len()], [vertices.len(); 2]);
        let mesh = welded(&surface);
        assert!(mesh.facts().unwrap().closed, "{} has a crack", piece.name);
        volume += mesh.signed_volume();
        outer += area(&surface, skin);
        // the solid texture is that of the unbroken brick
        assert!(
            rest.iter().all(|p| p.iter().zip([0.3, 0.2, 0.15]).all(|(x, h)| x.abs() < h + 0.03))
        );
    }
    let off = volume / (0.6 * 0.4 * 0.3) - 1.0;
    assert!(
        off.abs() < 0.02 && (outer / whole - 1.0).abs() < 0.05,
        "{off} {outer} {whole} {}",
        pieces.len()
    );
    assert!((volume / (0.6 * 0.4 * 0.3) - 1.0).abs() < 0.02, "{volume}");
}

/// The exact answer is the cube sliding with g (sin a - mu cos a), Su09 figure 3.
#[test]
fn a_cube_slides_down_an_incline_as_coulomb_says() {
    for (degrees, friction) in [(20.0_f64, 0.2), (30.0, 0.5), (20.0, 0.5)] {
        let angle = degrees.to_radians();
        let material = Material { restitution: 0.0, friction, ..Material::default() };
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle);
        let mut world = World::new(Settings::default());
        let slope = Isometry3::from_parts(Translation3::identity(), turn);
        world.add(NewBody { pose: slope, ..ground(material) }).unwrap();
        let start = turn * Vector3::new(0.0, 0.5, 0.0);
        let pose = Isometry3::from_parts(start.into(), turn);
        let cube = NewBody::cuboid(Vector3::repeat(0.5), 1000.0).unwrap().at(&pose);
        let id = world.add(NewBody { material, ..cube }).unwrap();
        for _ in 0..60 {
            world.step();
        }
        let moved = turn.inverse() * (world.get(id).unwrap().pose.translation.vector - start);
        let pull = 9.81 * (angle.sin() - friction * angle.cos()).max(0.0);
        let exact = Vector3::new(-0.5 * pull * 4.0, 0.0, 0.0);
        assert!((moved - exact).norm() <= 1e-4, "{degrees} {friction}: {moved} {exact}");
    }
}

#[test]
fn a_material_that_cannot_be_is_refused_and_the_world_stays_as_it_is() {
    let mut world = World::new(Settings::default());
    let with = |material: Material| ground(material);
    let like = Material::default();
    for bad in [-1.0, -1e-9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let message = |material: Material, world: &mut World| {
            world.add(with(material)).unwrap_err().to_string()
        };
        let friction = message(Material { friction: bad, ..like }, &mut world);
        assert_eq!(friction, format!("friction must be from 0 to 1e30, not {bad:?}"));
        let restitution = message(Material { restitution: bad, ..like }, &mut world);
        assert_eq!(restitution, format!("restitution must be from 0 to 1, not {bad:?}"));
        let rolling = message(Material { rolling_friction: bad, ..like }, &mut world);
        assert_eq!(rolling, format!("rolling friction must be from 0 to 1e30, not {bad:?}"));
        let spinning = message(Material { spinning_friction: bad, ..like }, &mut world);
        assert_eq!(spinning, format!("spinning friction must be from 0 to 1e30, not {bad:?}"));
    }
    assert!(world.is_empty());
    assert!(world.step().events.frozen.is_empty());
}
