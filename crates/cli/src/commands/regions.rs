//! Patterns from files: output of `brisance pattern new`, meshes, and pictures.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fracture::Pattern;
use levelset::{Aabb, TriMesh};

use crate::commands::Failure;
use crate::commands::inputs::{ends_in, mesh_files_in, read};
use crate::mesh_file::{is_mesh, read_objects};
use crate::picture_file::read_picture;

/// Whether the file name has the extension of an image or of a mesh; both define regions.
pub(super) fn has_region_extension(path: &Path) -> bool {
    ends_in(path, "png") || is_mesh(path)
}

/// Reads a pattern: output of `brisance pattern new`, an image, a mesh file with one object per
/// region, or a folder with one mesh file per region.
pub(super) fn read_pattern(path: &Path) -> Result<Pattern, Failure> {
    let failed = |problem: String| Failure::Pattern { text: path.display().to_string(), problem };
    if ends_in(path, "png") {
        return of_picture(path).map_err(failed);
    }
    let mut meshes: Vec<TriMesh> = Vec::new();
    for file in pattern_files(path)?.iter().filter(|file| is_mesh(file)) {
        let objects = read_objects(file)
            .map_err(|source| Failure::MeshInfo { path: file.clone(), source })?;
        meshes.extend(objects);
    }
    if path.is_dir() || is_mesh(path) {
        return of_meshes(&meshes).map_err(failed);
    }
    Pattern::read(&read(path)?[..])
        .map_err(|source| Failure::PatternFile { path: path.to_owned(), source })
}

/// The files that [`read_pattern`] reads, in order.
///
/// # Errors
/// [`Failure`] if the folder cannot be read or has more files than a pattern may have regions.
pub(super) fn pattern_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    mesh_files_in(path, Pattern::MAX_REGIONS, || Failure::Pattern {
        text: path.display().to_string(),
        problem: format!("holds more than {} mesh files", Pattern::MAX_REGIONS),
    })
}

/// One region per mesh.
fn of_meshes(meshes: &[TriMesh]) -> Result<Pattern, String> {
    /// Number of samples along the longest edge of the box around all meshes.
    const SAMPLES_PER_LONGEST_EDGE: f64 = 96.0;
    if meshes.len() < 2 {
        return Err("has only one region, which divides nothing: give a mesh for each region, as \
                    objects of one .obj or .glb or as files of one folder"
            .to_owned());
    }
    let bounds = Aabb::around(meshes.iter().flat_map(|mesh| &mesh.vertices));
    let longest = bounds.map_or(1.0, |bounds| bounds.extents().max());
    Pattern::from_meshes(meshes, longest / SAMPLES_PER_LONGEST_EDGE).map_err(|e| e.to_string())
}

/// One region per color.
fn of_picture(path: &Path) -> Result<Pattern, String> {
    let picture = read_picture(path).map_err(|e| e.to_string())?;
    let labels = picture.map(|&[r, g, b]| u32::from_be_bytes([0, r, g, b]));
    let (rows, columns) = labels.dim();
    if rows.min(columns) < 2 {
        return Err(format!("is {columns} x {rows} pixels: give one of at least 2 x 2"));
    }
    if labels.iter().collect::<BTreeSet<_>>().len() < 2 {
        return Err(
            "has only one colour, which divides nothing: draw at least two regions".to_owned()
        );
    }
    Pattern::from_picture(&labels, 2.0).map_err(|e| e.to_string())
}
