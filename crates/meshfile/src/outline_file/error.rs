//! Errors of reading SVG files.

use thiserror::Error;

/// Maximum number of corners of all outlines of a file, after curves are flattened.
pub(super) const MAX_POINTS: usize = 10_000;

/// Maximum number of lines after they are split where they cross.
pub(super) const MAX_LINES: usize = 30_000;

/// Why an outline cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutlineFileError {
    /// It is not an SVG file.
    #[error("is not an SVG file, or damaged ({problem}): save it again")]
    Format {
        /// A description of the problem.
        problem: String,
    },
    /// An element is not supported.
    #[error("line {line}: {problem}")]
    Element {
        /// Line, counted from 1.
        line: u32,
        /// A description of the problem and its fix.
        problem: String,
    },
    /// It has lines, but no areas.
    #[error(
        "has strokes and no fills: convert strokes to paths, as Inkscape's Stroke to Path does"
    )]
    OnlyStrokes,
    /// It is not valid UTF-8.
    #[error("is not UTF-8 text: save it as UTF-8")]
    NotText,
    /// All fills have zero size.
    #[error("has no filled area: its shapes have no width, height or radius. Give them a size")]
    Sizeless,
    /// There is no filled area.
    #[error("has no filled area: draw closed shapes with a fill")]
    Empty,
    /// It is too detailed.
    #[error("has more than {MAX_POINTS} corners, counting those of curves: simplify its paths")]
    TooDetailed,
    /// Its lines cross too often.
    #[error("has lines that cross more than {} times: unite its shapes", MAX_LINES)]
    TooManyCrossings,
}
