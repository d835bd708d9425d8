//! Arguments of commands that print the contents of a file.

use std::path::PathBuf;

use clap::Args;

/// A file to look at.
#[derive(Args, Debug)]
pub struct FileArguments {
    /// The file
    pub file: PathBuf,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `brisance check`.
#[derive(Args, Debug)]
pub struct CheckArguments {
    /// What it shares with `brisance info`.
    #[command(flatten)]
    pub file: FileArguments,
    /// Read files outside the folder of the scene and `../assets`, too
    #[arg(long)]
    pub allow_outside: bool,
}
