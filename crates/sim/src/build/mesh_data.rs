//! Contents of mesh files.

use levelset::TetMesh;

use crate::PaintedMesh;

/// Contents of a mesh file.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshData {
    /// The surface of a solid.
    Surface(PaintedMesh),
    /// A solid filled with tetrahedra.
    Tets(TetMesh),
}
