//! A bar that says what the colors of a picture stand for.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{INK, short, use_font};
use crate::render::Picture;

/// Pixels from the edges of the picture, and of the panel and the bar.
const MARGIN: i32 = 16;
const PANEL: [i32; 2] = [132, 330];
const BAR: [i32; 2] = [24, 240];
/// Numbers beside the bar.
const MARKS: i32 = 4;

/// Draws a color bar of stress from 0 to `most` Pa over the right edge of a picture, if it is large enough. `colors` are
/// sRGB, in ascending order of stress.
pub(crate) fn with_stress_scale(picture: &Picture, colors: &[[u8; 3]], most: f64) -> Picture {
    let size = picture.size();
    let mut bytes = picture.bytes().to_vec();
    let area = BitMapBackend::with_buffer(&mut bytes, (size[0] as u32, size[1] as u32));
    // drawing into memory cannot fail
    let _ = draw(&area.into_drawing_area(), size, colors, most);
    Picture::new(size, bytes)
}

/// The unit in which a stress is a number from 1 to 1000, and its size, Pa.
fn unit(stress: f64) -> (&'static str, f64) {
    let units = [("GPa", 1e9), ("MPa", 1e6), ("kPa", 1e3)];
    units.into_iter().find(|(_, size)| stress >= *size).unwrap_or(("Pa", 1.0))
}

fn draw<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    size: [usize; 2],
    colors: &[[u8; 3]],
    most: f64,
) -> super::Drawn<B> {
    use_font();
    let (unit, pascals) = unit(most);
    let [left, top] = [size[0] as i32 - MARGIN - PANEL[0], MARGIN];
    let panel = [(left, top), (left + PANEL[0], top + PANEL[1])];
    area.draw(&Rectangle::new(panel, WHITE.mix(0.85).filled()))?;
    let text = ("sans-serif", 15).into_font().color(&INK);
    for (line, words) in
        ["largest principal".to_owned(), format!("stress, {unit}")].iter().enumerate()
    {
        area.draw(&Text::new(
            words.as_str(),
            (left + 12, top + 12 + 18 * line as i32),
            text.clone(),
        ))?;
    }
    let [left, bottom] = [left + 14, top + PANEL[1] - 18];
    let height = |share: f64| bottom - (share * f64::from(BAR[1])).round() as i32;
    for (n, [r, g, b]) in colors.iter().enumerate() {
        let [low, high] = [n, n + 1].map(|n| height(n as f64 / colors.len() as f64));
        let block = [(left, high), (left + BAR[0], low)];
        area.draw(&Rectangle::new(block, RGBColor(*r, *g, *b).filled()))?;
    }
    area.draw(&Rectangle::new([(left, height(1.0)), (left + BAR[0], bottom)], INK))?;
    let text = text.pos(Pos::new(HPos::Left, VPos::Center));
    let marks = if most > 0.0 { MARKS } else { 0 };
    for mark in 0..=marks {
        let share = f64::from(mark) / f64::from(MARKS);
        let (x, y) = (left + BAR[0], height(share));
        area.draw(&PathElement::new([(x, y), (x + 5, y)], INK))?;
        area.draw(&Text::new(short(share * most / pascals), (x + 10, y), text.clone()))?;
    }
    area.present()
}
