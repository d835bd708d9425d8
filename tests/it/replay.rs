//! The fractures of a run repeat in a replay of its events.

use std::collections::BTreeMap;

use sim::scene::Scene;
use sim::{Event, HitOutcome, World, build};

use crate::cli::{Case, SCENE};

/// A wall with a held rim and bonds, struck by a ball.
pub(crate) const ANCHORED: &str = r#"version = 1
[pattern.shards.voronoi]
pieces = 30
[[body]]
name = "wall"
shape = { box = { half_extents = [0.5, 0.4, 0.06], spacing = 0.025 } }
density = 2400
anchor = [
    { plane = { normal = [0, 1, 0], offset = -0.34 } },
    { plane = { normal = [0, -1, 0], offset = -0.34 } },
]
fracture = { pattern = "shards", strength = 30, bonds = { strength = 4e5 } }
[[body]]
name = "ball"
shape = { sphere = { radius = 0.12 } }
density = 7850
position = [0.1, 0, 0.4]
velocity = [0, 0, -9]
[[body]]
name = "light"
shape = { sphere = { radius = 0.05 } }
position = [-0.3, 0, 0.5]
velocity = [0, 0, -40]
"#;

/// Bars that crack by finite elements.
pub(crate) const CRACKS: &str = r#"version = 1
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "edge"
shape = { box = { half_extents = [0.02, 0.05, 0.3] } }
motion = "static"
position = [0, 0.05, 0]
[[body]]
name = "bar"
material = "clay"
shape = { box = { half_extents = [0.3, 0.04, 0.05], spacing = 0.02 } }
position = [0, 0.22, -0.15]
velocity = [0, -8, 0]
fracture = { lattice = { spacing = 0.06, strength = 2e5 }, strength = 1 }
[[body]]
name = "rod"
material = "clay"
shape = { box = { half_extents = [0.3, 0.04, 0.05], spacing = 0.02 } }
position = [0, 0.22, 0.15]
velocity = [0, -8, 0]
fracture = { stress = { spacing = 0.06, strength = 2e5 }, strength = 1 }
"#;

/// A bob on a joint that swings against a wall, and a bar that is dented.
pub(crate) const JOINED: &str = r#"version = 1
[simulation]
solver = "sequential_impulse"
[pattern.shards.voronoi]
pieces = 8
[[body]]
name = "hook"
shape = { sphere = { radius = 0.02 } }
motion = "static"
position = [0, 1, 0]
[[body]]
name = "wall"
shape = { box = { half_extents = [0.1, 0.3, 0.5] } }
motion = "static"
position = [-0.22, 0.5, 0]
[[body]]
name = "bob"
shape = { box = { half_extents = [0.1, 0.1, 0.1], spacing = 0.025 } }
position = [0.5, 1, 0]
fracture = { pattern = "shards", strength = 5 }
[[body]]
name = "bar"
material = "clay"
shape = { box = { half_extents = [0.3, 0.04, 0.05], spacing = 0.02 } }
position = [-0.2, 0.9, 0]
velocity = [0, -6, 0]
fracture = { stress = { spacing = 0.06, strength = 1e12, yield_strength = 1e4 }, strength = 1 }
[[body]]
name = "stone"
material = "stone"
shape = { box = { half_extents = [0.3, 0.04, 0.05], spacing = 0.02 } }
position = [-0.2, 0.9, 0.3]
velocity = [0, -6, 0]
fracture = { stress = { spacing = 0.06, strength = 1e12 }, strength = 1 }
[[joints]]
kind = "point"
bodies = ["hook", "bob"]
anchor = [0, 1, 0]
"#;

/// All scheduled events, with wind and a body on a path.
pub(crate) const BLAST: &str = r#"version = 1
[simulation]
gravity = [0, 0, 0]
[wind]
velocity = [4, 0, 0]
[pattern.shards.voronoi]
pieces = 12
[[body]]
name = "cube"
shape = { box = { half_extents = [0.1, 0.1, 0.1], spacing = 0.02 } }
fracture = { pattern = "shards", strength = 5 }
[[body]]
name = "plate"
shape = { box = { half_extents = [0.2, 0.02, 0.2], spacing = 0.01 } }
position = [0, 1, 0]
fracture = { pattern = "shards", strength = 500 }
[[body]]
name = "ram"
shape = { box = { half_extents = [0.1, 0.1, 0.1] } }
motion = "kinematic"
keyframes = [
    { time = 0, position = [-0.6, 1, 0] },
    { time = 0.5, position = [-0.1, 1, 0], rotation = { degrees = 60 } },
    { time = 0.7, position = [-0.1, 1.3, 0], rotation = { degrees = 60 } },
]
[[event]]
time = 0.1
push = { body = "cube", impulse = [0, 0, 1], at = [0.1, 0, 0] }
[[event]]
time = 0.2
explode = { at = [0, -0.3, 0], radius = 3, impulse = 400 }
[[event]]
time = 0.4
cut = { from = [[-1, 2, 0.1], [1, 2, 0.1]], to = [[-1, 0, 0.1], [1, 0, 0.1]] }
"#;

/// Bodies that fall asleep and are struck again, and retired pieces.
pub(crate) const KNOCKED: &str = r#"version = 1
[debris]
retire = { after = 0.4, then = "shrink" }
[pattern.shards.voronoi]
pieces = 6
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "block"
shape = { box = { half_extents = [0.1, 0.1, 0.1], spacing = 0.025 } }
position = [0, 0.1, 0]
fracture = { pattern = "shards", strength = 20 }
[[body]]
name = "heap"
shape = { box = { half_extents = [0.1, 0.1, 0.1], spacing = 0.025 } }
density = 9000
position = [1, 0.1, 0]
fracture = { pattern = "shards", strength = 2 }
[[body]]
name = "ball"
shape = { sphere = { radius = 0.05 } }
density = 7850
position = [0, 4, 0]
[[body]]
name = "light ball"
shape = { sphere = { radius = 0.05 } }
position = [1, 4, 0]
"#;

/// No cut of the pattern intersects the body.
const WHOLE: &str = r#"version = 1
[simulation]
seed = 3
[pattern.halves.voronoi]
pieces = 2
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "box"
shape = { box = { half_extents = [0.1, 0.1, 0.1], spacing = 0.025 } }
position = [0, 1, 0]
fracture = { pattern = "halves", strength = 1 }
"#;

fn made(text: &str) -> World {
    build(&Scene::from_toml(text).unwrap(), &BTreeMap::new()).unwrap().0
}

/// The world after some frames, and all fractures.
fn run(mut world: World, frames: usize) -> (World, Vec<Event>) {
    let mut events = vec![];
    for _ in 0..frames {
        let report = world.step();
        assert_eq!(report.events.mismatches, []);
        events.extend(report.events.replayable);
    }
    (world, events)
}

#[test]
fn replayed_worlds_break_as_others_did() {
    let scenes =
        [(SCENE, 12), (ANCHORED, 14), (CRACKS, 12), (JOINED, 24), (BLAST, 24), (KNOCKED, 70)];
    for (scene, frames) in scenes {
        let (world, events) = run(made(scene), frames);
        let broke = |e: &Event| matches!(e.outcome, HitOutcome::Broke(_));
        assert!(events.iter().any(broke), "nothing broke in {scene}");
        let mut replayed = made(scene);
        replayed.replay(events.clone());
        let (replayed, again) = run(replayed, frames);
        for (one, other) in again.iter().zip(&events) {
            assert_eq!(one, other);
        }
        assert_eq!(again.len(), events.len(), "{scene}");
        assert!(replayed.saved() == world.saved(), "{scene}");
    }
}

#[test]
fn events_take_the_place_of_strengths() {
    let (world, events) = run(made(SCENE), 12);
    let (unlike, other) =
        run(made(&SCENE.replace("break_impulse = 1 }", "break_impulse = 1e6 }")), 12);
    assert!(other.is_empty() && unlike.len() != world.len());
    let mut replayed = made(&SCENE.replace("break_impulse = 1 }", "break_impulse = 1e6 }"));
    replayed.replay(events.clone());
    let (replayed, again) = run(replayed, 12);
    assert_eq!(replayed.saved(), world.saved());
    assert_eq!(again, events);
    // without events nothing breaks
    let mut none = made(SCENE);
    none.replay(vec![]);
    let (none, _) = run(none, 12);
    assert_eq!(none.saved(), unlike.saved());
}

#[test]
fn events_that_do_not_fit_are_reported() {
    let (_, events) = run(made(SCENE), 12);
    let mismatches = |change: &dyn Fn(&mut Event)| {
        let mut events = events.clone();
        change(&mut events[0]);
        let mut world = made(SCENE);
        world.replay(events);
        (0..12).map(|_| world.step().events.mismatches.len()).sum::<usize>()
    };
    assert_eq!(mismatches(&|_| ()), 0);
    assert!(mismatches(&|event| event.outcome = HitOutcome::Broke(2)) > 0);
    let unknown = serde_json::from_str("77").unwrap();
    assert!(mismatches(&|event| event.body = unknown) > 0);
    // invalid numbers for a blow
    assert!(mismatches(&|event| event.normal = [-2147483648.0, 1.0, 0.0]) > 0);
    assert!(mismatches(&|event| event.pose[5] = 8.0) > 0);
    assert!(mismatches(&|event| event.point[0] = f64::NAN) > 0);
    assert!(mismatches(&|event| event.impulse[1] = f64::INFINITY) > 0);
}

#[test]
fn fingerprints_differ_with_all_but_strengths() {
    let print = |text: &str| made(text).fingerprint();
    let own = print(SCENE);
    assert_eq!(own, print(&SCENE.replace("break_impulse = 1 }", "break_impulse = 2 }")));
    for (from, to) in [
        ("pieces = 60", "pieces = 61"),
        ("radius = 0.1,", "radius = 0.11,"),
        ("[0, 0.15, 0]", "[0, 0.16, 0]"),
        ("[0, -6, 0]", "[0, -6.1, 0]"),
        ("frames = 12", "seed = 2"),
        ("frames = 12", "fps = 60"),
        ("motion = \"static\"", "motion = \"static\"\nfriction = 0.6"),
    ] {
        assert!(SCENE.contains(from));
        assert_ne!(own, print(&SCENE.replace(from, to)), "{to}");
    }
}

#[test]
fn a_file_of_events_is_brought_about_again() {
    let stronger = SCENE.replace("break_impulse = 1 }", "break_impulse = 500 }");
    let case = Case::new(&[
        ("scene.toml", SCENE),
        ("stronger.toml", &stronger),
        ("other.toml", &SCENE.replace("[0, -6, 0]", "[0, -7, 0]")),
    ]);
    let run = ["run", "scene.toml", "-q", "-o", "out.glb", "--seed", "4", "--events", "out.jsonl"];
    assert!(case.run(&run).status.success());
    let bytes = |name: &str| std::fs::read(case.folder.path().join(name)).unwrap();
    for scene in ["scene.toml", "stronger.toml"] {
        let output = case.run(&["replay", scene, "out.jsonl", "-q", "-o", "again.glb"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(bytes("again.glb") == bytes("out.glb"), "{scene}");
    }
    let text = String::from_utf8(bytes("out.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 1 && lines.iter().all(|line| line.len() < 1000), "{text}");

    let refused = |scene: &str, words: &str| {
        let output = case.run(&["replay", scene, "out.jsonl", "-q", "-o", "not.glb"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.lines().count() == 1 && message.contains(words), "{message}");
        assert!(!case.names().contains(&"not.glb".to_owned()));
    };
    refused("other.toml", "another scene");
    let write = |text: &str| std::fs::write(case.folder.path().join("out.jsonl"), text).unwrap();
    write(&text.replacen("\"body\":1,", "\"body\":9,", 1));
    refused("scene.toml", "body 9 does not break");
    write(&text.replacen("\"frame\":", "\"frames\":", 1));
    refused("scene.toml", "line 2");
    let (before, pose) = text.split_once("\"pose\":[").unwrap();
    let (_, after) = pose.split_once(']').unwrap();
    write(&format!("{before}\"pose\":[0.0,0.1,0.0,0.0,0.0,8.0,1.0]{after}"));
    refused("scene.toml", "line 2 is not a valid event (its numbers cannot be those of an impact)");
    write(&text.replacen("\"version\":1", "\"version\":2", 1));
    refused("scene.toml", "version 2");
    write(&text.replacen("\"seed\"", "\"se\\ned\\u001b\"", 1));
    refused("scene.toml", "unknown field `se\\ned\\u{1b}`");
    write("what");
    refused("scene.toml", "line 1");
}

#[test]
fn the_scenes_show_all_that_can_happen_to_a_body() {
    let all: Vec<HitOutcome> = [(CRACKS, 12), (ANCHORED, 14), (JOINED, 24), (WHOLE, 20)]
        .into_iter()
        .flat_map(|(scene, frames)| run(made(scene), frames).1)
        .map(|event| event.outcome)
        .collect();
    for outcome in [HitOutcome::Dented, HitOutcome::Held, HitOutcome::Whole] {
        assert!(all.contains(&outcome), "{outcome:?} is not in {all:?}");
    }
}
