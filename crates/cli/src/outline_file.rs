//! Outlines from SVG files (SVG 1.1, second edition): their filled areas as solids of unit thickness.

mod area;
mod curve;
mod element;
mod path;
mod split;
mod style;

use levelset::TriMesh;
use thiserror::Error;

use self::curve::Outline;

/// Most corners of all outlines of a file, once curves are lines.
const MAX_POINTS: usize = 10_000;

/// Why an outline cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutlineFileError {
    /// It is no SVG file.
    #[error("is not an SVG file, or damaged ({problem}): save it again")]
    Format {
        /// What is wrong with it.
        problem: String,
    },
    /// An element cannot be used.
    #[error("line {line}: {problem}")]
    Element {
        /// Line, counted from 1.
        line: u32,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// It has lines, and no areas.
    #[error(
        "has strokes and no fills: convert strokes to paths, as Inkscape's Stroke to Path does"
    )]
    OnlyStrokes,
    /// There is nothing in it.
    #[error("has no filled area: draw closed shapes with a fill")]
    Empty,
    /// It is too detailed.
    #[error("has more than {MAX_POINTS} corners, counting those of curves: simplify its paths")]
    TooDetailed,
    /// Its lines cross too often.
    #[error("has lines that cross more than {} times: unite its shapes", split::MAX_LINES)]
    TooManyCrossings,
}

/// Reads the filled areas of an SVG file as a closed solid, m: its coordinates x and y (upwards) are those
/// of the picture about the middle of its box, and z is from -0.5 to 0.5. All fills count, whatever their color, by
/// their fill rule. Curves become chords that are off by at most a 4000th of the longest edge of the box. A pixel is a
/// 96th of an inch.
///
/// # Errors
/// [`OutlineFileError`] when it is no SVG, has text or elements that are not known to bound an
/// area, has no area, or more than 10,000 corners.
pub fn read_outline(bytes: &[u8]) -> Result<TriMesh, OutlineFileError> {
    let wrong = |problem: String| OutlineFileError::Format { problem };
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text".to_owned()))?;
    let outline: Outline = element::read(text)?;
    area::solid(&outline.regions()?)
}
