//! Scenes of pieces with bonds.

use std::process::Output;

use sim::scene::Scene;

use crate::cli::{Case, problem};

/// Eight boxes that fill a box of 2 x 1 x 1 m.
fn blocks(case: &Case) {
    let mut text = String::new();
    for n in 0..8 {
        let min = [n & 1, n >> 1 & 1, n >> 2 & 1].map(|n| n as f64);
        text += &format!("o block_{n}\n");
        for c in 0..8 {
            let place = [c & 1, c >> 1 & 1, c >> 2 & 1].map(|n| n as f64);
            text += &format!(
                "v {} {} {}\n",
                min[0] + place[0],
                0.5 * (min[1] + place[1]),
                0.5 * (min[2] + place[2])
            );
        }
        for [a, b, c, d] in
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]]
        {
            let [a, b, c, d] = [a, b, c, d].map(|v: usize| v + 1 + 8 * n);
            text += &format!("f {a} {b} {c} {d}\n");
        }
    }
    std::fs::write(case.folder.path().join("blocks.obj"), text).unwrap();
}

fn bond(case: &Case, more: &[&str]) -> Output {
    let mut words = vec!["bond", "blocks.obj", "-o", "bonded.toml"];
    words.extend(more);
    case.run(&words)
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn blocks_bear_their_strength_times_their_areas() {
    let case = Case::new(&[]);
    blocks(&case);
    let facts = json(&bond(&case, &["--json", "--strength", "1000", "--material", "brick"]));
    let bonds = facts["bonds"].as_array().unwrap();
    assert_eq!((facts["volumes"].as_array().unwrap().len(), bonds.len()), (8, 12));
    for bond in bonds {
        // contact areas are squares of 0.5 m along x, and 1 x 0.5 m along y and z
        let is_along_x = bond["normal"][0].as_f64().unwrap() > 0.5;
        let area = if is_along_x { 0.25 } else { 0.5 };
        let number = |key: &str| bond[key].as_f64().unwrap();
        assert!((number("area") - area).abs() < 1e-12);
        assert!((number("break_force") - 1000.0 * area).abs() < 1e-9);
        // bending strength of a square of that area: the third power of its side over six, times the stress
        assert!((number("break_torque") - 1000.0 * area.powf(1.5) / 6.0).abs() < 1e-9);
    }
    let text = read(&case, "bonded.toml");
    let scene = Scene::from_toml(&text).unwrap();
    assert_eq!((scene.bodies.len(), scene.joints.len()), (8, 12));
}

/// `bond` and a scene of its output agree with the bonds and masses that `fracture --json` reports.
#[test]
fn pieces_of_fracture_make_a_scene_of_the_same_masses_and_bonds() {
    let case = Case::new(&[]);
    let bunny = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bunny.obj");
    let broken = json(&case.run(&[
        "fracture",
        bunny,
        "--pattern",
        "voronoi:6",
        "--density",
        "2700",
        "--json",
        "-o",
        "pieces/",
    ]));
    let bonded =
        json(&case.run(&["bond", "pieces", "--json", "--position", "0,20,0", "-o", "bonded.toml"]));
    let list = |facts: &serde_json::Value, of: &str, key: &str| -> Vec<f64> {
        facts[of].as_array().unwrap().iter().map(|one| one[key].as_f64().unwrap()).collect()
    };
    let volumes = bonded["volumes"].as_array().unwrap();
    let exact = list(&broken, "pieces", "volume");
    assert_eq!(volumes.len(), exact.len());
    for (volume, exact) in volumes.iter().map(|v| v.as_f64().unwrap()).zip(&exact) {
        assert!((volume / exact - 1.0).abs() < 1e-5, "{volume}, not {exact}");
    }
    let areas = |facts| {
        let mut areas = list(facts, "bonds", "area");
        areas.sort_by(f64::total_cmp);
        // areas of slivers are as small as the rounding errors of the files
        areas.retain(|area| *area > 1e-2);
        areas
    };
    let (found, reported) = (areas(&bonded), areas(&broken));
    assert_eq!(found.len(), reported.len(), "{found:?} {reported:?}");
    for (found, reported) in found.iter().zip(reported) {
        assert!((found / reported - 1.0).abs() < 1e-2, "{found}, not {reported}");
    }
    let run = json(&case.run(&["check", "bonded.toml", "--json"]));
    let masses: Vec<f64> = run["bodies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|body| body["mass"].as_f64().unwrap())
        .collect();
    assert_eq!(masses.len(), exact.len());
    for (mass, exact) in masses.iter().zip(list(&broken, "pieces", "mass")) {
        assert!((mass / exact - 1.0).abs() < 1e-5, "{mass}, not {exact}");
    }
}

/// Eight blocks balance on a narrow wall in their middle if bonds are strong. If bonds are weak, both ends fall.
#[test]
fn bonds_hold_until_they_bear_too_much() {
    for (strength, holds) in [("1e9", true), ("10", false)] {
        let case = Case::new(&[]);
        blocks(&case);
        let made = bond(&case, &["--strength", strength, "--position", "0,1,0", "--quiet"]);
        assert!(made.status.success(), "{}", problem(made.stderr));
        let main = "version = 1\ninclude = [\"bonded.toml\"]\n[simulation]\nframes = 60\n[[body]]\n\
                    name = \"floor\"\nmotion = \"static\"\nshape = { plane = {} }\n[[body]]\nname = \"wall\"\n\
                    motion = \"static\"\nshape = { box = { half_extents = [0.1, 0.5, 0.6] } }\n\
                    position = [1, 0.5, 0.5]\n";
        std::fs::write(case.folder.path().join("main.toml"), main).unwrap();
        let places = run(&case).pop().unwrap();
        // centers of blocks are initially at 1.25 and 1.75 m, and on the floor at 0.25 m or more
        let is_whole = places[..8].iter().all(|place| place[1] > 1.2);
        assert_eq!(is_whole, holds, "{strength}: {places:?}");
    }
}

fn read(case: &Case, name: &str) -> String {
    std::fs::read_to_string(case.folder.path().join(name)).unwrap()
}

/// Runs `main.toml`. Returns the poses of all bodies in each frame.
fn run(case: &Case) -> Vec<Vec<Vec<f64>>> {
    let ran = case.run(&["run", "main.toml", "-o", "out.jsonl", "--quiet"]);
    assert!(ran.status.success(), "{}", problem(ran.stderr));
    let lines = read(case, "out.jsonl");
    let frames = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    frames.filter(|frame| frame["poses"].is_array()).map(|frame| poses(&frame)).collect()
}

/// The poses of bodies in a frame.
fn poses(frame: &serde_json::Value) -> Vec<Vec<f64>> {
    let poses: Vec<Vec<f64>> = serde_json::from_value(frame["poses"].clone()).unwrap();
    poses.into_iter().map(|pose| pose[..3].to_vec()).collect()
}

const FLOOR: &str =
    "version = 1\n[[body]]\nname = \"floor\"\nmotion = \"static\"\nshape = { plane = {} }\n";

/// A scene of a body with the pieces of `blocks`, with more keys of this body.
fn scene_of_pieces(case: &Case, simulation: &str, pieces: &str, keys: &str) {
    let scene = format!(
        "{FLOOR}[simulation]\n{simulation}\n[[body]]\nname = \"box\"\nshape = {{ pieces = {{ {pieces} }} }}\n{keys}\n"
    );
    std::fs::write(case.folder.path().join("main.toml"), scene).unwrap();
}

/// An output folder of `fracture` becomes a body of the scene, with the mass of the solid and at rest on the floor.
#[test]
fn a_scene_starts_from_a_folder_of_pieces() {
    let case = Case::new(&[]);
    // a box of 1 m, its bottom at y = 0
    let solid = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
                 f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 4 8 7 3\nf 1 5 8 4\nf 2 3 7 6\n";
    std::fs::write(case.folder.path().join("solid.obj"), solid).unwrap();
    let words = ["fracture", "solid.obj", "--pattern", "voronoi:6", "-o", "parts/", "--quiet"];
    let broken = case.run(&words);
    assert!(broken.status.success(), "{}", problem(broken.stderr));
    scene_of_pieces(
        &case,
        "frames = 45",
        "file = \"parts\", nodes = 4000",
        // the steepest supporting cut has a slope of 31 degrees, above the friction angle of 0.5
        "density = 2500\nfriction = 0.65",
    );
    let checked = json(&case.run(&["check", "main.toml", "--json"]));
    let bodies = checked["bodies"].as_array().unwrap();
    let masses: Vec<f64> = bodies.iter().filter_map(|body| body["mass"].as_f64()).collect();
    assert!(masses.len() > 3, "{masses:?}");
    assert!((masses.iter().sum::<f64>() / 2500.0 - 1.0).abs() < 1e-3, "{masses:?}");
    let places = run(&case);
    // gaps or overlaps of the pieces would cause immediate motion
    for frame in &places {
        for (place, start) in frame.iter().zip(&places[0]) {
            let moved: f64 = place.iter().zip(start).map(|(a, b)| (a - b).powi(2)).sum();
            assert!(moved.sqrt() < 0.01, "{place:?}, not {start:?}");
        }
    }
}

/// Bonds are equal to the joints of `brisance bond`, with the same strength.
#[test]
fn bonds_of_a_body_in_pieces_hold_until_they_bear_too_much() {
    for (strength, holds) in [("1e9", true), ("10", false)] {
        let case = Case::new(&[]);
        blocks(&case);
        let wall = "[[body]]\nname = \"wall\"\nmotion = \"static\"\n\
                    shape = { box = { half_extents = [0.1, 0.5, 0.6] } }\nposition = [1, 0.5, 0.5]\n";
        let pieces = format!("file = \"blocks.obj\", bonds = {{ strength = {strength} }}");
        let keys = format!("material = \"stone\"\nposition = [0, 1, 0]\n{wall}");
        scene_of_pieces(&case, "frames = 60", &pieces, &keys);
        let places = run(&case).pop().unwrap();
        let is_whole = places[1..9].iter().all(|place| place[1] > 1.2);
        assert_eq!(is_whole, holds, "{strength}: {places:?}");
    }
}

/// Rotating pieces move about their common center: positions after a second without gravity are those of one rigid
/// body.
#[test]
fn pieces_start_to_move_as_one_body() {
    let case = Case::new(&[]);
    blocks(&case);
    let keys = "velocity = [1, 0, 0]\nangular_velocity = [0, 0, 2]\nposition = [0, 9, 0]";
    let simulation = "gravity = [0, 0, 0]\nfps = 100\nframes = 1";
    scene_of_pieces(&case, simulation, "file = \"blocks.obj\", size = 2, mirror = \"x\"", keys);
    let places = run(&case);
    let (first, last) = (&places[0], &places[places.len() - 1]);
    let steps = (places.len() - 1) as f64;
    for (start, end) in first[1..].iter().zip(&last[1..]) {
        let [x, y] = [start[0], start[1] - 9.0];
        let t = 0.01 * steps;
        assert!((end[0] - start[0] - t * (1.0 - 2.0 * y)).abs() < 1e-9, "{start:?} {end:?}");
        assert!((end[1] - start[1] - t * 2.0 * x).abs() < 1e-9, "{start:?} {end:?}");
    }
}

/// Copies of a body in pieces have separate bonds, rotated and mirrored with them: without gravity a copy moves as one
/// rigid body.
#[test]
fn copies_of_pieces_move_as_one_body_each() {
    let case = Case::new(&[]);
    blocks(&case);
    let pieces = "file = \"blocks.obj\", size = 2, bonds = { strength = 1e9 }";
    let keys = "position = [4, 9, 0]\nvelocity = [0.5, 0, 0]\nangular_velocity = [0, 0, 1]\n\
                copies = { count = [1, 1, 2], spacing = [0, 0, 4], turn = { axis = [0, 1, 0], degrees = 90 }, \
                mirror = \"x\" }";
    let simulation = "gravity = [0, 0, 0]\nframes = 20\nfps = 100";
    scene_of_pieces(&case, simulation, pieces, keys);
    let checked = json(&case.run(&["check", "main.toml", "--json"]));
    let bodies = checked["bodies"].as_array().unwrap();
    let names: Vec<&str> = bodies.iter().map(|body| body["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 33, "{names:?}");
    assert!(names.contains(&"box 1 4") && names.contains(&"box 8 1"), "{names:?}");
    let places = run(&case);
    let (first, last) = (&places[0], &places[places.len() - 1]);
    let seconds = 0.01 * (places.len() - 1) as f64;
    for ((start, end), name) in first.iter().zip(last).zip(&names).skip(1) {
        let copy: usize = name.rsplit(' ').next().unwrap().parse().unwrap();
        let (side, z) = (if copy > 2 { -1.0 } else { 1.0 }, if copy % 2 == 1 { -2.0 } else { 2.0 });
        let middle = [4.0 * side, 9.0, z];
        let (sine, cosine) = (side * seconds).sin_cos();
        let [x, y] = [start[0] - middle[0], start[1] - middle[1]];
        let there = [
            middle[0] + 0.5 * side * seconds + cosine * x - sine * y,
            middle[1] + sine * x + cosine * y,
            start[2],
        ];
        for (end, there) in end.iter().zip(there) {
            // residual of the sweeps
            assert!((end - there).abs() < 0.01, "{name}: {end}, not {there}");
        }
    }
}

/// Anchors hold the pieces in their region. Bonds hold the other pieces to them.
#[test]
fn anchored_pieces_bear_the_others_by_bonds() {
    for (strength, holds) in [("1e9", true), ("10", false)] {
        let case = Case::new(&[]);
        blocks(&case);
        let pieces = format!("file = \"blocks.obj\", bonds = {{ strength = {strength} }}");
        let keys = "material = \"stone\"\nposition = [0, 3, 0]\n\
                    anchor = [{ plane = { normal = [1, 0, 0], offset = 0.9 } }]";
        scene_of_pieces(&case, "frames = 40", &pieces, keys);
        let checked = json(&case.run(&["check", "main.toml", "--json"]));
        let motions: Vec<&str> = checked["bodies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|b| b["motion"].as_str().unwrap())
            .collect();
        assert_eq!(
            motions.iter().filter(|motion| **motion == "anchored").count(),
            4,
            "{motions:?}"
        );
        assert_eq!(motions.iter().filter(|motion| **motion == "dynamic").count(), 4, "{motions:?}");
        let places = run(&case).pop().unwrap();
        let low = places[1..9].iter().filter(|place| place[1] < 2.9).count();
        assert_eq!(low, if holds { 0 } else { 4 }, "{strength}: {places:?}");
    }
}

/// Static pieces do not move, and pieces with keyframes move together.
#[test]
fn pieces_are_scenery_and_follow_keyframes() {
    let case = Case::new(&[]);
    blocks(&case);
    let keys = "motion = \"static\"\nposition = [0, 3, 0]";
    scene_of_pieces(&case, "frames = 10", "file = \"blocks.obj\"", keys);
    let places = run(&case);
    assert_eq!(places[0], places[places.len() - 1]);
    let keys = "motion = \"kinematic\"\nkeyframes = [{ time = 0, position = [0, 0, 0] }, \
                { time = 1, position = [1, 0, 0], rotation = { axis = [0, 1, 0], degrees = 90 } }]";
    scene_of_pieces(&case, "frames = 30\nfps = 30", "file = \"blocks.obj\"", keys);
    let places = run(&case);
    for (start, end) in places[0][1..].iter().zip(&places[places.len() - 1][1..]) {
        for (end, there) in end.iter().zip([1.0 + start[2], start[1], -start[0]]) {
            assert!((end - there).abs() < 1e-9, "{end}, not {there}");
        }
    }
    // and in between they rotate together
    let distance = |frame: &[Vec<f64>], n: usize| {
        (0..3).map(|k| (frame[n][k] - frame[1][k]).powi(2)).sum::<f64>().sqrt()
    };
    for frame in &places {
        for n in 2..frame.len() {
            let off = distance(frame, n) - distance(&places[0], n);
            assert!(off.abs() < 1e-9, "{off} m");
        }
    }
}

/// A joint holds a piece to the ceiling, and an event pushes another.
#[test]
fn joints_and_events_name_pieces() {
    let case = Case::new(&[]);
    blocks(&case);
    let keys = "position = [0, 3, 0]\n[[joints]]\nkind = \"fixed\"\nbodies = [\"floor\", \"box 8\"]\n\
                anchor = [1.5, 4, 0.75]\n[[event]]\ntime = 0\n\
                push = { body = \"box 5\", impulse = [-2000, 0, 0] }";
    scene_of_pieces(&case, "frames = 20", "file = \"blocks.obj\"", keys);
    let places = run(&case);
    let (first, last) = (&places[0], &places[places.len() - 1]);
    let moved = |n: usize, k: usize| last[n][k] - first[n][k];
    assert!(moved(8, 1).abs() < 1e-3, "{:?}", last[8]);
    assert!(moved(7, 1) < -0.5, "{:?}", last[7]);
    // 250 kg at 8 m/s
    assert!(moved(5, 0) < -2.0, "{:?}", last[5]);
}

#[test]
fn bodies_in_pieces_that_cannot_be_are_refused() {
    let case = Case::new(&[]);
    blocks(&case);
    let path = |name: &str| case.folder.path().join(name);
    std::fs::create_dir(path("empty")).unwrap();
    std::fs::create_dir(path("open")).unwrap();
    std::fs::write(path("open/a.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    std::fs::create_dir(path("damaged")).unwrap();
    std::fs::write(path("damaged/a.obj"), "v 0 zero 0\n").unwrap();
    let good = "file = \"blocks.obj\"";
    for (pieces, keys, why) in [
        ("file = \"missing\"", "", "missing: cannot be read"),
        ("file = \"empty\"", "", "a folder of mesh files (named in main.toml, line 10, column 29)"),
        ("file = \"open\"", "", "(named in main.toml, line 10, column 29)"),
        ("file = \"damaged\"", "", "a.obj: line 1"),
        ("file = \"/proc\"", "", "is outside"),
        ("file = \"\"", "", "line 10, column 29: `body[1].shape.pieces.file` is empty"),
        ("file = \"blocks.obj\", size = 0", "", "`body[1].shape.pieces.size` must be"),
        (
            "file = \"blocks.obj\", bonds = { strength = 1 }",
            "motion = \"static\"",
            "line 10, column 51: `body[1].shape.pieces.bonds` must be removed",
        ),
        (
            good,
            "motion = \"kinematic\"\nangular_velocity = [0, 1, 0]",
            "`body[1].angular_velocity`",
        ),
        (good, "anchor = [{ plane = { offset = -9 } }]", "enlarge the region (line 11, column 10)"),
        ("file = \"blocks.obj\", bonds = {}", "", "lacks the key `strength`"),
        ("file = \"blocks.obj\", bonds = { strength = -1 }", "", "must be above 0"),
        (
            good,
            "[[joints]]\nkind = \"point\"\nbodies = [\"floor\", \"box\"]\nanchor = [0, 0, 0]",
            "which starts in pieces: name one, as `box 1`",
        ),
        (
            good,
            "[[joints]]\nkind = \"point\"\nbodies = [\"floor\", \"box 9\"]\nanchor = [0, 0, 0]",
            "names no body `box 9`, did you mean `box",
        ),
        (
            good,
            "[[event]]\ntime = 0\npush = { body = \"box\", impulse = [1, 0, 0] }",
            "`event[0].push.body` names `box`, which starts in pieces: name one, as `box 1`",
        ),
        (
            good,
            "[[body]]\nname = \"box 3\"\nposition = [9, 9, 9]\nshape = { sphere = { radius = 1 } }",
            "main.toml: line 12, column 8: `body[2].name` `box 3` is taken",
        ),
        (
            good,
            "[[joints]]\nkind = \"point\"\nbodies = [\"floor\", \"box 99\"]\nanchor = [0, 0, 0]",
            "main.toml: line 13, column 20: `joints[0].bodies[1]` names no body `box 99`",
        ),
    ] {
        scene_of_pieces(&case, "frames = 2", pieces, keys);
        let refused = case.run(&["check", "main.toml"]);
        let message = problem(refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{pieces} {keys}: {message}");
        assert!(message.contains(why), "{pieces} {keys}: {message}");
    }
}

#[test]
fn pieces_that_cannot_be_bonded_are_refused_and_nothing_is_written() {
    let case = Case::new(&[]);
    blocks(&case);
    let path = |name: &str| case.folder.path().join(name);
    std::fs::write(path("open.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    std::fs::create_dir(path("empty")).unwrap();
    std::fs::write(path("scene.toml"), crate::cli::SCENE).unwrap();
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "run.glb"]).status.success());
    for (words, why) in [
        (vec!["bond", "run.glb", "-o", "a.toml"], "run.glb: is a recording of 13 frames: give"),
        (vec!["bond", "blocks.obj", "-o", "a.glb"], "a.glb"),
        (
            vec!["bond", "blocks.obj", "--material", "chese", "-o", "a.toml"],
            "there is no material `chese`",
        ),
        (vec!["bond", "open.obj", "-o", "a.toml"], "open.obj: "),
        (vec!["bond", "empty", "-o", "a.toml"], "holds no pieces"),
        (vec!["bond", "missing", "-o", "a.toml"], "missing: cannot be read (No such file"),
    ] {
        let refused = case.run(&words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}");
        let message = problem(refused.stderr);
        assert!(message.contains(why), "{words:?}: {message}");
        assert!(!path("a").exists() && !path("a.toml").exists());
    }
}

#[test]
fn pieces_that_do_not_touch_are_reported() {
    let case = Case::new(&[("far.obj", &apart(1.0)), ("near.obj", &apart(0.0))]);
    for (file, is_warned) in [("far", true), ("near", false)] {
        let output = format!("{file}.toml");
        let run = case.run(&["bond", &format!("{file}.obj"), "-o", &output]);
        assert!(run.status.success());
        let message = crate::cli::problem(run.stderr);
        assert_eq!(message.contains("no pieces touch"), is_warned, "{message}");
    }
}

/// Two unit cubes with a gap.
fn apart(gap: f64) -> String {
    let mut text = String::new();
    for (n, start) in [0.0, 1.0 + gap].into_iter().enumerate() {
        text += &format!("o cube{n}\n");
        for corner in 0..8 {
            let [x, y, z] = [0, 1, 2].map(|bit| f64::from(corner >> bit & 1));
            text += &format!("v {} {y} {z}\n", start + x);
        }
        for face in ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"] {
            let corners =
                face.split(' ').map(|v| (v.parse::<usize>().unwrap() + 8 * n).to_string());
            text += &format!("f {}\n", corners.collect::<Vec<_>>().join(" "));
        }
    }
    text
}
