//! Shared code of commands that write dust and crumbs.

use std::io::Write;
use std::path::Path;

use sim::Dust;

use super::failure::Failure;
use super::outputs::check_folder;
use crate::format::DustFormat;
use crate::wording::number;

/// The output format of dust; rejects outputs that cannot succeed.
pub(super) fn check_dust(path: &Path) -> Result<DustFormat, Failure> {
    check_folder(path)?;
    let known = DustFormat::ENDINGS;
    DustFormat::of(path).ok_or_else(|| Failure::Format { path: path.to_owned(), known })
}

/// Writes dust in the format of `path`, and warns if it is less than requested.
pub(super) fn write_dust(dust: &Dust, path: &Path, is_quiet: bool) -> Result<(), Failure> {
    let failed = |source| Failure::Write { path: path.to_owned(), source };
    check_dust(path)?.write(dust, path).map_err(failed)?;
    let count = dust.specks.len();
    if !is_quiet && count == 0 {
        let why = if dust.energy > 0.0 {
            let (energy, requested) = (number(dust.energy), number(dust.requested));
            format!(
                "cracks take {energy} J, which is {requested} specks: give a larger --dust-per-joule"
            )
        } else {
            "no crack takes energy".to_owned()
        };
        // stderr may be closed
        let _ = writeln!(std::io::stderr(), "note: {}: there is no dust: {why}", path.display());
    }
    if !is_quiet && dust.requested >= count as f64 + 1.0 {
        let requested = number(dust.requested);
        // stderr may be closed
        let _ = writeln!(
            std::io::stderr(),
            "warning: dust is limited to {count} specks, not {requested}: give a smaller --dust-per-joule"
        );
    }
    Ok(())
}

/// Writes crumbs in the format of `path`; a format that stores every frame has a limited number of
/// them, with a warning.
pub(super) fn write_crumbs(crumbs: Dust, path: &Path, is_quiet: bool) -> Result<(), Failure> {
    let failed = |source| Failure::Write { path: path.to_owned(), source };
    let format = check_dust(path)?;
    let all = crumbs.specks.len();
    let most = if format.stores_frames() { Dust::MAX_SHOWN_SPECKS / crumbs.frames() } else { all };
    let crumbs = crumbs.thinned(most);
    format.write(&crumbs, path).map_err(failed)?;
    let (count, path) = (crumbs.specks.len(), path.display());
    // stderr may be closed
    if !is_quiet && all == 0 {
        let _ = writeln!(std::io::stderr(), "note: {path}: there are no crumbs");
    } else if !is_quiet && count < all {
        let _ = writeln!(
            std::io::stderr(),
            "warning: {path} has {count} of {all} crumbs, evenly chosen, since it stores them in every \
             frame: write .glb or one .ply file"
        );
    }
    Ok(())
}
