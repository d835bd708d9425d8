//! The layout of files of OpenVDB, of version 222 to 224 (OpenVDB 3 to 12).
//!
//! All numbers are little-endian, texts have their length before them, and masks hold one bit for each value, those along
//! z next to each other.

use thiserror::Error;

/// What files start with.
pub(super) const MAGIC: u64 = 0x5644_4220;
/// The tree that is read and written.
pub(super) const TREE: &str = "Tree_float_5_4_3";
/// Logarithms of the numbers of nodes along an axis: below the root, below these, and of voxels in a leaf.
pub(super) const WIDTHS: [u32; 3] = [5, 4, 3];
/// Flags of the compression of a grid.
pub(super) const ZIP: u32 = 1;
pub(super) const ACTIVE_MASK: u32 = 2;
pub(super) const BLOSC: u32 = 4;

/// Why a VDB file cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VdbError {
    /// The bytes are not what the format allows.
    #[error("is not a VDB file, or damaged ({0}): save it again")]
    Damaged(&'static str),
    /// It holds something else than a level set as it is read here.
    #[error("{0}")]
    Unknown(String),
}
