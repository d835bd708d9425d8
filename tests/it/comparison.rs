//! Comparison of models of fracture.

use std::path::Path;

use brisance::comparison::{PowerLaw, REPORT_SCHEMA};
use brisance::format::glb::read_glb;
use serde_json::Value;

use crate::cli::{Case, problem};

/// A cylinder that falls on a small ball below its middle.
const CYLINDER: &str = r#"version = 1
[simulation]
frames = 6
gravity = [0, 0, 0]
[pattern.quarters.radial]
sectors = 4
rings = 1
jitter = 0
[[body]]
name = "stone"
motion = "static"
shape = { sphere = { radius = 0.05 } }
position = [0, -0.4, 0]
[[body]]
name = "a <b>bold</b> & \"quoted\" name"
material = "china"
shape = { cylinder = { radius = 0.3, half_height = 0.2, spacing = 0.03 } }
position = [0, 0, 0]
velocity = [0, -6, 0]
fracture = { pattern = "quarters", break_impulse = 1, generations = 1 }
"#;

/// The report of a comparison that succeeds.
fn report(case: &Case, arguments: &[&str]) -> Value {
    let output =
        case.run(&[&["compare", "scene.toml", "-o", "report", "--json"], arguments].concat());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{message}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = std::fs::read_to_string(case.folder.path().join("report/report.json")).unwrap();
    let kept: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(kept, printed);
    kept
}

/// Asserts that a value fits a schema, by the keywords that this schema uses.
fn assert_fits(value: &Value, schema: &Value, all: &Value, at: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        return assert_fits(value, all.pointer(&name[1..]).unwrap(), all, at);
    }
    if let Some(kinds) = schema["anyOf"].as_array() {
        if !value.is_null() {
            assert_fits(value, &kinds[1], all, at);
        }
        return;
    }
    match value {
        Value::Object(entries) => {
            let known = schema["properties"].as_object().unwrap();
            let keys: Vec<&String> = entries.keys().collect();
            let mut required: Vec<&str> =
                schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            required.sort_unstable();
            assert_eq!(keys, required, "{at}");
            for (key, entry) in entries {
                assert_fits(entry, &known[key], all, &format!("{at}.{key}"));
            }
        }
        Value::Array(entries) => {
            for entry in entries {
                assert_fits(entry, &schema["items"], all, at);
            }
        }
        Value::Number(number) => {
            let x = number.as_f64().unwrap();
            assert!(schema["minimum"].as_f64().is_none_or(|least| x >= least), "{at}: {x}");
            assert!(schema["exclusiveMinimum"].as_f64().is_none_or(|least| x > least), "{at}: {x}");
        }
        _ => {}
    }
}

#[test]
fn models_break_the_same_body_by_the_same_impact_and_keep_mass_and_momentum() {
    let case = Case::new(&[("scene.toml", CYLINDER)]);
    let more = ["--resolutions", "1.5", "--rates", "2,0.5", "--size", "64x48", "--tets", "600"];
    let report = report(&case, &more);
    let schema: Value = serde_json::from_str(REPORT_SCHEMA).unwrap();
    assert_fits(&report, &schema, &schema, "report");
    assert_eq!(report["same_first_impact"], true);
    let models = report["models"].as_array().unwrap();
    let names: Vec<&str> = models.iter().filter_map(|m| m["run"]["model"].as_str()).collect();
    assert_eq!(names, ["prescored", "lattice", "stress"]);
    for model in models {
        let measured = &model["run"]["measured"];
        let number = |key: &str| measured[key].as_f64().unwrap();
        assert!(number("mass_error") < 1e-12, "{measured}");
        assert!(number("momentum_error") < 1e-9, "{measured}");
        assert!(number("angular_momentum_error") < 1e-9, "{measured}");
        let gain = measured["energy"]["largest_gain"].as_f64().unwrap();
        assert!(gain < 1e-6, "{measured}");
        let recording =
            case.folder.path().join("report").join(model["recording"].as_str().unwrap());
        let tracks = read_glb(&std::fs::read(recording).unwrap()).unwrap().tracks;
        let pieces = tracks.iter().filter(|track| track.parent.is_some()).count();
        assert_eq!(measured["pieces"], pieces);
        for picture in model["pictures"].as_array().unwrap() {
            let path = case.folder.path().join("report").join(picture.as_str().unwrap());
            assert_eq!(width(&path), 64);
        }
    }
    let further = |key: &str| report[key].as_array().unwrap().len();
    assert_eq!((further("resolutions"), further("time_steps")), (3, 6));
    let steps: Vec<f64> = report["time_steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|run| run["time_step"].as_f64())
        .collect();
    assert!(steps[0] > steps[3], "{steps:?}");
}

fn width(path: &Path) -> u32 {
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap()));
    decoder.read_info().unwrap().info().width
}

#[test]
fn cracks_of_a_quartered_cylinder_have_the_area_of_its_two_sections() {
    let case = Case::new(&[("scene.toml", CYLINDER)]);
    let report = report(&case, &["--models", "prescored", "--size", "32x32"]);
    let measured = &report["models"][0]["run"]["measured"];
    assert_eq!(measured["pieces"], 4);
    let area = measured["crack_area"].as_f64().unwrap();
    // two sections through the axis, each as wide as the cylinder and as high
    let exact = 2.0 * 0.6 * 0.4;
    assert!((area - exact).abs() < 0.02 * exact, "{area} is not {exact}");
    let volumes: Vec<f64> =
        measured["volumes"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    let exact = std::f64::consts::PI * 0.3 * 0.3 * 0.4;
    let volume: f64 = volumes.iter().sum();
    assert!((volume - exact).abs() < 0.01 * exact, "{volume} is not {exact}");
}

#[test]
fn names_from_files_are_no_markup() {
    let case = Case::new(&[("scene.toml", CYLINDER)]);
    report(&case, &["--models", "prescored", "--size", "32x32"]);
    let page = std::fs::read_to_string(case.folder.path().join("report/index.html")).unwrap();
    assert!(page.contains("a &lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot; name"), "{page}");
    assert!(!page.contains("<b>") && !page.contains("<script"), "{page}");
    // all referenced files exist
    for part in page.split("src=\"").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(case.folder.path().join("report").join(name).is_file(), "{name}");
    }
}

#[test]
fn what_cannot_be_compared_is_refused_in_one_sentence() {
    let whole = CYLINDER.replace("fracture = { pattern", "# fracture = { pattern");
    let plain = CYLINDER.replace("material = \"china\"", "density = 2000");
    let files = [("scene.toml", CYLINDER), ("whole.toml", &whole), ("plain.toml", &plain)];
    let case = Case::new(&files);
    std::fs::create_dir(case.folder.path().join("there")).unwrap();
    let before = case.names();
    for (arguments, words) in [
        (vec!["scene.toml", "--models", "prescored,glue", "-o", "out"], "no model `glue`"),
        (vec!["scene.toml", "--models", "stress,stress", "-o", "out"], "twice"),
        (vec!["scene.toml", "--resolutions", "0", "-o", "out"], "0.1 to 10"),
        (vec!["scene.toml", "-o", "there"], "there"),
        (vec!["scene.toml", "-o", "nowhere/out"], "nowhere/out"),
        (vec!["whole.toml", "-o", "out"], "no body can break"),
        (vec!["plain.toml", "-o", "out"], "with the model lattice"),
        (vec!["gone.toml", "-o", "out"], "gone.toml"),
    ] {
        let output = case.run(&[&["compare", "--quiet"], &arguments[..]].concat());
        let message = problem(output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.contains(words), "{message}");
        assert_eq!(case.names(), before);
    }
}

/// Quantiles of a Pareto law with exponent 2.5 and lower bound 1, and `below` evenly spaced numbers
/// below 1.
fn sizes(below: usize) -> Vec<f64> {
    let quantile = |k: usize| (1.0 - (k as f64 + 0.5) / 200.0).powf(-1.0 / 1.5);
    let small = |k: usize| 0.05 + 0.95 * (k as f64 + 0.5) / below as f64;
    (0..200).map(quantile).chain((0..below).map(small)).collect()
}

#[test]
fn power_laws_are_those_of_the_package_powerlaw() {
    // powerlaw 2.0.0 of PyPI (Alstott, Bullmore and Plenz 2014), of both lists
    let (exponent, error, distance) =
        (2.506_379_451_455_994, 0.106_517_112_516_460_5, 0.003_364_500_856_674_7);
    for below in [0, 100] {
        let law = PowerLaw::fit(&sizes(below)).unwrap();
        assert!((law.exponent - exponent).abs() < 1e-12, "{law:?}");
        assert!((law.error - error).abs() < 1e-12, "{law:?}");
        assert!((law.distance - distance).abs() < 1e-9, "{law:?}");
        assert_eq!(law.count, 200);
    }
    assert_eq!(PowerLaw::fit(&sizes(0)[..9]), None);
    assert_eq!(PowerLaw::fit(&[2.0; 50]), None);
    assert_eq!(PowerLaw::fit(&[f64::NAN; 50]), None);
    assert_eq!(PowerLaw::fit(&[]), None);
}

#[test]
fn models_with_which_nothing_breaks_are_reported() {
    let slow = CYLINDER.replace("velocity = [0, -6, 0]", "velocity = [0, -0.1, 0]");
    let case = Case::new(&[("scene.toml", &slow)]);
    let arguments = ["compare", "scene.toml", "--frames", "1", "--models", "prescored,lattice"];
    let output = case.run(&[&arguments[..], &["-o", "report"]].concat());
    let message = problem(output.stderr);
    assert!(output.status.success(), "{message}");
    for model in ["prescored", "lattice"] {
        let words =
            format!("the model {model} made no pieces: no impact divided a body in 1 frame");
        assert!(message.contains(&words), "{message}");
    }
    let quiet = case.run(&[&arguments[..], &["-o", "other", "-q"]].concat());
    assert!(quiet.stderr.is_empty());
}
