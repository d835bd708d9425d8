//! `brisance view`.

use std::io::Write;

use crate::args::{ServingArguments, ViewArguments};
use crate::commands::Failure;
use crate::commands::inputs::{dust_at, recording_at};
use crate::commands::outputs::print;
use crate::viewer::{Part, Server, playback, viewer};

/// Serves the page of recordings until a signal ends the program.
pub(super) fn view(arguments: &ViewArguments) -> Result<(), Failure> {
    let ViewArguments { recordings: paths, dust, serving } = arguments;
    if paths.len() > 1 && dust.is_some() {
        return Err(Failure::DustOfSeveral);
    }
    let dust = dust.as_deref().map(dust_at).transpose()?;
    let mut recordings = vec![];
    for path in paths {
        let recording = recording_at(path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = playback(&recording, dust.as_ref(), &name);
        recordings.push((name, bytes));
    }
    let parts = viewer(recordings);
    serve(parts, "", serving)
}

/// Serves a page until a signal ends the program. `query` is appended to its address.
pub(super) fn serve(
    parts: Vec<Part>,
    query: &str,
    serving: &ServingArguments,
) -> Result<(), Failure> {
    let ServingArguments { port, no_open, quiet } = *serving;
    let server = Server::bind(parts, port).map_err(|source| Failure::Serve { port, source })?;
    let address = format!("{}{query}", server.address());
    if !quiet {
        print(|out| writeln!(out, "{address}"))?;
    }
    // the address is printed in case no browser can be started
    let opened = !no_open && open::that_detached(&address).is_ok();
    let what = if opened {
        // a machine without a screen may have an opener, but no browser
        "a browser opens the page; if none does, open the address above"
    } else {
        "open the address above in a browser"
    };
    if !quiet {
        let _ = writeln!(std::io::stderr(), "{what}; Ctrl-C ends it");
    }
    server.serve();
    Ok(())
}
