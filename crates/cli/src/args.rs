//! The command line.

mod blender;
mod bond;
mod compare;
mod dust;
mod fracture;
mod inspect;
mod pattern;
mod plot;
mod render;
mod run;
mod sampling;
mod slice;
mod stress;
mod value;
mod view;
mod volume;

use clap::{CommandFactory, Parser, Subcommand};

pub use blender::BlenderArguments;
pub use bond::BondArguments;
pub use compare::CompareArguments;
pub use dust::DustOptions;
pub use fracture::FractureArguments;
pub use inspect::{CheckArguments, FileArguments};
pub use pattern::PatternCommand;
pub use plot::PlotArguments;
pub use render::{RenderArguments, Sheet};
pub use run::{ReplayArguments, RunArguments, RunOptions};
pub use sampling::Sampling;
pub use slice::SliceArguments;
pub use stress::StressArguments;
pub use view::{PlayArguments, ServingArguments, ViewArguments};
pub use volume::{TetrahedralizeArguments, VoxelizeArguments};

const EXAMPLES: &str = "Examples:
  brisance run scenes/bunny.toml -o bunny.glb
  brisance run wall.toml -o wall.glb --frames 60 --seed 7
  brisance render bunny.glb --frame 40 -o bunny.png";

/// Simulate rigid bodies that shatter where they are hit.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Arguments {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene and write a recording.
    Run(RunArguments),
    /// Simulate a scene with the fractures of an event file.
    Replay(ReplayArguments),
    /// Break a mesh into pieces, without a simulation.
    Fracture(FractureArguments),
    /// Create a part of a scene from existing pieces, connected by bonds.
    Bond(BondArguments),
    /// Create a file of a fracture pattern, or draw a pattern.
    #[command(subcommand)]
    Pattern(PatternCommand),
    /// Draw a recording: an image, a contact sheet, an animation or a video.
    Render(RenderArguments),
    /// Show a recording in the browser.
    View(ViewArguments),
    /// Interact with a scene in the browser: throw, carry, cut and explode bodies.
    Play(PlayArguments),
    /// Convert a recording to a .blend, Alembic, FBX or USD file by Blender.
    Blender(BlenderArguments),
    /// Run a scene with several fracture models and write a report that compares them.
    Compare(CompareArguments),
    /// Plot a ledger.
    Plot(PlotArguments),
    /// Cut a closed mesh by planes.
    Slice(SliceArguments),
    /// Fill a closed mesh with tetrahedra.
    Tetrahedralize(TetrahedralizeArguments),
    /// Sample a closed mesh as signed distance on a grid, or convert such a grid to a mesh.
    Voxelize(VoxelizeArguments),
    /// Compute the stress of a tetrahedral body under impulses and loads.
    Stress(StressArguments),
    /// Print the contents of a scene and check that it can be run, without a simulation.
    #[command(after_help = "Example:\n  brisance check scenes/bunny.toml")]
    Check(CheckArguments),
    /// Print the contents of a recording, a mesh, a file of tetrahedra, a level set or a pattern.
    #[command(
        after_help = "Examples:\n  brisance info bunny.glb\n  brisance info assets/bunny.obj"
    )]
    Info(FileArguments),
    /// Print the JSON schema of scene files, for completion in editors.
    #[command(after_help = "Example:\n  brisance schema > scene.schema.json

First line of a scene that uses the schema: #:schema ./scene.schema.json")]
    Schema {
        /// Print the schema of the load files of `brisance stress --loads`
        #[arg(long, conflicts_with = "comparison")]
        loads: bool,
        /// Print the schema of the report of `brisance compare`
        #[arg(long)]
        comparison: bool,
    },
    /// Print completions for a shell.
    #[command(after_help = "Example:\n  brisance completions bash > brisance.bash")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    #[command(after_help = "Example:\n  brisance man > brisance.1")]
    Man,
}

/// The error in the `words` of a command line, in one sentence.
pub fn usage_error(error: &clap::Error, words: impl Iterator<Item = String>) -> String {
    let text = error.render().to_string();
    let mut parts = text.trim().split("\n\n");
    let joined = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let problem = joined(parts.next().unwrap_or_default());
    let problem = problem.strip_prefix("error: ").unwrap_or(&problem);
    // messages of Rust's number parsers
    let problem = problem
        .replace("invalid digit found in string", "give a whole number of 0 or more")
        .replace("cannot parse integer from empty string", "give a whole number of 0 or more")
        .replace("number too large to fit in target type", "give a smaller number");
    let mut rest = parts.map(joined);
    let tip = rest.clone().find_map(|part| Some(part.strip_prefix("tip: ")?.to_owned()));
    let usage = rest.find_map(|part| Some(part.strip_prefix("Usage: ")?.to_owned()));
    // clap mistakes a negative number for an option
    let is_number = |tip: &String| tip.strip_prefix("to pass '-").is_some_and(starts_with_digit);
    let tip = match tip {
        Some(tip) if is_number(&tip) => " (the option before it takes no negative number)".into(),
        tip => tip.map_or_else(String::new, |tip| format!(" ({tip})")),
    };
    // the name of the executable is arbitrary
    let is_word = |word: &&str| !word.starts_with(['<', '[', '-']) && *word != "...";
    let usage = usage.unwrap_or_else(|| named(words));
    let command: Vec<&str> = usage.split_whitespace().take_while(is_word).collect();
    format!("{problem}{tip}: `{} --help` says more", command.join(" "))
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// The command and subcommands at the start of a command line.
fn named(words: impl Iterator<Item = String>) -> String {
    let (mut names, mut command) = ("brisance".to_owned(), Arguments::command());
    for word in words.skip(1) {
        let Some(next) = command.find_subcommand(&word) else { break };
        names = format!("{names} {word}");
        command = next.clone();
    }
    names
}
