//! Binary glTF: the triangles of all nodes of the scene, placed as the nodes are.

use ::gltf::{Gltf, Node, mesh::Mode};
use levelset::TriMesh;
use nalgebra::{Matrix4, Point3};

use super::MeshFileError;

pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, MeshFileError> {
    let file = Gltf::from_slice(bytes).map_err(|e| malformed(&e.to_string()))?;
    let blob = file.blob.as_deref().unwrap_or_default();
    let mut mesh = TriMesh::default();
    let scene = file.default_scene().or_else(|| file.scenes().next());
    // children are placed relative to their parents
    let mut open: Vec<(Node, Matrix4<f64>)> =
        scene.iter().flat_map(|s| s.nodes()).map(|n| (n, Matrix4::identity())).collect();
    while let Some((node, parent)) = open.pop() {
        let place = parent * Matrix4::from(node.transform().matrix()).cast::<f64>();
        add(&node, &place, blob, &mut mesh)?;
        open.extend(node.children().map(|child| (child, place)));
    }
    Ok(mesh)
}

fn malformed(problem: &str) -> MeshFileError {
    MeshFileError::Format { format: "GLB", problem: problem.to_owned() }
}

fn add(
    node: &Node,
    place: &Matrix4<f64>,
    blob: &[u8],
    mesh: &mut TriMesh,
) -> Result<(), MeshFileError> {
    for primitive in node.mesh().iter().flat_map(|m| m.primitives()) {
        if primitive.mode() != Mode::Triangles {
            return Err(malformed("it holds lines, points or strips: export plain triangles"));
        }
        let reader = primitive.reader(|_| Some(blob));
        let positions = reader.read_positions();
        let positions = positions.ok_or_else(|| malformed("a mesh has no positions inside it"))?;
        let first = mesh.vertices.len() as u32;
        mesh.vertices
            .extend(positions.map(|p| place.transform_point(&Point3::from(p).cast::<f64>())));
        let indices: Vec<u32> = match reader.read_indices() {
            Some(indices) => indices.into_u32().collect(),
            None => (0..mesh.vertices.len() as u32 - first).collect(),
        };
        let (triangles, _) = indices.as_chunks::<3>();
        mesh.triangles.extend(triangles.iter().map(|t| t.map(|v| first.saturating_add(v))));
    }
    Ok(())
}
