//! Tetrahedra that collide by their vertices (Mu01 section 2.9), against closed forms and samples.

use std::collections::BTreeMap;
use std::sync::Arc;

use brisance_tests::properties;
use brisance_tests::tet_boxes::kuhn_box;
use contact::{Field, Shape, TetSolid, Triangles};
use levelset::{Aabb, Grid, LevelSet, Solid, Stuffing, TetMesh};
use nalgebra::{Isometry3, Point3, Vector3};
use proptest::prelude::*;
use sim::scene::Scene;
use sim::{MeshData, World, build};

fn centered(mut mesh: TetMesh, half: Vector3<f64>) -> TetMesh {
    mesh.vertices.iter_mut().for_each(|p| *p -= half);
    mesh
}

fn place() -> impl Strategy<Value = Point3<f64>> {
    prop::array::uniform3(-0.8..0.8).prop_map(Point3::from)
}

fn pose() -> impl Strategy<Value = Isometry3<f64>> {
    (prop::array::uniform3(-1.0..1.0), prop::array::uniform3(-1.0..1.0))
        .prop_map(|(at, turn)| Isometry3::new(Vector3::from(at), Vector3::from(turn)))
}

/// A torus filled with tetrahedra.
fn torus() -> TetMesh {
    let solid = Solid::Torus { major: 0.4, minor: 0.15 };
    let half = Vector3::new(0.56, 0.16, 0.56);
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    let grid = Grid::enclosing(&bounds, 0.03, 3, Grid::MAX_NODES).unwrap();
    let samples = LevelSet::from_fn(grid, |p| solid.distance(&p));
    let stuffing = Stuffing { spacing: 0.1, doublings: 0, halvings: 0, limit: 1 << 20 };
    TetMesh::stuffed(&samples, &stuffing).unwrap()
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_box_of_tetrahedra_is_as_far_as_the_box(p in place(), material in pose()) {
        let half = Vector3::new(0.3, 0.4, 0.5);
        let mesh = centered(kuhn_box([3, 4, 5], half * 2.0), half);
        let tets = TetSolid::new(&mesh, &material).unwrap();
        let exact = Field::Cuboid { half };
        let (distance, normal) = tets.distance_and_normal(&material.inverse_transform_point(&p));
        prop_assert!((distance - exact.distance(&p)).abs() < 1e-12);
        // on the bisecting planes of two faces, both normals are valid
        let off = half - p.coords.abs();
        let second = off.iter().map(|x| (x - off.min()).abs()).filter(|x| *x > 0.0);
        if second.fold(f64::INFINITY, f64::min) > 1e-9 {
            let turned = material * normal;
            prop_assert!((turned - exact.normal(&p)).norm() < 1e-9, "{turned}");
        }
    }

    #[test]
    fn the_grid_finds_the_tetrahedron_that_all_would(p in place()) {
        let mesh = torus();
        let tets = TetSolid::new(&mesh, &Isometry3::identity()).unwrap();
        let holds = |tet: usize| {
            let corners = mesh.corners(tet);
            let volume = |[a, b, c, d]: [Point3<f64>; 4]| (b - a).cross(&(c - a)).dot(&(d - a));
            let whole = volume(corners);
            (0..4).all(|k| {
                let mut other = corners;
                other[k] = p;
                volume(other) >= -1e-12 * whole.abs()
            })
        };
        let found = (0..mesh.tets.len()).find(|&tet| holds(tet));
        prop_assert_eq!(tets.tetrahedron(&p), found);
        // inside and outside agree with the signed distance to the closed surface
        let surface = Triangles::new(&mesh.boundary(), f64::INFINITY).unwrap();
        let (distance, _) = tets.distance_and_normal(&p);
        prop_assert!((distance - surface.distance(&p)).abs() < 1e-9);
        prop_assert_eq!(found.is_some(), distance < 0.0);
    }
}

#[test]
fn a_crack_that_is_shut_is_no_surface() {
    let half = Vector3::repeat(0.5);
    let whole = centered(kuhn_box([4, 4, 4], half * 2.0), half);
    // duplicates the vertices of an inner part of the plane x = 0
    let left = |t: usize| whole.corners(t).iter().map(|p| p.x).sum::<f64>() < 0.0;
    let mut cracked = whole.clone();
    let inner = |p: &Point3<f64>| p.x.abs() < 1e-9 && p.y.abs() < 0.3 && p.z.abs() < 0.3;
    for v in 0..whole.vertices.len() as u32 {
        if inner(&whole.vertices[v as usize]) {
            let copy = cracked.vertices.len() as u32;
            cracked.vertices.push(whole.vertices[v as usize]);
            for t in (0..whole.tets.len()).filter(|&t| left(t)) {
                cracked.tets[t].iter_mut().filter(|w| **w == v).for_each(|w| *w = copy);
            }
        }
    }
    assert!(cracked.boundary_faces().len() > whole.boundary_faces().len(), "the mesh has a crack");
    let solid = |mesh| TetSolid::new(mesh, &Isometry3::identity()).unwrap();
    let (whole, cracked) = (solid(&whole), solid(&cracked));
    assert_eq!(whole.surface().triangles.len(), cracked.surface().triangles.len());
    let p = Point3::new(0.01, 0.1, 0.05);
    assert!((cracked.distance_and_normal(&p).0 - whole.distance_and_normal(&p).0).abs() < 1e-12);
    assert!((cracked.distance_and_normal(&p).0 + 0.4).abs() < 1e-9);
}

#[test]
fn rays_and_moving_solids_meet_a_box_of_tetrahedra_where_they_do_the_box() {
    let half = Vector3::new(0.3, 0.4, 0.5);
    let mesh = centered(kuhn_box([3, 4, 5], half * 2.0), half);
    let still = Isometry3::identity();
    let tets = Shape::tets(Arc::new(TetSolid::new(&mesh, &still).unwrap()));
    let cuboid = Shape::cuboid(half, 0.1);
    let along = nalgebra::Unit::new_normalize(Vector3::new(-1.0, 0.1, 0.05));
    let ray = contact::Ray { from: Point3::new(2.0, 0.05, 0.1), along, max_distance: 5.0 };
    let (found, exact) = (tets.cast_ray(&ray).unwrap(), cuboid.cast_ray(&ray).unwrap());
    assert!((found.distance - exact.distance).abs() < 1e-12, "{found:?} {exact:?}");
    assert!((found.normal - exact.normal).norm() < 1e-12);
    let start = Isometry3::translation(2.0, 0.05, 0.1);
    for moving in [Shape::ball(0.1), Shape::cuboid(Vector3::repeat(0.1), 0.05)] {
        let sweep = contact::Sweep { along, max_distance: 5.0 };
        let to = |target: &Shape| moving.at(&start).sweep(&sweep, &target.at(&still)).unwrap();
        let (found, exact) = (to(&tets).distance, to(&cuboid).distance);
        assert!((found - exact).abs() < 1e-3, "{found} {exact}");
        let near = |x: f64| Isometry3::translation(x, 0.0, 0.0);
        for (x, meets) in [(0.38, true), (0.42, false)] {
            assert_eq!(moving.at(&near(x)).overlaps(&tets.at(&still)), meets, "{x}");
        }
    }
}

#[test]
fn sizes_and_shapes_far_from_each_other_take_little_memory() {
    // a large tetrahedron, many small ones in its corner, and flat or tiny variants
    for (flat, scale) in [(1.0, 1.0), (1e-6, 1.0), (1.0, 1e-60), (1e-3, 1e60)] {
        let place = |p: &Point3<f64>| Point3::new(p.x * scale, p.y * scale * flat, p.z * scale);
        let mut mesh = kuhn_box([12, 12, 12], Vector3::repeat(0.01));
        let first = mesh.vertices.len() as u32;
        let corner = Point3::new(0.02, 0.02, 0.02);
        let axes = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        mesh.vertices.extend(axes.map(|axis| corner + axis));
        mesh.tets.push([0, 1, 2, 3].map(|k| first + k));
        mesh.vertices.iter_mut().for_each(|p| *p = place(p));
        let tets = TetSolid::new(&mesh, &Isometry3::identity()).unwrap();
        let inside = place(&Point3::new(0.2, 0.2, 0.2));
        assert_eq!(tets.tetrahedron(&inside), Some(mesh.tets.len() - 1));
        let small = mesh.tets.len() / 2;
        let middle = mesh.corners(small).iter().map(|p| p.coords).sum::<Vector3<f64>>() / 4.0;
        assert_eq!(tets.tetrahedron(&middle.into()), Some(small));
        assert_eq!(tets.tetrahedron(&place(&Point3::new(5.0, 0.0, 0.0))), None);
    }
}

#[test]
fn tetrahedra_that_are_not_sound_are_refused() {
    let solid = |mesh: &TetMesh| TetSolid::new(mesh, &Isometry3::identity());
    let sound = kuhn_box([1, 1, 1], Vector3::repeat(1.0));
    assert!(solid(&sound).is_ok());
    let mut inverted = sound.clone();
    inverted.tets[0].swap(0, 1);
    let mut missing = sound;
    missing.tets[0][0] = 99;
    for wrong in [TetMesh::default(), inverted, missing] {
        assert!(solid(&wrong).is_err());
    }
}

/// A body of tetrahedra above another body, which collides by tetrahedra or by samples.
fn scene(collide: &str, below: &str) -> World {
    let half = Vector3::new(0.1, 0.1, 0.1);
    let tets = centered(kuhn_box([4, 4, 4], half * 2.0), half);
    let text = format!(
        r#"version = 1
        {below}
        [[body]]
        name = "cube"
        shape = {{ tets = {{ file = "cube.msh", collide = "{collide}" }} }}
        position = [0, 0.3, 0]
        density = 1000
        "#
    );
    let meshes = BTreeMap::from([("cube.msh".to_owned(), MeshData::Tets(tets))]);
    build(&Scene::from_toml(&text).unwrap(), &meshes).unwrap().0
}

const BELOW: [(&str, f64); 4] = [
    ("shape = { plane = {} }\nmotion = \"static\"", 0.1),
    ("shape = { box = { half_extents = [1, 0.1, 1] } }\nmotion = \"static\"", 0.2),
    ("shape = { sphere = { radius = 2 } }\nposition = [0, -2, 0]\nmotion = \"static\"", 0.1),
    ("shape = { torus = { major = 0.15, minor = 0.05 } }\nmotion = \"static\"", 0.15),
];

#[test]
fn a_cube_of_tetrahedra_rests_where_it_does_by_samples() {
    for (below, height) in BELOW {
        let below = format!("[[body]]\nname = \"below\"\n{below}\n");
        let mut ends = Vec::new();
        for collide in ["tets", "samples"] {
            let mut world = scene(collide, &below);
            let mut report = world.step();
            (0..90).for_each(|_| report = world.step());
            let body = world.iter().next_back().unwrap();
            let is_tets = matches!(body.shape.field(), Field::Tets(_));
            assert_eq!(is_tets, collide == "tets");
            assert!(report.energy.kinetic < 1e-6, "{below} {report:?}");
            ends.push(body.pose.translation.y);
        }
        // the spacing of samples is a few millimeters
        assert!((ends[0] - height).abs() < 2e-3, "{ends:?} on {below}");
        assert!((ends[0] - ends[1]).abs() < 5e-3, "{ends:?} on {below}");
    }
}

#[test]
fn two_bodies_of_tetrahedra_stand_on_each_other() {
    let other = r#"[[body]]
        name = "floor"
        shape = { plane = {} }
        motion = "static"
        [[body]]
        name = "lower"
        shape = { tets = { file = "cube.msh", collide = "tets" } }
        position = [0.02, 0.1, 0.01]
        density = 1000
        "#;
    let mut world = scene("tets", other);
    let energy = world.kinetic_energy() + world.potential_energy();
    let start = world.iter().next_back().unwrap().pose.rotation;
    for _ in 0..150 {
        assert!(world.step().energy.gain < 1e-9 * energy);
    }
    let upper = world.iter().next_back().unwrap();
    assert!((upper.pose.translation.y - 0.3).abs() < 2e-3, "{}", upper.pose.translation.y);
    let turned = upper.pose.rotation.angle_to(&start);
    assert!(turned < 1e-4, "{turned}");
}

#[test]
fn pieces_of_tetrahedra_collide_by_theirs() {
    let tets = centered(kuhn_box([4, 4, 4], Vector3::repeat(0.2)), Vector3::repeat(0.1));
    let text = r#"version = 1
        [[body]]
        name = "floor"
        shape = { plane = {} }
        motion = "static"
        [[body]]
        name = "cube"
        shape = { tets = { file = "cube.msh", collide = "tets" } }
        position = [0, 0.12, 0]
        rotation = { axis = [1, 0, 0.3], degrees = 20 }
        velocity = [0, -12, 0]
        material = "clay"
        fracture = { break_impulse = 1, min_share = 0.001, stress = { spacing = 0.05, strength = 1e5 } }
        "#;
    let meshes = BTreeMap::from([("cube.msh".to_owned(), MeshData::Tets(tets))]);
    let mut world = build(&Scene::from_toml(text).unwrap(), &meshes).unwrap().0;
    let mut pieces = 0;
    for _ in 0..60 {
        let report = world.step();
        pieces += report.events.fractures.iter().map(|f| f.fragments.len()).sum::<usize>();
    }
    assert!(pieces >= 2, "{pieces}");
    let mass = |has_tets: bool| -> f64 {
        let of = |s: &sim::BodyState<'_>| matches!(s.shape.field(), Field::Tets(_)) == has_tets;
        let masses = world.iter().filter(of).filter_map(|s| s.body.mass_properties());
        masses.map(|own| own.mass()).sum()
    };
    // a fragment that is the deepest in no tetrahedron gets none and collides by its samples
    assert!(mass(false) < 1e-3 * mass(true), "{} of {} kg", mass(false), mass(true));
    let low = |state: sim::BodyState<'_>| {
        let heights = state.shape.points().iter().map(|p| (state.pose * p).y);
        heights.fold(f64::INFINITY, f64::min)
    };
    let heights: Vec<f64> = world.iter().skip(1).map(low).collect();
    assert!(heights.iter().all(|&height| height > -0.005), "{heights:?}");
}

#[test]
fn a_shape_of_tetrahedra_knows_its_extent() {
    let mesh = torus();
    let shape = Shape::tets(Arc::new(TetSolid::new(&mesh, &Isometry3::identity()).unwrap()));
    let bounds = Aabb::around(&mesh.vertices).unwrap();
    assert_eq!(*shape.bounds(), bounds);
    let far = mesh.vertices.iter().map(|p| p.coords.norm()).fold(0.0, f64::max);
    assert!((shape.radius() - far).abs() < 1e-12);
    assert!(shape.points().len() < mesh.vertices.len(), "inner vertices do not collide");
}
