//! A folder of Wavefront OBJ files, one per frame, in world coordinates, and `materials.mtl`.
//!
//! Texture coordinates are those of the body, or, if it has none, where a vertex was in the whole body, m:
//! those of a solid texture. Colors follow the places of vertices, as many programs write them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use nalgebra::{Isometry3, Point3, Vector3};
use sim::{Look, Recording, Surface, Track};

use super::{WriteError, check};

/// Writes `frame_00000.obj` and so on; every body that exists is an object of its name.
pub(super) fn write(recording: &Recording, folder: &Path) -> Result<(), WriteError> {
    check(recording)?;
    materials(recording, folder)?;
    for frame in 0..recording.frames {
        let file = File::create(folder.join(format!("frame_{frame:05}.obj")))?;
        let mut out = BufWriter::new(file);
        writeln!(out, "mtllib materials.mtl")?;
        // OBJ counts vertices from 1, through the whole file
        let mut next = 1;
        for track in &recording.tracks {
            if let Some(pose) = track.pose(frame) {
                writeln!(out, "o {}", track.name)?;
                let scale = track.scale(frame, recording.fps);
                object(track, (pose, scale), next, &mut out)?;
                next += track.surface().vertices.len();
            }
        }
        out.flush()?;
    }
    Ok(())
}

/// The two materials of every look, each once.
fn materials(recording: &Recording, folder: &Path) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(folder.join("materials.mtl"))?);
    let mut written: Vec<&Look> = vec![];
    for look in recording.tracks.iter().map(|track| &*track.look) {
        if written.contains(&look) {
            continue;
        }
        written.push(look);
        for (name, [r, g, b]) in names(look).iter().zip([look.color, look.inner_color]) {
            writeln!(out, "newmtl {name}\nKd {r} {g} {b}\nPr {}", look.roughness)?;
        }
    }
    out.flush()
}

/// Names of the material of the surface and of that of cuts; OBJ has no blanks in names.
fn names(look: &Look) -> [String; 2] {
    let name = look.material.replace(char::is_whitespace, "_");
    let inside = format!("{name}_inside");
    [name, inside]
}

/// A multiple of a power of ten, which may be less than one.
fn rounded(x: f64, unit: f64) -> f64 {
    // one over a power of ten below one is a whole number, or nearly
    let inverse = (1.0 / unit).round();
    let near = if unit < 1.0 { (x * inverse).round() / inverse } else { x };
    if near.is_finite() { near } else { x }
}

fn object(
    track: &Track,
    (pose, scale): (&Isometry3<f64>, f64),
    first: usize,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let surface = track.surface();
    let Surface { vertices, normals, rest, uvs, colors, outer, inner } = &*surface;
    // the digits that the body's own size asks for, however far off it is
    let extent = vertices.iter().flatten().fold(0.0_f32, |most, x| most.max(x.abs()));
    let unit =
        10_f64.powi((f64::from(extent) * scale).max(f64::MIN_POSITIVE).log10().floor() as i32 - 7);
    for (n, vertex) in vertices.iter().enumerate() {
        let p = pose * (Point3::from(*vertex).cast() * scale);
        let [x, y, z] = [p.x, p.y, p.z].map(|x| rounded(x, unit));
        write!(out, "v {x} {y} {z}")?;
        if let Some([r, g, b, _]) = colors.get(n) {
            write!(out, " {r} {g} {b}")?;
        }
        writeln!(out)?;
    }
    if uvs.is_empty() {
        rest.iter().try_for_each(|[u, v, w]| writeln!(out, "vt {u} {v} {w}"))?;
    }
    uvs.iter().try_for_each(|[u, v]| writeln!(out, "vt {u} {v}"))?;
    for normal in normals {
        let n = (pose * Vector3::from(*normal).cast()).cast::<f32>();
        writeln!(out, "vn {} {} {}", n.x, n.y, n.z)?;
    }
    for (name, triangles) in names(&track.look).iter().zip([outer, inner]) {
        if !triangles.is_empty() {
            writeln!(out, "usemtl {name}")?;
        }
        for triangle in triangles {
            let [a, b, c] = triangle.map(|v| first + v as usize);
            writeln!(out, "f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}")?;
        }
    }
    Ok(())
}
