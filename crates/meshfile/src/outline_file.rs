//! Outlines from SVG files (SVG 1.1, second edition): their filled areas as solids of unit
//! thickness.

mod area;
mod curve;
mod element;
mod error;
mod path;
mod split;
mod style;

use levelset::TriMesh;

use self::curve::Outline;
pub use self::error::OutlineFileError;

/// Reads the filled areas of an SVG file as a closed solid of unit thickness, m. Its coordinates x
/// and y (upwards) are those of the picture relative to the center of its bounding box, and z is
/// from -0.5 to 0.5. All fills count, whatever their color, by their fill rule. Curves become
/// chords that deviate by at most 1/4000 of the longest edge of the box. A pixel is 1/96 inch.
///
/// # Errors
/// [`OutlineFileError`] if it is not SVG, has text or elements not known to bound an area, has no
/// area, or more than 10,000 corners.
pub fn read_outline(bytes: &[u8]) -> Result<TriMesh, OutlineFileError> {
    let text = std::str::from_utf8(bytes).map_err(|_| OutlineFileError::NotText)?;
    let outline: Outline = element::read(text)?;
    area::solid(&outline.regions()?)
}
