//! Curves of a ledger.

mod scale;
mod style;

use plotters::coord::Shift;
use plotters::prelude::*;
use thiserror::Error;

pub(crate) use self::scale::{StressScale, with_stress_scale};
use self::style::{CYAN, GRAY, PURPLE};
pub(crate) use self::style::{Drawn, GREEN, INK, ORANGE, SKY, short, use_font};
use crate::render::Picture;

/// A column of tables of anchor loads, which have several rows for a frame.
const BODY_COLUMN: &str = "body";

/// Why a table cannot be drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// It has no rows.
    #[error("holds no rows: give a file that `brisance run --ledger` wrote")]
    Empty,
    /// The number of cells of a row differs from that of the header.
    #[error("line {line} has {cells} cells, but the first line names {names}")]
    Ragged {
        /// The line, counted from 1.
        line: usize,
        /// Number of its cells.
        cells: usize,
        /// Number of header cells.
        names: usize,
    },
    /// A cell is not a finite number.
    #[error("line {line}: `{text}` is not a finite number")]
    NotANumber {
        /// The line, counted from 1.
        line: usize,
        /// The cell.
        text: String,
    },
    /// A cell is too large for finite sums and squares.
    #[error(
        "line {line}: `{text}` is beyond 1e100: give a file that `brisance run --ledger` wrote"
    )]
    TooLarge {
        /// The line, counted from 1.
        line: usize,
        /// The cell.
        text: String,
    },
    /// It is not a table of a ledger.
    #[error("is not a ledger: give the .csv file that `brisance run --ledger` wrote")]
    NoLedger,
    /// A column is missing.
    #[error("has no column `{name}`: give a file that `brisance run --ledger` wrote")]
    NoColumn {
        /// The expected name.
        name: &'static str,
    },
}

/// Largest number: sums and squares of as many numbers as a file can hold are finite.
const MAX_NUMBER: f64 = 1e100;

/// Named columns of numbers, as written by [`Ledger::write_csv`](crate::ledger::Ledger::write_csv).
#[derive(Clone, Debug)]
pub struct Table {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    /// Reads a header line and lines of comma-separated numbers.
    ///
    /// # Errors
    /// [`TableError`] with the line at fault.
    pub fn from_csv(text: &str) -> Result<Self, TableError> {
        let mut lines = text.lines();
        let names = lines.next().unwrap_or_default();
        let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
        let is_name = |name: &String| {
            name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "_ ".contains(c))
        };
        let is_ledger = names.iter().all(is_name) && !names.iter().any(|name| name == BODY_COLUMN);
        if text.lines().next().is_some() && !is_ledger {
            return Err(TableError::NoLedger);
        }
        let mut rows = vec![];
        for (at, text) in lines.enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let line = at + 2;
            let number = |cell: &str| {
                let text = || cell.to_owned();
                match cell.trim().parse::<f64>() {
                    Ok(x) if x.abs() <= MAX_NUMBER => Ok(x),
                    Ok(x) if x.is_finite() => Err(TableError::TooLarge { line, text: text() }),
                    _ => Err(TableError::NotANumber { line, text: text() }),
                }
            };
            let row: Vec<f64> = text.split(',').map(number).collect::<Result<_, _>>()?;
            if row.len() != names.len() {
                return Err(TableError::Ragged { line, cells: row.len(), names: names.len() });
            }
            rows.push(row);
        }
        if rows.is_empty() { Err(TableError::Empty) } else { Ok(Self { names, rows }) }
    }

    fn column(&self, name: &'static str) -> Result<Vec<f64>, TableError> {
        let at = self.names.iter().position(|n| n == name).ok_or(TableError::NoColumn { name })?;
        Ok(self.rows.iter().map(|row| row[at]).collect())
    }

    /// A column that older ledgers lack: zeros for those.
    fn new_column(&self, name: &'static str) -> Vec<f64> {
        self.column(name).unwrap_or_else(|_| vec![0.0; self.rows.len()])
    }

    /// Distance of a vector from its initial value.
    fn drift(&self, axes: [&'static str; 3]) -> Result<Vec<f64>, TableError> {
        let [x, y, z] = [self.column(axes[0])?, self.column(axes[1])?, self.column(axes[2])?];
        let from = |v: &[f64], i: usize| (v[i] - v[0]).powi(2);
        let length = |i| (from(&x, i) + from(&y, i) + from(&z, i)).sqrt();
        Ok((0..x.len()).map(length).collect())
    }
}

/// Curves with shared axes.
struct Panel {
    title: &'static str,
    curves: Vec<(&'static str, RGBColor, Vec<f64>)>,
}

/// Cumulative sums of a list.
fn summed(values: &[f64]) -> Vec<f64> {
    let add = |sum: &mut f64, x: &f64| {
        *sum += x;
        Some(*sum)
    };
    values.iter().scan(0.0, add).collect()
}

fn panels(table: &Table) -> Result<Vec<Panel>, TableError> {
    let kinetic = table.column("kinetic_energy")?;
    let potential = table.column("potential_energy")?;
    let lowest = potential.iter().copied().fold(f64::INFINITY, f64::min);
    let potential: Vec<f64> = potential.iter().map(|p| p - lowest).collect();
    let total = kinetic.iter().zip(&potential).map(|(k, p)| k + p).collect();
    let losses = [
        ("collision", ORANGE, table.column("dissipated_collision")?),
        ("plastic work", CYAN, table.new_column("dissipated_plastic")),
        ("contact and friction", SKY, table.column("dissipated_contact")?),
        ("fracture", PURPLE, table.column("dissipated_fracture")?),
        ("sleep", GREEN, table.column("dissipated_sleep")?),
        ("retired pieces", GRAY, table.column("dissipated_retirement")?),
        ("external work", INK, table.column("work")?),
    ];
    let mut dissipation = vec![];
    for (name, color, values) in losses {
        let curve = summed(&values);
        // curves that are always zero need no line
        if curve.iter().any(|&x| x != 0.0) {
            dissipation.push((name, color, curve));
        }
    }
    let linear = table.drift(["momentum_x", "momentum_y", "momentum_z"])?;
    let axes = ["angular_momentum_x", "angular_momentum_y", "angular_momentum_z"];
    let angular = table.drift(axes)?;
    Ok(vec![
        Panel {
            title: "Mechanical energy, J (potential from its lowest)",
            curves: vec![
                ("kinetic", ORANGE, kinetic),
                ("potential", SKY, potential),
                ("total", INK, total),
            ],
        },
        Panel { title: "Energy dissipated so far, J", curves: dissipation },
        Panel {
            title: "Change of momentum since the start",
            curves: vec![
                ("linear, kg m/s", ORANGE, linear),
                ("angular about the origin, kg m²/s", SKY, angular),
            ],
        },
        Panel { title: "Bodies", curves: vec![("bodies", INK, table.column("bodies")?)] },
    ])
}

/// The curves as SVG with the given width and height.
///
/// # Errors
/// [`TableError`] if a column is missing.
pub fn to_svg(table: &Table, [width, height]: [usize; 2]) -> Result<String, TableError> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (width as u32, height as u32)).into_drawing_area();
    let drawn = draw(table, &area)?;
    // drawing into memory cannot fail
    let _ = drawn;
    drop(area);
    Ok(svg)
}

/// The curves as pixels with the given width and height.
///
/// # Errors
/// [`TableError`] if a column is missing.
pub fn to_picture(table: &Table, [width, height]: [usize; 2]) -> Result<Picture, TableError> {
    let mut bytes = vec![255; 3 * width * height];
    let size = (width as u32, height as u32);
    let area = BitMapBackend::with_buffer(&mut bytes, size).into_drawing_area();
    let drawn = draw(table, &area)?;
    let _ = drawn;
    drop(area);
    Ok(Picture::new([width, height], bytes))
}

fn draw<B: DrawingBackend>(
    table: &Table,
    area: &DrawingArea<B, Shift>,
) -> Result<Drawn<B>, TableError> {
    use_font();
    let time = table.column("time")?;
    let broke = table.column("fractures")?;
    let breaks: Vec<f64> =
        time.iter().zip(&broke).filter(|(_, n)| **n > 0.0).map(|(t, _)| *t).collect();
    let panels = panels(table)?;
    let areas = area.split_evenly((panels.len(), 1));
    let all = || {
        area.fill(&WHITE)?;
        for (panel, area) in panels.iter().zip(&areas) {
            panel.draw(area, &time, &breaks)?;
        }
        area.present()
    };
    Ok(all())
}

impl Panel {
    fn draw<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        time: &[f64],
        breaks: &[f64],
    ) -> Drawn<B> {
        let values = || self.curves.iter().flat_map(|(.., curve)| curve.iter().copied());
        let low = values().fold(0.0, f64::min);
        let high = values().fold(0.0, f64::max).max(low + 1e-9);
        let room = 0.06 * (high - low);
        let low = if low < 0.0 { low - room } else { low };
        // axis labels must differ, even if the first row is late
        let start = time.iter().copied().fold(f64::INFINITY, f64::min);
        let end = time.iter().copied().fold(start + 1e-9 * (1.0 + start.abs()), f64::max);
        let text = ("sans-serif", 15).into_font().color(&INK);
        let mut chart = ChartBuilder::on(area)
            .caption(self.title, ("sans-serif", 17).into_font().color(&INK))
            .margin(10)
            .x_label_area_size(34)
            .y_label_area_size(76)
            .build_cartesian_2d(start..end, low..high + room)?;
        chart
            .configure_mesh()
            .x_desc("time, s")
            .y_label_formatter(&|value| short(*value))
            .label_style(text.clone())
            .axis_style(INK.mix(0.4))
            .bold_line_style(INK.mix(0.1))
            .light_line_style(TRANSPARENT)
            .draw()?;
        for &at in breaks {
            chart.draw_series(LineSeries::new([(at, low), (at, high + room)], INK.mix(0.18)))?;
        }
        for (name, color, curve) in &self.curves {
            let points = time.iter().copied().zip(curve.iter().copied());
            let color = *color;
            chart.draw_series(LineSeries::new(points, color.stroke_width(2)))?.label(*name).legend(
                move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)),
            );
        }
        if self.curves.len() > 1 {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::MiddleRight)
                .label_font(text)
                .background_style(WHITE.mix(0.8))
                .draw()?;
        }
        Ok(())
    }
}
