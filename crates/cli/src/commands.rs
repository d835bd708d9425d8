//! What the program does.

mod blender;
mod bond;
mod compare;
mod dust;
mod failure;
mod fracture;
mod impacts;
mod inspect;
pub mod load;
mod pattern;
mod play;
mod plot;
mod regions;
mod render;
mod run;
mod slice;
mod stress;
mod view;
pub mod volume;
mod warnings;

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use clap::CommandFactory;
use meshfile::glb_file::is_glb;
use sim::{PhysicsScene, Recording};

use crate::args::{Arguments, Command};
use crate::format::glb::read_glb;
use crate::format::{Format, PhysicsFormat};
use crate::output::is_same_file;
use failure::OUTSIDE;
pub use failure::{Failure, Named};

/// The JSON schema of scene files.
pub const SCHEMA: &str = include_str!("scene.schema.json");

/// Does what the command line says. A run ends early once `interrupted` is set.
///
/// # Errors
/// [`Failure`] when it cannot; outputs are then as they were before.
pub fn execute(command: &Command, interrupted: &AtomicBool) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments, interrupted),
        Command::Replay(arguments) => run::replay(arguments, interrupted),
        Command::Fracture(arguments) => fracture::fracture(arguments),
        Command::Bond(arguments) => bond::run(arguments),
        Command::Pattern(command) => pattern::pattern(command),
        Command::Render(arguments) => render::render(arguments),
        Command::View(arguments) => view::view(arguments),
        Command::Play(arguments) => play::play(arguments),
        Command::Blender(arguments) => blender::blender(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Plot(arguments) => plot::plot(arguments),
        Command::Slice(arguments) => slice::run(arguments),
        Command::Tetrahedralize(arguments) => volume::tetrahedralize(arguments),
        Command::Voxelize(arguments) => volume::voxelize(arguments),
        Command::Stress(arguments) => stress::run(arguments),
        Command::Check(arguments) => inspect::check(arguments),
        Command::Info(arguments) => inspect::info(arguments),
        Command::Schema { loads, comparison } => {
            let schema = match (loads, comparison) {
                (true, _) => crate::loads_file::LOADS_SCHEMA,
                (_, true) => crate::comparison::REPORT_SCHEMA,
                _ => SCHEMA,
            };
            print(|out| out.write_all(schema.as_bytes()))
        }
        Command::Completions { shell } => {
            let mut text = vec![];
            clap_complete::generate(*shell, &mut Arguments::command(), "brisance", &mut text);
            print(|out| out.write_all(&text))
        }
        Command::Man => print(|out| clap_mangen::Man::new(Arguments::command()).render(out)),
    }
}

fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

/// Warns on standard error of what is doubtful about a mesh that is sampled as `spec` says.
/// Tells what is doubtful about a mesh; how thick its walls are only if it is sampled.
fn warn_of_mesh(spec: &sim::scene::Mesh, mesh: &levelset::TriMesh, is_sampled: bool) {
    let warnings = sim::MeshWarning::of(spec, mesh).into_iter();
    for warning in warnings.filter(|w| is_sampled || !matches!(w, sim::MeshWarning::Thin { .. })) {
        // nobody to tell is no reason to stop
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
}

/// Writes to standard output. That nobody listens any more is no failure, that it is full is one.
fn print(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<(), Failure> {
    let mut text = vec![];
    let mut out = io::stdout().lock();
    let written = write(&mut text).and_then(|()| out.write_all(&text)).and_then(|()| out.flush());
    match written {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Stdout { source })
        }
        _ => Ok(()),
    }
}

/// A line about the materials of a mesh file, which the output has no place for.
fn write_no_materials(out: &mut impl Write, path: &Path) -> io::Result<()> {
    writeln!(out, "materials of {} are not carried over: write a .glb file", path.display())
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    crate::input::read_argument(path)
        .map_err(|source| Failure::Read { path: path.to_owned(), source })
}

/// The recording at `path`.
fn recording_at(path: &Path) -> Result<Recording, Failure> {
    let bytes = read(path)?;
    // a pipe has no ending
    if !ends_in(path, "glb") && !is_glb(&bytes) {
        return Err(Failure::NoRecording { path: path.to_owned() });
    }
    read_glb(&bytes).map_err(|source| Failure::Recording { path: path.to_owned(), source })
}

fn read_text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(read(path)?).map_err(|_| Failure::NotText { path: path.to_owned() })
}

/// The format that a recording is to be written in; refuses what cannot succeed.
fn check_output(path: &Path, is_rigged: bool) -> Result<Format, Failure> {
    let format = Format::of(path)
        .ok_or_else(|| Failure::Format { path: path.to_owned(), known: Format::ENDINGS })?;
    let format = if is_rigged { format.rigged() } else { Some(format) };
    let format = format.ok_or_else(|| Failure::NoRig { path: path.to_owned() })?;
    check_folder(path)?;
    let folder = format.folder(path);
    if folder.as_deref().is_some_and(Path::exists) {
        return Err(Failure::Exists { path: folder.unwrap_or_default() });
    }
    Ok(format)
}

/// The format that a physics scene is to be written in; refuses what cannot succeed.
fn check_physics(path: &Path) -> Result<PhysicsFormat, Failure> {
    check_folder(path)?;
    let known = PhysicsFormat::ENDINGS;
    PhysicsFormat::of(path).ok_or_else(|| Failure::Format { path: path.to_owned(), known })
}

/// Writes a physics scene by the ending of `path`.
fn write_physics(scene: &PhysicsScene, path: &Path) -> Result<(), Failure> {
    let failed = |source| Failure::Write { path: path.to_owned(), source };
    check_physics(path)?.write(scene, path).map_err(failed)
}

/// Refuses an output that would take the place of an input.
fn check_distinct<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    if inputs.into_iter().any(|input| is_same_file(output, input)) {
        return Err(Failure::OverInput { path: output.to_owned() });
    }
    Ok(())
}

/// Refuses an output that cannot succeed, before any work is done for it.
fn check_folder(path: &Path) -> Result<(), Failure> {
    if !crate::output::folder_of(path).is_dir() {
        return Err(Failure::NoFolder { path: path.to_owned() });
    }
    if path.is_dir() {
        return Err(Failure::Exists { path: path.to_owned() });
    }
    crate::output::check_writable(path).map_err(|source| match source.kind() {
        // some folders of the system are there and yet know no such file
        std::io::ErrorKind::NotFound => Failure::ClosedFolder { path: path.to_owned() },
        _ => Failure::Write { path: path.to_owned(), source: source.into() },
    })
}
