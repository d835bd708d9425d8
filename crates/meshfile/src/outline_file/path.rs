//! Path data (SVG 1.1 section 8.3), and lists of numbers.

use std::f64::consts::PI;

use nalgebra::{Point2, Rotation2, Vector2};

use super::curve::{Contour, Segment};

/// Numbers with optional separators.
pub(super) struct Numbers<'t> {
    text: &'t str,
}

impl<'t> Numbers<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text: text.trim_start() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.text.is_empty()
    }

    fn skip(&mut self, length: usize) {
        let rest = self.text[length..].trim_start();
        self.text = rest.strip_prefix(',').map_or(rest, str::trim_start);
    }

    /// The next number, if there is one.
    pub(super) fn next(&mut self) -> Option<f64> {
        let length = number_length(self.text);
        let number: f64 = self.text[..length].parse().ok().filter(|x: &f64| x.abs() <= 1e12)?;
        self.skip(length);
        Some(number)
    }

    /// Flags of arcs need no separators.
    fn flag(&mut self) -> Option<bool> {
        let flag = match self.text.as_bytes().first()? {
            b'0' => false,
            b'1' => true,
            _ => return None,
        };
        self.skip(1);
        Some(flag)
    }

    fn command(&mut self) -> Option<u8> {
        let letter = *self.text.as_bytes().first().filter(|letter| letter.is_ascii_alphabetic())?;
        self.skip(1);
        Some(letter)
    }

    pub(super) fn point(&mut self) -> Option<Point2<f64>> {
        Some(Point2::new(self.next()?, self.next()?))
    }
}

/// Length in bytes of the number at the start of a text.
pub(super) fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |at: usize| bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = |at: usize| usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let mut length = sign(0);
    length += digits(length);
    if bytes.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let exponent = length + 1 + sign(length + 1);
        // the unit `em` is not an exponent
        if digits(exponent.min(bytes.len())) > 0 {
            length = exponent + digits(exponent);
        }
    }
    length
}

/// The state of a path while it is parsed.
struct Pen {
    contours: Vec<Contour>,
    at: Point2<f64>,
    /// The last control point of the previous curve command, which smooth curves reflect, and
    /// whether that curve is cubic.
    control: Option<(Point2<f64>, bool)>,
}

/// The contours of path data.
///
/// # Errors
/// A description of the problem.
pub(super) fn contours(text: &str) -> Result<Vec<Contour>, String> {
    let mut numbers = Numbers::new(text);
    let mut pen = Pen { contours: Vec::new(), at: Point2::origin(), control: None };
    let mut command = None;
    while !numbers.is_done() {
        let known = match (numbers.command(), command) {
            (Some(letter), _) => letter,
            // further points after that of a move are lines
            (None, Some(b'M')) => b'L',
            (None, Some(b'm')) => b'l',
            (None, Some(letter)) if !letter.eq_ignore_ascii_case(&b'z') => letter,
            (None, _) => return Err("has path data that do not start with a command".to_owned()),
        };
        if pen.contours.is_empty() && !known.eq_ignore_ascii_case(&b'm') {
            return Err("has path data that do not start with `M`".to_owned());
        }
        pen.draw(known, &mut numbers).ok_or_else(|| {
            format!("has path data with wrong numbers at a command `{}`", char::from(known))
        })?;
        command = Some(known);
    }
    Ok(pen.contours)
}

impl Pen {
    /// `None` if the command is unknown or lacks numbers.
    fn draw(&mut self, command: u8, numbers: &mut Numbers<'_>) -> Option<()> {
        let at = self.at;
        let from = if command.is_ascii_lowercase() { at.coords } else { Vector2::zeros() };
        let mut control = None;
        match command.to_ascii_lowercase() {
            b'm' => self.start(numbers.point()? + from),
            b'z' => {
                let start = self.contours.last().map_or(at, |contour| contour.start);
                self.add(Segment::Line(start), start);
                self.start(start);
            }
            b'l' => self.line(numbers.point()? + from),
            b'h' => self.line(Point2::new(numbers.next()? + from.x, at.y)),
            b'v' => self.line(Point2::new(at.x, numbers.next()? + from.y)),
            letter @ (b'c' | b's') => {
                let first =
                    if letter == b'c' { numbers.point()? + from } else { self.mirrored(true) };
                let [second, end] = [numbers.point()? + from, numbers.point()? + from];
                self.add(Segment::Cubic([first, second, end]), end);
                control = Some((second, true));
            }
            letter @ (b'q' | b't') => {
                let first =
                    if letter == b'q' { numbers.point()? + from } else { self.mirrored(false) };
                let end = numbers.point()? + from;
                self.add(Segment::Quadratic([first, end]), end);
                control = Some((first, false));
            }
            b'a' => {
                let radii = numbers.point()?.coords;
                let tilt = numbers.next()?;
                let flags = [numbers.flag()?, numbers.flag()?];
                let end = numbers.point()? + from;
                self.add(arc(at, end, (radii, tilt), flags), end);
            }
            _ => return None,
        }
        self.control = control;
        Some(())
    }

    fn start(&mut self, at: Point2<f64>) {
        // a contour without segments bounds no area
        if self.contours.last().is_some_and(|contour| contour.segments.is_empty()) {
            self.contours.pop();
        }
        self.contours.push(Contour { start: at, segments: Vec::new() });
        self.at = at;
    }

    fn line(&mut self, to: Point2<f64>) {
        self.add(Segment::Line(to), to);
    }

    fn add(&mut self, segment: Segment, end: Point2<f64>) {
        if let Some(contour) = self.contours.last_mut() {
            contour.segments.push(segment);
        }
        self.at = end;
    }

    /// The control point of a smooth curve: the reflection of the previous one if that is of the
    /// same kind.
    fn mirrored(&self, is_cubic: bool) -> Point2<f64> {
        match self.control {
            Some((control, kind)) if kind == is_cubic => self.at + (self.at - control),
            _ => self.at,
        }
    }
}

/// An elliptic arc between two points (SVG 1.1 appendix F.6.5); a line if a radius is zero.
fn arc(
    from: Point2<f64>,
    to: Point2<f64>,
    (radii, degrees): (Vector2<f64>, f64),
    [is_large, is_positive]: [bool; 2],
) -> Segment {
    let radii = radii.abs();
    let tilt = degrees.to_radians();
    let (sin, cos) = libm::sincos(tilt);
    let turn = Rotation2::from_matrix_unchecked(nalgebra::Matrix2::new(cos, -sin, sin, cos));
    let half = turn.inverse() * ((from - to) / 2.0);
    if radii.min() <= 0.0 || half.norm_squared() == 0.0 {
        return Segment::Line(to);
    }
    let unit = half.component_div(&radii);
    // radii that are too small grow
    let radii = radii * unit.norm().max(1.0);
    let unit = half.component_div(&radii);
    let square: f64 = unit.norm_squared();
    let away = ((1.0 - square) / square).max(0.0).sqrt();
    let away = if is_large == is_positive { -away } else { away };
    let middle = Vector2::new(away * unit.y, -away * unit.x);
    let angle = |v: Vector2<f64>| libm::atan2(v.y, v.x);
    let (start, end) = (angle(unit - middle), angle(-unit - middle));
    let sweep = match (is_positive, end - start) {
        (true, sweep) if sweep < 0.0 => sweep + 2.0 * PI,
        (false, sweep) if sweep > 0.0 => sweep - 2.0 * PI,
        (_, sweep) => sweep,
    };
    let center =
        Point2::from((from.coords + to.coords) / 2.0) + turn * middle.component_mul(&radii);
    let axes = [turn * Vector2::new(radii.x, 0.0), turn * Vector2::new(0.0, radii.y)];
    Segment::Arc { center, axes, start, sweep }
}
