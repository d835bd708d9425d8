//! Errors of commands.

use std::path::PathBuf;

use levelset::{Aabb, MeshError};
use nalgebra::Point3;
use sim::BuildError;
use sim::scene::{SceneError, TextPosition};
use thiserror::Error;

use super::filling::{Fineness, Loss};
use crate::format::glb::GlbReadError;
use crate::format::{DustReadError, WriteError};
use crate::mesh_file::MeshFileError;
use crate::wording::place;

/// The position of a reference to a file in a scene.
#[derive(Clone, Debug)]
pub struct Named {
    /// The scene, or the file that it includes.
    pub scene: PathBuf,
    /// Position in it, if known.
    pub place: Option<TextPosition>,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "named in {}", self.scene.display())?;
        self.place.map_or(Ok(()), |place| write!(f, ", {place}"))
    }
}

/// Why a command failed: one sentence that names the file and suggests a fix.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file cannot be read.
    #[error("{}: cannot be read ({source}): check the path", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system error.
        source: std::io::Error,
    },
    /// A text file is not UTF-8.
    #[error("{}: is not UTF-8 text: save it as UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A scene refers to a file that it may not access.
    #[error(
        "{}: is {OUTSIDE}: move it there, or give --allow-outside ({named})",
        path.display()
    )]
    Outside {
        /// The file.
        path: PathBuf,
        /// The reference in the scene.
        named: Named,
    },
    /// A scene file is invalid.
    #[error("{}: {source}", path.display())]
    Scene {
        /// The file.
        path: PathBuf,
        /// The problem and its position.
        source: SceneError,
    },
    /// With the given options the scene is invalid.
    #[error("with these options {source}")]
    Arguments {
        /// The problem.
        source: sim::scene::InvalidValue,
    },
    /// The scene does not support a fracture model.
    #[error("with the model {} {source}", model.name())]
    Compared {
        /// The model.
        model: crate::comparison::Model,
        /// The reason.
        source: sim::scene::InvalidValue,
    },
    /// A fracture model is requested twice.
    #[error("--models names {} twice: give each model once", model.name())]
    Repeated {
        /// The model.
        model: crate::comparison::Model,
    },
    /// A mesh or a recording is given instead of a scene.
    #[error(
        "{}: is a mesh or a recording, not a scene: give a .toml file; `brisance fracture` breaks a mesh without one",
        path.display()
    )]
    NoScene {
        /// The file.
        path: PathBuf,
    },
    /// A scene has no breakable body.
    #[error("{}: no body can break: give one the key `fracture`", path.display())]
    NothingBreaks {
        /// The scene.
        path: PathBuf,
    },
    /// A file of a scene cannot be read.
    #[error("{}: cannot be read ({source}): check the path ({named})", path.display())]
    ReadNamed {
        /// The file.
        path: PathBuf,
        /// The reference in the scene.
        named: Named,
        /// The system error.
        source: std::io::Error,
    },
    /// A mesh file of a scene is invalid.
    #[error("{}: {source} ({named})", path.display())]
    Mesh {
        /// The file.
        path: PathBuf,
        /// The reference in the scene.
        named: Named,
        /// The problem.
        source: MeshFileError,
    },
    /// A mesh file is invalid.
    #[error("{}: {source}", path.display())]
    MeshInfo {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: MeshFileError,
    },
    /// A mesh cannot be analyzed.
    #[error("{}: {source}", path.display())]
    MeshFacts {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: MeshError,
    },
    /// A file has no supported type.
    #[error("{}: has an unknown file type: give {}", path.display(), KINDS)]
    UnknownKind {
        /// The file.
        path: PathBuf,
    },
    /// A file is neither a mesh nor a level set.
    #[error("{}: is neither a mesh nor a level set: give an .obj, .stl, .ply, .glb, .lset, .vti or .vdb file", path.display())]
    NoSolid {
        /// The file.
        path: PathBuf,
    },
    /// An option for sampling meshes is given, but the input is a level set.
    #[error("{}: is a level set, and so already sampled: remove {option}", path.display())]
    SampledAlready {
        /// The file.
        path: PathBuf,
        /// The option.
        option: &'static str,
    },
    /// A level set is invalid.
    #[error("{}: {}", path.display(), reworded(source))]
    Volume {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: crate::volume_file::VolumeFileError,
    },
    /// A grid or lattice cannot be made.
    #[error("{}: {source}", path.display())]
    Grid {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: levelset::GridError,
    },
    /// No file contains pieces.
    #[error(
        "{}: holds no pieces: give a mesh file with one object per piece, or a folder of mesh files{}",
        path.display(),
        named.as_ref().map_or_else(String::new, |named| format!(" ({named})"))
    )]
    NoPieces {
        /// The file or folder.
        path: PathBuf,
        /// The reference in the scene.
        named: Option<Named>,
    },
    /// The pieces to bond are a recording in which bodies appear later.
    #[error(
        "{}: is a recording of {frames} frames: give the pieces that `brisance fracture MESH -o pieces.glb` writes, \
         or a folder of closed meshes",
        path.display()
    )]
    BondedFrames {
        /// The recording.
        path: PathBuf,
        /// Number of its frames.
        frames: usize,
    },
    /// A piece of a scene bounds no solid.
    #[error("{}: {source} ({named})", path.display())]
    OpenPiece {
        /// The file.
        path: PathBuf,
        /// The reference in the scene.
        named: Named,
        /// The open edges.
        source: ::fracture::NotClosed,
    },
    /// A file or folder has too many pieces.
    #[error(
        "{}: holds more than {most} pieces: use fewer{}",
        path.display(),
        named.as_ref().map_or_else(String::new, |named| format!(" ({named})"))
    )]
    ManyPieces {
        /// The file or folder.
        path: PathBuf,
        /// The reference in the scene.
        named: Option<Named>,
        /// The maximum.
        most: usize,
    },
    /// There is no material with this name.
    #[error("there is no material `{name}`: give one of {known}")]
    UnknownMaterial {
        /// The name.
        name: String,
        /// The available materials.
        known: String,
    },
    /// An impact is too far from the mesh to break it.
    #[error(
        "{}: --at {} is far from the mesh: give a point near its box, from {} to {}",
        path.display(), place(at), place(&bounds.min), place(&bounds.max)
    )]
    FarOff {
        /// The mesh.
        path: PathBuf,
        /// Position of the impact.
        at: Point3<f64>,
        /// Bounding box of the mesh.
        bounds: Aabb,
    },
    /// No sample is inside the solid.
    #[error("{}: nothing is inside at this fineness: use smaller cells or more nodes", path.display())]
    NothingInside {
        /// The file.
        path: PathBuf,
    },
    /// Elastic constants are invalid.
    #[error(transparent)]
    Material {
        /// The problem.
        source: tetfem::MaterialError,
    },
    /// Tetrahedra do not form an elastic body.
    #[error("{}: {source}", path.display())]
    Elastic {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: tetfem::StructureError,
    },
    /// A load file is invalid.
    #[error("{}: {source}", path.display())]
    Loads {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: crate::loads_file::LoadsError,
    },
    /// A support fixes no vertex.
    #[error(
        "{}: {option} fixes no vertex: its vertices are from {} to {}",
        path.display(),
        crate::wording::place(&bounds.min),
        crate::wording::place(&bounds.max)
    )]
    FixesNothing {
        /// The file.
        path: PathBuf,
        /// The option of the support.
        option: &'static str,
        /// Bounding box of all vertices.
        bounds: Box<levelset::Aabb>,
    },
    /// Loads or supports do not fit a body.
    #[error("{}: {source}", path.display())]
    Stress {
        /// The file.
        path: PathBuf,
        /// Why.
        source: super::stress::StressError,
    },
    /// A tetrahedral body has no equilibrium.
    #[error("{}: {source}", path.display())]
    Equilibrium {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: tetfem::EquilibriumError,
    },
    /// Tetrahedra miss parts of a mesh.
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
        /// The missing parts of the result.
        loss: Loss,
        /// A number of tetrahedra that avoids the loss, if one was found.
        enough: Option<Fineness>,
    },
    /// A mesh bounds no solid.
    #[error("{}: {source}", path.display())]
    NotClosed {
        /// The file.
        path: PathBuf,
        /// The open edges.
        source: ::fracture::NotClosed,
    },
    /// A scene does not build a world.
    #[error("{}: {source}{place}", path.display())]
    Build {
        /// The scene.
        path: PathBuf,
        /// The line and the mesh file at fault, in brackets, or empty.
        place: String,
        /// The problem.
        source: BuildError,
    },
    /// Neither Blender nor its Python module can be started.
    #[error(
        "Blender cannot be started: put `blender` on the PATH or give it with --blender, or install its module \
         (`pip install bpy`) and give that Python with --python"
    )]
    NoBlender,
    /// A pattern cannot be made.
    #[error("pattern {text}: {problem}")]
    Pattern {
        /// The request.
        text: String,
        /// The problem.
        problem: String,
    },
    /// A picture of a scene is invalid.
    #[error("{}: {source} ({named})", path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// The reference in the scene.
        named: Named,
        /// The problem.
        source: crate::picture_file::PictureError,
    },
    /// An SVG file of a scene is invalid.
    #[error("{}: {source} ({named})", path.display())]
    Outline {
        /// The file.
        path: PathBuf,
        /// The reference in the scene.
        named: Named,
        /// The problem.
        source: crate::outline_file::OutlineFileError,
    },
    /// An image of a material cannot be drawn.
    #[error("{}: {source}", path.display())]
    Image {
        /// The recording.
        path: PathBuf,
        /// The problem.
        source: crate::render::ImageError,
    },
    /// A pattern file is invalid.
    #[error("{}: {}: create the pattern again with `brisance pattern new`", path.display(), reworded(source))]
    PatternFile {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: ::fracture::ReadPatternError,
    },
    /// A mesh cannot be broken.
    #[error("{}: {source}", path.display())]
    Fracture {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: sim::Cause,
    },
    /// The threads cannot be started.
    #[error("cannot start the threads ({source}): give --threads a smaller number")]
    Threads {
        /// The system error.
        source: rayon::ThreadPoolBuildError,
    },
    /// A signal interrupted a run that can be resumed.
    #[error(
        "stopped after frame {frame}: run the same command with --resume {} to continue",
        checkpoint.display()
    )]
    Stopped {
        /// The last simulated frame.
        frame: usize,
        /// The checkpoint to resume from.
        checkpoint: PathBuf,
    },
    /// A signal interrupted a playground run, which has no checkpoints.
    #[error("stopped after frame {frame}: run the same command to start over")]
    StoppedSession {
        /// The last simulated frame.
        frame: usize,
    },
    /// A file is not a playground run.
    #[error("{}: is not a saved run of the playground ({source}): save it again", path.display())]
    NotSaved {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: serde_json::Error,
    },
    /// A playground run cannot be replayed.
    #[error("{}: {source}", path.display())]
    Saved {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: visit::SavedError,
    },
    /// The scene of a playground run is invalid.
    #[error("{}: {source}", path.display())]
    Setup {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: Box<visit::SetupError>,
    },
    /// An option would change or interrupt a saved playground run.
    #[error("{}: is a saved run of the playground, which excludes {option}: omit the option", path.display())]
    SavedOption {
        /// The file.
        path: PathBuf,
        /// The option.
        option: &'static str,
    },
    /// A checkpoint is invalid.
    #[error("{}: {source}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: crate::checkpoint::CheckpointError,
    },
    /// An event file is invalid.
    #[error("{}: {source}", path.display())]
    Events {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: crate::events::EventsError,
    },
    /// A checkpoint or event file belongs to a different scene.
    #[error(
        "{}: belongs to another scene: give the scene, meshes and options of the run that wrote it",
        path.display()
    )]
    OtherScene {
        /// The file.
        path: PathBuf,
    },
    /// A checkpoint or event file has a frame after the last one.
    #[error("{}: extends to frame {frame}: give --frames {frame} or more", path.display())]
    TooFewFrames {
        /// The file.
        path: PathBuf,
        /// The frame.
        frame: usize,
    },
    /// An event cannot be reproduced.
    #[error("{}: {source}", path.display())]
    ReplayMismatch {
        /// The file of the events.
        path: PathBuf,
        /// The event.
        source: sim::ReplayMismatch,
    },
    /// The output extension is not a supported format.
    #[error("{}: has no known output format: give it the ending {known}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The supported extensions.
        known: &'static str,
    },
    /// A rig is requested in a format without rigs.
    #[error("{}: --rig requires the format .glb: end the output in .glb", path.display())]
    NoRig {
        /// The output.
        path: PathBuf,
    },
    /// Two outputs are the same file.
    #[error("{}: two outputs are this file: give each output a different name", path.display())]
    SameOutput {
        /// The file.
        path: PathBuf,
    },
    /// An output would overwrite an input.
    #[error("{}: is an input of this command: give the output another name", path.display())]
    OverInput {
        /// The file.
        path: PathBuf,
    },
    /// The output path is a folder.
    #[error("{}: a folder of this name exists already: remove it or choose another name", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A file is where an output needs a folder.
    #[error("{}: is a file, not a folder: remove it or choose another name", path.display())]
    NotFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder of an output does not exist.
    #[error("{}: its folder does not exist: create the folder first", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder of an output is not writable.
    #[error("{}: its folder is not writable: choose another", path.display())]
    ClosedFolder {
        /// The file.
        path: PathBuf,
    },
    /// A file is not a recording by its name and its first bytes.
    #[error("{}: is not a GLB file: give a recording that `brisance` wrote as .glb", path.display())]
    NoRecording {
        /// The file.
        path: PathBuf,
    },
    /// There are several recordings for one file of dust.
    #[error("--dust belongs to one recording: give only that one")]
    DustOfSeveral,
    /// A file of dust is invalid.
    #[error("{}: {source}", path.display())]
    Dust {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: DustReadError,
    },
    /// A recording is invalid.
    #[error("{}: {source}", path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: GlbReadError,
    },
    /// The recording has no such frame.
    #[error("{}: has no frame {frame}: its last one is {}", path.display(), frames - 1)]
    NoFrame {
        /// The file.
        path: PathBuf,
        /// The requested frame.
        frame: usize,
        /// Number of frames.
        frames: usize,
    },
    /// The position of the camera equals its target.
    #[error("--from must not be at --at: move it away")]
    Camera,
    /// An option of animations is given for a single image.
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
    /// `--turntable` is given for a single image.
    #[error(
        "{}: --turntable rotates the camera between images, but there is only one image: give --sheet for several, or \
         --at and --from for another camera",
        path.display()
    )]
    TurnsOnce {
        /// The picture.
        path: PathBuf,
    },
    /// Side-by-side recordings are not written as one picture.
    #[error("{}: --beside is for pictures: end the output in .png", path.display())]
    Beside {
        /// The output.
        path: PathBuf,
    },
    /// A video is requested without the program that encodes it.
    #[error(
        "{}: a video needs `ffmpeg` on the PATH: install it, or make it elsewhere with `brisance render \
         {}{options} -o frames/` and `ffmpeg -framerate {fps} -i frames/frame_%05d.png -pix_fmt yuv420p {}`",
        path.display(), recording.display(), path.display()
    )]
    NoFfmpeg {
        /// The video.
        path: PathBuf,
        /// The content to show.
        recording: PathBuf,
        /// Options of its images, each with a space before it.
        options: String,
        /// Images per second.
        fps: f64,
    },
    /// A contact sheet would take too much memory.
    #[error("{frames} frames of {}x{} pixels are too many: draw fewer or smaller frames", size[0], size[1])]
    TooManyPixels {
        /// Number of requested frames.
        frames: usize,
        /// Width and height of each.
        size: [usize; 2],
    },
    /// A file is not a ledger.
    #[error("{}: {source}", path.display())]
    Ledger {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: crate::plot::TableError,
    },
    /// The playground was not built.
    #[error(
        "{}: the playground cannot be found ({source}): build it with `cargo xtask web`, and give its folder \
         with --page",
        folder.display()
    )]
    NoPage {
        /// The folder.
        folder: PathBuf,
        /// The system error.
        source: std::io::Error,
    },
    /// A scene needs more than the playground supports.
    #[error("{}: {what}, which the playground does not support: use `brisance run` and `view`", path.display())]
    NotPlayable {
        /// The scene.
        path: PathBuf,
        /// The unsupported feature.
        what: &'static str,
    },
    /// The page of a recording cannot be served.
    #[error("cannot serve on port {port} of 127.0.0.1 ({source}): choose another --port, or none")]
    Serve {
        /// The requested port.
        port: u16,
        /// The system error.
        source: std::io::Error,
    },
    /// Standard output cannot be written.
    #[error(
        "standard output cannot be written ({source}): redirect it to a file or device with free space"
    )]
    Stdout {
        /// The system error.
        source: std::io::Error,
    },
    /// An output cannot be written.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error.
        source: WriteError,
    },
}

/// The error message, reworded where the message of the library is unhelpful.
fn reworded(source: &dyn std::fmt::Display) -> String {
    // the standard library's error for a truncated file
    source.to_string().replace("failed to fill whole buffer", "it ends too early")
}

/// The restriction on files of a scene.
pub(super) const OUTSIDE: &str = "outside the folder of the scene and `../assets`";

impl Failure {
    /// The exit code of the program: 2, or 130 after a signal.
    pub fn exit_code(&self) -> u8 {
        if matches!(self, Self::Stopped { .. } | Self::StoppedSession { .. }) { 130 } else { 2 }
    }

    /// The message in one line: control characters from files or names are escaped.
    pub fn line(&self) -> String {
        let mut line = String::new();
        for c in self.to_string().chars() {
            if c.is_control() { line.extend(c.escape_debug()) } else { line.push(c) }
        }
        line
    }
}

/// File types that `brisance info` supports, for messages.
const KINDS: &str = "a recording (.glb), dust (.ply or .glb), a mesh (.obj, .stl, .ply or .glb), tetrahedra \
    (.msh, .ele, .node, .vol, .vtk or .vtu), a level set (.lset, .vti or .vdb) or a pattern (.pattern)";
