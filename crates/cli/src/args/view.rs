//! Arguments of commands that show a page in the browser.

use std::path::PathBuf;

use clap::Args;

const VIEW_EXAMPLES: &str = "Examples:
  brisance view bunny.glb
  brisance view bunny.glb --port 8000 --no-open

The page is for this machine only, at http://127.0.0.1, and fetches nothing from anywhere else. Its \
address is printed first; Ctrl-C ends it.";

/// How `brisance view` and `brisance play` serve a page.
#[derive(Args, Debug)]
pub struct ServingArguments {
    /// Port to serve the page on [default: any that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Do not open the page, only print its address
    #[arg(long)]
    pub no_open: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `brisance view`.
#[derive(Args, Debug)]
#[command(after_help = VIEW_EXAMPLES)]
pub struct ViewArguments {
    /// Recordings that `brisance run` wrote, .glb; the page shows one of several at a time
    #[arg(required = true, value_name = "RECORDING")]
    pub recordings: Vec<PathBuf>,
    /// How the page is served
    #[command(flatten)]
    pub serving: ServingArguments,
}

const PLAY_EXAMPLES: &str = "Examples:
  brisance play scenes/bunny.toml
  brisance play --page out/web --no-open

The page is for this machine only, at http://127.0.0.1, and fetches nothing from anywhere else. `cargo xtask web` \
makes its folder. Without a scene the page offers its own scenes.";

/// Arguments of `brisance play`.
#[derive(Args, Debug)]
#[command(after_help = PLAY_EXAMPLES)]
pub struct PlayArguments {
    /// Scene, .toml, without files other than meshes
    pub scene: Option<PathBuf>,
    /// Folder of the playground
    #[arg(long, value_name = "DIR", default_value = "out/web")]
    pub page: PathBuf,
    /// Let the scene name files outside its folder and ../assets
    #[arg(long)]
    pub allow_outside: bool,
    /// How the page is served
    #[command(flatten)]
    pub serving: ServingArguments,
}
