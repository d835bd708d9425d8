//! A color bar as the legend of a picture.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::style::{INK, short, use_font};
use crate::render::Picture;

/// Pixels from the edges of the picture, and the sizes of the panel and the bar.
const MARGIN: i32 = 16;
const PANEL: [i32; 2] = [132, 330];
const BAR: [i32; 2] = [24, 240];
/// Minimum number of label steps.
const LEAST_STEPS: f64 = 3.0;
/// Minimum distance between labels as a share of the bar.
const MIN_LABEL_GAP: f64 = 0.07;
/// Candidate step sizes; the first that fits is used.
const STEPS: [f64; 4] = [5.0, 2.5, 2.0, 1.0];

/// The color scale of a picture.
#[derive(Clone, Copy)]
pub(crate) struct StressScale<'a> {
    /// sRGB, in ascending order of stress from 0.
    pub(crate) colors: &'a [[u8; 3]],
    /// Stress at the end of the last color, Pa.
    pub(crate) most: f64,
    /// Whether there are lines across the bar at the marks.
    pub(crate) lines: bool,
}

impl StressScale<'_> {
    /// Round numbers above 0, Pa: three to seven.
    pub(crate) fn marks(&self) -> Vec<f64> {
        if self.most <= 0.0 || !self.most.is_finite() {
            return Vec::new();
        }
        let ten = 10.0_f64.powf(self.most.log10().floor());
        let steps = STEPS.map(|step| step * ten).into_iter().chain(STEPS.map(|s| s * ten / 10.0));
        let step = steps.into_iter().find(|step| self.most >= LEAST_STEPS * step);
        let step = step.unwrap_or(ten / 10.0);
        let count = (self.most / step * (1.0 + 1e-9)).floor() as usize;
        (1..=count).map(|n| step * n as f64).collect()
    }
}

/// Draws a color bar at the right edge of a picture, if it is large enough.
pub(crate) fn with_stress_scale(picture: &Picture, scale: &StressScale<'_>) -> Picture {
    let size = picture.size();
    let mut bytes = picture.bytes().to_vec();
    let area = BitMapBackend::with_buffer(&mut bytes, (size[0] as u32, size[1] as u32));
    // drawing into memory cannot fail
    let _ = draw(&area.into_drawing_area(), size, scale);
    Picture::new(size, bytes)
}

/// The SI unit in which a stress is between 1 and 1000, and its value, Pa.
fn unit(stress: f64) -> (&'static str, f64) {
    let units = [("GPa", 1e9), ("MPa", 1e6), ("kPa", 1e3)];
    units.into_iter().find(|(_, size)| stress >= *size).unwrap_or(("Pa", 1.0))
}

fn draw<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    size: [usize; 2],
    scale: &StressScale<'_>,
) -> super::Drawn<B> {
    use_font();
    let StressScale { colors, most, lines } = *scale;
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
    let marks = scale.marks();
    // the end is labeled if there is room
    let last = marks.last().copied().unwrap_or(0.0);
    let end = (most - last > MIN_LABEL_GAP * most).then_some(most);
    for (mark, is_line) in [(0.0, false)]
        .into_iter()
        .chain(marks.into_iter().map(|m| (m, lines)))
        .chain(end.map(|e| (e, false)))
    {
        let share = if most > 0.0 { mark / most } else { 0.0 };
        let (x, y) = (left + BAR[0], height(share));
        let start = if is_line { left } else { x };
        area.draw(&PathElement::new([(start, y), (x + 5, y)], INK))?;
        area.draw(&Text::new(short(mark / pascals), (x + 10, y), text.clone()))?;
    }
    area.present()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_numbers_up_to_the_end() {
        for (most, expected) in [
            (1.29e6, vec![0.25e6, 0.5e6, 0.75e6, 1e6, 1.25e6]),
            (1e6, vec![0.25e6, 0.5e6, 0.75e6, 1e6]),
            (3.0, vec![1.0, 2.0, 3.0]),
            (7.4e9, vec![2e9, 4e9, 6e9]),
            (0.0, vec![]),
        ] {
            let marks = StressScale { colors: &[], most, lines: false }.marks();
            assert_eq!(marks.len(), expected.len(), "{most}: {marks:?}");
            assert!(marks.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9 * b));
        }
    }
}
