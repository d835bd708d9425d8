//! The program `brisance`.

mod memory;

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use brisance::args::{Arguments, Command, usage_error};
use clap::Parser;
use clap::error::ErrorKind;

#[global_allocator]
static MEMORY: memory::Allocator = memory::Allocator;

/// Set when a signal requests the program to end.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Signals within this time of the first count as the same request: `timeout` and others send one
/// to a program and one to its process group.
const ONE_REQUEST: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return answer(&error),
    };
    // only a run checks the flag, between frames; a second request ends it immediately too
    let looks = matches!(arguments.command, Command::Run(_) | Command::Replay(_));
    let mut first_signal: Option<Instant> = None;
    let handler = ctrlc::set_handler(move || match first_signal {
        _ if !looks => end(),
        None => {
            first_signal = Some(Instant::now());
            print_message(
                &"stopping once this frame or file is whole; interrupt again to end at once",
            );
            INTERRUPTED.store(true, Ordering::Relaxed);
        }
        Some(first) if first.elapsed() < ONE_REQUEST => {}
        Some(_) => {
            print_message(&"ended at once: what no checkpoint holds is lost");
            end();
        }
    });
    // without a handler a signal ends the program immediately, which is acceptable
    drop(handler);
    match brisance::commands::execute(&arguments.command, &INTERRUPTED) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            print_message(&failure.line());
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Ends the program on a signal, discarding unfinished files.
fn end() -> ! {
    brisance::output::discard_unfinished();
    std::process::exit(130)
}

/// Prints help if requested, or the errors of the command line.
fn answer(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match error.print() {
            Err(fault) if fault.kind() != std::io::ErrorKind::BrokenPipe => {
                print_message(&brisance::commands::Failure::Stdout { source: fault });
                ExitCode::from(2)
            }
            _ => ExitCode::SUCCESS,
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            print_message(&usage_error(error, std::env::args()));
            ExitCode::from(2)
        }
    }
}

fn print_message(what: &dyn std::fmt::Display) {
    // stderr may be closed
    let _ = writeln!(std::io::stderr(), "brisance: {what}");
}
