//! Arguments of commands that print the contents of a file.

use std::path::PathBuf;

use clap::Args;

/// A file to inspect.
#[derive(Args, Debug)]
pub struct FileArguments {
    /// File to inspect
    pub file: PathBuf,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `brisance check`.
#[derive(Args, Debug)]
pub struct CheckArguments {
    /// Options shared with `brisance info`.
    #[command(flatten)]
    pub file: FileArguments,
    /// Also read files outside the folder of the scene and `../assets`
    #[arg(long)]
    pub allow_outside: bool,
}
