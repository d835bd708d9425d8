//! Piles of convex fragments beside Rapier: the same hulls, masses and friction, 1/30 s a frame.
//!
//! `peers_pile [--json] [--seconds S] [--ours | --pile] [--threads N] [--awake | --sleep]
//! [--sampled] [--solver NAME] [BODIES]...`, where NAME is that of a scene's `solver`: 1000,
//! 3000 and 8992 bodies, 10 s, one thread and two, awake and with sleeping, unless given.
//! Fragments of some 0.2 m fall from a loose block onto a plane. Frames of both engines alternate. Times are
//! medians of a frame: processor time for one thread, wall time for two. `ratio` is our time over the
//! peer's. `mm` are the median, 99th percentile and largest overlap of two hulls at the end, by Rapier's
//! geometry for both engines. `gain` is the largest growth of energy in a frame over the energy at the start.
//!
//! `again` counts repeated narrow-phase tests of pairs within a frame, `points` the distance queries of
//! surface points.
//!
//! The peer is Rapier in `f32` (crate `rapier3d`, with `parallel`) at its default settings. With `--sampled`
//! our bodies collide by points and samples, as non-convex bodies do.
//!
//! `--pile` runs nothing, but writes a line of JSON for each pile and its runs, which `benches/box3d` reads.
//! `--times FILE` writes our times of a run to a file; `--pile --times FILE` adds them to these lines.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::time::Instant;

use brisance_benches::pile::{
    CollisionGeometry, FRICTION, Fragment, Ground, fragments, poses, world,
};
use brisance_benches::ratio;
use cpu_time::ProcessTime;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use rapier3d::parry::query::contact as overlap;
use rapier3d::prelude::{
    ColliderBuilder, PhysicsWorld, Pose, RigidBodyBuilder, RigidBodyHandle, Rotation, SharedShape,
    Vector,
};
use serde_json::{Value, json};
use sim::scene::Scene;
use sim::{Phase, Report, Settings};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Number of runs of the falling block, since it has only a few frames of a few ms.
const FALLS: usize = 10;

/// The frames of one engine.
#[derive(Default)]
struct Run {
    /// Processor and wall time of each frame, ms.
    times: Vec<[f64; 2]>,
    end: Vec<Isometry3<f64>>,
}

/// Frames of both engines in turn.
struct Race {
    ours: Run,
    /// Energy of our pile at the start, J.
    start: f64,
    reports: Vec<Report>,
    /// Processor time of each phase of each of our frames, ms.
    phases: Vec<BTreeMap<Phase, f64>>,
    rapier: Option<Run>,
}

#[derive(Clone, Copy)]
struct Case {
    threads: usize,
    sleep: bool,
    solver: contact::Solver,
    frames: usize,
}

fn main() -> Outcome<()> {
    let (mut json, mut ours, mut given, mut seconds) = (false, false, false, 10.0);
    let (mut sizes, mut threads, mut sleeps) = (Vec::new(), vec![1, 2], vec![false, true]);
    let (mut solver, mut geometry) = (contact::Solver::default(), CollisionGeometry::Hulls);
    let mut kept: Option<String> = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--ours" => ours = true,
            "--pile" => given = true,
            "--sampled" => geometry = CollisionGeometry::Samples,
            "--awake" => sleeps = vec![false],
            "--sleep" => sleeps = vec![true],
            "--threads" => {
                threads = vec![arguments.next().ok_or("--threads needs a number")?.parse()?];
            }
            "--solver" => solver = named(&arguments.next().ok_or("--solver needs a name")?)?,
            "--times" => kept = Some(arguments.next().ok_or("--times needs a file")?),
            "--seconds" => seconds = arguments.next().ok_or("--seconds needs a number")?.parse()?,
            size => sizes.push(size.parse().map_err(|e| format!("{size}: {e}"))?),
        }
    }
    if sizes.is_empty() {
        sizes = vec![1000, 3000, 8992];
    }
    let frames = (seconds * 30.0_f64).round().max(60.0) as usize;
    let mut times: Times = match &kept {
        Some(path) if given => serde_json::from_str(&std::fs::read_to_string(path)?)?,
        _ => Times::new(),
    };
    for size in sizes {
        let pile = fragments(size, geometry);
        if given {
            let line = json!({
                "friction": FRICTION, "frames": frames, "threads": &threads, "sleeps": &sleeps,
                "parts": parts(frames).map(|(part, range)| (part, range.start, range.end)),
                "bodies": pile.iter().map(body).collect::<Vec<_>>(), "ours_ms": &times,
            });
            writeln!(std::io::stdout(), "{line}")?;
            continue;
        }
        for &sleep in &sleeps {
            for &threads in &threads {
                let case = Case { threads, sleep, solver, frames };
                times.extend(compare(&pile, case, ours, json)?);
            }
        }
    }
    match &kept {
        Some(path) if !given => Ok(std::fs::write(path, serde_json::to_string(&times)?)?),
        _ => Ok(()),
    }
}

/// Our time of each row, ms.
type Times = BTreeMap<String, f64>;

/// A fragment for other programs: corners, initial pose (x, y, z; x, y, z, w) and mass.
fn body(fragment: &Fragment) -> Value {
    let (place, turn) = (fragment.start.translation.vector, fragment.start.rotation.coords);
    json!({
        "points": fragment.points.iter().map(|p| [p.x, p.y, p.z]).collect::<Vec<_>>(),
        "place": [place.x, place.y, place.z], "turn": [turn.x, turn.y, turn.z, turn.w],
        "mass": fragment.mass,
    })
}

/// The solver with a name as in scenes.
fn named(name: &str) -> Outcome<contact::Solver> {
    let scene = format!("version = 1\n[simulation]\nsolver = {name:?}\n{GROUND}");
    Ok(Scene::from_toml(&scene)?.simulation.solver.contact())
}

const GROUND: &str = "[[body]]\nname = \"ground\"\nshape = { plane = {} }\nmotion = \"static\"\n";

fn compare(pile: &[Fragment], case: Case, alone: bool, json: bool) -> Outcome<Times> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(case.threads).build()?;
    let run = |frames| pool.install(|| race(pile, case, alone, frames));
    let parts = parts(case.frames);
    let falls = (0..FALLS).map(|_| run(parts[0].1.end)).collect::<Outcome<Vec<Race>>>()?;
    let whole = run(case.frames)?;
    let worst = depths(pile, &whole.ours.end)?;
    let their_worst = whole.rapier.as_ref().map(|run| depths(pile, &run.end)).transpose()?;
    let gain = whole.reports.iter().map(|r| r.energy.gain / whole.start).fold(f64::MIN, f64::max);
    let mut out = std::io::stdout().lock();
    let mut times = Times::new();
    for (part, range) in parts {
        let races = if part == "falling" { &falls[..] } else { std::slice::from_ref(&whole) };
        let sleep = if case.sleep { "sleep" } else { "awake" };
        let row = format!("pile {} {sleep} {} thr {part}", pile.len(), case.threads);
        let time = |of: fn(&Race) -> Option<&Run>| {
            let frames = races.iter().filter_map(of).flat_map(|run| &run.times[range.clone()]);
            median(frames.map(|frame| frame[usize::from(case.threads > 1)]))
        };
        let (ours_ms, peer_ms) = (time(|race| Some(&race.ours)), time(|race| race.rapier.as_ref()));
        times.extend(ours_ms.map(|ms| (row.clone(), ms)));
        let line = json!({
            "row": row, "ours_ms": ours_ms, "peer": "rapier3d 0.36 f32", "peer_ms": peer_ms,
            "ratio": ratio(ours_ms, peer_ms), "gain": gain,
            "overlaps_mm": worst, "peer_overlaps_mm": their_worst,
            "phases_ms": phases(races, &range), "means": means(&races[0].reports[range.clone()]),
        });
        if json {
            writeln!(out, "{line}")?;
        } else {
            let number =
                |key: &str| line[key].as_f64().map_or_else(|| "-".into(), |x| format!("{x:.3}"));
            writeln!(
                out,
                "{row:32} ours {:>9} ms  rapier {:>9} ms  ratio {:>7}  gain {gain:8.1e}  mm {worst:.1?} {:.1?}",
                number("ours_ms"),
                number("peer_ms"),
                number("ratio"),
                their_worst.unwrap_or_default(),
            )?;
        }
    }
    Ok(times)
}

/// Frames while the block falls, while it lands and when it is at rest.
fn parts(frames: usize) -> [(&'static str, std::ops::Range<usize>); 3] {
    [("falling", 2..8), ("impact", 20..50), ("settled", frames - frames / 5..frames)]
}

/// Means over these frames.
fn means(reports: &[Report]) -> Value {
    let mean = |of: fn(&Report) -> usize| {
        (reports.iter().map(of).sum::<usize>() as f64 / reports.len() as f64).round()
    };
    json!({
        "awake": mean(|r| r.counters.awake), "pairs": mean(|r| r.counters.pairs),
        "reused": mean(|r| r.counters.pairs_reused), "again": mean(|r| r.counters.pairs_repeated),
        "points": mean(|r| r.counters.points), "contacts": mean(|r| r.counters.contacts),
        "colours": mean(|r| r.counters.colors as usize), "levels": mean(|r| r.counters.levels as usize),
        "sweeps": mean(|r| r.counters.sweeps),
    })
}

/// Mean processor time of each phase of our frames, ms.
fn phases(races: &[Race], range: &std::ops::Range<usize>) -> BTreeMap<String, f64> {
    let frames: Vec<_> = races.iter().flat_map(|race| &race.phases[range.clone()]).collect();
    let mut sums = BTreeMap::new();
    for (phase, ms) in frames.iter().copied().flatten() {
        *sums.entry(format!("{phase:?}")).or_default() += ms / frames.len() as f64;
    }
    sums
}

fn median(times: impl Iterator<Item = f64>) -> Option<f64> {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

/// Runs both engines, or only ours, with alternating frames.
fn race(pile: &[Fragment], case: Case, alone: bool, frames: usize) -> Outcome<Race> {
    let contact = contact::Settings::of(case.solver);
    let settings = Settings { sleep: case.sleep, contact, ..Settings::default() };
    let (mut world, ids) = world(pile, Ground::Plane, settings);
    let (mut ours, start) = (Run::default(), world.potential_energy());
    let (mut reports, mut phases) = (Vec::new(), Vec::new());
    let mut peer = if alone { None } else { Some((rapier(pile, case)?, Run::default())) };
    for _ in 0..frames {
        let mut spent = BTreeMap::<Phase, f64>::new();
        let mut clock = ProcessTime::now();
        reports.push(timed(&mut ours.times, || {
            world.step_with(&mut |phase| {
                *spent.entry(phase).or_default() += clock.elapsed().as_secs_f64() * 1e3;
                clock = ProcessTime::now();
            })
        }));
        phases.push(spent);
        if let Some(((world, _), run)) = &mut peer {
            timed(&mut run.times, || world.step());
        }
    }
    ours.end = poses(pile, &world, &ids);
    let rapier = peer.map(|((world, handles), mut run)| {
        run.end = handles.iter().map(|&h| isometry(world.bodies[h].position())).collect();
        run
    });
    Ok(Race { ours, start, reports, phases, rapier })
}

/// Appends the processor and wall time of a frame, ms.
fn timed<T>(times: &mut Vec<[f64; 2]>, frame: impl FnOnce() -> T) -> T {
    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    let result = frame();
    times.push([cpu.elapsed(), wall.elapsed()].map(|t| t.as_secs_f64() * 1e3));
    result
}

fn rapier(pile: &[Fragment], case: Case) -> Outcome<(PhysicsWorld, Vec<RigidBodyHandle>)> {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, -9.81, 0.0);
    world.integration_parameters.dt = 1.0 / 30.0;
    let ground = world.insert_body(RigidBodyBuilder::fixed());
    let surface = |c: ColliderBuilder| c.friction(FRICTION as f32).restitution(0.0);
    let plane = ColliderBuilder::new(SharedShape::halfspace(Vector::Y));
    world.insert_collider(surface(plane), Some(ground));
    let mut handles: Vec<RigidBodyHandle> = Vec::new();
    for fragment in pile {
        let corners: Vec<Vector> = fragment.points.iter().map(vector).collect();
        let hull = ColliderBuilder::convex_hull(&corners).ok_or("Rapier makes no hull of it")?;
        let body = RigidBodyBuilder::dynamic().pose(pose(&fragment.start)).can_sleep(case.sleep);
        let body = world.insert_body(body);
        world.insert_collider(surface(hull).mass(fragment.mass as f32), Some(body));
        handles.push(body);
    }
    Ok((world, handles))
}

/// The overlaps of fragments, mm, ascending.
fn overlaps(pile: &[Fragment], poses: &[Isometry3<f64>]) -> Outcome<Vec<f64>> {
    let hulls: Vec<SharedShape> = pile
        .iter()
        .map(|f| SharedShape::convex_hull(&f.points.iter().map(vector).collect::<Vec<_>>()))
        .collect::<Option<_>>()
        .ok_or("a fragment has no hull")?;
    let radius = |i: usize| pile[i].points.iter().map(|p| p.norm()).fold(0.0, f64::max);
    let radii: Vec<f64> = (0..pile.len()).map(radius).collect();
    let mut order: Vec<usize> = (0..pile.len()).collect();
    let place = |i: usize| poses[i].translation.vector;
    order.sort_by(|&i, &j| place(i).x.total_cmp(&place(j).x));
    let mut found = Vec::new();
    for (k, &i) in order.iter().enumerate() {
        for &j in &order[k + 1..] {
            let reach = radii[i] + radii[j];
            let apart = place(j) - place(i);
            if apart.x > 0.3 {
                break;
            }
            if apart.norm() < reach {
                let touch =
                    overlap(&pose(&poses[i]), &*hulls[i].0, &pose(&poses[j]), &*hulls[j].0, 0.0)?;
                found.extend(touch.map(|c| -1e3 * f64::from(c.dist)).filter(|&d| d > 0.0));
            }
        }
    }
    found.sort_by(f64::total_cmp);
    Ok(found)
}

/// Median, 99th percentile and largest of the overlaps of fragments, mm.
fn depths(pile: &[Fragment], poses: &[Isometry3<f64>]) -> Outcome<[f64; 3]> {
    let found = overlaps(pile, poses)?;
    let at = |percent: usize| found.get(found.len().saturating_sub(1) * percent / 100);
    Ok([50, 99, 100].map(|percent| at(percent).copied().unwrap_or(0.0)))
}

fn vector(v: &Vector3<f64>) -> Vector {
    Vector::from_array(v.map(|x| x as f32).into())
}

fn pose(x: &Isometry3<f64>) -> Pose {
    let turn = Rotation::from_array(x.rotation.coords.map(|x| x as f32).into());
    Pose::from_parts(vector(&x.translation.vector), turn)
}

fn isometry(x: &Pose) -> Isometry3<f64> {
    let place = Vector3::from(x.translation.to_array().map(f64::from));
    let turn = nalgebra::Quaternion::from(x.rotation.to_array().map(f64::from));
    Isometry3::from_parts(place.into(), UnitQuaternion::new_normalize(turn))
}
