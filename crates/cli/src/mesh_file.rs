//! Triangle meshes from files.

use std::path::Path;

use crate::input::{problem, read};
use crate::output::folder_of;

use levelset::TriMesh;

pub use meshfile::{CoatWarning, FileReader, MeshFile, MeshFileError, check_places, is_mesh};

/// Reads the mesh at `path`, OBJ, STL, PLY or GLB by its extension; merges vertices at equal
/// positions.
///
/// # Errors
/// [`MeshFileError`] if the file cannot be read, is malformed or contains no triangle.
pub fn read_mesh(path: &Path) -> Result<TriMesh, MeshFileError> {
    Ok(meshfile::parse(path, &bytes(path)?)?.mesh)
}

/// Reads the mesh at `path` as [`read_mesh`] does, with the normals, texture coordinates and colors
/// of its corners (STL has none), its materials and their images. Companion files must be
/// in the folder of the mesh or below; others are omitted with a warning.
///
/// # Errors
/// As [`read_mesh`], and if an image is damaged or too large.
pub fn read_mesh_file(path: &Path) -> Result<MeshFile, MeshFileError> {
    let folder = folder_of(path);
    read_mesh_file_with(path, &mut |name| {
        let file = folder.join(name);
        let place = file.canonicalize().map_err(|e| problem(&e))?;
        let is_below = folder.canonicalize().is_ok_and(|folder| place.starts_with(folder));
        if !is_below {
            return Err("it is outside the folder of the mesh".to_owned());
        }
        read(&file).map_err(|e| problem(&e))
    })
}

/// As [`read_mesh_file`], where `beside` reads the companion files.
///
/// # Errors
/// As [`read_mesh_file`].
pub fn read_mesh_file_with(
    path: &Path,
    beside: &mut FileReader<'_>,
) -> Result<MeshFile, MeshFileError> {
    meshfile::parse_with(path, &bytes(path)?, beside)
}

/// As [`read_mesh_file_with`], each object of the mesh as a separate mesh.
///
/// # Errors
/// As [`read_mesh_file`].
pub fn read_object_files_with(
    path: &Path,
    beside: &mut FileReader<'_>,
) -> Result<Vec<MeshFile>, MeshFileError> {
    meshfile::parse_objects_with(path, &bytes(path)?, beside)
}

/// Reads the objects of the mesh at `path`, each as a separate mesh; those without triangles are
/// omitted.
///
/// # Errors
/// As [`read_mesh`].
pub fn read_objects(path: &Path) -> Result<Vec<TriMesh>, MeshFileError> {
    meshfile::parse_objects(path, &bytes(path)?)
}

/// The contents of a file with the extension of a mesh.
fn bytes(path: &Path) -> Result<Vec<u8>, MeshFileError> {
    crate::input::refuse_folder(path)?;
    if !is_mesh(path) {
        return Err(MeshFileError::UnknownFormat);
    }
    Ok(crate::input::read(path)?)
}

#[cfg(test)]
mod tests;
