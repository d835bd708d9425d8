//! `brisance tetrahedralize` and `brisance voxelize`: the volume of a mesh.

use std::io::{self, Write};
use std::path::Path;

use levelset::{Deviation, LevelSet, Stuffing, TetMesh, TriMesh};
use sim::sample_mesh;
use tetfem::{Fields, write_msh, write_vtu};

use crate::args::{Sampling, TetrahedralizeArguments, VoxelizeArguments};
use crate::commands::Failure;
use crate::commands::filling::{Fineness, Loss, filled};
use crate::commands::inputs::{ends_in, print_mesh_warnings};
use crate::commands::outputs::{check_distinct, check_folder, print};
use crate::input::refuse_folder;
use crate::mesh_file::{is_mesh, read_mesh};
use crate::output::write_whole;
use crate::progress::phase;
use crate::volume_file::{is_volume, read_volume, write_volume};
use crate::wording::{count, number};

/// Maximum number of nodes of a level set, 2 GiB, and of a lattice.
const MAX_NODES: usize = 1 << 29;

/// Fills a mesh with tetrahedra and reports their quality.
pub(super) fn tetrahedralize(arguments: &TetrahedralizeArguments) -> Result<(), Failure> {
    let TetrahedralizeArguments { mesh: path, output, doublings, quiet, .. } = arguments;
    let sampling = &arguments.sampling;
    check_tet_output(output, ".msh or .vtu")?;
    check_distinct(output, [path.as_path()])?;
    let (solid, volume) = if is_volume(path) {
        let solid = read_level_set_without_options(path, sampling)?;
        let volume = solid.subcell_moments().volume;
        (solid, volume)
    } else {
        let (solid, mesh) = sampled(path, sampling, *quiet)?;
        (solid, mesh.signed_volume())
    };
    let stuffing = Stuffing {
        spacing: 1.0,
        doublings: *doublings,
        halvings: arguments.halvings,
        limit: MAX_NODES,
    };
    let fill = |fineness| filled(&solid, fineness, &stuffing);
    let fineness = Fineness::of(arguments);
    let mesh = phase("filling the mesh with tetrahedra", *quiet, || fill(fineness));
    let mesh = mesh.map_err(|source| Failure::Grid { path: path.clone(), source })?;
    if mesh.tets.is_empty() {
        return Err(Failure::NothingInside { path: path.clone() });
    }
    let deviation = mesh.deviation(&solid);
    if let Some(loss) = Loss::of(&mesh, &solid, deviation).filter(|_| !arguments.lossy) {
        let enough = phase("looking for tetrahedra that lack nothing", *quiet, || {
            fineness.finer().find(|finer| {
                let keeps =
                    |mesh: TetMesh| Loss::of(&mesh, &solid, mesh.deviation(&solid)).is_none();
                fill(*finer).is_ok_and(keeps)
            })
        });
        return Err(Failure::Lossy { path: path.clone(), loss, enough });
    }
    write_tets(output, &mesh, &Fields::default())?;
    if *quiet { Ok(()) } else { print(|out| print_results(out, output, &mesh, volume, deviation)) }
}

/// Prints the results. `volume` is the volume of the input.
fn print_results(
    out: &mut impl Write,
    output: &Path,
    mesh: &TetMesh,
    volume: f64,
    deviation: Deviation,
) -> io::Result<()> {
    let tets = count(mesh.tets.len(), "tetrahedron", "tetrahedra");
    let vertices = count(mesh.vertices.len(), "vertex", "vertices");
    let pieces = count(mesh.components().count, "piece", "pieces");
    writeln!(out, "{}: {tets}, {vertices}, {pieces}", output.display())?;
    let quality = mesh.quality();
    let (min_angle, max_angle) = (quality.min_dihedral, quality.max_dihedral);
    let (min_ratio, mean_ratio) = (quality.min_mean_ratio, quality.mean_mean_ratio);
    let (min_radii, mean_radii) = (quality.min_radius_ratio, quality.mean_radius_ratio);
    writeln!(
        out,
        "dihedral angles from {min_angle:.1} to {max_angle:.1} degrees; mean ratio at least {min_ratio:.2}, \
         {mean_ratio:.2} on average; radius ratio at least {min_radii:.2}, {mean_radii:.2} on average (1 for a \
         regular tetrahedron)"
    )?;
    let filled = mesh.moments().volume;
    let difference = 100.0 * (filled / volume - 1.0);
    writeln!(out, "volume {}, {difference:+.2} % of that of the mesh", number(filled))?;
    writeln!(
        out,
        "the surface of the tetrahedra is up to {} from the mesh; the mesh is up to {} from the tetrahedra",
        number(deviation.from_mesh),
        number(deviation.from_level_set)
    )
}

/// The level set of a file.
pub(super) fn volume_at(path: &Path) -> Result<LevelSet, Failure> {
    let failed = |source| Failure::Volume { path: path.to_owned(), source };
    read_volume(path, MAX_NODES).map_err(failed)
}

/// Reads a level set; rejects sampling options.
fn read_level_set_without_options(path: &Path, sampling: &Sampling) -> Result<LevelSet, Failure> {
    match sampling.given() {
        Some(option) => Err(Failure::SampledAlready { path: path.to_owned(), option }),
        None => volume_at(path),
    }
}

/// Samples a mesh, or reads a level set, and writes it as a level set or its surface as a mesh.
pub(super) fn voxelize(arguments: &VoxelizeArguments) -> Result<(), Failure> {
    let VoxelizeArguments { mesh: path, sampling, output, quiet } = arguments;
    if !is_volume(output) && !ends_in(output, "obj") {
        return Err(Failure::Format { path: output.clone(), known: ".lset, .vti, .vdb or .obj" });
    }
    check_folder(output)?;
    check_distinct(output, [path.as_path()])?;
    let (solid, exact) = if is_volume(path) {
        (read_level_set_without_options(path, sampling)?, None)
    } else {
        let (solid, mesh) = sampled(path, sampling, *quiet)?;
        (solid, Some(mesh.signed_volume()))
    };
    let failed = |source: io::Error| Failure::Write { path: output.clone(), source: source.into() };
    let surface = ends_in(output, "obj").then(|| solid.isosurface());
    let is_empty = surface.as_ref().is_some_and(|surface| surface.triangles.is_empty());
    if is_empty || (exact.is_some() && solid.inside_range().is_none()) {
        return Err(Failure::NothingInside { path: path.clone() });
    }
    match &surface {
        Some(surface) => write_whole(output, |out| write_surface(surface, out)),
        None => write_whole(output, |out| write_volume(output, &solid, out)),
    }
    .map_err(failed)?;
    if *quiet {
        return Ok(());
    }
    let [nx, ny, nz] = solid.grid().dims();
    let (spacing, volume) = (solid.grid().spacing(), solid.subcell_moments().volume);
    let error = exact.map_or_else(String::new, |exact| {
        format!(", {:+.2} % of that of the mesh", 100.0 * (volume / exact - 1.0))
    });
    let triangles = surface.map_or_else(String::new, |surface| {
        format!("; {}", count(surface.triangles.len(), "triangle", "triangles"))
    });
    let (spacing, volume) = (number(spacing), number(volume));
    print(|out| {
        writeln!(
            out,
            "{}: {nx} x {ny} x {nz} nodes, {spacing} apart; volume {volume}{error}{triangles}",
            output.display()
        )
    })
}

fn write_surface(surface: &TriMesh, out: &mut impl Write) -> io::Result<()> {
    for p in &surface.vertices {
        writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
    }
    for [a, b, c] in surface.triangles.iter().map(|corners| corners.map(|v| v + 1)) {
        writeln!(out, "f {a} {b} {c}")?;
    }
    Ok(())
}

/// Samples a mesh; prints warnings about it unless `quiet`.
fn sampled(path: &Path, sampling: &Sampling, quiet: bool) -> Result<(LevelSet, TriMesh), Failure> {
    let read = |source| Failure::Read { path: path.to_owned(), source };
    refuse_folder(path).map_err(read)?;
    if !is_mesh(path) {
        return Err(Failure::NoSolid { path: path.to_owned() });
    }
    let failed = |source| Failure::MeshInfo { path: path.to_owned(), source };
    let mesh = read_mesh(path).map_err(failed)?;
    let spec = sampling.spec(path);
    if !quiet {
        print_mesh_warnings(&spec, &mesh, true);
    }
    let solid = phase("sampling the mesh", quiet, || sample_mesh(&spec, mesh));
    solid.map_err(|source| Failure::Fracture { path: path.to_owned(), source })
}

/// Rejects a tetrahedra output that cannot succeed.
pub(super) fn check_tet_output(output: &Path, known: &'static str) -> Result<(), Failure> {
    if !ends_in(output, "msh") && !ends_in(output, "vtu") {
        return Err(Failure::Format { path: output.to_owned(), known });
    }
    check_folder(output)
}

/// Writes tetrahedra in the format of the file name.
pub(super) fn write_tets(
    output: &Path,
    mesh: &TetMesh,
    fields: &Fields<'_>,
) -> Result<(), Failure> {
    let written = write_whole(output, |out| {
        if ends_in(output, "msh") {
            write_msh(out, mesh, fields)
        } else {
            write_vtu(out, mesh, fields)
        }
    });
    written.map_err(|source| Failure::Write { path: output.to_owned(), source: source.into() })
}
