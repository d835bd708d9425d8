//! Contents and times of pictures.

use std::sync::{Arc, LazyLock};

use brisance::format::{DustCloud, DustGroup, Grain};
use brisance::render::{Images, Picture, Subject, View, render};
use nalgebra::{Isometry3, Point3, Vector3};
use sim::{Camera, CameraKey, LazySurface, Look, Recording, Surface, Track};

use crate::cli::{Case, SCENE, problem};

/// A surface of a box with its edges along the axes.
fn cuboid(half: [f64; 3]) -> Surface {
    let shape = contact::Shape::cuboid(half.into(), 0.1);
    Surface::of(&shape, None, None, None)
}

fn track(name: &str, surface: Surface, poses: Vec<Isometry3<f64>>) -> Track {
    Track {
        name: name.to_owned(),
        lazy_surface: LazySurface::from(surface),
        look: Arc::new(Look::default()),
        parent: None,
        birth: 0,
        taken: 0,
        poses,
        waypoints: Vec::new(),
        shrinks: None,
        stresses: Vec::new(),
    }
}

fn still(tracks: Vec<Track>) -> Recording {
    Recording { fps: 30.0, frames: 1, tracks, energies: vec![], crumbs: vec![], camera: None }
}

fn ground() -> Track {
    let plane = contact::Shape::half_space();
    track("ground", Surface::of(&plane, None, None, None), vec![Isometry3::identity()])
}

/// A subject without dust or images.
fn bodies(recording: &Recording) -> Subject<'_> {
    static NONE: LazyLock<Images> = LazyLock::new(Images::default);
    Subject { recording, images: &NONE, dust: None }
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
        pool.install(|| render(bodies(&recording), &view, 0.0, [96, 64]))
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
        let picture = render(bodies(&recording), &view, 0.0, size);
        let empty = still(vec![]);
        let sky = render(bodies(&empty), &view, 0.0, size);
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
    // the camera looks straight down, with -z at the top of the picture; the sun is at -x and +z
    let above = view.moved(Point3::origin(), Point3::new(0.0, 8.0, 0.0)).unwrap();
    let [dark, bright] = [&with, &without].map(|r| render(bodies(r), &above, 0.0, [81, 81]));
    let off = |x: usize, y: usize| brightness(&bright, x, y) - brightness(&dark, x, y);
    let reach = 81.0 / (2.0 * 8.0 * (View::fitted(&with, 1.0).field() / 2.0).tan());
    let pixel = |along: f64| (40.0 + along * reach).round() as usize;
    assert!(off(pixel(0.75), 40) > 150, "the shadow: {}", off(pixel(0.75), 40));
    let [foot, tip] = [0.62, 0.95].map(|along| brightness(&dark, pixel(along), 40));
    assert!(foot + 5 < tip, "less of the sky is seen at the foot: {foot} {tip}");
    assert!(off(pixel(-1.6), pixel(1.6)).abs() < 12, "no shadow far from the block");
    // no pattern on a sunlit side
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
        render(bodies(&recording), &view, 0.0, [33, 33]).pixel(16, 16)
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

/// The bottom of a clear block coincides with the surface below it. Round-off must not decide which of them a ray
/// hits first.
#[test]
fn a_clear_block_on_the_ground_is_drawn_without_noise() {
    let red = Arc::new(Look { color: [0.8, 0.05, 0.05], ..Look::default() });
    let slab =
        track("slab", cuboid([2.0, 0.25, 2.0]), vec![Isometry3::translation(0.0, -0.25, 0.0)]);
    let glass = Look { transmission: 1.0, ior: 1.5, color: [0.95; 3], ..Look::default() };
    for (name, below) in [("plane", ground()), ("slab", slab)] {
        for (kind, look) in
            [("glass", glass.clone()), ("thin", Look { alpha: 0.3, ..Look::default() })]
        {
            let block =
                track("block", cuboid([0.5; 3]), vec![Isometry3::translation(0.0, 0.5, 0.0)]);
            let recording = still(vec![
                Track { look: Arc::clone(&red), ..below.clone() },
                Track { look: Arc::new(look), ..block },
            ]);
            let view = View::fitted(&recording, 1.0);
            let view = view.moved(Point3::new(0.0, 0.4, 0.0), Point3::new(0.3, 3.0, 2.0)).unwrap();
            let picture = render(bodies(&recording), &view, 0.0, [81, 81]);
            // seen through the top and the bottom
            let values: Vec<i32> = (36..45)
                .flat_map(|x| (38..43).map(move |y| (x, y)))
                .map(|(x, y)| i32::from(picture.pixel(x, y)[0]))
                .collect();
            let mean = values.iter().sum::<i32>() / values.len() as i32;
            let off = values.iter().map(|value| (value - mean).abs()).max().unwrap();
            assert!(off < 16, "{name}, {kind}: {off} of {mean}");
        }
    }
}

/// A metal floor mirrors the bodies on it, with more blur for more roughness. The light on other materials does not
/// change.
#[test]
fn metals_mirror_what_is_around_them() {
    let red = Arc::new(Look { color: [0.8, 0.05, 0.05], ..Look::default() });
    let block = track("red", cuboid([0.5; 3]), vec![Isometry3::translation(0.0, 0.5, -1.0)]);
    let seen = |look: Look| {
        let recording = still(vec![
            Track { look: Arc::new(look), ..ground() },
            Track { look: Arc::clone(&red), ..block.clone() },
        ]);
        let view = View::fitted(&recording, 1.0);
        let view = view.moved(Point3::new(0.0, 0.0, 0.0), Point3::new(0.0, 2.0, 4.0)).unwrap();
        let picture = render(bodies(&recording), &view, 0.0, [33, 33]);
        // the mirror image of the center is as far below the floor as the center is above it
        [picture.pixel(16, 16), picture.pixel(1, 24)].map(|pixel| pixel.map(i32::from))
    };
    let metal = |roughness| Look { color: [0.9; 3], metallic: 1.0, roughness, ..Look::default() };
    let redness = |[r, g, b]: [i32; 3]| r - (g + b) / 2;
    let [mirror, brushed, rough] = [0.0, 0.3, 0.8].map(|r| redness(seen(metal(r))[0]));
    let dull = redness(seen(Look { metallic: 0.0, ..metal(0.8) })[0]);
    assert!(mirror > 60 && mirror > brushed && brushed > rough, "{mirror} {brushed} {rough}");
    assert!(rough > dull, "{rough} {dull}");
    // a colored mirror tints the sky
    let gold = Look { color: [1.0, 0.77, 0.34], ..metal(0.0) };
    let [[_, _, sky], [_, _, tinted]] = [metal(0.0), gold].map(|look| seen(look)[1]);
    assert!(tinted + 30 < sky, "{tinted} {sky}");
}

#[test]
fn cameras_move_as_the_scene_says_and_follow_pieces() {
    let poses = |from: f64| (0..31).map(move |n| Isometry3::translation(from + n as f64, 1.0, 0.0));
    let ball = track("ball", cuboid([0.1; 3]), poses(0.0).collect());
    let still = Recording { frames: 31, ..still(vec![ball]) };
    let sight = |time: f64, x: f64| CameraKey {
        time,
        at: Point3::new(x, 0.0, 0.0),
        from: Point3::new(x, 2.0, 5.0),
    };
    let camera = Camera { field: 0.5, follow: None, keys: vec![sight(0.0, 0.0), sight(1.0, 4.0)] };
    let moved = Recording { camera: Some(camera.clone()), ..still.clone() };
    let view = View::fitted(&moved, 1.5);
    for (frame, x) in [(0.0, 0.0), (15.0, 2.0), (22.5, 3.0), (30.0, 4.0)] {
        let view = view.at(&moved, frame);
        let at = view.center();
        assert!((at.x - x).abs() < 1e-9 && view.field() == 0.5, "{frame}: {at:?}");
        assert!((view.arm() - Vector3::new(0.0, 2.0, 5.0)).norm() < 1e-9);
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
    let at = |frame: f64| View::fitted(&broken, 1.5).at(&broken, frame).center().x;
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
    for wrong in [["--speed", "2"], ["--turntable", "90"]] {
        let run = case.run(&[&["render", "out.glb", "-o", "no.png"], &wrong[..]].concat());
        assert_eq!(run.status.code(), Some(2), "{wrong:?}");
        let message = problem(run.stderr);
        assert!(message.contains(&format!("no.png: {}", wrong[0])), "{message}");
    }
    let sheet = ["--sheet", "2", "--turntable", "90", "-o", "turned.png"];
    assert!(case.run(&[&slow[..4], &["-q"], &sheet[..]].concat()).status.success());
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
    // a writer that counts bytes
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
    // a writer that fails
    std::fs::write(&tool, script.replace("/usr/bin/wc", "echo no room >&2; exit 1;")).unwrap();
    let run = with_path(tools.path());
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("no room"));
}

#[test]
fn frames_are_drawn_as_png() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "out.glb"]).status.success());
    let size = ["--size", "64x48"];
    let drawn = |options: &[&str]| {
        let render = ["render", "out.glb", "-o", "out.png"];
        let run = case.run(&[&render[..], &size, options].concat());
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let bytes = std::fs::read(case.folder.path().join("out.png")).unwrap();
        let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width, info.height, pixels)
    };
    let (width, height, first) = drawn(&["--frame", "0"]);
    assert_eq!((width, height), (64, 48));
    let (.., last) = drawn(&["--frame", "12"]);
    assert_ne!(first, last);
    let (width, height, sheet) = drawn(&["--sheet", "5"]);
    assert_eq!((width, height), (4 * 64, 2 * 48));
    let row =
        |pixels: &[u8], width: usize, row: usize| pixels[3 * width * row..][..64 * 3].to_vec();
    for y in 0..48 {
        assert_eq!(row(&sheet, 256, y), row(&first, 64, y), "the sheet starts with frame 0");
        assert_eq!(row(&sheet, 256, 48 + y), row(&last, 64, y), "and ends with the last");
    }
    let (width, height, other) = drawn(&["--sheet", "2x3"]);
    assert_eq!((width, height), (2 * 64, 3 * 48));
    assert_eq!(row(&other, 128, 0), row(&first, 64, 0));
    let run = case.run(&["render", "out.glb", "-o", "no.png", "--frame", "13"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("its last one is 12"));
    let run = case.run(&["render", "scene.toml", "-o", "no.png"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("scene.toml: is not a GLB file"));
    assert_eq!(case.names(), ["out.glb", "out.png", "scene.toml"]);
}

#[test]
fn frames_are_drawn_as_animations_and_folders() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    assert!(case.run(&["run", "scene.toml", "-q", "-o", "out.glb"]).status.success());
    let drawn = |output: &str, options: &[&str]| {
        let render = ["render", "out.glb", "--size", "64x48", "-o", output];
        let run = case.run(&[&render[..], options].concat());
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        case.folder.path().join(output)
    };
    let open = |path| std::io::BufReader::new(std::fs::File::open(path).unwrap());

    let mut gif = gif::Decoder::new(open(drawn("out.gif", &[]))).unwrap();
    assert_eq!((gif.width(), gif.height()), (64, 48));
    let mut delays = vec![];
    while let Some(frame) = gif.read_next_frame().unwrap() {
        delays.push(frame.delay);
    }
    assert_eq!(delays.len(), 13);
    assert_eq!(delays.iter().sum::<u16>(), 43, "13 frames at 30 a second, in hundredths");

    let apng = drawn("out.apng", &["--every", "4"]);
    let mut apng = png::Decoder::new(open(apng)).read_info().unwrap();
    assert_eq!(apng.info().animation_control().unwrap().num_frames, 4);
    let mut last = vec![];
    for _ in 0..4 {
        last = vec![0; apng.output_buffer_size().unwrap()];
        apng.next_frame(&mut last).unwrap();
    }
    let delay = apng.info().frame_control().unwrap();
    assert!((f64::from(delay.delay_num) / f64::from(delay.delay_den) - 4.0 / 30.0).abs() < 1e-4);

    let folder = drawn("frames/", &["--frame", "3,12"]);
    let mut names: Vec<_> =
        folder.read_dir().unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["frame_00003.png", "frame_00012.png"]);
    let every = drawn("every/", &["--every", "5"]);
    for number in 0..3 {
        assert!(every.join(format!("frame_0000{number}.png")).exists(), "without gaps");
    }
    let mut still = png::Decoder::new(open(folder.join(&names[1]))).read_info().unwrap();
    let mut pixels = vec![0; still.output_buffer_size().unwrap()];
    still.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels, last, "frame 12 is the last of every fourth");
    assert_eq!(case.run(&["render", "out.glb", "-o", "frames/"]).status.code(), Some(2));
    assert_eq!(case.run(&["render", "out.glb", "-o", "out.avi"]).status.code(), Some(2));
}

#[test]
fn a_ledger_is_drawn() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let run = ["run", "scene.toml", "-q", "-o", "o.glb", "--ledger", "o.csv", "--events", "e.csv"];
    assert!(case.run(&run).status.success());
    let plot = |output: &str| {
        let run = case.run(&["plot", "o.csv", "-o", output, "--size", "400x600"]);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        std::fs::read(case.folder.path().join(output)).unwrap()
    };
    let svg = String::from_utf8(plot("o.svg")).unwrap();
    for word in ["Mechanical energy", "dissipated", "collision", "momentum", "Bodies", "time, s"] {
        assert!(svg.contains(word), "{word} is not in {svg}");
    }
    let png = png::Decoder::new(std::io::Cursor::new(plot("o.png")));
    let mut reader = png.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (400, 600));
    // the title of the first panel is above all its lines
    let title = &pixels[..3 * 400 * 30];
    assert!(title.iter().filter(|&&byte| byte < 100).count() > 200, "it has no text");

    let events = std::fs::read_to_string(case.folder.path().join("e.csv")).unwrap();
    let rows: Vec<Vec<&str>> = events.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.len() > 1 && rows.iter().all(|row| row.len() == rows[0].len()), "{events}");
    let value = |name: &str| {
        let at = rows[0].iter().position(|n| *n == name).unwrap_or_else(|| panic!("no {name}"));
        rows[1][at].parse::<f64>().unwrap()
    };
    for of in ["mass", "momentum_y", "angular_momentum_x", "kinetic_energy", "potential_energy"] {
        let [before, after] = ["before", "after"].map(|when| value(&format!("{of}_{when}")));
        assert!((before - after).abs() <= 1e-9 * (1.0 + before.abs()), "{of}: {before} {after}");
    }

    for (text, said) in [
        ("", "holds no rows"),
        ("frame,time\n0,0\n", "no column `fractures`"),
        ("{\"frame\":0,\"kind\":\"contact\"}\n{\"frame\":1}\n", "is not a ledger: give the .csv"),
        ("glTF\u{2}\u{0}\n", "is not a ledger"),
        ("frame,time\n0,zero\n", "line 2: `zero` is not a finite number"),
        ("frame,time\n\n0\n", "line 3 has 1 cells, but the first line names 2"),
    ] {
        std::fs::write(case.folder.path().join("bad.csv"), text).unwrap();
        let run = case.run(&["plot", "bad.csv", "-o", "no.svg"]);
        let error = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(2));
        assert!(error.contains(said) && error.lines().count() == 1, "{error}");
    }
    std::fs::write(case.folder.path().join("bad.glb"), [b'g', 0xff, 0xfe]).unwrap();
    let message = problem(case.run(&["plot", "bad.glb", "-o", "no.svg"]).stderr);
    assert!(message.contains("bad.glb: is not a ledger"), "{message}");
    assert_eq!(case.run(&["plot", "o.csv", "-o", "no.pdf"]).status.code(), Some(2));
    assert!(!case.names().iter().any(|name| name.starts_with("no.")));
}

/// A camera below the floor that looks down, one that looks at the ball, and one of which only some pictures are
/// empty.
#[test]
fn pictures_without_a_body_are_reported() {
    let case = Case::new(&[("scene.toml", SCENE)]);
    assert!(case.run(&["run", "scene.toml", "-o", "a.glb", "-q"]).status.success());
    let message = |arguments: &[&str]| {
        let start = ["render", "a.glb", "-o", "a.png", "--size", "32x24"];
        let output = case.run(&[&start, arguments].concat());
        assert!(output.status.success());
        problem(output.stderr)
    };
    let away = ["--from", "0,5,0", "--at", "0,9,0"];
    let helps = "no body is in view in frame 0: move --at and --from, or leave them out";
    let first = message(&[&away[..], &["--frame", "0"]].concat());
    assert!(first.contains(helps), "{first}");
    let many = message(&[&away[..], &["--frame", "2,4,6"]].concat());
    assert!(many.contains("no body is in view in 3 of 3 pictures, first in frame 2"), "{many}");
    assert_eq!(message(&[&away[..], &["-q"]].concat()), "");
    assert!(!message(&[]).contains("in view"));
    assert!(!message(&["--from", "0,0.2,2", "--at", "0,0.2,0"]).contains("in view"));
}

/// A speck covers a disc of its diameter in front of bodies, and hides behind them.
#[test]
fn a_speck_is_a_disc_of_its_size() {
    let block = track("block", cuboid([0.5; 3]), vec![Isometry3::identity()]);
    let recording = still(vec![block]);
    let view = View::fitted(&recording, 1.0);
    let view = view.moved(Point3::origin(), Point3::new(0.0, 0.0, 4.0)).unwrap();
    let dust = |z: f32, size: f32| {
        let grain = Grain { position: Vector3::new(0.0, 0.0, z), velocity: Vector3::zeros(), size };
        let color = [0.9, 0.05, 0.05];
        let (birth, end, falls) = (0.0, f32::INFINITY, true);
        let group = DustGroup { birth, end, color, falls, grains: vec![grain] };
        DustCloud { gravity: Vector3::zeros(), groups: vec![group] }
    };
    const SIDE: usize = 121;
    let drawn = |dust: Option<&DustCloud>| {
        render(Subject { dust, ..bodies(&recording) }, &view, 0.0, [SIDE, SIDE])
    };
    let plain = drawn(None);
    let share = |dust: &DustCloud| {
        let picture = drawn(Some(dust));
        // pixels on the rim are partly covered
        let full = brightness(&picture, 60, 60) - brightness(&plain, 60, 60);
        let places = (0..SIDE * SIDE).map(|n| (n % SIDE, n / SIDE));
        let covered = places.map(|(x, y)| {
            let change = (brightness(&picture, x, y) - brightness(&plain, x, y)).abs();
            f64::from(change.min(full.abs())) / f64::from(full.abs().max(1))
        });
        covered.sum::<f64>()
    };
    // a disc at a distance of 3 m
    let pixel = 2.0 * 3.0 * (view.field() / 2.0).tan() / SIDE as f64;
    for size in [0.1, 0.3] {
        let area = std::f64::consts::PI * (f64::from(size) / pixel / 2.0).powi(2);
        let found = share(&dust(1.0, size));
        assert!((found / area - 1.0).abs() < 0.1, "{size}: {found} pixels, not {area}");
    }
    assert!(drawn(Some(&dust(-1.0, 0.3))) == plain, "it is behind the block");
    assert!(drawn(Some(&dust(4.5, 0.3))) == plain, "it is behind the camera");
    // one of a hundredth of a pixel changes almost nothing
    let fine = drawn(Some(&dust(1.0, 0.01 * pixel as f32)));
    assert!((brightness(&fine, 60, 60) - brightness(&plain, 60, 60)).abs() <= 3);
}

#[test]
fn a_body_that_falls_off_the_scene_does_not_shrink_the_others() {
    let path = |x: f64, fall: f64| {
        (0..31)
            .map(move |n| Isometry3::translation(x, -fall * f64::from(n * n), 0.01 * f64::from(n)))
    };
    let ball = |n: u32, fall: f64| {
        track(&format!("ball {n}"), cuboid([0.1; 3]), path(0.3 * f64::from(n), fall).collect())
    };
    let most: Vec<Track> = (0..9).map(|n| ball(n, 0.0)).collect();
    let stray = [most.clone(), vec![ball(9, 0.1)]].concat();
    let radius = |tracks: Vec<Track>| {
        View::fitted(&Recording { frames: 31, ..still(tracks) }, 1.5).arm().norm()
    };
    let (without, with) = (radius(most), radius(stray));
    assert!((0.9..1.3).contains(&(with / without)), "{without} {with}");
    // a single body is never an outlier
    let alone = radius(vec![ball(0, 0.1)]);
    assert!(alone > 50.0, "{alone}");
}
