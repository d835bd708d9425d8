//! Bodies of tetrahedra in a world: they keep their tetrahedra, their cracks and their dents.

use std::collections::BTreeMap;
use std::sync::Arc;

use brisance_tests::tet_boxes::kuhn_box;
use levelset::{Aabb, Grid, LevelSet, Moments, Solid, Stuffing, TetMesh};
use nalgebra::{Point3, Quaternion, UnitQuaternion, Vector3};
use sim::scene::Scene;
use sim::{
    BodyState, BuildError, Cause, ElasticBody, Event, FractureModel, Happened, MeshData, Report,
    World, build,
};

/// A body in the air, and a steel ball that comes from above.
fn struck(shape: &str, stress: &str, speed: f64) -> World {
    let scene = format!(
        r#"version = 1
        [simulation]
        gravity = [0, 0, 0]
        [[body]]
        name = "body"
        shape = {shape}
        material = "clay"
        angular_velocity = [0.1, 0.2, 0.3]
        fracture = {{ strength = 0.5, generations = 2, min_share = 0.008, stress = {{ {stress} }} }}
        [[body]]
        name = "ball"
        shape = {{ sphere = {{ radius = 0.05 }} }}
        position = [0.02, 0.2, 0.01]
        velocity = [0, -{speed}, 0]
        material = "steel"
        "#
    );
    let tets = kuhn_box([4, 4, 4], Vector3::repeat(0.2));
    let meshes = BTreeMap::from([("cube.msh".to_owned(), MeshData::Tets(tets))]);
    build(&Scene::from_toml(&scene).unwrap(), &meshes).unwrap().0
}

const BOX: &str = "{ box = { half_extents = [0.1, 0.1, 0.1], spacing = 0.01 } }";
const TETS: &str = r#"{ tets = { file = "cube.msh", size = 0.2, nodes = 19683 } }"#;
const SOFT: &str =
    "spacing = 0.06, strength = 1e9, young = 2e6, poisson = 0.4, yield_strength = 1.5e4";
const BRITTLE: &str = "spacing = 0.06, strength = 1e5, young = 1e9, duration = 0.0005";

fn run(world: &mut World, frames: usize) -> Vec<Report> {
    (0..frames).map(|_| world.step()).collect()
}

fn elastic<'a>(state: &BodyState<'a>) -> Option<&'a Arc<ElasticBody>> {
    match &state.breakage?.model {
        FractureModel::Stress(elastic) => Some(elastic),
        FractureModel::Prescored(..) | FractureModel::Lattice(_) => None,
    }
}

fn solid<'a>(state: &BodyState<'a>) -> &'a LevelSet {
    state.solid.expect("it can break").geometry.level_set()
}

#[test]
fn a_dent_stays_and_changes_neither_mass_nor_momentum_nor_volume() {
    for shape in [BOX, TETS] {
        let mut world = struck(shape, SOFT, 4.0);
        let (mass, momentum) = (world.mass(), world.momentum());
        let volume = solid(&world.iter().next().unwrap()).subcell_moments().volume;
        let energy = world.kinetic_energy();
        let reports = run(&mut world, 5);
        let dents: Vec<_> = reports.iter().flat_map(|r| &r.dents).collect();
        assert!(!dents.is_empty(), "{shape}");
        assert!(dents[0].depth > 1e-3, "{}", dents[0].depth);
        assert_eq!(world.len(), 2);
        let body = world.iter().next_back().unwrap();
        assert_eq!(body.id, dents.last().unwrap().after);
        let after = solid(&body).subcell_moments().volume;
        assert!((after / volume - 1.0).abs() < 1e-3, "{}", after / volume);
        assert!((world.mass() / mass - 1.0).abs() < 1e-12);
        let size = momentum.linear.norm();
        assert!((world.momentum().linear - momentum.linear).norm() < 1e-10 * size);
        assert!((world.momentum().angular - momentum.angular).norm() < 1e-10 * size);
        assert!(world.kinetic_energy() < energy, "{} {energy}", world.kinetic_energy());
        // points and samples are of the same surface
        for p in body.shape.points() {
            assert!(body.shape.field().distance(p).abs() < 0.005);
        }
        let mesh = elastic(&body).unwrap().mesh().unwrap();
        mesh.validate().unwrap();
        // tetrahedra cut the corners of a box
        assert!((mesh.moments().volume / volume - 1.0).abs() < 0.15);
    }
}

#[test]
fn a_dent_keeps_spin_and_does_not_speed_it_up() {
    let mut world = struck(TETS, SOFT, 4.0);
    let whole = elastic(&world.iter().next().unwrap()).unwrap().mesh().unwrap().moments();
    let reports = run(&mut world, 5);
    let mut events = reports.iter().flat_map(|r| &r.events);
    let told = events.find(|event| event.outcome == Happened::Dented).unwrap();
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    for spin in axes.into_iter().chain([Vector3::new(-0.3, 0.5, 0.8), Vector3::zeros()]) {
        let mut world = struck(TETS, SOFT, 4.0);
        let momentum = [0.3, -0.4, 0.5, spin.x, spin.y, spin.z];
        let mass = world.get(told.body).unwrap().body.mass_properties().copied().unwrap();
        let [x, y, z, i, j, k, w] = told.pose;
        let turn = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
        let energy = mass.rotational_energy(&turn, &spin);
        let report = world.redo(&[Event { momentum, ..told.clone() }]).unwrap();
        let body = world.get(report.dents[0].after).unwrap();
        let dented = body.body.mass_properties().unwrap();
        assert!((dented.mass() / mass.mass() - 1.0).abs() < 1e-12);
        assert!((body.pose.translation.vector - Vector3::new(x, y, z)).norm() < 1e-12);
        assert!((body.momentum.linear - Vector3::new(0.3, -0.4, 0.5)).norm() < 1e-12);
        assert!((body.momentum.angular - spin).norm() < 1e-12);
        let turning = dented.rotational_energy(&body.pose.rotation, &spin);
        assert!(turning <= energy * (1.0 + 1e-12), "{turning} {energy}");
        // no more is lost than by the tetrahedra's being farther out
        let mesh = elastic(&body).unwrap().mesh().unwrap().moments();
        let per_mass = |moments: &Moments| moments.inertia() / moments.volume;
        let widest = per_mass(&mesh).symmetric_eigenvalues().max();
        let least = per_mass(&whole).symmetric_eigenvalues().min() / widest;
        assert!(turning >= 0.97 * least * energy, "{turning} {energy} {least}");
    }
}

#[test]
fn dents_accumulate_from_blow_to_blow() {
    let mut world = struck(TETS, SOFT, 3.0);
    let first = elastic(&world.iter().next().unwrap()).unwrap().mesh().unwrap().clone();
    let mut depths = Vec::new();
    for _ in 0..3 {
        // the same ball again, where the body now is
        let (body, ball) = {
            let mut states = world.iter();
            let a = states.next().unwrap();
            let b = states.next().unwrap();
            if a.breakage.is_some() { (a.id, b.id) } else { (b.id, a.id) }
        };
        let at = world.get(body).unwrap().pose.translation.vector;
        let thrown = world.get(ball).unwrap();
        let thrown = sim::NewBody {
            body: *thrown.body,
            pose: nalgebra::Translation3::from(at + Vector3::new(0.02, 0.2, 0.01)).into(),
            velocity: dynamics::Velocity {
                linear: Vector3::new(0.0, -3.0, 0.0),
                ..dynamics::Velocity::default()
            },
            shape: Arc::clone(thrown.shape),
            solid: None,
            material: contact::Material::default(),
            groups: contact::Groups::default(),
            breakage: None,
        };
        world.remove(ball);
        world.add(thrown).unwrap();
        let reports = run(&mut world, 3);
        assert!(reports.iter().any(|r| !r.dents.is_empty()));
        let state = world.iter().find(|state| state.breakage.is_some()).unwrap();
        let mesh = elastic(&state).unwrap().mesh().unwrap();
        let moves = mesh.vertices.iter().zip(&first.vertices).map(|(p, q)| (p - q).norm());
        depths.push(moves.fold(0.0, f64::max));
    }
    assert!(depths[0] < depths[1] && depths[1] < depths[2], "{depths:?}");
}

#[test]
fn pieces_keep_the_tetrahedra_that_they_are_made_of() {
    let mut world = struck(TETS, BRITTLE, 12.0);
    let whole = world.iter().next().unwrap();
    let volume = elastic(&whole).unwrap().mesh().unwrap().moments().volume;
    let reports = run(&mut world, 2);
    let events: usize = reports.iter().map(|r| r.fractures.len()).sum();
    assert!(events > 0);
    let (mut sum, mut samples) = (0.0, 0.0);
    for state in world.iter().filter(|state| state.breakage.is_some()) {
        let mesh = elastic(&state).unwrap().mesh().expect("tetrahedra of its own");
        mesh.validate().unwrap();
        let (own, sampled) = (mesh.moments(), solid(&state).moments());
        sum += own.volume;
        samples += sampled.volume;
        // of one place and size, as far as samples tell; slivers go to their neighbours
        let apart = (own.centre() - sampled.centre()).norm();
        let ratio = own.volume / sampled.volume;
        if own.volume > 0.1 * volume {
            assert!(apart < 0.02 && (ratio - 1.0).abs() < 0.3, "{apart} {ratio}");
        }
    }
    // some pieces are too small to break again; samples lose more of a piece than tetrahedra do
    assert!(sum < volume * (1.0 + 1e-9) && sum > 0.8 * volume, "{}", sum / volume);
    assert!(samples < sum, "{}", (sum - samples) / volume);
}

#[test]
fn a_body_that_holds_is_filled_with_tetrahedra_once() {
    let mut world = struck(BOX, &format!("{BRITTLE}, averaging = 0.5"), 0.3);
    let before = Arc::clone(elastic(&world.iter().next().unwrap()).unwrap());
    assert!(before.mesh().is_none(), "not before it is hit");
    run(&mut world, 20);
    let state = world.iter().next().unwrap();
    assert!(Arc::ptr_eq(&before, elastic(&state).unwrap()));
    assert!(before.mesh().is_some(), "the blow was felt");
}

#[test]
fn unsound_tetrahedra_are_errors_that_name_the_body() {
    let scene = format!("version = 1\n[[body]]\nname = \"a\"\nshape = {TETS}\n");
    let scene = Scene::from_toml(&scene).unwrap();
    let cause = |mesh: Option<MeshData>| -> Cause {
        let meshes = mesh.map(|mesh| ("cube.msh".to_owned(), mesh));
        let BuildError { part, cause } = build(&scene, &meshes.into_iter().collect()).unwrap_err();
        assert_eq!(part, "body \"a\"");
        cause
    };
    let sound = kuhn_box([2, 1, 1], Vector3::repeat(1.0));
    assert!(matches!(cause(None), Cause::NoMesh { .. }));
    let surface = MeshData::Surface(sound.boundary().into());
    assert!(matches!(cause(Some(surface)), Cause::NoMesh { kind: "tetrahedra", .. }));
    assert!(matches!(cause(Some(MeshData::Tets(TetMesh::default()))), Cause::Tets(_)));
    let mut inverted = sound.clone();
    inverted.tets[2].swap(1, 2);
    assert!(matches!(cause(Some(MeshData::Tets(inverted))), Cause::Tets(_)));
    let mut two = sound.clone();
    two.vertices.extend(sound.vertices.iter().map(|p| p + Vector3::x() * 5.0));
    let shift = sound.vertices.len() as u32;
    two.tets.extend(sound.tets.iter().map(|tet| tet.map(|v| v + shift)));
    assert_eq!(cause(Some(MeshData::Tets(two))), Cause::Disconnected(2));
}

fn ball(spacing: f64) -> LevelSet {
    let bounds = Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) };
    let grid = Grid::enclosing(&bounds, spacing, 3, Grid::MAX_NODES).unwrap();
    LevelSet::from_fn(grid, |p| Solid::Sphere { radius: 1.0 }.distance(&p))
}

#[test]
fn a_ball_that_is_stretched_is_an_ellipsoid() {
    let solid = ball(0.06);
    let stuffing = Stuffing { spacing: 0.3, doublings: 0, limit: 1 << 20 };
    let before = TetMesh::stuffed(&solid, &stuffing).unwrap();
    let mut after = before.clone();
    // of the same volume
    let stretch = Vector3::new(1.4, 1.0 / 1.4, 1.0);
    after.vertices.iter_mut().for_each(|p| p.coords.component_mul_assign(&stretch));
    let warped = solid.warped(&before, &after, Grid::MAX_NODES).unwrap();
    let (volume, own) = (solid.subcell_moments().volume, warped.subcell_moments().volume);
    assert!((own / volume - 1.0).abs() < 1e-3, "{}", own / volume);
    for (x, y, z) in [(1.4, 0.0, 0.0), (0.0, 1.0 / 1.4, 0.0), (0.0, 0.0, -1.0)] {
        let p = Point3::new(x, y, z);
        assert!(warped.value(&p).abs() < 0.03, "{p}: {}", warped.value(&p));
    }
    // it is a distance
    assert!(warped.gradient_error(0.2).mean < 0.05);
    let moments = warped.subcell_moments();
    let second =
        moments.second - moments.centre().coords * moments.centre().coords.transpose() * own;
    assert!((second[(0, 0)] / second[(2, 2)] - 1.96).abs() < 0.05);
}

#[test]
fn counts_of_tetrahedra_come_near_what_is_asked_for() {
    let stuffing = Stuffing { spacing: 1.0, doublings: 0, limit: 1 << 22 };
    for count in [500, 1500, 4000] {
        let mesh = TetMesh::stuffed_to_count(&ball(0.08), count, &stuffing).unwrap();
        mesh.validate().unwrap();
        let miss = mesh.tets.len().abs_diff(count) as f64 / count as f64;
        // a ball that is in the middle of its grid makes counts jump in steps of its symmetry
        assert!(miss < 0.12, "{} for {count}", mesh.tets.len());
    }
}
