//! Mass, momentum and energy, frame by frame.

use std::fmt::Display;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use sim::{AnchorLoad, BodyId, Dissipation, Fracture, Motion, Report, World};

/// The state of a world after a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Frames since the start.
    pub frame: usize,
    /// Time since the start, s.
    pub time: f64,
    /// Bodies.
    pub bodies: usize,
    /// Contacts in the solver.
    pub contacts: usize,
    /// Bodies that broke.
    pub fractures: usize,
    /// Bodies that were hit beyond their strength but held, by their bonds or for lack of room.
    pub held: usize,
    /// Joints that were removed: overloaded, or without a body.
    pub broken_joints: usize,
    /// Mass of the dynamic and anchored bodies, kg.
    pub mass: f64,
    /// Mass of the retired pieces, kg.
    pub retired_mass: f64,
    /// Their linear momentum, kg m/s.
    pub momentum: [f64; 3],
    /// Their angular momentum about the origin, kg m^2/s.
    pub angular_momentum: [f64; 3],
    /// Their kinetic energy, J.
    pub kinetic_energy: f64,
    /// Their potential energy, J, zero at the origin.
    pub potential_energy: f64,
    /// Growth of kinetic plus potential energy over the frame, J, before pieces were retired.
    pub energy_gain: f64,
    /// The work of kinematic bodies, motors, forces, events and wind in the frame, J.
    pub work: f64,
    /// Energy losses in the frame: the growth equals the work minus their sum.
    pub dissipation: Dissipation,
    /// Residual of contact impulses in complementarity and Coulomb's law, m/s.
    #[serde(default)]
    pub residual: f64,
}

/// The load on an anchored body in a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct AnchorRow {
    frame: usize,
    time: f64,
    name: String,
    /// Values of [`ANCHOR_COLUMNS`] after time and body.
    numbers: [f64; 9],
}

/// One row per frame, the initial state first, and the fractures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    rows: Vec<Row>,
    /// The columns of each fracture.
    events: Vec<Vec<f64>>,
    /// Loads on anchored bodies, if requested.
    anchors: Vec<AnchorRow>,
}

impl Ledger {
    /// Starts with the current state of a world.
    pub fn new(world: &World) -> Self {
        let mut report = Report::default();
        report.counters.bodies = world.len();
        report.energy.kinetic = world.kinetic_energy();
        report.energy.potential = world.potential_energy();
        let mut ledger = Self { rows: vec![], events: vec![], anchors: vec![] };
        ledger.add(world, &report);
        ledger
    }

    /// Adds the frame of `report`.
    pub fn add(&mut self, world: &World, report: &Report) {
        let momentum = world.momentum();
        let time = report.frame as f64 * world.settings().dt;
        self.events.extend(report.events.fractures.iter().map(|f| numbers(report.frame, time, f)));
        self.rows.push(Row {
            frame: report.frame,
            time,
            bodies: report.counters.bodies,
            contacts: report.counters.contacts,
            fractures: report.events.fractures.len(),
            held: report.events.held.len() + report.events.over_budget.len(),
            broken_joints: report.events.broken_joints.len(),
            mass: world.mass(),
            retired_mass: world.retired_mass(),
            momentum: momentum.linear.into(),
            angular_momentum: momentum.angular.into(),
            kinetic_energy: report.energy.kinetic,
            potential_energy: report.energy.potential,
            energy_gain: report.energy.gain,
            work: report.energy.work,
            dissipation: report.energy.dissipation,
            residual: report.counters.residual,
        });
    }

    /// Adds the loads on anchored bodies in the frame of `report`; skips bodies for which `name`
    /// returns `None`.
    pub fn add_anchor_loads(
        &mut self,
        world: &World,
        report: &Report,
        name: impl Fn(BodyId) -> Option<String>,
    ) {
        let (frame, time) = (report.frame, report.frame as f64 * world.settings().dt);
        self.anchors.extend(report.loads.anchors.iter().filter_map(|load| {
            let AnchorLoad { body, force, torque, stress, strength, .. } = *load;
            let numbers = [
                force.x,
                force.y,
                force.z,
                torque.x,
                torque.y,
                torque.z,
                stress,
                strength,
                load.utilization(),
            ];
            Some(AnchorRow { frame, time, name: name(body)?, numbers })
        }));
    }

    /// Writes a header line and a line per frame and anchored body.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_anchor_loads(&self, out: &mut impl Write) -> io::Result<()> {
        write_line(out, ANCHOR_COLUMNS)?;
        for AnchorRow { frame, time, name, numbers } in &self.anchors {
            let name = format!("\"{}\"", name.replace('"', "\"\""));
            write!(out, "{frame},{time},{name},")?;
            write_line(out, numbers.iter().map(|x| format!("{x:?}")))?;
        }
        Ok(())
    }

    /// The rows; never empty.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Writes a header line and a line per frame.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        write_line(out, COLUMNS.iter().map(|(name, _)| name))?;
        self.rows.iter().try_for_each(|row| write_line(out, COLUMNS.iter().map(|(_, of)| of(row))))
    }

    /// Writes a header line and a line per fracture.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_events(&self, out: &mut impl Write) -> io::Result<()> {
        write_line(out, ["frame", "time", "pieces"].iter().chain(&EVENT_COLUMNS))?;
        self.events.iter().try_for_each(|numbers| write_line(out, numbers))
    }
}

/// The columns of a fracture.
fn numbers(frame: usize, time: f64, event: &Fracture) -> Vec<f64> {
    let Fracture { point, impulse, mass_before, mass_after, before, after, .. } = event;
    let of = |mass: f64, motion: &Motion| {
        let Motion { momentum, kinetic_energy, potential_energy } = motion;
        let vectors = momentum.linear.iter().chain(&momentum.angular).copied();
        let mut numbers = vec![mass];
        numbers.extend(vectors.chain([*kinetic_energy, *potential_energy]));
        numbers
    };
    let mut numbers = vec![frame as f64, time, event.fragments.len() as f64];
    numbers.extend(point.iter().chain(impulse));
    numbers.extend(of(*mass_before, before));
    numbers.extend(of(*mass_after, after));
    numbers
}

type Column = (&'static str, fn(&Row) -> f64);

/// Columns of the ledger: names and values.
const COLUMNS: [Column; 26] = [
    ("frame", |r| r.frame as f64),
    ("time", |r| r.time),
    ("bodies", |r| r.bodies as f64),
    ("contacts", |r| r.contacts as f64),
    ("fractures", |r| r.fractures as f64),
    ("held", |r| r.held as f64),
    ("broken_joints", |r| r.broken_joints as f64),
    ("mass", |r| r.mass),
    ("retired_mass", |r| r.retired_mass),
    ("momentum_x", |r| r.momentum[0]),
    ("momentum_y", |r| r.momentum[1]),
    ("momentum_z", |r| r.momentum[2]),
    ("angular_momentum_x", |r| r.angular_momentum[0]),
    ("angular_momentum_y", |r| r.angular_momentum[1]),
    ("angular_momentum_z", |r| r.angular_momentum[2]),
    ("kinetic_energy", |r| r.kinetic_energy),
    ("potential_energy", |r| r.potential_energy),
    ("energy_gain", |r| r.energy_gain),
    ("work", |r| r.work),
    ("dissipated_collision", |r| r.dissipation.collision),
    ("dissipated_plastic", |r| r.dissipation.plastic),
    ("dissipated_fracture", |r| r.dissipation.fracture),
    ("dissipated_contact", |r| r.dissipation.contact),
    ("dissipated_sleep", |r| r.dissipation.sleep),
    ("dissipated_retirement", |r| r.dissipation.retirement),
    ("residual", |r| r.residual),
];

/// Columns of the loads on anchored bodies.
const ANCHOR_COLUMNS: [&str; 12] = [
    "frame", "time", "body", "force_x", "force_y", "force_z", "torque_x", "torque_y", "torque_z",
    "stress", "strength", "ratio",
];

/// Columns of a fracture after its frame, time and pieces.
const EVENT_COLUMNS: [&str; 24] = [
    "point_x",
    "point_y",
    "point_z",
    "impulse_x",
    "impulse_y",
    "impulse_z",
    "mass_before",
    "momentum_x_before",
    "momentum_y_before",
    "momentum_z_before",
    "angular_momentum_x_before",
    "angular_momentum_y_before",
    "angular_momentum_z_before",
    "kinetic_energy_before",
    "potential_energy_before",
    "mass_after",
    "momentum_x_after",
    "momentum_y_after",
    "momentum_z_after",
    "angular_momentum_x_after",
    "angular_momentum_y_after",
    "angular_momentum_z_after",
    "kinetic_energy_after",
    "potential_energy_after",
];

fn write_line<T: Display>(
    out: &mut impl Write,
    cells: impl IntoIterator<Item = T>,
) -> io::Result<()> {
    let mut between = "";
    for cell in cells {
        write!(out, "{between}{cell}")?;
        between = ",";
    }
    writeln!(out)
}
