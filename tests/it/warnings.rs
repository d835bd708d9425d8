//! Warnings about the initial state of a world, without false positives.

use std::collections::BTreeMap;

use brisance_tests::properties;
use proptest::prelude::*;
use sim::scene::Scene;
use sim::{PieceWarning, Warning, World, build};

use crate::cli::{Case, problem};

fn world(text: &str) -> World {
    let scene = Scene::from_toml(&format!("version = 1\n{text}")).unwrap();
    build(&scene, &BTreeMap::new()).unwrap().0
}

/// A weight of 8 kg that hangs on a joint, and an arm on a hinge.
fn hanging(break_force: f64, limits: [f64; 2], time: f64) -> String {
    format!(
        r#"version = 1
        [simulation]
        frames = 30
        [[body]]
        name = "beam"
        shape = {{ box = {{ half_extents = [1, 0.1, 0.1] }} }}
        motion = "static"
        position = [0, 3, 0]
        [[body]]
        name = "weight"
        density = 1000
        shape = {{ box = {{ half_extents = [0.1, 0.1, 0.1] }} }}
        position = [0, 2, 0]
        [[body]]
        name = "arm"
        shape = {{ box = {{ half_extents = [0.1, 0.1, 0.1] }} }}
        position = [0.8, 2, 0]
        [[joints]]
        kind = "fixed"
        bodies = ["weight", "beam"]
        anchor = [0, 3, 0]
        break_force = {break_force}
        [[joints]]
        kind = "hinge"
        bodies = ["arm", "beam"]
        anchor = [0.8, 3, 0]
        axis = [0, 0, 1]
        limits = {limits:?}
        [[event]]
        time = {time:?}
        push = {{ body = "arm", impulse = [1, 0, 0] }}
        "#
    )
}

#[test]
fn late_events_and_limits_that_exclude_the_start_are_warned_of() {
    for (limits, time, is_warned) in [
        ([-10.0, 20.0], 0.5, [false, false]),
        ([10.0, 20.0], 0.5, [false, true]),
        ([-20.0, -10.0], 0.5, [false, true]),
        ([-10.0, 20.0], 1.0, [true, false]),
    ] {
        let case = Case::new(&[("scene.toml", &hanging(500.0, limits, time))]);
        for arguments in [&["check", "scene.toml"][..], &["run", "scene.toml", "-o", "a.glb"]] {
            let message = problem(case.run(arguments).stderr);
            let words = ["`event[0]` at 1 s has no effect", "`joints[1].limits` exclude 0"];
            assert_eq!(words.map(|word| message.contains(word)), is_warned, "{message}");
        }
    }
}

#[test]
fn runs_report_broken_joints() {
    for (break_force, broken) in [(50.0, 1), (500.0, 0)] {
        let case = Case::new(&[("scene.toml", &hanging(break_force, [-10.0, 20.0], 0.5))]);
        let run = ["run", "scene.toml", "-o", "a.glb", "--ledger", "a.csv"];
        let output = case.run(&run);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.contains("\n1 joint broke\n"), broken == 1, "{text}");
        let output = case.run(&[&run[..], &["--json"]].concat());
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["broken_joints"], broken);
        let ledger = std::fs::read_to_string(case.folder.path().join("a.csv")).unwrap();
        let mut lines = ledger.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let column =
            lines.next().unwrap().iter().position(|name| *name == "broken_joints").unwrap();
        let sum: usize = lines.map(|cells| cells[column].parse::<usize>().unwrap()).sum();
        assert_eq!(sum, broken);
    }
}

/// Rolling friction of a material of the scene and of bodies, with each solver that does not support it.
#[test]
fn friction_against_rolling_that_the_solver_ignores_is_warned_of() {
    for (solver, ignores) in [
        ("manifold", false),
        ("reference", false),
        ("sequential_impulse", true),
        ("quadratic_program", true),
        ("impulse", true),
        ("ku07", true),
    ] {
        let text = format!(
            "version = 1\n[simulation]\nframes = 1\nsolver = \"{solver}\"\n\
             [material.gum]\ndensity = 1000\nrolling_friction = 0.01\n\
             [[body]]\nname = \"ball\"\nmaterial = \"gum\"\nshape = {{ sphere = {{ radius = 1 }} }}\n\
             [[body]]\nname = \"top\"\ndensity = 9\nspinning_friction = 1\nposition = [0, 9, 0]\n\
             shape = {{ sphere = {{ radius = 1 }} }}\n"
        );
        let case = Case::new(&[("scene.toml", &text)]);
        for arguments in [&["check", "scene.toml"][..], &["run", "scene.toml", "-o", "a.glb"]] {
            let message = problem(case.run(arguments).stderr);
            for words in [
                format!("the solver \"{solver}\" ignores `rolling_friction` of \"ball\""),
                format!("the solver \"{solver}\" ignores `spinning_friction` of \"top\""),
            ] {
                assert_eq!(message.contains(&words), ignores, "{solver}: {message}");
            }
        }
    }
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Depths of balls and boxes over a plane in closed form.
    #[test]
    fn bodies_below_the_floor_are_reported_with_their_depth(
        radius in 0.05..=1.0_f64, height in -2.0..=2.0_f64, ball in any::<bool>(),
    ) {
        let shape = if ball {
            format!("sphere = {{ radius = {radius} }}")
        } else {
            format!("box = {{ half_extents = [{radius}, {radius}, {radius}] }}")
        };
        let world = world(&format!(
            "[[body]]\nname = \"floor\"\nmotion = \"static\"\nshape = {{ plane = {{}} }}\n\
             [[body]]\nname = \"thing\"\nshape = {{ {shape} }}\nposition = [0, {height}, 0]\n"
        ));
        let [floor, thing] = [0, 1].map(|n| world.iter().nth(n).unwrap().id);
        let exact = radius - height;
        match world.warnings()[..] {
            [] => prop_assert!(exact <= 0.1 * radius + 1e-9, "{exact} deep, no warning"),
            [Warning::Inside { body, other, depth }] => {
                prop_assert_eq!((body, other), (thing, floor));
                prop_assert!(exact >= 0.1 * radius - 1e-9, "{exact}");
                prop_assert!((depth - exact).abs() <= 1e-9, "{depth} for {exact}");
            }
            ref warnings => prop_assert!(false, "{warnings:?}"),
        }
    }

    /// A ball that flies at a plate: a warning if it moves more than twice both thicknesses a frame and
    /// reaches the plate within a second, and none if it flies past or away.
    #[test]
    fn what_flies_too_fast_at_a_thin_plate_is_reported_with_the_frames_that_help(
        radius in 0.005..=0.05_f64, half in 0.002..=0.05_f64, speed in 0.1..=500.0_f64,
        aside in -1.0..=1.0_f64, away in any::<bool>(),
    ) {
        let velocity = if away { speed } else { -speed };
        let at_fps = |fps: f64| world(&format!(
            "[simulation]\nfps = {fps}\n\
             [[body]]\nname = \"plate\"\nmotion = \"static\"\n\
             shape = {{ box = {{ half_extents = [0.5, 0.5, {half}], spacing = 0.02 }} }}\n\
             [[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = {radius} }} }}\n\
             position = [{aside}, 0, 2]\nvelocity = [0, 0, {velocity}]\n"
        ));
        let world = at_fps(30.0);
        let thickness = 2.0 * (half + radius);
        let way = speed / 30.0;
        // skips cases on the border
        prop_assume!((aside.abs() - (0.5 + radius)).abs() > 1e-6);
        prop_assume!((way / thickness - 2.0).abs() > 1e-6);
        prop_assume!((2.0 - half - radius - speed).abs() > 1e-6);
        let meets = !away && aside.abs() < 0.5 + radius && speed > 2.0 - half - radius;
        let wanted = meets && way > 2.0 * thickness;
        match world.warnings()[..] {
            [] => prop_assert!(!wanted),
            [Warning::Fast { body, other, way: reported, thickness: both, fps, .. }] => {
                prop_assert!(wanted);
                let [plate, ball] = [0, 1].map(|n| world.iter().nth(n).unwrap().id);
                prop_assert_eq!((body, other), (ball, plate));
                prop_assert!((reported / way - 1.0).abs() < 1e-12);
                prop_assert!((both / thickness - 1.0).abs() < 1e-12);
                prop_assert_eq!(at_fps(fps * 1.001).warnings(), vec![]);
            }
            ref warnings => prop_assert!(false, "{warnings:?}"),
        }
    }
}

/// Two nested boxes, separate ones, and static ones, which may overlap.
#[test]
fn tetrahedra_that_lack_parts_of_a_body_are_warned_of() {
    let warnings = |spacing: f64| {
        let text = format!(
            r#"version = 1
            [[body]]
            name = "rod"
            shape = {{ cylinder = {{ radius = 0.01, half_height = 0.5, spacing = 0.003 }} }}
            material = "concrete"
            fracture = {{ stress = {{ spacing = {spacing} }} }}
            "#
        );
        let scene = Scene::from_toml(&text).unwrap();
        let world = build(&scene, &BTreeMap::new()).unwrap().0;
        scene.piece_warnings(&world)
    };
    let coarse = warnings(0.4);
    assert!(
        matches!(&coarse[..], [PieceWarning::Lost { body, .. }] if body == "rod"),
        "{coarse:?}"
    );
    assert_eq!(warnings(0.02), []);
}

/// A box of 0.2 m with a lattice of 0.25 or 0.15 m resists an impact of eight times its strength; with 0.1 m it breaks.
#[test]
fn lattices_too_coarse_to_crack_are_warned_of() {
    let scene = |key: &str, spacing: f64| {
        let text = format!(
            "version = 1\n[[body]]\nname = \"thing\"\nmaterial = \"glass\"\n\
             shape = {{ box = {{ half_extents = [0.1, 0.1, 0.1] }} }}\n\
             fracture = {{ {key} = {{ spacing = {spacing} }} }}\n"
        );
        let scene = Scene::from_toml(&text).unwrap();
        let world = build(&scene, &BTreeMap::new()).unwrap().0;
        scene.piece_warnings(&world)
    };
    for key in ["lattice", "stress"] {
        let none = scene(key, 10.0);
        assert!(matches!(&none[..], [PieceWarning::Lost { lost: None, .. }]), "{none:?}");
        for spacing in [0.25, 0.15] {
            let warnings = scene(key, spacing);
            let [PieceWarning::Large { size, .. }] = &warnings[..] else { panic!("{warnings:?}") };
            assert!((size - 0.2).abs() < 0.02, "{size}");
            assert!(warnings[0].to_string().contains(&format!("a {key} spacing of at most half")));
        }
        assert_eq!(scene(key, 0.09), vec![]);
    }
}

/// A warning for every shape, even if nothing else is wrong with it.
#[test]
fn a_spacing_larger_than_the_body_is_reported() {
    let body = |shape: &str| {
        format!(
            "version = 1\n[simulation]\nframes = 1\n[pattern.p.voronoi]\npieces = 5\n[[body]]\n\
             name = \"thing\"\nmaterial = \"glass\"\nfracture = {{ pattern = \"p\" }}\nshape = {{ {shape} }}\n"
        )
    };
    for shape in [
        "box = { half_extents = [0.1, 0.1, 0.1], spacing = 100 }",
        "sphere = { radius = 0.1, spacing = 0.3 }",
        "cylinder = { radius = 0.1, half_height = 0.1, spacing = 1 }",
        "torus = { major = 0.1, minor = 0.03, spacing = 100 }",
        "combined = { spacing = 100, parts = [{ shape = { sphere = { radius = 0.1 } } }] }",
    ] {
        let case = Case::new(&[("scene.toml", &body(shape))]);
        let message = problem(case.run(&["check", "scene.toml"]).stderr);
        assert!(
            message.contains("too few to keep their mass: give a spacing"),
            "{shape}: {message}"
        );
    }
}

fn combined(parts: &str, keys: &str) -> String {
    format!(
        "version = 1\n[simulation]\nframes = 1\n[[body]]\nname = \"thing\"\ndensity = 1000\n\
         shape = {{ combined = {{ parts = [{parts}]{keys} }} }}\n"
    )
}

/// Spherical shells: the warning reports the wall thickness within 1 %. At the suggested spacing there is no warning,
/// and the mass is that of the closed form within 2 %.
#[test]
fn walls_thinner_than_two_cells_are_reported_with_a_spacing_that_helps() {
    let shell = |wall: f64, keys: &str| {
        let inner = 0.12 - wall;
        let parts = format!(
            "{{ shape = {{ sphere = {{ radius = 0.12 }} }} }}, \
             {{ shape = {{ sphere = {{ radius = {inner} }} }}, op = \"difference\" }}"
        );
        Scene::from_toml(&combined(&parts, keys)).unwrap()
    };
    let none = BTreeMap::new();
    for wall in [0.0056, 0.008, 0.011] {
        let warnings = shell(wall, "").wall_warnings(&none);
        let [sim::WallWarning { body, walls }] = &warnings[..] else { panic!("{wall}") };
        assert_eq!(body, "thing");
        assert!((walls.thickness / wall - 1.0).abs() < 0.01, "{walls:?} of {wall}");
        let scene = shell(wall, &format!(", spacing = {}", walls.resolves.unwrap()));
        assert_eq!(scene.wall_warnings(&none), vec![]);
        let (world, _) = build(&scene, &none).unwrap();
        let mass = world.iter().next().unwrap().body.mass_properties().unwrap().mass();
        let ball = |radius: f64| 4.0 / 3.0 * std::f64::consts::PI * f64::powi(radius, 3);
        let exact = 1000.0 * (ball(0.12) - ball(0.12 - wall));
        assert!((mass / exact - 1.0).abs() < 0.02, "{mass} kg, not {exact}");
    }
    assert_eq!(shell(0.013, "").wall_warnings(&none), vec![]);
    // walls of half a cell have no samples: the error gives the reason
    let error = build(&shell(0.003, ""), &none).unwrap_err();
    let sim::Cause::Walls(walls) = &error.cause else { panic!("{error}") };
    assert!((walls.thickness / 0.003 - 1.0).abs() < 0.01, "{walls:?}");
    // too thin for any spacing
    let none_helps = shell(0.0001, ", spacing = 0.01").wall_warnings(&none);
    assert!(matches!(&none_helps[..], [warning] if warning.walls.resolves.is_none()));
}

/// Edges and tapers are not walls.
#[test]
fn combined_solids_without_thin_walls_are_not_warned_of() {
    let part = |shape: &str| format!("{{ shape = {{ {shape} }} }}");
    let ball = part("sphere = { radius = 0.1 }");
    let rod = "cylinder = { radius = 0.05, half_height = 0.2 }";
    for parts in [
        ball.clone(),
        part("box = { half_extents = [0.1, 0.2, 0.3] }"),
        part("cone = { radius = 0.1, half_height = 0.1 }"),
        part("cone = { radius = 0.1, half_height = 0.03 }"),
        part(rod),
        format!(
            "{}, {{ shape = {{ {rod} }}, op = \"difference\" }}",
            part("box = { half_extents = [0.1, 0.1, 0.1] }")
        ),
        format!(
            "{ball}, {{ shape = {{ plane = {{ normal = [1, 1, 1], offset = -0.05 }} }}, op = \"intersection\" }}"
        ),
        format!(
            "{ball}, {{ shape = {{ sphere = {{ radius = 0.1 }} }}, position = [0, 0.05, 0], op = \"difference\" }}"
        ),
        format!("{ball}, {{ shape = {{ sphere = {{ radius = 0.1 }} }}, position = [0, 0.15, 0] }}"),
    ] {
        let scene = Scene::from_toml(&combined(&parts, "")).unwrap();
        assert_eq!(scene.wall_warnings(&BTreeMap::new()), vec![], "{parts}");
    }
}

/// The samples of a pan lose its walls of 2 mm and keep its bottom.
#[test]
fn check_and_run_tell_of_thin_walls() {
    let pan = "{ shape = { box = { half_extents = [0.2, 0.2, 0.2] } } }, { shape = { box = { \
        half_extents = [0.198, 0.2, 0.198] } }, position = [0, 0.1, 0], op = \"difference\" }";
    let case = Case::new(&[("scene.toml", &combined(pan, ""))]);
    for arguments in [&["check", "scene.toml"][..], &["run", "scene.toml", "-o", "a.glb"]] {
        let message = problem(case.run(arguments).stderr);
        let words = "warning: walls of thing are 0.002 m thick, 0.2 cells of 0.0103 m, \
            too few to keep their mass: give a spacing of at most 0.00099";
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn boxes_inside_boxes_are_reported_and_scenery_is_not() {
    let boxes = |x: f64, motion: &str| {
        world(&format!(
            "[[body]]\nname = \"large\"\nmotion = \"static\"\n\
             shape = {{ box = {{ half_extents = [1, 1, 1] }} }}\n\
             [[body]]\nname = \"small\"\nmotion = \"{motion}\"\n\
             shape = {{ box = {{ half_extents = [0.2, 0.2, 0.2] }} }}\nposition = [{x}, 0, 0]\n"
        ))
    };
    for (x, depth) in [(1.1, 0.1), (1.0, 0.2), (0.95, 0.25)] {
        let warnings = boxes(x, "dynamic").warnings();
        let [Warning::Inside { depth: reported, .. }] = warnings[..] else {
            panic!("{warnings:?}")
        };
        assert!((reported - depth).abs() < 1e-9, "{reported} at {x}");
        assert_eq!(boxes(x, "static").warnings(), vec![]);
    }
    // completely inside: at least as deep as its own size
    let warnings = boxes(0.3, "dynamic").warnings();
    assert!(matches!(warnings[..], [Warning::Inside { depth, .. }] if depth > 0.4), "{warnings:?}");
    for x in [1.2, 1.199, 2.0] {
        assert_eq!(boxes(x, "dynamic").warnings(), vec![], "{x}");
    }
}

/// Walls of 0.02 cells.
#[test]
fn warnings_of_very_thin_walls_do_not_round_to_zero_cells() {
    let cases = [
        (
            "combined = { spacing = 0.01, wall = 0.0002, parts = [{ shape = { sphere = { radius = 0.1 } } }] }",
            "cells of 0.01 m",
        ),
        ("mesh = { file = \"plate.obj\", spacing = 0.01 }", "nodes thick"),
        (
            "svg = { file = \"plate.svg\", depth = 0.0002, spacing = 0.01, size = 0.4 }",
            "nodes thick",
        ),
    ];
    let corners = [[0.0, 0.0], [0.4, 0.0], [0.4, 0.4], [0.0, 0.4]];
    let vertices = [0.0, 0.0002].map(|z| corners.map(|[x, y]| format!("v {x} {y} {z}\n")).concat());
    let sides =
        [[1, 2, 6, 5], [2, 3, 7, 6], [3, 4, 8, 7], [4, 1, 5, 8], [4, 3, 2, 1], [5, 6, 7, 8]];
    let faces = sides.map(|[a, b, c, d]| format!("f {a} {b} {c} {d}\n")).concat();
    let plate = vertices.concat() + &faces;
    for (shape, words) in cases {
        let text = format!(
            "version = 1\n[simulation]\nframes = 1\n[[body]]\nname = \"thing\"\nmotion = \"static\"\n\
             shape = {{ {shape} }}\n"
        );
        let svg =
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><rect width=\"9\" height=\"9\"/></svg>";
        let case = Case::new(&[("scene.toml", &text), ("plate.obj", &plate), ("plate.svg", svg)]);
        let message = problem(case.run(&["check", "scene.toml"]).stderr);
        assert!(message.contains(&format!("less than 0.1 {words}")), "{shape}: {message}");
    }
}

/// The lines are 2 mm wide; four nodes across a line need a spacing of 0.5 mm.
#[test]
fn warnings_of_thin_lines_in_svg_outlines_give_a_sufficient_spacing() {
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><path fill-rule=\"evenodd\" \
        d=\"M0 0H100V100H0Z M2 2V98H98V2Z\"/></svg>";
    let message = |fineness: &str| {
        let text = format!(
            "version = 1\n[simulation]\nframes = 1\n[[body]]\nname = \"frame\"\n\
             shape = {{ svg = {{ file = \"frame.svg\", size = 0.1, depth = 0.01{fineness} }} }}\n"
        );
        let case = Case::new(&[("scene.toml", &text), ("frame.svg", svg)]);
        problem(case.run(&["check", "scene.toml"]).stderr)
    };
    let coarse = message(", spacing = 0.0016");
    assert!(
        coarse.contains("the walls of frame.svg are 1.2 nodes thick: take spacing 0.00049"),
        "{coarse}"
    );
    for fineness in ["", ", spacing = 0.00049"] {
        assert!(!message(fineness).contains("thick"), "{fineness}");
    }
}

/// The volume of a box with rounded edges (Steiner's formula).
fn rounded_box(edges: [f64; 3], radius: f64) -> f64 {
    let [a, b, c] = edges.map(|edge| edge - 2.0 * radius);
    let pi = std::f64::consts::PI;
    a * b * c
        + 2.0 * radius * (a * b + b * c + c * a)
        + pi * radius * radius * (a + b + c)
        + 4.0 / 3.0 * pi * radius.powi(3)
}

/// Coarse samples of solids that are rotated against the axes of the grid, compared with closed forms of the volume. A
/// mass error above 8 % causes a warning with about this error, an error below 3 % causes none. At the spacing of the
/// warning the error is below 8 %.
#[test]
fn warnings_of_wrong_masses_give_the_error_and_a_sufficient_spacing() {
    let none = BTreeMap::new();
    let block = |[x, y, z]: [f64; 3]| {
        format!("box = {{ half_extents = [{}, {}, {}] }}", x / 2.0, y / 2.0, z / 2.0)
    };
    let pi = std::f64::consts::PI;
    let mut cases = Vec::new();
    for cells in [2.1, 2.4, 3.0, 4.0, 6.0] {
        let t = 0.01 * cells;
        cases.push((block([t; 3]), 0.0, t.powi(3)));
        cases.push((block([0.2, t, t]), 0.0, 0.2 * t * t));
        cases.push((block([0.2, 0.2, t]), 0.0, 0.04 * t));
        cases.push((format!("sphere = {{ radius = {} }}", t / 2.0), 0.0, pi / 6.0 * t.powi(3)));
    }
    for radius in [0.01, 0.02, 0.03, 0.04] {
        for edges in [[0.2, 0.1, 0.1], [0.2, 0.2, 0.1], [0.2, 0.3, 0.2]] {
            cases.push((block(edges), radius, rounded_box(edges, radius)));
        }
    }
    let mut coarse_count = 0;
    for (part, radius, volume) in cases {
        let scene = |spacing: f64| {
            let parts = format!(
                "{{ shape = {{ {part} }}, rotation = {{ axis = [1, 2, 3], degrees = 25 }} }}"
            );
            let keys = format!(", spacing = {spacing}, rounding = {radius}");
            Scene::from_toml(&combined(&parts, &keys)).unwrap()
        };
        let error = |scene: &Scene| {
            let (world, _) = build(scene, &none).unwrap();
            let mass = world.iter().next().unwrap().body.mass_properties().unwrap().mass();
            mass / (1000.0 * volume) - 1.0
        };
        let coarse = scene(0.01);
        let exact = error(&coarse);
        match &coarse.mass_warnings(&none)[..] {
            [] => assert!(exact.abs() < 0.08, "{part}, rounded by {radius}: {exact}, no warning"),
            [sim::MassWarning::Coarse { error: found, spacing, .. }] => {
                coarse_count += 1;
                assert!(exact.abs() > 0.03, "{part}, rounded by {radius}: {exact}, not {found}");
                assert!(
                    (exact - found).abs() < 0.05,
                    "{part}, rounded by {radius}: {exact}, not {found}"
                );
                let finer = error(&scene(*spacing));
                assert!(finer.abs() < 0.08, "{part}, rounded by {radius}: {finer} at {spacing} m");
            }
            other => panic!("{part}, rounded by {radius}: {other:?}"),
        }
    }
    assert!(coarse_count > 3, "{coarse_count}");
}

/// A smaller rounding of the same box causes no warning.
#[test]
fn a_rounding_larger_than_the_body_causes_a_warning() {
    let rounded = |radius: f64| {
        let block = "{ shape = { box = { half_extents = [0.1, 0.1, 0.1] } } }";
        let scene = combined(block, &format!(", rounding = {radius}"));
        let case = Case::new(&[("scene.toml", &scene)]);
        problem(case.run(&["check", "scene.toml"]).stderr)
    };
    let words = "the edges of thing stay sharp: no ball of its rounding of 0.11 m fits inside";
    assert!(rounded(0.11).contains(words), "{}", rounded(0.11));
    assert_eq!(rounded(0.05), "");
}

const CLOSED: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// Tests each option alone, and together with an option that has an effect.
#[test]
fn options_of_fracture_without_effect_are_noted() {
    let open = CLOSED.trim_end_matches("f 2 3 4\n");
    let case = Case::new(&[("closed.obj", CLOSED), ("open.obj", open)]);
    let new = ["pattern", "new", "voronoi:5", "-o", "a.pattern"];
    assert!(case.run(&new).status.success());
    let (exact, fixed) = ("the mesh is closed and cut exactly", "the pattern is fixed in the mesh");
    let random = "nothing about the pattern is random";
    for (mesh, pattern, options, noted) in [
        ("closed.obj", "voronoi:5", &["--spacing", "100"][..], Some(("--spacing", exact))),
        ("closed.obj", "voronoi:5", &["--nodes", "5000"], Some(("--nodes", exact))),
        ("closed.obj", "voronoi:5", &["--sign", "winding"], Some(("--sign", exact))),
        ("closed.obj", "voronoi:5", &["--sign", "strict"], None),
        ("open.obj", "voronoi:5", &["--spacing", "0.05"], None),
        ("closed.obj", "bricks:3x3", &["--at", "0,1,0"], Some(("--at", fixed))),
        (
            "closed.obj",
            "bricks:3x3",
            &["--normal", "1,0,0"],
            Some(("--normal", "the axes of the mesh")),
        ),
        ("closed.obj", "bricks:3x3", &["--seed", "2"], Some(("--seed", random))),
        ("closed.obj", "bricks:3x3,jitter=0.5", &["--seed", "2"], None),
        ("closed.obj", "a.pattern", &["--seed", "2"], Some(("--seed", random))),
        ("closed.obj", "a.pattern", &["--seed", "2", "--dust", "a.ply"], None),
        ("closed.obj", "radial:5x2", &["--at", "0,0,0", "--normal", "1,0,0", "--seed", "3"], None),
        (
            "closed.obj",
            "voronoi:5",
            &["--density", "2"],
            Some(("--density", "--json and --physics")),
        ),
        ("closed.obj", "voronoi:5", &["--density", "2", "--physics", "b.glb"], None),
    ] {
        let fracture = |output, options: &[&str]| {
            let start = ["fracture", mesh, "--pattern", pattern, "-o", output];
            let done = case.run(&[&start[..], options].concat());
            let message = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(done.status.success(), "{pattern}, {options:?}: {message}");
            (message, std::fs::read(case.folder.path().join(output)).unwrap())
        };
        let (message, pieces) = fracture("with.usda", options);
        assert_eq!(
            message.contains("note: "),
            noted.is_some(),
            "{pattern}, {options:?}: {message}"
        );
        let (_, plain) = fracture("plain.usda", &[]);
        if let Some((option, why)) = noted {
            assert!(message.contains(&format!("note: {option} has no effect: ")), "{message}");
            assert!(message.contains(why), "{message}");
            // the option has no effect
            assert!(pieces == plain, "{pattern}, {options:?}");
        }
        let (message, _) = fracture("quiet.usda", &[options, &["--quiet"]].concat());
        assert_eq!(message, "");
    }
}

#[test]
fn options_of_run_and_render_without_effect_are_noted() {
    let scene = crate::cli::SCENE;
    let anchored = scene.replace("velocity = [0, -6, 0]", "anchor = [{ plane = { offset = 0 } }]");
    let case = Case::new(&[("scene.toml", scene), ("anchored.toml", &anchored)]);
    let message = |arguments: &[&str]| {
        let done = case.run(arguments);
        let message = problem(done.stderr);
        assert!(done.status.success(), "{arguments:?}: {message}");
        message
    };
    let run = ["run", "scene.toml", "-o", "a.glb"];
    let with = |options: &[&'static str]| [&run[..], options].concat();
    let anchors = "note: --anchor-loads has no effect: no body of the scene has an anchor\n";
    assert!(message(&with(&["--anchor-loads", "a.csv"])).contains(anchors));
    assert!(!message(&with(&["--anchor-loads", "a.csv", "-q"])).contains("note"));
    let anchored = ["run", "anchored.toml", "-o", "b.glb", "--anchor-loads", "b.csv"];
    assert!(!message(&anchored).contains("note"));
    assert!(message(&with(&["--timings", "--json"])).contains("note: --timings has no effect: "));
    assert!(!message(&with(&["--timings"])).contains("note"));

    let render = ["render", "a.glb", "--size", "64x48"];
    let with = |options: &[&'static str]| [&render[..], options].concat();
    let columns = "note: the number of columns of --sheet has no effect: ";
    for (options, is_noted) in [
        (&["--sheet", "2x2", "-o", "a.gif"][..], true),
        (&["--sheet", "4", "-o", "a.gif"], false),
        (&["--sheet", "2x2", "-o", "a.png"], false),
        (&["--sheet", "3x2", "--beside", "a.glb", "-o", "a.png"], true),
        (&["--sheet", "4", "--beside", "a.glb", "-o", "a.png"], false),
    ] {
        let message = message(&with(options));
        assert_eq!(message.contains(columns), is_noted, "{options:?}: {message}");
    }
}
