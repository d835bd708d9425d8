//! Arguments of `brisance pattern`.

use std::path::PathBuf;

use clap::Subcommand;

const PATTERN_EXAMPLES: &str = "Examples:
  brisance pattern new voronoi:200 -o shards.pattern
  brisance pattern new radial:9x3,jitter=0.3 -o glass.pattern
  brisance pattern new bricks:4x3,jitter=0.3 -o wall.pattern
  brisance pattern new bricks:4x3/voronoi:5 -o rubble.pattern
  brisance pattern new preset:glass -o pane.pattern
  brisance pattern new puzzle.png -o puzzle.pattern
  brisance pattern new regions.obj -o regions.pattern
  brisance pattern new wall --scene scenes/brick_wall.toml -o wall.pattern

Presets are glass, concrete, wood, brick and ice. In two patterns separated by a slash, the second divides \
each region of the first. Each object of a mesh file, and each mesh file of a folder, is a region. In \
a mesh of regions, the body spans -1 to 1, the impact is at the origin, and y points out of the body.

An image is 2 pattern units wide and normal to the direction of the impact, with the impact in its center. Its \
colors must be exact (no soft edges). The regions extend through the whole depth.";

/// Commands for patterns.
#[derive(Debug, Subcommand)]
pub enum PatternCommand {
    /// Create a pattern and write it to a file.
    #[command(after_help = PATTERN_EXAMPLES)]
    New {
        /// voronoi:PIECES, radial:SECTORSxRINGS, bricks:LENGTHxHEIGHT, slices:PLANES or preset:NAME, with
        /// further settings as in scenes after commas; a .png image with one color per region; or
        /// meshes with one mesh per region
        pattern: String,
        /// Scene file that defines a pattern with the name PATTERN
        #[arg(long, value_name = "SCENE")]
        scene: Option<PathBuf>,
        /// Seed of the pattern
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
        /// File to write
        #[arg(short, long, value_name = "OUT")]
        output: PathBuf,
        /// Print only errors
        #[arg(short, long)]
        quiet: bool,
    },
    /// Draw a section through a pattern, each region in its own color.
    #[command(after_help = "Example:\n  brisance pattern preview shards.pattern -o shards.png

The image shows the section through the impact from -1 to 1 pattern units, with the impact in its center.")]
    Preview {
        /// File that `brisance pattern new` wrote
        file: PathBuf,
        /// Image to write, ending in .png
        #[arg(short, long, value_name = "OUT.png")]
        output: PathBuf,
        /// Size of the square image, pixels
        #[arg(long, value_name = "N", default_value_t = 512)]
        #[arg(value_parser = clap::value_parser!(u16).range(16..=4096))]
        size: u16,
        /// Print only errors
        #[arg(short, long)]
        quiet: bool,
    },
}
