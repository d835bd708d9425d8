//! Mass, momentum and energy, frame by frame.

use std::io::{self, Write};

use plotters::prelude::*;
use sim::{Report, World};

/// The state of a world after a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Frames since the start.
    pub frame: usize,
    /// Time since the start, s.
    pub time: f64,
    /// Bodies.
    pub bodies: usize,
    /// Contacts that were solved.
    pub contacts: usize,
    /// Bodies that broke.
    pub fractures: usize,
    /// Bodies that were hit harder than they bear and held, by their bonds or for lack of room.
    pub held: usize,
    /// Mass of the dynamic bodies and of those that anchors hold, kg.
    pub mass: f64,
    /// Mass of the pieces that were retired, kg.
    pub retired_mass: f64,
    /// Their linear momentum, kg m/s.
    pub momentum: [f64; 3],
    /// Their angular momentum about the origin, kg m^2/s.
    pub angular_momentum: [f64; 3],
    /// Their kinetic energy, J.
    pub kinetic_energy: f64,
    /// Their potential energy, J, zero at the origin.
    pub potential_energy: f64,
    /// Growth of the sum of both over the frame, J.
    pub energy_gain: f64,
}

/// One row per frame, the initial state first.
#[derive(Clone, Debug)]
pub struct Ledger {
    rows: Vec<Row>,
}

impl Ledger {
    /// Starts with the world as it is.
    pub fn new(world: &World) -> Self {
        let report = Report {
            bodies: world.len(),
            kinetic_energy: world.kinetic_energy(),
            potential_energy: world.potential_energy(),
            ..Report::default()
        };
        let mut ledger = Self { rows: vec![] };
        ledger.add(world, &report);
        ledger
    }

    /// Adds the frame that `report` tells of.
    pub fn add(&mut self, world: &World, report: &Report) {
        let momentum = world.momentum();
        self.rows.push(Row {
            frame: report.frame,
            time: report.frame as f64 * world.settings().dt,
            bodies: report.bodies,
            contacts: report.contacts,
            fractures: report.fractures.len(),
            held: report.held.len() + report.over_budget.len(),
            mass: world.mass(),
            retired_mass: world.retired_mass(),
            momentum: momentum.linear.into(),
            angular_momentum: momentum.angular.into(),
            kinetic_energy: report.kinetic_energy,
            potential_energy: report.potential_energy,
            energy_gain: report.energy_gain,
        });
    }

    /// The rows; never none.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Writes a line of names and a line of numbers per frame.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "frame,time,bodies,contacts,fractures,held,mass,retired_mass,momentum_x,momentum_y,momentum_z,\
             angular_momentum_x,angular_momentum_y,angular_momentum_z,kinetic_energy,\
             potential_energy,energy_gain"
        )?;
        for row in &self.rows {
            let [px, py, pz] = row.momentum;
            let [lx, ly, lz] = row.angular_momentum;
            writeln!(
                out,
                "{},{},{},{},{},{},{},{},{px},{py},{pz},{lx},{ly},{lz},{},{},{}",
                row.frame,
                row.time,
                row.bodies,
                row.contacts,
                row.fractures,
                row.held,
                row.mass,
                row.retired_mass,
                row.kinetic_energy,
                row.potential_energy,
                row.energy_gain
            )?;
        }
        Ok(())
    }

    /// Kinetic, potential and total energy over time as an SVG picture, with a line wherever
    /// something broke; empty if no energy is finite.
    pub fn to_svg(&self) -> String {
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, (960, 540)).into_drawing_area();
        // drawing into a string cannot fail
        let _ = self.draw(&area);
        drop(area);
        svg
    }

    fn draw<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, plotters::coord::Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let curves = [
            ("kinetic energy, J", RED, self.curve(|r| r.kinetic_energy)),
            ("potential energy, J", BLUE, self.curve(|r| r.potential_energy)),
            ("total, J", BLACK, self.curve(|r| r.kinetic_energy + r.potential_energy)),
        ];
        let values = || curves.iter().flat_map(|(_, _, curve)| curve.iter().map(|p| p.1));
        let low = values().fold(f64::INFINITY, f64::min).min(0.0);
        let high = values().fold(f64::NEG_INFINITY, f64::max).max(low + f64::MIN_POSITIVE);
        let end = self.rows[self.rows.len() - 1].time;
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(80)
            .build_cartesian_2d(0.0..end, low..high + 0.05 * (high - low))?;
        let text = ("sans-serif", 16);
        chart
            .configure_mesh()
            .x_desc("time, s")
            .label_style(text)
            .light_line_style(TRANSPARENT)
            .draw()?;
        for row in self.rows.iter().filter(|row| row.fractures > 0) {
            let line = [(row.time, low), (row.time, high)];
            chart.draw_series(LineSeries::new(line, BLACK.mix(0.2)))?;
        }
        for (name, colour, curve) in &curves {
            let drawn = chart.draw_series(LineSeries::new(curve.clone(), colour))?;
            let colour = *colour;
            drawn
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
        }
        chart.configure_series_labels().label_font(text).border_style(BLACK.mix(0.2)).draw()?;
        area.present()
    }

    /// Time and value of the rows where it is finite.
    fn curve(&self, value: impl Fn(&Row) -> f64) -> Vec<(f64, f64)> {
        let points = self.rows.iter().map(|row| (row.time, value(row)));
        points.filter(|(_, value)| value.is_finite()).collect()
    }
}
