//! Wavefront OBJ.

use std::path::Path;

use nalgebra::{Point3, UnitVector3, Vector2, Vector3};

use sim::{Coat, Paint};

use super::{CoatWarning, FileReader, MeshFile, MeshFileError, decoded, mtl};

/// Reads Wavefront OBJ text in UTF-8 or Latin-1; polygons are triangulated as fans.
///
/// # Errors
/// [`MeshFileError::Line`] if a line is malformed, a number is not finite or a face refers to a
/// missing vertex; [`MeshFileError::Image`] if an image is damaged.
pub(super) fn parse(
    text: &[u8],
    read_file: &mut FileReader<'_>,
) -> Result<MeshFile, MeshFileError> {
    let text = decoded(text);
    let Known { libraries, uses, objects, triangles } = check(&text)?;
    let text = text.as_bytes();
    let options = tobj::LoadOptions { triangulate: true, ..Default::default() };
    let mut rest = text;
    let no_materials = |_: &Path| Ok(Default::default());
    let (models, _) = tobj::load_obj_buf(&mut rest, &options, no_materials).map_err(|e| {
        // the reader stops at the line that it cannot parse
        let read = &text[..text.len() - rest.len()];
        let line = read.iter().filter(|&&byte| byte == b'\n').count();
        MeshFileError::Line { line, problem: e.to_string() }
    })?;
    let mut painted = MeshFile::default();
    let mesh = &mut painted.mesh;
    for tobj::Model { mesh: model, .. } in models {
        let base = mesh.vertices.len() as u32;
        let (points, _) = model.positions.as_chunks::<3>();
        mesh.vertices.extend(points.iter().map(|p| Point3::from(*p)));
        let (triangles, _) = model.indices.as_chunks::<3>();
        mesh.triangles.extend(triangles.iter().map(|t| t.map(|v| base + v)));
        painted.corners.extend(triangles.iter().enumerate().map(|(t, triangle)| {
            [0, 1, 2].map(|k| corner(&model, 3 * t + k, triangle[k] as usize))
        }));
    }
    // if the reader counts other triangles, the whole file is one object
    if triangles == painted.mesh.triangles.len() {
        painted.objects = objects;
        coat(&libraries, &uses, read_file, &mut painted)?;
    } else if !uses.is_empty() {
        painted.warnings.push(CoatWarning::Mixed);
    }
    Ok(painted)
}

/// Assigns materials to triangles, given the first triangle of each material.
fn coat(
    libraries: &[String],
    uses: &[(usize, String)],
    read_file: &mut FileReader<'_>,
    painted: &mut MeshFile,
) -> Result<(), MeshFileError> {
    let mut coats: Vec<Coat> = Vec::new();
    for file in libraries.iter().filter(|_| !uses.is_empty()) {
        match read_file(file) {
            Ok(text) => {
                // image paths are relative to the material file
                let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
                let mut near = |name: &str| match folder {
                    "" => read_file(name),
                    _ => read_file(&format!("{folder}/{name}")),
                };
                coats.extend(mtl::parse(&text, &mut near, &mut painted.warnings)?);
            }
            Err(problem) => {
                let file = file.clone();
                painted.warnings.push(CoatWarning::NoLibrary { file, problem });
            }
        }
    }
    if coats.is_empty() {
        return Ok(());
    }
    painted.coat_of = vec![u32::MAX; painted.mesh.triangles.len()];
    for (n, (first, name)) in uses.iter().enumerate() {
        let end = uses.get(n + 1).map_or(painted.coat_of.len(), |(end, _)| *end);
        match coats.iter().position(|coat| coat.name == *name) {
            Some(coat) => painted.coat_of[*first..end].fill(coat as u32),
            None if first < &end => painted.warn(CoatWarning::Undefined { material: name.clone() }),
            None => {}
        }
    }
    painted.coats = coats;
    Ok(())
}

/// The attributes of a corner of a model, given the indices of the corner and of its vertex.
fn corner(model: &tobj::Mesh, at: usize, vertex: usize) -> Paint {
    let of = |indices: &[u32]| indices.get(at).map(|&i| i as usize);
    let normals = model.normals.as_chunks::<3>().0;
    let uvs = model.texcoords.as_chunks::<2>().0;
    let colors = model.vertex_color.as_chunks::<3>().0;
    let normal = of(&model.normal_indices).and_then(|i| normals.get(i));
    Paint {
        normal: normal.and_then(|n| UnitVector3::try_new(Vector3::from(*n), 0.0)),
        uv: of(&model.texcoord_indices).and_then(|i| uvs.get(i)).map(|uv| Vector2::from(*uv)),
        color: colors.get(vertex).map(|c| Vector3::from(*c).push(1.0)),
    }
}

/// Data that the reader does not report.
#[derive(Default)]
struct Known {
    /// Material files.
    libraries: Vec<String>,
    /// Names of materials, each with its first triangle.
    uses: Vec<(usize, String)>,
    /// The first triangle of each object.
    objects: Vec<usize>,
    /// Number of triangles.
    triangles: usize,
}

/// Rejects errors that the reader accepts: numbers that are not finite, and indices out of range.
fn check(text: &str) -> Result<Known, MeshFileError> {
    let lines = || text.split('\n').zip(1..);
    let mut totals = [0_i64; 3];
    for (line, _) in lines() {
        if let Some(kind) = kind(line) {
            totals[kind] += 1;
        }
    }
    let mut counts = [0_i64; 3];
    let mut known = Known { objects: vec![0], ..Known::default() };
    for (line, number) in lines() {
        let refused = |problem: String| MeshFileError::Line { line: number, problem };
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let first = words.next();
        if let Some(kind) = kind(line) {
            counts[kind] += 1;
            if words.any(|word| word.parse::<f64>().is_ok_and(|x| !x.is_finite())) {
                return Err(refused(format!("a {} is not a finite number", NUMBERS[kind])));
            }
        }
        match first {
            Some("mtllib") => known.libraries.push(rest(line).replace('\\', "/")),
            Some("usemtl") => known.uses.push((known.triangles, rest(line))),
            Some("o") => known.objects.push(known.triangles),
            Some("f" | "l") => {
                let corners = words.clone().count();
                if corners == 0 {
                    return Err(refused("face without corners".to_owned()));
                }
                words.try_for_each(|c| check_corner(c, &counts, &totals)).map_err(refused)?;
                // the reader turns points and lines into triangles
                known.triangles += corners.saturating_sub(2).max(1);
            }
            _ => {}
        }
    }
    Ok(known)
}

/// The rest of a line after its first word, without comments: names may contain spaces.
fn rest(line: &str) -> String {
    let line = line.split('#').next().unwrap_or_default().trim();
    line.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim().to_owned()
}

/// Names of the numbers of a line, by [`kind`], and of the elements that a face refers to.
const NUMBERS: [&str; 3] = ["vertex coordinate", "texture coordinate", "coordinate of a normal"];
const NAMED: [&str; 3] = ["vertex", "texture coordinate", "normal"];

/// 0 for a vertex, 1 for a texture coordinate, 2 for a normal.
fn kind(line: &str) -> Option<usize> {
    let first = line.split_whitespace().next()?;
    ["v", "vt", "vn"].iter().position(|known| *known == first)
}

/// Rejects a face corner with an index out of range: `counts` are the elements before it, `totals`
/// those of the file.
fn check_corner(corner: &str, counts: &[i64; 3], totals: &[i64; 3]) -> Result<(), String> {
    for (kind, index) in corner.split('/').enumerate().take(3) {
        let Ok(index) = index.parse::<i64>() else {
            // the reader rejects non-numbers, but accepts any vertex index
            if index.is_empty() && kind == 0 {
                return Err("face with a corner that names no vertex".to_owned());
            }
            continue;
        };
        let is_there = if index < 0 { index >= -counts[kind] } else { index <= totals[kind] };
        if index == 0 || !is_there {
            let (named, count) = (NAMED[kind], totals[kind]);
            return Err(format!("face names {named} {index}, but there are {count}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<MeshFile, MeshFileError> {
        parse(text, &mut |_| Err("it is not there".to_owned()))
    }

    fn problem(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn polygons_become_triangles() {
        let mesh = read(b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n").unwrap();
        let mesh = mesh.mesh;
        assert_eq!(mesh.vertices.len(), 4);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn doubles_keep_their_digits() {
        let mesh = read(b"v 0.1 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3").unwrap();
        assert_eq!(mesh.mesh.vertices[0].x, 0.1);
    }

    #[test]
    fn errors_name_the_line() {
        let start = "# a\nv 0 0 0\nv 1 0 0\n";
        assert!(problem(&format!("{start}v 0 nan 0\nf 1 2 3")).starts_with("line 4: a vertex"));
        assert!(problem(&format!("{start}v 0 1e999 0\nf 1 2 3")).starts_with("line 4: a vertex"));
        assert!(problem(&format!("{start}v 0 x 0\nf 1 2 3")).starts_with("line 4: position"));
        assert!(problem(&format!("{start}vt nan 0\nf 1 2 3")).starts_with("line 4: a texture"));
        assert!(problem(&format!("{start}vn 0 inf 0\nf 1 2 3")).starts_with("line 4: a coord"));
        assert!(problem(&format!("{start}v 0 1 0\nf 1 2 b\n")).starts_with("line 5: face"));
    }

    #[test]
    fn a_face_of_vertices_that_do_not_exist_is_refused() {
        let start = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n";
        let said = problem(&format!("{start}f 1 2 4\nf 1 2 3\n"));
        assert_eq!(said, "line 6: face names vertex 4, but there are 3");
        for corner in
            ["1/2", "1/-9223372036854775808", "1/-2/1", "1//2", "1//-2", "/1", "//1", "-4"]
        {
            let said = problem(&format!("{start}f {corner} 2 3\n"));
            assert!(said.starts_with("line 6: face"), "{corner}: {said}");
        }
        assert!(problem("v 0 0 0\nf 1 2 3\n").starts_with("line 2: face"));
        assert!(problem("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 1 2\n").starts_with("line 4: face"));
        assert!(problem("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n").starts_with("line 4: face"));
    }
}
