//! Tetrahedral box meshes.

use levelset::TetMesh;
use nalgebra::{Point3, Vector3};

/// The six orders of the axes of an edge path between opposite corners of a cube, and whether each
/// order is an even permutation.
const PATHS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], true),
    ([0, 2, 1], false),
    ([1, 0, 2], false),
    ([1, 2, 0], true),
    ([2, 0, 1], true),
    ([2, 1, 0], false),
];

/// A box of `size` with a corner at the origin, as cells of six tetrahedra each (Kuhn subdivision).
pub fn kuhn_box(cells: [usize; 3], size: Vector3<f64>) -> TetMesh {
    let [nx, ny, nz] = cells;
    let node = |[i, j, k]: [usize; 3]| (i * (ny + 1) + j) * (nz + 1) + k;
    let mut mesh = TetMesh::default();
    for n in 0..(nx + 1) * (ny + 1) * (nz + 1) {
        let at = [n / ((ny + 1) * (nz + 1)), n / (nz + 1) % (ny + 1), n % (nz + 1)];
        // in this order the far faces are at `size` exactly
        let place = |axis: usize| at[axis] as f64 / cells[axis] as f64 * size[axis];
        mesh.vertices.push(Point3::new(place(0), place(1), place(2)));
    }
    for cell in 0..nx * ny * nz {
        let low = [cell / (ny * nz), cell / nz % ny, cell % nz];
        for (path, even) in PATHS {
            let mut at = low;
            let mut tet = [node(low) as u32; 4];
            for (step, axis) in path.into_iter().enumerate() {
                at[axis] += 1;
                tet[step + 1] = node(at) as u32;
            }
            if !even {
                tet.swap(2, 3);
            }
            mesh.tets.push(tet);
        }
    }
    mesh
}
