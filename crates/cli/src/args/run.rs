//! Arguments of commands that simulate a scene.

use std::path::PathBuf;

use clap::Args;

use super::dust::DustOptions;

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
with a folder of .vtu files beside it), and a folder with one file per frame: .obj (a name that \
ends in /) or .ply (a name that ends in .ply/). A successful run replaces an existing file.

Ctrl-C ends the run after the current frame and writes a checkpoint. --resume continues from it to the same \
output, bit by bit.";

/// Arguments of `brisance run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArguments {
    /// Scene file (TOML), or a run that the playground saved (.json)
    pub scene: PathBuf,
    /// Options shared with `brisance replay`.
    #[command(flatten)]
    pub options: RunOptions,
    /// Also write every fracture: .jsonl for `brisance replay`, or .csv with mass, momentum and
    /// energy before and after
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
}

/// Options of `brisance run` and `brisance replay`.
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
    /// Also write mass, momentum and energy of every frame, for `brisance plot`
    #[arg(long, value_name = "FILE.csv")]
    pub ledger: Option<PathBuf>,
    /// Also write the loads of anchored bodies in every frame: force, torque and stress at their anchors
    #[arg(long, value_name = "FILE.csv")]
    pub anchor_loads: Option<PathBuf>,
    /// Also write the contacts of every frame, a line of JSON each: position, normal, impulse and materials,
    /// for sound and dust
    #[arg(long, value_name = "FILE.jsonl", conflicts_with = "resume")]
    pub contacts: Option<PathBuf>,
    /// Dust of cracks.
    #[command(flatten)]
    pub dust: DustOptions,
    /// Also write the crumbs of `[debris] crumbs` as points, and as instances of a mesh where they
    /// rest in a .glb: a .ply file of all crumbs as they appear, a folder of .ply files (ending in
    /// .ply/), .glb, .usda or .usdc
    #[arg(long, value_name = "OUT")]
    pub crumbs: Option<PathBuf>,
    /// Also write the state after the last frame for another physics engine: poses, velocities, masses,
    /// colliders, materials and joints, as .glb (KHR_physics_rigid_bodies), .usda or .usdc (UsdPhysics)
    #[arg(long, value_name = "FILE")]
    pub physics: Option<PathBuf>,
    /// Frames to simulate, instead of the value in the scene
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub frames: Option<u32>,
    /// Frames per second, instead of the value in the scene; each frame is one time step. The
    /// duration stays the same without --frames
    #[arg(long, value_name = "N", value_parser = rate)]
    pub fps: Option<f64>,
    /// Seed of all random numbers, instead of the value in the scene
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Threads to use [default: one per processor]; the result is the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Write a checkpoint every N frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub checkpoint_every: Option<u32>,
    /// File for checkpoints [default: OUT.checkpoint]
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Also read files outside the folder of the scene and `../assets`
    #[arg(long)]
    pub allow_outside: bool,
    /// Continue from a checkpoint of the same command
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Print only errors
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

const REPLAY_EXAMPLES: &str = "Examples:
  brisance run scenes/bunny.toml -o bunny.glb --events bunny.jsonl
  brisance replay scenes/bunny.toml bunny.jsonl -o bunny.usda

The events alone determine the fractures; the strengths in the scene have no effect. If nothing else in the scene \
changed, the motion is the same, bit by bit.";

/// Arguments of `brisance replay`.
#[derive(Args, Debug)]
#[command(after_help = REPLAY_EXAMPLES)]
pub struct ReplayArguments {
    /// Scene file (TOML)
    pub scene: PathBuf,
    /// Events that `brisance run --events` wrote, .jsonl
    pub events: PathBuf,
    /// Options shared with `brisance run`.
    #[command(flatten)]
    pub options: RunOptions,
}
