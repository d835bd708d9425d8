//! `brisance compare`.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use sim::scene::Scene;
use sim::{Camera, Event, Recorder, Recording};

use crate::args::CompareArguments;
use crate::commands::Failure;
use crate::commands::load::{Loaded, build, load, print_notes, read_scene};
use crate::commands::outputs::{check_folder, print};
use crate::comparison::{
    BuiltScene, Fineness, Measured, Model, ModelResult, Outcome, PowerLaw, Report, Run,
    convergence, measure, page, sizes, with_model,
};
use crate::format::Format;
use crate::output::write_whole_folder;
use crate::progress::phase;
use crate::render::{Images, Subject, View, render};
use crate::wording::{count, number};

/// Times of images after the first event, s.
const IMAGE_TIMES: [f64; 2] = [0.07, 0.3];

/// A finished run with its recording.
struct FinishedRun {
    run: Run,
    recording: Recording,
    first_impact: Option<Event>,
    first_event_frame: Option<usize>,
}

/// The request with the loaded scene.
struct ComparisonJob<'a> {
    arguments: &'a CompareArguments,
    loaded: Loaded,
    original: Scene,
    /// Volumes of the bodies of the scene, m^3.
    volumes: Vec<f64>,
    /// Crack energies of the bodies of the world, J/m^2.
    crack_energies: Vec<Option<f64>>,
}

/// Runs a scene with several models, and writes a comparison.
pub(super) fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    let CompareArguments { models, output, .. } = arguments;
    check(arguments)?;
    let mut job = ComparisonJob::new(arguments)?;
    let base = job.original.simulation.fps;
    let mut done = Vec::new();
    for &model in models {
        done.push(job.run(model, 1.0, base)?);
    }
    let mut resolutions = Vec::new();
    for (&factor, &model) in pairs(&arguments.resolutions, models, |a, b| b.total_cmp(a)) {
        resolutions.push(job.run(model, factor, base)?.run);
    }
    let mut time_steps = Vec::new();
    for (&factor, &model) in pairs(&arguments.rates, models, f64::total_cmp) {
        time_steps.push(job.run(model, 1.0, base * factor)?.run);
    }
    let same_first_impact =
        done.windows(2).all(|pair| same_first_impact(&pair[0].first_impact, &pair[1].first_impact));
    let report = Report {
        version: 1,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        scene: arguments.scene.display().to_string(),
        seed: job.original.simulation.seed,
        same_first_impact,
        models: done.iter().map(model_result).collect(),
        resolutions,
        time_steps,
    };
    let write = |folder: &Path| write_report(folder, &report, &done, arguments);
    phase("writing the report", arguments.quiet, || write_whole_folder(output, write))
        .map_err(|source| Failure::Write { path: output.clone(), source })?;
    print_report(&report, arguments)
}

fn check(arguments: &CompareArguments) -> Result<(), Failure> {
    let CompareArguments { models, output, .. } = arguments;
    let repeated = (1..models.len()).find(|&n| models[..n].contains(&models[n]));
    if let Some(n) = repeated {
        return Err(Failure::Repeated { model: models[n] });
    }
    if output.is_file() {
        return Err(Failure::NotFolder { path: output.clone() });
    }
    if output.exists() {
        return Err(Failure::Exists { path: output.clone() });
    }
    check_folder(output)
}

/// All pairs of a factor and a model, sorted by factor without duplicates.
fn pairs<'a>(
    factors: &'a [f64],
    models: &'a [Model],
    order: fn(&f64, &f64) -> std::cmp::Ordering,
) -> Vec<(&'a f64, &'a Model)> {
    let mut sorted: Vec<&f64> = factors.iter().collect();
    sorted.sort_by(|a, b| order(a, b));
    sorted.dedup();
    let with_models = |factor| models.iter().map(move |model| (factor, model));
    sorted.into_iter().flat_map(with_models).collect()
}

/// Whether two impacts are identical; the resulting pieces may differ.
fn same_first_impact(a: &Option<Event>, b: &Option<Event>) -> bool {
    let key = |event: &Event| {
        let Event { frame, body, point, normal, impulse, pose, momentum, .. } = event;
        (*frame, *body, [*point, *normal, *impulse], *pose, *momentum)
    };
    a.as_ref().map(key) == b.as_ref().map(key)
}

fn model_result(done: &FinishedRun) -> ModelResult {
    let name = done.run.model.name();
    ModelResult {
        power_law: PowerLaw::fit(&done.run.measured.volumes),
        run: done.run.clone(),
        recording: format!("{name}.glb"),
        pictures: (0..=IMAGE_TIMES.len()).map(|n| format!("{name}_{n}.png")).collect(),
    }
}

impl<'a> ComparisonJob<'a> {
    fn new(arguments: &'a CompareArguments) -> Result<Self, Failure> {
        let path = &arguments.scene;
        let mut file = read_scene(path, arguments.allow_outside)?;
        let frames = arguments.frames.map(|frames| frames as usize);
        file.scene
            .replace(None, frames, arguments.seed)
            .map_err(|source| Failure::Arguments { source })?;
        if file.scene.bodies.iter().all(|body| body.fracture.is_none()) {
            return Err(Failure::NothingBreaks { path: path.clone() });
        }
        let loaded = load(path, file)?;
        if !arguments.quiet {
            print_notes(&loaded.scene);
        }
        let (world, appearances) = build(path, &loaded, arguments.quiet)?;
        let (mut volumes, mut crack_energies) = (Vec::new(), Vec::new());
        let mut first = 0;
        for spec in &loaded.scene.bodies {
            let body = appearances.get(first).and_then(|own| world.get(own.body));
            let solid = body.and_then(|body| body.solid);
            volumes.push(solid.map_or(0.0, |solid| solid.geometry.moments().volume));
            let copies = spec.copies.map_or(1, |copies| copies.total());
            let energy = spec.solid().map(|solid| solid.fracture_energy());
            crack_energies.extend(std::iter::repeat_n(energy, copies));
            first += copies;
        }
        Ok(Self { arguments, original: loaded.scene.clone(), loaded, volumes, crack_energies })
    }

    /// Runs the scene with a model.
    fn run(&mut self, model: Model, factor: f64, fps: f64) -> Result<FinishedRun, Failure> {
        let CompareArguments { scene: path, pieces, tets, quiet, .. } = self.arguments;
        let fineness = Fineness { pieces: *pieces as usize, tets: *tets as usize, factor };
        let mut scene = with_model(&self.original, model, &self.volumes, &fineness);
        let fits = scene.replace((fps != self.original.simulation.fps).then_some(fps), None, None);
        fits.map_err(|source| Failure::Compared { model, source })?;
        self.loaded.scene = scene;
        let start = Instant::now();
        let (world, appearances) = build(path, &self.loaded, *quiet)?;
        let camera = Camera::of(&self.loaded.scene, &appearances);
        let recorder = Recorder::new(&world, &appearances).with_camera(camera);
        let crack_energies = &self.crack_energies;
        let seconds_build = start.elapsed().as_secs_f64();
        let subject = BuiltScene { world, appearances, recorder, crack_energies, seconds_build };
        let frames = self.loaded.scene.simulation.frames;
        let name = match model {
            Model::Prescored => "simulating with the model prescored",
            Model::Lattice => "simulating with the model lattice",
            Model::Stress => "simulating with the model stress",
        };
        let Outcome { measured, recording, first_impact, first_event_frame } =
            phase(name, *quiet, || measure(subject, frames));
        let run = Run { model, spacing_factor: factor, time_step: 1.0 / fps, measured };
        Ok(FinishedRun { run, recording, first_impact, first_event_frame })
    }
}

/// Writes the folder of a report.
fn write_report(
    folder: &Path,
    report: &Report,
    done: &[FinishedRun],
    arguments: &CompareArguments,
) -> Result<(), crate::format::WriteError> {
    let file = |name: &str| std::fs::File::create(folder.join(name)).map(std::io::BufWriter::new);
    let mut plots = vec![("Sizes of pieces", "sizes.svg")];
    std::fs::write(folder.join("sizes.svg"), sizes(&report.models))?;
    if !report.resolutions.is_empty() {
        let across = "spacing relative to the runs above";
        let svg = convergence(&report.resolutions, across, |run| run.spacing_factor);
        std::fs::write(folder.join("resolutions.svg"), svg)?;
        plots.push(("Convergence with resolution", "resolutions.svg"));
    }
    if !report.time_steps.is_empty() {
        let svg = convergence(&report.time_steps, "time step, s", |run| run.time_step);
        std::fs::write(folder.join("time_steps.svg"), svg)?;
        plots.push(("Convergence with the time step", "time_steps.svg"));
    }
    let [width, height] = arguments.size;
    // all models share the camera of the first recording, so that images are comparable
    let view = View::fitted(&done[0].recording, width as f64 / height as f64);
    for (done, result) in done.iter().zip(&report.models) {
        let images = Images::of(&done.recording).map_err(std::io::Error::other)?;
        Format::Glb.write(&done.recording, &folder.join(&result.recording))?;
        for (time, name) in picture_times(done).into_iter().zip(&result.pictures) {
            let view = view.at(&done.recording, time);
            let subject = Subject { recording: &done.recording, images: &images, dust: None };
            render(subject, &view, time, arguments.size).write_png(file(name)?)?;
        }
    }
    std::fs::write(folder.join("index.html"), page(report, &plots))?;
    let mut out = file("report.json")?;
    serde_json::to_writer_pretty(&mut out, report).map_err(std::io::Error::from)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Times of images, in frames.
fn picture_times(done: &FinishedRun) -> [f64; IMAGE_TIMES.len() + 1] {
    let last = (done.recording.frames - 1) as f64;
    let first = done.first_event_frame.unwrap_or(0) as f64;
    let after = |time: f64| (first + (time * done.recording.fps).round()).min(last);
    [after(IMAGE_TIMES[0]), after(IMAGE_TIMES[1]), last]
}

/// Prints a note for each model without pieces at the end.
fn note_models_without_pieces(report: &Report) {
    for Run { model, measured, .. } in report.models.iter().map(|result| &result.run) {
        if measured.pieces > 0 {
            continue;
        }
        let why = match measured.breaks {
            0 => "no impact divided a body",
            _ => "no piece is left at the end",
        };
        // stderr may be closed
        let _ = writeln!(
            std::io::stderr(),
            "note: the model {} made no pieces: {why} in {}. Give more --frames or harder impacts; \
             `brisance check` prints which impacts exceed the strength of each body",
            model.name(),
            count(measured.frames, "frame", "frames")
        );
    }
}

fn print_report(report: &Report, arguments: &CompareArguments) -> Result<(), Failure> {
    if !arguments.quiet {
        note_models_without_pieces(report);
    }
    print(|out| {
        if arguments.json {
            let json = serde_json::to_string(report).map_err(std::io::Error::from)?;
            return writeln!(out, "{json}");
        }
        if arguments.quiet {
            return Ok(());
        }
        writeln!(out, "{}", arguments.output.join("index.html").display())?;
        for result in &report.models {
            let Measured { pieces, crack_area, seconds_simulate, .. } = &result.run.measured;
            let pieces = count(*pieces, "piece", "pieces");
            let [area, seconds] = [*crack_area, *seconds_simulate].map(number);
            let name = result.run.model.name();
            writeln!(out, "{name}: {pieces}, {area} m^2 of cracks, {seconds} s")?;
        }
        if report.same_first_impact {
            return Ok(());
        }
        writeln!(out, "the first impact differs between the models: see index.html")
    })
}
