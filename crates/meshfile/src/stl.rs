//! STL, text and binary.

use std::io::Cursor;

use nalgebra::Point3;

use sim::Paint;

use super::{FileReader, MeshFile, MeshFileError};

pub(super) fn parse(bytes: &[u8], _: &mut FileReader<'_>) -> Result<MeshFile, MeshFileError> {
    let malformed = |e: std::io::Error| {
        let problem = match e.kind() {
            std::io::ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
            _ => e.to_string(),
        };
        MeshFileError::Format { format: "STL", problem }
    };
    let mut cursor = Cursor::new(bytes);
    let mut painted = MeshFile::default();
    let mesh = &mut painted.mesh;
    for triangle in stl_io::create_stl_reader(&mut cursor).map_err(malformed)? {
        let first = mesh.vertices.len() as u32;
        let corners = triangle.map_err(malformed)?.vertices;
        mesh.vertices.extend(corners.map(|v| Point3::from(v.0.map(f64::from))));
        mesh.triangles.push([first, first + 1, first + 2]);
        painted.corners.push([Paint::default(); 3]);
    }
    Ok(painted)
}
