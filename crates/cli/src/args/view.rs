//! Arguments of commands that show a page in the browser.

use std::path::PathBuf;

use clap::Args;

const VIEW_EXAMPLES: &str = "Examples:
  brisance view bunny.glb
  brisance view bunny.glb --dust dust.glb
  brisance view bunny.glb --port 8000 --no-open

The page is available on this machine only, at http://127.0.0.1, and makes no other network requests. The \
command prints the address; Ctrl-C stops the server.";

/// Options of the page server of `brisance view` and `brisance play`.
#[derive(Args, Debug)]
pub struct ServingArguments {
    /// Port of the server [default: any free port]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Print the address without opening the page
    #[arg(long)]
    pub no_open: bool,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `brisance view`.
#[derive(Args, Debug)]
#[command(after_help = VIEW_EXAMPLES)]
pub struct ViewArguments {
    /// Recordings that `brisance run` wrote, .glb; the page shows one at a time
    #[arg(required = true, value_name = "RECORDING")]
    pub recordings: Vec<PathBuf>,
    /// Dust of the same run to show: the .glb file that `brisance run --dust` wrote; only with one recording
    #[arg(long, value_name = "DUST")]
    pub dust: Option<PathBuf>,
    /// Options of the page server
    #[command(flatten)]
    pub serving: ServingArguments,
}

const PLAY_EXAMPLES: &str = "Examples:
  brisance play scenes/bunny.toml
  brisance play --page out/web --no-open

The page is available on this machine only, at http://127.0.0.1, and makes no other network requests. `cargo xtask web` \
builds the folder of the page. Without a scene the page offers its built-in scenes.";

/// Arguments of `brisance play`.
#[derive(Args, Debug)]
#[command(after_help = PLAY_EXAMPLES)]
pub struct PlayArguments {
    /// Scene, .toml; it may refer to mesh files only
    pub scene: Option<PathBuf>,
    /// Folder of the playground
    #[arg(long, value_name = "DIR", default_value = "out/web")]
    pub page: PathBuf,
    /// Also read files outside the folder of the scene and `../assets`
    #[arg(long)]
    pub allow_outside: bool,
    /// Options of the page server
    #[command(flatten)]
    pub serving: ServingArguments,
}
