//! What mesh files hold.

use levelset::TetMesh;

use crate::PaintedMesh;

/// What a mesh file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshData {
    /// The surface of a solid.
    Surface(PaintedMesh),
    /// A solid filled with tetrahedra.
    Tets(TetMesh),
}
