//! Files with excessive demands or extreme numbers are refused with one sentence before any work.

use std::io::Write;
use std::process::Output;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brisance::format::glb::read_glb;
use levelset::{Grid, LevelSet};
use nalgebra::{Matrix3, Point3, Vector3};
use serde_json::{Value, json};
use tetfem::average_stresses;

use crate::cli::{Case, SCENE, brisance, problem};

/// Runs a command that must be refused with exit code 2 and one line that contains `word`.
fn refused(case: &Case, arguments: &[&str], word: &str) {
    let before = case.names();
    let Output { status, stderr, .. } = case.run(arguments);
    let message = problem(stderr);
    assert_eq!(status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(message.lines().count(), 1, "{arguments:?}: {message}");
    assert!(message.contains(word), "{arguments:?}: {message}");
    assert_eq!(case.names(), before, "{arguments:?} leaves nothing behind");
}

fn case_with(name: &str, bytes: &[u8]) -> Case {
    let case = Case::new(&[]);
    std::fs::write(case.folder.path().join(name), bytes).unwrap();
    case
}

const NAMES: &str = "frame,time,bodies,contacts,fractures,held,mass,retired_mass,momentum_x,\
    momentum_y,momentum_z,angular_momentum_x,angular_momentum_y,angular_momentum_z,kinetic_energy,\
    potential_energy,energy_gain,work,dissipated_collision,dissipated_fracture,dissipated_contact,\
    dissipated_sleep,dissipated_retirement,residual";

#[test]
fn a_ledger_of_huge_numbers_is_drawn_or_refused() {
    let table = |number: &str| {
        let row = |cell: &str| vec![cell; NAMES.split(',').count()].join(",");
        format!("{NAMES}\n{}\n{}\n", row("0"), row(number))
    };
    let case = Case::new(&[
        ("far.csv", &table("1e308")),
        ("most.csv", &table("1e100")),
        ("low.csv", &table("-1e100")),
        ("late.csv", &table("1e15").replace("\n0,0,", "\n0,1e15,")),
        ("back.csv", &format!("{}{}\n", table("4294967295"), vec!["0"; 24].join(","))),
    ]);
    for output in ["x.svg", "x.png"] {
        refused(&case, &["plot", "far.csv", "-o", output], "line 3: `1e308` is beyond 1e100");
    }
    for (name, output) in
        [("most.csv", "x.svg"), ("low.csv", "y.svg"), ("late.csv", "z.png"), ("back.csv", "w.svg")]
    {
        let drawn = case.run(&["plot", name, "-o", output]);
        assert!(drawn.status.success(), "{name}: {drawn:?}");
    }
}

#[test]
fn meshes_of_no_size_that_a_body_has_are_refused() {
    let tetrahedron = |x: &str, yz: &str| {
        format!("v 0 0 0\nv {x} 0 0\nv 0 {yz} 0\nv 0 0 {yz}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    };
    let case = Case::new(&[
        ("far.obj", &tetrahedron("1e308", "1e308")),
        ("needle.obj", &tetrahedron("1e9", "1e-9")),
        ("large.obj", &tetrahedron("1e30", "1e30")),
    ]);
    let word = "vertex 2 has a coordinate beyond 1e30 m";
    refused(&case, &["info", "far.obj"], word);
    refused(&case, &["voxelize", "far.obj", "-o", "x.lset"], word);
    refused(&case, &["slice", "far.obj", "--plane", "0,1,0,0", "-o", "x.glb"], word);
    let fracture = ["fracture", "needle.obj", "--pattern", "voronoi:40", "-o", "x.glb"];
    refused(&case, &fracture, "no volume at this resolution");
    let info = case.run(&["info", "large.obj", "--json"]);
    let json: Value = serde_json::from_slice(&info.stdout).unwrap();
    assert!((json["volume"].as_f64().unwrap() / (1e90 / 6.0) - 1.0).abs() < 1e-12, "{json}");
}

#[test]
fn level_sets_of_impossible_numbers_or_with_more_behind_them_are_refused() {
    let grid = Grid::new(Point3::new(-3.0, -3.0, -3.0), 1.0, [8; 3], 1 << 10).unwrap();
    let ball = LevelSet::from_fn(grid, |p| p.coords.norm() - 2.5);
    let mut bytes = vec![];
    ball.write_to(&mut bytes).unwrap();
    let case = case_with("good.lset", &bytes);
    assert!(case.run(&["info", "good.lset"]).status.success());
    let refuses = |change: &dyn Fn(&mut Vec<u8>), word: &str| {
        let mut changed = bytes.clone();
        change(&mut changed);
        let case = case_with("bad.lset", &changed);
        refused(&case, &["info", "bad.lset"], word);
        refused(&case, &["tetrahedralize", "bad.lset", "--count", "100", "-o", "x.msh"], word);
    };
    // samples follow 72 bytes, of which the origin begins at 32 and the spacing at 56
    let put = |bytes: &mut Vec<u8>, at: usize, new: &[u8]| {
        bytes[at..at + new.len()].copy_from_slice(new);
    };
    refuses(&|b| put(b, 72, &f32::INFINITY.to_le_bytes()), "contains invalid values");
    refuses(&|b| put(b, 100, &f32::NAN.to_le_bytes()), "contains invalid values");
    refuses(&|b| put(b, 56, &1e300_f64.to_le_bytes()), "contains invalid values");
    refuses(&|b| put(b, 40, &(-1e300_f64).to_le_bytes()), "contains invalid values");
    refuses(&|b| b.extend([0; 8]), "8 bytes follow the samples");
    refuses(&|b| b.truncate(400), "ends too early");
}

/// Samples that are inside only by round-off: finer lattices have fewer inside nodes.
#[test]
fn tetrahedra_for_a_solid_of_next_to_no_volume_are_refused() {
    let grid = Grid::new(Point3::new(-3.0, -3.0, -3.0), 1.0, [8; 3], 1 << 10).unwrap();
    let solid = LevelSet::from_fn(grid, |p| {
        let inside = (p.x + 2.0 * p.y + 3.0 * p.z).rem_euclid(17.0) < 1.0;
        if inside { -1e-16 } else { 1e23 }
    });
    let mut bytes = vec![];
    solid.write_to(&mut bytes).unwrap();
    let case = case_with("thin.lset", &bytes);
    let arguments = ["tetrahedralize", "thin.lset", "--count", "100", "-o", "x.msh"];
    let output = case.run(&arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn stress_is_averaged_over_all_of_a_body_however_large_the_radius() {
    let mesh = brisance_tests::tet_boxes::kuhn_box([4, 2, 2], Vector3::new(1.0, 0.5, 0.5));
    let stresses: Vec<Matrix3<f64>> =
        (0..mesh.tets.len()).map(|n| Matrix3::from_diagonal_element(n as f64)).collect();
    let mean: f64 = (0..mesh.tets.len()).map(|n| n as f64 * mesh.volume(n)).sum::<f64>() / 0.25;
    for radius in [2.0, 1e3, 1e30, 1e154, 1e155, 1e300, f64::MAX] {
        for found in average_stresses(&mesh, &stresses, radius) {
            assert!((found.m11 / mean - 1.0).abs() < 1e-12, "{radius:e}: {} {mean}", found.m11);
        }
    }
    let case = Case::new(&[]);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/vase.msh");
    let arguments = ["stress", file, "--at", "0,0,0", "--impulse", "0,1,0", "-o", "x.vtu"];
    let arguments = [&arguments[..], &["--averaging", "1e155"]].concat();
    refused(&case, &arguments, "give a number from 0 to 1e30");
}

#[test]
fn files_that_include_each_other_thousands_deep_are_refused() {
    let case = Case::new(&[(
        "main.toml",
        "version = 1\ninclude = [\"f0.toml\"]\n[[body]]\nname = \"b\"\n\
         shape = { sphere = { radius = 0.1 } }\n",
    )]);
    let chain = |length: usize| {
        for n in 0..length {
            let next = format!("include = [\"f{}.toml\"]\n", n + 1);
            let text = if n + 1 < length { next.as_str() } else { "" };
            std::fs::write(case.folder.path().join(format!("f{n}.toml")), text).unwrap();
        }
    };
    chain(90);
    assert!(case.run(&["check", "main.toml"]).status.success());
    chain(5000);
    refused(&case, &["check", "main.toml"], "nested more than 100 files deep");
}

/// The JSON and the data of a GLB file.
fn taken_apart(bytes: &[u8]) -> (Value, Vec<u8>) {
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[20..20 + length]).unwrap(), bytes[28 + length..].to_vec())
}

fn put_together(json: &Value, data: &[u8]) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend(((28 + text.len() + data.len()) as u32).to_le_bytes());
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(text);
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    bytes.extend(data);
    bytes
}

/// A recording of a ball that falls and breaks.
fn recording() -> (Value, Vec<u8>) {
    let case = Case::new(&[("scene.toml", SCENE)]);
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "out.glb"]).status.success());
    taken_apart(&std::fs::read(case.folder.path().join("out.glb")).unwrap())
}

#[test]
fn a_recording_with_a_vertex_at_the_end_of_the_world_is_refused() {
    let (json, data) = recording();
    let accessor = &json["meshes"][0]["primitives"][0]["attributes"]["POSITION"];
    let accessor = &json["accessors"][accessor.as_u64().unwrap() as usize];
    let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let at =
        view["byteOffset"].as_u64().unwrap_or(0) + accessor["byteOffset"].as_u64().unwrap_or(0);
    let with = |number: f32| {
        let mut data = data.clone();
        data[at as usize..at as usize + 4].copy_from_slice(&number.to_le_bytes());
        case_with("x.glb", &put_together(&json, &data))
    };
    for number in [1.36e27, f32::MAX, f32::NEG_INFINITY] {
        let case = with(number);
        refused(&case, &["render", "x.glb", "--size", "64x48", "-o", "x.png"], "vertex");
    }
    let drawn = with(0.9e18).run(&["render", "x.glb", "--size", "64x48", "-o", "x.png"]);
    assert!(drawn.status.success(), "{drawn:?}");
}

/// Static bodies need no keys, so a small file can demand any number of poses.
#[test]
fn a_small_file_of_millions_of_poses_is_refused() {
    let (mut json, data) = recording();
    let frames = 1_000_000;
    json["scenes"][0]["extras"] = json!({ "fps": 30.0, "frames": frames });
    json.as_object_mut().unwrap().remove("animations");
    let node = json["nodes"][0].clone();
    let still = |n: usize| {
        let mut node = node.clone();
        node["name"] = json!(format!("body {n}"));
        node["extras"] = json!({ "birth": 0, "end": frames, "parent": null, "shrinks": null });
        node
    };
    json["nodes"] = (0..67).map(still).collect();
    json["scenes"][0]["nodes"] = (0..67).collect();
    let case = case_with("x.glb", &put_together(&json, &data));
    refused(&case, &["render", "x.glb", "-o", "x.png"], "poses");
}

/// Twenty thousand nodes that draw one mesh of 30,000 vertices.
#[test]
fn a_small_file_that_draws_a_mesh_thousands_of_times_is_refused() {
    const VERTICES: usize = 30_000;
    let places = vec![0; 12 * VERTICES];
    let mut data = places;
    data.extend(vec![0; 4 * VERTICES]);
    let file = |nodes: usize| {
        let json = json!({
            "asset": { "version": "2.0" }, "scene": 0,
            "scenes": [{ "nodes": (0..nodes).collect::<Vec<_>>() }],
            "nodes": vec![json!({ "mesh": 0 }); nodes],
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
            "buffers": [{ "byteLength": data.len() }],
            "bufferViews": [
                { "buffer": 0, "byteOffset": 0, "byteLength": 12 * VERTICES },
                { "buffer": 0, "byteOffset": 12 * VERTICES, "byteLength": 4 * VERTICES },
            ],
            "accessors": [
                { "bufferView": 0, "componentType": 5126, "count": VERTICES, "type": "VEC3",
                  "min": [0, 0, 0], "max": [0, 0, 0] },
                { "bufferView": 1, "componentType": 5125, "count": VERTICES, "type": "SCALAR" },
            ],
        });
        case_with("x.glb", &put_together(&json, &data))
    };
    refused(&file(20_000), &["info", "x.glb"], "too many vertices or indices");
    // no triangle of these has an area
    refused(&file(100), &["info", "x.glb"], "no triangles");
}

/// A VTK file with one tetrahedron, whose list of types has `zeros` bytes before compression.
fn vtu(zeros: usize) -> Vec<u8> {
    let packed = |bytes: &[u8]| {
        let mut packer = flate2::write::ZlibEncoder::new(vec![], flate2::Compression::best());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    };
    let array = |kind: &str, name: &str, bytes: &[u8]| {
        let block = packed(bytes);
        let head: Vec<u8> =
            [1, 1 << 20, 0, block.len() as u64].iter().flat_map(|n| n.to_le_bytes()).collect();
        let text = STANDARD.encode(head) + &STANDARD.encode(block);
        format!("<DataArray type=\"{kind}\" Name=\"{name}\" format=\"binary\">{text}</DataArray>")
    };
    let corners = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0_f64];
    let corners: Vec<u8> = corners.iter().flat_map(|x| x.to_le_bytes()).collect();
    let nodes: Vec<u8> = (0..4_i64).flat_map(i64::to_le_bytes).collect();
    let mut types = vec![10];
    types.extend(vec![0; zeros]);
    format!(
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\"><UnstructuredGrid>\
         <Piece NumberOfPoints=\"4\" NumberOfCells=\"1\"><Points>{}</Points><Cells>{}{}{}</Cells>\
         </Piece></UnstructuredGrid></VTKFile>",
        array("Float64", "p", &corners),
        array("Int64", "connectivity", &nodes),
        array("Int64", "offsets", &4_i64.to_le_bytes()),
        array("UInt8", "types", &types),
    )
    .into_bytes()
}

#[test]
fn a_list_that_unpacks_to_a_thousand_times_its_file_is_refused() {
    let good = case_with("x.vtu", &vtu(0)).run(&["info", "x.vtu"]);
    assert!(good.status.success(), "{good:?}");
    let bytes = vtu(1 << 26);
    assert!(bytes.len() < 1 << 17, "{} bytes", bytes.len());
    let word = "too large for the size of the file";
    refused(&case_with("x.vtu", &bytes), &["info", "x.vtu"], word);
}

#[test]
fn a_tag_of_thousands_of_attributes_is_refused() {
    let attributes: String = (0..50_000).map(|n| format!(" a{n}=\">\"")).collect();
    let text = format!("<VTKFile type=\"UnstructuredGrid\"{attributes}></VTKFile>");
    refused(&case_with("x.vtu", text.as_bytes()), &["info", "x.vtu"], "more than 256 attributes");
}

/// Cells of many planes: their cutting time is quadratic.
#[test]
fn patterns_of_cells_with_thousands_of_planes_are_refused_soon() {
    let file = |cells: usize, planes: usize| {
        let plane = |n: usize| {
            let (a, b) = (n as f64, 1.7 * n as f64);
            [a.cos(), a.sin() * b.cos(), a.sin() * b.sin(), 0.5].map(f64::to_le_bytes).concat()
        };
        let cell = [0, planes as u32].map(u32::to_le_bytes).concat();
        let cell = [cell, (0..planes).flat_map(plane).collect()].concat();
        let head = [b"brispatt".to_vec(), [1, cells as u32].map(u32::to_le_bytes).concat()];
        case_with("x.pattern", &[head.concat(), cell.repeat(cells)].concat())
    };
    for (cells, planes) in [(1, 5000), (1, 1 << 14), (2, 3000), (1 << 14, 100)] {
        refused(&file(cells, planes), &["info", "x.pattern"], "too many planes");
    }
    for (cells, planes) in [(1, 1000), (100, 30)] {
        let read = file(cells, planes).run(&["info", "x.pattern"]);
        assert!(read.status.success(), "{cells} {planes}: {read:?}");
    }
}

/// The maximum number of regions of a scene, crowded, written and read again.
#[test]
fn the_largest_pattern_of_our_own_is_read() {
    let case = Case::new(&[]);
    let pattern = "voronoi:10000,clustering=1";
    assert!(case.run(&["pattern", "new", pattern, "-q", "-o", "x.pattern"]).status.success());
    let read = case.run(&["info", "x.pattern"]);
    assert!(read.status.success(), "{read:?}");
}

/// A body with some dozen samples cannot break into hundreds of pieces.
#[test]
fn as_many_pieces_as_samples_tell_apart_are_made_soon() {
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n";
    let case = Case::new(&[("open.obj", mesh)]);
    let start = std::time::Instant::now();
    let arguments = ["fracture", "open.obj", "--pattern", "voronoi:10000", "--nodes", "2000"];
    let output = case.run(&[&arguments[..], &["-o", "x.glb"]].concat());
    assert!(output.status.success(), "{output:?}");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("hold fewer than 10000 pieces"), "{message}");
    // 16,384 sites took minutes
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

/// By default a scene reads only files in its folder and in `../assets`.
#[test]
fn files_outside_the_folder_of_a_scene_are_refused() {
    let case = Case::new(&[("secret.obj", crate::cli::TETRAHEDRON), ("secret.toml", "")]);
    let root = case.folder.path();
    for folder in ["assets", "scenes/parts"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    for copy in ["assets/a.obj", "scenes/b.obj", "scenes/parts/c.obj"] {
        std::fs::copy(root.join("secret.obj"), root.join(copy)).unwrap();
    }
    std::fs::write(root.join("scenes/parts/part.toml"), "").unwrap();
    let mesh = |file: &str| {
        format!(
            "version = 1\n[[body]]\nname = \"b\"\nshape = {{ mesh = {{ file = {file:?}, nodes = 8000 }} }}\n"
        )
    };
    let check = |text: &str, more: &[&str]| {
        std::fs::write(root.join("scenes/scene.toml"), text).unwrap();
        let output = case.run(&[&["check", "-q", "scenes/scene.toml"], more].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), message)
    };
    let whole = root.join("secret.obj").display().to_string();
    for file in ["b.obj", "parts/c.obj", "../assets/a.obj", "parts/../../assets/a.obj"] {
        assert_eq!(check(&mesh(file), &[]).0, Some(0), "{file}");
    }
    for file in
        ["../secret.obj", whole.as_str(), "parts/../../secret.obj", "../scenes/../secret.obj"]
    {
        let (code, message) = check(&mesh(file), &[]);
        assert_eq!((code, message.lines().count()), (Some(2), 1), "{file}: {message}");
        assert!(message.contains("is outside the folder of the scene"), "{file}: {message}");
        assert_eq!(check(&mesh(file), &["--allow-outside"]).0, Some(0), "{file}");
    }
    let body = "[[body]]\nname = \"b\"\nshape = { sphere = { radius = 1 } }\n";
    let with = |key: &str| format!("version = 1\n{key}\n{body}");
    assert_eq!(check(&with("include = [\"parts/part.toml\"]"), &[]).0, Some(0));
    for key in [
        "include = [\"../secret.toml\"]",
        "include = [\"/etc/passwd\"]",
        "[pattern.p]\nfile = \"../secret.obj\"",
    ] {
        let (code, message) = check(&with(key), &[]);
        assert_eq!((code, message.lines().count()), (Some(2), 1), "{key}: {message}");
        assert!(message.contains("outside the folder of the scene"), "{key}: {message}");
    }
    assert_eq!(check(&with("include = [\"../secret.toml\"]"), &["--allow-outside"]).0, Some(0));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../secret.obj", root.join("scenes/link.obj")).unwrap();
        assert!(check(&mesh("link.obj"), &[]).1.contains("outside the folder"));
        std::os::unix::fs::symlink("../secret.toml", root.join("scenes/link.toml")).unwrap();
        assert!(check(&with("include = [\"link.toml\"]"), &[]).1.contains("outside the folder"));
    }
}

/// A program limited to 150 MB of address space runs out of memory.
#[cfg(target_os = "linux")]
#[test]
fn a_program_without_memory_says_so_and_leaves_nothing() {
    let bunny = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bunny.obj");
    let case = case_with("bunny.obj", &std::fs::read(bunny).unwrap());
    let program = crate::cli::brisance().get_program().to_owned();
    for nodes in ["10000000", "30000000", "120000000"] {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -v 150000; exec \"$@\"", "sh"]).arg(&program);
        shell.args(["voxelize", "bunny.obj", "-q", "-o", "x.lset", "--nodes", nodes]);
        let output =
            shell.env("RAYON_NUM_THREADS", "2").current_dir(&case.folder).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{nodes} {:?}: {message}", output.status);
        assert!(
            message.contains("memory ran out") && message.lines().count() == 1,
            "{nodes}: {message}"
        );
        assert_eq!(case.names(), ["bunny.obj"], "{nodes}");
    }
}

/// The peak memory of a run, kB.
#[cfg(target_os = "linux")]
fn memory_of_run(case: &Case, frames: usize, output: &str) -> usize {
    let frames = frames.to_string();
    let run = ["run", "scene.toml", "--frames", &frames, "--threads", "1", "-o", output];
    let mut running = crate::cli::brisance();
    running.args(run).current_dir(&case.folder).stdout(std::process::Stdio::piped());
    let mut running = running.stderr(std::process::Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", running.id());
    let mut most = 0;
    while running.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok());
        most = most.max(kilobytes.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(running.wait().unwrap().success());
    most
}

/// 126 rotating bodies: each frame has 7 kB of poses.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_frames_of_a_recording() {
    let scene = "version = 1\n[simulation]\ngravity = [0, 0, 0]\nsleep = false\n[[body]]\nname = \"b\"\n\
        shape = { box = { half_extents = [0.1, 0.2, 0.3] } }\nangular_velocity = [0.1, 0.2, 0]\n\
        copies = { count = [7, 6, 3], spacing = [1, 1, 1] }\n";
    let case = Case::new(&[("scene.toml", scene)]);
    for output in ["x.jsonl", "x.glb"] {
        let [short, long] = [1000, 4000].map(|frames| memory_of_run(&case, frames, output));
        // 21 MB of poses are beyond those of the short run
        let growth = long.saturating_sub(short);
        assert!(short > 1000 && growth < 4000, "{output}: {short} kB, {growth} kB more");
    }
}

/// Enough pieces above the minimum share would exceed the limit of a body: the search for the number of
/// sites ends with fewer pieces.
#[test]
fn a_share_that_no_pattern_can_give_every_piece_ends_with_fewer() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bunny.obj");
    for share in ["0.1", "0.5", "0.99"] {
        let out = folder.path().join("out.glb");
        let mut command = brisance();
        command.args([
            "fracture",
            mesh,
            "--pattern",
            "voronoi:10",
            "--min-share",
            share,
            "-q",
            "-o",
        ]);
        assert!(command.arg(&out).status().unwrap().success(), "{share}");
        let recording = read_glb(&std::fs::read(&out).unwrap()).unwrap();
        assert!((1..10).contains(&recording.tracks.len()), "{share} {}", recording.tracks.len());
    }
}

#[test]
fn bodies_whose_cubes_underflow_are_refused() {
    for shape in [
        "sphere = { radius = 1e-308 }",
        "sphere = { radius = 1e-10, spacing = 1e-11 }",
        "box = { half_extents = [1, 1e-200, 1] }",
        "cylinder = { radius = 1, half_height = 1e-308 }",
        "torus = { major = 1, minor = 5e-324 }",
        "mesh = { file = \"cube.obj\", size = 1e-120 }",
    ] {
        let scene = SCENE.replace("sphere = { radius = 0.1, spacing = 0.012 }", shape);
        assert_ne!(scene, SCENE);
        let case = Case::new(&[("scene.toml", &scene)]);
        refused(&case, &["run", "scene.toml", "-o", "out.jsonl"], "between 1e-9 and 1e9 m");
    }
    for extents in [[1e-308; 3], [5e-324, 0.0, 0.0], [1e-120, 1e-160, 1e-200]] {
        let spacing = Grid::finest_spacing(&extents.into(), 2, 100_000);
        assert!(spacing > 0.0 && spacing <= extents[0], "{spacing:e}");
    }
}
