//! Every format represents the recording.

use std::io::Read;
use std::sync::Arc;

use brisance::format::{Encoding, Format, WriteError};
use brisance::spool::{PoseRange, Spool, SpooledRecording};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use serde_json::{Value, json};
use sim::{LazySurface, Look, Recording, Surface, TimedWaypoint, Trace, TraceChunk, Track};

/// A pot that breaks at frame 2 into two shards, one of which breaks in the same frame.
fn recording() -> Recording {
    let surface = Arc::new(Surface {
        vertices: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.5, 0.0], [0.0, 0.0, 2.0]],
        normals: vec![[0.0, 1.0, 0.0]; 4],
        rest: vec![[0.5; 3], [1.5, 0.5, 0.5], [0.5, 2.0, 0.5], [0.5, 0.5, 2.5]],
        outer: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2]],
        inner: vec![[1, 2, 3]],
        ..Surface::default()
    });
    let pose = |step: usize| {
        let t = step as f64 / 24.0;
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(3.0, 2.0, 1.0) * t);
        Isometry3::from_parts(Translation3::new(t, -t, 0.5), turn)
    };
    let track = |name: &str, parent, birth, poses| Track {
        name: name.to_owned(),
        lazy_surface: LazySurface::Made(surface.clone()),
        look: Arc::new(Look {
            material: "old clay".to_owned(),
            color: [0.5, 0.25, 1.0],
            inner_color: [0.75, 0.5, 1.0],
            roughness: 0.5,
            ..Look::default()
        }),
        parent,
        birth,
        taken: 0,
        poses,
        waypoints: Vec::new(),
        shrinks: None,
        stresses: Vec::new(),
    };
    let tracks = vec![
        track("the \"pot\"", None, 0, vec![pose(0), pose(1)]),
        track("left", Some(0), 2, vec![pose(5), pose(6)]),
        track("right", Some(0), 2, vec![]),
    ];
    Recording { fps: 24.0, frames: 4, tracks, energies: vec![], crumbs: vec![], camera: None }
}

fn text(name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    Format::of(&path).unwrap().write(&recording(), &path).unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_ending_chooses_the_format() {
    let of = |name: &str| Format::of(name.as_ref());
    assert_eq!(of("a.glb"), Some(Format::Glb));
    assert_eq!(of("a.b/c.USDA"), Some(Format::Usd(Encoding::Text)));
    assert_eq!(of("a.Usdc"), Some(Format::Usd(Encoding::Binary)));
    assert_eq!(of("a.jsonl"), Some(Format::Jsonl));
    assert_eq!(of("frames/"), Some(Format::ObjFolder));
    assert_eq!(of("frames"), None, "a path without extension is not a folder");
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Format::of(folder.path()), Some(Format::ObjFolder));
    assert_eq!(of("a.fbx"), None);
}

#[test]
fn json_lines_hold_bodies_and_poses() {
    let lines: Vec<Value> =
        text("a.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 5);
    let head = &lines[0];
    assert_eq!(head["format"], "brisance");
    assert_eq!(
        (&head["version"], &head["frames"], &head["fps"]),
        (&json!(1), &json!(4), &json!(24.0))
    );
    let left = json!({ "name": "left", "parent": 0, "birth": 2, "end": 4, "shrinks": null, "material": "old clay",
            "colour": [0.5, 0.25, 1.0], "inner_colour": [0.75, 0.5, 1.0] });
    assert_eq!(head["bodies"][1], left);
    assert_eq!(head["bodies"][0]["parent"], Value::Null);
    assert_eq!(lines[1]["bodies"], json!([0]));
    assert_eq!(lines[4]["bodies"], json!([1]));
    assert_eq!(lines[4]["time"], json!(3.0 / 24.0));
    let pose = recording().tracks[1].poses[1];
    let (t, q) = (pose.translation, pose.rotation);
    assert_eq!(lines[4]["poses"][0], json!([t.x, t.y, t.z, q.i, q.j, q.k, q.w]), "to the bit");
}

#[test]
fn obj_frames_hold_the_bodies_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames");
    Format::ObjFolder.write(&recording(), &path).unwrap();
    assert_eq!(path.read_dir().unwrap().count(), 5, "four frames and their materials");
    let materials = std::fs::read_to_string(path.join("materials.mtl")).unwrap();
    assert!(materials.starts_with("newmtl old_clay\nKd 0.5 0.25 1\n"), "{materials}");
    assert!(materials.contains("newmtl old_clay_inside\nKd 0.75 0.5 1\n"), "{materials}");
    let frame = std::fs::read_to_string(path.join("frame_00003.obj")).unwrap();
    assert_eq!(frame.matches("\no ").count() + usize::from(frame.starts_with("o ")), 1);
    assert!(frame.contains("\nusemtl old_clay_inside\nf 2/2/2 3/3/3 4/4/4\n"), "{frame}");
    let mesh = brisance::mesh_file::read_mesh(&path.join("frame_00003.obj")).unwrap();
    let track = &recording().tracks[1];
    let surface = track.surface();
    let Surface { outer, inner, .. } = &*surface;
    assert_eq!(mesh.triangles.len(), outer.len() + inner.len());
    for (i, triangle) in outer.iter().chain(inner).enumerate() {
        for (corner, v) in mesh.corners(i).iter().zip(triangle) {
            let local = Point3::from(surface.vertices[*v as usize]).cast::<f64>();
            assert!((corner - track.poses[1] * local).amax() < 1e-6);
        }
    }
    let again = Format::ObjFolder.write(&recording(), &path);
    assert!(matches!(again, Err(WriteError::Write(_))), "an existing folder is kept");
}

#[test]
fn usd_holds_time_samples_and_visibility() {
    let usd = text("a.usda");
    assert!(usd.starts_with("#usda 1.0\n("));
    for line in [
        "    endTimeCode = 3",
        "    timeCodesPerSecond = 24",
        "        displayName = \"the \\\"pot\\\"\"",
        "            0: (1, 0, 0, 0),",
        "            2: \"inherited\",",
        "            2: \"invisible\",",
        "        token visibility = \"invisible\"",
        "            int[] faceVertexCounts = [3, 3, 3, 3]",
        "            float3[] extent = [(0, 0, 0), (1, 1.5, 2)]",
        "                int[] indices = [3]",
        "                rel material:binding = </World/Looks/old_clay_inside>",
        "                color3f inputs:diffuseColor = (0.75, 0.5, 1)",
    ] {
        assert!(usd.lines().any(|l| l == line), "{line:?} is not in\n{usd}");
    }
    assert_eq!(usd.matches('{').count(), usd.matches('}').count());
}

#[test]
fn no_format_takes_what_is_not_finite() {
    let folder = tempfile::tempdir().unwrap();
    let mut broken = recording();
    broken.tracks[1].poses[0].translation.y = f64::INFINITY;
    for name in ["a.glb", "a.usda", "a.usdc", "a.jsonl", "a/"] {
        let path = folder.path().join(name);
        let error = Format::of(&path).unwrap().write(&broken, &path).unwrap_err();
        assert!(matches!(error, WriteError::NotFinite { ref track } if track == "left"), "{error}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

/// A text and the bytes after it.
fn split<'a>(bytes: &'a [u8], end: &str) -> (&'a str, &'a [u8]) {
    let at = bytes.windows(end.len()).position(|window| window == end.as_bytes()).unwrap();
    let (text, rest) = bytes.split_at(at + end.len());
    (std::str::from_utf8(text).unwrap(), rest)
}

/// The text before the appended data of a VTU file.
const VTU_HEAD: &str = "<AppendedData encoding=\"raw\">\n_";

/// An array of a VTU file, decompressed.
pub(crate) fn vtu_array(bytes: &[u8], name: &str) -> Vec<u8> {
    let (head, data) = split(bytes, VTU_HEAD);
    let line = head.lines().find(|l| l.contains(&format!("Name=\"{name}\""))).unwrap();
    let offset = line.split("offset=\"").nth(1).unwrap().split('"').next().unwrap();
    let data = &data[offset.parse::<usize>().unwrap()..];
    let word = |n: usize| u64::from_le_bytes(data[8 * n..8 * n + 8].try_into().unwrap()) as usize;
    // number of blocks, bytes of a block and of the last one if it is shorter, and bytes of each when compressed
    let mut at = 8 * (3 + word(0));
    let mut all = Vec::new();
    for block in 0..word(0) {
        let size = word(3 + block);
        flate2::read::ZlibDecoder::new(&data[at..at + size]).read_to_end(&mut all).unwrap();
        at += size;
    }
    assert!(all.len() % word(1) == word(2), "bytes of the last block");
    all
}

#[test]
fn a_series_for_paraview_holds_every_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pot & lid.pvd");
    let recording = recording();
    Format::of(&path).unwrap().write(&recording, &path).unwrap();
    let list = std::fs::read_to_string(&path).unwrap();
    assert_eq!(list.matches("<DataSet").count(), 4);
    assert!(list.contains("timestep=\"0.125\" part=\"0\" file=\"pot &amp; lid/frame_00003.vtu\""));
    let bytes = std::fs::read(folder.path().join("pot & lid/frame_00001.vtu")).unwrap();
    let (head, _) = split(&bytes, VTU_HEAD);
    assert!(head.contains("NumberOfPoints=\"4\" NumberOfCells=\"4\""), "{head}");
    let array = |name: &str| vtu_array(&bytes, name);
    let floats = |name: &str| -> Vec<f32> {
        array(name).as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    assert_eq!(array("types"), [5; 4]);
    assert_eq!(array("cut"), [0, 0, 0, 1]);
    assert_eq!(array("body"), [0; 16]);
    let corners: Vec<i32> =
        array("connectivity").as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
    assert_eq!(corners, [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]);
    let pot = &recording.tracks[0];
    let places: Vec<f32> = pot
        .surface()
        .vertices
        .iter()
        .flat_map(|v| {
            let p = pot.poses[1] * Point3::from(*v).cast::<f64>();
            <[f32; 3]>::from(p.cast::<f32>())
        })
        .collect();
    assert_eq!(floats("points"), places);
    // motion of (1, -1, 0) / 24 m in 1/24 s
    assert!(floats("speed").iter().all(|speed| (speed - 2_f32.sqrt()).abs() < 1e-5));
    // the program does not write into an existing folder
    assert!(matches!(Format::Pvd.write(&recording, &path), Err(WriteError::Write(_))));
}

#[test]
fn ply_files_are_what_meshes_are_read_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames.ply/");
    assert_eq!(Format::of(&path), Some(Format::PlyFolder));
    let recording = recording();
    Format::PlyFolder.write(&recording, &path).unwrap();
    assert_eq!(path.read_dir().unwrap().count(), 4);
    let read = brisance::mesh_file::read_mesh_file(&path.join("frame_00001.ply")).unwrap();
    let mesh = &read.mesh;
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4));
    let pot = &recording.tracks[0];
    for (vertex, place) in pot.surface().vertices.iter().zip(&mesh.vertices) {
        let wanted = pot.poses[1] * Point3::from(*vertex).cast::<f64>();
        assert!((wanted - place).norm() < 1e-6);
    }
    // the corners of the cut have its color
    let color = |corner: usize| read.corners[0][corner].color.unwrap().xyz();
    assert!((color(0) - Vector3::new(0.5, 0.25, 1.0)).norm() < 0.01, "{}", color(0));
    assert!((color(1) - Vector3::new(0.75, 0.5, 1.0)).norm() < 0.01, "{}", color(1));
    let normal = read.corners[0][0].normal.unwrap();
    assert!((normal.into_inner() - pot.poses[1].rotation * Vector3::y()).norm() < 1e-6);
}

/// Every format restores poses that were moved out of a growing recording, byte by byte.
#[test]
fn recordings_whose_poses_are_on_disk_are_written_as_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut whole = crate::glb::breaking_pot();
    for track in &mut whole.tracks {
        let between = (track.birth..track.end()).skip(1).step_by(2).zip(&track.poses);
        let waypoint = |(frame, pose): (usize, &Isometry3<f64>)| {
            let pose = Isometry3::translation(0.0, 0.25, 0.0) * pose;
            TimedWaypoint { time: frame as f64 - 0.25, pose }
        };
        track.waypoints = between.map(waypoint).collect();
    }
    for every in [1, 2, 3, 5] {
        let mut spooled = whole.clone();
        let mut spool = Spool::beside(&folder.path().join("x")).unwrap();
        // at these frames all poses but the last are moved out, as `Recorder::take_poses` does
        for now in (0..whole.frames).step_by(every) {
            let mut chunks = vec![];
            for (track, of) in spooled.tracks.iter_mut().enumerate() {
                let Track { birth, taken, poses, waypoints, .. } = of;
                let known = (now + 1).saturating_sub(*birth + *taken).min(poses.len());
                if known > 1 {
                    let poses = poses.drain(..known - 1).collect();
                    let held = waypoints.partition_point(|waypoint| waypoint.time < now as f64);
                    let waypoints = waypoints.drain(..held).collect();
                    chunks.push(TraceChunk { track, trace: Trace { poses, waypoints } });
                    *taken += known - 1;
                }
            }
            spool.add(&chunks).unwrap();
        }
        let taken: usize = spooled.tracks.iter().map(|track| track.taken).sum();
        assert!(taken > 20, "{taken}");
        let stored = SpooledRecording { recording: &spooled, spool: Some(&spool) };
        for ending in ["glb", "jsonl", "usda", "usdc"] {
            let [a, b] = ["a", "b"].map(|name| folder.path().join(format!("{name}.{ending}")));
            Format::of(&a).unwrap().write(&whole, &a).unwrap();
            Format::of(&b).unwrap().write_spooled(stored, &b).unwrap();
            assert!(std::fs::read(&a).unwrap() == std::fs::read(&b).unwrap(), "{ending} {every}");
        }
        let all = stored.in_memory().unwrap();
        assert_eq!(all.tracks.len(), whole.tracks.len());
        for (n, (a, b)) in all.tracks.iter().zip(&whole.tracks).enumerate() {
            assert_eq!((&a.poses, &a.waypoints), (&b.poses, &b.waypoints), "{n}");
            for frames in [0..3, 4..9, 7..7, 2..100] {
                let PoseRange { first_frame, poses } = stored.poses(n, frames.clone()).unwrap();
                let same = frames.filter_map(|frame| Some((frame, b.pose(frame)?)));
                assert!(same.eq((first_frame..).zip(&poses)), "{n}");
            }
        }
    }
}
