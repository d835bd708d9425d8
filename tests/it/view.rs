//! The page of a recording: its server, and its display in a browser.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use brisance::format::glb::read_glb;
use brisance_tests::skipped::skipped;
use nalgebra::Isometry3;
use sim::TimedWaypoint;

use crate::cli::{Case, SCENE, brisance};
use crate::replay::CRACKS;

/// A running `brisance view` or `play`, which ends with the test.
pub(crate) struct Served {
    program: Child,
    pub(crate) address: String,
}

impl Served {
    fn new(case: &Case, recording: &str) -> Self {
        Self::by(case, &["view", recording, "--no-open"])
    }

    /// Starts the program with some arguments.
    pub(crate) fn by(case: &Case, arguments: &[&str]) -> Self {
        let mut view = brisance();
        view.args(arguments).current_dir(&case.folder);
        let mut program =
            view.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut address = String::new();
        let out = program.stdout.take().expect("it is piped");
        BufReader::new(out).read_line(&mut address).unwrap();
        Self { program, address: address.trim_end().to_owned() }
    }

    fn host(&self) -> &str {
        let address = self.address.strip_prefix("http://").expect("an address");
        address.split('/').next().expect("a host")
    }

    /// The folder of all routes, with a slash before it.
    fn folder(&self) -> &str {
        let start = "http://".len() + self.host().len();
        let end = self.address.rfind('/').expect("a folder");
        &self.address[start..end]
    }

    /// Status, headers and body of the answer to a raw request.
    fn answer(&self, request: &str) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = vec![];
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").expect("headers end");
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("a status");
        (status, head, bytes[end + 4..].to_vec())
    }

    pub(crate) fn get(&self, route: &str) -> (u16, String, Vec<u8>) {
        let (host, folder) = (self.host(), self.folder());
        self.answer(&format!(
            "GET {folder}{route} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        ))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A ball that broke, in `out.glb`.
fn broken_ball() -> Case {
    let case = Case::new(&[("scene.toml", SCENE)]);
    let run = case.run(&["run", "scene.toml", "-q", "-o", "out.glb"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    case
}

#[test]
fn a_page_is_served_with_all_it_needs_and_nothing_else() {
    let case = broken_ball();
    let served = Served::new(&case, "out.glb");
    assert!(served.address.starts_with("http://127.0.0.1:"), "{}", served.address);
    let (status, head, body) = served.get("/");
    let page = String::from_utf8(body).unwrap();
    assert_eq!(status, 200);
    assert!(head.contains("default-src 'none'"), "{head}");
    assert!(!page.contains("http:") && !page.contains("https:"), "the page needs no network");
    for part in page.split(['"', ' ']).filter(|p| p.ends_with(".js") || p.ends_with(".css")) {
        let (status, _, body) = served.get(&format!("/{part}"));
        assert_eq!(status, 200, "{part}");
        let text = String::from_utf8(body).unwrap();
        for import in text.split('"').filter(|t| t.starts_with("./") && t.ends_with(".js")) {
            assert_eq!(served.get(&import[1..]).0, 200, "{import}");
        }
    }
    for outside in [
        "/scene.toml",
        "/out.glb",
        "/../scene.toml",
        "/%2e%2e/scene.toml",
        "//",
        "/x",
        "/recording/1",
    ] {
        assert_eq!(served.get(outside).0, 404, "{outside}");
    }
    assert_eq!(served.get("/../../../../../../etc/passwd").0, 404);
    // its folder has a new name each time
    let other = Served::new(&case, "out.glb");
    assert!(other.folder().len() == 33 && other.folder() != served.folder(), "{}", other.address);
    for guess in ["/", "/recording/0", &format!("{}/", other.folder())] {
        let request = format!("GET {guess} HTTP/1.1\r\nHost: {}\r\n\r\n", served.host());
        assert_eq!(served.answer(&request).0, 404, "{guess}");
    }
}

#[test]
fn the_page_reads_the_geometry_and_the_poses_of_the_recording() {
    let case = broken_ball();
    let recording = read_glb(&std::fs::read(case.folder.path().join("out.glb")).unwrap()).unwrap();
    let (status, _, bytes) = Served::new(&case, "out.glb").get("/recording/0");
    assert_eq!(status, 200);
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let head: serde_json::Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
    assert_eq!((&head["fps"], &head["frames"]), (&30.0.into(), &13.into()));
    assert_eq!(head["energies"].as_array().unwrap().len(), 13);
    let first_energy = head["energies"][0]["kinetic"].as_f64().unwrap();
    assert_eq!(first_energy, recording.energies[0].kinetic);
    let mut floats = bytes[(4 + length).next_multiple_of(4)..].as_chunks::<4>().0.iter();
    let geometries: Vec<Vec<[f32; 3]>> = head["geometries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|size| {
            let [vertices, triangles] = [0, 1].map(|i| size[i].as_u64().unwrap() as usize);
            let positions: Vec<f32> =
                floats.by_ref().take(3 * vertices).map(|b| f32::from_le_bytes(*b)).collect();
            let indices = floats.by_ref().skip(6 * vertices).take(3 * triangles);
            let corner =
                |b: &[u8; 4]| positions.as_chunks::<3>().0[u32::from_le_bytes(*b) as usize];
            indices.map(corner).collect()
        })
        .collect();
    let mut waypoints_seen = 0;
    for (track, body) in recording.tracks.iter().zip(head["bodies"].as_array().unwrap()) {
        assert_eq!(body["name"], track.name);
        assert_eq!(body["birth"], track.birth);
        let surface = track.surface();
        for (side, triangles) in [("outer", &surface.outer), ("inner", &surface.inner)] {
            let corners = triangles.as_flattened().iter();
            let corners: Vec<_> = corners.map(|&v| surface.vertices[v as usize]).collect();
            let shown = body[side].as_u64().map_or(vec![], |g| geometries[g as usize].clone());
            assert_eq!(shown, corners, "{} {side}", track.name);
        }
        assert_eq!(
            (&body["frames"], &body["corners"]),
            (&track.poses.len().into(), &track.waypoints.len().into())
        );
        let numbers = |pose: &Isometry3<f64>| {
            let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
            numbers.copied().collect::<Vec<f64>>()
        };
        let waypoint =
            |waypoint: &TimedWaypoint| [vec![waypoint.time], numbers(&waypoint.pose)].concat();
        let waypoints = track.waypoints.iter().flat_map(waypoint);
        for x in track.poses.iter().flat_map(numbers).chain(waypoints) {
            assert_eq!(f32::from_le_bytes(*floats.next().unwrap()), x as f32);
        }
        waypoints_seen += track.waypoints.len();
    }
    assert!(floats.next().is_none(), "nothing is left");
    assert!(waypoints_seen > 10, "{waypoints_seen}");
}

#[test]
fn only_this_machine_by_its_own_name_can_read_it() {
    let case = broken_ball();
    let served = Served::new(&case, "out.glb");
    let port = served.host().split(':').next_back().unwrap().to_owned();
    let asked = |host: &str| {
        let end = "Connection: close\r\n\r\n";
        served.answer(&format!("GET {}/recording/0 HTTP/1.1\r\n{host}{end}", served.folder())).0
    };
    assert_eq!(asked(&format!("Host: 127.0.0.1:{port}\r\n")), 200);
    assert_eq!(asked(&format!("Host: localhost:{port}\r\n")), 200);
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", &format!("127.0.0.1.evil:{port}")] {
        assert_eq!(asked(&format!("Host: {host}\r\n")), 421, "{host}");
    }
    assert_eq!(asked(&format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n")), 421);
    assert_eq!(asked(""), 421);
    let host = served.host();
    let post = format!("POST / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    assert_eq!(served.answer(&format!("{post}Content-Length: 0\r\n\r\n")).0, 405);
}

/// No request of a client, complete or not, delays others.
#[test]
fn requests_that_are_too_large_or_never_end_do_not_stop_the_viewer() {
    let case = broken_ball();
    let served = Served::new(&case, "out.glb");
    let host = served.host();
    for length in ["99999999999999", "18446744073709551615", "-1", "x"] {
        let post = format!("POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n");
        assert_eq!(served.answer(&post).0, 405, "{length}");
    }
    for request in
        ["\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1 x\r\n\r\n", "GET / HTTP/1.1\r\nx\r\n\r\n"]
    {
        assert_eq!(served.answer(request).0, 400, "{request:?}");
    }
    // more than the limit of a head; the server does not read the rest
    let mut stream = TcpStream::connect(host).unwrap();
    let _ = stream.write_all(&vec![b'x'; 1 << 14]);
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 431");
    // clients that send nothing and clients that do not finish
    let waiting: Vec<TcpStream> = (0..200)
        .map(|n| {
            let mut stream = TcpStream::connect(host).unwrap();
            if n % 2 == 0 {
                stream.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
            }
            stream
        })
        .collect();
    assert_eq!(served.get("/").0, 200);
    let folder = served.folder();
    let head = served.answer(&format!("HEAD {folder}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert_eq!((head.0, head.2.len()), (200, 0));
    let length = served.get("/").2.len();
    assert!(head.1.contains(&format!("Content-Length: {length}")), "{}", head.1);
    drop(waiting);
}

#[test]
fn what_cannot_be_shown_is_refused_in_one_sentence() {
    let case = broken_ball();
    let served = Served::new(&case, "out.glb");
    let port = served.host().split(':').next_back().unwrap().to_owned();
    for (arguments, said) in [
        (vec!["view", "none.glb", "--no-open"], "none.glb: cannot be read"),
        (vec!["view", "scene.toml", "--no-open"], "scene.toml: is not a GLB file"),
        (vec!["view", "out.glb", "--no-open", "--port", &port], "choose another --port"),
    ] {
        let output = case.run(&arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(said) && error.lines().count() == 1, "{error}");
    }
}

/// The first Chromium of this machine and the path of playwright-core, or the reason for their
/// absence.
pub(crate) fn browser() -> Result<(PathBuf, PathBuf), &'static str> {
    if std::env::var_os("BRISANCE_BROWSER").is_none() {
        return Err("cargo xtask test --browser asks for it");
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file());
    let browser = found.ok_or("there is no Chromium: apt-get install chromium")?;
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/npm/node_modules");
    if !modules.join("playwright-core").is_dir() {
        return Err("npm install --prefix target/npm playwright-core@1.65.1 is needed");
    }
    Ok((browser, modules))
}

fn picture(path: &Path) -> Vec<u8> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

#[test]
fn a_browser_plays_the_recording_in_one_batch() {
    let (browser, modules) = match browser() {
        Ok(found) => found,
        Err(reason) => return skipped(reason),
    };
    let play_with = |case: &Case, arguments: &[&str]| {
        let served = Served::by(case, &[&["view", "out.glb", "--no-open"], arguments].concat());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("view_page.cjs");
        let mut node = Command::new("node");
        node.arg(script).arg(&served.address).arg(case.folder.path());
        let run = node.env("NODE_PATH", &modules).env("BROWSER", &browser).output();
        let run = run.expect("node runs");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        serde_json::from_slice::<serde_json::Value>(&run.stdout).unwrap()
    };
    let play = |case: &Case| play_with(case, &[]);
    let case = broken_ball();
    let seen = play(&case);
    assert_eq!(seen["dusty"], false, "{seen}");
    assert_eq!((&seen["stressed"], &seen["colour"]), (&false.into(), &"material".into()), "{seen}");
    assert_eq!(seen["trouble"], serde_json::json!([]), "{seen}");
    assert_eq!(seen["external_requests"], serde_json::json!([]), "no requests to other servers");
    assert_eq!(seen["first"], "0.00 s frame 0 of 12");
    assert_eq!(seen["middle"], "0.20 s frame 6 of 12", "the time line is scrubbed");
    let calls = seen["calls"].as_u64().unwrap();
    assert!((1..=2).contains(&calls), "one call for bodies, one for shadows: {seen}");
    let shots = ["first", "middle", "exploded", "generations", "speeds"]
        .map(|name| picture(&case.folder.path().join(name).with_extension("png")));
    for (shot, next) in shots.iter().zip(&shots[1..]) {
        let colors: std::collections::BTreeSet<&[u8]> = shot.chunks_exact(3).collect();
        assert!(colors.len() > 200, "{} colours", colors.len());
        let differ = shot.iter().zip(next).filter(|(a, b)| a.abs_diff(**b) > 8).count();
        assert!(differ > shot.len() / 1000, "{differ} bytes differ");
    }
    // bodies of finite elements can be colored by their stress, too
    let case = Case::new(&[("scene.toml", CRACKS)]);
    let run = case.run(&["run", "scene.toml", "-q", "--frames", "12", "-o", "out.glb"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let seen = play(&case);
    assert_eq!((&seen["stressed"], &seen["colour"]), (&true.into(), &"stress".into()), "{seen}");
    assert!(seen["high"].as_str().unwrap().ends_with("Pa"), "{seen}");
    let [speeds, stresses] = ["speeds", "stresses"]
        .map(|name| picture(&case.folder.path().join(name).with_extension("png")));
    let differ = speeds.iter().zip(&stresses).filter(|(a, b)| a.abs_diff(**b) > 8).count();
    assert!(differ > stresses.len() / 1000, "{differ} bytes differ");
    // dust, with a switch
    let case = Case::new(&[("scene.toml", SCENE)]);
    let rate = ["--dust", "dust.glb", "--dust-per-joule", "1e7"];
    let run = case.run(&[&["run", "scene.toml", "-q", "-o", "out.glb"], &rate[..]].concat());
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let seen = play_with(&case, &["--dust", "dust.glb"]);
    assert_eq!(
        (&seen["dusty"], &seen["trouble"]),
        (&true.into(), &serde_json::json!([])),
        "{seen}"
    );
    let [dust, clear] =
        ["dust", "clear"].map(|name| picture(&case.folder.path().join(name).with_extension("png")));
    let differ = dust.iter().zip(&clear).filter(|(a, b)| a.abs_diff(**b) > 8).count();
    // nothing else changes
    assert!(differ > 500, "{differ} bytes differ");
}
