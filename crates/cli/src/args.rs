//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

const EXAMPLES: &str = "Examples:
  brisance run scenes/bunny.toml -o bunny.glb
  brisance run wall.toml -o wall.glb --frames 60 --seed 7";

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
