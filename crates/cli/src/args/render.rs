//! Arguments of `brisance render`.

use std::path::PathBuf;

use clap::Args;

use super::value::{size, vector};

const RENDER_EXAMPLES: &str = "Examples:
  brisance render bunny.glb --frame 40 -o bunny.png
  brisance render bunny.glb --frame 0,14,17,24 -o strip.png
  brisance render bunny.glb --sheet 4x3 --size 480x270 -o sheet.png
  brisance render bunny.glb --every 2 --size 480x270 -o bunny.gif
  brisance render bunny.glb --speed 0.25 -o bunny.mp4
  brisance render bunny.glb --turntable 360 -o frames/
  brisance render bunny.glb --dust dust.glb --frame 20 -o dusty.png

The extension of OUT determines the format: an image or a contact sheet (.png), an animation (.gif, or \
.apng with all colors), a video (.mp4, if `ffmpeg` is on the PATH), or a folder with an image for each frame \
(a name that ends in /).";

/// Arguments of `brisance render`.
#[derive(Args, Debug)]
#[command(after_help = RENDER_EXAMPLES)]
pub struct RenderArguments {
    /// Recording that `brisance run` wrote
    pub recording: PathBuf,
    /// File to write: .png, .gif, .apng or .mp4; or a folder of .png files, ending in /
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Frames to draw; 0 is the initial state; several frames make a contact sheet [default:
    /// shortly after the first fracture, or the middle one; all for an animation]
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    #[arg(conflicts_with = "sheet")]
    pub frame: Vec<usize>,
    /// Draw evenly spaced frames as a contact sheet, given by their number or by columns and rows
    #[arg(long, value_name = "COUNT|COLSxROWS", value_parser = sheet)]
    pub sheet: Option<Sheet>,
    /// Draw other recordings beside the first in a .png, at the same time and each with its own
    /// camera
    #[arg(long, value_name = "RECORDING,...", value_delimiter = ',')]
    pub beside: Vec<PathBuf>,
    /// Dust of the same run to draw with the first recording: the .glb file that `brisance run --dust` wrote
    #[arg(long, value_name = "DUST")]
    pub dust: Option<PathBuf>,
    /// In an animation or a folder, draw every Nth frame; the speed stays the same
    #[arg(long, value_name = "N", conflicts_with_all = ["frame", "sheet"])]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub every: Option<u16>,
    /// Speed of an animation or a folder: 0.25 draws four times as many images, for slow motion
    #[arg(long, value_name = "FACTOR", conflicts_with_all = ["frame", "sheet"])]
    #[arg(value_parser = speed)]
    pub speed: Option<f64>,
    /// Rotate the camera around its target by this total angle; the image after the last would reach it, so that 360
    /// loops
    #[arg(long, value_name = "DEGREES", value_parser = angle, allow_hyphen_values = true)]
    pub turntable: Option<f64>,
    /// Target of the camera, m [default: fitted to the recording]
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, requires = "from")]
    #[arg(allow_hyphen_values = true)]
    pub at: Option<[f64; 3]>,
    /// Position of the camera, m [default: fitted to the recording]
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, requires = "at")]
    #[arg(allow_hyphen_values = true)]
    pub from: Option<[f64; 3]>,
    /// Size of each frame, pixels
    #[arg(long, value_name = "WxH", default_value = "960x540", value_parser = size)]
    pub size: [usize; 2],
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Cells of a contact sheet.
#[derive(Clone, Copy, Debug)]
pub struct Sheet {
    /// Cells in a row, if given.
    pub columns: Option<usize>,
    /// Total number of cells.
    pub count: usize,
}

fn sheet(text: &str) -> Result<Sheet, String> {
    let number = |n: &str| n.parse().ok().filter(|n| (1..=400).contains(n));
    let sheet = match text.split_once('x') {
        Some((columns, rows)) => number(columns)
            .zip(number(rows))
            .map(|(columns, rows)| Sheet { columns: Some(columns), count: columns * rows }),
        None => number(text).map(|count| Sheet { columns: None, count }),
    };
    sheet.ok_or_else(|| "give a number up to 400, or columns and rows as in 4x3".to_owned())
}

fn speed(text: &str) -> Result<f64, String> {
    let speed: Option<f64> = text.parse().ok().filter(|speed| (0.01..=100.0).contains(speed));
    speed.ok_or_else(|| "give a factor from 0.01 to 100, as in 0.25".to_owned())
}

fn angle(text: &str) -> Result<f64, String> {
    let angle: Option<f64> = text.parse().ok().filter(|angle: &f64| angle.abs() <= 36_000.0);
    angle.ok_or_else(|| "give an angle of at most 36000 degrees".to_owned())
}
