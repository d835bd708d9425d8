//! Quantities with units, variables and mirrored meshes in scenes.

use std::collections::BTreeMap;

use brisance::commands::SCHEMA;
use levelset::TriMesh;
use nalgebra::Point3;
use serde_json::Value;
use sim::scene::{FileError, Scene, SceneError};
use sim::{MeshData, build};

const WITH_UNITS: &str = r#"
version = 1
[variables]
height = "40 cm"
half = "$height / 2"
count = 3
lift = 1.5
[simulation]
fps = "60 Hz"
gravity = [0, "-9.81 m/s^2", 0]
[pattern.shards.voronoi]
pieces = "4 * $count"
[[body]]
name = "2 m"
shape = { box = { half_extents = ["$half", "20 cm", 0.2] } }
density = "7.85 g/cm3"
position = [0, "$lift", "-1 ft"]
rotation = { degrees = "0.5 rev" }
angular_velocity = [0, "60 rpm", 0]
copies = { count = ["$count", 1, 1], spacing = ["$height + 10 cm", 0, 0] }
fracture = { pattern = "shards", break_impulse = "5 kN ms" }
"#;

const PLAIN: &str = r#"
version = 1
[simulation]
fps = 60
gravity = [0, -9.81, 0]
[pattern.shards.voronoi]
pieces = 12
[[body]]
name = "2 m"
shape = { box = { half_extents = [0.2, 0.2, 0.2] } }
density = 7850
position = [0, 1.5, -0.3048]
rotation = { degrees = 180 }
angular_velocity = [0, 6.283185307179586, 0]
copies = { count = [3, 1, 1], spacing = [0.5, 0, 0] }
fracture = { pattern = "shards", break_impulse = 5 }
"#;

#[test]
fn a_scene_with_units_is_that_of_its_si_values() {
    let mut scene = Scene::from_toml(WITH_UNITS).unwrap();
    let variables = std::mem::take(&mut scene.variables);
    let names: Vec<(&str, f64)> = variables.iter().map(|(name, x)| (name.as_str(), *x)).collect();
    assert_eq!(names, [("count", 3.0), ("half", 0.2), ("height", 0.4), ("lift", 1.5)]);
    let mut plain = Scene::from_toml(PLAIN).unwrap();
    // degrees per minute equal radians per second up to rounding
    for scene in [&mut scene, &mut plain] {
        let [x, y, z] = scene.bodies[0].angular_velocity;
        assert!((y - std::f64::consts::TAU).abs() < 1e-14);
        scene.bodies[0].angular_velocity = [x, 0.0, z];
    }
    assert_eq!(scene, plain);
}

fn error_of(from: &str, to: &str) -> String {
    assert!(WITH_UNITS.contains(from), "{from}");
    Scene::from_toml(&WITH_UNITS.replace(from, to)).unwrap_err().to_string()
}

#[test]
fn mistakes_in_quantities_are_answered_with_line_column_and_advice() {
    for (from, to, error) in [
        (
            "\"20 cm\"",
            "\"20 cmm\"",
            "line 15, column 44: `body[0].shape.box.half_extents[1]` has an unknown unit `cmm`, did you mean `cm`?",
        ),
        (
            "7.85 g/cm3",
            "7.85 g/cm2",
            "line 16, column 11: `body[0].density` is `7.85 g/cm2`, but must be in kg/m^3 or a unit of the same kind",
        ),
        (
            "$lift",
            "$lifts",
            "line 17, column 16: `body[0].position[1]` names no variable `$lifts`, did you mean `$lift`?",
        ),
        (
            "4 * $count",
            "$count / 2",
            "line 12, column 10: `pattern.shards.voronoi.pieces` is `$count / 2`, which makes 1.5, but must be a whole number",
        ),
        (
            "\"40 cm\"",
            "\"2 * $half\"",
            "line 5, column 8: `variables.half` depends on `$half`, which depends on itself: give one a number",
        ),
        (
            "\"40 cm\"",
            "true",
            "line 4, column 10: `variables.height` must be a number or a quantity, as in \"20 cm\"",
        ),
        ("60 Hz", "60 frames", "has an unknown unit `frames`"),
        ("$height + 10 cm", "$height + 10", "adds quantities of different kinds in `$height + 10`"),
        (
            "20 cm",
            "0 cm",
            "`body[0].shape.box.half_extents` must be between 1e-9 and 1e9 m, not 0.0",
        ),
        ("60 rpm", "fast", "must be a number, not \"fast\""),
    ] {
        let found = error_of(from, to);
        assert!(found.contains(error), "{to}: {found}");
    }
    let many: String = (0..100_000).map(|n| format!("v{n} = \"$v{}\"\n", n + 1)).collect();
    let error = Scene::from_toml(&format!("version = 1\n[variables]\n{many}")).unwrap_err();
    assert!(error.to_string().contains("more than 100 deep"), "{error}");
}

#[test]
fn variables_are_those_of_the_file() {
    let main = "version = 1\ninclude = [\"part.toml\"]\n[variables]\nw = 2\n[[body]]\nname = \"a\"\n\
                shape = { sphere = { radius = \"$w m\" } }\n";
    let part =
        "[variables]\nw = 3\n[[body]]\nname = \"b\"\nshape = { sphere = { radius = \"$w m\" } }\n";
    let scene = Scene::from_files(main, &mut |_| Ok(part.to_owned())).unwrap();
    let radii = scene.bodies.iter().map(|body| body.shape.extents().unwrap()[0] / 2.0);
    assert_eq!(radii.collect::<Vec<_>>(), [3.0, 2.0]);
    let part = part.replace("w = 3", "v = 3");
    let FileError { file, error } = Scene::from_files(main, &mut |_| Ok(part.clone())).unwrap_err();
    assert_eq!(file, "part.toml");
    assert!(error.to_string().contains("names no variable `$w`"), "{error}");
    assert!(matches!(error, SceneError::Value { .. }));
}

/// Every number of the schema may be a quantity in the unit of the schema.
#[test]
fn every_number_of_the_schema_has_a_unit() {
    fn walk(node: &Value, path: &str, seen: &mut usize) {
        let is_number = node["type"].as_array().is_some_and(|types| {
            types.contains(&"number".into()) || types.contains(&"integer".into())
        });
        if is_number && !path.starts_with("variables") {
            *seen += 1;
            let units = sim::scene::units(path);
            let units = units.unwrap_or_else(|| panic!("no unit of {path}"));
            let is_count = node["type"][0] == "integer";
            assert_eq!(units == ["#"], is_count, "{path}");
            // as "Radius, m." or "Opacity."
            let description = node["description"].as_str().unwrap_or_default();
            let description =
                description.split([';', ':', '.']).next().unwrap_or_default().rsplit_once(", ");
            let known =
                ["m", "s", "m/s", "m/s^2", "kg/m^3", "Pa", "N", "N m", "N s", "Pa s", "1/m"];
            if let Some((_, unit)) = description.filter(|(_, unit)| known.contains(unit)) {
                assert!(units.contains(&unit), "{path} is in {unit}, not {units:?}");
            }
        }
        for (key, child) in node["properties"].as_object().into_iter().flatten() {
            walk(child, &format!("{path}.{key}"), seen);
        }
        let inner = [&node["additionalProperties"], &node["items"]];
        for child in inner.into_iter().filter(|child| child.is_object()) {
            walk(child, path, seen);
        }
    }
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut seen = 0;
    for (key, child) in schema["properties"].as_object().unwrap() {
        walk(child, key, &mut seen);
    }
    assert!(seen > 200, "{seen}");
}

/// A tetrahedron with three edges of different lengths along the axes.
fn corner() -> TriMesh {
    TriMesh {
        vertices: vec![
            Point3::origin(),
            Point3::new(1.0, 0.0, 0.0),
            Point3::new(0.0, 2.0, 0.0),
            Point3::new(0.0, 0.0, 3.0),
        ],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    }
}

#[test]
fn a_mirrored_mesh_has_its_mass_on_the_other_side() {
    let meshes = BTreeMap::from([("a.obj".to_owned(), MeshData::Surface(corner().into()))]);
    for (n, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let text = format!(
            "version = 1\n[[body]]\nname = \"a\"\nshape = {{ mesh = {{ file = \"a.obj\" }} }}\n\
             [[body]]\nname = \"b\"\nshape = {{ mesh = {{ file = \"a.obj\", mirror = \"{axis}\" }} }}\n"
        );
        let (world, looks) = build(&Scene::from_toml(&text).unwrap(), &meshes).unwrap();
        let [own, other] = [0, 1].map(|n| world.get(looks[n].body).unwrap());
        let [place, mirrored] = [own, other].map(|body| body.pose.translation.vector);
        for k in 0..3 {
            // the center of a tetrahedron is the mean of its corners
            let expected = (k + 1) as f64 / 4.0;
            assert!((place[k] - expected).abs() < 1e-12);
            let sign = if k == n { -1.0 } else { 1.0 };
            assert!((mirrored[k] - sign * expected).abs() < 1e-12, "{axis}: {mirrored}");
        }
        let [mass, same] = [own, other].map(|body| body.body.mass_properties().unwrap().mass());
        assert!((mass - 1000.0).abs() < 1e-9 && (same - 1000.0).abs() < 1e-9);
    }
}
