//! Arguments of `brisance plot`.

use std::path::PathBuf;

use clap::Args;

use super::value::size;

const PLOT_EXAMPLES: &str = "Examples:
  brisance plot bunny.csv -o bunny.svg
  brisance plot bunny.csv --size 1200x900 -o bunny.png

Plots over time: energy and its dissipation by cause, drift of momentum and angular momentum, and number of bodies.";

/// Arguments of `brisance plot`.
#[derive(Args, Debug)]
#[command(after_help = PLOT_EXAMPLES)]
pub struct PlotArguments {
    /// Ledger that `brisance run --ledger` wrote, .csv
    pub ledger: PathBuf,
    /// Image to write, .svg or .png
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Size of the image, pixels
    #[arg(long, value_name = "WxH", default_value = "960x1080", value_parser = size)]
    pub size: [usize; 2],
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}
