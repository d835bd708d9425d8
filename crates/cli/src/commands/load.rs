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
use crate::commands::inputs::read_text;
use crate::commands::regions::{pattern_files, read_pattern};
use crate::input;
use crate::mesh_file::{
    FileReader, MeshFileError, is_mesh, read_mesh_file_with, read_object_files_with,
};
use crate::outline_file::read_outline;
use crate::output::folder_of;
use crate::picture_file::read_picture;
use crate::progress::phase;
use crate::tet_file::{self, read_tets};

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

    /// The path of a file of the scene at `scene`, if it and its companion files are accessible.
    fn path(&self, name: &str, scene: &Path) -> Result<PathBuf, Failure> {
        let path = self.folder.join(name);
        match tet_file::files(&path).into_iter().find(|path| !self.allows(path)) {
            Some(path) => Err(Failure::Outside { path, named: self.sources.named(name, scene) }),
            None => Ok(path),
        }
    }
}

/// A scene with its includes.
pub struct SceneFile {
    /// The scene.
    pub scene: Scene,
    origins: Origins,
    folders: AllowedFolders,
    /// The scene file and its includes.
    files: Vec<PathBuf>,
    /// Checksum of the texts.
    digest: crc32fast::Hasher,
}

impl SceneFile {
    /// The contents of all mesh, outline and piece files of the scene in file `scene`, and of the
    /// files that these refer to. Keys are names as in the scene, or relative to its folder.
    pub(super) fn surfaces(&self, scene: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
        let mut surfaces = BTreeMap::new();
        let relative = |(path, bytes): (PathBuf, Vec<u8>)| {
            let name = path.strip_prefix(&self.folders.folder).unwrap_or(&path);
            (name.to_string_lossy().into_owned(), bytes)
        };
        for name in self.scene.mesh_files() {
            let path = self.folders.path(name, scene)?;
            let named = self.folders.sources.named(name, scene);
            let (_, files) = read_surface(&path, &self.folders, &named, read_mesh_file_with)?;
            let mut files = files.into_iter();
            surfaces.extend(files.next().map(|(_, bytes)| (name.to_owned(), bytes)));
            surfaces.extend(files.map(relative));
        }
        for name in self.scene.outline_files() {
            let path = self.folders.path(name, scene)?;
            let named = self.folders.sources.named(name, scene);
            surfaces.insert(name.to_owned(), read_named(&path, &named)?);
        }
        for name in self.scene.piece_files() {
            let (_, files) = read_pieces(name, &self.folders, scene, &mut Vec::new())?;
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
    lost: Vec<String>,
    /// All files read.
    pub files: Vec<PathBuf>,
    /// CRC-32 of all files, and of the options that override scene keys.
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
    /// built from the scene, and about settings that its solver ignores.
    pub fn scene_warnings(&self, world: &World) -> Vec<String> {
        let meshes = self.mesh_warnings().into_iter().map(|w| w.to_string());
        let walls = self.wall_warnings().into_iter().map(|w| w.to_string());
        let mass = self.mass_warnings().into_iter().map(|w| w.to_string());
        let pieces = self.scene.piece_warnings(world).into_iter().map(|w| w.to_string());
        let solver = self.scene.solver_warnings();
        meshes
            .chain(self.lost.iter().cloned())
            .chain(walls)
            .chain(mass)
            .chain(pieces)
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
    let mut digest = crc32fast::Hasher::new();
    digest.update(text.as_bytes());
    let mut files = vec![path.to_owned()];
    let read = SceneWithOrigins::read(text, &mut |name| {
        let path = folder.join(name);
        if !folders.allows(&path) {
            return Err(format!("it is {OUTSIDE}, and --allow-outside is not given"));
        }
        let bytes = input::read(&path).map_err(|e| input::problem(&e))?;
        digest.update(&bytes);
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
        let source = Source { path: path.clone(), name: name.to_owned(), text: text.clone() };
        sources.push(source);
        files.push(path);
        Ok(text)
    });
    let SceneWithOrigins { scene, origins } = read.map_err(|error| refused(path, error))?;
    folders.sources = Sources(sources);
    Ok(SceneFile { scene, origins, folders, files, digest })
}

/// The error of a file of the scene at `path`.
fn refused(path: &Path, FileError { file, error }: FileError) -> Failure {
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
    let SceneFile { mut scene, origins, folders, mut files, mut digest } = file;
    let mut lost = Vec::new();
    let pieces = separate((&mut scene, &origins), (path, &folders), &mut meshes, &mut lost)?;
    for (file, bytes) in pieces {
        digest.update(&bytes);
        files.push(file);
    }
    for file in scene.mesh_files() {
        if meshes.contains_key(file) {
            continue;
        }
        let mesh_path = folders.path(file, path)?;
        let named = folders.sources.named(file, path);
        let (mesh, read_from) = read_surface(&mesh_path, &folders, &named, read_mesh_file_with)?;
        for (file, bytes) in read_from {
            digest.update(&bytes);
            files.push(file);
        }
        lost.extend(mesh.warnings.iter().map(|warning| format!("{file}: {warning}")));
        meshes.insert(file.to_owned(), MeshData::Surface(mesh.into()));
    }
    for (file, bytes) in read_outlines(&scene, (path, &folders), &mut meshes)? {
        digest.update(&bytes);
        files.push(file);
    }
    for file in read_all_tets(&scene, (path, &folders), &mut meshes)? {
        digest.update(&read_plain(&file)?);
        files.push(file);
    }
    let named: Vec<String> = scene.pattern_files().map(str::to_owned).collect();
    for file in named {
        let pattern_path = folders.path(&file, path)?;
        for part in pattern_files(&pattern_path)? {
            if !folders.allows(&part) {
                let named = folders.sources.named(&file, path);
                return Err(Failure::Outside { path: part, named });
            }
            digest.update(&read_plain(&part)?);
            files.push(part);
        }
        scene.set_pattern(&file, &Arc::new(read_pattern(&pattern_path)?));
    }
    scene.set_density_maps(|picture| {
        let picture_path = folders.path(picture, path)?;
        let named = folders.sources.named(picture, path);
        digest.update(&read_named(&picture_path, &named)?);
        files.push(picture_path.clone());
        density_map(&picture_path, &named)
    })?;
    scene.set_strength_images(|picture| {
        let picture_path = folders.path(&picture.file, path)?;
        let named = folders.sources.named(&picture.file, path);
        digest.update(&read_named(&picture_path, &named)?);
        files.push(picture_path.clone());
        stencil(picture, &picture_path, &named)
    })?;
    let simulation = &scene.simulation;
    digest.update(&simulation.seed.to_le_bytes());
    digest.update(&simulation.fps.to_le_bytes());
    let (digest, sources) = (digest.finalize(), folders.sources);
    Ok(Loaded { digest, scene, meshes, lost, files, sources })
}

/// Reads the tetrahedra of a scene into `meshes`. Returns their files.
fn read_all_tets(
    scene: &Scene,
    (named_in, folders): (&Path, &AllowedFolders),
    meshes: &mut BTreeMap<String, MeshData>,
) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for file in scene.tet_files() {
        if meshes.contains_key(file) {
            continue;
        }
        let path = folders.path(file, named_in)?;
        let tets = read_tets(&path).map_err(|source| Failure::Mesh {
            path: path.clone(),
            named: folders.sources.named(file, named_in),
            source,
        })?;
        files.extend(tet_file::files(&path));
        meshes.insert(file.to_owned(), MeshData::Tets(tets));
    }
    Ok(files)
}

/// Reads the SVG files of a scene into `meshes` as solids. Returns the files.
fn read_outlines(
    scene: &Scene,
    (named_in, folders): (&Path, &AllowedFolders),
    meshes: &mut BTreeMap<String, MeshData>,
) -> Result<Contents, Failure> {
    let mut contents = Contents::new();
    for file in scene.outline_files() {
        if meshes.contains_key(file) {
            continue;
        }
        let path = folders.path(file, named_in)?;
        let named = folders.sources.named(file, named_in);
        let bytes = read_named(&path, &named)?;
        let outline = read_outline(&bytes).map_err(|source| Failure::Outline {
            path: path.clone(),
            named,
            source,
        })?;
        contents.push((path, bytes));
        meshes.insert(file.to_owned(), MeshData::Surface(outline.into()));
    }
    Ok(contents)
}

/// Maximum number of pieces of a body.
const MAX_PIECES: usize = 10_000;

/// Files with their contents.
type Contents = Vec<(PathBuf, Vec<u8>)>;

/// Replaces bodies that start in pieces by their pieces, and returns the files of these.
fn separate(
    (scene, origins): (&mut Scene, &Origins),
    (path, folders): (&Path, &AllowedFolders),
    meshes: &mut BTreeMap<String, MeshData>,
    lost: &mut Vec<String>,
) -> Result<Contents, Failure> {
    let (mut pieces, mut contents) = (BTreeMap::new(), Contents::new());
    for file in scene.piece_files() {
        if pieces.contains_key(file) {
            continue;
        }
        let (found, read_from) = read_pieces(file, folders, path, lost)?;
        contents.extend(read_from);
        pieces.insert(file.to_owned(), found);
    }
    sim::separate(scene, &pieces, meshes).map_err(|source| match source.cause {
        Cause::Scene(invalid) => refused(path, origins.error_for(*invalid)),
        _ => build_failure(scene, &folders.sources, path, source),
    })?;
    Ok(contents)
}

/// The pieces in the file or folder that the scene at `scene` refers to, with all their files.
fn read_pieces(
    name: &str,
    folders: &AllowedFolders,
    scene: &Path,
    lost: &mut Vec<String>,
) -> Result<(Vec<PaintedMesh>, Contents), Failure> {
    let path = folders.path(name, scene)?;
    let named = folders.sources.named(name, scene);
    std::fs::metadata(&path).map_err(|source| Failure::Mesh {
        path: path.clone(),
        named: named.clone(),
        source: source.into(),
    })?;
    let (mut pieces, mut contents) = (Vec::new(), Contents::new());
    for file in pattern_files(&path)?.iter().filter(|file| !path.is_dir() || is_mesh(file)) {
        if !folders.allows(file) {
            return Err(Failure::Outside { path: file.clone(), named });
        }
        let (objects, read_from) = read_surface(file, folders, &named, read_object_files_with)?;
        contents.extend(read_from);
        for object in objects {
            ClosedMesh::new(object.mesh.clone()).map_err(|source| Failure::OpenPiece {
                path: file.clone(),
                named: named.clone(),
                source,
            })?;
            let place = file.display();
            let warnings = object.warnings.iter().map(|warning| format!("{place}: {warning}"));
            lost.extend(warnings);
            pieces.push(object.into());
        }
        if pieces.len() > MAX_PIECES {
            return Err(Failure::ManyPieces { path, named, most: MAX_PIECES });
        }
    }
    if pieces.is_empty() {
        return Err(Failure::NoPieces { path, named: Some(named) });
    }
    lost.dedup();
    Ok((pieces, contents))
}

/// A mesh of a scene, as `parse` reads it, with all its files: the mesh, its materials and images.
fn read_surface<T>(
    mesh_path: &Path,
    folders: &AllowedFolders,
    named: &Named,
    parse: impl FnOnce(&Path, &mut FileReader<'_>) -> Result<T, MeshFileError>,
) -> Result<(T, Contents), Failure> {
    let mut beside: Contents = Vec::new();
    let mut outside = None;
    let read = parse(mesh_path, &mut |name| {
        let path = folder_of(mesh_path).join(name);
        if !folders.allows(&path) {
            outside.get_or_insert(path);
            return Err(format!("it is {OUTSIDE}"));
        }
        let bytes = input::read(&path).map_err(|e| input::problem(&e))?;
        beside.push((path, bytes.clone()));
        Ok(bytes)
    });
    if let Some(path) = outside {
        return Err(Failure::Outside { path, named: named.clone() });
    }
    let failed =
        |source| Failure::Mesh { path: mesh_path.to_owned(), named: named.clone(), source };
    let mesh = read.map_err(failed)?;
    beside.insert(0, (mesh_path.to_owned(), read_plain(mesh_path)?));
    Ok((mesh, beside))
}

/// The bytes of a file of a scene.
fn read_named(path: &Path, named: &Named) -> Result<Vec<u8>, Failure> {
    input::read(path).map_err(|source| Failure::ReadNamed {
        path: path.to_owned(),
        named: named.clone(),
        source,
    })
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
