//! Events and wind of scenes, as `brisance run` reports them.

use crate::cli::Case;

/// A cut through nothing, a far explosion, and a push on a body that a cut divided are reported, in the text and as
/// JSON. Events with an effect are not.
#[test]
fn events_without_an_effect_are_reported() {
    let scene = r#"version = 1
        [simulation]
        frames = 12
        gravity = [0, 0, 0]
        [[body]]
        name = "a"
        shape = { box = { half_extents = [0.2, 0.2, 0.2] } }
        [[event]]
        time = 0.1
        cut = { from = [[-2, 9, -3], [8, 9, -3]], to = [[-2, 9, 3], [8, 9, 3]] }
        [[event]]
        time = 0.1
        explode = { at = [50, 0, 0], radius = 1, impulse = 9 }
        [[event]]
        time = 0.1
        push = { body = "a", impulse = [1, 0, 0] }
        [[event]]
        time = 0.2
        cut = { from = [[-2, 0.05, -3], [8, 0.05, -3]], to = [[-2, 0.05, 3], [8, 0.05, 3]] }
        [[event]]
        time = 0.3
        push = { body = "a", impulse = [1, 0, 0] }
        "#;
    let case = Case::new(&[("scene.toml", scene)]);
    let run = ["run", "scene.toml", "-o", "a.glb"];
    let text = String::from_utf8(case.run(&run).stdout).unwrap();
    for (event, word) in [
        (0, "the cut divided no body"),
        (1, "reached no body"),
        (4, "\"a\" does not exist any more"),
    ] {
        let line = text.lines().find(|line| line.contains(&format!("`event[{event}]`")));
        assert!(line.is_some_and(|line| line.contains(word)), "{event}: {text}");
    }
    assert!(!text.contains("`event[2]`") && !text.contains("`event[3]`"), "{text}");
    let json: serde_json::Value =
        serde_json::from_slice(&case.run(&[&run[..], &["--json"]].concat()).stdout).unwrap();
    assert_eq!(json["idle_events"].as_array().map(Vec::len), Some(3));
}

/// The drag of still air and a push do work on a ball. Neither is an unexplained gain of energy.
#[test]
fn energy_of_wind_and_pushes_is_no_gain_of_the_simulation() {
    let scene = r#"version = 1
        [simulation]
        frames = 30
        gravity = [0, 0, 0]
        [wind]
        velocity = [0, 0, 0]
        [[body]]
        name = "ball"
        density = 20
        velocity = [20, 0, 0]
        shape = { sphere = { radius = 0.2 } }
        [[event]]
        time = 0.5
        push = { body = "ball", impulse = [0, 40, 0] }
        "#;
    let case = Case::new(&[("scene.toml", scene)]);
    let output = case.run(&["run", "scene.toml", "-o", "a.glb", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["numerical_energy_gain"].as_f64().unwrap() < 1e-9, "{json}");
}
