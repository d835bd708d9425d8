//! The program as people meet it: what it writes, and what it says when it cannot.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

use brisance::format::glb::read_glb;
use clap::CommandFactory;
use nalgebra::Point3;

/// The program, built once, in the profile of these tests.
pub(crate) fn brisance() -> Command {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let path = BUILT.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "brisance", "--bin", "brisance"]);
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success());
        // tests are in the folder deps beside it
        let test = std::env::current_exe().expect("this test has a path");
        let name = format!("brisance{}", std::env::consts::EXE_SUFFIX);
        test.ancestors().nth(2).expect("target/PROFILE/deps/test").join(name)
    });
    Command::new(path)
}

/// A folder with a scene and what belongs to it.
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
const MESH_SCENE: &str = r#"version = 1
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

    /// Runs `scene.toml`, which must fail with exit code 2, one line that holds every one of
    /// `words`, and no file written or left behind.
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

/// What a command says of a problem, without the phases that show themselves on a busy machine.
pub(crate) fn problem(stderr: Vec<u8>) -> String {
    let told = String::from_utf8(stderr).unwrap();
    told.lines().filter(|line| !line.ends_with(" ...")).map(|line| format!("{line}\n")).collect()
}

/// `SCENE` with one text replaced by another.
fn scene_with(from: &str, to: &str) -> Case {
    assert!(SCENE.contains(from));
    Case::new(&[("scene.toml", &SCENE.replace(from, to))])
}

fn mesh_case(obj: &str) -> Case {
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
fn files_that_are_missing_are_named() {
    Case::new(&[]).refused(&["scene.toml", "cannot be read", "check the path"]);
    Case::new(&[("scene.toml", MESH_SCENE)]).refused(&[
        "thing.obj",
        "cannot be read",
        "scene.toml",
    ]);
}

#[test]
fn a_mesh_that_is_no_solid_is_named_with_its_body() {
    let open = TETRAHEDRON.replace("f 2 3 4\n", "");
    let strict = MESH_SCENE.replace("nodes = 8000", "nodes = 8000, sign = \"strict\"");
    Case::new(&[("scene.toml", &strict), ("thing.obj", &open)]).refused(&[
        "scene.toml",
        "\"thing\"",
        "thing.obj",
        "not closed",
        "repair",
    ]);
    // else the winding number closes it
    let told = mesh_case(&open).run(&["check", "scene.toml"]);
    let warning = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.status.success() && warning.contains("3 open edges"), "{warning}");
    mesh_case("v 0 0 0\n").refused(&["thing.obj", "no triangles"]);
    mesh_case("").refused(&["thing.obj", "no triangles"]);
    let inside_out = TETRAHEDRON.replace("f 1 3 2", "f 1 2 3").replace("f 1 2 4", "f 1 4 2");
    let inside_out = inside_out.replace("f 1 4 3", "f 1 3 4").replace("f 2 3 4", "f 2 4 3");
    mesh_case(&inside_out).refused(&["thing.obj", "inside out"]);
    let flat = "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\nf 1 3 2\n";
    mesh_case(flat).refused(&["scene.toml", "thing.obj"]);
}

#[test]
fn a_mesh_that_is_malformed_is_named_with_its_line() {
    let nan = TETRAHEDRON.replace("v 0 1 0", "v 0 nan 0");
    mesh_case(&nan).refused(&["thing.obj", "line 3", "not a finite number", "scene.toml"]);
    let dangling = TETRAHEDRON.replace("f 2 3 4", "f 2 3 5");
    mesh_case(&dangling).refused(&["thing.obj", "line 8", "names vertex 5"]);
    mesh_case("v 0 0 zero\n").refused(&["thing.obj", "line 1"]);
    let other = MESH_SCENE.replace("thing.obj", "scene.toml");
    Case::new(&[("scene.toml", &other)]).refused(&["scene.toml", "give an .obj, .stl"]);
}

#[test]
fn a_scene_that_cannot_be_simulated_is_named_with_line_and_key() {
    let zero_mass = scene_with("radius = 0.1,", "radius = 0,");
    zero_mass.refused(&["scene.toml", "line 16, column 31", "`body[1].shape.sphere.radius`"]);
    let no_density = scene_with("position =", "density = 0\nposition =");
    no_density.refused(&["scene.toml", "line 17, column 11", "`body[1].density`", "above 0"]);
    let nan = scene_with("0.15", "nan");
    nan.refused(&["scene.toml", "line 17, column 12", "`body[1].position`", "finite"]);
    let unknown = scene_with("break_impulse", "brake_impulse");
    unknown.refused(&[
        "line 19, column 34",
        "`body[1].fracture.brake_impulse`",
        "mean `break_impulse`?",
    ]);
    scene_with("version = 1", "version").refused(&["scene.toml", "line 1", "TOML"]);
    let huge = scene_with("spacing = 0.012", "spacing = 0.00002");
    huge.refused(&["line 16, column 46", "`body[1].shape.sphere.spacing`", "coarser"]);
    let huge = MESH_SCENE.replace("nodes = 8000", "nodes = 1000000000000");
    let huge = Case::new(&[("scene.toml", &huge), ("thing.obj", TETRAHEDRON)]);
    huge.refused(&["line 7", "`body[0].shape.mesh.nodes`", "between"]);
}

#[test]
fn a_body_too_thin_for_its_grid_is_named() {
    let case = scene_with("{ sphere = { radius = 0.1, spacing = 0.012 } }", {
        "{ torus = { major = 0.1, minor = 0.0001, spacing = 0.05 } }"
    });
    case.refused(&["scene.toml", "\"ball\"", "finer grid"]);
}

#[test]
fn what_a_run_writes_passes_the_khronos_validator() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let run = case.run(&["run", "scene.toml", "-o", "out.glb", "--quiet"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    crate::glb::assert_valid(&[case.folder.path().join("out.glb")]);
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
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{ledger} {events}: {told}");
        assert!(told.contains("two outputs are this file"), "{told}");
    }
    let over = ["run", "sub/../scene.toml", "-q", "-o", "o.glb", "--checkpoint", "./scene.toml"];
    let told = String::from_utf8(case.run(&over).stderr).unwrap();
    assert!(told.contains("is read by this command"), "{told}");
    assert_eq!(case.names(), before);
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_not_read() {
    let case = Case::new(&[("scene.toml", "version = 1\ninclude = [\"/dev/zero\"]\n")]);
    let pipe = case.folder.path().join("pipe.obj");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for arguments in [
        &["check", "scene.toml", "--allow-outside"][..],
        &["check", "/dev/zero"],
        &["info", "pipe.obj"],
        &["info", "/dev/zero"],
    ] {
        let output = case.run(arguments);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("a device or a pipe"), "{told}");
    }
}

/// What a killed program left is cleared by the next; what others are writing is not.
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
fn frames_are_drawn_as_png() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "out.glb"]).status.success());
    let size = ["--size", "64x48"];
    let drawn = |options: &[&str]| {
        let render = ["render", "out.glb", "-o", "out.png"];
        let run = case.run(&[&render[..], &size, options].concat());
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let bytes = std::fs::read(case.folder.path().join("out.png")).unwrap();
        let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width, info.height, pixels)
    };
    let (width, height, first) = drawn(&["--frame", "0"]);
    assert_eq!((width, height), (64, 48));
    let (.., last) = drawn(&["--frame", "12"]);
    assert_ne!(first, last);
    let (width, height, sheet) = drawn(&["--sheet", "5"]);
    assert_eq!((width, height), (4 * 64, 2 * 48));
    let row =
        |pixels: &[u8], width: usize, row: usize| pixels[3 * width * row..][..64 * 3].to_vec();
    for y in 0..48 {
        assert_eq!(row(&sheet, 256, y), row(&first, 64, y), "the sheet starts with frame 0");
        assert_eq!(row(&sheet, 256, 48 + y), row(&last, 64, y), "and ends with the last");
    }
    let (width, height, other) = drawn(&["--sheet", "2x3"]);
    assert_eq!((width, height), (2 * 64, 3 * 48));
    assert_eq!(row(&other, 128, 0), row(&first, 64, 0));
    let run = case.run(&["render", "out.glb", "-o", "no.png", "--frame", "13"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("its last one is 12"));
    let run = case.run(&["render", "scene.toml", "-o", "no.png"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("scene.toml: is not a GLB file"));
    assert_eq!(case.names(), ["out.glb", "out.png", "scene.toml"]);
}

#[test]
fn frames_are_drawn_as_animations_and_folders() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "out.glb"]).status.success());
    let drawn = |output: &str, options: &[&str]| {
        let render = ["render", "out.glb", "--size", "64x48", "-o", output];
        let run = case.run(&[&render[..], options].concat());
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        case.folder.path().join(output)
    };
    let open = |path| std::io::BufReader::new(std::fs::File::open(path).unwrap());

    let mut gif = gif::Decoder::new(open(drawn("out.gif", &[]))).unwrap();
    assert_eq!((gif.width(), gif.height()), (64, 48));
    let mut delays = vec![];
    while let Some(frame) = gif.read_next_frame().unwrap() {
        delays.push(frame.delay);
    }
    assert_eq!(delays.len(), 13);
    assert_eq!(delays.iter().sum::<u16>(), 43, "13 frames at 30 a second, in hundredths");

    let apng = drawn("out.apng", &["--every", "4"]);
    let mut apng = png::Decoder::new(open(apng)).read_info().unwrap();
    assert_eq!(apng.info().animation_control().unwrap().num_frames, 4);
    let mut last = vec![];
    for _ in 0..4 {
        last = vec![0; apng.output_buffer_size().unwrap()];
        apng.next_frame(&mut last).unwrap();
    }
    let delay = apng.info().frame_control().unwrap();
    assert!((f64::from(delay.delay_num) / f64::from(delay.delay_den) - 4.0 / 30.0).abs() < 1e-4);

    let folder = drawn("frames/", &["--frame", "3,12"]);
    let mut names: Vec<_> =
        folder.read_dir().unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["frame_00003.png", "frame_00012.png"]);
    let mut still = png::Decoder::new(open(folder.join(&names[1]))).read_info().unwrap();
    let mut pixels = vec![0; still.output_buffer_size().unwrap()];
    still.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels, last, "frame 12 is the last of every fourth");
    assert_eq!(case.run(&["render", "out.glb", "-o", "frames/"]).status.code(), Some(2));
    assert_eq!(case.run(&["render", "out.glb", "-o", "out.avi"]).status.code(), Some(2));
}

#[test]
fn a_ledger_is_drawn() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let run = ["run", "scene.toml", "-q", "-o", "o.glb", "--ledger", "o.csv", "--events", "e.csv"];
    assert!(case.run(&run).status.success());
    let plot = |output: &str| {
        let run = case.run(&["plot", "o.csv", "-o", output, "--size", "400x600"]);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        std::fs::read(case.folder.path().join(output)).unwrap()
    };
    let svg = String::from_utf8(plot("o.svg")).unwrap();
    for word in ["Mechanical energy", "dissipated", "collision", "momentum", "Bodies", "time, s"] {
        assert!(svg.contains(word), "{word} is not in {svg}");
    }
    let png = png::Decoder::new(std::io::Cursor::new(plot("o.png")));
    let mut reader = png.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (400, 600));
    // the title of the first panel is above all its lines
    let title = &pixels[..3 * 400 * 30];
    assert!(title.iter().filter(|&&byte| byte < 100).count() > 200, "it has no text");

    let events = std::fs::read_to_string(case.folder.path().join("e.csv")).unwrap();
    let rows: Vec<Vec<&str>> = events.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.len() > 1 && rows.iter().all(|row| row.len() == rows[0].len()), "{events}");
    let value = |name: &str| {
        let at = rows[0].iter().position(|n| *n == name).unwrap_or_else(|| panic!("no {name}"));
        rows[1][at].parse::<f64>().unwrap()
    };
    for of in ["mass", "momentum_y", "angular_momentum_x", "kinetic_energy", "potential_energy"] {
        let [before, after] = ["before", "after"].map(|when| value(&format!("{of}_{when}")));
        assert!((before - after).abs() <= 1e-9 * (1.0 + before.abs()), "{of}: {before} {after}");
    }

    for (text, said) in [
        ("", "holds no rows"),
        ("frame,time\n0,0\n", "no column `fractures`"),
        ("frame,time\n0,zero\n", "line 2: `zero` is not a finite number"),
        ("frame,time\n\n0\n", "line 3 has 1 cells, but the first line names 2"),
    ] {
        std::fs::write(case.folder.path().join("bad.csv"), text).unwrap();
        let run = case.run(&["plot", "bad.csv", "-o", "no.svg"]);
        let error = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(2));
        assert!(error.contains(said) && error.lines().count() == 1, "{error}");
    }
    assert_eq!(case.run(&["plot", "o.csv", "-o", "no.pdf"]).status.code(), Some(2));
    assert!(!case.names().iter().any(|name| name.starts_with("no.")));
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

/// A cube of 2 m about the origin.
const CUBE: &str = "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n\
    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

#[test]
fn a_mesh_is_broken_without_a_simulation() {
    let case = Case::new(&[("cube.obj", CUBE)]);
    let broken = |options: &[&str]| {
        let fracture = ["fracture", "cube.obj", "--nodes", "27000"];
        let run = case.run(&[&fracture[..], options].concat());
        (run.status.code(), String::from_utf8([run.stdout, run.stderr].concat()).unwrap())
    };
    let at = ["--pattern", "voronoi:200", "--at", "-0.5,1,0", "--normal", "0,1,0"];
    let (code, said) = broken(&[&at[..], &["-o", "pieces.glb"]].concat());
    assert_eq!(code, Some(0), "{said}");
    let read =
        |name: &str| read_glb(&std::fs::read(case.folder.path().join(name)).unwrap()).unwrap();
    let pieces = read("pieces.glb");
    assert_eq!(pieces.frames, 1);
    assert!(pieces.tracks.len() > 5, "{}", pieces.tracks.len());
    assert!(pieces.tracks.iter().all(|t| !t.surface().inner.is_empty()));
    crate::glb::assert_valid(&[case.folder.path().join("pieces.glb")]);
    // outer faces lie on the mesh, the rims of cuts within half a voxel of 0.09
    let corners = pieces.tracks.iter().flat_map(|t| {
        let place = *t.pose(0).unwrap();
        t.surface().vertices.clone().into_iter().map(move |v| place * Point3::from(v).cast::<f64>())
    });
    let far = corners.map(|v| v.coords.amax()).fold(0.0, f64::max);
    assert!((far - 1.0).abs() < 0.045, "{far}");
    let (code, said) = broken(&[&at[..], &["-o", "frames/"]].concat());
    assert_eq!(code, Some(0), "{said}");
    let folder = case.folder.path().join("frames");
    let obj = std::fs::read_to_string(folder.join("frame_00000.obj")).unwrap();
    assert_eq!(obj.matches("\no piece ").count(), pieces.tracks.len());

    let pattern = ["pattern", "new", "radial:7x3,jitter=0.2", "-o", "glass.pattern"];
    assert!(case.run(&pattern).status.success());
    let info = String::from_utf8(case.run(&["info", "glass.pattern"]).stdout).unwrap();
    assert!(info.contains("pattern of 21 regions"), "{info}");
    let preview = ["pattern", "preview", "glass.pattern", "--size", "64", "-o", "glass.png"];
    assert!(case.run(&preview).status.success());
    assert_eq!(
        case.run(&["pattern", "new", "glass.png", "-o", "glass.png"]).status.code(),
        Some(2)
    );
    // cut out by its own picture, space is divided as before
    assert!(case.run(&["pattern", "new", "glass.png", "-o", "cut.pattern"]).status.success());
    let preview = ["pattern", "preview", "cut.pattern", "--size", "64", "-o", "cut.png"];
    assert!(case.run(&preview).status.success());
    let picture = |name| brisance::picture_file::read_picture(&case.folder.path().join(name));
    let (first, second) = (picture("glass.png").unwrap(), picture("cut.png").unwrap());
    let pairs: BTreeSet<_> = first.iter().zip(&second).collect();
    let colors = [&first, &second].map(|picture| picture.iter().collect::<BTreeSet<_>>().len());
    assert!(colors == [pairs.len(); 2] && pairs.len() > 10, "{colors:?} {}", pairs.len());
    let (code, said) = broken(&["--pattern", "glass.pattern", "-o", "radial.usda"]);
    assert_eq!(code, Some(0), "{said}");

    for (pattern, words) in [
        ("voronoi:many", "voronoi:PIECES"),
        ("voronoi:1", "between 2 and 10000"),
        ("voronoi:9,clusterin=1", "clusterin"),
        ("shards", "voronoi:PIECES"),
    ] {
        let (code, said) = broken(&["--pattern", pattern, "-o", "no.glb"]);
        assert_eq!(code, Some(2));
        assert!(said.contains(words) && said.lines().count() == 1, "{pattern}: {said}");
    }
    assert_eq!(broken(&["--pattern", "voronoi:9", "-o", "no"]).0, Some(2));
    assert_eq!(broken(&["--pattern", "voronoi:9", "--normal", "0,0,0", "-o", "no.glb"]).0, Some(2));
    assert!(!case.names().iter().any(|name| name.starts_with("no")));
}

#[test]
fn more_than_fits_in_memory_together_is_refused() {
    let many = scene_with("frames = 12", "frames = 1000000").folder;
    let copies = "position = [0, 0.15, 0]\ncopies = { count = [9, 9, 9], spacing = [1, 1, 1] }";
    let text = std::fs::read_to_string(many.path().join("scene.toml")).unwrap();
    let text = text.replace("position = [0, 0.15, 0]", copies);
    Case::new(&[("scene.toml", &text)]).refused(&["line 4", "`simulation.frames`", "730 bodies"]);
    let case = Case::new(&[("scene.toml", &text.replace("1000000", "12"))]);
    let run = ["run", "scene.toml", "-q", "-o", "out.glb", "--frames", "1000000"];
    let run = case.run(&run);
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("730 bodies"));
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
    assert!(number("fragments") > 3.0 && number("energy_gain") >= 0.0);
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
    assert!(output.stderr.is_empty(), "nothing is wrong with it");
    let bad = scene_with("radius = 0.1,", "radius = 0,").run(&["check", "scene.toml"]);
    assert_eq!(bad.status.code(), Some(2));
}

/// A floor, a thousand boxes of which some are copies, and what is wrong with some of them.
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
fn copies_are_told_in_one_line_in_four_digits() {
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
fn check_and_run_warn_of_what_starts_inside_others_and_of_what_may_pass_through() {
    let case = Case::new(&[("scene.toml", CROWD)]);
    let wanted = [
        "warning: sunk 1 starts 0.3 m inside floor (and 1 pair of copies): move one of them",
        "warning: bullet moves 10 m a frame and may pass through pane, both together 0.015 m thick: \
         give --fps 11000 or more",
    ];
    for arguments in [&["check", "scene.toml"][..], &["run", "scene.toml", "-o", "out.glb"]] {
        let output = case.run(&[arguments, &["--json"]].concat());
        let told = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<&str> = told.lines().filter(|l| l.starts_with("warning: ")).collect();
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
    // what a warning says helps
    let output = case.run(&["run", "scene.toml", "--fps", "11000", "-o", "out.glb"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("inside floor") && !told.contains("pass through"), "{told}");
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
    assert!(out.contains("hardest blows:\n  ball: ") && out.contains(" of 1 N s, broke"), "{out}");
    let whole = scene_with("break_impulse = 1 }", "break_impulse = 100 }");
    let [out, errors] = said(&whole, &run);
    assert!(out.contains(" of 100 N s\nnothing broke: the hardest blow was "), "{out}");
    assert!(!errors.contains("note:"), "{errors}");
    let [json, _] = said(&whole, &["run", "scene.toml", "-o", "out.glb", "--json", "-q"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let hardest = &json["hardest"][0];
    assert_eq!((hardest["borne"].as_f64(), hardest["broken"].as_u64()), (Some(100.0), Some(0)));
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
    let case = Case::new(&[("scene.toml", SCENE), ("thing.obj", TETRAHEDRON)]);
    let info = |file: &str| {
        let output = case.run(&["info", file]);
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let (code, said) = info("thing.obj");
    assert_eq!(code, Some(0));
    assert!(said.contains("4 vertices, 4 triangles") && said.contains("volume 0.1667"), "{said}");
    assert!(said.contains("\nclosed, oriented, 1 component\n"), "{said}");
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
        // those of `pattern` have theirs
        let has_example = help.contains(&format!("  brisance {command} ")) || command == "pattern";
        assert!(has_example, "{help} has no example");
        assert!(completions.contains(&format!("brisance,{command})")), "{command}");
        assert!(manual.contains(&format!("brisance\\-{command}(1)")), "{command}");
    }
    assert_eq!(printed(&["schema"]), brisance::commands::SCHEMA);
}

#[test]
fn the_scenes_that_come_with_it_can_be_run() {
    let scenes = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes");
    let mut checked = 0;
    for entry in scenes.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let check = brisance().arg("check").arg(&path).output().unwrap();
            assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
            checked += 1;
        }
    }
    assert!(checked > 0);
}

#[test]
fn a_sliced_mesh_is_two_closed_ones() {
    let case = Case::new(&[("tet.obj", TETRAHEDRON)]);
    let halves = ["slice", "tet.obj", "--plane", "0,0,2,1", "-o"];
    let output = case.run(&[&halves[..], &["halves.glb"]].concat());
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    // a corner of half the size has an eighth of the volume
    for line in ["back: volume 0.1458", "front: volume 0.02083"] {
        assert!(said.contains(line), "{said}");
    }
    let recording = read_glb(&std::fs::read(case.folder.path().join("halves.glb")).unwrap());
    let names: Vec<String> = recording.unwrap().tracks.into_iter().map(|t| t.name).collect();
    assert_eq!(names, ["back", "front"]);

    let quarters = ["--plane", "1,-1,0,0", "--quiet", "-o", "quarters.obj"];
    let output = case.run(&[&halves[..4], &quarters[..]].concat());
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let path = case.folder.path().join("quarters.obj");
    let mesh = brisance::mesh_file::read_mesh(&path).unwrap();
    let facts = mesh.facts().unwrap();
    assert!((mesh.signed_volume() - 1.0 / 6.0).abs() < 1e-12);
    // parts that touch are still as many to the reader, of either format
    assert!(facts.closed && facts.oriented && facts.components == 4, "{facts:?}");
    let halves = case.folder.path().join("halves.glb");
    let facts = brisance::mesh_file::read_mesh(&halves).unwrap().facts().unwrap();
    assert!(facts.closed && facts.oriented && facts.components == 2, "{facts:?}");
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(text.matches("o part").count(), 4);
    assert_eq!(text.matches("g inner").count(), 4);
}

/// A tetrahedron whose texture coordinates and colors are linear in x, y and z.
const PAINTED: &str = "v 0 0 0 0 0 0\nv 1 0 0 1 0 0\nv 0 1 0 0 1 0\nv 0 0 1 0 0 1\n\
    vt 0 0\nvt 1 0\nvt 0 1\nvt 0.5 0.5\n\
    f 1/1 3/3 2/2\nf 1/1 2/2 4/4\nf 1/1 4/4 3/3\nf 2/2 3/3 4/4\n";

#[test]
fn a_slice_carries_texture_coordinates_and_colors() {
    let case = Case::new(&[("tet.obj", PAINTED)]);
    let slice = |input, output| {
        let done = case.run(&["slice", input, "--plane", "1,2,3,0.7", "-o", output]);
        assert!(done.status.success(), "{done:?}");
        let path = case.folder.path().join(output);
        brisance::mesh_file::read_mesh_file(&path).unwrap()
    };
    for painted in [slice("tet.obj", "a.obj"), slice("tet.obj", "a.glb")] {
        let mut carried = 0;
        for (triangle, corners) in painted.mesh.triangles.iter().zip(&painted.corners) {
            let places = triangle.map(|v| painted.mesh.vertices[v as usize]);
            let cut = |p: &nalgebra::Point3<f64>| (p.x + 2.0 * p.y + 3.0 * p.z - 0.7).abs() < 1e-6;
            if places.iter().all(cut) {
                continue;
            }
            for (p, corner) in places.iter().zip(corners) {
                let (uv, color) = (corner.uv.unwrap(), corner.color.unwrap());
                let expected = nalgebra::Vector2::new(p.x + 0.5 * p.z, p.y + 0.5 * p.z);
                assert!((uv - expected).norm() < 1e-6, "{uv} at {p}");
                assert!((color.xyz() - p.coords).norm() < 1e-6, "{color} at {p}");
                assert!(corner.normal.is_some());
                carried += 1;
            }
        }
        assert!(carried >= 24, "{carried}");
    }
}

#[test]
fn what_cannot_be_sliced_is_refused_in_one_sentence() {
    let open = TETRAHEDRON.rsplit_once("f 2").unwrap().0;
    let case = Case::new(&[("tet.obj", TETRAHEDRON), ("open.obj", open)]);
    for (arguments, said) in [
        (
            ["slice", "open.obj", "--plane", "0,0,1,0.5", "-o", "a.glb"],
            "has no triangle on its other side",
        ),
        (["slice", "tet.obj", "--plane", "0,0,0,0.5", "-o", "a.glb"], "not all zero"),
        (["slice", "tet.obj", "--plane", "0,0,1", "-o", "a.glb"], "give four numbers"),
        (
            ["slice", "tet.obj", "--plane", "0,0,1,0.5", "-o", "a.stl"],
            "give it the ending .glb or .obj",
        ),
        (["slice", "none.obj", "--plane", "0,0,1,0.5", "-o", "a.glb"], "none.obj: cannot be read"),
        (
            ["slice", "tet.obj", "--plane", "0,0,1,0.5", "-o", "no/a.glb"],
            "its folder does not exist",
        ),
    ] {
        let output = case.run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(said), "{error}");
        assert!(!case.folder.path().join("a.glb").exists());
    }
}

/// A box of faces of four corners, of edge 1 m but for its height.
fn slab(height: f64, at: f64) -> String {
    let corner = |n: usize| {
        let [x, y, z] = [n & 1, n >> 1 & 1, n >> 2].map(|bit| bit as f64);
        format!("v {} {} {}\n", at + x, height * y, z)
    };
    let corners: String = (0..8).map(corner).collect();
    corners + "f 1 5 7 3\nf 2 4 8 6\nf 1 2 6 5\nf 3 7 8 4\nf 1 3 4 2\nf 5 6 8 7\n"
}

/// What an exact surface divides needs no samples.
#[test]
fn thin_and_coarse_bodies_of_closed_surfaces_break_into_all_their_pieces() {
    for (height, spacing) in [(1.0, Some("0.5")), (1e-3, None), (1e-5, None), (1e-3, Some("0.3"))] {
        let case = Case::new(&[("thing.obj", &slab(height, 0.0))]);
        let mut arguments = vec!["fracture", "thing.obj", "--pattern", "voronoi:10", "-o", "x.glb"];
        arguments.extend(spacing.iter().flat_map(|spacing| ["--spacing", *spacing]));
        let output = case.run(&arguments);
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains("10 pieces"), "{height} {spacing:?}: {told} {:?}", output.stderr);
        let warned = String::from_utf8(output.stderr).unwrap();
        assert!(!warned.contains("warning"), "{warned}");
    }
}

#[test]
fn a_thin_slab_of_a_scene_falls_and_lies() {
    let scene = "version = 1\n[simulation]\nframes = 30\n[[body]]\nname = \"floor\"\n\
                 motion = \"static\"\nshape = { plane = {} }\n[[body]]\nname = \"slab\"\n\
                 position = [0, 0.1, 0]\nshape = { mesh = { file = \"slab.obj\" } }\n[[body]]\n\
                 name = \"coin\"\nposition = [3, 0.1, 0]\n\
                 shape = { cylinder = { radius = 0.5, half_height = 0.001, spacing = 0.1 } }\n";
    let case = Case::new(&[("scene.toml", scene), ("slab.obj", &slab(1e-3, 0.0))]);
    let output = case.run(&["run", "scene.toml", "-o", "x.jsonl"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = std::fs::read_to_string(case.folder.path().join("x.jsonl")).unwrap();
    let last: serde_json::Value = serde_json::from_str(written.lines().last().unwrap()).unwrap();
    for body in [1, 2] {
        let y = last["poses"][body][1].as_f64().unwrap();
        assert!(y.abs() < 0.003, "body {body} ends at {y} m");
    }
}

/// Pieces of a thing of 1 m that is 1e7 m off: `f32` has 1 m there.
#[test]
fn obj_files_hold_what_is_far_off_to_a_millionth() {
    let case = Case::new(&[("thing.obj", &slab(1.0, 1e7))]);
    let output = case.run(&["fracture", "thing.obj", "--pattern", "voronoi:5", "-o", "x/"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let folder = case.folder.path().join("x");
    let text = std::fs::read_to_string(folder.join("frame_00000.obj")).unwrap();
    let places = text.lines().filter_map(|line| line.strip_prefix("v "));
    let xs: Vec<f64> =
        places.map(|line| line.split(' ').next().unwrap().parse::<f64>().unwrap() - 1e7).collect();
    for end in [0.0, 1.0] {
        let near = xs.iter().map(|x| (x - end).abs()).fold(f64::INFINITY, f64::min);
        assert!(near < 1e-6, "{near} m from {end} m");
    }
    assert!(xs.iter().any(|x| (0.1..0.9).contains(x)), "{xs:?}");
}

#[test]
fn bad_values_are_told_in_words_of_what_is_wrong() {
    let case = Case::new(&[
        ("thing.obj", &slab(1.0, 0.0)),
        ("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n"),
    ]);
    for (arguments, words) in [
        (&["thing.obj", "--pattern", "voronoi:-3"][..], "whole number"),
        (&["thing.obj", "--pattern", "voronoi:2.5"], "whole number"),
        (&["thing.obj", "--pattern", "radial:2x1"], "between 3 and 1000"),
        (&["thing.obj", "--pattern", "radial:1x1"], "between 3 and 1000"),
        (&["thing.obj", "--pattern", "nofile"], "no such file"),
        (&["thing.obj", "--pattern", "voronoi:5", "--spacing", "-1"], "positive number"),
        (&["thing.obj", "--pattern", "voronoi:5", "--at=1e30,0,0"], "at most 1e9"),
        (&["thing.obj", "--pattern", "voronoi:5", "--normal=1e300,0,0"], "at most 1e9"),
        (&["thing.obj", "--pattern", "voronoi:5", "--at=1,2"], "three numbers"),
        (&["thing.obj", "--pattern", "voronoi:5", "--spacing", "1e-300"], "coarser spacing"),
        (&["flat.obj", "--pattern", "voronoi:5"], "bounds no volume"),
    ] {
        let arguments = [&["fracture"], arguments, &["-o", "x.glb"]].concat();
        let output = case.run(&arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(words), "{arguments:?}: {message}");
        for odd in ["usize", "inside out", "18446744073709551615"] {
            assert!(!message.contains(odd), "{arguments:?}: {message}");
        }
    }
}

#[test]
fn a_smallest_share_beyond_the_mean_is_told_by_check_and_run() {
    let case = scene_with("break_impulse = 1", "break_impulse = 1, min_share = 0.3");
    for arguments in [&["check", "scene.toml"][..], &["run", "scene.toml", "-o", "x.glb"]] {
        let output = case.run(arguments);
        let warned = String::from_utf8(output.stderr).unwrap();
        assert!(warned.contains("min_share"), "{arguments:?}: {warned}");
    }
}

#[test]
fn what_is_neither_a_mesh_nor_a_level_set_is_refused_with_all_kinds_that_are_read() {
    let case = Case::new(&[("a.foo", "")]);
    let refused = case.run(&["voxelize", "a.foo", "-o", "a.lset"]);
    let told = problem(refused.stderr);
    assert!(told.contains(".obj, .stl, .ply, .glb, .lset, .vti or .vdb"), "{told}");
}

/// Linux has folders in which files cannot be made and are "not found".
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_told_of_in_a_sentence() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let told = problem(case.run(&["run", "scene.toml", "-o", "/proc/p.glb"]).stderr);
    assert!(told.contains("/proc/p.glb: its folder takes no new files: choose another"), "{told}");
}

/// Usage begins with the name of the program's file, which may hold digits.
#[cfg(unix)]
#[test]
fn wrong_arguments_name_the_program_whatever_it_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("brisance-0.1_x");
    std::os::unix::fs::symlink(brisance().get_program(), &other).unwrap();
    let words = ["run", "a.toml", "-o", "a.glb", "--frames", "-1"];
    let output = Command::new(&other).args(words).output().unwrap();
    let told = problem(output.stderr);
    assert!(told.contains("`brisance-0.1_x run --help` says more"), "{told}");
}
