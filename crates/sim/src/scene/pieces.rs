//! Bodies that start in pieces.

use serde::Deserialize;

use super::check::{at, extent, require, stress};
use super::spacing::check_fineness;
use super::{Axis, InvalidValue};

/// `shape = { pieces = { file = "pieces", bonds = {} } }`: a body that starts in pieces, `NAME 1`,
/// `NAME 2` and so on. Each becomes a body after the files are read, see
/// [`separate`](crate::separate).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pieces {
    /// Path of a folder of meshes, or of a mesh with an object per piece, relative to the scene
    /// file.
    pub file: String,
    /// See [`super::Mesh::size`], for the box around all pieces.
    pub size: Option<f64>,
    /// See [`super::Mesh::mirror`].
    pub mirror: Option<Axis>,
    /// See [`super::Mesh::spacing`], for each piece.
    pub spacing: Option<f64>,
    /// See [`super::Mesh::nodes`], for each piece.
    pub nodes: Option<usize>,
    /// Bonds between touching pieces; none by default.
    pub bonds: Option<PieceBonds>,
}

/// `bonds = { strength = 2e5, gap = 1e-4 }`: fixed joints that bear the strength times the contact
/// area of two pieces.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieceBonds {
    /// Their strength, Pa; that of the body's material by default.
    pub strength: Option<f64>,
    /// Largest gap of touching faces, m; by default a 10,000th of the longest edge of the box
    /// around all pieces.
    pub gap: Option<f64>,
}

/// The body of which a piece is a part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Whole {
    /// The name of the body in pieces.
    pub(crate) name: String,
    /// From the center of mass of all pieces to that of the piece, in coordinates of the shape, m.
    pub(crate) arm: [f64; 3],
}

impl Pieces {
    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(
            !self.file.is_empty(),
            &at(key, "file"),
            || "is empty: name a folder of meshes or a mesh file",
        )?;
        if let Some(size) = self.size {
            extent(&at(key, "size"), size)?;
        }
        check_fineness(key, (self.spacing, self.nodes))?;
        let Some(bonds) = &self.bonds else { return Ok(()) };
        bonds.strength.map_or(Ok(()), |strength| stress(&at(key, "bonds.strength"), strength))?;
        bonds.gap.map_or(Ok(()), |gap| extent(&at(key, "bonds.gap"), gap))
    }
}
