//! What pictures show, and when.

use std::sync::Arc;

use brisance::render::{Picture, View, render};
use nalgebra::{Isometry3, Point3, Vector3};
use sim::{Camera, Look, Recording, Sight, Skin, Surface, Track};

use crate::cli::{Case, SCENE};

/// A surface of a box with its edges along the axes.
fn cuboid(half: [f64; 3]) -> Surface {
    let shape = contact::Shape::cuboid(half.into(), 0.1);
    Surface::of(&shape, None, None, None)
}

fn track(name: &str, surface: Surface, poses: Vec<Isometry3<f64>>) -> Track {
    Track {
        name: name.to_owned(),
        skin: Skin::from(surface),
        look: Arc::new(Look::default()),
        parent: None,
        birth: 0,
        taken: 0,
        poses,
        shrinks: None,
        stresses: Vec::new(),
    }
}

fn still(tracks: Vec<Track>) -> Recording {
    Recording { fps: 30.0, frames: 1, tracks, energies: vec![], camera: None }
}

fn ground() -> Track {
    let plane = contact::Shape::half_space();
    track("ground", Surface::of(&plane, None, None, None), vec![Isometry3::identity()])
}

fn brightness(picture: &Picture, column: usize, row: usize) -> i32 {
    picture.pixel(column, row).iter().map(|&c| i32::from(c)).sum()
}

#[test]
fn a_picture_does_not_depend_on_the_number_of_threads() {
    let block = track("block", cuboid([0.5; 3]), vec![Isometry3::translation(0.0, 0.5, 0.0)]);
    let recording = still(vec![ground(), block]);
    let view = View::fitted(&recording, 1.5);
    let drawn = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| render(&recording, &view, 0.0, [96, 64]))
    };
    let one = drawn(1);
    assert_eq!(one, drawn(2));
    assert_eq!(one, drawn(5));
}

#[test]
fn a_subject_fills_most_of_the_picture_and_all_of_it_is_seen() {
    for (half, size) in
        [([0.5; 3], [120, 80]), ([3.0, 0.2, 0.1], [120, 80]), ([0.1, 2.0, 0.3], [60, 90])]
    {
        let recording = still(vec![track("block", cuboid(half), vec![Isometry3::identity()])]);
        let view = View::fitted(&recording, size[0] as f64 / size[1] as f64);
        let picture = render(&recording, &view, 0.0, size);
        let empty = still(vec![]);
        let sky = render(&empty, &view, 0.0, size);
        let is_drawn =
            |column: usize, row: usize| picture.pixel(column, row) != sky.pixel(column, row);
        let columns: Vec<usize> =
            (0..size[0]).filter(|&x| (0..size[1]).any(|y| is_drawn(x, y))).collect();
        let rows: Vec<usize> =
            (0..size[1]).filter(|&y| (0..size[0]).any(|x| is_drawn(x, y))).collect();
        let share = |places: &[usize], of: usize| {
            assert!(places[0] > 0 && places[places.len() - 1] < of - 1, "{half:?}: it is cut off");
            places.len() as f64 / of as f64
        };
        let largest = share(&columns, size[0]).max(share(&rows, size[1]));
        assert!((0.7..0.9).contains(&largest), "{half:?}: {largest}");
    }
}

#[test]
fn it_is_darker_in_the_shadow_and_in_corners() {
    let block = track("block", cuboid([0.5; 3]), vec![Isometry3::translation(0.0, 0.5, 0.0)]);
    let (with, without) = (still(vec![ground(), block]), still(vec![ground()]));
    let view = View::fitted(&with, 1.0);
    // straight down, the top of the picture where -z is: the sun comes from -x and z
    let above = view.moved(Point3::origin(), Point3::new(0.0, 8.0, 0.0)).unwrap();
    let [dark, bright] = [&with, &without].map(|r| render(r, &above, 0.0, [81, 81]));
    let off = |x: usize, y: usize| brightness(&bright, x, y) - brightness(&dark, x, y);
    let reach = 81.0 / (2.0 * 8.0 * (View::fitted(&with, 1.0).parts().2 / 2.0).tan());
    let pixel = |along: f64| (40.0 + along * reach).round() as usize;
    assert!(off(pixel(0.75), 40) > 150, "the shadow: {}", off(pixel(0.75), 40));
    let [foot, tip] = [0.62, 0.95].map(|along| brightness(&dark, pixel(along), 40));
    assert!(foot + 5 < tip, "less of the sky is seen at the foot: {foot} {tip}");
    assert!(off(pixel(-1.6), pixel(1.6)).abs() < 12, "far from it");
    // no pattern on a side that the sun shines on
    let top: Vec<i32> = (36..45).map(|x| brightness(&dark, x, 40)).collect();
    let (least, most) = (top.iter().min().unwrap(), top.iter().max().unwrap());
    assert!(most - least < 6, "{top:?}");
}

#[test]
fn one_looks_through_glass() {
    let pane = |look: Look| {
        let place = Isometry3::translation(0.0, 0.5, 0.5);
        Track { look: Arc::new(look), ..track("pane", cuboid([0.5, 0.5, 0.003]), vec![place]) }
    };
    let red = Look { color: [0.8, 0.05, 0.05], ..Look::default() };
    let behind = track("red", cuboid([0.5; 3]), vec![Isometry3::translation(0.0, 0.5, -0.2)]);
    let behind = || Track { look: Arc::new(red.clone()), ..behind.clone() };
    let middle = |front: Look| {
        let recording = still(vec![pane(front), behind()]);
        let view = View::fitted(&recording, 1.0);
        let view = view.moved(Point3::new(0.0, 0.5, 0.0), Point3::new(0.0, 0.7, 4.0)).unwrap();
        render(&recording, &view, 0.0, [33, 33]).pixel(16, 16)
    };
    let clear = Look { transmission: 1.0, ior: 1.5, roughness: 0.05, ..Look::default() };
    let clear = Look { color: [0.95; 3], ..clear };
    let thin = Look { alpha: 0.2, ..Look::default() };
    for (name, look) in [("transmission", clear), ("alpha", thin)] {
        let [r, g, _] = middle(look).map(i32::from);
        assert!(r > g + 40, "{name}: {r} {g}");
    }
    let [r, g, _] = middle(Look::default()).map(i32::from);
    assert!((r - g).abs() < 25, "a pane of grey: {r} {g}");
}

#[test]
fn cameras_move_as_the_scene_says_and_follow_pieces() {
    let poses = |from: f64| (0..31).map(move |n| Isometry3::translation(from + n as f64, 1.0, 0.0));
    let ball = track("ball", cuboid([0.1; 3]), poses(0.0).collect());
    let still = Recording { frames: 31, ..still(vec![ball]) };
    let sight = |time: f64, x: f64| Sight {
        time,
        at: Point3::new(x, 0.0, 0.0),
        from: Point3::new(x, 2.0, 5.0),
    };
    let camera = Camera { field: 0.5, follow: None, keys: vec![sight(0.0, 0.0), sight(1.0, 4.0)] };
    let moved = Recording { camera: Some(camera.clone()), ..still.clone() };
    let view = View::fitted(&moved, 1.5);
    for (frame, x) in [(0.0, 0.0), (15.0, 2.0), (22.5, 3.0), (30.0, 4.0)] {
        let (at, arm, field, _) = view.at(&moved, frame).parts();
        assert!((at[0] - x).abs() < 1e-9 && field == 0.5, "{frame}: {at:?}");
        assert!((Vector3::from(arm) - Vector3::new(0.0, 2.0, 5.0)).norm() < 1e-9);
    }
    // it breaks in frame 10, and one of three pieces flies away
    let mut broken = still;
    broken.tracks[0].poses.truncate(10);
    for (n, speed) in [1.0, 1.2, 50.0].into_iter().enumerate() {
        let along = |k: usize| Isometry3::translation(10.0 + speed * k as f64, 1.0, 0.0);
        let piece = track(&format!("ball.{n}"), cuboid([0.05; 3]), (0..21).map(along).collect());
        broken.tracks.push(Track { parent: Some(0), birth: 10, ..piece });
    }
    broken.camera = Some(Camera { follow: Some(0), keys: vec![], ..camera });
    let at = |frame: f64| View::fitted(&broken, 1.5).at(&broken, frame).parts().0[0];
    assert!((at(5.0) - 5.0).abs() < 1e-9);
    assert!((at(20.0) - 22.0).abs() < 1e-9, "the median piece: {}", at(20.0));
}

#[test]
fn slow_motion_has_more_pictures_and_pieces_start_where_they_broke_off() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "out.glb"]).status.success());
    let slow = ["render", "out.glb", "--size", "32x24", "--speed", "0.25", "-q", "-o", "slow/"];
    assert!(case.run(&slow).status.success());
    let names = case.folder.path().join("slow").read_dir().unwrap().count();
    assert_eq!(names, 12 * 4 + 1);
    let above = ["render", "out.glb", "--size", "32x24", "-q", "-o", "above.png"];
    let camera = ["--at", "0,0,0", "--from", "0,3,0"];
    assert!(case.run(&[&above[..], &camera].concat()).status.success(), "straight from above");
    for wrong in [["--speed", "0"], ["--speed", "x"], ["--turntable", "1e9"]] {
        let run = case.run(&[&slow[..6], &wrong, &["-o", "no.gif"]].concat());
        assert_eq!(run.status.code(), Some(2), "{wrong:?}");
    }
    let run = case.run(&["render", "out.glb", "--speed", "2", "-o", "no.png"]);
    assert_eq!(run.status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn video_needs_ffmpeg_and_gives_it_every_pixel() {
    use std::os::unix::fs::PermissionsExt;
    let case = Case::new(&[("scene.toml", SCENE)]);
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "out.glb"]).status.success());
    let with_path = |path: &std::path::Path| {
        let mut program = crate::cli::brisance();
        program.args(["render", "out.glb", "--size", "31x24", "-q", "-o", "out.mp4"]);
        program.current_dir(&case.folder).env("PATH", path).output().unwrap()
    };
    let before = case.names();
    let run = with_path(case.folder.path());
    assert_eq!(run.status.code(), Some(2));
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.lines().count() == 1 && said.contains("ffmpeg -framerate 30"), "{said}");
    assert_eq!(case.names(), before, "nothing is left");
    // one that counts what it is given
    let tools = tempfile::tempdir().unwrap();
    let tool = tools.path().join("ffmpeg");
    let script = "#!/bin/sh\n[ \"$1\" = -version ] && exit 0\nfor last; do :; done\n\
        /usr/bin/wc -c > \"$last\"\n";
    std::fs::write(&tool, script).unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = with_path(tools.path());
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let count = std::fs::read_to_string(case.folder.path().join("out.mp4")).unwrap();
    assert_eq!(count.trim(), (13 * 31 * 24 * 3).to_string());
    // one that fails
    std::fs::write(&tool, script.replace("/usr/bin/wc", "echo no room >&2; exit 1;")).unwrap();
    let run = with_path(tools.path());
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("no room"));
}
