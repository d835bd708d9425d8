//! Triangle meshes from files.

use std::path::Path;

use levelset::TriMesh;

pub use meshfile::{MeshFile, MeshFileError, check_places, is_mesh};

/// Reads the mesh at `path`, OBJ, STL, PLY or GLB by its ending; vertices at equal places become
/// one.
///
/// # Errors
/// [`MeshFileError`] when the file cannot be read, is malformed or holds no triangle.
pub fn read_mesh(path: &Path) -> Result<TriMesh, MeshFileError> {
    Ok(read_mesh_file(path)?.mesh)
}

/// Reads the mesh at `path` as [`read_mesh`] does, with the normals, texture coordinates and
/// colors of its corners. (STL has none.)
///
/// # Errors
/// As [`read_mesh`].
pub fn read_mesh_file(path: &Path) -> Result<MeshFile, MeshFileError> {
    meshfile::parse(path, &bytes(path)?)
}

/// Reads the objects of the mesh at `path`, each as a mesh of its own; those without triangles are left out.
///
/// # Errors
/// As [`read_mesh`].
pub fn read_objects(path: &Path) -> Result<Vec<TriMesh>, MeshFileError> {
    meshfile::parse_objects(path, &bytes(path)?)
}

/// What is in a file that may be a mesh by its name: others are not read.
fn bytes(path: &Path) -> Result<Vec<u8>, MeshFileError> {
    if !is_mesh(path) {
        return Err(MeshFileError::UnknownFormat);
    }
    Ok(crate::input::read(path)?)
}

#[cfg(test)]
mod tests;
