//! `brisance run`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use levelset::TriMesh;
use sim::scene::{Body, Scene, Shape};
use sim::{BuildError, Recorder, Recording, build};

use crate::args::RunArguments;
use crate::commands::{Failure, check_folder, read_text};
use crate::format::Format;
use crate::mesh_file::read_mesh;
use crate::output::folder_of;
use crate::progress::Progress;

/// What a run did.
struct Summary {
    recording: Recording,
    /// Bodies at the end.
    bodies: usize,
    /// Dynamic mass, kg, at the start and at the end.
    mass: [f64; 2],
    /// The most that kinetic plus potential energy grew in one frame, J.
    energy_gain: f64,
    /// Bodies that were stopped because their state was not finite.
    frozen: usize,
    /// Time spent in steps.
    stepping: Duration,
}

/// Simulates a scene and writes the recording.
pub(super) fn run(arguments: &RunArguments, interrupted: &AtomicBool) -> Result<(), Failure> {
    let format = Format::of(&arguments.output).ok_or_else(|| Failure::Format {
        path: arguments.output.clone(),
        known: Format::ENDINGS,
    })?;
    check_folder(&arguments.output)?;
    let scene = read_scene(arguments)?;
    let meshes = read_meshes(&arguments.scene, &scene)?;
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = arguments.threads {
        pool = pool.num_threads(threads.into());
    }
    let pool = pool.build().map_err(|source| Failure::Threads { source })?;
    let summary = pool.install(|| {
        let progress = Progress::new(scene.simulation.frames, arguments.quiet);
        simulate(&scene, &meshes, &progress, interrupted)
            .map_err(|stop| stop.explain(&arguments.scene, &scene))
    })?;
    format
        .write(&summary.recording, &arguments.output)
        .map_err(|source| Failure::Write { path: arguments.output.clone(), source })?;
    if !arguments.quiet {
        // nobody may be listening
        let _ = summary.print(&arguments.output, &mut std::io::stdout().lock());
    }
    Ok(())
}

fn read_scene(arguments: &RunArguments) -> Result<Scene, Failure> {
    let path = &arguments.scene;
    let mut scene = Scene::from_toml(&read_text(path)?)
        .map_err(|source| Failure::Scene { path: path.clone(), source })?;
    if let Some(frames) = arguments.frames {
        scene.simulation.frames = frames as usize;
    }
    if let Some(seed) = arguments.seed {
        scene.simulation.seed = seed;
    }
    Ok(scene)
}

/// The meshes that `scene` names, by the names it gives them; they are relative to its folder.
fn read_meshes(scene_path: &Path, scene: &Scene) -> Result<BTreeMap<String, TriMesh>, Failure> {
    let mut meshes = BTreeMap::new();
    for file in scene.mesh_files() {
        if !meshes.contains_key(file) {
            let path = folder_of(scene_path).join(file);
            let mesh = read_mesh(&path).map_err(|source| Failure::Mesh {
                path,
                scene: scene_path.to_owned(),
                source,
            })?;
            meshes.insert(file.to_owned(), mesh);
        }
    }
    Ok(meshes)
}

/// Why a simulation gave no summary.
enum Stop {
    Build(BuildError),
    Interrupted { frame: usize },
}

impl Stop {
    fn explain(self, scene_path: &Path, scene: &Scene) -> Failure {
        match self {
            Self::Interrupted { frame } => Failure::Interrupted { frame },
            Self::Build(source) => {
                let at_fault = |b: &&Body| source.part == format!("body {:?}", b.name);
                let mesh = match scene.bodies.iter().find(at_fault).map(|b| &b.shape) {
                    Some(Shape::Mesh(mesh)) => format!(" (mesh file {})", mesh.file),
                    _ => String::new(),
                };
                Failure::Build { path: scene_path.to_owned(), mesh, source }
            }
        }
    }
}

impl Summary {
    fn print(&self, path: &Path, out: &mut impl Write) -> std::io::Result<()> {
        let tracks = &self.recording.tracks;
        let fragments = tracks.iter().filter(|t| t.parent.is_some()).count();
        let frames = self.recording.frames;
        let rate = (frames - 1) as f64 / self.stepping.as_secs_f64();
        writeln!(out, "{}: {frames} frames, {} bodies", path.display(), self.bodies)?;
        writeln!(out, "{fragments} fragments, {rate:.1} frames per second")?;
        let [before, after] = self.mass;
        writeln!(out, "mass {before:.6} kg before, {after:.6} kg after")?;
        let gain = self.energy_gain.max(0.0);
        writeln!(out, "largest energy gain in a frame, gravity apart: {gain:.3e} J")?;
        if self.frozen > 0 {
            writeln!(out, "stopped {} bodies whose motion was not finite", self.frozen)?;
        }
        Ok(())
    }
}

fn simulate(
    scene: &Scene,
    meshes: &BTreeMap<String, TriMesh>,
    progress: &Progress,
    interrupted: &AtomicBool,
) -> Result<Summary, Stop> {
    let (mut world, appearances) = build(scene, meshes).map_err(Stop::Build)?;
    let mut recorder = Recorder::new(&world, |body| {
        let shown = appearances.iter().find(|a| a.body == body);
        shown.map_or_else(Default::default, |a| (a.name.clone(), a.colour))
    });
    let mass = world.mass();
    let mut energy_gain = f64::NEG_INFINITY;
    let mut frozen = 0;
    let mut stepping = Duration::ZERO;
    for frame in 1..=scene.simulation.frames {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Stop::Interrupted { frame: frame - 1 });
        }
        let start = Instant::now();
        let report = world.step();
        stepping += start.elapsed();
        recorder.record(&world, &report);
        energy_gain = energy_gain.max(report.energy_gain);
        frozen += report.frozen.len();
        progress.frame(frame, report.bodies);
    }
    Ok(Summary {
        recording: recorder.finish(),
        bodies: world.len(),
        mass: [mass, world.mass()],
        energy_gain,
        frozen,
        stepping,
    })
}
