//! Writes the report on broken meshes, `docs/broken-meshes.md`, to standard output.
#![expect(clippy::print_stdout, reason = "a program that reports")]

use brisance_tests::broken_meshes::{ReportError, report, rows};

fn main() -> Result<(), ReportError> {
    print!("{}", report(&rows()?));
    Ok(())
}
