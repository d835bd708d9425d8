//! The Dzhanibekov flip at 30 frames per second, by every integrator here.
//!
//! A wing nut spinning about its middle axis turns over again and again. Prints how far each way
//! of integrating it drifts in energy and angular momentum over ten seconds, and draws both into
//! an SVG: `cargo run --release -p brisance-dynamics --example spin -- [FILE]`.
#![expect(clippy::print_stdout, reason = "an example that reports")]

use brisance_dynamics::nalgebra::{Isometry3, Vector3};
use brisance_dynamics::{
    Body, Integrator, Load, MassProperties, Momentum, State, advance, energy_fix, integrate,
    second_order_step,
};
use plotters::{coord::Shift, prelude::*};
use std::{error::Error, ops::Range};

const FRAME: f64 = 1.0 / 30.0;
const FRAMES: usize = 300;

/// One frame of motion.
type Step = Box<dyn Fn(&State) -> Result<State, Box<dyn Error>>>;

/// Energy and angular momentum after each frame, relative to the start.
struct Track {
    name: &'static str,
    energy: Vec<f64>,
    momentum: Vec<f64>,
    end: State,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mass = MassProperties::new(1.0, Vector3::new(0.029, 0.104, 0.125))?;
    let start = State {
        pose: Isometry3::identity(),
        momentum: Momentum {
            linear: Vector3::zeros(),
            angular: mass.angular_momentum(
                &nalgebra::UnitQuaternion::identity(),
                &Vector3::new(0.1, 12.0, 0.1),
            ),
        },
    };
    let tracks: Vec<Track> = ways(mass)
        .into_iter()
        .map(|(name, step)| follow(&mass, &start, name, &step))
        .collect::<Result<_, _>>()?;

    let exact = tracks[0].end.pose.rotation;
    println!("{:<34} {:>10} {:>10} {:>12}", "10 s at 30 Hz", "energy", "momentum", "orientation");
    for track in &tracks {
        let worst = |of: &[f64]| of.iter().fold(0.0_f64, |worst, x| worst.max((x - 1.0).abs()));
        let turn = track.end.pose.rotation.angle_to(&exact).to_degrees();
        let (energy, momentum) = (worst(&track.energy), worst(&track.momentum));
        println!("{:<34} {energy:>10.1e} {momentum:>10.1e} {turn:>8.2} deg", track.name);
    }
    let file = std::env::args().nth(1).unwrap_or_else(|| "spin.svg".into());
    draw(&file, &tracks)?;
    println!("drawn into {file}");
    Ok(())
}

/// Every way to move the body by a frame, the most accurate first.
fn ways(mass: MassProperties) -> Vec<(&'static str, Step)> {
    let by = move |integrator| -> Step {
        Box::new(move |s| Ok(integrate(&mass, s, FRAME, |_, _| Load::default(), integrator)?.state))
    };
    let second_order = move |fixed: bool| -> Step {
        Box::new(move |s| {
            let (rotation, momentum) = (&s.pose.rotation, &s.momentum.angular);
            let mut turned = second_order_step(&mass, rotation, momentum, FRAME);
            if fixed {
                let energy = mass.rotational_energy(rotation, momentum);
                turned = energy_fix(&mass, &turned, momentum, energy).0;
            }
            Ok(State { pose: Isometry3::from_parts(s.pose.translation, turned), ..*s })
        })
    };
    let ours: Step = Box::new(move |s| {
        let pose = advance(&Body::Dynamic(mass), &s.pose, &s.momentum, FRAME);
        Ok(State { pose, ..*s })
    });
    vec![
        ("Dormand-Prince to 1e-12", by(Integrator::DormandPrince { tolerance: 1e-12 })),
        ("Dormand-Prince to 1e-4", by(Integrator::DormandPrince { tolerance: 1e-4 })),
        ("semi-implicit Euler, 1 a frame", by(Integrator::SemiImplicitEuler { steps: 1 })),
        ("semi-implicit Euler, 100 a frame", by(Integrator::SemiImplicitEuler { steps: 100 })),
        ("second order", second_order(false)),
        ("second order, energy fix (Su09)", second_order(true)),
        ("advance", ours),
    ]
}

fn follow(
    mass: &MassProperties,
    start: &State,
    name: &'static str,
    step: &Step,
) -> Result<Track, Box<dyn Error>> {
    let energy = |s: &State| mass.kinetic_energy(&s.pose.rotation, &s.momentum);
    let mut track = Track { name, energy: vec![1.0], momentum: vec![1.0], end: *start };
    for _ in 0..FRAMES {
        track.end = step(&track.end)?;
        track.energy.push(energy(&track.end) / energy(start));
        let momentum = track.end.momentum.angular.norm() / start.momentum.angular.norm();
        track.momentum.push(momentum);
    }
    Ok(track)
}

fn draw(file: &str, tracks: &[Track]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(file, (900, 640)).into_drawing_area();
    root.fill(&WHITE)?;
    let (upper, lower) = root.split_vertically(440);
    let most = tracks.iter().flat_map(|t| &t.energy).fold(1.0_f64, |most, e| most.max(*e));
    let energy: Vec<_> = tracks.iter().map(|t| (t.name, t.energy.as_slice())).collect();
    panel(&upper, "kinetic energy / start", 0.0..1.05 * most, &energy)?;
    let momentum: Vec<_> = tracks.iter().map(|t| (t.name, t.momentum.as_slice())).collect();
    panel(&lower, "angular momentum / start", 0.9..1.1, &momentum)?;
    root.present()?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend, Shift>,
    title: &str,
    range: Range<f64>,
    lines: &[(&str, &[f64])],
) -> Result<(), Box<dyn Error>> {
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .caption(title, ("sans-serif", 16))
        .x_label_area_size(28)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..FRAMES as f64 * FRAME, range)?;
    chart.configure_mesh().x_desc("s").draw()?;
    for (i, (name, values)) in lines.iter().enumerate() {
        let style = Palette99::pick(i).stroke_width(2);
        let points = values.iter().enumerate().map(|(n, v)| (n as f64 * FRAME, *v));
        chart
            .draw_series(LineSeries::new(points, style))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).draw()?;
    Ok(())
}
