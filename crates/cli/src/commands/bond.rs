//! `brisance bond`: a part of a scene, with existing pieces and breakable joints between them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use fracture::{Bond, ClosedMesh, TOUCHING_GAP, touching};
use levelset::{Aabb, TriMesh};
use nalgebra::{Point3, Vector3};
use serde_json::json;
use sim::bond_capacity;
use sim::scene::Scene;

use crate::args::BondArguments;
use crate::commands::Failure;
use crate::commands::fracture::bond_facts;
use crate::commands::inputs::{ends_in, mesh_files_in};
use crate::commands::load::read_plain;
use crate::commands::outputs::{check_distinct, check_folder, print};
use crate::format::glb::read_glb;
use crate::mesh_file::read_objects;
use crate::output::{write_whole, write_whole_folder};
use crate::wording::{count, number};

/// Maximum number of mesh files in a folder of pieces.
const MAX_PIECES: usize = 1 << 14;

/// Detects touching pieces, and writes them as bodies and joints.
pub(super) fn run(arguments: &BondArguments) -> Result<(), Failure> {
    let BondArguments { pieces: path, output, .. } = arguments;
    if !ends_in(output, "toml") {
        return Err(Failure::Format { path: output.clone(), known: ".toml" });
    }
    check_folder(output)?;
    let folder = output.with_extension("");
    if folder.exists() {
        return Err(Failure::Exists { path: folder });
    }
    let strength = strength(arguments)?;
    std::fs::metadata(path).map_err(|source| Failure::Read { path: path.clone(), source })?;
    let too_many = || Failure::ManyPieces { path: path.clone(), named: None, most: MAX_PIECES };
    let mut meshes = Vec::new();
    for file in &mesh_files_in(path, MAX_PIECES, too_many)? {
        check_distinct(output, [file.as_path()])?;
        refuse_frames(file)?;
        let objects = read_objects(file)
            .map_err(|source| Failure::MeshInfo { path: file.clone(), source })?;
        for object in objects {
            let closed = ClosedMesh::new(object.welded());
            let closed =
                closed.map_err(|source| Failure::NotClosed { path: file.clone(), source })?;
            meshes.push(closed.mesh().clone());
        }
    }
    let Some(bounds) = Aabb::around(meshes.iter().flat_map(|mesh| &mesh.vertices)) else {
        return Err(Failure::NoPieces { path: path.clone(), named: None });
    };
    let longest = bounds.extents().max();
    let scale = arguments.size.map_or(1.0, |size| size / longest);
    if arguments.size.is_some() {
        let place = |p: &mut Point3<f64>| *p = Point3::from((*p - bounds.center()) * scale);
        meshes.iter_mut().flat_map(|mesh| &mut mesh.vertices).for_each(place);
    }
    let gap = arguments.gap.unwrap_or(TOUCHING_GAP * longest * scale);
    let bonds = touching(&meshes, gap);
    let scene = scene(arguments, &meshes, &bonds, strength);
    // errors in names and sizes are reported before anything is written
    let checked = Scene::from_toml(&scene);
    checked.map_err(|source| Failure::Scene { path: output.clone(), source })?;
    let failed = |source: io::Error| Failure::Write { path: output.clone(), source: source.into() };
    write_whole_folder(&folder, |folder| write_meshes(&meshes, folder)).map_err(failed)?;
    // on failure the meshes are removed, since an existing folder is an error in the next attempt
    write_whole(output, |out| out.write_all(scene.as_bytes()))
        .inspect_err(|_| drop(std::fs::remove_dir_all(&folder)))
        .map_err(failed)?;
    if arguments.json {
        let facts = facts(arguments, &meshes, &bonds, strength);
        return print(|out| writeln!(out, "{facts}"));
    }
    if arguments.quiet {
        return Ok(());
    }
    // the sum of an empty iterator is -0
    let area = bonds.iter().fold(0.0, |sum, bond| sum + bond.area);
    if bonds.is_empty() {
        warn_of_no_bonds(meshes.len(), gap);
    }
    let (pieces, bonds) =
        (count(meshes.len(), "piece", "pieces"), count(bonds.len(), "bond", "bonds"));
    print(|out| {
        writeln!(
            out,
            "{}: {pieces}, {bonds} of {} m^2 with a strength of {} Pa",
            output.display(),
            number(area),
            number(strength)
        )
    })
}

fn warn_of_no_bonds(pieces: usize, gap: f64) {
    let reason = match pieces {
        1 => {
            "there is only one piece, and bonds join two: give a file with more objects".to_owned()
        }
        _ => format!(
            "no pieces touch, so there are no bonds: give a --gap above {gap:.2e} m to connect them"
        ),
    };
    // stderr may be closed
    let _ = writeln!(io::stderr(), "warning: {reason}");
}

/// The strength of bonds, Pa.
fn strength(arguments: &BondArguments) -> Result<f64, Failure> {
    let name = &arguments.material;
    let Some(material) = fracture::Material::named(name) else {
        let known = fracture::Material::TABLE.map(|material| material.name).join(", ");
        return Err(Failure::UnknownMaterial { name: name.clone(), known });
    };
    Ok(arguments.strength.unwrap_or(material.tensile_strength))
}

/// The scene part: a body per piece and a joint per bond.
fn scene(arguments: &BondArguments, meshes: &[TriMesh], bonds: &[Bond], strength: f64) -> String {
    let BondArguments { position, name, material, output, .. } = arguments;
    let folder = output.with_extension("");
    let folder = folder.file_name().unwrap_or_default().to_string_lossy();
    let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let mut scene = format!(
        "# By `brisance bond`: {}, {}.\nversion = 1\n",
        count(meshes.len(), "piece", "pieces"),
        count(bonds.len(), "bond", "bonds")
    );
    let named = |n: usize| text(&format!("{name} {}", n + 1));
    for n in 0..meshes.len() {
        let file = text(&format!("{folder}/piece_{}.obj", n + 1));
        scene += &format!(
            "\n[[body]]\nname = {}\nshape = {{ mesh = {{ file = {file} }} }}\nmaterial = {}\nposition = {position:?}\n",
            named(n),
            text(material)
        );
    }
    for bond in bonds {
        let [a, b] = bond.fragments.map(named);
        let at = bond.center + Vector3::from(*position);
        let [force, torque] = bond_capacity(bond, strength);
        scene += &format!(
            "\n[[joints]]\nkind = \"fixed\"\nbodies = [{a}, {b}]\nanchor = {:?}\nbreak_force = {:?}\nbreak_torque = {:?}\n",
            [at.x, at.y, at.z],
            force,
            torque
        );
    }
    scene
}

/// Rejects a recording with bodies that appear after the first frame: their scale is zero in the
/// file.
fn refuse_frames(file: &Path) -> Result<(), Failure> {
    if !ends_in(file, "glb") {
        return Ok(());
    }
    match read_glb(&read_plain(file)?) {
        Ok(recording) if recording.tracks.iter().any(|track| track.birth > 0) => {
            Err(Failure::BondedFrames { path: file.to_owned(), frames: recording.frames })
        }
        _ => Ok(()),
    }
}

fn write_meshes(meshes: &[TriMesh], folder: &Path) -> io::Result<()> {
    for (n, mesh) in meshes.iter().enumerate() {
        let mut out = BufWriter::new(File::create(folder.join(format!("piece_{}.obj", n + 1)))?);
        for p in &mesh.vertices {
            writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
        }
        for [a, b, c] in mesh.triangles.iter().map(|corners| corners.map(|v| v + 1)) {
            writeln!(out, "f {a} {b} {c}")?;
        }
        out.flush()?;
    }
    Ok(())
}

/// The output of `--json`.
fn facts(
    arguments: &BondArguments,
    meshes: &[TriMesh],
    bonds: &[Bond],
    strength: f64,
) -> serde_json::Value {
    let bond = |bond: &Bond| {
        let mut facts = bond_facts(bond);
        let [force, torque] = bond_capacity(bond, strength);
        facts["break_force"] = json!(force);
        facts["break_torque"] = json!(torque);
        facts
    };
    json!({
        "file": arguments.pieces.display().to_string(),
        "output": arguments.output.display().to_string(),
        "material": arguments.material,
        "strength": strength,
        "volumes": meshes.iter().map(TriMesh::signed_volume).collect::<Vec<_>>(),
        "bonds": bonds.iter().map(bond).collect::<Vec<_>>(),
    })
}
