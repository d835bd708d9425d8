//! The commands of the program.

mod blender;
mod bond;
mod compare;
mod dust;
mod failure;
pub mod filling;
mod fracture;
mod impacts;
mod inputs;
mod inspect;
pub mod load;
mod outputs;
mod pattern;
mod play;
mod plot;
mod regions;
mod render;
mod run;
mod slice;
mod stress;
mod view;
mod volume;
mod warnings;

use std::io::Write;
use std::sync::atomic::AtomicBool;

use clap::CommandFactory;

use crate::args::{Arguments, Command};
pub use failure::{Failure, Named};
use outputs::print;

/// The JSON schema of scene files.
pub const SCHEMA: &str = include_str!("scene.schema.json");

/// Executes the command line. A run ends early once `interrupted` is set.
///
/// # Errors
/// [`Failure`] if the command fails; outputs are then unchanged.
pub fn execute(command: &Command, interrupted: &AtomicBool) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments, interrupted),
        Command::Replay(arguments) => run::replay(arguments, interrupted),
        Command::Fracture(arguments) => fracture::fracture(arguments),
        Command::Bond(arguments) => bond::run(arguments),
        Command::Pattern(command) => pattern::pattern(command),
        Command::Render(arguments) => render::render(arguments),
        Command::View(arguments) => view::view(arguments),
        Command::Play(arguments) => play::play(arguments),
        Command::Blender(arguments) => blender::blender(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Plot(arguments) => plot::plot(arguments),
        Command::Slice(arguments) => slice::run(arguments),
        Command::Tetrahedralize(arguments) => volume::tetrahedralize(arguments),
        Command::Voxelize(arguments) => volume::voxelize(arguments),
        Command::Stress(arguments) => stress::run(arguments),
        Command::Check(arguments) => inspect::check(arguments),
        Command::Info(arguments) => inspect::info(arguments),
        Command::Schema { loads, comparison } => {
            let schema = match (loads, comparison) {
                (true, _) => crate::loads_file::LOADS_SCHEMA,
                (_, true) => crate::comparison::REPORT_SCHEMA,
                _ => SCHEMA,
            };
            print(|out| out.write_all(schema.as_bytes()))
        }
        Command::Completions { shell } => {
            let mut text = vec![];
            clap_complete::generate(*shell, &mut Arguments::command(), "brisance", &mut text);
            print(|out| out.write_all(&text))
        }
        Command::Man => print(|out| clap_mangen::Man::new(Arguments::command()).render(out)),
    }
}
