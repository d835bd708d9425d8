//! The module of the playground, run natively: commands of a visitor, and their replay from a link.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use brisance_tests::skipped::skipped;
use brisance_web::visit::{Command, Model, SavedRun, ScheduledCommand, Setup};
use brisance_web::{Play, SCENES, Sample, own_scene};
use serde_json::{Value, json};

use crate::cli::Case;
use crate::view::{Served, browser};

fn sample(key: &str) -> Setup {
    Setup::of(SCENES.iter().find(|s| s.key == key).expect("a scene of the playground").text)
}

fn play(setup: &Setup) -> Play {
    Play::new(setup, &BTreeMap::new()).unwrap()
}

/// The header of a frame.
fn head(frame: &[u8]) -> Value {
    let length = u32::from_le_bytes(frame[..4].try_into().unwrap()) as usize;
    serde_json::from_slice(&frame[4..4 + length]).unwrap()
}

fn count(list: &Value) -> usize {
    list.as_array().expect("a list").len()
}

/// Checks the length of a frame: bytes of the geometries by their sizes, then poses of bodies, previous poses of
/// new bodies, and poses and times of blows.
fn check_layout(frame: &[u8]) {
    let head = head(frame);
    let length = u32::from_le_bytes(frame[..4].try_into().unwrap()) as usize;
    let geometries: u64 = head["geometries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|size| [36, 12, 8].iter().zip(size.as_array().unwrap()))
        .map(|sizes| sizes.map(|(bytes, n)| bytes * n.as_u64().unwrap()).sum::<u64>())
        .sum();
    let poses = 28 * (count(&head["ids"]) + count(&head["new"])) + 32 * count(&head["corners"]);
    let start = (4 + length).next_multiple_of(4);
    let images = head["images"].as_array().unwrap().iter();
    let images: u64 = images.map(|image| image["bytes"].as_u64().unwrap()).sum();
    assert_eq!(frame.len(), start + usize::try_from(geometries + images).unwrap() + poses);
}

const BALL: Command = Command::Throw {
    from: [0.2, 1.1, 3.0],
    velocity: [0.0, 0.5, -14.0],
    radius: 0.08,
    density: 7850.0,
};

const BLADE: Command = Command::Cut {
    from: [[-1.0, 0.9, -1.0], [-1.0, 0.9, 1.0]],
    to: [[1.0, 0.9, -1.0], [1.0, 0.9, 1.0]],
};

#[test]
fn a_link_replays_what_a_visitor_did_bit_by_bit() {
    let setup = sample("window");
    let mut first = play(&setup);
    first.start();
    let grab = Command::Grab { from: [0.15, 1.1, 6.0], along: [0.0, 0.0, -1.0], force: 5e3 };
    let blast = Command::Explode { at: [0.3, 0.4, 0.2], radius: 1.5, impulse: 40.0 };
    for frame in 0..60 {
        match frame {
            0 => first.act(grab).unwrap(),
            1..10 => first.act(Command::Drag { to: [0.0, 1.5, 2.0 + 0.1 * frame as f32] }).unwrap(),
            10 => first.act(Command::Release {}).unwrap(),
            12 => first.act(BALL).unwrap(),
            30 => first.act(BLADE).unwrap(),
            40 => first.act(blast).unwrap(),
            45 => first.act(Command::Gravity { down: 1.62 }).unwrap(),
            _ => {}
        }
        check_layout(&first.step());
    }
    assert!(first.world().len() > 30, "{} bodies: nothing broke", first.world().len());
    let events = first.events();
    let mut second = play(&setup);
    second.replay(&events).unwrap();
    (0..60).for_each(|_| drop(second.step()));
    assert_eq!(first.world().fingerprint(), second.world().fingerprint());
    assert_eq!(second.events(), events);
    let mut other = play(&setup);
    (0..60).for_each(|_| drop(other.step()));
    assert_ne!(first.world().fingerprint(), other.world().fingerprint(), "commands change the run");
}

#[test]
fn a_damaged_link_is_refused_or_replayed_and_never_a_panic() {
    let setup = sample("dominoes");
    let mut played = play(&setup);
    played.act(BALL).unwrap();
    (0..300).for_each(|_| drop(played.step()));
    played.act(BLADE).unwrap();
    let events = played.events();
    let mut refused = 0;
    for at in 0..events.len() {
        for byte in [0, 1, 6, 7, 0x7f, 0x80, 0xff] {
            let mut damaged = events.clone();
            damaged[at] = byte;
            damaged.truncate(if byte == 1 { at } else { events.len() });
            refused += usize::from(played.replay(&damaged).is_err());
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn every_scene_starts_and_gains_no_energy_where_something_is_thrown() {
    for scene in SCENES {
        let mut play = play(&Setup::of(scene.text));
        let start = play.start();
        check_layout(&start);
        let bodies = count(&head(&start)["new"]);
        assert_eq!(bodies, play.world().len(), "{}", scene.key);
        play.act(BALL).unwrap();
        let frames: Vec<Value> = (0..20).map(|_| head(&play.step())).collect();
        assert!(frames.iter().any(|frame| {
            frame["new"]
                .as_array()
                .unwrap()
                .iter()
                .any(|body| body["name"] == "thrown ball 1" && body["outer"].is_u64())
        }));
        assert_eq!(play.gained(), 0, "{}", scene.key);
    }
}

#[test]
fn without_the_energy_settings_energy_is_gained() {
    let setup = Setup { keeps_energy: false, ..sample("bricks") };
    let mut play = play(&setup);
    (0..60).for_each(|_| drop(play.step()));
    assert!(play.gained() > 0);
}

#[test]
fn what_a_visitor_changes_of_a_scene_decides_what_becomes_of_it() {
    let pieces = |setup: &Setup| {
        let mut play = play(setup);
        let before = play.world().len();
        (0..40).for_each(|_| drop(play.step()));
        play.world().len() - before
    };
    let window = sample("window");
    let bricks = sample("bricks");
    let (few, many) =
        (Setup { pieces: Some(3), ..bricks.clone() }, Setup { pieces: Some(60), ..bricks });
    assert!(pieces(&few) < pieces(&many));
    assert!(pieces(&window) > 0);
    // 7850 and 2470 kg/m^3 in 1.2 m x 1.6 m x 6 mm, to a hundredth for samples
    let mass = |material: &str| {
        let material = Some(material.to_owned());
        play(&Setup { material, ..window.clone() }).world().mass()
    };
    let (grown, exact) = (mass("steel") - mass("glass"), 5380.0 * 0.01152);
    assert!((grown / exact - 1.0).abs() < 0.01, "{grown} kg");
    let model = |model: Model| Setup { model: Some(model), ..sample("bridge") };
    assert!(pieces(&model(Model::Lattice)) > 0, "a pier of links breaks");
    let stressed = play(&model(Model::Stress));
    let is_stressed =
        |breakage: &sim::Breakage| matches!(breakage.model, sim::FractureModel::Stress(_));
    let count = stressed.world().iter().filter(|b| b.breakage.is_some_and(is_stressed)).count();
    assert_eq!(count, 7, "four piers and three decks are of finite elements");
    let nonsense = Setup { material: Some("cheese".to_owned()), ..window.clone() };
    let said = Play::new(&nonsense, &BTreeMap::new()).unwrap_err().to_string();
    assert!(said.contains("cheese"), "{said}");
    let said = Play::new(&Setup { pieces: Some(1), ..window }, &BTreeMap::new()).unwrap_err();
    assert_eq!(said.to_string(), "the number of pieces must be from 2 to 300, not 1");
}

#[test]
fn a_ray_finds_a_body_its_mass_and_how_near_it_came_to_breaking() {
    let mut play = play(&sample("dominoes"));
    let found = play.pick([0.25, 0.5, 9.0], [0.0, 0.0, -1.0]).expect("a domino");
    // 1000 kg/m^3 x 0.1 m x 1 m x 0.5 m
    assert!((found["mass"].as_f64().unwrap() - 50.0).abs() < 1e-9, "{found}");
    assert!(found["name"].as_str().unwrap().starts_with("domino"), "{found}");
    assert!((found["point"][2].as_f64().unwrap() - 0.25).abs() < 1e-9, "{found}");
    assert!(play.pick([0.0, 9.0, 0.0], [0.0, 1.0, 0.0]).is_none());
    play.step();
}

#[test]
fn a_hand_carries_a_body_and_slips_off_beyond_its_force() {
    let text = "version = 1\n[[body]]\nname = \"box\"\ndensity = 500\n\
                shape = { box = { half_extents = [0.1, 0.1, 0.1] } }\nposition = [0, 1, 0]\n";
    for (force, is_held) in [(5e3, true), (20.0, false)] {
        let mut play = play(&Setup::of(text));
        // the weight of 4 kg is 39.24 N
        play.act(Command::Grab { from: [0.0, 1.0, 3.0], along: [0.0, 0.0, -1.0], force }).unwrap();
        play.act(Command::Drag { to: [0.5, 1.6, 0.1] }).unwrap();
        let frames: Vec<Value> = (0..60).map(|_| head(&play.step())).collect();
        let place = play.world().iter().next().expect("a box").pose.translation.vector;
        let near = (place - nalgebra::Vector3::new(0.5, 1.5, 0.0)).norm() < 0.15;
        assert_eq!((near, frames[59]["holds"].as_bool()), (is_held, Some(is_held)), "{place}");
        assert_eq!(frames.iter().any(|frame| frame["slipped"] == true), !is_held);
    }
}

#[test]
fn a_mesh_of_a_visitor_falls_and_a_broken_one_gets_one_sentence() {
    let name = "my \"teapot\"\n.obj";
    let mesh =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bob_small.obj")).unwrap();
    let setup = Setup::of(&own_scene(name));
    let files = BTreeMap::from([(name.to_owned(), mesh)]);
    let mut play = Play::new(&setup, &files).unwrap();
    let before = play.world().iter().nth(1).unwrap().pose.translation.y;
    (0..10).for_each(|_| drop(play.step()));
    assert!(play.world().iter().nth(1).unwrap().pose.translation.y < before);
    for (bytes, said) in
        [(&b"f 1 2 3\n"[..], "line 1"), (&vec![b'#'; 33 << 20], "larger than 32 MiB")]
    {
        let files = BTreeMap::from([(name.to_owned(), bytes.to_vec())]);
        let error = Play::new(&setup, &files).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let error = Play::new(&setup, &BTreeMap::new()).unwrap_err().to_string();
    assert!(error.contains("which is not here"), "{error}");
}

#[test]
fn an_outline_of_a_visitor_falls_and_is_a_part_of_solids() {
    let svg = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/letter.svg")).unwrap();
    let plaque = "version = 1\n[[body]]\nname = \"plaque\"\ndensity = 1000\nshape = { combined = { spacing = 0.01, parts = [\
                  { shape = { box = { half_extents = [0.3, 0.4, 0.05] } } }, { op = \"difference\", \
                  shape = { svg = { file = \"B.SVG\", size = 0.6, depth = 0.2 } } }] } }\n";
    let mass = |play: &Play, body: usize| {
        play.world().iter().nth(body).unwrap().body.mass_properties().unwrap().mass()
    };
    let given = |scene: &str, bytes: &[u8]| {
        let files = BTreeMap::from([("B.SVG".to_owned(), bytes.to_vec())]);
        Play::new(&Setup::of(scene), &files)
    };
    let letter = given(&own_scene("B.SVG"), &svg).unwrap();
    let plaque = given(plaque, &svg).unwrap();
    // the cutout of the plaque is the letter, which is of clay and 0.12 m thick
    let clay = sim::scene::Material::named("clay").unwrap().solid().unwrap().density;
    let area = mass(&letter, 1) / (clay * 0.12);
    let left = mass(&plaque, 0) / (1000.0 * 0.1);
    assert!((left - (0.6 * 0.8 - area)).abs() < 1e-3, "{left} {area}");
    for (bytes, words) in [(&b"words"[..], "B.SVG: is not an SVG file"), (b"\xff", "not UTF-8")] {
        let error = given(&own_scene("B.SVG"), bytes).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let error = Play::new(&Setup::of(&own_scene("B.SVG")), &BTreeMap::new()).unwrap_err();
    assert!(error.to_string().contains("which is not here"), "{error}");
}

const OWN: &str = "version = 1\n[[body]]\nname = \"bob\"\n\
    shape = { mesh = { file = \"bob.obj\", size = 0.5 } }\nposition = [0, 1, 0]\n";

/// A folder with the file names of a page.
fn page() -> Case {
    let bob = include_str!("../../assets/bob_small.obj");
    let case = Case::new(&[("own.toml", OWN), ("bob.obj", bob)]);
    let names = ["index.html", "viewer.css", "play.css", "command.js", "live.js", "main.js"];
    let more = ["plot.js", "stage.js", "texture.js", "three.js", "worker.js", "icon.svg"];
    let parts = ["packed.js", "page.js", "panels.js", "pointer.js", "share.js", "brisance.wasm"];
    for name in names.into_iter().chain(more).chain(parts) {
        std::fs::write(case.folder.path().join(name), name).unwrap();
    }
    case
}

#[test]
fn a_scene_of_ones_own_is_served_with_its_meshes() {
    let case = page();
    let served = Served::by(&case, &["play", "own.toml", "--page", ".", "--no-open"]);
    assert!(served.address.ends_with("/?own"), "{}", served.address);
    let (status, head, body) = served.get("/?own");
    assert_eq!((status, &body[..]), (200, &b"index.html"[..]));
    assert!(head.contains("'wasm-unsafe-eval'") && !head.contains("'unsafe-eval'"), "{head}");
    let (status, head, _) = served.get("/brisance.wasm");
    assert!(status == 200 && head.contains("application/wasm"), "{head}");
    let own: Value = serde_json::from_slice(&served.get("/own.json").2).unwrap();
    assert_eq!(own, json!({ "name": "own", "scene": OWN, "files": ["bob.obj"] }));
    assert_eq!(served.get("/own/0").2, include_bytes!("../../assets/bob_small.obj"));
    for outside in ["/own/1", "/own.toml", "/bob.obj", "/../own.toml"] {
        assert_eq!(served.get(outside).0, 404, "{outside}");
    }
}

#[test]
fn what_cannot_be_played_is_refused_in_one_sentence() {
    let case = page();
    let write =
        |name: &str, text: &str| std::fs::write(case.folder.path().join(name), text).unwrap();
    write("parts.toml", OWN);
    write("includes.toml", "version = 1\ninclude = [\"parts.toml\"]\n");
    write("tets.toml", &OWN.replace("mesh =", "tets =").replace("bob.obj", "bob.msh"));
    write("wrong.toml", "version = 1\n[[body]]\nnam = \"a\"\n");
    for (arguments, said) in [
        (vec!["play", "own.toml", "--page", "none"], "build it with `cargo xtask web`"),
        (vec!["play", "none.toml", "--page", "."], "none.toml: cannot be read"),
        (
            vec!["play", "includes.toml", "--page", "."],
            "includes other files, which the playground",
        ),
        (vec!["play", "tets.toml", "--page", "."], "names files of tetrahedra"),
        (vec!["play", "wrong.toml", "--page", "."], "unknown key `body[0].nam`"),
        (vec!["play", "wrong.toml", "--page", "none"], "unknown key `body[0].nam`"),
    ] {
        let output = case.run(&[&arguments[..], &["--no-open"]].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(said), "{error}");
    }
}

/// The output of `cargo xtask web`, if any.
fn built() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../out/web");
    folder.join("brisance.wasm").is_file().then(|| folder.canonicalize().unwrap())
}

/// Number of frames until all scenes with fractures have one.
const FRAMES: usize = 45;

/// Fingerprints of all scenes after a ball thrown in their second frame.
fn fingerprints(events: &[u8]) -> Value {
    let of = |scene: &Sample| {
        let mut play = play(&Setup::of(scene.text));
        play.replay(events).unwrap();
        (0..FRAMES).for_each(|_| drop(play.step()));
        (scene.key.to_owned(), format!("{:x}", play.fingerprint()).into())
    };
    Value::Object(SCENES.iter().map(of).collect())
}

#[test]
fn the_module_comes_to_the_same_bits_as_native_code() {
    let Some(folder) = built() else {
        return skipped("cargo xtask web makes the playground");
    };
    let mut thrown = play(&sample("dominoes"));
    thrown.step();
    thrown.act(BALL).unwrap();
    let events = thrown.events();
    let hexadecimal: String = events.iter().map(|byte| format!("{byte:02x}")).collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("play_module.mjs");
    let mut node = Process::new("node");
    node.arg(script).arg(folder.join("brisance.wasm")).arg(FRAMES.to_string()).arg(hexadecimal);
    let Ok(run) = node.output() else { return skipped("there is no node") };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let theirs: Value = serde_json::from_slice(&run.stdout).unwrap();
    for (key, own) in fingerprints(&events).as_object().unwrap() {
        assert_eq!(&theirs[key]["fingerprint"], own, "{key}");
    }
    // the program repeats the run of the module
    let Command::Throw { from, velocity, radius, density } = BALL else { unreachable!() };
    let throw = json!({ "from": from, "velocity": velocity, "radius": radius, "density": density });
    let mut run = saved(&json!({ "scene": sample("window").scene }), FRAMES);
    run["events"] = json!([{ "frame": 1, "throw": throw }]);
    run["fingerprint"] = theirs["window"]["fingerprint"].clone();
    assert_eq!(warnings_of(&run), "");
}

/// The saved file of a run without events.
fn saved(setup: &Value, frames: usize) -> Value {
    json!({ "format": "brisance play", "version": 1, "name": "a run", "frames": frames, "fps": 30,
        "fingerprint": "0", "setup": setup, "events": [] })
}

/// Warnings of `brisance run` for a saved file of the page.
fn warnings_of(run: &Value) -> String {
    let case = Case::new(&[("run.json", &run.to_string())]);
    let output = case.run(&["run", "run.json", "-o", "run.jsonl"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said.lines().filter(|line| line.starts_with("warning")).collect()
}

#[test]
fn the_program_runs_what_the_page_saved_to_the_same_bits() {
    let edge = [-1.0, 0.9, -1.0, -1.0, 0.9, 1.0];
    let events = json!([
        { "frame": 0, "grab": { "from": [0.15, 1.1, 6.0], "along": [0, 0, -1], "force": 5e3 } },
        { "frame": 2, "drag": { "to": [0.0, 1.5, 2.3] } },
        { "frame": 8, "release": {} },
        { "frame": 9, "throw": { "from": [0.2, 1.1, 3.0], "velocity": [0, 0.5, -14], "radius": 0.08,
            "density": 7850 } },
        { "frame": 20, "cut": { "from": edge, "to": edge.map(|x| if x == -1.0 { 1.0 } else { x }) } },
        { "frame": 24, "explode": { "at": [0.3, 0.4, 0.2], "radius": 1.5, "impulse": 40 } },
        { "frame": 28, "gravity": { "down": 1.62 } },
    ]);
    let window = json!({ "scene": sample("window").scene, "pieces": 40, "seed": 7 });
    let bridge = json!({ "scene": sample("bridge").scene, "model": "stress", "material": "brick" });
    for setup in [window, bridge] {
        let mut run = saved(&setup, 40);
        run["events"] = events.clone();
        let read: SavedRun = serde_json::from_value(run.clone()).unwrap();
        let mut play = play(&read.setup);
        let mut coming = read.events.iter().peekable();
        for frame in 0..40 {
            while let Some(ScheduledCommand { command, .. }) =
                coming.next_if(|when| when.frame == frame)
            {
                play.act(*command).unwrap();
            }
            play.step();
        }
        assert!(warnings_of(&run).contains("the state at frame 40 differs from the playground"));
        run["fingerprint"] = format!("{:x}", play.fingerprint()).into();
        assert_eq!(warnings_of(&run), "");
    }
}

#[test]
fn what_is_no_saved_run_is_refused_in_one_sentence() {
    let run = saved(&json!({ "scene": sample("dominoes").scene }), 2);
    let with = |key: &str, value: Value| {
        let mut run = run.clone();
        run[key] = value;
        run.to_string()
    };
    let throw = json!({ "from": [0, 0, 0], "velocity": [0, 0, 1e9], "radius": 1, "density": 1 });
    let events = |list: Value| with("events", list);
    for (text, options, said) in [
        ("{}".to_owned(), &[][..], "is not a saved run of the playground"),
        (with("format", "other".into()), &[], "its format is \"other\""),
        (with("version", 2.into()), &[], "is of version 2"),
        (events(json!([{ "frame": 0, "jump": {} }])), &[], "no variant of enum Command"),
        (events(json!([{ "frame": 0, "throw": throw }])), &[], "event 1: a number of a command"),
        (
            events(json!([{ "frame": 1, "release": {} }, { "frame": 0, "release": {} }])),
            &[],
            "event 2 has an earlier frame",
        ),
        (with("setup", json!({ "scene": "version = 1\nbodi = 1" })), &[], "bodi"),
        (
            with("setup", json!({ "scene": sample("dominoes").scene, "pieces": 1 })),
            &[],
            "from 2 to 300",
        ),
        (run.to_string(), &["--seed", "1"], "excludes --seed"),
        (run.to_string(), &["--events", "e.jsonl"], "excludes --events"),
    ] {
        let case = Case::new(&[("run.json", &text)]);
        let output = case.run(&[&["run", "run.json", "-o", "run.glb"], options].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(said) && error.trim_end().lines().count() == 1, "{said}: {error}");
    }
}

/// Visible pieces after a ball is thrown at the middle; dominoes and voussoirs do not break.
#[test]
#[allow(clippy::print_stdout, reason = "it measures")]
fn a_browser_plays_every_scene_and_a_link_replays_bit_by_bit() {
    let (browser, modules) = match browser() {
        Ok(found) => found,
        Err(reason) => return skipped(reason),
    };
    let Some(folder) = built() else {
        return skipped("cargo xtask web makes the playground");
    };
    let case = Case::new(&[]);
    let served = Served::by(&case, &["play", "--page", folder.to_str().unwrap(), "--no-open"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("play_page.cjs");
    let mut node = Process::new("node");
    node.arg(script).arg(&served.address).arg(case.folder.path());
    let run = node.env("NODE_PATH", &modules).env("BROWSER", &browser).output().expect("node runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let seen: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(seen["trouble"], json!([]), "{seen}");
    assert_eq!(seen["external_requests"], json!([]), "no requests to other servers");
    for Sample { key, .. } in SCENES {
        let scene = &seen["scenes"][key];
        assert_eq!(scene["gained"], 0, "{key}: {seen}");
        let breaks = !["dominoes", "arch"].contains(&key);
        assert!(!breaks || scene["pieces"].as_u64().unwrap() > 0, "{key}: {seen}");
    }
    assert_eq!((&seen["early"], &seen["shared"]), (&true.into(), &seen["replayed"]), "{seen}");
    assert!(seen["link"].as_u64().unwrap() < 600, "{seen}");
    assert_eq!((&seen["run"], &seen["dropped"]), (&seen["shared"], &seen["shared"]), "{seen}");
    check_files(&seen, case.folder.path());
    let run = std::fs::read_to_string(case.folder.path().join("events.json")).unwrap();
    assert_eq!(warnings_of(&serde_json::from_str(&run).unwrap()), "", "a replay without warnings");
    let bodies = ["start", "zoomed", "cut"].map(|when| seen["touched"][when].as_u64().unwrap());
    assert!(bodies[0] == bodies[1] && bodies[1] < bodies[2], "two fingers: {bodies:?}");
    let [broken, text, cube, unknown] = ["broken", "text", "cube", "unknown"]
        .map(|when| [0, 1].map(|n| seen["mistaken"][when][n].as_str().unwrap()));
    assert!(broken[0].contains("face names vertex 9") && broken[1].starts_with("Arch"), "{seen}");
    assert!(text[0].contains("not read") && text[1].starts_with("Arch"), "{seen}");
    assert_eq!(cube, ["", "cube.obj"]);
    assert!(unknown[0].contains("\"nowhere\", which is not here"), "{unknown:?}");
    println!("milliseconds from the request of the page: {}", seen["marks"]);
}

/// The downloaded recording equals that of native code from the events, byte by byte, and is readable.
fn check_files(seen: &Value, folder: &Path) {
    let digits = seen["events"].as_str().unwrap().as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let events: Vec<u8> = digits.map(byte).collect();
    let frames = seen["frames"].as_u64().unwrap() as usize;
    let mut native = play(&sample("window"));
    native.replay(&events).unwrap();
    let downloaded = std::fs::read(folder.join("glb")).unwrap();
    assert!(native.record(frames).unwrap() == downloaded, "the recording differs");
    let recording = brisance::format::glb::read_glb(&downloaded).unwrap();
    assert_eq!(recording.frames, frames + 1);
    assert!(recording.tracks.len() > 30, "{} tracks", recording.tracks.len());
}

/// A slab that falls and breaks into some 300 pieces, and 2,000 boxes that drift apart.
const CROWDS: [(&str, usize, &str); 2] = [
    (
        "300 pieces",
        75,
        r#"version = 1
[pattern.shards.voronoi]
pieces = 330
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "slab"
shape = { box = { half_extents = [0.6, 0.6, 0.05] } }
position = [0, 1.2, 0]
material = "clay"
fracture = { pattern = "shards", break_impulse = 1, generations = 1, min_share = 0.0001 }
"#,
    ),
    (
        "2,000 bodies",
        5,
        r#"version = 1
[simulation]
gravity = [0, 0, 0]
[[body]]
name = "box"
shape = { box = { half_extents = [0.1, 0.1, 0.1] } }
density = 500
velocity = [0.05, 0.02, 0.1]
angular_velocity = [0.3, 0.5, 0.2]
copies = { count = [20, 10, 10], spacing = [0.5, 0.5, 0.5] }
"#,
    ),
];

/// Speed is printed, not asserted: the machine may have other work.
#[test]
#[allow(clippy::print_stdout, reason = "it measures")]
fn a_browser_tells_how_fast_crowds_are() {
    let (browser, modules) = match browser() {
        Ok(found) => found,
        Err(reason) => return skipped(reason),
    };
    let Some(folder) = built() else {
        return skipped("cargo xtask web makes the playground");
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("play_speed.cjs");
    for (name, frame, scene) in CROWDS {
        let case = Case::new(&[("crowd.toml", scene)]);
        let page = folder.to_str().unwrap();
        let served = Served::by(&case, &["play", "crowd.toml", "--page", page, "--no-open"]);
        let mut node = Process::new("node");
        node.arg(&script).arg(&served.address).arg(frame.to_string());
        node.env("NODE_PATH", &modules).env("BROWSER", &browser);
        let run = node.output().expect("node runs");
        assert!(run.status.success(), "{name}: {}", String::from_utf8_lossy(&run.stderr));
        let seen: Value = serde_json::from_slice(&run.stdout).unwrap();
        let bodies = seen["bodies"].as_u64().unwrap();
        assert!(bodies > 250, "{name}: {seen}");
        println!("{name}: {seen}");
    }
}

/// A box of 1 m on the floor, its corner at `x`.
fn block(x: f64) -> Vec<u8> {
    let mut text = String::new();
    for n in 0..8 {
        text += &format!("v {} {} {}\n", x + f64::from(n & 1), n >> 1 & 1, n >> 2 & 1);
    }
    for [a, b, c, d] in
        [[1, 5, 7, 3], [2, 4, 8, 6], [1, 2, 6, 5], [3, 7, 8, 4], [1, 3, 4, 2], [5, 6, 8, 7]]
    {
        text += &format!("f {a} {b} {c} {d}\n");
    }
    text.into_bytes()
}

#[test]
fn a_body_in_pieces_plays_from_the_files_of_its_folder() {
    let scene = "version = 1\n[[body]]\nname = \"floor\"\nshape = { plane = {} }\nmotion = \"static\"\n\
                 [[body]]\nname = \"wall\"\nmaterial = \"clay\"\n\
                 shape = { pieces = { file = \"./parts/\", bonds = {} } }\n\
                 fracture = { lattice = { spacing = 0.3 } }\n";
    let mut files: BTreeMap<String, Vec<u8>> =
        (0..3).map(|n| (format!("parts/{n}.obj"), block(f64::from(n)))).collect();
    files.insert("parts/notes.txt".to_owned(), b"not a mesh".to_vec());
    files.insert("parts/old/3.obj".to_owned(), block(3.0));
    let setup = Setup { model: Some(Model::Stress), ..Setup::of(scene) };
    for setup in [Setup::of(scene), setup] {
        let mut play = Play::new(&setup, &files).unwrap();
        assert_eq!(play.world().len(), 4);
        assert_eq!(play.world().joints().count(), 2);
        check_layout(&play.start());
        check_layout(&play.step());
    }
    let error = Play::new(&Setup::of(scene), &BTreeMap::new()).unwrap_err().to_string();
    assert!(error.contains("\"./parts/\", which is not here"), "{error}");
}

/// The image of a mesh is sent once, with the parts that use it: not with cuts, and not again with pieces.
#[test]
fn the_page_receives_coats_and_images_once() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets");
    let names = ["amphora.obj", "amphora.mtl", "amphora.png"];
    let read = |name: &str| std::fs::read(assets.join(name)).unwrap();
    let files = names.map(|name| (format!("../assets/{name}"), read(name))).into();
    let scene =
        include_str!("../../scenes/amphora.toml").replace("spacing = 0.0022", "spacing = 0.004");
    let mut play = Play::new(&Setup::of(&scene), &files).unwrap();
    let start = play.start();
    check_layout(&start);
    let first = head(&start);
    assert_eq!(first["images"][0]["bytes"], read("amphora.png").len());
    assert!(start.ends_with(&read("amphora.png")));
    assert_eq!((count(&first["images"]), count(&first["coats"])), (1, 2));
    let amphora = &first["new"][1];
    assert_eq!((&amphora["outer"], count(&amphora["coats"])), (&Value::Null, 2));
    let mut pieces = 0;
    for _ in 0..3 {
        let frame = play.step();
        check_layout(&frame);
        let head = head(&frame);
        assert_eq!((count(&head["images"]), count(&head["coats"])), (0, 0));
        let new = head["new"].as_array().unwrap();
        pieces +=
            new.iter().filter(|body| count(&body["coats"]) > 0 && body["inner"].is_u64()).count();
    }
    assert!(pieces > 5, "{pieces}");
}
