//! The program `brisance`.

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use brisance::args::{Arguments, Command};
use clap::Parser;

/// Set when a signal asks the program to end.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // only a run looks at the flag, between frames; asked twice it ends at once too
    let looks = matches!(arguments.command, Command::Run(_) | Command::Replay(_));
    let handler = ctrlc::set_handler(move || {
        if !looks || INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    // without a handler a signal ends the program at once, which is no reason not to run
    drop(handler);
    match brisance::commands::execute(&arguments.command, &INTERRUPTED) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // nobody may be listening
            let _ = writeln!(std::io::stderr(), "brisance: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}
