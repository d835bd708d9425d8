//! Tests that need a program which is not installed.

use std::fs::OpenOptions;
use std::io::Write;

/// Says why a test is skipped: in its own output, which a test that passes does not show, and in the file that
/// `BRISANCE_SKIPPED` names, from which `cargo xtask test` prints it.
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
pub fn skipped(reason: &str) {
    println!("skipped: {reason}");
    let Some(file) = std::env::var_os("BRISANCE_SKIPPED") else { return };
    let opened = OpenOptions::new().create(true).append(true).open(file);
    // one write, since tests run side by side; a test does not fail because this cannot be written
    opened.and_then(|mut file| file.write_all(format!("{reason}\n").as_bytes())).ok();
}
