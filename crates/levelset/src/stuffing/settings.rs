//! Settings of isosurface stuffing.

/// How to fill a level set with tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stuffing {
    /// Edge of the lattice's cells at the surface, m.
    pub spacing: f64,
    /// Number of doublings of cells away from the surface; 0 gives tetrahedra of one size.
    pub doublings: u8,
    /// Largest number of halvings of cells where the solid is too thin for them; 0 gives surface
    /// cells of one size.
    pub halvings: u8,
    /// Largest number of lattice cells, smallest ones; cells are halved only within it.
    pub limit: usize,
}
