//! Piles of convex fragments beside Rapier: the same hulls, masses and friction, 1/30 s a frame.
//!
//! `peers_pile [--json] [--seconds S] [--ours] [--threads N] [--awake | --sleep] [BODIES]...`: 1000,
//! 3000 and 8992 bodies, 10 s, one thread and two, awake and with sleeping, unless given. Fragments of some 0.2 m fall from a loose block onto a plane. Times are medians a frame:
//! processor time for one thread, wall time for two. `ratio` is ours through theirs. `worst_mm` is
//! the deepest overlap of two hulls at the end, by Rapier's own geometry for both engines;
//! `gain` the largest growth of energy in a frame over the energy at the start.
//!
//! The peer is Rapier in `f32` (crate `rapier3d`, with `parallel`) at its default settings.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use brisance_benches::pile::{FRICTION, Fragment, fragments, poses, world};
use cpu_time::ProcessTime;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use rapier3d::parry::query::contact;
use rapier3d::prelude::{
    ColliderBuilder, PhysicsWorld, Pose, RigidBodyBuilder, RigidBodyHandle, Rotation, SharedShape,
    Vector,
};
use serde_json::json;
use sim::Settings;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// One run of one engine.
struct Run {
    /// Processor and wall time of each frame, ms.
    frames: Vec<[f64; 2]>,
    end: Vec<Isometry3<f64>>,
    /// Largest growth of energy in a frame over that at the start, where it is known.
    gain: Option<f64>,
}

#[derive(Clone, Copy)]
struct Case {
    threads: usize,
    sleep: bool,
    frames: usize,
    trace: bool,
}

fn main() -> Outcome<()> {
    let (mut json, mut ours, mut trace, mut seconds) = (false, false, false, 10.0);
    let (mut sizes, mut threads, mut sleeps) = (Vec::new(), vec![1, 2], vec![false, true]);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--ours" => ours = true,
            "--trace" => trace = true,
            "--awake" => sleeps = vec![false],
            "--sleep" => sleeps = vec![true],
            "--threads" => {
                threads = vec![arguments.next().ok_or("--threads needs a number")?.parse()?];
            }
            "--seconds" => seconds = arguments.next().ok_or("--seconds needs a number")?.parse()?,
            size => sizes.push(size.parse().map_err(|e| format!("{size}: {e}"))?),
        }
    }
    if sizes.is_empty() {
        sizes = vec![1000, 3000, 8992];
    }
    let frames = (seconds * 30.0_f64).round().max(60.0) as usize;
    for size in sizes {
        let pile = fragments(size);
        for &sleep in &sleeps {
            for &threads in &threads {
                let case = Case { threads, sleep, frames, trace };
                compare(&pile, case, ours, json)?;
            }
        }
    }
    Ok(())
}

fn compare(pile: &[Fragment], case: Case, alone: bool, json: bool) -> Outcome<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(case.threads).build()?;
    let ours = pool.install(|| run_ours(pile, case));
    let theirs = if alone { None } else { Some(pool.install(|| run_rapier(pile, case))?) };
    let (worst, their_worst) =
        (deepest(pile, &ours.end)?, theirs.as_ref().map(|r| deepest(pile, &r.end)).transpose()?);
    let mut out = std::io::stdout().lock();
    for (part, range) in parts(case.frames) {
        let sleep = if case.sleep { "sleep" } else { "awake" };
        let row = format!("pile {} {sleep} {} thr {part}", pile.len(), case.threads);
        let clock = usize::from(case.threads > 1);
        let time = |run: &Run| median(run.frames[range.clone()].iter().map(|f| f[clock]));
        let (ours_ms, peer_ms) = (time(&ours), theirs.as_ref().map(time));
        let line = json!({
            "row": row, "ours_ms": ours_ms, "peer": "rapier3d 0.36 f32", "peer_ms": peer_ms,
            "ratio": peer_ms.map(|ms| ours_ms / ms), "gain": ours.gain,
            "worst_mm": worst, "peer_worst_mm": their_worst,
        });
        if json {
            writeln!(out, "{line}")?;
        } else {
            let number =
                |key: &str| line[key].as_f64().map_or_else(|| "-".into(), |x| format!("{x:.3}"));
            writeln!(
                out,
                "{row:32} ours {:>9} ms  rapier {:>9} ms  ratio {:>7}  gain {:9.1e}  worst {:>6} / {:>6} mm",
                number("ours_ms"),
                number("peer_ms"),
                number("ratio"),
                ours.gain.unwrap_or(f64::NAN),
                number("worst_mm"),
                number("peer_worst_mm"),
            )?;
        }
    }
    Ok(())
}

/// Frames while the block falls, while it lands and when it lies.
fn parts(frames: usize) -> [(&'static str, std::ops::Range<usize>); 3] {
    [("falling", 2..8), ("impact", 20..50), ("settled", frames - frames / 5..frames)]
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn timed<T>(frames: usize, mut frame: impl FnMut() -> T) -> (Vec<[f64; 2]>, Vec<T>) {
    let once = |_| {
        let (cpu, wall) = (ProcessTime::now(), Instant::now());
        let result = frame();
        let ms = [cpu.elapsed(), wall.elapsed()].map(|t| t.as_secs_f64() * 1e3);
        (ms, result)
    };
    (0..frames).map(once).unzip()
}

fn run_ours(pile: &[Fragment], case: Case) -> Run {
    let (mut world, ids) = world(pile, Settings::default());
    let start = world.potential_energy();
    let mut before: Vec<Isometry3<f64>> = world.iter().map(|s| *s.pose).collect();
    let (frames, reports) = timed(case.frames, || {
        let mut clock = ProcessTime::now();
        let mut phases = std::collections::BTreeMap::new();
        let report = world.step_with(&mut |phase| {
            *phases.entry(phase).or_insert(0.0) += clock.elapsed().as_secs_f64() * 1e3;
            clock = ProcessTime::now();
        });
        let places: Vec<Isometry3<f64>> = world.iter().map(|s| *s.pose).collect();
        let mut moved: Vec<f64> = places
            .iter()
            .zip(&before)
            .map(|(p, q)| (p.translation.vector - q.translation.vector).norm() * 1e3)
            .collect();
        let mut turned: Vec<f64> =
            places.iter().zip(&before).map(|(p, q)| p.rotation.angle_to(&q.rotation)).collect();
        moved.sort_by(f64::total_cmp);
        turned.sort_by(f64::total_cmp);
        before = places;
        if case.trace && report.frame % 15 == 0 {
            let at = |v: &[f64], q: usize| v[(v.len() - 1) * q / 100];
            eprintln!(
                "   moved mm {:.3} {:.3} {:.3} turned rad {:.5} {:.5} {:.5}",
                at(&moved, 50),
                at(&moved, 90),
                at(&moved, 99),
                at(&turned, 50),
                at(&turned, 90),
                at(&turned, 99)
            );
            let over = overlaps(pile, &poses(pile, &world, &ids)).unwrap_or_default();
            eprintln!(
                "   overlaps {} mm {:.3} {:.3} {:.3} {:.3}",
                over.len(),
                at(&over, 50),
                at(&over, 90),
                at(&over, 99),
                at(&over, 100)
            );
            let mut speeds: Vec<f64> = world
                .iter()
                .filter_map(|s| Some(s.momentum.linear.norm() / s.body.mass_properties()?.mass()))
                .collect();
            speeds.sort_by(f64::total_cmp);
            eprintln!(
                "{} ke {:.4} speed {:.4} {:.4} pairs {} reused {} contacts {} colours {} levels {} {:.2?}",
                report.frame,
                report.kinetic_energy,
                speeds[speeds.len() / 2],
                speeds[speeds.len() * 9 / 10],
                report.pairs,
                report.pairs_reused,
                report.contacts,
                report.colours,
                report.levels,
                phases
            );
        }
        report
    });
    let gain = reports.iter().map(|r| r.energy_gain / start).fold(f64::NEG_INFINITY, f64::max);
    Run { frames, end: poses(pile, &world, &ids), gain: Some(gain) }
}

fn run_rapier(pile: &[Fragment], case: Case) -> Outcome<Run> {
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
    let (frames, _) = timed(case.frames, || world.step());
    let end = handles.iter().map(|&h| isometry(world.bodies[h].position())).collect();
    Ok(Run { frames, end, gain: None })
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
                    contact(&pose(&poses[i]), &*hulls[i].0, &pose(&poses[j]), &*hulls[j].0, 0.0)?;
                found.extend(touch.map(|c| -1e3 * f64::from(c.dist)).filter(|&d| d > 0.0));
            }
        }
    }
    found.sort_by(f64::total_cmp);
    Ok(found)
}

fn deepest(pile: &[Fragment], poses: &[Isometry3<f64>]) -> Outcome<f64> {
    Ok(overlaps(pile, poses)?.last().copied().unwrap_or(0.0))
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
