//! Arguments of `brisance bond`.

use std::path::PathBuf;

use clap::Args;

use super::value::{positive, vector};

const BOND_EXAMPLES: &str = "Examples:
  brisance fracture assets/bunny.obj --pattern voronoi:20 -o pieces/
  brisance bond pieces --material stone --size 0.5 -o broken_bunny.toml
  brisance bond rubble.glb --strength 2e5 --position 0,1,0 -o rubble.toml

Creates a part of a scene from existing pieces: a body for each piece, and a fixed joint between touching \
pieces. A joint withstands the strength times the contact area. A scene includes the part with \
include = [\"broken_bunny.toml\"]. The meshes are written to a folder of the same name beside OUT.toml.";

/// Arguments of `brisance bond`.
#[derive(Args, Debug)]
#[command(after_help = BOND_EXAMPLES)]
pub struct BondArguments {
    /// Pieces: a mesh file with one object per piece (.obj or .glb), or a folder of closed meshes
    /// (.obj, .stl, .ply or .glb)
    pub pieces: PathBuf,
    /// Material of the pieces
    #[arg(long, value_name = "NAME", default_value = "stone")]
    pub material: String,
    /// Strength of the bonds, Pa [default: strength of the material]
    #[arg(long, value_name = "PA", value_parser = positive)]
    pub strength: Option<f64>,
    /// Longest edge of the box around all pieces, m; centers the box at the origin [default: as in
    /// the files]
    #[arg(long, value_name = "METERS", value_parser = positive)]
    pub size: Option<f64>,
    /// Largest gap between touching faces, m [default: a 10,000th of the size of all pieces]
    #[arg(long, value_name = "METERS", value_parser = positive)]
    pub gap: Option<f64>,
    /// Position of the pieces' origin in the scene, m
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    #[arg(default_value = "0,0,0")]
    pub position: [f64; 3],
    /// Prefix of the names of bodies
    #[arg(long, value_name = "NAME", default_value = "piece")]
    pub name: String,
    /// Print pieces and bonds as one line of JSON
    #[arg(long)]
    pub json: bool,
    /// Part of a scene to write, .toml
    #[arg(short, long, value_name = "OUT.toml")]
    pub output: PathBuf,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}
