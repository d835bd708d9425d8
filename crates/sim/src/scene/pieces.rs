//! Bodies that start in pieces.

use serde::Deserialize;

use super::check::{at, extent, require, stress};
use super::spacing::check_fineness;
use super::{Axis, InvalidValue};

/// `shape = { pieces = { file = "pieces", bonds = {} } }`: a body that starts in pieces, `NAME 1`, `NAME 2` and so on.
/// Each becomes a body once the files are read, see [`separate`](crate::separate).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pieces {
    /// Path of a folder of meshes, or of a mesh with an object for each piece, relative to the scene file.
    pub file: String,
    /// As [`super::Mesh::size`], of the box around all pieces.
    pub size: Option<f64>,
    /// As [`super::Mesh::mirror`].
    pub mirror: Option<Axis>,
    /// As [`super::Mesh::spacing`], of each piece.
    pub spacing: Option<f64>,
    /// As [`super::Mesh::nodes`], of each piece.
    pub nodes: Option<usize>,
    /// What holds pieces together whose faces touch; nothing unless given.
    pub bonds: Option<PieceBonds>,
}

/// `bonds = { strength = 2e5, gap = 1e-4 }`: fixed joints that bear the strength times the area in which two pieces
/// touch.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieceBonds {
    /// The stress that they bear, Pa; that of the body's material unless given.
    pub strength: Option<f64>,
    /// How far faces that touch may be apart, m; a 10,000th of the longest edge of the box around all pieces unless
    /// given.
    pub gap: Option<f64>,
}

/// What a body is a piece of.
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
