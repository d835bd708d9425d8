//! What cannot be read of SVG files.

use thiserror::Error;

/// Most corners of all outlines of a file, once curves are lines.
pub(super) const MAX_POINTS: usize = 10_000;

/// Most lines once they are divided where they cross.
pub(super) const MAX_LINES: usize = 30_000;

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
    /// Its text cannot be read.
    #[error("is not UTF-8 text: save it as UTF-8")]
    NotText,
    /// All that it fills has no size.
    #[error("has no filled area, for its shapes have no width, height or radius: give them a size")]
    Sizeless,
    /// There is nothing in it.
    #[error("has no filled area: draw closed shapes with a fill")]
    Empty,
    /// It is too detailed.
    #[error("has more than {MAX_POINTS} corners, counting those of curves: simplify its paths")]
    TooDetailed,
    /// Its lines cross too often.
    #[error("has lines that cross more than {} times: unite its shapes", MAX_LINES)]
    TooManyCrossings,
}
