//! Stress of bodies of finite elements in recordings.

use std::collections::BTreeMap;

use brisance::format::glb::read_glb;
use brisance_tests::tet_boxes::kuhn_box;
use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, UnitQuaternion, Vector3};
use sim::scene::Scene;
use sim::{Appearance, FractureModel, HitOutcome, MeshData, Recorder, Track, World, build};

use crate::cli::Case;
use crate::formats::vtu_array;

/// A cube in the air that a steel ball hits from above.
fn cube(strength: &str) -> (World, Vec<Appearance>) {
    let scene = format!(
        r#"version = 1
        [simulation]
        gravity = [0, 0, 0]
        [[body]]
        name = "cube"
        shape = {{ tets = {{ file = "cube.msh", size = 0.2, nodes = 19683 }} }}
        rotation = {{ axis = [0, 1, 0], degrees = 20 }}
        material = "clay"
        fracture = {{ strength = 0.5, generations = 2, min_share = 0.008, stress = {{ spacing = 0.06, strength = {strength}, young = 1e9, duration = 0.0005 }} }}
        [[body]]
        name = "ball"
        shape = {{ sphere = {{ radius = 0.05 }} }}
        position = [0.02, 0.2, 0.01]
        velocity = [0, -8, 0]
        material = "steel"
        "#
    );
    let tets = kuhn_box([4, 4, 4], Vector3::repeat(0.2));
    let meshes = BTreeMap::from([("cube.msh".to_owned(), MeshData::Tets(tets))]);
    build(&Scene::from_toml(&scene).unwrap(), &meshes).unwrap()
}

fn about(a: f32, b: f64, scale: f64) {
    assert!((f64::from(a) - b).abs() <= 1e-5 * scale, "{a} is not {b}");
}

#[test]
fn a_body_that_bears_a_blow_keeps_the_stress_of_each_tetrahedron() {
    let (mut world, appearances) = cube("1e12");
    let mut recorder = Recorder::new(&world, &appearances);
    let mut blow = None;
    for _ in 0..10 {
        let report = world.step();
        recorder.record(&world, &report);
        blow = blow.or(report.events.replayable.first().cloned());
    }
    let blow = blow.expect("the ball hits the cube");
    assert_eq!(blow.outcome, HitOutcome::Held);
    // solves the same impact again
    let state = world.get(blow.body).unwrap();
    let Some(FractureModel::Stress(elastic)) = state.breakage.map(|b| &b.model) else { panic!() };
    let sim::Solid { geometry, material } = state.solid.unwrap();
    let [x, y, z, i, j, k, w] = blow.pose;
    let turn = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
    let pose = Isometry3::from_parts(Vector3::new(x, y, z).into(), turn);
    let impulse = material * pose.inverse_transform_vector(&blow.impulse.into());
    let at = material * Point3::from(blow.point);
    let contact = tetfem::Contact::from_impulse(at, impulse, 0.0005);
    let (mesh, response) = elastic.respond(geometry.level_set(), &[contact]).unwrap();

    let track = &recorder.finish().tracks[0];
    let before = track.stress(blow.frame - 1).unwrap();
    assert_eq!((before.frame, before.principal, before.von_mises), (0, 0.0, 0.0));
    let zeros = before.field.as_ref().unwrap();
    assert!(zeros.principal.iter().chain(&zeros.von_mises).all(|stress| *stress == 0.0));
    let stress = track.stress(blow.frame).unwrap();
    let field = stress.field.as_ref().unwrap();
    assert_eq!((stress.frame, field.tets.corners.len()), (blow.frame, 384));
    let most = |values: &[f32]| values.iter().copied().fold(f32::MIN, f32::max);
    assert_eq!(stress.principal, most(&field.principal));
    assert_eq!(stress.von_mises, most(&field.von_mises));
    assert!(stress.von_mises > 1e4, "{stress:?}");
    for (t, s) in response.stresses.iter().enumerate() {
        let s: &Matrix3<f64> = s;
        // Pa, by the formula in components
        let [xx, yy, zz] = [s.m11, s.m22, s.m33];
        let shear = s.m12.powi(2) + s.m23.powi(2) + s.m13.powi(2);
        let squares = (xx - yy).powi(2) + (yy - zz).powi(2) + (zz - xx).powi(2);
        let von_mises = (0.5 * squares + 3.0 * shear).sqrt();
        about(field.von_mises[t], von_mises, f64::from(stress.von_mises));
        about(field.principal[t], s.symmetric_eigenvalues().max(), f64::from(stress.von_mises));
        for (v, w) in field.tets.corners[t].iter().zip(mesh.tets[t]) {
            let place = Point3::from(field.tets.vertices[*v as usize]).cast::<f64>();
            let wanted = material.inverse_transform_point(&mesh.vertices[w as usize]);
            assert!((place - wanted).norm() < 1e-6);
        }
    }
}

/// Volumes and centers of a track's tetrahedra.
fn solids(track: &Track, frame: usize) -> Vec<(f64, Point3<f64>)> {
    let tets = &track.stress(frame).unwrap().field.as_ref().unwrap().tets;
    let place = |v: u32| Point3::from(tets.vertices[v as usize]).cast::<f64>();
    let of = |tet: &[u32; 4]| {
        let [a, b, c, d] = tet.map(place);
        let volume = (b - a).cross(&(c - a)).dot(&(d - a)).abs() / 6.0;
        (volume, ((a.coords + b.coords + c.coords + d.coords) / 4.0).into())
    };
    tets.corners.iter().map(of).collect()
}

fn volume(track: &Track, frame: usize) -> f64 {
    solids(track, frame).iter().map(|(volume, _)| volume).sum()
}

fn center(track: &Track, frame: usize) -> Point3<f64> {
    let moments = solids(track, frame).into_iter().map(|(volume, center)| volume * center.coords);
    (moments.sum::<Vector3<f64>>() / volume(track, frame)).into()
}

#[test]
fn pieces_keep_the_stress_that_they_broke_off_under() {
    let (mut world, appearances) = cube("1e5");
    let mut recorder = Recorder::new(&world, &appearances);
    for _ in 0..10 {
        let report = world.step();
        recorder.record(&world, &report);
    }
    let recording = recorder.finish();
    let pieces: Vec<&Track> = recording.tracks.iter().filter(|t| t.parent.is_some()).collect();
    assert!(pieces.len() > 1, "the cube must break");
    let last = recording.frames - 1;
    let there = pieces.iter().filter(|track| track.pose(last).is_some());
    let volumes: f64 = there.map(|track| volume(track, last)).sum();
    // new coarse tetrahedra fill a piece with disconnected ones
    assert!(volumes > 0.9 * 0.008 && volumes < 0.008 + 1e-7, "{volumes}");
    for track in pieces.iter().filter(|track| !track.poses.is_empty()) {
        let stress = track.stress(track.birth).unwrap();
        assert!(stress.frame == track.birth && stress.von_mises > 0.0, "{}", track.name);
        // the origin of a body is its center of mass, within a third of the spacing of coarse
        // tetrahedra
        let center = center(track, track.birth).coords.norm();
        assert!(center < 0.06 / 3.0, "{}: {center}", track.name);
    }
}

/// Types of cells, their bodies and two stresses from a file of a series.
fn cells(path: &std::path::Path) -> Vec<(u8, i32, f32, f32)> {
    let bytes = std::fs::read(path).unwrap();
    let array = |name: &str| vtu_array(&bytes, name);
    let floats = |name: &str| -> Vec<f32> {
        array(name).as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    let bodies: Vec<i32> =
        array("body").as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect();
    let [principal, von_mises] = ["max_principal_stress", "von_mises_stress"].map(floats);
    let cell = |(n, kind): (usize, &u8)| (*kind, bodies[n], principal[n], von_mises[n]);
    array("types").iter().enumerate().map(cell).collect()
}

#[test]
fn files_hold_the_stress_of_a_vase_that_falls() {
    let assets = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets");
    let scene = include_str!("../../scenes/vase.toml").replace("../assets", assets);
    let case = Case::new(&[("scene.toml", &scene)]);
    let run = |output: &str, more: &[&str]| {
        let run = ["run", "scene.toml", "-q", "--allow-outside", "--frames", "12", "-o", output];
        let done = case.run(&[&run[..], more].concat());
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    run("out.pvd", &["--checkpoint-every", "11"]);
    run("out.glb", &[]);
    let path = |name: &str| case.folder.path().join(name);
    let first = cells(&path("out/frame_00000.vtu"));
    let vase: Vec<_> = first.iter().filter(|cell| cell.1 == 1).collect();
    assert_eq!(vase.len(), 1448);
    assert!(vase.iter().all(|&&cell| cell == (10, 1, 0.0, 0.0)), "tetrahedra without stress");
    let last = cells(&path("out/frame_00012.vtu"));
    let recording = read_glb(&std::fs::read(path("out.glb")).unwrap()).unwrap();
    let mut seen = 0;
    for (n, track) in recording.tracks.iter().enumerate().filter(|(_, t)| t.pose(12).is_some()) {
        let own: Vec<_> = last.iter().filter(|cell| cell.1 == n as i32).collect();
        let Some(stress) = track.stress(12) else {
            assert!(own.iter().all(|cell| (cell.0, cell.2, cell.3) == (5, 0.0, 0.0)));
            continue;
        };
        seen += 1;
        let most = own.iter().fold([f32::MIN; 2], |m, c| [m[0].max(c.2), m[1].max(c.3)]);
        assert!(own.iter().all(|cell| cell.0 == 10), "{}", track.name);
        assert_eq!(most, [stress.principal, stress.von_mises], "{}", track.name);
        assert!(stress.von_mises > 1e6, "{}: {stress:?}", track.name);
    }
    assert!(seen >= 2, "the vase must break");
    // a resumed run has the same stress
    run("rest.pvd", &["--resume", "out.pvd.checkpoint"]);
    for frame in ["frame_00009.vtu", "frame_00012.vtu"] {
        let [whole, rest] = ["out", "rest"].map(|name| std::fs::read(path(name).join(frame)));
        assert!(whole.unwrap() == rest.unwrap(), "{frame}");
    }
}
