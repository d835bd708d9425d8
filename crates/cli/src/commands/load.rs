//! Scenes and the meshes they name.

use std::collections::BTreeMap;
use std::path::Path;

use sim::scene::{Body, Scene, Shape};
use sim::{Appearance, BuildError, MeshData, World};

use crate::commands::{Failure, read_text};
use crate::mesh_file::{MeshFileError, read_mesh};
use crate::output::folder_of;
use crate::tet_file::read_tets;

pub(super) fn read_scene(path: &Path) -> Result<Scene, Failure> {
    let text = read_text(path)?;
    Scene::from_toml(&text).map_err(|source| Failure::Scene { path: path.to_owned(), source })
}

/// The world of a scene read from `path`; meshes are relative to its folder.
pub(super) fn build(path: &Path, scene: &Scene) -> Result<(World, Vec<Appearance>), Failure> {
    let mut meshes: BTreeMap<String, MeshData> = BTreeMap::new();
    let mut add = |file: &str, read: &dyn Fn(&Path) -> Result<MeshData, MeshFileError>| {
        if meshes.contains_key(file) {
            return Ok(());
        }
        let mesh_path = folder_of(path).join(file);
        match read(&mesh_path) {
            Ok(mesh) => {
                meshes.insert(file.to_owned(), mesh);
                Ok(())
            }
            Err(source) => Err(Failure::Mesh { path: mesh_path, scene: path.to_owned(), source }),
        }
    };
    for file in scene.mesh_files() {
        add(file, &|path| read_mesh(path).map(MeshData::Surface))?;
    }
    for file in scene.tet_files() {
        add(file, &|path| read_tets(path).map(MeshData::Tets))?;
    }
    sim::build(scene, &meshes).map_err(|source| {
        let mesh = mesh_at_fault(scene, &source);
        Failure::Build { path: path.to_owned(), mesh, source }
    })
}

/// The mesh file of the body that an error tells of, in brackets.
fn mesh_at_fault(scene: &Scene, error: &BuildError) -> String {
    let at_fault = |body: &&Body| error.part == format!("body {:?}", body.name);
    match scene.bodies.iter().find(at_fault).map(|body| &body.shape) {
        Some(Shape::Mesh(mesh) | Shape::Tets(mesh)) => format!(" (mesh file {})", mesh.file),
        Some(Shape::Trimesh(mesh)) => format!(" (mesh file {})", mesh.file),
        _ => String::new(),
    }
}
