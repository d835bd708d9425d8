//! `brisance plot`.

use std::io::Write;

use crate::args::PlotArguments;
use crate::commands::Failure;
use crate::commands::inputs::{ends_in, read};
use crate::commands::outputs::{check_distinct, check_folder, print};
use crate::output::write_whole;
use crate::plot::{Table, TableError, to_picture, to_svg};

/// Draws a ledger.
pub(super) fn plot(arguments: &PlotArguments) -> Result<(), Failure> {
    let PlotArguments { ledger, output, size, quiet } = arguments;
    let is_svg = ends_in(output, "svg");
    if !is_svg && !ends_in(output, "png") {
        return Err(Failure::Format { path: output.clone(), known: ".svg or .png" });
    }
    check_folder(output)?;
    check_distinct(output, [ledger.as_path()])?;
    let wrong = |source| Failure::Ledger { path: ledger.clone(), source };
    let text = String::from_utf8(read(ledger)?).map_err(|_| wrong(TableError::NoLedger))?;
    let table = Table::from_csv(&text).map_err(wrong)?;
    let written = if is_svg {
        let svg = to_svg(&table, *size).map_err(wrong)?;
        write_whole(output, |out| out.write_all(svg.as_bytes()))
    } else {
        let picture = to_picture(&table, *size).map_err(wrong)?;
        write_whole(output, |out| picture.write_png(out))
    };
    written.map_err(|e| Failure::Write { path: output.clone(), source: e.into() })?;
    if *quiet {
        return Ok(());
    }
    let [width, height] = size;
    print(|out| writeln!(out, "{}: {width} x {height} pixels", output.display()))
}
