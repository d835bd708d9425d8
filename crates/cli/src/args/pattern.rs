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

Presets are glass, concrete, wood, brick and ice. Two patterns with a slash between them: the second divides \
each region of the first. A mesh file has a region in each of its objects, a folder of mesh files one in \
each file, modeled for a body in -1 to 1, the blow at the origin and y out of the body.

A picture is 2 pattern units wide and lies across the blow, its middle at the point of the blow; its \
colors must be exact (no soft edges), and the regions go through the whole depth.";

/// What can be done with patterns.
#[derive(Debug, Subcommand)]
pub enum PatternCommand {
    /// Make a pattern and write it to a file.
    #[command(after_help = PATTERN_EXAMPLES)]
    New {
        /// voronoi:PIECES, radial:SECTORSxRINGS, bricks:LENGTHxHEIGHT, slices:PLANES or preset:NAME, with
        /// further settings as in scenes after commas; a .png picture, in which each color is
        /// a region; or meshes, each a region
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
        /// Print nothing but errors
        #[arg(short, long)]
        quiet: bool,
    },
    /// Draw a cut through a pattern, each region in its own color.
    #[command(after_help = "Example:\n  brisance pattern preview shards.pattern -o shards.png

The picture shows the cut across the blow, from -1 to 1 pattern units: the blow falls in its middle.")]
    Preview {
        /// File that `brisance pattern new` wrote
        file: PathBuf,
        /// Picture to write, ending in .png
        #[arg(short, long, value_name = "OUT.png")]
        output: PathBuf,
        /// Pixels along each side
        #[arg(long, value_name = "N", default_value_t = 512)]
        #[arg(value_parser = clap::value_parser!(u16).range(16..=4096))]
        size: u16,
        /// Print nothing but errors
        #[arg(short, long)]
        quiet: bool,
    },
}
