//! The program `brisance`.

mod memory;

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use brisance::args::{Arguments, Command, complaint};
use clap::Parser;
use clap::error::ErrorKind;

#[global_allocator]
static MEMORY: memory::Allocator = memory::Allocator;

/// Set when a signal asks the program to end.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Signals that come so soon after the first are one request with it: `timeout` and others send one to
/// a program and one to all of its group.
const ONE_REQUEST: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return answer(&error),
    };
    // only a run looks at the flag, between frames; asked twice it ends at once too
    let looks = matches!(arguments.command, Command::Run(_) | Command::Replay(_));
    let mut asked: Option<Instant> = None;
    let handler = ctrlc::set_handler(move || match asked {
        _ if !looks => end(),
        None => {
            asked = Some(Instant::now());
            say(&"stopping once this frame or file is whole; interrupt again to end at once");
            INTERRUPTED.store(true, Ordering::Relaxed);
        }
        Some(first) if first.elapsed() < ONE_REQUEST => {}
        Some(_) => {
            say(&"ended at once: what no checkpoint holds is lost");
            end();
        }
    });
    // without a handler a signal ends the program at once, which is no reason not to run
    drop(handler);
    match brisance::commands::execute(&arguments.command, &INTERRUPTED) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say(&failure.line());
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Ends the program as a signal asks, without the files that are being written.
fn end() -> ! {
    brisance::output::discard_unfinished();
    std::process::exit(130)
}

/// Prints help where it is asked for, or what is wrong with the command line.
fn answer(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match error.print() {
            Err(fault) if fault.kind() != std::io::ErrorKind::BrokenPipe => {
                say(&brisance::commands::Failure::Stdout { source: fault });
                ExitCode::from(2)
            }
            _ => ExitCode::SUCCESS,
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            say(&complaint(error, std::env::args()));
            ExitCode::from(2)
        }
    }
}

fn say(what: &dyn std::fmt::Display) {
    // nobody may be listening
    let _ = writeln!(std::io::stderr(), "brisance: {what}");
}
