//! PLY, text and binary.

use levelset::TriMesh;
use nalgebra::Point3;
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};

use super::{MeshFileError, fan};

pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, MeshFileError> {
    let malformed = |problem: String| MeshFileError::Format { format: "PLY", problem };
    let mut source = bytes;
    let file = Parser::<DefaultElement>::new()
        .read_ply(&mut source)
        // the lines after the first repeat the file
        .map_err(|e| malformed(e.to_string().lines().next().unwrap_or_default().to_owned()))?;
    let mut mesh = TriMesh::default();
    for vertex in file.payload.get("vertex").into_iter().flatten() {
        let [x, y, z] = ["x", "y", "z"].map(|axis| vertex.get(axis).and_then(number));
        let (Some(x), Some(y), Some(z)) = (x, y, z) else {
            return Err(malformed("a vertex lacks x, y or z".to_owned()));
        };
        mesh.vertices.push(Point3::new(x, y, z));
    }
    for face in file.payload.get("face").into_iter().flatten() {
        let corners = face.get("vertex_indices").or_else(|| face.get("vertex_index"));
        let corners = corners
            .and_then(Property::to_u32_list)
            .ok_or_else(|| malformed("a face lacks vertex_indices".to_owned()))?;
        mesh.triangles.extend(fan(&corners));
    }
    Ok(mesh)
}

fn number(property: &Property) -> Option<f64> {
    match property {
        Property::Double(x) => Some(*x),
        other => other.to_f32_lossy().map(f64::from),
    }
}
