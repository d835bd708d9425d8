//! Beams of tetrahedra, for finite elements.

use levelset::TetMesh;
use nalgebra::Vector3;
use tetfem::Support;

use crate::tet_boxes::kuhn_box;

/// Cells of beams of about 1,000, 4,000 and 20,000 tetrahedra, with a length of about 3.3
/// thicknesses.
pub const SIZES: [[usize; 3]; 3] = [[10, 4, 4], [18, 6, 6], [33, 10, 10]];

/// A beam of cells of six tetrahedra, a meter thick.
pub fn beam(cells: [usize; 3]) -> TetMesh {
    kuhn_box(cells, Vector3::from(cells.map(|n| n as f64)) / cells[1] as f64)
}

/// Supports of all vertices at x = 0, and a load on the last vertex.
pub fn clamped(mesh: &TetMesh) -> (Vec<Support>, Vec<Vector3<f64>>) {
    let at_wall = |v: &usize| mesh.vertices[*v].x == 0.0;
    let walls = (0..mesh.vertices.len()).filter(at_wall);
    let mut loads = vec![Vector3::zeros(); mesh.vertices.len()];
    if let Some(last) = loads.last_mut() {
        *last = Vector3::new(0.0, -1e3, 0.0);
    }
    (walls.map(|v| Support::fixed(v as u32)).collect(), loads)
}
