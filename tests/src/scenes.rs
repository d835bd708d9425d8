//! The scenes of the repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use brisance::mesh_file::{read_mesh, read_object_files_with};
use brisance::tet_file::read_tets;
use sim::scene::Scene;
use sim::{Appearance, MeshData, PaintedMesh, World, build, separate};

/// A scene with its initial world.
pub struct LoadedScene {
    /// The scene.
    pub scene: Scene,
    /// The initial world.
    pub world: World,
    /// Appearances of the bodies of the scene.
    pub appearances: Vec<Appearance>,
}

/// A scene of the folder `scenes`, shortened or reduced by `change`, with its initial world.
///
/// # Panics
/// If there is no such scene, or it is not valid.
pub fn load(name: &str, change: impl FnOnce(&mut Scene)) -> LoadedScene {
    let text = std::fs::read_to_string(folder().join(name).with_extension("toml")).unwrap();
    let read = &mut |file: &str| {
        std::fs::read_to_string(folder().join(file)).map_err(|error| error.to_string())
    };
    let mut scene = Scene::from_files(&text, read).unwrap();
    change(&mut scene);
    scene.validate().unwrap();
    let (world, appearances) = start(&scene);
    LoadedScene { scene, world, appearances }
}

/// The world of a scene whose files are in the folder `scenes`.
///
/// # Panics
/// If a file is missing, or the scene is not valid.
pub fn start(scene: &Scene) -> (World, Vec<Appearance>) {
    let folder = folder();
    let surface = |file: &str| MeshData::Surface(read_mesh(&folder.join(file)).unwrap().into());
    let tets = |file: &str| MeshData::Tets(read_tets(&folder.join(file)).unwrap());
    let surfaces = scene.mesh_files().map(|file| (file.to_owned(), surface(file)));
    let volumes = scene.tet_files().map(|file| (file.to_owned(), tets(file)));
    let mut meshes: BTreeMap<_, _> = surfaces.chain(volumes).collect();
    let pieces = |file: &str| {
        let alone = &mut |_: &str| Err("it is not read here".to_owned());
        let pieces = read_object_files_with(&folder.join(file), alone).unwrap();
        pieces.into_iter().map(PaintedMesh::from).collect()
    };
    let pieces = scene.piece_files().map(|file| (file.to_owned(), pieces(file))).collect();
    let mut scene = scene.clone();
    separate(&mut scene, &pieces, &mut meshes).unwrap();
    build(&scene, &meshes).unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes")
}
