//! New cracks emit dust in proportion to their energy, and dust falls like points.

use std::collections::BTreeSet;
use std::convert::Infallible;

use brisance::format::{VisibleSpeck, read_dust};
use nalgebra::{Point3, Vector3};
use parry3d::math::Vector;
use parry3d::query::PointQuery;
use parry3d::shape::TriMesh;
use sim::{Dust, DustAmount, Recorder, Recording, Surroundings, Track};

use crate::cli::{Case, SCENE, problem};

/// A beam of glass, 1.2 m long and 0.3 m by 0.4 m across, that falls on a plane and breaks across its length.
const BEAM: &str = r#"version = 1
[simulation]
frames = 25
[pattern.across.slices]
planes = 20
axis = [1, 0, 0]
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "beam"
material = "glass"
shape = { box = { half_extents = [0.6, 0.15, 0.2] } }
position = [0, 0.5, 0]
velocity = [0, -3, 0]
fracture = { pattern = "across", break_impulse = 1, generations = 1, min_share = 1e-6 }
"#;

fn simulated(text: &str) -> (Recording, Surroundings) {
    let scene = sim::scene::Scene::from_toml(text).unwrap();
    let (mut world, appearances) = sim::build(&scene, &Default::default()).unwrap();
    let surroundings = Surroundings::of(&world);
    let mut recorder = Recorder::new(&world, &appearances);
    for _ in 0..scene.simulation.frames {
        let report = world.step();
        recorder.record(&world, &report);
    }
    (recorder.finish(), surroundings)
}

fn dust((recording, surroundings): &(Recording, Surroundings), per_joule: f64) -> Dust {
    let pose = |track: usize, frame: usize| {
        Ok::<_, Infallible>(recording.tracks[track].pose(frame).copied())
    };
    Dust::new(recording, surroundings, DustAmount { per_joule, seed: 1 }, pose).unwrap()
}

#[test]
fn the_number_of_specks_is_that_of_the_energy_of_the_cracks() {
    let run = simulated(BEAM);
    let pieces = run.0.tracks.iter().filter(|track| track.parent.is_some()).count();
    assert!(pieces > 3, "{pieces} pieces");
    // Irwin: K^2 (1 - nu^2) / E per unit area; the area of a cut is the section of the beam
    let energy = 0.7e6_f64.powi(2) * (1.0 - 0.22 * 0.22) / 70e9 * (pieces - 1) as f64 * 0.3 * 0.4;
    for per_joule in [1.0, 100.0, 12_345.6] {
        let dust = dust(&run, per_joule);
        assert!((dust.energy / energy - 1.0).abs() < 1e-5, "{} J, not {energy} J", dust.energy);
        let off = per_joule * dust.energy - dust.specks.len() as f64;
        assert!((-1e-6..1.0 + 1e-6).contains(&off), "{off} specks are missing");
    }
    let most = dust(&run, 1e9);
    assert!((Dust::MAX_SPECKS - 1..=Dust::MAX_SPECKS).contains(&most.specks.len()));
    assert!((most.requested / (1e9 * energy) - 1.0).abs() < 1e-5);
}

/// Glass tubes with walls of 1.25 to 5 samples break into slices, by one fracture or by two. The area of a cut is the
/// section of the meshed tube, for any wall thickness.
#[test]
fn cracks_of_thin_walls_leave_dust_as_those_of_thick_ones() {
    let solid = "shape = { box = { half_extents = [0.6, 0.15, 0.2] } }";
    assert!(BEAM.contains(solid));
    for (wall, generations) in [(0.02, 1), (0.04, 1), (0.08, 1), (0.02, 2), (0.04, 2)] {
        let tube = format!(
            "shape = {{ combined = {{ spacing = 0.016, parts = [{{ shape = {{ box = {{ half_extents = [0.6, 0.15, 0.2] }} }} }}, \
             {{ shape = {{ box = {{ half_extents = [0.7, {}, {}] }} }}, op = \"difference\" }}] }} }}",
            0.15 - wall,
            0.2 - wall
        );
        let text = BEAM.replace(solid, &tube);
        let text = text.replace("generations = 1", &format!("generations = {generations}"));
        let run = simulated(&text);
        let tracks = &run.0.tracks;
        let is_whole = |n: usize| tracks.iter().all(|track| track.parent != Some(n));
        let leaves = run.0.fragments().into_iter().filter(|&n| is_whole(n)).count();
        assert!(leaves > 3, "{leaves} pieces");
        let scene = sim::scene::Scene::from_toml(&text).unwrap();
        let (world, _) = sim::build(&scene, &Default::default()).unwrap();
        let volume = world.iter().nth(1).unwrap().solid.unwrap().geometry.moments().volume;
        // each cut adds one piece; energy by Irwin as above
        let energy =
            0.7e6_f64.powi(2) * (1.0 - 0.22 * 0.22) / 70e9 * (leaves - 1) as f64 * volume / 1.2;
        let dust = dust(&run, 1.0);
        let off = (dust.energy / energy - 1.0).abs();
        assert!(off < 0.02, "walls of {wall} m: {} J, not {energy} J", dust.energy);
    }
}

/// The cuts of each track, in its body coordinates; `None` if it has none.
pub(crate) fn cuts(recording: &Recording) -> Vec<Option<TriMesh>> {
    let of = |track: &Track| {
        let surface = track.surface();
        let corner = |v: &[f32; 3]| Vector::from_array(v.map(f64::from));
        TriMesh::new(surface.vertices.iter().map(corner).collect(), surface.inner.clone()).ok()
    };
    recording.tracks.iter().map(of).collect()
}

/// Distance of a point in body coordinates, m.
pub(crate) fn to_cuts(p: &Point3<f64>, cuts: Option<&TriMesh>) -> f64 {
    let p = Vector::from_array(p.coords.into());
    cuts.map_or(f64::INFINITY, |cuts| cuts.distance_to_local_point(p, false))
}

/// Bodies with several successive fractures: a convex and a non-convex one.
#[test]
fn specks_are_born_on_cuts_that_face_a_piece_of_the_same_break() {
    let torus = "{ torus = { major = 0.1, minor = 0.05, spacing = 0.008 } }";
    let shapes = [("{ sphere = { radius = 0.1, spacing = 0.012 } }", 1e-5), (torus, 0.008)];
    for (shape, gap) in shapes {
        let mut births = 0;
        for fall in [3, 4, 5, 6] {
            let falls = format!("[0, -{fall}, 0]\nangular_velocity = [3, 2, 1]");
            let text = SCENE.replace("{ sphere = { radius = 0.1, spacing = 0.012 } }", shape);
            let brick = "break_impulse = 5, generations = 3 }\nmaterial = \"brick\"";
            let text =
                text.replace("break_impulse = 1 }", brick).replace("pieces = 60", "pieces = 8");
            let text = text.replace("frames = 12", "frames = 20").replace("[0, -6, 0]", &falls);
            // a second impact, on the pieces
            let hammer = "[[body]]\nname = \"hammer\"\nshape = { sphere = { radius = 0.1 } }\n\
                density = 7850\nposition = [0.02, 1.5, 0]\nvelocity = [0, -8, 0]\n";
            let text = text + hammer;
            births = assert_between_pieces(&simulated(&text), gap).max(births);
        }
        assert!(births > 1, "no body of {shape} broke after the first blow");
    }
}

/// Checks that specks are on cuts of their piece and at most `gap` m from those of another piece of the same fracture.
/// Returns the number of frames with new specks.
fn assert_between_pieces(run: &(Recording, Surroundings), gap: f64) -> usize {
    let recording = &run.0;
    let dust = dust(run, 60.0);
    let mut births: Vec<usize> = dust.specks.iter().map(|speck| speck.birth).collect();
    births.dedup();
    assert!(dust.specks.len() > 50, "{births:?} {}", dust.specks.len());
    // pieces of one body share its material coordinates
    let material = |n: usize| match &recording.tracks[n].lazy_surface {
        sim::LazySurface::Of(source) => source.solid.as_ref().unwrap().material,
        sim::LazySurface::Made(_) => panic!("not drawn yet"),
    };
    let cuts = cuts(recording);
    for speck in &dust.specks {
        let track = &recording.tracks[speck.track];
        assert_eq!(track.birth, speck.birth);
        let pose = track.pose(speck.birth).unwrap();
        let p = pose.inverse_transform_point(&speck.position);
        let off = to_cuts(&p, cuts[speck.track].as_ref());
        assert!(off < 1e-6, "{} is {off} m off its face", track.name);
        let p = material(speck.track) * p;
        let others = (0..recording.tracks.len()).filter(|&n| {
            let other = &recording.tracks[n];
            let is_there = other.birth == speck.birth && !other.poses.is_empty();
            n != speck.track && other.parent.is_some() && is_there
        });
        let nearest = others
            .map(|n| to_cuts(&material(n).inverse_transform_point(&p), cuts[n].as_ref()))
            .fold(f64::INFINITY, f64::min);
        assert!(nearest < gap, "{}: the next piece is {nearest} m away", track.name);
    }
    births.len()
}

#[test]
fn sizes_follow_a_power_law() {
    let dust = dust(&simulated(BEAM), 1e5);
    let count = dust.specks.len() as f64;
    let [least, most] = Dust::SIZES;
    assert!(count > 1e5);
    for size in [3e-4, 5e-4, 1e-3, 3e-3] {
        let above = |size: f64| size.powf(-Dust::FRACTAL_DIMENSION);
        let expected = (above(size) - above(most)) / (above(least) - above(most));
        let share = dust.specks.iter().filter(|speck| speck.size > size).count() as f64 / count;
        // four standard deviations
        let most = 4.0 * (expected * (1.0 - expected) / count).sqrt();
        assert!((share - expected).abs() < most, "{size} m: {share}, not {expected}");
    }
    assert!(dust.specks.iter().all(|speck| (least..=most).contains(&speck.size)));
}

/// A vertex of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Vertex {
    position: Vector3<f64>,
    velocity: Vector3<f64>,
    size: f64,
    life: f64,
    birth: usize,
    id: usize,
}

fn vertices(bytes: &[u8]) -> Vec<Vertex> {
    const HEAD: &str = "ply\nformat binary_little_endian 1.0\nelement vertex ";
    const ROW: usize = 44;
    let end = bytes.windows(11).position(|part| part == b"end_header\n").unwrap() + 11;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let count: usize = head.strip_prefix(HEAD).unwrap().lines().next().unwrap().parse().unwrap();
    assert_eq!(bytes.len(), end + ROW * count);
    let rows = bytes[end..].as_chunks::<ROW>().0.iter();
    rows.map(|row| {
        let words = row.as_chunks::<4>().0;
        let float = |n: usize| f64::from(f32::from_le_bytes(words[n]));
        let int = |n: usize| i32::from_le_bytes(words[n]) as usize;
        let vector = |n: usize| Vector3::new(float(n), float(n + 1), float(n + 2));
        Vertex {
            position: vector(0),
            velocity: vector(3),
            size: float(6),
            life: float(7),
            birth: int(8),
            id: int(9),
        }
    })
    .collect()
}

#[test]
fn specks_fly_as_thrown_stones_and_end_at_the_floor() {
    let case = Case::new(&[("a.toml", &BEAM.replace("frames = 25", "frames = 50"))]);
    let done = |arguments: &[&str]| {
        let output = case.run(&[&["run", "a.toml", "-q", "-o"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let read = |name: &str| std::fs::read(case.folder.path().join(name)).unwrap();
    done(&["plain.jsonl"]);
    let rate = ["--dust-per-joule", "100"];
    done(&[&["a.jsonl", "--dust", "births.ply", "--threads", "1"], &rate[..]].concat());
    done(&[&["b.jsonl", "--dust", "again.ply", "--threads", "2"], &rate[..]].concat());
    done(&[&["c.jsonl", "--dust", "frames.ply/"], &rate[..]].concat());
    assert!(read("plain.jsonl") == read("a.jsonl"), "dust does not change the recording");
    assert!(read("births.ply") == read("again.ply"), "the same for any number of threads");
    let births = vertices(&read("births.ply"));
    assert!(births.len() > 100, "{}", births.len());
    let gravity = Vector3::new(0.0, -9.81, 0.0);
    let mut shown = 0;
    for frame in 0..51 {
        let there = vertices(&read(&format!("frames.ply/frame_{frame:05}.ply")));
        let time = |speck: &Vertex| (frame as f64 - speck.birth as f64) / 30.0;
        let lives = |speck: &&Vertex| time(speck) >= 0.0 && time(speck) <= speck.life + 1e-6;
        let alive: Vec<usize> = births.iter().filter(lives).map(|speck| speck.id).collect();
        assert_eq!(there.iter().map(|speck| speck.id).collect::<Vec<_>>(), alive, "{frame}");
        for speck in &there {
            let born = &births[speck.id];
            let t = time(born);
            let position = born.position + born.velocity * t + gravity * (0.5 * t * t);
            assert!((speck.position - position).amax() < 1e-5, "{speck:?} {born:?}");
            assert!((speck.velocity - born.velocity - gravity * t).amax() < 1e-5);
            assert!(speck.position.y > -1e-5 && speck.size == born.size);
        }
        shown += there.len();
    }
    for born in births.iter().filter(|born| born.life < Dust::LIFETIME) {
        let fall = born.velocity.y * born.life - 0.5 * 9.81 * born.life * born.life;
        let height = born.position.y + fall;
        assert!(height.abs() < 1e-4 || born.life == 0.0, "{born:?} ends {height} m up");
    }
    assert!(shown > 2 * births.len());
}

/// Sorts specks by position, since files group them by time.
fn sorted(mut specks: Vec<VisibleSpeck>) -> Vec<VisibleSpeck> {
    specks.sort_by(|p, q| p.position.iter().partial_cmp(q.position.iter()).unwrap());
    specks
}

#[test]
fn dust_in_glb_is_where_it_was_in_every_frame() {
    // two bodies of different colors
    let other = BEAM.split_once("[[body]]\nname = \"beam\"").unwrap().1;
    let other = other.replace("\"glass\"", "\"brick\"").replace("0.5, 0]", "0.5, 2]");
    let run = simulated(&format!("{BEAM}[[body]]\nname = \"other\"{other}"));
    let dust = dust(&run, 30.0);
    let mut bytes = Vec::new();
    meshfile::write_dust_glb(&dust, &mut bytes).unwrap();
    let cloud = read_dust(&bytes).unwrap();
    let (mut shown, mut colors) = (0, BTreeSet::new());
    for frame in 0..dust.frames() {
        let expected: Vec<VisibleSpeck> = dust
            .shown(frame)
            .map(|own| {
                let speck = &dust.specks[own.number];
                let color = run.0.tracks[speck.track].look.inner_color;
                let position = own.position.coords.cast();
                VisibleSpeck { position, size: speck.size as f32, color }
            })
            .collect();
        let found = sorted(cloud.at((frame as f64 / dust.fps()) as f32).collect());
        assert_eq!(found.len(), expected.len(), "frame {frame}");
        for (found, expected) in found.iter().zip(sorted(expected)) {
            let off = (found.position - expected.position).norm();
            assert!(off < 1e-4, "frame {frame}: {found:?}, not {expected:?}");
            assert_eq!((found.size, found.color), (expected.size, expected.color));
            colors.insert(found.color.map(f32::to_bits));
        }
        shown += found.len();
    }
    assert!(shown > 1000 && colors.len() == 2, "{shown} specks of {} colors", colors.len());
}

#[test]
fn dust_is_drawn_with_the_recording_of_its_run() {
    let case = Case::new(&[("a.toml", &BEAM.replace("frames = 25", "frames = 12"))]);
    let run = |arguments: &str| case.run(&arguments.split(' ').collect::<Vec<_>>());
    let made = run("run a.toml -q -o a.glb --dust dust.glb --dust-per-joule 50000");
    assert!(made.status.success(), "{}", problem(made.stderr));
    let drawn = |arguments: &str| {
        let output = run(&format!("render a.glb -q --size 96x54 -o a.png {arguments}"));
        assert!(output.status.success(), "{}", problem(output.stderr));
        std::fs::read(case.folder.path().join("a.png")).unwrap()
    };
    // the beam breaks in the fourth frame
    assert!(drawn("--frame 0") == drawn("--frame 0 --dust dust.glb"));
    assert!(drawn("--frame 10") != drawn("--frame 10 --dust dust.glb"));
    for (arguments, said) in [
        ("render a.glb --dust a.glb -o b.png", "a.glb: is no dust"),
        ("render a.glb --dust a.toml -o b.png", "a.toml: is not a GLB file"),
        ("render a.glb --dust none.glb -o b.png", "none.glb: cannot be read"),
        ("view a.glb a.glb --dust dust.glb", "--dust belongs to one recording"),
        ("view a.glb --dust a.glb", "a.glb: is no dust"),
    ] {
        let output = run(arguments);
        let error = problem(output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(said), "{arguments}: {error}");
    }
}

#[test]
fn dust_in_usd_has_the_specks_of_the_ply_files() {
    let case = Case::new(&[("a.toml", BEAM)]);
    let run = |dust: &str| {
        let rate = ["--dust-per-joule", "40"];
        let run = ["run", "a.toml", "-q", "-o", "a.jsonl", "--dust", dust];
        let output = case.run(&[&run[..], &rate].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run("a.usda");
    run("a.ply/");
    let usd = std::fs::read_to_string(case.folder.path().join("a.usda")).unwrap();
    let samples = |name: &str| -> Vec<Vec<f64>> {
        let (_, rest) = usd.split_once(&format!("{name}.timeSamples = {{\n")).unwrap();
        let rows = rest[..rest.find('}').unwrap()].trim_end().lines();
        let numbers = |row: &str| {
            let (_, list) = row.split_once(": ").unwrap();
            let parts = list.split(['[', ']', '(', ')', ',', ' ']);
            parts.filter(|part| !part.is_empty()).map(|part| part.parse().unwrap()).collect()
        };
        rows.map(numbers).collect()
    };
    let names = ["points", "velocities", "widths", "ids", "primvars:birth"];
    let [points, velocities, widths, ids, births] = names.map(samples);
    assert_eq!(points.len(), 26);
    for frame in 0..26 {
        let file = case.folder.path().join(format!("a.ply/frame_{frame:05}.ply"));
        let there = vertices(&std::fs::read(file).unwrap());
        let all = |of: fn(&Vertex) -> Vec<f64>| there.iter().flat_map(of).collect::<Vec<_>>();
        let single = |row: &[f64]| row.iter().map(|&x| f64::from(x as f32)).collect::<Vec<_>>();
        assert_eq!(single(&points[frame]), all(|v| v.position.as_slice().to_vec()));
        assert_eq!(single(&velocities[frame]), all(|v| v.velocity.as_slice().to_vec()));
        assert_eq!(single(&widths[frame]), all(|v| vec![v.size]));
        assert_eq!(ids[frame], all(|v| vec![v.id as f64]));
        assert_eq!(births[frame], all(|v| vec![v.birth as f64]));
    }
    assert!(ids.iter().any(|ids| ids.len() > 10));
}

/// A box, 1.2 m by 0.3 m by 0.4 m.
const BOX: &str = "v 0 0 0\nv 1.2 0 0\nv 1.2 0.3 0\nv 0 0.3 0\nv 0 0 0.4\nv 1.2 0 0.4\nv 1.2 0.3 0.4\nv 0 0.3 0.4\n\
    f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 1 5 8 4\nf 2 3 7 6\n";

#[test]
fn dust_of_a_mesh_leaves_its_cuts_by_their_area() {
    let case = Case::new(&[("box.obj", BOX)]);
    let broken = |material: &[&str], rate: &str| -> (serde_json::Value, Vec<Vertex>) {
        let cut = ["fracture", "box.obj", "--pattern", "voronoi:9", "-o", "pieces.glb", "--json"];
        // each piece has one cell, so that cracks are planar
        let dust = ["--min-share", "0", "--dust", "dust.ply", "--dust-per-joule", rate];
        let output = case.run(&[&cut[..], material, &dust].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let facts = serde_json::from_slice(&output.stdout).unwrap();
        (facts, vertices(&std::fs::read(case.folder.path().join("dust.ply")).unwrap()))
    };
    // energies by Irwin as above: glass, and the default material stone
    let glass = 0.7e6_f64.powi(2) * (1.0 - 0.22 * 0.22) / 70e9;
    let stone = 1.1e6_f64.powi(2) * (1.0 - 0.25 * 0.25) / 50e9;
    for (material, energy, rate) in
        [(&["--material", "glass"][..], glass, "2000"), (&[][..], stone, "500.5")]
    {
        let (facts, specks) = broken(material, rate);
        let vector =
            |value: &serde_json::Value| Vector3::from_fn(|n, _| value[n].as_f64().unwrap());
        let bonds = facts["bonds"].as_array().unwrap();
        let area: f64 = bonds.iter().map(|bond| bond["area"].as_f64().unwrap()).sum();
        let expected = rate.parse::<f64>().unwrap() * energy * area;
        let off = expected - specks.len() as f64;
        assert!((-1e-3 * expected..1.0 + 1e-3 * expected).contains(&off), "{off} of {expected}");
        // both faces of each bond emit dust in proportion to its area, within four standard deviations
        let mut seen = 0;
        for bond in bonds {
            let (center, normal) = (vector(&bond["center"]), vector(&bond["normal"]));
            let near = specks.iter().filter(|s| normal.dot(&(s.position - center)).abs() < 1e-6);
            let (near, share) = (near.count() as f64, bond["area"].as_f64().unwrap() / area);
            let expected = share * specks.len() as f64;
            assert!((near - expected).abs() < 4.0 * expected.sqrt() + 2.0, "{near}, {expected}");
            seen += near as usize;
        }
        assert!(seen >= specks.len() && specks.len() > 20, "{seen} of {}", specks.len());
        assert!(specks.iter().all(|s| s.birth == 0 && s.velocity.norm() <= Dust::SPREAD + 1e-6));
    }
    for (dust, word) in [("dust.txt", ".usda"), ("dust.jsonl", ".usda"), ("box.obj", ".usda")] {
        let cut = ["fracture", "box.obj", "--pattern", "voronoi:9", "-o", "a.glb", "--dust", dust];
        let output = case.run(&cut);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(word), "{message}");
    }
    assert!(!case.names().contains(&"a.glb".to_owned()));
}

/// The numbers of an accessor of a GLB file, read independently of this project.
fn numbers(root: &serde_json::Value, chunk: &[u8], accessor: &serde_json::Value) -> Vec<f64> {
    let accessor = &root["accessors"][accessor.as_u64().unwrap() as usize];
    let count = accessor["count"].as_u64().unwrap() as usize;
    let width = if accessor["type"] == "VEC3" { 3 } else { 1 };
    let view = &root["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let start = view["byteOffset"].as_u64().unwrap() as usize;
    let words = chunk[start..start + 4 * count * width].as_chunks::<4>().0.iter();
    words.map(|word| f64::from(f32::from_le_bytes(*word))).collect()
}

/// Diameters and positions of the visible points of a GLB file of dust at a time, by the animation rules of glTF.
fn shown_at(root: &serde_json::Value, chunk: &[u8], time: f64) -> Vec<(f64, Vector3<f64>)> {
    let read = |accessor: &serde_json::Value| numbers(root, chunk, accessor);
    let animation = &root["animations"][0];
    let animated = |node: usize, path: &str, rest: Vec<f64>| {
        let channels = animation["channels"].as_array().unwrap();
        let is_it = |channel: &&serde_json::Value| {
            channel["target"]["node"] == node && channel["target"]["path"] == path
        };
        let Some(channel) = channels.iter().find(is_it) else { return rest };
        let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
        let (times, values) = (read(&sampler["input"]), read(&sampler["output"]));
        let rows: Vec<&[f64]> = values.chunks(values.len() / times.len()).collect();
        let next = times.partition_point(|&key| key <= time + 1e-6).min(times.len());
        let Some(last) = next.checked_sub(1) else { return rows[0].to_vec() };
        let is_step = sampler["interpolation"] == "STEP";
        let Some(end) = times.get(next).filter(|_| !is_step) else { return rows[last].to_vec() };
        let share = (time - times[last]) / (end - times[last]);
        rows[last].iter().zip(rows[next]).map(|(a, b)| a + share * (b - a)).collect()
    };
    let mut shown = Vec::new();
    for (n, node) in root["nodes"].as_array().unwrap().iter().enumerate() {
        let scale = node["scale"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap());
        let scale = animated(n, "scale", scale.collect());
        if scale == [0.0; 3] {
            continue;
        }
        assert_eq!(scale, [1.0; 3]);
        let moved = Vector3::from_vec(animated(n, "translation", vec![0.0; 3]));
        let weight = animated(n, "weights", vec![0.0])[0];
        let primitive = &root["meshes"][node["mesh"].as_u64().unwrap() as usize]["primitives"][0];
        assert_eq!(primitive["mode"], 0);
        let vectors = |accessor| read(accessor).as_chunks::<3>().0.to_vec();
        let places = vectors(&primitive["attributes"]["POSITION"]);
        let flown = vectors(&primitive["targets"][0]["POSITION"]);
        let sizes = read(&primitive["attributes"]["_SIZE"]);
        for ((place, flown), size) in places.into_iter().zip(flown).zip(sizes) {
            shown.push((size, Vector3::from(place) + weight * Vector3::from(flown) + moved));
        }
    }
    shown.sort_by(|a, b| a.0.total_cmp(&b.0));
    shown
}

#[test]
fn dust_in_glb_moves_as_that_of_the_ply_files() {
    let case = Case::new(&[("a.toml", &BEAM.replace("frames = 25", "frames = 50"))]);
    for dust in ["a.glb", "a.ply/"] {
        let run = ["run", "a.toml", "-q", "-o", "a.jsonl", "--dust", dust];
        let output = case.run(&[&run[..], &["--dust-per-joule", "40"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let file = std::fs::read(case.folder.path().join("a.glb")).unwrap();
    let length = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&file[..4], length(8)), (&b"glTF"[..], file.len()));
    let root = serde_json::from_slice(&file[20..20 + length(12)]).unwrap();
    let chunk = &file[28 + length(12)..];
    let mut shown = 0;
    for frame in 0..51 {
        let ply = case.folder.path().join(format!("a.ply/frame_{frame:05}.ply"));
        let mut there = vertices(&std::fs::read(ply).unwrap());
        there.sort_by(|a, b| a.size.total_cmp(&b.size));
        let here = shown_at(&root, chunk, f64::from(frame) / 30.0);
        assert_eq!(here.len(), there.len(), "frame {frame}");
        for ((size, position), speck) in here.iter().zip(&there) {
            assert_eq!(*size, speck.size);
            assert!((position - speck.position).amax() < 1e-5, "{frame}: {position} {speck:?}");
        }
        shown += here.len();
    }
    assert!(shown > 200, "{shown}");
    assert!(gltf::Gltf::from_slice(&file).is_ok());
    crate::glb::assert_valid(&[case.folder.path().join("a.glb")]);
}

#[test]
fn commands_that_read_recordings_say_of_dust_that_it_is_none() {
    let case = Case::new(&[("a.toml", BEAM)]);
    let run = ["run", "a.toml", "-q", "-o", "a.jsonl", "--dust", "a.glb"];
    assert!(case.run(&run).status.success());
    for command in [&["render", "a.glb", "-o", "a.png"][..], &["view", "a.glb", "--no-open"]] {
        let output = case.run(command);
        assert_eq!(output.status.code(), Some(2));
        let message = problem(output.stderr);
        assert!(
            message.contains("a.glb: has points and no bodies, as `--dust` writes"),
            "{message}"
        );
    }
    assert!(!case.names().contains(&"a.png".to_owned()));
}

#[test]
fn info_counts_the_specks_of_dust() {
    let case = Case::new(&[("a.toml", BEAM)]);
    let run = ["run", "a.toml", "-q", "-o", "a.jsonl", "--dust-per-joule", "40", "--dust"];
    for name in ["a.glb", "a.ply"] {
        assert!(case.run(&[&run[..], &[name]].concat()).status.success());
    }
    let specks = vertices(&std::fs::read(case.folder.path().join("a.ply")).unwrap()).len();
    assert!(specks > 10, "{specks}");
    for name in ["a.glb", "a.ply"] {
        let message = String::from_utf8(case.run(&["info", name]).stdout).unwrap();
        assert_eq!(message, format!("{name}: {specks} specks of dust and no bodies\n"));
    }
}

#[test]
fn dust_of_a_run_that_was_stopped_is_that_of_the_whole_run() {
    let case = Case::new(&[("a.toml", BEAM)]);
    let done = |arguments: &[&str]| {
        let output = case.run(&[&["run", "a.toml", "-q"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let kept = ["--checkpoint-every", "11", "--checkpoint", "here"];
    done(&[&["-o", "a.jsonl", "--dust", "a.ply"], &kept[..]].concat());
    done(&["-o", "b.jsonl", "--dust", "b.ply", "--resume", "here"]);
    let read = |name: &str| std::fs::read(case.folder.path().join(name)).unwrap();
    assert!(read("a.ply") == read("b.ply"));
}

/// A beam that does not break, and one whose crack energy does not suffice for a speck.
#[test]
fn dust_without_specks_is_reported() {
    let whole = BEAM.replace("velocity = [0, -3, 0]", "velocity = [0, 9, 0]");
    let case = Case::new(&[("whole.toml", &whole), ("a.toml", BEAM)]);
    let message = |scene: &str, options: &[&str]| {
        let run = ["run", scene, "-o", "a.glb", "--dust", "a.ply", "--frames", "12"];
        let output = case.run(&[&run[..], options].concat());
        assert!(output.status.success());
        problem(output.stderr)
    };
    let whole_message = message("whole.toml", &[]);
    assert!(
        whole_message.contains("a.ply: there is no dust: no crack takes energy"),
        "{whole_message}"
    );
    let few = message("a.toml", &["--dust-per-joule", "1e-6"]);
    assert!(few.contains("specks: give a larger --dust-per-joule"), "{few}");
    assert!(!message("a.toml", &[]).contains("no dust"));
    assert_eq!(message("whole.toml", &["-q"]), "");
}

#[test]
fn dust_that_cannot_be_written_is_refused_before_the_run() {
    let case = Case::new(&[("a.toml", BEAM), ("file.ply", "")]);
    for (options, word) in [
        (&["--dust", "dust.txt"][..], ".usda"),
        (&["--dust", "file.ply/"], "file.ply: is a file, not a folder"),
        (&["--dust", "a.ply", "--dust-per-joule", "-1"], "between"),
        (&["--dust", "a.ply/", "--dust-per-joule", "0"], "between"),
        (&["--dust", "no/dust.ply"], "folder"),
        (&["--dust", "a.jsonl"], ".usda"),
    ] {
        let output = case.run(&[&["run", "a.toml", "-o", "a.glb"], options].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(word), "{message}");
    }
    assert_eq!(case.names(), ["a.toml", "file.ply"]);
}
