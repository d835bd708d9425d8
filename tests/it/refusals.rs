//! Refusals of the program in one sentence, and quiet runs.

use brisance_tests::tet_boxes::kuhn_box;
use nalgebra::Vector3;

use crate::cli::{Case, MESH_SCENE, SCENE, TETRAHEDRON, brisance, mesh_case, problem, scene_with};

/// A scene of a mesh in a GLB file.
const OF_PIECES: &str = r#"version = 1
[simulation]
frames = 2
[[body]]
name = "thing"
shape = { mesh = { file = "pieces.glb", nodes = 8000 } }
"#;

/// Checks that the command exits with 2 and one line that contains `words`.
fn refused(case: &Case, arguments: &[&str], words: &[&str]) {
    let output = case.run(arguments);
    let message = problem(output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(message.lines().count(), 1, "{arguments:?}: {message}");
    assert!(message.starts_with("brisance: "), "{message}");
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
}

fn done(case: &Case, arguments: &[&str]) {
    let output = case.run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_output_never_takes_the_place_of_an_input() {
    let case = Case::new(&[("tet.obj", TETRAHEDRON), ("scene.toml", OF_PIECES)]);
    let coarse = ["--pattern", "voronoi:3", "--nodes", "8000", "-q"];
    done(&case, &[&["fracture", "tet.obj", "-o", "pieces.glb"], &coarse[..]].concat());
    let path = |name: &str| case.folder.path().join(name);
    let bytes = |name: &str| std::fs::read(path(name)).unwrap();
    let (mesh, pieces) = (bytes("tet.obj"), bytes("pieces.glb"));
    let over = "is an input of this command: give the output another name";
    refused(&case, &["slice", "tet.obj", "--plane", "0,1,0,0.1", "-o", "./tet.obj"], &[over]);
    let fracture = [&["fracture", "pieces.glb", "-o", "pieces.glb"], &coarse[..]].concat();
    refused(&case, &fracture, &["pieces.glb", over]);
    refused(&case, &["run", "scene.toml", "-o", "pieces.glb"], &["pieces.glb", over]);
    let onto_scene = ["run", "scene.toml", "-o", "out.glb", "--checkpoint", "scene.toml"];
    refused(&case, &onto_scene, &["scene.toml", over]);
    let events = ["run", "scene.toml", "-q", "-o", "out.jsonl", "--events", "events.jsonl"];
    done(&case, &events);
    let replay = ["replay", "scene.toml", "events.jsonl", "-o", "events.jsonl"];
    refused(&case, &replay, &["events.jsonl", over]);
    #[cfg(unix)]
    for (name, command) in [("tet.msh", "tetrahedralize"), ("tet.lset", "voxelize")] {
        std::os::unix::fs::symlink("tet.obj", path(name)).unwrap();
        let fineness: &[&str] = if name == "tet.msh" { &["--count", "99"] } else { &[] };
        refused(&case, &[&[command, "tet.obj", "-o", name], fineness].concat(), &[name, over]);
    }
    assert!(bytes("tet.obj") == mesh && bytes("pieces.glb") == pieces);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_an_error_and_a_closed_pipe_none() {
    use std::process::Stdio;
    let case = Case::new(&[("tet.obj", TETRAHEDRON), ("scene.toml", SCENE)]);
    for arguments in [
        &["info", "tet.obj"][..],
        &["check", "scene.toml", "--json"],
        &["schema"],
        &["man"],
        &["completions", "bash"],
        &["--help"],
        &["run", "scene.toml", "-o", "out.glb", "--json", "--frames", "1"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = brisance();
        let output = command.args(arguments).current_dir(&case.folder).stdout(full).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("standard output cannot be written"), "{message}");
    }
    let mut command = brisance();
    let mut child = command.arg("schema").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    drop(child.as_mut().unwrap().stdout.take());
    let output = child.unwrap().wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn every_command_can_be_silent() {
    let case = Case::new(&[("tet.obj", TETRAHEDRON), ("scene.toml", SCENE)]);
    let all: [&[&str]; 10] = [
        &["run", "scene.toml", "-o", "out.glb", "--ledger", "out.csv"],
        &["fracture", "tet.obj", "--pattern", "voronoi:3", "--nodes", "8000", "-o", "p.glb"],
        &["pattern", "new", "voronoi:3", "-o", "three.pattern"],
        &["pattern", "preview", "three.pattern", "-o", "three.png"],
        &["render", "out.glb", "--size", "32x32", "-o", "out.png"],
        &["plot", "out.csv", "-o", "out.svg"],
        &["slice", "tet.obj", "--plane", "0,1,0,0.1", "-o", "halves.obj"],
        &["voxelize", "tet.obj", "--nodes", "8000", "-o", "tet.lset"],
        &["tetrahedralize", "tet.lset", "--cell", "0.1", "-o", "tet.msh"],
        &["stress", "tet.msh", "--at", "0,0,0", "--impulse", "0,1,0", "-o", "tet.vtu"],
    ];
    for arguments in all {
        let said = case.run(arguments);
        assert!(said.status.success() && !said.stdout.is_empty(), "{arguments:?}: {said:?}");
        for quiet in ["-q", "--quiet"] {
            let silent = case.run(&[arguments, &[quiet]].concat());
            assert!(silent.status.success(), "{arguments:?}: {silent:?}");
            assert!(silent.stdout.is_empty() && silent.stderr.is_empty(), "{silent:?}");
        }
    }
}

#[test]
fn tetrahedra_that_would_lose_thin_parts_are_not_written() {
    let case = Case::new(&[]);
    let bunny = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bunny.obj");
    let fill = ["tetrahedralize", bunny, "-q", "--nodes", "100000", "--count", "4000"];
    let few = [&fill[..], &["--halvings", "0", "-o", "b.msh"]].concat();
    refused(&case, &few, &["bunny.obj", "lack parts", "--lossy"]);
    assert!(!case.folder.path().join("b.msh").exists());
    done(&case, &[&few[..], &["--lossy"]].concat());
    let enough = ["tetrahedralize", bunny, "--nodes", "400000", "--count", "60000", "-o", "c.msh"];
    done(&case, &enough);
}

#[test]
fn a_beam_on_the_bench_is_fixed_loaded_and_solved_in_every_way() {
    let case = Case::new(&[]);
    let beam = kuhn_box([8, 2, 2], Vector3::new(1.0, 0.1, 0.1));
    let mut file = Vec::new();
    tetfem::write_msh(&mut file, &beam, &tetfem::Fields::default()).unwrap();
    std::fs::write(case.folder.path().join("beam.msh"), file).unwrap();
    let bench = ["stress", "beam.msh", "--fix", "-1,-1,-1,0.001,1,1", "-o", "beam.vtu"];
    let load = ["--force", "1,0.1,0.05,0,-100,0", "--body-force", "0,-78000,0"];
    let tension = |more: &[&str]| -> f64 {
        let said = case.run(&[&bench[..], &load, more].concat());
        assert!(said.status.success(), "{said:?}");
        let text = String::from_utf8(said.stdout).unwrap();
        let line = text.lines().find(|line| line.starts_with("greatest tension")).unwrap();
        line.split(' ').nth(2).unwrap().parse().unwrap()
    };
    let own = tension(&[]);
    // with small strains
    for more in [["--newton"].as_slice(), &["--cg"], &["--newton", "--cg"]] {
        assert!((tension(more) / own - 1.0).abs() < 1e-3, "{more:?}");
    }
    assert!(tension(&["--quadratic"]) > own, "linear elements are too stiff");
    let beside = ["stress", "beam.msh", "--fix", "2,0,0,3,1,1", "-o", "beam.vtu"];
    refused(
        &case,
        &[&beside[..], &load].concat(),
        &["--fix fixes no vertex", "0,0,0", "1,0.1,0.1"],
    );
    // a support along an edge is a hinge
    let hinged = ["stress", "beam.msh", "--fix", "0,0,0,0,0,0.1", "-o", "beam.vtu"];
    refused(&case, &[&hinged[..], &load].concat(), &["let the body turn"]);
    let struck = ["stress", "beam.msh", "--at", "0.5,0.1,0.05", "--impulse", "0,-1,0"];
    for radius in ["0.3", "0.4"] {
        let said =
            case.run(&[&struck[..], &["--collision-radius", radius, "-o", "b.vtu"]].concat());
        assert!(said.status.success(), "{said:?}");
    }
}

#[test]
fn a_wrong_command_line_is_answered_in_one_sentence() {
    let case = Case::new(&[]);
    refused(&case, &["fly"], &["unrecognized subcommand 'fly'", "`brisance --help`"]);
    refused(
        &case,
        &["slice", "a.obj"],
        &["were not provided", "--plane", "`brisance slice --help`"],
    );
    refused(
        &case,
        &["slice", "--plan", "0"],
        &["'--plan'", "a similar argument exists: '--plane'"],
    );
    refused(&case, &["run", "a.toml", "-o", "b.glb", "--fps", "0"], &["between 1 and 100000"]);
    let stress = ["stress", "a.msh", "--at", "0,0,0", "--impulse", "0,1,0", "-o", "a.vtu"];
    let with = |option: &[&'static str]| [&stress[..], option].concat();
    refused(&case, &with(&["--poisson", "0.7"]), &["--poisson", "from -0.99 to 0.49"]);
    refused(&case, &with(&["--duration", "-1"]), &["--duration", "from 1e-9 to 1000"]);
    refused(&case, &with(&["--young", "0"]), &["--young", "give a positive number"]);
    refused(&case, &with(&["--fix", "0,0,0"]), &["--fix", "give six numbers"]);
    refused(&case, &with(&["--newton", "--quadratic"]), &["--newton", "cannot be used with"]);
    let alone = ["stress", "a.msh", "--impulse", "0,1,0", "-o", "a.vtu"];
    refused(&case, &alone, &["--at"]);
    let unloaded = ["stress", "a.msh", "-o", "a.vtu"];
    refused(&case, &unloaded, &["--at", "--force", "--body-force"]);
}

/// A picture in shades of gray, written as PNG.
pub(crate) fn picture(case: &Case, name: &str, size: [u32; 2], gray: impl Fn(usize) -> u8) {
    let [width, height] = size;
    let file = std::fs::File::create(case.folder.path().join(name)).unwrap();
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let pixels: Vec<u8> = (0..(width * height) as usize).map(gray).collect();
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
}

#[test]
fn what_makes_no_pattern_and_no_picture_is_refused_with_the_reason() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    picture(&case, "row.png", [9, 1], |n| n as u8);
    picture(&case, "one.png", [9, 9], |_| 7);
    picture(&case, "two.png", [9, 9], |n| (n / 40) as u8);
    let new = |name: &'static str| ["pattern", "new", name, "-o", "out.pattern"];
    refused(&case, &new("row.png"), &["row.png", "is 9 x 1 pixels", "at least 2 x 2"]);
    refused(&case, &new("one.png"), &["one.png", "only one colour", "divides nothing"]);
    done(&case, &new("two.png"));
    let bytes = std::fs::read(case.folder.path().join("out.pattern")).unwrap();
    std::fs::write(case.folder.path().join("cut.pattern"), &bytes[..bytes.len() / 2]).unwrap();
    let early = ["cut.pattern", "ends too early", "brisance pattern new"];
    refused(&case, &["info", "cut.pattern"], &early);
    refused(&case, &["info", "scene.toml"], &[".glb", ".stl", ".vtu", ".lset", ".pattern"]);

    done(&case, &["run", "scene.toml", "-q", "-o", "out.glb"]);
    let bytes = std::fs::read(case.folder.path().join("out.glb")).unwrap();
    std::fs::write(case.folder.path().join("cut.glb"), &bytes[..bytes.len() / 2]).unwrap();
    let early = ["cut.glb: is not a GLB file, or damaged (it ends too early)", "export it again"];
    refused(&case, &["info", "cut.glb"], &early);
    refused(&case, &["render", "cut.glb", "-o", "out.png"], &early);
    let render = ["render", "out.glb", "-o", "out.png"];
    let with = |options: &[&'static str]| [&render[..], options].concat();
    refused(&case, &with(&["--at", "0,1,0", "--from", "0,1,0"]), &["--from must not be at --at"]);
    refused(&case, &with(&["--every", "2"]), &["--every is for animations", "--sheet"]);
    let stress = ["stress", "a.msh", "--at", "0,0,0", "--impulse", "0,1,0", "-o", "a.gif"];
    refused(&case, &stress, &[".vtu, .msh or .png"]);
    let red = ["stress", "a.msh", "--body-force", "0,1,0", "--red", "9", "-o", "a.vtu"];
    refused(&case, &red, &["a.vtu", ".png, which --isolines, --crack-plane and --red require"]);
    let duration = ["stress", "a.msh", "--body-force", "0,1,0", "--duration", "9", "-o", "a.vtu"];
    refused(&case, &duration, &["--at <X,Y,Z>", "brisance stress --help"]);
}

#[test]
fn files_of_another_kind_are_named_as_what_they_are() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    for dust in ["dust.ply", "dust.usda"] {
        let run = ["run", "scene.toml", "-q", "-o", "out.glb", "--dust", dust];
        done(&case, &run);
        let recording = [dust, "is not a GLB file: give a recording that `brisance` wrote as .glb"];
        refused(&case, &["render", dust, "-o", "out.png"], &recording);
        refused(&case, &["view", dust, "--no-open"], &recording);
        refused(&case, &["blender", dust, "-o", "out.blend"], &recording);
        std::fs::copy(case.folder.path().join(dust), case.folder.path().join("text.glb")).unwrap();
        let start = ["text.glb", "does not start with `glTF`", "export it again"];
        refused(&case, &["render", "text.glb", "-o", "out.png"], &start);
    }
    refused(
        &case,
        &["slice", "dust.ply", "--plane", "0,1,0,0", "-o", "out.glb"],
        &["dust.ply: holds points and no triangles, as dust does"],
    );
    #[cfg(target_os = "linux")]
    refused(
        &case,
        &["compare", "scene.toml", "-o", "/proc/report"],
        &["/proc/report: its folder is not writable: choose another"],
    );
}

#[test]
fn pictures_and_outlines_are_refused_with_the_scene_that_names_them() {
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\">\n<path d=\"M1 2 3\"/></svg>";
    let case = Case::new(&[("a.svg", svg)]);
    for (shape, said) in [
        ("svg = { file = \"a.svg\", depth = 1 }", "line 2: <path> has path data"),
        ("extruded = { picture = \"a.svg\", size = [1, 1], depth = 1 }", "is not a PNG file"),
    ] {
        let scene = format!("version = 1\n[[body]]\nname = \"a\"\nshape = {{ {shape} }}\n");
        std::fs::write(case.folder.path().join("scene.toml"), scene).unwrap();
        let words = ["a.svg: ", said, "(named in scene.toml, line 4, column "];
        refused(&case, &["check", "scene.toml"], &words);
    }
}

/// Errors name the line of a file, also in an included file from another folder.
#[test]
fn files_are_refused_with_the_line_that_names_them() {
    let body = "version = 1\n[[body]]\nname = \"a\"\nshape.mesh = { file = \"a.obj\" }\n";
    let plane = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let case = Case::new(&[
        ("scene.toml", body),
        ("parts.toml", "version = 1\ninclude = [\"parts/a.toml\"]"),
    ]);
    let at = |name: &str| case.folder.path().join(name);
    std::fs::create_dir(at("parts")).unwrap();
    std::fs::write(at("parts/a.toml"), format!("# a part\n{body}")).unwrap();
    for (scene, folder, named) in [
        ("scene.toml", "", "named in scene.toml, line 4, column 23"),
        ("parts.toml", "parts/", "named in ./parts/a.toml, line 5, column 23"),
    ] {
        let mesh = at(&format!("{folder}a.obj"));
        let _ = std::fs::remove_file(&mesh);
        refused(&case, &["check", scene], &["a.obj: cannot be read", &format!("({named})")]);
        std::fs::write(&mesh, "v 0 0 zero\n").unwrap();
        refused(&case, &["check", scene], &["a.obj: line 1: ", &format!("({named})")]);
        std::fs::write(&mesh, plane.replace("f 1 2 3", "f 1 2 2")).unwrap();
        refused(&case, &["check", scene], &["a.obj: holds no triangles", &format!("({named})")]);
        std::fs::write(&mesh, plane).unwrap();
        refused(&case, &["check", scene], &["body \"a\": ", &format!("a.obj, {named})")]);
    }
}

#[test]
fn long_numbers_are_shortened() {
    let huge = TETRAHEDRON.replace("v 1 0 0", "v 1e30 0 0");
    let case = Case::new(&[("huge.obj", &huge)]);
    let info = case.run(&["info", "huge.obj"]);
    let said = String::from_utf8(info.stdout).unwrap();
    assert!(said.contains("size 1e30 x 1 x 1"), "{said}");
    assert!(said.lines().all(|line| line.len() < 120), "{said}");
    let fps = SCENE.replace("frames = 12", "frames = 12\nfps = 1e300");
    Case::new(&[("scene.toml", &fps)]).refused(&["simulation.fps", "not 1e300"]);
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
    // otherwise the winding number closes the mesh
    let message = mesh_case(&open).run(&["check", "scene.toml"]);
    let warning = String::from_utf8_lossy(&message.stderr).into_owned();
    assert!(message.status.success() && warning.contains("3 open edges"), "{warning}");
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
    case.refused(&["scene.toml", "\"ball\"", "0.0002 m thick", "give a spacing of at most 0.0001"]);
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_not_read() {
    let case = Case::new(&[("scene.toml", "version = 1\ninclude = [\"/dev/zero\"]\n")]);
    let pipe = case.folder.path().join("pipe.obj");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for arguments in [
        &["check", "scene.toml", "--allow-outside"][..],
        &["check", "/dev/zero"],
        &["info", "pipe.obj"],
        &["info", "/dev/zero"],
    ] {
        let output = case.run(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("a device or a pipe"), "{message}");
    }
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
fn what_is_neither_a_mesh_nor_a_level_set_is_refused_with_all_kinds_that_are_read() {
    let case = Case::new(&[("a.foo", "")]);
    let refused = case.run(&["voxelize", "a.foo", "-o", "a.lset"]);
    let message = problem(refused.stderr);
    assert!(message.contains(".obj, .stl, .ply, .glb, .lset, .vti or .vdb"), "{message}");
}

/// In some Linux folders files cannot be created and are "not found".
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_reported_in_a_sentence() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let message = problem(case.run(&["run", "scene.toml", "-o", "/proc/p.glb"]).stderr);
    assert!(
        message.contains("/proc/p.glb: its folder is not writable: choose another"),
        "{message}"
    );
}

/// An open sheet has no interior winding number anywhere.
#[test]
fn open_meshes_without_an_inside_are_said_to_be_open() {
    let sheet = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let case = mesh_case(sheet);
    case.refused(&["its mesh is open (3 open edges)", "thing.obj, named in scene.toml, line 7"]);
    let fracture = ["fracture", "thing.obj", "--pattern", "voronoi:4", "-o", "out.glb"];
    refused(&case, &fracture, &["thing.obj: its mesh is open (3 open edges)"]);
}

#[test]
fn bumps_are_reported_where_a_pattern_is_drawn_or_described() {
    let case = Case::new(&[]);
    for (noise, has_bumps) in
        [("", false), (",noise={amplitude=0.01,frequency=5,rims=\"straight\"}", true)]
    {
        done(&case, &["pattern", "new", &format!("voronoi:9{noise}"), "-o", "a.pattern"]);
        let preview = ["pattern", "preview", "a.pattern", "-o", "a.png", "--size", "64"];
        let message = problem(case.run(&preview).stderr);
        assert_eq!(message.contains("note: the preview has no noise"), has_bumps, "{message}");
        assert_eq!(problem(case.run(&[&preview[..], &["-q"]].concat()).stderr), "");
        let info = case.run(&["info", "a.pattern"]).stdout;
        let info = String::from_utf8(info).unwrap();
        assert_eq!(
            info.contains("noise is added to the cut faces of pieces only"),
            has_bumps,
            "{info}"
        );
    }
}

/// Inputs and outputs of all commands.
#[test]
fn folders_in_place_of_files_and_files_in_place_of_folders_are_named() {
    let case =
        Case::new(&[("scene.toml", SCENE), ("tri.obj", TETRAHEDRON), ("a.ply", ""), ("file", "")]);
    std::fs::create_dir(case.folder.path().join("folder")).unwrap();
    let folder = "folder: cannot be read (it is a folder, not a file)";
    for arguments in [
        &["info", "folder"][..],
        &["check", "folder"],
        &["run", "folder", "-o", "a.glb"],
        &["run", "scene.toml", "-o", "a.glb", "--resume", "folder"],
        &["replay", "folder", "folder", "-o", "a.glb"],
        &["compare", "folder", "-o", "report"],
        &["render", "folder", "-o", "a.png"],
        &["view", "folder", "--no-open"],
        &["plot", "folder", "-o", "a.svg"],
        &["fracture", "folder", "--pattern", "voronoi:5", "-o", "a.glb"],
        &["slice", "folder", "--plane", "0,1,0,0", "-o", "a.glb"],
        &["voxelize", "folder", "-o", "a.lset"],
        &["tetrahedralize", "folder", "--cell", "1", "-o", "a.msh"],
        &["stress", "folder", "--at", "0,0,0", "--impulse", "0,1,0", "-o", "a.vtu"],
    ] {
        refused(&case, arguments, &[folder]);
    }
    refused(&case, &["info", "tri.obj/"], &["tri.obj/: cannot be read", "is a file, not a folder"]);
    for (output, file) in [("a.ply/", "a.ply"), ("file/", "file"), ("file/a.glb", "file")] {
        let words = format!("{file}: is a file, not a folder: remove it or choose another name");
        refused(&case, &["run", "scene.toml", "-o", output], &[&words]);
        refused(&case, &["fracture", "tri.obj", "--pattern", "voronoi:3", "-o", output], &[&words]);
    }
    for option in ["--dust", "--ledger", "--contacts", "--events"] {
        let ending = if option == "--dust" { "a.ply/" } else { "file/a.csv" };
        let ending = if option == "--contacts" { "file/a.jsonl" } else { ending };
        let arguments = ["run", "scene.toml", "-o", "a.glb", option, ending];
        refused(&case, &arguments, &["is a file, not a folder: remove it or choose another name"]);
    }
    refused(&case, &["render", "a.glb", "-o", "file/"], &["file: is a file, not a folder"]);
    refused(&case, &["compare", "scene.toml", "-o", "file"], &["file: is a file, not a folder"]);
}
