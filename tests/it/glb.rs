//! A GLB file represents the recording.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use brisance::format::WriteError;
use brisance::format::glb::{GlbReadError, read_glb, write_glb};
use brisance_tests::properties;
use brisance_tests::skipped::skipped;
use gltf::animation::Property;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use sim::{
    Camera, CameraKey, Energy, LazySurface, Look, Recording, Surface, Texture, TimedWaypoint, Track,
};

fn tetrahedron(size: f32) -> Arc<Surface> {
    let vertices = vec![[0.0; 3], [size, 0.0, 0.0], [0.0, size, 0.0], [0.0, 0.0, size]];
    let s = 1.0 / 3f32.sqrt();
    let normals = vec![[-s; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let rest = vertices.iter().map(|v: &[f32; 3]| v.map(|x| x + 0.25)).collect();
    let (outer, inner) = (vec![[0, 2, 1], [0, 1, 3], [0, 3, 2]], vec![[1, 2, 3]]);
    let uvs = vertices.iter().map(|v| [v[0] / size, v[1] / size]).collect();
    let colors = vertices.iter().map(|v| [v[0] / size, 0.5, v[2] / size, 1.0]).collect();
    let coats = Vec::new();
    Arc::new(Surface { vertices, normals, rest, uvs, colors, outer, inner, coats })
}

fn pose(step: usize) -> Isometry3<f64> {
    let t = step as f64 / 30.0;
    Isometry3::from_parts(
        Translation3::new(t, 2.0 - 4.9 * t * t, 0.1),
        UnitQuaternion::from_scaled_axis(Vector3::new(9.0, 20.0, 4.0) * t),
    )
}

fn track(name: &str, surface: &Arc<Surface>, birth: usize, poses: Vec<Isometry3<f64>>) -> Track {
    let look = Arc::new(Look {
        material: "clay".to_owned(),
        color: [0.8, 0.3, 0.1],
        inner_color: [0.9, 0.5, 0.4],
        roughness: 0.75,
        ..Look::default()
    });
    Track {
        name: name.to_owned(),
        lazy_surface: LazySurface::Made(surface.clone()),
        look,
        parent: None,
        birth,
        taken: 0,
        poses,
        waypoints: Vec::new(),
        shrinks: None,
        stresses: Vec::new(),
    }
}

/// A static floor, a pot that breaks at frame 5, and shards: one breaks again at frame 8, one comes to rest, one is new
/// in the last frame and one breaks in the frame of its birth.
pub(crate) fn breaking_pot() -> Recording {
    let [mut floor, pot, shard] = [5.0, 1.0, 0.5].map(tetrahedron);
    let Surface { outer, inner, .. } = Arc::make_mut(&mut floor);
    outer.append(inner);
    let rest = |i: usize| pose(i.min(9));
    let mut tracks = vec![
        track("floor", &floor, 0, vec![Isometry3::identity(); 13]),
        track("pot", &pot, 0, (0..5).map(pose).collect()),
        track("pot.0", &shard, 5, (5..8).map(pose).collect()),
        track("pot.1", &shard, 5, (5..13).map(rest).collect()),
        track("pot.0.0", &shard, 12, vec![pose(12)]),
        track("pot.0.1", &Arc::default(), 8, vec![]),
    ];
    Arc::make_mut(&mut tracks[0].look).color = [0.5; 3];
    tracks[2].parent = Some(1);
    tracks[3].parent = Some(1);
    tracks[4].parent = Some(2);
    tracks[5].parent = Some(2);
    let energy = |frame: usize| Energy {
        kinetic: 0.1 * frame as f64,
        potential: -1.0 / 3.0,
        dissipated: 1e-12,
    };
    Recording {
        fps: 30.0,
        frames: 13,
        tracks,
        energies: (0..13).map(energy).collect(),
        crumbs: vec![],
        camera: None,
    }
}

pub(crate) fn glb(recording: &Recording) -> Vec<u8> {
    let mut bytes = vec![];
    write_glb(recording, &mut bytes).unwrap();
    bytes
}

/// The state of one node in a viewer at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) translation: [f32; 3],
    pub(crate) rotation: [f32; 4],
    pub(crate) scale: [f32; 3],
}

/// Plays a file like a viewer: one entry per node for a frame.
pub(crate) fn shown(file: &gltf::Gltf, fps: f64, frame: usize) -> Vec<Shown> {
    let blob = file.blob.as_deref();
    let mut nodes: Vec<Shown> = file
        .nodes()
        .map(|node| {
            let (translation, rotation, scale) = node.transform().decomposed();
            Shown { translation, rotation, scale }
        })
        .collect();
    for channel in file.animations().flat_map(|a| a.channels()) {
        let reader = channel.reader(|_| blob);
        let times: Vec<f32> = reader.read_inputs().unwrap().collect();
        let (key, share) = place(&times, (frame as f64 / fps) as f32);
        let node = &mut nodes[channel.target().node().index()];
        match reader.read_outputs().unwrap() {
            gltf::animation::util::ReadOutputs::Translations(values) => {
                node.translation = mix(&values.collect::<Vec<_>>(), key, share);
            }
            gltf::animation::util::ReadOutputs::Rotations(values) => {
                node.rotation = mix(&values.into_f32().collect::<Vec<_>>(), key, share);
            }
            gltf::animation::util::ReadOutputs::Scales(values) => {
                assert_eq!(channel.target().property(), Property::Scale);
                node.scale = values.collect::<Vec<_>>()[key];
            }
            gltf::animation::util::ReadOutputs::MorphTargetWeights(_) => panic!("no morphs"),
        }
    }
    nodes
}

/// The last key that is not after `time`, and the fraction of the interval to the next key.
fn place(times: &[f32], time: f32) -> (usize, f32) {
    let key = times.iter().rposition(|&t| t <= time).unwrap_or(0);
    match times.get(key + 1) {
        Some(next) if time > times[key] => (key, (time - times[key]) / (next - times[key])),
        _ => (key, 0.0),
    }
}

fn mix<const N: usize>(values: &[[f32; N]], key: usize, share: f32) -> [f32; N] {
    let a = values[key];
    let b = values[(key + 1).min(values.len() - 1)];
    // frames between keys must be constant, where every interpolation agrees
    assert!(share == 0.0 || a == b, "a frame is between different keys");
    a
}

fn assert_shows(recording: &Recording) {
    let file = gltf::Gltf::from_slice(&glb(recording)).unwrap();
    assert_eq!(file.nodes().count(), recording.tracks.len());
    for frame in 0..recording.frames {
        for (track, node) in recording.tracks.iter().zip(shown(&file, recording.fps, frame)) {
            let exists = track.birth <= frame && frame < track.end();
            let scale = if exists { track.scale(frame, recording.fps) as f32 } else { 0.0 };
            assert_eq!(node.scale, [scale; 3], "{} in frame {frame}", track.name);
            if !exists {
                continue;
            }
            let pose = track.poses[frame - track.birth];
            assert_eq!(node.translation, pose.translation.vector.map(|x| x as f32).data.0[0]);
            let q: [f32; 4] = pose.rotation.coords.map(|x| x as f32).into();
            let same =
                |sign: f32| q.iter().zip(node.rotation).all(|(a, b)| (a - sign * b).abs() < 1e-7);
            assert!(same(1.0) || same(-1.0), "{q:?} and {:?}", node.rotation);
        }
    }
}

/// The npm package, or `None` if it is neither installed nor required.
fn validator() -> Option<PathBuf> {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/npm/node_modules");
    if modules.join("gltf-validator").is_dir() {
        return Some(modules);
    }
    assert!(std::env::var_os("CI").is_none(), "gltf-validator is missing: run cargo xtask test");
    skipped("gltf-validator is not installed, cargo xtask test installs it");
    None
}

/// Fails on the first file with an error or a warning of the Khronos validator.
pub(crate) fn assert_valid(paths: &[PathBuf]) {
    let Some(modules) = validator() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("validate_gltf.cjs");
    let run = Command::new("node").arg(script).args(paths).env("NODE_PATH", modules).output();
    let run = run.expect("node runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}

#[test]
fn the_khronos_validator_finds_no_error_and_no_warning() {
    let folder = tempfile::tempdir().unwrap();
    let still = Recording { frames: 1, energies: vec![], ..breaking_pot() };
    let empty = Recording {
        fps: 30.0,
        frames: 1,
        tracks: vec![],
        energies: vec![],
        crumbs: vec![],
        camera: None,
    };
    let mut unseen = breaking_pot();
    unseen.tracks[1].lazy_surface = LazySurface::default();
    let files = [
        ("pot", breaking_pot()),
        ("clear", clear_pot()),
        ("still", still),
        ("empty", empty),
        ("unseen", unseen),
    ];
    let paths = files.map(|(name, recording)| {
        let path = folder.path().join(name).with_extension("glb");
        std::fs::write(&path, glb(&recording)).unwrap();
        path
    });
    assert_valid(&paths);
}

#[test]
fn bodies_appear_when_born_and_disappear_when_they_break() {
    assert_shows(&breaking_pot());
}

#[test]
fn surfaces_and_materials_are_stored_once() {
    let file = gltf::Gltf::from_slice(&glb(&breaking_pot())).unwrap();
    assert_eq!((file.meshes().count(), file.materials().count()), (3, 3));
    let meshes: Vec<_> = file.nodes().filter_map(|n| Some(n.mesh()?.index())).collect();
    assert_eq!(meshes, [0, 1, 2, 2, 2]);
}

#[test]
fn a_body_at_rest_costs_no_keys() {
    let file = gltf::Gltf::from_slice(&glb(&breaking_pot())).unwrap();
    let keys = |node: usize, property: Property| {
        let mut channels = file.animations().flat_map(|a| a.channels());
        let channel = channels
            .find(|c| c.target().node().index() == node && c.target().property() == property);
        channel.map_or(0, |c| c.sampler().input().count())
    };
    assert_eq!((keys(0, Property::Translation), keys(0, Property::Scale)), (0, 0));
    assert_eq!(keys(3, Property::Translation), 5, "frames 5 to 9, then rest");
}

#[test]
fn a_fragment_names_its_parent() {
    let file = gltf::Gltf::from_slice(&glb(&breaking_pot())).unwrap();
    let extras = |node: usize| -> serde_json::Value {
        serde_json::from_str(file.nodes().nth(node).unwrap().extras().as_ref().unwrap().get())
            .unwrap()
    };
    assert_eq!(extras(1), serde_json::json!({ "birth": 0, "end": 5 }));
    assert_eq!(extras(4), serde_json::json!({ "birth": 12, "end": 13, "parent": 2 }));
}

/// Replaces the surface of a track by a different one.
fn changed(track: &mut Track, change: impl FnOnce(&mut Surface)) {
    let mut surface = Surface::clone(&track.surface());
    change(&mut surface);
    track.lazy_surface = surface.into();
}

#[test]
fn what_the_format_cannot_hold_is_refused() {
    let refused = |change: fn(&mut Track)| {
        let mut recording = breaking_pot();
        change(&mut recording.tracks[2]);
        write_glb(&recording, &mut vec![]).unwrap_err()
    };
    let error = refused(|t| t.poses[1].translation.x = f64::NAN);
    assert!(matches!(error, WriteError::NotFinite { ref track } if track == "pot.0"));
    let error = refused(|t| changed(t, |s| s.vertices[0][1] = f32::INFINITY));
    assert!(matches!(error, WriteError::NotFinite { .. }));
    let error = refused(|t| changed(t, |s| s.inner[0][1] = 4));
    assert!(matches!(error, WriteError::Surface { .. }));
}

/// Checks equality up to the precision of the format.
fn assert_same(a: &Recording, b: &Recording) {
    assert_eq!((a.fps, a.frames, a.tracks.len()), (b.fps, b.frames, b.tracks.len()));
    assert_eq!(a.energies, b.energies, "to the bit");
    for (a, b) in a.tracks.iter().zip(&b.tracks) {
        assert_eq!((&a.name, a.parent, a.birth), (&b.name, b.parent, b.birth));
        assert_eq!(a.shrinks, b.shrinks);
        assert_eq!(a.poses.len(), b.poses.len());
        for (p, q) in a.poses.iter().zip(&b.poses) {
            assert!((p.translation.vector - q.translation.vector).amax() < 1e-6);
            assert!(p.rotation.angle_to(&q.rotation) < 1e-6);
        }
        assert_eq!(a.waypoints.len(), b.waypoints.len(), "{:?} and {:?}", a.waypoints, b.waypoints);
        for (p, q) in a.waypoints.iter().zip(&b.waypoints) {
            assert!((p.time - q.time).abs() < 1e-4);
            assert!((p.pose.translation.vector - q.pose.translation.vector).amax() < 1e-6);
            assert!(p.pose.rotation.angle_to(&q.pose.rotation) < 1e-6);
        }
        let (surface, back) = (a.surface(), b.surface());
        if !surface.vertices.is_empty() {
            let Surface { vertices, rest, outer, inner, .. } = &*surface;
            assert_eq!(
                (vertices, rest, outer, inner),
                (&back.vertices, &back.rest, &back.outer, &back.inner)
            );
            assert_eq!(a.look, b.look);
        }
    }
}

/// The pot is of marble, the shards are of tinted glass, and the camera moves.
pub(crate) fn clear_pot() -> Recording {
    let mut recording = breaking_pot();
    let look = Look::clone(&recording.tracks[1].look);
    let marble = Arc::new(Look { texture: Texture::Marble, metallic: 0.25, ..look.clone() });
    let glass = Arc::new(Look { transmission: 0.9, ior: 1.52, alpha: 0.75, ..look });
    for (n, track) in recording.tracks.iter_mut().enumerate() {
        changed(track, |surface| surface.colors.clear());
        track.look = if n < 2 { marble.clone() } else { glass.clone() };
    }
    let sight = |time: f64| CameraKey {
        time,
        at: Point3::new(0.0, time, 0.0),
        from: Point3::new(3.0, 2.0, 4.0),
    };
    recording.camera =
        Some(Camera { field: 0.6, follow: None, keys: vec![sight(0.0), sight(0.25)] });
    recording
}

#[test]
fn looks_and_cameras_come_back() {
    let recording = clear_pot();
    let bytes = glb(&recording);
    let back = read_glb(&bytes).unwrap();
    assert_same(&recording, &back);
    assert_eq!(back.camera, recording.camera);
    let has_colors = |track: &Track| !track.surface().colors.is_empty();
    assert!(!back.tracks.iter().any(has_colors), "colors for other programs are not read");
    let file = gltf::Gltf::from_slice(&bytes).unwrap();
    let floor = file.meshes().next().unwrap().primitives().next().unwrap();
    let colors = floor.reader(|_| file.blob.as_deref()).read_colors(0).unwrap();
    let colors: Vec<[f32; 4]> = colors.into_rgba_f32().collect();
    let rest = &recording.tracks[0].surface().rest;
    let painted = |p: &[f32; 3]| {
        let color = brisance::texture::color(Texture::Marble, (*p).into(), 0.01);
        [color.x, color.y, color.z, 1.0]
    };
    assert_eq!(colors, rest.iter().map(painted).collect::<Vec<_>>());
    for (from, to) in [("\"ior\":1.5", "\"ior\":9.5"), ("\"field\":0.6", "\"field\":9.6")] {
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        let mut wrong = bytes.clone();
        wrong[at..at + from.len()].copy_from_slice(to.as_bytes());
        assert!(matches!(read_glb(&wrong), Err(GlbReadError::Foreign { .. })), "{to}");
    }
}

#[test]
fn a_file_that_brisance_did_not_write_is_refused() {
    assert!(matches!(read_glb(b"glTF?").unwrap_err(), GlbReadError::Format(_)));
    let whole = glb(&breaking_pot());
    for length in [0, 11, 12, 100, whole.len() - 1] {
        read_glb(&whole[..length]).unwrap_err();
    }
    let foreign = |from: &str, to: &str| {
        let at = whole.windows(from.len()).position(|bytes| bytes == from.as_bytes());
        let at = at.expect("written by us");
        let mut bytes = whole.clone();
        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
        let error = read_glb(&bytes).unwrap_err();
        assert!(matches!(error, GlbReadError::Foreign { .. }), "{to}: {error}");
    };
    foreign("\"fps\"", "\"fpz\"");
    foreign("\"birth\"", "\"berth\"");
    foreign("\"frames\":13", "\"frames\":0 ");
    foreign("\"frames\":13", "\"frames\":12");
    foreign("\"end\":13", "\"end\":19");
    foreign("\"parent\":1", "\"parent\":3");
}

/// The waypoints of a body with these frames, at fractions of frames. No two have the same pose: a file keeps only the
/// first and the last of several consecutive keys with one pose.
fn waypoints(life: std::ops::Range<usize>, blows: &[(usize, f64)]) -> Vec<TimedWaypoint> {
    let waypoint = |(n, &(after, share)): (usize, &(usize, f64))| TimedWaypoint {
        time: (life.start + after) as f64 + share,
        pose: pose(after + 20 * (n + 1)),
    };
    let mut waypoints: Vec<TimedWaypoint> = blows.iter().enumerate().map(waypoint).collect();
    waypoints.retain(|waypoint| waypoint.time.ceil() < life.end as f64);
    waypoints.sort_by(|a, b| a.time.total_cmp(&b.time));
    waypoints.dedup_by(|a, b| a.time - b.time < 1e-3);
    waypoints
}

/// Recordings whose bodies are born, rest, jump and end at random.
fn recordings() -> impl Strategy<Value = Recording> {
    let steps = prop::collection::vec(0usize..4, 0..12);
    let shrinks = prop::option::of(1usize..12);
    let blows = prop::collection::vec((0usize..12, 0.01..0.99f64), 0..4);
    let tracks = prop::collection::vec((0usize..8, steps, 0usize..3, shrinks, blows), 1..6);
    (tracks, 1.0..240.0f64).prop_map(|(specs, fps)| {
        let surfaces = [1.0, 2.0, 3.0].map(tetrahedron);
        let tracks: Vec<Track> = specs
            .iter()
            .enumerate()
            .map(|(i, (birth, steps, surface, shrinks, blows))| {
                let poses = steps.iter().map(|&s| pose(s)).collect();
                let shrinks = shrinks.filter(|&s| s < steps.len()).map(|s| birth + s);
                let track = track(&format!("body {i}"), &surfaces[*surface], *birth, poses);
                let waypoints = waypoints(*birth..birth + steps.len(), blows);
                Track { shrinks, waypoints, ..track }
            })
            .collect();
        let frames = tracks.iter().map(Track::end).max().unwrap_or(1).max(1);
        Recording { fps, frames, tracks, energies: vec![], crumbs: vec![], camera: None }
    })
}

#[test]
fn energies_come_back_to_the_bit() {
    assert_same(&breaking_pot(), &read_glb(&glb(&breaking_pot())).unwrap());
    let mut few = breaking_pot();
    few.energies.pop();
    let error = read_glb(&glb(&few)).unwrap_err();
    assert!(matches!(error, GlbReadError::Foreign { .. }), "{error}");
}

properties! {
    #[test]
    fn every_frame_shows_what_the_recording_holds(recording in recordings()) {
        assert_shows(&recording);
    }

    #[test]
    fn a_recording_comes_back_from_its_file(recording in recordings()) {
        assert_same(&recording, &read_glb(&glb(&recording)).unwrap());
    }
}
