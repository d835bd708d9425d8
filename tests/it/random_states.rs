//! Random scenes with fractures: saved and resumed at any frame, and replayed from their events.

use std::path::Path;

use brisance::checkpoint::{Checkpoint, ImpactState};
use brisance::ledger::Ledger;
use brisance_tests::properties;
use brisance_tests::random_scenes::{Act, FRAMES, RandomScene, bits, random_scene};
use brisance_tests::strategies::direction;
use nalgebra::Vector3;
use proptest::prelude::*;
use sim::{Event, Recorder, Trigger, World};

/// A scene takes a third of a second, and half of the scenes break only by cuts.
const CASES: u32 = 10;

/// A random scene with cuts in its timeline, since a cut between frames is not an event.
fn cut_scene() -> impl Strategy<Value = RandomScene> {
    (random_scene(3), direction(), 0..FRAMES / 2, any::<bool>()).prop_map(
        |(scene, normal, frame, retires)| {
            let start = scene.world().expect("a sound scene");
            let top = start.iter().map(|s| s.pose.translation.y).fold(1e-3, f64::max);
            let place = Vector3::y() * (0.5 * top);
            let along = normal.cross(&Vector3::new(0.3, -0.5, 0.8)).normalize();
            let aside = normal.cross(&along);
            let corner = |s: f64, t: f64| <[f64; 3]>::from(place + 1e3 * (aside * s + along * t));
            let [from, to] = [-1.0, 1.0].map(|s| [corner(s, -1.0), corner(s, 1.0)]);
            let dt = start.settings().dt;
            let time = dt * frame as f64;
            let cut = format!("[[event]]\ntime = {time:?}\ncut = {{ from = {from:?}, to = {to:?} }}\n");
            let [after, slow] = [5.0 * dt, 0.01 * top / dt];
            let retire = format!(
                "[debris]\nretire = {{ after = {after:?}, slower_than = {slow:?}, then = \"remove\" }}\n"
            );
            let toml = scene.toml + &cut + if retires { &retire } else { "" };
            let acts = scene.acts.into_iter().filter(|(_, act)| !matches!(act, Act::Cut(_)));
            RandomScene { toml, acts: acts.collect() }
        },
    )
}

/// A run and the events that it reported.
struct Run {
    world: World,
    events: Vec<Event>,
    mismatches: usize,
}

impl Run {
    fn new(world: World) -> Self {
        Self { world, events: Vec::new(), mismatches: 0 }
    }

    /// Executes the acts of a frame, and steps. Returns poses and momenta, and the energy.
    fn step(&mut self, scene: &RandomScene, frame: usize) -> (Vec<u64>, u64) {
        for act in scene.acts_of(frame) {
            act.apply(&mut self.world).expect("numbers that are not finite are refused");
        }
        let report = self.world.step();
        self.mismatches += report.events.mismatches.len();
        self.events.extend(report.events.replayable);
        (bits(&self.world), report.energy.kinetic.to_bits())
    }
}

/// The state of a run, written to a file and read again.
fn checkpoint(run: &Run, frame: usize, file: &Path) -> Checkpoint {
    let written = Checkpoint {
        inputs: 0,
        frame,
        events: run.events.clone(),
        world: run.world.saved(),
        recording: Recorder::new(&run.world, &[]).saved(|_| Err("poses were taken")).unwrap(),
        ledger: Ledger::new(&run.world),
        over_budget: 0,
        idle_events: vec![0],
        stopped: 0,
        solver_limited: 0,
        impacts: ImpactState::default(),
    };
    written.write(file).unwrap();
    let read = Checkpoint::read(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(read.world, written.world);
    assert_eq!(read.events, written.events);
    read
}

/// A world resumed from a checkpoint.
fn resumed(scene: &RandomScene, saved: &Checkpoint) -> World {
    let mut world = scene.world().unwrap();
    for frame in 1..=saved.frame {
        let of_frame: Vec<Event> =
            saved.events.iter().filter(|event| event.frame == frame).cloned().collect();
        world.replay_frame(&of_frame).unwrap();
    }
    world.restore(&saved.world).unwrap();
    world
}

/// The scene with the strengths of its bodies multiplied by `factor`.
fn with_strengths(scene: &RandomScene, factor: f64) -> RandomScene {
    const KEY: &str = "break_impulse = ";
    let mut parts = scene.toml.split(KEY);
    let mut toml = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once(',').expect("a further key");
        let bears = number.parse::<f64>().expect("a number") * factor;
        toml += &format!("{KEY}{:?},{rest}", bears.clamp(1e-12, 1e9));
    }
    RandomScene { toml, acts: scene.acts.clone() }
}

properties! {
    #![proptest_config(ProptestConfig { cases: CASES, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_random_scene_that_is_saved_and_resumed_at_any_frame_goes_on_to_the_same_bits(
        scene in cut_scene(), stop in FRAMES / 4..FRAMES,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut run = Run::new(scene.world().unwrap());
        for frame in 0..stop {
            run.step(&scene, frame);
        }
        prop_assume!(!run.events.is_empty());
        let saved = checkpoint(&run, stop, &folder.path().join("checkpoint"));
        let mut other = Run::new(resumed(&scene, &saved));
        prop_assert_eq!(other.world.saved(), saved.world);
        let known = run.events.len();
        for frame in stop..FRAMES {
            let wanted = run.step(&scene, frame);
            prop_assert_eq!(other.step(&scene, frame), wanted, "frame {} after {}", frame, stop);
        }
        prop_assert_eq!(&other.events[..], &run.events[known..]);
        prop_assert!(other.world.saved() == run.world.saved());
    }

    #[test]
    fn events_of_a_random_scene_give_the_same_bits_whatever_its_bodies_bear(
        scene in cut_scene(), factor in -3.0..3.0_f64,
    ) {
        let mut run = Run::new(scene.world().unwrap());
        let frames: Vec<_> = (0..FRAMES).map(|frame| run.step(&scene, frame)).collect();
        // cuts repeat without events
        prop_assume!(run.events.iter().any(|event| event.cause != Trigger::Cut));
        let lines = run.events.iter().map(|event| serde_json::to_string(event).unwrap());
        let events = lines.map(|line| serde_json::from_str(&line).unwrap()).collect();
        let other = with_strengths(&scene, 10_f64.powf(factor));
        let mut again = Run::new(other.world().unwrap());
        again.world.replay(events);
        for (frame, wanted) in frames.into_iter().enumerate() {
            prop_assert_eq!(again.step(&other, frame), wanted, "frame {}", frame);
        }
        prop_assert_eq!(again.mismatches, 0);
        prop_assert_eq!(again.events, run.events);
        prop_assert!(again.world.saved() == run.world.saved());
    }
}
