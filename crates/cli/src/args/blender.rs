//! Arguments of `brisance blender`.

use std::path::PathBuf;

use clap::Args;

const BLENDER_EXAMPLES: &str = "Examples:
  brisance blender bunny.glb -o bunny.blend
  brisance blender bunny.glb -o bunny.fbx --python venv/bin/python
  brisance blender --script > import.py

Blender imports the recording at its frame rate and writes Blender's own file (.blend), Alembic (.abc), FBX \
(.fbx) or binary USD (.usdc). The pieces of each broken body have an empty as parent. The command runs the program \
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
    /// Blender executable
    #[arg(long, value_name = "FILE", default_value = "blender")]
    pub blender: PathBuf,
    /// Python executable with the module bpy
    #[arg(long, value_name = "FILE", default_value = "python3")]
    pub python: PathBuf,
    /// Print the Python script for Blender and exit
    #[arg(long, conflicts_with_all = ["recording", "output"])]
    pub script: bool,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}
