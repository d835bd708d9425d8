//! Tests that are skipped because a program is missing.

use std::fs::OpenOptions;
use std::io::Write;

/// Reports why a test is skipped: on standard output, which passing tests hide, and in the file
/// named by `BRISANCE_SKIPPED`, which `cargo xtask test` prints.
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
pub fn skipped(reason: &str) {
    println!("skipped: {reason}");
    let Some(file) = std::env::var_os("BRISANCE_SKIPPED") else { return };
    let opened = OpenOptions::new().create(true).append(true).open(file);
    // a single write, since tests run in parallel; a failed write does not fail the test
    opened.and_then(|mut file| file.write_all(format!("{reason}\n").as_bytes())).ok();
}
