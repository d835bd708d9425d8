//! `brisance check` and `brisance info`: what is in a file, without running anything.

use std::io::{self, Write};
use std::path::Path;

use fracture::Pattern;
use levelset::Aabb;
use sim::Recording;
use sim::scene::Motion;

use crate::args::FileArguments;
use crate::commands::load::{build, read_scene};
use crate::commands::{Failure, ends_in, read};
use crate::format::glb::read_glb;
use crate::mesh_file::read_mesh;
use crate::tet_file::{is_tets, read_tets};

/// Builds a scene and says what is in it.
pub(super) fn check(arguments: &FileArguments) -> Result<(), Failure> {
    let path = &arguments.file;
    let scene = read_scene(path)?;
    let (world, _) = build(path, &scene)?;
    let print = |out: &mut dyn Write| -> io::Result<()> {
        let simulation = &scene.simulation;
        let (bodies, frames, fps) = (scene.bodies.len(), simulation.frames, simulation.fps);
        writeln!(out, "{}: {bodies} bodies, {frames} frames of 1/{fps} s", path.display())?;
        let mut nodes = 0.0;
        for (body, state) in scene.bodies.iter().zip(world.iter()) {
            let motion = match body.motion {
                Motion::Dynamic => "dynamic",
                Motion::Static => "static",
                Motion::Kinematic => "kinematic",
            };
            write!(out, "  {}: {motion}", body.name)?;
            if let Some(mass) = state.body.mass_properties() {
                write!(out, ", {:.4} kg", mass.mass())?;
            }
            if let Some(breakage) = state.breakage {
                write!(out, ", breaks above {} N s", breakage.strength)?;
            }
            writeln!(out)?;
            nodes += body.shape.nodes().unwrap_or(0.0);
        }
        // four bytes a sample
        writeln!(out, "level sets of {nodes:.0} nodes or fewer, {:.1} MB", nodes * 4e-6)
    };
    // nobody may be listening
    let _ = print(&mut io::stdout().lock());
    Ok(())
}

/// Says what is in a recording or a mesh.
pub(super) fn info(arguments: &FileArguments) -> Result<(), Failure> {
    let path = &arguments.file;
    if let Ok(pattern) = Pattern::read(&read(path)?[..]) {
        // nobody may be listening
        let _ = print_pattern(path, &pattern, &mut io::stdout().lock());
        return Ok(());
    }
    let recording = if ends_in(path, "glb") { read_glb(&read(path)?).ok() } else { None };
    match recording {
        Some(recording) => {
            // nobody may be listening
            let _ = print_recording(path, &recording, &mut io::stdout().lock());
            Ok(())
        }
        None if is_tets(path) => tets_info(path),
        None => mesh_info(path),
    }
}

fn print_recording(path: &Path, recording: &Recording, out: &mut impl Write) -> io::Result<()> {
    let Recording { fps, frames, tracks, .. } = recording;
    let fragments = tracks.iter().filter(|t| t.parent.is_some()).count();
    let last = tracks.iter().filter(|t| t.pose(frames - 1).is_some()).count();
    let triangles: usize =
        tracks.iter().map(|t| t.surface.outer.len() + t.surface.inner.len()).sum();
    writeln!(out, "{}: recording of {frames} frames at {fps} per second", path.display())?;
    writeln!(out, "{} bodies, of these {fragments} fragments; {last} at the end", tracks.len())?;
    writeln!(out, "{triangles} triangles")
}

fn print_pattern(path: &Path, pattern: &Pattern, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}: pattern of {} regions", path.display(), pattern.region_count())?;
    // as many points as tell cells apart that are worth it
    const ALONG: usize = 24;
    let place = |n: usize| (n as f64 + 0.5) / ALONG as f64 * 2.0 - 1.0;
    let mut counts = vec![0_usize; pattern.region_count()];
    for n in 0..ALONG * ALONG * ALONG {
        let p = [place(n % ALONG), place(n / ALONG % ALONG), place(n / ALONG / ALONG)];
        counts[pattern.region_at(&p.into())] += 1;
    }
    let share = |count: usize| 100.0 * count as f64 / (ALONG * ALONG * ALONG) as f64;
    counts.sort_unstable();
    let (median, largest) = (counts[counts.len() / 2], counts[counts.len() - 1]);
    writeln!(
        out,
        "of the box it is drawn for the median region takes {:.2} %, the largest {:.2} %",
        share(median),
        share(largest)
    )
}

fn mesh_info(path: &Path) -> Result<(), Failure> {
    let failed = |source| Failure::MeshInfo { path: path.to_owned(), source };
    let mesh = read_mesh(path).map_err(failed)?;
    let facts =
        mesh.facts().map_err(|source| Failure::MeshFacts { path: path.to_owned(), source })?;
    let print = |out: &mut dyn Write| -> io::Result<()> {
        let (vertices, triangles) = (mesh.vertices.len(), mesh.triangles.len());
        writeln!(out, "{}: mesh of {vertices} vertices, {triangles} triangles", path.display())?;
        if let Some(bounds) = Aabb::around(&mesh.vertices) {
            let e = bounds.extents();
            writeln!(out, "size {} x {} x {}", e.x, e.y, e.z)?;
        }
        let say = |is: bool| if is { "" } else { "not " };
        let (closed, oriented) = (say(facts.closed), say(facts.oriented));
        writeln!(out, "{closed}closed, {oriented}oriented, {} components", facts.components)?;
        writeln!(out, "area {}, volume {}", facts.area, mesh.signed_volume())
    };
    // nobody may be listening
    let _ = print(&mut io::stdout().lock());
    Ok(())
}

fn tets_info(path: &Path) -> Result<(), Failure> {
    let failed = |source| Failure::MeshInfo { path: path.to_owned(), source };
    let mesh = read_tets(path).map_err(failed)?;
    let print = |out: &mut dyn Write| -> io::Result<()> {
        let (vertices, tets) = (mesh.vertices.len(), mesh.tets.len());
        writeln!(out, "{}: {tets} tetrahedra, {vertices} vertices", path.display())?;
        if let Some(bounds) = Aabb::around(&mesh.vertices) {
            let e = bounds.extents();
            writeln!(out, "size {} x {} x {}", e.x, e.y, e.z)?;
        }
        if let Err(problem) = mesh.validate() {
            return writeln!(out, "not valid: {problem}");
        }
        let quality = mesh.quality();
        let (least, most) = (quality.min_dihedral, quality.max_dihedral);
        writeln!(out, "{} pieces, volume {}", mesh.components().count, mesh.moments().volume)?;
        writeln!(out, "dihedral angles from {least:.1} to {most:.1} degrees")
    };
    // nobody may be listening
    let _ = print(&mut io::stdout().lock());
    Ok(())
}
