//! Scenes and the meshes they name.

use std::collections::BTreeMap;
use std::path::Path;

use levelset::TriMesh;
use sim::scene::{Body, Scene, Shape};
use sim::{Appearance, BuildError, World};

use crate::commands::{Failure, read_text};
use crate::mesh_file::read_mesh;
use crate::output::folder_of;

pub(super) fn read_scene(path: &Path) -> Result<Scene, Failure> {
    let text = read_text(path)?;
    Scene::from_toml(&text).map_err(|source| Failure::Scene { path: path.to_owned(), source })
}

/// The world of a scene read from `path`; meshes are relative to its folder.
pub(super) fn build(path: &Path, scene: &Scene) -> Result<(World, Vec<Appearance>), Failure> {
    let mut meshes: BTreeMap<String, TriMesh> = BTreeMap::new();
    for file in scene.mesh_files() {
        if !meshes.contains_key(file) {
            let mesh_path = folder_of(path).join(file);
            let mesh = read_mesh(&mesh_path).map_err(|source| Failure::Mesh {
                path: mesh_path,
                scene: path.to_owned(),
                source,
            })?;
            meshes.insert(file.to_owned(), mesh);
        }
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
        Some(Shape::Mesh(mesh)) => format!(" (mesh file {})", mesh.file),
        Some(Shape::Trimesh(mesh)) => format!(" (mesh file {})", mesh.file),
        _ => String::new(),
    }
}
