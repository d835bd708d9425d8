//! Inputs of commands.

use std::io::{self, Write};
use std::path::Path;

use meshfile::glb_file::is_glb;
use sim::Recording;

use super::failure::Failure;
use crate::format::glb::read_glb;
use crate::format::{DustCloud, read_dust};

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

/// Prints warnings about a mesh that is sampled according to `spec`; about thin walls only if it is
/// sampled.
pub(super) fn warn_of_mesh(spec: &sim::scene::Mesh, mesh: &levelset::TriMesh, is_sampled: bool) {
    let warnings = sim::MeshWarning::of(spec, mesh).into_iter();
    for warning in warnings.filter(|w| is_sampled || !matches!(w, sim::MeshWarning::Thin { .. })) {
        // stderr may be closed
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
}
