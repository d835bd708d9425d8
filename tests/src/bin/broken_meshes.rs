//! Writes the report on broken meshes, `docs/broken-meshes.md`, to standard output.
#![expect(clippy::print_stdout, reason = "a program that reports")]

fn main() -> Result<(), brisance_tests::broken_meshes::ReportError> {
    print!("{}", brisance_tests::broken_meshes::report()?);
    Ok(())
}
