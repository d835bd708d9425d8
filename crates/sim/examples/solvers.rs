//! Every solver on the same small scenes at 30, 60 and 240 Hz: a table and plots of energy, drift
//! and time.
//!
//! `cargo run --release -p brisance-sim --example solvers -- [FOLDER]` writes `solvers.md` and
//! `solvers-*.svg` there, `docs/solvers` unless given. A stack of five boxes stands, a block slides
//! down an incline, 200 boxes fall into a pile, a rod swings, and a chain of eight links with a
//! weight of four swings.

use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

use brisance_sim::contact::constraint::{JointKind, SequentialImpulse};
use brisance_sim::contact::{self, Clamp, Material, Shape, Solver};
use brisance_sim::dynamics::{Body, MassProperties, Velocity};
use brisance_sim::nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use brisance_sim::{BodyId, NewBody, NewJoint, Settings, World};
use cpu_time::ProcessTime;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Of all text in plots.
const FONT: &[u8] = include_bytes!("../../cli/src/plot/Roboto.ttf");
const RATES: [f64; 3] = [30.0, 60.0, 240.0];
const SECONDS: f64 = 2.0;
const G: f64 = 9.81;
const SCENES: [&str; 5] = ["stack", "incline", "pile", "pendulum", "chain"];

/// A scene with a solver at a rate.
struct Run {
    scene: &'static str,
    solver: &'static str,
    rate: f64,
    /// After each frame, of that at the start: kinetic energy and height lost, over what the scene
    /// has to lose.
    energy: Vec<f64>,
    /// After each frame, m.
    drift: Vec<f64>,
    /// Of a processor for a second of the scene, ms.
    time: f64,
}

fn main() -> Outcome<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "docs/solvers".into()));
    std::fs::create_dir_all(&folder)?;
    register_font("sans-serif", FontStyle::Normal, FONT).map_err(|_| "this is no font")?;
    let mut runs = Vec::new();
    for scene in SCENES {
        for (name, solver) in solvers() {
            for rate in RATES.into_iter().filter(|rate| takes(solver, scene, *rate)) {
                runs.push(run(scene, name, solver, rate)?);
            }
        }
    }
    std::fs::write(folder.join("solvers.md"), table(&runs)?)?;
    for scene in SCENES {
        let own: Vec<&Run> = runs.iter().filter(|run| run.scene == scene).collect();
        draw(&folder.join(format!("solvers-{scene}.svg")), scene, &own)?;
    }
    Ok(())
}

/// Whether a solver has what a scene needs, and ends in minutes.
fn takes(solver: Solver, scene: &str, rate: f64) -> bool {
    match scene {
        "pendulum" | "chain" => solver.has_joints(),
        "pile" => match solver {
            Solver::Reference { .. } => false,
            Solver::QuadraticProgram => rate <= 30.0,
            _ => true,
        },
        _ => !matches!(solver, Solver::Reference { .. }) || rate <= 60.0,
    }
}

fn solvers() -> [(&'static str, Solver); 5] {
    [
        ("manifold", Solver::Manifold),
        ("sequential impulse", Solver::SequentialImpulse(SequentialImpulse::default())),
        ("quadratic program", Solver::QuadraticProgram),
        ("impulse", Solver::Impulse),
        ("reference", Solver::reference()),
    ]
}

/// How far a world is from where it should be, m, after a time in s.
type Drift = Box<dyn Fn(&World, f64) -> f64>;

fn run(scene: &'static str, name: &'static str, solver: Solver, rate: f64) -> Outcome<Run> {
    // as each paper has it: only the paper of the clamp clamps and bounds
    let bound_energy = solver.is_split();
    let clamp = if bound_energy { Clamp::default() } else { Clamp::Off };
    let contact = contact::Settings { clamp, ..contact::Settings::of(solver) };
    let dt = 1.0 / rate;
    let settings = Settings { dt, contact, bound_energy, sleep: false, ..Settings::default() };
    let (mut world, drift, scale) = made(scene, settings)?;
    let energy = |world: &World| world.kinetic_energy() + world.potential_energy();
    let start = energy(&world);
    let (mut energies, mut drifts) = (Vec::new(), Vec::new());
    let clock = ProcessTime::now();
    for frame in 1..=(SECONDS * rate).round() as usize {
        world.step();
        energies.push((energy(&world) - start) / scale);
        drifts.push(drift(&world, frame as f64 / rate));
    }
    let time = clock.elapsed().as_secs_f64() * 1e3 / SECONDS;
    Ok(Run { scene, solver: name, rate, energy: energies, drift: drifts, time })
}

/// The world of a scene, its drift, and its energy scale in J.
fn made(scene: &str, settings: Settings) -> Outcome<(World, Drift, f64)> {
    match scene {
        "stack" => stack(settings),
        "incline" => incline(settings),
        "pile" => pile(settings),
        "pendulum" => pendulum(settings),
        _ => chain(settings),
    }
}

fn add(world: &mut World, shape: Shape, body: Body, pose: Isometry3<f64>) -> BodyId {
    let material = Material { restitution: 0.0, friction: 0.3, ..Material::default() };
    let velocity = Velocity::default();
    world.add(NewBody { pose, velocity, material, ..NewBody::of(body, shape) }).unwrap()
}

fn cuboid(mass: f64, half: Vector3<f64>) -> Outcome<Body> {
    Ok(Body::Dynamic(MassProperties::cuboid(mass, &half)?))
}

fn stack(settings: Settings) -> Outcome<(World, Drift, f64)> {
    let mut world = World::new(settings);
    add(&mut world, Shape::half_space(), Body::Static, Isometry3::identity());
    let half = Vector3::repeat(0.1);
    let mut places = Vec::new();
    for i in 0..5 {
        let at = Isometry3::translation(0.0, 0.1 + 0.2 * f64::from(i), 0.0);
        places.push((add(&mut world, Shape::cuboid(half, 0.1), cuboid(8.0, half)?, at), at));
    }
    let scale = world.potential_energy();
    let moved = move |world: &World, _: f64| {
        let of = |(id, at): &(BodyId, Isometry3<f64>)| {
            let now = world.get(*id)?.pose.translation.vector;
            Some((now - at.translation.vector).norm())
        };
        places.iter().filter_map(of).fold(0.0, f64::max)
    };
    Ok((world, Box::new(moved), scale))
}

/// Boxes of all proportions in a loose block, 20 cm apart, each turned its own way.
fn pile(settings: Settings) -> Outcome<(World, Drift, f64)> {
    let mut world = World::new(settings);
    add(&mut world, Shape::half_space(), Body::Static, Isometry3::identity());
    let mut word = 1_u64;
    let mut random = || {
        // Knuth's linear congruence
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (word >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut ids = Vec::new();
    for i in 0..200_u32 {
        let half = Vector3::from_fn(|_, _| 0.03 + 0.05 * random());
        let turn = Vector3::from_fn(|_, _| 6.0 * random() - 3.0);
        let step = Vector3::new(i % 6, i / 36, i / 6 % 6).map(f64::from);
        let at = Isometry3::new(step * 0.2 + Vector3::y() * 0.15, turn);
        let body = cuboid(8000.0 * half.product(), half)?;
        ids.push(add(&mut world, Shape::cuboid(half, 0.1), body, at));
    }
    let scale = world.potential_energy();
    let sunk = move |world: &World, _: f64| {
        let lowest = |id: &BodyId| {
            let state = world.get(*id)?;
            let height = |p: &Point3<f64>| (state.pose * p).y;
            Some(state.shape.points().iter().map(height).fold(f64::INFINITY, f64::min))
        };
        -ids.iter().filter_map(lowest).fold(0.0, f64::min)
    };
    Ok((world, Box::new(sunk), scale))
}

fn incline(settings: Settings) -> Outcome<(World, Drift, f64)> {
    let slope = 0.5_f64;
    let mut world = World::new(settings);
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -slope);
    add(&mut world, Shape::half_space(), Body::Static, turn * Isometry3::identity());
    let half = Vector3::new(0.2, 0.1, 0.2);
    let at = turn * Isometry3::translation(0.0, 0.1, 0.0);
    let block = add(&mut world, Shape::cuboid(half, 0.1), cuboid(8.0, half)?, at);
    let rate = G * (slope.sin() - 0.3 * slope.cos());
    let off = move |world: &World, time: f64| {
        let Some(state) = world.get(block) else { return f64::NAN };
        let exact = at.translation.vector + turn * Vector3::x() * (0.5 * rate * time * time);
        (state.pose.translation.vector - exact).norm()
    };
    let scale = 8.0 * G * slope.sin() * 0.5 * rate * SECONDS * SECONDS;
    Ok((world, Box::new(off), scale))
}

fn pin(bodies: [BodyId; 2], at: Point3<f64>) -> NewJoint {
    NewJoint {
        kind: JointKind::Point,
        bodies,
        anchors: [at; 2],
        axis: Vector3::z(),
        limits: None,
        motor: None,
        break_force: f64::INFINITY,
        break_torque: f64::INFINITY,
        collides: false,
    }
}

fn pendulum(settings: Settings) -> Outcome<(World, Drift, f64)> {
    let mut world = World::new(settings);
    let nail = add(&mut world, Shape::empty(), Body::Static, Isometry3::identity());
    let half = Vector3::new(0.5, 0.01, 0.01);
    let level = Isometry3::translation(0.5, 0.0, 0.0);
    let rod = add(&mut world, Shape::empty(), cuboid(1.0, half)?, level);
    world.add_joint(pin([rod, nail], Point3::origin()))?;
    // about its end: m g l / 2 over (m l^2 / 3 + m t^2 / 3) with l = 1 and t = 0.01
    let rate = 0.5 * G / ((0.25 + 1e-4) / 3.0 + 0.25);
    let off = move |world: &World, time: f64| {
        let Some(state) = world.get(rod) else { return f64::NAN };
        let angle = swing(rate, time);
        let exact = Vector3::new(angle.sin(), -angle.cos(), 0.0) * 0.5;
        (state.pose.translation.vector - exact).norm()
    };
    Ok((world, Box::new(off), 0.5 * G))
}

/// The angle of a pendulum that starts level, by Runge-Kutta in steps of 0.2 ms.
fn swing(rate: f64, time: f64) -> f64 {
    let steps = (time / 2e-4).ceil();
    let h = time / steps;
    let (mut x, mut v) = (0.5 * std::f64::consts::PI, 0.0);
    for _ in 0..steps as usize {
        let slope = |x: f64, v: f64| (v, -rate * x.sin());
        let a = slope(x, v);
        let b = slope(x + 0.5 * h * a.0, v + 0.5 * h * a.1);
        let c = slope(x + 0.5 * h * b.0, v + 0.5 * h * b.1);
        let d = slope(x + h * c.0, v + h * c.1);
        x += h / 6.0 * (a.0 + 2.0 * b.0 + 2.0 * c.0 + d.0);
        v += h / 6.0 * (a.1 + 2.0 * b.1 + 2.0 * c.1 + d.1);
    }
    x
}

fn chain(settings: Settings) -> Outcome<(World, Drift, f64)> {
    let mut world = World::new(settings);
    let mut last = add(&mut world, Shape::empty(), Body::Static, Isometry3::identity());
    let half = Vector3::new(0.1, 0.02, 0.02);
    for i in 0..8 {
        let end = 0.2 * f64::from(i);
        let at = Isometry3::translation(end + 0.1, 0.0, 0.0);
        let link = add(&mut world, Shape::empty(), cuboid(1.0, half)?, at);
        world.add_joint(pin([link, last], Point3::new(end, 0.0, 0.0)))?;
        last = link;
    }
    let at = Isometry3::translation(1.7, 0.0, 0.0);
    let weight = add(&mut world, Shape::empty(), cuboid(4.0, Vector3::repeat(0.1))?, at);
    world.add_joint(pin([weight, last], Point3::new(1.6, 0.0, 0.0)))?;
    let apart = |world: &World, _: f64| world.joints().map(|j| j.error[0]).fold(0.0, f64::max);
    Ok((world, Box::new(apart), 12.0 * G * 1.7))
}

const HEAD: &str = "\
# Comparison of the solvers

`cargo xtask figures solvers` writes this page from two seconds of each scene. *Energy* is the change of
kinetic and potential energy since the start, relative to the energy that the scene can lose; positive
values are errors. *Drift* is an error in position: of the boxes (stack), from the solution of Coulomb's
law (incline), from the equation of a pendulum (pendulum), the penetration of the lowest body into the
ground (pile), and the separation of links (chain). *ms a second* is the processor time, on all threads,
for one second of the scene. The default and the reference solver clamp impulses and bound the energy;
the others follow their papers, without the clamp. Combinations that take minutes, and joints with
solvers that do not support them, were not run.

";

fn table(runs: &[Run]) -> Outcome<String> {
    let mut text = String::from(HEAD);
    for scene in SCENES {
        writeln!(text, "![{scene}](solvers-{scene}.svg)")?;
    }
    text.push_str(
        "\n| scene | solver | Hz | energy, most | energy, end | drift, most, mm | ms a second |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for run in runs {
        let most = run.energy.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let end = run.energy.last().copied().unwrap_or(f64::NAN);
        let drift = 1e3 * run.drift.iter().copied().fold(0.0, f64::max);
        writeln!(
            text,
            "| {} | {} | {} | {most:+.1e} | {end:+.4} | {drift:.2} | {:.1} |",
            run.scene, run.solver, run.rate, run.time
        )?;
    }
    Ok(text)
}

fn draw(file: &std::path::Path, scene: &str, runs: &[&Run]) -> Outcome<()> {
    let root = SVGBackend::new(file, (1200, 640)).into_drawing_area();
    root.fill(&WHITE)?;
    let areas = root.split_evenly((2, RATES.len()));
    for (column, rate) in RATES.into_iter().enumerate() {
        let own: Vec<&&Run> = runs.iter().filter(|run| run.rate == rate).collect();
        let energy: Vec<_> = own.iter().map(|run| (run.solver, &run.energy[..])).collect();
        let drift: Vec<_> = own.iter().map(|run| (run.solver, &run.drift[..])).collect();
        panel(&areas[column], &format!("{scene}, {rate} Hz: energy"), rate, &energy)?;
        panel(&areas[RATES.len() + column], "drift, m", rate, &drift)?;
    }
    root.present()?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    title: &str,
    rate: f64,
    lines: &[(&str, &[f64])],
) -> Outcome<()> {
    let all = || lines.iter().flat_map(|(_, values)| values.iter()).filter(|x| x.is_finite());
    let (low, high) =
        (all().fold(0.0_f64, |m, x| m.min(*x)), all().fold(1e-6_f64, |m, x| m.max(*x)));
    let room = 0.05 * (high - low);
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .caption(title, ("sans-serif", 15))
        .x_label_area_size(24)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..SECONDS, low - room..high + room)?;
    chart.configure_mesh().x_desc("s").x_labels(5).y_labels(5).draw()?;
    for (i, (name, values)) in lines.iter().enumerate() {
        let style = Palette99::pick(i).stroke_width(2);
        let points = values.iter().enumerate().map(|(n, v)| ((n + 1) as f64 / rate, *v));
        chart
            .draw_series(LineSeries::new(points, style))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .background_style(WHITE.mix(0.8))
        .draw()?;
    Ok(())
}
