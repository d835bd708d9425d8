//! Crumbs take their mass from pieces, in proportion to the energy of the cracks, and lie where they land.

use std::collections::BTreeSet;
use std::convert::Infallible;

use brisance::format::{VisibleSpeck, read_dust};
use brisance_tests::properties;
use nalgebra::Point3;
use proptest::prelude::*;
use sim::{
    Crumb, Crumbs, Dust, Recorder, Recording, Report, ShownSpeck, Speck, Surroundings, World,
};

use crate::cli::{Case, problem};
use crate::dust::{cuts, to_cuts};
use crate::glb::assert_valid;

/// A beam of glass, 1.2 m long and 0.3 m by 0.4 m across, that falls on a plane and breaks across its length.
const BEAM: &str = r#"version = 1
[simulation]
frames = 40
[debris]
crumbs = { energy_share = 0.2, sizes = ["4 mm", "2 cm"] }
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
angular_velocity = [0, 0, 1]
fracture = { pattern = "across", break_impulse = 1, generations = 1, min_share = 1e-6 }
"#;

/// A run: its world at the end, the recording, and the report and state of each frame.
struct Run {
    world: World,
    surroundings: Surroundings,
    recording: Recording,
    reports: Vec<Report>,
    states: Vec<World>,
}

impl Run {
    fn of(text: &str) -> Self {
        let scene = sim::scene::Scene::from_toml(text).unwrap();
        let (mut world, appearances) = sim::build(&scene, &Default::default()).unwrap();
        let surroundings = Surroundings::of(&world);
        let mut recorder = Recorder::new(&world, &appearances);
        let (mut reports, mut states) = (Vec::new(), vec![world.clone()]);
        for _ in 0..scene.simulation.frames {
            let report = world.step();
            recorder.record(&world, &report);
            reports.push(report);
            states.push(world.clone());
        }
        Self { world, surroundings, recording: recorder.finish(), reports, states }
    }

    fn crumbs(&self) -> Vec<Crumb> {
        self.reports.iter().flat_map(|report| report.events.crumbs.clone()).collect()
    }

    fn flights(&self) -> Dust {
        let tracks = &self.recording.tracks;
        let pose =
            |track: usize, frame: usize| Ok::<_, Infallible>(tracks[track].pose(frame).copied());
        Dust::of_crumbs(&self.recording, &self.surroundings, 7, pose).unwrap()
    }
}

fn without(text: &str) -> String {
    let plain = text.replace("crumbs = { energy_share = 0.2, sizes = [\"4 mm\", \"2 cm\"] }\n", "");
    assert_ne!(plain, text);
    plain
}

#[test]
fn the_crack_area_of_crumbs_is_a_share_of_that_of_the_pieces() {
    for share in [0.05, 0.1, 0.2] {
        let run = Run::of(&BEAM.replace("energy_share = 0.2", &format!("energy_share = {share}")));
        let cuts = run.world.len() - 3;
        assert!(cuts > 3, "{cuts} cuts");
        let crumbs = run.crumbs();
        let area: f64 = crumbs.iter().map(|crumb| 3.0 * crumb.size * crumb.size).sum();
        let expected = share * cuts as f64 * 0.3 * 0.4;
        // the last crumb of each side of a cut exists at random
        let most = 2.0 * (2 * cuts) as f64 * 3.0 * 0.02 * 0.02;
        assert!((area - expected).abs() < most.min(0.1 * expected), "{area} m^2, not {expected}");
        let sizes = crumbs.iter().map(|crumb| crumb.size);
        assert!(sizes.clone().all(|size| (0.004..=0.02).contains(&size)));
        let first = run.reports.iter().find(|report| !report.events.crumbs.is_empty()).unwrap();
        for crumb in &first.events.crumbs {
            let mass = 2470.0 * crumb.size.powi(3);
            assert!((crumb.mass - mass).abs() < 1e-9 * mass, "{} kg, not {mass}", crumb.mass);
        }
    }
}

#[test]
fn the_ledger_has_the_mass_and_energy_of_crumbs() {
    let (run, plain) = (Run::of(BEAM), Run::of(&without(BEAM)));
    let frame = run.reports.iter().position(|report| !report.events.crumbs.is_empty()).unwrap();
    let crumbs = run.crumbs();
    let mass: f64 = crumbs.iter().map(|crumb| crumb.mass).sum();
    let [before, after, same] =
        [&run.states[frame], &run.states[frame + 1], &plain.states[frame + 1]];
    assert!(mass > 0.1 && (before.mass() - after.mass() - mass).abs() < 1e-12 * before.mass());
    assert!((after.retired_mass() - mass).abs() < 1e-12 * mass);
    // the run without crumbs has the same motion up to here, and the pieces the same velocities
    let mut energy = 0.0;
    for (own, other) in after.iter().zip(same.iter()) {
        assert_eq!((own.id, own.pose), (other.id, other.pose));
        let [own, other] = [own, other].map(|state| {
            let velocity = state.body.velocity(&state.pose.rotation, state.momentum);
            let energy = state.body.kinetic_energy(&state.pose.rotation, state.momentum);
            (velocity, energy)
        });
        let off = (own.0.linear - other.0.linear).norm() + (own.0.angular - other.0.angular).norm();
        assert!(off < 1e-12, "{off}");
        energy += other.1 - own.1;
    }
    let report = &run.reports[frame];
    let potential = plain.reports[frame].energy.potential - report.energy.potential;
    let retired = report.energy.dissipation.retirement;
    assert!(energy > 0.0 && (energy + potential - retired).abs() < 1e-9 * retired.abs());
    assert_eq!(report.energy.gain, plain.reports[frame].energy.gain);
    for report in &run.reports {
        assert!(report.energy.gain < 1e-9, "{} J", report.energy.gain);
    }
}

#[test]
fn a_piece_keeps_most_of_its_mass_and_the_number_of_crumbs_is_limited() {
    // crumbs as large as the slices
    let large = BEAM.replace("[\"4 mm\", \"2 cm\"]", "[0.05, 0.1]");
    let large = Run::of(&large.replace("energy_share = 0.2", "energy_share = 1"));
    let plain = Run::of(&without(BEAM));
    assert!(!large.crumbs().is_empty());
    let frame = large.reports.iter().position(|report| !report.events.crumbs.is_empty()).unwrap();
    for (own, other) in large.states[frame + 1].iter().zip(plain.states[frame + 1].iter()) {
        let masses = [own, other].map(|state| state.body.mass_properties().map(|mass| mass.mass()));
        let [Some(own), Some(other)] = masses else { continue };
        assert!(own >= 0.9 * other && own <= other, "{own} of {other} kg");
    }
    let few = Run::of(&BEAM.replace("energy_share = 0.2,", "energy_share = 0.2, max_count = 10,"));
    assert_eq!(few.crumbs().len(), 10);
    assert!((few.world.mass() + few.world.retired_mass() - 2470.0 * 0.144).abs() < 1e-9);
}

/// A ball of brick: sampled, with rims on its surface.
#[test]
fn crumbs_come_from_the_rims_of_cracks() {
    let sphere = "shape = { sphere = { radius = 0.3, spacing = 0.02 } }";
    let ball = BEAM.replace("shape = { box = { half_extents = [0.6, 0.15, 0.2] } }", sphere);
    for text in [BEAM, &ball] {
        let run = Run::of(text);
        let crumbs = &run.recording.crumbs;
        assert!(crumbs.len() > 100, "{}", crumbs.len());
        let mut depths = Vec::new();
        for crumb in crumbs {
            let track = &run.recording.tracks[crumb.track];
            let sim::LazySurface::Of(source) = &track.lazy_surface else { panic!("drawn") };
            let solid = source.solid.as_ref().unwrap();
            let p = solid.material * crumb.point;
            // half a sample off a point of the piece
            let spacing = solid.geometry.grid().spacing();
            assert!(solid.geometry.level_set().value(&p).abs() < spacing);
            let depth = if text == BEAM {
                (0.15 - p.y.abs()).min(0.2 - p.z.abs())
            } else {
                0.3 - p.coords.norm()
            };
            depths.push(depth / spacing);
        }
        let deepest = depths.iter().copied().fold(0.0, f64::max);
        assert!(deepest < 2.5, "{deepest} samples below the surface");
    }
}

#[test]
fn crumbs_fly_as_thrown_stones_and_stay_where_they_land() {
    let run = Run::of(BEAM);
    let flights = run.flights();
    let count = run.recording.crumbs.len();
    assert!(count > 100 && flights.specks.len() == count && flights.are_crumbs());
    let last = flights.frames() - 1;
    let end: Vec<_> = flights.shown(last).collect();
    assert_eq!(end.len(), count, "all are there at the end");
    let landed: Vec<_> = flights.landed().collect();
    assert!(landed.len() > count / 2, "{} of {count} landed", landed.len());
    for crumb in &landed {
        let speck = &flights.specks[crumb.number];
        let at = end.iter().find(|shown| shown.number == crumb.number).unwrap();
        assert!(at.position.y.abs() < 1e-9 && at.velocity.norm() == 0.0);
        assert!((at.position - Point3::from(crumb.pose.translation.vector)).norm() < 1e-12);
        let volume = crumb.scale.product();
        assert!((volume - speck.size.powi(3)).abs() < 1e-12 * volume);
        let is_shown = |frame: usize| {
            flights
                .shown(frame)
                .find(|shown| shown.number == crumb.number)
                .map(|s| s.velocity.norm())
        };
        assert_eq!(is_shown(crumb.frame), Some(0.0));
        assert!(is_shown(crumb.frame - 1).is_none_or(|speed| speed > 0.0));
    }
}

#[test]
fn crumbs_in_glb_are_where_they_are_in_every_frame() {
    let run = Run::of(BEAM);
    let flights = run.flights();
    let mut bytes = Vec::new();
    meshfile::write_dust_glb(&flights, &mut bytes).unwrap();
    let case = Case::new(&[]);
    let path = case.folder.path().join("crumbs.glb");
    std::fs::write(&path, &bytes).unwrap();
    assert_valid(&[path]);
    let cloud = read_dust(&bytes).unwrap();
    // in order of size, and of position at equal sizes
    let sorted = |mut specks: Vec<VisibleSpeck>| {
        let order = |speck: &VisibleSpeck| [speck.size, speck.position.x];
        specks.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap());
        specks
    };
    for frame in 0..flights.frames() {
        let time = (frame as f64 / flights.fps()) as f32;
        let found = sorted(cloud.at(time).collect());
        let own = |own: ShownSpeck| {
            let Speck { size, color, .. } = flights.specks[own.number];
            VisibleSpeck { position: own.position.coords.cast(), size: size as f32, color }
        };
        let own = sorted(flights.shown(frame).map(own).collect());
        assert_eq!(found.len(), own.len(), "frame {frame}");
        for (found, own) in found.iter().zip(&own) {
            let off = (found.position - own.position).norm();
            assert!(off < 1e-4 && (found.size / own.size - 1.0).abs() < 1e-6, "{found:?} {own:?}");
        }
    }
    // a file that names an accessor of another type is refused
    let place = bytes.windows(14).position(|part| part == b"\"TRANSLATION\":").unwrap() + 14;
    let digits = bytes[place..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut damaged = bytes.clone();
    damaged[place..place + digits].fill(b' ');
    damaged[place] = b'2';
    let error = read_dust(&damaged).unwrap_err().to_string();
    assert!(error.contains("TRANSLATION of the instances"), "{error}");
}

#[test]
fn a_run_that_is_continued_or_replayed_has_the_same_crumbs() {
    let case = Case::new(&[("a.toml", BEAM)]);
    let done = |arguments: &str| {
        let output = case.run(&arguments.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{}", problem(output.stderr));
    };
    let read = |name: &str| std::fs::read(case.folder.path().join(name)).unwrap();
    done("run a.toml -q -o a.jsonl --crumbs a.ply --threads 1 --events e.jsonl");
    done("run a.toml -q -o b.jsonl --crumbs b.ply --threads 2");
    done("replay a.toml e.jsonl -q -o c.jsonl --crumbs c.ply");
    done("run a.toml -q -o d.jsonl --frames 20 --checkpoint-every 20 --checkpoint here");
    done("run a.toml -q -o d.jsonl --crumbs d.ply --resume here");
    for (name, crumbs) in [("b.jsonl", "b.ply"), ("c.jsonl", "c.ply"), ("d.jsonl", "d.ply")] {
        assert!(read("a.jsonl") == read(name), "{name}");
        assert!(read("a.ply") == read(crumbs), "{crumbs}");
    }
}

/// Points at re-entrant edges are near the surface, too, but not at a crack.
#[test]
fn no_crumb_comes_from_an_old_surface() {
    let shape = "shape = { box = { half_extents = [0.6, 0.15, 0.2] } }";
    let hollow = "shape = { combined = { spacing = 0.02, parts = [{ shape = { box = { half_extents = [0.6, 0.15, 0.2] } } }, \
        { shape = { box = { half_extents = [0.5, 0.1, 0.3] } }, op = \"difference\" }] } }";
    let text = BEAM.replace(shape, hollow).replace("planes = 20", "planes = 5");
    let run = Run::of(&text);
    let crumbs = &run.recording.crumbs;
    assert!(crumbs.len() > 100, "{}", crumbs.len());
    let cuts = cuts(&run.recording);
    for crumb in crumbs {
        let off = to_cuts(&crumb.point, cuts[crumb.track].as_ref());
        assert!(off < 0.03, "{off} m from the next crack");
    }
}

#[test]
fn shares_above_one_and_sizes_that_are_not_finite_positive_and_ascending_are_unusable() {
    let usable = Crumbs { energy_share: 0.1, sizes: [0.01, 0.02], max_count: usize::MAX, seed: 1 };
    assert!(usable.is_usable());
    for (energy_share, sizes) in [
        (f64::NAN, [0.01, 0.02]),
        (1.1, [0.01, 0.02]),
        (0.1, [0.0, 0.02]),
        (0.1, [0.02, 0.01]),
        (0.1, [0.01, f64::NAN]),
    ] {
        assert!(!Crumbs { energy_share, sizes, ..usable }.is_usable());
    }
}

#[test]
fn no_crumb_rests_below_the_floor() {
    let low = BEAM.replace("[0, 0.5, 0]", "[0, 0.3, 0]").replace("[0, -3, 0]", "[0, -9, 0]");
    let flights = Run::of(&low).flights();
    assert!(flights.specks.len() > 100);
    for frame in 0..flights.frames() {
        for crumb in flights.shown(frame) {
            assert!(crumb.position.y > -1e-9, "{} m in frame {frame}", crumb.position.y);
        }
    }
}

#[test]
fn pieces_share_a_limit_of_crumbs_and_a_file_without_crumbs_is_read() {
    let fine =
        BEAM.replace("sizes = [\"4 mm\", \"2 cm\"]", "sizes = [1e-4, 1e-3], max_count = 3000");
    let run = Run::of(&fine);
    let crumbs = run.crumbs();
    let pieces: BTreeSet<_> = crumbs.iter().map(|crumb| crumb.body).collect();
    assert_eq!((crumbs.len(), run.world.crumb_count()), (3000, 3000));
    assert_eq!(pieces.len(), run.world.len() - 1, "every piece has crumbs");
    let case = Case::new(&[
        ("a.toml", &fine),
        ("b.toml", &BEAM.replace("break_impulse = 1", "break_impulse = 1e6")),
    ]);
    let done = |arguments: &str| {
        let output = case.run(&arguments.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{}", problem(output.stderr));
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    assert!(done("run a.toml -o a.glb").contains("`debris.crumbs.max_count`"));
    assert!(done("run b.toml -o b.glb --crumbs none.glb").contains("there are no crumbs"));
    assert!(done("info none.glb").contains("0 specks"));
    done("render b.glb -q --dust none.glb --frame 3 --size 32x18 -o b.png");
    assert_valid(&[case.folder.path().join("none.glb")]);
}

#[test]
fn what_cannot_be_crumbs_is_refused() {
    for (good, bad, said) in [
        ("energy_share = 0.2", "energy_share = 0", "`debris.crumbs.energy_share` must be above 0"),
        ("energy_share = 0.2", "energy_share = 1.1", "must be above 0 and at most 1, not 1.1"),
        ("\"4 mm\"", "\"4 cm\"", "`debris.crumbs.sizes` must be the smallest and the largest size"),
        ("\"4 mm\"", "0", "`debris.crumbs.sizes`"),
        ("\"2 cm\"", "\"2 kg\"", "sizes"),
        ("energy_share = 0.2", "share = 0.2", "share"),
        ("energy_share = 0.2", "max_count = 1000001", "must be at most 1000000"),
    ] {
        let case = Case::new(&[("a.toml", &BEAM.replace(good, bad))]);
        let output = case.run(&["run", "a.toml", "-o", "a.glb"]);
        let error = problem(output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(said), "{bad}: {error}");
    }
    let case = Case::new(&[("a.toml", &without(BEAM)), ("b.toml", BEAM)]);
    let output = case.run(&["run", "a.toml", "-o", "a.glb", "--crumbs", "c.glb"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && error.contains("--crumbs"), "{error}");
    let output = case.run(&["run", "b.toml", "-o", "a.glb", "--crumbs", "a.glb"]);
    assert_eq!(output.status.code(), Some(2));
    let output = case.run(&["run", "b.toml", "-o", "a.glb", "--crumbs", "c.obj"]);
    assert_eq!(output.status.code(), Some(2));
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Bodies that break repeatedly, with debris that is retired.
    #[test]
    fn mass_is_conserved_and_no_energy_gained(
        seed in 0..1000u64,
        speed in 3.0..15.0_f64,
        share in 0.01..1.0_f64,
        least in 0.001..0.02_f64,
    ) {
        let text = BEAM
            .replace("frames = 40", &format!("frames = 12\nseed = {seed}"))
            .replace("[0, -3, 0]", &format!("[0, -{speed}, 1]"))
            .replace("energy_share = 0.2", &format!("energy_share = {share}"))
            .replace("\"4 mm\"", &least.to_string())
            .replace("generations = 1", "generations = 2")
            .replace("[pattern.across.slices]\nplanes = 20\naxis = [1, 0, 0]", "[pattern.across.voronoi]\npieces = 6");
        let scene = sim::scene::Scene::from_toml(&text).unwrap();
        let (mut world, _) = sim::build(&scene, &Default::default()).unwrap();
        let mass = world.mass();
        for _ in 0..12 {
            let report = world.step();
            let total = world.mass() + world.retired_mass();
            prop_assert!((total - mass).abs() < 1e-12 * mass, "{total} of {mass} kg");
            prop_assert!(report.energy.gain < 1e-8, "{} J", report.energy.gain);
            for crumb in &report.events.crumbs {
                prop_assert!(world.get(crumb.body).is_some() && crumb.mass > 0.0);
            }
        }
    }
}
