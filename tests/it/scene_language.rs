//! Scene features: several files, materials, paths, wind and events.

use std::collections::BTreeMap;

use brisance::args::Arguments;
use clap::{CommandFactory, Parser};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use sim::scene::{FileError, Scene};
use sim::{Appearance, World, build};

use crate::cli::{Case, SCENE};
use crate::explosions::expected;

/// The sliding distance, m, of a block of a material on a floor from 2 m/s.
fn slides(block: &str, floor: &str) -> f64 {
    let (mut world, looks) = made(&format!(
        "version = 1\n[[body]]\nname = \"floor\"\nmotion = \"static\"\nshape = {{ plane = {{}} }}\n{floor}\n\
         [[body]]\nname = \"block\"\nshape = {{ box = {{ half_extents = [0.5, 0.1, 0.5] }} }}\n\
         position = [0, 0.1, 0]\nvelocity = [2, 0, 0]\nrestitution = 0\n{block}\n"
    ));
    let start = world.get(looks[1].body).unwrap().pose.translation.x;
    (0..600).for_each(|_| drop(world.step()));
    world.get(looks[1].body).unwrap().pose.translation.x - start
}

/// The sliding distance from a speed v is v^2 / (2 mu g).
#[test]
fn the_rule_of_friction_says_how_far_ice_slides_on_a_rough_floor() {
    let stops = |mu: f64| 4.0 / (2.0 * mu * 9.81);
    let (rough, ice) = ("friction = 0.8\n", "friction = 0.02\n");
    for (block, floor, mu) in [
        ("", "", 0.8),
        ("friction_rule = \"min\"", "", 0.02),
        ("", "friction_rule = \"average\"", 0.41),
        ("friction_rule = \"geometric_mean\"", "friction_rule = \"average\"", 0.016_f64.sqrt()),
        ("friction_rule = \"geometric_mean\"", "friction_rule = \"min\"", 0.02),
        ("friction_rule = \"multiply\"", "friction_rule = \"min\"", 0.016),
        ("friction_rule = \"multiply\"", "friction_rule = \"max\"", 0.8),
    ] {
        let way = slides(&format!("{ice}{block}"), &format!("{rough}{floor}"));
        // the block stops within a frame, in which it moves at most at its remaining speed
        let last = 0.5 * mu * 9.81 / 900.0;
        let close = (way - stops(mu)).abs() < 1e-3 * stops(mu) + last;
        assert!(close, "{block} {floor}: {way} m, not {}", stops(mu));
    }
    let way = slides("material = \"ice\"", "material = \"wood\"");
    assert!((way / stops(0.05) - 1.0).abs() < 1e-3, "{way}");
}

/// A body with impact speed v rebounds with the speed e v.
#[test]
fn the_rule_of_restitution_says_how_fast_a_ball_leaves() {
    for (rule, e) in [("", 0.4), ("\"max\"", 0.9), ("\"multiply\"", 0.36), ("\"average\"", 0.65)] {
        let rule =
            if rule.is_empty() { String::new() } else { format!("restitution_rule = {rule}") };
        let (mut world, looks) = made(&format!(
            "version = 1\n[simulation]\ngravity = [0, 0, 0]\n[[body]]\nname = \"floor\"\n\
             motion = \"static\"\nshape = {{ plane = {{}} }}\nrestitution = 0.4\n{rule}\n[[body]]\n\
             name = \"ball\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nposition = [0, 0.2, 0]\n\
             velocity = [0, -2, 0]\nrestitution = 0.9\ndensity = 1000\n"
        ));
        let ball = |world: &World| world.get(looks[1].body).unwrap().momentum.linear.y;
        let before = ball(&world);
        (0..10).for_each(|_| drop(world.step()));
        assert!((ball(&world) / before + e).abs() < 1e-9, "{rule}: {}", ball(&world) / before);
    }
}

/// Position and angular velocity of a ball of radius 0.1 m with additional lines on a floor, after some
/// seconds.
fn rolled(
    solver: &str,
    motion: &str,
    [ball, floor]: [&str; 2],
    seconds: usize,
) -> [Vector3<f64>; 2] {
    let (mut world, looks) = made(&format!(
        "version = 1\n[simulation]\nsolver = \"{solver}\"\nsleep = false\n[[body]]\nname = \"floor\"\n\
         motion = \"static\"\nshape = {{ plane = {{}} }}\n{floor}\n[[body]]\nname = \"ball\"\n\
         shape = {{ sphere = {{ radius = 0.1 }} }}\nposition = [0, 0.1, 0]\nrestitution = 0\n{motion}\n{ball}\n"
    ));
    let mut energy = f64::INFINITY;
    for _ in 0..30 * seconds {
        let report = world.step();
        let now = report.energy.kinetic + report.energy.potential;
        assert!(now <= energy + 1e-9, "{energy} {now}");
        energy = now;
    }
    let state = world.get(looks[1].body).unwrap();
    let mass = state.body.mass_properties().unwrap();
    let spin = mass.angular_velocity(&state.pose.rotation, &state.momentum.angular);
    [state.pose.translation.vector, spin]
}

/// A rolling ball loses 5/7 g c / r m/s each second, and a ball that spins about the vertical 5/2 g c / r^2
/// rad/s.
#[test]
fn rolling_and_spinning_friction_slow_a_ball_as_the_closed_form_says() {
    let rolls = "velocity = [1, 0, 0]\nangular_velocity = [0, 0, -10]";
    let lines = ["rolling_friction = 0.002", ""];
    let way = 1.0 / (2.0 * 5.0 / 7.0 * 9.81 * 0.02);
    for solver in ["manifold", "reference"] {
        for lines in [lines, [lines[1], lines[0]]] {
            let [place, spin] = rolled(solver, rolls, lines, 9);
            assert!((place.x / way - 1.0).abs() < 0.01, "{solver}: {} m of {way} m", place.x);
            assert!(spin.norm() < 0.01 && place.z.abs() < 1e-9, "{solver}: {spin}");
        }
        let spins = "angular_velocity = [0, 20, 0]";
        let [place, spin] = rolled(solver, spins, ["spinning_friction = 0.0005", ""], 5);
        let left = 20.0 - 2.5 * 9.81 * 0.0005 / 0.01 * 5.0;
        assert!((spin.y / left - 1.0).abs() < 0.01, "{solver}: {} rad/s of {left}", spin.y);
        assert!(place.x.abs() < 1e-9, "{solver}: {place}");
        let [place, _] = rolled(solver, rolls, ["", ""], 9);
        assert!((place.x - 9.0).abs() < 0.01, "{solver}: {} m without friction", place.x);
    }
}

fn made(text: &str) -> (World, Vec<Appearance>) {
    build(&Scene::from_toml(text).unwrap(), &BTreeMap::new()).unwrap()
}

/// A scene of files, the first of which includes the others.
fn read(files: &[(&str, &str)]) -> Result<Scene, FileError> {
    Scene::from_files(files[0].1, &mut |name| {
        let found = files[1..].iter().find(|(file, _)| *file == name);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "no such file".to_owned())
    })
}

const BALL: &str = "[[body]]\nname = \"ball\"\nshape = { sphere = { radius = 1 } }\n";

#[test]
fn included_files_come_first_and_once() {
    let cup = "[[body]]\nname = \"cup\"\nshape = { mesh = { file = \"cup.obj\", nodes = 729 } }\n";
    let cup = format!("include = [\"../materials.toml\"]\n{cup}material = \"putty\"\n");
    let materials = "[material.putty]\nlike = \"clay\"\ndensity = 1500\ncolour = [1, 0, 0]\n";
    let main = format!(
        "version = 1\ninclude = [\"./things/cup.toml\", \"materials.toml\"]\n{BALL}material = \"putty\"\n"
    );
    let files = [("", &*main), ("things/cup.toml", &cup), ("materials.toml", materials)];
    let scene = read(&files).unwrap();
    let names: Vec<&str> = scene.bodies.iter().map(|body| &*body.name).collect();
    assert_eq!(names, ["cup", "ball"]);
    assert_eq!(scene.mesh_files().collect::<Vec<_>>(), ["things/cup.obj"]);
    let ball = &scene.bodies[1];
    assert_eq!(ball.density(), 1500.0);
    assert_eq!(ball.solid().unwrap().tensile_strength, 8e6, "as clay");
    assert_eq!(ball.look().color, [1.0, 0.0, 0.0]);
}

#[test]
fn a_key_in_both_spellings_is_refused_at_the_second() {
    let red = "[1, 0, 0]";
    let of = |keys: [&str; 2]| {
        let [first, second] = keys.map(|key| format!("{key} = {red}\n"));
        let text = format!("version = 1\n{BALL}{first}density = 1000\n{second}");
        Scene::from_toml(&text).unwrap_err().to_string()
    };
    assert_eq!(
        of(["colour", "color"]),
        "line 7, column 1: `body[0].color` is the same key as `colour`: remove one of them"
    );
    assert_eq!(
        of(["inner_color", "inner_colour"]),
        "line 7, column 1: `body[0].inner_colour` is the same key as `inner_color`: remove one of them"
    );
    let material = format!("version = 1\n{BALL}[material.putty]\ncolor = {red}\ncolour = {red}\n");
    let message = Scene::from_toml(&material).unwrap_err().to_string();
    assert!(
        message.contains("line 7, column 1: `material.putty.colour` is the same key as `color`"),
        "{message}"
    );
}

#[test]
fn faults_of_included_files_are_reported_with_file_and_line() {
    let message_of = |main: &str, files: &[(&str, &str)]| {
        let files: Vec<_> = std::iter::once(("", main)).chain(files.iter().copied()).collect();
        read(&files).unwrap_err().to_string()
    };
    let main = format!("version = 1\n{BALL}");
    let with = |include: &str| format!("version = 1\ninclude = [{include}]\n{BALL}");
    assert_eq!(
        message_of(&with("\"a.toml\", \"no.toml\""), &[("a.toml", "")]),
        "line 2, column 22: `include[1]` names `no.toml`, which cannot be read (no such file): check \
         the path"
    );
    let cycle = [("a.toml", "include = [\"b.toml\"]"), ("b.toml", "\ninclude = [\"a.toml\"]")];
    assert_eq!(
        message_of(&with("\"a.toml\""), &cycle),
        "b.toml: line 2, column 12: `include[0]` names `a.toml`, which includes this file: remove one \
         of both"
    );
    let unknown = [("a.toml", "[[body]]\nname = \"a\"\ncolourr = [1, 1, 1]\n")];
    assert_eq!(
        message_of(&with("\"a.toml\""), &unknown),
        "a.toml: line 3, column 1: unknown key `body[0].colourr`, did you mean `colour`?"
    );
    // the second body of its file, but the third of the scene
    let (one, two) = (BALL.replace("ball", "one"), BALL.replace("ball", "two"));
    let late = format!("{two}{}density = -1\n", BALL.replace("ball", "three"));
    let message = message_of(
        &with("\"one.toml\", \"late.toml\""),
        &[("one.toml", &one), ("late.toml", &late)],
    );
    assert!(
        message.starts_with("late.toml: line 7, column 11: `body[1].density` must be"),
        "{message}"
    );
    let own = message_of(&format!("{}density = -1\n", with("\"one.toml\"")), &[("one.toml", &one)]);
    assert!(own.starts_with("line 6, column 11: `body[0].density` must be"), "{own}");
    let twice = message_of(
        &format!("{}[material.a]\ndensity = 1\n", with("\"a.toml\"")),
        &[("a.toml", "[material.a]\ndensity = 2\n")],
    );
    assert!(twice.contains("`material.a` is defined in `a.toml` too"), "{twice}");
    let text = Scene::from_toml(&with("\"a.toml\"")).unwrap_err().to_string();
    assert!(text.contains("only a scene in a file includes others"), "{text}");
    assert!(Scene::from_toml(&main).is_ok());
    let version = message_of(&with("\"a.toml\""), &[("a.toml", "version = 2")]);
    assert!(version.starts_with("a.toml: line 1, column 11: `version` is 2"), "{version}");
}

#[test]
fn the_program_finds_what_scenes_include() {
    let pieces = "[pattern.shards]\nfile = \"shards.pattern\"\n";
    let scene = SCENE.replace("[pattern.shards.voronoi]\npieces = 60\n", "");
    let scene = scene.replace("version = 1\n", "version = 1\ninclude = [\"parts/shards.toml\"]\n");
    let case = Case::new(&[("scene.toml", &scene)]);
    std::fs::create_dir(case.folder.path().join("parts")).unwrap();
    let part = case.folder.path().join("parts/shards.toml");
    case.refused(&["scene.toml: line 2", "parts/shards.toml", "check the path"]);
    std::fs::write(&part, "[pattern.shards]\nfil = \"shards.pattern\"\n").unwrap();
    case.refused(&["shards.toml: line 2", "`file`"]);
    std::fs::write(&part, pieces).unwrap();
    case.refused(&["shards.pattern", "cannot be read"]);
    std::fs::write(case.folder.path().join("parts/shards.pattern"), "what").unwrap();
    case.refused(&["shards.pattern"]);
    let new = ["pattern", "new", "voronoi:900", "--seed", "5", "-o", "parts/shards.pattern"];
    assert!(case.run(&new).status.success());
    let output = case.run(&["run", "scene.toml", "--json", "-q", "-o", "out.glb"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(summary["fragments"].as_u64().unwrap() > 3, "{summary}");
}

#[test]
fn what_scenes_cannot_say_is_refused_with_its_key() {
    let refused = |text: &str, words: &str| {
        let message = Scene::from_toml(&format!("version = 1\n{text}\n{BALL}")).unwrap_err();
        let message = message.to_string();
        assert!(message.contains(words), "{words:?} is not in: {message}");
    };
    refused("[material.glass]\ndensity = 1", "`material.glass` has the name of a known material");
    refused("[material.a]\nlike = \"glas\"", "`material.a.like` names no material `glas`, did you");
    refused("[material.a]\ndensity = 0", "`material.a.density` must be above 0");
    let noise = "noise = { amplitude = 0.01, frequency = 5 }";
    let preset = format!("[pattern.p]\npreset = \"glass\"\n{noise}");
    refused(&preset, "line 2, column 1: `pattern.p` holds `noise` and `preset`: keep one kind");
    let file = format!("[pattern.p]\nfile = \"a.pattern\"\n{noise}");
    refused(&file, "`pattern.p` holds `file` and `noise`: keep one kind");
    refused("[pattern.p]", "`pattern.p` must hold exactly one kind, as in `{ voronoi");
    let rims =
        "[pattern.p.voronoi]\npieces = 9\nnoise = { amplitude = 0.01, frequency = 5, rims = true }";
    refused(
        rims,
        "line 4, column 51: `pattern.p.voronoi.noise.rims` must be one of \"rough\", \"straight\"",
    );
    refused("[pattern]\np = { preset = 3 }", "must be one of \"glass\", \"concrete\", \"wood\"");
    refused("[wind]\ndrag = -1", "`wind.drag` must be above 0");
    refused("[[event]]\ntime = 1", "`event[0]` needs exactly one of the keys");
    refused(
        "[[event]]\ntime = -1\npush = { body = \"ball\", impulse = [0, 0, 0] }",
        "`event[0].time`",
    );
    let push = "[[event]]\ntime = 1\npush = { body = \"bal\", impulse = [0, 0, 0] }";
    refused(push, "`event[0].push.body` names no dynamic body `bal`, did you mean `ball`?");
    let blast = "[[event]]\ntime = 1\nexplode = { at = [0, 0, 0], radius = 0, impulse = 1 }";
    refused(blast, "`event[0].explode.radius` must be above 0");
    let cut =
        |from: &str, to: &str| format!("[[event]]\ntime = 1\ncut = {{ from = {from}, to = {to} }}");
    let edge = "[[0, 0, 0], [1, 0, 0]]";
    for (from, to) in
        [(edge, edge), ("[[0, 0, 0], [0, 0, 0]]", edge), (edge, "[[2, 0, 0], [3, 0, 0]]")]
    {
        refused(&cut(from, to), "`event[0].cut.to` must be another place than `from`");
    }
    refused(
        &cut(edge, "[[0, -1, 0.5], [1, -1, -0.5]]"),
        "`event[0].cut.to` is 0.500 m out of the plane",
    );
    let color = "[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\ncolor = [255, 0, 0]";
    refused(color, "].color` must");
    let body = "[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\n";
    for (copies, why) in [
        ("mirror = true", "copies.mirror` must be \"x\", \"y\" or \"z\", not true"),
        ("mirror = \"w\"", "copies.mirror` cannot be \"w\"; valid here: \"x\", \"y\", \"z\""),
        ("mirror = \"x\", mirror_at = nan", "must be a finite number of at most 1e9 m, not NaN"),
        (
            "mirror = \"x\", count = [100, 100, 1], spacing = [3, 3, 0]",
            "makes 100 x 100 x 1 copies and their mirror images, 20000 in all, more than 10000",
        ),
    ] {
        refused(&format!("{body}copies = {{ {copies} }}"), why);
    }
    refused(&format!("{body}keyframes = []"), "only a kinematic body");
    let body = format!("{body}motion = \"kinematic\"\n");
    refused(&format!("{body}keyframes = []"), "`body[0].keyframes` is empty");
    let key = "{ time = 1, position = [0, 0, 0] }";
    refused(
        &format!("{body}keyframes = [{key}, {key}]"),
        "`body[0].keyframes[1].time` must be after",
    );
    refused(&format!("{body}position = [1, 0, 0]\nkeyframes = [{key}]"), "remove its `position`");
}

#[test]
fn a_body_on_a_path_is_where_its_keyframes_say() {
    let scene = "version = 1\n[simulation]\ngravity = [0, 0, 0]\n[[body]]\nname = \"ram\"\n\
        shape = { box = { half_extents = [0.1, 0.2, 0.3] } }\nmotion = \"kinematic\"\n\
        keyframes = [{ time = 0.1, position = [0, 1, 0] }, { time = 0.6, position = [2, 1, -1], \
        rotation = { axis = [1, 1, 0], degrees = 150 } }]\n";
    let (mut world, _) = made(scene);
    let turn = UnitQuaternion::from_axis_angle(
        &nalgebra::Unit::new_normalize(Vector3::new(1.0, 1.0, 0.0)),
        150_f64.to_radians(),
    );
    let ends = [
        Isometry3::translation(0.0, 1.0, 0.0),
        Isometry3::from_parts(nalgebra::Translation3::new(2.0, 1.0, -1.0), turn),
    ];
    for frame in 1..=30 {
        world.step();
        let share = ((f64::from(frame) / 30.0 - 0.1) / 0.5).clamp(0.0, 1.0);
        let wanted = ends[0].lerp_slerp(&ends[1], share);
        let pose = *world.iter().next().unwrap().pose;
        let apart = pose.inv_mul(&wanted);
        assert!(apart.translation.vector.norm() < 1e-9, "frame {frame}: {apart}");
        assert!(apart.rotation.angle() < 1e-7, "frame {frame}: {apart}");
    }
}

#[test]
fn a_lift_on_a_path_carries_what_rests_on_it() {
    let scene = "version = 1\n[[body]]\nname = \"lift\"\nmotion = \"kinematic\"\n\
        shape = { box = { half_extents = [1, 0.1, 1] } }\n\
        keyframes = [{ time = 0, position = [0, -0.1, 0] }, { time = 2, position = [0, 0.9, 1] }]\n\
        [[body]]\nname = \"box\"\nshape = { box = { half_extents = [0.1, 0.1, 0.1] } }\n\
        position = [0, 0.1, 0]\nfriction = 0.8\nrestitution = 0\n";
    let (mut world, appearances) = made(&scene.replace("motion", "friction = 0.8\nmotion"));
    for _ in 0..60 {
        world.step();
    }
    let carried = world.get(appearances[1].body).unwrap();
    let there = carried.pose.translation.vector - Vector3::new(0.0, 1.1, 1.0);
    assert!(there.norm() < 0.03, "{there}");
    let velocity = carried.body.velocity(&carried.pose.rotation, carried.momentum);
    assert!((velocity.linear - Vector3::new(0.0, 0.5, 0.5)).norm() < 0.02, "{velocity:?}");
}

#[test]
fn wind_slows_a_falling_ball_to_its_terminal_speed() {
    let scene = "version = 1\n[simulation]\nfps = 60\n[wind]\nvelocity = [3, 0, 0]\ndensity = 1.2\n\
        drag = 0.5\n[[body]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\ndensity = 30\n";
    let (mut world, _) = made(scene);
    for _ in 0..600 {
        world.step();
    }
    let state = world.iter().next().unwrap();
    let mass = state.body.mass_properties().unwrap().mass();
    let velocity = state.momentum.linear / mass;
    // half rho c A v^2 = m g in moving air
    let area = std::f64::consts::PI * 0.01;
    let terminal = (2.0 * mass * 9.81 / (1.2 * 0.5 * area)).sqrt();
    assert!((velocity.x - 3.0).abs() < 0.05, "{velocity}");
    // within half a step of gravity
    assert!((velocity.y + terminal).abs() < 9.81 / 60.0, "{velocity} is not {terminal}");
}

#[test]
fn a_push_gives_its_impulse_at_its_time() {
    let scene = "version = 1\n[simulation]\ngravity = [0, 0, 0]\n[[body]]\nname = \"ball\"\n\
        shape = { sphere = { radius = 0.1 } }\n[[event]]\ntime = 0.5\n\
        push = { body = \"ball\", impulse = [1, 2, 3], at = [0, 0.1, 0] }\n";
    let (mut world, _) = made(scene);
    for frame in 1..=20 {
        let report = world.step();
        let state = world.iter().next().unwrap();
        let pushed = if frame > 15 { Vector3::new(1.0, 2.0, 3.0) } else { Vector3::zeros() };
        assert!((state.momentum.linear - pushed).norm() < 1e-12, "frame {frame}");
        let turned = Vector3::new(0.0, 0.1, 0.0).cross(&pushed);
        assert!((state.momentum.angular - turned).norm() < 1e-12, "frame {frame}");
        let gain = if frame == 16 { report.energy.kinetic } else { 0.0 };
        assert!((report.energy.work - gain).abs() < 1e-12, "the push does work, {report:?}");
    }
}

#[test]
fn an_explosion_pushes_away_and_breaks() {
    let scene = "version = 1\n[simulation]\ngravity = [0, 0, 0]\n[pattern.shards.voronoi]\npieces = 9\n\
        [[body]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\nposition = [0.5, 0, 0]\n\
        [[body]]\nname = \"far\"\nshape = { sphere = { radius = 0.1 } }\nposition = [0, 2.5, 0]\n\
        [[body]]\nname = \"glass\"\nshape = { sphere = { radius = 0.1, spacing = 0.02 } }\n\
        position = [-0.5, 0, 0]\nfracture = { pattern = \"shards\", strength = 4 }\n\
        [[event]]\ntime = 0\nexplode = { at = [0, 0, 0], radius = 2, impulse = 300 }\n";
    let (mut world, appearances) = made(scene);
    let report = world.step();
    let ball = world.get(appearances[0].body).unwrap();
    let impulse = expected(0.1, 0.5, 2.0, 300.0);
    let off = (ball.momentum.linear - Vector3::x() * impulse).norm();
    assert!(off < 0.01 * impulse, "{:?} for {impulse}", ball.momentum);
    let far = world.get(appearances[1].body).unwrap();
    assert_eq!(far.momentum.linear, Vector3::zeros());
    let [fracture] = &report.events.fractures[..] else { panic!("{:?}", report.events.fractures) };
    assert_eq!(fracture.parent, appearances[2].body);
    assert!((fracture.point - Point3::new(-0.4, 0.0, 0.0)).norm() < 0.02, "{}", fracture.point);
    for piece in &fracture.fragments {
        let piece = world.get(*piece).unwrap();
        assert!(piece.momentum.linear.dot(&piece.pose.translation.vector) > 0.0);
    }
}

#[test]
fn a_cut_falls_at_its_time() {
    let scene = "version = 1\n[simulation]\ngravity = [0, 0, 0]\n[pattern.shards.voronoi]\npieces = 9\n\
        [[body]]\nname = \"loaf\"\nshape = { box = { half_extents = [0.3, 0.1, 0.1], spacing = 0.02 } }\n\
        fracture = { pattern = \"shards\", strength = 100 }\n[[event]]\ntime = 0.1\n\
        cut = { from = [[0.1, 0.3, -1], [0.1, 0.3, 1]], to = [[0.1, -0.3, -1], [0.1, -0.3, 1]] }\n";
    let (mut world, _) = made(scene);
    let mass = world.mass();
    let counts: Vec<usize> = (0..6).map(|_| world.step().events.fractures.len()).collect();
    assert_eq!(counts, [0, 0, 0, 1, 0, 0]);
    let mut masses: Vec<f64> =
        world.iter().map(|s| s.body.mass_properties().unwrap().mass() / mass).collect();
    masses.sort_by(f64::total_cmp);
    let thirds = masses.len() == 2 && (masses[0] - 1.0 / 3.0).abs() < 0.03;
    assert!(thirds, "{masses:?}");
}

#[test]
fn more_frames_per_second_take_as_long() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let run = ["run", "scene.toml", "-q", "--json", "-o", "out.glb", "--fps", "60"];
    let frames = |options: &[&str]| {
        let output = case.run(&[&run[..], options].concat());
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        summary["frames"].as_u64()
    };
    assert_eq!(frames(&[]), Some(25));
    assert_eq!(frames(&["--frames", "7"]), Some(8));
}

/// The help lines of a command and its subcommands that call the program.
fn examples(command: &mut clap::Command) -> Vec<String> {
    let help = command.render_long_help().to_string();
    let lines = help.lines().filter_map(|line| line.strip_prefix("  brisance "));
    let mut found: Vec<String> = lines.map(str::to_owned).collect();
    command.get_subcommands_mut().for_each(|below| found.extend(examples(below)));
    found
}

#[test]
fn examples_of_the_help_are_commands_of_the_program() {
    let found = examples(&mut Arguments::command());
    assert!(found.len() > 25, "{found:?}");
    for example in found {
        let words = example.split_whitespace().take_while(|word| *word != ">");
        let parsed = Arguments::try_parse_from(std::iter::once("brisance").chain(words));
        assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
    }
}

/// Lines within paragraphs of the help of a command and its subcommands: a paragraph must be one line.
fn cut_paragraphs(command: &mut clap::Command) -> Vec<String> {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
    let lines: Vec<&str> = after.lines().collect();
    let pairs = lines.windows(2).filter(|pair| pair.iter().all(|line| is_prose(line)));
    let mut found: Vec<String> = pairs.map(|pair| pair[1].to_owned()).collect();
    command.get_subcommands_mut().for_each(|below| found.extend(cut_paragraphs(below)));
    found
}

/// The help is wrapped to the width of the terminal, so its paragraphs have no line breaks.
#[test]
fn paragraphs_of_the_help_are_wrapped_as_a_whole() {
    assert_eq!(cut_paragraphs(&mut Arguments::command()), Vec::<String>::new());
}

/// Checks the keys and types of `value` against the schema of the `--json` output.
fn assert_fits(schema: &serde_json::Value, value: &serde_json::Value, path: &str) {
    let kinds = match &schema["type"] {
        serde_json::Value::String(kind) => vec![kind.as_str()],
        kinds => kinds.as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).collect(),
    };
    let fits = kinds.iter().any(|kind| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{path}: type {other}"),
    });
    assert!(fits, "{path}: {value} is not of {kinds:?}");
    if let Some(object) = value.as_object() {
        let known = schema["properties"].as_object().unwrap();
        let keys: Vec<&String> = object.keys().collect();
        assert_eq!(keys, known.keys().collect::<Vec<_>>(), "{path}");
        object.iter().for_each(|(k, v)| assert_fits(&known[k], v, &format!("{path}.{k}")));
    }
    for (n, item) in value.as_array().into_iter().flatten().enumerate() {
        assert_fits(&schema["items"], item, &format!("{path}[{n}]"));
    }
}

/// A schema with its references resolved.
fn resolved(schema: &serde_json::Value, root: &serde_json::Value) -> serde_json::Value {
    if let Some(at) = schema["$ref"].as_str() {
        return resolved(root.pointer(at.strip_prefix('#').unwrap()).unwrap(), root);
    }
    match schema {
        serde_json::Value::Object(map) => {
            map.iter().map(|(key, part)| (key.clone(), resolved(part, root))).collect()
        }
        other => other.clone(),
    }
}

#[test]
fn what_is_printed_as_json_is_as_documented() {
    let schema = include_str!("../../docs/json-output.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let schema = resolved(&schema, &schema);
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let sunk = SCENE.replace("position = [0, 0.15, 0]", "position = [0, 0.05, 0]");
    let fast = SCENE
        .replace("shape = { plane = {} }", "shape = { box = { half_extents = [1, 0.01, 1] } }");
    let fast = fast.replace("velocity = [0, -6, 0]", "velocity = [0, -60, 0]");
    // its pieces would break into thousands
    let fast = fast.replace("break_impulse = 1", "break_impulse = 1, generations = 1");
    assert!(sunk != SCENE && fast.contains("-60") && fast.contains("generations"));
    let scenes = [("scene.toml", SCENE), ("sunk.toml", &sunk), ("fast.toml", &fast)];
    let case = Case::new(&[&scenes[..], &[("thing.obj", mesh)]].concat());
    assert!(case.run(&["pattern", "new", "voronoi:9", "-o", "nine.pattern"]).status.success());
    let sampled = ["voxelize", "thing.obj", "--nodes", "1728", "-o", "thing.lset"];
    assert!(case.run(&sampled).status.success());
    for (name, command) in [
        ("run", &["run", "scene.toml", "-o", "out.glb"][..]),
        ("check", &["check", "scene.toml"]),
        ("check", &["check", "sunk.toml"]),
        ("check", &["check", "fast.toml"]),
        ("fracture", &["fracture", "thing.obj", "--pattern", "slices:2", "-o", "parts.glb"]),
        ("bond", &["bond", "parts.glb", "-o", "bonded.toml"]),
        ("recording", &["info", "out.glb"]),
        ("mesh", &["info", "thing.obj"]),
        ("pattern", &["info", "nine.pattern"]),
        ("level_set", &["info", "thing.lset"]),
    ] {
        let output = case.run(&[command, &["--json", "--quiet"]].concat());
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_fits(&schema["$defs"][name], &value, name);
        if let Some(warnings) = value["warnings"].as_array() {
            let warned = ["sunk.toml", "fast.toml"].contains(&command[1]);
            assert_eq!(warnings.len(), usize::from(warned), "{value}");
        }
        // the program does not overwrite the meshes of bonded pieces
        if !["run", "bond"].contains(&name) {
            let quiet = case.run(&[command, &["--quiet"]].concat());
            assert!(quiet.status.success() && quiet.stdout.is_empty());
        }
    }
}

/// A door rotates about its hinge, which is the origin of its shape and not its center of mass.
#[test]
fn keyframes_lead_the_origin_of_a_shape() {
    let text = "version = 1\n[[body]]\nname = \"door\"\nmotion = \"kinematic\"\n\
        shape = { polygon = { corners = [[0, 0], [1, 0], [1, 2], [0, 2]], depth = 0.1 } }\n\
        keyframes = [{ time = 0, position = [0.5, 0, 0] }, { time = 1, position = [0.5, 0, 0], \
        rotation = { axis = [0, 1, 0], degrees = 90 } }]\n";
    let (mut world, bodies) = made(text);
    for frame in 0..=30 {
        let pose = *world.get(bodies[0].body).unwrap().pose;
        let angle = std::f64::consts::FRAC_PI_2 * f64::from(frame.min(30)) / 30.0;
        // the center of the door is half a meter from the hinge
        let center = nalgebra::Vector3::new(0.5 + 0.5 * angle.cos(), 1.0, -0.5 * angle.sin());
        let off = (pose.translation.vector - center).norm();
        assert!(off < 1e-9, "frame {frame}: {off} m");
        world.step();
    }
}
