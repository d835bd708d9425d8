//! Arguments of `brisance fracture`.

use std::path::PathBuf;

use clap::Args;

use super::dust::DustOptions;
use super::sampling::Sampling;
use super::value::{positive, vector};

const FRACTURE_EXAMPLES: &str = "Examples:
  brisance fracture assets/bunny.obj --pattern voronoi:35 -o pieces.glb
  brisance fracture vase.obj --pattern radial:9x3,jitter=0.7 --at 0,0.1,0.2 --normal 0,0,1 -o out/
  brisance fracture vase.obj --pattern shards.pattern --nodes 300000 -o pieces.usda
  brisance fracture vase.obj --pattern preset:glass -o pieces.glb --json > pieces.json
  brisance fracture vase.obj --pattern voronoi:20 --material clay --inside 0.7,0.4,0.2 -o sherds.glb
  brisance fracture vase.obj --pattern voronoi:20 --material glass -o pieces.usda --dust dust.ply

Every piece is a separate object at its original position. Cuts have a separate material.";

/// Arguments of `brisance fracture`.
#[derive(Args, Debug)]
#[command(after_help = FRACTURE_EXAMPLES)]
pub struct FractureArguments {
    /// Closed mesh: .obj, .stl, .ply or .glb
    pub mesh: PathBuf,
    /// voronoi:PIECES, radial:SECTORSxRINGS, bricks:LENGTHxHEIGHT, slices:PLANES, preset:NAME, two of these
    /// separated by a slash, or a file of `brisance pattern new`
    #[arg(long, value_name = "PATTERN")]
    pub pattern: String,
    /// Point of the impact in mesh coordinates [default: the middle of the top]
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    pub at: Option<[f64; 3]>,
    /// Outward normal of the mesh at the point of the impact
    /// [default: 0,1,0]
    #[arg(long, value_name = "X,Y,Z", value_parser = direction, allow_hyphen_values = true)]
    pub normal: Option<[f64; 3]>,
    /// Seed of the pattern [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Sampling of the mesh
    #[command(flatten)]
    pub sampling: Sampling,
    /// The neighbor with the largest contact area absorbs pieces with a smaller share of the volume
    /// [default: an 8th of the mean share]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub min_share: Option<f64>,
    /// Material of the pieces, as in scenes: density, color and texture of cuts and of surfaces
    /// without a color
    #[arg(long, value_name = "NAME")]
    pub material: Option<String>,
    /// Linear RGB color of cuts, each from 0 to 1 [default: the color of the material, or else the
    /// mean color of the mesh]
    #[arg(long, value_name = "R,G,B", value_parser = color, allow_hyphen_values = true)]
    pub inside: Option<[f32; 3]>,
    /// Density for the masses of --json and --physics, in kg per cubed unit of the mesh [default:
    /// the density of the material, or 1000]
    #[arg(long, value_name = "DENSITY", value_parser = positive)]
    pub density: Option<f64>,
    /// Also write the pieces as rigid bodies for a physics engine: masses and convex colliders, as .glb
    /// (KHR_physics_rigid_bodies), .usda or .usdc (UsdPhysics)
    #[arg(long, value_name = "FILE")]
    pub physics: Option<PathBuf>,
    /// Dust of cracks.
    #[command(flatten)]
    pub dust: DustOptions,
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
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x| (0.0..1.0).contains(x));
    number.ok_or_else(|| "give a number from 0 to less than 1".to_owned())
}

fn color(text: &str) -> Result<[f32; 3], String> {
    let color = vector(text).unwrap_or([f64::NAN; 3]);
    let is_color = color.iter().all(|x| (0.0..=1.0).contains(x));
    let wrong = || "give three numbers from 0 to 1, as in 0.7,0.4,0.2".to_owned();
    is_color.then_some(color.map(|x| x as f32)).ok_or_else(wrong)
}

fn direction(text: &str) -> Result<[f64; 3], String> {
    let direction = vector(text)?;
    let is_nonzero = direction.iter().map(|x| x * x).sum::<f64>() > 1e-18;
    is_nonzero
        .then_some(direction)
        .ok_or_else(|| "give a direction, not the zero vector".to_owned())
}
