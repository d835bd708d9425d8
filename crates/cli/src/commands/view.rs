//! `brisance view`.

use std::io::Write;

use crate::args::ViewArguments;
use crate::commands::{Failure, print, read};
use crate::format::glb::read_glb;
use crate::viewer::{Part, Server, playback, viewer};

/// Serves the page of recordings until a signal ends the program.
pub(super) fn view(arguments: &ViewArguments) -> Result<(), Failure> {
    let ViewArguments { recordings: paths, port, no_open, quiet } = arguments;
    let mut recordings = vec![];
    for path in paths {
        let recording = read_glb(&read(path)?)
            .map_err(|source| Failure::Recording { path: path.clone(), source })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = playback(&recording, &name);
        recordings.push((name, bytes));
    }
    let parts = viewer(recordings);
    serve(parts, &Address { port: *port, route: "", opens: !no_open, quiet: *quiet })
}

/// Where a page is served, and who is told.
pub(super) struct Address {
    /// The port, or 0 for any that is free.
    pub(super) port: u16,
    /// What follows the first slash.
    pub(super) route: &'static str,
    /// Whether the page is opened in a browser.
    pub(super) opens: bool,
    /// Whether nothing is printed.
    pub(super) quiet: bool,
}

/// Serves a page until a signal ends the program.
pub(super) fn serve(parts: Vec<Part>, address: &Address) -> Result<(), Failure> {
    let Address { port, route, opens, quiet } = *address;
    let server = Server::bind(parts, port).map_err(|source| Failure::Serve { port, source })?;
    let address = format!("{}{route}", server.address());
    if !quiet {
        print(|out| writeln!(out, "{address}"))?;
    }
    // the address is printed: where no browser can be started, a person can
    let opened = opens && open::that_detached(&address).is_ok();
    let what = if opened { "the page is open" } else { "open the address above in a browser" };
    if !quiet {
        let _ = writeln!(std::io::stderr(), "{what}; Ctrl-C ends it");
    }
    server.serve();
    Ok(())
}
