//! All user input: arrays of fixed length must have the exact number of values.

use brisance::commands::SCHEMA;
use brisance::loads_file::LOADS_SCHEMA;
use serde_json::{Map, Value, json};
use sim::scene::{Scene, SceneError};

use crate::cli::problem;
use crate::stress_loads::bench;

/// A value of the schema, with its path in a document from the root to the value.
struct At<'a> {
    schema: &'a Value,
    steps: Vec<Step>,
}

#[derive(Clone)]
enum Step {
    Key(String),
    /// The first item of an array.
    Item,
}

/// All values that a schema describes, without recursive references.
fn all_values(root: &Value) -> Vec<At<'_>> {
    let mut all = Vec::new();
    let mut open = vec![At { schema: root, steps: Vec::new() }];
    while let Some(At { schema, steps }) = open.pop() {
        let below = |schema, step| At { schema, steps: [&steps[..], &[step]].concat() };
        let reference = schema["$ref"].as_str().filter(|to| to.starts_with("#/$defs/"));
        if let Some(to) = reference {
            open.push(At { schema: root.pointer(&to[1..]).unwrap(), steps });
            continue;
        }
        let properties = schema["properties"].as_object().into_iter().flatten();
        open.extend(properties.map(|(key, value)| below(value, Step::Key(key.clone()))));
        if schema["additionalProperties"].is_object() {
            open.push(below(&schema["additionalProperties"], Step::Key("a".to_owned())));
        }
        if schema["items"].is_object() {
            open.push(below(&schema["items"], Step::Item));
        }
        all.push(At { schema, steps });
    }
    all
}

impl At<'_> {
    /// The path of the value in the format of messages.
    fn key(&self) -> String {
        self.steps.iter().fold(String::new(), |path, step| match step {
            Step::Key(key) if path.is_empty() => key.clone(),
            Step::Key(key) => format!("{path}.{key}"),
            Step::Item => format!("{path}[0]"),
        })
    }

    /// A document with only this value.
    fn document(&self, value: Value) -> String {
        let whole = self.steps.iter().rev().fold(value, |value, step| match step {
            Step::Key(key) => Value::Object(Map::from_iter([(key.clone(), value)])),
            Step::Item => json!([value]),
        });
        toml::to_string(&whole).unwrap()
    }

    fn fixed_length(&self) -> Option<usize> {
        let [least, most] = ["minItems", "maxItems"].map(|key| self.schema[key].as_u64());
        least.filter(|least| Some(*least) == most).map(|length| length as usize)
    }
}

/// A value that a schema allows.
fn example(root: &Value, schema: &Value) -> Value {
    if let Some(to) = schema["$ref"].as_str() {
        return example(root, root.pointer(&to[1..]).unwrap());
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => &kinds[0],
        kind => kind,
    };
    match kind.as_str() {
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(1);
            (0..count).map(|_| example(root, &schema["items"])).collect()
        }
        Some("integer") => json!(1),
        Some("number") => json!(0.5),
        Some("string") => json!("a"),
        _ => json!({}),
    }
}

/// Calls `check` with the path of each array of fixed length of a schema, a document with one that
/// is too long or too short, the required length and the actual length.
fn check_fixed_arrays(schema: &str, mut check: impl FnMut(&str, &str, [usize; 2])) {
    let schema: Value = serde_json::from_str(schema).unwrap();
    for at in all_values(&schema) {
        let Some(length) = at.fixed_length() else { continue };
        for count in [length - 1, length + 1] {
            let items = (0..count).map(|_| example(&schema, &at.schema["items"])).collect();
            check(&at.key(), &at.document(items), [length, count]);
        }
    }
}

#[test]
fn arrays_of_scenes_that_are_too_long_or_too_short_are_refused_by_key_and_line() {
    let mut checked = 0;
    check_fixed_arrays(SCHEMA, |key, scene, [wanted, found]| {
        let Err(SceneError::Value { place, invalid }) = Scene::from_toml(scene) else {
            panic!("{scene}: {:?}", Scene::from_toml(scene));
        };
        assert_eq!(invalid.key, key, "{scene}");
        let problem = format!("must be an array of {wanted} values, but holds {found}");
        assert_eq!(invalid.problem, problem, "{scene}");
        let line = scene.lines().nth(place.line - 1).unwrap();
        let name = key.rsplit('.').next().unwrap().trim_end_matches("[0]");
        assert!(line.contains(&format!("{name} = ")), "{scene}: {line}");
        checked += 1;
    });
    assert!(checked > 100, "{checked}");
}

#[test]
fn the_schema_has_the_length_of_every_array_of_fixed_length() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let lists = all_values(&schema).into_iter().filter(|at| at.schema["type"] == "array");
    for at in lists.filter(|at| at.fixed_length().is_none()) {
        let items = (0..7).map(|_| example(&schema, &at.schema["items"])).collect();
        let scene = at.document(items);
        let message = Scene::from_toml(&scene).unwrap_err().to_string();
        assert!(!message.contains("but holds 7"), "{scene}: {message}");
    }
}

#[test]
fn an_array_in_the_place_of_a_table_is_refused() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let tables = all_values(&schema).into_iter().filter(|at| at.schema["properties"].is_object());
    for at in tables.filter(|at| !at.steps.is_empty()) {
        let scene = at.document(json!([0.5]));
        let Err(SceneError::Value { invalid, .. }) = Scene::from_toml(&scene) else {
            panic!("{scene}: {:?}", Scene::from_toml(&scene));
        };
        assert_eq!(invalid.key, at.key(), "{scene}");
        assert!(invalid.problem.contains("a table"), "{scene}: {invalid}");
    }
}

#[test]
fn arrays_of_included_files_and_of_lengths_with_units_are_counted_too() {
    let scene = "version = 1\ninclude = [\"wall.toml\"]\n";
    let wall = "[[body]]\nname = \"a\"\nposition = [\"1 cm\", \"2 cm\",\n\"3 cm\", \"4 cm\"]\n";
    let error = Scene::from_files(scene, &mut |_| Ok(wall.to_owned())).unwrap_err();
    let wanted = "wall.toml: line 3, column 12: `body[0].position` must be an array of 3 values, \
        but holds 4";
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn arrays_of_loads_that_are_too_long_or_too_short_are_refused_by_key_and_line() {
    let mut checked = 0;
    check_fixed_arrays(LOADS_SCHEMA, |key, loads, [wanted, found]| {
        let case = bench(&[("loads.toml", loads)]);
        let output = case.run(&["stress", "beam.msh", "-o", "out.vtu", "--loads", "loads.toml"]);
        assert_eq!(output.status.code(), Some(2));
        let error = problem(output.stderr);
        let wanted = format!("`{key}` must be an array of {wanted} values, but holds {found}");
        assert!(error.contains("line ") && error.contains(&wanted), "{loads}: {error}");
        checked += 1;
    });
    assert!(checked > 8, "{checked}");
}

#[test]
fn arrays_of_patterns_on_the_command_line_are_counted() {
    for (given, problem) in [
        (
            "voronoi:9,stretch=[1,2,3,4]",
            "`voronoi.stretch` must be an array of 3 values, but holds 4",
        ),
        ("slices:3,axis=[0,1]", "`slices.axis` must be an array of 3 values, but holds 2"),
    ] {
        let error = given.parse::<sim::scene::Pattern>().unwrap_err();
        assert!(error.starts_with(problem), "{error}");
    }
}
