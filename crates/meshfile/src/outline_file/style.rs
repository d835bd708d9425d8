//! Fill and placement: presentation attributes, styles, transforms and lengths.

use std::collections::BTreeMap;

use nalgebra::{Matrix2x3, Matrix3};
use roxmltree::{Document, Node};

use super::path::{Numbers, number_length};

/// Declarations of classes, from all `style` elements.
pub(super) type Classes = BTreeMap<String, Vec<(String, String)>>;

/// The inherited state of an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) place: Matrix2x3<f64>,
    pub(super) is_filled: bool,
    pub(super) is_even_odd: bool,
    pub(super) is_visible: bool,
    /// Whether the element and its descendants are drawn.
    pub(super) is_shown: bool,
}

impl Style {
    pub(super) fn new(place: Matrix2x3<f64>) -> Self {
        Self { place, is_filled: true, is_even_odd: false, is_visible: true, is_shown: true }
    }

    /// The style of a child element.
    ///
    /// # Errors
    /// A description of the problem with its transform.
    pub(super) fn of(&self, node: &Node<'_, '_>, classes: &Classes) -> Result<Self, String> {
        let mut style = *self;
        for attribute in node.attributes() {
            style.apply(attribute.name(), attribute.value());
        }
        for class in node.attribute("class").unwrap_or_default().split_whitespace() {
            for (name, value) in classes.get(class).into_iter().flatten() {
                style.apply(name, value);
            }
        }
        for (name, value) in declarations(node.attribute("style").unwrap_or_default()) {
            style.apply(&name, &value);
        }
        if let Some(text) = node.attribute("transform") {
            let own = transform(text)
                .ok_or_else(|| format!("has a transform that cannot be read, `{text}`"))?;
            style.place = self.place * own;
        }
        Ok(style)
    }

    fn apply(&mut self, name: &str, value: &str) {
        let value = value.trim();
        let is_clear = || value.parse() == Ok(0.0);
        match name {
            "fill" if value != "inherit" => {
                self.is_filled = !matches!(value, "none" | "transparent");
            }
            "fill-opacity" if is_clear() => self.is_filled = false,
            "fill-rule" if value != "inherit" => self.is_even_odd = value == "evenodd",
            "opacity" if is_clear() => self.is_shown = false,
            "display" if value == "none" => self.is_shown = false,
            "visibility" if value != "inherit" => self.is_visible = value == "visible",
            _ => {}
        }
    }
}

/// The classes that a document's styles define.
pub(super) fn classes(document: &Document<'_>) -> Classes {
    let mut classes = Classes::new();
    for style in document.descendants().filter(|node| node.tag_name().name() == "style") {
        let rules = style.text().unwrap_or_default().split('}');
        for (selectors, body) in rules.filter_map(|rule| rule.split_once('{')) {
            for name in selectors.split(',').filter_map(|one| one.trim().strip_prefix('.')) {
                classes.entry(name.to_owned()).or_default().extend(declarations(body));
            }
        }
    }
    classes
}

/// Names and values of `a: b; c: d`.
fn declarations(text: &str) -> impl Iterator<Item = (String, String)> {
    let pairs = text.split(';').filter_map(|one| one.split_once(':'));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
}

/// A list of transforms (SVG 1.1 section 7.6).
fn transform(text: &str) -> Option<Matrix3<f64>> {
    let mut whole = Matrix3::identity();
    for part in text.split(')').map(|part| part.trim_start_matches([',', ' ', '\n', '\t', '\r'])) {
        if part.is_empty() {
            continue;
        }
        let (name, list) = part.split_once('(')?;
        let mut numbers = Numbers::new(list);
        let mut given = Vec::new();
        while !numbers.is_done() && given.len() < 7 {
            given.push(numbers.next()?);
        }
        whole *= single(name.trim(), &given)?;
    }
    Some(whole)
}

fn single(name: &str, numbers: &[f64]) -> Option<Matrix3<f64>> {
    let affine = |a, b, c, d, e, f| Matrix3::new(a, c, e, b, d, f, 0.0, 0.0, 1.0);
    let moved = |x, y| affine(1.0, 0.0, 0.0, 1.0, x, y);
    let turned = |degrees: f64| {
        let (sin, cos) = libm::sincos(degrees.to_radians());
        affine(cos, sin, -sin, cos, 0.0, 0.0)
    };
    let slope = |degrees: f64| libm::tan(degrees.to_radians());
    Some(match (name, numbers) {
        ("matrix", &[a, b, c, d, e, f]) => affine(a, b, c, d, e, f),
        ("translate", &[x]) => moved(x, 0.0),
        ("translate", &[x, y]) => moved(x, y),
        ("scale", &[x]) => affine(x, 0.0, 0.0, x, 0.0, 0.0),
        ("scale", &[x, y]) => affine(x, 0.0, 0.0, y, 0.0, 0.0),
        ("rotate", &[degrees]) => turned(degrees),
        ("rotate", &[degrees, x, y]) => moved(x, y) * turned(degrees) * moved(-x, -y),
        ("skewX", &[degrees]) => affine(1.0, 0.0, slope(degrees), 1.0, 0.0, 0.0),
        ("skewY", &[degrees]) => affine(1.0, slope(degrees), 0.0, 1.0, 0.0, 0.0),
        _ => return None,
    })
}

/// A length in pixels, 96 per inch.
///
/// # Errors
/// A description of the problem.
pub(super) fn length(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let (number, unit) = text.split_at(number_length(text));
    let number: f64 = number
        .parse()
        .ok()
        .filter(|x: &f64| x.abs() <= 1e12)
        .ok_or_else(|| format!("has the length `{text}`, which is no number"))?;
    let pixels = match unit {
        "" | "px" => 1.0,
        "in" => 96.0,
        "cm" => 96.0 / 2.54,
        "mm" => 96.0 / 25.4,
        "Q" => 96.0 / 101.6,
        "pt" => 96.0 / 72.0,
        "pc" => 16.0,
        _ => {
            return Err(format!(
                "has the length `{text}`, whose unit is not known: use px, mm, cm, in, pt, pc or Q"
            ));
        }
    };
    Ok(number * pixels)
}
