//! `brisance fracture`.

use std::cell::Cell;
use std::io::Write;
use std::path::{Path, PathBuf};

use ::fracture::{Alignment, Bond, Geometry};
use levelset::{Aabb, Moments};
use nalgebra::{Point3, Unit, Vector3};
use serde_json::{Value, json};
use sim::scene::{Material, MeshSign, Pattern};
use sim::{
    Breaking, BrokenMesh, Dust, DustAmount, LazySurface, Look, PaintedMesh, PieceWarning,
    Placement, RigidError, Track, break_mesh, piece_pattern,
};

use crate::args::{DustOptions, FractureArguments};
use crate::commands::Failure;
use crate::commands::dust::{check_dust, write_dust};
use crate::commands::inputs::print_mesh_warnings;
use crate::commands::load::print_warnings;
use crate::commands::outputs::{
    check_distinct, check_output, check_physics, note_no_effect, print, write_physics,
};
use crate::commands::pattern::parsed;
use crate::commands::regions::read_pattern;
use crate::format::Format;
use crate::mesh_file::read_mesh_file;
use crate::output::is_same_file;
use crate::progress::phase;
use crate::render::Images;
use crate::wording::count;

/// The source of a pattern.
enum Source {
    File(::fracture::Pattern),
    Text(Pattern),
}

impl Source {
    fn of(pattern: &str) -> Result<Self, Failure> {
        // a file has priority over the form `KIND:COUNT`
        let file = Path::new(pattern);
        if file.exists() {
            return Ok(Self::File(read_pattern(file)?));
        }
        if !pattern.contains(':') {
            let problem = "there is no such file: check the path, or give voronoi:PIECES, \
                           radial:SECTORSxRINGS, bricks:LENGTHxHEIGHT, slices:PLANES or preset:NAME, as in \
                           voronoi:35,clustering=0.8";
            return Err(Failure::Pattern { text: pattern.to_owned(), problem: problem.to_owned() });
        }
        Ok(Self::Text(parsed(pattern)?))
    }

    fn placement(&self) -> Placement {
        match self {
            Self::Text(spec) => spec.placement(),
            Self::File(_) => Placement::Turned,
        }
    }

    /// Whether a seed changes the pattern.
    fn is_seeded(&self) -> bool {
        match self {
            Self::Text(Pattern::Bricks(bricks)) => bricks.jitter != 0.0 || bricks.noise.is_some(),
            Self::Text(_) => true,
            Self::File(_) => false,
        }
    }
}

/// Breaks a mesh and writes its pieces.
pub(super) fn fracture(arguments: &FractureArguments) -> Result<(), Failure> {
    let FractureArguments { mesh: path, pattern, at, output, .. } = arguments;
    let format = check_outputs(arguments)?;
    let material = material(arguments)?;
    let failed = |source| Failure::MeshInfo { path: path.clone(), source };
    let file = read_mesh_file(path).map_err(failed)?;
    let lost: Vec<String> =
        file.warnings.iter().map(|warning| format!("{}: {warning}", path.display())).collect();
    let painted = PaintedMesh::from(file);
    let look = look(material, arguments.inside, &painted);
    let mesh = &painted.mesh;
    let source = Source::of(pattern)?;
    let bounds = Aabb::around(&mesh.vertices);
    if let Some((bounds, at)) = bounds.zip(at.map(Point3::from)) {
        check_impact_point(path, &at, &bounds)?;
    }
    let top = bounds.map_or(Point3::origin(), |b| Point3::new(b.center().x, b.max.y, b.center().z));
    let placement = source.placement();
    let breaking = Breaking {
        at: at.map_or(top, Point3::from),
        normal: Unit::new_normalize(Vector3::from(arguments.normal.unwrap_or([0.0, 1.0, 0.0]))),
        placement,
        min_share: arguments.min_share.unwrap_or_else(|| min_share(&source)),
    };
    let is_seeded = source.is_seeded();
    let (warning, is_sampled) = (Cell::new(None), Cell::new(true));
    let pattern = |body: &Geometry, at: &Alignment, least: f64| {
        is_sampled.set(!body.is_exact());
        let spec = match source {
            Source::File(pattern) => return Ok(pattern),
            Source::Text(spec) => spec,
        };
        let pattern = piece_pattern(&spec, seed(arguments), body, at, least)?;
        if let Pattern::Voronoi(spec) = &spec {
            let name = path.display().to_string();
            warning.set(PieceWarning::of(&name, body, &pattern, spec.pieces));
        }
        Ok(pattern)
    };
    let spec = arguments.sampling.spec(path);
    let is_quiet = arguments.quiet || arguments.json;
    let broken = phase("breaking the mesh", is_quiet, || {
        break_mesh(&painted, &spec, &breaking, pattern, look)
    });
    let broken = broken.map_err(|source| Failure::Fracture { path: path.clone(), source })?;
    let recording = &broken.recording;
    if !is_quiet {
        print_mesh_warnings(&spec, mesh, is_sampled.get());
        print_warnings(&lost);
        if let Some(warning) = warning.take() {
            // stderr may be closed
            let _ = writeln!(std::io::stderr(), "warning: {warning}");
        }
        warn_of_one_piece(path, recording.tracks.len(), arguments.min_share.is_some());
        note_ignored(arguments, &broken, placement, is_seeded);
    }
    if recording.tracks.is_empty() {
        return Err(Failure::NothingInside { path: path.clone() });
    }
    write(&broken, format, arguments)?;
    if arguments.json {
        let facts = facts(&broken, arguments);
        return print(|out| writeln!(out, "{facts}"));
    }
    if arguments.quiet {
        return Ok(());
    }
    let pieces = count(recording.tracks.len(), "piece", "pieces");
    print(|out| writeln!(out, "{}: {pieces}", output.display()))
}

/// The seed of everything random.
fn seed(arguments: &FractureArguments) -> u64 {
    arguments.seed.unwrap_or(1)
}

/// Prints notes of options without effect on pieces of a pattern.
fn note_ignored(
    arguments: &FractureArguments,
    broken: &BrokenMesh,
    placement: Placement,
    is_seeded: bool,
) {
    let FractureArguments { sampling, at, normal, seed, density, physics, dust, .. } = arguments;
    let samples = sampling.given().filter(|_| {
        // a snapped pattern has its center at a node
        placement != Placement::Snapped && broken.recording.tracks.iter().all(is_exact)
    });
    let is_check = |option: &&str| *option == "--sign" && sampling.sign == Some(MeshSign::Strict);
    if let Some(option) = samples.filter(|option| !is_check(option)) {
        note_no_effect(option, "the mesh is closed and cut exactly, without samples");
    }
    let is_fixed = placement == Placement::Fixed;
    if is_fixed && at.is_some() {
        note_no_effect("--at", "the pattern is fixed in the mesh");
    }
    if placement != Placement::Turned && normal.is_some() {
        note_no_effect("--normal", "the pattern has the axes of the mesh");
    }
    if !is_seeded && seed.is_some() && dust.path.is_none() {
        note_no_effect("--seed", "nothing about the pattern is random");
    }
    if density.is_some() && physics.is_none() {
        note_no_effect("--density", "masses are in the output of --json and --physics alone");
    }
}

/// Whether a piece was cut from an exact solid.
fn is_exact(piece: &Track) -> bool {
    let LazySurface::Of(source) = &piece.lazy_surface else { return false };
    source.solid.as_ref().is_some_and(|solid| solid.geometry.is_exact())
}

/// Rejects an impact so far from the bounding box of a mesh that its pattern does not reach the
/// mesh.
fn check_impact_point(path: &Path, at: &Point3<f64>, bounds: &Aabb) -> Result<(), Failure> {
    let nearest = at.coords.sup(&bounds.min.coords).inf(&bounds.max.coords);
    if (at.coords - nearest).norm() <= bounds.extents().norm() {
        return Ok(());
    }
    Err(Failure::FarOff { path: path.to_owned(), at: *at, bounds: *bounds })
}

fn warn_of_one_piece(mesh: &Path, pieces: usize, has_min_share: bool) {
    if pieces == 1 {
        let mesh = mesh.display();
        let smaller = if has_min_share { "reduce --min-share, " } else { "" };
        print_warnings(&[format!(
            "the pattern leaves {mesh} in one piece: {smaller}move --at closer to the mesh, or request more pieces"
        )]);
    }
}

/// The requested material.
fn material(arguments: &FractureArguments) -> Result<Option<&'static Material>, Failure> {
    let Some(name) = &arguments.material else { return Ok(None) };
    let unknown = || {
        let known = Material::TABLE.map(|material| material.name).join(", ");
        Failure::UnknownMaterial { name: name.clone(), known }
    };
    Material::named(name).map(Some).ok_or_else(unknown)
}

/// The look of pieces. The color of cuts is `inside`, or else the color of the material, or else
/// the mean color of the mesh.
fn look(material: Option<&Material>, inside: Option<[f32; 3]>, mesh: &PaintedMesh) -> Look {
    let mut look = material.map_or_else(Look::default, Material::look);
    if material.is_none() {
        // an image that cannot be decoded has no mean color
        let images = Images::of_coats(mesh.coats.iter()).ok();
        let color = images.and_then(|images| images.mean_color(mesh));
        look.inner_color = color.unwrap_or(look.color);
    }
    look.inner_color = inside.unwrap_or(look.inner_color);
    look
}

/// Density, kg per cubed mesh unit.
fn density(arguments: &FractureArguments) -> f64 {
    let material = arguments.material.as_deref().and_then(Material::named);
    let by_material = || Some(material?.solid()?.density);
    arguments.density.or_else(by_material).unwrap_or(1000.0)
}

/// Rejects outputs that cannot succeed or would overwrite an input; returns the format of the
/// recording.
fn check_outputs(arguments: &FractureArguments) -> Result<Format, Failure> {
    let FractureArguments { mesh, pattern, output, physics, dust, .. } = arguments;
    let format = check_output(output, arguments.rig)?;
    physics.as_deref().map(check_physics).transpose()?;
    dust.path.as_deref().map(check_dust).transpose()?;
    let outputs = [Some(output), physics.as_ref(), dust.path.as_ref()].into_iter().flatten();
    let outputs: Vec<&PathBuf> = outputs.collect();
    for (n, &written) in outputs.iter().enumerate() {
        if outputs[..n].iter().any(|other| is_same_file(written, other)) {
            return Err(Failure::SameOutput { path: written.clone() });
        }
        check_distinct(written, [mesh.as_path(), Path::new(pattern)])?;
    }
    Ok(format)
}

/// Writes the pieces and, if requested, their bodies and dust.
fn write(
    broken: &BrokenMesh,
    format: Format,
    arguments: &FractureArguments,
) -> Result<(), Failure> {
    let FractureArguments { mesh, output, physics, dust, quiet, json, .. } = arguments;
    format
        .write(&broken.recording, output)
        .map_err(|source| Failure::Write { path: output.clone(), source })?;
    if let DustOptions { path: Some(path), per_joule } = dust {
        let solid = arguments.material.as_deref().and_then(::fracture::Material::named);
        let energy = solid.unwrap_or(&::fracture::Material::STONE).fracture_energy();
        let amount = DustAmount { per_joule: *per_joule, seed: seed(arguments) };
        let dust = Dust::of_pieces(broken, energy, amount);
        write_dust(&dust, path, *quiet || *json)?;
    }
    let Some(physics) = physics else { return Ok(()) };
    let failed =
        |source: RigidError| Failure::Fracture { path: mesh.clone(), source: source.into() };
    write_physics(&broken.physics_scene(density(arguments)).map_err(failed)?, physics)
}

/// The output of `--json`.
fn facts(broken: &BrokenMesh, arguments: &FractureArguments) -> Value {
    let density = density(arguments);
    let piece = |(track, moments): (&Track, &Moments)| {
        let surface = track.surface();
        let inertia: [[f64; 3]; 3] = (moments.inertia() * density).into();
        json!({
            "name": track.name,
            "volume": moments.volume,
            "mass": density * moments.volume,
            "center": moments.center().coords.as_slice(),
            "inertia": inertia,
            "outer_faces": surface.outer.len(),
            "inner_faces": surface.inner.len(),
        })
    };
    let volume: f64 = broken.moments.iter().map(|moments| moments.volume).sum();
    let bonds = broken.bonds.iter();
    let pieces = broken.recording.tracks.iter().zip(&broken.moments).map(piece);
    json!({
        "file": arguments.mesh.display().to_string(),
        "output": arguments.output.display().to_string(),
        "pattern": arguments.pattern,
        "seed": seed(arguments),
        "density": density,
        "volume": volume,
        "mass": density * volume,
        "pieces": pieces.collect::<Vec<_>>(),
        "bonds": bonds.map(bond_facts).collect::<Vec<_>>(),
    })
}

/// The output of `--json` for a bond.
pub(super) fn bond_facts(bond: &Bond) -> Value {
    json!({
        "pieces": bond.fragments,
        "area": bond.area,
        "center": bond.center.coords.as_slice(),
        "normal": bond.normal.as_slice(),
    })
}

/// Minimum volume of a piece as a share of the body: an eighth of the mean for a generated pattern.
/// A pattern from a file may have most of its regions outside the body, so that its mean says
/// nothing; its minimum is the default of scenes.
fn min_share(source: &Source) -> f64 {
    match source {
        Source::Text(spec) => spec.min_share(),
        Source::File(_) => Pattern::MIN_SHARE,
    }
}
