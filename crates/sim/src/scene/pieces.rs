//! Bodies that start in pieces.

use serde::Deserialize;

use super::check::{at, extent, require, stress};
use super::spacing::check_fineness;
use super::{Axis, InvalidValue};

/// `shape = { pieces = { file = "pieces", bonds = {} } }`: a body that starts as pieces. After the
/// files are read, [`separate`](crate::separate) replaces it by the bodies `NAME 1`, `NAME 2` and
/// so on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pieces {
    /// Path of a folder of meshes, or of a mesh file with one object per piece, relative to the
    /// scene file.
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

/// `bonds = { strength = 2e5, gap = 1e-4 }`: fixed joints that withstand the strength times the
/// contact area of two pieces.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieceBonds {
    /// Strength of the bonds, Pa; the default is the strength of the body's material.
    pub strength: Option<f64>,
    /// Largest gap between touching faces, m; the default is a 10,000th of the longest edge of the
    /// box around all pieces.
    pub gap: Option<f64>,
}

/// The body in pieces that a piece is a part of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Whole {
    /// The name of the body in pieces.
    pub(crate) name: String,
    /// Vector from the center of mass of all pieces to the center of mass of this piece, in
    /// coordinates of the shape, m.
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
        check_fineness(key, self.spacing, self.nodes)?;
        let Some(bonds) = &self.bonds else { return Ok(()) };
        bonds.strength.map_or(Ok(()), |strength| stress(&at(key, "bonds.strength"), strength))?;
        bonds.gap.map_or(Ok(()), |gap| extent(&at(key, "bonds.gap"), gap))
    }
}
