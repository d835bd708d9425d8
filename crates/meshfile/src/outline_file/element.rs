//! Elements of SVG files: groups and shapes.

use std::f64::consts::{FRAC_PI_2, PI};

use nalgebra::{Matrix2x3, Point2, Vector2};
use roxmltree::{Document, Node, ParsingOptions};

use super::curve::{Contour, Figure, Outline, Segment};
use super::error::OutlineFileError;
use super::path::{Numbers, contours};
use super::style::{Classes, Style, classes, length};

/// Maximum number of elements and attributes of a file.
const MAX_NODES: u32 = 200_000;
/// Maximum nesting depth of groups.
const MAX_DEPTH: usize = 64;
/// m per SVG pixel.
const PIXEL: f64 = 0.0254 / 96.0;

/// The fills of an SVG text.
///
/// # Errors
/// [`OutlineFileError`] if it is not SVG, or an element is not supported.
pub(super) fn read(text: &str) -> Result<Outline, OutlineFileError> {
    let wrong = |problem: String| OutlineFileError::Format { problem };
    // older programs write a document type
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_NODES, ..Default::default() };
    let document = Document::parse_with_options(text, options).map_err(|e| wrong(e.to_string()))?;
    let root = document.root_element();
    if root.tag_name().name() != "svg" {
        return Err(wrong(format!("its root is <{}>, not <svg>", root.tag_name().name())));
    }
    let classes = classes(&document);
    let mut outline = Outline::default();
    let place = placed(&root).map_err(|problem| at(&root, &problem))?;
    let mut reader = Reader { classes, window: window(&root), outline: &mut outline };
    reader.children(&root, &Style::new(place), 0)?;
    Ok(outline)
}

fn at(node: &Node<'_, '_>, problem: &str) -> OutlineFileError {
    let line = node.document().text_pos_at(node.range().start).row;
    let problem = format!("<{}> {problem}", node.tag_name().name());
    OutlineFileError::Element { line, problem }
}

/// The transform of its coordinates to m with y upwards; the translation does not matter.
fn placed(root: &Node<'_, '_>) -> Result<Matrix2x3<f64>, String> {
    // percentages are of a window
    let given = |name: &str| root.attribute(name).filter(|text| !text.trim().ends_with('%'));
    let size = [given("width"), given("height")].map(|text| text.map(length).transpose());
    let [width, height] = size;
    let (width, height) = (width?, height?);
    let mut scales = [PIXEL; 2];
    if let Some(text) = root.attribute("viewBox") {
        let mut numbers = Numbers::new(text);
        let corners = numbers.point().zip(numbers.point()).filter(|_| numbers.is_done());
        let (_, extent) = corners
            .filter(|(_, extent)| extent.coords.min() > 0.0)
            .ok_or_else(|| format!("has a view box that cannot be read, `{text}`"))?;
        let across = [width.map(|w| w / extent.x), height.map(|h| h / extent.y)];
        let ratio = root.attribute("preserveAspectRatio").unwrap_or_default().trim();
        let scale = match across {
            [Some(x), Some(y)] if ratio == "none" => [x, y],
            [Some(x), Some(y)] if ratio.ends_with("slice") => [x.max(y); 2],
            [Some(x), Some(y)] => [x.min(y); 2],
            [Some(scale), None] | [None, Some(scale)] => [scale; 2],
            [None, None] => [1.0; 2],
        };
        scales = scale.map(|scale| scale * PIXEL);
    }
    if scales.iter().any(|scale| *scale <= 0.0) {
        return Err("has no width or height: give it both, or neither".to_owned());
    }
    Ok(Matrix2x3::new(scales[0], 0.0, 0.0, 0.0, -scales[1], 0.0))
}

/// The width and height of the drawing, in its own units, if it has both.
fn window(root: &Node<'_, '_>) -> Option<Vector2<f64>> {
    if let Some(text) = root.attribute("viewBox") {
        let mut numbers = Numbers::new(text);
        return numbers.point().and_then(|_| numbers.point()).map(|extent| extent.coords);
    }
    let [width, height] = ["width", "height"].map(|name| length(root.attribute(name)?).ok());
    width.zip(height).map(|(width, height)| Vector2::new(width, height))
}

struct Reader<'o> {
    classes: Classes,
    /// The reference lengths of percentages.
    window: Option<Vector2<f64>>,
    outline: &'o mut Outline,
}

impl Reader<'_> {
    fn children(
        &mut self,
        node: &Node<'_, '_>,
        style: &Style,
        depth: usize,
    ) -> Result<(), OutlineFileError> {
        if depth > MAX_DEPTH {
            let problem = format!("is nested more than {MAX_DEPTH} deep: ungroup it");
            return Err(at(node, &problem));
        }
        node.children()
            .filter(Node::is_element)
            .try_for_each(|child| self.element(&child, style, depth))
    }

    fn element(
        &mut self,
        node: &Node<'_, '_>,
        inherited: &Style,
        depth: usize,
    ) -> Result<(), OutlineFileError> {
        let style = inherited.of(node, &self.classes).map_err(|problem| at(node, &problem))?;
        let name = node.tag_name().name();
        if !style.is_shown {
            return Ok(());
        }
        let advice = match name {
            "g" | "a" | "switch" => return self.children(node, &style, depth + 1),
            "text" => "is text: convert it to paths, as Inkscape's Object to Path does",
            "use" => "repeats another element: unlink it, as Inkscape's Unlink Clone does",
            "svg" => "is a picture in the picture: ungroup it",
            "image" => "is a picture of pixels: trace it, or use the shape `extruded`",
            _ => "",
        };
        // drawing programs leave empty text elements behind
        let is_empty = name == "text" && is_blank(node);
        if !advice.is_empty() && style.is_visible && !is_empty {
            return Err(at(node, advice));
        }
        let found = match name {
            "path" => contours(node.attribute("d").unwrap_or_default()),
            "rect" => rectangle(node, self.window),
            "circle" | "ellipse" => ellipse(node, self.window),
            "polygon" | "polyline" => polygon(node),
            "line" => Ok(Vec::new()),
            // definitions, descriptions and extensions of other programs
            _ => return Ok(()),
        };
        let contours = found.map_err(|problem| at(node, &problem))?;
        if !style.is_visible {
            return Ok(());
        }
        if !style.is_filled || name == "line" {
            self.outline.has_strokes = true;
            return Ok(());
        }
        // SVG 1.1 section 9: elements of zero size are not drawn
        if contours.is_empty() && matches!(name, "rect" | "circle" | "ellipse") {
            self.outline.has_sizeless = true;
            return Ok(());
        }
        let contours = contours.iter().map(|contour| contour.placed(&style.place)).collect();
        self.outline.figures.push(Figure { contours, is_even_odd: style.is_even_odd });
        Ok(())
    }
}

/// Whether an element and its descendants have no text.
fn is_blank(node: &Node<'_, '_>) -> bool {
    node.descendants()
        .all(|part| !part.is_text() || part.text().unwrap_or_default().trim().is_empty())
}

/// The lengths of attributes, 0 for missing ones.
fn lengths<const N: usize>(
    node: &Node<'_, '_>,
    names: [&str; N],
    window: Option<Vector2<f64>>,
) -> Result<[f64; N], String> {
    let mut lengths = [0.0; N];
    for (own, name) in lengths.iter_mut().zip(names) {
        *own = node.attribute(name).map_or(Ok(0.0), |text| length_in(text, name, window))?;
    }
    Ok(lengths)
}

/// A length in pixels, or in percent of the window along its axis (SVG 1.1 section 7.10).
fn length_in(text: &str, name: &str, window: Option<Vector2<f64>>) -> Result<f64, String> {
    let Some(percent) = text.trim().strip_suffix('%') else { return length(text) };
    let window = window.ok_or_else(|| {
        format!("has the length `{text}` of a picture without a size: give <svg> a viewBox")
    })?;
    let whole = match name {
        "x" | "cx" | "rx" | "width" => window.x,
        "y" | "cy" | "ry" | "height" => window.y,
        _ => window.norm() / 2.0_f64.sqrt(),
    };
    Ok(length(percent)? / 100.0 * whole)
}

fn rectangle(node: &Node<'_, '_>, window: Option<Vector2<f64>>) -> Result<Vec<Contour>, String> {
    let [x, y, width, height] = lengths(node, ["x", "y", "width", "height"], window)?;
    // a missing radius equals the other one
    let radius = |name: &str| match node.attribute(name).filter(|text| text.trim() != "auto") {
        Some(text) => length_in(text, name, window).map(Some),
        None => Ok(None),
    };
    let (rx, ry) = (radius("rx")?, radius("ry")?);
    let [rx, ry] = [rx.or(ry), ry.or(rx)].map(|r| r.unwrap_or(0.0));
    if width.min(height).min(rx).min(ry) < 0.0 {
        return Err("has a width, height or radius below 0: make it positive".to_owned());
    }
    if width.min(height) == 0.0 {
        return Ok(Vec::new());
    }
    let (rx, ry) = (rx.min(width / 2.0), ry.min(height / 2.0));
    let (right, low) = (x + width, y + height);
    let corner = |x: f64, y: f64, quarter: f64| Segment::Arc {
        center: Point2::new(x, y),
        axes: [Vector2::new(rx, 0.0), Vector2::new(0.0, ry)],
        start: quarter * FRAC_PI_2,
        sweep: FRAC_PI_2,
    };
    let line = |x: f64, y: f64| Segment::Line(Point2::new(x, y));
    let mut segments = vec![
        line(right - rx, y),
        corner(right - rx, y + ry, 3.0),
        line(right, low - ry),
        corner(right - rx, low - ry, 0.0),
        line(x + rx, low),
        corner(x + rx, low - ry, 1.0),
        line(x, y + ry),
        corner(x + rx, y + ry, 2.0),
    ];
    if rx.min(ry) == 0.0 {
        segments.retain(|segment| matches!(segment, Segment::Line(_)));
    }
    Ok(vec![Contour { start: Point2::new(x + rx, y), segments }])
}

fn ellipse(node: &Node<'_, '_>, window: Option<Vector2<f64>>) -> Result<Vec<Contour>, String> {
    let [x, y, r, rx, ry] = lengths(node, ["cx", "cy", "r", "rx", "ry"], window)?;
    let (rx, ry) = if node.tag_name().name() == "circle" { (r, r) } else { (rx, ry) };
    if rx.min(ry) < 0.0 {
        return Err("has a radius below 0: make it positive".to_owned());
    }
    if rx.min(ry) == 0.0 {
        return Ok(Vec::new());
    }
    let center = Point2::new(x, y);
    let axes = [Vector2::new(rx, 0.0), Vector2::new(0.0, ry)];
    let segments = vec![Segment::Arc { center, axes, start: 0.0, sweep: 2.0 * PI }];
    Ok(vec![Contour { start: center + axes[0], segments }])
}

fn polygon(node: &Node<'_, '_>) -> Result<Vec<Contour>, String> {
    let mut numbers = Numbers::new(node.attribute("points").unwrap_or_default());
    let mut points = Vec::new();
    while !numbers.is_done() {
        points.push(numbers.point().ok_or("has points that are no pairs of numbers")?);
    }
    let mut points = points.into_iter();
    let Some(start) = points.next() else { return Ok(Vec::new()) };
    Ok(vec![Contour { start, segments: points.map(Segment::Line).collect() }])
}
