//! The piles of `peers_pile` in Box3D: `peers_pile --pile [OPTIONS] | pile-box3d [--json]`, which
//! `cargo xtask peers pile` runs if this package can be built.
//!
//! The build needs cmake and libclang: `cmake` and `libclang-dev` of Debian, or `cmake` and
//! `libclang` of pip, with the folder of libclang.so in `LIBCLANG_PATH` and, if `stddef.h` is
//! missing, `BINDGEN_EXTRA_CLANG_ARGS=-I` and the header folder of the compiler.
//!
//! The peer is Box3D in `f32` at its default settings, with four substeps a frame, the usual number
//! according to its header. Hulls, masses, friction, frames and times are those of the Rapier row.
//! The ground is a box, since Box3D has no plane. `mm` are the overlaps of hulls at the end by the
//! geometry of Rapier, as in that row. `ratio` is our time, if in the input, over that of Box3D: at
//! most 1 is good.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use box3d_sys as b3;
use cpu_time::ProcessTime;
use parry3d::math::{Pose, Rotation, Vector};
use parry3d::query::contact as overlap;
use parry3d::shape::SharedShape;
use serde::Deserialize;
use serde_json::json;

type Outcome<T> = Result<T, Box<dyn Error>>;

const SUBSTEPS: i32 = 4;

/// A line of `peers_pile --pile`.
#[derive(Deserialize)]
struct Pile {
    friction: f32,
    frames: usize,
    threads: Vec<u32>,
    sleeps: Vec<bool>,
    /// Name of each part, its first frame and the one after its last.
    parts: Vec<(String, usize, usize)>,
    bodies: Vec<Fragment>,
    /// Our time of each row, ms; empty if not measured.
    ours_ms: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Fragment {
    points: Vec<[f32; 3]>,
    place: [f32; 3],
    /// x, y, z, w.
    turn: [f32; 4],
    mass: f32,
}

fn main() -> Outcome<()> {
    let json = std::env::args().skip(1).any(|argument| argument == "--json");
    for line in std::io::stdin().lock().lines() {
        let pile: Pile = serde_json::from_str(&line?)?;
        for &sleep in &pile.sleeps {
            for &threads in &pile.threads {
                row(&pile, threads, sleep, json)?;
            }
        }
    }
    Ok(())
}

fn row(pile: &Pile, threads: u32, sleep: bool, json: bool) -> Outcome<()> {
    let (frames, end) = run(pile, threads, sleep)?;
    let worst = depths(&pile.bodies, &end)?;
    let mut out = std::io::stdout().lock();
    for &(ref part, first, last) in &pile.parts {
        let state = if sleep { "sleep" } else { "awake" };
        let row = format!("pile {} {state} {threads} thr {part}", pile.bodies.len());
        let part = frames.get(first..last).ok_or("a part has frames that are not run")?;
        let mut times: Vec<f64> = part.iter().map(|f| f[usize::from(threads > 1)]).collect();
        times.sort_by(f64::total_cmp);
        let ms = times.get(times.len() / 2).ok_or("a part has no frames")?;
        let ours = pile.ours_ms.get(&row);
        let ratio = ours.map(|ours| ours / ms);
        if json {
            let line = json!({
                "row": row, "ours_ms": ours, "peer": "box3d 0.1.0", "peer_ms": ms, "ratio": ratio,
                "peer_overlaps_mm": worst,
            });
            writeln!(out, "{line}")?;
        } else {
            let ratio = ratio.map_or_else(|| "-".into(), |x| format!("{x:.3}"));
            writeln!(out, "{row:32} box3d {ms:>9.3} ms  ratio {ratio:>7}  mm {worst:.1?}")?;
        }
    }
    Ok(())
}

/// Processor and wall time of each frame, ms, and the poses at the end.
fn run(pile: &Pile, threads: u32, sleep: bool) -> Outcome<(Vec<[f64; 2]>, Vec<Pose>)> {
    // SAFETY: ids belong to this world, which lives to the end, and definitions are from Box3D
    unsafe {
        let mut settings = b3::b3DefaultWorldDef();
        settings.gravity = vec3([0.0, -9.81, 0.0]);
        settings.workerCount = threads;
        settings.enableSleep = sleep;
        let world = b3::b3CreateWorld(&settings);
        let mut shape = b3::b3DefaultShapeDef();
        shape.baseMaterial.friction = pile.friction;
        shape.baseMaterial.restitution = 0.0;

        let mut ground = b3::b3DefaultBodyDef();
        ground.position = vec3([0.0, -1.0, 0.0]);
        let ground = b3::b3CreateBody(world, &ground);
        let plate = b3::b3MakeBoxHull(100.0, 1.0, 100.0);
        b3::b3CreateHullShape(ground, &shape, &plate.base);

        let mut bodies = Vec::new();
        for fragment in &pile.bodies {
            let corners: Vec<_> = fragment.points.iter().copied().map(vec3).collect();
            let count = i32::try_from(corners.len())?;
            let hull = b3::b3CreateHull(corners.as_ptr(), count, count);
            if hull.is_null() {
                b3::b3DestroyWorld(world);
                return Err("Box3D makes no hull of it".into());
            }
            let [x, y, z, w] = fragment.turn;
            let mut body = b3::b3DefaultBodyDef();
            body.type_ = b3::b3BodyType_b3_dynamicBody;
            body.position = vec3(fragment.place);
            body.rotation = b3::b3Quat { v: vec3([x, y, z]), s: w };
            let body = b3::b3CreateBody(world, &body);
            shape.density = fragment.mass / b3::b3ComputeHullMass(hull, 1.0).mass;
            b3::b3CreateHullShape(body, &shape, hull);
            b3::b3DestroyHull(hull);
            bodies.push(body);
        }
        let frame = |_| {
            let (cpu, wall) = (ProcessTime::now(), Instant::now());
            b3::b3World_Step(world, 1.0 / 30.0, SUBSTEPS);
            [cpu.elapsed(), wall.elapsed()].map(|t| t.as_secs_f64() * 1e3)
        };
        let frames = (0..pile.frames).map(frame).collect();
        let pose = |&body: &b3::b3BodyId| {
            let b3::b3Transform { p, q } = b3::b3Body_GetTransform(body);
            let turn = Rotation::from_xyzw(q.v.x, q.v.y, q.v.z, q.s);
            Pose::from_parts(Vector::new(p.x, p.y, p.z), turn)
        };
        let end = bodies.iter().map(pose).collect();
        b3::b3DestroyWorld(world);
        Ok((frames, end))
    }
}

fn vec3([x, y, z]: [f32; 3]) -> b3::b3Vec3 {
    b3::b3Vec3 { x, y, z }
}

/// Median, 99th percentile and largest of the overlaps of fragments, mm, as in `peers_pile`.
fn depths(pile: &[Fragment], poses: &[Pose]) -> Outcome<[f64; 3]> {
    let corners = |f: &Fragment| f.points.iter().map(|&p| Vector::from(p)).collect::<Vec<_>>();
    let hulls: Vec<SharedShape> = pile
        .iter()
        .map(|f| SharedShape::convex_hull(&corners(f)))
        .collect::<Option<_>>()
        .ok_or("a fragment has no hull")?;
    let radius = |f| corners(f).iter().map(|p| p.length()).fold(0.0, f32::max);
    let radii: Vec<f32> = pile.iter().map(radius).collect();
    let mut order: Vec<usize> = (0..pile.len()).collect();
    order.sort_by(|&i, &j| poses[i].translation.x.total_cmp(&poses[j].translation.x));
    let mut found = Vec::new();
    for (k, &i) in order.iter().enumerate() {
        for &j in &order[k + 1..] {
            let apart = poses[j].translation - poses[i].translation;
            if apart.x > 0.3 {
                break;
            }
            if apart.length() < radii[i] + radii[j] {
                let touch = overlap(&poses[i], &*hulls[i], &poses[j], &*hulls[j], 0.0)?;
                found.extend(touch.map(|c| -1e3 * f64::from(c.dist)).filter(|&d| d > 0.0));
            }
        }
    }
    found.sort_by(f64::total_cmp);
    let at = |percent: usize| found.get(found.len().saturating_sub(1) * percent / 100);
    Ok([50, 99, 100].map(|percent| at(percent).copied().unwrap_or(0.0)))
}
