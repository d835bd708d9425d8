//! `brisance run` and `brisance replay`.

mod summary;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sim::scene::Scene;
use sim::{Appearance, BodyId, Camera, Event, Recorder, Report, Surroundings, World};
use visit::{SavedRun, Session};

use self::summary::{RunCost, Summary};
use crate::args::{ReplayArguments, RunArguments, RunOptions};
use crate::checkpoint::Checkpoint;
use crate::commands::Failure;
use crate::commands::dust::check_dust;
use crate::commands::impacts::Impacts;
use crate::commands::inputs::{ends_in, read, read_text};
use crate::commands::load::{
    Loaded, build, load, parse_scene, print_notes, print_warnings, read_scene,
};
use crate::commands::outputs::{
    check_distinct, check_folder, check_output, check_physics, note_no_effect, write_physics,
};
use crate::commands::warnings::{PairWarning, pair_warnings, print_pair_warnings};
use crate::contacts::Contacts;
use crate::events::Events;
use crate::format::Format;
use crate::ledger::Ledger;
use crate::output::{is_same_file, write_whole};
use crate::progress::{Progress, phase};
use crate::spool::Spool;

/// The inputs and outputs of a run.
struct RunRequest<'a> {
    scene: &'a Path,
    options: &'a RunOptions,
    /// Checkpoint path.
    checkpoint: PathBuf,
    events: Option<&'a Path>,
    /// An event file to replay.
    recorded: Option<&'a Path>,
}

/// Maximum number of poses in the recorder before they are moved to the spool file: 4 MB.
const MAX_POSES_IN_MEMORY: usize = 1 << 16;

/// The state of a run.
struct Run {
    world: World,
    /// Actions of a playground visitor.
    session: Session,
    recorder: Recorder,
    /// Poses moved out of the recorder.
    spool: Spool,
    ledger: Ledger,
    contacts: Option<Contacts>,
    /// Surroundings of the world before the first frame.
    surroundings: Surroundings,
    events: Vec<Event>,
    /// Fingerprint of the world before the first frame; only if events are read or written, since
    /// it requires all cells of the patterns.
    fingerprint: Option<u64>,
    over_budget: usize,
    /// Events of the scene without an effect, by index.
    idle_events: Vec<usize>,
    stopped: usize,
    solver_limited: usize,
    warnings: Vec<PairWarning>,
    /// Hardest impacts on the bodies.
    impacts: Impacts,
    /// Appearances of the bodies of the scene.
    appearances: Vec<Appearance>,
    cost: RunCost,
}

/// Simulates a scene and writes the recording.
pub(super) fn run(arguments: &RunArguments, interrupted: &AtomicBool) -> Result<(), Failure> {
    let job = RunRequest {
        scene: &arguments.scene,
        options: &arguments.options,
        checkpoint: checkpoint(&arguments.options),
        events: arguments.events.as_deref(),
        recorded: None,
    };
    job.execute(interrupted)
}

/// Reproduces the fractures of an event file.
pub(super) fn replay(arguments: &ReplayArguments, interrupted: &AtomicBool) -> Result<(), Failure> {
    let job = RunRequest {
        scene: &arguments.scene,
        options: &arguments.options,
        checkpoint: checkpoint(&arguments.options),
        events: None,
        recorded: Some(&arguments.events),
    };
    job.execute(interrupted)
}

/// Checkpoint path: next to the output by default.
fn checkpoint(options: &RunOptions) -> PathBuf {
    let beside = || {
        let mut name = options.output.as_os_str().to_owned();
        // the path of a folder ends in separators, which the name of the checkpoint must not
        // contain
        while name.to_string_lossy().ends_with(std::path::is_separator) {
            let text = name.to_string_lossy();
            name = text[..text.len() - 1].into();
        }
        name.push(".checkpoint");
        PathBuf::from(name)
    };
    options.checkpoint.clone().unwrap_or_else(beside)
}

impl RunRequest<'_> {
    fn execute(&self, interrupted: &AtomicBool) -> Result<(), Failure> {
        let format = self.check_outputs()?;
        let recorded = self.recorded.map(read_events).transpose()?;
        let seed = self.options.seed.or(recorded.as_ref().map(|recorded| recorded.seed));
        let saved = self.saved()?;
        let loaded = self.load(saved.as_ref(), seed)?;
        if !self.options.quiet {
            print_notes(&loaded.scene);
            self.note_ignored(&loaded.scene);
        }
        for output in self.outputs() {
            check_distinct(output, loaded.files.iter().map(PathBuf::as_path).chain(self.recorded))?;
        }
        let mut run = self.thread_pool()?.install(|| {
            let mut run = self.start(&loaded, recorded, interrupted)?;
            run.session =
                saved.as_ref().map(|saved| Session::of(&saved.events)).unwrap_or_default();
            self.simulate(&mut run, &loaded, interrupted)?;
            Ok::<_, Failure>(run)
        })?;
        if let Some(saved) = &saved {
            self.compare_end(saved, &run.world);
        }
        let start = Instant::now();
        self.write_events(&run, &loaded)?;
        self.write_contacts(run.contacts.take())?;
        if !self.options.quiet {
            warn_of_crumbs(&run.world);
        }
        if let Some(path) = &self.options.physics {
            write_physics(&run.world.physics_scene(&run.recorder), path)?;
        }
        let events = self.events.filter(|path| ends_in(path, "csv"));
        let mut cost = std::mem::take(&mut run.cost);
        let hardest = run.impacts.of(&loaded.scene, &run.appearances);
        let Run {
            recorder,
            spool,
            ledger,
            surroundings,
            over_budget,
            idle_events,
            stopped,
            solver_limited,
            warnings,
            ..
        } = run;
        let scene = &loaded.scene;
        let idle_events = idle_events.into_iter().filter_map(|n| scene.idle_event_warning(n));
        let recording = recorder.finish();
        let mesh_warnings = loaded.mesh_warnings();
        let summary = Summary {
            recording,
            spool,
            ledger,
            over_budget,
            idle_events: idle_events.collect(),
            stopped,
            solver_limited,
            warnings,
            mesh_warnings,
            hardest,
        };
        phase("writing the recording", self.options.quiet, || {
            summary.write(format, self.options, events)?;
            let seed = loaded.scene.simulation.seed;
            summary.write_dust(self.options, &surroundings, seed)?;
            summary.write_crumbs(self.options, &surroundings, seed)
        })?;
        cost.write = start.elapsed().as_secs_f64();
        summary.write_stdout(self.options, &cost)
    }

    fn thread_pool(&self) -> Result<rayon::ThreadPool, Failure> {
        let mut pool = rayon::ThreadPoolBuilder::new();
        if let Some(threads) = self.options.threads {
            pool = pool.num_threads(threads.into());
        }
        pool.build().map_err(|source| Failure::Threads { source })
    }

    /// Prints notes of options without effect.
    fn note_ignored(&self, scene: &Scene) {
        let RunOptions { anchor_loads, crumbs, timings, json, .. } = self.options;
        if crumbs.is_some() && scene.debris.crumbs.is_none() {
            note_no_effect("--crumbs", "the scene has no `crumbs` in [debris]");
        }
        if anchor_loads.is_some() && scene.bodies.iter().all(|body| body.anchors.is_empty()) {
            note_no_effect("--anchor-loads", "no body of the scene has an anchor");
        }
        if *timings && *json {
            note_no_effect("--timings", "--json has the times as `seconds`, and no counts");
        }
    }

    /// All output paths.
    fn outputs(&self) -> impl Iterator<Item = &Path> {
        let RunOptions { output, ledger, anchor_loads, contacts, dust, crumbs, physics, .. } =
            self.options;
        let tables = [ledger, anchor_loads, contacts, &dust.path, crumbs, physics];
        let tables = tables.map(Option::as_deref);
        let others = tables.into_iter().chain([self.events]).flatten();
        [output.as_path(), &self.checkpoint].into_iter().chain(others)
    }

    /// Rejects outputs that cannot succeed, before any work.
    fn check_outputs(&self) -> Result<Format, Failure> {
        let format = check_output(&self.options.output, self.options.rig)?;
        for path in [&self.options.ledger, &self.options.anchor_loads].into_iter().flatten() {
            if !ends_in(path, "csv") {
                return Err(Failure::Format { path: path.clone(), known: ".csv" });
            }
            check_folder(path)?;
        }
        if let Some(path) = &self.options.contacts {
            if !ends_in(path, "jsonl") {
                return Err(Failure::Format { path: path.clone(), known: ".jsonl" });
            }
            check_folder(path)?;
        }
        for path in [&self.options.dust.path, &self.options.crumbs].into_iter().flatten() {
            check_dust(path)?;
        }
        if let Some(path) = &self.options.physics {
            check_physics(path)?;
        }
        if let Some(path) = self.events {
            if !ends_in(path, "csv") && !ends_in(path, "jsonl") {
                return Err(Failure::Format { path: path.to_owned(), known: ".jsonl or .csv" });
            }
            check_folder(path)?;
        }
        check_folder(&self.checkpoint)?;
        let outputs: Vec<&Path> = self.outputs().collect();
        for (n, path) in outputs.iter().enumerate() {
            if outputs[..n].iter().any(|other| is_same_file(path, other)) {
                return Err(Failure::SameOutput { path: (*path).to_owned() });
            }
        }
        Ok(format)
    }

    /// The scene with the overriding options applied, or the scene of a playground run.
    fn load(&self, saved: Option<&SavedRun>, seed: Option<u64>) -> Result<Loaded, Failure> {
        if let Some(saved) = saved {
            return self.load_saved(saved);
        }
        let mut scene = read_scene(self.scene, self.options.allow_outside)?;
        let RunOptions { fps, frames, .. } = *self.options;
        // options may exceed the limits of a scene
        let replaced = scene.scene.replace(fps, frames.map(|frames| frames as usize), seed);
        replaced.map_err(|source| Failure::Arguments { source })?;
        let mut loaded = load(self.scene, scene)?;
        if let Some(recorded) = self.recorded {
            // a checkpoint of a replay is valid only for the same scene and the same events
            loaded.digest ^= crc32fast::hash(&read(recorded)?);
        }
        Ok(loaded)
    }

    /// The saved playground run in the scene file; `None` if the file is a scene.
    fn saved(&self) -> Result<Option<SavedRun>, Failure> {
        if self.recorded.is_some() || !ends_in(self.scene, "json") {
            return Ok(None);
        }
        let path = || self.scene.to_owned();
        let saved: SavedRun = serde_json::from_str(&read_text(self.scene)?)
            .map_err(|source| Failure::NotSaved { path: path(), source })?;
        saved.check().map_err(|source| Failure::Saved { path: path(), source })?;
        let RunOptions { fps, seed, resume, checkpoint_every, .. } = self.options;
        // a checkpoint does not contain the bodies that the visitor carries, and an event file does
        // not contain those that the visitor throws
        let given = [
            ("--fps", fps.is_some()),
            ("--seed", seed.is_some()),
            ("--resume", resume.is_some()),
            ("--checkpoint-every", checkpoint_every.is_some()),
            ("--events FILE.jsonl", self.events.is_some_and(|path| ends_in(path, "jsonl"))),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Failure::SavedOption { path: path(), option }),
            None => Ok(Some(saved)),
        }
    }

    /// The scene and number of frames of a playground run; file names are relative to the run file.
    fn load_saved(&self, saved: &SavedRun) -> Result<Loaded, Failure> {
        let failed =
            |source| Failure::Setup { path: self.scene.to_owned(), source: Box::new(source) };
        let parse = || parse_scene(self.scene, &saved.setup.scene, self.options.allow_outside);
        let mut file = parse()?;
        file.scene = saved.setup.changed_but_model().map_err(failed)?;
        if saved.setup.model.is_some() {
            let bodies = file.scene.bodies.clone();
            let (world, appearances) = build(self.scene, &load(self.scene, file)?, true)?;
            let volumes = visit::volumes(&bodies, &world, &appearances);
            file = parse()?;
            file.scene = saved.setup.changed(&volumes).map_err(failed)?;
        }
        let frames = self.options.frames.map_or(saved.frames, |frames| frames as usize);
        let replaced = file.scene.replace(None, Some(frames), None);
        replaced.map_err(|source| Failure::Arguments { source })?;
        load(self.scene, file)
    }

    /// Warns if the final state of a playground run differs from the state in the playground.
    fn compare_end(&self, saved: &SavedRun, world: &World) {
        let is_end = world.frame() == saved.frames;
        if is_end && !saved.ends_as(world) && !self.options.quiet {
            let (path, frames) = (self.scene.display(), saved.frames);
            print_warnings(&[format!(
                "{path}: the state at frame {frames} differs from the playground: the page and this program have different versions"
            )]);
        }
    }

    /// The initial state of the run, or the state of the checkpoint to resume.
    fn start(
        &self,
        loaded: &Loaded,
        recorded: Option<Events>,
        interrupted: &AtomicBool,
    ) -> Result<Run, Failure> {
        let start = Instant::now();
        let (mut world, appearances) = build(self.scene, loaded, self.options.quiet)?;
        let warnings = pair_warnings(&loaded.scene, &world);
        if !self.options.quiet {
            print_pair_warnings(&warnings);
            print_warnings(&loaded.scene_warnings(&world));
        }
        let camera = Camera::of(&loaded.scene, &appearances);
        let recorder = Recorder::new(&world, &appearances).with_camera(camera);
        let is_asked = self.recorded.is_some() || self.replay_file().is_some();
        let fingerprint = is_asked.then(|| world.fingerprint());
        if let (Some(recorded), Some(path)) = (recorded, self.recorded) {
            let last = recorded.events.iter().map(|event| event.frame).max().unwrap_or(0);
            if fingerprint != Some(recorded.fingerprint) {
                return Err(Failure::OtherScene { path: path.to_owned() });
            }
            if last > loaded.scene.simulation.frames {
                return Err(Failure::TooFewFrames { path: path.to_owned(), frame: last });
            }
            world.replay(recorded.events);
        }
        let ledger = Ledger::new(&world);
        let surroundings = Surroundings::of(&world);
        let contacts = self.contacts(&mut world, loaded)?;
        let mut run = Run {
            world,
            session: Session::default(),
            recorder,
            spool: Spool::beside(&self.options.output).map_err(|e| self.spool_failed(e))?,
            ledger,
            contacts,
            surroundings,
            events: Vec::new(),
            fingerprint,
            over_budget: 0,
            idle_events: Vec::new(),
            stopped: 0,
            solver_limited: 0,
            warnings,
            impacts: Impacts::default(),
            appearances,
            cost: RunCost::default(),
        };
        if let Some(path) = &self.options.resume {
            run.resume(path, loaded, interrupted)?;
        }
        run.cost.build = start.elapsed().as_secs_f64();
        Ok(run)
    }

    fn simulate(
        &self,
        run: &mut Run,
        loaded: &Loaded,
        interrupted: &AtomicBool,
    ) -> Result<(), Failure> {
        let frames = loaded.scene.simulation.frames;
        let progress = Progress::new(frames, self.options.quiet);
        let every = self.options.checkpoint_every.map(|every| every as usize);
        for frame in run.world.frame() + 1..=frames {
            if interrupted.load(Ordering::Relaxed) {
                return Err(self.interrupt(run, loaded));
            }
            let before = run.names_of_contacts();
            let report = run.step();
            run.note_contacts(&report, before).map_err(|e| self.spool_failed(e))?;
            if self.options.anchor_loads.is_some() {
                run.note_anchor_loads(&report);
            }
            if let (Some(mismatch), Some(path)) = (report.events.mismatches.first(), self.recorded)
            {
                return Err(Failure::ReplayMismatch { path: path.to_owned(), source: *mismatch });
            }
            if run.recorder.pose_count() > MAX_POSES_IN_MEMORY {
                run.spool.add(&run.recorder.take_poses()).map_err(|e| self.spool_failed(e))?;
            }
            progress.frame(frame, report.counters.bodies);
            if every.is_some_and(|every| frame % every == 0) {
                self.save(run, loaded)?;
            }
        }
        Ok(())
    }

    /// Ends a run between two frames with a checkpoint. A run with actions of a visitor has none.
    fn interrupt(&self, run: &Run, loaded: &Loaded) -> Failure {
        let frame = run.world.frame();
        if run.session.has_begun() {
            return Failure::StoppedSession { frame };
        }
        match self.save(run, loaded) {
            Ok(()) => Failure::Stopped { frame, checkpoint: self.checkpoint.clone() },
            Err(failure) => failure,
        }
    }

    fn save(&self, run: &Run, loaded: &Loaded) -> Result<(), Failure> {
        let path = &self.checkpoint;
        let checkpoint = Checkpoint {
            inputs: loaded.digest,
            frame: run.world.frame(),
            events: run.events.clone(),
            world: run.world.saved(),
            recording: run
                .recorder
                .saved(|track| run.spool.trajectory(track))
                .map_err(|e| self.spool_failed(e))?,
            ledger: run.ledger.clone(),
            over_budget: run.over_budget,
            idle_events: run.idle_events.clone(),
            stopped: run.stopped,
            solver_limited: run.solver_limited,
            impacts: run.impacts.state(),
        };
        let failed = |e: std::io::Error| Failure::Write { path: path.clone(), source: e.into() };
        checkpoint.write(path).map_err(failed)
    }

    /// Opens the contact file, if requested, and enables contact events.
    fn contacts(&self, world: &mut World, loaded: &Loaded) -> Result<Option<Contacts>, Failure> {
        let Some(path) = &self.options.contacts else { return Ok(None) };
        world.set_contact_events(true);
        let contacts = Contacts::beside(path, loaded.scene.simulation.fps);
        let failed = |e: std::io::Error| Failure::Write { path: path.clone(), source: e.into() };
        contacts.map(Some).map_err(failed)
    }

    /// Writes the contact file, if requested.
    fn write_contacts(&self, contacts: Option<Contacts>) -> Result<(), Failure> {
        let Some((contacts, path)) = contacts.zip(self.options.contacts.as_ref()) else {
            return Ok(());
        };
        let failed = |e: std::io::Error| Failure::Write { path: path.clone(), source: e.into() };
        contacts.write(path).map_err(failed)
    }

    /// The error for a failure of the spool file, which is next to the output.
    fn spool_failed(&self, source: std::io::Error) -> Failure {
        Failure::Write { path: self.options.output.clone(), source: source.into() }
    }

    /// Path of the event file for `brisance replay`.
    fn replay_file(&self) -> Option<&Path> {
        self.events.filter(|path| ends_in(path, "jsonl"))
    }

    fn write_events(&self, run: &Run, loaded: &Loaded) -> Result<(), Failure> {
        let Some((path, fingerprint)) = self.replay_file().zip(run.fingerprint) else {
            return Ok(());
        };
        let events =
            Events { seed: loaded.scene.simulation.seed, fingerprint, events: run.events.clone() };
        write_whole(path, |out| events.write(out))
            .map_err(|e| Failure::Write { path: path.to_owned(), source: e.into() })
    }
}

/// Warns if the limit of crumbs was reached.
fn warn_of_crumbs(world: &World) {
    let Some(crumbs) = world.settings().debris.crumbs else { return };
    let count = world.crumb_count();
    if count > 0 && count >= crumbs.max_count {
        print_warnings(&[format!(
            "there are {count} crumbs, the limit `debris.crumbs.max_count`: give a larger one, larger \
             `sizes` or a smaller `energy_share`"
        )]);
    }
}

fn read_events(path: &Path) -> Result<Events, Failure> {
    let failed = |source| Failure::Events { path: path.to_owned(), source };
    Events::read(&read_text(path)?).map_err(failed)
}

impl Run {
    /// Simulates a frame.
    fn step(&mut self) -> Report {
        let start = Instant::now();
        let added = self.session.before_frame(&mut self.world);
        self.recorder.record_added(&self.world, &added);
        let mut since = start;
        let report = self.world.step_with(&mut |phase| {
            let now = Instant::now();
            *self.cost.phases.entry(phase).or_default() += (now - since).as_secs_f64();
            since = now;
        });
        self.cost.simulate += start.elapsed().as_secs_f64();
        self.cost.add(&report);
        self.recorder.record(&self.world, &report);
        self.ledger.add(&self.world, &report);
        self.events.extend(report.events.replayable.iter().cloned());
        self.impacts.add(&report);
        self.stopped += report.events.frozen.len();
        self.solver_limited += usize::from(report.events.solver_limited);
        self.over_budget += report.events.over_budget.len();
        self.idle_events.extend(&report.events.idle_actions);
        self.session.after_frame(&mut self.world, &report);
        report
    }

    /// Names of the bodies at the start of a frame, since bodies that break are gone afterwards;
    /// empty without `--contacts`.
    fn names_of_contacts(&self) -> BTreeMap<BodyId, String> {
        if self.contacts.is_none() {
            return BTreeMap::new();
        }
        let names = self.world.iter().filter_map(|state| {
            let track = self.recorder.track(state.id)?;
            Some((state.id, track.name.clone()))
        });
        names.collect()
    }

    fn note_contacts(
        &mut self,
        report: &Report,
        mut names: BTreeMap<BodyId, String>,
    ) -> std::io::Result<()> {
        let Self { contacts, recorder, world, .. } = self;
        let Some(contacts) = contacts else { return Ok(()) };
        // pieces that broke in the frame in which they appeared have no track
        for fracture in &report.events.fractures {
            let Some(parent) = names.get(&fracture.parent).cloned() else { continue };
            let pieces = fracture.fragments.iter().enumerate();
            names.extend(pieces.map(|(n, piece)| (*piece, format!("{parent}.{n}"))));
        }
        let name = |body: BodyId| {
            let track = || recorder.track(body).map(|track| track.name.clone());
            names.get(&body).cloned().or_else(track)
        };
        contacts.add(report, world.frame(), name)
    }

    fn note_anchor_loads(&mut self, report: &Report) {
        let Self { ledger, world, recorder, .. } = self;
        let name = |body| recorder.track(body).map(|track| track.name.clone());
        ledger.add_anchor_loads(world, report, name);
    }

    /// Resumes from a checkpoint: replays its fractures, then restores the state. An interruption
    /// leaves the checkpoint file valid.
    fn resume(
        &mut self,
        path: &Path,
        loaded: &Loaded,
        interrupted: &AtomicBool,
    ) -> Result<(), Failure> {
        let failed = |source| Failure::Checkpoint { path: path.to_owned(), source };
        let checkpoint = Checkpoint::read(&read(path)?).map_err(failed)?;
        let other = || Failure::OtherScene { path: path.to_owned() };
        if checkpoint.inputs != loaded.digest {
            return Err(other());
        }
        if checkpoint.frame > loaded.scene.simulation.frames {
            let frame = checkpoint.frame;
            return Err(Failure::TooFewFrames { path: path.to_owned(), frame });
        }
        let mut events = &checkpoint.events[..];
        for frame in 1..=checkpoint.frame {
            if interrupted.load(Ordering::Relaxed) {
                let frame = checkpoint.frame;
                return Err(Failure::Stopped { frame, checkpoint: path.to_owned() });
            }
            let (now, later) = events.split_at(events.partition_point(|e| e.frame <= frame));
            events = later;
            let report = self.world.replay_frame(now).map_err(|_| other())?;
            self.recorder.record(&self.world, &report);
        }
        self.world.restore(&checkpoint.world).map_err(|_| other())?;
        self.recorder.restore(&self.world, &checkpoint.recording).map_err(|_| other())?;
        self.ledger = checkpoint.ledger;
        self.events = checkpoint.events;
        (self.over_budget, self.stopped) = (checkpoint.over_budget, checkpoint.stopped);
        self.solver_limited = checkpoint.solver_limited;
        self.idle_events = checkpoint.idle_events;
        self.impacts = Impacts::restore(checkpoint.impacts);
        Ok(())
    }
}
