//! `brisance view`.

use std::io::Write;

use crate::args::ViewArguments;
use crate::commands::{Failure, print, read};
use crate::format::glb::read_glb;
use crate::viewer::{Viewer, playback};

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
    let viewer =
        Viewer::bind(recordings, *port).map_err(|source| Failure::Serve { port: *port, source })?;
    if !quiet {
        print(|out| writeln!(out, "{}", viewer.address()))?;
    }
    // the address is printed: where no browser can be started, a person can
    let opened = !no_open && open::that_detached(viewer.address()).is_ok();
    let what = if opened { "the page is open" } else { "open the address above in a browser" };
    if !quiet {
        let _ = writeln!(std::io::stderr(), "{what}; Ctrl-C ends it");
    }
    viewer.serve();
    Ok(())
}
