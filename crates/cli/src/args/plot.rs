//! Arguments of `brisance plot`.

use std::path::PathBuf;

use clap::Args;

use super::value::size;

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
