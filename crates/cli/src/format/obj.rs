//! A folder with one Wavefront OBJ file per frame, in world coordinates, `materials.mtl` and the
//! images that it refers to.
//!
//! Texture coordinates are those of the body. A body without texture coordinates has the rest
//! position of each vertex in the unbroken body, m: the coordinates of a solid texture. Vertex
//! colors follow the coordinates on `v` lines, a common extension of OBJ.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use meshfile::WriteError;
use nalgebra::{Isometry3, Point3, Vector3};
use sim::{Image, Look, Opacity, Recording, Surface, Track, Wrap};

use super::check::check;

/// Writes `frame_00000.obj` and so on; every existing body is an object with its name.
pub(super) fn write(recording: &Recording, folder: &Path) -> Result<(), WriteError> {
    check(recording)?;
    let materials = Materials::of(recording);
    materials.write(folder)?;
    for frame in 0..recording.frames {
        let file = File::create(folder.join(format!("frame_{frame:05}.obj")))?;
        let mut out = BufWriter::new(file);
        writeln!(out, "mtllib materials.mtl")?;
        // OBJ numbers vertices from 1, across the whole file
        let mut next = 1;
        for track in &recording.tracks {
            if let Some(pose) = track.pose(frame) {
                writeln!(out, "o {}", track.name)?;
                let scale = track.scale(frame, recording.fps);
                let coats = materials.coats(&track.look);
                object((track, coats), (pose, scale), next, &mut out)?;
                next += track.surface().vertices.len();
            }
        }
        out.flush()?;
    }
    Ok(())
}

/// The materials of all looks, without duplicates.
struct Materials<'r> {
    looks: Vec<(&'r Look, Vec<String>)>,
    images: Vec<(&'r Image, String)>,
}

impl<'r> Materials<'r> {
    fn of(recording: &'r Recording) -> Self {
        let mut materials = Self { looks: vec![], images: vec![] };
        let mut taken = BTreeSet::new();
        for look in recording.tracks.iter().map(|track| &*track.look) {
            if !materials.looks.iter().any(|(known, _)| *known == look) {
                let [outer, inner] = names(look);
                taken.extend([outer, inner]);
                materials.looks.push((look, Vec::new()));
            }
        }
        let mut files = BTreeSet::new();
        for (look, names) in &mut materials.looks {
            for coat in &*look.coats {
                names.push(free(&coat.name, "", &mut taken));
                let Some(image) = &coat.image else { continue };
                if !materials.images.iter().any(|(known, _)| *known == image) {
                    let file = free(&image.name, image.kind.extension(), &mut files);
                    materials.images.push((image, file));
                }
            }
        }
        materials
    }

    /// Writes `materials.mtl` and the images that it refers to.
    fn write(&self, folder: &Path) -> std::io::Result<()> {
        let mut out = BufWriter::new(File::create(folder.join("materials.mtl"))?);
        for (look, coats) in &self.looks {
            for (name, [r, g, b]) in names(look).iter().zip([look.color, look.inner_color]) {
                let Look { roughness, metallic, .. } = look;
                writeln!(out, "newmtl {name}\nKd {r} {g} {b}\nPr {roughness}\nPm {metallic}")?;
            }
            for (name, coat) in coats.iter().zip(&*look.coats) {
                let [r, g, b, alpha] = coat.color;
                let roughness = coat.roughness.unwrap_or(look.roughness);
                writeln!(
                    out,
                    "newmtl {name}\nKd {r} {g} {b}\nPr {roughness}\nPm {}",
                    coat.metallic
                )?;
                if coat.opacity == Opacity::Blend {
                    writeln!(out, "d {alpha}")?;
                }
                let image = coat.image.as_ref();
                let image = image.and_then(|i| self.images.iter().find(|(known, _)| *known == i));
                if let Some((_, file)) = image {
                    // the format has one wrapping option for both axes, and no mirrored repeat
                    let is_clamped = coat.wrap == [Wrap::Clamp; 2];
                    let option = if is_clamped { "-clamp on " } else { "" };
                    writeln!(out, "map_Kd {option}{file}")?;
                }
            }
        }
        out.flush()?;
        let mut images = self.images.iter();
        images.try_for_each(|(image, file)| std::fs::write(folder.join(file), &image.bytes))
    }

    /// The coat names of a look.
    fn coats(&self, look: &Look) -> &[String] {
        let known = self.looks.iter().find(|(other, _)| *other == look);
        known.map_or(&[], |(_, coats)| coats)
    }
}

/// A unique name like `name`, with an optional suffix; OBJ names cannot contain spaces.
fn free(name: &str, ending: &str, taken: &mut BTreeSet<String>) -> String {
    let letter = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let plain: String = name.chars().map(letter).collect();
    let plain = if plain.is_empty() { "_".to_owned() } else { plain };
    let ending = if ending.is_empty() { String::new() } else { format!(".{ending}") };
    let numbered = (2..).map(|n: usize| format!("{plain}_{n}{ending}"));
    let mut all = std::iter::once(format!("{plain}{ending}")).chain(numbered);
    let free = all.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// Material names of the surface and of cuts; OBJ names cannot contain spaces.
fn names(look: &Look) -> [String; 2] {
    let name = look.material.replace(char::is_whitespace, "_");
    let inside = format!("{name}_inside");
    [name, inside]
}

/// Rounds to a multiple of a power of ten, which may be less than one.
fn rounded(x: f64, unit: f64) -> f64 {
    // the inverse of a power of ten below one is nearly an integer
    let inverse = (1.0 / unit).round();
    let near = if unit < 1.0 { (x * inverse).round() / inverse } else { x };
    if near.is_finite() { near } else { x }
}

fn object(
    (track, coats): (&Track, &[String]),
    (pose, scale): (&Isometry3<f64>, f64),
    first: usize,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let surface = track.surface();
    let Surface { vertices, normals, rest, uvs, colors, inner, .. } = &*surface;
    // the precision depends on the body's size, not on its distance from the origin
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
    let [own, inside] = names(&track.look);
    let outer = surface.outer_by_coat();
    let outer = outer.iter().map(|(coat, triangles)| {
        let coat = coat.and_then(|coat| coats.get(coat as usize));
        (coat.unwrap_or(&own), &triangles[..])
    });
    for (name, triangles) in outer.chain([(&inside, &inner[..])]) {
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
