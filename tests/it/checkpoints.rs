//! Interrupted and resumed runs have the same final state.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sim::scene::Scene;
use sim::{Event, Recorder, Recording, RecordingState, Track, World, build};

use crate::cli::{Case, SCENE, brisance};
use crate::replay::{ANCHORED, BLAST, CRACKS, JOINED, KNOCKED};

fn bytes(case: &Case, name: &str) -> Vec<u8> {
    std::fs::read(case.folder.path().join(name)).unwrap()
}

/// A world of a scene and its recorder.
fn started(text: &str) -> (World, Recorder) {
    let scene = Scene::from_toml(text).unwrap();
    let (world, appearances) = build(&scene, &BTreeMap::new()).unwrap();
    let recorder = Recorder::new(&world, &appearances);
    (world, recorder)
}

fn step(world: &mut World, recorder: &mut Recorder) -> Vec<Event> {
    let report = world.step();
    recorder.record(world, &report);
    report.events.replayable
}

fn assert_same(one: &Recording, other: &Recording) {
    assert_eq!((one.frames, one.tracks.len()), (other.frames, other.tracks.len()));
    assert_eq!(one.energies, other.energies);
    for (a, b) in one.tracks.iter().zip(&other.tracks) {
        let about = |t: &Track| (t.name.clone(), t.parent, t.birth, t.shrinks);
        assert_eq!(about(a), about(b));
        assert_eq!(a.poses, b.poses, "{}", a.name);
        assert!(a.surface() == b.surface() && a.look == b.look, "{}", a.name);
    }
}

/// The state of a recorder that has never moved poses out of memory.
fn full_state(recorder: &Recorder) -> RecordingState {
    recorder.saved(|_| Err("poses were taken")).unwrap()
}

/// Stops a run after each of some frames, resumes it and compares the final states.
fn check_resume(scene: &str, frames: usize, stops: &[usize]) {
    let (mut world, mut recorder) = started(scene);
    let mut events = vec![];
    let mut saved = vec![];
    for frame in 1..=frames {
        events.extend(step(&mut world, &mut recorder));
        if stops.contains(&frame) {
            saved.push((frame, events.len(), world.saved(), full_state(&recorder)));
        }
    }
    assert!(!events.is_empty(), "nothing broke");
    let (end, recording) = (world.saved(), recorder.finish());
    for (frame, known, state, recorded) in saved {
        let (mut world, mut recorder) = started(scene);
        for now in 1..=frame {
            let of_frame: Vec<Event> =
                events[..known].iter().filter(|event| event.frame == now).cloned().collect();
            let report = world.replay_frame(&of_frame).unwrap();
            recorder.record(&world, &report);
        }
        world.restore(&state).unwrap();
        recorder.restore(&world, &recorded).unwrap();
        assert_eq!(world.saved(), state, "after frame {frame}");
        let mut later = events[..known].to_vec();
        for _ in frame..frames {
            later.extend(step(&mut world, &mut recorder));
        }
        assert_eq!(later, events, "after frame {frame}");
        assert!(world.saved() == end, "after frame {frame}");
        assert_same(&recorder.finish(), &recording);
    }
}

#[test]
fn a_ball_that_shatters_goes_on_from_any_frame() {
    check_resume(SCENE, 12, &[1, 2, 3, 7, 11]);
}

/// Balls that fall flat beside each other.
const SHARING: &str = r#"version = 1
[pattern.shards.voronoi]
pieces = 6
[[body]]
name = "ground"
shape = { plane = {} }
motion = "static"
[[body]]
name = "ball"
material = "china"
shape = { sphere = { radius = 0.06, spacing = 0.006 } }
position = [0, 0.12, 0]
velocity = [0, -4, 0]
fracture = { pattern = "shards", placement = "snapped", strength = 0.2, generations = 1 }
copies = { count = [3, 1, 2], spacing = [0.3, 1, 0.3] }
"#;

#[test]
fn balls_that_share_pieces_go_on() {
    check_resume(SHARING, 8, &[1, 2, 4, 7]);
    let end = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut world, mut recorder) = started(SHARING);
            (0..8).for_each(|_| drop(step(&mut world, &mut recorder)));
            let shapes: Vec<_> =
                world.iter().map(|body| std::sync::Arc::as_ptr(body.shape)).collect();
            let different: std::collections::BTreeSet<_> = shapes.iter().collect();
            (world.saved(), shapes.len() - different.len())
        })
    };
    let (state, shared) = end(1);
    assert!(shared > 6, "{shared}");
    assert!(end(3) == (state, shared));
}

#[test]
fn walls_that_anchors_and_bonds_hold_go_on() {
    check_resume(ANCHORED, 14, &[2, 5, 9]);
}

#[test]
fn cracks_of_lattices_and_finite_elements_go_on() {
    check_resume(CRACKS, 12, &[2, 6, 11]);
}

#[test]
fn joints_and_dents_go_on() {
    check_resume(JOINED, 24, &[3, 9, 17]);
}

#[test]
fn what_happens_at_given_times_goes_on() {
    check_resume(BLAST, 24, &[1, 6, 13, 20]);
}

#[test]
fn sleepers_and_what_was_retired_go_on() {
    check_resume(KNOCKED, 70, &[20, 35, 52]);
}

#[test]
fn a_state_of_another_scene_is_refused() {
    let (mut world, _) = started(SCENE);
    let (other, _) = started(&SCENE.replace("radius = 0.1,", "radius = 0.11,"));
    assert!(world.restore(&other.saved()).is_err());
}

fn exists(path: &Path) -> bool {
    let start = Instant::now();
    while !path.exists() {
        if start.elapsed() > Duration::from_secs(120) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

#[test]
fn a_run_that_is_killed_at_any_moment_goes_on_to_the_same_bytes() {
    let scene = SCENE.replace("frames = 12", "frames = 60");
    let case = Case::new(&[("scene.toml", &scene)]);
    let whole = case.run(&["run", "scene.toml", "-q", "-o", "whole.glb"]);
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    let run = ["run", "scene.toml", "-q", "-o", "out.glb", "--checkpoint-every", "1"];
    let resume = ["--resume", "out.glb.checkpoint"];
    let mut killed = 0;
    for (n, wait) in [0, 7, 31].into_iter().enumerate() {
        let options: &[&str] = if n == 0 { &[] } else { &resume };
        let mut child = brisance();
        child.args(run).args(options).current_dir(&case.folder);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!(exists(&case.folder.path().join("out.glb.checkpoint")));
        std::thread::sleep(Duration::from_millis(wait));
        if child.try_wait().unwrap().is_none() {
            // on Unix this is SIGKILL
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
    }
    assert!(killed > 0, "the run was over before it could be killed");
    let end = case.run(&[&run[..], &resume].concat());
    assert!(end.status.success(), "{}", String::from_utf8_lossy(&end.stderr));
    assert!(bytes(&case, "out.glb") == bytes(&case, "whole.glb"));
}

#[test]
fn a_replay_goes_on_from_a_checkpoint_of_it() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let done = |arguments: &[&str]| {
        let output = case.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    done(&["run", "scene.toml", "-q", "-o", "run.glb", "--events", "told.jsonl"]);
    let replay = ["replay", "scene.toml", "told.jsonl", "-q", "-o"];
    done(&[&replay[..], &["whole.glb"]].concat());
    let saved = ["--checkpoint-every", "5", "--checkpoint", "here.checkpoint"];
    done(&[&replay[..], &["first.glb"], &saved].concat());
    done(&[&replay[..], &["rest.glb", "--resume", "here.checkpoint"]].concat());
    assert!(bytes(&case, "rest.glb") == bytes(&case, "whole.glb"));
    assert!(bytes(&case, "whole.glb") == bytes(&case, "run.glb"));
    // checkpoints of a run and of a replay are not interchangeable
    let run =
        case.run(&["run", "scene.toml", "-q", "-o", "run.glb", "--resume", "here.checkpoint"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("another scene"));
}

#[test]
fn both_files_of_tetgen_decide_whether_a_checkpoint_fits() {
    let scene = r#"version = 1
        [simulation]
        frames = 4
        [[body]]
        name = "thing"
        shape = { tets = { file = "thing.ele", nodes = 8000 } }
        "#;
    let nodes = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
    let case = Case::new(&[
        ("scene.toml", scene),
        ("thing.ele", "1 4 0\n1 1 2 3 4\n"),
        ("thing.node", nodes),
    ]);
    let run = ["run", "scene.toml", "-q", "-o", "out.glb"];
    let first = case.run(&[&run[..], &["--checkpoint-every", "2"]].concat());
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let resume = || case.run(&[&run[..], &["--resume", "out.glb.checkpoint"]].concat());
    assert!(resume().status.success());
    std::fs::write(case.folder.path().join("thing.node"), nodes.replace("4 0 0 1", "4 0 0 2"))
        .unwrap();
    let other = resume();
    assert_eq!(other.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&other.stderr).contains("another scene"));
}

/// A run in a separate folder, and its messages.
#[cfg(unix)]
struct Running {
    child: std::process::Child,
    said: std::io::BufReader<std::process::ChildStderr>,
}

#[cfg(unix)]
impl Running {
    fn new(case: &Case, arguments: &[&str]) -> Self {
        let mut program = brisance();
        program.arg("run").args(arguments).current_dir(&case.folder);
        let mut child = program.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let said = std::io::BufReader::new(child.stderr.take().unwrap());
        Self { child, said }
    }

    /// Skips to the next line that contains `text`: slow machines print progress lines before it.
    fn line_with(&mut self, text: &str) -> String {
        use std::io::BufRead;
        let mut lines = (&mut self.said).lines().map(Result::unwrap);
        lines.find(|line| line.contains(text)).expect(text)
    }

    /// Sends a signal to the process `times` times in immediate succession.
    fn signal(&self, signal: &str, times: usize) {
        let ids = vec![self.child.id().to_string(); times];
        assert!(Command::new("kill").arg(signal).args(ids).status().unwrap().success());
    }

    /// The remaining messages, and the exit code.
    fn end(mut self) -> (String, Option<i32>) {
        use std::io::Read;
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        (rest, self.child.wait().unwrap().code())
    }
}

/// The frame after which a run reports that it stopped.
#[cfg(unix)]
fn stopped_after(message: &str) -> usize {
    let last = message.lines().last().unwrap_or_default();
    let (_, rest) = last.split_once("stopped after frame ").expect(message);
    rest.split(':').next().unwrap().parse().unwrap()
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let long = SCENE.replace("frames = 12", "frames = 50000");
    for (signal, times) in [("-INT", 2), ("-TERM", 1)] {
        let case = Case::new(&[("scene.toml", &long)]);
        let mut running = Running::new(&case, &["scene.toml", "-o", "out.jsonl"]);
        running.line_with("frame 1 of 50000");
        // `timeout` sends two simultaneous signals, which count as one request
        running.signal(signal, times);
        let (message, code) = running.end();
        assert_eq!(code, Some(130), "{message}");
        assert!(message.contains("stopping once"), "{message}");
        assert!(message.contains("--resume out.jsonl.checkpoint"), "{message}");
        let first = stopped_after(&message);
        assert_eq!(case.names(), ["out.jsonl.checkpoint", "scene.toml"]);

        // and once more after it resumes
        std::fs::rename(
            case.folder.path().join("out.jsonl.checkpoint"),
            case.folder.path().join("first"),
        )
        .unwrap();
        let go_on = ["scene.toml", "-o", "out.jsonl", "--resume", "first"];
        let mut running = Running::new(&case, &go_on);
        running.line_with("frame ");
        running.signal(signal, times);
        let (message, code) = running.end();
        assert_eq!(code, Some(130), "{message}");
        assert!(message.contains("--resume out.jsonl.checkpoint"), "{message}");
        let second = stopped_after(&message);
        assert!(second > first, "{second} {first}");
        assert_eq!(case.names(), ["first", "out.jsonl.checkpoint", "scene.toml"]);

        let frames = (second + 3).to_string();
        let run = ["run", "scene.toml", "-q", "--frames", &frames, "-o"];
        let whole = case.run(&[&run[..], &["whole.jsonl"]].concat());
        let rest = [&run[..], &["out.jsonl", "--resume", "out.jsonl.checkpoint"]].concat();
        assert!(whole.status.success() && case.run(&rest).status.success());
        assert!(bytes(&case, "out.jsonl") == bytes(&case, "whole.jsonl"));
    }
}

/// A run that waits for its scene from a pipe.
#[cfg(unix)]
fn waiting(case: &Case, arguments: &[&str]) -> (Running, std::fs::File) {
    let pipe = case.folder.path().join("scene.toml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let running = Running::new(case, &[&["scene.toml"], arguments].concat());
    // the pipe opens when the program reads it; the program handles signals then
    (running, std::fs::File::options().write(true).open(&pipe).unwrap())
}

#[cfg(unix)]
#[test]
fn a_run_interrupted_before_its_first_frame_can_be_gone_on_with() {
    use std::io::Write;
    let case = Case::new(&[]);
    let (mut running, mut scene) = waiting(&case, &["-q", "-o", "out.jsonl"]);
    running.signal("-INT", 1);
    running.line_with("stopping once");
    scene.write_all(SCENE.as_bytes()).unwrap();
    drop(scene);
    let (message, code) = running.end();
    assert_eq!((code, stopped_after(&message)), (Some(130), 0), "{message}");
    let path = case.folder.path().join("scene.toml");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, SCENE).unwrap();
    let run = ["run", "scene.toml", "-q", "-o"];
    let whole = case.run(&[&run[..], &["whole.jsonl"]].concat());
    let rest = case.run(&[&run[..], &["out.jsonl", "--resume", "out.jsonl.checkpoint"]].concat());
    assert!(whole.status.success() && rest.status.success());
    assert!(bytes(&case, "out.jsonl") == bytes(&case, "whole.jsonl"));
}

#[cfg(unix)]
#[test]
fn a_second_request_ends_a_run_at_once() {
    let case = Case::new(&[]);
    let (mut running, scene) = waiting(&case, &["-q", "-o", "out.jsonl"]);
    running.signal("-INT", 1);
    running.line_with("stopping once");
    std::thread::sleep(Duration::from_millis(300));
    running.signal("-INT", 1);
    let (message, code) = running.end();
    drop(scene);
    assert_eq!(code, Some(130), "{message}");
    assert!(message.starts_with("brisance: ended at once"), "{message}");
    assert_eq!(case.names(), ["scene.toml"]);
}

#[cfg(unix)]
#[test]
fn a_run_interrupted_as_it_resumes_leaves_its_checkpoint_to_go_on_with() {
    use std::io::Write;
    let case = Case::new(&[("same.toml", SCENE)]);
    let saved = ["--checkpoint-every", "5", "--checkpoint", "here.checkpoint"];
    let run = ["run", "same.toml", "-q", "-o", "out.jsonl"];
    assert!(case.run(&[&run[..], &saved].concat()).status.success());
    let whole = bytes(&case, "out.jsonl");
    std::fs::remove_file(case.folder.path().join("out.jsonl")).unwrap();
    let held = bytes(&case, "here.checkpoint");
    let resume = ["-q", "-o", "out.jsonl", "--resume", "here.checkpoint"];
    let (mut running, mut scene) = waiting(&case, &resume);
    running.signal("-INT", 1);
    running.line_with("stopping once");
    scene.write_all(SCENE.as_bytes()).unwrap();
    drop(scene);
    let (message, code) = running.end();
    assert_eq!((code, stopped_after(&message)), (Some(130), 10), "{message}");
    assert!(message.contains("--resume here.checkpoint"), "{message}");
    assert!(bytes(&case, "here.checkpoint") == held);
    assert_eq!(case.names(), ["here.checkpoint", "same.toml", "scene.toml"]);
    assert!(case.run(&[&run[..], &["--resume", "here.checkpoint"]].concat()).status.success());
    assert!(bytes(&case, "out.jsonl") == whole);
}

#[test]
fn a_checkpoint_that_does_not_fit_is_refused() {
    let case = Case::new(&[("scene.toml", SCENE), ("other.toml", &SCENE.replace("60", "61"))]);
    let run = ["run", "scene.toml", "-q", "-o", "out.glb"];
    let saved = ["--checkpoint-every", "5", "--checkpoint", "here.checkpoint"];
    assert!(case.run(&[&run[..], &saved].concat()).status.success());
    let refused = |arguments: &[&str], words: &str| {
        let output = case.run(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.lines().count() == 1 && message.contains(words), "{message}");
    };
    let resume = ["-q", "-o", "out.glb", "--resume"];
    refused(&[&["run", "other.toml"], &resume[..], &["here.checkpoint"]].concat(), "another scene");
    refused(&[&run[..], &["--resume", "here.checkpoint", "--seed", "2"]].concat(), "another scene");
    refused(&[&run[..], &["--resume", "here.checkpoint", "--frames", "9"]].concat(), "frame 10");
    refused(&[&run[..], &["--resume", "scene.toml"]].concat(), "is not a checkpoint");
    let mut damaged = bytes(&case, "here.checkpoint");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    std::fs::write(case.folder.path().join("here.checkpoint"), &damaged).unwrap();
    refused(&[&run[..], &["--resume", "here.checkpoint"]].concat(), "is damaged");
    std::fs::write(case.folder.path().join("here.checkpoint"), &damaged[..middle]).unwrap();
    refused(&[&run[..], &["--resume", "here.checkpoint"]].concat(), "is damaged");
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_a_run_and_tears_no_checkpoint() {
    let case = Case::new(&[("scene.toml", SCENE), ("out.glb.checkpoint", "old")]);
    // the limit of one block per file makes writing fail as on a full disk
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    let mut limited = Command::new("sh");
    limited.args(["-c", script]).arg(brisance().get_program());
    limited.args(["run", "scene.toml", "-q", "-o", "out.glb", "--checkpoint-every", "4"]);
    let output = limited.current_dir(&case.folder).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("out.glb.checkpoint: cannot be written"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert_eq!(bytes(&case, "out.glb.checkpoint"), b"old");
    assert_eq!(case.names(), ["out.glb.checkpoint", "scene.toml"]);
}
