//! Beams of tetrahedra, for finite elements.

use levelset::TetMesh;
use nalgebra::{Point3, Vector3};
use tetfem::Support;

/// Cells of beams of some 1,000, 4,000 and 20,000 tetrahedra, all 3.3 or so times as long as thick.
pub const SIZES: [[usize; 3]; 3] = [[10, 4, 4], [18, 6, 6], [33, 10, 10]];

/// A beam of cells of six tetrahedra, a metre thick.
pub fn beam([nx, ny, nz]: [usize; 3]) -> TetMesh {
    let node = |i: usize, j: usize, k: usize| ((i * (ny + 1) + j) * (nz + 1) + k) as u32;
    let mut mesh = TetMesh::default();
    for i in 0..=nx {
        for (j, k) in (0..=ny).flat_map(|j| (0..=nz).map(move |k| (j, k))) {
            mesh.vertices.push(Point3::new(i as f64, j as f64, k as f64) / ny as f64);
        }
    }
    for i in 0..nx {
        for (j, k) in (0..ny).flat_map(|j| (0..nz).map(move |k| (j, k))) {
            let ends = [node(i, j, k), node(i + 1, j + 1, k + 1)];
            let ring = [(1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1)];
            let ring = ring.map(|(a, b, c)| node(i + a, j + b, k + c));
            for r in 0..6 {
                mesh.tets.push([ends[0], ring[r], ring[(r + 1) % 6], ends[1]]);
            }
        }
    }
    mesh
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
