//! `brisance pattern`.

use std::io::Write;
use std::path::Path;

use fracture::Pattern;
use nalgebra::{Point3, Vector3};

use crate::args::PatternCommand;
use crate::commands::Failure;
use crate::commands::inputs::ends_in;
use crate::commands::load::{load, read_scene};
use crate::commands::outputs::{check_distinct, check_folder, print};
use crate::commands::regions::{has_region_extension, read_pattern};
use crate::output::write_whole;
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
                Some(scene) => pattern_of_scene(scene, text, *seed)?,
                None => pattern_of_text(text, *seed)?,
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
            let pattern = read_pattern(file)?;
            if pattern.drawn_noise().is_some() && !quiet {
                // stderr may be closed
                let _ = writeln!(
                    std::io::stderr(),
                    "note: the preview has no noise: patterns with `rims = \"straight\"` add noise to the cut faces \
                     of pieces only"
                );
            }
            let picture = preview(&pattern, (*size).into());
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

/// The pattern of a text such as `voronoi:35`, or from files.
fn pattern_of_text(text: &str, seed: u64) -> Result<Pattern, Failure> {
    let path = Path::new(text);
    if path.is_dir() || has_region_extension(path) {
        return read_pattern(path);
    }
    sim::pattern(&parsed(text)?, seed, None)
        .map_err(|e| Failure::Pattern { text: text.to_owned(), problem: e.to_string() })
}

/// The pattern `[pattern.NAME]` of a scene.
fn pattern_of_scene(path: &Path, name: &str, seed: u64) -> Result<Pattern, Failure> {
    let loaded = load(path, read_scene(path, false)?)?;
    let failed = |problem| Failure::Pattern { text: name.to_owned(), problem };
    let spec = loaded.scene.patterns.get(name).ok_or_else(|| {
        let names: Vec<&str> = loaded.scene.patterns.keys().map(String::as_str).collect();
        failed(format!("{} has no such pattern; it has: {}", path.display(), names.join(", ")))
    })?;
    sim::pattern(spec, seed, None).map_err(|e| failed(e.to_string()))
}

/// An image of the section y = 0 through the pattern, from -1 to 1 along x and z; each region has its
/// own color.
fn preview(pattern: &Pattern, size: usize) -> Picture {
    let place = |pixel: usize| (pixel as f64 + 0.5) / size as f64 * 2.0 - 1.0;
    let bytes = (0..size * size).flat_map(|at| {
        let p = Point3::new(place(at % size), 0.0, place(at / size));
        color(pattern.region_at(&p)).map(|x| srgb(x as f32)).data.0[0]
    });
    Picture::new([size; 2], bytes.collect())
}

/// A color that differs from those of adjacent indices.
fn color(region: usize) -> Vector3<f64> {
    let turn = region as f64 * 0.618_034;
    let wave = |shift: f64| 0.5 + 0.35 * ((turn + shift) * std::f64::consts::TAU).cos();
    Vector3::new(wave(0.0), wave(1.0 / 3.0), wave(2.0 / 3.0)) * (0.6 + 0.4 * (turn * 0.37).fract())
}
