//! File layout of OpenVDB, versions 222 to 224 (OpenVDB 3 to 12).
//!
//! All numbers are little-endian, strings are preceded by their length, and masks have one bit per
//! value, with z varying fastest.

use thiserror::Error;

/// Magic number.
pub(super) const MAGIC: u64 = 0x5644_4220;
/// The supported tree type.
pub(super) const TREE: &str = "Tree_float_5_4_3";
/// Logarithms of the node dimensions: below the root, below these, and of voxels in a leaf.
pub(super) const WIDTHS: [u32; 3] = [5, 4, 3];
/// Compression flags of a grid.
pub(super) const ZIP: u32 = 1;
pub(super) const ACTIVE_MASK: u32 = 2;
pub(super) const BLOSC: u32 = 4;

/// Why a VDB file cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VdbError {
    /// The bytes violate the format.
    #[error("is not a VDB file, or damaged ({0}): save it again")]
    Damaged(&'static str),
    /// It contains no supported level set.
    #[error("{0}")]
    Unknown(String),
}
