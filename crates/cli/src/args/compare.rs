//! Arguments of `brisance compare`.

use std::path::PathBuf;

use clap::Args;

use super::value::size;
use crate::comparison::Model;

const EXAMPLES: &str = "Examples:
  brisance compare scenes/vase.toml -o report/
  brisance compare scenes/wall.toml --models prescored,stress --frames 40 -o report/
  brisance compare scenes/glass_table.toml --resolutions 2,1,0.7 --rates 0.5,1,2 -o report/

Each run uses one fracture model for all breakable bodies of the scene. The rest of the scene is the same, and \
so is the first impact in all runs at one frame rate. The folder has index.html, report.json (`brisance schema \
--comparison` prints its schema), images, plots and a recording for each model.";

/// Arguments of `brisance compare`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompareArguments {
    /// Scene file (TOML)
    pub scene: PathBuf,
    /// Models to compare
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',')]
    #[arg(default_value = "prescored,lattice,stress")]
    pub models: Vec<Model>,
    /// Folder to write; it must not exist
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
    /// Spacings of samples and tetrahedra in further runs, as multiples of the first run
    #[arg(long, value_name = "FACTOR,...", value_delimiter = ',', value_parser = factor)]
    pub resolutions: Vec<f64>,
    /// Frames per second in further runs, as multiples of the value in the scene
    #[arg(long, value_name = "FACTOR,...", value_delimiter = ',', value_parser = factor)]
    pub rates: Vec<f64>,
    /// Number of pieces for bodies without a pattern in the scene
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub pieces: u32,
    /// Approximate number of tetrahedra for bodies without a spacing in the scene
    #[arg(long, value_name = "N", default_value_t = 4000)]
    #[arg(value_parser = clap::value_parser!(u32).range(50..=1_000_000))]
    pub tets: u32,
    /// Frames to simulate, instead of the value in the scene
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: Option<u32>,
    /// Seed of all random numbers, instead of the value in the scene
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Size of each image, pixels
    #[arg(long, value_name = "WxH", default_value = "480x360", value_parser = size)]
    pub size: [usize; 2],
    /// Also read files outside the folder of the scene and `../assets`
    #[arg(long)]
    pub allow_outside: bool,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor| (0.1..=10.0).contains(factor));
    factor.ok_or_else(|| "give a factor from 0.1 to 10, as in 0.5".to_owned())
}
