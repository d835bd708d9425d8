//! `brisance slice`: closed meshes cut by planes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use fracture::{ClosedMesh, Plane, slice};
use nalgebra::{Isometry3, UnitVector3};
use sim::{Look, Recording, Surface, Track};

use crate::args::SliceArguments;
use crate::commands::{Failure, check_folder, ends_in};
use crate::format::WriteError;
use crate::format::glb::write_glb;
use crate::mesh_file::read_mesh;
use crate::output::write_whole;

/// A part of the mesh, and which of its triangles are cuts.
struct Part {
    name: String,
    mesh: ClosedMesh,
    inner: Vec<bool>,
    /// One for each corner.
    normals: Vec<[UnitVector3<f64>; 3]>,
}

/// Cuts a mesh and writes the parts.
pub(super) fn run(arguments: &SliceArguments) -> Result<(), Failure> {
    let output = &arguments.output;
    if !ends_in(output, "glb") && !ends_in(output, "obj") {
        return Err(Failure::Format { path: output.clone(), known: ".glb or .obj" });
    }
    check_folder(output)?;
    let path = &arguments.mesh;
    let failed = |source| Failure::MeshInfo { path: path.clone(), source };
    let mesh = read_mesh(path).map_err(failed)?;
    let solid = ClosedMesh::new(mesh)
        .map_err(|source| Failure::NotClosed { path: path.clone(), source })?;
    let whole = solid.mesh().signed_volume();
    let parts = cut(solid, &arguments.planes);
    let written = if ends_in(output, "glb") {
        write_whole(output, |out| write_glb(&recording(&parts), out))
    } else {
        write_whole(output, |out| write_obj(&parts, out).map_err(WriteError::from))
    };
    written.map_err(|source| Failure::Write { path: output.clone(), source })?;
    if !arguments.quiet {
        // nobody may be listening
        let _ = print(output, &parts, whole);
    }
    Ok(())
}

fn print(output: &Path, parts: &[Part], whole: f64) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}: {} parts of volume {whole}", output.display(), parts.len())?;
    for part in parts {
        let mesh = part.mesh.mesh();
        let triangles = mesh.triangles.len();
        writeln!(out, "  {}: volume {}, {triangles} triangles", part.name, mesh.signed_volume())?;
    }
    Ok(())
}

/// All parts that the planes make, each plane cutting all that is there.
fn cut(solid: ClosedMesh, planes: &[Plane]) -> Vec<Part> {
    let inner = vec![false; solid.mesh().triangles.len()];
    let mut parts = vec![Part { name: String::new(), mesh: solid, inner, normals: Vec::new() }];
    for plane in planes {
        parts = parts.into_iter().flat_map(|part| cut_part(&part, plane)).collect();
    }
    if planes.len() > 1 {
        for (part, number) in parts.iter_mut().zip(1..) {
            part.name = format!("part {number}");
        }
    }
    parts
}

fn cut_part(part: &Part, plane: &Plane) -> Vec<Part> {
    let halves = slice(&part.mesh, plane);
    let named = [("back", halves.back), ("front", halves.front)];
    let full = named.into_iter().filter(|(_, half)| !half.mesh().is_empty());
    full.map(|(name, half)| {
        let count = half.mesh().mesh().triangles.len();
        let was_inner = |t| half.sources().get(t).is_none_or(|&s: &u32| part.inner[s as usize]);
        Part {
            name: name.to_owned(),
            inner: (0..count).map(was_inner).collect(),
            normals: normals(part, &half),
            mesh: half.into_mesh(),
        }
    })
    .collect()
}

/// Those of the part where it had any, so that shading runs on across the cut.
fn normals(part: &Part, half: &fracture::Half) -> Vec<[UnitVector3<f64>; 3]> {
    let own = half.corner_normals();
    if part.normals.is_empty() {
        return own;
    }
    let mix = |a: &UnitVector3<f64>, b: &UnitVector3<f64>, share: f64| {
        UnitVector3::try_new(a.lerp(b, share), 0.0).unwrap_or(*a)
    };
    let mut carried = half.carried_corners(part.mesh.mesh(), &part.normals, mix);
    carried.extend_from_slice(&own[carried.len()..]);
    carried
}

/// The parts where they are, as a recording of one frame.
fn recording(parts: &[Part]) -> Recording {
    let look = Arc::new(Look { inner_colour: [0.8, 0.45, 0.25], ..Look::default() });
    let track = |part: &Part| Track {
        name: part.name.clone(),
        surface: Arc::new(surface(part)),
        look: Arc::clone(&look),
        parent: None,
        birth: 0,
        poses: vec![Isometry3::identity()],
    };
    Recording { fps: 30.0, frames: 1, tracks: parts.iter().map(track).collect() }
}

fn surface(part: &Part) -> Surface {
    let mesh = part.mesh.mesh();
    let mut names: BTreeMap<(u32, [u32; 3]), u32> = BTreeMap::new();
    let mut surface = Surface::default();
    for ((triangle, normals), &inner) in mesh.triangles.iter().zip(&part.normals).zip(&part.inner) {
        let corner = |k: usize| {
            let normal: [f32; 3] = normals[k].into_inner().cast::<f32>().into();
            *names.entry((triangle[k], normal.map(f32::to_bits))).or_insert_with(|| {
                let place: [f32; 3] = mesh.vertices[triangle[k] as usize].cast::<f32>().into();
                surface.vertices.push(place);
                surface.rest.push(place);
                surface.normals.push(normal);
                surface.vertices.len() as u32 - 1
            })
        };
        let drawn = [0, 1, 2].map(corner);
        if inner { surface.inner.push(drawn) } else { surface.outer.push(drawn) }
    }
    surface
}

/// One object for each part; groups `outer` and `inner` tell its surface from cuts.
fn write_obj(parts: &[Part], out: &mut impl Write) -> io::Result<()> {
    let (mut first, mut first_normal) = (1, 1);
    for part in parts {
        let mesh = part.mesh.mesh();
        writeln!(out, "o {}", part.name)?;
        for p in &mesh.vertices {
            writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
        }
        for n in part.normals.iter().flatten() {
            writeln!(out, "vn {} {} {}", n.x as f32, n.y as f32, n.z as f32)?;
        }
        for (group, is_inner) in [("outer", false), ("inner", true)] {
            writeln!(out, "g {group}")?;
            for (t, triangle) in mesh.triangles.iter().enumerate() {
                if part.inner[t] == is_inner {
                    let [a, b, c] = [0, 1, 2]
                        .map(|k| format!("{}//{}", first + triangle[k], first_normal + 3 * t + k));
                    writeln!(out, "f {a} {b} {c}")?;
                }
            }
        }
        first += mesh.vertices.len() as u32;
        first_normal += 3 * mesh.triangles.len();
    }
    Ok(())
}
