//! Plots of a comparison as SVG.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::{Model, ModelResult, Run};
use crate::plot::{Drawn, GREEN, INK, ORANGE, SKY, short, use_font};

/// Extension of a logarithmic axis beyond its curves, for their labels.
const LEGEND: f64 = 5.0;
/// Width and height of a panel in pixels.
const PANEL: [u32; 2] = [460, 340];

/// Points and lines of one model.
struct Curve {
    model: Model,
    points: Vec<[f64; 2]>,
    /// A line independent of the points.
    line: Vec<[f64; 2]>,
}

/// Curves with axes.
struct Chart {
    title: &'static str,
    across: &'static str,
    up: &'static str,
    /// Whether the vertical axis is logarithmic; the horizontal one always is.
    is_log: bool,
    curves: Vec<Curve>,
}

/// Number of pieces of at least each size, on logarithmic axes, with the power laws.
pub fn sizes(models: &[ModelResult]) -> String {
    let curve = |result: &ModelResult| {
        let volumes = &result.run.measured.volumes;
        let points = volumes.iter().enumerate().map(|(n, v)| [*v, (n + 1) as f64]).collect();
        let line = result.power_law.map(|law| {
            let most = volumes.first().copied().unwrap_or(law.least);
            let at = |x: f64| [x, law.count as f64 * law.share_above(x)];
            vec![at(law.least), at(most)]
        });
        Curve { model: result.run.model, points, line: line.unwrap_or_default() }
    };
    let chart = Chart {
        title: "Pieces of at least a volume",
        across: "volume, m³",
        up: "pieces",
        is_log: true,
        curves: models.iter().map(curve).collect(),
    };
    svg(&[chart])
}

/// Pieces, crack area and energy loss against the value of `across` for each run.
pub fn convergence(runs: &[Run], across: &'static str, x: impl Fn(&Run) -> f64) -> String {
    let curves = |y: fn(&Run) -> f64| {
        let models = Model::ALL.into_iter().filter(|m| runs.iter().any(|run| run.model == *m));
        let curve = |model| {
            let own = runs.iter().filter(|run| run.model == model);
            let points: Vec<[f64; 2]> = own.map(|run| [x(run), y(run)]).collect();
            Curve { model, line: points.clone(), points }
        };
        models.map(curve).collect()
    };
    let chart = |title, up, y| Chart { title, across, up, is_log: false, curves: curves(y) };
    svg(&[
        chart("Pieces at the end", "pieces", |run| run.measured.pieces as f64),
        chart("Area of all cracks", "m²", |run| run.measured.crack_area),
        chart("Energy lost", "J", |run| run.measured.energy.lost()),
    ])
}

fn svg(charts: &[Chart]) -> String {
    let mut text = String::new();
    let size = (PANEL[0] * charts.len() as u32, PANEL[1]);
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    // drawing into memory cannot fail
    let _ = draw(charts, &area);
    drop(area);
    text
}

fn draw<B: DrawingBackend>(charts: &[Chart], area: &DrawingArea<B, Shift>) -> Drawn<B> {
    use_font();
    area.fill(&WHITE)?;
    for (chart, area) in charts.iter().zip(area.split_evenly((1, charts.len()))) {
        chart.draw(&area)?;
    }
    area.present()
}

impl Chart {
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        let points = || self.curves.iter().flat_map(|c| c.points.iter().chain(&c.line));
        let across = logarithmic(points().map(|[x, _]| *x));
        let text = ("sans-serif", 14).into_font().color(&INK);
        let mut chart = ChartBuilder::on(area);
        chart
            .caption(self.title, ("sans-serif", 16).into_font().color(&INK))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(66);
        // the two kinds of axes have different types
        macro_rules! draw {
            ($up:expr) => {{
                let mut chart = chart.build_cartesian_2d(across.log_scale(), $up)?;
                chart
                    .configure_mesh()
                    .x_desc(self.across)
                    .y_desc(self.up)
                    .x_label_formatter(&|x| short(*x))
                    .y_label_formatter(&|y| short(*y))
                    .x_labels(6)
                    .label_style(text.clone())
                    .axis_style(INK.mix(0.4))
                    .bold_line_style(INK.mix(0.1))
                    .light_line_style(TRANSPARENT)
                    .draw()?;
                for curve in &self.curves {
                    let color = curve.color();
                    let pair = |[x, y]: &[f64; 2]| (*x, *y);
                    chart.draw_series(LineSeries::new(
                        curve.line.iter().map(pair),
                        color.stroke_width(2),
                    ))?;
                    let dot = |p| Circle::new(pair(p), 3, color.filled());
                    chart
                        .draw_series(curve.points.iter().map(dot))?
                        .label(curve.model.name())
                        .legend(move |(x, y)| Circle::new((x + 10, y), 4, color.filled()));
                }
                chart
                    .configure_series_labels()
                    .position(SeriesLabelPosition::UpperRight)
                    .label_font(text)
                    .background_style(WHITE.mix(0.8))
                    .draw()?;
            }};
        }
        if self.is_log {
            let up = logarithmic(points().map(|[_, y]| *y));
            draw!((up.start..LEGEND * up.end).log_scale());
        } else {
            let high = points().map(|[_, y]| *y).fold(0.0, f64::max);
            draw!(0.0..if high > 0.0 { 1.45 * high } else { 1.0 });
        }
        Ok(())
    }
}

impl Curve {
    fn color(&self) -> RGBColor {
        match self.model {
            Model::Prescored => ORANGE,
            Model::Lattice => SKY,
            Model::Stress => GREEN,
        }
    }
}

/// A range around positive numbers, with a margin on a logarithmic axis.
fn logarithmic(numbers: impl Iterator<Item = f64>) -> Range<f64> {
    const MARGIN: f64 = 1.3;
    let start = (f64::INFINITY, 0.0_f64);
    let (low, high) =
        numbers.filter(|x| *x > 0.0).fold(start, |(low, high), x| (low.min(x), high.max(x)));
    if low > high { 0.1..1.0 } else { low / MARGIN..high * MARGIN }
}
