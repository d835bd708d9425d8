//! The program `brisance`.

use std::io::Write;
use std::process::ExitCode;

use brisance::args::Arguments;
use clap::Parser;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match brisance::commands::execute(&arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // nobody may be listening
            let _ = writeln!(std::io::stderr(), "brisance: {failure}");
            ExitCode::from(2)
        }
    }
}
