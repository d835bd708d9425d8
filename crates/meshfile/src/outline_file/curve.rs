//! Outlines of lines and curves, and the polygons that approximate them.

use nalgebra::{Matrix2x3, Point2, Vector2};

use super::error::{MAX_POINTS, OutlineFileError};

/// Tolerance of chords, as a share of the longest edge of the box.
const TOLERANCE: f64 = 1.0 / 4000.0;

/// A segment of a contour, from the end of the previous one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Segment {
    Line(Point2<f64>),
    Quadratic([Point2<f64>; 2]),
    Cubic([Point2<f64>; 3]),
    /// Points `center + cos t * axes[0] + sin t * axes[1]` for `t` from `start` on.
    Arc {
        center: Point2<f64>,
        axes: [Vector2<f64>; 2],
        start: f64,
        sweep: f64,
    },
}

/// A closed contour.
#[derive(Clone, Debug)]
pub(super) struct Contour {
    pub(super) start: Point2<f64>,
    pub(super) segments: Vec<Segment>,
}

/// The fill of one element.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) contours: Vec<Contour>,
    pub(super) is_even_odd: bool,
}

/// The fill of an element, as polygons.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) polygons: Vec<Vec<Point2<f64>>>,
    pub(super) is_even_odd: bool,
}

/// All fills of a file, in m with y upwards.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    pub(super) figures: Vec<Figure>,
    /// Whether there are elements without a fill.
    pub(super) has_strokes: bool,
    /// Whether shapes of zero size are omitted.
    pub(super) has_sizeless: bool,
}

impl Segment {
    pub(super) fn placed(&self, place: &Matrix2x3<f64>) -> Self {
        let at = |p: Point2<f64>| Point2::from(place * p.coords.push(1.0));
        match *self {
            Self::Line(p) => Self::Line(at(p)),
            Self::Quadratic(points) => Self::Quadratic(points.map(at)),
            Self::Cubic(points) => Self::Cubic(points.map(at)),
            Self::Arc { center, axes, start, sweep } => {
                let axes = axes.map(|axis| place.fixed_columns::<2>(0) * axis);
                Self::Arc { center: at(center), axes, start, sweep }
            }
        }
    }

    /// Points whose bounding box contains the segment.
    fn hull(&self) -> Vec<Point2<f64>> {
        match *self {
            Self::Line(p) => vec![p],
            Self::Quadratic(points) => points.to_vec(),
            Self::Cubic(points) => points.to_vec(),
            Self::Arc { center, axes: [a, b], .. } => {
                let reach = a.abs() + b.abs();
                vec![center - reach, center + reach]
            }
        }
    }

    /// Number of chords that stay within `tolerance` of the segment from `from`: `n` chords deviate
    /// by at most `|second derivative| / (8 n^2)`.
    fn chords(&self, from: Point2<f64>, tolerance: f64) -> f64 {
        let bend = |a: Point2<f64>, b: Point2<f64>, c: Point2<f64>| {
            (a.coords - 2.0 * b.coords + c.coords).norm()
        };
        let curved = match *self {
            Self::Line(_) => return 1.0,
            Self::Quadratic([b, c]) => 2.0 * bend(from, b, c),
            Self::Cubic([b, c, d]) => 6.0 * bend(from, b, c).max(bend(b, c, d)),
            Self::Arc { axes: [a, b], sweep, .. } => {
                (a.norm_squared() + b.norm_squared()).sqrt() * sweep * sweep
            }
        };
        (curved / (8.0 * tolerance)).sqrt().ceil().max(1.0)
    }

    fn point(&self, from: Point2<f64>, t: f64) -> Point2<f64> {
        let s = 1.0 - t;
        match *self {
            Self::Line(p) => p,
            Self::Quadratic([b, c]) => {
                (s * s * from.coords + 2.0 * s * t * b.coords + t * t * c.coords).into()
            }
            Self::Cubic([b, c, d]) => {
                let ends = s * s * s * from.coords + t * t * t * d.coords;
                (ends + 3.0 * s * t * (s * b.coords + t * c.coords)).into()
            }
            Self::Arc { center, axes: [a, b], start, sweep } => {
                let (sin, cos) = libm::sincos(start + t * sweep);
                center + a * cos + b * sin
            }
        }
    }

    fn end(&self, from: Point2<f64>) -> Point2<f64> {
        self.point(from, 1.0)
    }
}

impl Contour {
    pub(super) fn placed(&self, place: &Matrix2x3<f64>) -> Self {
        Self {
            start: (place * self.start.coords.push(1.0)).into(),
            segments: self.segments.iter().map(|segment| segment.placed(place)).collect(),
        }
    }

    fn hull(&self) -> impl Iterator<Item = Point2<f64>> {
        std::iter::once(self.start).chain(self.segments.iter().flat_map(Segment::hull))
    }

    /// The corners of its polygon, at most `left`.
    fn polygon(&self, tolerance: f64, left: usize) -> Result<Vec<Point2<f64>>, OutlineFileError> {
        let (mut points, mut from) = (vec![self.start], self.start);
        for segment in &self.segments {
            let chords = segment.chords(from, tolerance);
            let known = points.len() as f64 + chords;
            // rejects NaN, too
            if !matches!(known.partial_cmp(&(left as f64)), Some(std::cmp::Ordering::Less)) {
                return Err(OutlineFileError::TooDetailed);
            }
            points.extend((1..=chords as usize).map(|n| segment.point(from, n as f64 / chords)));
            from = segment.end(from);
        }
        Ok(points)
    }
}

impl Outline {
    /// The filled regions, as polygons relative to the center of their bounding box.
    pub(super) fn regions(&self) -> Result<Vec<Region>, OutlineFileError> {
        let contours = || self.figures.iter().flat_map(|figure| &figure.contours);
        let [low, high] = bounds(contours().flat_map(Contour::hull));
        let size = (high - low).max();
        if size.is_nan() || size <= 0.0 {
            let nothing = if self.has_strokes && self.figures.is_empty() {
                OutlineFileError::OnlyStrokes
            } else if self.has_sizeless {
                OutlineFileError::Sizeless
            } else {
                OutlineFileError::Empty
            };
            return Err(nothing);
        }
        let mut left = MAX_POINTS;
        let mut regions = Vec::with_capacity(self.figures.len());
        for figure in &self.figures {
            let mut polygons = Vec::with_capacity(figure.contours.len());
            for contour in &figure.contours {
                let polygon = contour.polygon(TOLERANCE * size, left)?;
                left -= polygon.len();
                polygons.push(polygon);
            }
            regions.push(Region { polygons, is_even_odd: figure.is_even_odd });
        }
        let points = || regions.iter().flat_map(|region| region.polygons.iter().flatten());
        let [low, high] = bounds(points().copied());
        let middle = 0.5 * (low + high);
        for point in regions.iter_mut().flat_map(|region| region.polygons.iter_mut().flatten()) {
            *point -= middle;
        }
        Ok(regions)
    }
}

/// The corners of the bounding box of points.
fn bounds(points: impl Iterator<Item = Point2<f64>>) -> [Vector2<f64>; 2] {
    let far = Vector2::repeat(f64::INFINITY);
    points.fold([far, -far], |[low, high], p| [low.inf(&p.coords), high.sup(&p.coords)])
}
