//! Options of commands that write dust.

use std::path::PathBuf;

use clap::Args;
use sim::Dust;

/// Dust of cracks.
#[derive(Args, Clone, Debug)]
pub struct DustOptions {
    /// Also write dust of cracks as points for a particle system: a .ply file of all specks as they appear, a folder of
    /// .ply files (ending in .ply/), .glb, .usda or .usdc
    #[arg(id = "dust", long = "dust", value_name = "OUT")]
    pub path: Option<PathBuf>,
    /// Specks of dust per joule of crack energy; at most 1,000,000 in total
    #[arg(id = "dust_per_joule", long = "dust-per-joule", value_name = "N", requires = "dust")]
    #[arg(value_parser = rate, allow_negative_numbers = true)]
    #[arg(default_value_t = Dust::PER_JOULE)]
    pub per_joule: f64,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-6..=1e9).contains(rate));
    rate.ok_or_else(|| "give a number between 1e-6 and 1e9".to_owned())
}
