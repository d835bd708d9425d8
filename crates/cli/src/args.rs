//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

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
    /// Simulate a scene and write what happened.
    Run(RunArguments),
    /// Draw frames of a recording as PNG.
    Render(RenderArguments),
}

const RUN_EXAMPLES: &str = "Examples:
  brisance run scenes/bunny.toml -o bunny.glb
  brisance run scenes/bunny.toml -o short.glb --frames 30 --quiet

The output is an animated binary glTF: open it in Blender with File > Import > glTF 2.0.
A file that exists is replaced, but only when the run has succeeded.";

/// Arguments of `brisance run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArguments {
    /// Scene file (TOML)
    pub scene: PathBuf,
    /// File to write, ending in .glb
    #[arg(short, long, value_name = "OUT.glb")]
    pub output: PathBuf,
    /// Frames to simulate, instead of the scene's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub frames: Option<u32>,
    /// Seed of everything random, instead of the scene's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Threads to use [default: one per processor]; the result is the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

const RENDER_EXAMPLES: &str = "Examples:
  brisance render bunny.glb --frame 40 -o bunny.png
  brisance render bunny.glb --frame 0,14,17,24 -o strip.png
  brisance render bunny.glb --sheet 12 --size 480x270 -o sheet.png";

/// Arguments of `brisance render`.
#[derive(Args, Debug)]
#[command(after_help = RENDER_EXAMPLES)]
pub struct RenderArguments {
    /// Recording that `brisance run` wrote
    pub recording: PathBuf,
    /// Picture to write, ending in .png
    #[arg(short, long, value_name = "OUT.png")]
    pub output: PathBuf,
    /// Frame to draw, 0 is the initial state; several make a contact sheet
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [0])]
    #[arg(conflicts_with = "sheet")]
    pub frame: Vec<usize>,
    /// Draw so many frames, spread evenly, as a contact sheet
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=400))]
    pub sheet: Option<u16>,
    /// Pixels of each frame
    #[arg(long, value_name = "WxH", default_value = "960x540", value_parser = size)]
    pub size: [usize; 2],
}

fn size(text: &str) -> Result<[usize; 2], String> {
    let side = |n: &str| n.parse().ok().filter(|pixels| (16..=8192).contains(pixels));
    let sides = text.split_once('x').and_then(|(w, h)| Some([side(w)?, side(h)?]));
    sides.ok_or_else(|| "give width and height between 16 and 8192, as in 960x540".to_owned())
}
