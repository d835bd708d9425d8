//! The JSON schema of scenes agrees with the parser of scenes.

use brisance::commands::SCHEMA;
use serde_json::Value;
use sim::scene::{Scene, SceneError};

/// The keys that the parser accepts at the position of the key `zzz` in `scene`.
fn keys(scene: &str) -> Vec<String> {
    match Scene::from_toml(scene) {
        Err(SceneError::Unknown { mut known, .. } | SceneError::Choice { mut known, .. }) => {
            known.sort();
            known
        }
        other => panic!("{scene}: {other:?}"),
    }
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn properties(pointer: &str) -> Vec<String> {
    let schema = schema();
    let at = schema.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}"));
    at["properties"].as_object().unwrap().keys().cloned().collect()
}

/// Kinds of shapes with separate keys.
const SHAPES: [&str; 15] = [
    "mesh",
    "pieces",
    "trimesh",
    "sphere",
    "box",
    "cylinder",
    "capsule",
    "cone",
    "torus",
    "plane",
    "combined",
    "polygon",
    "extruded",
    "svg",
    "heightfield",
];
/// Kinds of patterns with separate keys.
const PATTERNS: [&str; 7] =
    ["voronoi", "radial", "bricks", "slices", "points", "painted", "nested"];

#[test]
fn schema_and_reader_know_the_same_keys() {
    let body = "/properties/body/items";
    let pattern = "/properties/pattern/additionalProperties";
    let tables = [
        (String::new(), "zzz = 1".to_owned()),
        ("/properties/simulation".to_owned(), "[simulation]\nzzz = 1".to_owned()),
        (
            "/properties/simulation/properties/contact".to_owned(),
            "[simulation.contact]\nzzz = 1".to_owned(),
        ),
        (
            "/properties/simulation/properties/energy".to_owned(),
            "[simulation.energy]\nzzz = 1".to_owned(),
        ),
        (body.to_owned(), "[[body]]\nzzz = 1".to_owned()),
        (
            format!("{body}/properties/small_pieces"),
            "[[body]]\nsmall_pieces = { zzz = 1 }".to_owned(),
        ),
        (format!("{body}/properties/rotation"), "[[body]]\nrotation = { zzz = 1 }".to_owned()),
        (format!("{body}/properties/fracture"), "[[body]]\nfracture = { zzz = 1 }".to_owned()),
        (format!("{body}/properties/shape"), "[[body]]\nshape = { zzz = 1 }".to_owned()),
        (pattern.to_owned(), "[pattern.a]\nzzz = 1".to_owned()),
        ("/properties/debris".to_owned(), "[debris]\nzzz = 1".to_owned()),
        (
            "/properties/debris/properties/retire".to_owned(),
            "[debris]\nretire = { zzz = 1 }".to_owned(),
        ),
        (format!("{body}/properties/copies"), "[[body]]\ncopies = { zzz = 1 }".to_owned()),
        (
            format!("{body}/properties/fracture/properties/bonds"),
            "[[body]]\nfracture = { bonds = { zzz = 1 } }".to_owned(),
        ),
        (
            format!("{body}/properties/shape/properties/pieces/properties/bonds"),
            "[[body]]\nshape = { pieces = { bonds = { zzz = 1 } } }".to_owned(),
        ),
        (
            format!("{body}/properties/fracture/properties/stress"),
            "[[body]]\nfracture = { stress = { zzz = 1 } }".to_owned(),
        ),
        ("/properties/joints/items".to_owned(), "[[joints]]\nzzz = 1".to_owned()),
        (
            "/properties/joints/items/properties/motor".to_owned(),
            "[[joints]]\nmotor = { zzz = 1 }".to_owned(),
        ),
        (format!("{body}/properties/anchor/items"), "[[body]]\nanchor = [{ zzz = 1 }]".to_owned()),
        (
            format!("{pattern}/properties/radial/properties/noise"),
            "[pattern.a.radial]\nnoise = { zzz = 1 }".to_owned(),
        ),
    ];
    let kinds = SHAPES.map(|kind| {
        let pointer = format!("{body}/properties/shape/properties/{kind}");
        (pointer, format!("[[body]]\nshape = {{ {kind} = {{ zzz = 1 }} }}"))
    });
    let patterns = PATTERNS.map(|kind| {
        (format!("{pattern}/properties/{kind}"), format!("[pattern.a.{kind}]\nzzz = 1"))
    });
    let regions = ["sphere", "box", "plane"].map(|kind| {
        let pointer = format!("{body}/properties/anchor/items/properties/{kind}");
        (pointer, format!("[[body]]\nanchor = [{{ {kind} = {{ zzz = 1 }} }}]"))
    });
    let all = tables.into_iter().chain(kinds).chain(patterns).chain(regions);
    for (pointer, scene) in all {
        assert_eq!(properties(&pointer), keys(&scene), "{pointer}");
    }
}

#[test]
fn schema_and_reader_know_the_same_keys_of_a_lattice() {
    let lattice = "/properties/body/items/properties/fracture/properties/lattice";
    let scene = |keys: &str| format!("[[body]]\nfracture = {{ lattice = {{ {keys} }} }}");
    assert_eq!(properties(lattice), keys(&scene("zzz = 1")));
    for (pointer, own) in [
        ("noise", "noise = { zzz = 1 }"),
        ("cleave/items", "cleave = [{ zzz = 1 }]"),
        ("weak_spheres/items", "weak_spheres = [{ zzz = 1 }]"),
        ("strength_picture", "strength_picture = { zzz = 1 }"),
    ] {
        assert_eq!(properties(&format!("{lattice}/properties/{pointer}")), keys(&scene(own)));
    }
}

#[test]
fn schema_and_reader_know_the_same_choices() {
    let contact = "/properties/simulation/properties/contact/properties";
    let body = "/properties/body/items";
    for (pointer, scene) in [
        (format!("{body}/properties/motion"), "[[body]]\nmotion = \"zzz\""),
        (
            format!("{body}/properties/fracture/properties/lattice/properties/shards"),
            "[[body]]\nfracture = { lattice = { shards = \"zzz\" } }",
        ),
        ("/properties/joints/items/properties/kind".to_owned(), "[[joints]]\nkind = \"zzz\""),
        ("/properties/simulation/properties/solver".to_owned(), "[simulation]\nsolver = \"zzz\""),
        (
            "/properties/simulation/properties/rotation".to_owned(),
            "[simulation]\nrotation = \"zzz\"",
        ),
        (format!("{contact}/clamp"), "[simulation.contact]\nclamp = \"zzz\""),
        (format!("{contact}/levers"), "[simulation.contact]\nlevers = \"zzz\""),
        (format!("{contact}/friction_bounds"), "[simulation.contact]\nfriction_bounds = \"zzz\""),
    ] {
        let choices = schema().pointer(&format!("{pointer}/enum")).cloned().unwrap();
        let mut choices: Vec<String> = serde_json::from_value(choices).unwrap();
        choices.sort();
        assert_eq!(choices, keys(scene), "{pointer}");
    }
}

#[test]
fn schema_and_reader_know_the_same_keys_of_what_happens() {
    let body = "/properties/body/items";
    let tables = [
        ("/properties/wind".to_owned(), "[wind]\nzzz = 1".to_owned()),
        (
            "/properties/material/additionalProperties".to_owned(),
            "[material.a]\nzzz = 1".to_owned(),
        ),
        (
            format!("{body}/properties/keyframes/items"),
            "[[body]]\nkeyframes = [{ zzz = 1 }]".to_owned(),
        ),
        ("/properties/event/items".to_owned(), "[[event]]\nzzz = 1".to_owned()),
    ];
    let events = ["cut", "explode", "push"].map(|kind| {
        let pointer = format!("/properties/event/items/properties/{kind}");
        (pointer, format!("[[event]]\n{kind} = {{ zzz = 1 }}"))
    });
    for (pointer, scene) in tables.into_iter().chain(events) {
        assert_eq!(properties(&pointer), keys(&scene), "{pointer}");
    }
}

#[test]
fn schema_and_reader_know_the_same_materials() {
    let names = "/properties/body/items/properties/material/anyOf/0/enum";
    let names = schema().pointer(names).cloned().unwrap();
    let names: Vec<String> = serde_json::from_value(names).unwrap();
    let known = sim::scene::Material::TABLE.map(|m| m.name).into_iter();
    let aliases = fracture::Material::ALIASES.map(|[alias, _]| alias);
    assert_eq!(names, known.chain(aliases).collect::<Vec<_>>());
}

#[test]
fn the_defaults_of_the_schema_are_those_of_the_reader() {
    let scene = "version = 1\n[pattern.a.voronoi]\npieces = 9\n[[body]]\nname = \"a\"\n\
        shape = { sphere = { radius = 1 } }\nfracture = { pattern = \"a\", strength = 1, bonds = { strength = 1 } }\n\
        copies = { count = [1, 1, 1], spacing = [1, 1, 1] }\n[debris]\nretire = { after = 1 }\n";
    let scene = Scene::from_toml(scene).unwrap();
    let (body, simulation) = (&scene.bodies[0], &scene.simulation);
    let fracture = body.fracture.as_ref().unwrap();
    let schema = schema();
    let default = |pointer: &str| schema.pointer(pointer).unwrap()["default"].clone();
    let of_body = |key: &str| default(&format!("/properties/body/items/properties/{key}"));
    let of_run = |key: &str| default(&format!("/properties/simulation/properties/{key}"));
    let of_fracture = |key: &str| of_body(&format!("fracture/properties/{key}"));
    assert_eq!(of_run("fps").as_f64(), Some(simulation.fps));
    assert_eq!(of_run("frames").as_u64(), Some(simulation.frames as u64));
    assert_eq!(of_run("seed").as_u64(), Some(simulation.seed));
    let retire = scene.debris.retire.unwrap();
    let of_debris = |key: &str| default(&format!("/properties/debris/properties/{key}"));
    assert_eq!(of_debris("min_size").as_f64(), Some(scene.debris.min_size));
    assert_eq!(of_debris("retire/properties/slower_than").as_f64(), Some(retire.slower_than));
    assert_eq!(retire.then, sim::scene::Then::Keep);
    assert_eq!(of_debris("retire/properties/then").as_str(), Some("keep"));
    assert_eq!(of_body("copies/properties/jitter").as_f64(), Some(body.copies.unwrap().jitter));
    let duration = fracture.bonds.unwrap().duration;
    assert_eq!(of_fracture("bonds/properties/duration").as_f64(), Some(duration));
    assert_eq!(of_run("sleep").as_bool(), Some(simulation.sleep));
    let vector = |value: Value| serde_json::from_value::<[f64; 3]>(value).unwrap();
    assert_eq!(vector(of_run("gravity")), simulation.gravity);
    assert_eq!(of_body("density").as_f64(), Some(body.density()));
    assert_eq!(of_body("restitution").as_f64(), Some(body.restitution()));
    assert_eq!(of_body("friction").as_f64(), Some(body.friction()));
    assert_eq!(vector(of_body("colour")).map(|x| x as f32), body.look().color);
    assert_eq!(of_body("roughness").as_f64().map(|x| x as f32), Some(body.look().roughness));
    let wind = sim::scene::Wind::default();
    assert_eq!(
        vector(schema["properties"]["wind"]["properties"]["velocity"]["default"].clone()),
        wind.velocity
    );
    for (key, value) in [("density", wind.density), ("drag", wind.drag)] {
        let default = &schema["properties"]["wind"]["properties"][key]["default"];
        assert_eq!(default.as_f64(), Some(value));
    }
    let other = Scene::from_toml(
        "version = 1\n[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\nmaterial = \"glass\"\n\
         fracture = { lattice = { spacing = 0.3, cleave = [{ normal = [1, 0, 0], width = 1, factor = 0 }], strength_picture = { file = \"a.png\", corner = [0, 0, 0], across = [1, 0, 0], down = [0, 1, 0] } } }\n\
         [[body]]\nname = \"b\"\nshape = { sphere = { radius = 1 } }\nmaterial = \"glass\"\n\
         fracture = { stress = { spacing = 0.3 } }\n",
    )
    .unwrap();
    let models = other.bodies.iter().map(|body| body.fracture.as_ref().unwrap());
    let (lattice, stress) = models.fold((None, None), |(lattice, stress), fracture| {
        (lattice.or(fracture.lattice.as_ref()), stress.or(fracture.stress.as_ref()))
    });
    let (lattice, stress) = (lattice.unwrap(), stress.unwrap());
    let number = |key: &str| of_fracture(key).as_f64();
    assert_eq!(number("lattice/properties/duration"), Some(lattice.duration));
    assert_eq!(number("lattice/properties/randomness"), Some(lattice.randomness));
    let offset = number("lattice/properties/cleave/items/properties/offset");
    assert_eq!(offset, Some(lattice.cleave[0].offset));
    let darkest = number("lattice/properties/strength_picture/properties/darkest");
    assert_eq!(darkest, lattice.strength_picture.as_ref().map(|picture| picture.darkest));
    assert_eq!(of_fracture("lattice/properties/links").as_str(), Some("edges"));
    assert_eq!(lattice.links, sim::scene::LatticeLinks::Edges);
    assert_eq!((number("stress/properties/duration"), stress.duration), (None, None));
    assert_eq!(number("stress/properties/poisson"), Some(stress.poisson));
    assert_eq!(number("stress/properties/cracks"), Some(stress.cracks as f64));
    assert_eq!((of_fracture("generations").as_u64(), fracture.generations), (None, None));
    assert_eq!(number("min_size"), Some(fracture.min_size));
}
