//! Why a command ends without a result.

use std::path::PathBuf;

use levelset::{Aabb, MeshError};
use nalgebra::Point3;
use sim::BuildError;
use sim::scene::{Place, SceneError};
use thiserror::Error;

use super::filling::{Fineness, Loss};
use crate::format::WriteError;
use crate::format::glb::GlbReadError;
use crate::mesh_file::MeshFileError;
use crate::wording::place;

/// Where a scene names a file.
#[derive(Clone, Debug)]
pub struct Named {
    /// The scene, or the file that it includes.
    pub scene: PathBuf,
    /// Where in it, if that is known.
    pub place: Option<Place>,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "named in {}", self.scene.display())?;
        self.place.map_or(Ok(()), |place| write!(f, ", {place}"))
    }
}

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
        "{}: is {OUTSIDE}: move it there, or give --allow-outside ({named})",
        path.display()
    )]
    Outside {
        /// The file.
        path: PathBuf,
        /// Where it is named.
        named: Named,
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
    /// A mesh or a recording is given where a scene is.
    #[error(
        "{}: is a mesh or a recording, and no scene: give a .toml file; `brisance fracture` breaks a mesh without one",
        path.display()
    )]
    NoScene {
        /// The file.
        path: PathBuf,
    },
    /// Nothing in a scene can break.
    #[error("{}: no body can break: give one the key `fracture`", path.display())]
    NothingBreaks {
        /// The scene.
        path: PathBuf,
    },
    /// A file that a scene names cannot be read.
    #[error("{}: cannot be read ({source}): check the path ({named})", path.display())]
    ReadNamed {
        /// The file.
        path: PathBuf,
        /// Where it is named.
        named: Named,
        /// What the system says.
        source: std::io::Error,
    },
    /// A mesh file that a scene names cannot be used.
    #[error("{}: {source} ({named})", path.display())]
    Mesh {
        /// The file.
        path: PathBuf,
        /// Where it is named.
        named: Named,
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
    #[error("{}: is of a kind that is not known: give {}", path.display(), KINDS)]
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
    /// An option is of the sampling of meshes, and the input is a level set.
    #[error("{}: is a level set, which is sampled already: remove {option}", path.display())]
    SampledAlready {
        /// The file.
        path: PathBuf,
        /// The option.
        option: &'static str,
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
        "{}: holds no pieces: give a mesh file whose objects they are, or a folder of mesh files{}",
        path.display(),
        named.as_ref().map_or_else(String::new, |named| format!(" ({named})"))
    )]
    NoPieces {
        /// The file or folder.
        path: PathBuf,
        /// Where a scene names it.
        named: Option<Named>,
    },
    /// A piece that a scene names bounds no solid.
    #[error("{}: {source} ({named})", path.display())]
    OpenPiece {
        /// The file.
        path: PathBuf,
        /// Where it is named.
        named: Named,
        /// Where it is open.
        source: ::fracture::NotClosed,
    },
    /// A body would start in too many pieces.
    #[error("{}: holds more than {most} pieces: use fewer ({named})", path.display())]
    ManyPieces {
        /// The file or folder.
        path: PathBuf,
        /// Where it is named.
        named: Named,
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
    /// A blow is far from the mesh that it is to break.
    #[error(
        "{}: --at {} is far from it: give a point near its box, from {} to {}",
        path.display(), place(at), place(&bounds.min), place(&bounds.max)
    )]
    FarOff {
        /// The mesh.
        path: PathBuf,
        /// Where the blow is.
        at: Point3<f64>,
        /// The box around the mesh.
        bounds: Aabb,
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
        loss: Loss,
        /// How many tetrahedra would lack nothing, if a few tries told.
        enough: Option<Fineness>,
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
    #[error("{}: {source}{place}", path.display())]
    Build {
        /// The scene.
        path: PathBuf,
        /// The line and the mesh file at fault, in brackets, or nothing.
        place: String,
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
    /// A picture that a scene names cannot be used.
    #[error("{}: {source} ({named})", path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// Where it is named.
        named: Named,
        /// What is wrong with it.
        source: crate::picture_file::PictureError,
    },
    /// An SVG file that a scene names cannot be used.
    #[error("{}: {source} ({named})", path.display())]
    Outline {
        /// The file.
        path: PathBuf,
        /// Where it is named.
        named: Named,
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
    /// A signal ended a run of the playground, of which there are no checkpoints.
    #[error("stopped after frame {frame}: run the same command to start over")]
    StoppedVisit {
        /// The last frame that was simulated.
        frame: usize,
    },
    /// A file is no run of the playground.
    #[error("{}: is no run that the playground saved ({source}): save it again", path.display())]
    NotSaved {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A run of the playground cannot be played.
    #[error("{}: {source}", path.display())]
    Saved {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: visit::SavedError,
    },
    /// A run of the playground starts with a scene that is none.
    #[error("{}: {source}", path.display())]
    Setup {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<visit::SetupError>,
    },
    /// An option would change or interrupt a saved run of the playground.
    #[error("{}: was saved by the playground and is run as it was: leave out {option}", path.display())]
    SavedOption {
        /// The file.
        path: PathBuf,
        /// The option.
        option: &'static str,
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
    ReplayMismatch {
        /// The file of the events.
        path: PathBuf,
        /// Which.
        source: sim::ReplayMismatch,
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
    /// An output would replace an input.
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
    /// A file is no recording by its name and its first bytes.
    #[error("{}: is not a GLB file: give a recording that `brisance` wrote as .glb", path.display())]
    NoRecording {
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
        source: std::io::Error,
    },
    /// Standard output takes nothing.
    #[error("standard output cannot be written ({source}): send it to where there is room")]
    Stdout {
        /// What the system says.
        source: std::io::Error,
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
pub(super) const OUTSIDE: &str = "outside the folder of the scene and `../assets`";

impl Failure {
    /// What the program exits with: 2, or 130 when a signal ended it.
    pub fn exit_code(&self) -> u8 {
        if matches!(self, Self::Stopped { .. } | Self::StoppedVisit { .. }) { 130 } else { 2 }
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

/// Kinds of files that `brisance info` describes, for messages.
const KINDS: &str = "a recording (.glb), a mesh (.obj, .stl, .ply or .glb), tetrahedra \
    (.msh, .ele, .node, .vol, .vtk or .vtu), a level set (.lset, .vti or .vdb) or a pattern (.pattern)";
