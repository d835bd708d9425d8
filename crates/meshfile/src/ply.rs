//! PLY, text and binary.

use nalgebra::{Point3, Vector2, Vector4};
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};

use sim::Paint;

use super::{FileReader, MeshFile, MeshFileError, facing, fan};
use crate::coats::{Images, plain};

pub(super) fn parse(
    bytes: &[u8],
    read_file: &mut FileReader<'_>,
) -> Result<MeshFile, MeshFileError> {
    let malformed = |problem: String| MeshFileError::Format { format: "PLY", problem };
    if let Some(element) = overlong(bytes) {
        return Err(malformed(format!("`{element}` is more than the file has bytes")));
    }
    let mut source = bytes;
    let file = Parser::<DefaultElement>::new()
        .read_ply(&mut source)
        // the lines after the first repeat the file
        .map_err(|e| malformed(e.to_string().lines().next().unwrap_or_default().to_owned()))?;
    let mut painted = MeshFile::default();
    let mesh = &mut painted.mesh;
    let mut paint = vec![];
    for vertex in file.payload.get("vertex").into_iter().flatten() {
        let [x, y, z] = ["x", "y", "z"].map(|axis| vertex.get(axis).and_then(number));
        let (Some(x), Some(y), Some(z)) = (x, y, z) else {
            return Err(malformed("a vertex lacks x, y or z".to_owned()));
        };
        mesh.vertices.push(Point3::new(x, y, z));
        paint.push(corner(vertex));
    }
    for face in file.payload.get("face").into_iter().flatten() {
        let corners = face.get("vertex_indices").or_else(|| face.get("vertex_index"));
        let corners = corners
            .and_then(Property::to_u32_list)
            .ok_or_else(|| malformed("a face lacks vertex_indices".to_owned()))?;
        let uvs = face_uvs(face);
        // indices of face corners; the other attributes are per vertex
        let numbers: Vec<u32> = (0..corners.len() as u32).collect();
        for (triangle, own) in fan(&corners).zip(fan(&numbers)) {
            mesh.triangles.push(triangle);
            let at = |v: u32| paint.get(v as usize).copied().unwrap_or_default();
            painted.corners.push([0, 1, 2].map(|k| {
                let corner = at(triangle[k]);
                Paint { uv: uvs.get(own[k] as usize).copied().or(corner.uv), ..corner }
            }));
        }
    }
    if painted.mesh.triangles.is_empty() && !painted.mesh.vertices.is_empty() {
        return Err(MeshFileError::Points);
    }
    coat(&file.header.comments, read_file, &mut painted)?;
    Ok(painted)
}

/// Texture coordinates of the corners of a face, as MeshLab writes them.
fn face_uvs(face: &DefaultElement) -> Vec<Vector2<f64>> {
    let numbers: Vec<f64> = match face.get("texcoord") {
        Some(Property::ListFloat(list)) => list.iter().map(|&x| f64::from(x)).collect(),
        Some(Property::ListDouble(list)) => list.clone(),
        _ => Vec::new(),
    };
    numbers.as_chunks::<2>().0.iter().map(|&uv| Vector2::from(uv)).collect()
}

/// Gives the mesh the image named in a comment, following MeshLab's convention.
fn coat(
    comments: &[String],
    read_file: &mut FileReader<'_>,
    painted: &mut MeshFile,
) -> Result<(), MeshFileError> {
    let mut named = comments.iter().filter_map(|line| line.trim().strip_prefix("TextureFile "));
    let Some(file) = named.next().map(str::trim) else { return Ok(()) };
    let mut coat = plain(file.rsplit_once('.').map_or(file, |(stem, _)| stem));
    let warnings = &mut painted.warnings;
    coat.image = Images::default().read_image(&coat.name, file, read_file, warnings)?;
    painted.coats = vec![coat];
    painted.coat_of = vec![0; painted.mesh.triangles.len()];
    Ok(())
}

/// The first header line that declares more elements than possible; the reader would allocate them
/// if they have no properties.
fn overlong(bytes: &[u8]) -> Option<String> {
    let lines = bytes.split(|&byte| byte == b'\n').map(|line| line.trim_ascii());
    let mut header = lines.take_while(|line| *line != b"end_header");
    let line = header.find(|line| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let is_element = words.next() == Some(b"element");
        let count = words.nth(1).and_then(|count| str::from_utf8(count).ok()?.parse::<u64>().ok());
        is_element && count.is_some_and(|count| count > bytes.len() as u64)
    })?;
    Some(String::from_utf8_lossy(line).into_owned())
}

/// Normal, texture coordinates and color of a vertex by their conventional names.
fn corner(vertex: &DefaultElement) -> Paint {
    let get = |name: &str| vertex.get(name).and_then(number);
    let either = |[a, b, c]: [&str; 3]| get(a).or_else(|| get(b)).or_else(|| get(c));
    // bytes hold sRGB, other types linear light
    let color = |name: &str| match vertex.get(name)? {
        Property::UChar(byte) => Some(from_srgb(f64::from(*byte) / 255.0)),
        other => number(other),
    };
    let alpha = || match vertex.get("alpha") {
        Some(Property::UChar(byte)) => f64::from(*byte) / 255.0,
        other => other.and_then(number).unwrap_or(1.0),
    };
    let normal = || Some([get("nx")? as f32, get("ny")? as f32, get("nz")? as f32]);
    let uv =
        || Some(Vector2::new(either(["s", "u", "texture_u"])?, either(["t", "v", "texture_v"])?));
    let rgb = || Some([color("red")?, color("green")?, color("blue")?]);
    Paint {
        normal: facing(normal()),
        uv: uv(),
        color: rgb().map(|[r, g, b]| Vector4::new(r, g, b, alpha())),
    }
}

/// Linear light of an sRGB value (IEC 61966-2-1), both from 0 to 1.
fn from_srgb(value: f64) -> f64 {
    if value <= 0.04045 { value / 12.92 } else { libm::pow((value + 0.055) / 1.055, 2.4) }
}

fn number(property: &Property) -> Option<f64> {
    match property {
        Property::Double(x) => Some(*x),
        other => other.to_f32_lossy().map(f64::from),
    }
}
