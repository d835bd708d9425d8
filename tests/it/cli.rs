//! The program on the command line: outputs and error messages.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

use brisance::format::glb::read_glb;
use clap::CommandFactory;

/// The program, built once, in the profile of these tests.
pub(crate) fn brisance() -> Command {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let path = BUILT.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        // the second package selects the features of dependencies for which these tests were built
        build.args(["build", "--quiet", "--package", "brisance", "--package", "brisance-tests"]);
        build.args(["--bin", "brisance"]);
        // tests are in the folder deps beside it
        let test = std::env::current_exe().expect("this test has a path");
        let folder = test.ancestors().nth(2).expect("target/PROFILE/deps/test");
        if folder.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success());
        folder.join(format!("brisance{}", std::env::consts::EXE_SUFFIX))
    });
    Command::new(path)
}

/// A folder with a scene and its files.
pub(crate) struct Case {
    pub(crate) folder: tempfile::TempDir,
}

/// A ball that falls on a slab and breaks.
pub(crate) const SCENE: &str = r#"version = 1

[simulation]
frames = 12

[pattern.shards.voronoi]
pieces = 60

[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"

[[body]]
name = "ball"
shape = { sphere = { radius = 0.1, spacing = 0.012 } }
position = [0, 0.15, 0]
velocity = [0, -6, 0]
fracture = { pattern = "shards", break_impulse = 1 }
"#;

/// The same with a mesh in place of the ball.
pub(crate) const MESH_SCENE: &str = r#"version = 1
[simulation]
frames = 2

[[body]]
name = "thing"
shape = { mesh = { file = "thing.obj", nodes = 8000 } }
"#;

pub(crate) const TETRAHEDRON: &str =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

impl Case {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        brisance().args(arguments).current_dir(&self.folder).output().unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = self.folder.path().read_dir().unwrap();
        let mut names: Vec<_> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `scene.toml`, which must fail with exit code 2, one line with all `words`, and no file
    /// written or left behind.
    pub(crate) fn refused(&self, words: &[&str]) {
        let before = self.names();
        let output = self.run(&["run", "scene.toml", "-o", "out.glb", "--quiet"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.starts_with("brisance: "), "{message}");
        for word in words {
            assert!(message.contains(word), "{word:?} is not in: {message}");
        }
        assert_eq!(self.names(), before);
    }
}

/// The error message of a command, without progress messages, which appear on a busy machine.
pub(crate) fn problem(stderr: Vec<u8>) -> String {
    let message = String::from_utf8(stderr).unwrap();
    message.lines().filter(|line| !line.ends_with(" ...")).map(|line| format!("{line}\n")).collect()
}

/// `SCENE` with one text replaced by another.
pub(crate) fn scene_with(from: &str, to: &str) -> Case {
    assert!(SCENE.contains(from));
    Case::new(&[("scene.toml", &SCENE.replace(from, to))])
}

pub(crate) fn mesh_case(obj: &str) -> Case {
    Case::new(&[("scene.toml", MESH_SCENE), ("thing.obj", obj)])
}

#[test]
fn a_run_writes_what_it_says() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let output = case.run(&["run", "scene.toml", "-o", "out.glb"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(case.names(), ["out.glb", "scene.toml"]);
    let recording = read_glb(&std::fs::read(case.folder.path().join("out.glb")).unwrap()).unwrap();
    assert_eq!((recording.frames, recording.fps), (13, 30.0));
    let fragments = recording.tracks.iter().filter(|t| t.parent == Some(1)).count();
    assert!(fragments > 3, "the ball must break, not into {fragments}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("out.glb: 13 frames"), "{said}");
    let all = recording.tracks.iter().filter(|t| t.parent.is_some()).count();
    assert!(said.contains(&format!("{all} fragments")), "{said}");
    assert!(said.contains("mass ") && said.contains("energy gain"), "{said}");
    let progress = String::from_utf8(output.stderr).unwrap();
    assert!(progress.contains("frame 12 of 12, "), "{progress}");
    assert!(!progress.contains('\u{1b}'), "no terminal codes in a pipe");
}

#[test]
fn a_dented_body_is_no_fragment() {
    let case = Case::new(&[]);
    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes/tin_can.toml");
    let output = case.run(&["run", scene, "--frames", "8", "-o", "can.glb", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["fragments"].as_u64(), json["bodies"].as_u64()), (Some(0), Some(3)));
    let recording = read_glb(&std::fs::read(case.folder.path().join("can.glb")).unwrap()).unwrap();
    assert!(recording.tracks.iter().any(|track| track.parent.is_some()), "the can must be dented");
    let output = case.run(&["info", "can.glb", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["fragments"].as_u64(), Some(0));
}

#[test]
fn quiet_runs_print_nothing() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let output = case.run(&["run", "scene.toml", "-o", "out.glb", "-q"]);
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn options_replace_what_the_scene_says() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let bytes = |options: &[&str]| {
        let run = ["run", "scene.toml", "-q", "-o", "out.glb"];
        assert!(case.run(&[&run[..], options].concat()).status.success());
        std::fs::read(case.folder.path().join("out.glb")).unwrap()
    };
    let one = bytes(&["--threads", "1"]);
    assert_eq!(one, bytes(&["--threads", "2"]), "any number of threads gives the same file");
    assert_ne!(one, bytes(&["--seed", "2"]));
    assert_eq!(read_glb(&bytes(&["--frames", "3"])).unwrap().frames, 4);
}

#[test]
fn a_mesh_is_read_from_beside_its_scene() {
    let case = mesh_case(TETRAHEDRON);
    let scene = case.folder.path().join("scene.toml");
    let out = case.folder.path().join("out.glb");
    let run = brisance().args(["run", "-q"]).arg(scene).arg("-o").arg(&out).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(out.is_file());
}

#[test]
fn what_a_run_writes_passes_the_khronos_validator() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let run = case.run(&["run", "scene.toml", "-o", "out.glb", "--quiet"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    crate::glb::assert_valid(&[case.folder.path().join("out.glb")]);
}

/// A run removes temporary files of killed programs, but not of running ones.
#[cfg(target_os = "linux")]
#[test]
fn temporary_files_of_programs_that_are_no_more_are_cleared() {
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let left = format!(".brisance-{}-abc.tmp", gone.id());
    let kept = [format!(".brisance-{}-abc.tmp", std::process::id()), ".brisance-x.tmp".to_owned()];
    let case = Case::new(&[("scene.toml", SCENE), (&left, ""), (&kept[0], ""), (&kept[1], "")]);
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "out.glb"]).status.success());
    let names = case.names();
    assert!(!names.contains(&left), "{names:?}");
    assert!(kept.iter().all(|name| names.contains(name)), "{names:?}");
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn usage_errors_exit_with_2() {
    let case = Case::new(&[]);
    for arguments in [&["run"][..], &["fly"], &["run", "a.toml", "-o", "b.glb", "--threads", "0"]] {
        assert_eq!(case.run(arguments).status.code(), Some(2));
    }
    assert!(case.run(&["--version"]).status.success());
}

#[test]
fn the_scene_of_the_readme_breaks() {
    let readme = include_str!("../../README.md");
    let scene = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let case = Case::new(&[("scene.toml", scene.unwrap())]);
    let run = case.run(&["run", "scene.toml", "-q", "-o", "out.glb", "--frames", "30"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let recording = read_glb(&std::fs::read(case.folder.path().join("out.glb")).unwrap()).unwrap();
    assert!(recording.tracks.iter().filter(|t| t.parent.is_some()).count() > 3);
}

#[test]
fn a_summary_can_be_json() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let output =
        case.run(&["run", "scene.toml", "-q", "--json", "-o", "out.glb", "--ledger", "out.csv"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["frames"], 13);
    assert_eq!(summary["output"], "out.glb");
    let number = |key: &str| summary[key].as_f64().unwrap_or_else(|| panic!("{key} in {summary}"));
    assert!((number("mass_before") / number("mass_after") - 1.0).abs() < 1e-9);
    assert!(number("fragments") > 3.0);
    assert!(number("frames_per_second") > 0.0 && summary["seconds"]["write"].is_f64());

    let run = ["run", "scene.toml", "-q", "-o", "out.glb", "--ledger"];
    assert_eq!(case.run(&[&run[..], &["out.txt"]].concat()).status.code(), Some(2));
    let ledger = std::fs::read_to_string(case.folder.path().join("out.csv")).unwrap();
    let rows: Vec<Vec<&str>> = ledger.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 14, "names, the initial state and 12 frames");
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let column = |name: &str| rows[0].iter().position(|n| *n == name).unwrap();
    let value = |row: usize, name: &str| rows[row][column(name)].parse::<f64>().unwrap();
    assert_eq!((value(1, "frame"), value(13, "frame")), (0.0, 12.0));
    assert_eq!(value(13, "mass"), number("mass_after"));
    let largest_gain = (1..14).map(|row| value(row, "energy_gain")).fold(0.0, f64::max);
    assert_eq!(number("energy_gain"), largest_gain);
    let momentum = -6.0 * value(1, "mass");
    assert!((value(1, "momentum_y") / momentum - 1.0).abs() < 1e-12);
    assert!((1..14).map(|row| value(row, "fractures")).sum::<f64>() >= 1.0);
}

#[test]
fn a_scene_is_checked_without_running_it() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let output = case.run(&["check", "scene.toml"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(said.contains("2 bodies, 12 frames") && said.contains("ball: dynamic, 4."), "{said}");
    assert!(said.contains("breaks above 1 N s"), "{said}");
    assert!(output.stderr.is_empty(), "a valid scene has no warnings");
    let bad = scene_with("radius = 0.1,", "radius = 0,").run(&["check", "scene.toml"]);
    assert_eq!(bad.status.code(), Some(2));
}

/// A floor and a thousand boxes, with copies and problems.
const CROWD: &str = r#"version = 1
[simulation]
frames = 1
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "box"
shape = { box = { half_extents = [0.05, 0.05, 0.05] } }
density = 520
position = [0, 1, 0]
copies = { count = [10, 10, 10], spacing = [0.2, 0.2, 0.2] }
[[body]]
name = "sunk"
shape = { sphere = { radius = 0.5 } }
position = [10, 0.2, 0]
copies = { count = [2, 1, 1], spacing = [3, 3, 3] }
[[body]]
name = "pane"
shape = { box = { half_extents = [0.5, 0.5, 0.003], spacing = 0.01 } }
position = [-10, 2, 0]
motion = "static"
[[body]]
name = "bullet"
shape = { sphere = { radius = 0.0045 } }
position = [-10, 2, 3]
velocity = [0, 0, -300]
density = 7850
"#;

#[test]
fn copies_are_reported_in_one_line_in_four_digits() {
    let case = Case::new(&[("scene.toml", CROWD)]);
    let output = case.run(&["check", "scene.toml"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("scene.toml: 1,005 bodies, 1 frame of 1/30 s\n"), "{said}");
    assert!(said.contains("\n  box: 1,000 copies of 0.52 kg, dynamic\n"), "{said}");
    assert!(said.contains("\n  bullet: dynamic, 0.002996 kg\n"), "{said}");
    assert!(said.contains("at the pace of the first frame\n"), "{said}");
    assert!(said.lines().count() < 10, "{said}");
    let json = case.run(&["check", "scene.toml", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let bodies = json["bodies"].as_array().unwrap();
    assert_eq!((bodies.len(), &bodies[1000]["name"]), (1005, &"box 1000".into()));
    let exact = 7850.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.0045_f64.powi(3);
    let mass = bodies[1004]["mass"].as_f64().unwrap();
    assert!((mass / exact - 1.0).abs() < 1e-12, "{mass} {exact}");
}

#[test]
fn check_and_run_warn_of_bodies_that_start_inside_others_and_of_those_that_may_tunnel() {
    let case = Case::new(&[("scene.toml", CROWD)]);
    let wanted = [
        "warning: sunk 1 starts 0.3 m inside floor (and 1 other pair of copies): move one of them",
        "warning: bullet moves 10 m per frame and may tunnel through pane; their combined thickness is 0.015 m: \
         use --fps 11000 or more",
    ];
    for arguments in [&["check", "scene.toml"][..], &["run", "scene.toml", "-o", "out.glb"]] {
        let output = case.run(&[arguments, &["--json"]].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<&str> = message.lines().filter(|l| l.starts_with("warning: ")).collect();
        assert_eq!(lines, wanted, "{arguments:?}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let warnings = json["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 2, "{json}");
        assert_eq!(
            (&warnings[0]["kind"], &warnings[1]["kind"]),
            (&"inside".into(), &"fast".into())
        );
        assert_eq!(warnings[0]["pairs"], 2);
        assert!((warnings[0]["depth"].as_f64().unwrap() - 0.3).abs() < 1e-12);
        assert_eq!(warnings[1]["bodies"], serde_json::json!(["bullet", "pane"]));
        let quiet = case.run(&[arguments, &["--quiet"]].concat());
        assert!(quiet.status.success() && quiet.stderr.is_empty());
    }
    // the advice of a warning helps
    let output = case.run(&["run", "scene.toml", "--fps", "11000", "-o", "out.glb"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("inside floor") && !message.contains("tunnel through"), "{message}");
}

#[test]
fn runs_and_checks_say_how_near_bodies_came_to_breaking() {
    let broken = Case::new(&[("scene.toml", SCENE)]);
    let said = |case: &Case, arguments: &[&str]| {
        let output = case.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let run = ["run", "scene.toml", "-o", "out.glb"];
    let [out, _] = said(&broken, &run);
    assert!(
        out.contains("hardest impacts:\n  ball: ") && out.contains(" of 1 N s, broke"),
        "{out}"
    );
    let whole = scene_with("break_impulse = 1 }", "break_impulse = 100 }");
    let [out, errors] = said(&whole, &run);
    assert!(out.contains(" of 100 N s\nnothing broke: the hardest impact was "), "{out}");
    assert!(!errors.contains("note:"), "{errors}");
    let [json, _] = said(&whole, &["run", "scene.toml", "-o", "out.glb", "--json", "-q"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let hardest = &json["hardest"][0];
    assert_eq!((hardest["strength"].as_f64(), hardest["broken"].as_u64()), (Some(100.0), Some(0)));
    // about 4 kg at 6 m/s, e = 0.3
    let impulse = hardest["impulse"].as_f64().unwrap();
    assert!((20.0..40.0).contains(&impulse), "{impulse}");
    // v = 1 N s / (1.2 m), h = v^2 / 2 g
    let [out, _] = said(&broken, &["check", "scene.toml"]);
    assert!(out.contains("a fall from 0.00") && out.contains(" m onto stone breaks it"), "{out}");
    // the former name of the key
    let old = scene_with("break_impulse = 1 }", "strength = 1 }");
    for arguments in [&run[..], &["check", "scene.toml"]] {
        let [_, errors] = said(&old, arguments);
        assert_eq!(errors.matches("note: ").count(), 1, "{errors}");
        assert!(errors.contains("`break_impulse` (bodies \"ball\")"), "{errors}");
    }
    let twice = scene_with("break_impulse = 1 }", "break_impulse = 1, strength = 1 }");
    let output = twice.run(&["check", "scene.toml"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("is the former name of `break_impulse`"), "{errors}");
}

#[test]
fn files_tell_what_they_hold() {
    let reversed = TETRAHEDRON
        .replace("f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4", "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3");
    let files = [("scene.toml", SCENE), ("thing.obj", TETRAHEDRON), ("reversed.obj", &reversed)];
    let case = Case::new(&files);
    let info = |file: &str| {
        let output = case.run(&["info", file]);
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let (code, said) = info("thing.obj");
    assert_eq!(code, Some(0));
    assert!(said.contains("4 vertices, 4 triangles") && said.contains("volume 0.1667"), "{said}");
    assert!(said.contains("\nclosed, oriented, 1 component\n"), "{said}");
    assert!(!said.contains("inside out"), "{said}");
    let (code, said) = info("reversed.obj");
    assert!(code == Some(0) && said.contains("volume -0.1667\ninside out: reverse its"), "{said}");
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "out.glb"]).status.success());
    let (code, said) = info("out.glb");
    assert_eq!(code, Some(0));
    assert!(said.contains("recording of 13 frames at 30 per second"), "{said}");
    assert_eq!(info("no.obj").0, Some(2));
    assert_eq!(info("scene.toml").0, Some(2));
}

#[test]
fn help_schema_completions_and_manual_are_printed() {
    let case = Case::new(&[]);
    let printed = |arguments: &[&str]| {
        let output = case.run(arguments);
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let commands = brisance::args::Arguments::command();
    let (completions, manual) = (printed(&["completions", "bash"]), printed(&["man"]));
    assert!(manual.contains(".TH brisance 1"));
    for command in commands.get_subcommands().map(|c| c.get_name()) {
        let help = printed(&[command, "--help"]);
        // subcommands of `pattern` have their own
        let has_example = help.contains(&format!("  brisance {command} ")) || command == "pattern";
        assert!(has_example, "{help} has no example");
        assert!(completions.contains(&format!("brisance,{command})")), "{command}");
        assert!(manual.contains(&format!("brisance\\-{command}(1)")), "{command}");
    }
    assert_eq!(printed(&["schema"]), brisance::commands::SCHEMA);
}

#[test]
fn check_accepts_the_scenes_that_come_with_it_without_a_warning() {
    let scenes = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes");
    let mut checked = 0;
    for entry in scenes.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let check = brisance().arg("check").arg(&path).output().unwrap();
            let printed = String::from_utf8(check.stderr).unwrap();
            // the pieces that this scene reads have thin edges
            let is_known =
                |line: &&str| path.ends_with("mended.toml") && line.contains(" nodes thick");
            let warnings = printed.lines().filter(|line| line.starts_with("warning"));
            let warnings: Vec<_> = warnings.filter(|line| !is_known(line)).collect();
            assert!(check.status.success() && warnings.is_empty(), "{}: {printed}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked} scenes");
}

#[test]
fn a_smallest_share_beyond_the_mean_is_reported_by_check_and_run() {
    let case = scene_with("break_impulse = 1", "break_impulse = 1, min_share = 0.3");
    for arguments in [&["check", "scene.toml"][..], &["run", "scene.toml", "-o", "x.glb"]] {
        let output = case.run(arguments);
        let warned = String::from_utf8(output.stderr).unwrap();
        assert!(warned.contains("min_share"), "{arguments:?}: {warned}");
    }
}

/// Usage begins with the file name of the program, which may contain digits.
#[cfg(unix)]
#[test]
fn wrong_arguments_name_the_program_whatever_it_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("brisance-0.1_x");
    std::os::unix::fs::symlink(brisance().get_program(), &other).unwrap();
    let words = ["run", "a.toml", "-o", "a.glb", "--frames", "-1"];
    let output = Command::new(&other).args(words).output().unwrap();
    let message = problem(output.stderr);
    assert!(message.contains("`brisance-0.1_x run --help` says more"), "{message}");
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_the_run() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let refused = [
        ("out.png", "ending .glb"),
        ("no/out.glb", "folder"),
        ("full", "exists already"),
        ("out", "ending .glb"),
        ("full.glb", "exists already"),
    ];
    for folder in ["full", "full.glb"] {
        std::fs::create_dir(case.folder.path().join(folder)).unwrap();
    }
    for (output, word) in refused {
        let run = case.run(&["run", "scene.toml", "-o", output]);
        let message = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(2));
        assert!(message.contains(output) && message.contains(word), "{message}");
        assert!(!message.contains("frame "), "it must not have simulated");
    }
    assert_eq!(case.names(), ["full", "full.glb", "scene.toml"]);
}

#[cfg(unix)]
#[test]
fn outputs_that_are_one_file_by_other_spellings_are_refused() {
    let case = Case::new(&[("scene.toml", SCENE), ("old.csv", "old")]);
    let at = |name: &str| case.folder.path().join(name);
    std::fs::hard_link(at("old.csv"), at("link.csv")).unwrap();
    std::fs::create_dir(at("sub")).unwrap();
    let before = case.names();
    for (ledger, events) in [
        ("./a.csv", "a.csv"),
        ("sub/../a.csv", "a.csv"),
        ("old.csv", "link.csv"),
        ("a.csv", &*at("a.csv").display().to_string()),
    ] {
        let arguments = ["run", "scene.toml", "-q", "-o", "o.glb", "--ledger", ledger];
        let output = case.run(&[&arguments[..], &["--events", events]].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{ledger} {events}: {message}");
        assert!(message.contains("two outputs are this file"), "{message}");
    }
    let over = ["run", "sub/../scene.toml", "-q", "-o", "o.glb", "--checkpoint", "./scene.toml"];
    let message = String::from_utf8(case.run(&over).stderr).unwrap();
    assert!(message.contains("is an input of this command"), "{message}");
    assert_eq!(case.names(), before);
}
