//! Settings of isosurface stuffing.

/// How to fill a level set with tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stuffing {
    /// Edge of the lattice's cells at the surface, m.
    pub spacing: f64,
    /// How often cells may double away from the surface; 0 gives tetrahedra of one size.
    pub doublings: u8,
    /// How often cells may be halved where the solid is too thin for them; 0 gives surface cells of one size.
    pub halvings: u8,
    /// Most lattice cells to allow, smallest ones; cells are halved only as far as it goes.
    pub limit: usize,
}
