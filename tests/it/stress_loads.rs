//! Files of loads and supports for `brisance stress`.

use std::collections::BTreeSet;

use brisance::loads_file::LOADS_SCHEMA;
use brisance_tests::tet_boxes::kuhn_box;
use nalgebra::Vector3;
use serde_json::Value;

use crate::cli::{Case, problem};

/// A beam of 1 m x 0.1 m x 0.1 m.
pub(crate) fn bench(files: &[(&str, &str)]) -> Case {
    let case = Case::new(files);
    let beam = kuhn_box([8, 2, 2], Vector3::new(1.0, 0.1, 0.1));
    let mut file = Vec::new();
    tetfem::write_msh(&mut file, &beam, &tetfem::Fields::default()).unwrap();
    std::fs::write(case.folder.path().join("beam.msh"), file).unwrap();
    case
}

/// The output of the command.
fn fields(case: &Case, options: &[&str]) -> String {
    let output = case.run(&[&["stress", "beam.msh", "-o", "beam.vtu"], options].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(case.folder.path().join("beam.vtu")).unwrap()
}

fn array(vtu: &str, name: &str) -> Vec<f64> {
    let body = vtu.split(&format!("Name=\"{name}\"")).nth(1).unwrap();
    let text = &body[body.find('>').unwrap() + 1..body.find('<').unwrap()];
    text.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

const SOLVERS: [&[&str]; 3] = [&[], &["--quadratic"], &["--newton"]];

#[test]
fn a_cantilever_of_a_file_is_that_of_the_options() {
    let loads = r#"
        support = [{ face = "-x" }]
        [[load]]
        force = [0, -100, 0]
        at = [1, 0.1, 0.05]
        [[load]]
        force = [3, 0, -20]
        at = [0.5, 0.05, 0.1]
        [[load]]
        body_force = [0, -78000, 0]
    "#;
    let boxed = loads.replace("face = \"-x\"", "box = [[0.001, 1, 1], [-1, -1, -1]]");
    let case = bench(&[("face.toml", loads), ("box.toml", &boxed)]);
    for solver in SOLVERS {
        let options = [
            &["--fix", "-1,-1,-1,0.001,1,1", "--force", "1,0.1,0.05,0,-100,0"],
            &["--force", "0.5,0.05,0.1,3,0,-20", "--body-force", "0,-78000,0"][..],
            solver,
        ];
        let expected = fields(&case, &options.concat());
        for file in ["face.toml", "box.toml"] {
            assert!(fields(&case, &[&["--loads", file], solver].concat()) == expected, "{file}");
        }
    }
    let struck = "[[load]]\nimpulse = [0, -1, 0]\nduration = 0.002\nat = [0.5, 0.1, 0.05]";
    std::fs::write(case.folder.path().join("struck.toml"), struck).unwrap();
    let options =
        ["--at", "0.5,0.1,0.05", "--impulse", "0,-1,0", "--duration", "0.002", "--young", "1e9"];
    let expected = fields(&case, &options);
    assert!(fields(&case, &["--loads", "struck.toml", "--young", "1e9"]) == expected);
}

#[test]
fn two_loads_in_a_file_are_the_sum_of_one_each() {
    let support = "[[support]]\nface = \"-x\"\n[[support]]\nbox = [[0.9, 0, 0], [1, 0, 0.1]]\n";
    let push = "[[load]]\nforce = [10, -100, 3]\nat = [0.7, 0.1, 0.05]\nradius = 0.04\n";
    let press = "[[load]]\npressure = 5e4\nbox = [[0.2, 0.1, 0], [0.6, 0.1, 0.1]]\n";
    let text = |loads: &[&str]| format!("{support}{}", loads.concat());
    let texts = [text(&[push]), text(&[press]), text(&[push, press])];
    let [a, b, both] = &texts;
    let case = bench(&[("a.toml", a), ("b.toml", b), ("both.toml", both)]);
    for solver in &SOLVERS[..2] {
        let of = |file| fields(&case, &[&["--loads", file], *solver].concat());
        let [a, b, both] = ["a.toml", "b.toml", "both.toml"].map(of);
        for name in ["displacement", "stress"] {
            let [a, b, both] = [&a, &b, &both].map(|vtu| array(vtu, name));
            let most = both.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            assert!(most > 0.0 && a.len() == both.len() && b.len() == both.len());
            for ((a, b), both) in a.iter().zip(&b).zip(&both) {
                assert!((a + b - both).abs() <= 1e-9 * most, "{name}: {a} + {b} is not {both}");
            }
        }
    }
}

/// The surface of tetrahedra by `tetrahedralize` is not quite plane; Euler and Bernoulli give a
/// deflection of 2 mm.
#[test]
fn a_side_of_a_tetrahedralized_beam_is_its_whole_end() {
    let beam = "v 0 0 0\nv 1 0 0\nv 1 .1 0\nv 0 .1 0\nv 0 0 .1\nv 1 0 .1\nv 1 .1 .1\nv 0 .1 .1\n\
        f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    let loads =
        "support = [{ face = \"-x\" }]\n[[load]]\nforce = [0, -100, 0]\nat = [1, 0.1, 0.05]";
    let case = Case::new(&[("beam.obj", beam), ("loads.toml", loads)]);
    let made = case.run(&["tetrahedralize", "beam.obj", "--cell", "0.02", "-o", "beam.msh"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let stiffness = ["--young", "2e9", "--poisson", "0.3", "--quadratic"];
    let vtu = fields(&case, &[&["--loads", "loads.toml"], &stiffness[..]].concat());
    let displacement = array(&vtu, "displacement");
    let deflection = displacement.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    assert!((deflection / 2e-3 - 1.0).abs() < 0.1, "{deflection}");
}

#[test]
fn pressure_on_two_ends_and_all_around_makes_the_stress_that_it_is() {
    let end = |face: &str| format!("[[load]]\npressure = 3e5\nface = \"{face}\"\n");
    let ends = [end("-x"), end("+x")].concat();
    let around = "[[load]]\npressure = 3e5\nbox = [[-1, -1, -1], [2, 2, 2]]";
    let case = bench(&[("ends.toml", &ends), ("around.toml", around)]);
    for solver in &SOLVERS[..2] {
        for (file, diagonal) in [("ends.toml", [-3e5, 0.0, 0.0]), ("around.toml", [-3e5; 3])] {
            let vtu = fields(&case, &[&["--loads", file], *solver].concat());
            let stresses = array(&vtu, "stress");
            assert!(stresses.len() > 9 * 100, "{}", stresses.len());
            for stress in stresses.chunks_exact(9) {
                for (n, found) in stress.iter().enumerate() {
                    let expected = if n % 4 == 0 { diagonal[n / 4] } else { 0.0 };
                    assert!((found - expected).abs() < 1e-3, "{file} {solver:?}: {stress:?}");
                }
            }
        }
    }
}

#[test]
fn invalid_load_files_give_one_line_errors() {
    let push = "[[load]]\nforce = [0, -1, 0]\nat = [1, 0, 0]\n";
    let many = push.repeat(1001);
    let wrong = [
        ("", "line 1, column 1: `the file` lacks the key `load`"),
        ("load = []", "`load` is empty"),
        ("[[load]]\nforse = [0, 1, 0]", "line 2, column 1: unknown key `load[0].forse`"),
        ("[[load]]\nforce = [0, 1]", "line 2, column 9: `load[0].force` must be an array of 3"),
        ("[[load]]\nat = [0, 1, 0]", "`load[0]` must have one of `force`, `impulse`"),
        ("[[load]]\nforce = [0, 1, 0]", "`load[0]` lacks `at`"),
        ("[[load]]\nforce = [0, nan, 0]\nat = [0, 0, 0]", "`load[0].force` must hold numbers"),
        ("[[load]]\nforce = [0, 1, 0]\nat = [0, inf, 0]", "`load[0].at` must hold numbers"),
        ("[[load]]\nforce = [0, 1, 0]\nat = [0, 0, 0]\nradius = -1", "`load[0].radius` must be"),
        ("[[load]]\nimpulse = [0, 1, 0]\nat = [0, 0, 0]", "`load[0].duration` must be"),
        ("[[load]]\nbody_force = [0, 1, 0]\nradius = 1", "`load[0].radius` says nothing"),
        ("[[load]]\npressure = 1", "`load[0]` must have either `face` or `box`"),
        (
            "[[load]]\npressure = 1\nface = \"up\"",
            "line 3, column 8: `load[0].face` cannot be \"up\"",
        ),
        (
            "[[load]]\npressure = 1\nbox = [[0, 0, 0], [0, 0, 0]]",
            "`load[0]` presses on no face of the body: its vertices are from 0,0,0 to 1,0.1,0.1",
        ),
        (many.as_str(), "`load` has 1001 entries: give at most 1000"),
    ];
    let supports = [
        ("box = [[2, 0, 0], [3, 1, 1]]", "`support[0]` fixes no vertex of the body"),
        ("", "`support[0]` must have either `face` or `box`"),
        // a support along an edge is a hinge
        ("box = [[0, 0, 0], [0, 0, 0.1]]", "let the body turn"),
    ];
    let supports = supports.map(|(keys, words)| (format!("[[support]]\n{keys}\n{push}"), words));
    let all = wrong.map(|(text, words)| (text.to_owned(), words)).into_iter().chain(supports);
    for (text, words) in all {
        let case = bench(&[("loads.toml", &text)]);
        let output = case.run(&["stress", "beam.msh", "--loads", "loads.toml", "-o", "beam.vtu"]);
        let message = problem(output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}: {message}");
        assert!(message.lines().count() == 1 && message.contains(words), "{text}: {message}");
        assert_eq!(case.names(), ["beam.msh", "loads.toml"]);
    }
    let case = bench(&[("loads.vtu", push)]);
    for (options, words) in [
        (["--loads", "no.toml", "-o", "b.vtu"].as_slice(), "no.toml: cannot be read"),
        (&["--loads", "loads.vtu", "-o", "loads.vtu"], "is an input of this command"),
        (&["--loads", "loads.vtu", "--fix", "0,0,0,1,1,1", "-o", "b.vtu"], "cannot be used with"),
    ] {
        let output = case.run(&[&["stress", "beam.msh"], options].concat());
        let message = problem(output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn the_schema_of_loads_and_their_reader_know_the_same_keys() {
    let printed = Case::new(&[]).run(&["schema", "--loads"]).stdout;
    assert_eq!(String::from_utf8(printed).unwrap(), LOADS_SCHEMA);
    let schema: Value = serde_json::from_str(LOADS_SCHEMA).unwrap();
    for (pointer, text) in [
        ("", "zzz = 1"),
        ("/properties/support/items", "[[support]]\nzzz = 1"),
        ("/properties/load/items", "[[load]]\nzzz = 1"),
    ] {
        let own = schema.pointer(pointer).unwrap()["properties"].as_object().unwrap();
        let own: BTreeSet<&str> = own.keys().map(String::as_str).collect();
        let case = bench(&[("loads.toml", text)]);
        let output = case.run(&["stress", "beam.msh", "--loads", "loads.toml", "-o", "beam.vtu"]);
        let message = problem(output.stderr);
        let (_, known) = message.split_once("valid here: ").expect(&message);
        let known: BTreeSet<&str> = known.trim_end().split(", ").collect();
        assert_eq!(known, own);
    }
}

#[test]
fn the_example_of_loads_is_solved() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../");
    let [mesh, loads] =
        ["assets/cinder_block.msh", "scenes/loads/cinder_block.toml"].map(|f| format!("{root}{f}"));
    let case = Case::new(&[]);
    let output = case.run(&["stress", &mesh, "--loads", &loads, "-o", "block.vtu"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("864 tetrahedra"), "{text}");
}

/// A crack plane cuts a beam under tension at its free end, across its whole width.
#[test]
fn the_crack_plane_of_a_beam_that_is_pulled_is_its_cross_section() {
    let case = bench(&[]);
    let pulled = ["--fix", "-1,-1,-1,0.001,1,1", "--force", "1,0.05,0.05,1000,0,0"];
    let options = ["stress", "beam.msh", "--poisson", "0", "--body-force", "1e6,0,0"];
    let drawn = ["--crack-plane", "--isolines", "-o", "beam.png"];
    let output = case.run(&[&options[..], &pulled, &drawn].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = said.lines().find(|line| line.starts_with("crack plane")).unwrap();
    let numbers = |text: &str| -> Vec<f64> {
        let words = text.split(['(', ')', ',', ' ']);
        words.filter_map(|word| word.parse().ok()).collect()
    };
    let [x, y, z, area] = numbers(line)[..] else { panic!("{line}") };
    // the plane has the slope of its normal
    let expected = 0.01 / x;
    assert!(x > 0.95 && y.hypot(z) < 0.3, "{line}");
    assert!((area - expected).abs() < 0.02 * expected, "{line}");
    let picture = std::fs::read(case.folder.path().join("beam.png")).unwrap();
    assert!(picture.len() > 10_000);

    let refused = case.run(&[&options[..], &pulled, &["--isolines", "-o", "beam.vtu"]].concat());
    assert_eq!(refused.status.code(), Some(2));
    let problem = problem(refused.stderr);
    assert!(problem.contains("--isolines"), "{problem}");
}

/// The beam is 1 m x 0.1 m x 0.1 m, with tetrahedra of 0.125 m.
#[test]
fn loads_that_cannot_make_stress_are_reported() {
    let case = bench(&[
        ("still.toml", "[[load]]\nbody_force = [0, -9, 0]\n"),
        (
            "all.toml",
            "support = [{ box = [[-1, -1, -1], [2, 2, 2]] }]\n[[load]]\nbody_force = [0, -9, 0]\n",
        ),
    ]);
    let message = |options: &[&str]| {
        let output = case.run(&[&["stress", "beam.msh", "-o", "beam.vtu"], options].concat());
        (output.status.success(), problem(output.stderr))
    };
    let end = ["--fix", "-1,-1,-1,0.001,1,1"];
    for (options, words) in [
        (["--body-force", "0,-9,0"].as_slice(), "without supports a body force moves the body"),
        (&["--loads", "still.toml"], "without supports a body force moves the body"),
        (&["--at", "1,0.05,0.05", "--impulse", "0,0,0"], "all loads are 0"),
        (
            &[&end[..], &["--force", "0,0.05,0.05,5,0,0"]].concat(),
            "all loads are on fixed vertices",
        ),
        (
            &["--force", "0.5,0.3,0.05,0,5,0"],
            "the load at 0.5,0.3,0.05 is moved by 0.2 m to the surface, to 0.5,0.1,0.05",
        ),
    ] {
        let (is_done, message) = message(options);
        assert!(is_done && message.contains(words), "{options:?}: {message}");
        let quiet = case.run(&[&["stress", "beam.msh", "-q", "-o", "beam.vtu"], options].concat());
        assert!(quiet.status.success() && quiet.stderr.is_empty());
    }
    let impulse = ["--at", "1,0.05,0.05", "--impulse", "0,1,0"];
    for (options, words) in [
        (
            [&impulse[..], &["--collision-radius", "0.001"]].concat(),
            "--collision-radius fixes all vertices",
        ),
        (
            ["--fix", "-1,-1,-1,2,2,2", "--body-force", "0,-9,0"].to_vec(),
            "--fix fixes all vertices",
        ),
        (["--loads", "all.toml"].to_vec(), "`support` fixes all vertices"),
        (
            ["--force", "0.5,3,0.05,0,5,0"].to_vec(),
            "is 2.9 m from the surface, and the body is 1.01 m large",
        ),
    ] {
        let (is_done, message) = message(&options);
        assert!(!is_done && message.contains(words), "{options:?}: {message}");
    }
    let (is_done, message) = message(&[&end[..], &["--force", "1,0.05,0.05,0,5,0"]].concat());
    assert!(is_done && message.is_empty(), "{message}");
}
