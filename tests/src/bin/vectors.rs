//! Runs the reference vectors of a folder against the library, one line per file.
//!
//! `vectors [DIR]`; the default is the folder `vectors` of this package. Exit code 1 if a number
//! exceeds its tolerance, a file has no check, or the folder has no file.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use brisance_tests::vectors::run;
use std::{path::PathBuf, process::ExitCode};

fn main() -> ExitCode {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let folder = std::env::args_os().nth(1).map_or_else(default, PathBuf::from);
    let results = match run(&folder) {
        Ok(results) => results,
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    };
    if results.is_empty() {
        eprintln!("{}: no JSON files; give a folder that has some", folder.display());
        return ExitCode::FAILURE;
    }
    let mut all_pass = true;
    for (name, result) in results {
        let (verdict, detail) = match &result {
            Ok(worst) => (
                worst.passes(),
                format!(
                    "worst relative error {:.1e} of {:.0e} allowed, in {} ({} compared)",
                    worst.error, worst.tolerance, worst.what, worst.compared
                ),
            ),
            Err(error) => (false, error.to_string()),
        };
        println!("{} {name:<18} {detail}", if verdict { "ok    " } else { "FAILED" });
        all_pass &= verdict;
    }
    if all_pass { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
