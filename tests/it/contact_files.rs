//! The output of `brisance run --contacts`.

use serde_json::Value;

use crate::cli::{Case, SCENE};

fn lines(case: &Case) -> Vec<Value> {
    let text = std::fs::read_to_string(case.folder.path().join("c.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A ball of 4.19 kg falls from 1 m and does not bounce: its momentum at the floor, then its weight.
#[test]
fn contacts_carry_the_momentum_of_a_fall_and_then_the_weight() {
    let scene = "version = 1\n[simulation]\nframes = 90\nsleep = false\n[[body]]\nname = \"floor\"\nshape = { plane = {} }\n\
                 motion = \"static\"\nmaterial = \"concrete\"\n[[body]]\nname = \"ball\"\nmaterial = \"steel\"\n\
                 density = 1000\nrestitution = 0\nposition = [0, 1.1, 0]\nshape = { sphere = { radius = 0.1 } }\n";
    let case = Case::new(&[("a.toml", scene)]);
    let output = case.run(&["run", "a.toml", "-q", "-o", "a.jsonl", "--contacts", "c.jsonl"]);
    assert!(output.status.success(), "{output:?}");
    let lines = lines(&case);
    assert_eq!(lines[0]["format"], "brisance contacts");
    let first = &lines[1];
    assert_eq!(first["bodies"], serde_json::json!(["floor", "ball"]));
    assert_eq!(first["materials"], serde_json::json!(["concrete", "steel"]));
    assert_eq!(first["began"], true);
    let mass = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    let impulse = |line: &Value| line["impulse"].as_f64().unwrap();
    // the ball lands in frame 14 and rests at the end of that frame
    let fall = mass * 9.81 * 14.0 / 30.0;
    assert!((impulse(first) / fall - 1.0).abs() < 1e-6, "{first}, not {fall}");
    assert!(
        first["normal"][1].as_f64().unwrap() < -0.99
            && first["point"][1].as_f64().unwrap().abs() < 0.02
    );
    let (last, weight) = (lines.last().unwrap(), mass * 9.81 / 30.0);
    assert_eq!((&last["frame"], &last["began"]), (&Value::from(90), &Value::from(false)));
    assert!((impulse(last) - weight).abs() < 1e-3 * weight, "{last}, not {weight}");
    assert!((last["time"].as_f64().unwrap() - 3.0).abs() < 1e-9);
}

#[test]
fn contacts_tell_what_broke_and_leave_the_motion_as_it_is() {
    let case = Case::new(&[("a.toml", SCENE)]);
    assert!(case.run(&["run", "a.toml", "-q", "-o", "a.jsonl"]).status.success());
    let noted = ["run", "a.toml", "-q", "-o", "b.jsonl", "--contacts", "c.jsonl"];
    assert!(case.run(&noted).status.success());
    let read = |name: &str| std::fs::read(case.folder.path().join(name)).unwrap();
    assert!(read("a.jsonl") == read("b.jsonl"));
    let lines = lines(&case);
    let broke: Vec<&Value> = lines.iter().filter(|line| line["broke"].is_string()).collect();
    assert!(!broke.is_empty() && broke.iter().all(|line| line["pieces"].as_u64() > Some(1)));
    assert!(
        lines.iter().skip(1).all(|line| line["broke"].is_string() || line["bodies"][1].is_string())
    );
    let output = case.run(&["run", "a.toml", "-q", "-o", "d.jsonl", "--contacts", "c.csv"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains(".jsonl"), "{message}");
}
