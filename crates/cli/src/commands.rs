//! What the program does.

mod blender;
mod bond;
mod compare;
mod fracture;
mod inspect;
pub mod load;
mod pattern;
mod play;
mod plot;
mod regions;
mod render;
mod run;
mod slice;
mod strains;
mod stress;
mod view;
pub mod volume;
mod warnings;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use std::sync::atomic::AtomicBool;

use clap::CommandFactory;
use levelset::MeshError;
use sim::scene::SceneError;
use sim::{BuildError, PhysicsScene};
use thiserror::Error;

use crate::args::{Arguments, Command};
use crate::format::glb::GlbReadError;
use crate::format::{DustFormat, Format, PhysicsFormat, WriteError};
use crate::mesh_file::MeshFileError;
use crate::output::is_same_file;

/// Why a command failed: one sentence that names the file and says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file cannot be read.
    #[error("{}: cannot be read ({source}): check the path", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A text file is not UTF-8.
    #[error("{}: is not UTF-8 text: save it as UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A scene names a file that is not beside it.
    #[error(
        "{}: is {OUTSIDE}: move it there, or give --allow-outside (named in {})",
        path.display(), scene.display()
    )]
    Outside {
        /// The file.
        path: PathBuf,
        /// The scene.
        scene: PathBuf,
    },
    /// A scene file cannot be used.
    #[error("{}: {source}", path.display())]
    Scene {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        source: SceneError,
    },
    /// Options make a scene that cannot be run.
    #[error("with these options {source}")]
    Arguments {
        /// What is wrong with it.
        source: sim::scene::InvalidValue,
    },
    /// The scene does not allow a model of fracture.
    #[error("with the model {} {source}", model.name())]
    Compared {
        /// The model.
        model: crate::comparison::Model,
        /// What it lacks.
        source: sim::scene::InvalidValue,
    },
    /// A model of fracture is asked for twice.
    #[error("--models names {} twice: give each model once", model.name())]
    Repeated {
        /// The model.
        model: crate::comparison::Model,
    },
    /// Nothing in a scene can break.
    #[error("{}: no body can break: give one the key `fracture`", path.display())]
    NothingBreaks {
        /// The scene.
        path: PathBuf,
    },
    /// A mesh file that a scene names cannot be used.
    #[error("{}: {source} (named in {})", path.display(), scene.display())]
    Mesh {
        /// The file.
        path: PathBuf,
        /// The scene.
        scene: PathBuf,
        /// What is wrong with it.
        source: MeshFileError,
    },
    /// A mesh file cannot be used.
    #[error("{}: {source}", path.display())]
    MeshInfo {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: MeshFileError,
    },
    /// A mesh has no facts.
    #[error("{}: {source}", path.display())]
    MeshFacts {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: MeshError,
    },
    /// A file is of no kind that anything is said of.
    #[error("{}: is of a kind that is not known: give {}", path.display(), inspect::KINDS)]
    UnknownKind {
        /// The file.
        path: PathBuf,
    },
    /// A file is neither a mesh nor a level set.
    #[error("{}: is of a kind that is not read: give an .obj, .stl, .ply, .glb, .lset, .vti or .vdb file", path.display())]
    NoSolid {
        /// The file.
        path: PathBuf,
    },
    /// A level set cannot be used.
    #[error("{}: {}", path.display(), plain(source))]
    Volume {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: crate::volume_file::VolumeFileError,
    },
    /// A grid or lattice cannot be made.
    #[error("{}: {source}", path.display())]
    Grid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: levelset::GridError,
    },
    /// No file has pieces in it.
    #[error(
        "{}: holds no pieces: give a mesh file whose objects they are, or a folder of mesh files",
        path.display()
    )]
    NoPieces {
        /// The file or folder.
        path: PathBuf,
    },
    /// A body would start in too many pieces.
    #[error("{}: holds more than {most} pieces: use fewer", path.display())]
    ManyPieces {
        /// The file or folder.
        path: PathBuf,
        /// How many there may be.
        most: usize,
    },
    /// There is no material of a name.
    #[error("there is no material `{name}`: give one of {known}")]
    UnknownMaterial {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// No sample of a solid is inside it.
    #[error("{}: nothing is inside at this fineness: use smaller cells or more nodes", path.display())]
    NothingInside {
        /// The file.
        path: PathBuf,
    },
    /// Numbers are not those of an elastic material.
    #[error(transparent)]
    Material {
        /// What is wrong with them.
        source: tetfem::MaterialError,
    },
    /// Tetrahedra are no elastic body.
    #[error("{}: {source}", path.display())]
    Elastic {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: tetfem::StructureError,
    },
    /// A file of loads cannot be used.
    #[error("{}: {source}", path.display())]
    Loads {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: crate::loads_file::LoadsError,
    },
    /// A support holds no vertex.
    #[error(
        "{}: {option} fixes no vertex: its vertices are from {} to {}",
        path.display(),
        crate::wording::place(&bounds.min),
        crate::wording::place(&bounds.max)
    )]
    FixesNothing {
        /// The file.
        path: PathBuf,
        /// The option that asks for the support.
        option: &'static str,
        /// Of all vertices.
        bounds: Box<levelset::Aabb>,
    },
    /// A body of tetrahedra has no equilibrium.
    #[error("{}: {source}", path.display())]
    Equilibrium {
        /// The file.
        path: PathBuf,
        /// Why.
        source: tetfem::EquilibriumError,
    },
    /// Tetrahedra lack parts of a mesh.
    #[error(
        "{}: its tetrahedra would {loss}: {}, or --lossy",
        path.display(),
        enough.map_or_else(
            || "give smaller cells, more tetrahedra or more --halvings".to_owned(),
            |enough| format!("give {enough}, which keeps all")
        )
    )]
    Lossy {
        /// The file.
        path: PathBuf,
        /// What is lost.
        loss: volume::Loss,
        /// How many tetrahedra would lack nothing, if a few tries told.
        enough: Option<volume::Fineness>,
    },
    /// A mesh bounds no solid.
    #[error("{}: {source}", path.display())]
    NotClosed {
        /// The file.
        path: PathBuf,
        /// Where it is open.
        source: ::fracture::NotClosed,
    },
    /// A scene makes no world.
    #[error("{}: {source}{mesh}", path.display())]
    Build {
        /// The scene.
        path: PathBuf,
        /// The mesh file at fault, in brackets, or nothing.
        mesh: String,
        /// What is wrong with it.
        source: BuildError,
    },
    /// Nothing can be started that runs Blender's Python.
    #[error(
        "Blender cannot be started: put `blender` on the PATH or give it with --blender, or install its module \
         (`pip install bpy`) and give that Python with --python"
    )]
    NoBlender,
    /// A pattern cannot be made.
    #[error("pattern {text}: {problem}")]
    Pattern {
        /// What was asked for.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A picture cannot be used.
    #[error("{}: {source}", path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: crate::picture_file::PictureError,
    },
    /// An SVG file cannot be used.
    #[error("{}: {source}", path.display())]
    Outline {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: crate::outline_file::OutlineFileError,
    },
    /// An image of a material cannot be drawn.
    #[error("{}: {source}", path.display())]
    Image {
        /// The recording.
        path: PathBuf,
        /// What is wrong with it.
        source: crate::render::ImageError,
    },
    /// A pattern file cannot be used.
    #[error("{}: {}: make it again with `brisance pattern new`", path.display(), plain(source))]
    PatternFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ::fracture::ReadPatternError,
    },
    /// A mesh cannot be broken.
    #[error("{}: {source}", path.display())]
    Fracture {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: sim::Cause,
    },
    /// The threads cannot be started.
    #[error("cannot start the threads ({source}): give --threads a smaller number")]
    Threads {
        /// What the system says.
        source: rayon::ThreadPoolBuildError,
    },
    /// A signal asked a run to end, which can be gone on with.
    #[error(
        "stopped after frame {frame}: run the same command with --resume {} to go on",
        checkpoint.display()
    )]
    Stopped {
        /// The last frame that was simulated.
        frame: usize,
        /// The checkpoint to go on with.
        checkpoint: PathBuf,
    },
    /// A checkpoint cannot be used.
    #[error("{}: {source}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: crate::checkpoint::CheckpointError,
    },
    /// Events cannot be used.
    #[error("{}: {source}", path.display())]
    Events {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: crate::events::EventsError,
    },
    /// A checkpoint or events are of another scene.
    #[error(
        "{}: is of another scene: give the scene, meshes and options that it was written with",
        path.display()
    )]
    OtherScene {
        /// The file.
        path: PathBuf,
    },
    /// A checkpoint or events tell of a later frame than the last.
    #[error("{}: tells of frame {frame}: give --frames {frame} or more", path.display())]
    TooFewFrames {
        /// The file.
        path: PathBuf,
        /// The frame.
        frame: usize,
    },
    /// An event cannot be brought about.
    #[error("{}: {source}", path.display())]
    Misfit {
        /// The file of the events.
        path: PathBuf,
        /// Which.
        source: sim::Misfit,
    },
    /// The extension of an output names no format.
    #[error("{}: is of no format that can be written: give it the ending {known}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The endings that can be written.
        known: &'static str,
    },
    /// A rig is asked for in a format that has none.
    #[error("{}: --rig makes a skinned mesh of a .glb file: end the output in .glb", path.display())]
    NoRig {
        /// The output.
        path: PathBuf,
    },
    /// Two outputs would be one file.
    #[error("{}: two outputs are this file: give each a name of its own", path.display())]
    SameOutput {
        /// The file.
        path: PathBuf,
    },
    /// An output would take the place of what is read.
    #[error("{}: is read by this command: give the output another name", path.display())]
    OverInput {
        /// The file.
        path: PathBuf,
    },
    /// A folder stands where the output is to go.
    #[error("{}: a folder of this name exists already: remove it or choose another name", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The folder of an output does not exist.
    #[error("{}: its folder does not exist: make it first", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder of an output takes no files.
    #[error("{}: its folder takes no new files: choose another", path.display())]
    ClosedFolder {
        /// The file.
        path: PathBuf,
    },
    /// A recording cannot be used.
    #[error("{}: {source}", path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: GlbReadError,
    },
    /// The recording has no such frame.
    #[error("{}: has no frame {frame}: its last one is {}", path.display(), frames - 1)]
    NoFrame {
        /// The file.
        path: PathBuf,
        /// The frame asked for.
        frame: usize,
        /// Frames there are.
        frames: usize,
    },
    /// A camera sees nothing.
    #[error("--from must not be at --at: move it away")]
    Camera,
    /// One picture is asked for of every so many frames.
    #[error(
        "{}: {option} is for animations and folders: give --sheet for several frames in one picture",
        path.display()
    )]
    OfAnimations {
        /// The picture.
        path: PathBuf,
        /// The option.
        option: &'static str,
    },
    /// Recordings side by side that are no picture.
    #[error("{}: --beside is for pictures: end the output in .png", path.display())]
    Beside {
        /// What was to be written.
        path: PathBuf,
    },
    /// A video is asked for without the program that makes it.
    #[error(
        "{}: a video needs `ffmpeg` on the PATH: install it, or make it elsewhere with `brisance render {} -o \
         frames/` and `ffmpeg -framerate 30 -i frames/frame_%05d.png -pix_fmt yuv420p {}`",
        path.display(), recording.display(), path.display()
    )]
    NoFfmpeg {
        /// The video.
        path: PathBuf,
        /// What it is to show.
        recording: PathBuf,
    },
    /// A contact sheet would take too much memory.
    #[error("{frames} frames of {}x{} pixels are too much: draw fewer or smaller ones", size[0], size[1])]
    TooManyPixels {
        /// Frames asked for.
        frames: usize,
        /// Width and height of each.
        size: [usize; 2],
    },
    /// A file is no ledger.
    #[error("{}: {source}", path.display())]
    Ledger {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: crate::plot::TableError,
    },
    /// The playground was not built.
    #[error(
        "{}: the playground is not there ({source}): build it with `cargo xtask web`, and give its folder \
         with --page",
        folder.display()
    )]
    NoPage {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A scene needs more than the playground reads.
    #[error("{}: {what}, which the playground does not read: use `brisance run` and `view`", path.display())]
    NotPlayable {
        /// The scene.
        path: PathBuf,
        /// What it does.
        what: &'static str,
    },
    /// The page of a recording cannot be served.
    #[error("cannot serve on port {port} of 127.0.0.1 ({source}): choose another --port, or none")]
    Serve {
        /// The port asked for.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
    /// Standard output takes nothing.
    #[error("standard output cannot be written ({source}): send it to where there is room")]
    Stdout {
        /// What the system says.
        source: io::Error,
    },
    /// An output cannot be written.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: WriteError,
    },
}

/// What went wrong, in words of its own where the library's say nothing to people.
fn plain(source: &dyn std::fmt::Display) -> String {
    // what the standard library says of a file that is cut off
    source.to_string().replace("failed to fill whole buffer", "it ends too early")
}

/// Where files are that a scene does not reach.
const OUTSIDE: &str = "outside the folder of the scene and `../assets`";

/// The JSON schema of scene files.
pub const SCHEMA: &str = include_str!("scene.schema.json");

impl Failure {
    /// What the program exits with: 2, or 130 when a signal ended it.
    pub fn exit_code(&self) -> u8 {
        if matches!(self, Self::Stopped { .. }) { 130 } else { 2 }
    }

    /// The message in one line: control characters that files or names brought into it are escaped.
    pub fn line(&self) -> String {
        let mut line = String::new();
        for c in self.to_string().chars() {
            if c.is_control() { line.extend(c.escape_debug()) } else { line.push(c) }
        }
        line
    }
}

/// Does what the command line says. A run ends early once `interrupted` is set.
///
/// # Errors
/// [`Failure`] when it cannot; outputs are then as they were before.
pub fn execute(command: &Command, interrupted: &AtomicBool) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments, interrupted),
        Command::Replay(arguments) => run::replay(arguments, interrupted),
        Command::Fracture(arguments) => fracture::fracture(arguments),
        Command::Bond(arguments) => bond::run(arguments),
        Command::Pattern(command) => pattern::pattern(command),
        Command::Render(arguments) => render::render(arguments),
        Command::View(arguments) => view::view(arguments),
        Command::Play(arguments) => play::play(arguments),
        Command::Blender(arguments) => blender::blender(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Plot(arguments) => plot::plot(arguments),
        Command::Slice(arguments) => slice::run(arguments),
        Command::Tetrahedralize(arguments) => volume::tetrahedralize(arguments),
        Command::Voxelize(arguments) => volume::voxelize(arguments),
        Command::Stress(arguments) => stress::run(arguments),
        Command::Check(arguments) => inspect::check(arguments),
        Command::Info(arguments) => inspect::info(arguments),
        Command::Schema { loads, comparison } => {
            let schema = match (loads, comparison) {
                (true, _) => crate::loads_file::LOADS_SCHEMA,
                (_, true) => crate::comparison::REPORT_SCHEMA,
                _ => SCHEMA,
            };
            print(|out| out.write_all(schema.as_bytes()))
        }
        Command::Completions { shell } => {
            let mut text = vec![];
            clap_complete::generate(*shell, &mut Arguments::command(), "brisance", &mut text);
            print(|out| out.write_all(&text))
        }
        Command::Man => print(|out| clap_mangen::Man::new(Arguments::command()).render(out)),
    }
}

fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

/// Warns on standard error of what is doubtful about a mesh that is sampled as `spec` says.
/// Tells what is doubtful about a mesh; how thick its walls are only if it is sampled.
fn warn_of_mesh(spec: &sim::scene::Mesh, mesh: &levelset::TriMesh, is_sampled: bool) {
    let warnings = sim::MeshWarning::of(spec, mesh).into_iter();
    for warning in warnings.filter(|w| is_sampled || !matches!(w, sim::MeshWarning::Thin { .. })) {
        // nobody to tell is no reason to stop
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
}

/// Writes to standard output. That nobody listens any more is no failure, that it is full is one.
fn print(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<(), Failure> {
    let mut text = vec![];
    let mut out = io::stdout().lock();
    let written = write(&mut text).and_then(|()| out.write_all(&text)).and_then(|()| out.flush());
    match written {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Stdout { source })
        }
        _ => Ok(()),
    }
}

/// A line about the materials of a mesh file, which the output has no place for.
fn write_no_materials(out: &mut impl Write, path: &Path) -> io::Result<()> {
    writeln!(out, "materials of {} are not carried over: write a .glb file", path.display())
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    crate::input::read_argument(path)
        .map_err(|source| Failure::Read { path: path.to_owned(), source })
}

fn read_text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(read(path)?).map_err(|_| Failure::NotText { path: path.to_owned() })
}

/// The format that a recording is to be written in; refuses what cannot succeed.
fn check_output(path: &Path, is_rigged: bool) -> Result<Format, Failure> {
    let format = Format::of(path)
        .ok_or_else(|| Failure::Format { path: path.to_owned(), known: Format::ENDINGS })?;
    let format = if is_rigged { format.rigged() } else { Some(format) };
    let format = format.ok_or_else(|| Failure::NoRig { path: path.to_owned() })?;
    check_folder(path)?;
    let folder = format.folder(path);
    if folder.as_deref().is_some_and(Path::exists) {
        return Err(Failure::Exists { path: folder.unwrap_or_default() });
    }
    Ok(format)
}

/// The format that a physics scene is to be written in; refuses what cannot succeed.
fn check_physics(path: &Path) -> Result<PhysicsFormat, Failure> {
    check_folder(path)?;
    let known = PhysicsFormat::ENDINGS;
    PhysicsFormat::of(path).ok_or_else(|| Failure::Format { path: path.to_owned(), known })
}

/// The format that dust is to be written in; refuses what cannot succeed.
fn check_dust(path: &Path) -> Result<DustFormat, Failure> {
    check_folder(path)?;
    let known = DustFormat::ENDINGS;
    let format =
        DustFormat::of(path).ok_or_else(|| Failure::Format { path: path.to_owned(), known })?;
    // a file in the place of the folder, which its name without the slash at its end finds
    if format == DustFormat::Frames && path.components().as_path().exists() {
        let source = std::io::Error::from(std::io::ErrorKind::NotADirectory);
        return Err(Failure::Write { path: path.to_owned(), source: source.into() });
    }
    Ok(format)
}

/// Writes a physics scene by the ending of `path`.
fn write_physics(scene: &PhysicsScene, path: &Path) -> Result<(), Failure> {
    let failed = |source| Failure::Write { path: path.to_owned(), source };
    check_physics(path)?.write(scene, path).map_err(failed)
}

/// Refuses an output that would take the place of an input.
fn check_distinct<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    if inputs.into_iter().any(|input| is_same_file(output, input)) {
        return Err(Failure::OverInput { path: output.to_owned() });
    }
    Ok(())
}

/// Refuses an output that cannot succeed, before any work is done for it.
fn check_folder(path: &Path) -> Result<(), Failure> {
    if !crate::output::folder_of(path).is_dir() {
        return Err(Failure::NoFolder { path: path.to_owned() });
    }
    if path.is_dir() {
        return Err(Failure::Exists { path: path.to_owned() });
    }
    crate::output::check_writable(path).map_err(|source| match source.kind() {
        // some folders of the system are there and yet know no such file
        std::io::ErrorKind::NotFound => Failure::ClosedFolder { path: path.to_owned() },
        _ => Failure::Write { path: path.to_owned(), source: source.into() },
    })
}
