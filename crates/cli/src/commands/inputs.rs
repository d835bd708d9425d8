//! Inputs of commands.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use meshfile::glb_file::is_glb;
use sim::Recording;

use super::failure::Failure;
use crate::format::glb::read_glb;
use crate::format::{DustCloud, read_dust};
use crate::mesh_file::is_mesh;

pub(super) fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    crate::input::read_argument(path)
        .map_err(|source| Failure::Read { path: path.to_owned(), source })
}

pub(super) fn read_text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(read(path)?).map_err(|_| Failure::NotText { path: path.to_owned() })
}

/// The recording at `path`.
pub(super) fn recording_at(path: &Path) -> Result<Recording, Failure> {
    let bytes = read(path)?;
    // a pipe has no extension
    if !ends_in(path, "glb") && !is_glb(&bytes) {
        return Err(Failure::NoRecording { path: path.to_owned() });
    }
    read_glb(&bytes).map_err(|source| Failure::Recording { path: path.to_owned(), source })
}

/// The dust in the `.glb` file at `path`.
pub(super) fn dust_at(path: &Path) -> Result<DustCloud, Failure> {
    read_dust(&read(path)?).map_err(|source| Failure::Dust { path: path.to_owned(), source })
}

/// The mesh files of a folder in the order of their names, or `path` itself if it is a file. More
/// than `max` files in a folder are the error `too_many`.
///
/// # Errors
/// [`Failure`] if the folder cannot be read or has more than `max` mesh files.
pub(super) fn mesh_files_in(
    path: &Path,
    max: usize,
    too_many: impl FnOnce() -> Failure,
) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |source| Failure::Read { path: path.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if !is_mesh(&file) {
            continue;
        }
        if files.len() == max {
            return Err(too_many());
        }
        files.push(file);
    }
    files.sort();
    Ok(files)
}

/// Prints the warnings about a mesh. Warnings about thin walls apply only to sampled meshes.
pub(super) fn print_mesh_warnings(
    spec: &sim::scene::Mesh,
    mesh: &levelset::TriMesh,
    is_sampled: bool,
) {
    let warnings = sim::MeshWarning::of(spec, mesh).into_iter();
    for warning in warnings.filter(|w| is_sampled || !matches!(w, sim::MeshWarning::Thin { .. })) {
        // stderr may be closed
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
}
