//! Colors, fonts and number formats of plots.

use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

pub(crate) const INK: RGBColor = RGBColor(27, 32, 39);
pub(crate) const ORANGE: RGBColor = RGBColor(213, 94, 0);
pub(crate) const SKY: RGBColor = RGBColor(0, 114, 178);
pub(crate) const GREEN: RGBColor = RGBColor(0, 158, 115);
pub(super) const CYAN: RGBColor = RGBColor(86, 180, 233);
pub(super) const PURPLE: RGBColor = RGBColor(150, 80, 170);
pub(super) const GRAY: RGBColor = RGBColor(130, 138, 148);

pub(crate) type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

pub(crate) fn use_font() {
    const FONT: &[u8] = include_bytes!("Roboto.ttf");
    // the embedded font is valid; a test checks that text is drawn
    let _ = register_font("sans-serif", FontStyle::Normal, FONT);
}

/// A number with as many digits as axis labels need.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-2..1e5).contains(&size) {
        format!("{}", (value * 1e3).round() / 1e3)
    } else {
        format!("{value:.1e}")
    }
}
