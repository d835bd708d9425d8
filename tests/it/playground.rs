//! The playground's module, run natively: what a visitor does, and that a link does it again.

use std::collections::BTreeMap;

use brisance_web::{Command, Model, Play, SCENES, Setup, own_scene};
use serde_json::Value;

fn sample(key: &str) -> Setup {
    Setup::of(SCENES.iter().find(|s| s.key == key).expect("a scene of the playground").text)
}

fn play(setup: &Setup) -> Play {
    Play::new(setup, &BTreeMap::new()).unwrap()
}

/// The header of a frame.
fn head(frame: &[u8]) -> Value {
    let length = u32::from_le_bytes(frame[..4].try_into().unwrap()) as usize;
    serde_json::from_slice(&frame[4..4 + length]).unwrap()
}

fn count(list: &Value) -> usize {
    list.as_array().expect("a list").len()
}

/// Sizes of the geometries of a frame tell how many bytes of it are theirs; the rest are poses.
fn check_layout(frame: &[u8]) {
    let head = head(frame);
    let length = u32::from_le_bytes(frame[..4].try_into().unwrap()) as usize;
    let geometries: u64 = head["geometries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|size| 36 * size[0].as_u64().unwrap() + 12 * size[1].as_u64().unwrap())
        .sum();
    let poses = 28 * count(&head["ids"]);
    let start = (4 + length).next_multiple_of(4);
    assert_eq!(frame.len(), start + usize::try_from(geometries).unwrap() + poses);
}

const BALL: Command = Command::Throw {
    from: [0.2, 1.1, 3.0],
    velocity: [0.0, 0.5, -14.0],
    radius: 0.08,
    density: 7850.0,
};

const BLADE: Command = Command::Cut {
    from: [[-1.0, 0.9, -1.0], [-1.0, 0.9, 1.0]],
    to: [[1.0, 0.9, -1.0], [1.0, 0.9, 1.0]],
};

#[test]
fn a_link_replays_what_a_visitor_did_bit_by_bit() {
    let setup = sample("window");
    let mut first = play(&setup);
    first.start();
    let grab = Command::Grab { from: [0.15, 1.1, 6.0], along: [0.0, 0.0, -1.0], force: 5e3 };
    let blast = Command::Explode { at: [0.3, 0.4, 0.2], radius: 1.5, impulse: 40.0 };
    for frame in 0..60 {
        match frame {
            0 => first.act(grab).unwrap(),
            1..10 => first.act(Command::Drag([0.0, 1.5, 2.0 + 0.1 * frame as f32])).unwrap(),
            10 => first.act(Command::Release).unwrap(),
            12 => first.act(BALL).unwrap(),
            30 => first.act(BLADE).unwrap(),
            40 => first.act(blast).unwrap(),
            45 => first.act(Command::Gravity(1.62)).unwrap(),
            _ => {}
        }
        check_layout(&first.step());
    }
    assert!(first.world().len() > 30, "{} bodies: nothing broke", first.world().len());
    let events = first.events();
    let mut second = play(&setup);
    second.replay(&events).unwrap();
    (0..60).for_each(|_| drop(second.step()));
    assert_eq!(first.world().fingerprint(), second.world().fingerprint());
    assert_eq!(second.events(), events);
    let mut other = play(&setup);
    (0..60).for_each(|_| drop(other.step()));
    assert_ne!(first.world().fingerprint(), other.world().fingerprint(), "commands change the run");
}

#[test]
fn a_damaged_link_is_refused_or_replayed_and_never_a_panic() {
    let setup = sample("dominoes");
    let mut played = play(&setup);
    played.act(BALL).unwrap();
    (0..300).for_each(|_| drop(played.step()));
    played.act(BLADE).unwrap();
    let events = played.events();
    let mut refused = 0;
    for at in 0..events.len() {
        for byte in [0, 1, 6, 7, 0x7f, 0x80, 0xff] {
            let mut damaged = events.clone();
            damaged[at] = byte;
            damaged.truncate(if byte == 1 { at } else { events.len() });
            refused += usize::from(played.replay(&damaged).is_err());
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn every_scene_starts_and_gains_no_energy_where_something_is_thrown() {
    for scene in SCENES {
        let mut play = play(&Setup::of(scene.text));
        let start = play.start();
        check_layout(&start);
        let bodies = count(&head(&start)["new"]);
        assert_eq!(bodies, play.world().len(), "{}", scene.key);
        play.act(BALL).unwrap();
        let frames: Vec<Value> = (0..20).map(|_| head(&play.step())).collect();
        assert!(frames.iter().any(|frame| frame["new"].as_array().unwrap().iter().any(|body| {
            body["name"] == "thrown ball 1" && body["outer"].is_u64()
        })));
        assert_eq!(play.gained(), 0, "{}", scene.key);
    }
}

#[test]
fn without_the_energy_settings_energy_is_gained() {
    let setup = Setup { keeps_energy: false, ..sample("bricks") };
    let mut play = play(&setup);
    (0..60).for_each(|_| drop(play.step()));
    assert!(play.gained() > 0);
}

#[test]
fn what_a_visitor_changes_of_a_scene_decides_what_becomes_of_it() {
    let pieces = |setup: &Setup| {
        let mut play = play(setup);
        let before = play.world().len();
        (0..40).for_each(|_| drop(play.step()));
        play.world().len() - before
    };
    let window = sample("window");
    let bricks = sample("bricks");
    let (few, many) = (Setup { pieces: Some(3), ..bricks.clone() }, Setup { pieces: Some(60), ..bricks });
    assert!(pieces(&few) < pieces(&many));
    let steel = Setup { material: Some("steel".to_owned()), ..window.clone() };
    assert!(pieces(&window) > 0);
    assert_eq!(pieces(&steel), 0, "a pane of steel holds");
    for model in [Model::Lattice, Model::Stress] {
        let setup = Setup { model: Some(model), ..sample("bridge") };
        assert!(pieces(&setup) > 0, "{model:?}");
    }
    let nonsense = Setup { material: Some("cheese".to_owned()), ..window.clone() };
    let said = Play::new(&nonsense, &BTreeMap::new()).unwrap_err().to_string();
    assert!(said.contains("cheese"), "{said}");
    let said = Play::new(&Setup { pieces: Some(1), ..window }, &BTreeMap::new()).unwrap_err();
    assert_eq!(said.to_string(), "the number of pieces must be from 2 to 300, not 1");
}

#[test]
fn a_ray_finds_a_body_its_mass_and_how_near_it_came_to_breaking() {
    let mut play = play(&sample("dominoes"));
    let found = play.pick([0.25, 0.5, 9.0], [0.0, 0.0, -1.0]).expect("a domino");
    // 1000 kg/m^3 x 0.1 m x 1 m x 0.5 m
    assert!((found["mass"].as_f64().unwrap() - 50.0).abs() < 1e-9, "{found}");
    assert!(found["name"].as_str().unwrap().starts_with("domino"), "{found}");
    assert!((found["point"][2].as_f64().unwrap() - 0.25).abs() < 1e-9, "{found}");
    assert!(play.pick([0.0, 9.0, 0.0], [0.0, 1.0, 0.0]).is_none());
    play.step();
}

#[test]
fn a_hand_carries_a_body_and_slips_off_beyond_its_force() {
    let text = "version = 1\n[[body]]\nname = \"box\"\ndensity = 500\n\
                shape = { box = { half_extents = [0.1, 0.1, 0.1] } }\nposition = [0, 1, 0]\n";
    for (force, is_held) in [(500.0, true), (20.0, false)] {
        let mut play = play(&Setup::of(text));
        // 4 kg weigh 39.24 N
        play.act(Command::Grab { from: [0.0, 1.0, 3.0], along: [0.0, 0.0, -1.0], force }).unwrap();
        play.act(Command::Drag([0.5, 1.6, 0.1])).unwrap();
        let frames: Vec<Value> = (0..60).map(|_| head(&play.step())).collect();
        let place = play.world().iter().next().expect("a box").pose.translation.vector;
        let near = (place - nalgebra::Vector3::new(0.5, 1.5, 0.0)).norm() < 0.15;
        assert_eq!((near, frames[59]["holds"].as_bool()), (is_held, Some(is_held)), "{place}");
        assert_eq!(frames.iter().any(|frame| frame["slipped"] == true), !is_held);
    }
}

#[test]
fn a_mesh_of_a_visitor_falls_and_a_broken_one_gets_one_sentence() {
    let name = "my \"teapot\"\n.obj";
    let mesh = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bob_small.obj")).unwrap();
    let setup = Setup::of(&own_scene(name));
    let files = BTreeMap::from([(name.to_owned(), mesh)]);
    let mut play = Play::new(&setup, &files).unwrap();
    let before = play.world().iter().nth(1).unwrap().pose.translation.y;
    (0..10).for_each(|_| drop(play.step()));
    assert!(play.world().iter().nth(1).unwrap().pose.translation.y < before);
    for (bytes, said) in [(&b"f 1 2 3\n"[..], "line 1"), (&vec![b'#'; 33 << 20], "larger than 32 MiB")] {
        let files = BTreeMap::from([(name.to_owned(), bytes.to_vec())]);
        let error = Play::new(&setup, &files).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let error = Play::new(&setup, &BTreeMap::new()).unwrap_err().to_string();
    assert!(error.contains("which is not here"), "{error}");
}
