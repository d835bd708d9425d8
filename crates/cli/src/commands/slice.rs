//! `brisance slice`: closed meshes cut by planes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use fracture::{ClosedMesh, Plane, slice};
use levelset::{Aabb, MeshError};
use nalgebra::Isometry3;
use sim::{Coat, Look, Paint, Recording, Surface, Track};

use crate::args::SliceArguments;
use crate::commands::Failure;
use crate::commands::inputs::ends_in;
use crate::commands::load::print_warnings;
use crate::commands::outputs::{check_distinct, check_folder, print, write_no_materials};
use crate::format::WriteError;
use crate::format::glb::write_glb;
use crate::mesh_file::{MeshFile, read_mesh_file};
use crate::output::write_whole;
use crate::wording::{self, number, place};

/// A part of the mesh.
struct Part {
    name: String,
    mesh: ClosedMesh,
    /// Whether each triangle is a part of a cut.
    inner: Vec<bool>,
    corners: Vec<[Paint; 3]>,
    /// Material index of each triangle; empty without materials.
    material_of: Vec<u32>,
}

/// Cuts a mesh and writes the parts.
pub(super) fn run(arguments: &SliceArguments) -> Result<(), Failure> {
    let output = &arguments.output;
    if !ends_in(output, "glb") && !ends_in(output, "obj") {
        return Err(Failure::Format { path: output.clone(), known: ".glb or .obj" });
    }
    check_folder(output)?;
    let path = &arguments.mesh;
    check_distinct(output, [path.as_path()])?;
    let failed = |source| Failure::MeshInfo { path: path.clone(), source };
    let file = read_mesh_file(path).map_err(failed)?;
    let mut warnings: Vec<String> =
        file.warnings.iter().map(|warning| format!("{}: {warning}", path.display())).collect();
    let MeshFile { mesh, corners, coats, coat_of, .. } = file;
    let solid = ClosedMesh::new(mesh)
        .map_err(|source| Failure::NotClosed { path: path.clone(), source })?;
    let volume = solid.mesh().signed_volume();
    if volume < 0.0 {
        let source = MeshError::InsideOut { volume };
        return Err(Failure::MeshFacts { path: path.clone(), source });
    }
    let without_cut = planes_without_cut(&solid, &arguments.planes);
    warnings.extend(without_cut.map(|n| no_cut_warning(path, &solid, n)));
    let inner = vec![false; solid.mesh().triangles.len()];
    let whole_part =
        Part { name: String::new(), mesh: solid, inner, corners, material_of: coat_of };
    let parts = cut(whole_part, &arguments.planes);
    let is_glb = ends_in(output, "glb");
    let has_materials = !coats.is_empty();
    let written = if is_glb {
        write_whole(output, |out| write_glb(&recording(&parts, coats), out))
    } else {
        write_whole(output, |out| write_obj(&parts, out).map_err(WriteError::from))
    };
    written.map_err(|source| Failure::Write { path: output.clone(), source })?;
    if arguments.quiet {
        return Ok(());
    }
    print_warnings(&warnings);
    print(|out| {
        print_parts(out, output, &parts, volume)?;
        if has_materials && !is_glb {
            write_no_materials(out, path)?;
        }
        Ok(())
    })
}

/// The 1-based numbers of the planes with the whole mesh on one side.
fn planes_without_cut(solid: &ClosedMesh, planes: &[Plane]) -> impl Iterator<Item = usize> {
    let is_beside = |plane: &Plane| {
        let mut heights = solid.mesh().vertices.iter().map(|p| plane.distance(p));
        heights.clone().all(|height| height >= 0.0) || heights.all(|height| height <= 0.0)
    };
    (1..).zip(planes).filter(move |(_, plane)| is_beside(plane)).map(|(number, _)| number)
}

/// The warning about plane `number`, which does not cut the mesh.
fn no_cut_warning(path: &Path, solid: &ClosedMesh, number: usize) -> String {
    let bounds = Aabb::around(&solid.mesh().vertices);
    let reach = bounds.map_or_else(String::new, |bounds| {
        format!(", which is from {} to {}", place(&bounds.min), place(&bounds.max))
    });
    format!("plane {number} does not cut {}{reach}: give another --plane", path.display())
}

fn print_parts(out: &mut impl Write, output: &Path, parts: &[Part], volume: f64) -> io::Result<()> {
    let count = wording::count(parts.len(), "part", "parts");
    writeln!(out, "{}: {count} of volume {}", output.display(), number(volume))?;
    for part in parts {
        let mesh = part.mesh.mesh();
        let triangles = wording::count(mesh.triangles.len(), "triangle", "triangles");
        let volume = number(mesh.signed_volume());
        writeln!(out, "  {}: volume {volume}, {triangles}", part.name)?;
    }
    Ok(())
}

/// All parts. Each plane cuts all parts of the previous planes.
fn cut(whole: Part, planes: &[Plane]) -> Vec<Part> {
    let mut parts = vec![whole];
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
        let material =
            |t| half.sources().get(t).and_then(|&s: &u32| part.material_of.get(s as usize));
        let materials = (0..count).map(|t| material(t).copied().unwrap_or(u32::MAX));
        Part {
            material_of: if part.material_of.is_empty() { Vec::new() } else { materials.collect() },
            name: name.to_owned(),
            inner: (0..count).map(was_inner).collect(),
            corners: corners(part, &half),
            mesh: half.into_mesh(),
        }
    })
    .collect()
}

/// Attributes of the corners of a half, interpolated from the part, so that shading and textures
/// continue across the cut. Corners without a normal in the part get the normal of the half.
fn corners(part: &Part, half: &fracture::Half) -> Vec<[Paint; 3]> {
    let mut corners = half.interpolated_corners(part.mesh.mesh(), &part.corners, interpolated);
    corners.resize(half.mesh().mesh().triangles.len(), [Paint::default(); 3]);
    for (corner, normal) in corners.iter_mut().flatten().zip(half.corner_normals().iter().flatten())
    {
        corner.normal.get_or_insert(*normal);
    }
    corners
}

/// Attributes between two corners.
fn interpolated(a: &Paint, b: &Paint, share: f64) -> Paint {
    Paint::interpolated(&[*a, *b, *b], &[1.0 - share, share, 0.0])
}

/// The parts in place, as a recording of one frame.
fn recording(parts: &[Part], coats: Vec<Coat>) -> Recording {
    let inner_color = [0.8, 0.45, 0.25];
    let look = Arc::new(Look { inner_color, coats: coats.into(), ..Look::default() });
    let track = |part: &Part| Track {
        name: part.name.clone(),
        lazy_surface: surface(part).into(),
        look: Arc::clone(&look),
        parent: None,
        birth: 0,
        taken: 0,
        poses: vec![Isometry3::identity()],
        waypoints: Vec::new(),
        shrinks: None,
        stresses: Vec::new(),
    };
    let tracks = parts.iter().map(track).collect();
    Recording { fps: 30.0, frames: 1, tracks, energies: vec![], crumbs: vec![], camera: None }
}

fn surface(part: &Part) -> Surface {
    let mesh = part.mesh.mesh();
    let present = PresentAttributes::of(part);
    // identical corners share a vertex
    let mut vertex_of: BTreeMap<(u32, [u32; 9]), u32> = BTreeMap::new();
    let mut surface = Surface::default();
    for (t, (triangle, corners)) in mesh.triangles.iter().zip(&part.corners).enumerate() {
        let drawn = [0, 1, 2].map(|k| {
            let CornerFloats { normal, uv, color } = CornerFloats::of(&corners[k]);
            let mut key = [0; 9];
            for (key, x) in key.iter_mut().zip(normal.iter().chain(&uv).chain(&color)) {
                *key = x.to_bits();
            }
            *vertex_of.entry((triangle[k], key)).or_insert_with(|| {
                let place: [f32; 3] = mesh.vertices[triangle[k] as usize].cast::<f32>().into();
                surface.vertices.push(place);
                surface.rest.push(place);
                surface.normals.push(normal);
                surface.uvs.extend(present.uvs.then_some(uv));
                surface.colors.extend(present.colors.then_some(color));
                surface.vertices.len() as u32 - 1
            })
        });
        if part.inner[t] {
            surface.inner.push(drawn);
        } else {
            surface.outer.push(drawn);
            surface.coats.extend(part.material_of.get(t));
        }
    }
    surface
}

/// The attributes that any corner of a part has.
struct PresentAttributes {
    uvs: bool,
    colors: bool,
}

impl PresentAttributes {
    fn of(part: &Part) -> Self {
        let mut corners = part.corners.iter().flatten();
        Self {
            uvs: corners.clone().any(|corner| corner.uv.is_some()),
            colors: corners.any(|corner| corner.color.is_some()),
        }
    }
}

/// Attributes of a corner; 0 and white where it has none.
struct CornerFloats {
    normal: [f32; 3],
    uv: [f32; 2],
    color: [f32; 4],
}

impl CornerFloats {
    fn of(corner: &Paint) -> Self {
        Self {
            normal: corner.normal.map_or([0.0; 3], |n| n.into_inner().cast::<f32>().into()),
            uv: corner.uv.map_or([0.0; 2], |uv| uv.cast::<f32>().into()),
            color: corner.color.map_or([1.0; 4], |c| c.cast::<f32>().into()),
        }
    }
}

/// Writes one object per part, with the groups `outer` (surface) and `inner` (cuts). Colors follow
/// the vertex coordinates, a common extension of OBJ.
fn write_obj(parts: &[Part], out: &mut impl Write) -> io::Result<()> {
    let (mut first, mut first_corner) = (1, 1);
    for part in parts {
        let mesh = part.mesh.mesh();
        let present = PresentAttributes::of(part);
        let mut colors = vec![[1.0; 4]; mesh.vertices.len()];
        for (triangle, corners) in mesh.triangles.iter().zip(&part.corners) {
            for (&v, corner) in triangle.iter().zip(corners).filter(|(_, c)| c.color.is_some()) {
                colors[v as usize] = CornerFloats::of(corner).color;
            }
        }
        writeln!(out, "o {}", part.name)?;
        for (p, [r, g, b, _]) in mesh.vertices.iter().zip(colors) {
            write!(out, "v {} {} {}", p.x, p.y, p.z)?;
            writeln!(
                out,
                "{}",
                if present.colors { format!(" {r} {g} {b}") } else { String::new() }
            )?;
        }
        for corner in part.corners.iter().flatten() {
            let CornerFloats { normal: [x, y, z], uv: [u, v], .. } = CornerFloats::of(corner);
            writeln!(out, "vn {x} {y} {z}")?;
            if present.uvs {
                writeln!(out, "vt {u} {v}")?;
            }
        }
        for (group, is_inner) in [("outer", false), ("inner", true)] {
            writeln!(out, "g {group}")?;
            let all = mesh.triangles.iter().enumerate();
            for (t, triangle) in all.filter(|(t, _)| part.inner[*t] == is_inner) {
                let corner = |k: usize| {
                    let (v, c) = (first + triangle[k], first_corner + 3 * t + k);
                    if present.uvs { format!("{v}/{c}/{c}") } else { format!("{v}//{c}") }
                };
                writeln!(out, "f {} {} {}", corner(0), corner(1), corner(2))?;
            }
        }
        first += mesh.vertices.len() as u32;
        first_corner += 3 * mesh.triangles.len();
    }
    Ok(())
}
