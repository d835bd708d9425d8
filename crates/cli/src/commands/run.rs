//! `brisance run`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::{Value, json};
use sim::scene::Scene;
use sim::{Phase, Recorder, Recording};

use crate::args::RunArguments;
use crate::commands::load::{build, read_scene};
use crate::commands::{Failure, check_folder, check_output, ends_in};
use crate::format::Format;
use crate::ledger::{Ledger, Row};
use crate::output::write_whole;
use crate::progress::Progress;

/// What a run did.
struct Summary {
    recording: Recording,
    ledger: Ledger,
    /// Times that a body held together because there was no room for its pieces.
    over_budget: usize,
    /// Bodies that were stopped because their state was not finite.
    stopped: usize,
    /// Time spent, s.
    seconds: Seconds,
}

#[derive(Default)]
struct Seconds {
    /// Reading meshes and making level sets.
    build: f64,
    /// In steps.
    simulate: f64,
    /// In each part of all steps.
    phases: BTreeMap<Phase, f64>,
    /// Writing the output.
    write: f64,
}

/// Simulates a scene and writes the recording.
pub(super) fn run(arguments: &RunArguments, interrupted: &AtomicBool) -> Result<(), Failure> {
    let format = check_outputs(arguments)?;
    let mut scene = read_scene(&arguments.scene)?;
    if let Some(frames) = arguments.frames {
        scene.simulation.frames = frames as usize;
    }
    if let Some(seed) = arguments.seed {
        scene.simulation.seed = seed;
    }
    // --frames may ask for more than fits
    scene.validate().map_err(|source| Failure::Arguments { source })?;
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = arguments.threads {
        pool = pool.num_threads(threads.into());
    }
    let pool = pool.build().map_err(|source| Failure::Threads { source })?;
    let mut summary = pool.install(|| {
        let progress = Progress::new(scene.simulation.frames, arguments.quiet);
        simulate(&arguments.scene, &scene, &progress, interrupted)
    })?;
    let start = Instant::now();
    summary.write(format, arguments)?;
    summary.seconds.write = start.elapsed().as_secs_f64();
    // nobody may be listening
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let _ = writeln!(out, "{}", summary.to_json(&arguments.output));
    } else if !arguments.quiet {
        let _ = summary.print(arguments, &mut out);
    }
    Ok(())
}

/// Refuses outputs that cannot succeed, before any work is done for them.
fn check_outputs(arguments: &RunArguments) -> Result<Format, Failure> {
    let output = &arguments.output;
    let format = check_output(output)?;
    for path in arguments.ledger.iter().chain(&arguments.events) {
        if !ends_in(path, "csv") {
            return Err(Failure::Format { path: path.clone(), known: ".csv" });
        }
        check_folder(path)?;
    }
    Ok(format)
}

fn simulate(
    path: &Path,
    scene: &Scene,
    progress: &Progress,
    interrupted: &AtomicBool,
) -> Result<Summary, Failure> {
    let start = Instant::now();
    let (mut world, appearances) = build(path, scene)?;
    let mut recorder = Recorder::new(&world, &appearances);
    let mut seconds = Seconds { build: start.elapsed().as_secs_f64(), ..Seconds::default() };
    let mut ledger = Ledger::new(&world);
    let (mut stopped, mut over_budget) = (0, 0);
    for frame in 1..=scene.simulation.frames {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted { frame: frame - 1 });
        }
        let start = Instant::now();
        let mut since = start;
        let report = world.step_with(&mut |phase| {
            let now = Instant::now();
            *seconds.phases.entry(phase).or_default() += (now - since).as_secs_f64();
            since = now;
        });
        seconds.simulate += start.elapsed().as_secs_f64();
        recorder.record(&world, &report);
        ledger.add(&world, &report);
        stopped += report.frozen.len();
        over_budget += report.over_budget.len();
        progress.frame(frame, report.bodies);
    }
    Ok(Summary { recording: recorder.finish(), ledger, over_budget, stopped, seconds })
}

impl Summary {
    fn write(&self, format: Format, arguments: &RunArguments) -> Result<(), Failure> {
        let output = &arguments.output;
        format
            .write(&self.recording, output)
            .map_err(|source| Failure::Write { path: output.clone(), source })?;
        let failed = |path: &Path, e: std::io::Error| Failure::Write {
            path: path.to_owned(),
            source: e.into(),
        };
        if let Some(path) = &arguments.ledger {
            write_whole(path, |out| self.ledger.write_csv(out)).map_err(|e| failed(path, e))?;
        }
        if let Some(path) = &arguments.events {
            write_whole(path, |out| self.ledger.write_events(out)).map_err(|e| failed(path, e))?;
        }
        Ok(())
    }

    fn fragments(&self) -> usize {
        self.recording.tracks.iter().filter(|t| t.parent.is_some()).count()
    }

    fn frames_per_second(&self) -> f64 {
        (self.recording.frames - 1) as f64 / self.seconds.simulate.max(f64::MIN_POSITIVE)
    }

    fn energy_gain(&self) -> f64 {
        self.ledger.rows().iter().map(|row| row.energy_gain).fold(0.0, f64::max)
    }

    /// The first and the last row.
    fn ends(&self) -> [&Row; 2] {
        let rows = self.ledger.rows();
        [&rows[0], &rows[rows.len() - 1]]
    }

    fn to_json(&self, output: &Path) -> Value {
        let [first, last] = self.ends();
        json!({
            "output": output.display().to_string(),
            "frames": self.recording.frames,
            "bodies": last.bodies,
            "fragments": self.fragments(),
            "mass_before": first.mass,
            "mass_after": last.mass,
            "mass_retired": last.retired_mass,
            "over_budget": self.over_budget,
            "energy_gain": self.energy_gain(),
            "stopped": self.stopped,
            "frames_per_second": self.frames_per_second(),
            "seconds": {
                "build": self.seconds.build,
                "simulate": self.seconds.simulate,
                "write": self.seconds.write,
            },
        })
    }

    fn print(&self, arguments: &RunArguments, out: &mut impl Write) -> std::io::Result<()> {
        let [first, last] = self.ends();
        let (frames, bodies) = (self.recording.frames, last.bodies);
        writeln!(out, "{}: {frames} frames, {bodies} bodies", arguments.output.display())?;
        let rate = self.frames_per_second();
        writeln!(out, "{} fragments, {rate:.1} frames per second", self.fragments())?;
        writeln!(out, "mass {:.6} kg before, {:.6} kg after", first.mass, last.mass)?;
        if last.retired_mass > 0.0 {
            writeln!(out, "retired {:.6} kg of pieces at rest", last.retired_mass)?;
        }
        if self.over_budget > 0 {
            writeln!(
                out,
                "{} times a body held, for it would have passed the limits of [debris]",
                self.over_budget
            )?;
        }
        let gain = self.energy_gain();
        writeln!(out, "largest energy gain in a frame, gravity apart: {gain:.3e} J")?;
        if self.stopped > 0 {
            writeln!(out, "stopped {} bodies whose motion was not finite", self.stopped)?;
        }
        if arguments.timings {
            let Seconds { build, simulate, write, phases } = &self.seconds;
            writeln!(out, "build {build:.3} s, simulate {simulate:.3} s, write {write:.3} s")?;
            for (phase, seconds) in phases {
                writeln!(out, "  {} {seconds:.3} s", format!("{phase:?}").to_lowercase())?;
            }
        }
        Ok(())
    }
}
