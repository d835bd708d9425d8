use nalgebra::Isometry3;

use super::*;

const GOOD: &str = r#"version = 1

[pattern.shards.voronoi]
pieces = 35

[[body]]
name = "pot"
shape = { sphere = { radius = 0.2 } }
fracture = { pattern = "shards", strength = 2 }
"#;

/// The error for `GOOD` with one text replaced by another.
fn error(from: &str, to: &str) -> SceneError {
    assert!(GOOD.contains(from), "nothing to replace");
    Scene::from_toml(&GOOD.replace(from, to)).expect_err("must be refused")
}

/// Checks position and key of a rejected value and returns its problem.
fn refused(from: &str, to: &str, (line, column): (usize, usize), key: &str) -> String {
    match error(from, to) {
        SceneError::Value { place, invalid } => {
            assert_eq!(invalid.key, key);
            assert_eq!(place, TextPosition { line, column }, "{key} {}", invalid.problem);
            invalid.problem
        }
        other => panic!("{other}"),
    }
}

#[test]
fn defaults_are_those_of_the_documentation() {
    let scene = Scene::from_toml(GOOD).unwrap();
    assert_eq!(scene.simulation, Simulation::default());
    let body = &scene.bodies[0];
    assert_eq!((body.density(), body.restitution(), body.friction()), (1000.0, 0.3, 0.5));
    assert_eq!(body.motion, Motion::Dynamic);
    assert_eq!(body.pose(), Isometry3::identity());
    let fracture = body.fracture.as_ref().unwrap();
    assert_eq!((fracture.generations(), fracture.min_share, fracture.min_size), (1, None, 0.0));
    assert_eq!(
        scene.patterns["shards"],
        Pattern::Voronoi(Voronoi { pieces: 35, clustering: 0.5, noise: None, stretch: [1.0; 3] })
    );
}

#[test]
fn the_default_spacing_keeps_a_budget_and_resolves_walls_if_it_can() {
    let spacing = |half_extents, nodes| {
        Shape::Box(Cuboid { half_extents, spacing: None, nodes }).spacing().unwrap()
    };
    let count = |half: [f64; 3], h: f64| -> f64 {
        half.iter().map(|x| (2.0 * x / h).ceil() + 7.0).product()
    };
    let cube = [0.5; 3];
    assert!((0.9e5..=1e5).contains(&count(cube, spacing(cube, None))));
    assert!((0.9e4..=1e4).contains(&count(cube, spacing(cube, Some(10_000)))));
    let plate = [0.5, 0.5, 0.01];
    assert!(0.02 / spacing(plate, None) >= 4.0);
    let sheet = [0.5, 0.5, 0.001];
    assert!((1.9e6..=2e6).contains(&count(sheet, spacing(sheet, None))));
}

#[test]
fn wrong_choices_and_types_are_reported_in_the_terms_of_the_file() {
    let of_simulation = |text: &str| {
        let scene = GOOD.replace("\n[pattern", &format!("\n[simulation]\n{text}\n[pattern"));
        Scene::from_toml(&scene).expect_err("must be refused").to_string()
    };
    for (text, problem) in [
        (
            r#"solver = "manyfold""#,
            r#"`simulation.solver` cannot be "manyfold"; did you mean "manifold"?"#,
        ),
        (
            r#"contact.clamp = "hard""#,
            r#"`simulation.contact.clamp` cannot be "hard"; valid here: "#,
        ),
        (r#"fps = "thirty""#, r#"`simulation.fps` must be a number, not "thirty""#),
        ("frames = 1.5", "`simulation.frames` must be a whole number, zero or more, not 1.5"),
        ("gravity = [0, -9.81]", "`simulation.gravity` must be an array of 3 values, but holds 2"),
        ("gravity = 9.81", "`simulation.gravity` must be an array of 3 values, not 9.81"),
        ("sleep = 1", "`simulation.sleep` must be true or false, not 1"),
        (
            "frames = 2024-01-01",
            "`simulation.frames` must be a whole number, zero or more, not a date or time",
        ),
        (
            "frames = 18446744073709551616",
            "`simulation.frames` has a wrong value: the whole number needs more than 64 bits",
        ),
        (
            "fps = 1e400",
            "`simulation.fps` has a wrong value: the number is beyond the largest of 1.8e308",
        ),
        (
            "solver = { impulse = {}, manifold = {} }",
            "`simulation.solver` holds `impulse` and `manifold`: keep one kind",
        ),
        (
            "solver = { impulse = { a = 1 } }",
            "`simulation.solver.impulse` must be a name alone, not a table",
        ),
        ("contact = []", "`simulation.contact` must be a table, not an array"),
    ] {
        let message = of_simulation(text);
        assert!(message.contains(problem), "{text}: {message}");
    }
    let problem = refused("name = \"pot\"", "name = 3", (7, 8), "body[0].name");
    assert_eq!(problem, "must be text in quotes, not 3");
    let message = error("shape = { sphere = { radius = 0.2 } }", "shape = \"sphere\"").to_string();
    let wanted = "`body[0].shape` must be a table with the settings of this kind, not a name alone";
    assert!(message.contains(wanted), "{message}");
}

#[test]
fn an_unknown_key_is_located_and_the_nearest_named() {
    match error("radius", "radios") {
        SceneError::Unknown { place, key, nearest, known } => {
            assert_eq!(key, "body[0].shape.sphere.radios");
            assert_eq!(place, TextPosition { line: 8, column: 22 });
            assert_eq!(nearest.as_deref(), Some("radius"));
            assert_eq!(known, ["radius", "spacing", "nodes"]);
        }
        other => panic!("{other}"),
    }
    let message = error("name =", "nam = 1\nname =").to_string();
    assert_eq!(message, "line 7, column 1: unknown key `body[0].nam`, did you mean `name`?");
}

#[test]
fn a_key_like_no_other_lists_the_valid_ones() {
    let message = error("pieces = 35", "pieces = 35\nxyzzy = 2").to_string();
    assert!(message.ends_with(
        "`pattern.shards.voronoi.xyzzy`; valid here: pieces, clustering, stretch, noise"
    ));
}

#[test]
fn an_unknown_kind_is_located_and_the_nearest_named() {
    let message = error("sphere", "spere").to_string();
    assert_eq!(
        message,
        "line 8, column 11: unknown key `body[0].shape.spere`, did you mean `sphere`?"
    );
    let message = error("name = \"pot\"", "name = \"pot\"\nmotion = \"statik\"").to_string();
    assert!(message.contains("line 8, column 10") && message.ends_with("did you mean \"static\"?"));
}

#[test]
fn text_that_is_not_toml_says_where() {
    let error = error("[[body]]", "[[body]");
    assert!(
        matches!(error, SceneError::Syntax { place: TextPosition { line: 6, .. }, .. }),
        "{error}"
    );
}

#[test]
fn a_missing_key_is_named_with_its_table() {
    let problem = refused("pieces = 35", "", (3, 1), "pattern.shards.voronoi");
    assert_eq!(problem, "lacks the key `pieces`, which has no default");
    refused("version = 1", "", (1, 1), "the scene");
}

#[test]
fn a_value_of_the_wrong_type_is_located() {
    let problem = refused("35", "\"many\"", (4, 10), "pattern.shards.voronoi.pieces");
    assert_eq!(problem, "must be a whole number, zero or more, not \"many\"");
    refused("35", "-3", (4, 10), "pattern.shards.voronoi.pieces");
    refused("{ sphere", "{ plane = {}, sphere", (8, 9), "body[0].shape");
}

#[test]
fn values_that_cannot_be_simulated_are_located() {
    let with = |line: &str| format!("name = \"pot\"\n{line}");
    let name = "name = \"pot\"";
    refused("version = 1", "version = 2", (1, 11), "version");
    refused(name, &with("density = 0"), (8, 11), "body[0].density");
    refused(name, &with("density = nan"), (8, 11), "body[0].density");
    refused(name, &with("position = [0, nan, 0]"), (8, 12), "body[0].position");
    refused(name, &with("velocity = [0, inf, 0]"), (8, 12), "body[0].velocity");
    refused(name, &with("restitution = 1.5"), (8, 15), "body[0].restitution");
    refused(name, &with("friction = -1"), (8, 12), "body[0].friction");
    refused(name, &with("colour = [0, 2, 0]"), (8, 10), "body[0].colour");
    let still = with("velocity = [1, 0, 0]\nmotion = \"static\"");
    refused(name, &still, (9, 10), "body[0].motion");
    let axis = "rotation = { axis = [0, 0, 0], degrees = 9 }";
    refused(name, &with(axis), (8, 21), "body[0].rotation.axis");
    refused("radius = 0.2", "radius = 0", (8, 31), "body[0].shape.sphere.radius");
    refused("strength = 2", "strength = 0", (9, 45), "body[0].fracture.strength");
    let problem = refused("= \"shards\"", "= \"shard\"", (9, 24), "body[0].fracture.pattern");
    assert!(problem.ends_with("did you mean `shards`?"), "{problem}");
}

#[test]
fn materials_anchors_copies_and_limits_are_checked() {
    let name = "name = \"pot\"";
    let with = |line: &str| format!("{name}\n{line}");
    let problem = refused(name, &with("material = \"glas\""), (8, 12), "body[0].material");
    assert!(problem.ends_with("did you mean `glass`?"), "{problem}");
    refused(name, &with("roughness = 2"), (8, 13), "body[0].roughness");
    refused(name, &with("anchor = [{ to = \"pot\" }]"), (8, 18), "body[0].anchor[0].to");
    let two = "anchor = [{ plane = {}, sphere = { radius = 1 } }]";
    refused(name, &with(two), (8, 11), "body[0].anchor[0]");
    refused(name, &with("velocity = [1, 0, 0]\nanchor = [{}]"), (9, 10), "body[0].anchor");
    let copies = "copies = { count = [0, 1, 1], spacing = [1, 1, 1] }";
    refused(name, &with(copies), (8, 20), "body[0].copies.count");
    refused("strength = 2", "min_share = 0.2", (9, 12), "body[0].fracture");
    let bonds = "strength = 2, bonds = {}";
    refused("strength = 2", bonds, (9, 56), "body[0].fracture.bonds");
    let debris = |line: &str| format!("[debris]\n{line}\n[[body]]");
    refused("[[body]]", &debris("max_bodies = 0"), (7, 14), "debris.max_bodies");
    refused("[[body]]", &debris("max_new = 1"), (7, 11), "debris.max_new");
    refused("[[body]]", &debris("retire = { after = 0 }"), (7, 20), "debris.retire.after");
    let noise = "pieces = 35\nnoise = { amplitude = 1, frequency = 3 }";
    refused("pieces = 35", noise, (5, 23), "pattern.shards.voronoi.noise.amplitude");
}

#[test]
fn a_material_gives_what_the_body_does_not() {
    let scene = GOOD.replace(", strength = 2", "");
    let scene = scene.replace("name = \"pot\"", "name = \"pot\"\nmaterial = \"ice\"\nfriction = 1");
    let body = &Scene::from_toml(&scene).unwrap().bodies[0];
    assert_eq!((body.density(), body.friction(), body.restitution()), (917.0, 1.0, 0.3));
    assert_eq!(body.anchor_strength(), 1e6);
    let look = body.look();
    assert_eq!((look.material.as_str(), look.roughness), ("ice", 0.15));
    for material in Material::TABLE {
        assert!(material.solid().is_some(), "{} has no strength", material.name);
    }
}

#[test]
fn names_are_unique() {
    let twice =
        format!("{GOOD}\n[[body]]\nname = \"pot\"\nshape = {{ sphere = {{ radius = 1 }} }}\n");
    let error = Scene::from_toml(&twice).unwrap_err().to_string();
    assert!(error.starts_with("line 12, column 8: `body[1].name` `pot` is taken"), "{error}");
}

#[test]
fn a_level_set_that_would_not_fit_in_memory_is_refused() {
    let fine = "radius = 0.2, spacing = 0.00001";
    let problem = refused("radius = 0.2", fine, (8, 46), "body[0].shape.sphere.spacing");
    assert!(problem.contains("coarser"), "{problem}");
    let key = "body[0].shape.mesh.nodes";
    let cube = |n: &str| format!("{{ mesh = {{ file = \"a.obj\", nodes = {n} }} }}");
    let sphere = "{ sphere = { radius = 0.2 } }";
    refused(sphere, &cube("1000000000000"), (8, 44), key);
    refused(sphere, &cube("500"), (8, 44), key);
    refused(sphere, &cube("600, spacing = 0.1"), (8, 44), key);
}

#[test]
fn a_plane_must_be_static_and_whole() {
    let sphere = "{ sphere = { radius = 0.2 } }";
    refused(sphere, "{ plane = {} }", (6, 1), "body[0].motion");
    refused(sphere, "{ plane = {} }\nmotion = \"static\"", (10, 12), "body[0].fracture");
    refused(sphere, "{ plane = { normal = [0, 0, 0] } }", (8, 30), "body[0].shape.plane.normal");
}
