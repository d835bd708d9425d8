//! `brisance pattern`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use fracture::Pattern;
use levelset::{Aabb, TriMesh};
use nalgebra::{Point3, Vector3};

use crate::args::PatternCommand;
use crate::commands::load::{load, read_scene};
use crate::commands::{Failure, check_distinct, check_folder, ends_in, print, read};
use crate::mesh_file::{is_mesh, read_objects};
use crate::output::write_whole;
use crate::picture_file::read_picture;
use crate::render::{Picture, srgb};
use crate::wording::count;

/// Makes or draws a pattern.
pub(super) fn pattern(command: &PatternCommand) -> Result<(), Failure> {
    match command {
        PatternCommand::New { pattern: text, scene, seed, output, quiet } => {
            if ends_in(output, "png") {
                return Err(Failure::Format { path: output.clone(), known: ".pattern" });
            }
            check_folder(output)?;
            check_distinct(output, [Path::new(text)].into_iter().chain(scene.as_deref()))?;
            let pattern = match scene {
                Some(scene) => of_scene(scene, text, *seed)?,
                None => made(text, *seed)?,
            };
            write_whole(output, |out| pattern.write(out))
                .map_err(|e| Failure::Write { path: output.clone(), source: e.into() })?;
            if *quiet {
                return Ok(());
            }
            let regions = count(pattern.region_count(), "region", "regions");
            print(|out| writeln!(out, "{}: {regions}", output.display()))
        }
        PatternCommand::Preview { file, output, size, quiet } => {
            if !ends_in(output, "png") {
                return Err(Failure::Format { path: output.clone(), known: ".png" });
            }
            check_folder(output)?;
            check_distinct(output, [file.as_path()])?;
            let picture = preview(&read_pattern(file)?, (*size).into());
            write_whole(output, |out| picture.write_png(out))
                .map_err(|e| Failure::Write { path: output.clone(), source: e.into() })?;
            if *quiet {
                return Ok(());
            }
            print(|out| writeln!(out, "{}: {size} x {size} pixels", output.display()))
        }
    }
}

pub(super) fn parsed(text: &str) -> Result<sim::scene::Pattern, Failure> {
    text.parse().map_err(|problem| Failure::Pattern { text: text.to_owned(), problem })
}

/// The pattern of a text such as `voronoi:35`, or of what files hold.
fn made(text: &str, seed: u64) -> Result<Pattern, Failure> {
    let path = Path::new(text);
    if path.is_dir() || is_drawn(path) {
        return read_pattern(path);
    }
    sim::pattern(&parsed(text)?, seed, None)
        .map_err(|e| Failure::Pattern { text: text.to_owned(), problem: e.to_string() })
}

/// The pattern of a name in a scene, in pattern units.
fn of_scene(path: &Path, name: &str, seed: u64) -> Result<Pattern, Failure> {
    let loaded = load(path, read_scene(path, false)?)?;
    let failed = |problem| Failure::Pattern { text: name.to_owned(), problem };
    let spec = loaded.scene.patterns.get(name).ok_or_else(|| {
        let names: Vec<&str> = loaded.scene.patterns.keys().map(String::as_str).collect();
        failed(format!("{} has no such pattern; it has: {}", path.display(), names.join(", ")))
    })?;
    sim::pattern(spec, seed, None).map_err(|e| failed(e.to_string()))
}

/// Whether a name is that of a picture or of meshes, which say where regions are.
fn is_drawn(path: &Path) -> bool {
    ends_in(path, "png") || is_mesh(path)
}

/// Reads a pattern: what `brisance pattern new` wrote, a picture, a mesh file whose objects are regions, or a
/// folder of mesh files, each a region.
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

/// The files that [`read_pattern`] reads, in their order.
pub(super) fn pattern_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    /// More than there may be regions.
    const MOST: usize = 2 * Pattern::MAX_REGIONS;
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |source| Failure::Read { path: path.to_owned(), source };
    let entries = std::fs::read_dir(path).map_err(failed)?.take(MOST);
    let files = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut files = files.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    files.retain(|file| is_mesh(file));
    files.sort();
    Ok(files)
}

/// One region for each mesh.
fn of_meshes(meshes: &[TriMesh]) -> Result<Pattern, String> {
    /// Samples along the longest side of all meshes.
    const FINENESS: f64 = 96.0;
    if meshes.len() < 2 {
        return Err("holds one region, which divides nothing: give a mesh for each region, as \
                    objects of one .obj or .glb or as files of one folder"
            .to_owned());
    }
    let bounds = Aabb::around(meshes.iter().flat_map(|mesh| &mesh.vertices));
    let longest = bounds.map_or(1.0, |bounds| bounds.extents().max());
    Pattern::from_meshes(meshes, longest / FINENESS).map_err(|e| e.to_string())
}

/// One region for each colour.
fn of_picture(path: &Path) -> Result<Pattern, String> {
    let picture = read_picture(path).map_err(|e| e.to_string())?;
    let labels = picture.map(|&[r, g, b]| u32::from_be_bytes([0, r, g, b]));
    let (rows, columns) = labels.dim();
    if rows.min(columns) < 2 {
        return Err(format!("is {columns} x {rows} pixels: give one of at least 2 x 2"));
    }
    if labels.iter().collect::<BTreeSet<_>>().len() < 2 {
        return Err("is of one colour, which divides nothing: draw regions".to_owned());
    }
    Pattern::from_picture(&labels, 2.0).map_err(|e| e.to_string())
}

/// The plane across the blow through its centre, from -1 to 1.
fn preview(pattern: &Pattern, size: usize) -> Picture {
    let place = |pixel: usize| (pixel as f64 + 0.5) / size as f64 * 2.0 - 1.0;
    let bytes = (0..size * size).flat_map(|at| {
        let p = Point3::new(place(at % size), 0.0, place(at / size));
        colour(pattern.region_at(&p)).map(|x| srgb(x as f32)).data.0[0]
    });
    Picture::new([size; 2], bytes.collect())
}

/// A colour unlike those of the regions before and after.
fn colour(region: usize) -> Vector3<f64> {
    let turn = region as f64 * 0.618_034;
    let wave = |shift: f64| 0.5 + 0.35 * ((turn + shift) * std::f64::consts::TAU).cos();
    Vector3::new(wave(0.0), wave(1.0 / 3.0), wave(2.0 / 3.0)) * (0.6 + 0.4 * (turn * 0.37).fract())
}
