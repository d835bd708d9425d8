//! Scenes and the files that they refer to.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fracture::{ClosedMesh, DensityMap, Stencil};
use ndarray::Array2;
use sim::scene::{
    Body, FileError, Origins, Scene, SceneWithOrigins, Shape, StrengthPicture, TextPosition,
};
use sim::{
    Appearance, BuildError, Cause, MassWarning, MeshData, MeshWarning, PaintedMesh, WallWarning,
    World,
};

use crate::commands::failure::{Failure, Named, OUTSIDE};
use crate::commands::inputs::{mesh_files_in, read_text};
use crate::commands::regions::{pattern_files, read_pattern};
use crate::input;
use crate::mesh_file::{
    FileReader, MeshFileError, is_mesh, read_mesh_file_with, read_object_files_with,
};
use crate::outline_file::read_outline;
use crate::output::folder_of;
use crate::picture_file::read_picture;
use crate::progress::phase;
use crate::tet_file;

/// Allowed folders of the files of a scene.
struct AllowedFolders {
    /// The folder of the scene.
    folder: PathBuf,
    /// The readable folders, with their subfolders and with resolved links; `None` allows all.
    roots: Option<Vec<PathBuf>>,
    sources: Sources,
}

/// The texts of a scene and its includes.
#[derive(Default)]
struct Sources(Vec<Source>);

struct Source {
    /// The path that it was read from.
    path: PathBuf,
    /// Its name relative to the folder of the scene; empty for the scene itself.
    name: String,
    text: String,
}

impl Sources {
    /// The reference to a file in the scene at `scene`.
    fn named(&self, file: &str, scene: &Path) -> Named {
        let found = self.0.iter().find_map(|source| {
            let place = TextPosition::of_file(&source.text, &source.name, file)?;
            Some(Named { scene: source.path.clone(), place: Some(place) })
        });
        found.unwrap_or_else(|| Named { scene: scene.to_owned(), place: None })
    }

    /// Position of `key` of the named body; with the file if that is not the scene at `scene`.
    fn body(&self, name: &str, key: &str, scene: &Path) -> Option<String> {
        self.0.iter().find_map(|source| {
            let place = TextPosition::of_body(&source.text, name, key)?;
            let is_main = source.path == scene;
            Some(if is_main {
                place.to_string()
            } else {
                format!("{}, {place}", source.path.display())
            })
        })
    }
}

impl AllowedFolders {
    fn new(scene: &Path, anywhere: bool) -> Self {
        let folder = folder_of(scene).to_owned();
        let roots = || {
            let roots = [folder.clone(), folder.join("../assets")];
            roots.iter().filter_map(|root| root.canonicalize().ok()).collect()
        };
        Self { roots: (!anywhere).then(roots), folder, sources: Sources::default() }
    }

    /// Whether a file is accessible, after resolving links in its path; true for missing files.
    fn allows(&self, path: &Path) -> bool {
        let Some((roots, path)) = self.roots.as_ref().zip(path.canonicalize().ok()) else {
            return true;
        };
        roots.iter().any(|root| path.starts_with(root))
    }
}

/// A file with its contents.
struct FileContents {
    path: PathBuf,
    bytes: Vec<u8>,
}

/// The files that were read for a scene, and the checksum of their contents.
#[derive(Default)]
struct InputLog {
    files: Vec<PathBuf>,
    digest: crc32fast::Hasher,
}

impl InputLog {
    fn record(&mut self, path: PathBuf, bytes: &[u8]) {
        self.digest.update(bytes);
        self.files.push(path);
    }

    fn record_all(&mut self, files: Vec<FileContents>) {
        for FileContents { path, bytes } in files {
            self.record(path, &bytes);
        }
    }
}

/// Finds and reads the files that the scene at `scene_path` names.
#[derive(Clone, Copy)]
struct SceneFolder<'a> {
    scene_path: &'a Path,
    folders: &'a AllowedFolders,
}

/// A scene with its includes.
pub struct SceneFile {
    /// The scene.
    pub scene: Scene,
    origins: Origins,
    folders: AllowedFolders,
    /// The scene file and its includes.
    inputs: InputLog,
}

impl SceneFile {
    /// The contents of all mesh, outline and piece files of the scene in file `scene`, and of the
    /// files that these refer to. Keys are names as in the scene, or relative to its folder.
    pub(super) fn surfaces(&self, scene: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
        let folder = SceneFolder { scene_path: scene, folders: &self.folders };
        let mut surfaces = BTreeMap::new();
        let relative = |FileContents { path, bytes }| {
            let name = path.strip_prefix(&self.folders.folder).unwrap_or(&path);
            (name.to_string_lossy().into_owned(), bytes)
        };
        for name in self.scene.mesh_files() {
            let path = folder.path(name)?;
            let (_, files) =
                folder.read_surface(&path, &folder.reference(name), read_mesh_file_with)?;
            let mut files = files.into_iter();
            surfaces.extend(files.next().map(|file| (name.to_owned(), file.bytes)));
            surfaces.extend(files.map(relative));
        }
        for name in self.scene.outline_files() {
            surfaces.insert(name.to_owned(), folder.read(name)?.bytes);
        }
        for name in self.scene.piece_files() {
            let (_, files) = folder.read_pieces(name, &mut Vec::new())?;
            surfaces.extend(files.into_iter().map(relative));
        }
        Ok(surfaces)
    }
}

/// A scene with its files.
pub struct Loaded {
    /// The scene.
    pub scene: Scene,
    meshes: BTreeMap<String, MeshData>,
    /// Warnings about lost materials of meshes.
    material_warnings: Vec<String>,
    /// All files read.
    pub files: Vec<PathBuf>,
    /// CRC-32 of all files, the seed and the frame rate. It excludes the number of frames, so that
    /// `--resume` accepts another `--frames`.
    pub digest: u32,
    sources: Sources,
}

impl Loaded {
    /// Mesh warnings.
    pub fn mesh_warnings(&self) -> Vec<MeshWarning> {
        self.scene.mesh_warnings(&self.meshes)
    }

    /// Warnings about the walls of combined solids.
    pub fn wall_warnings(&self) -> Vec<WallWarning> {
        self.scene.wall_warnings(&self.meshes)
    }

    /// Warnings about the mass of combined solids and those of images.
    pub fn mass_warnings(&self) -> Vec<MassWarning> {
        self.scene.mass_warnings(&self.meshes)
    }

    /// Warnings about the meshes, walls and mass, about the pieces of the bodies of `world`, which was just
    /// built from the scene, about late events and limits of joints, and about settings that its solver
    /// ignores.
    pub fn scene_warnings(&self, world: &World) -> Vec<String> {
        let meshes = self.mesh_warnings().into_iter().map(|w| w.to_string());
        let walls = self.wall_warnings().into_iter().map(|w| w.to_string());
        let mass = self.mass_warnings().into_iter().map(|w| w.to_string());
        let pieces = self.scene.piece_warnings(world).into_iter().map(|w| w.to_string());
        let timing = self.scene.timing_warnings();
        let solver = self.scene.solver_warnings();
        meshes
            .chain(self.material_warnings.iter().cloned())
            .chain(walls)
            .chain(mass)
            .chain(pieces)
            .chain(timing)
            .chain(solver)
            .collect()
    }
}

/// Reads a scene; its includes are relative to its folder, and must be below it or below
/// `../assets` unless `anywhere` is set.
///
/// # Errors
/// [`Failure`] if a file cannot be read, or is not a scene.
pub fn read_scene(path: &Path, anywhere: bool) -> Result<SceneFile, Failure> {
    if is_mesh(path) {
        return Err(Failure::NoScene { path: path.to_owned() });
    }
    parse_scene(path, &read_text(path)?, anywhere)
}

/// As [`read_scene`], where `text` is the content of `path`, which need not exist yet.
///
/// # Errors
/// As [`read_scene`].
pub fn parse_scene(path: &Path, text: &str, anywhere: bool) -> Result<SceneFile, Failure> {
    let folder = folder_of(path);
    let mut folders = AllowedFolders::new(path, anywhere);
    let mut sources =
        vec![Source { path: path.to_owned(), name: String::new(), text: text.to_owned() }];
    let mut inputs = InputLog::default();
    inputs.record(path.to_owned(), text.as_bytes());
    let read = SceneWithOrigins::read(text, &mut |name| {
        let path = folder.join(name);
        if !folders.allows(&path) {
            return Err(format!("it is {OUTSIDE}, and --allow-outside is not given"));
        }
        let bytes = input::read(&path).map_err(|e| input::problem(&e))?;
        inputs.record(path.clone(), &bytes);
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
        sources.push(Source { path, name: name.to_owned(), text: text.clone() });
        Ok(text)
    });
    let SceneWithOrigins { scene, origins } = read.map_err(|error| scene_error(path, error))?;
    folders.sources = Sources(sources);
    Ok(SceneFile { scene, origins, folders, inputs })
}

/// The error of a file of the scene at `path`.
fn scene_error(path: &Path, FileError { file, error }: FileError) -> Failure {
    let path = if file.is_empty() { path.to_owned() } else { folder_of(path).join(file) };
    Failure::Scene { path, source: error }
}

/// Prints recommendations to standard error.
pub(super) fn print_notes(scene: &Scene) {
    for note in scene.notes() {
        // stderr may be closed
        let _ = writeln!(std::io::stderr(), "note: {note}");
    }
}

/// Prints warnings to standard error.
pub(super) fn print_warnings(warnings: &[String]) {
    for warning in warnings {
        // stderr may be closed
        let _ = writeln!(std::io::stderr(), "warning: {warning}");
    }
}

/// Reads the files of a scene read from `path`; they are relative to its folder.
///
/// # Errors
/// [`Failure`] if a file cannot be read or is invalid.
pub fn load(path: &Path, file: SceneFile) -> Result<Loaded, Failure> {
    load_with(path, file, BTreeMap::new())
}

/// As [`load`], with named meshes that are already in memory.
///
/// # Errors
/// As [`load`].
pub fn load_with(
    path: &Path,
    file: SceneFile,
    mut meshes: BTreeMap<String, MeshData>,
) -> Result<Loaded, Failure> {
    let SceneFile { mut scene, origins, folders, mut inputs } = file;
    let folder = SceneFolder { scene_path: path, folders: &folders };
    let mut material_warnings = Vec::new();
    let pieces = folder.read_all_pieces(&scene, &mut material_warnings, &mut inputs)?;
    sim::separate(&mut scene, &pieces, &mut meshes).map_err(|source| match source.cause {
        Cause::Scene(invalid) => scene_error(path, origins.error_for(*invalid)),
        _ => build_failure(&scene, &folders.sources, path, source),
    })?;
    material_warnings.extend(folder.read_meshes(&scene, &mut meshes, &mut inputs)?);
    folder.read_outlines(&scene, &mut meshes, &mut inputs)?;
    folder.read_all_tets(&scene, &mut meshes, &mut inputs)?;
    folder.read_patterns(&mut scene, &mut inputs)?;
    folder.read_pictures(&mut scene, &mut inputs)?;
    let InputLog { files, mut digest } = inputs;
    digest.update(&scene.simulation.seed.to_le_bytes());
    digest.update(&scene.simulation.fps.to_le_bytes());
    let (digest, sources) = (digest.finalize(), folders.sources);
    Ok(Loaded { scene, meshes, material_warnings, files, digest, sources })
}

/// Maximum number of pieces of a body.
const MAX_PIECES: usize = 10_000;

impl SceneFolder<'_> {
    /// The path of a file of the scene, if it and its companion files are accessible.
    fn path(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.folders.folder.join(name);
        for file in tet_file::files(&path) {
            self.check_access(&file, name)?;
        }
        Ok(path)
    }

    /// The reference to a file in the scene.
    fn reference(&self, name: &str) -> Named {
        self.folders.sources.named(name, self.scene_path)
    }

    /// Rejects an inaccessible file, which the scene refers to by `name`.
    fn check_access(&self, path: &Path, name: &str) -> Result<(), Failure> {
        if self.folders.allows(path) {
            return Ok(());
        }
        Err(Failure::Outside { path: path.to_owned(), named: self.reference(name) })
    }

    fn read(&self, name: &str) -> Result<FileContents, Failure> {
        let path = self.path(name)?;
        let failed =
            |source| Failure::ReadNamed { path: path.clone(), named: self.reference(name), source };
        let bytes = input::read(&path).map_err(failed)?;
        Ok(FileContents { path, bytes })
    }

    /// Reads the meshes of the scene that `meshes` lacks. Returns warnings about lost materials.
    fn read_meshes(
        &self,
        scene: &Scene,
        meshes: &mut BTreeMap<String, MeshData>,
        inputs: &mut InputLog,
    ) -> Result<Vec<String>, Failure> {
        let mut warnings = Vec::new();
        for name in scene.mesh_files() {
            if meshes.contains_key(name) {
                continue;
            }
            let path = self.path(name)?;
            let (mesh, files) =
                self.read_surface(&path, &self.reference(name), read_mesh_file_with)?;
            inputs.record_all(files);
            warnings.extend(mesh.warnings.iter().map(|warning| format!("{name}: {warning}")));
            meshes.insert(name.to_owned(), MeshData::Surface(mesh.into()));
        }
        Ok(warnings)
    }

    /// Reads the SVG files of the scene that `meshes` lacks, as solids.
    fn read_outlines(
        &self,
        scene: &Scene,
        meshes: &mut BTreeMap<String, MeshData>,
        inputs: &mut InputLog,
    ) -> Result<(), Failure> {
        for name in scene.outline_files() {
            if meshes.contains_key(name) {
                continue;
            }
            let FileContents { path, bytes } = self.read(name)?;
            let outline = read_outline(&bytes).map_err(|source| Failure::Outline {
                path: path.clone(),
                named: self.reference(name),
                source,
            })?;
            inputs.record(path, &bytes);
            meshes.insert(name.to_owned(), MeshData::Surface(outline.into()));
        }
        Ok(())
    }

    /// Reads the tetrahedra of the scene that `meshes` lacks.
    fn read_all_tets(
        &self,
        scene: &Scene,
        meshes: &mut BTreeMap<String, MeshData>,
        inputs: &mut InputLog,
    ) -> Result<(), Failure> {
        for name in scene.tet_files() {
            if meshes.contains_key(name) {
                continue;
            }
            let path = self.path(name)?;
            let failed =
                |source| Failure::Mesh { path: path.clone(), named: self.reference(name), source };
            let contents = tet_file::read_files(&path).map_err(failed)?;
            let tets = tet_file::parse_tets(&path, &contents).map_err(failed)?;
            for (file, bytes) in tet_file::files(&path).into_iter().zip(&contents) {
                inputs.record(file, bytes);
            }
            meshes.insert(name.to_owned(), MeshData::Tets(tets));
        }
        Ok(())
    }

    /// Reads the pattern files of the scene.
    fn read_patterns(&self, scene: &mut Scene, inputs: &mut InputLog) -> Result<(), Failure> {
        let names: Vec<String> = scene.pattern_files().map(str::to_owned).collect();
        for name in names {
            let path = self.path(&name)?;
            for part in pattern_files(&path)? {
                self.check_access(&part, &name)?;
                let bytes = read_plain(&part)?;
                inputs.record(part, &bytes);
            }
            scene.set_pattern(&name, &Arc::new(read_pattern(&path)?));
        }
        Ok(())
    }

    /// Reads the pictures of density and of strength of the scene.
    fn read_pictures(&self, scene: &mut Scene, inputs: &mut InputLog) -> Result<(), Failure> {
        scene.set_density_maps(|picture| {
            let FileContents { path, bytes } = self.read(picture)?;
            inputs.record(path.clone(), &bytes);
            density_map(&path, &self.reference(picture))
        })?;
        scene.set_strength_images(|picture| {
            let FileContents { path, bytes } = self.read(&picture.file)?;
            inputs.record(path.clone(), &bytes);
            stencil(picture, &path, &self.reference(&picture.file))
        })
    }

    /// Reads the pieces of all bodies that start in pieces. Returns them by the name of their file;
    /// adds warnings about lost materials.
    fn read_all_pieces(
        &self,
        scene: &Scene,
        warnings: &mut Vec<String>,
        inputs: &mut InputLog,
    ) -> Result<BTreeMap<String, Vec<PaintedMesh>>, Failure> {
        let mut pieces = BTreeMap::new();
        for name in scene.piece_files() {
            if pieces.contains_key(name) {
                continue;
            }
            let (found, files) = self.read_pieces(name, warnings)?;
            inputs.record_all(files);
            pieces.insert(name.to_owned(), found);
        }
        Ok(pieces)
    }

    /// The pieces in a file or folder, with all their files. Adds warnings about lost materials.
    fn read_pieces(
        &self,
        name: &str,
        warnings: &mut Vec<String>,
    ) -> Result<(Vec<PaintedMesh>, Vec<FileContents>), Failure> {
        let path = self.path(name)?;
        let named = self.reference(name);
        std::fs::metadata(&path).map_err(|source| Failure::Mesh {
            path: path.clone(),
            named: named.clone(),
            source: source.into(),
        })?;
        let too_many = || Failure::ManyPieces {
            path: path.clone(),
            named: Some(named.clone()),
            most: MAX_PIECES,
        };
        let (mut pieces, mut contents) = (Vec::new(), Vec::new());
        for file in &mesh_files_in(&path, MAX_PIECES, too_many)? {
            self.check_access(file, name)?;
            let (objects, read_from) = self.read_surface(file, &named, read_object_files_with)?;
            contents.extend(read_from);
            for object in objects {
                ClosedMesh::new(object.mesh.clone()).map_err(|source| Failure::OpenPiece {
                    path: file.clone(),
                    named: named.clone(),
                    source,
                })?;
                let text = |warning| format!("{}: {warning}", file.display());
                warnings.extend(object.warnings.iter().map(text));
                pieces.push(object.into());
            }
            if pieces.len() > MAX_PIECES {
                return Err(too_many());
            }
        }
        if pieces.is_empty() {
            return Err(Failure::NoPieces { path, named: Some(named) });
        }
        warnings.dedup();
        Ok((pieces, contents))
    }

    /// A mesh, as `parse` reads it, with all its files: the mesh, its materials and images.
    fn read_surface<T>(
        &self,
        mesh_path: &Path,
        named: &Named,
        parse: impl FnOnce(&Path, &mut FileReader<'_>) -> Result<T, MeshFileError>,
    ) -> Result<(T, Vec<FileContents>), Failure> {
        let mut companions = Vec::new();
        let mut outside = None;
        let read = parse(mesh_path, &mut |name| {
            let path = folder_of(mesh_path).join(name);
            if !self.folders.allows(&path) {
                outside.get_or_insert(path);
                return Err(format!("it is {OUTSIDE}"));
            }
            let bytes = input::read(&path).map_err(|e| input::problem(&e))?;
            companions.push(FileContents { path, bytes: bytes.clone() });
            Ok(bytes)
        });
        if let Some(path) = outside {
            return Err(Failure::Outside { path, named: named.clone() });
        }
        let failed =
            |source| Failure::Mesh { path: mesh_path.to_owned(), named: named.clone(), source };
        let mesh = read.map_err(failed)?;
        let bytes = read_plain(mesh_path)?;
        companions.insert(0, FileContents { path: mesh_path.to_owned(), bytes });
        Ok((mesh, companions))
    }
}

/// The contents of a regular file. Pipes and devices are rejected, since reading may never end.
pub(super) fn read_plain(path: &Path) -> Result<Vec<u8>, Failure> {
    input::read(path).map_err(|source| Failure::Read { path: path.to_owned(), source })
}

/// The pixels of a scene's picture at `path`.
fn pixels(path: &Path, named: &Named) -> Result<Array2<[u8; 3]>, Failure> {
    read_picture(path).map_err(|source| Failure::Picture {
        path: path.to_owned(),
        named: named.clone(),
        source,
    })
}

/// Density from the darkness of a picture.
fn density_map(path: &Path, named: &Named) -> Result<DensityMap, Failure> {
    let darkness = |pixel: &[u8; 3]| {
        let light: f64 = pixel.iter().map(|&byte| f64::from(byte)).sum();
        1.0 - light / (3.0 * 255.0)
    };
    Ok(DensityMap { density: pixels(path, named)?.map(darkness) })
}

/// Strength from the brightness of a picture.
fn stencil(picture: &StrengthPicture, path: &Path, named: &Named) -> Result<Stencil, Failure> {
    let factor = |&pixel: &[u8; 3]| {
        let sum: f64 = pixel.iter().map(|&byte| f64::from(byte)).sum();
        picture.darkest + (1.0 - picture.darkest) * sum / (3.0 * 255.0)
    };
    let StrengthPicture { corner, across, down, .. } = picture;
    Ok(Stencil {
        factors: pixels(path, named)?.map(factor),
        corner: (*corner).into(),
        across: (*across).into(),
        down: (*down).into(),
    })
}

/// The world of a scene read from `path`. Prints a line on the terminal if this takes long, unless
/// `quiet`.
///
/// # Errors
/// [`Failure`] if the world cannot be built.
pub fn build(
    path: &Path,
    loaded: &Loaded,
    quiet: bool,
) -> Result<(World, Vec<Appearance>), Failure> {
    let scene = &loaded.scene;
    let built = phase("building the scene", quiet, || sim::build(scene, &loaded.meshes));
    built.map_err(|source| build_failure(scene, &loaded.sources, path, source))
}

/// Adds the bodies of a scene, as if read from `path`, to a world; see [`sim::add_bodies`].
///
/// # Errors
/// As [`build`].
pub fn add_bodies(
    path: &Path,
    loaded: &Loaded,
    world: &mut World,
) -> Result<Vec<Appearance>, Failure> {
    let scene = &loaded.scene;
    sim::add_bodies(world, scene, &loaded.meshes)
        .map_err(|source| build_failure(scene, &loaded.sources, path, source))
}

/// The error of a world that cannot be built from a scene at `path`, with the line of the invalid
/// body.
fn build_failure(scene: &Scene, sources: &Sources, path: &Path, source: BuildError) -> Failure {
    let named = |name: &str| source.part == format!("body {name:?}");
    let body = scene.bodies.iter().find(|body| named(&body.name) || named(body.given_name()));
    let place = body.map_or_else(String::new, |body| match file_of(body) {
        Some((kind, file)) => format!(" ({kind} file {file}, {})", sources.named(file, path)),
        None => {
            let key = if source.cause == Cause::NotAnchored { "anchor" } else { "shape" };
            sources
                .body(body.given_name(), key, path)
                .map_or_else(String::new, |at| format!(" ({at})"))
        }
    });
    Failure::Build { path: path.to_owned(), place, source }
}

/// The source file of a body, and its kind.
fn file_of(body: &Body) -> Option<(&'static str, &str)> {
    match &body.shape {
        Shape::Mesh(mesh) | Shape::Tets(mesh) if body.given_name() == body.name => {
            Some(("mesh", &mesh.file))
        }
        Shape::Svg(svg) => Some(("SVG", &svg.file)),
        Shape::Trimesh(mesh) => Some(("mesh", &mesh.file)),
        _ => None,
    }
}
