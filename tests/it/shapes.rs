//! Shapes combined from others or drawn by pictures.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use levelset::TriMesh;
use nalgebra::{Point3, UnitQuaternion, Vector3};
use sim::World;
use sim::scene::Scene;

use crate::cli::Case;
use crate::glb::glb;

fn world(body: &str) -> World {
    let text =
        format!("version = 1\n[pattern.a.voronoi]\npieces = 9\n[[body]]\nname = \"a\"\n{body}\n");
    let scene = Scene::from_toml(&text).unwrap_or_else(|e| panic!("{body}: {e}"));
    sim::build(&scene, &BTreeMap::new()).unwrap().0
}

/// The volume of a shape, m^3.
fn volume(shape: &str) -> f64 {
    let world = world(&format!("density = 1\nshape = {shape}"));
    world.iter().next().unwrap().body.mass_properties().unwrap().mass()
}

const BOX: &str = "{ shape = { box = { half_extents = [0.5, 0.3, 0.4] } } }";

#[test]
fn combined_shapes_have_the_volumes_of_their_closed_forms() {
    let ball = 4.0 / 3.0 * PI;
    let hollow = |wall: f64| ball * (0.5_f64.powi(3) - (0.5 - wall).powi(3));
    let r = 0.1;
    let [a, b, c] = [1.0 - 2.0 * r, 0.6 - 2.0 * r, 0.8 - 2.0 * r];
    let round =
        a * b * c + 2.0 * r * (a * b + b * c + c * a) + PI * r * r * (a + b + c) + ball * r.powi(3);
    for (parts, more, expected) in [
        (BOX.to_owned(), "", 0.48),
        (
            format!(
                "{BOX}, {{ shape = {{ cylinder = {{ radius = 0.2, half_height = 1 }} }}, op = \"difference\" }}"
            ),
            "",
            0.48 - PI * 0.04 * 0.6,
        ),
        (
            format!(
                "{BOX}, {{ shape = {{ plane = {{ normal = [1, 1, 0] }} }}, op = \"intersection\" }}"
            ),
            "",
            0.24,
        ),
        (
            format!(
                "{BOX}, {{ shape = {{ box = {{ half_extents = [0.1, 0.3, 0.4] }} }}, position = [0.5, 0, 0] }}"
            ),
            "",
            0.48 + 0.1 * 0.6 * 0.8,
        ),
        (
            format!(
                "{BOX}, {{ shape = {{ box = {{ half_extents = [1, 0.2, 0.2] }} }}, op = \"intersection\", \
                  rotation = {{ axis = [1, 0, 0], degrees = 45 }} }}"
            ),
            "",
            0.16,
        ),
        ("{ shape = { sphere = { radius = 0.5 } } }".to_owned(), "wall = 0.1, ", hollow(0.1)),
        (BOX.to_owned(), "rounding = 0.1, ", round),
    ] {
        let found =
            volume(&format!("{{ combined = {{ {more}spacing = 0.02, parts = [{parts}] }} }}"));
        assert!((found / expected - 1.0).abs() < 0.015, "{more}{parts}: {found}, not {expected}");
    }
}

/// Read by the gltf crate, with bitwise equal vertices merged.
#[test]
fn unbroken_primitives_have_no_gap_where_equal_positions_are_welded() {
    let breaks = "fracture = { pattern = \"a\", break_impulse = 1 }\n";
    for shape in [
        "{ sphere = { radius = 0.3 } }",
        "{ box = { half_extents = [0.1, 0.2, 0.3] } }",
        "{ cylinder = { radius = 0.3, half_height = 0.2 } }",
        "{ capsule = { radius = 0.3, half_height = 0.2 } }",
        "{ cone = { radius = 0.3, half_height = 0.2 } }",
        "{ torus = { major = 0.3, minor = 0.1 } }",
        "{ polygon = { corners = [[0, 0], [0.3, 0.1], [0.2, 0.4]], depth = 0.1 } }",
        "{ combined = { rounding = 0.05, parts = [{ shape = { box = { half_extents = [0.1, 0.2, 0.3] } } }] } }",
    ] {
        for keys in ["", breaks] {
            let world = world(&format!("position = [0.1, 0.7, -0.3]\n{keys}shape = {shape}"));
            let recording = sim::Recorder::new(&world, &[]).finish();
            let file = gltf::Gltf::from_slice(&glb(&recording)).unwrap();
            let mut places: BTreeMap<[u32; 3], u32> = BTreeMap::new();
            let mut mesh = TriMesh::default();
            for primitive in file.meshes().flat_map(|mesh| mesh.primitives()) {
                let reader = primitive.reader(|_| file.blob.as_deref());
                let positions: Vec<[f32; 3]> = reader.read_positions().unwrap().collect();
                let welded = positions.iter().map(|p| {
                    let next = places.len() as u32;
                    *places.entry(p.map(f32::to_bits)).or_insert_with(|| {
                        mesh.vertices.push(Point3::from(p.map(f64::from)));
                        next
                    })
                });
                let welded: Vec<u32> = welded.collect();
                let indices: Vec<u32> = reader.read_indices().unwrap().into_u32().collect();
                let triangles = indices.as_chunks::<3>().0;
                mesh.triangles.extend(triangles.iter().map(|t| t.map(|v| welded[v as usize])));
            }
            let facts = mesh.facts().unwrap();
            assert_eq!(facts.open_edges, 0, "{keys}{shape}");
            assert!(mesh.signed_volume() > 0.0);
        }
    }
}

#[test]
fn a_combined_body_comes_apart_into_exact_pieces() {
    let mut world = world(
        "density = 1000\nposition = [0, 2, 0]\nvelocity = [0, -5, 0]\n\
         fracture = { pattern = \"a\", break_impulse = 0.1, generations = 1 }\n\
         shape = { combined = { wall = 0.05, spacing = 0.02, parts = [{ shape = { sphere = { radius = 0.3 } } }] } }\n\
         [[body]]\nname = \"floor\"\nmotion = \"static\"\nshape = { plane = {} }",
    );
    let mass = |world: &World| -> f64 {
        world.iter().filter_map(|state| Some(state.body.mass_properties()?.mass())).sum()
    };
    let before = mass(&world);
    (0..30).for_each(|_| drop(world.step()));
    assert!(world.len() > 5, "{} bodies", world.len());
    assert!((mass(&world) / before - 1.0).abs() < 1e-9);
    let solids = world.iter().filter_map(|state| state.solid);
    assert!(solids.filter(|solid| !solid.geometry.is_exact()).count() == 0);
}

#[test]
fn pictures_make_shapes_of_the_volume_that_they_show() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets");
    let case = Case::new(&[]);
    let scene = format!(
        "version = 1\n[[body]]\nname = \"star\"\ndensity = 1\n\
         shape = {{ extruded = {{ picture = \"{root}/star.png\", size = [2, 2], depth = 0.5, spacing = 0.02 }} }}\n\
         [[body]]\nname = \"hills\"\ndensity = 1\nshape = {{ heightfield = {{ picture = \"{root}/hills.png\", \
         size = [2, 2], height = 0.5, base = 0.2, spacing = 0.02 }} }}\n\
         [[body]]\nname = \"wide\"\ndensity = 1\nshape = {{ heightfield = {{ picture = \"{root}/hills.png\", \
         size = [30, 30], height = 2, base = 0.1 }} }}\n"
    );
    std::fs::write(case.folder.path().join("a.toml"), scene).unwrap();
    let output = case.run(&["check", "a.toml", "--allow-outside", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mass = |n: usize| json["bodies"][n]["mass"].as_f64().unwrap();
    // ten triangles between corners at 0.95 and 0.45 of the half width
    let star = 5.0 * 0.95 * 0.45 * (PI / 5.0).sin() * 0.5;
    assert!((mass(0) / star - 1.0).abs() < 0.02, "{}, not {star}", mass(0));
    let path = std::path::Path::new(root).join("hills.png");
    let pixels = brisance::picture_file::read_picture(&path).unwrap();
    let light =
        pixels.iter().map(|pixel| f64::from(pixel[0]) / 255.0).sum::<f64>() / pixels.len() as f64;
    let hills = 4.0 * (0.2 + 0.5 * light);
    assert!((mass(1) / hills - 1.0).abs() < 1e-3, "{}, not {hills}", mass(1));
    let wide = 900.0 * (0.1 + 2.0 * light);
    assert!((mass(2) / wide - 1.0).abs() < 1e-3, "{}, not {wide}", mass(2));
}

/// A frame of 40 x 20 pixels around a hole of 20 x 10.
const FRAME: &str = "<svg xmlns='http://www.w3.org/2000/svg'>\
    <path fill-rule='evenodd' d='M5 7h40v20h-40zM15 12h20v10h-20z'/></svg>";

#[test]
fn outlines_are_combined_with_other_shapes() {
    let case = Case::new(&[("frame.svg", FRAME)]);
    let svg = "shape = { svg = { file = \"frame.svg\", size = 0.4, depth = 0.1 } }";
    let block = "{ shape = { box = { half_extents = [0.3, 0.2, 0.05] } } }";
    let frame = (0.4 * 0.2 - 0.2 * 0.1) * 0.1;
    for (parts, expected) in [
        (format!("{{ {svg} }}"), frame),
        (format!("{block}, {{ {svg}, op = \"difference\" }}"), 0.6 * 0.4 * 0.1 - frame),
        (
            format!(
                "{block}, {{ {svg}, op = \"intersection\", position = [0.3, 0, 0.05], \
                 rotation = {{ axis = [0, 0, 1], degrees = 90 }} }}"
            ),
            // a corner of half the side and half the depth
            frame / 4.0,
        ),
        (
            format!(
                "{{ {svg} }}, {{ shape = {{ box = {{ half_extents = [0.1, 0.05, 0.025] }} }} }}, \
                 {{ shape = {{ plane = {{ normal = [1, 0, 0] }} }}, op = \"intersection\" }}"
            ),
            (frame + 0.2 * 0.1 * 0.05) / 2.0,
        ),
        (
            format!(
                "{block}, {{ op = \"difference\", shape = {{ combined = {{ parts = [{{ {svg} }}] }} }} }}"
            ),
            0.6 * 0.4 * 0.1 - frame,
        ),
    ] {
        let scene = format!(
            "version = 1\n[[body]]\nname = \"a\"\ndensity = 1\n\
             shape = {{ combined = {{ spacing = 0.005, parts = [{parts}] }} }}\n"
        );
        std::fs::write(case.folder.path().join("a.toml"), scene).unwrap();
        let output = case.run(&["check", "a.toml", "--json"]);
        let message = String::from_utf8_lossy(&output.stderr);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&message);
        let found = json["bodies"][0]["mass"].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 0.01, "{parts}: {found}, not {expected}");
    }
    for (svg, words) in [
        (
            "file = \"frame.svg\", depth = 0.1",
            ["line 4, column", "must be given in a combined shape"],
        ),
        ("file = \"no.svg\", size = 1, depth = 0.1", ["no.svg", "line 4"]),
        ("file = \"text.svg\", size = 1, depth = 0.1", ["text.svg", "line 4"]),
    ] {
        let scene = format!(
            "version = 1\n[[body]]\nname = \"a\"\n\
             shape = {{ combined = {{ parts = [{{ shape = {{ svg = {{ {svg} }} }} }}] }} }}\n"
        );
        std::fs::write(case.folder.path().join("scene.toml"), scene).unwrap();
        std::fs::write(case.folder.path().join("text.svg"), "words").unwrap();
        case.refused(&words);
    }
}

#[test]
fn copies_are_turned_as_given() {
    let scene = "shape = { box = { half_extents = [0.1, 0.2, 0.3] } }\n\
                 rotation = { axis = [0, 0, 1], degrees = 90 }\n\
                 copies = { count = [4, 1, 1], spacing = [1, 0, 0], turn = { axis = [0, 1, 0], degrees = 30 } }";
    for (n, state) in world(scene).iter().enumerate() {
        let turn =
            |axis, degrees: f64| UnitQuaternion::from_axis_angle(&axis, degrees.to_radians());
        let expected = turn(Vector3::y_axis(), 30.0 * n as f64) * turn(Vector3::z_axis(), 90.0);
        assert!(state.pose.rotation.angle_to(&expected) < 1e-12);
        assert!((state.pose.translation.x - (n as f64 - 1.5)).abs() < 1e-12);
    }
    let jittered = scene.replace("turn = { axis = [0, 1, 0], degrees = 30 }", "turn_jitter = 10");
    let world = world(&jittered);
    let angles: Vec<f64> = world
        .iter()
        .map(|state| {
            let own = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), PI / 2.0);
            state.pose.rotation.angle_to(&own).to_degrees()
        })
        .collect();
    assert!(angles.iter().all(|angle| *angle <= 10.0) && angles.iter().any(|angle| *angle > 1.0));
}

#[test]
fn american_spellings_of_keys_mean_the_same() {
    let body = "version = 1\n[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\nmaterial = \"clay\"\n\
                colour = [0, 0.5, 1]\ninner_colour = [1, 0, 0]\nanchor = [{ sphere = { centre = [0, 1, 0], radius = 0.5 } }]\n\
                small_pieces = { size = 0.1, colour = [1, 1, 1] }\n";
    let other = body.replace("colour", "color").replace("centre", "center");
    assert_eq!(Scene::from_toml(body), Scene::from_toml(&other));
    let both = format!("{body}color = [0, 0, 0]\n");
    assert!(Scene::from_toml(&both).unwrap_err().to_string().contains("colour"));
}

#[test]
fn combined_shapes_that_cannot_be_are_refused() {
    let plane = "{ shape = { plane = {} }, op = \"intersection\" }";
    for (parts, problem) in [
        ("", "must be between 1 and 1000"),
        (plane, "no plane"),
        (&format!("{BOX}, {{ shape = {{ plane = {{}} }} }}"), "which has no end"),
        (&format!("{BOX}, {{ shape = {{ mesh = {{ file = \"a.obj\" }} }} }}"), "is a mesh"),
        (
            &format!("{BOX}, {{ shape = {{ sphere = {{ radius = -1 }} }} }}"),
            "parts[1].shape.sphere.radius",
        ),
        (
            &format!(
                "{BOX}, {{ shape = {{ sphere = {{ radius = 0.1 }} }}, op = \"intersection\", position = [9, 0, 0] }}"
            ),
            "leave nothing",
        ),
        (&format!("{BOX}, {{ shape = {{ sphere = {{ radius = 1 }} }}, op = \"cut\" }}"), "union"),
    ] {
        let text = format!(
            "version = 1\n[[body]]\nname = \"a\"\nshape = {{ combined = {{ parts = [{parts}] }} }}\n"
        );
        let error = Scene::from_toml(&text).unwrap_err().to_string();
        assert!(error.contains(problem), "{parts}: {error}");
    }
    // nothing remains if the whole is subtracted
    let gone = format!("{BOX}, {{ shape = {{ sphere = {{ radius = 2 }} }}, op = \"difference\" }}");
    let text = format!(
        "version = 1\n[[body]]\nname = \"a\"\nshape = {{ combined = {{ parts = [{gone}] }} }}\n"
    );
    let scene = Scene::from_toml(&text).unwrap();
    assert!(sim::build(&scene, &BTreeMap::new()).is_err());
}
