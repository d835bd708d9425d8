//! The command line.

mod bond;
mod compare;
mod volume;

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Parser, Subcommand};
use fracture::Plane;
use nalgebra::Vector3;
use sim::Dust;
use sim::scene::{Collide, Mesh, MeshSign};

pub use bond::BondArguments;
pub use compare::CompareArguments;
pub use volume::{StressArguments, TetrahedralizeArguments, VoxelizeArguments};

const EXAMPLES: &str = "Examples:
  brisance run scenes/bunny.toml -o bunny.glb
  brisance run wall.toml -o wall.glb --frames 60 --seed 7
  brisance render bunny.glb --frame 40 -o bunny.png";

/// Simulate rigid bodies that shatter where they are hit.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene and write a recording.
    Run(RunArguments),
    /// Simulate a scene, and break bodies where a file of events says so.
    Replay(ReplayArguments),
    /// Break a mesh into pieces, without simulating anything.
    Fracture(FractureArguments),
    /// Make a part of a scene from existing pieces, held together by bonds.
    Bond(BondArguments),
    /// Make a file of a fracture pattern, or draw a pattern.
    #[command(subcommand)]
    Pattern(PatternCommand),
    /// Draw a recording: a picture, a contact sheet, an animation or a video.
    Render(RenderArguments),
    /// Show a recording in the browser.
    View(ViewArguments),
    /// Play with a scene in the browser: throw, carry, cut and blow up.
    Play(PlayArguments),
    /// Have Blender make a .blend, Alembic, FBX or USD file from a recording.
    Blender(BlenderArguments),
    /// Run a scene with several models of fracture and write a report of them side by side.
    Compare(CompareArguments),
    /// Draw the curves of a ledger.
    Plot(PlotArguments),
    /// Cut a closed mesh by planes.
    Slice(SliceArguments),
    /// Fill a closed mesh with tetrahedra.
    Tetrahedralize(TetrahedralizeArguments),
    /// Sample a closed mesh as signed distance on a grid, or convert such a grid to a mesh.
    Voxelize(VoxelizeArguments),
    /// Compute the stress of a body of tetrahedra under blows and loads.
    Stress(StressArguments),
    /// Print what is in a scene and whether it can be run, without running it.
    #[command(after_help = "Example:\n  brisance check scenes/bunny.toml")]
    Check(CheckArguments),
    /// Print what is in a recording, a mesh, a file of tetrahedra, a level set or a pattern.
    #[command(
        after_help = "Examples:\n  brisance info bunny.glb\n  brisance info assets/bunny.obj"
    )]
    Info(FileArguments),
    /// Print the JSON schema of scene files, from which editors complete keys.
    #[command(after_help = "Example:\n  brisance schema > scene.schema.json

Put this first in a scene: #:schema ./scene.schema.json")]
    Schema {
        /// Print the schema of the load files of `brisance stress --loads`
        #[arg(long, conflicts_with = "comparison")]
        loads: bool,
        /// Print the schema of the report of `brisance compare`
        #[arg(long)]
        comparison: bool,
    },
    /// Print completions for a shell.
    #[command(after_help = "Example:\n  brisance completions bash > brisance.bash")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    #[command(after_help = "Example:\n  brisance man > brisance.1")]
    Man,
}

/// A file to look at.
#[derive(Args, Debug)]
pub struct FileArguments {
    /// The file
    pub file: PathBuf,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `brisance check`.
#[derive(Args, Debug)]
pub struct CheckArguments {
    /// What it shares with `brisance info`.
    #[command(flatten)]
    pub file: FileArguments,
    /// Read files outside the folder of the scene and `../assets`, too
    #[arg(long)]
    pub allow_outside: bool,
}

const RUN_EXAMPLES: &str = "Examples:
  brisance run scenes/bunny.toml -o bunny.glb
  brisance run scenes/bunny.toml -o short.glb --frames 30 --quiet
  brisance run scenes/bunny.toml -o bunny.usda --ledger energy.csv --json
  brisance run scenes/bunny.toml -o bunny.glb --events bunny.jsonl --checkpoint-every 10
  brisance run scenes/bunny.toml -o bunny.glb --resume bunny.glb.checkpoint
  brisance run scenes/table_25.toml -o table.glb --rig
  brisance run scenes/window.toml -o window.usda --dust dust.usda

An animated binary glTF (.glb) opens in Blender with File > Import > glTF 2.0. Other outputs are \
Universal Scene Description (.usdc, or .usda as text), JSON lines (.jsonl), a series for ParaView (.pvd, \
with a folder of .vtu files beside it), and a folder of one file per frame: of .obj files (a name that \
ends in /) or of .ply files (one that ends in .ply/). A file that exists is replaced, but only when the run has \
succeeded.

Ctrl-C ends the run after the frame and writes a checkpoint, from which --resume continues to the same \
output, bit by bit.";

/// Arguments of `brisance run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArguments {
    /// Scene file (TOML), or a run that the playground saved (.json)
    pub scene: PathBuf,
    /// What it shares with `brisance replay`.
    #[command(flatten)]
    pub options: RunOptions,
    /// Also write every body that breaks: .jsonl for `brisance replay`, or .csv with mass, momentum and
    /// energy before and after
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
}

/// What `brisance run` and `brisance replay` take.
#[derive(Args, Debug)]
pub struct RunOptions {
    /// File to write: .glb, .usda, .usdc, .jsonl or .pvd; or a folder of .obj or .ply files, ending in / or
    /// .ply/
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Write a .glb as one skinned mesh with a joint for each body: one draw call for each material in a game engine;
    /// `brisance view` and `render` do not read it
    #[arg(long)]
    pub rig: bool,
    /// Also write mass, momentum and energy of every frame; `brisance plot` draws it
    #[arg(long, value_name = "FILE.csv")]
    pub ledger: Option<PathBuf>,
    /// Also write the loads of anchored bodies in every frame: force, torque and stress at their anchors
    #[arg(long, value_name = "FILE.csv")]
    pub anchor_loads: Option<PathBuf>,
    /// Also write the contacts of every frame, a line of JSON each: position, normal, impulse and materials,
    /// for sound and dust
    #[arg(long, value_name = "FILE.jsonl", conflicts_with = "resume")]
    pub contacts: Option<PathBuf>,
    /// Also write dust of cracks as points for a particle system: a .ply file of all specks as they appear, a folder of
    /// .ply files (ending in .ply/), .usda or .usdc
    #[arg(long, value_name = "OUT")]
    pub dust: Option<PathBuf>,
    /// Specks of dust for each joule that cracks take; at most 1,000,000 in all
    #[arg(long, value_name = "N", value_parser = rate_of_dust, requires = "dust")]
    #[arg(allow_negative_numbers = true)]
    #[arg(default_value_t = Dust::PER_JOULE)]
    pub dust_per_joule: f64,
    /// Also write the bodies as they are after the last frame for another physics engine: poses, velocities, masses,
    /// colliders, materials and joints, as .glb (KHR_physics_rigid_bodies), .usda or .usdc (UsdPhysics)
    #[arg(long, value_name = "FILE")]
    pub physics: Option<PathBuf>,
    /// Frames to simulate, instead of the scene's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub frames: Option<u32>,
    /// Frames per second, each one time step, instead of the scene's; the duration stays the same unless
    /// --frames is given
    #[arg(long, value_name = "N", value_parser = rate)]
    pub fps: Option<f64>,
    /// Seed of everything random, instead of the scene's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Threads to use [default: one per processor]; the result is the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Write a checkpoint after every so many frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub checkpoint_every: Option<u32>,
    /// File for checkpoints [default: OUT.checkpoint]
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Read files outside the folder of the scene and `../assets`, too
    #[arg(long)]
    pub allow_outside: bool,
    /// Continue from a checkpoint of the same command
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Also print the time of each part, and counts of pairs, points and contacts
    #[arg(long)]
    pub timings: bool,
    /// Print the summary as one line of JSON
    #[arg(long)]
    pub json: bool,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1.0..=1e5).contains(rate));
    rate.ok_or_else(|| "give a number between 1 and 100000".to_owned())
}

fn rate_of_dust(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-6..=1e9).contains(rate));
    rate.ok_or_else(|| "give a number between 1e-6 and 1e9".to_owned())
}

const REPLAY_EXAMPLES: &str = "Examples:
  brisance run scenes/bunny.toml -o bunny.glb --events bunny.jsonl
  brisance replay scenes/bunny.toml bunny.jsonl -o bunny.usda

The events alone decide what breaks and when, whatever the strengths in the scene. If nothing else in the scene \
changed, the motion is the same, bit by bit.";

/// Arguments of `brisance replay`.
#[derive(Args, Debug)]
#[command(after_help = REPLAY_EXAMPLES)]
pub struct ReplayArguments {
    /// Scene file (TOML)
    pub scene: PathBuf,
    /// Events that `brisance run --events` wrote, .jsonl
    pub events: PathBuf,
    /// What it shares with `brisance run`.
    #[command(flatten)]
    pub options: RunOptions,
}

const FRACTURE_EXAMPLES: &str = "Examples:
  brisance fracture assets/bunny.obj --pattern voronoi:35 -o pieces.glb
  brisance fracture vase.obj --pattern radial:9x3,jitter=0.7 --at 0,0.1,0.2 --normal 0,0,1 -o out/
  brisance fracture vase.obj --pattern shards.pattern --nodes 300000 -o pieces.usda
  brisance fracture vase.obj --pattern preset:glass -o pieces.glb --json > pieces.json
  brisance fracture vase.obj --pattern voronoi:20 --material clay --inside 0.7,0.4,0.2 -o sherds.glb

Every piece is an object of its own, in place, with cuts in a material of their own.";

/// How a mesh is sampled.
#[derive(Args, Clone, Debug)]
pub struct Sampling {
    /// Distance between nodes of the level set, in the mesh's units [default: 100,000 nodes, or up to
    /// 2,000,000 where walls are thin]
    #[arg(long, value_name = "SIZE", value_parser = length, conflicts_with = "nodes")]
    #[arg(allow_hyphen_values = true)]
    pub spacing: Option<f64>,
    /// Most nodes of the level set
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(512..=134_217_728))]
    pub nodes: Option<u32>,
    /// How to find the inside of the mesh: auto, strict (closed meshes only) or winding (winding numbers)
    /// [default: auto]
    #[arg(long, value_name = "SIGN", value_parser = sign)]
    pub sign: Option<MeshSign>,
}

impl Sampling {
    /// The same of a scene, for the mesh at `path`.
    pub fn spec(&self, path: &Path) -> Mesh {
        Mesh {
            file: path.display().to_string(),
            size: None,
            spacing: self.spacing,
            nodes: self.nodes.map(|nodes| nodes as usize),
            sign: self.sign.unwrap_or_default(),
            mirror: None,
            collide: Collide::Samples,
        }
    }

    /// The first of its options that is given.
    pub fn given(&self) -> Option<&'static str> {
        let Self { spacing, nodes, sign } = self;
        let options = [
            ("--spacing", spacing.is_some()),
            ("--nodes", nodes.is_some()),
            ("--sign", sign.is_some()),
        ];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}

fn sign(text: &str) -> Result<MeshSign, String> {
    match text {
        "auto" => Ok(MeshSign::Auto),
        "strict" => Ok(MeshSign::Strict),
        "winding" => Ok(MeshSign::Winding),
        _ => Err("give auto, strict or winding".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x| (0.0..1.0).contains(x));
    number.ok_or_else(|| "give a number from 0 to less than 1".to_owned())
}

fn length(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x: &f64| *x > 0.0 && x.is_finite());
    number.ok_or_else(|| "give a positive number".to_owned())
}

/// Arguments of `brisance fracture`.
#[derive(Args, Debug)]
#[command(after_help = FRACTURE_EXAMPLES)]
pub struct FractureArguments {
    /// Closed mesh: .obj, .stl, .ply or .glb
    pub mesh: PathBuf,
    /// voronoi:PIECES, radial:SECTORSxRINGS, bricks:LENGTHxHEIGHT, slices:PLANES, preset:NAME, two of these
    /// with a slash between them, or a file of `brisance pattern new`
    #[arg(long, value_name = "PATTERN")]
    pub pattern: String,
    /// Point of the blow, in the mesh's coordinates [default: the middle of its top]
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    pub at: Option<[f64; 3]>,
    /// Direction out of the mesh at the point of the blow
    #[arg(long, value_name = "X,Y,Z", value_parser = direction, allow_hyphen_values = true)]
    #[arg(default_value = "0,1,0")]
    pub normal: [f64; 3],
    /// Seed of the pattern
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How the mesh is sampled
    #[command(flatten)]
    pub sampling: Sampling,
    /// Pieces of a smaller share of the volume stay with the neighbor that they touch most [default: an 8th
    /// of the mean share]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub min_share: Option<f64>,
    /// Material of the pieces, as in scenes: color and texture of cuts, and of surfaces that have none, and density
    #[arg(long, value_name = "NAME")]
    pub material: Option<String>,
    /// Linear RGB color of cuts, each from 0 to 1 [default: that of the material, or else the mean color of the
    /// mesh]
    #[arg(long, value_name = "R,G,B", value_parser = color, allow_hyphen_values = true)]
    pub inside: Option<[f32; 3]>,
    /// Density for the masses of --json and --physics, in kg per cubed unit of the mesh [default: that of the
    /// material, or 1000]
    #[arg(long, value_name = "DENSITY", value_parser = length)]
    pub density: Option<f64>,
    /// Also write the pieces as rigid bodies for a physics engine: masses and convex colliders, as .glb
    /// (KHR_physics_rigid_bodies), .usda or .usdc (UsdPhysics)
    #[arg(long, value_name = "FILE")]
    pub physics: Option<PathBuf>,
    /// Print volumes, masses, inertia and bonds of the pieces as one line of JSON
    #[arg(long)]
    pub json: bool,
    /// File to write: .glb, .usda, .usdc, .jsonl or .pvd; or a folder of .obj or .ply files, ending in / or
    /// .ply/
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Write a .glb as one skinned mesh with a joint for each piece: one draw call for each material in a game engine;
    /// `brisance view` and `render` do not read it
    #[arg(long)]
    pub rig: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

const BLENDER_EXAMPLES: &str = "Examples:
  brisance blender bunny.glb -o bunny.blend
  brisance blender bunny.glb -o bunny.fbx --python venv/bin/python
  brisance blender --script > import.py

Blender imports the recording at its frame rate and writes Blender's own file (.blend), Alembic (.abc), FBX \
(.fbx) or binary USD (.usdc). An empty holds the pieces of each body that broke. The command runs the program \
`blender`, or else Python with the module bpy (pip install bpy). --script prints the script that they run.";

/// Arguments of `brisance blender`.
#[derive(Args, Debug)]
#[command(after_help = BLENDER_EXAMPLES)]
pub struct BlenderArguments {
    /// Recording that `brisance run` wrote, .glb
    #[arg(required_unless_present = "script")]
    pub recording: Option<PathBuf>,
    /// File to write: .blend, .abc, .fbx or .usdc
    #[arg(short, long, value_name = "OUT", required_unless_present = "script")]
    pub output: Option<PathBuf>,
    /// The program Blender
    #[arg(long, value_name = "FILE", default_value = "blender")]
    pub blender: PathBuf,
    /// A Python that has the module bpy
    #[arg(long, value_name = "FILE", default_value = "python3")]
    pub python: PathBuf,
    /// Print the script that Blender runs, and nothing else
    #[arg(long, conflicts_with_all = ["recording", "output"])]
    pub script: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

const PATTERN_EXAMPLES: &str = "Examples:
  brisance pattern new voronoi:200 -o shards.pattern
  brisance pattern new radial:9x3,jitter=0.3 -o glass.pattern
  brisance pattern new bricks:4x3,jitter=0.3 -o wall.pattern
  brisance pattern new bricks:4x3/voronoi:5 -o rubble.pattern
  brisance pattern new preset:glass -o pane.pattern
  brisance pattern new puzzle.png -o puzzle.pattern
  brisance pattern new regions.obj -o regions.pattern
  brisance pattern new wall --scene scenes/brick_wall.toml -o wall.pattern

Presets are glass, concrete, wood, brick and ice. Two patterns with a slash between them: the second divides \
each region of the first. A mesh file has a region in each of its objects, a folder of mesh files one in \
each file, modeled for a body in -1 to 1, the blow at the origin and y out of the body.

A picture is 2 pattern units wide and lies across the blow, its middle at the point of the blow; its \
colors must be exact (no soft edges), and the regions go through the whole depth.";

/// What can be done with patterns.
#[derive(Debug, Subcommand)]
pub enum PatternCommand {
    /// Make a pattern and write it to a file.
    #[command(after_help = PATTERN_EXAMPLES)]
    New {
        /// voronoi:PIECES, radial:SECTORSxRINGS, bricks:LENGTHxHEIGHT, slices:PLANES or preset:NAME, with
        /// further settings as in scenes after commas; a .png picture, in which each color is
        /// a region; or meshes, each a region
        pattern: String,
        /// Scene file that defines a pattern with the name PATTERN
        #[arg(long, value_name = "SCENE")]
        scene: Option<PathBuf>,
        /// Seed of the pattern
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
        /// File to write
        #[arg(short, long, value_name = "OUT")]
        output: PathBuf,
        /// Print nothing but errors
        #[arg(short, long)]
        quiet: bool,
    },
    /// Draw a cut through a pattern, each region in its own color.
    #[command(after_help = "Example:\n  brisance pattern preview shards.pattern -o shards.png

The picture shows the cut across the blow, from -1 to 1 pattern units: the blow falls in its middle.")]
    Preview {
        /// File that `brisance pattern new` wrote
        file: PathBuf,
        /// Picture to write, ending in .png
        #[arg(short, long, value_name = "OUT.png")]
        output: PathBuf,
        /// Pixels along each side
        #[arg(long, value_name = "N", default_value_t = 512)]
        #[arg(value_parser = clap::value_parser!(u16).range(16..=4096))]
        size: u16,
        /// Print nothing but errors
        #[arg(short, long)]
        quiet: bool,
    },
}

const RENDER_EXAMPLES: &str = "Examples:
  brisance render bunny.glb --frame 40 -o bunny.png
  brisance render bunny.glb --frame 0,14,17,24 -o strip.png
  brisance render bunny.glb --sheet 4x3 --size 480x270 -o sheet.png
  brisance render bunny.glb --every 2 --size 480x270 -o bunny.gif
  brisance render bunny.glb --speed 0.25 -o bunny.mp4
  brisance render bunny.glb --turntable 360 -o frames/

The ending of OUT decides the format: a picture or a contact sheet (.png), an animation (.gif, or \
.apng with all colors), a video (.mp4, where `ffmpeg` is on the PATH), or a folder of pictures, one for each frame \
(a name that ends in /).";

/// Arguments of `brisance render`.
#[derive(Args, Debug)]
#[command(after_help = RENDER_EXAMPLES)]
pub struct RenderArguments {
    /// Recording that `brisance run` wrote
    pub recording: PathBuf,
    /// File to write: .png, .gif, .apng or .mp4; or a folder of .png files, ending in /
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Frames to draw, 0 is the initial state [default: the first; all for an animation]; several
    /// make a contact sheet
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    #[arg(conflicts_with = "sheet")]
    pub frame: Vec<usize>,
    /// Draw evenly spaced frames as a contact sheet: their number, or columns and rows
    #[arg(long, value_name = "COUNT|COLSxROWS", value_parser = sheet)]
    pub sheet: Option<Sheet>,
    /// Draw other recordings beside the first in a .png, each at the same time and by its own camera
    #[arg(long, value_name = "RECORDING,...", value_delimiter = ',')]
    pub beside: Vec<PathBuf>,
    /// In an animation or a folder, draw every Nth frame; the speed stays the same
    #[arg(long, value_name = "N", conflicts_with_all = ["frame", "sheet"])]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub every: Option<u16>,
    /// Speed of an animation or a folder: 0.25 draws four times as many pictures, for slow motion
    #[arg(long, value_name = "FACTOR", conflicts_with_all = ["frame", "sheet"])]
    #[arg(value_parser = speed)]
    pub speed: Option<f64>,
    /// Turn the camera around its target by this angle until the last picture
    #[arg(long, value_name = "DEGREES", value_parser = angle, allow_hyphen_values = true)]
    pub turntable: Option<f64>,
    /// Point that the camera looks at, m [default: fitted to the recording]
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, requires = "from")]
    #[arg(allow_hyphen_values = true)]
    pub at: Option<[f64; 3]>,
    /// Position of the camera, m [default: fitted to the recording]
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, requires = "at")]
    #[arg(allow_hyphen_values = true)]
    pub from: Option<[f64; 3]>,
    /// Pixels of each frame
    #[arg(long, value_name = "WxH", default_value = "960x540", value_parser = size)]
    pub size: [usize; 2],
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Cells of a contact sheet.
#[derive(Clone, Copy, Debug)]
pub struct Sheet {
    /// In a row.
    pub columns: usize,
    /// Pictures in all.
    pub count: usize,
}

fn sheet(text: &str) -> Result<Sheet, String> {
    let number = |n: &str| n.parse().ok().filter(|n| (1..=400).contains(n));
    let sheet = match text.split_once('x') {
        Some((columns, rows)) => number(columns)
            .zip(number(rows))
            .map(|(columns, rows)| Sheet { columns, count: columns * rows }),
        None => number(text).map(|count| Sheet { columns: count.min(4), count }),
    };
    sheet.ok_or_else(|| "give a number up to 400, or columns and rows as in 4x3".to_owned())
}

const VIEW_EXAMPLES: &str = "Examples:
  brisance view bunny.glb
  brisance view bunny.glb --port 8000 --no-open

The page is for this machine only, at http://127.0.0.1, and fetches nothing from anywhere else. Its \
address is printed first; Ctrl-C ends it.";

/// How `brisance view` and `brisance play` serve a page.
#[derive(Args, Debug)]
pub struct ServingArguments {
    /// Port to serve the page on [default: any that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Do not open the page, only print its address
    #[arg(long)]
    pub no_open: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `brisance view`.
#[derive(Args, Debug)]
#[command(after_help = VIEW_EXAMPLES)]
pub struct ViewArguments {
    /// Recordings that `brisance run` wrote, .glb; the page shows one of several at a time
    #[arg(required = true, value_name = "RECORDING")]
    pub recordings: Vec<PathBuf>,
    /// How the page is served
    #[command(flatten)]
    pub serving: ServingArguments,
}

const PLAY_EXAMPLES: &str = "Examples:
  brisance play scenes/bunny.toml
  brisance play --page out/web --no-open

The page is for this machine only, at http://127.0.0.1, and fetches nothing from anywhere else. `cargo xtask web` \
makes its folder. Without a scene the page offers its own scenes.";

/// Arguments of `brisance play`.
#[derive(Args, Debug)]
#[command(after_help = PLAY_EXAMPLES)]
pub struct PlayArguments {
    /// Scene, .toml, without files other than meshes
    pub scene: Option<PathBuf>,
    /// Folder of the playground
    #[arg(long, value_name = "DIR", default_value = "out/web")]
    pub page: PathBuf,
    /// Let the scene name files outside its folder and ../assets
    #[arg(long)]
    pub allow_outside: bool,
    /// How the page is served
    #[command(flatten)]
    pub serving: ServingArguments,
}

const PLOT_EXAMPLES: &str = "Examples:
  brisance plot bunny.csv -o bunny.svg
  brisance plot bunny.csv --size 1200x900 -o bunny.png

Energy and its dissipation by cause, drift of momentum and angular momentum, and bodies over time.";

/// Arguments of `brisance plot`.
#[derive(Args, Debug)]
#[command(after_help = PLOT_EXAMPLES)]
pub struct PlotArguments {
    /// Ledger that `brisance run --ledger` wrote, .csv
    pub ledger: PathBuf,
    /// Picture to write, .svg or .png
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Pixels of the picture
    #[arg(long, value_name = "WxH", default_value = "960x1080", value_parser = size)]
    pub size: [usize; 2],
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// What is wrong with the `words` of a command line, in one sentence.
pub fn complaint(error: &clap::Error, words: impl Iterator<Item = String>) -> String {
    let text = error.render().to_string();
    let mut parts = text.trim().split("\n\n");
    let joined = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let problem = joined(parts.next().unwrap_or_default());
    let problem = problem.strip_prefix("error: ").unwrap_or(&problem);
    // what Rust says of numbers
    let problem = problem
        .replace("invalid digit found in string", "give a whole number of 0 or more")
        .replace("cannot parse integer from empty string", "give a whole number of 0 or more")
        .replace("number too large to fit in target type", "give a smaller number");
    let mut rest = parts.map(joined);
    let tip = rest.clone().find_map(|part| Some(part.strip_prefix("tip: ")?.to_owned()));
    let usage = rest.find_map(|part| Some(part.strip_prefix("Usage: ")?.to_owned()));
    // a number is no argument of its own
    let is_number = |tip: &String| tip.strip_prefix("to pass '-").is_some_and(starts_with_digit);
    let tip = match tip {
        Some(tip) if is_number(&tip) => " (the option before it takes no negative number)".into(),
        tip => tip.map_or_else(String::new, |tip| format!(" ({tip})")),
    };
    // the program's own name may be any
    let is_word = |word: &&str| !word.starts_with(['<', '[', '-']) && *word != "...";
    let usage = usage.unwrap_or_else(|| named(words));
    let command: Vec<&str> = usage.split_whitespace().take_while(is_word).collect();
    format!("{problem}{tip}: `{} --help` says more", command.join(" "))
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// The command that the words of a command line name, as far as there is one.
fn named(words: impl Iterator<Item = String>) -> String {
    let (mut names, mut command) = ("brisance".to_owned(), Arguments::command());
    for word in words.skip(1) {
        let Some(next) = command.find_subcommand(&word) else { break };
        names = format!("{names} {word}");
        command = next.clone();
    }
    names
}

fn speed(text: &str) -> Result<f64, String> {
    let speed: Option<f64> = text.parse().ok().filter(|speed| (0.01..=100.0).contains(speed));
    speed.ok_or_else(|| "give a factor from 0.01 to 100, as in 0.25".to_owned())
}

fn angle(text: &str) -> Result<f64, String> {
    let angle: Option<f64> = text.parse().ok().filter(|angle: &f64| angle.abs() <= 36_000.0);
    angle.ok_or_else(|| "give an angle of at most 36000 degrees".to_owned())
}

fn vector(text: &str) -> Result<[f64; 3], String> {
    const MAX: f64 = 1e9;
    let numbers: Option<Vec<f64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let numbers: Option<[f64; 3]> = numbers.and_then(|numbers| numbers.try_into().ok());
    let numbers = numbers.ok_or_else(|| "give three numbers, as in 0,0.5,-1".to_owned())?;
    let is_near = numbers.iter().all(|x| x.abs() <= MAX);
    is_near.then_some(numbers).ok_or_else(|| format!("give numbers of at most {MAX:e}"))
}

fn color(text: &str) -> Result<[f32; 3], String> {
    let color = vector(text).unwrap_or([f64::NAN; 3]);
    let is_color = color.iter().all(|x| (0.0..=1.0).contains(x));
    let wrong = || "give three numbers from 0 to 1, as in 0.7,0.4,0.2".to_owned();
    is_color.then_some(color.map(|x| x as f32)).ok_or_else(wrong)
}

fn direction(text: &str) -> Result<[f64; 3], String> {
    let direction = vector(text)?;
    let is_some = direction.iter().map(|x| x * x).sum::<f64>() > 1e-18;
    is_some.then_some(direction).ok_or_else(|| "give a direction, not the zero vector".to_owned())
}

const SLICE_EXAMPLES: &str = "Examples:
  brisance slice assets/bunny.obj --plane 0,1,0,0.05 -o halves.glb
  brisance slice part.stl --plane 1,0,0,0 --plane 0,0,1,0 -o quarters.obj

Parts are closed meshes whose volumes add up to that of the whole; cuts are a material (.glb) or a \
group (.obj) of their own.";

/// Arguments of `brisance slice`.
#[derive(Args, Debug)]
#[command(after_help = SLICE_EXAMPLES)]
pub struct SliceArguments {
    /// Closed mesh: .obj, .stl, .ply or .glb
    pub mesh: PathBuf,
    /// The plane nx x + ny y + nz z = d; each of several planes cuts all parts so far
    #[arg(long = "plane", value_name = "NX,NY,NZ,D", required = true, value_parser = plane)]
    #[arg(allow_hyphen_values = true)]
    pub planes: Vec<Plane>,
    /// File to write: .glb or .obj
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

fn plane(text: &str) -> Result<Plane, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let plane = numbers.and_then(|numbers| {
        let [x, y, z, d] = numbers.try_into().ok()?;
        Plane::new(Vector3::new(x, y, z), d)
    });
    let plain = "give four numbers, the first three not all zero, as in 0,1,0,0.5";
    plane.ok_or_else(|| plain.to_owned())
}

fn size(text: &str) -> Result<[usize; 2], String> {
    let side = |n: &str| n.parse().ok().filter(|pixels| (16..=4096).contains(pixels));
    let sides = text.split_once('x').and_then(|(w, h)| Some([side(w)?, side(h)?]));
    sides.ok_or_else(|| "give width and height between 16 and 4096, as in 960x540".to_owned())
}
