//! Wavefront OBJ.

use std::path::Path;

use nalgebra::{Point3, UnitVector3, Vector2, Vector3};

use super::{Corner, MeshFileError, PaintedMesh};

/// Reads Wavefront OBJ text; polygons become fans of triangles.
///
/// # Errors
/// [`MeshFileError::Line`] when a line is malformed, a coordinate is not finite or a face names a
/// vertex that does not exist.
pub(super) fn parse(text: &[u8]) -> Result<PaintedMesh, MeshFileError> {
    if let Some(line) = text.split(|&b| b == b'\n').position(has_bad_coordinate) {
        let problem = "a vertex has a coordinate that is not a finite number".to_owned();
        return Err(MeshFileError::Line { line: line + 1, problem });
    }
    let options = tobj::LoadOptions { triangulate: true, ..Default::default() };
    let mut rest = text;
    let no_materials = |_: &Path| Ok(Default::default());
    let (models, _) = tobj::load_obj_buf(&mut rest, &options, no_materials).map_err(|e| {
        // faces are resolved at the end of an object, other errors stop the reader on their line
        let read = &text[..text.len() - rest.len()];
        let stopped = || read.iter().filter(|&&byte| byte == b'\n').count();
        let line =
            if e == tobj::LoadError::FaceVertexOutOfBounds { dangling_face(text) } else { None };
        MeshFileError::Line { line: line.unwrap_or_else(stopped), problem: e.to_string() }
    })?;
    let mut painted = PaintedMesh::default();
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
    Ok(painted)
}

/// What a model says of a corner, the number of which is given, and that of its vertex.
fn corner(model: &tobj::Mesh, at: usize, vertex: usize) -> Corner {
    let of = |indices: &[u32]| indices.get(at).map(|&i| i as usize);
    let normals = model.normals.as_chunks::<3>().0;
    let uvs = model.texcoords.as_chunks::<2>().0;
    let colours = model.vertex_color.as_chunks::<3>().0;
    let normal = of(&model.normal_indices).and_then(|i| normals.get(i));
    Corner {
        normal: normal.and_then(|n| UnitVector3::try_new(Vector3::from(*n), 0.0)),
        uv: of(&model.texcoord_indices).and_then(|i| uvs.get(i)).map(|uv| Vector2::from(*uv)),
        colour: colours.get(vertex).map(|c| Vector3::from(*c).push(1.0)),
    }
}

/// Whether an OBJ line is a vertex with a coordinate that is not finite, which parses as a number.
fn has_bad_coordinate(line: &[u8]) -> bool {
    let Ok(line) = str::from_utf8(line) else { return false };
    let mut words = line.split_whitespace();
    words.next() == Some("v") && words.any(|w| w.parse::<f64>().is_ok_and(|x| !x.is_finite()))
}

/// The first line with a face that names a vertex the file does not have.
fn dangling_face(text: &[u8]) -> Option<usize> {
    let text = str::from_utf8(text).ok()?;
    let vertices = text.lines().filter(|l| l.split_whitespace().next() == Some("v")).count();
    let dangles = |corner: &str| {
        let index = corner.split('/').next().and_then(|i| i.parse::<i64>().ok());
        index.is_some_and(|i| i == 0 || i.unsigned_abs() > vertices as u64)
    };
    let dangling = |line: &str| {
        let mut words = line.split_whitespace();
        words.next() == Some("f") && words.any(dangles)
    };
    text.lines().position(dangling).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn polygons_become_triangles() {
        let mesh = parse(b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n").unwrap();
        let mesh = mesh.mesh;
        assert_eq!(mesh.vertices.len(), 4);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn doubles_keep_their_digits() {
        let mesh = parse(b"v 0.1 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3").unwrap();
        assert_eq!(mesh.mesh.vertices[0].x, 0.1);
    }

    #[test]
    fn errors_name_the_line() {
        let start = "# a\nv 0 0 0\nv 1 0 0\n";
        assert!(problem(&format!("{start}v 0 nan 0\nf 1 2 3")).starts_with("line 4: a vertex"));
        assert!(problem(&format!("{start}v 0 1e999 0\nf 1 2 3")).starts_with("line 4: a vertex"));
        assert!(problem(&format!("{start}v 0 x 0\nf 1 2 3")).starts_with("line 4: position"));
        assert!(problem(&format!("{start}v 0 1 0\nf 1 2 b\n")).starts_with("line 5: face"));
    }

    #[test]
    fn a_face_of_vertices_that_do_not_exist_is_refused() {
        let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\nf 1 2 3\n";
        assert_eq!(problem(text), "line 4: face vertex index out of bounds");
        assert!(problem("v 0 0 0\nf 1 2 3\n").starts_with("line 2: face"));
        assert!(problem("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 1 2\n").starts_with("line 4: face"));
        assert!(problem("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n").starts_with("line 4: face"));
    }
}
