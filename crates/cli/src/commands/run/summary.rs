//! Summary of a run, as text and as JSON.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use nalgebra::Isometry3;
use serde_json::{Value, json};
use sim::{Dust, DustAmount, MeshWarning, Phase, Recording, Report, Surroundings};

use crate::args::{DustOptions, RunOptions};
use crate::commands::Failure;
use crate::commands::dust::{write_crumbs, write_dust};
use crate::commands::impacts::{HardestImpact, unbroken_message};
use crate::commands::outputs::print;
use crate::commands::warnings::{PairWarning, mesh_warning_json};
use crate::format::Format;
use crate::ledger::{Ledger, Row};
use crate::output::write_whole;
use crate::spool::{Spool, SpooledRecording};
use crate::wording::{count, number};

/// Results of a run.
pub(super) struct Summary {
    pub(super) recording: Recording,
    /// Poses moved out of the recording.
    pub(super) spool: Spool,
    pub(super) ledger: Ledger,
    /// Number of fractures that the limits of `[debris]` prevented.
    pub(super) over_budget: usize,
    /// Events of the scene without an effect, one sentence each.
    pub(super) idle_events: Vec<String>,
    /// Number of bodies that were stopped because their state was not finite.
    pub(super) stopped: usize,
    /// Number of frames in which the quadratic program reached its iteration limit.
    pub(super) solver_limited: usize,
    pub(super) warnings: Vec<PairWarning>,
    pub(super) mesh_warnings: Vec<MeshWarning>,
    /// The hardest impacts on breakable bodies.
    pub(super) hardest: Vec<HardestImpact>,
}

/// Cost of a run: times in s, and counts of collision detection and solver.
#[derive(Default)]
pub(super) struct RunCost {
    /// Time to read meshes and to build level sets.
    pub(super) build: f64,
    /// Time of all steps.
    pub(super) simulate: f64,
    /// Number of simulated frames, which may be fewer than the recording's.
    pub(super) frames: usize,
    /// Time of each phase, summed over all steps.
    pub(super) phases: BTreeMap<Phase, f64>,
    /// Time to write the output.
    pub(super) write: f64,
    counters: CounterTotals,
}

/// Totals over all frames.
#[derive(Default)]
struct CounterTotals {
    awake: usize,
    pairs: usize,
    reused: usize,
    again: usize,
    points: usize,
    contacts: usize,
    sweeps: usize,
    unsolved: usize,
    pairs_at_collision_limit: usize,
    /// Number of frames that reached the limit of contact searches.
    frames_at_search_limit: usize,
    linearized: usize,
    /// Maximum over frames, m/s.
    residual: f64,
    /// Maximum over frames.
    colors: u32,
    /// Maximum over frames.
    levels: u32,
}

impl Summary {
    /// Writes the recording, the requested tables and, to `events_csv`, the events.
    pub(super) fn write(
        &self,
        format: Format,
        options: &RunOptions,
        events_csv: Option<&Path>,
    ) -> Result<(), Failure> {
        let output = &options.output;
        format
            .write_spooled(self.spooled(), output)
            .map_err(|source| Failure::Write { path: output.clone(), source })?;
        let failed = |path: &Path, e: std::io::Error| Failure::Write {
            path: path.to_owned(),
            source: e.into(),
        };
        if let Some(path) = &options.ledger {
            write_whole(path, |out| self.ledger.write_csv(out)).map_err(|e| failed(path, e))?;
        }
        if let Some(path) = &options.anchor_loads {
            write_whole(path, |out| self.ledger.write_anchor_loads(out))
                .map_err(|e| failed(path, e))?;
        }
        if let Some(path) = events_csv {
            write_whole(path, |out| self.ledger.write_events(out)).map_err(|e| failed(path, e))?;
        }
        Ok(())
    }

    /// Writes the dust of the recording, if requested.
    pub(super) fn write_dust(
        &self,
        options: &RunOptions,
        surroundings: &Surroundings,
        seed: u64,
    ) -> Result<(), Failure> {
        let DustOptions { path: Some(path), per_joule } = &options.dust else { return Ok(()) };
        let failed = |e: std::io::Error| Failure::Write { path: path.clone(), source: e.into() };
        let pose = |track: usize, frame: usize| self.pose(track, frame);
        let amount = DustAmount { per_joule: *per_joule, seed };
        let dust = Dust::new(&self.recording, surroundings, amount, pose);
        write_dust(&dust.map_err(failed)?, path, options.quiet)
    }

    /// Writes the crumbs of the recording, if requested.
    pub(super) fn write_crumbs(
        &self,
        options: &RunOptions,
        surroundings: &Surroundings,
        seed: u64,
    ) -> Result<(), Failure> {
        let Some(path) = &options.crumbs else { return Ok(()) };
        let failed = |e: std::io::Error| Failure::Write { path: path.clone(), source: e.into() };
        let pose = |track: usize, frame: usize| self.pose(track, frame);
        let crumbs = Dust::of_crumbs(&self.recording, surroundings, seed, pose);
        write_crumbs(crumbs.map_err(failed)?, path, options.quiet)
    }

    fn spooled(&self) -> SpooledRecording<'_> {
        SpooledRecording { recording: &self.recording, spool: Some(&self.spool) }
    }

    /// The recorded pose of a track in a frame.
    fn pose(&self, track: usize, frame: usize) -> std::io::Result<Option<Isometry3<f64>>> {
        Ok(self.spooled().poses(track, frame..frame + 1)?.poses.pop())
    }

    /// Prints the requested summaries.
    pub(super) fn write_stdout(&self, options: &RunOptions, cost: &RunCost) -> Result<(), Failure> {
        print(|out| {
            if options.json {
                writeln!(out, "{}", self.to_json(&options.output, cost))
            } else if options.quiet {
                Ok(())
            } else {
                self.print(options, cost, out)
            }
        })
    }

    fn fragments(&self) -> usize {
        self.recording.fragments().len()
    }

    /// Number of joints that were removed.
    fn broken_joints(&self) -> usize {
        self.ledger.rows().iter().map(|row| row.broken_joints).sum()
    }

    /// The largest gain of mechanical energy in a frame, J, including the work of kinematic bodies, motors and forces.
    fn energy_gain(&self) -> f64 {
        self.ledger.rows().iter().map(|row| row.energy_gain).fold(0.0, f64::max)
    }

    /// The largest gain of mechanical energy in a frame, J, that no external work explains.
    fn numerical_energy_gain(&self) -> f64 {
        let gains = self.ledger.rows().iter().map(|row| row.dissipation.unexplained_gain());
        gains.fold(0.0, f64::max)
    }

    /// The first and the last row.
    fn ends(&self) -> [&Row; 2] {
        let rows = self.ledger.rows();
        [&rows[0], &rows[rows.len() - 1]]
    }

    fn to_json(&self, output: &Path, cost: &RunCost) -> Value {
        let [first, last] = self.ends();
        json!({
            "output": output.display().to_string(),
            "frames": self.recording.frames,
            "bodies": last.bodies,
            "fragments": self.fragments(),
            "mass_before": first.mass,
            "mass_after": last.mass,
            "mass_retired": last.retired_mass,
            "crumbs": self.recording.crumbs.len(),
            "broken_joints": self.broken_joints(),
            "over_budget": self.over_budget,
            "idle_events": self.idle_events,
            "energy_gain": self.energy_gain(),
            "numerical_energy_gain": self.numerical_energy_gain(),
            "stopped": self.stopped,
            "solver_limited": self.solver_limited,
            "contact_residual": self.ledger.rows().iter().map(|row| row.residual).fold(0.0, f64::max),
            "warnings": self.warnings.iter().map(PairWarning::to_json).collect::<Vec<_>>(),
            "mesh_warnings": self.mesh_warnings.iter().map(mesh_warning_json).collect::<Vec<_>>(),
            "hardest": self.hardest.iter().map(HardestImpact::to_json).collect::<Vec<_>>(),
            "frames_per_second": cost.frames_per_second(),
            "seconds": {
                "build": cost.build,
                "simulate": cost.simulate,
                "write": cost.write,
            },
        })
    }

    fn print(
        &self,
        options: &RunOptions,
        cost: &RunCost,
        out: &mut impl Write,
    ) -> std::io::Result<()> {
        let [first, last] = self.ends();
        let frames = count(self.recording.frames, "frame", "frames");
        let bodies = count(last.bodies, "body", "bodies");
        writeln!(out, "{}: {frames}, {bodies}", options.output.display())?;
        let fragments = count(self.fragments(), "fragment", "fragments");
        writeln!(out, "{fragments}, {} frames per second", number(cost.frames_per_second()))?;
        writeln!(out, "mass {} kg before, {} kg after", number(first.mass), number(last.mass))?;
        if last.retired_mass > 0.0 {
            let retired = number(last.retired_mass);
            match self.recording.crumbs.len() {
                0 => writeln!(out, "retired {retired} kg of pieces")?,
                crumbs => {
                    let crumbs = count(crumbs, "crumb", "crumbs");
                    writeln!(out, "{crumbs}; crumbs and retired pieces have {retired} kg")?;
                }
            }
        }
        if self.broken_joints() > 0 {
            writeln!(out, "{} broke", count(self.broken_joints(), "joint", "joints"))?;
        }
        if self.over_budget > 0 {
            let fractures = count(self.over_budget, "fracture", "fractures");
            writeln!(out, "{fractures} prevented by the limits of [debris]")?;
        }
        for sentence in &self.idle_events {
            writeln!(out, "{sentence}")?;
        }
        let gain = number(self.numerical_energy_gain());
        writeln!(out, "largest energy gain in a frame, without external work: {gain} J")?;
        if self.stopped > 0 {
            let bodies = count(self.stopped, "body", "bodies");
            writeln!(out, "stopped {bodies} whose motion was not finite")?;
        }
        if self.solver_limited > 0 {
            let frames = count(self.solver_limited, "frame", "frames");
            writeln!(
                out,
                "quadratic_program reached its iteration limit in {frames}, and sweeps replaced it: use \
                 another solver"
            )?;
        }
        if !self.hardest.is_empty() {
            writeln!(out, "hardest impacts:")?;
        }
        for hardest in &self.hardest {
            writeln!(out, "  {}", hardest.line())?;
        }
        if let Some(message) = unbroken_message(&self.hardest, self.fragments() > 0) {
            writeln!(out, "{message}")?;
        }
        if options.timings { cost.print(out) } else { Ok(()) }
    }
}

impl RunCost {
    fn frames_per_second(&self) -> f64 {
        self.frames as f64 / self.simulate.max(f64::MIN_POSITIVE)
    }

    /// Counts a frame.
    pub(super) fn add(&mut self, report: &Report) {
        self.frames += 1;
        let totals = &mut self.counters;
        totals.awake += report.counters.awake;
        totals.pairs += report.counters.pairs;
        totals.reused += report.counters.pairs_reused;
        totals.again += report.counters.pairs_repeated;
        totals.points += report.counters.points;
        totals.contacts += report.counters.contacts;
        totals.sweeps += report.counters.sweeps;
        totals.unsolved += report.counters.unsolved_islands;
        totals.pairs_at_collision_limit += report.counters.limited_collisions;
        totals.frames_at_search_limit += usize::from(report.counters.at_search_limit);
        totals.linearized += report.events.linearized.len();
        totals.residual = totals.residual.max(report.counters.residual);
        totals.colors = totals.colors.max(report.counters.colors);
        totals.levels = totals.levels.max(report.counters.levels);
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Self { build, simulate, write, phases, .. } = self;
        let [build, simulate, write] = [*build, *simulate, *write].map(number);
        writeln!(out, "build {build} s, simulate {simulate} s, write {write} s")?;
        for (phase, seconds) in phases {
            writeln!(out, "  {} {} s", format!("{phase:?}").to_lowercase(), number(*seconds))?;
        }
        let totals = &self.counters;
        let mean = |count: usize| count as f64 / self.frames.max(1) as f64;
        writeln!(out, "mean per frame:")?;
        for (what, count) in [
            ("bodies awake", totals.awake),
            ("pairs with overlapping boxes", totals.pairs),
            ("pairs reused from earlier searches", totals.reused),
            ("pairs searched again after collisions", totals.again),
            ("points tested", totals.points),
            ("contacts", totals.contacts),
            ("sweeps over contacts or levels", totals.sweeps),
        ] {
            writeln!(out, "  {} {what}", number(mean(count)))?;
        }
        let colors = count(totals.colors as usize, "color", "colors");
        let levels = count(totals.levels as usize, "level", "levels");
        writeln!(out, "at most {colors} and {levels}")?;
        let residual = number(totals.residual);
        writeln!(out, "largest residual of the contacts in a frame: {residual} m/s")?;
        let islands = count(totals.unsolved, "island", "islands");
        writeln!(out, "{islands} solved by sweeps instead of the exact solver")?;
        let pairs = count(totals.pairs_at_collision_limit, "pair", "pairs");
        writeln!(out, "{pairs} at the limit of collisions per frame")?;
        let frames = count(totals.frames_at_search_limit, "frame", "frames");
        writeln!(
            out,
            "{frames} at the limit of contact searches, with plastic collisions beyond it"
        )?;
        let impacts = count(totals.linearized, "impact", "impacts");
        writeln!(out, "{impacts} without a finite-strain equilibrium, solved with small strains")
    }
}
