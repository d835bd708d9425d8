//! Outputs of commands, and early checks of them.

use std::io::{self, Write};
use std::path::Path;

use sim::PhysicsScene;

use super::failure::Failure;
use crate::format::{Format, PhysicsFormat};
use crate::output::is_same_file;

/// Writes to standard output. A closed pipe is not an error, a full device is.
pub(super) fn print(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<(), Failure> {
    let mut text = vec![];
    let mut out = io::stdout().lock();
    let written = write(&mut text).and_then(|()| out.write_all(&text)).and_then(|()| out.flush());
    match written {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Stdout { source })
        }
        _ => Ok(()),
    }
}

/// Prints a note of an option without effect.
pub(super) fn note_no_effect(option: &str, why: &str) {
    // stderr may be closed
    let _ = writeln!(io::stderr(), "note: {option} has no effect: {why}");
}

/// A line about the materials of a mesh file that the output format does not support.
pub(super) fn write_no_materials(out: &mut impl Write, path: &Path) -> io::Result<()> {
    writeln!(out, "materials of {} are not carried over: write a .glb file", path.display())
}

/// The output format of a recording; rejects outputs that cannot succeed.
pub(super) fn check_output(path: &Path, is_rigged: bool) -> Result<Format, Failure> {
    let format = Format::of(path)
        .ok_or_else(|| Failure::Format { path: path.to_owned(), known: Format::ENDINGS })?;
    let format = if is_rigged { format.rigged() } else { Some(format) };
    let format = format.ok_or_else(|| Failure::NoRig { path: path.to_owned() })?;
    check_folder(path)?;
    let folder = format.folder(path);
    if folder.as_deref().is_some_and(Path::exists) {
        return Err(Failure::Exists { path: folder.unwrap_or_default() });
    }
    Ok(format)
}

/// The output format of a physics scene; rejects outputs that cannot succeed.
pub(super) fn check_physics(path: &Path) -> Result<PhysicsFormat, Failure> {
    check_folder(path)?;
    let known = PhysicsFormat::ENDINGS;
    PhysicsFormat::of(path).ok_or_else(|| Failure::Format { path: path.to_owned(), known })
}

/// Writes a physics scene in the format of `path`.
pub(super) fn write_physics(scene: &PhysicsScene, path: &Path) -> Result<(), Failure> {
    let failed = |source| Failure::Write { path: path.to_owned(), source };
    check_physics(path)?.write(scene, path).map_err(failed)
}

/// Rejects an output that would overwrite an input.
pub(super) fn check_distinct<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    if inputs.into_iter().any(|input| is_same_file(output, input)) {
        return Err(Failure::OverInput { path: output.to_owned() });
    }
    Ok(())
}

/// Rejects an output that cannot succeed, before any work.
pub(super) fn check_folder(path: &Path) -> Result<(), Failure> {
    let folder = crate::output::folder_of(path);
    // without the slash that makes it a folder
    let plain = path.components().as_path();
    if let Some(file) = [folder, plain].into_iter().find(|file| file.is_file())
        && (file == folder || !path.is_file())
    {
        return Err(Failure::NotFolder { path: file.to_owned() });
    }
    if !folder.is_dir() {
        return Err(Failure::NoFolder { path: path.to_owned() });
    }
    if path.is_dir() {
        return Err(Failure::Exists { path: path.to_owned() });
    }
    crate::output::check_writable(path).map_err(|source| match source.kind() {
        // some system folders exist, but files cannot be created in them
        std::io::ErrorKind::NotFound => Failure::ClosedFolder { path: path.to_owned() },
        _ => Failure::Write { path: path.to_owned(), source: source.into() },
    })
}
